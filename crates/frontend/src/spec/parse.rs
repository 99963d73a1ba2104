//! The parser of nets. Parts that cannot be parsed are omitted and reported.

use rustc_hash::FxHashMap;
use selvedge_ir::span::Span;

use super::{Change, Net, Tokens};
use crate::diagnostic::{Code, Diagnostic};
use crate::tokens::too_long;

/// Limit on the number of tokens taken or put at once: the reduction handles them one by one.
const MOST: u64 = 10_000;

/// The positions of the parts of a net.
#[derive(Debug, Default)]
pub(super) struct Places {
    /// The word `vars`.
    pub(super) head: Span,
    /// The positions of the rules.
    pub(super) rules: Vec<Span>,
    /// The positions of the targets.
    pub(super) targets: Vec<Span>,
}

type Parse<T> = Result<T, Box<Diagnostic>>;

fn wrong<T>(code: Code, message: impl Into<String>, span: Span) -> Parse<T> {
    Err(Box::new(Diagnostic::new(code, message, span)))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Token<'t> {
    text: &'t str,
    span: Span,
    /// True if it begins a line.
    begins: bool,
}

impl Token<'_> {
    fn is_name(&self) -> bool {
        self.text.starts_with(|c: char| c.is_alphabetic() || c == '_') && !self.is_keyword()
    }

    fn is_keyword(&self) -> bool {
        matches!(self.text, "vars" | "rules" | "init" | "target" | "invariants")
    }

    fn number(&self) -> Option<u64> {
        let is_number = self.text.bytes().all(|byte| byte.is_ascii_digit());
        is_number.then(|| self.text.parse().unwrap_or(u64::MAX))
    }
}

fn lex(text: &str) -> Vec<Token<'_>> {
    let mut tokens = Vec::new();
    let (mut at, mut begins) = (0, true);
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        let first = rest.chars().next().unwrap_or(' ');
        let in_word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '$');
        let length = match first {
            '#' => rest.find('\n').unwrap_or(rest.len()),
            _ if first.is_whitespace() => first.len_utf8(),
            _ if in_word(first) => rest.find(|c: char| !in_word(c)).unwrap_or(rest.len()),
            _ if rest.starts_with("->") || rest.starts_with(">=") => 2,
            _ => first.len_utf8(),
        };
        begins |= first == '\n';
        if !first.is_whitespace() && first != '#' {
            tokens.push(Token { text: &rest[..length], span: Span::new(at, at + length), begins });
            begins = false;
        }
        at += length;
    }
    tokens
}

/// Parses a text.
pub(super) fn parse(text: &str) -> (Net, Places, Vec<Diagnostic>) {
    if let Some(diagnostic) = too_long(text) {
        return (Net::default(), Places::default(), vec![diagnostic]);
    }
    let tokens = lex(text);
    let mut parser = Parser {
        tokens: &tokens,
        at: 0,
        end: Span::new(text.len(), text.len()),
        net: Net::default(),
        places: Places::default(),
        numbers: FxHashMap::default(),
        initial: FxHashMap::default(),
        diagnostics: Vec::new(),
    };
    parser.file();
    parser.finish();
    (parser.net, parser.places, parser.diagnostics)
}

struct Parser<'t> {
    tokens: &'t [Token<'t>],
    at: usize,
    end: Span,
    net: Net,
    places: Places,
    numbers: FxHashMap<&'t str, usize>,
    initial: FxHashMap<usize, Tokens>,
    diagnostics: Vec<Diagnostic>,
}

