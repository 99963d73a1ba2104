//! Declarations, conditions, commands and processes.

use selvedge_ir::span::Span;

use super::Parser;
use crate::diagnostic::{Code, Diagnostic};
use crate::gcl::ast::{Command, Expr, Init, Item, Name, Process, ProcessItem, Safe, Start, Type, Update, Vars};
use crate::gcl::lexer::TokenKind;

impl Parser<'_> {
    pub(super) fn items(&mut self) -> Vec<Item> {
        self.items_until(|parser| parser.at(TokenKind::Eof), Self::item)
    }

    /// Parses items up to the end of the list. After an error, parsing goes on with the next item.
    fn items_until<T>(&mut self, ends: fn(&Self) -> bool, item: fn(&mut Self) -> Option<T>) -> Vec<T> {
        let mut items = Vec::new();
        while !ends(self) {
            let before = self.position;
            items.extend(item(self));
            if self.lost {
                self.recover();
            }
            // A token that is never allowed here, like an extra `}`: it has been reported.
            if self.position == before {
                self.bump();
            }
        }
        items
    }

    fn item(&mut self) -> Option<Item> {
        let start = self.span();
        match self.kind() {
            TokenKind::Var => self.vars().map(Item::Vars),
            TokenKind::Init => {
                self.bump();
                let condition = self.expr();
                self.end_of_item();
                Some(Item::Init(Init { condition, span: self.since(start) }))
            }
            TokenKind::Safe => Some(Item::Safe(self.safe())),
            TokenKind::DeadlockFree => {
                self.bump();
                self.end_of_item();
                Some(Item::DeadlockFree(self.since(start)))
            }
            TokenKind::Process => self.process().map(Item::Process),
            TokenKind::At | TokenKind::Start => {
                let message = format!("{} outside a process", self.found());
                self.lose(Diagnostic::new(Code::MisplacedGoto, message, start));
                self.bump();
                None
            }
            TokenKind::RBrace | TokenKind::LBrace | TokenKind::Semicolon => {
                self.miss("a declaration, a command or a condition");
                None
            }
            _ => Some(Item::Command(self.command())),
        }
    }

    /// Consumes the `;` after an item. If the next item clearly begins, only the missing `;` is reported.
    fn end_of_item(&mut self) {
        if self.lost || self.eat(TokenKind::Semicolon) {
            return;
        }
        if self.at_landmark() || self.at(TokenKind::At) || self.at_item_name() {
            let message = format!("expected `;`, found {}", self.found());
            let diagnostic = Diagnostic::new(Code::MissingSemicolon, message, self.after_previous());
            self.report(diagnostic.label("`;` is missing"));
        } else {
            self.miss("`;`");
        }
    }

    fn vars(&mut self) -> Option<Vars> {
        let start = self.bump();
        let names = self.comma_list(|parser| parser.name("the name of a variable"));
        if self.lost || !self.expect(TokenKind::Colon) {
            return None;
        }
        let (ty, ty_span) = self.ty();
        let value = (!self.lost && self.eat(TokenKind::Eq)).then(|| self.expr());
        self.end_of_item();
        Some(Vars { names, ty, ty_span, value, span: self.since(start) })
    }

    fn ty(&mut self) -> (Type, Span) {
        let start = self.span();
        let ty = match self.kind() {
            TokenKind::Int => {
                self.bump();
                Type::Int
            }
            TokenKind::Bool => {
                self.bump();
                Type::Bool
            }
            TokenKind::Number | TokenKind::Minus => self.range(),
            _ => {
                self.miss("a type: `int`, `bool` or a range like `0..3`");
                Type::Error
            }
        };
        (ty, self.since(start))
    }

    fn range(&mut self) -> Type {
        let start = self.span();
        let low = self.bound();
        if !self.expect(TokenKind::Dots) {
            return Type::Error;
        }
        match (low, self.bound()) {
            (Some(low), Some(high)) if low <= high => Type::Range(low, high),
            (Some(_), Some(_)) => {
                let span = self.since(start);
                self.report(Diagnostic::new(Code::NumberOutOfRange, "this range has no values", span));
                Type::Error
            }
            _ => Type::Error,
        }
    }

    fn bound(&mut self) -> Option<i64> {
        let is_negative = self.eat(TokenKind::Minus);
        if !self.at(TokenKind::Number) {
            self.miss("a number");
            return None;
        }
        let number = self.number()?;
        Some(if is_negative { -number } else { number })
    }

    /// Consumes a number; `None` if it is too large.
    pub(super) fn number(&mut self) -> Option<i64> {
        let number = self.slice().parse().ok();
        if number.is_none() {
            let message = format!("the number {} is too large", self.found());
            let diagnostic = Diagnostic::new(Code::NumberOutOfRange, message, self.span());
            self.report(diagnostic.help(format!("the largest constant is {}", i64::MAX)));
        }
        self.bump();
        number
    }

    fn safe(&mut self) -> Safe {
        let start = self.bump();
        let name = self.item_name();
        let condition = self.expr();
        self.end_of_item();
        Safe { name, condition, span: self.since(start) }
    }

    /// Consumes `name:`, if it is next.
    fn item_name(&mut self) -> Option<Name> {
        if !self.at_item_name() {
            return None;
        }
        let name = self.name("a name");
        self.bump();
        name
    }

    fn at_item_name(&self) -> bool {
        self.at(TokenKind::Word) && self.peek(1) == TokenKind::Colon
    }

    fn command(&mut self) -> Command {
        let start = self.span();
        let name = self.item_name();
        let guard = self.guard();
        let updates = if self.lost { Vec::new() } else { self.comma_list(Self::update) };
        self.end_of_item();
        Command { name, guard, updates, span: self.since(start) }
    }

    fn guard(&mut self) -> Option<Expr> {
        let has_none = match self.kind() {
            TokenKind::Goto | TokenKind::Skip => true,
            TokenKind::Word => self.peek(1) == TokenKind::Becomes,
            _ => false,
        };
        if has_none {
            return None;
        }
        let guard = self.expr();
        if !self.lost {
            self.expect(TokenKind::Arrow);
        }
        Some(guard)
    }

    fn update(&mut self) -> Option<Update> {
        let start = self.span();
        match self.kind() {
            TokenKind::Skip => {
                self.bump();
                Some(Update::Skip)
            }
            TokenKind::Goto => {
                self.bump();
                let name = self.name("the name of a location")?;
                Some(Update::Goto(name, self.since(start)))
            }
            _ => {
                let name = self.name("an assignment, `goto` or `skip`")?;
                if !self.expect(TokenKind::Becomes) {
                    return None;
                }
                Some(Update::Assign(name, self.expr()))
            }
        }
    }

    fn process(&mut self) -> Option<Process> {
        let start = self.bump();
        let name = self.name("the name of a process")?;
        let header = self.since(start);
        let opener = self.span();
        if !self.expect(TokenKind::LBrace) {
            return None;
        }
        let items = self.items_until(Self::ends_process, Self::process_item);
        self.close(TokenKind::RBrace, opener);
        Some(Process { name, items, span: header })
    }

    fn ends_process(&self) -> bool {
        matches!(
            self.kind(),
            TokenKind::RBrace
                | TokenKind::Eof
                | TokenKind::Process
                | TokenKind::Safe
                | TokenKind::Init
                | TokenKind::DeadlockFree
        )
    }

    fn process_item(&mut self) -> Option<ProcessItem> {
        match self.kind() {
            TokenKind::Var => self.vars().map(ProcessItem::Vars),
            TokenKind::Start => self.start().map(ProcessItem::Start),
            TokenKind::At => self.location(),
            _ => {
                let diagnostic = self.unexpected("`at`, `start` or `var`");
                self.lose(diagnostic.help("in a process every command needs a location: `at l: guard -> x := e;`"));
                None
            }
        }
    }

    fn start(&mut self) -> Option<Start> {
        let start = self.bump();
        if self.eat(TokenKind::Any) {
            self.end_of_item();
            return Some(Start::Any(self.since(start)));
        }
        let locations = self.comma_list(|parser| parser.name("the name of a location"));
        self.end_of_item();
        (!self.lost).then(|| Start::Locations(locations, self.since(start)))
    }

    fn location(&mut self) -> Option<ProcessItem> {
        let start = self.bump();
        let names = self.comma_list(|parser| parser.name("the name of a location"));
        if self.lost {
            return None;
        }
        if self.eat(TokenKind::Semicolon) {
            return Some(ProcessItem::At(names, None));
        }
        if !self.expect(TokenKind::Colon) {
            return None;
        }
        let command = self.command();
        Some(ProcessItem::At(names, Some(Command { span: start.to(command.span), ..command })))
    }
}
