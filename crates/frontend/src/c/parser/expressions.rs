//! Expressions: operators.

use super::Parser;
use crate::c::lexer::Kind;
use crate::c::tree::{BinaryOp, Expr, UnaryOp};
use crate::c::typing::{AssignKind, BinaryKind};

impl Parser {
    /// Consumes an expression, with commas.
    pub(super) fn expression(&mut self) -> Expr {
        let mut left = self.assignment();
        while self.at(Kind::Comma) && !self.lost {
            self.bump();
            let right = self.assignment();
            left = self.typer.comma(left, right);
        }
        left
    }

    /// Consumes an expression without commas.
    pub(super) fn assignment(&mut self) -> Expr {
        let target = self.conditional();
        let Some(kind) = assign_kind(self.kind()) else { return target };
        if self.lost {
            return target;
        }
        self.bump();
        let value = self.nested(Self::assignment).unwrap_or_else(|| self.typer.wrong(self.loc()));
        self.typer.assign(kind, target, value)
    }

    /// Consumes a conditional expression. `a ? b : c ? d : e` nests to the right.
    pub(super) fn conditional(&mut self) -> Expr {
        let condition = self.equivalence();
        if self.lost || !self.eat(Kind::Question) {
            return condition;
        }
        let then = if self.at(Kind::Colon) {
            None
        } else {
            let then = self.nested(Self::expression);
            Some(then.unwrap_or_else(|| self.typer.wrong(self.loc())))
        };
        if !self.expect(Kind::Colon) {
            return condition;
        }
        let otherwise = self.nested(Self::conditional).unwrap_or_else(|| self.typer.wrong(self.loc()));
        self.typer.conditional(condition, then, otherwise)
    }

    /// Consumes `a <==> b`, which annotations have.
    fn equivalence(&mut self) -> Expr {
        let mut left = self.implication();
        while !self.lost && self.eat(Kind::Iff) {
            let right = self.implication();
            let (left_loc, right_loc) = (left.loc, right.loc);
            let left_fails = self.typer.unary(Some(UnaryOp::Not), left, left_loc);
            let right_fails = self.typer.unary(Some(UnaryOp::Not), right, right_loc);
            left = self.typer.binary(BinaryKind::Op(BinaryOp::Eq), left_fails, right_fails);
        }
        left
    }

    /// Consumes `a ==> b`, which annotations have; it nests to the right.
    fn implication(&mut self) -> Expr {
        let left = self.binary(1);
        if self.lost || !self.eat(Kind::Implies) {
            return left;
        }
        let loc = left.loc;
        let right = self.nested(Self::implication).unwrap_or_else(|| self.typer.wrong(loc));
        let fails = self.typer.unary(Some(UnaryOp::Not), left, loc);
        self.typer.binary(BinaryKind::Or, fails, right)
    }

    /// Consumes operators that bind at least as tightly as `level`.
    fn binary(&mut self, level: u8) -> Expr {
        let mut left = self.cast();
        while let Some((kind, binds)) = binary_kind(self.kind()) {
            if binds < level || self.lost {
                break;
            }
            self.bump();
            let right = self.binary(binds + 1);
            left = self.typer.binary(kind, left, right);
        }
        left
    }

    /// Consumes a cast, or an operand with the operators before it.
    fn cast(&mut self) -> Expr {
        if !self.at(Kind::LParen) || !self.is_type_at(1) {
            return self.unary();
        }
        let start = self.bump().loc;
        let ty = self.type_name();
        self.close(Kind::RParen, start);
        if self.lost {
            return self.typer.wrong(start);
        }
        if self.at(Kind::LBrace) {
            let literal = self.compound_literal(ty, start);
            return self.postfix(literal);
        }
        let operand = self.nested(Self::cast).unwrap_or_else(|| self.typer.wrong(start));
        let loc = self.since(start);
        self.typer.written_cast(operand, ty, loc)
    }

    /// Consumes an operand with the operators before it.
    pub(super) fn unary(&mut self) -> Expr {
        let start = self.loc();
        match self.kind() {
            Kind::PlusPlus | Kind::MinusMinus => {
                let is_decrement = self.bump().kind == Kind::MinusMinus;
                let operand = self.nested(Self::unary).unwrap_or_else(|| self.typer.wrong(start));
                let loc = self.since(start);
                self.typer.increment(operand, is_decrement, false, loc)
            }
            Kind::Amp | Kind::Star | Kind::Plus | Kind::Minus | Kind::Tilde | Kind::Bang => self.prefix(),
            Kind::Sizeof => self.sizeof(),
            Kind::Alignof => self.alignof(),
            Kind::Extension => {
                self.bump();
                self.nested(Self::cast).unwrap_or_else(|| self.typer.wrong(start))
            }
            Kind::AndAnd => {
                self.bump();
                self.unsupported("the address of a label is", start);
                self.expect_name("a label");
                self.typer.wrong(start)
            }
            Kind::Real | Kind::Imag => {
                self.bump();
                self.unsupported("complex numbers are", start);
                self.nested(Self::cast);
                self.typer.wrong(start)
            }
            _ => {
                let operand = self.primary();
                self.postfix(operand)
            }
        }
    }

