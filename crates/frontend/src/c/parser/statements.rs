//! Statements.

use super::{Parser, SwitchState};
use crate::c::files::Loc;
use crate::c::lexer::Kind;
use crate::c::names::Symbol;
use crate::c::tree::{Case, Expr, Label, LabelId, Stmt, StmtKind};
use crate::c::types::basic;
use crate::c::typing::LabelState;
use crate::diagnostic::Code;

/// Limit on `else if`s in a row.
const MAX_ELSE: usize = 2000;

impl Parser {
    /// Consumes statements up to the closing brace, whose opening one has been consumed.
    pub(super) fn statements(&mut self, opener: Loc) -> Vec<Stmt> {
        let mut stmts = Vec::new();
        while !matches!(self.kind(), Kind::RBrace | Kind::Eof) {
            let before = self.at;
            self.statement(&mut stmts);
            if self.lost {
                self.recover();
            }
            if self.at == before {
                self.bump();
            }
            self.stop_if_over();
        }
        self.close(Kind::RBrace, opener);
        stmts
    }

    /// Consumes a statement or declaration, with the labels before it.
    fn statement(&mut self, stmts: &mut Vec<Stmt>) {
        loop {
            self.labels(stmts);
            if self.lost {
                return;
            }
            match self.kind() {
                Kind::Annotation => {
                    let annotation = self.annotation();
                    stmts.push(annotation);
                }
                // A label at the end of a block, and one before a declaration, are read as new C has them.
                Kind::RBrace => return,
                _ if self.at_declaration() || self.at_unknown_type() => return self.declaration(stmts),
                Kind::Attribute => {
                    self.attributes();
                }
                _ => {
                    let stmt = self.nested(Self::plain_statement);
                    stmts.extend(stmt);
                    return;
                }
            }
        }
    }

    /// Consumes an annotation. The statement after it follows in the same block.
    fn annotation(&mut self) -> Stmt {
        let start = self.bump().loc;
        let expr = self.expression();
        self.expect_semicolon();
        let condition = self.typer.condition(expr);
        Stmt { kind: StmtKind::Annotation(condition), loc: self.since(start) }
    }

    /// Consumes the statement of a loop or condition.
    fn substatement(&mut self) -> Stmt {
        let start = self.loc();
        let mut stmts = Vec::new();
        if self.at(Kind::RBrace) {
            self.miss("a statement");
        } else {
            self.statement(&mut stmts);
        }
        match stmts.len() {
            1 => stmts.remove(0),
            _ => Stmt { kind: StmtKind::Block(stmts), loc: self.since(start) },
        }
    }

    /// Consumes labels, `case`s and `default`s.
    fn labels(&mut self, stmts: &mut Vec<Stmt>) {
        while !self.lost {
            let start = self.loc();
            match self.kind() {
                Kind::Name if self.peek(1) == Kind::Colon => {
                    let name = self.bump().text;
                    self.bump();
                    self.attributes();
                    let id = self.define_label(name, start);
                    stmts.push(Stmt { kind: StmtKind::Label(id), loc: start });
                }
                Kind::Case => {
                    self.bump();
                    self.case(stmts, start);
                }
                Kind::Default => {
                    self.bump();
                    self.expect(Kind::Colon);
                    self.add_case(stmts, None, start);
                }
                _ => return,
            }
        }
    }

    fn case(&mut self, stmts: &mut Vec<Stmt>, start: Loc) {
        let first = self.constant().map(|(value, _)| value);
        let last = if self.eat(Kind::Ellipsis) { self.constant().map(|(value, _)| value) } else { first };
        self.expect(Kind::Colon);
        if let (Some(first), Some(last)) = (first, last) {
            self.add_case(stmts, Some((first, last)), start);
        }
    }

