//! The meaning of steps, in any domain of values: what a step needs, what it writes, and where it leads.
//!
//! There is no other place in the judge that says what an operation does. The interpreter and all checkers of
//! certificates differ in what they take for values ([`Domain`]), in where they keep them ([`Scene`]), and in how they
//! write an [`Effect`] into their states.

use selvedge_ir::{Assign, Call, Edge, EdgeId, EntryId, Expr, LocId, Op, ProcId, Program, Scope, VarId};

use crate::domain::{Domain, eval};
use crate::program::{default_value, is_per_thread, leaves, mentions_others};

/// The state before a step, as the thread that moves sees it, and the choices that the step makes.
pub(crate) trait Scene<D: Domain> {
    /// The value of a variable of the moving thread, or of a shared one.
    fn read(&mut self, domain: &mut D, var: VarId) -> Result<D::Value, D::Error>;

    /// The value of a choice of the edge.
    fn choice(&mut self, domain: &mut D, number: u32) -> Result<D::Value, D::Error>;

    /// The number of other threads that may take part in the step.
    fn n_others(&self) -> usize {
        0
    }

    /// Returns whether another thread has a variable: a frame of its procedure, or its kind's per-thread variables.
    fn has(&self, _other: usize, _var: VarId) -> bool {
        false
    }

    /// The value of a variable of another thread, which has it.
    fn read_other(&mut self, domain: &mut D, _other: usize, var: VarId) -> Result<D::Value, D::Error> {
        self.read(domain, var)
    }

    /// The value of a choice that is made for each other thread that takes part; `number_of` counts these.
    fn choice_for(&mut self, domain: &mut D, _number_of: usize, number: u32) -> Result<D::Value, D::Error> {
        self.choice(domain, number)
    }
}

/// New values of variables; `None` is any value.
pub(crate) type Writes<V> = Vec<(VarId, Option<V>)>;

/// What a step needs and does. [`control`] says where it leads.
#[derive(Clone, Debug)]
pub(crate) struct Effect<V> {
    /// The conditions without which there is no such step.
    pub(crate) conditions: Vec<V>,
    /// The condition of an assertion, which fails where it does not hold.
    pub(crate) asserted: Option<V>,
    /// The new values of variables of the thread, in its running frame after the step, and of shared ones. A call writes
    /// all variables of the new frame, in the order of the procedure's locals.
    pub(crate) writes: Writes<V>,
    /// The new values of variables of other threads, by the number of the thread.
    pub(crate) passive: Vec<(usize, VarId, V)>,
    /// For a spawn: the variables of the new thread's frame, in the order of the procedure's locals.
    pub(crate) child: Writes<V>,
}

/// Where a step leads the thread that makes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Control {
    /// To a location of the running procedure.
    Go(LocId),
    /// To the entry of a procedure, in a new frame.
    Call(ProcId),
    /// Behind the call of the frame below; the running one is popped.
    Return(EdgeId),
    /// Nowhere: the thread ends.
    End,
}

/// Where a thread begins that a step starts: as a new thread that runs a procedure, or as a copy of the mover elsewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Child {
    Spawn(ProcId),
    Fork(LocId),
}

/// Says where a step along an edge leads a thread whose running frame was called by `caller`.
pub(crate) fn control(edge: &Edge, caller: Option<EdgeId>) -> Control {
    match (&edge.op, caller) {
        (Op::Call(call), _) => Control::Call(call.callee),
        (Op::Return(_), Some(call)) => Control::Return(call),
        (Op::Return(_), None) | (Op::End, _) => Control::End,
        _ => Control::Go(edge.to),
    }
}

/// The thread that an operation starts, where there is room for one.
pub(crate) fn child(op: &Op) -> Option<Child> {
    match op {
        Op::Spawn(spawn) => Some(Child::Spawn(spawn.callee)),
        Op::Fork(at) => Some(Child::Fork(*at)),
        _ => None,
    }
}

/// Whether the thread holds the atomic flag after an operation; `None` if that does not change. A thread that ends
/// releases it.
pub(crate) fn flag(op: &Op) -> Option<bool> {
    match op {
        Op::AtomicBegin => Some(true),
        Op::AtomicEnd => Some(false),
        _ => None,
    }
}

