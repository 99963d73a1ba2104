//! A program with one thread as a pushdown system whose rules are produced on demand.
//!
//! The control state is the valuation of the shared and per-thread variables, with the returned values while a return
//! is in progress; a stack symbol is a location with the valuation of its procedure's locals. A call pushes the
//! callee's first location onto the symbol of the call, which waits for the results.

use std::hash::BuildHasherDefault;

use index_vec::IndexVec;
use indexmap::IndexSet;
use rustc_hash::FxHasher;
use selvedge_check::{Run, Stop, Task};
use selvedge_ir::eval::eval;
use selvedge_ir::flow::Flow;
use selvedge_ir::visit::choice_types;
use selvedge_ir::{Assign, Call, EdgeId, Expr, LocId, Op, ProcId, Program, Scope, Target, Value, VarId};

use super::post::{Control, RuleMove, RuleSystem, StackSymbol, Word};
use super::relevant::Relevant;

/// Values of variables in a fixed order.
pub(super) type Bits = Box<[bool]>;

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
    Back(Bits, Bits),
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

/// The meaning of a rule. Numbers are the bits drawn for choices and fresh values, the first one lowest.
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
    pub(super) relevant: Relevant,
    pub(super) states: Interned<ControlState>,
    pub(super) frames: Interned<StackFrame>,
    /// The shared and per-thread variables.
    pub(super) globals: Vec<VarId>,
    /// The index of a variable among the globals or its procedure's locals.
    pub(super) slot: IndexVec<VarId, usize>,
}

/// The open values in a step or start: the choices that are read, the number of all choices, and the variables that
/// start with any value.
pub(super) struct OpenValues {
    n_choices: usize,
    read: Vec<u32>,
    fresh: Vec<VarId>,
}

/// The values drawn for [`OpenValues`].
pub(super) struct DrawnValues {
    pub(super) choices: Vec<bool>,
    pub(super) fresh: Vec<(VarId, bool)>,
}

impl OpenValues {
    fn new<'e>(n_choices: usize, exprs: impl Iterator<Item = &'e Expr>, fresh: Vec<VarId>) -> OpenValues {
        let mut read = Vec::new();
        for expr in exprs {
            expr.for_each_leaf(|leaf| {
                if let Expr::Choice(number, _) = leaf {
                    read.push(*number);
                }
            });
        }
        read.sort_unstable();
        read.dedup();
        OpenValues { n_choices, read, fresh }
    }

    pub(super) fn n_bits(&self) -> usize {
        self.read.len() + self.fresh.len()
    }

    /// Decodes a number.
    pub(super) fn draw(&self, bits: u64) -> DrawnValues {
        let bit = |place: usize| bits >> place & 1 == 1;
        let mut choices = vec![false; self.n_choices];
        for (place, number) in self.read.iter().enumerate() {
            choices[*number as usize] = bit(place);
        }
        let fresh = self.fresh.iter().enumerate().map(|(place, var)| (*var, bit(self.read.len() + place)));
        DrawnValues { choices, fresh: fresh.collect() }
    }

    /// Returns all numbers that can be drawn.
    fn all(&self) -> std::ops::Range<u64> {
        0..1 << self.n_bits()
    }
}

/// The variables as seen by a running procedure.
struct ProcedureView<'v> {
    globals: &'v [bool],
    locals: &'v [bool],
}