    fn add_case(&mut self, stmts: &mut Vec<Stmt>, range: Option<(i128, i128)>, start: Loc) {
        let loc = self.since(start);
        let types = &self.typer.unit.types;
        let Some(switch) = self.switches.last_mut() else {
            return self.typer.error(Code::CMisplaced, "this label is not inside a `switch`", loc);
        };
        let range = range.map(|(first, last)| (types.wrap(first, switch.ty), types.wrap(last, switch.ty)));
        let number = switch.cases.len();
        switch.cases.push(Case { range, loc });
        stmts.push(Stmt { kind: StmtKind::CaseLabel(number), loc });
    }

    /// Reports cases that are there twice.
    fn check_cases(&mut self, cases: &[Case]) {
        let mut ranges: Vec<(i128, i128, Loc)> =
            cases.iter().filter_map(|case| case.range.map(|(first, last)| (first, last, case.loc))).collect();
        ranges.sort_by_key(|(first, last, loc)| (*first, *last, loc.span));
        let defaults: Vec<Loc> = cases.iter().filter(|case| case.range.is_none()).map(|case| case.loc).collect();
        let twice = ranges.windows(2).filter(|pair| pair[1].0 <= pair[0].1).map(|pair| (pair[1].2, pair[0].2));
        let twice: Vec<(Loc, Loc)> = twice.chain(defaults.windows(2).map(|pair| (pair[1], pair[0]))).collect();
        for (loc, old) in twice {
            let message = "this `switch` has another case for the same value";
            let diagnostic = self.typer.diagnostic(Code::CMisplaced, message, loc).also(old.span, "the other one");
            self.typer.push(diagnostic);
        }
        for (_, _, loc) in ranges.iter().filter(|(first, last, _)| first > last) {
            self.typer.error(Code::CMisplaced, "this range of values is empty", *loc);
        }
    }

    /// Returns the label with a name; `goto` may come first.
    fn label(&mut self, name: Symbol, loc: Loc) -> Option<LabelId> {
        let state = self.typer.function.as_mut()?;
        let labels = &mut state.labels;
        let entry = state.label_names.entry(name);
        Some(entry.or_insert_with(|| LabelState { id: labels.push(Label { name, loc }), is_defined: false }).id)
    }

    fn define_label(&mut self, name: Symbol, loc: Loc) -> LabelId {
        let Some(id) = self.label(name, loc) else { return LabelId::from_usize(0) };
        let Some(state) = self.typer.function.as_mut() else { return id };
        let is_twice = state.label_names.get(&name).is_some_and(|label| label.is_defined);
        if is_twice {
            let old = state.labels[id].loc;
            let message = format!("the label `{}` is defined twice", self.typer.text(name));
            let diagnostic = self.typer.diagnostic(Code::CLabel, message, loc).also(old.span, "first defined here");
            self.typer.push(diagnostic);
            return id;
        }
        state.labels[id].loc = loc;
        if let Some(label) = state.label_names.get_mut(&name) {
            label.is_defined = true;
        }
        id
    }

    fn plain_statement(&mut self) -> Stmt {
        let start = self.loc();
        let kind = match self.kind() {
            Kind::Semicolon => {
                self.bump();
                StmtKind::Empty
            }
            Kind::LBrace => self.block(),
            Kind::If => self.if_statement(),
            Kind::While => self.while_loop(),
            Kind::Do => self.do_loop(),
            Kind::For => self.for_loop(),
            Kind::Switch => self.switch(),
            Kind::Goto => self.goto(),
            Kind::Break | Kind::Continue => self.jump(),
            Kind::Return => self.return_statement(),
            Kind::Asm => {
                self.skip_asm();
                self.expect_semicolon();
                StmtKind::Asm
            }
            Kind::LabelDecl => {
                self.unsupported("labels of a block are", start);
                self.lost = true;
                StmtKind::Empty
            }
            _ => {
                let expr = self.expression();
                self.expect_semicolon();
                StmtKind::Expr(self.typer.value(expr))
            }
        };
        Stmt { kind, loc: self.since(start) }
    }

