//! Walks over models: statements in the order of the text, and the expressions of statements.

use crate::model::{Expr, Kind, Model, Procedure, Stmt};

/// Calls `visit` on every statement, a compound one before its parts.
pub fn for_each_stmt<'m>(body: &'m [Stmt], visit: &mut dyn FnMut(&'m Stmt)) {
    for stmt in body {
        visit(stmt);
        for block in stmt.kind.blocks() {
            for_each_stmt(block, visit);
        }
    }
}

/// Like [`for_each_stmt`], for changing. Statements that `visit` puts into the statement's blocks are visited too.
pub fn for_each_stmt_mut(body: &mut [Stmt], visit: &mut dyn FnMut(&mut Stmt)) {
    for stmt in body {
        visit(stmt);
        for block in stmt.kind.blocks_mut() {
            for_each_stmt_mut(block, visit);
        }
    }
}

/// Calls `visit` on every list of statements, outer ones first. Statements that `visit` leaves in a list are visited
/// too.
pub fn for_each_block_mut(body: &mut Vec<Stmt>, visit: &mut dyn FnMut(&mut Vec<Stmt>)) {
    visit(body);
    for stmt in body {
        for block in stmt.kind.blocks_mut() {
            for_each_block_mut(block, visit);
        }
    }
}

/// Returns the statement with a number in the order of the text; counts down to it.
pub(crate) fn nth_stmt_mut<'m>(body: &'m mut [Stmt], number: &mut usize) -> Option<&'m mut Stmt> {
    for stmt in body {
        if *number == 0 {
            return Some(stmt);
        }
        *number -= 1;
        for block in stmt.kind.blocks_mut() {
            let inside = count_stmts(block);
            if *number < inside {
                return nth_stmt_mut(block, number);
            }
            *number -= inside;
        }
    }
    None
}

/// Counts the statements, including those inside others.
pub fn count_stmts(body: &[Stmt]) -> usize {
    let mut count = 0;
    for_each_stmt(body, &mut |_| count += 1);
    count
}

impl Kind {
    /// Returns the lists of statements inside.
    pub fn blocks(&self) -> Vec<&Vec<Stmt>> {
        match self {
            Kind::If(arms, otherwise) => arms.iter().map(|(_, body)| body).chain(otherwise).collect(),
            Kind::While(_, body) => vec![body],
            _ => Vec::new(),
        }
    }

    /// Returns the lists of statements inside, for changing.
    pub fn blocks_mut(&mut self) -> Vec<&mut Vec<Stmt>> {
        match self {
            Kind::If(arms, otherwise) => arms.iter_mut().map(|(_, body)| body).chain(otherwise).collect(),
            Kind::While(_, body) => vec![body],
            _ => Vec::new(),
        }
    }

    /// Returns the expressions of the statement itself, for changing.
    pub fn exprs_mut(&mut self) -> Vec<&mut Expr> {
        match self {
            Kind::Assign(assign) => assign.values.iter_mut().chain(&mut assign.constrain).collect(),
            Kind::Assert(e) | Kind::Assume(e) | Kind::Constrain(e) | Kind::AbortIf(e) | Kind::While(e, _) => vec![e],
            Kind::If(arms, _) => arms.iter_mut().map(|(condition, _)| condition).collect(),
            Kind::Call(_, call) | Kind::StartCall(call) | Kind::Async(call) => call.args.iter_mut().collect(),
            Kind::Return(values) | Kind::Print(values) => values.iter_mut().collect(),
            Kind::Skip | Kind::Goto(_) | Kind::Dead(_) | Kind::StartGoto(_) | Kind::StartLabel(_) => Vec::new(),
            Kind::EndThread | Kind::AtomicBegin | Kind::AtomicEnd => Vec::new(),
        }
    }