    fn prefix(&mut self) -> Expr {
        let operator = self.bump();
        let operand = self.nested(Self::cast).unwrap_or_else(|| self.typer.wrong(operator.loc));
        let loc = self.since(operator.loc);
        match operator.kind {
            Kind::Amp => self.typer.address_of(operand, loc),
            Kind::Star => self.typer.deref(operand, loc),
            Kind::Minus => self.typer.unary(Some(UnaryOp::Minus), operand, loc),
            Kind::Tilde => self.typer.unary(Some(UnaryOp::Complement), operand, loc),
            Kind::Bang => self.typer.unary(Some(UnaryOp::Not), operand, loc),
            _ => self.typer.unary(None, operand, loc),
        }
    }

    /// Consumes the operators behind an operand.
    pub(super) fn postfix(&mut self, operand: Expr) -> Expr {
        let start = operand.loc;
        let mut operand = operand;
        while !self.lost {
            operand = match self.kind() {
                Kind::LBracket => {
                    let opener = self.bump().loc;
                    let index = self.nested(Self::expression).unwrap_or_else(|| self.typer.wrong(opener));
                    self.close(Kind::RBracket, opener);
                    let loc = self.since(start);
                    self.typer.index(operand, index, loc)
                }
                Kind::LParen => {
                    let args = self.arguments();
                    let loc = self.since(start);
                    self.typer.call(operand, args, loc)
                }
                Kind::Dot | Kind::Arrow => {
                    let is_arrow = self.bump().kind == Kind::Arrow;
                    let Some((name, name_loc)) = self.expect_name("a member") else { return operand };
                    let loc = self.since(start);
                    self.typer.member(operand, is_arrow, name, loc, name_loc)
                }
                Kind::PlusPlus | Kind::MinusMinus => {
                    let is_decrement = self.bump().kind == Kind::MinusMinus;
                    let loc = self.since(start);
                    self.typer.increment(operand, is_decrement, true, loc)
                }
                _ => return operand,
            };
        }
        operand
    }

    /// Consumes the arguments of a call with their parentheses.
    pub(super) fn arguments(&mut self) -> Vec<Expr> {
        let opener = self.bump().loc;
        let mut args = Vec::new();
        while !matches!(self.kind(), Kind::RParen | Kind::Eof) && !self.lost {
            args.extend(self.nested(Self::assignment));
            if !self.eat(Kind::Comma) {
                break;
            }
        }
        self.close(Kind::RParen, opener);
        args
    }
}

fn assign_kind(kind: Kind) -> Option<AssignKind> {
    Some(AssignKind::Op(match kind {
        Kind::Assign => return Some(AssignKind::Plain),
        Kind::StarAssign => BinaryOp::Mul,
        Kind::SlashAssign => BinaryOp::Div,
        Kind::PercentAssign => BinaryOp::Rem,
        Kind::PlusAssign => BinaryOp::Add,
        Kind::MinusAssign => BinaryOp::Sub,
        Kind::ShlAssign => BinaryOp::Shl,
        Kind::ShrAssign => BinaryOp::Shr,
        Kind::AmpAssign => BinaryOp::And,
        Kind::CaretAssign => BinaryOp::Xor,
        Kind::BarAssign => BinaryOp::Or,
        _ => return None,
    }))
}

/// Returns a binary operator and how tightly it binds.
fn binary_kind(kind: Kind) -> Option<(BinaryKind, u8)> {
    let (op, binds) = match kind {
        Kind::OrOr => return Some((BinaryKind::Or, 1)),
        Kind::AndAnd => return Some((BinaryKind::And, 2)),
        Kind::Bar => (BinaryOp::Or, 3),
        Kind::Caret => (BinaryOp::Xor, 4),
        Kind::Amp => (BinaryOp::And, 5),
        Kind::EqEq => (BinaryOp::Eq, 6),
        Kind::Ne => (BinaryOp::Ne, 6),
        Kind::Lt => (BinaryOp::Lt, 7),
        Kind::Gt => (BinaryOp::Gt, 7),
        Kind::Le => (BinaryOp::Le, 7),
        Kind::Ge => (BinaryOp::Ge, 7),
        Kind::Shl => (BinaryOp::Shl, 8),
        Kind::Shr => (BinaryOp::Shr, 8),
        Kind::Plus => (BinaryOp::Add, 9),
        Kind::Minus => (BinaryOp::Sub, 9),
        Kind::Star => (BinaryOp::Mul, 10),
        Kind::Slash => (BinaryOp::Div, 10),
        Kind::Percent => (BinaryOp::Rem, 10),
        _ => return None,
    };
    Some((BinaryKind::Op(op), binds))
}
