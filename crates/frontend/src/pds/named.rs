//! Pushdown systems with named states and symbols: a rule, `initial` or `target` per line.
//!
//! ```text
//! initial <p, g>
//! target <q, h>
//! <p, g> --> <q, h g>
//! ```
//!
//! A line that cannot be parsed is omitted and reported.

use std::fmt::Write as _;

use rustc_hash::FxHashMap;
use selvedge_ir::pds::{Config, Head, Pds, Rule, StateId, SymbolId};
use selvedge_ir::span::Span;

use super::{is_arrow, lex};
use crate::diagnostic::{Code, Diagnostic};
use crate::words::{Parse, Word, lines, unexpected};

/// The content of angle brackets.
struct Angled<'t> {
    state: &'t str,
    word: Vec<Word<'t>>,
    span: Span,
}

/// Parses the tokens of a text of this length.
pub(super) fn parse(tokens: &[Word<'_>], length: usize, diagnostics: &mut Vec<Diagnostic>) -> Pds {
    let mut builder = Builder::default();
    for line in lines(tokens) {
        if let Err(diagnostic) = builder.line(line) {
            diagnostics.push(*diagnostic);
        }
    }
    if builder.pds.initial.is_empty() && diagnostics.is_empty() {
        let diagnostic =
            Diagnostic::new(Code::NoEntry, "the system has no initial configuration", Span::new(length, length));
        diagnostics.push(diagnostic.help("add a line `initial <p, g>`"));
    }
    builder.pds
}

#[derive(Default)]
struct Builder<'t> {
    pds: Pds,
    states: FxHashMap<&'t str, StateId>,
    symbols: FxHashMap<&'t str, SymbolId>,
}

impl<'t> Builder<'t> {
    fn line(&mut self, line: &[Word<'t>]) -> Parse<()> {
        let (first, rest) = line.split_first().expect("empty lines are left out");
        match first.text {
            "initial" => {
                let angled = whole(rest, first.span)?;
                let stack = self.word(&angled)?;
                let state = self.state(angled.state);
                self.pds.initial.push(Config { state, stack });
            }
            "target" => {
                let angled = whole(rest, first.span)?;
                let head = self.head(&angled)?;
                self.pds.targets.push(head);
            }
            "<" => self.rule(line)?,
            _ => {
                return unexpected(
                    "expected a rule `<p, g> --> <q, w>`, `initial <p, w>` or `target <p, g>`",
                    first.span,
                );
            }
        }
        Ok(())
    }

    fn rule(&mut self, line: &[Word<'t>]) -> Parse<()> {
        let (left, rest) = angled(line, line[0].span)?;
        let Some((arrow, rest)) = rest.split_first() else {
            return unexpected("a rule goes on with `-->` after its left-hand side", left.span);
        };
        if !is_arrow(arrow) {
            return unexpected("a rule goes on with `-->` after its left-hand side", arrow.span);
        }
        let right = whole(rest, arrow.span)?;
        let [top] = self.word(&left)?[..] else {
            return unexpected("the left-hand side of a rule must have one stack symbol", left.span);
        };
        let push = self.word(&right)?;
        if push.len() > 2 {
            let help = "push in several steps, with additional states";
            let diagnostic = Diagnostic::new(Code::UnexpectedToken, "a rule can push at most two symbols", right.span);
            return Err(Box::new(diagnostic.help(help)));
        }
        let (from, to) = (self.state(left.state), self.state(right.state));
        self.pds.rules.push(Rule { from, top, to, push });
        Ok(())
    }

    fn head(&mut self, angled: &Angled<'t>) -> Parse<Head> {
        let top = match angled.word[..] {
            [any] if any.text == "*" => None,
            _ => match self.word(angled)?[..] {
                [top] => Some(top),
                _ => return unexpected("a target has one stack symbol, or `*` for any stack", angled.span),
            },
        };
        Ok(Head { state: self.state(angled.state), top })
    }

    /// Returns the symbols between the comma and the bracket; `-` alone is the empty word.
    fn word(&mut self, angled: &Angled<'t>) -> Parse<Vec<SymbolId>> {
        if matches!(angled.word[..], [dash] if dash.text == "-") {
            return Ok(Vec::new());
        }
        let mut symbols = Vec::new();
        for token in &angled.word {
            if token.text == "-" || token.text == "*" {
                return unexpected(format!("`{}` is not a stack symbol", token.text), token.span);
            }
            let names = &mut self.pds.symbols;
            symbols.push(*self.symbols.entry(token.text).or_insert_with(|| names.push(token.text.to_string())));
        }
        Ok(symbols)
    }

    fn state(&mut self, name: &'t str) -> StateId {
        let names = &mut self.pds.states;
        *self.states.entry(name).or_insert_with(|| names.push(name.to_string()))
    }
}

fn is_sign(word: &Word<'_>) -> bool {
    matches!(word.text, "<" | ">" | "," | "|") || is_arrow(word)
}

/// Parses `<p, g h>` with nothing after it.
fn whole<'t>(tokens: &[Word<'t>], before: Span) -> Parse<Angled<'t>> {
    let (angled, rest) = angled(tokens, before)?;
    match rest.first() {
        Some(token) => unexpected("expected the end of the line", token.span),
        None => Ok(angled),
    }
}

