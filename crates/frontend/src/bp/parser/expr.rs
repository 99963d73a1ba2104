//! Expressions, loosest operator first.

use selvedge_ir::span::Span;

use super::Parser;
use crate::bp::ast::{ChainOp, CompareOp, Const, Element, Expr, ExprKind, Name, OrderOp, Sign};
use crate::bp::lexer::TokenKind;
use crate::diagnostic::{Code, Diagnostic};

/// Limit on numbers.
const MAX_NUMBER: u32 = 1_000_000;

/// Limit on the additions and subtractions of one sum.
const MAX_SUM: usize = 100;

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
        let mut operands = vec![first];
        while !self.lost && (self.eat(sign) || self.eat_foreign(foreign_word(op), op.text())) {
            operands.push(self.chain_operand(op).0);
        }
        if operands.len() == 1 {
            return (operands.swap_remove(0), shape);
        }
        let span = operands[0].span.to(operands[operands.len() - 1].span);
        (Expr { span, kind: ExprKind::Chain(op, operands) }, Shape::OpenChain(op))
    }

    fn chain_operand(&mut self, op: ChainOp) -> (Expr, Shape) {
        match op {
            ChainOp::And => (self.order(), Shape::Closed),
            ChainOp::Or => self.chain(ChainOp::And),
            ChainOp::Xor => self.chain(ChainOp::Or),
        }
    }

    /// Parses a sum, or a comparison of two.
    fn order(&mut self) -> Expr {
        let left = self.sum();
        let op = match self.kind() {
            TokenKind::Less => OrderOp::Lt,
            TokenKind::LessEq => OrderOp::Le,
            TokenKind::Greater => OrderOp::Gt,
            TokenKind::GreaterEq => OrderOp::Ge,
            _ => return left,
        };
        if self.lost {
            return left;
        }
        self.bump();
        let right = self.sum();
        Expr { span: left.span.to(right.span), kind: ExprKind::Order(op, Box::new((left, right))) }
    }

    fn sum(&mut self) -> Expr {
        let first = self.remainder();
        let mut others = Vec::new();
        let mut last = first.span;
        while !self.lost && matches!(self.kind(), TokenKind::Plus | TokenKind::Minus) {
            let sign = if self.at(TokenKind::Plus) { Sign::Plus } else { Sign::Minus };
            let span = self.bump();
            if others.len() == MAX_SUM {
                let message = format!("more than {MAX_SUM} additions in one sum");
                self.report(Diagnostic::new(Code::BeyondLimit, message, span));
            }
            let operand = self.remainder();
            last = operand.span;
            if others.len() <= MAX_SUM {
                others.push((sign, operand));
            }
        }
        if others.is_empty() {
            return first;
        }
        Expr { span: first.span.to(last), kind: ExprKind::Sum(Box::new(first), others) }
    }

    /// Parses `e % n`.
    fn remainder(&mut self) -> Expr {
        let operand = self.unary();
        if self.lost || !self.eat(TokenKind::Percent) {
            return operand;
        }
        if !self.at(TokenKind::Number) {
            self.miss("a number after `%`");
            return self.error_expr();
        }
        let divisor = self.small_number(1);
        let span = operand.span.to(self.previous());
        Expr { span, kind: ExprKind::Remainder(Box::new(operand), divisor) }
    }

    fn unary(&mut self) -> Expr {
        let start = self.span();
        if !self.eat(TokenKind::Not) && !self.eat_foreign("not", "!") {
            return self.primary();
        }
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
        // `00` is a way to write `0`.
        let kind = match self.slice().trim_start_matches('0') {
            "" => ExprKind::Const(Const::Zero),
            "1" => ExprKind::Const(Const::One),
            _ => {
                let start = self.span();
                return Expr { span: start, kind: ExprKind::Number(self.small_number(0)) };
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
            Some(array) if self.at(TokenKind::LBracket) => self.element(start, array, true),
            Some(name) => Expr { span: start.to(name.span), kind: ExprKind::Primed(name.symbol) },
            None => self.error_expr(),
        }
    }

    fn element(&mut self, start: Span, array: Name, is_primed: bool) -> Expr {
        let index = self.index();
        let span = self.since(start);
        let element = Element { span: self.since(array.span), array, index, is_primed };
        Expr { span, kind: ExprKind::Element(Box::new(element)) }
    }

    /// Parses `[e]`.
    pub(super) fn index(&mut self) -> Expr {
        let opener = self.bump();
        let index = self.expr();
        self.close(TokenKind::RBracket, opener);
        index
    }

    /// Reads a number from `least` to [`MAX_NUMBER`].
    pub(super) fn small_number(&mut self, least: u32) -> u32 {
        let number = self.slice().parse().ok().filter(|number| (least..=MAX_NUMBER).contains(number));
        if number.is_none() {
            let message = format!("`{}` is not between {least} and {MAX_NUMBER}", self.slice());
            self.report(Diagnostic::new(Code::NumberOutOfRange, message, self.span()));
        }
        self.bump();
        number.unwrap_or(least)
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
        if self.at(TokenKind::LBracket) {
            return self.element(name.span, name, false);
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

/// Returns the word for an operator in other languages.
fn foreign_word(op: ChainOp) -> &'static str {
    match op {
        ChainOp::And => "and",
        ChainOp::Or => "or",
        ChainOp::Xor => "xor",
    }
}

/// Returns the diagnostic for a call inside an expression.
pub(super) fn call_in_expression(callee: Span) -> Diagnostic {
    Diagnostic::new(Code::CallInExpression, "calls cannot appear inside expressions", callee)
        .help("assign its result to a variable in a separate statement, and use that variable here")
}
