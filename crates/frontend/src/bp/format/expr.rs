//! Formatting of expressions and their parentheses.
//!
//! Parentheses are printed where the tree needs them, and where readers might expect another precedence: around a chain
//! next to `=`, `!=` or `^`, around comparisons of different kinds, and around a conditional in the middle of another.
//! The latter are omitted if they would nest an expression deeper than the parser allows.

use super::Printer;
use super::layout::Between;
use crate::bp::MAX_DEPTH;
use crate::bp::ast::{ChainOp, CompareOp, Element, Expr, ExprKind};

/// The choice whether parentheses that are only there for readability are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Clarity {
    Full,
    Least,
}

impl Clarity {
    /// Returns the clarity that the parser's limit allows for an expression inside a number of blocks.
    pub(super) fn of(expr: &Expr, blocks: usize) -> Clarity {
        if blocks + 1 + height(expr) <= MAX_DEPTH as usize { Clarity::Full } else { Clarity::Least }
    }
}

/// The position of an operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum OperandPlace {
    Not,
    /// The first operand of a sum.
    Summand,
    /// Another operand of a sum.
    Factor,
    /// The operand of `%`.
    Divided,
    /// An operand of `<` and the like.
    Order,
    Chain(ChainOp),
    Left(CompareOp),
    Right(CompareOp),
    Condition,
    Then,
    /// A position where no parentheses are needed.
    Free,
}

impl OperandPlace {
    /// Returns whether numbers are operands here.
    fn is_of_numbers(self) -> bool {
        matches!(self, OperandPlace::Summand | OperandPlace::Factor | OperandPlace::Divided | OperandPlace::Order)
    }
}

/// Returns whether an operand is printed in parentheses.
fn in_parentheses(operand: &ExprKind, place: OperandPlace, clarity: Clarity) -> bool {
    let clear = clarity == Clarity::Full;
    match (operand, place) {
        (_, OperandPlace::Free) => false,
        (ExprKind::Sum(..), place) => {
            place == OperandPlace::Not || place.is_of_numbers() && place != OperandPlace::Order
        }
        (ExprKind::Remainder(..), OperandPlace::Not | OperandPlace::Divided) => true,
        (ExprKind::Order(..), place) => place.is_of_numbers() || place == OperandPlace::Not,
        (ExprKind::Chain(..) | ExprKind::Compare(..), place) if place.is_of_numbers() => true,
        (ExprKind::Chain(inner, _), OperandPlace::Chain(outer)) => *inner >= outer || clear && outer == ChainOp::Xor,
        (ExprKind::Chain(..), OperandPlace::Left(op) | OperandPlace::Right(op)) => clear && op != CompareOp::Implies,
        (ExprKind::Chain(..), OperandPlace::Not) => true,
        (ExprKind::Compare(..), OperandPlace::Not | OperandPlace::Chain(_) | OperandPlace::Left(_)) => true,
        (ExprKind::Compare(inner, _), OperandPlace::Right(outer)) => clear && *inner != outer,
        (ExprKind::Conditional(_), OperandPlace::Then) => clear,
        (ExprKind::Conditional(_), _) => true,
        _ => false,
    }
}

/// Returns the depth of nesting of an expression that is printed with full clarity.
fn height(expr: &Expr) -> usize {
    let of = |operand: &Expr, place| height(operand) + usize::from(in_parentheses(&operand.kind, place, Clarity::Full));
    match &expr.kind {
        ExprKind::Not(operand) => 1 + of(operand, OperandPlace::Not),
        ExprKind::Chain(op, operands) => {
            operands.iter().map(|operand| of(operand, OperandPlace::Chain(*op))).max().unwrap_or(0)
        }
        ExprKind::Compare(op, pair) => {
            of(&pair.0, OperandPlace::Left(*op)).max(1 + of(&pair.1, OperandPlace::Right(*op)))
        }
        ExprKind::Conditional(parts) => {
            let inner = of(&parts.1, OperandPlace::Then).max(of(&parts.2, OperandPlace::Free));
            of(&parts.0, OperandPlace::Condition).max(1 + inner)
        }
        ExprKind::Sum(first, others) => {
            let of_others = others.iter().map(|(_, operand)| of(operand, OperandPlace::Factor)).max().unwrap_or(0);
            of(first, OperandPlace::Summand).max(of_others)
        }
        ExprKind::Remainder(operand, _) => of(operand, OperandPlace::Divided),
        ExprKind::Order(_, pair) => of(&pair.0, OperandPlace::Order).max(of(&pair.1, OperandPlace::Order)),
        ExprKind::Element(element) => 1 + of(&element.index, OperandPlace::Free),
        ExprKind::Schoose(pair) => 1 + of(&pair.0, OperandPlace::Free).max(of(&pair.1, OperandPlace::Free)),
        _ => 0,
    }
}

