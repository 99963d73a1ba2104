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

    /// The value of a variable in the frame of the caller: another one than [`Scene::read`] gives if the running
    /// procedure has called itself.
    fn read_below(&mut self, domain: &mut D, var: VarId) -> Result<D::Value, D::Error> {
        self.read(domain, var)
    }

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

/// The effect of a step: what it needs, and what it writes. [`control`] says where it leads.
#[derive(Clone, Debug)]
pub(crate) struct Effect<V> {
    /// The conditions without which there is no such step, nor the failure of an assertion.
    pub(crate) conditions: Vec<V>,
    /// The condition of an assertion, which fails where it does not hold.
    pub(crate) asserted: Option<V>,
    /// The new values of variables of the thread, in its running frame after the step, and of shared ones. A call
    /// writes all variables of the new frame, in the order of the procedure's locals.
    pub(crate) writes: Writes<V>,
    /// The new values of variables of other threads, by the number of the thread.
    pub(crate) passive: Vec<(usize, VarId, V)>,
    /// For a spawn: the variables of the new thread's frame, in the order of the procedure's locals.
    pub(crate) child: Writes<V>,
}

/// The way that a step leads the thread that makes it.
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

/// The beginning of a thread that a step starts: as a new thread that runs a procedure, or as a copy of the mover
/// elsewhere.
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

/// Returns whether the thread holds the atomic flag after an operation; `None` if that does not change. A thread that
/// ends releases it.
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

/// The meaning of a program's steps in a domain of values, read off a scene.
pub(crate) struct Meaning<'m, D, S> {
    pub(crate) program: &'m Program,
    pub(crate) domain: &'m mut D,
    pub(crate) scene: &'m mut S,
}

/// The variables of the caller that get the returned values.
pub(crate) fn results<V>(call: &Call, values: Vec<V>) -> Writes<V> {
    call.results.iter().zip(values).filter_map(|(var, value)| Some(((*var)?, Some(value)))).collect()
}

