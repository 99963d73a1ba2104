//! Recognises programs of guarded commands: a first step, and then one location with commands and assertions.

use selvedge_check::{Task, Unsupported};
use selvedge_ir::{Assign, Count, EdgeId, Expr, LocId, Op, Program, Scope};

/// A program of guarded commands and the assertions to check.
pub(crate) struct GuardedCommands<'p> {
    pub(crate) program: &'p Program,
    /// The location where the thread begins, and the one where it stays.
    pub(crate) entry: LocId,
    pub(crate) head: LocId,
    /// The first step, and its condition.
    pub(crate) first: EdgeId,
    pub(crate) init: &'p Expr,
    pub(crate) commands: Vec<(EdgeId, &'p Assign)>,
    /// The assertions to check.
    pub(crate) asserts: Vec<(EdgeId, &'p Expr)>,
}

impl<'p> GuardedCommands<'p> {
    /// Takes a program apart, or says why it does not have this form.
    pub(crate) fn of(task: &Task<'p>, name: &str) -> Result<GuardedCommands<'p>, Unsupported> {
        let program = task.program;
        let refuse = |what: &str| Unsupported::new(format!("`{name}` only supports guarded commands: {what}"));
        let [entry] = program.entries.as_raw_slice() else { return Err(refuse("there are several threads")) };
        let is_plain = program.prelude.is_none() && program.init.is_empty() && program.procs.len() == 1;
        let is_shared = program.vars.iter().all(|var| var.scope == Scope::Shared);
        if entry.count != Count::Exactly(1) || !is_plain || !is_shared {
            return Err(refuse("this program has other declarations"));
        }
        if program.has_machine_integers() || program.shares_parts() {
            return Err(refuse("machine integers are not supported"));
        }
        if !task.target.locs.is_empty() || !task.target.together.is_empty() {
            return Err(refuse("error labels are not supported"));
        }
        let entry = program.procs[entry.proc].entry;
        let (first, init, head) = first_step(program, entry).map_err(refuse)?;
        let mut system =
            GuardedCommands { program, entry, head, first, init, commands: Vec::new(), asserts: Vec::new() };
        for (id, edge) in program.edges.iter_enumerated().filter(|(id, _)| *id != first) {
            let stays = edge.from == head && edge.to == head;
            match &edge.op {
                Op::Assign(assign) if stays && !assign.is_passive() && is_condition(&assign.constrain) => {
                    system.commands.push((id, assign));
                }
                Op::Assert(condition) if stays && is_condition(condition) => {
                    if task.target.has_assert(id) {
                        system.asserts.push((id, condition));
                    }
                }
                _ => return Err(refuse("there are steps other than commands and assertions")),
            }
        }
        Ok(system)
    }
}

/// Returns an expression over the values after a command as one over the values and choices before it.
pub(crate) fn after(command: &Assign, expr: &Expr) -> Expr {
    let assigned = |leaf: &Expr| command.active.iter().find(|(var, _)| Expr::Var(*var) == *leaf);
    expr.map_leaves(&mut |leaf| assigned(leaf).map_or(leaf, |(_, rhs)| rhs).clone())
}

/// Returns the first step, its condition and its end, or why it is not just an assumption.
fn first_step(program: &Program, entry: LocId) -> Result<(EdgeId, &Expr, LocId), &'static str> {
    let mut firsts = program.edges.iter_enumerated().filter(|(_, edge)| edge.from == entry);
    let (Some((first, edge)), None) = (firsts.next(), firsts.next()) else {
        return Err("there must be exactly one first step");
    };
    let (Op::Assign(assume), head) = (&edge.op, edge.to) else { return Err("the first step is not an assumption") };
    if !assume.active.is_empty() || head == entry || !is_condition(&assume.constrain) || assume.is_passive() {
        return Err("the first step does more than assume a condition");
    }
    Ok((first, &assume.constrain, head))
}

/// Returns whether a condition depends on the state before the step alone.
fn is_condition(condition: &Expr) -> bool {
    let is_other =
        |leaf: &Expr| matches!(leaf, Expr::Next(_) | Expr::Choice(..) | Expr::Passive(_) | Expr::PassiveNext(_));
    !condition.any_leaf(is_other)
}
