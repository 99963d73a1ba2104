//! Building, walking and rebuilding expressions and operations.

use crate::syntax::{
    Assign, BinaryOp, Call, Count, Edge, Expr, Let, LocId, Op, ProcId, Program, Ty, UnaryOp, Value, VarId,
};

impl Expr {
    /// The constant true.
    pub const TRUE: Expr = Expr::Bool(true);
    /// The constant false.
    pub const FALSE: Expr = Expr::Bool(false);

    /// Returns a Boolean choice.
    pub fn choice(number: u32) -> Expr {
        Expr::Choice(number, Ty::Bool)
    }

    /// Returns a constant for each type, for values that do not matter.
    pub fn default_of(ty: Ty) -> Expr {
        Expr::value(ty.default_value())
    }

    /// Returns a constant.
    pub fn value(value: Value) -> Expr {
        match value {
            Value::Bool(value) => Expr::Bool(value),
            Value::Int(value) => Expr::Int(value),
            Value::Machine(ty, bits) => Expr::Machine(ty, bits),
        }
    }

    /// Returns the negation.
    pub fn negate(operand: Expr) -> Expr {
        Expr::Unary(UnaryOp::Not, Box::new(operand))
    }

    /// Returns an operator with two operands.
    pub fn binary(op: BinaryOp, left: Expr, right: Expr) -> Expr {
        Expr::Binary(op, Box::new((left, right)))
    }

    /// Returns the conjunction; `true` operands vanish.
    pub fn and(left: Expr, right: Expr) -> Expr {
        match (left, right) {
            (Expr::TRUE, other) | (other, Expr::TRUE) => other,
            (left, right) => Expr::binary(BinaryOp::And, left, right),
        }
    }

    /// Returns the disjunction.
    pub fn or(left: Expr, right: Expr) -> Expr {
        Expr::binary(BinaryOp::Or, left, right)
    }

    /// Combines operands by one operator, as a tree of least depth that keeps their order; `None` without operands.
    pub fn balanced(op: BinaryOp, mut operands: Vec<Expr>) -> Option<Expr> {
        while operands.len() > 1 {
            let mut rest = operands.into_iter();
            let mut paired = Vec::with_capacity(rest.len().div_ceil(2));
            while let Some(left) = rest.next() {
                paired.push(match rest.next() {
                    Some(right) => Expr::binary(op, left, right),
                    None => left,
                });
            }
            operands = paired;
        }
        operands.pop()
    }

    /// Returns the parts of a conjunction, from left to right: an expression that is not a conjunction is its only
    /// part.
    pub fn conjuncts(&self) -> Vec<&Expr> {
        self.parts(BinaryOp::And)
    }

    /// Returns the operands of nested applications of an operator, from left to right.
    pub fn parts(&self, op: BinaryOp) -> Vec<&Expr> {
        let (mut parts, mut open) = (Vec::new(), vec![self]);
        while let Some(next) = open.pop() {
            match next {
                Expr::Binary(other, pair) if *other == op => open.extend([&pair.1, &pair.0]),
                part => parts.push(part),
            }
        }
        parts
    }

    /// Returns the operands, from left to right; those of [`Expr::Let`] are its parts, and then its body.
    pub fn operands(&self) -> impl DoubleEndedIterator<Item = &Expr> {
        let (parts, a, b, c): (&[_], _, _, _) = match self {
            Expr::Unary(_, operand) => (&[], Some(&**operand), None, None),
            Expr::Binary(_, pair) => (&[], Some(&pair.0), Some(&pair.1), None),
            Expr::Ite(triple) => (&[], Some(&triple.0), Some(&triple.1), Some(&triple.2)),
            Expr::Let(shared) => (&shared.parts, Some(&shared.body), None, None),
            _ => (&[], None, None, None),
        };
        parts.iter().map(|(_, part)| part).chain(a).chain(b).chain(c)
    }

