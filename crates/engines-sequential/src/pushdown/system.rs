//! A program with one thread as a pushdown system whose rules are produced on demand.
//!
//! The control state is the valuation of the shared and per-thread variables, with the returned values while a return
//! is in progress; a stack symbol is a location with the valuation of its procedure's locals. A call pushes the
//! callee's first location onto the symbol of the call, which waits for the results.

use std::hash::BuildHasherDefault;

use indexmap::IndexSet;
use rustc_hash::FxHasher;
use selvedge_check::{Run, Stop, Task};
use selvedge_ir::flow::Flow;
use selvedge_ir::{Call, EdgeId, EntryId, Expr, LocId, Program, Scope, Target, VarId};
use selvedge_transition::step::explicit::values::{Bits, set};
use selvedge_transition::step::explicit::{Draws, Explicit, Outcome, Values, initial_draws, initialises};
use selvedge_transition::step::vars::Slots;

use super::post::{Control, RuleMove, RuleSystem, StackSymbol, Word};
use super::relevant::Relevant;

/// A control state.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum ControlState {
    /// The state before the first step.
    Boot,
    /// An assertion of the target has failed.
    Failed,
    /// The shared and per-thread variables.
    At(Bits),
    /// The shared and per-thread variables after a return, and the returned values.
    Back(Bits, Box<[bool]>),
}

/// A stack symbol.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum StackFrame {
    /// The frame before the first step.
    Boot,
    /// The start of the initial thread.
    ThreadStart,
    /// The frame below the prelude.
    PreludeEnd,
    /// The frame below the initial thread.
    Done,
    /// A location, and the locals of its procedure.
    Here(LocId, Bits),
    /// A call that has not returned, and the locals of its procedure.
    Site(EdgeId, Bits),
}

/// The meaning of a rule. Numbers are those of draws.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RuleLabel {
    /// The start of the shared variables and the prelude's locals.
    Start(u64),
    /// The start of the initial thread.
    Thread(u64),
    /// A step along an edge.
    Step(EdgeId, u64),
    /// Part of a step whose label another rule has.
    Silent,
}

type Interned<T> = IndexSet<T, BuildHasherDefault<FxHasher>>;

/// The system.
pub(super) struct ProgramSystem<'a> {
    pub(super) program: &'a Program,
    target: &'a Target,
    run: &'a Run<'a>,
    flow: Flow,
    /// The steps, for places where per-thread variables count as shared. Only relevant variables are kept.
    pub(super) steps: Explicit<'a>,
    /// The draws before the first step: shared variables, and the prelude's locals.
    pub(super) start_draws: Draws,
    /// The draws when the initial thread starts.
    pub(super) thread_draws: Draws,
    pub(super) states: Interned<ControlState>,
    pub(super) frames: Interned<StackFrame>,
}

