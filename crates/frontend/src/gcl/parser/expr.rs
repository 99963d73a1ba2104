//! Expressions, loosest operator first: `? :`, `=>`, `|`, `&`, `!`, comparisons, `+ -`, `* / %`, the sign.

use super::Parser;
use crate::gcl::ast::{BinaryOp, ChainOp, Expr, ExprKind, Name, Sign};
use crate::gcl::lexer::TokenKind;

impl Parser<'_> {
    /// Parses an expression. If there is none, returns [`ExprKind::Error`], and the parser is lost.
    pub(super) fn expr(&mut self) -> Expr {
        self.deeper(Self::conditional)
    }

    fn deeper(&mut self, inner: impl FnOnce(&mut Self) -> Expr) -> Expr {
        self.nested(inner, |parser| {
            parser.skip();
            parser.error_expr()
        })
    }

    fn error_expr(&self) -> Expr {
        Expr { span: self.after_previous(), kind: ExprKind::Error }
    }

    fn conditional(&mut self) -> Expr {
        let condition = self.implication();
        if self.lost || !self.eat(TokenKind::Question) {
            return condition;
        }
        let then = self.expr();
        if self.lost || !self.expect(TokenKind::Colon) {
            return self.error_expr();
        }
        let otherwise = self.expr();
        let span = condition.span.to(otherwise.span);
        Expr { span, kind: ExprKind::Conditional(Box::new((condition, then, otherwise))) }
    }

    fn implication(&mut self) -> Expr {
        let left = self.chain(ChainOp::Or);
        if self.lost || !self.eat(TokenKind::Implies) {
            return left;
        }
        let right = self.deeper(Self::implication);
        binary(BinaryOp::Implies, left, right)
    }

    fn chain(&mut self, op: ChainOp) -> Expr {
        let sign = match op {
            ChainOp::And => TokenKind::And,
            ChainOp::Or => TokenKind::Or,
        };
        let first = self.chain_operand(op);
        if self.lost || !self.at(sign) {
            return first;
        }
        let mut operands = vec![first];
        while !self.lost && self.eat(sign) {
            operands.push(self.chain_operand(op));
        }
        let span = operands[0].span.to(operands[operands.len() - 1].span);
        Expr { span, kind: ExprKind::Chain(op, operands) }
    }

    fn chain_operand(&mut self, op: ChainOp) -> Expr {
        match op {
            ChainOp::And => self.negation(),
            ChainOp::Or => self.chain(ChainOp::And),
        }
    }

    fn negation(&mut self) -> Expr {
        if !self.at(TokenKind::Not) {
            return self.comparison();
        }
        let start = self.bump();
        let operand = self.deeper(Self::negation);
        Expr { span: start.to(operand.span), kind: ExprKind::Not(Box::new(operand)) }
    }

    fn comparison(&mut self) -> Expr {
        let left = self.sum();
        let Some(op) = comparison_op(self.kind()).filter(|_| !self.lost) else { return left };
        self.bump();
        let right = if self.at(TokenKind::Not) { self.negation() } else { self.sum() };
        if !self.lost && comparison_op(self.kind()).is_some() {
            let diagnostic = self.unexpected("the end of the comparison");
            self.lose(diagnostic.help("comparisons do not chain: write `a < b & b < c`"));
        }
        binary(op, left, right)
    }

    fn sum(&mut self) -> Expr {
        let first = self.product();
        let mut rest = Vec::new();
        while !self.lost {
            let sign = match self.kind() {
                TokenKind::Plus => Sign::Plus,
                TokenKind::Minus => Sign::Minus,
                _ => break,
            };
            self.bump();
            rest.push((sign, self.product()));
        }
        let Some((_, last)) = rest.last() else { return first };
        Expr { span: first.span.to(last.span), kind: ExprKind::Sum(Box::new(first), rest) }
    }

    fn product(&mut self) -> Expr {
        let mut product = self.signed();
        let depth = self.depth;
        while !self.lost {
            let op = match self.kind() {
                TokenKind::Star => BinaryOp::Times,
                TokenKind::Slash => BinaryOp::Over,
                TokenKind::Percent => BinaryOp::Modulo,
                _ => break,
            };
            self.bump();
            if !self.descend() {
                self.skip();
                break;
            }
            product = binary(op, product, self.signed());
        }
        self.depth = depth;
        product
    }

    fn signed(&mut self) -> Expr {
        if !self.at(TokenKind::Minus) {
            return self.primary();
        }
        let start = self.bump();
        let operand = self.deeper(Self::signed);
        Expr { span: start.to(operand.span), kind: ExprKind::Neg(Box::new(operand)) }
    }

    fn primary(&mut self) -> Expr {
        let start = self.span();
        let kind = match self.kind() {
            TokenKind::LParen => return self.parenthesised(),
            TokenKind::Number => self.number().map_or(ExprKind::Error, ExprKind::Int),
            TokenKind::True => self.leaf(ExprKind::Bool(true)),
            TokenKind::False => self.leaf(ExprKind::Bool(false)),
            TokenKind::Nondet => self.leaf(ExprKind::Nondet),
            TokenKind::Word => self.word(),
            TokenKind::Star => {
                let diagnostic = self.unexpected("an expression");
                self.lose(diagnostic.help("an arbitrary value is written `nondet`").replace_by("nondet"));
                ExprKind::Error
            }
            kind if kind.is_keyword() && !self.at_landmark() => {
                self.report_reserved("the name of a variable");
                self.lost = true;
                ExprKind::Error
            }
            _ => {
                self.miss("an expression");
                ExprKind::Error
            }
        };
        if kind == ExprKind::Error && self.lost { self.error_expr() } else { Expr { span: self.since(start), kind } }
    }

    fn leaf(&mut self, kind: ExprKind) -> ExprKind {
        self.bump();
        kind
    }

    /// Parses a variable, or `p at l`.
    fn word(&mut self) -> ExprKind {
        let text = self.slice().to_owned();
        let span = self.bump();
        if !self.eat(TokenKind::At) {
            return ExprKind::Var(text);
        }
        match self.name("the name of a location") {
            Some(location) => ExprKind::At(Name { text, span }, location),
            None => ExprKind::Error,
        }
    }

    fn parenthesised(&mut self) -> Expr {
        let opener = self.bump();
        let inner = self.expr();
        if !self.lost {
            self.close(TokenKind::RParen, opener);
        }
        Expr { span: self.since(opener), kind: inner.kind }
    }
}

fn comparison_op(kind: TokenKind) -> Option<BinaryOp> {
    Some(match kind {
        TokenKind::Eq => BinaryOp::Eq,
        TokenKind::Ne => BinaryOp::Ne,
        TokenKind::Lt => BinaryOp::Lt,
        TokenKind::Le => BinaryOp::Le,
        TokenKind::Gt => BinaryOp::Gt,
        TokenKind::Ge => BinaryOp::Ge,
        TokenKind::Divides => BinaryOp::Divides,
        _ => return None,
    })
}

fn binary(op: BinaryOp, left: Expr, right: Expr) -> Expr {
    Expr { span: left.span.to(right.span), kind: ExprKind::Binary(op, Box::new((left, right))) }
}
