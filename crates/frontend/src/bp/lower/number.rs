//! Lowering of numbers and of elements of arrays.
//!
//! A number `n : lo..hi` becomes a machine integer with as many bits as its values need. A sum is computed with so many
//! bits that nothing is cut off, for which the values of its parts are known from their ranges. An array becomes a
//! variable for each element; a read of `a[e]` compares `e` with the numbers of all elements.
//!
//! What must hold besides, so that a value fits into its variable and an index into its array, is collected in
//! [`ExprCx::checks`]; [`Body::must_hold`](super::body::Body) makes errors of it. A check is only made where the types
//! do not show that it holds. In `e & f`, `e | f`, `e => f` and `c ? e : f`, the parts are taken from left to right,
//! and those that do not matter need no check, so that `i < 4 & a[i]` is right.

use selvedge_ir::simplify::{and, not};
use selvedge_ir::span::Span;
use selvedge_ir::{BinaryOp, Expr, MachineOp, MachineTy, Ty, UnaryOp, VarId};

use super::expr::{Context, ExprCx};
use super::{Lowering, Meaning};
use crate::bp::ast::{self, Element, ExprKind, OrderOp, Sign, Symbol};
use crate::diagnostic::{Code, Diagnostic};

/// What a variable of the source is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::bp) struct Shape {
    /// The least and the greatest value of a number; `None` for truth values.
    pub(in crate::bp) range: Option<(u32, u32)>,
    /// For the first element of an array, the number of elements.
    pub(in crate::bp) length: Option<u32>,
    /// Whether it is a further element of an array.
    pub(in crate::bp) is_element: bool,
}

impl Shape {
    /// Returns the shape of a number of which only the value is of interest.
    pub(super) fn any_number() -> Shape {
        Shape { range: Some((0, u32::MAX)), ..Shape::default() }
    }

    /// Returns the type of the variable.
    pub(in crate::bp) fn ty(self) -> Ty {
        self.range.map_or(Ty::Bool, |(lo, hi)| Ty::Machine(fit(i128::from(lo), i128::from(hi))))
    }

    /// Returns whether each value of the type is one of the variable.
    pub(in crate::bp) fn is_full(self) -> bool {
        match (self.ty(), self.range) {
            (Ty::Machine(ty), Some((lo, hi))) => ty.bounds() == (i128::from(lo), i128::from(hi)),
            _ => true,
        }
    }
}

/// What an assignment assigns.
pub(super) struct Place {
    pub(super) meaning: Meaning,
    /// The index, if it is an element of an array, of which `meaning` is the first element.
    pub(super) index: Option<Number>,
    /// The shape of the variable or element.
    pub(super) shape: Shape,
    pub(super) name: String,
}

/// A condition without which a step is an error.
#[derive(Clone, Debug)]
pub(super) struct Check {
    pub(super) holds: Expr,
    /// What happens where it does not hold.
    pub(super) message: String,
    /// Whether it is about the index of an element that is read or assigned.
    pub(super) is_index: bool,
}

/// A number: its value, and what is known about it.
#[derive(Clone)]
pub(super) struct Number {
    expr: Expr,
    ty: MachineTy,
    lo: i128,
    hi: i128,
}

/// A new value of a variable, before it is cut off at the width of the variable.
#[derive(Clone)]
pub(super) enum NewValue {
    Truth(Expr),
    Number(Number),
}

/// Returns the smallest type with these numbers.
fn fit(lo: i128, hi: i128) -> MachineTy {
    let bits_of = |number: i128| (128 - number.leading_zeros()) as u8;
    match lo < 0 {
        false => MachineTy::unsigned(bits_of(hi).clamp(1, 64)),
        true => MachineTy::signed((bits_of(hi.max(-1 - lo)) + 1).min(64)),
    }
}

impl Number {
    fn constant(number: i128) -> Number {
        let ty = fit(number, number);
        Number { expr: ty.constant(number), ty, lo: number, hi: number }
    }