impl<'t> Parser<'t> {
    fn peek(&self) -> Option<Token<'t>> {
        self.tokens.get(self.at).copied()
    }

    fn next(&mut self) -> Option<Token<'t>> {
        let token = self.peek();
        self.at += usize::from(token.is_some());
        token
    }

    fn here(&self) -> Span {
        self.peek().map_or(self.end, |token| token.span)
    }

    /// Returns the position of the last token.
    fn last(&self) -> Span {
        self.at.checked_sub(1).map_or(Span::default(), |at| self.tokens[at].span)
    }

    fn eat(&mut self, text: &str) -> bool {
        let is_it = self.peek().is_some_and(|token| token.text == text);
        self.at += usize::from(is_it);
        is_it
    }

    fn expect(&mut self, text: &str, message: &str) -> Parse<()> {
        if self.eat(text) { Ok(()) } else { wrong(Code::UnexpectedToken, message, self.here()) }
    }

    fn note<T>(&mut self, result: Parse<T>) -> Option<T> {
        result.map_err(|diagnostic| self.diagnostics.push(*diagnostic)).ok()
    }

    /// Skips to after the next of these words, or to before the next section.
    fn skip_to(&mut self, text: &str) {
        while let Some(token) = self.peek().filter(|token| !token.is_keyword()) {
            self.at += 1;
            if token.text == text {
                return;
            }
        }
    }

    fn in_section(&self) -> bool {
        self.peek().is_some_and(|token| !token.is_keyword())
    }

    fn file(&mut self) {
        while let Some(token) = self.next() {
            match token.text {
                "vars" => self.vars(token.span),
                "rules" => self.rules(),
                "init" => self.init(),
                "target" => self.targets(),
                // Invariants are for other tools; they are ignored here.
                "invariants" => self.skip_to(""),
                _ => {
                    let message = "expected a section: `vars`, `rules`, `init` or `target`";
                    self.diagnostics.push(Diagnostic::new(Code::UnexpectedToken, message, token.span));
                    self.skip_to("");
                }
            }
        }
    }

    fn vars(&mut self, head: Span) {
        self.places.head = head;
        while self.in_section() {
            let Some(token) = self.next() else { return };
            if token.text == "," {
                continue;
            }
            if !token.is_name() {
                let message = "the name of a place must begin with a letter";
                self.diagnostics.push(Diagnostic::new(Code::UnexpectedToken, message, token.span));
            } else if self.numbers.contains_key(token.text) {
                let message = format!("`{}` is already declared", token.text);
                self.diagnostics.push(Diagnostic::new(Code::DuplicateVariable, message, token.span));
            } else {
                self.numbers.insert(token.text, self.net.places.len());
                self.net.places.push(token.text.to_string());
            }
        }
    }

    fn place(&mut self) -> Parse<usize> {
        let Some(token) = self.next().filter(Token::is_name) else {
            return wrong(Code::UnexpectedToken, "expected the name of a place", self.last());
        };
        match self.numbers.get(token.text) {
            Some(place) => Ok(*place),
            None => wrong(Code::UnknownVariable, format!("there is no place `{}`", token.text), token.span),
        }
    }

    fn number(&mut self) -> Parse<u32> {
        let Some(token) = self.next() else { return wrong(Code::UnexpectedToken, "a number is expected", self.end) };
        match token.number() {
            Some(number) if number <= MOST => Ok(u32::try_from(number).expect("the bound is small")),
            Some(_) => wrong(Code::NumberOutOfRange, format!("numbers above {MOST} are not supported"), token.span),
            None => wrong(Code::UnexpectedToken, "a number is expected", token.span),
        }
    }

    fn rules(&mut self) {
        while self.in_section() {
            let start = self.here();
            let rule = self.rule();
            match self.note(rule) {
                Some(rule) => {
                    self.net.rules.push(rule);
                    self.places.rules.push(start.to(self.last()));
                }
                None => self.skip_to(";"),
            }
        }
    }

    fn rule(&mut self) -> Parse<Change> {
        let mut change = Change { needs: self.conditions("a rule")?, puts: Vec::new() };
        self.expect("->", "expected `->` after the conditions of a rule")?;
        while !self.eat(";") {
            let (place, number) = self.update()?;
            match change.puts.iter().any(|(other, _)| *other == place) {
                true => return wrong(Code::AssignedTwice, "the place is changed twice by one rule", self.last()),
                false => change.puts.push((place, number)),
            }
            if !self.eat(",") && self.peek().is_none_or(|token| token.text != ";") {
                return wrong(Code::UnexpectedToken, "expected `,` or `;` after a change", self.here());
            }
        }
        change.puts.retain(|(_, number)| *number != 0);
        for (place, number) in &change.puts {
            // A rule needs the tokens that it takes.
            let taken = u32::try_from(-number.min(&0)).expect("the bound is small");
            match change.needs.iter_mut().find(|(other, _)| other == place) {
                Some((_, needed)) => *needed = taken.max(*needed),
                None if taken > 0 => change.needs.push((*place, taken)),
                None => {}
            }
        }
        Ok(change)
    }

    /// Parses `x >= 1, y >= 2`; lines may break after commas.
    fn conditions(&mut self, whose: &str) -> Parse<Vec<(usize, u32)>> {
        let mut conditions: Vec<(usize, u32)> = Vec::new();
        loop {
            let start = self.here();
            let place = self.place()?;
            if self.eat("=") {
                let message =
                    format!("the condition of {whose} must use `>=`: a net cannot test for the absence of tokens");
                return wrong(Code::Unsupported, message, start.to(self.here()));
            }
            self.expect(">=", "expected `>=` after the name of the place")?;
            let number = self.number()?;
            match conditions.iter_mut().find(|(other, _)| *other == place) {
                Some((_, needed)) => *needed = number.max(*needed),
                None => conditions.push((place, number)),
            }
            if !self.eat(",") {
                conditions.retain(|(_, number)| *number > 0);
                return Ok(conditions);
            }
        }
    }

    /// Parses `x' = x + 1`, `x' = x - 1` or `x' = x`.
    fn update(&mut self) -> Parse<(usize, i64)> {
        let start = self.here();
        let place = self.place()?;
        self.expect("'", "expected a change like `x' = x + 1`")?;
        self.expect("=", "expected `=` after the new value")?;
        if self.peek().is_some_and(|token| token.number().is_some()) {
            let message = "the place is set to a constant: resets are not supported";
            return wrong(Code::Unsupported, message, start.to(self.here()));
        }
        let source = self.place()?;
        if source != place {
            let message = "tokens of another place are moved at once: transfers are not supported";
            return wrong(Code::Unsupported, message, start.to(self.last()));
        }
        let sign = if self.eat("+") {
            1
        } else if self.eat("-") {
            -1
        } else {
            return Ok((place, 0));
        };
        if self.peek().is_some_and(|token| token.is_name()) {
            let message = "tokens of another place are moved at once: transfers are not supported";
            return wrong(Code::Unsupported, message, start.to(self.here()));
        }
        Ok((place, sign * i64::from(self.number()?)))
    }

    fn init(&mut self) {
        while self.in_section() {
            let tokens = self.tokens();
            if let Some((place, tokens)) = self.note(tokens) {
                self.initial.insert(place, tokens);
            } else {
                self.skip_to(",");
            }
            self.eat(",");
        }
    }

    fn tokens(&mut self) -> Parse<(usize, Tokens)> {
        let start = self.here();
        let place = self.place()?;
        let tokens = if self.eat("=") {
            Tokens::Exactly(self.number()?)
        } else {
            self.expect(">=", "expected `=` or `>=` after the name of the place")?;
            Tokens::AtLeast(self.number()?)
        };
        if self.initial.contains_key(&place) {
            return wrong(Code::AssignedTwice, "the place already has an initial number", start.to(self.last()));
        }
        Ok((place, tokens))
    }

    fn targets(&mut self) {
        while self.in_section() {
            let start = self.here();
            let conditions = self.conditions("a target");
            match self.note(conditions) {
                Some(conditions) => {
                    self.net.targets.push(conditions);
                    self.places.targets.push(start.to(self.last()));
                }
                None => self.skip_to(""),
            }
            if let Some(token) = self.peek().filter(|token| !token.begins && !token.is_keyword()) {
                let message = "another target must begin on a new line";
                self.diagnostics.push(Diagnostic::new(Code::UnexpectedToken, message, token.span));
                self.skip_to("");
            }
        }
    }

    /// Reports missing parts at the end.
    fn finish(&mut self) {
        for number in 0..self.net.places.len() {
            let tokens = self.initial.get(&number).copied();
            if tokens.is_none() {
                let name = &self.net.places[number];
                let message = format!("`init` does not give the initial number of tokens of `{name}`");
                let help = format!("add `{name} = 0`");
                self.diagnostics.push(Diagnostic::new(Code::UnexpectedToken, message, self.end).help(help));
                return;
            }
            self.net.initial.push(tokens.unwrap_or(Tokens::Exactly(0)));
        }
        if self.net.places.is_empty() && self.diagnostics.is_empty() {
            let message = "the net has no places: add a section `vars`";
            self.diagnostics.push(Diagnostic::new(Code::UnexpectedToken, message, self.end));
        }
        self.diagnostics.sort_by_key(|diagnostic| diagnostic.primary.span);
    }
}
