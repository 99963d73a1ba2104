//! Two additional variables that the path edges of a thread need.
//!
//! *The atomic flag.* Only its holder runs while it is taken, and no context ends then, so each thread only needs to
//! know whether it has the flag itself: a per-thread variable.
//!
//! *The shared state when all threads started.* Initial values of per-thread variables may read it, but a thread has
//! its first context after others have run. So the values that they read are kept in additional shared variables that
//! never change.
//!
//! Edges, choices and variables keep their numbers, so an execution of the result is one of the program.

use std::collections::BTreeMap;

use selvedge_ir::{Edge, Expr, Op, ProcId, Program, Scope, Trace, Ty, Var, VarId};

/// A program with its additional variables.
pub(crate) struct Tracked {
    pub(crate) program: Program,
    /// The variable for the flag; `None` if the flag is never taken.
    pub(crate) flag: Option<VarId>,
    /// Shared variables, each with the variable that keeps its value at the start.
    pub(crate) kept: Vec<(VarId, VarId)>,
}

impl Tracked {
    /// Returns the procedures in which threads begin, and the code before them.
    pub(super) fn roots(&self) -> Vec<ProcId> {
        self.program.entries.iter().map(|entry| entry.proc).chain(self.program.prelude).collect()
    }

    /// Returns an execution without the additional variables.
    pub(crate) fn original(&self, mut trace: Trace) -> Trace {
        trace.start.fresh.retain(|(var, _)| !self.kept.iter().any(|(_, kept)| kept == var));
        trace
    }
}

/// Adds the variables that a program needs.
pub(crate) fn track(program: &Program) -> Tracked {
    let mut program = program.clone();
    let kept = keep_start(&mut program);
    let takes_flag = program.edges.iter().any(|edge| edge.op == Op::AtomicBegin);
    let flag = takes_flag.then(|| add_flag(&mut program));
    Tracked { program, flag, kept }
}

fn add_flag(program: &mut Program) -> VarId {
    let flag = program.vars.push(Var { name: "atomic".to_owned(), scope: Scope::Thread, ty: Ty::Bool });
    for edge in &mut program.edges {
        if matches!(edge.op, Op::AtomicBegin | Op::AtomicEnd) {
            let active = vec![(flag, Expr::Bool(edge.op == Op::AtomicBegin))];
            *edge = Edge::new(edge.from, edge.to, Op::guarded(active, edge.ensures.clone()));
        }
    }
    for entry in &mut program.entries {
        entry.thread_vars.push(flag);
        entry.init.push((flag, Expr::Bool(false)));
    }
    flag
}

fn keep_start(program: &mut Program) -> Vec<(VarId, VarId)> {
    let mut kept = BTreeMap::new();
    for entry in &mut program.entries {
        for (_, rhs) in &mut entry.init {
            *rhs = rhs.map_leaves(&mut |leaf| match leaf {
                Expr::Var(var) => Expr::Var(*kept.entry(*var).or_insert_with(|| {
                    let name = format!("{} at the start", program.vars[*var].name);
                    program.vars.push(Var { name, scope: Scope::Shared, ty: Ty::Bool })
                })),
                leaf => leaf.clone(),
            });
        }
    }
    kept.into_iter().collect()
}
