//! Facts about programs that the judge reads by code of its own: it shares no helper with the engines.

use index_vec::IndexVec;
use selvedge_ir::{Assign, Count, EdgeId, EntryId, Expr, LocId, Op, ProcId, Program, Scope, Ty, Value, VarId};

use crate::certificate::Flaw;
use crate::semantics::child;

/// The edges that leave each location, in ascending order of their numbers.
pub(crate) type Leaving = IndexVec<LocId, Vec<EdgeId>>;

pub(crate) fn leaving(program: &Program) -> Leaving {
    let mut leaving: Leaving = program.locs.iter().map(|_| Vec::new()).collect();
    program.edges.iter_enumerated().for_each(|(id, edge)| leaving[edge.from].push(id));
    leaving
}

/// The leaves of an expression, from left to right. Works without recursion: expressions may be deep.
pub(crate) fn leaves(expr: &Expr) -> impl Iterator<Item = &Expr> {
    let mut open = vec![expr];
    std::iter::from_fn(move || {
        loop {
            match open.pop()? {
                Expr::Unary(_, operand) => open.push(operand),
                Expr::Binary(_, pair) => open.extend([&pair.1, &pair.0]),
                Expr::Ite(triple) => open.extend([&triple.2, &triple.1, &triple.0]),
                Expr::Let(shared) => {
                    open.push(&shared.body);
                    open.extend(shared.parts.iter().rev().map(|(_, part)| part));
                }
                Expr::Part(_) => {}
                leaf => return Some(leaf),
            }
        }
    })
}

/// Returns whether an expression mentions variables of other threads.
pub(crate) fn mentions_others(expr: &Expr) -> bool {
    leaves(expr).any(|leaf| matches!(leaf, Expr::Passive(_) | Expr::PassiveNext(_)))
}

/// Returns whether an operation reads or assigns variables of other threads.
pub(crate) fn concerns_others(op: &Op) -> bool {
    matches!(op, Op::Assign(assign) if !assign.passive.is_empty() || mentions_others(&assign.constrain))
}

/// The expressions of an operation.
pub(crate) fn exprs(op: &Op) -> Vec<&Expr> {
    match op {
        Op::Assign(assign) => {
            let sides = assign.active.iter().chain(&assign.passive).map(|(_, rhs)| rhs);
            sides.chain([&assign.constrain]).collect()
        }
        Op::Assert(condition) => vec![condition],
        Op::Call(call) => call.args.iter().collect(),
        Op::Spawn(spawn) => spawn.args.iter().collect(),
        Op::Return(values) => values.iter().collect(),
        Op::Fork(_) | Op::End | Op::AtomicBegin | Op::AtomicEnd => Vec::new(),
    }
}

/// The types of the choices in some expressions, by number. A number that does not occur counts as Boolean.
pub(crate) fn choice_types<'e>(exprs: impl IntoIterator<Item = &'e Expr>) -> Vec<Ty> {
    let mut types = Vec::new();
    for leaf in exprs.into_iter().flat_map(leaves) {
        if let Expr::Choice(number, ty) = *leaf {
            types.resize(types.len().max(number as usize + 1), Ty::Bool);
            types[number as usize] = ty;
        }
    }
    types
}

/// Returns whether a choice is made once for each other thread: it occurs in a passive right-hand side or in a
/// condition on other threads, and in no active right-hand side.
pub(crate) fn is_per_thread(assign: &Assign, number: u32) -> bool {
    let occurs = |expr: &Expr| leaves(expr).any(|leaf| matches!(leaf, Expr::Choice(other, _) if *other == number));
    let constrain = Some(&assign.constrain).filter(|constrain| mentions_others(constrain));
    let mut passive = assign.passive.iter().map(|(_, rhs)| rhs).chain(constrain);
    passive.any(occurs) && !assign.active.iter().any(|(_, rhs)| occurs(rhs))
}

/// Checks that a program is a single thread, without integers. A prelude may run before it.
pub(crate) fn is_sequential(program: &Program) -> Result<(), Flaw> {
    has_one_thread(program)?;
    is_boolean(program)
}

/// Checks that a program is a single thread: one initial thread in every run, and nothing that starts another.
pub(crate) fn has_one_thread(program: &Program) -> Result<(), Flaw> {
    let starts_one = matches!(program.entries.as_raw_slice(), [entry] if entry.count == Count::Exactly(1));
    if !starts_one || program.edges.iter().any(|edge| child(&edge.op).is_some()) {
        return Err(Flaw::OutOfScope("it has several threads"));
    }
    Ok(())
}

/// Checks that a program has no integers, and chooses none.
pub(crate) fn is_boolean(program: &Program) -> Result<(), Flaw> {
    let inits = program.entries.iter().flat_map(|entry| &entry.init).chain(&program.init).map(|(_, rhs)| rhs);
    let mut exprs = program.edges.iter().flat_map(|edge| exprs(&edge.op)).chain(inits);
    let is_boolean = program.vars.iter().all(|var| var.ty == Ty::Bool)
        && exprs.all(|expr| leaves(expr).all(|leaf| !matches!(leaf, Expr::Choice(_, ty) if *ty != Ty::Bool)));
    if is_boolean { Ok(()) } else { Err(Flaw::OutOfScope("it has integers")) }
}

/// Returns whether a thread of a kind, with these procedures on its stack, has a variable.
pub(crate) fn has(
    program: &Program,
    kind: Option<EntryId>,
    mut stack: impl Iterator<Item = ProcId>,
    var: VarId,
) -> bool {
    match program.vars[var].scope {
        Scope::Shared => true,
        Scope::Thread => kind.is_some_and(|kind| program.entries[kind].thread_vars.contains(&var)),
        Scope::Local(owner) => stack.any(|proc| proc == owner),
    }
}

/// The value of variables that no thread reads, and of those that a trace does not mention.
pub(crate) fn default_value(ty: Ty) -> Value {
    match ty {
        Ty::Bool => Value::Bool(false),
        Ty::Int => Value::Int(0),
        Ty::Machine(ty) => Value::Machine(ty, 0),
    }
}
