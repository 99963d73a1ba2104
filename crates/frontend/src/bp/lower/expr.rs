//! Lowering of expressions.

use rustc_hash::FxHashMap;
use selvedge_ir::simplify::not;
use selvedge_ir::span::Span;
use selvedge_ir::{BinaryOp, Expr, VarId};

use super::initial::Initial;
use super::number::{Check, NewValue};
use super::{Lowering, Meaning, View};
use crate::bp::ast::{self, ChainOp, CompareOp, ExprKind, Symbol};
use crate::diagnostic::{Code, Diagnostic};

/// The names that an expression may use.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Context {
    /// Old values of the stepping thread only.
    Plain,
    /// Also passive copies: `assume`, and right-hand sides of passive targets.
    Passive,
    /// Also new values: `constrain`.
    Constrain,
    /// Old and new values of the stepping thread only: relational updates.
    Relation,
}

/// The context that the expressions of one edge share.
pub(super) struct ExprCx<'c> {
    pub(super) view: &'c View,
    /// The number of choices of the edge so far; each further one gets the next number.
    pub(super) n_choices: u32,
    /// If the expressions are initial values, the values of earlier variables.
    pub(super) initial: Option<&'c mut Initial>,
    /// What must hold so that the step is not an error.
    pub(super) checks: Vec<Check>,
    /// The new values of variables, if `'x` is to mean these rather than what the step assigns.
    pub(super) new_values: FxHashMap<VarId, NewValue>,
}

impl<'c> ExprCx<'c> {
    pub(super) fn new(view: &'c View) -> ExprCx<'c> {
        ExprCx { view, n_choices: 0, initial: None, checks: Vec::new(), new_values: FxHashMap::default() }
    }

    pub(super) fn choice(&mut self) -> Expr {
        self.n_choices += 1;
        Expr::choice(self.n_choices - 1)
    }
}

impl Lowering<'_> {
    /// Lowers an expression. Invalid parts are reported and become `false`.
    pub(super) fn expr(&mut self, cx: &mut ExprCx<'_>, context: Context, expr: &ast::Expr) -> Expr {
        match &expr.kind {
            ExprKind::Const(constant) => Expr::Bool(constant.value()),
            ExprKind::Choice => cx.choice(),
            _ if self.is_number(cx, expr) => {
                self.not_a_truth_value(expr);
                Expr::FALSE
            }
            ExprKind::Var(symbol) => self.variable(cx, context, *symbol, expr.span),
            ExprKind::Primed(symbol) => self.new_value(cx, context, *symbol, expr.span),
            ExprKind::Element(element) => match self.element(cx, context, element) {
                Some((var, index)) => self.element_value(cx, (var, self.shape(var)), &index, element),
                None => Expr::FALSE,
            },
            ExprKind::Not(operand) => Expr::negate(self.expr(cx, context, operand)),
            ExprKind::Chain(op, operands) => self.chain(cx, context, *op, operands),
            ExprKind::Compare(CompareOp::Implies, pair) => {
                let left = self.expr(cx, context, &pair.0);
                let (right, _) = cx.guarded(&left, |cx| self.expr(cx, context, &pair.1));
                Expr::binary(BinaryOp::Implies, left, right)
            }
            ExprKind::Compare(op, pair) if self.is_number(cx, &pair.0) || self.is_number(cx, &pair.1) => {
                let equal = self.equal(cx, context, pair);
                if *op == CompareOp::Ne { Expr::negate(equal) } else { equal }
            }
            ExprKind::Compare(op, pair) => {
                let left = self.expr(cx, context, &pair.0);
                Expr::binary(compare_op(*op), left, self.expr(cx, context, &pair.1))
            }
            ExprKind::Order(op, pair) => self.compared(cx, context, *op, pair),
            ExprKind::Conditional(triple) => {
                let condition = self.expr(cx, context, &triple.0);
                let (then, _) = cx.guarded(&condition, |cx| self.expr(cx, context, &triple.1));
                let otherwise = cx.guarded(&not(condition.clone()), |cx| self.expr(cx, context, &triple.2)).0;
                Expr::Ite(Box::new((condition, then, otherwise)))
            }
            ExprKind::Schoose(pair) => {
                let positive = self.expr(cx, context, &pair.0);
                let negative = self.expr(cx, context, &pair.1);
                schoose(positive, negative, cx.choice())
            }
            ExprKind::Number(_) | ExprKind::Sum(..) | ExprKind::Remainder(..) | ExprKind::Error => Expr::FALSE,
        }
    }

