//! The questions as SMT-LIB text.
//!
//! A variable before the step is `x` with its number, after the step `y` with its number; a choice is `c` with its
//! number. A question has one state before and one after it.

use std::fmt::Write as _;

use selvedge_ir::visit::choice_types;
use selvedge_ir::{Assign, BinaryOp, Entry, Expr, Program, Ty, UnaryOp, Value, VarId};

use super::is_visible;

/// Of which state a plain variable is a part.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in super::super) enum Moment {
    Before,
    After,
}

/// A question under construction.
pub(in super::super) struct Text<'p> {
    program: &'p Program,
    lines: String,
}

const WRITTEN: &str = "writing to a string succeeds";

impl<'p> Text<'p> {
    /// All variables before the step may have any value.
    pub(in super::super) fn new(program: &'p Program) -> Text<'p> {
        let mut text = Text { program, lines: String::new() };
        for (var, variable) in program.vars.iter_enumerated() {
            text.line(format_args!("(declare-const x{} {})", var.index(), sort(variable.ty)));
        }
        text
    }

    fn line(&mut self, line: std::fmt::Arguments<'_>) {
        writeln!(self.lines, "{line}").expect(WRITTEN);
    }

    /// Declares choices.
    pub(in super::super) fn choices(&mut self, types: &[Ty]) {
        for (number, ty) in types.iter().enumerate() {
            self.line(format_args!("(declare-const c{number} {})", sort(*ty)));
        }
    }

    /// The condition holds before the step.
    pub(in super::super) fn require(&mut self, condition: &Expr) {
        let condition = written(condition, Moment::Before);
        self.line(format_args!("(assert {condition})"));
    }

    /// The condition does not hold before the step.
    pub(in super::super) fn require_not(&mut self, condition: &Expr) {
        let condition = written(condition, Moment::Before);
        self.line(format_args!("(assert (not {condition}))"));
    }

    /// The variable has this value before the step.
    pub(super) fn require_value(&mut self, var: VarId, value: Value) {
        self.line(format_args!("(assert (= x{} {}))", var.index(), constant(value)));
    }

    /// The state after the step is the start of the program. Variables that start with any value are as before.
    pub(in super::super) fn start(&mut self, entry: &Entry) {
        let choices = choice_types(self.program.init.iter().map(|(_, rhs)| rhs));
        self.choices(&choices);
        self.define(&self.program.init);
        let thread = choice_types(entry.init.iter().map(|(_, rhs)| rhs));
        // The thread's choices follow those of the shared variables; its initial values read the new shared ones.
        for (number, ty) in thread.iter().enumerate() {
            self.line(format_args!("(declare-const d{number} {})", sort(*ty)));
        }
        let own = |var: VarId| entry.init.iter().find(|(own, _)| *own == var).map(|(_, rhs)| rhs);
        for var in self.program.vars.indices() {
            if let Some(rhs) = own(var) {
                let value = write_expr(rhs, &|leaf| match leaf {
                    Expr::Choice(number, _) => format!("d{number}"),
                    leaf => leaf_text(leaf, Moment::After),
                });
                self.redefine(var, &value);
            } else if !is_visible(self.program, entry, var) {
                self.redefine(var, constant_of(self.program.vars[var].ty));
            }
        }
    }

    /// What the step needs and does.
    pub(in super::super) fn assign(&mut self, assign: &Assign) {
        self.define(&assign.active);
        let condition = written(&assign.constrain, Moment::Before);
        self.line(format_args!("(assert {condition})"));
    }

    /// Values after the step: those listed, the others as before.
    fn define(&mut self, values: &[(VarId, Expr)]) {
        for (var, variable) in self.program.vars.iter_enumerated() {
            let assigned = values.iter().find(|(assigned, _)| *assigned == var);
            let value = assigned.map_or(format!("x{}", var.index()), |(_, rhs)| written(rhs, Moment::Before));
            self.line(format_args!("(define-fun y{} () {} {value})", var.index(), sort(variable.ty)));
        }
    }

    /// Requires that the variable before the start, which may have any value, is what it starts with: then so is the
    /// one after it.
    fn redefine(&mut self, var: VarId, value: &str) {
        self.line(format_args!("(assert (= y{} {value}))", var.index()));
    }

    /// The state after the step is not one with these values in which the formula holds.
    pub(super) fn exclude(&mut self, control: &[VarId], values: &[Value], formula: &Expr) {
        let pairs = control.iter().zip(values);
        let equal: Vec<String> =
            pairs.map(|(var, value)| format!("(= y{} {})", var.index(), constant(*value))).collect();
        let formula = written(formula, Moment::After);
        self.line(format_args!("(assert (not (and true {} {formula})))", equal.join(" ")));
    }

    /// The text.
    pub(in super::super) fn finish(self) -> String {
        self.lines
    }
}

fn sort(ty: Ty) -> &'static str {
    match ty {
        Ty::Bool => "Bool",
        Ty::Int => "Int",
    }
}

