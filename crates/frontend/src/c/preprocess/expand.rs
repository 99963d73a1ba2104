//! The flow of tokens, and the replacement of macros.

use std::rc::Rc;

use super::{MAX_NESTING, Macro, MacroKind, Preprocessor, Replacement};
use crate::c::files::{Expansion, Loc};
use crate::c::lexer::{Kind, Token};
use crate::diagnostic::Code;

/// The arguments of a macro, each a list of tokens, and the closing parenthesis.
pub(super) struct Arguments {
    pub(super) lists: Vec<Vec<Token>>,
    end: Loc,
}

impl Preprocessor<'_> {
    /// Returns the next token of the files, and executes the directives before it.
    fn next_raw(&mut self) -> Option<Token> {
        loop {
            if self.is_over() {
                return None;
            }
            let frame = self.frames.last_mut()?;
            let Some(token) = frame.tokens.get(frame.next).copied() else {
                self.leave();
                continue;
            };
            frame.next += 1;
            self.count(1);
            match token.kind {
                Kind::Newline => {}
                Kind::Hash if token.first => self.directive(token),
                _ => return Some(Token { space: token.space || token.first, ..token }),
            }
        }
    }

    /// Returns the next token, from the macros that are being replaced or else from the files. `None` at a barrier.
    pub(super) fn next(&mut self) -> Option<Token> {
        while let Some(top) = self.replacements.last_mut() {
            if let Some(token) = top.tokens.get(top.next).copied() {
                top.next += 1;
                self.count(1);
                return (!self.is_over()).then_some(token);
            }
            if top.is_barrier {
                return None;
            }
            if let Some(of) = self.replacements.pop().and_then(|top| top.of) {
                of.busy.set(false);
            }
        }
        self.next_raw()
    }

    /// Returns the next token that is not the use of a macro.
    pub(super) fn next_expanded(&mut self) -> Option<Token> {
        loop {
            let token = self.next()?;
            if token.kind != Kind::Name || token.fixed {
                return Some(token);
            }
            let Some(found) = self.macros.get(&token.text).map(Rc::clone) else { return Some(token) };
            if found.busy.get() {
                return Some(Token { fixed: true, ..token });
            }
            if !self.replace(token, &found) {
                return Some(token);
            }
        }
    }

    /// Replaces all macros in some tokens, on their own.
    pub(super) fn expand_all(&mut self, tokens: Vec<Token>) -> Vec<Token> {
        if self.nesting >= MAX_NESTING {
            let loc = tokens.first().map_or_else(Loc::default, |token| token.loc);
            self.error(Code::BeyondLimit, format!("macros nested more than {MAX_NESTING} levels deep"), loc);
            // Nothing sensible can be said about what follows.
            self.steps = usize::MAX;
            return Vec::new();
        }
        self.nesting += 1;
        self.replacements.push(Replacement { tokens: tokens.into(), next: 0, of: None, is_barrier: true });
        let depth = self.replacements.len();
        let mut expanded = Vec::new();
        while let Some(token) = self.next_expanded() {
            expanded.push(token);
        }
        while self.replacements.len() >= depth {
            if let Some(of) = self.replacements.pop().and_then(|top| top.of) {
                of.busy.set(false);
            }
        }
        self.nesting -= 1;
        expanded
    }

    /// Replaces the use of a macro. Returns `false` if it is not a use, because the list of arguments is missing.
    fn replace(&mut self, token: Token, found: &Rc<Macro>) -> bool {
        if found.kind != MacroKind::User {
            self.replace_built_in(token, found.kind);
            return true;
        }
        let arguments = match &found.params {
            None => None,
            Some(params) => {
                if !self.eat_parenthesis() {
                    return false;
                }
                match self.arguments(token, params.len(), found.variadic) {
                    Some(arguments) => Some(arguments),
                    None => return true,
                }
            }
        };
        let end = arguments.as_ref().map_or(token.loc, |arguments| arguments.end);
        let loc = self.use_of(token, end, found);
        let lists = arguments.map(|arguments| arguments.lists).unwrap_or_default();
        let mut tokens = self.substitute(found, &lists, loc);
        if let Some(first) = tokens.first_mut() {
            (first.space, first.first) = (token.space, token.first);
        }
        self.count(tokens.len());
        found.busy.set(true);
        let of = Some(Rc::clone(found));
        self.replacements.push(Replacement { tokens: tokens.into(), next: 0, of, is_barrier: false });
        true
    }

    /// Notes the use of a macro, and returns the place that the tokens of its body get.
    fn use_of(&mut self, token: Token, end: Loc, found: &Macro) -> Loc {
        let name = self.names.text(token.text).to_owned();
        let expansion = self.expansions.add(Expansion { name, defined: found.defined, used: token.loc });
        // Inside of another macro the place is that macro's.
        let is_outermost = token.loc.expansion.is_none() && end.expansion.is_none();
        let whole = if is_outermost { self.files.join(token.loc, end) } else { token.loc };
        let span = if whole.span.start <= whole.span.end { whole.span } else { token.loc.span };
        Loc { span, written: span, expansion: Some(expansion) }
    }

    fn replace_built_in(&mut self, token: Token, kind: MacroKind) {
        let place = self.files.place(token.loc.span.start);
        let (kind, text) = match kind {
            MacroKind::Line | MacroKind::User => (Kind::Number, place.line.to_string()),
            MacroKind::File => (Kind::Str, format!("{:?}", place.file)),
            MacroKind::Counter => {
                self.counter += 1;
                (Kind::Number, (self.counter - 1).to_string())
            }
        };
        let text = self.names.intern(&text);
        let tokens = [Token { kind, text, fixed: true, ..token }].into();
        self.replacements.push(Replacement { tokens, next: 0, of: None, is_barrier: false });
    }

    /// Consumes an opening parenthesis, if it is next.
    fn eat_parenthesis(&mut self) -> bool {
        match self.next() {
            Some(token) if token.kind == Kind::LParen => true,
            Some(token) => {
                let tokens = [token].into();
                self.replacements.push(Replacement { tokens, next: 0, of: None, is_barrier: false });
                false
            }
            None => false,
        }
    }

    /// Reads the arguments of a macro up to the closing parenthesis.
    fn arguments(&mut self, token: Token, n_params: usize, variadic: bool) -> Option<Arguments> {
        let mut lists: Vec<Vec<Token>> = vec![Vec::new()];
        let mut depth = 0;
        loop {
            let Some(next) = self.next() else {
                if !self.is_over() {
                    let name = self.names.text(token.text).to_owned();
                    self.error(Code::CMacro, format!("the arguments of the macro `{name}` are not closed"), token.loc);
                }
                return None;
            };
            let is_rest = variadic && lists.len() == n_params;
            match next.kind {
                Kind::RParen if depth == 0 => {
                    return self.checked(token, Arguments { lists, end: next.loc }, n_params, variadic);
                }
                Kind::Comma if depth == 0 && !is_rest => {
                    lists.push(Vec::new());
                    continue;
                }
                Kind::LParen => depth += 1,
                Kind::RParen => depth -= 1,
                _ => {}
            }
            if let Some(list) = lists.last_mut() {
                list.push(Token { first: false, ..next });
            }
        }
    }

    /// Checks the number of arguments. A missing list for the last parameter of a variadic macro is empty.
    fn checked(&mut self, token: Token, mut found: Arguments, n_params: usize, variadic: bool) -> Option<Arguments> {
        if n_params == 0 && found.lists.len() == 1 && found.lists[0].is_empty() {
            found.lists.clear();
        }
        if variadic && found.lists.len() + 1 == n_params {
            found.lists.push(Vec::new());
        }
        if found.lists.len() == n_params {
            return Some(found);
        }
        let (name, n_found) = (self.names.text(token.text).to_owned(), found.lists.len());
        let message = format!("the macro `{name}` has {n_params} parameters, and is used with {n_found} arguments");
        self.error(Code::CMacro, message, token.loc);
        None
    }
}