    /// Calls `visit` on every leaf, from left to right: constants, variables and choices. A shared part is visited
    /// once, where it is defined. Works without recursion: the reader accepts deep expressions.
    pub fn for_each_leaf<'e>(&'e self, mut visit: impl FnMut(&'e Expr)) {
        let mut stack = vec![self];
        while let Some(expr) = stack.pop() {
            match expr {
                Expr::Unary(_, operand) => stack.push(operand),
                Expr::Binary(_, pair) => stack.extend([&pair.1, &pair.0]),
                Expr::Ite(triple) => stack.extend([&triple.2, &triple.1, &triple.0]),
                Expr::Let(_) => stack.extend(expr.operands().rev()),
                Expr::Part(_) => {}
                leaf => visit(leaf),
            }
        }
    }

    /// Calls `visit` on every leaf, from left to right, and lets it put something else in its place.
    pub(crate) fn for_each_leaf_mut(&mut self, visit: &mut dyn FnMut(&mut Expr)) {
        match self {
            Expr::Unary(_, operand) => operand.for_each_leaf_mut(visit),
            Expr::Binary(_, pair) => {
                pair.0.for_each_leaf_mut(visit);
                pair.1.for_each_leaf_mut(visit);
            }
            Expr::Ite(triple) => {
                triple.0.for_each_leaf_mut(visit);
                triple.1.for_each_leaf_mut(visit);
                triple.2.for_each_leaf_mut(visit);
            }
            Expr::Let(shared) => {
                let Let { parts, body } = &mut **shared;
                parts.iter_mut().map(|(_, part)| part).chain([body]).for_each(|expr| expr.for_each_leaf_mut(visit));
            }
            Expr::Part(_) => {}
            leaf => visit(leaf),
        }
    }

    /// Returns the expression with every leaf replaced.
    pub fn map_leaves(&self, replace: &mut dyn FnMut(&Expr) -> Expr) -> Expr {
        let mut mapped = self.clone();
        mapped.for_each_leaf_mut(&mut |leaf| *leaf = replace(leaf));
        mapped
    }

    /// Puts other variables in the place of all variables.
    pub(crate) fn rename(&mut self, rename: &dyn Fn(VarId) -> VarId) {
        self.for_each_leaf_mut(&mut |leaf| {
            if let Expr::Var(var) | Expr::Next(var) | Expr::Passive(var) | Expr::PassiveNext(var) = leaf {
                *var = rename(*var);
            }
        });
    }

    /// Returns the expression with other variables.
    pub(crate) fn renamed(&self, rename: &dyn Fn(VarId) -> VarId) -> Expr {
        let mut renamed = self.clone();
        renamed.rename(rename);
        renamed
    }

    /// Returns whether the expression has no operands.
    pub fn is_leaf(&self) -> bool {
        !matches!(self, Expr::Unary(..) | Expr::Binary(..) | Expr::Ite(_) | Expr::Let(_))
    }

    /// Returns the variable of a leaf, before or after the step, of this or another thread.
    pub fn var(&self) -> Option<VarId> {
        match self {
            Expr::Var(var) | Expr::Next(var) | Expr::Passive(var) | Expr::PassiveNext(var) => Some(*var),
            _ => None,
        }
    }

    /// Returns the value of a constant.
    pub fn constant(&self) -> Option<Value> {
        match *self {
            Expr::Bool(value) => Some(Value::Bool(value)),
            Expr::Int(value) => Some(Value::Int(value)),
            Expr::Machine(ty, bits) => Some(Value::Machine(ty, bits)),
            _ => None,
        }
    }

    /// Returns whether some leaf satisfies a condition.
    pub fn any_leaf(&self, mut condition: impl FnMut(&Expr) -> bool) -> bool {
        let mut found = false;
        self.for_each_leaf(|leaf| found |= condition(leaf));
        found
    }

    /// Returns the expression over the values after a step.
    pub fn after_step(&self) -> Expr {
        self.map_leaves(&mut |leaf| match leaf {
            Expr::Var(var) => Expr::Next(*var),
            leaf => leaf.clone(),
        })
    }