impl<'t> Printer<'t> {
    /// Prints an expression and the comments before and in it.
    pub(super) fn expr(&mut self, expr: &'t Expr, clarity: Clarity) {
        self.operand_at(expr, OperandPlace::Free, clarity);
    }

    fn operand_at(&mut self, expr: &'t Expr, place: OperandPlace, clarity: Clarity) {
        self.comments_before(expr.span.start);
        let parentheses = in_parentheses(&expr.kind, place, clarity);
        if parentheses {
            self.word("(");
        }
        self.open(usize::from(parentheses));
        self.expr_kind(expr, clarity);
        self.close();
        if parentheses {
            self.word(")");
        }
    }

    fn expr_kind(&mut self, expr: &'t Expr, clarity: Clarity) {
        let file = self.file;
        match &expr.kind {
            ExprKind::Const(constant) => self.word(constant.text()),
            ExprKind::Number(number) => self.owned(number.to_string()),
            ExprKind::Element(element) => self.element(element),
            ExprKind::Sum(first, others) => {
                self.operand_at(first, OperandPlace::Summand, clarity);
                for (sign, operand) in others {
                    self.operator(sign.text());
                    self.operand_at(operand, OperandPlace::Factor, clarity);
                }
            }
            ExprKind::Remainder(operand, divisor) => {
                self.operand_at(operand, OperandPlace::Divided, clarity);
                self.owned(format!(" % {divisor}"));
            }
            ExprKind::Order(op, pair) => {
                self.operand_at(&pair.0, OperandPlace::Order, clarity);
                self.operator(op.text());
                self.operand_at(&pair.1, OperandPlace::Order, clarity);
            }
            ExprKind::Choice => self.word("*"),
            ExprKind::Var(symbol) => self.word(file.names.text(*symbol)),
            ExprKind::Primed(symbol) => {
                self.word("'");
                self.word(file.names.text(*symbol));
            }
            ExprKind::Not(operand) => {
                self.word("!");
                self.operand_at(operand, OperandPlace::Not, clarity);
            }
            ExprKind::Chain(op, operands) => self.chain(*op, operands, clarity),
            ExprKind::Compare(op, pair) => {
                self.operand_at(&pair.0, OperandPlace::Left(*op), clarity);
                self.operator(op.text());
                self.operand_at(&pair.1, OperandPlace::Right(*op), clarity);
            }
            ExprKind::Conditional(parts) => {
                self.operand_at(&parts.0, OperandPlace::Condition, clarity);
                self.operator("?");
                self.operand_at(&parts.1, OperandPlace::Then, clarity);
                self.operator(":");
                self.operand_at(&parts.2, OperandPlace::Free, clarity);
            }
            ExprKind::Schoose(pair) => {
                self.word("schoose[");
                self.operand_at(&pair.0, OperandPlace::Free, clarity);
                self.word(",");
                self.soft_break(Between::Parts);
                self.operand_at(&pair.1, OperandPlace::Free, clarity);
                self.word("]");
            }
            ExprKind::Error => self.word(expr.span.of(self.text)),
        }
    }

    /// Prints `a[e]`.
    pub(super) fn element(&mut self, element: &'t Element) {
        self.comments_before(element.span.start);
        if element.is_primed {
            self.word("'");
        }
        let file = self.file;
        self.word(file.names.text(element.array.symbol));
        self.word("[");
        self.expr(&element.index, Clarity::of(&element.index, self.depth + 1));
        self.word("]");
    }

    fn chain(&mut self, op: ChainOp, operands: &'t [Expr], clarity: Clarity) {
        for (index, operand) in operands.iter().enumerate() {
            if index > 0 {
                self.operator(op.text());
            }
            self.operand_at(operand, OperandPlace::Chain(op), clarity);
        }
    }

    /// Prints an operator between two operands. Lines break after it.
    fn operator(&mut self, sign: &'static str) {
        self.space();
        self.word(sign);
        self.soft_break(Between::Operands);
    }
}