/// Parses `<p, g h>`, and returns the tokens after it. `before` is the position for the error if there are no tokens.
fn angled<'t, 's>(tokens: &'s [Word<'t>], before: Span) -> Parse<(Angled<'t>, &'s [Word<'t>])> {
    let Some((open, rest)) = tokens.split_first() else { return unexpected("`<p, g>` is missing after this", before) };
    if open.text != "<" {
        return unexpected("expected `<` at the beginning of a configuration", open.span);
    }
    let Some(close) = rest.iter().position(|token| token.text == ">") else {
        return unexpected("this `<` is not closed", open.span);
    };
    let (inside, behind) = (&rest[..close], &rest[close + 1..]);
    let span = open.span.to(rest[close].span);
    let (state, word) = match inside {
        [state] => (state, &inside[1..]),
        [state, comma, word @ ..] if comma.text == "," => (state, word),
        [_, other, ..] => return unexpected("expected a comma after the state", other.span),
        [] => return unexpected("a configuration needs a state", span),
    };
    match word.iter().chain([state]).find(|word| is_sign(word)) {
        Some(token) => unexpected(format!("`{}` is not a name", token.text), token.span),
        None => Ok((Angled { state: state.text, word: word.to_vec(), span }, behind)),
    }
}

/// Reads a head `<p, g>` or `<p, *>` of a system; fails with a message without a full stop.
pub fn read_head(text: &str, pds: &Pds) -> Result<Head, String> {
    let (tokens, diagnostics) = lex(text);
    if let Some(diagnostic) = diagnostics.first() {
        return Err(diagnostic.message.clone());
    }
    let mut lines = lines(&tokens);
    let angled = whole(lines.next().unwrap_or_default(), Span::default()).map_err(|diagnostic| diagnostic.message)?;
    if lines.next().is_some() {
        return Err("expected the end of the line".to_string());
    }
    let state = pds.states.position(|name| name == angled.state);
    let state = state.ok_or(format!("the system has no state `{}`", angled.state))?;
    let top = match angled.word[..] {
        [any] if any.text == "*" => None,
        [top] => {
            let symbol = pds.symbols.position(|name| name == top.text);
            Some(symbol.ok_or(format!("the system has no stack symbol `{}`", top.text))?)
        }
        _ => return Err("a target has one stack symbol, or `*` for any stack".to_string()),
    };
    Ok(Head { state, top })
}

/// Prints a system in a form that parses to the same system, up to the order of names.
pub fn print(pds: &Pds) -> String {
    print_with_comments(pds, &[])
}

/// Prints a system with comments at the beginning, one per line.
pub fn print_with_comments(pds: &Pds, comments: &[String]) -> String {
    let mut text = String::new();
    for comment in comments {
        let _ = writeln!(text, "# {}", comment.replace('\n', " "));
    }
    for config in &pds.initial {
        let _ = writeln!(text, "initial {}", pds.show(config));
    }
    for head in &pds.targets {
        let _ = writeln!(text, "target {}", pds.show_head(*head));
    }
    for rule in &pds.rules {
        let _ = writeln!(text, "{}", pds.show_rule(rule));
    }
    text
}