/// The call of an edge that was found on a stack.
pub(crate) fn call_of(program: &Program, edge: EdgeId) -> &Call {
    let Op::Call(call) = &program.edges[edge].op else { unreachable!("stacks have calls only") };
    call
}

/// Computes what a step along an edge does, of a thread whose running frame was called by `caller`.
pub(crate) fn effect<D: Domain, S: Scene<D>>(
    program: &Program,
    edge: &Edge,
    caller: Option<EdgeId>,
    domain: &mut D,
    scene: &mut S,
) -> Result<Effect<D::Value>, D::Error> {
    let (asserted, passive, child) = (None, Vec::new(), Vec::new());
    let nothing = Effect { conditions: Vec::new(), asserted, writes: Vec::new(), passive, child };
    Ok(match (&edge.op, caller) {
        (Op::Assign(op), _) => assign(op, domain, scene)?,
        (Op::Assert(condition), _) => Effect { asserted: Some(value(condition, domain, scene)?), ..nothing },
        (Op::Call(call), _) => Effect { writes: enter(program, call.callee, &call.args, domain, scene)?, ..nothing },
        (Op::Spawn(spawn), _) => Effect { child: enter(program, spawn.callee, &spawn.args, domain, scene)?, ..nothing },
        (Op::Return(exprs), Some(call)) => {
            let values = values(exprs, domain, scene)?;
            Effect { writes: results(call_of(program, call), values), ..nothing }
        }
        // What a thread returns with its first frame is not used.
        (Op::Return(_), None) | (Op::Fork(_) | Op::End | Op::AtomicBegin | Op::AtomicEnd, _) => nothing,
    })
}

/// The variables of a new frame: arguments, read in the caller, for the parameters, any values for the other locals.
fn enter<D: Domain, S: Scene<D>>(
    program: &Program,
    callee: ProcId,
    args: &[Expr],
    domain: &mut D,
    scene: &mut S,
) -> Result<Writes<D::Value>, D::Error> {
    let callee = &program.procs[callee];
    let args = values(args, domain, scene)?;
    let arg = |local: &VarId| callee.params.iter().position(|param| param == local).map(|number| args[number].clone());
    Ok(callee.locals.iter().map(|local| (*local, arg(local))).collect())
}

/// The variables of the caller that get the returned values.
pub(crate) fn results<V>(call: &Call, values: Vec<V>) -> Writes<V> {
    call.results.iter().zip(values).filter_map(|(var, value)| Some(((*var)?, Some(value)))).collect()
}

/// Computes the values of expressions before a step.
pub(crate) fn values<D: Domain, S: Scene<D>>(
    exprs: &[Expr],
    domain: &mut D,
    scene: &mut S,
) -> Result<Vec<D::Value>, D::Error> {
    exprs.iter().map(|expr| value(expr, domain, scene)).collect()
}

/// Computes the value of an expression before a step.
pub(crate) fn value<D: Domain, S: Scene<D>>(expr: &Expr, domain: &mut D, scene: &mut S) -> Result<D::Value, D::Error> {
    eval(domain, expr, &mut |domain, leaf| Leaves { writes: &[], other: None }.value(leaf, domain, scene))
}

/// An assignment. All right-hand sides are read in the old state. The other threads that have what a passive assignment
/// or the condition mentions take part, one by one; a condition on other threads holds where there is none.
fn assign<D: Domain, S: Scene<D>>(
    assign: &Assign,
    domain: &mut D,
    scene: &mut S,
) -> Result<Effect<D::Value>, D::Error> {
    let (mut writes, mut passive, mut conditions) = (Vec::new(), Vec::new(), Vec::new());
    for (var, rhs) in &assign.active {
        writes.push((*var, Some(value(rhs, domain, scene)?)));
    }
    for (number_of, other) in participants(assign, scene).into_iter().enumerate() {
        let mut written: Vec<(VarId, D::Value)> = Vec::new();
        for (var, rhs) in &assign.passive {
            if !is_assigned(scene, other, *var, rhs) {
                continue;
            }
            let pair = Pair { assign, other, number_of, written: &[] };
            let leaves = Leaves { writes: &writes, other: Some(pair) };
            written.push((*var, eval(domain, rhs, &mut |domain, leaf| leaves.value(leaf, domain, scene))?));
        }
        if mentions_others(&assign.constrain) && has_all(scene, other, &assign.constrain) {
            let pair = Pair { assign, other, number_of, written: &written };
            let leaves = Leaves { writes: &writes, other: Some(pair) };
            let holds = eval(domain, &assign.constrain, &mut |domain, leaf| leaves.value(leaf, domain, scene))?;
            conditions.push(holds);
        }
        passive.extend(written.into_iter().map(|(var, value)| (other, var, value)));
    }
    if !mentions_others(&assign.constrain) {
        let leaves = Leaves { writes: &writes, other: None };
        let holds = eval(domain, &assign.constrain, &mut |domain, leaf| leaves.value(leaf, domain, scene))?;
        conditions.push(holds);
    }
    Ok(Effect { conditions, asserted: None, writes, passive, child: Vec::new() })
}

