//! Lowering of expressions: names, types and linearity.

use selvedge_ir::span::Span;
use selvedge_ir::{BinaryOp, Expr, Ty, UnaryOp, VarId};

use super::Lowering;
use super::declare::is_at;
use crate::diagnostic::{Code, Diagnostic};
use crate::gcl::ast::{self, ChainOp, ExprKind, Name, Sign};
use crate::suggest::nearest;

/// The context that the expressions of one step share.
pub(super) struct ExprCx<'c> {
    /// The process that contains them.
    pub(super) process: Option<&'c str>,
    /// The number of choices of the step so far; `None` if choices are not allowed.
    pub(super) n_choices: Option<u32>,
}

/// An expression and its type; `None` if it has been reported.
type Typed = Option<(Expr, Ty)>;

impl Lowering {
    /// Lowers an expression of this type.
    pub(super) fn expr_of(&mut self, cx: &mut ExprCx<'_>, expr: &ast::Expr, ty: Ty) -> Expr {
        let instead = Expr::value(ty.default_value());
        let Some((lowered, found)) = self.expr(cx, expr, Some(ty)) else { return instead };
        if found == ty {
            return lowered;
        }
        let (wanted, found) = (name_of(ty), name_of(found));
        let message = format!("expected {wanted}, found {found}");
        self.report(Diagnostic::new(Code::WrongType, message, expr.span).label(format!("this is {found}")));
        instead
    }

    /// Lowers an expression. The expected type determines the type of a choice.
    fn expr(&mut self, cx: &mut ExprCx<'_>, expr: &ast::Expr, expected: Option<Ty>) -> Typed {
        match &expr.kind {
            ExprKind::Bool(value) => Some((Expr::Bool(*value), Ty::Bool)),
            ExprKind::Int(value) => Some((Expr::Int(*value), Ty::Int)),
            ExprKind::Var(name) => {
                let var = self.resolve(name, cx.process, expr.span)?;
                Some((Expr::Var(var), self.program.vars[var].ty))
            }
            ExprKind::At(process, location) => self.at(process, location),
            ExprKind::Nondet => self.choice(cx, expr.span, expected.unwrap_or(Ty::Int)),
            ExprKind::Not(operand) => Some((Expr::negate(self.expr_of(cx, operand, Ty::Bool)), Ty::Bool)),
            ExprKind::Neg(operand) => {
                let operand = self.expr_of(cx, operand, Ty::Int);
                let negative = constant(&operand).and_then(i64::checked_neg).map(Expr::Int);
                Some((negative.unwrap_or_else(|| Expr::Unary(UnaryOp::Neg, Box::new(operand))), Ty::Int))
            }
            ExprKind::Chain(op, operands) => {
                let op = match op {
                    ChainOp::And => BinaryOp::And,
                    ChainOp::Or => BinaryOp::Or,
                };
                let operands = operands.iter().map(|operand| self.expr_of(cx, operand, Ty::Bool)).collect();
                Some((Expr::balanced(op, operands)?, Ty::Bool))
            }
            ExprKind::Sum(first, rest) => Some((self.sum(cx, first, rest), Ty::Int)),
            ExprKind::Binary(op, pair) => self.binary(cx, *op, &pair.0, &pair.1, expr.span),
            ExprKind::Conditional(triple) => {
                let condition = self.expr_of(cx, &triple.0, Ty::Bool);
                let (then, otherwise, ty) = self.pair(cx, &triple.1, &triple.2, expected)?;
                Some((Expr::Ite(Box::new((condition, then, otherwise))), ty))
            }
            ExprKind::Error => None,
        }
    }

    fn at(&mut self, process: &Name, location: &Name) -> Typed {
        let Some(pc) = self.counters.get(&process.text).map(|counter| counter.pc) else {
            let message = format!("there is no process `{}`", process.text);
            let near = nearest(&process.text, self.counters.keys().map(String::as_str));
            let diagnostic = Diagnostic::new(Code::UnknownProcedure, message, process.span).did_you_mean(near);
            if self.is_whole {
                self.report(diagnostic);
            }
            return None;
        };
        let number = self.find_location(&process.text, location)?;
        Some((is_at(pc, number), Ty::Bool))
    }

    fn choice(&mut self, cx: &mut ExprCx<'_>, span: Span, ty: Ty) -> Typed {
        let Some(n_choices) = &mut cx.n_choices else {
            let message = "`nondet` outside an assignment";
            let help = "assign it to a variable: `x := nondet`; variables without initial value are arbitrary";
            self.report(Diagnostic::new(Code::MisplacedNondet, message, span).help(help));
            return None;
        };
        if *n_choices >= MOST_CHOICES {
            let message = format!("a command can make at most {MOST_CHOICES} choices");
            self.report(Diagnostic::new(Code::BeyondLimit, message, span));
            return None;
        }
        *n_choices += 1;
        Some((Expr::Choice(*n_choices - 1, ty), ty))
    }