    /// Returns the value in another type.
    fn cast(&self, to: MachineTy) -> Expr {
        match &self.expr {
            _ if self.ty == to => self.expr.clone(),
            Expr::Machine(ty, bits) => to.constant(ty.read(*bits)),
            expr => Expr::Unary(UnaryOp::Cast(self.ty, to), Box::new(expr.clone())),
        }
    }

    /// Returns both values in a type that has both.
    fn in_one_type(&self, other: &Number) -> (MachineTy, Expr, Expr) {
        let ty = fit(self.lo.min(other.lo), self.hi.max(other.hi));
        (ty, self.cast(ty), other.cast(ty))
    }

    fn compare(&self, op: OrderOp, other: &Number) -> Expr {
        let (ty, left, right) = self.in_one_type(other);
        match op {
            OrderOp::Lt => ty.apply(MachineOp::Lt, left, right),
            OrderOp::Le => ty.apply(MachineOp::Le, left, right),
            OrderOp::Gt => ty.apply(MachineOp::Lt, right, left),
            OrderOp::Ge => ty.apply(MachineOp::Le, right, left),
        }
    }

    fn equals(&self, other: &Number) -> Expr {
        let (_, left, right) = self.in_one_type(other);
        Expr::binary(BinaryOp::Eq, left, right)
    }

    fn add(&self, sign: Sign, other: &Number) -> Number {
        let (op, lo, hi) = match sign {
            Sign::Plus => (MachineOp::Add, self.lo + other.lo, self.hi + other.hi),
            Sign::Minus => (MachineOp::Sub, self.lo - other.hi, self.hi - other.lo),
        };
        let ty = fit(lo.min(self.lo).min(other.lo), hi.max(self.hi).max(other.hi));
        Number { expr: ty.apply(op, self.cast(ty), other.cast(ty)), ty, lo, hi }
    }

    /// Returns the remainder of the division by a number from 1 on: from 0 to that number, exclusively.
    fn remainder(&self, divisor: u32) -> Number {
        let divisor = i128::from(divisor);
        if self.lo >= 0 && self.hi < divisor {
            return self.clone();
        }
        let ty = fit(self.lo.min(0), self.hi.max(2 * divisor));
        let by = ty.constant(divisor);
        let mut expr = ty.apply(MachineOp::Rem, self.cast(ty), by.clone());
        if self.lo < 0 {
            let positive = ty.apply(MachineOp::Add, expr, by.clone());
            expr = ty.apply(MachineOp::Rem, positive, by);
        }
        Number { expr, ty, lo: 0, hi: divisor - 1 }
    }

    /// Returns the condition that the number is in a range, unless it always is.
    fn is_within(&self, lo: i128, hi: i128) -> Option<Expr> {
        let above = (self.lo < lo).then(|| self.compare(OrderOp::Ge, &Number::constant(lo)));
        let below = (self.hi > hi).then(|| self.compare(OrderOp::Le, &Number::constant(hi)));
        match (above, below) {
            (Some(above), Some(below)) => Some(and(above, below)),
            (above, below) => above.or(below),
        }
    }
}

