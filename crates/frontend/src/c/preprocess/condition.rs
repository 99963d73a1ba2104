//! The expressions behind `#if`: numbers of 64 bits, signed and unsigned. Names that are not macros are 0.

use super::Preprocessor;
use crate::c::files::Loc;
use crate::c::lexer::{Kind, Token};
use crate::c::literals;
use crate::diagnostic::Code;

/// A value of such an expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Value {
    bits: i64,
    unsigned: bool,
}

impl Value {
    fn truth(holds: bool) -> Value {
        Value { bits: i64::from(holds), unsigned: false }
    }

    fn holds(self) -> bool {
        self.bits != 0
    }
}

/// What is wrong with an expression.
type Wrong = (String, Loc);

/// The parser and evaluator. `skips` counts the operators around whose other operand decides: there a division by zero
/// means nothing.
struct Evaluator<'t> {
    tokens: &'t [Token],
    at: usize,
    skips: usize,
    depth: usize,
    loc: Loc,
    text: &'t dyn Fn(Token) -> String,
}

/// Limit on nested parentheses and operators.
const MAX_DEPTH: usize = 100;

impl Preprocessor<'_> {
    /// Returns whether the condition on a line holds; a wrong one does not.
    pub(super) fn condition(&mut self, loc: Loc, rest: &[Token]) -> bool {
        let resolved = self.resolve_defined(rest);
        let tokens = self.expand_all(resolved);
        let names = &self.names;
        let text = |token: Token| names.text(token.text).to_owned();
        let mut evaluator = Evaluator { tokens: &tokens, at: 0, skips: 0, depth: 0, loc, text: &text };
        match evaluator.whole() {
            Ok(value) => value.holds(),
            Err((message, loc)) => {
                if !self.is_over() {
                    self.error(Code::CDirective, message, loc);
                }
                false
            }
        }
    }

    /// Replaces `defined X`, `defined(X)` and `__has_include(..)` by 1 or 0.
    fn resolve_defined(&mut self, rest: &[Token]) -> Vec<Token> {
        let mut resolved = Vec::new();
        let mut at = 0;
        while let Some(token) = rest.get(at).copied() {
            at += 1;
            let is_defined = token.text == self.words.defined;
            if token.kind != Kind::Name || !(is_defined || token.text == self.words.has_include) {
                resolved.push(token);
                continue;
            }
            let has_parens = rest.get(at).is_some_and(|next| next.kind == Kind::LParen);
            at += usize::from(has_parens);
            let end = if has_parens {
                rest[at..].iter().position(|token| token.kind == Kind::RParen).map_or(rest.len(), |end| at + end)
            } else {
                (at + 1).min(rest.len())
            };
            let operand = &rest[at.min(end)..end];
            let holds = match operand.first() {
                Some(name) if is_defined => name.kind == Kind::Name && self.is_defined(name.text),
                Some(_) => self.has_include(operand),
                None => false,
            };
            at = end + usize::from(has_parens);
            let text = self.names.intern(if holds { "1" } else { "0" });
            resolved.push(Token { kind: Kind::Number, text, ..token });
        }
        resolved
    }
}