impl<'a> ProgramSystem<'a> {
    pub(super) fn new(task: &Task<'a>, relevant: Relevant, run: &'a Run<'a>) -> ProgramSystem<'a> {
        let program = task.program;
        let is_global = |var: &VarId| !matches!(program.vars[*var].scope, Scope::Local(_));
        let globals: Vec<VarId> = program.vars.indices().filter(is_global).collect();
        let mut slot: IndexVec<VarId, usize> = program.vars.iter().map(|_| 0).collect();
        for list in program.procs.iter().map(|proc| &proc.locals).chain([&globals]) {
            list.iter().enumerate().for_each(|(place, var)| slot[*var] = place);
        }
        let mut states = Interned::default();
        states.extend([ControlState::Boot, ControlState::Failed]);
        let mut frames = Interned::default();
        frames.insert(StackFrame::Boot);
        let flow = Flow::new(program);
        ProgramSystem { program, target: task.target, run, flow, relevant, states, frames, globals, slot }
    }

    /// Returns the configuration before the first step.
    pub(super) fn initial(&mut self) -> (Control, Vec<StackSymbol>) {
        (self.state(ControlState::Boot), vec![self.frame(StackFrame::Boot)])
    }

    pub(super) fn state(&mut self, state: ControlState) -> Control {
        self.states.insert_full(state).0 as Control
    }

    pub(super) fn frame(&mut self, frame: StackFrame) -> StackSymbol {
        self.frames.insert_full(frame).0 as StackSymbol
    }

    fn is_global(&self, var: VarId) -> bool {
        !matches!(self.program.vars[var].scope, Scope::Local(_))
    }

    /// Returns the state with the given globals, as far as they are relevant at a location.
    fn at(&mut self, mut globals: Vec<bool>, loc: LocId) -> Control {
        self.forget_globals(&mut globals, loc);
        self.state(ControlState::At(globals.into()))
    }

    fn forget_globals(&self, globals: &mut [bool], loc: LocId) {
        for (value, var) in globals.iter_mut().zip(&self.globals) {
            *value &= self.relevant.has(loc, *var);
        }
    }

    /// Returns the symbol for a location with the given locals, as far as they are relevant there.
    fn here(&mut self, loc: LocId, mut locals: Vec<bool>) -> StackSymbol {
        let vars = &self.program.procs[self.program.locs[loc].proc].locals;
        for (value, var) in locals.iter_mut().zip(vars) {
            *value &= self.relevant.has(loc, *var);
        }
        self.frame(StackFrame::Here(loc, locals.into()))
    }

    fn eval(&self, expr: &Expr, view: &ProcedureView<'_>, choices: &[bool], next: Option<&ProcedureView<'_>>) -> bool {
        let read = |var: VarId, view: &ProcedureView<'_>| {
            if self.is_global(var) { view.globals[self.slot[var]] } else { view.locals[self.slot[var]] }
        };
        let leaf = |leaf: &Expr| match leaf {
            Expr::Var(var) => Value::Bool(read(*var, view)),
            Expr::Next(var) => Value::Bool(read(*var, next.unwrap_or(view))),
            Expr::Choice(number, _) => Value::Bool(choices[*number as usize]),
            _ => unreachable!("passive conditions hold where there is one thread"),
        };
        eval(expr, &leaf) == Ok(Value::Bool(true))
    }

    /// Returns the open values in a step along an edge. Without other threads, passive parts choose nothing.
    pub(super) fn open(&self, edge: EdgeId) -> OpenValues {
        let op = &self.program.edges[edge].op;
        let n_choices = op.choices().len();
        match op {
            Op::Assign(assign) => {
                let constrain = Some(&assign.constrain).filter(|constrain| !constrain.is_passive());
                OpenValues::new(n_choices, assign.active.iter().map(|(_, rhs)| rhs).chain(constrain), Vec::new())
            }
            Op::Call(call) => OpenValues::new(n_choices, op.exprs(), self.fresh_locals(call.callee)),
            _ => OpenValues::new(n_choices, op.exprs(), Vec::new()),
        }
    }

    /// Returns the locals of a procedure that start with any value, where that is relevant.
    fn fresh_locals(&self, proc: ProcId) -> Vec<VarId> {
        let proc = &self.program.procs[proc];
        let open = proc.locals.iter().filter(|local| !proc.params.contains(local));
        open.copied().filter(|local| self.relevant.has(proc.entry, *local)).collect()
    }

    /// Returns the open values before the first step: shared variables, and the prelude's locals.
    pub(super) fn open_start(&self) -> OpenValues {
        let program = self.program;
        let mut fresh: Vec<VarId> = program.vars.indices().filter(|var| self.starts_open(*var)).collect();
        fresh.extend(program.prelude.map_or(Vec::new(), |prelude| self.fresh_locals(prelude)));
        let init = || program.init.iter().map(|(_, rhs)| rhs);
        OpenValues::new(choice_types(init()).len(), init(), fresh)
    }

    fn starts_open(&self, var: VarId) -> bool {
        let program = self.program;
        let matters = match program.prelude {
            Some(prelude) => self.relevant.has(program.procs[prelude].entry, var),
            None => self.relevant.at_thread_start(program).contains(var.index()),
        };
        matters && program.vars[var].scope == Scope::Shared && !program.init.iter().any(|(given, _)| *given == var)
    }

    /// Returns the open values when the initial thread starts.
    pub(super) fn open_thread(&self) -> OpenValues {
        let kind = &self.program.entries[0];
        let proc = &self.program.procs[kind.proc];
        let uninitialised = kind.thread_vars.iter().filter(|var| !kind.init.iter().any(|(given, _)| given == *var));
        let open = uninitialised.chain(&proc.params).copied().filter(|var| self.relevant.has(proc.entry, *var));
        let fresh = open.chain(self.fresh_locals(kind.proc)).collect();
        let init = || kind.init.iter().map(|(_, rhs)| rhs);
        OpenValues::new(choice_types(init()).len(), init(), fresh)
    }