fn constant_of(ty: Ty) -> &'static str {
    match ty {
        Ty::Bool => "false",
        Ty::Int => "0",
    }
}

fn constant(value: Value) -> String {
    match value {
        Value::Bool(value) => value.to_string(),
        Value::Int(value) if value < 0 => format!("(- {})", value.unsigned_abs()),
        Value::Int(value) => value.to_string(),
    }
}

/// An expression whose plain variables are those of one moment.
fn written(expr: &Expr, moment: Moment) -> String {
    write_expr(expr, &|leaf| leaf_text(leaf, moment))
}

fn leaf_text(leaf: &Expr, moment: Moment) -> String {
    match leaf {
        Expr::Var(var) if moment == Moment::Before => format!("x{}", var.index()),
        Expr::Var(var) | Expr::Next(var) => format!("y{}", var.index()),
        Expr::Choice(number, _) => format!("c{number}"),
        _ => unreachable!("passive variables are out of scope"),
    }
}

/// An expression as SMT-LIB writes it, with the caller's words for its leaves.
pub(in super::super) fn write_expr(expr: &Expr, leaf: &dyn Fn(&Expr) -> String) -> String {
    let of = |part: &Expr| write_expr(part, leaf);
    match expr {
        Expr::Bool(value) => constant(Value::Bool(*value)),
        Expr::Int(value) => constant(Value::Int(*value)),
        Expr::Unary(UnaryOp::Not, operand) => format!("(not {})", of(operand)),
        Expr::Unary(UnaryOp::Neg, operand) => format!("(- {})", of(operand)),
        Expr::Unary(UnaryOp::DivisibleBy(divisor), operand) => format!("(= (mod {} {divisor}) 0)", of(operand)),
        Expr::Binary(op, pair) => format!("({} {} {})", operator(*op), of(&pair.0), of(&pair.1)),
        Expr::Ite(triple) => format!("(ite {} {} {})", of(&triple.0), of(&triple.1), of(&triple.2)),
        Expr::Var(_) | Expr::Next(_) | Expr::Passive(_) | Expr::PassiveNext(_) | Expr::Choice(..) => leaf(expr),
    }
}

fn operator(op: BinaryOp) -> &'static str {
    match op {
        BinaryOp::And => "and",
        BinaryOp::Or => "or",
        BinaryOp::Xor => "xor",
        BinaryOp::Implies => "=>",
        BinaryOp::Eq => "=",
        BinaryOp::Ne => "distinct",
        BinaryOp::Add => "+",
        BinaryOp::Sub => "-",
        BinaryOp::Mul => "*",
        BinaryOp::Lt => "<",
        BinaryOp::Le => "<=",
    }
}

/// The type of a formula over plain variables of the program, if it has one.
pub(super) fn type_of(expr: &Expr, program: &Program) -> Option<Ty> {
    let both = |pair: &(Expr, Expr), ty: Ty| {
        (type_of(&pair.0, program)? == ty && type_of(&pair.1, program)? == ty).then_some(())
    };
    match expr {
        Expr::Bool(_) => Some(Ty::Bool),
        Expr::Int(_) => Some(Ty::Int),
        Expr::Var(var) => program.vars.get(*var).map(|variable| variable.ty),
        Expr::Next(_) | Expr::Passive(_) | Expr::PassiveNext(_) | Expr::Choice(..) => None,
        Expr::Unary(UnaryOp::Not, operand) => (type_of(operand, program)? == Ty::Bool).then_some(Ty::Bool),
        Expr::Unary(UnaryOp::Neg, operand) => (type_of(operand, program)? == Ty::Int).then_some(Ty::Int),
        Expr::Unary(UnaryOp::DivisibleBy(divisor), operand) => {
            (*divisor > 0 && type_of(operand, program)? == Ty::Int).then_some(Ty::Bool)
        }
        Expr::Binary(BinaryOp::And | BinaryOp::Or | BinaryOp::Xor | BinaryOp::Implies, pair) => {
            both(pair, Ty::Bool).map(|()| Ty::Bool)
        }
        Expr::Binary(BinaryOp::Eq | BinaryOp::Ne, pair) => {
            (type_of(&pair.0, program)? == type_of(&pair.1, program)?).then_some(Ty::Bool)
        }
        Expr::Binary(BinaryOp::Lt | BinaryOp::Le, pair) => both(pair, Ty::Int).map(|()| Ty::Bool),
        Expr::Binary(BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul, pair) => both(pair, Ty::Int).map(|()| Ty::Int),
        Expr::Ite(triple) => {
            let (condition, then, otherwise) =
                (type_of(&triple.0, program)?, type_of(&triple.1, program)?, type_of(&triple.2, program)?);
            (condition == Ty::Bool && then == otherwise).then_some(then)
        }
    }
}