impl Evaluator<'_> {
    fn whole(&mut self) -> Result<Value, Wrong> {
        let value = self.ternary()?;
        match self.peek() {
            None => Ok(value),
            Some(token) => Err((format!("unexpected `{}` in this condition", (self.text)(token)), token.loc)),
        }
    }

    fn peek(&self) -> Option<Token> {
        self.tokens.get(self.at).copied()
    }

    fn eat(&mut self, kind: Kind) -> bool {
        let found = self.peek().is_some_and(|token| token.kind == kind);
        self.at += usize::from(found);
        found
    }

    /// Evaluates a part whose value counts only if `counts`.
    fn part<T>(&mut self, counts: bool, part: impl FnOnce(&mut Self) -> Result<T, Wrong>) -> Result<T, Wrong> {
        self.skips += usize::from(!counts);
        self.depth += 1;
        let loc = self.peek().map_or(self.loc, |token| token.loc);
        let value =
            if self.depth > MAX_DEPTH { Err(("this is nested too deeply".to_owned(), loc)) } else { part(self) };
        self.depth -= 1;
        self.skips -= usize::from(!counts);
        value
    }

    fn ternary(&mut self) -> Result<Value, Wrong> {
        let test = self.binary(0)?;
        if !self.eat(Kind::Question) {
            return Ok(test);
        }
        let then = self.part(test.holds(), Self::ternary)?;
        self.expect(Kind::Colon)?;
        let other = self.part(!test.holds(), Self::ternary)?;
        let unsigned = then.unsigned || other.unsigned;
        Ok(Value { unsigned, ..if test.holds() { then } else { other } })
    }

    fn expect(&mut self, kind: Kind) -> Result<(), Wrong> {
        let loc = self.peek().map_or(self.loc, |token| token.loc);
        if self.eat(kind) { Ok(()) } else { Err((format!("expected {} in this condition", kind.describe()), loc)) }
    }

    /// Evaluates operators that bind at least as tightly as `level`.
    fn binary(&mut self, level: u8) -> Result<Value, Wrong> {
        let mut left = self.part(true, Self::unary)?;
        while let Some(operator) = self.peek() {
            let Some(binds) = binding(operator.kind).filter(|binds| *binds >= level) else { break };
            self.at += 1;
            let counts = match operator.kind {
                Kind::AndAnd => left.holds(),
                Kind::OrOr => !left.holds(),
                _ => true,
            };
            let right = self.part(counts, |this| this.binary(binds + 1))?;
            left = self.apply(operator, left, right)?;
        }
        Ok(left)
    }

    fn apply(&self, operator: Token, left: Value, right: Value) -> Result<Value, Wrong> {
        let unsigned = left.unsigned || right.unsigned;
        let (a, b) = (left.bits, right.bits);
        let order = if unsigned { a.cast_unsigned().cmp(&b.cast_unsigned()) } else { a.cmp(&b) };
        let number = |bits: i64| Ok(Value { bits, unsigned });
        match operator.kind {
            Kind::AndAnd => Ok(Value::truth(left.holds() && right.holds())),
            Kind::OrOr => Ok(Value::truth(left.holds() || right.holds())),
            Kind::EqEq => Ok(Value::truth(a == b)),
            Kind::Ne => Ok(Value::truth(a != b)),
            Kind::Lt => Ok(Value::truth(order.is_lt())),
            Kind::Le => Ok(Value::truth(order.is_le())),
            Kind::Gt => Ok(Value::truth(order.is_gt())),
            Kind::Ge => Ok(Value::truth(order.is_ge())),
            Kind::Bar => number(a | b),
            Kind::Caret => number(a ^ b),
            Kind::Amp => number(a & b),
            Kind::Plus => number(a.wrapping_add(b)),
            Kind::Minus => number(a.wrapping_sub(b)),
            Kind::Star => number(a.wrapping_mul(b)),
            Kind::Shl => Ok(Value { bits: shift_left(a, b), ..left }),
            Kind::Shr => Ok(Value { bits: shift_right(left, b), ..left }),
            _ => self.divide(operator, Value { unsigned, ..left }, b),
        }
    }

    fn divide(&self, operator: Token, left: Value, divisor: i64) -> Result<Value, Wrong> {
        let is_quotient = operator.kind == Kind::Slash;
        if divisor == 0 {
            let nothing = Value { bits: 0, ..left };
            let wrong = ("division by zero in this condition".to_owned(), operator.loc);
            return if self.skips > 0 { Ok(nothing) } else { Err(wrong) };
        }
        let (a, b) = (left.bits.cast_unsigned(), divisor.cast_unsigned());
        let bits = match (left.unsigned, is_quotient) {
            (true, true) => (a / b).cast_signed(),
            (true, false) => (a % b).cast_signed(),
            (false, true) => left.bits.wrapping_div(divisor),
            (false, false) => left.bits.wrapping_rem(divisor),
        };
        Ok(Value { bits, ..left })
    }

    fn unary(&mut self) -> Result<Value, Wrong> {
        let Some(token) = self.peek() else { return Err(("expected a condition".to_owned(), self.loc)) };
        self.at += 1;
        match token.kind {
            Kind::Plus => self.part(true, Self::unary),
            Kind::Minus => self.part(true, Self::unary).map(|value| Value { bits: value.bits.wrapping_neg(), ..value }),
            Kind::Tilde => self.part(true, Self::unary).map(|value| Value { bits: !value.bits, ..value }),
            Kind::Bang => self.part(true, Self::unary).map(|value| Value::truth(!value.holds())),
            Kind::LParen => {
                let value = self.part(true, Self::ternary)?;
                self.expect(Kind::RParen)?;
                Ok(value)
            }
            Kind::Name => Ok(Value::truth(false)),
            Kind::Number => self.number(token),
            Kind::Character => match literals::character(&(self.text)(token)) {
                Ok(found) => Ok(Value { bits: i64::from(found.value), unsigned: false }),
                Err(message) => Err((message, token.loc)),
            },
            _ => Err((format!("unexpected `{}` in this condition", (self.text)(token)), token.loc)),
        }
    }

    fn number(&self, token: Token) -> Result<Value, Wrong> {
        match literals::number(&(self.text)(token)) {
            Ok(literals::Number::Integer(found)) => {
                let Ok(bits) = u64::try_from(found.value) else {
                    return Err(("this number does not fit into 64 bits".to_owned(), token.loc));
                };
                let bits = bits.cast_signed();
                Ok(Value { bits, unsigned: found.unsigned || bits < 0 })
            }
            Ok(literals::Number::Float(_)) => Err(("a condition has integers only".to_owned(), token.loc)),
            Err(message) => Err((message, token.loc)),
        }
    }
}

fn shift_left(value: i64, by: i64) -> i64 {
    u32::try_from(by).ok().and_then(|by| value.checked_shl(by)).unwrap_or(0)
}

fn shift_right(value: Value, by: i64) -> i64 {
    let by = u32::try_from(by).unwrap_or(64);
    let sign = if value.unsigned || value.bits >= 0 { 0 } else { -1 };
    match value.unsigned {
        true => value.bits.cast_unsigned().checked_shr(by).unwrap_or(0).cast_signed(),
        false => value.bits.checked_shr(by).unwrap_or(sign),
    }
}

/// Returns how tightly a binary operator binds.
fn binding(kind: Kind) -> Option<u8> {
    Some(match kind {
        Kind::OrOr => 1,
        Kind::AndAnd => 2,
        Kind::Bar => 3,
        Kind::Caret => 4,
        Kind::Amp => 5,
        Kind::EqEq | Kind::Ne => 6,
        Kind::Lt | Kind::Gt | Kind::Le | Kind::Ge => 7,
        Kind::Shl | Kind::Shr => 8,
        Kind::Plus | Kind::Minus => 9,
        Kind::Star | Kind::Slash | Kind::Percent => 10,
        _ => return None,
    })
}