    /// Returns the greatest number of bits that are open at once.
    pub(super) fn most_bits(&self) -> usize {
        let steps = self.program.edges.indices().map(|edge| self.open(edge).n_bits());
        steps.chain([self.open_start().n_bits(), self.open_thread().n_bits()]).max().unwrap_or(0)
    }

    fn write(&self, var: VarId, value: bool, globals: &mut [bool], locals: &mut [bool]) {
        let list = if self.is_global(var) { globals } else { locals };
        list[self.slot[var]] = value;
    }

    /// Gives the shared variables their initial values; then the prelude starts or, without one, the thread.
    fn boot(&mut self) -> Result<Vec<RuleMove<RuleLabel>>, Stop> {
        let open = self.open_start();
        let mut moves = Vec::new();
        for bits in open.all() {
            self.run.tick()?;
            let drawn = open.draw(bits);
            let mut globals = vec![false; self.globals.len()];
            let mut locals = self.program.prelude.map_or(Vec::new(), |prelude| self.blank(prelude));
            drawn.fresh.iter().for_each(|(var, value)| self.write(*var, *value, &mut globals, &mut locals));
            let no_vars = ProcedureView { globals: &[], locals: &[] };
            for (var, rhs) in &self.program.init {
                globals[self.slot[*var]] = self.eval(rhs, &no_vars, &drawn.choices, None);
            }
            let label = RuleLabel::Start(bits);
            moves.push(match self.program.prelude {
                Some(prelude) => {
                    let entry = self.program.procs[prelude].entry;
                    let push = Word::Push(self.here(entry, locals), self.frame(StackFrame::PreludeEnd));
                    RuleMove { to: self.at(globals, entry), push, label }
                }
                None => {
                    let push = Word::Replace(self.frame(StackFrame::ThreadStart));
                    RuleMove { to: self.state(ControlState::At(globals.into())), push, label }
                }
            });
        }
        Ok(moves)
    }

    fn blank(&self, proc: ProcId) -> Vec<bool> {
        vec![false; self.program.procs[proc].locals.len()]
    }

    /// Starts the initial thread: its variables get their initial values.
    fn start_thread(&mut self, shared: &[bool]) -> Result<Vec<RuleMove<RuleLabel>>, Stop> {
        let kind = &self.program.entries[0];
        let entry = self.program.procs[kind.proc].entry;
        let open = self.open_thread();
        let mut moves = Vec::new();
        for bits in open.all() {
            self.run.tick()?;
            let drawn = open.draw(bits);
            let (mut globals, mut locals) = (shared.to_vec(), self.blank(kind.proc));
            let thread_vars = self.globals.iter().filter(|var| self.program.vars[**var].scope == Scope::Thread);
            thread_vars.for_each(|var| globals[self.slot[*var]] = false);
            drawn.fresh.iter().for_each(|(var, value)| self.write(*var, *value, &mut globals, &mut locals));
            for (var, rhs) in &kind.init {
                let view = ProcedureView { globals: shared, locals: &[] };
                globals[self.slot[*var]] = self.eval(rhs, &view, &drawn.choices, None);
            }
            let push = Word::Push(self.here(entry, locals), self.frame(StackFrame::Done));
            moves.push(RuleMove { to: self.at(globals, entry), push, label: RuleLabel::Thread(bits) });
        }
        Ok(moves)
    }

    /// Returns all steps from a location.
    fn steps(&mut self, loc: LocId, view: &ProcedureView<'_>) -> Result<Vec<RuleMove<RuleLabel>>, Stop> {
        let mut moves = Vec::new();
        for edge in self.flow.out(loc).to_vec() {
            let open = self.open(edge);
            for bits in open.all() {
                self.run.tick()?;
                let step = self.step(edge, view, &open.draw(bits));
                moves.extend(step.map(|(to, push)| RuleMove { to, push, label: RuleLabel::Step(edge, bits) }));
            }
        }
        Ok(moves)
    }