/// The other threads that take part in an assignment: those that have what some passive assignment or the condition on
/// other threads mentions.
pub(crate) fn participants<D: Domain, S: Scene<D>>(assign: &Assign, scene: &S) -> Vec<usize> {
    let constrains = mentions_others(&assign.constrain);
    let takes_part = |other: &usize| {
        assign.passive.iter().any(|(var, rhs)| is_assigned(scene, *other, *var, rhs))
            || (constrains && has_all(scene, *other, &assign.constrain))
    };
    (0..scene.n_others()).filter(takes_part).collect()
}

fn is_assigned<D: Domain, S: Scene<D>>(scene: &S, other: usize, var: VarId, rhs: &Expr) -> bool {
    scene.has(other, var) && has_all(scene, other, rhs)
}

/// Whether a thread has all variables of other threads that an expression mentions.
fn has_all<D: Domain, S: Scene<D>>(scene: &S, other: usize, expr: &Expr) -> bool {
    leaves(expr).all(|leaf| match leaf {
        Expr::Passive(var) | Expr::PassiveNext(var) => scene.has(other, *var),
        _ => true,
    })
}

/// Where the leaves of an expression have their values.
struct Leaves<'a, V> {
    /// The new values, for constraints.
    writes: &'a [(VarId, Option<V>)],
    other: Option<Pair<'a, V>>,
}

/// Another thread that takes part in an assignment.
#[derive(Clone, Copy)]
struct Pair<'a, V> {
    assign: &'a Assign,
    other: usize,
    /// Its number among those that take part.
    number_of: usize,
    /// Its new values, for constraints.
    written: &'a [(VarId, V)],
}

impl<V: Clone> Leaves<'_, V> {
    fn value<D: Domain<Value = V>, S: Scene<D>>(
        &self,
        leaf: &Expr,
        domain: &mut D,
        scene: &mut S,
    ) -> Result<V, D::Error> {
        match (leaf, &self.other) {
            (Expr::Var(var), _) => scene.read(domain, *var),
            (Expr::Next(var), _) => match self.writes.iter().find(|(written, _)| written == var) {
                Some((_, Some(value))) => Ok(value.clone()),
                _ => scene.read(domain, *var),
            },
            (Expr::Choice(number, _), Some(pair)) if is_per_thread(pair.assign, *number) => {
                scene.choice_for(domain, pair.number_of, *number)
            }
            (Expr::Choice(number, _), _) => scene.choice(domain, *number),
            (Expr::Passive(var), Some(pair)) => scene.read_other(domain, pair.other, *var),
            (Expr::PassiveNext(var), Some(pair)) => match pair.written.iter().find(|(written, _)| written == var) {
                Some((_, value)) => Ok(value.clone()),
                None => scene.read_other(domain, pair.other, *var),
            },
            _ => unreachable!("the validator rejects other threads' variables elsewhere"),
        }
    }
}

/// Computes the shared variables at the start of a run. The initial values read no variable.
pub(crate) fn start_shared<D: Domain, S: Scene<D>>(
    program: &Program,
    domain: &mut D,
    scene: &mut S,
) -> Result<Writes<D::Value>, D::Error> {
    started(of_scope(program, Scope::Shared), &program.init, domain, scene)
}

