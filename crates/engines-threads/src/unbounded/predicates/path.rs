//! Whether the program can execute the steps of an execution of the Boolean program.
//!
//! All steps are executed one after the other, as circuits over the bits of all numbers. A solver looks for values with
//! which the conditions of all of them hold; or it says which of the conditions exclude each other.

use selvedge_check::{Run, Stop, Task};
use selvedge_ir::trace::{Step, Trace};
use selvedge_ir::{EdgeId, EntryId, Scope, Value, VarId};
use selvedge_logic::aig::{Aig, Encoder, Input, Lit};
use selvedge_logic::sat::{Answer, SatLit, Solver};
use selvedge_transition::step::circuit::{self, Begin, Effect, Valuation};

use super::model::Model;

/// The conflicts after which it stays open whether a condition is necessary.
const MOST_CONFLICTS: u32 = 2_000;

/// A step of a path.
#[derive(Clone, Copy, Debug)]
pub(super) struct PathStep {
    /// The thread, by its number.
    pub(super) thread: usize,
    pub(super) edge: EdgeId,
    /// The thread that it starts.
    pub(super) child: Option<usize>,
}

/// The steps of an execution of the Boolean program.
pub(super) struct Path {
    pub(super) steps: Vec<PathStep>,
    /// Set if the assertion of the last step fails.
    pub(super) fails: bool,
    /// The kinds of the initial threads.
    pub(super) starts: Vec<EntryId>,
}

/// Whether a path can be executed.
pub(super) enum Followed {
    /// This is an execution of the program.
    Real(Trace),
    /// The conditions of these steps exclude each other, in ascending order.
    Infeasible(Vec<usize>),
}

impl Path {
    /// Reads the steps of an execution of the Boolean program, which has the same edges.
    pub(super) fn new(task: &Task<'_>, trace: &Trace) -> Path {
        let edges = &task.program.edges;
        let starts: Vec<EntryId> = trace.start.threads.iter().map(|thread| thread.entry).collect();
        let mut created = starts.len();
        let mut steps = Vec::new();
        for Step { thread, edge, .. } in &trace.steps {
            let child = edges[*edge].op.starts_thread().then_some(created);
            created += usize::from(child.is_some());
            steps.push(PathStep { thread: thread.0 as usize, edge: *edge, child });
        }
        let is_failure =
            |step: &PathStep| task.target.has_assert(step.edge) && !task.target.watches(edges[step.edge].to);
        Path { fails: steps.last().is_some_and(is_failure), steps, starts }
    }
}

/// An execution in the making.
struct Execution<'m> {
    model: &'m Model<'m>,
    aig: Aig,
    shared: Valuation,
    /// The variables of each thread.
    threads: Vec<Valuation>,
    /// The conditions of the steps.
    conditions: Vec<Lit>,
    start: Begin,
    begun: Vec<(EntryId, Begin)>,
    /// The inputs that are the choices of the steps, and those of locals that start with any value.
    choices: Vec<Vec<Input>>,
    fresh: Vec<Vec<(VarId, Input)>>,
}

/// Follows a path.
pub(super) fn follow(model: &Model<'_>, path: &Path, run: &Run<'_>) -> Result<Followed, Stop> {
    let mut execution = Execution::new(model, path);
    for (number, step) in path.steps.iter().enumerate() {
        run.tick()?;
        execution.step(*step, path.fails && number + 1 == path.steps.len());
    }
    let Execution { aig, conditions, .. } = &execution;
    let (mut solver, mut encoder) = (Solver::new(), Encoder::new());
    let lits: Vec<SatLit> = conditions.iter().map(|lit| encoder.encode(aig, *lit, &mut solver)).collect();
    let mut questions = Questions { solver, lits, run };
    if questions.solve(&(0..conditions.len()).collect::<Vec<_>>())? == Answer::Unsat {
        return questions.core().map(Followed::Infeasible);
    }
    let value = |input: Input| encoder.find(aig.input(input)).is_some_and(|lit| questions.solver.value(lit));
    Ok(Followed::Real(model.blasted.lift.trace(&execution.trace(path, &value))))
}

/// The conditions of steps, which are asked about together.
struct Questions<'r> {
    solver: Solver,
    lits: Vec<SatLit>,
    run: &'r Run<'r>,
}