    fn block(&mut self) -> StmtKind {
        let opener = self.bump().loc;
        self.typer.open_scope();
        let stmts = self.statements(opener);
        self.typer.close_scope();
        StmtKind::Block(stmts)
    }

    /// Consumes an expression in parentheses.
    fn parenthesised(&mut self) -> Expr {
        let opener = self.loc();
        if !self.expect(Kind::LParen) {
            return self.typer.wrong(opener);
        }
        let expr = self.expression();
        self.close(Kind::RParen, opener);
        expr
    }

    fn condition(&mut self) -> Expr {
        let expr = self.parenthesised();
        self.typer.condition(expr)
    }

    /// Consumes a chain of `if`s. The chain is read in a loop, so that a long one needs no deep stack.
    fn if_statement(&mut self) -> StmtKind {
        let mut chain = Vec::new();
        let otherwise = loop {
            let start = self.bump().loc;
            let condition = self.condition();
            let then = if self.lost { Stmt { kind: StmtKind::Empty, loc: start } } else { self.substatement() };
            chain.push((condition, then, start));
            if self.lost || !self.eat(Kind::Else) {
                break None;
            }
            if !self.at(Kind::If) {
                break Some(self.substatement());
            }
            if chain.len() > MAX_ELSE {
                let message = format!("more than {MAX_ELSE} `else if` in a row");
                let diagnostic = self.typer.diagnostic(Code::BeyondLimit, message, self.loc());
                self.lose(diagnostic);
                break None;
            }
        };
        let end = self.previous();
        let mut otherwise = otherwise.map(Box::new);
        let mut kind = StmtKind::Empty;
        while let Some((condition, then, start)) = chain.pop() {
            kind = StmtKind::If { condition, then: Box::new(then), otherwise };
            if chain.is_empty() {
                break;
            }
            let loc = self.typer.join(start, end);
            otherwise = Some(Box::new(Stmt { kind: std::mem::replace(&mut kind, StmtKind::Empty), loc }));
        }
        kind
    }

    /// Consumes the body of a loop.
    fn loop_body(&mut self) -> Box<Stmt> {
        self.n_loops += 1;
        self.break_depth += 1;
        let body = self.substatement();
        self.n_loops -= 1;
        self.break_depth -= 1;
        Box::new(body)
    }

    fn while_loop(&mut self) -> StmtKind {
        self.bump();
        let condition = self.condition();
        if self.lost {
            return StmtKind::Empty;
        }
        let body = self.loop_body();
        StmtKind::While { condition, body }
    }

    fn do_loop(&mut self) -> StmtKind {
        self.bump();
        let body = self.loop_body();
        if self.lost || !self.expect(Kind::While) {
            return StmtKind::Empty;
        }
        let condition = self.condition();
        self.expect_semicolon();
        StmtKind::DoWhile { body, condition }
    }

    fn for_loop(&mut self) -> StmtKind {
        self.bump();
        let opener = self.loc();
        if !self.expect(Kind::LParen) {
            return StmtKind::Empty;
        }
        self.typer.open_scope();
        let mut first = Vec::new();
        if self.at_declaration() || self.at_unknown_type() {
            self.declaration(&mut first);
        } else if !self.eat(Kind::Semicolon) {
            let start = self.loc();
            let expr = self.expression();
            let expr = self.typer.value(expr);
            self.expect_semicolon();
            first.push(Stmt { kind: StmtKind::Expr(expr), loc: self.since(start) });
        }
        let condition = if self.at(Kind::Semicolon) || self.lost { None } else { Some(self.expression()) };
        let condition = condition.map(|condition| self.typer.condition(condition));
        self.expect_semicolon();
        let step = if self.at(Kind::RParen) || self.lost { None } else { Some(self.expression()) };
        let step = step.map(|step| self.typer.value(step));
        self.close(Kind::RParen, opener);
        let kind = if self.lost {
            StmtKind::Empty
        } else {
            let body = self.loop_body();
            StmtKind::For { first, condition, step, body }
        };
        self.typer.close_scope();
        kind
    }