    fn step(&mut self, id: EdgeId, view: &ProcedureView<'_>, drawn: &DrawnValues) -> Option<(Control, Word)> {
        let program = self.program;
        let edge = &program.edges[id];
        match &edge.op {
            Op::Assign(assign) => self.assign(assign, edge.to, view, drawn),
            Op::Assert(condition) if self.eval(condition, view, &drawn.choices, None) => Some(self.go(edge.to, view)),
            Op::Assert(_) => self.target.has_assert(id).then(|| (self.state(ControlState::Failed), Word::Pop)),
            Op::Call(call) => Some(self.call(id, call, view, drawn)),
            Op::Return(values) => {
                let values = values.iter().map(|value| self.eval(value, view, &drawn.choices, None)).collect();
                let mut globals = view.globals.to_vec();
                self.forget_globals(&mut globals, edge.to);
                Some((self.state(ControlState::Back(globals.into(), values)), Word::Pop))
            }
            Op::AtomicBegin | Op::AtomicEnd => Some(self.go(edge.to, view)),
            Op::End => None,
            Op::Spawn(_) | Op::Fork(_) => unreachable!("the engine only supports programs with one thread"),
        }
    }

    fn go(&mut self, to: LocId, view: &ProcedureView<'_>) -> (Control, Word) {
        let here = self.here(to, view.locals.to_vec());
        (self.at(view.globals.to_vec(), to), Word::Replace(here))
    }

    fn assign(
        &mut self,
        assign: &Assign,
        to: LocId,
        view: &ProcedureView<'_>,
        drawn: &DrawnValues,
    ) -> Option<(Control, Word)> {
        let (mut globals, mut locals) = (view.globals.to_vec(), view.locals.to_vec());
        for (var, rhs) in &assign.active {
            let value = self.eval(rhs, view, &drawn.choices, None);
            self.write(*var, value, &mut globals, &mut locals);
        }
        let next = ProcedureView { globals: &globals, locals: &locals };
        let passes = assign.constrain.is_passive() || self.eval(&assign.constrain, view, &drawn.choices, Some(&next));
        passes.then(|| self.go(to, &next))
    }

    fn call(&mut self, id: EdgeId, call: &Call, view: &ProcedureView<'_>, drawn: &DrawnValues) -> (Control, Word) {
        let callee = &self.program.procs[call.callee];
        let mut locals = self.blank(call.callee);
        for (param, arg) in callee.params.iter().zip(&call.args) {
            locals[self.slot[*param]] = self.eval(arg, view, &drawn.choices, None);
        }
        drawn.fresh.iter().for_each(|(var, value)| locals[self.slot[*var]] = *value);
        let site = self.site(id, call, view);
        let push = Word::Push(self.here(callee.entry, locals), site);
        (self.at(view.globals.to_vec(), callee.entry), push)
    }

    /// Returns the symbol that waits for a return: the locals that are relevant after it and are not results.
    fn site(&mut self, id: EdgeId, call: &Call, view: &ProcedureView<'_>) -> StackSymbol {
        let edge = &self.program.edges[id];
        let vars = &self.program.procs[self.program.locs[edge.from].proc].locals;
        let kept = vars
            .iter()
            .zip(view.locals)
            .map(|(var, value)| *value && self.relevant.has(edge.to, *var) && !call.results.contains(&Some(*var)));
        let kept = kept.collect();
        self.frame(StackFrame::Site(id, kept))
    }

    /// Continues at the call after a return.
    fn back(&mut self, id: EdgeId, locals: &[bool], globals: &[bool], values: &[bool]) -> RuleMove<RuleLabel> {
        let program = self.program;
        let edge = &program.edges[id];
        let Op::Call(call) = &edge.op else { unreachable!("only calls wait for returns") };
        let (mut globals, mut locals) = (globals.to_vec(), locals.to_vec());
        for (result, value) in call.results.iter().zip(values) {
            if let Some(var) = result {
                self.write(*var, *value, &mut globals, &mut locals);
            }
        }
        let (to, push) = self.go(edge.to, &ProcedureView { globals: &globals, locals: &locals });
        RuleMove { to, push, label: RuleLabel::Silent }
    }
}

impl RuleSystem for ProgramSystem<'_> {
    type Label = RuleLabel;

    fn moves(&mut self, control: Control, top: StackSymbol) -> Result<Vec<RuleMove<RuleLabel>>, Stop> {
        match (self.states[control as usize].clone(), self.frames[top as usize].clone()) {
            (ControlState::Boot, StackFrame::Boot) => self.boot(),
            (ControlState::At(shared), StackFrame::ThreadStart) => self.start_thread(&shared),
            (ControlState::At(globals), StackFrame::Here(loc, locals)) => {
                self.steps(loc, &ProcedureView { globals: &globals, locals: &locals })
            }
            (ControlState::Back(globals, values), StackFrame::Site(edge, locals)) => {
                Ok(vec![self.back(edge, &locals, &globals, &values)])
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