    /// Returns whether the expression or one of its operands, at any depth, satisfies a condition.
    pub fn any(&self, condition: impl Fn(&Expr) -> bool) -> bool {
        let mut stack = vec![self];
        while let Some(expr) = stack.pop() {
            if condition(expr) {
                return true;
            }
            stack.extend(expr.operands());
        }
        false
    }

    /// Returns whether the expression reads another thread's variables.
    pub fn is_passive(&self) -> bool {
        self.any_leaf(|leaf| matches!(leaf, Expr::Passive(_) | Expr::PassiveNext(_)))
    }
}

impl Assign {
    /// Returns the assignment that does nothing.
    pub fn skip() -> Assign {
        Assign { active: Vec::new(), passive: Vec::new(), constrain: Expr::TRUE }
    }

    /// Returns the assignment to nothing that exists only where `condition` holds.
    pub fn assume(condition: Expr) -> Assign {
        Assign { constrain: condition, ..Assign::skip() }
    }

    /// Returns whether other threads take part: their variables are read or assigned.
    pub fn is_passive(&self) -> bool {
        !self.passive.is_empty() || self.constrain.is_passive()
    }

    /// Removes what concerns other threads, for programs in which there is never another one: then a passive assignment
    /// does nothing, and a condition on other threads holds.
    pub fn leave_out_others(&mut self) {
        self.passive.clear();
        if self.constrain.is_passive() {
            self.constrain = Expr::TRUE;
        }
    }

    /// Returns whether an active assignment with this right-hand side must stay because of its choices: a choice that
    /// it shares with the passive parts is made once while it is there, and once per other thread without it.
    pub fn binds_choices(&self, rhs: &Expr) -> bool {
        let in_passive = |choice: &Expr| {
            self.passive
                .iter()
                .map(|(_, rhs)| rhs)
                .chain([&self.constrain])
                .any(|expr| expr.any_leaf(|leaf| leaf == choice))
        };
        self.is_passive() && rhs.any_leaf(|leaf| matches!(leaf, Expr::Choice(..)) && in_passive(leaf))
    }

    /// Returns which choices are made once per other thread: those in passive right-hand sides and in a passive
    /// constraint. A choice that an active right-hand side makes is made once.
    pub fn per_thread_choices(&self) -> Vec<bool> {
        let mut per_thread = vec![false; self.choices().len()];
        let mut mark = |expr: &Expr, mark: bool| {
            expr.for_each_leaf(|leaf| {
                if let Expr::Choice(number, _) = leaf {
                    per_thread[*number as usize] = mark;
                }
            });
        };
        self.passive.iter().for_each(|(_, rhs)| mark(rhs, true));
        if self.constrain.is_passive() {
            mark(&self.constrain, true);
        }
        self.active.iter().for_each(|(_, rhs)| mark(rhs, false));
        per_thread
    }

    /// Returns all expressions of the assignment.
    pub fn exprs(&self) -> impl Iterator<Item = &Expr> {
        self.active.iter().chain(&self.passive).map(|(_, rhs)| rhs).chain([&self.constrain])
    }

    /// Returns the types of the choices, by number.
    pub fn choices(&self) -> Vec<Ty> {
        choice_types(self.exprs())
    }

    /// Returns whether the step gives a variable of its thread a value.
    pub fn assigns(&self, var: VarId) -> bool {
        self.active.iter().any(|(assigned, _)| *assigned == var)
    }

    /// Returns whether the condition reads the value that the step gives to a variable.
    pub fn constrains_next(&self, var: VarId) -> bool {
        self.constrain.any_leaf(|leaf| *leaf == Expr::Next(var))
    }
}

impl Edge {
    /// Returns the edge that ensures nothing but what its operation does.
    pub fn new(from: LocId, to: LocId, op: Op) -> Edge {
        Edge { from, to, op, ensures: Expr::TRUE }
    }

    /// Returns all expressions of the operation, and what it ensures.
    pub fn exprs(&self) -> impl Iterator<Item = &Expr> {
        self.op.exprs().chain([&self.ensures])
    }