    fn switch(&mut self) -> StmtKind {
        self.bump();
        let value = self.parenthesised();
        let value = self.typer.value(value);
        let types = &self.typer.unit.types;
        let value = match () {
            () if types.is_integer(value.ty) => self.typer.promote(value),
            () if types.is_error(value.ty) => value,
            () => {
                let message = format!("`switch` needs an integer, not `{}`", self.typer.show(value.ty));
                self.typer.reject(Code::CWrongType, message, value.loc)
            }
        };
        if self.lost {
            return StmtKind::Empty;
        }
        self.switches.push(SwitchState { ty: value.ty, cases: Vec::new() });
        self.break_depth += 1;
        let body = Box::new(self.substatement());
        self.break_depth -= 1;
        let cases = self.switches.pop().map(|switch| switch.cases).unwrap_or_default();
        self.check_cases(&cases);
        StmtKind::Switch { value, cases, body }
    }

    fn goto(&mut self) -> StmtKind {
        self.bump();
        let star = self.loc();
        if self.eat(Kind::Star) {
            self.unsupported("a jump to a computed label is", star);
            self.expression();
            self.expect_semicolon();
            return StmtKind::Empty;
        }
        let Some((name, loc)) = self.expect_name("a label") else { return StmtKind::Empty };
        self.expect_semicolon();
        self.label(name, loc).map_or(StmtKind::Empty, StmtKind::Goto)
    }

    fn jump(&mut self) -> StmtKind {
        let token = self.bump();
        self.expect_semicolon();
        let is_break = token.kind == Kind::Break;
        let is_fine = if is_break { self.break_depth > 0 } else { self.n_loops > 0 };
        if !is_fine {
            let message =
                if is_break { "`break` is not inside a loop or a `switch`" } else { "`continue` is not inside a loop" };
            self.typer.error(Code::CMisplaced, message, token.loc);
            return StmtKind::Empty;
        }
        if is_break { StmtKind::Break } else { StmtKind::Continue }
    }

    fn return_statement(&mut self) -> StmtKind {
        let start = self.bump().loc;
        let result = self.typer.function.as_ref().map_or(basic::ERROR, |function| function.result);
        if self.eat(Kind::Semicolon) {
            return StmtKind::Return(None);
        }
        let value = self.expression();
        self.expect_semicolon();
        if self.typer.unit.types.is_void(result) {
            let value = self.typer.value(value);
            if !self.typer.unit.types.is_void(value.ty) && !self.typer.unit.types.is_error(value.ty) {
                let loc = self.since(start);
                self.typer.error(Code::CReturnValue, "a function that returns `void` returns a value here", loc);
            }
            return StmtKind::Return(Some(value));
        }
        StmtKind::Return(Some(self.typer.assigned(value, result, "the result")))
    }

    /// Consumes `({ .. })` behind its parenthesis.
    pub(super) fn statement_expression(&mut self, opener: Loc) -> Expr {
        if self.typer.function.is_none() {
            self.typer.error(Code::CNotConstant, "statements are not constant", opener);
            self.lost = true;
            return self.typer.wrong(opener);
        }
        let start = self.loc();
        let kind = self.block();
        let block = Stmt { kind, loc: self.since(start) };
        self.close(Kind::RParen, opener);
        let ty = match &block.kind {
            StmtKind::Block(stmts) => match stmts.last() {
                Some(Stmt { kind: StmtKind::Expr(value), .. }) => value.ty,
                _ => basic::VOID,
            },
            _ => basic::VOID,
        };
        let loc = self.since(opener);
        self.typer.make(crate::c::tree::ExprKind::Statements(Box::new(block)), ty, loc)
    }
}