/// Computes the variables of an initial thread of a kind: its initial values read shared variables.
pub(crate) fn start_thread<D: Domain, S: Scene<D>>(
    program: &Program,
    kind: EntryId,
    domain: &mut D,
    scene: &mut S,
) -> Result<Writes<D::Value>, D::Error> {
    let entry = &program.entries[kind];
    let mut writes = default_thread_vars(program, domain)?;
    writes.retain(|(var, _)| !entry.thread_vars.contains(var));
    writes.extend(started(entry.thread_vars.iter().copied(), &entry.init, domain, scene)?);
    writes.extend(program.procs[entry.proc].locals.iter().map(|local| (*local, None)));
    Ok(writes)
}

/// The variables of the prelude's thread: it uses no per-thread variables.
pub(crate) fn start_prelude<D: Domain>(
    program: &Program,
    prelude: ProcId,
    domain: &mut D,
) -> Result<Writes<D::Value>, D::Error> {
    let mut writes = default_thread_vars(program, domain)?;
    writes.extend(program.procs[prelude].locals.iter().map(|local| (*local, None)));
    Ok(writes)
}

/// Variables that start: with their initial values, which are computed all at once, or with any value.
fn started<D: Domain, S: Scene<D>>(
    vars: impl Iterator<Item = VarId>,
    init: &[(VarId, Expr)],
    domain: &mut D,
    scene: &mut S,
) -> Result<Writes<D::Value>, D::Error> {
    let initial = |var: VarId| init.iter().find(|(initialised, _)| *initialised == var);
    let mut start = |var: VarId| {
        let value = initial(var).map(|(_, rhs)| value(rhs, domain, scene)).transpose()?;
        Ok((var, value))
    };
    vars.map(&mut start).collect()
}

fn default_thread_vars<D: Domain>(program: &Program, domain: &mut D) -> Result<Writes<D::Value>, D::Error> {
    let mut default = |var: VarId| Ok((var, Some(domain.lift(default_value(program.vars[var].ty))?)));
    of_scope(program, Scope::Thread).map(&mut default).collect()
}

/// The variables of a scope, in the order of their declaration.
pub(crate) fn of_scope(program: &Program, scope: Scope) -> impl Iterator<Item = VarId> {
    program.vars.iter_enumerated().filter(move |(_, var)| var.scope == scope).map(|(id, _)| id)
}

/// The control of a thread: the calls that have not returned, the first one first, and the location.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Position {
    pub(crate) calls: Vec<EdgeId>,
    pub(crate) loc: LocId,
}

impl Position {
    /// Where a thread begins that runs a procedure.
    pub(crate) fn entry(program: &Program, proc: ProcId) -> Position {
        Position { calls: Vec::new(), loc: program.procs[proc].entry }
    }

    /// The call of the running frame.
    pub(crate) fn caller(&self) -> Option<EdgeId> {
        self.calls.last().copied()
    }

    /// Where a step leads; `None` if the thread ends.
    pub(crate) fn after(&self, program: &Program, id: EdgeId) -> Option<Position> {
        let mut calls = self.calls.clone();
        let loc = match control(&program.edges[id], self.caller()) {
            Control::Go(to) => to,
            Control::Call(callee) => {
                calls.push(id);
                program.procs[callee].entry
            }
            Control::Return(call) => {
                calls.pop();
                program.edges[call].to
            }
            Control::End => return None,
        };
        Some(Position { calls, loc })
    }

    /// Where a thread begins that a step starts.
    pub(crate) fn child(&self, program: &Program, op: &Op) -> Option<Position> {
        Some(match child(op)? {
            Child::Spawn(callee) => Position::entry(program, callee),
            Child::Fork(loc) => Position { calls: self.calls.clone(), loc },
        })
    }

    /// The procedures of the frames, the running one last.
    pub(crate) fn stack(&self, program: &Program) -> impl Iterator<Item = ProcId> {
        let callers = self.calls.iter().map(|call| program.edges[*call].from);
        callers.chain([self.loc]).map(|loc| program.locs[loc].proc)
    }

    /// Returns whether a step calls a procedure that has not returned.
    pub(crate) fn recurs(&self, program: &Program, op: &Op) -> bool {
        matches!(op, Op::Call(call) if self.stack(program).any(|proc| proc == call.callee))
    }
}