    /// Returns the condition in the state before a step, without which there is none: what the edge ensures, unless it
    /// is a call, which ensures it by its return.
    pub fn needs(&self) -> &Expr {
        if matches!(self.op, Op::Call(_)) { &Expr::TRUE } else { &self.ensures }
    }

    /// Returns the condition in the caller's state after a call has returned, without which it does not return.
    pub fn ensures_by_return(&self) -> &Expr {
        if matches!(self.op, Op::Call(_)) { &self.ensures } else { &Expr::TRUE }
    }

    /// Returns what a step does to the variables of its thread and to shared ones, where it neither calls nor returns:
    /// an assertion that holds, a section that begins or ends, and the start of a thread assign nothing. Without other
    /// threads, a condition on them holds.
    pub fn as_assignment(&self) -> Assign {
        match &self.op {
            Op::Assign(assign) if self.ensures == Expr::TRUE => assign.clone(),
            Op::Assign(assign) => Assign { constrain: self.ensures.clone(), passive: Vec::new(), ..assign.clone() },
            Op::Assert(condition) => Assign::assume(Expr::and(condition.clone(), self.ensures.clone())),
            _ => Assign::assume(self.needs().clone()),
        }
    }

    /// Returns the condition under which the assertion of the edge fails; `None` if it has none.
    pub fn failure(&self) -> Option<Expr> {
        let Op::Assert(condition) = &self.op else { return None };
        Some(Expr::and(Expr::negate(condition.clone()), self.ensures.clone()))
    }

    /// Puts other variables in the place of all variables of the edge.
    pub(crate) fn rename(&mut self, rename: &dyn Fn(VarId) -> VarId) {
        self.op.rename(rename);
        self.ensures.rename(rename);
    }
}

impl Op {
    /// Returns the step that does nothing.
    pub fn skip() -> Op {
        Op::Assign(Assign::skip())
    }

    /// Returns the step that exists only where `condition` holds.
    pub fn assume(condition: Expr) -> Op {
        Op::guarded(Vec::new(), condition)
    }

    /// Returns the step that assigns to variables of its thread.
    pub fn set(active: Vec<(VarId, Expr)>) -> Op {
        Op::guarded(active, Expr::TRUE)
    }

    /// Returns the step that assigns to variables of its thread, where a condition on old and new values holds.
    pub fn guarded(active: Vec<(VarId, Expr)>, constrain: Expr) -> Op {
        Op::Assign(Assign { active, passive: Vec::new(), constrain })
    }

    /// Returns the call whose results are discarded.
    pub(crate) fn call_without_results(program: &Program, callee: ProcId, args: Vec<Expr>) -> Op {
        Op::Call(Call { results: vec![None; program.procs[callee].results.len()], callee, args })
    }

    /// Returns whether the step starts a thread.
    pub fn starts_thread(&self) -> bool {
        matches!(self, Op::Spawn(_) | Op::Fork(_))
    }

    /// Returns the procedure that the step calls, or that the thread it starts runs.
    pub fn callee(&self) -> Option<ProcId> {
        match self {
            Op::Call(call) => Some(call.callee),
            Op::Spawn(spawn) => Some(spawn.callee),
            _ => None,
        }
    }

    /// Returns the variables of the stepping thread that the step assigns; for a call, those of its results.
    pub fn assigned(&self) -> impl Iterator<Item = VarId> {
        let (active, results): (&[_], &[_]) = match self {
            Op::Assign(assign) => (&assign.active, &[]),
            Op::Call(call) => (&[], &call.results),
            _ => (&[], &[]),
        };
        active.iter().map(|(var, _)| *var).chain(results.iter().copied().flatten())
    }

    /// Calls `visit` on each variable of other threads that the step reads or assigns.
    pub(crate) fn for_each_passive(&self, mut visit: impl FnMut(VarId)) {
        if let Op::Assign(assign) = self {
            assign.passive.iter().for_each(|(var, _)| visit(*var));
        }
        for expr in self.exprs() {
            expr.for_each_leaf(|leaf| {
                if let Expr::Passive(var) | Expr::PassiveNext(var) = leaf {
                    visit(*var);
                }
            });
        }
    }