    /// Lowers a chain. The checks of an operand are only made where those before it leave the result open.
    fn chain(&mut self, cx: &mut ExprCx<'_>, context: Context, op: ChainOp, operands: &[ast::Expr]) -> Expr {
        let mut lowered: Vec<Expr> = Vec::with_capacity(operands.len());
        for operand in operands {
            let before = cx.checks.len();
            let value = self.expr(cx, context, operand);
            if cx.checks.len() > before && !lowered.is_empty() && op != ChainOp::Xor {
                let earlier = Expr::balanced(chain_op(op), lowered.clone()).expect("there are operands before");
                let is_open = if op == ChainOp::And { earlier } else { not(earlier) };
                for check in &mut cx.checks[before..] {
                    check.holds = Expr::binary(BinaryOp::Implies, is_open.clone(), check.holds.clone());
                }
            }
            lowered.push(value);
        }
        Expr::balanced(chain_op(op), lowered).expect("chains have at least two operands")
    }

    fn variable(&mut self, cx: &mut ExprCx<'_>, context: Context, symbol: Symbol, span: Span) -> Expr {
        let Some(meaning) = self.resolve(cx.view, symbol, span) else { return Expr::FALSE };
        let (Meaning::Active(var) | Meaning::Passive(var)) = meaning;
        match self.scalar(var, symbol, span) {
            Some(_) => self.read(cx, context, meaning, (symbol, span)),
            None => Expr::FALSE,
        }
    }

    /// Reads a variable that is no array.
    pub(super) fn read(
        &mut self,
        cx: &mut ExprCx<'_>,
        context: Context,
        meaning: Meaning,
        (symbol, span): (Symbol, Span),
    ) -> Expr {
        match meaning {
            Meaning::Active(var) if cx.initial.is_some() => self.initial_read(cx, var, span),
            Meaning::Active(var) => Expr::Var(var),
            Meaning::Passive(_) if matches!(context, Context::Plain | Context::Relation) => {
                self.misplaced_passive(symbol, span)
            }
            Meaning::Passive(var) => Expr::Passive(var),
        }
    }

    /// Lowers `'x` where `x` is a truth value.
    fn new_value(&mut self, cx: &mut ExprCx<'_>, context: Context, symbol: Symbol, span: Span) -> Expr {
        let Some(Meaning::Active(var) | Meaning::Passive(var)) = self.resolve(cx.view, symbol, span) else {
            return Expr::FALSE;
        };
        if self.scalar(var, symbol, span).is_none() {
            return Expr::FALSE;
        }
        match cx.new_values.get(&var) {
            Some(NewValue::Truth(value)) => value.clone(),
            _ => self.primed(cx, context, symbol, span),
        }
    }

    pub(super) fn primed(&mut self, cx: &mut ExprCx<'_>, context: Context, symbol: Symbol, span: Span) -> Expr {
        let meaning = self.resolve(cx.view, symbol, span);
        if matches!(context, Context::Plain | Context::Passive) {
            let message = format!("the new value of `{}` cannot be used here", self.text(symbol));
            let diagnostic = Diagnostic::new(Code::MisplacedPrime, message, span)
                .help("`'` can only be used in the `constrain` part of an assignment");
            self.report(diagnostic);
            return Expr::FALSE;
        }
        match meaning {
            None => Expr::FALSE,
            Some(Meaning::Active(var)) => Expr::Next(var),
            Some(Meaning::Passive(_)) if context == Context::Relation => self.misplaced_passive(symbol, span),
            Some(Meaning::Passive(var)) => Expr::PassiveNext(var),
        }
    }

    fn misplaced_passive(&mut self, symbol: Symbol, span: Span) -> Expr {
        let message = format!("the passive copy `{}` cannot be read here", self.text(symbol));
        let diagnostic = Diagnostic::new(Code::MisplacedPassive, message, span).help(
            "passive copies can be used in `constrain` and `assume`, on left-hand sides, and in values assigned to \
             passive copies",
        );
        self.report(diagnostic);
        Expr::FALSE
    }

    /// Returns the variable of a left-hand side that cannot be passive. Of an array, it is the first element.
    pub(super) fn active_target(&mut self, view: &View, name: ast::Name) -> Option<VarId> {
        match self.resolve(view, name.symbol, name.span)? {
            Meaning::Active(var) => Some(var),
            Meaning::Passive(_) => {
                self.misplaced_passive(name.symbol, name.span);
                None
            }
        }
    }
}

/// Returns `p | (!n & *)`.
fn schoose(positive: Expr, negative: Expr, choice: Expr) -> Expr {
    Expr::or(positive, Expr::binary(BinaryOp::And, Expr::negate(negative), choice))
}

fn chain_op(op: ChainOp) -> BinaryOp {
    match op {
        ChainOp::And => BinaryOp::And,
        ChainOp::Or => BinaryOp::Or,
        ChainOp::Xor => BinaryOp::Xor,
    }
}

fn compare_op(op: CompareOp) -> BinaryOp {
    match op {
        CompareOp::Eq => BinaryOp::Eq,
        CompareOp::Ne => BinaryOp::Ne,
        CompareOp::Implies => BinaryOp::Implies,
    }
}
