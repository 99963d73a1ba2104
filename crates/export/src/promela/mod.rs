//! Programs with a bounded number of threads as models in Promela, for SPIN.
//!
//! A process of the model is a slot for a thread; there are as many as there may be threads at a time. It waits to be
//! started, runs, and waits again. Its variables are local to the process; shared ones are global. Steps of threads are
//! those of `moves`: each is one transition of SPIN, so that no unnecessary states are stored. A thread is started by a
//! rendezvous, which passes its locals and is one transition of both processes; it gets the first free slot.
//!
//! First, calls are inlined and the program is simplified by the passes of our own engines, so that the comparison with
//! SPIN is fair. Locals are set to 0 where they are dead.
//!
//! If a path of an atomic section had to be cut, a global `holder` has the number of the process that holds the
//! flag, and guards the steps of the others.

mod held;
mod moves;
mod start;
mod words;
mod write;

use index_vec::IndexVec;
use selvedge_check::{Task, ThreadScope};
use selvedge_frontend::Context;
use selvedge_ir::callgraph::{CallGraph, Through};
use selvedge_ir::flow::Flow;
use selvedge_ir::liveness::Liveness;
use selvedge_ir::passes::{Passed, compress, drop_dead, fold, inline, slice};
use selvedge_ir::{Count, Expr, LocId, Op, ProcId, Program, Scope, Target, Ty, VarId};

use held::Held;
use moves::{Begin, End, Move};

/// Limit on the number of threads: SPIN has 255 processes.
const MOST_THREADS: u32 = 200;

/// Returns the model of a question, or the reason why there is none, without a full stop.
pub fn render(context: Context<'_>, task: &Task<'_>) -> Result<String, String> {
    in_scope(context, task)?;
    let simplified = simplify(task.program, task.target);
    let model = Model::new(&Task { program: &simplified.program, target: &simplified.target, threads: task.threads })?;
    let head = format!(
        "/* {}: no assertion of this model fails if and only if no error can be reached. */\n",
        context.source.name.replace("*/", "* /").replace('\n', " ")
    );
    Ok(head + &write::write(&model)?)
}

/// Runs the passes of our own engines. The lifts are not needed: the model's runs are not read back.
fn simplify(program: &Program, target: &Target) -> Passed {
    let rest = [slice::run, drop_dead::run, inline::run, fold::run, drop_dead::run, compress::run];
    rest.iter().fold(fold::run(program, target), |passed, pass| pass(&passed.program, &passed.target))
}

/// Returns why a program has no model, with a position if there is one.
fn in_scope(context: Context<'_>, task: &Task<'_>) -> Result<(), String> {
    let program = task.program;
    let is_boolean = program.vars.iter().all(|var| var.ty == Ty::Bool) && !program.has_machine_integers();
    if !is_boolean || program.shares_parts() {
        return Err("models for SPIN only support Boolean programs".to_string());
    }
    if task.target.deadlock {
        return Err("models for SPIN do not support --deadlock".to_string());
    }
    if !task.target.together.is_empty() {
        return Err("models for SPIN do not support errors of several threads together".to_string());
    }
    for (id, edge) in program.edges.iter_enumerated() {
        if let Op::Assign(assign) = &edge.op
            && assign.is_passive()
        {
            let span = context.map.edges[id].span;
            let (line, text) = (context.source.line(span.start as usize), context.source.flat(span));
            return Err(format!(
                "models for SPIN cannot read or write other threads' variables: line {line}, `{text}`"
            ));
        }
    }
    let calls = CallGraph::new(program);
    let starts = program.entries.iter().map(|entry| entry.proc).chain(program.prelude);
    let runs = calls.reachable(starts, Through::CallsAndSpawns);
    if let Some(proc) = program.procs.indices().find(|proc| runs[*proc] && calls.is_recursive(*proc)) {
        let name = &program.procs[proc].name;
        return Err(format!("models for SPIN do not support recursion, but `{name}` calls itself"));
    }
    match n_places(task) {
        None => Err("a model for SPIN needs a bounded number of threads: use --threads".to_string()),
        Some(places) if places > MOST_THREADS => Err(format!("models for SPIN have at most {MOST_THREADS} threads")),
        Some(_) => Ok(()),
    }
}

/// Returns the maximum number of live threads, if it is bounded.
fn n_places(task: &Task<'_>) -> Option<u32> {
    let spawns = spawns(task.program);
    let most = task.program.entries.iter().try_fold(0_u32, |sum, entry| match entry.count {
        Count::Exactly(count) | Count::AtMost(count) => sum.checked_add(count),
        Count::Any => None,
    });
    match (task.threads, most, spawns) {
        (ThreadScope::AtMost(bound) | ThreadScope::Created(bound), Some(most), false) => Some(bound.min(most)),
        (ThreadScope::AtMost(bound) | ThreadScope::Created(bound), _, _) => Some(bound),
        (ThreadScope::Unbounded, most, false) => most,
        (ThreadScope::Unbounded, _, true) => None,
    }
}