impl Lowering<'_> {
    pub(super) fn shape(&self, var: VarId) -> Shape {
        self.found.shapes[var]
    }

    /// Returns whether an expression is a number rather than a truth value; `0` and `1` alone can be both.
    pub(super) fn is_number(&mut self, cx: &ExprCx<'_>, expr: &ast::Expr) -> bool {
        match &expr.kind {
            ExprKind::Number(_) | ExprKind::Sum(..) | ExprKind::Remainder(..) => true,
            ExprKind::Var(symbol) | ExprKind::Primed(symbol) => self.names_number(cx, *symbol),
            ExprKind::Element(element) => self.names_number(cx, element.array.symbol),
            ExprKind::Conditional(parts) => self.is_number(cx, &parts.1) || self.is_number(cx, &parts.2),
            _ => false,
        }
    }

    fn names_number(&mut self, cx: &ExprCx<'_>, symbol: Symbol) -> bool {
        let var = self.lookup(cx.view, symbol).or_else(|| {
            let stem = self.text(symbol).strip_suffix('$').and_then(|stem| self.symbol(stem))?;
            self.lookup(cx.view, stem)
        });
        var.is_some_and(|var| self.shape(var).range.is_some())
    }

    /// Lowers an expression to the value of a variable of this shape, and returns the value before it is cut off, too.
    pub(super) fn value(
        &mut self,
        cx: &mut ExprCx<'_>,
        context: Context,
        (shape, name): (Shape, &str),
        expr: &ast::Expr,
    ) -> (Expr, NewValue) {
        let Some((lo, hi)) = shape.range else {
            let value = self.expr(cx, context, expr);
            return (value.clone(), NewValue::Truth(value));
        };
        let Some(number) = self.number_or_any(cx, context, shape, expr) else {
            let ty = fit(lo.into(), hi.into());
            return (ty.constant(lo.into()), NewValue::Number(Number::constant(lo.into())));
        };
        if let Some(holds) = number.is_within(lo.into(), hi.into()) {
            let message = format!("the value leaves the range {lo}..{hi} of `{name}`");
            if number.hi < i128::from(lo) || number.lo > i128::from(hi) {
                let diagnostic = Diagnostic::new(Code::NumberOutOfRange, message.clone(), expr.span);
                self.report(diagnostic.label("always"));
            }
            cx.checks.push(Check { holds, message, is_index: false });
        }
        (number.cast(fit(lo.into(), hi.into())), NewValue::Number(number))
    }

    /// Lowers a number, or `*` for any value of the shape.
    fn number_or_any(
        &mut self,
        cx: &mut ExprCx<'_>,
        context: Context,
        shape: Shape,
        expr: &ast::Expr,
    ) -> Option<Number> {
        let (lo, hi) = shape.range?;
        match &expr.kind {
            ExprKind::Choice => {
                let (lo, hi) = (i128::from(lo), i128::from(hi));
                Some(Number { expr: cx.any(shape), ty: fit(lo, hi), lo, hi })
            }
            ExprKind::Conditional(parts) => {
                let condition = self.expr(cx, context, &parts.0);
                let (then, _) = cx.guarded(&condition, |cx| self.number_or_any(cx, context, shape, &parts.1));
                let (otherwise, _) =
                    cx.guarded(&not(condition.clone()), |cx| self.number_or_any(cx, context, shape, &parts.2));
                Some(conditional(condition, &then?, &otherwise?))
            }
            _ => self.number(cx, context, expr),
        }
    }

    /// Lowers a number; `None` if it is none, which is reported.
    pub(super) fn number(&mut self, cx: &mut ExprCx<'_>, context: Context, expr: &ast::Expr) -> Option<Number> {
        match &expr.kind {
            ExprKind::Number(number) => Some(Number::constant(i128::from(*number))),
            ExprKind::Const(ast::Const::Zero) => Some(Number::constant(0)),
            ExprKind::Const(ast::Const::One) => Some(Number::constant(1)),
            ExprKind::Var(symbol) => self.number_variable(cx, context, *symbol, expr.span),
            ExprKind::Primed(symbol) => self.number_primed(cx, context, *symbol, expr.span),
            ExprKind::Element(element) => {
                let (var, index) = self.element(cx, context, element)?;
                let shape = self.shape(var);
                let Some(range) = shape.range else {
                    self.not_a_number(expr.span);
                    return None;
                };
                let read = self.element_value(cx, (var, shape), &index, element);
                Some(of_range(read, range))
            }
            ExprKind::Sum(first, others) => {
                let first = self.number(cx, context, first);
                others.iter().fold(first, |sum, (sign, operand)| {
                    let operand = self.number(cx, context, operand);
                    Some(sum?.add(*sign, &operand?))
                })
            }
            ExprKind::Remainder(operand, divisor) => Some(self.number(cx, context, operand)?.remainder(*divisor)),
            ExprKind::Conditional(parts) => {
                let condition = self.expr(cx, context, &parts.0);
                let (then, _) = cx.guarded(&condition, |cx| self.number(cx, context, &parts.1));
                let (otherwise, _) = cx.guarded(&not(condition.clone()), |cx| self.number(cx, context, &parts.2));
                Some(conditional(condition, &then?, &otherwise?))
            }
            ExprKind::Error => None,
            _ => {
                self.not_a_number(expr.span);
                None
            }
        }
    }

    fn not_a_number(&mut self, span: Span) {
        let message = "a number is expected here, but this is a truth value";
        self.report(Diagnostic::new(Code::TruthOrNumber, message, span));
    }

    /// Reports a number where a truth value is expected.
    pub(super) fn not_a_truth_value(&mut self, expr: &ast::Expr) {
        let diagnostic = match &expr.kind {
            ExprKind::Number(number) => {
                let message = format!("`{number}` is not a truth value");
                let help =
                    "the constants are `0`, `1`, `F` and `T`; numbers are declared with a range: `decl n : 0..3`";
                Diagnostic::new(Code::NotTruthValue, message, expr.span).help(help)
            }
            _ => {
                let message = "a truth value is expected here, but this is a number";
                let help = "compare it; beside `&`, `|` and `^`, put the comparison in parentheses: `(n = 3) & x`";
                Diagnostic::new(Code::TruthOrNumber, message, expr.span).help(help)
            }
        };
        self.report(diagnostic);
    }

    fn number_variable(&mut self, cx: &mut ExprCx<'_>, context: Context, symbol: Symbol, span: Span) -> Option<Number> {
        let meaning = self.resolve(cx.view, symbol, span)?;
        let (Meaning::Active(var) | Meaning::Passive(var)) = meaning;
        let range = self.scalar(var, symbol, span)?.range;
        let Some(range) = range else {
            self.not_a_number(span);
            return None;
        };
        let read = self.read(cx, context, meaning, (symbol, span));
        Some(of_range(read, range))
    }

    fn number_primed(&mut self, cx: &mut ExprCx<'_>, context: Context, symbol: Symbol, span: Span) -> Option<Number> {
        let (Meaning::Active(var) | Meaning::Passive(var)) = self.resolve(cx.view, symbol, span)?;
        let Some(range) = self.scalar(var, symbol, span)?.range else {
            self.not_a_number(span);
            return None;
        };
        if let Some(NewValue::Number(number)) = cx.new_values.get(&var) {
            return Some(number.clone());
        }
        let read = self.primed(cx, context, symbol, span);
        Some(of_range(read, range))
    }

    /// Returns the shape of a variable that is used as a whole; an array is reported.
    pub(super) fn scalar(&mut self, var: VarId, symbol: Symbol, span: Span) -> Option<Shape> {
        let shape = self.shape(var);
        let Some(length) = shape.length else { return Some(shape) };
        let text = self.text(symbol);
        let message = format!("`{text}` is an array of {length} elements");
        let help = format!("name one of its elements: `{text}[0]`");
        self.report(Diagnostic::new(Code::TruthOrNumber, message, span).help(help));
        None
    }

    /// Resolves an element: the first variable of the array, and the index, with a check that it is inside.
    pub(super) fn element(
        &mut self,
        cx: &mut ExprCx<'_>,
        context: Context,
        element: &Element,
    ) -> Option<(VarId, Number)> {
        let name = element.array;
        let var = match self.resolve(cx.view, name.symbol, name.span)? {
            Meaning::Active(var) => var,
            Meaning::Passive(_) => {
                let message = "elements of arrays have no passive copies";
                self.report(Diagnostic::new(Code::Unsupported, message, element.span));
                return None;
            }
        };
        let Some(length) = self.shape(var).length else {
            let message = format!("`{}` is not an array", self.text(name.symbol));
            let diagnostic = Diagnostic::new(Code::TruthOrNumber, message, name.span);
            self.report(diagnostic.also(self.found.map.vars[var], "declared here"));
            return None;
        };
        let index = self.number(cx, context, &element.index)?;
        let last = i128::from(length) - 1;
        if let Some(holds) = index.is_within(0, last) {
            let message = format!("the index leaves the array `{}` of {length} elements", self.text(name.symbol));
            if index.hi < 0 || index.lo > last {
                self.report(Diagnostic::new(Code::NumberOutOfRange, message.clone(), element.index.span));
            }
            cx.checks.push(Check { holds, message, is_index: true });
        }
        Some((var, index))
    }

    /// Returns the value of an element: that of the first one whose number is the index.
    pub(super) fn element_value(
        &mut self,
        cx: &mut ExprCx<'_>,
        (first, shape): (VarId, Shape),
        index: &Number,
        element: &Element,
    ) -> Expr {
        let length = shape.length.unwrap_or(1);
        let mut read = None;
        for number in (0..length).rev().filter(|number| (index.lo..=index.hi).contains(&i128::from(*number))) {
            let var = first + number as usize;
            let value = match element.is_primed {
                true => match cx.new_values.get(&var) {
                    Some(NewValue::Truth(value)) => value.clone(),
                    Some(NewValue::Number(number)) => self.within_element(number, shape, element.span),
                    None => Expr::Next(var),
                },
                false if cx.initial.is_some() => self.initial_read(cx, var, element.span),
                false => Expr::Var(var),
            };
            read = Some(match read {
                None => value,
                Some(others) => {
                    let is_this = index.equals(&Number::constant(i128::from(number)));
                    Expr::Ite(Box::new((is_this, value, others)))
                }
            });
        }
        read.unwrap_or_else(|| shape_default(shape))
    }

    /// Returns the new value of an element in the type of the array. One that may not fit is reported: whether the step
    /// is possible would depend on what does not exist.
    fn within_element(&mut self, number: &Number, shape: Shape, span: Span) -> Expr {
        let Some((lo, hi)) = shape.range else { return Expr::FALSE };
        if number.is_within(lo.into(), hi.into()).is_some() {
            let message = "the new value of an element in `constrain`, where the value may leave its range";
            let help = "assign a value that is in the range in any case, or use a variable";
            self.report(Diagnostic::new(Code::Unsupported, message, span).help(help));
        }
        number.cast(fit(lo.into(), hi.into()))
    }

    /// Resolves a left-hand side; `None` for `_` and for names that were reported.
    pub(super) fn place(&mut self, cx: &mut ExprCx<'_>, target: &ast::Target) -> Option<Place> {
        match target {
            ast::Target::Discard(_) => None,
            ast::Target::Var(name) => {
                let meaning = self.resolve(cx.view, name.symbol, name.span)?;
                let (Meaning::Active(var) | Meaning::Passive(var)) = meaning;
                let shape = self.scalar(var, name.symbol, name.span)?;
                Some(Place { meaning, index: None, shape, name: self.text(name.symbol).to_owned() })
            }
            ast::Target::Element(element) => {
                let (first, index) = self.element(cx, Context::Plain, element)?;
                let shape = Shape { length: None, ..self.shape(first) };
                let name = self.text(element.array.symbol).to_owned();
                Some(Place { meaning: Meaning::Active(first), index: Some(index), shape, name })
            }
        }
    }

    /// Returns the new value of an element of an array: the one that is assigned, where it is the one that the index
    /// means.
    pub(super) fn value_of_element(
        &self,
        var: VarId,
        is_this: Option<Expr>,
        value: &Expr,
        new_value: &NewValue,
    ) -> (Expr, NewValue) {
        let Some(is_this) = is_this else { return (value.clone(), new_value.clone()) };
        let chosen = |value: &Expr, old: Expr| Expr::Ite(Box::new((is_this.clone(), value.clone(), old)));
        let wide = match (new_value, self.shape(var).range) {
            (NewValue::Number(number), Some(range)) => {
                NewValue::Number(conditional(is_this.clone(), number, &of_range(Expr::Var(var), range)))
            }
            _ => NewValue::Truth(chosen(value, Expr::Var(var))),
        };
        (chosen(value, Expr::Var(var)), wide)
    }

    /// Reports a number of other threads that may leave its range.
    pub(super) fn unchecked_passive(&mut self, span: Span) {
        let message = "a value that may leave its range, beside passive copies";
        let help = "compute the value in a statement before, where it is checked";
        self.report(Diagnostic::new(Code::Unsupported, message, span).help(help));
    }

    /// Returns the elements that an assignment to `a[e]` assigns, with the conditions under which it does.
    pub(super) fn assigned_elements(&self, first: VarId, index: &Number) -> Vec<(VarId, Option<Expr>)> {
        let length = self.shape(first).length.unwrap_or(1);
        let numbers = (0..length).filter(|number| (index.lo..=index.hi).contains(&i128::from(*number)));
        let numbers: Vec<u32> = numbers.collect();
        let is_one = index.lo == index.hi;
        let condition = |number: u32| (!is_one).then(|| index.equals(&Number::constant(i128::from(number))));
        numbers.into_iter().map(|number| (first + number as usize, condition(number))).collect()
    }

    /// Lowers a comparison of numbers.
    pub(super) fn compared(
        &mut self,
        cx: &mut ExprCx<'_>,
        context: Context,
        op: OrderOp,
        pair: &(ast::Expr, ast::Expr),
    ) -> Expr {
        let (left, right) = (self.number(cx, context, &pair.0), self.number(cx, context, &pair.1));
        left.zip(right).map_or(Expr::FALSE, |(left, right)| left.compare(op, &right))
    }

    /// Lowers an equality of numbers.
    pub(super) fn equal(&mut self, cx: &mut ExprCx<'_>, context: Context, pair: &(ast::Expr, ast::Expr)) -> Expr {
        let (left, right) = (self.number(cx, context, &pair.0), self.number(cx, context, &pair.1));
        left.zip(right).map_or(Expr::FALSE, |(left, right)| left.equals(&right))
    }
}

