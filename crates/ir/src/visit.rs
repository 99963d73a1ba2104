//! Walking and rebuilding expressions and operations.

use crate::syntax::{Assign, BinaryOp, Count, Expr, Op, Ty, UnaryOp, Value, VarId};

impl Expr {
    /// The constant true.
    pub const TRUE: Expr = Expr::Bool(true);
    /// The constant false.
    pub const FALSE: Expr = Expr::Bool(false);

    /// Returns a Boolean choice.
    pub fn choice(number: u32) -> Expr {
        Expr::Choice(number, Ty::Bool)
    }

    /// Returns a constant.
    pub fn value(value: Value) -> Expr {
        match value {
            Value::Bool(value) => Expr::Bool(value),
            Value::Int(value) => Expr::Int(value),
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

    /// Returns the operands, from left to right.
    pub fn operands(&self) -> impl Iterator<Item = &Expr> {
        let (a, b, c) = match self {
            Expr::Unary(_, operand) => (Some(&**operand), None, None),
            Expr::Binary(_, pair) => (Some(&pair.0), Some(&pair.1), None),
            Expr::Ite(triple) => (Some(&triple.0), Some(&triple.1), Some(&triple.2)),
            _ => (None, None, None),
        };
        a.into_iter().chain(b).chain(c)
    }

    /// Calls `visit` on every leaf, from left to right. Works without recursion: the reader accepts deep expressions.
    pub fn for_each_leaf<'e>(&'e self, mut visit: impl FnMut(&'e Expr)) {
        let mut stack = vec![self];
        while let Some(expr) = stack.pop() {
            match expr {
                Expr::Unary(_, operand) => stack.push(operand),
                Expr::Binary(_, pair) => stack.extend([&pair.1, &pair.0]),
                Expr::Ite(triple) => stack.extend([&triple.2, &triple.1, &triple.0]),
                leaf => visit(leaf),
            }
        }
    }

    /// Returns the expression with every leaf replaced.
    pub fn map_leaves(&self, replace: &mut dyn FnMut(&Expr) -> Expr) -> Expr {
        match self {
            Expr::Unary(op, operand) => Expr::Unary(*op, Box::new(operand.map_leaves(replace))),
            Expr::Binary(op, pair) => {
                let left = pair.0.map_leaves(replace);
                Expr::binary(*op, left, pair.1.map_leaves(replace))
            }
            Expr::Ite(triple) => {
                let condition = triple.0.map_leaves(replace);
                let then = triple.1.map_leaves(replace);
                Expr::Ite(Box::new((condition, then, triple.2.map_leaves(replace))))
            }
            leaf => replace(leaf),
        }
    }

    /// Returns whether some leaf satisfies a condition.
    pub fn any_leaf(&self, mut condition: impl FnMut(&Expr) -> bool) -> bool {
        let mut found = false;
        self.for_each_leaf(|leaf| found |= condition(leaf));
        found
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

    /// Returns whether an active assignment with this right-hand side must stay because of its choices: a choice that
    /// it shares with the passive parts is made once while it is there, and once per other thread without it.
    pub fn binds_choices(&self, rhs: &Expr) -> bool {
        let in_passive = |choice: &Expr| {
            let sides = self.passive.iter().map(|(_, rhs)| rhs).chain([&self.constrain]);
            sides.into_iter().any(|expr| expr.any_leaf(|leaf| leaf == choice))
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

    /// Returns the types of the choices, by number.
    pub fn choices(&self) -> Vec<Ty> {
        let sides = self.active.iter().chain(&self.passive).map(|(_, rhs)| rhs);
        choice_types(sides.chain([&self.constrain]))
    }

    /// Returns whether the condition reads the value that the step gives to a variable.
    pub fn constrains_next(&self, var: VarId) -> bool {
        self.constrain.any_leaf(|leaf| *leaf == Expr::Next(var))
    }
}

impl Op {
    /// Returns the step that does nothing.
    pub fn skip() -> Op {
        Op::Assign(Assign::skip())
    }

    /// Returns the step that exists only where `condition` holds.
    pub fn assume(condition: Expr) -> Op {
        Op::Assign(Assign::assume(condition))
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
        let of_assign = assign.into_iter().flat_map(|assign| {
            let sides = assign.active.iter().chain(&assign.passive).map(|(_, rhs)| rhs);
            sides.chain(std::iter::once(&assign.constrain))
        });
        of_assign.chain(slice)
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

impl Ty {
    /// Returns the value of variables that are never read, and of those that a trace does not mention.
    pub fn default_value(self) -> Value {
        match self {
            Ty::Bool => Value::Bool(false),
            Ty::Int => Value::Int(0),
        }
    }
}

impl Value {
    /// Returns the type of the value.
    pub fn ty(self) -> Ty {
        match self {
            Value::Bool(_) => Ty::Bool,
            Value::Int(_) => Ty::Int,
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

/// Calls `visit` on each variable whose value before the step the operation reads in the stepping thread. The new value
/// of a variable that the step does not assign is its old one.
pub fn for_each_old_read(op: &Op, mut visit: impl FnMut(VarId)) {
    let assigns = |var: VarId| match op {
        Op::Assign(assign) => assign.active.iter().any(|(assigned, _)| *assigned == var),
        _ => false,
    };
    for expr in op.exprs() {
        expr.for_each_leaf(|leaf| match *leaf {
            Expr::Var(var) => visit(var),
            Expr::Next(var) if !assigns(var) => visit(var),
            _ => {}
        });
    }
}