    /// Puts other variables in the place of all variables of the operation.
    pub(crate) fn rename(&mut self, rename: &dyn Fn(VarId) -> VarId) {
        self.exprs_mut().into_iter().for_each(|expr| expr.rename(rename));
        match self {
            Op::Assign(assign) => {
                assign.active.iter_mut().chain(&mut assign.passive).for_each(|(var, _)| *var = rename(*var));
            }
            Op::Call(call) => call.results.iter_mut().flatten().for_each(|var| *var = rename(*var)),
            _ => {}
        }
    }

    /// Returns all expressions of the operation.
    pub fn exprs(&self) -> impl Iterator<Item = &Expr> {
        let (assign, slice): (Option<&Assign>, &[Expr]) = match self {
            Op::Assign(assign) => (Some(assign), &[]),
            Op::Assert(condition) => (None, std::slice::from_ref(condition)),
            Op::Call(call) => (None, &call.args),
            Op::Spawn(spawn) => (None, &spawn.args),
            Op::Return(values) => (None, values),
            Op::Fork(_) | Op::End | Op::AtomicBegin | Op::AtomicEnd => (None, &[]),
        };
        assign.into_iter().flat_map(Assign::exprs).chain(slice)
    }

    /// Returns all expressions of the operation, mutably.
    pub fn exprs_mut(&mut self) -> Vec<&mut Expr> {
        match self {
            Op::Assign(assign) => {
                let sides = assign.active.iter_mut().chain(&mut assign.passive).map(|(_, rhs)| rhs);
                sides.chain(std::iter::once(&mut assign.constrain)).collect()
            }
            Op::Assert(condition) => vec![condition],
            Op::Call(call) => call.args.iter_mut().collect(),
            Op::Spawn(spawn) => spawn.args.iter_mut().collect(),
            Op::Return(values) => values.iter_mut().collect(),
            Op::Fork(_) | Op::End | Op::AtomicBegin | Op::AtomicEnd => Vec::new(),
        }
    }

    /// Returns the types of the operation's choices, by number. A number that does not occur counts as Boolean.
    pub fn choices(&self) -> Vec<Ty> {
        choice_types(self.exprs())
    }
}

/// Returns the types of the choices in some expressions, by number.
pub fn choice_types<'e>(exprs: impl Iterator<Item = &'e Expr>) -> Vec<Ty> {
    let mut types = Vec::new();
    for expr in exprs {
        expr.for_each_leaf(|leaf| {
            if let Expr::Choice(number, ty) = *leaf {
                let number = number as usize;
                if types.len() <= number {
                    types.resize(number + 1, Ty::Bool);
                }
                types[number] = ty;
            }
        });
    }
    types
}

/// Returns the types of the choices in initial values, by number.
pub(crate) fn init_choices(init: &[(VarId, Expr)]) -> Vec<Ty> {
    choice_types(init.iter().map(|(_, rhs)| rhs))
}

impl Program {
    /// Returns the procedures with which the initial threads and the prelude begin.
    pub fn roots(&self) -> impl Iterator<Item = ProcId> {
        self.entries.iter().map(|entry| entry.proc).chain(self.prelude)
    }

    /// Returns all expressions: those of steps, and initial values.
    pub fn exprs(&self) -> impl Iterator<Item = &Expr> {
        let inits = self.entries.iter().flat_map(|entry| &entry.init).chain(&self.init).map(|(_, rhs)| rhs);
        self.edges.iter().flat_map(|edge| edge.op.exprs()).chain(inits)
    }

    /// Returns whether the program computes with machine integers.
    pub fn has_machine_integers(&self) -> bool {
        let is_machine = |expr: &Expr| match expr {
            Expr::Machine(..) | Expr::Unary(UnaryOp::Cast(..), _) | Expr::Binary(BinaryOp::Machine(..), _) => true,
            Expr::Choice(_, ty) => matches!(ty, Ty::Machine(_)),
            _ => false,
        };
        self.vars.iter().any(|var| matches!(var.ty, Ty::Machine(_))) || self.exprs().any(|expr| expr.any(is_machine))
    }