impl<'a> ProgramSystem<'a> {
    pub(super) fn new(task: &Task<'a>, relevant: &Relevant, run: &'a Run<'a>) -> ProgramSystem<'a> {
        let program = task.program;
        let steps = Explicit::new(program, Slots::of_one_thread(program), &|loc, var| relevant.has(loc, var));
        let at_thread_start = relevant.at_thread_start(program);
        let starts_open = |var: &VarId| {
            let matters = match program.prelude {
                Some(prelude) => relevant.has(program.procs[prelude].entry, *var),
                None => at_thread_start.contains(var.index()),
            };
            matters && program.vars[*var].scope == Scope::Shared && !initialises(&program.init, *var)
        };
        let open_shared = program.vars.indices().filter(starts_open);
        let open_locals = program.prelude.map_or(Vec::new(), |prelude| steps.open_locals(prelude));
        let thread = EntryId::new(0);
        ProgramSystem {
            program,
            target: task.target,
            run,
            flow: Flow::new(program),
            start_draws: initial_draws(&program.init, open_shared.chain(open_locals).collect()),
            thread_draws: initial_draws(&program.entries[thread].init, steps.open_vars(thread)),
            states: [ControlState::Boot, ControlState::Failed].into_iter().collect(),
            frames: [StackFrame::Boot].into_iter().collect(),
            steps,
        }
    }

    /// Returns the configuration before the first step.
    pub(super) fn initial(&mut self) -> (Control, Vec<StackSymbol>) {
        (self.state(ControlState::Boot), vec![self.frame(StackFrame::Boot)])
    }

    fn state(&mut self, state: ControlState) -> Control {
        self.states.insert_full(state).0 as Control
    }

    fn frame(&mut self, frame: StackFrame) -> StackSymbol {
        self.frames.insert_full(frame).0 as StackSymbol
    }

    /// Returns the state with the given globals, as far as they are relevant at a location.
    fn at(&mut self, mut globals: Bits, loc: LocId) -> Control {
        self.steps.forget_shared(loc, &mut globals);
        self.state(ControlState::At(globals))
    }

    /// Returns the symbol for a location with the given locals, as far as they are relevant there.
    fn here(&mut self, loc: LocId, mut locals: Bits) -> StackSymbol {
        self.steps.forget(loc, &mut locals);
        self.frame(StackFrame::Here(loc, locals))
    }

    /// Returns the greatest number of bits that are drawn at once.
    pub(super) fn most_bits(&self) -> usize {
        let edges = self.program.edges.indices().map(|edge| self.steps.draws(edge));
        edges.chain([&self.start_draws, &self.thread_draws]).map(Draws::n_used).max().unwrap_or(0)
    }

    /// Returns the values of all starts, in the order of the numbers of their draws.
    fn starts(&self, init: &[(VarId, Expr)], draws: &Draws, before: &Values) -> Result<Vec<(u64, Values)>, Stop> {
        let mut starts = Vec::new();
        self.steps.starts(init, draws, before, self.run, &mut |drawn, values| {
            starts.push((draws.number(drawn), values));
        })?;
        starts.sort_by_key(|(number, _)| *number);
        Ok(starts)
    }

    /// Gives the shared variables their initial values; then the prelude starts or, without one, the thread.
    fn boot(&mut self) -> Result<Vec<RuleMove<RuleLabel>>, Stop> {
        let starts = self.starts(&self.program.init, &self.start_draws, &self.steps.slots.blank())?;
        let start = |(number, values): (u64, Values)| {
            let (to, push) = match self.program.prelude {
                Some(prelude) => {
                    let entry = self.program.procs[prelude].entry;
                    let push = Word::Push(self.here(entry, values.locals), self.frame(StackFrame::PreludeEnd));
                    (self.at(values.shared, entry), push)
                }
                None => {
                    let push = Word::Replace(self.frame(StackFrame::ThreadStart));
                    (self.state(ControlState::At(values.shared)), push)
                }
            };
            RuleMove { to, push, label: RuleLabel::Start(number) }
        };
        Ok(starts.into_iter().map(start).collect())
    }

    /// Starts the initial thread: its variables get their initial values.
    fn start_thread(&mut self, shared: Bits) -> Result<Vec<RuleMove<RuleLabel>>, Stop> {
        let program = self.program;
        let kind = &program.entries[0];
        let mut before = Values { shared, ..self.steps.slots.blank() };
        for var in program.vars.indices().filter(|var| program.vars[*var].scope == Scope::Thread) {
            self.steps.slots.write(&mut before, var, false);
        }
        let starts = self.starts(&kind.init, &self.thread_draws, &before)?;
        let entry = program.procs[kind.proc].entry;
        let start = |(number, values): (u64, Values)| {
            let push = Word::Push(self.here(entry, values.locals), self.frame(StackFrame::Done));
            RuleMove { to: self.at(values.shared, entry), push, label: RuleLabel::Thread(number) }
        };
        Ok(starts.into_iter().map(start).collect())
    }

    /// Returns all steps from a location.
    fn steps(&mut self, loc: LocId, now: &Values) -> Result<Vec<RuleMove<RuleLabel>>, Stop> {
        let mut moves = Vec::new();
        for edge in self.flow.out(loc).to_vec() {
            let (mut ways, draws) = (Vec::new(), self.steps.draws(edge));
            self.steps.steps(edge, now.view(), false, self.run, &mut |drawn, outcome| {
                ways.push((draws.number(drawn), outcome));
            })?;
            ways.sort_by_key(|(number, _)| *number);
            for (number, outcome) in ways {
                let step = self.step(edge, now, outcome);
                moves.extend(step.map(|(to, push)| RuleMove { to, push, label: RuleLabel::Step(edge, number) }));
            }
        }
        Ok(moves)
    }

    fn step(&mut self, id: EdgeId, now: &Values, outcome: Outcome<'_>) -> Option<(Control, Word)> {
        let to = self.program.edges[id].to;
        Some(match outcome {
            Outcome::Next(values) => self.go(to, values),
            Outcome::Passes | Outcome::Holds(_) => self.go(to, now.clone()),
            Outcome::Fails if self.target.has_assert(id) => (self.state(ControlState::Failed), Word::Pop),
            Outcome::Calls(call, locals) => {
                let entry = self.program.procs[call.callee].entry;
                let site = self.site(id, call, now.locals.clone());
                let push = Word::Push(self.here(entry, locals), site);
                (self.at(now.shared.clone(), entry), push)
            }
            Outcome::Returns(values) => {
                let mut globals = now.shared.clone();
                self.steps.forget_shared(to, &mut globals);
                (self.state(ControlState::Back(globals, values.into())), Word::Pop)
            }
            Outcome::Fails | Outcome::Ends => return None,
            Outcome::Starts(_) => unreachable!("the engine only supports programs with one thread"),
        })
    }

    fn go(&mut self, to: LocId, values: Values) -> (Control, Word) {
        let here = self.here(to, values.locals);
        (self.at(values.shared, to), Word::Replace(here))
    }

    /// Returns the symbol that waits for a return: the locals that are relevant after it and are not results.
    fn site(&mut self, id: EdgeId, call: &Call, mut locals: Bits) -> StackSymbol {
        let slots = &self.steps.slots;
        self.steps.forget(self.program.edges[id].to, &mut locals);
        for result in call.results.iter().flatten().filter(|var| !slots.is_shared(**var)) {
            set(&mut locals, slots.get(*result), false);
        }
        self.frame(StackFrame::Site(id, locals))
    }

    /// Continues at the call after a return, if what the call ensures holds then.
    fn back(&mut self, id: EdgeId, mut caller: Values, results: &[bool]) -> Option<RuleMove<RuleLabel>> {
        if !self.steps.resume(id, &mut caller, results) {
            return None;
        }
        let (to, push) = self.go(self.program.edges[id].to, caller);
        Some(RuleMove { to, push, label: RuleLabel::Silent })
    }
}

impl RuleSystem for ProgramSystem<'_> {
    type Label = RuleLabel;

