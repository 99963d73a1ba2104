//! Lowering of expressions.

use selvedge_ir::span::Span;
use selvedge_ir::{BinaryOp, Expr, VarId};

use super::initial::Initial;
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
}

impl<'c> ExprCx<'c> {
    pub(super) fn new(view: &'c View) -> ExprCx<'c> {
        ExprCx { view, n_choices: 0, initial: None }
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
            ExprKind::Var(symbol) => self.variable(cx, context, *symbol, expr.span),
            ExprKind::Primed(symbol) => self.primed(cx, context, *symbol, expr.span),
            ExprKind::Not(operand) => Expr::negate(self.expr(cx, context, operand)),
            ExprKind::Chain(op, operands) => {
                let operands = operands.iter().map(|operand| self.expr(cx, context, operand)).collect();
                Expr::balanced(chain_op(*op), operands).expect("chains have at least two operands")
            }
            ExprKind::Compare(op, pair) => {
                let left = self.expr(cx, context, &pair.0);
                Expr::binary(compare_op(*op), left, self.expr(cx, context, &pair.1))
            }
            ExprKind::Conditional(triple) => {
                let condition = self.expr(cx, context, &triple.0);
                let then = self.expr(cx, context, &triple.1);
                Expr::Ite(Box::new((condition, then, self.expr(cx, context, &triple.2))))
            }
            ExprKind::Schoose(pair) => {
                let positive = self.expr(cx, context, &pair.0);
                let negative = self.expr(cx, context, &pair.1);
                schoose(positive, negative, cx.choice())
            }
            ExprKind::Error => Expr::FALSE,
        }
    }

    fn variable(&mut self, cx: &mut ExprCx<'_>, context: Context, symbol: Symbol, span: Span) -> Expr {
        match self.resolve(cx.view, symbol, span) {
            None => Expr::FALSE,
            Some(Meaning::Active(var)) if cx.initial.is_some() => self.initial_read(cx, var, span),
            Some(Meaning::Active(var)) => Expr::Var(var),
            Some(Meaning::Passive(_)) if matches!(context, Context::Plain | Context::Relation) => {
                self.misplaced_passive(symbol, span)
            }
            Some(Meaning::Passive(var)) => Expr::Passive(var),
        }
    }

    fn primed(&mut self, cx: &mut ExprCx<'_>, context: Context, symbol: Symbol, span: Span) -> Expr {
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

    /// Returns the variable of a left-hand side that cannot be passive.
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