    /// Returns whether some expression has shared parts.
    pub fn shares_parts(&self) -> bool {
        self.exprs().any(|expr| expr.any(|part| matches!(part, Expr::Let(_))))
    }

    /// Returns whether some step starts a thread.
    pub fn starts_threads(&self) -> bool {
        self.edges.iter().any(|edge| edge.op.starts_thread())
    }
}

impl BinaryOp {
    /// Returns the type of both operands; `None` if it may be any.
    pub(crate) fn operand_ty(self) -> Option<Ty> {
        match self {
            BinaryOp::And | BinaryOp::Or | BinaryOp::Xor | BinaryOp::Implies => Some(Ty::Bool),
            BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Lt | BinaryOp::Le => Some(Ty::Int),
            BinaryOp::Machine(_, ty) => Some(Ty::Machine(ty)),
            BinaryOp::Eq | BinaryOp::Ne => None,
        }
    }
}

/// The values of the shared parts that are in scope, the innermost last.
#[derive(Debug, Default)]
pub struct Parts<V> {
    values: Vec<(u32, V)>,
}

impl<V> Parts<V> {
    /// Returns a scope without parts.
    pub fn new() -> Parts<V> {
        Parts { values: Vec::new() }
    }

    /// Returns the value of the innermost part with a number.
    ///
    /// # Panics
    ///
    /// If there is none; valid programs define all parts that they use.
    pub fn get(&self, number: u32) -> &V {
        let found = self.values.iter().rev().find(|(known, _)| *known == number);
        &found.expect("the validator rejects parts without definition").1
    }

    /// Computes the parts of an expression with `value`, one after the other, and then its body, in which they are in
    /// scope.
    pub fn scope<E>(
        &mut self,
        shared: &Let,
        mut value: impl FnMut(&mut Parts<V>, &Expr) -> Result<V, E>,
    ) -> Result<V, E> {
        let outside = self.values.len();
        for (number, part) in &shared.parts {
            let part = value(self, part)?;
            self.values.push((*number, part));
        }
        let body = value(self, &shared.body);
        self.values.truncate(outside);
        body
    }
}

impl Ty {
    /// Returns the value of variables that are never read, and of those that a trace does not mention.
    pub fn default_value(self) -> Value {
        match self {
            Ty::Bool => Value::Bool(false),
            Ty::Int => Value::Int(0),
            Ty::Machine(ty) => Value::Machine(ty, 0),
        }
    }
}

impl Value {
    /// Returns the type of the value.
    pub fn ty(self) -> Ty {
        match self {
            Value::Bool(_) => Ty::Bool,
            Value::Int(_) => Ty::Int,
            Value::Machine(ty, _) => Ty::Machine(ty),
        }
    }
}

/// Returns the variables that an expression reads in the stepping thread before the step.
pub fn reads(expr: &Expr) -> Vec<VarId> {
    let mut vars = Vec::new();
    expr.for_each_leaf(|leaf| {
        if let Expr::Var(var) = leaf {
            vars.push(*var);
        }
    });
    vars
}

impl Count {
    /// Returns whether a run may have this many threads of the kind.
    pub fn allows(self, n_threads: usize) -> bool {
        match self {
            Count::Exactly(count) => n_threads == count as usize,
            Count::AtMost(bound) => n_threads <= bound as usize,
            Count::Any => true,
        }
    }
}

/// Calls `visit` on each variable whose value before the step the edge reads in the stepping thread. The new value of a
/// variable that the step does not assign is its old one. What a call ensures by its return is not among them.
pub fn for_each_old_read(edge: &Edge, mut visit: impl FnMut(VarId)) {
    let assigns = |var: VarId| matches!(&edge.op, Op::Assign(assign) if assign.assigns(var));
    for expr in edge.op.exprs().chain([edge.needs()]) {
        expr.for_each_leaf(|leaf| match *leaf {
            Expr::Var(var) => visit(var),
            Expr::Next(var) if !assigns(var) => visit(var),
            _ => {}
        });
    }
}