impl<'m, D: Domain, S: Scene<D>> Meaning<'m, D, S> {
    pub(crate) fn new(program: &'m Program, domain: &'m mut D, scene: &'m mut S) -> Meaning<'m, D, S> {
        Meaning { program, domain, scene }
    }

    /// Computes what a step along an edge does, of a thread whose running frame was called by `caller`.
    pub(crate) fn effect(&mut self, edge: &Edge, caller: Option<EdgeId>) -> Result<Effect<D::Value>, D::Error> {
        let mut effect = self.effect_of(&edge.op, caller)?;
        match (&edge.op, caller) {
            // A call ensures its condition by the return.
            (Op::Call(_), _) => {}
            (Op::Return(_), Some(call)) if self.program.edges[call].ensures != Expr::TRUE => {
                let ensured = self.after_return(&self.program.edges[call].ensures, &effect.writes)?;
                effect.conditions.push(ensured);
            }
            // All others leave alone what it reads.
            _ if edge.ensures != Expr::TRUE => effect.conditions.push(self.value(&edge.ensures)?),
            _ => {}
        }
        Ok(effect)
    }

    /// The effect of the operation itself.
    fn effect_of(&mut self, op: &Op, caller: Option<EdgeId>) -> Result<Effect<D::Value>, D::Error> {
        let (asserted, passive, child) = (None, Vec::new(), Vec::new());
        let nothing = Effect { conditions: Vec::new(), asserted, writes: Vec::new(), passive, child };
        Ok(match (op, caller) {
            (Op::Assign(assign), _) => self.assign(assign)?,
            (Op::Assert(condition), _) => Effect { asserted: Some(self.value(condition)?), ..nothing },
            (Op::Call(call), _) => Effect { writes: self.enter(call.callee, &call.args)?, ..nothing },
            (Op::Spawn(spawn), _) => Effect { child: self.enter(spawn.callee, &spawn.args)?, ..nothing },
            (Op::Return(values), Some(call)) => {
                Effect { writes: results(call_of(self.program, call), self.values(values)?), ..nothing }
            }
            // What a thread returns with its first frame is not used.
            (Op::Return(_), None) | (Op::Fork(_) | Op::End | Op::AtomicBegin | Op::AtomicEnd, _) => nothing,
        })
    }

    /// The value of a condition in the frame of the caller, into which a return has written its results.
    fn after_return(&mut self, condition: &Expr, results: &Writes<D::Value>) -> Result<D::Value, D::Error> {
        let scene = &mut *self.scene;
        eval(self.domain, condition, &mut |domain, leaf| match leaf {
            Expr::Var(var) => match results.iter().find(|(written, _)| written == var) {
                Some((_, Some(value))) => Ok(value.clone()),
                _ => scene.read_below(domain, *var),
            },
            _ => unreachable!("the validator rejects other leaves"),
        })
    }

    /// The variables of a new frame: arguments, read in the caller, for the parameters, any values for the other
    /// locals.
    fn enter(&mut self, callee: ProcId, args: &[Expr]) -> Result<Writes<D::Value>, D::Error> {
        let (args, callee) = (self.values(args)?, &self.program.procs[callee]);
        let number = |local: &VarId| callee.params.iter().position(|param| param == local);
        Ok(callee.locals.iter().map(|local| (*local, number(local).map(|number| args[number].clone()))).collect())
    }

    /// Computes the values of expressions before a step.
    pub(crate) fn values(&mut self, exprs: &[Expr]) -> Result<Vec<D::Value>, D::Error> {
        exprs.iter().map(|expr| self.value(expr)).collect()
    }

    /// Computes the value of an expression before a step.
    pub(crate) fn value(&mut self, expr: &Expr) -> Result<D::Value, D::Error> {
        self.value_with(expr, &Leaves { writes: &[], other: None })
    }

    /// Computes the value of an expression whose leaves have these sources.
    fn value_with(&mut self, expr: &Expr, leaves: &Leaves<'_, D::Value>) -> Result<D::Value, D::Error> {
        let scene = &mut *self.scene;
        eval(self.domain, expr, &mut |domain, leaf| match (leaf, &leaves.other) {
            (Expr::Var(var), _) => scene.read(domain, *var),
            (Expr::Next(var), _) => match leaves.writes.iter().find(|(written, _)| written == var) {
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
        })
    }

    /// An assignment. All right-hand sides are read in the old state. The other threads that have what a passive
    /// assignment or the condition mentions take part, one by one; a condition on other threads holds where there is
    /// none.
    fn assign(&mut self, assign: &Assign) -> Result<Effect<D::Value>, D::Error> {
        let (mut writes, mut passive, mut conditions) = (Vec::new(), Vec::new(), Vec::new());
        for (var, rhs) in &assign.active {
            writes.push((*var, Some(self.value(rhs)?)));
        }
        let constrains_others = mentions_others(&assign.constrain);
        for (number_of, other) in participants(assign, self.scene).into_iter().enumerate() {
            let mut written: Vec<(VarId, D::Value)> = Vec::new();
            for (var, rhs) in &assign.passive {
                if is_assigned(self.scene, other, *var, rhs) {
                    let pair = Pair { assign, other, number_of, written: &[] };
                    let value = self.value_with(rhs, &Leaves { writes: &writes, other: Some(pair) })?;
                    written.push((*var, value));
                }
            }
            if constrains_others && has_all(self.scene, other, &assign.constrain) {
                let pair = Pair { assign, other, number_of, written: &written };
                let leaves = Leaves { writes: &writes, other: Some(pair) };
                conditions.push(self.value_with(&assign.constrain, &leaves)?);
            }
            passive.extend(written.into_iter().map(|(var, value)| (other, var, value)));
        }
        if !constrains_others {
            conditions.push(self.value_with(&assign.constrain, &Leaves { writes: &writes, other: None })?);
        }
        Ok(Effect { conditions, asserted: None, writes, passive, child: Vec::new() })
    }

    /// Computes the shared variables at the start of a run. The initial values read no variable.
    pub(crate) fn start_shared(&mut self) -> Result<Writes<D::Value>, D::Error> {
        self.started(of_scope(self.program, Scope::Shared), &self.program.init)
    }

    /// Computes the variables of an initial thread of a kind: its initial values read shared variables.
    pub(crate) fn start_thread(&mut self, kind: EntryId) -> Result<Writes<D::Value>, D::Error> {
        let entry = &self.program.entries[kind];
        let mut writes = self.begin(entry.proc)?;
        writes.retain(|(var, _)| !entry.thread_vars.contains(var));
        writes.extend(self.started(entry.thread_vars.iter().copied(), &entry.init)?);
        Ok(writes)
    }

    /// The variables of a thread that begins with a procedure and uses no per-thread variables, like the prelude's.
    pub(crate) fn begin(&mut self, proc: ProcId) -> Result<Writes<D::Value>, D::Error> {
        let mut default = |var: VarId| Ok((var, Some(self.domain.lift(default_value(self.program.vars[var].ty))?)));
        let mut writes = of_scope(self.program, Scope::Thread).map(&mut default).collect::<Result<Writes<_>, _>>()?;
        writes.extend(self.program.procs[proc].locals.iter().map(|local| (*local, None)));
        Ok(writes)
    }

    /// Variables that start: with their initial values, which are computed all at once, or with any value.
    fn started(
        &mut self,
        vars: impl Iterator<Item = VarId>,
        init: &[(VarId, Expr)],
    ) -> Result<Writes<D::Value>, D::Error> {
        let initial = |var: VarId| init.iter().find(|(initialised, _)| *initialised == var);
        vars.map(|var| Ok((var, initial(var).map(|(_, rhs)| self.value(rhs)).transpose()?))).collect()
    }
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

/// Returns whether a thread has all variables of other threads that an expression mentions.
fn has_all<D: Domain, S: Scene<D>>(scene: &S, other: usize, expr: &Expr) -> bool {
    leaves(expr).all(|leaf| match leaf {
        Expr::Passive(var) | Expr::PassiveNext(var) => scene.has(other, *var),
        _ => true,
    })
}

/// The sources of the values of leaves.
struct Leaves<'a, V> {
    /// The new values, for constraints.
    writes: &'a [(VarId, Option<V>)],
    other: Option<Pair<'a, V>>,
}

/// Another thread that takes part in an assignment.
struct Pair<'a, V> {
    assign: &'a Assign,
    other: usize,
    /// Its number among those that take part.
    number_of: usize,
    /// Its new values, for constraints.
    written: &'a [(VarId, V)],
}

/// The variables of a scope, in the order of their declaration.
pub(crate) fn of_scope(program: &Program, scope: Scope) -> impl Iterator<Item = VarId> {
    program.vars.iter_enumerated().filter(move |(_, var)| var.scope == scope).map(|(id, _)| id)
}