/// A simplified question without calls.
struct Model<'a> {
    program: &'a Program,
    target: &'a Target,
    n_places: u32,
    /// True if the slot of a thread that has ended is reused.
    reuses: bool,
    flow: Flow,
    held: IndexVec<LocId, Held>,
    liveness: Liveness,
    /// The number of a variable among those of its scope.
    slot: IndexVec<VarId, usize>,
    thread_vars: Vec<VarId>,
}

impl<'a> Model<'a> {
    fn new(task: &Task<'a>) -> Result<Model<'a>, String> {
        let program = task.program;
        let of_scope = |scope: Scope| -> Vec<VarId> {
            program.vars.indices().filter(|var| program.vars[*var].scope == scope).collect()
        };
        let (shared, thread_vars) = (of_scope(Scope::Shared), of_scope(Scope::Thread));
        let mut slot: IndexVec<VarId, usize> = program.vars.iter().map(|_| 0).collect();
        for list in program.procs.iter().map(|proc| &proc.locals).chain([&shared, &thread_vars]) {
            list.iter().enumerate().for_each(|(place, var)| slot[*var] = place);
        }
        if let Some(prelude) = program.prelude
            && program
                .edges
                .iter()
                .any(|edge| matches!(edge.op, Op::Spawn(_) | Op::Fork(_)) && program.locs[edge.from].proc == prelude)
        {
            return Err("models for SPIN do not support preludes that start threads".to_string());
        }
        let flow = Flow::new(program);
        Ok(Model {
            program,
            target: task.target,
            n_places: n_places(task).expect("unbounded questions are refused before"),
            reuses: !matches!(task.threads, ThreadScope::Created(_)),
            held: held::held(program, &flow),
            liveness: Liveness::new(program),
            flow,
            slot,
            thread_vars,
        })
    }

    /// Returns the name of a variable in the model.
    fn name(&self, var: VarId) -> String {
        let letter = match self.program.vars[var].scope {
            Scope::Shared => 'g',
            Scope::Thread => 't',
            Scope::Local(_) => 'l',
        };
        format!("{letter}{}", self.slot[var])
    }

    fn reads_shared(&self, expr: &Expr) -> bool {
        expr.any_leaf(|leaf| match leaf {
            Expr::Var(var) | Expr::Next(var) => self.program.vars[*var].scope == Scope::Shared,
            _ => false,
        })
    }

    /// Returns the variables of a thread that runs a procedure.
    fn own(&self, proc: ProcId) -> impl Iterator<Item = VarId> {
        self.program.procs[proc].locals.iter().chain(&self.thread_vars).copied()
    }

    /// Extends a move to reset the thread's variables that are dead after it.
    fn forget(&self, from: LocId, found: Move) -> Move {
        let mut found = found;
        if found.end == End::Fail {
            (found.updates, found.open) = (Vec::new(), Vec::new());
            return found;
        }
        for var in self.own(self.program.locs[from].proc) {
            if self.matters(var, &found.end) {
                continue;
            }
            found.updates.retain(|(other, _)| *other != var);
            found.open.retain(|(other, ..)| *other != var);
            if self.liveness.is_live(from, var) {
                found.updates.push((var, Expr::FALSE));
            }
        }
        found
    }

    /// Returns whether a thread's variable is read after a move.
    fn matters(&self, var: VarId, end: &End) -> bool {
        let is_thread_var = self.program.vars[var].scope == Scope::Thread;
        match end {
            End::Goto(to) => self.liveness.is_live(*to, var),
            End::Fail | End::Finish => false,
            End::Start(Begin::Fork(at), to) => self.liveness.is_live(*to, var) || self.liveness.is_live(*at, var),
            End::Start(Begin::Proc(callee, args), to) => {
                let entry = self.program.procs[*callee].entry;
                self.liveness.is_live(*to, var)
                    || words::read_in(args).contains(&var)
                    || (is_thread_var && self.liveness.is_live(entry, var))
            }
        }
    }

    /// Returns whether threads are started on the way.
    fn spawns(&self) -> bool {
        spawns(self.program)
    }
}

fn spawns(program: &Program) -> bool {
    program.edges.iter().any(|edge| matches!(edge.op, Op::Spawn(_) | Op::Fork(_)))
}
