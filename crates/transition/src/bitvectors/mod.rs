//! Expressions over truth values and machine integers in the language of SMT solvers, and back.

pub mod read;
pub mod spacer;

use std::fmt::Write as _;

use selvedge_ir::{BinaryOp, Expr, MachineOp, MachineTy, Ty, UnaryOp};

/// Returns the sort of a type.
pub fn sort(ty: Ty) -> String {
    match ty {
        Ty::Bool => "Bool".to_string(),
        Ty::Machine(ty) => format!("(_ BitVec {})", ty.bits),
        Ty::Int => unreachable!("programs with mathematical integers are refused"),
    }
}

/// Returns an expression as text, whose variables and choices a function names.
pub fn text(expr: &Expr, leaf: &dyn Fn(&Expr) -> String) -> String {
    let mut text = String::new();
    write(expr, leaf, &mut text);
    text
}

fn write(expr: &Expr, leaf: &dyn Fn(&Expr) -> String, text: &mut String) {
    let written = "writing to a string succeeds";
    let mut list = |head: &str, operands: &[&Expr]| {
        write!(text, "({head}").expect(written);
        for operand in operands {
            text.push(' ');
            write(operand, leaf, text);
        }
        text.push(')');
    };
    match expr {
        Expr::Unary(UnaryOp::Not, operand) => list("not", &[operand]),
        Expr::Unary(UnaryOp::Cast(from, to), operand) => list(&cast(*from, *to), &[operand]),
        Expr::Binary(op, pair) => list(operator(*op), &[&pair.0, &pair.1]),
        Expr::Ite(triple) => list("ite", &[&triple.0, &triple.1, &triple.2]),
        Expr::Bool(value) => write!(text, "{value}").expect(written),
        Expr::Machine(ty, bits) => write!(text, "(_ bv{bits} {})", ty.bits).expect(written),
        Expr::Var(_) | Expr::Next(_) | Expr::Passive(_) | Expr::PassiveNext(_) | Expr::Choice(..) => {
            text.push_str(&leaf(expr));
        }
        Expr::Part(number) => write!(text, "p{number}").expect(written),
        Expr::Let(shared) => {
            for (number, part) in &shared.parts {
                write!(text, "(let ((p{number} ").expect(written);
                write(part, leaf, text);
                text.push_str(")) ");
            }
            write(&shared.body, leaf, text);
            text.push_str(&")".repeat(shared.parts.len()));
        }
        Expr::Int(_) | Expr::Unary(UnaryOp::Neg | UnaryOp::DivisibleBy(_), _) => {
            unreachable!("programs with mathematical integers are refused")
        }
    }
}

fn cast(from: MachineTy, to: MachineTy) -> String {
    match to.bits.checked_sub(from.bits) {
        None => format!("(_ extract {} 0)", to.bits - 1),
        Some(more) if from.signed => format!("(_ sign_extend {more})"),
        Some(more) => format!("(_ zero_extend {more})"),
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
        BinaryOp::Machine(op, ty) => machine_operator(op, ty.signed),
        BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Lt | BinaryOp::Le => {
            unreachable!("programs with mathematical integers are refused")
        }
    }
}

fn machine_operator(op: MachineOp, signed: bool) -> &'static str {
    let (with, without) = match op {
        MachineOp::Add => ("bvadd", "bvadd"),
        MachineOp::Sub => ("bvsub", "bvsub"),
        MachineOp::Mul => ("bvmul", "bvmul"),
        MachineOp::Div => ("bvsdiv", "bvudiv"),
        MachineOp::Rem => ("bvsrem", "bvurem"),
        MachineOp::And => ("bvand", "bvand"),
        MachineOp::Or => ("bvor", "bvor"),
        MachineOp::Xor => ("bvxor", "bvxor"),
        MachineOp::Shl => ("bvshl", "bvshl"),
        MachineOp::Shr => ("bvashr", "bvlshr"),
        MachineOp::Lt => ("bvslt", "bvult"),
        MachineOp::Le => ("bvsle", "bvule"),
    };
    if signed { with } else { without }
}