    fn sum(&mut self, cx: &mut ExprCx<'_>, first: &ast::Expr, rest: &[(Sign, ast::Expr)]) -> Expr {
        let first = self.expr_of(cx, first, Ty::Int);
        let mut terms = vec![first];
        for (sign, operand) in rest {
            let operand = self.expr_of(cx, operand, Ty::Int);
            terms.push(match sign {
                Sign::Plus => operand,
                Sign::Minus => match constant(&operand).and_then(i64::checked_neg) {
                    Some(number) => Expr::Int(number),
                    None => Expr::Unary(UnaryOp::Neg, Box::new(operand)),
                },
            });
        }
        let sum = match terms.len() {
            2 => two(terms),
            _ => Expr::balanced(BinaryOp::Add, terms).expect("a sum has terms"),
        };
        constant(&sum).map_or(sum, Expr::Int)
    }

    fn binary(
        &mut self,
        cx: &mut ExprCx<'_>,
        op: ast::BinaryOp,
        left: &ast::Expr,
        right: &ast::Expr,
        span: Span,
    ) -> Typed {
        use ast::BinaryOp as Op;
        if matches!(op, Op::Eq | Op::Ne) && (is_modulo(left) || is_modulo(right)) {
            return self.remainder(cx, op, left, right);
        }
        let (op, swapped) = match op {
            Op::Implies => {
                let left = self.expr_of(cx, left, Ty::Bool);
                return Some((Expr::binary(BinaryOp::Implies, left, self.expr_of(cx, right, Ty::Bool)), Ty::Bool));
            }
            Op::Divides => return self.divides(cx, left, right),
            Op::Times => return self.product(cx, left, right, span),
            Op::Over | Op::Modulo => return self.division(op, span),
            Op::Eq | Op::Ne => {
                let (left, right, _) = self.pair(cx, left, right, None)?;
                let op = if op == Op::Eq { BinaryOp::Eq } else { BinaryOp::Ne };
                return Some((Expr::binary(op, left, right), Ty::Bool));
            }
            Op::Lt => (BinaryOp::Lt, false),
            Op::Le => (BinaryOp::Le, false),
            Op::Gt => (BinaryOp::Lt, true),
            Op::Ge => (BinaryOp::Le, true),
        };
        let left = self.expr_of(cx, left, Ty::Int);
        let right = self.expr_of(cx, right, Ty::Int);
        let (left, right) = if swapped { (right, left) } else { (left, right) };
        Some((Expr::binary(op, left, right), Ty::Bool))
    }

    /// Lowers two expressions of one type.
    fn pair(
        &mut self,
        cx: &mut ExprCx<'_>,
        left: &ast::Expr,
        right: &ast::Expr,
        expected: Option<Ty>,
    ) -> Option<(Expr, Expr, Ty)> {
        // A choice without expected type has the type of the other operand, which is therefore lowered first.
        if expected.is_none() && left.kind == ExprKind::Nondet && right.kind != ExprKind::Nondet {
            let (right, ty) = self.expr(cx, right, expected)?;
            return Some((self.expr_of(cx, left, ty), right, ty));
        }
        let (left, ty) = self.expr(cx, left, expected)?;
        Some((left, self.expr_of(cx, right, ty), ty))
    }

    fn product(&mut self, cx: &mut ExprCx<'_>, left: &ast::Expr, right: &ast::Expr, span: Span) -> Typed {
        let (left, right) = (self.expr_of(cx, left, Ty::Int), self.expr_of(cx, right, Ty::Int));
        let product = match (constant(&left), constant(&right)) {
            (Some(left), Some(right)) => match left.checked_mul(right) {
                Some(product) => Expr::Int(product),
                None => {
                    let message = "this product is too large";
                    self.report(Diagnostic::new(Code::NumberOutOfRange, message, span));
                    return None;
                }
            },
            (Some(factor), None) => Expr::binary(BinaryOp::Mul, Expr::Int(factor), right),
            (None, Some(factor)) => Expr::binary(BinaryOp::Mul, Expr::Int(factor), left),
            (None, None) => {
                let message = "a product of two variables is not linear";
                let help = "one factor must be a constant";
                self.report(Diagnostic::new(Code::NonLinear, message, span).help(help));
                return None;
            }
        };
        Some((product, Ty::Int))
    }

    fn division(&mut self, op: ast::BinaryOp, span: Span) -> Typed {
        let (message, help) = match op {
            ast::BinaryOp::Modulo => (
                "a remainder can only be compared with a constant",
                "write `e % n == c` with constants `n` and `c`, or `n divides e`",
            ),
            _ => (
                "division is not part of the language",
                "assign `nondet` to a variable `q` and require `e == 2 * q | e == 2 * q + 1` in a guard",
            ),
        };
        self.report(Diagnostic::new(Code::NonLinear, message, span).help(help));
        None
    }

    fn divides(&mut self, cx: &mut ExprCx<'_>, divisor: &ast::Expr, right: &ast::Expr) -> Typed {
        let operand = self.expr_of(cx, right, Ty::Int);
        let divisor = self.divisor(cx, divisor)?;
        Some((Expr::Unary(UnaryOp::DivisibleBy(divisor), Box::new(operand)), Ty::Bool))
    }