impl Questions<'_> {
    fn solve(&mut self, steps: &[usize]) -> Result<Answer, Stop> {
        let assumed: Vec<SatLit> = steps.iter().map(|step| self.lits[*step]).collect();
        self.solver.solve(&assumed, |conflicts| self.run.check_search(conflicts))
    }

    /// After the answer that the conditions exclude each other, returns some of them that do, as few as a little work
    /// shows.
    fn core(&mut self) -> Result<Vec<usize>, Stop> {
        let all: Vec<usize> = (0..self.lits.len()).collect();
        let mut core = self.responsible(&all);
        let mut at = core.len();
        while at > 0 {
            at -= 1;
            let mut fewer = core.clone();
            fewer.remove(at);
            let assumed: Vec<SatLit> = fewer.iter().map(|step| self.lits[*step]).collect();
            self.run.tick()?;
            if self.solver.solve_within(&assumed, MOST_CONFLICTS) == Some(Answer::Unsat) {
                core = self.responsible(&fewer);
                at = at.min(core.len());
            }
        }
        Ok(core)
    }

    fn responsible(&self, steps: &[usize]) -> Vec<usize> {
        let core = self.solver.core();
        steps.iter().copied().filter(|step| core.contains(&self.lits[*step])).collect()
    }
}

impl<'m> Execution<'m> {
    fn new(model: &'m Model<'m>, path: &Path) -> Execution<'m> {
        let (mut aig, program) = (Aig::new(), &model.blasted.program);
        let start = circuit::begin(&mut aig, program);
        let shared = start.valuation.clone();
        let begin = |entry: &EntryId| (*entry, circuit::begin_kind(&mut aig, program, *entry, &shared));
        let begun: Vec<(EntryId, Begin)> = path.starts.iter().map(begin).collect();
        let threads = begun.iter().map(|(_, begin)| begin.valuation.clone()).collect();
        let (conditions, choices, fresh) = (Vec::new(), Vec::new(), Vec::new());
        Execution { model, aig, shared, threads, conditions, start, begun, choices, fresh }
    }

    /// Executes a step.
    fn step(&mut self, step: PathStep, fails: bool) {
        let program = &self.model.blasted.program;
        let mut now = self.threads[step.thread].clone();
        now.update(&self.shared);
        if program.edges[step.edge].op.starts_thread() {
            let begun = circuit::starts(&mut self.aig, program, step.edge, &now).expect("the step starts a thread");
            self.conditions.push(begun.condition);
            self.choices.push(begun.choices);
            self.fresh.push(if step.child.is_some() { begun.fresh } else { Vec::new() });
            if step.child.is_some() {
                self.threads.push(begun.valuation);
            }
            return;
        }
        let (effect, choices) = circuit::step(&mut self.aig, program, step.edge, &now);
        self.choices.push(choices);
        self.fresh.push(Vec::new());
        let condition = match effect {
            Effect::Next(condition, after) => {
                self.shared = after.restrict(|var| program.vars[var].scope == Scope::Shared);
                self.threads[step.thread] = after;
                condition
            }
            Effect::Assert(condition, holds) => {
                let wanted = if fails { !holds } else { holds };
                self.aig.and(condition, wanted)
            }
            Effect::Call(..) | Effect::Return(_) | Effect::End => Lit::TRUE,
        };
        self.conditions.push(condition);
    }

    /// Returns the execution of the program over bits.
    fn trace(&self, path: &Path, value: &dyn Fn(Input) -> bool) -> Trace {
        let threads = self.begun.iter().map(|(entry, begin)| begin.thread(*entry, value)).collect();
        let steps = path.steps.iter().enumerate().map(|(number, step)| Step {
            thread: selvedge_ir::ThreadId(step.thread as u32),
            edge: step.edge,
            choices: circuit::choose(&self.choices[number], value),
            passive: Vec::new(),
            fresh: self.fresh[number].iter().map(|(var, input)| (*var, Value::Bool(value(*input)))).collect(),
            body: None,
        });
        Trace { start: self.start.start_of(threads, value), steps: steps.collect(), bodies: Vec::new() }
    }
}
