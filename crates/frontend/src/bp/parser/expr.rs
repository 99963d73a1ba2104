//! Expressions, loosest operator first.

use selvedge_ir::span::Span;

use super::Parser;
use crate::bp::ast::{ChainOp, CompareOp, Const, Expr, ExprKind};
use crate::bp::lexer::TokenKind;
use crate::diagnostic::{Code, Diagnostic};

/// The shape of an operand: a chain without parentheses, or anything else.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shape {
    Closed,
    OpenChain(ChainOp),
}

impl Parser<'_> {
    /// Parses an expression. If there is none, returns [`ExprKind::Error`], and the parser is lost.
    pub(super) fn expr(&mut self) -> Expr {
        self.nested(Self::conditional, Self::skip_expr)
    }

    /// Parses expressions between commas.
    pub(super) fn exprs(&mut self) -> Vec<Expr> {
        self.comma_list(|parser| Some(parser.expr()))
    }

    fn error_expr(&self) -> Expr {
        Expr { span: self.after_previous(), kind: ExprKind::Error }
    }

    /// Skips an expression that is nested too deeply.
    fn skip_expr(&mut self) -> Expr {
        while !self.at(TokenKind::Semicolon) && !self.at(TokenKind::Eof) && !self.kind().is_keyword() {
            self.bump();
        }
        self.error_expr()
    }

    fn conditional(&mut self) -> Expr {
        let condition = self.comparison().0;
        if self.lost || !self.eat(TokenKind::Question) {
            return condition;
        }
        let then = self.expr();
        if !self.expect(TokenKind::Colon) {
            return self.error_expr();
        }
        let otherwise = self.expr();
        let span = condition.span.to(otherwise.span);
        Expr { span, kind: ExprKind::Conditional(Box::new((condition, then, otherwise))) }
    }

    fn comparison(&mut self) -> (Expr, Shape) {
        let (left, left_shape) = self.chain(ChainOp::Xor);
        let op = match self.kind() {
            TokenKind::Eq => CompareOp::Eq,
            TokenKind::Ne => CompareOp::Ne,
            TokenKind::Implies => CompareOp::Implies,
            _ => return (left, left_shape),
        };
        if self.lost {
            return (left, left_shape);
        }
        let sign = self.bump();
        let (right, right_shape) = self.nested(Self::comparison, |parser| (parser.skip_expr(), Shape::Closed));
        if op != CompareOp::Implies {
            self.warn_of_mixture(sign, &left, left_shape);
            self.warn_of_mixture(sign, &right, right_shape);
        }
        let span = left.span.to(right.span);
        (Expr { span, kind: ExprKind::Compare(op, Box::new((left, right))) }, Shape::Closed)
    }

    fn warn_of_mixture(&mut self, sign: Span, operand: &Expr, shape: Shape) {
        let Shape::OpenChain(op) = shape else { return };
        let sign_text = sign.of(self.text);
        let message = format!("`{}` binds tighter than `{sign_text}` here, unlike in other dialects", op.text());
        let diagnostic = Diagnostic::new(Code::MixedPrecedence, message, sign)
            .also(operand.span, format!("one operand of `{sign_text}`"))
            .help("put parentheses around the part that belongs together");
        self.report(diagnostic);
    }

    /// Parses the operands of one associative operator, which consist of tighter ones.
    fn chain(&mut self, op: ChainOp) -> (Expr, Shape) {
        let (first, shape) = self.chain_operand(op);
        let sign = match op {
            ChainOp::And => TokenKind::And,
            ChainOp::Or => TokenKind::Or,
            ChainOp::Xor => TokenKind::Xor,
        };
        if self.lost || !self.at(sign) {
            return (first, shape);
        }
        let mut operands = vec![first];
        while !self.lost && self.eat(sign) {
            operands.push(self.chain_operand(op).0);
        }
        let span = operands[0].span.to(operands[operands.len() - 1].span);
        (Expr { span, kind: ExprKind::Chain(op, operands) }, Shape::OpenChain(op))
    }

    fn chain_operand(&mut self, op: ChainOp) -> (Expr, Shape) {
        match op {
            ChainOp::And => (self.unary(), Shape::Closed),
            ChainOp::Or => self.chain(ChainOp::And),
            ChainOp::Xor => self.chain(ChainOp::Or),
        }
    }

    fn unary(&mut self) -> Expr {
        if !self.at(TokenKind::Not) {
            return self.primary();
        }
        let start = self.bump();
        let operand = self.nested(Self::unary, Self::skip_expr);
        Expr { span: start.to(operand.span), kind: ExprKind::Not(Box::new(operand)) }
    }

    fn primary(&mut self) -> Expr {
        match self.kind() {
            TokenKind::Star | TokenKind::Question => Expr { span: self.bump(), kind: ExprKind::Choice },
            TokenKind::LParen => self.parenthesised(),
            TokenKind::Number => self.number(),
            TokenKind::Prime => self.primed(),
            TokenKind::Schoose if self.peek(1) == TokenKind::LBracket => self.schoose(),
            TokenKind::Word => self.word(),
            kind if kind.is_keyword() && self.peek(1) == TokenKind::LParen && !self.begins_statement() => self.word(),
            _ => {
                self.miss("an expression");
                self.error_expr()
            }
        }
    }

    fn parenthesised(&mut self) -> Expr {
        let opener = self.bump();
        let inner = self.expr();
        self.close(TokenKind::RParen, opener);
        Expr { span: self.since(opener), kind: inner.kind }
    }

    fn number(&mut self) -> Expr {
        let kind = match self.slice() {
            "0" => ExprKind::Const(Const::Zero),
            "1" => ExprKind::Const(Const::One),
            other => {
                let message = format!("`{other}` is not a truth value");
                let diagnostic = Diagnostic::new(Code::NotTruthValue, message, self.span());
                self.report(diagnostic.help("the constants are `0`, `1`, `F` and `T`"));
                ExprKind::Error
            }
        };
        Expr { span: self.bump(), kind }
    }

    fn primed(&mut self) -> Expr {
        let start = self.bump();
        if !self.at(TokenKind::Word) {
            self.miss("the name of a variable after `'`");
            return self.error_expr();
        }
        match self.variable() {
            Some(name) => Expr { span: start.to(name.span), kind: ExprKind::Primed(name.symbol) },
            None => self.error_expr(),
        }
    }

    /// Reads a variable, a constant, or a call, which is not allowed here.
    fn word(&mut self) -> Expr {
        if self.peek(1) == TokenKind::LParen {
            return self.call_in_expression();
        }
        match self.slice() {
            "T" => return Expr { span: self.bump(), kind: ExprKind::Const(Const::T) },
            "F" => return Expr { span: self.bump(), kind: ExprKind::Const(Const::F) },
            _ => {}
        }
        let Some(name) = self.variable() else { return self.error_expr() };
        if self.eat(TokenKind::Prime) {
            return Expr { span: self.since(name.span), kind: ExprKind::Primed(name.symbol) };
        }
        Expr { span: name.span, kind: ExprKind::Var(name.symbol) }
    }

    fn call_in_expression(&mut self) -> Expr {
        let start = self.span();
        self.report(call_in_expression(start));
        self.bump();
        self.arguments();
        Expr { span: self.since(start), kind: ExprKind::Error }
    }

    /// Parses `(e1, .., ek)`.
    pub(super) fn arguments(&mut self) -> Vec<Expr> {
        let opener = self.bump();
        if self.eat(TokenKind::RParen) {
            return Vec::new();
        }
        let args = self.exprs();
        self.close(TokenKind::RParen, opener);
        args
    }

    fn schoose(&mut self) -> Expr {
        let start = self.bump();
        let opener = self.bump();
        let mut args = self.exprs();
        self.close(TokenKind::RBracket, opener);
        let span = self.since(start);
        let (Some(negative), Some(positive), true) = (args.pop(), args.pop(), args.is_empty()) else {
            let message = "`schoose` takes exactly two arguments";
            self.report(Diagnostic::new(Code::WrongArgumentCount, message, span));
            return Expr { span, kind: ExprKind::Error };
        };
        Expr { span, kind: ExprKind::Schoose(Box::new((positive, negative))) }
    }
}

/// Returns the diagnostic for a call inside an expression.
pub(super) fn call_in_expression(callee: Span) -> Diagnostic {
    Diagnostic::new(Code::CallInExpression, "calls cannot appear inside expressions", callee)
        .help("assign its result to a variable in a separate statement, and use that variable here")
}
