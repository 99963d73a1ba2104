//! The questions as SMT-LIB text.
//!
//! A variable before the step is `x` with its number, after the step `y` with its number; a choice is `c` with its
//! number, one of an initial thread `d`. A question has one state before and one after it.

use std::fmt::Write as _;

use selvedge_ir::{BinaryOp, Expr, MachineOp, MachineTy, Program, Ty, UnaryOp, Value, VarId};

use super::super::Refused;
use crate::domain::Domain;
use crate::semantics::{Meaning, Scene, Writes};

/// Text as the values of expressions.
pub(super) struct Smt;

impl Domain for Smt {
    type Value = String;
    type Error = Refused;

    fn lift(&mut self, value: Value) -> Result<String, Refused> {
        Ok(constant(value))
    }

    fn unary(&mut self, op: UnaryOp, operand: String) -> Result<String, Refused> {
        Ok(match op {
            UnaryOp::Not => format!("(not {operand})"),
            UnaryOp::Neg => format!("(- {operand})"),
            UnaryOp::DivisibleBy(divisor) => format!("(= (mod {operand} {divisor}) 0)"),
            UnaryOp::Cast(from, to) if to.bits <= from.bits => format!("((_ extract {} 0) {operand})", to.bits - 1),
            UnaryOp::Cast(from, to) => {
                let extend = if from.signed { "sign_extend" } else { "zero_extend" };
                format!("((_ {extend} {}) {operand})", to.bits - from.bits)
            }
        })
    }

    fn binary(&mut self, op: BinaryOp, left: String, right: String) -> Result<String, Refused> {
        Ok(format!("({} {left} {right})", operator(op)))
    }

    fn ite(&mut self, condition: String, then: String, otherwise: String) -> Result<String, Refused> {
        Ok(format!("(ite {condition} {then} {otherwise})"))
    }

    fn known(&self, _: &String) -> Option<bool> {
        None
    }

    fn part(&mut self, number: u32, _: &String) -> String {
        format!("p{number}")
    }

    fn behind(&mut self, parts: Vec<(u32, String)>, body: String) -> String {
        let defined: String = parts.iter().map(|(number, value)| format!("(let ((p{number} {value})) ")).collect();
        format!("{defined}{body}{}", ")".repeat(parts.len()))
    }
}

/// The letters that variables and choices begin with.
pub(super) struct Letters(pub(super) char, pub(super) char);

impl Scene<Smt> for Letters {
    fn read(&mut self, _: &mut Smt, var: VarId) -> Result<String, Refused> {
        Ok(format!("{}{}", self.0, var.index()))
    }

    fn choice(&mut self, _: &mut Smt, number: u32) -> Result<String, Refused> {
        Ok(format!("{}{number}", self.1))
    }
}

/// A question under construction.
pub(super) struct Text<'p> {
    program: &'p Program,
    pub(super) lines: String,
    /// The variables that are defined after the step.
    defined: Vec<bool>,
}

impl<'p> Text<'p> {
    /// All variables before the step may have any value.
    pub(super) fn new(program: &'p Program) -> Text<'p> {
        let mut text = Text { program, lines: String::new(), defined: vec![false; program.vars.len()] };
        let types: Vec<Ty> = program.vars.iter().map(|var| var.ty).collect();
        text.declare('x', &types);
        text
    }

    fn line(&mut self, line: std::fmt::Arguments<'_>) {
        writeln!(self.lines, "{line}").expect("writing to a string succeeds");
    }

    /// Declares constants with a letter and a number.
    pub(super) fn declare(&mut self, letter: char, types: &[Ty]) {
        for (number, ty) in types.iter().enumerate() {
            self.line(format_args!("(declare-const {letter}{number} {})", sort(*ty)));
        }
    }

    /// Requires a condition.
    pub(super) fn require(&mut self, condition: &str) {
        self.line(format_args!("(assert {condition})"));
    }

    /// Defines variables after the step. One with any value is as the one before, which may have any.
    pub(super) fn define(&mut self, writes: Writes<String>) {
        for (var, value) in writes {
            let value = value.unwrap_or(format!("x{}", var.index()));
            let ty = sort(self.program.vars[var].ty);
            self.line(format_args!("(define-fun y{} () {ty} {value})", var.index()));
            self.defined[var.index()] = true;
        }
    }

    /// Defines all other variables after the step as those before it.
    pub(super) fn keep_the_rest(&mut self) {
        let rest = self.program.vars.indices().filter(|var| !self.defined[var.index()]);
        let rest = rest.map(|var| (var, None)).collect();
        self.define(rest);
    }

    /// The state after the step is not one with these values in which the formula holds.
    pub(super) fn exclude(&mut self, control: &[VarId], values: &[Value], formula: &Expr) -> Result<(), Refused> {
        let equal: Vec<String> = control.iter().zip(values).map(|(var, value)| equation('y', *var, *value)).collect();
        let formula = Meaning::new(self.program, &mut Smt, &mut Letters('y', 'c')).value(formula)?;
        self.line(format_args!("(assert (not (and true {} {formula})))", equal.join(" ")));
        Ok(())
    }
}

/// A variable, before or after the step by its letter, has a value.
pub(super) fn equation(letter: char, var: VarId, value: Value) -> String {
    format!("(= {letter}{} {})", var.index(), constant(value))
}

fn sort(ty: Ty) -> String {
    match ty {
        Ty::Bool => "Bool".to_owned(),
        Ty::Int => "Int".to_owned(),
        Ty::Machine(ty) => format!("(_ BitVec {})", ty.bits),
    }
}

fn constant(value: Value) -> String {
    match value {
        Value::Bool(value) => value.to_string(),
        Value::Int(value) if value < 0 => format!("(- {})", value.unsigned_abs()),
        Value::Int(value) => value.to_string(),
        Value::Machine(ty, bits) => format!("(_ bv{bits} {})", ty.bits),
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
        BinaryOp::Machine(op, ty) => machine_operator(op, ty),
    }
}

fn machine_operator(op: MachineOp, ty: MachineTy) -> &'static str {
    match op {
        MachineOp::Add => "bvadd",
        MachineOp::Sub => "bvsub",
        MachineOp::Mul => "bvmul",
        MachineOp::And => "bvand",
        MachineOp::Or => "bvor",
        MachineOp::Xor => "bvxor",
        MachineOp::Shl => "bvshl",
        MachineOp::Div => {
            if ty.signed {
                "bvsdiv"
            } else {
                "bvudiv"
            }
        }
        MachineOp::Rem => {
            if ty.signed {
                "bvsrem"
            } else {
                "bvurem"
            }
        }
        MachineOp::Shr => {
            if ty.signed {
                "bvashr"
            } else {
                "bvlshr"
            }
        }
        MachineOp::Lt => {
            if ty.signed {
                "bvslt"
            } else {
                "bvult"
            }
        }
        MachineOp::Le => {
            if ty.signed {
                "bvsle"
            } else {
                "bvule"
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use selvedge_ir::{MachineTy, Value};

    use super::constant;

    /// SMT-LIB has no negative numbers: not every solver reads `-5`.
    #[test]
    fn constants_are_those_of_the_language() {
        let ty = MachineTy::signed(8);
        let values = [Value::Int(5), Value::Int(0), Value::Int(-5), Value::Int(i64::MIN), Value::Machine(ty, 255)];
        let texts = ["5", "0", "(- 5)", "(- 9223372036854775808)", "(_ bv255 8)"];
        assert_eq!(values.map(constant), texts);
        assert_eq!([true, false].map(|value| constant(Value::Bool(value))), ["true", "false"]);
    }
}
