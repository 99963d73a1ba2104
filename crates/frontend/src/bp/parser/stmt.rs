//! Statements.

use selvedge_ir::span::Span;

use super::Parser;
use super::expr::call_in_expression;
use crate::bp::ast::{
    Arm, Assign, Block, Call, Element, Else, Expr, If, Name, StartThread, Stmt, StmtKind, Target, While,
};
use crate::bp::lexer::TokenKind;
use crate::diagnostic::{Code, Diagnostic};
use crate::tokens::Kind as _;

/// The position of a statement: declarations are only allowed directly in a body.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Nesting {
    Body,
    Nested,
}

/// The outcome of looking for the end of a statement.
#[derive(PartialEq, Eq)]
enum End {
    Found,
    Lost,
}

impl Parser<'_> {
    /// Parses statements up to a word that ends the block, which is not consumed.
    pub(super) fn block(&mut self, place: Nesting) -> Block {
        let mut block = Vec::new();
        loop {
            if self.eat(TokenKind::Semicolon) {
                continue;
            }
            if self.at_closer() {
                if self.closer_is_ours() {
                    return block;
                }
                self.stray_closer();
                continue;
            }
            self.stmt_into(&mut block, place);
        }
    }

    /// Returns whether the closing word belongs to an open block.
    fn closer_is_ours(&self) -> bool {
        match self.kind() {
            TokenKind::Fi | TokenKind::Else | TokenKind::Elsif => self.state.open_ifs > 0,
            TokenKind::Od => self.state.open_whiles > 0,
            _ => true,
        }
    }

    fn stray_closer(&mut self) {
        let opener = if self.at(TokenKind::Od) { "`while`" } else { "`if`" };
        let message = format!("{} without {opener}", self.found());
        self.report(Diagnostic::new(Code::UnexpectedToken, message, self.span()));
        let is_elsif = self.at(TokenKind::Elsif);
        self.bump();
        if is_elsif {
            self.expr();
            self.lost = false;
            self.eat(TokenKind::Then);
        }
    }

    /// Parses a statement. Consumes at least one token.
    fn stmt_into(&mut self, block: &mut Block, place: Nesting) {
        let before = self.position;
        if place == Nesting::Body {
            self.is_limit_reported = false;
        }
        let labels = self.labels();
        let start = self.span();
        let mut kind = self.stmt_kind(place, &labels);
        let span = if self.position == before || self.previous().end <= start.start {
            Span { start: start.start, end: start.start }
        } else {
            self.since(start)
        };
        let is_kept = matches!(kind, StmtKind::If(_) | StmtKind::While(_) | StmtKind::Decl(_));
        if self.end_of_stmt(&kind, before) == End::Lost && !is_kept {
            kind = StmtKind::Error;
        }
        if self.position == before {
            self.bump();
        }
        if kind != StmtKind::Error || !labels.is_empty() {
            block.push(Stmt { labels, span, kind });
        }
    }

    /// Parses any number of `name:`.
    fn labels(&mut self) -> Vec<Name> {
        let mut labels = Vec::new();
        loop {
            if self.peek(1) == TokenKind::Colon && self.can_be_label() {
                labels.push(self.bump_name());
                self.bump();
            } else if self.lacks_colon() {
                let message = format!("expected `:` after the label {}", self.found());
                let diagnostic = Diagnostic::new(Code::UnexpectedToken, message, self.span());
                self.report(diagnostic.label("expected `:` after this"));
                labels.push(self.bump_name());
            } else {
                return labels;
            }
        }
    }

    /// Returns whether a name is directly followed by a statement, like a label without its colon.
    fn lacks_colon(&self) -> bool {
        let begins =
            |kind| matches!(kind, TokenKind::Colon | TokenKind::Becomes | TokenKind::Comma | TokenKind::LParen);
        let is_before_statement = match self.peek(1) {
            TokenKind::Word => begins(self.peek(2)),
            TokenKind::Number => self.peek(2) == TokenKind::Colon,
            TokenKind::Skip | TokenKind::Goto | TokenKind::If | TokenKind::Assume | TokenKind::Assert => true,
            _ => false,
        };
        matches!(self.kind(), TokenKind::Word | TokenKind::Number) && is_before_statement
    }

    fn can_be_label(&self) -> bool {
        match self.kind() {
            TokenKind::Word | TokenKind::Number => true,
            TokenKind::Void | TokenKind::Bool => false,
            kind => kind.is_keyword() && !self.at_closer(),
        }
    }

    /// Consumes the `;`. It may be missing before a closing word and after `fi` and `od`. `start` is where the
    /// statement began, labels included.
    fn end_of_stmt(&mut self, kind: &StmtKind, start: usize) -> End {
        if self.lost {
            self.recover(start);
            return End::Lost;
        }
        let may_lack = matches!(kind, StmtKind::If(_) | StmtKind::While(_) | StmtKind::Error);
        if self.eat(TokenKind::Semicolon) || self.at_closer() || may_lack {
            return End::Found;
        }
        let is_list = self.at(TokenKind::Word) && self.peek(1) == TokenKind::Comma;
        if self.begins_statement() || is_list {
            self.miss_semicolon();
            return End::Found;
        }
        self.miss("`;`");
        self.recover(start);
        End::Lost
    }

    fn stmt_kind(&mut self, place: Nesting, labels: &[Name]) -> StmtKind {
        // A word of the language may be the name of a procedure; `assert(..)` and the like keep their meaning.
        let is_bare = matches!(
            self.kind(),
            TokenKind::Skip | TokenKind::Goto | TokenKind::AtomicBegin | TokenKind::AtomicEnd | TokenKind::EndThread
        );
        if is_bare && self.peek(1) == TokenKind::LParen {
            return self.call(Vec::new());
        }
        if self.kind().is_keyword() && self.peek(1) == TokenKind::Becomes {
            return self.assignment_or_call();
        }
        match self.kind() {
            TokenKind::Word => self.assignment_or_call(),
            TokenKind::If => self.nested(Self::if_stmt, Self::skip_nested),
            TokenKind::While => self.nested(Self::while_stmt, Self::skip_nested),
            TokenKind::Decl | TokenKind::Enforce => self.in_body_only(place, labels),
            TokenKind::Semicolon => StmtKind::Skip,
            _ if self.at_closer() && !labels.is_empty() => StmtKind::Skip,
            _ => self.simple_stmt(),
        }
    }

    fn simple_stmt(&mut self) -> StmtKind {
        let kind = self.kind();
        match kind {
            TokenKind::Skip => self.bare(StmtKind::Skip),
            TokenKind::EndThread => self.bare(StmtKind::EndThread),
            TokenKind::AtomicBegin => self.bare(StmtKind::AtomicBegin),
            TokenKind::AtomicEnd => self.bare(StmtKind::AtomicEnd),
            TokenKind::Goto => {
                self.bump();
                StmtKind::Goto(self.comma_list(Self::label))
            }
            TokenKind::Return => self.return_stmt(),
            TokenKind::Assert => StmtKind::Assert(self.operand()),
            TokenKind::Assume => StmtKind::Assume(self.operand()),
            TokenKind::Constrain => StmtKind::Constrain(self.operand()),
            TokenKind::Abortif => StmtKind::Abortif(self.operand()),
            TokenKind::Dead => {
                self.bump();
                StmtKind::Dead(self.comma_list(Self::variable))
            }
            TokenKind::Print => self.print_stmt(),
            TokenKind::Sync => self.sync_stmt(),
            TokenKind::StartThread => self.start_thread(),
            _ => {
                self.miss("a statement");
                StmtKind::Error
            }
        }
    }

    fn bare(&mut self, kind: StmtKind) -> StmtKind {
        self.bump();
        kind
    }

    /// Parses a word and the expression after it.
    fn operand(&mut self) -> Expr {
        self.bump();
        self.expr()
    }

    /// Parses the label of a jump.
    fn label(&mut self) -> Option<Name> {
        let is_name = matches!(self.kind(), TokenKind::Word | TokenKind::Number)
            || self.kind().is_keyword() && !self.at_closer() && !self.begins_labelled();
        if is_name {
            return Some(self.bump_name());
        }
        self.miss("a label");
        None
    }

    /// Returns whether a statement with more than one word begins here: then the word is not the label of a jump.
    fn begins_labelled(&self) -> bool {
        !matches!(self.peek(1), TokenKind::Semicolon | TokenKind::Comma)
    }

    fn return_stmt(&mut self) -> StmtKind {
        self.bump();
        if self.at(TokenKind::Semicolon) || self.at_closer() {
            return StmtKind::Return(Vec::new());
        }
        StmtKind::Return(self.exprs())
    }

    fn print_stmt(&mut self) -> StmtKind {
        self.bump();
        if self.at(TokenKind::LParen) {
            return StmtKind::Print(self.arguments());
        }
        StmtKind::Print(self.exprs())
    }

    /// Parses `sync`. The rest of the statement does not matter: it is rejected later.
    fn sync_stmt(&mut self) -> StmtKind {
        self.bump();
        while !self.at(TokenKind::Semicolon) && !self.at_closer() && !self.begins_statement() {
            self.bump();
        }
        StmtKind::Sync
    }

    fn start_thread(&mut self) -> StmtKind {
        self.bump();
        if self.eat(TokenKind::Goto) {
            let start = |name| StmtKind::StartThread(Box::new(StartThread::Goto(name)));
            return self.label().map_or(StmtKind::Error, start);
        }
        let is_name = matches!(self.kind(), TokenKind::Word | TokenKind::Number)
            || self.kind().is_keyword() && self.peek(1) == TokenKind::LParen;
        if !is_name {
            self.miss("a label or a call");
            return StmtKind::Error;
        }
        let callee = self.bump_name();
        let start = if self.at(TokenKind::LParen) {
            StartThread::Call { callee, args: self.arguments() }
        } else {
            StartThread::Name(callee)
        };
        StmtKind::StartThread(Box::new(start))
    }

    fn assignment_or_call(&mut self) -> StmtKind {
        if self.peek(1) == TokenKind::LParen {
            return self.call(Vec::new());
        }
        if self.peek(1) == TokenKind::Eq {
            return self.equation();
        }
        if !matches!(self.peek(1), TokenKind::Becomes | TokenKind::Comma | TokenKind::LBracket) {
            self.bump();
            self.miss("`:=` or `(`");
            return StmtKind::Error;
        }
        let targets = self.comma_list(Self::target);
        if self.lost || !self.expect(TokenKind::Becomes) {
            return StmtKind::Error;
        }
        let is_call = self.peek(1) == TokenKind::LParen
            && (self.at(TokenKind::Word) || self.kind().is_keyword() && !self.at(TokenKind::Schoose));
        if is_call {
            return self.call(targets);
        }
        let values = self.exprs();
        let constrain = (!self.lost && self.eat(TokenKind::Constrain)).then(|| self.expr());
        StmtKind::Assign(Box::new(Assign { targets, values, constrain }))
    }

    /// Reads `x = e` as the assignment that was probably meant.
    fn equation(&mut self) -> StmtKind {
        let Some(target) = self.target() else { return StmtKind::Error };
        self.miss_becomes();
        let values = self.exprs();
        StmtKind::Assign(Box::new(Assign { targets: vec![target], values, constrain: None }))
    }

    fn target(&mut self) -> Option<Target> {
        if self.at_word("_") {
            return Some(Target::Discard(self.bump()));
        }
        let span = self.span();
        match self.variable() {
            Some(array) if self.at(TokenKind::LBracket) => {
                let index = self.index();
                let element = Element { span: self.since(array.span), array, index, is_primed: false };
                Some(Target::Element(Box::new(element)))
            }
            Some(name) => Some(Target::Var(name)),
            None if self.lost => None,
            None => Some(Target::Discard(span)),
        }
    }

    fn call(&mut self, targets: Vec<Target>) -> StmtKind {
        let callee = self.bump_name();
        let args = self.arguments();
        if !self.lost && self.continues_expression() {
            self.lose(call_in_expression(callee.span));
            return StmtKind::Error;
        }
        if self.at(TokenKind::Constrain) {
            let message = "`constrain` cannot follow a call";
            let help = "add an `assume` with the condition after the call";
            let diagnostic = Diagnostic::new(Code::UnexpectedToken, message, self.span()).help(help);
            self.lose(diagnostic);
        }
        StmtKind::Call(Box::new(Call { targets, callee, args }))
    }

    /// Returns whether an operator or a comma follows.
    fn continues_expression(&self) -> bool {
        matches!(
            self.kind(),
            TokenKind::And
                | TokenKind::Or
                | TokenKind::Xor
                | TokenKind::Eq
                | TokenKind::Ne
                | TokenKind::Less
                | TokenKind::LessEq
                | TokenKind::Greater
                | TokenKind::GreaterEq
                | TokenKind::Plus
                | TokenKind::Minus
                | TokenKind::Percent
                | TokenKind::Implies
                | TokenKind::Question
                | TokenKind::Comma
        )
    }

    fn if_stmt(&mut self) -> StmtKind {
        let opener = self.span();
        self.state.open_ifs += 1;
        let mut arms = Vec::new();
        while arms.is_empty() || self.at(TokenKind::Elsif) {
            let keyword = self.bump();
            let condition = self.condition(TokenKind::Then);
            arms.push(Arm { keyword, condition, body: self.block(Nesting::Nested) });
        }
        let otherwise = self.at(TokenKind::Else).then(|| {
            let keyword = self.bump();
            Else { keyword, body: self.block(Nesting::Nested) }
        });
        self.repeated_else(&arms, opener);
        self.state.open_ifs -= 1;
        let end = self.closing_word(TokenKind::Fi, opener);
        StmtKind::If(Box::new(If { arms, otherwise, end }))
    }

    /// Reports and skips branches after an `else`.
    fn repeated_else(&mut self, arms: &[Arm], opener: Span) {
        while !arms.is_empty() && matches!(self.kind(), TokenKind::Else | TokenKind::Elsif) {
            let message = format!("{} after `else`", self.found());
            let diagnostic = Diagnostic::new(Code::UnexpectedToken, message, self.span()).also(opener, "in this `if`");
            self.report(diagnostic);
            let is_elsif = self.at(TokenKind::Elsif);
            self.bump();
            if is_elsif {
                self.condition(TokenKind::Then);
            }
            self.block(Nesting::Nested);
        }
    }

    fn while_stmt(&mut self) -> StmtKind {
        let keyword = self.bump();
        self.state.open_whiles += 1;
        let condition = self.condition(TokenKind::Do);
        let body = self.block(Nesting::Nested);
        self.state.open_whiles -= 1;
        let end = self.closing_word(TokenKind::Od, keyword);
        StmtKind::While(Box::new(While { keyword, condition, body, end }))
    }

    /// Parses a condition and the word after it. Anything else in between is skipped.
    fn condition(&mut self, word: TokenKind) -> Expr {
        let condition = self.expr();
        if !self.at(word) {
            self.miss(&word.describe());
            let start = self.position;
            while !self.at_landmark() && !self.at(word) && !self.at(TokenKind::Semicolon) {
                self.bump();
            }
            self.skipped_since(start);
        }
        self.eat(word);
        self.lost = false;
        condition
    }

    /// Consumes `fi` or `od`, or reports that it is missing.
    fn closing_word(&mut self, word: TokenKind, opener: Span) -> Span {
        if self.at(word) {
            return self.bump();
        }
        let message = format!("this `{}` has no {}", opener.of(self.text), word.describe());
        let mut diagnostic = Diagnostic::new(Code::Unclosed, message, opener)
            .label("begins here")
            .also(self.span(), format!("expected {} before this", word.describe()));
        if self.at(TokenKind::End) {
            let closer = word.describe();
            diagnostic = diagnostic.help(format!("`end` closes a procedure; this block is closed by {closer}"));
        }
        self.report(diagnostic);
        if self.has_spare_end() { self.bump() } else { self.after_previous() }
    }

    /// Returns whether the next word is an `end`, and enough others follow for the procedure and the process around it:
    /// then it was meant for a block.
    fn has_spare_end(&self) -> bool {
        let rest = self.tokens[self.position..].iter().map(|token| token.kind);
        let is_next = |kind: &TokenKind| matches!(kind, TokenKind::Void | TokenKind::Bool | TokenKind::Eof);
        let own: Vec<TokenKind> = rest.clone().take_while(|kind| !is_next(kind)).collect();
        let is_last = rest.clone().nth(own.len()) == Some(TokenKind::Eof);
        let needed = 1 + usize::from(is_last && self.state.is_in_process);
        self.at(TokenKind::End) && own.iter().filter(|kind| **kind == TokenKind::End).count() > needed
    }

    /// Skips a statement that is nested too deeply, with everything in it.
    fn skip_nested(&mut self) -> StmtKind {
        let mut open = 0usize;
        let start = self.position;
        loop {
            match self.kind() {
                TokenKind::If | TokenKind::While => open += 1,
                TokenKind::Fi | TokenKind::Od => open = open.saturating_sub(1),
                TokenKind::End | TokenKind::Eof | TokenKind::Void | TokenKind::Bool => open = 0,
                _ => {}
            }
            if open == 0 {
                break;
            }
            self.bump();
        }
        if matches!(self.kind(), TokenKind::Fi | TokenKind::Od) {
            self.bump();
        }
        self.skipped_since(start);
        self.lost = false;
        StmtKind::Error
    }

    /// Parses `decl` and `enforce`.
    fn in_body_only(&mut self, place: Nesting, labels: &[Name]) -> StmtKind {
        let span = self.span();
        let word = self.found();
        if place == Nesting::Nested {
            let message = format!("{word} inside a block");
            let help = format!("place {word} directly between `begin` and `end` of a procedure");
            self.report(Diagnostic::new(Code::MisplacedDeclaration, message, span).help(help));
        } else if let Some(label) = labels.first() {
            let message = format!("a label before {word}");
            let help = "put the label before a statement";
            self.report(Diagnostic::new(Code::MisplacedDeclaration, message, label.span).help(help));
        }
        if self.at(TokenKind::Enforce) {
            return StmtKind::Enforce(self.operand());
        }
        let decl = self.decl();
        if place == Nesting::Nested {
            self.state.misplaced.push(decl);
            return StmtKind::Skip;
        }
        StmtKind::Decl(Box::new(decl))
    }
}