    fn moves(&mut self, control: Control, top: StackSymbol) -> Result<Vec<RuleMove<RuleLabel>>, Stop> {
        match (self.states[control as usize].clone(), self.frames[top as usize].clone()) {
            (ControlState::Boot, StackFrame::Boot) => self.boot(),
            (ControlState::At(shared), StackFrame::ThreadStart) => self.start_thread(shared),
            (ControlState::At(shared), StackFrame::Here(loc, locals)) => self.steps(loc, &Values { shared, locals }),
            (ControlState::Back(shared, results), StackFrame::Site(edge, locals)) => {
                Ok(self.back(edge, Values { shared, locals }, &results).into_iter().collect())
            }
            (ControlState::Back(globals, _), StackFrame::PreludeEnd) => {
                let push = Word::Replace(self.frame(StackFrame::ThreadStart));
                Ok(vec![RuleMove { to: self.state(ControlState::At(globals)), push, label: RuleLabel::Silent }])
            }
            _ => Ok(Vec::new()),
        }
    }

    fn is_target(&self, control: Control, top: Option<StackSymbol>) -> bool {
        match (&self.states[control as usize], top.map(|top| &self.frames[top as usize])) {
            (ControlState::Failed, _) => true,
            (ControlState::At(_), Some(StackFrame::Here(loc, _))) => self.target.has_loc(*loc),
            _ => false,
        }
    }
}
