//! The body of a macro with its arguments in place.
//!
//! An argument is fully expanded before it takes the place of its parameter, except beside `#` and `##`. An empty
//! operand of `##` leaves the other one as it is.

use super::{Macro, Preprocessor};
use crate::c::files::Loc;
use crate::c::lexer::{Kind, Token, lex};
use crate::c::names::Symbol;
use crate::diagnostic::Code;

/// The state of one substitution.
struct Substitution<'m> {
    found: &'m Macro,
    arguments: &'m [Vec<Token>],
    /// The arguments with their macros replaced, as far as they were needed.
    expanded: Vec<Option<Vec<Token>>>,
    loc: Loc,
    tokens: Vec<Token>,
    /// True if the last operand was an empty argument: `##` then has nothing to its left.
    is_empty: bool,
}

impl Substitution<'_> {
    /// Returns the number of a parameter.
    fn param(&self, token: &Token) -> Option<usize> {
        let params = self.found.params.as_ref()?;
        (token.kind == Kind::Name).then(|| params.iter().position(|param| *param == token.text))?
    }

    /// Returns a token of the body with the place of the use.
    fn placed(&self, token: Token) -> Token {
        Token { loc: Loc { written: token.loc.span, ..self.loc }, first: false, ..token }
    }

    fn is_variadic(&self, param: usize) -> bool {
        self.found.variadic && self.found.params.as_ref().is_some_and(|params| param + 1 == params.len())
    }
}

impl Preprocessor<'_> {
    /// Returns the replacement of a macro.
    pub(super) fn substitute(&mut self, found: &Macro, arguments: &[Vec<Token>], loc: Loc) -> Vec<Token> {
        let expanded = vec![None; arguments.len()];
        let mut state = Substitution { found, arguments, expanded, loc, tokens: Vec::new(), is_empty: false };
        let mut at = 0;
        while let Some(token) = found.body.get(at).copied() {
            if self.is_over() {
                break;
            }
            at += 1;
            let next = found.body.get(at).map(|next| next.kind);
            match token.kind {
                Kind::Hash if found.params.is_some() => {
                    let param = found.body.get(at).and_then(|next| state.param(next));
                    at += usize::from(param.is_some());
                    self.stringize(&mut state, token, param);
                }
                Kind::HashHash if at > 1 && at < found.body.len() => {
                    let operand = found.body[at];
                    at += 1;
                    let is_more = found.body.get(at).is_some_and(|next| next.kind == Kind::HashHash);
                    self.paste_operand(&mut state, operand, is_more);
                }
                _ => self.plain(&mut state, token, next == Some(Kind::HashHash)),
            }
        }
        state.tokens
    }

    /// Adds a token of the body, or the argument in its place; `is_pasted` if `##` follows.
    fn plain(&mut self, state: &mut Substitution<'_>, token: Token, is_pasted: bool) {
        state.is_empty = false;
        let Some(param) = state.param(&token) else {
            state.tokens.push(state.placed(token));
            return;
        };
        let mut list = if is_pasted { state.arguments[param].clone() } else { self.expanded(state, param) };
        state.is_empty = list.is_empty();
        if let Some(first) = list.first_mut() {
            first.space = token.space;
        }
        self.count(list.len());
        state.tokens.append(&mut list);
    }

    fn expanded(&mut self, state: &mut Substitution<'_>, param: usize) -> Vec<Token> {
        if let Some(list) = &state.expanded[param] {
            return list.clone();
        }
        let list = self.expand_all(state.arguments[param].clone());
        state.expanded[param] = Some(list.clone());
        list
    }

    /// Pastes the right operand of `##` to the last token.
    fn paste_operand(&mut self, state: &mut Substitution<'_>, operand: Token, is_more: bool) {
        let Some(param) = state.param(&operand) else {
            self.paste(state, vec![state.placed(operand)]);
            return;
        };
        let comma = self.words.comma;
        let is_after_comma = !state.is_empty && state.tokens.last().is_some_and(|last| last.text == comma);
        if is_after_comma && state.is_variadic(param) {
            // The extension of GNU: without further arguments the comma goes too.
            if state.arguments[param].is_empty() {
                state.tokens.pop();
            } else {
                self.plain(state, operand, is_more);
            }
            return;
        }
        self.paste(state, state.arguments[param].clone());
    }

    fn paste(&mut self, state: &mut Substitution<'_>, list: Vec<Token>) {
        self.count(list.len());
        let mut list = list.into_iter();
        let left = if state.is_empty { None } else { state.tokens.pop() };
        match (left, list.next()) {
            (Some(left), Some(right)) => {
                let pasted = self.glue(state, left, right);
                state.tokens.extend(pasted);
            }
            (left, right) => {
                state.is_empty = left.is_none() && right.is_none();
                state.tokens.extend(left);
                state.tokens.extend(right);
                state.tokens.extend(list);
                return;
            }
        }
        state.is_empty = false;
        state.tokens.extend(list);
    }

    /// Makes one token of two.
    fn glue(&mut self, state: &Substitution<'_>, left: Token, right: Token) -> Vec<Token> {
        let text = format!("{}{}", self.names.text(left.text), self.names.text(right.text));
        let tokens = lex(&text, 0, &mut self.names);
        match tokens.as_slice() {
            [one] if one.kind != Kind::Stray => {
                let loc = Loc { written: left.loc.written, ..state.loc };
                vec![Token { loc, space: left.space, first: false, ..*one }]
            }
            _ => {
                self.error(Code::CMacro, format!("`##` makes `{text}`, which is not one token"), state.loc);
                vec![left, right]
            }
        }
    }

    /// Adds the string that `#` makes of an argument.
    fn stringize(&mut self, state: &mut Substitution<'_>, hash: Token, param: Option<usize>) {
        state.is_empty = false;
        let Some(param) = param else {
            self.error(Code::CMacro, "`#` must be followed by a parameter", Loc::new(hash.loc.span));
            return;
        };
        let text = self.spelled(&state.arguments[param]);
        let text = self.names.intern(&text);
        state.tokens.push(Token { kind: Kind::Str, text, ..state.placed(hash) });
    }

    /// Returns a string that shows some tokens: one space where there is white space between them.
    fn spelled(&self, tokens: &[Token]) -> String {
        let mut text = "\"".to_owned();
        for (at, token) in tokens.iter().enumerate() {
            if at > 0 && token.space {
                text.push(' ');
            }
            let is_quoted = matches!(token.kind, Kind::Str | Kind::Character);
            for char in self.names.text(token.text).chars() {
                if char == '"' || char == '\\' && is_quoted {
                    text.push('\\');
                }
                text.push(char);
            }
        }
        text.push('"');
        text
    }

    /// Returns the text of a name.
    pub(super) fn text(&self, symbol: Symbol) -> &str {
        self.names.text(symbol)
    }
}