    /// Lowers a positive constant.
    fn divisor(&mut self, cx: &mut ExprCx<'_>, expr: &ast::Expr) -> Option<u32> {
        let divisor = self.expr_of(cx, expr, Ty::Int);
        match constant(&divisor) {
            Some(number) => match u32::try_from(number).ok().filter(|number| *number > 0) {
                Some(number) => Some(number),
                None => {
                    let message = format!("a divisor must be a number from 1 to {}", u32::MAX);
                    self.report(Diagnostic::new(Code::NumberOutOfRange, message, expr.span));
                    None
                }
            },
            None => {
                let message = "the divisor must be a constant";
                self.report(Diagnostic::new(Code::NonLinear, message, expr.span));
                None
            }
        }
    }

    /// Lowers `e % n == c` and `e % n != c`, with the sides in either order. Remainders are never negative.
    fn remainder(&mut self, cx: &mut ExprCx<'_>, op: ast::BinaryOp, left: &ast::Expr, right: &ast::Expr) -> Typed {
        let (modulo, other) = if is_modulo(left) { (left, right) } else { (right, left) };
        let ExprKind::Binary(_, pair) = &modulo.kind else { return None };
        if is_modulo(other) {
            return self.division(ast::BinaryOp::Modulo, other.span);
        }
        let dividend = self.expr_of(cx, &pair.0, Ty::Int);
        let divisor = self.divisor(cx, &pair.1)?;
        let wanted = self.expr_of(cx, other, Ty::Int);
        let Some(remainder) = constant(&wanted) else {
            return self.division(ast::BinaryOp::Modulo, other.span);
        };
        let holds = if !(0..i64::from(divisor)).contains(&remainder) {
            Expr::FALSE
        } else {
            let rest = if remainder == 0 { dividend } else { two(vec![dividend, Expr::Int(-remainder)]) };
            Expr::Unary(UnaryOp::DivisibleBy(divisor), Box::new(rest))
        };
        Some((if op == ast::BinaryOp::Eq { holds } else { Expr::negate(holds) }, Ty::Bool))
    }

    /// Returns the variable of a name, without reporting unknown names.
    pub(super) fn lookup(&self, name: &str, process: Option<&str>) -> Option<VarId> {
        let own = process.and_then(|process| self.vars.get(&format!("{process}.{name}")));
        own.or_else(|| self.vars.get(name)).copied()
    }

    /// Returns the variable of a name, and reports unknown names.
    pub(super) fn resolve(&mut self, name: &str, process: Option<&str>, span: Span) -> Option<VarId> {
        if let Some(var) = self.lookup(name, process) {
            self.infos[var].is_used = true;
            return Some(var);
        }
        if !self.is_whole {
            return None;
        }
        let diagnostic = if self.counters.contains_key(name) {
            let message = format!("`{name}` is a process, not a variable");
            let help = format!("test its location with `{name} at l`, and change it with `goto l`");
            Diagnostic::new(Code::UnknownVariable, message, span).help(help)
        } else {
            let message = format!("there is no variable `{name}`");
            let near = nearest(name, self.vars.keys().map(String::as_str));
            Diagnostic::new(Code::UnknownVariable, message, span).did_you_mean(near)
        };
        self.report(diagnostic);
        None
    }
}

/// Limit on the number of choices in one step.
const MOST_CHOICES: u32 = 1 << 19;

fn is_modulo(expr: &ast::Expr) -> bool {
    matches!(&expr.kind, ExprKind::Binary(ast::BinaryOp::Modulo, _))
}

fn name_of(ty: Ty) -> &'static str {
    match ty {
        Ty::Bool => "a truth value",
        Ty::Int => "an integer",
        Ty::Machine(_) => "a machine integer",
    }
}

/// Returns the sum of two terms, as a difference if the second is negative.
fn two(mut terms: Vec<Expr>) -> Expr {
    let (Some(right), Some(left)) = (terms.pop(), terms.pop()) else { return Expr::Int(0) };
    match right {
        Expr::Int(number) if number < 0 && number != i64::MIN => Expr::binary(BinaryOp::Sub, left, Expr::Int(-number)),
        Expr::Unary(UnaryOp::Neg, operand) => Expr::binary(BinaryOp::Sub, left, *operand),
        right => Expr::binary(BinaryOp::Add, left, right),
    }
}

/// Returns the value of an expression without variables and choices, if it fits into 64 bits.
pub(super) fn constant(expr: &Expr) -> Option<i64> {
    match expr {
        Expr::Int(number) => Some(*number),
        Expr::Unary(UnaryOp::Neg, operand) => constant(operand)?.checked_neg(),
        Expr::Binary(BinaryOp::Add, pair) => constant(&pair.0)?.checked_add(constant(&pair.1)?),
        Expr::Binary(BinaryOp::Sub, pair) => constant(&pair.0)?.checked_sub(constant(&pair.1)?),
        Expr::Binary(BinaryOp::Mul, pair) => constant(&pair.0)?.checked_mul(constant(&pair.1)?),
        _ => None,
    }
}