fn shape_default(shape: Shape) -> Expr {
    match shape.ty() {
        Ty::Machine(ty) => ty.constant(0),
        Ty::Bool | Ty::Int => Expr::FALSE,
    }
}

fn of_range(expr: Expr, (lo, hi): (u32, u32)) -> Number {
    let (lo, hi) = (i128::from(lo), i128::from(hi));
    Number { expr, ty: fit(lo, hi), lo, hi }
}

fn conditional(condition: Expr, then: &Number, otherwise: &Number) -> Number {
    let (ty, left, right) = then.in_one_type(otherwise);
    let expr = Expr::Ite(Box::new((condition, left, right)));
    Number { expr, ty, lo: then.lo.min(otherwise.lo), hi: then.hi.max(otherwise.hi) }
}

impl ExprCx<'_> {
    /// Returns a new choice among the values of a shape.
    pub(super) fn any(&mut self, shape: Shape) -> Expr {
        let number = self.n_choices;
        self.n_choices += 1;
        any(number, shape)
    }

    /// Lowers a part that only matters where a condition holds: its checks are made there only. Also returns whether
    /// there were some.
    pub(super) fn guarded<T>(&mut self, condition: &Expr, part: impl FnOnce(&mut Self) -> T) -> (T, bool) {
        let before = self.checks.len();
        let value = part(self);
        for check in &mut self.checks[before..] {
            check.holds = Expr::binary(BinaryOp::Implies, condition.clone(), check.holds.clone());
        }
        (value, self.checks.len() > before)
    }
}

/// Returns the choice of this number among the values of a shape: where the type has more values, those mean the least
/// one.
pub(super) fn any(number: u32, shape: Shape) -> Expr {
    let choice = Expr::Choice(number, shape.ty());
    let (Ty::Machine(ty), Some((lo, hi)), false) = (shape.ty(), shape.range, shape.is_full()) else { return choice };
    let (least, greatest) = ty.bounds();
    let value = Number { expr: choice.clone(), ty, lo: least, hi: greatest };
    match value.is_within(lo.into(), hi.into()) {
        Some(holds) => Expr::Ite(Box::new((holds, choice, ty.constant(lo.into())))),
        None => choice,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_as_small_as_their_numbers() {
        for (lo, hi, expected) in
            [(0, 0, "u1"), (0, 1, "u1"), (0, 3, "u2"), (0, 4, "u3"), (-1, 0, "i1"), (-1, 1, "i2"), (-3, 4, "i4")]
        {
            assert_eq!(fit(lo, hi).to_string(), expected, "{lo}..{hi}");
            let (least, greatest) = fit(lo, hi).bounds();
            assert!(least <= lo && hi <= greatest, "{lo}..{hi}");
        }
    }
}