    /// Returns the procedure that the statement calls or starts.
    pub fn callee(&self) -> Option<&str> {
        match self {
            Kind::Call(_, call) | Kind::StartCall(call) | Kind::Async(call) => Some(&call.callee),
            _ => None,
        }
    }

    /// Returns the labels that the statement jumps to or starts threads at.
    pub fn jumps(&self) -> Vec<&String> {
        match self {
            Kind::Goto(labels) => labels.iter().collect(),
            Kind::StartGoto(label) | Kind::StartLabel(label) => vec![label],
            _ => Vec::new(),
        }
    }
}

impl Procedure {
    /// Calls `visit` on every whole expression: initial values, `enforce`, and those of all statements.
    pub fn for_each_expr_mut(&mut self, visit: &mut dyn FnMut(&mut Expr)) {
        self.locals.iter_mut().filter_map(|decl| decl.init.as_mut()).for_each(&mut *visit);
        self.enforce.iter_mut().for_each(&mut *visit);
        for_each_stmt_mut(&mut self.body, &mut |stmt| stmt.kind.exprs_mut().into_iter().for_each(&mut *visit));
    }
}

impl Model {
    /// Calls `visit` on every whole expression.
    pub fn for_each_expr_mut(&mut self, visit: &mut dyn FnMut(&mut Expr)) {
        self.globals.iter_mut().filter_map(|decl| decl.init.as_mut()).for_each(&mut *visit);
        self.procs.iter_mut().for_each(|procedure| procedure.for_each_expr_mut(visit));
    }

    /// Calls `visit` on every statement, like [`for_each_stmt_mut`].
    pub fn for_each_stmt_mut(&mut self, visit: &mut dyn FnMut(&mut Stmt)) {
        self.procs.iter_mut().for_each(|procedure| for_each_stmt_mut(&mut procedure.body, visit));
    }

    /// Counts the procedures in which initial threads start.
    pub fn n_initial(&self) -> usize {
        self.procs.iter().filter(|procedure| procedure.initial.is_some()).count()
    }

    /// Counts the statements.
    pub fn n_stmts(&self) -> usize {
        self.procs.iter().map(|procedure| count_stmts(&procedure.body)).sum()
    }

    /// Returns whether some statement satisfies a condition.
    pub fn any_stmt(&self, mut condition: impl FnMut(&Kind) -> bool) -> bool {
        let mut found = false;
        for procedure in &self.procs {
            for_each_stmt(&procedure.body, &mut |stmt| found |= condition(&stmt.kind));
        }
        found
    }
}

impl Expr {
    /// Returns the direct operands.
    pub fn operands(&self) -> Vec<&Expr> {
        match self {
            Expr::Not(operand) => vec![operand],
            Expr::Choose(pair) | Expr::Binary(_, pair) => vec![&pair.0, &pair.1],
            Expr::Ite(triple) => vec![&triple.0, &triple.1, &triple.2],
            _ => Vec::new(),
        }
    }

    /// Returns the direct operands, for changing.
    pub fn operands_mut(&mut self) -> Vec<&mut Expr> {
        match self {
            Expr::Not(operand) => vec![operand],
            Expr::Choose(pair) | Expr::Binary(_, pair) => vec![&mut pair.0, &mut pair.1],
            Expr::Ite(triple) => vec![&mut triple.0, &mut triple.1, &mut triple.2],
            _ => Vec::new(),
        }
    }

    /// Calls `visit` on every part, the whole first. Parts that `visit` leaves are visited too.
    pub fn for_each_part_mut(&mut self, visit: &mut dyn FnMut(&mut Expr)) {
        visit(self);
        for operand in self.operands_mut() {
            operand.for_each_part_mut(visit);
        }
    }

    /// Returns the name of the variable that a leaf reads in any way.
    pub fn name_mut(&mut self) -> Option<&mut String> {
        match self {
            Expr::Var(name) | Expr::Next(name) | Expr::Passive(name) | Expr::PassiveNext(name) => Some(name),
            _ => None,
        }
    }
}
