//! The parser of nets. Parts that cannot be parsed are omitted and reported.
//!
//! What MIST refuses is refused here, too: sections that are repeated or not in its order, a place that is limited
//! twice in one guard, target, initial marking or invariant, and a rule that takes more tokens than its guard requires.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;
use selvedge_ir::span::Span;

use super::{Change, Net, Tokens};
use crate::diagnostic::{Code, Diagnostic};
use crate::words::{Parse, Word, WordCursor, run, sign, unexpected, words, wrong};

/// Limit on the number of tokens taken or put at once: the reduction handles them one by one.
const MOST: u64 = 10_000;

/// The positions of the parts of a net.
#[derive(Debug, Default)]
pub(super) struct Places {
    /// The word `vars`.
    pub(super) head: Span,
    /// The word `init`.
    pub(super) init: Span,
    /// The positions of the rules.
    pub(super) rules: Vec<Span>,
    /// The positions of the targets.
    pub(super) targets: Vec<Span>,
}

fn is_keyword(word: &Word<'_>) -> bool {
    SECTIONS.contains(&word.text)
}

fn is_name(word: &Word<'_>) -> bool {
    let is_reserved = is_keyword(word) || matches!(word.text, "in" | "true");
    word.text.starts_with(|c: char| c.is_alphabetic() || c == '_') && !is_reserved
}

/// The sections in the order in which MIST reads them.
const SECTIONS: [&str; 5] = ["vars", "rules", "init", "target", "invariants"];

fn lex(text: &str) -> (Vec<Word<'_>>, Vec<Diagnostic>) {
    let in_word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '$');
    words(text, |rest, _| if rest.starts_with(in_word) { run(rest, in_word) } else { sign(rest, &["->", ">="]) })
}

/// Parses a text.
pub(super) fn parse(text: &str) -> (Net, Places, Vec<Diagnostic>) {
    let (words, diagnostics) = lex(text);
    let mut parser = Parser {
        words: WordCursor::new(text, words),
        net: Net::default(),
        places: Places::default(),
        numbers: FxHashMap::default(),
        initial: FxHashMap::default(),
        diagnostics,
    };
    parser.file();
    parser.finish();
    (parser.net, parser.places, parser.diagnostics)
}

/// The new number of tokens of a place: all that some places have, and a number.
struct Sum {
    place: usize,
    places: Vec<usize>,
    number: i64,
    span: Span,
}

struct Parser<'t> {
    words: WordCursor<'t>,
    net: Net,
    places: Places,
    numbers: FxHashMap<&'t str, usize>,
    initial: FxHashMap<usize, Tokens>,
    diagnostics: Vec<Diagnostic>,
}

impl Parser<'_> {
    fn report(&mut self, message: impl Into<String>, span: Span) {
        self.diagnostics.push(Diagnostic::new(Code::UnexpectedToken, message, span));
    }

    fn note<T>(&mut self, result: Parse<T>) -> Option<T> {
        result.map_err(|diagnostic| self.diagnostics.push(*diagnostic)).ok()
    }

    /// Skips to after the next of these words, or to before the next section.
    fn skip_to(&mut self, text: &str) {
        while self.in_section() && self.words.next().is_some_and(|word| word.text != text) {}
    }

    fn in_section(&self) -> bool {
        self.words.peek().is_some_and(|word| !is_keyword(&word))
    }

    fn file(&mut self) {
        let mut last: Option<&str> = None;
        while let Some(token) = self.words.next() {
            if is_keyword(&token) {
                self.check_order(last, &token);
                last = Some(token.text);
            }
            match token.text {
                "vars" => self.vars(token.span),
                "rules" => self.rules(),
                "init" => {
                    self.places.init = token.span;
                    self.init();
                }
                "target" => self.targets(),
                "invariants" => self.invariants(),
                _ => {
                    let message = "expected a section: `vars`, `rules`, `init` or `target`";
                    self.report(message, token.span);
                    self.skip_to("");
                }
            }
        }
    }

    /// Reports a section that is repeated or comes too late.
    fn check_order(&mut self, last: Option<&str>, section: &Word<'_>) {
        let place = |name: &str| SECTIONS.iter().position(|section| *section == name);
        if let Some(last) = last.filter(|last| place(last) >= place(section.text)) {
            let message = format!("the section `{}` cannot follow `{last}`", section.text);
            let help =
                "a net has the sections `vars`, `rules`, `init`, `target` and `invariants`, once and in this order";
            self.diagnostics.push(Diagnostic::new(Code::UnexpectedToken, message, section.span).help(help));
        }
    }

    fn vars(&mut self, head: Span) {
        self.places.head = head;
        while self.in_section() {
            let Some(token) = self.words.next() else { return };
            if token.text == "," {
                continue;
            }
            if !is_name(&token) {
                self.report("the name of a place must begin with a letter", token.span);
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
        let Some(token) = self.words.next().filter(is_name) else {
            return unexpected("expected the name of a place", self.words.last());
        };
        match self.numbers.get(token.text) {
            Some(place) => Ok(*place),
            None => wrong(Code::UnknownVariable, format!("there is no place `{}`", token.text), token.span),
        }
    }

    fn number(&mut self) -> Parse<u32> {
        let Some(token) = self.words.next() else { return unexpected("a number is expected", self.words.end) };
        match token.number() {
            Some(number) if number <= MOST => Ok(u32::try_from(number).expect("the bound is small")),
            Some(_) => wrong(Code::NumberOutOfRange, format!("numbers above {MOST} are not supported"), token.span),
            None => unexpected("a number is expected", token.span),
        }
    }

    fn rules(&mut self) {
        while self.in_section() {
            let start = self.words.here();
            let rule = self.rule();
            match self.note(rule) {
                Some(rule) => {
                    self.net.rules.push(rule);
                    self.places.rules.push(start.to(self.words.last()));
                }
                None => self.skip_to(";"),
            }
        }
    }

    fn rule(&mut self) -> Parse<Change> {
        let guard = self.conditions("a rule")?;
        let mut change = Change::default();
        let mut sums: Vec<Sum> = Vec::new();
        self.words.expect("->", "expected `->` after the conditions of a rule")?;
        while !self.words.eat(";") {
            let start = self.words.here();
            let sum = self.update()?;
            if sum.places == [sum.place] {
                self.check_taken(&guard, sum.place, sum.number, start)?;
            }
            if sums.iter().any(|other| other.place == sum.place) {
                return wrong(Code::AssignedTwice, "the place is changed twice by one rule", self.words.last());
            }
            change.puts.push((sum.place, sum.number));
            sums.push(sum);
            if !self.words.eat(",") && !self.words.at(";") {
                return unexpected("expected `,` or `;` after a change", self.words.here());
            }
        }
        change.transfers = self.transfers(&sums)?;
        change.puts.retain(|(_, number)| *number != 0);
        change.needs = guard.into_iter().filter(|(_, number)| *number > 0).collect();
        for sum in sums.iter().filter(|sum| sum.places == [sum.place]) {
            // A rule needs the tokens that it takes.
            let taken = u32::try_from(-sum.number.min(0)).expect("the bound is small");
            match change.needs.iter_mut().find(|(other, _)| *other == sum.place) {
                Some((_, needed)) => *needed = taken.max(*needed),
                None if taken > 0 => change.needs.push((sum.place, taken)),
                None => {}
            }
        }
        Ok(change)
    }

    /// Returns where all tokens of a place go: to the place in whose sum it is, or nowhere. A place without a sum of
    /// its own stays as it is, apart from what goes there.
    fn transfers(&self, sums: &[Sum]) -> Parse<Vec<(usize, Option<usize>)>> {
        let mut to: BTreeMap<usize, Vec<(usize, Span)>> = BTreeMap::new();
        for sum in sums {
            to.entry(sum.place).or_default();
            for place in &sum.places {
                to.entry(*place).or_default().push((sum.place, sum.span));
            }
        }
        for (place, list) in &mut to {
            if !list.is_empty() && sums.iter().all(|sum| sum.place != *place) {
                // It is in a sum, but keeps its tokens.
                list.push((*place, list[0].1));
            }
        }
        let mut transfers = Vec::new();
        for (place, list) in to {
            match list.as_slice() {
                [] => transfers.push((place, None)),
                [(only, _)] if *only == place => {}
                [(only, _)] => transfers.push((place, Some(*only))),
                [_, (_, span), ..] => {
                    let name = &self.net.places[place];
                    let message = format!("the tokens of `{name}` would be in two places: a net cannot copy them");
                    let diagnostic = Diagnostic::new(Code::Unsupported, message, *span);
                    return Err(Box::new(diagnostic.help(format!("set `{name}' = 0` if they are to be moved"))));
                }
            }
        }
        Ok(transfers)
    }

    /// Fails if a rule takes more tokens from a place than its guard requires there.
    fn check_taken(&self, guard: &[(usize, u32)], place: usize, change: i64, start: Span) -> Parse<()> {
        match guard.iter().find(|(other, _)| *other == place) {
            Some((_, needed)) if -change > i64::from(*needed) => {
                let message = format!("the rule takes {} tokens, but its guard requires only {needed}", -change);
                let diagnostic = Diagnostic::new(Code::NumberOutOfRange, message, start.to(self.words.last()));
                let name = &self.net.places[place];
                Err(Box::new(diagnostic.help(format!("write `{name} >= {}` in the guard", -change))))
            }
            _ => Ok(()),
        }
    }

    /// Parses `x >= 1, y >= 2`, or `true`; lines may break after commas.
    fn conditions(&mut self, whose: &str) -> Parse<Vec<(usize, u32)>> {
        let mut conditions: Vec<(usize, u32)> = Vec::new();
        loop {
            if self.words.eat("true") {
                if !self.words.eat(",") {
                    return Ok(conditions);
                }
                continue;
            }
            let start = self.words.here();
            let place = self.place()?;
            if self.words.eat("in") {
                let message =
                    format!("the condition of {whose} must use `>=`: a net cannot test that there are not more tokens");
                return wrong(Code::Unsupported, message, start.to(self.words.last()));
            }
            if self.words.eat("=") {
                let message =
                    format!("the condition of {whose} must use `>=`: a net cannot test for the absence of tokens");
                return wrong(Code::Unsupported, message, start.to(self.words.here()));
            }
            self.words.expect(">=", "expected `>=` after the name of the place")?;
            let number = self.number()?;
            if conditions.iter().any(|(other, _)| *other == place) {
                let message = format!("the place `{}` is limited twice in {whose}", self.net.places[place]);
                let diagnostic = Diagnostic::new(Code::AssignedTwice, message, start.to(self.words.last()));
                return Err(Box::new(diagnostic.help("keep the greater number of the two")));
            }
            conditions.push((place, number));
            if !self.words.eat(",") {
                return Ok(conditions);
            }
        }
    }

    /// Parses `x' = x + 1`, `x' = x + y - 1`, `x' = 0` or the like: a sum of places with a number behind it, or a
    /// number alone.
    fn update(&mut self) -> Parse<Sum> {
        let start = self.words.here();
        let place = self.place()?;
        self.words.expect("'", "expected a change like `x' = x + 1`")?;
        self.words.expect("=", "expected `=` after the new value")?;
        let mut sum = Sum { place, places: Vec::new(), number: 0, span: start };
        let is_number = |word: Word<'_>| word.number().is_some();
        if self.words.peek().is_some_and(is_number) {
            sum.number = i64::from(self.number()?);
        } else {
            sum.places.push(self.place()?);
            loop {
                if self.words.eat("-") {
                    sum.number = -i64::from(self.number()?);
                    break;
                }
                if !self.words.eat("+") {
                    break;
                }
                if self.words.peek().is_some_and(is_number) {
                    sum.number = i64::from(self.number()?);
                    break;
                }
                sum.places.push(self.place()?);
            }
        }
        sum.span = start.to(self.words.last());
        Ok(sum)
    }

    fn init(&mut self) {
        while self.in_section() {
            let tokens = self.tokens();
            if let Some((place, tokens)) = self.note(tokens) {
                self.initial.insert(place, tokens);
            } else {
                self.skip_to(",");
            }
            self.words.eat(",");
        }
    }

    fn tokens(&mut self) -> Parse<(usize, Tokens)> {
        let start = self.words.here();
        let place = self.place()?;
        let tokens = if self.words.eat("=") {
            Tokens::Exactly(self.number()?)
        } else {
            self.words.expect(">=", "expected `=` or `>=` after the name of the place")?;
            Tokens::AtLeast(self.number()?)
        };
        if self.initial.contains_key(&place) {
            return wrong(Code::AssignedTwice, "the place already has an initial number", start.to(self.words.last()));
        }
        Ok((place, tokens))
    }

    fn targets(&mut self) {
        while self.in_section() {
            let start = self.words.here();
            let conditions = self.conditions("a target");
            match self.note(conditions) {
                Some(mut conditions) => {
                    conditions.retain(|(_, number)| *number > 0);
                    self.net.targets.push(conditions);
                    self.places.targets.push(start.to(self.words.last()));
                }
                None => self.skip_to(""),
            }
            if let Some(token) = self.words.peek().filter(|token| !token.begins_line && !is_keyword(token)) {
                self.report("another target must begin on a new line", token.span);
                self.skip_to("");
            }
        }
    }

    /// Parses lines `x = 1, y = 2`. They are for other tools and mean nothing here.
    fn invariants(&mut self) {
        while self.in_section() {
            let invariant = self.invariant();
            if self.note(invariant).is_none() {
                self.skip_to("");
            }
        }
    }

    fn invariant(&mut self) -> Parse<()> {
        let mut places: Vec<usize> = Vec::new();
        loop {
            let start = self.words.here();
            let place = self.place()?;
            self.words.expect("=", "expected `=` after the name of the place")?;
            self.number()?;
            if places.contains(&place) {
                let message = format!("the place `{}` is limited twice in an invariant", self.net.places[place]);
                return wrong(Code::AssignedTwice, message, start.to(self.words.last()));
            }
            places.push(place);
            if !self.words.eat(",") {
                return Ok(());
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
                self.diagnostics.push(Diagnostic::new(Code::UnexpectedToken, message, self.words.end).help(help));
                return;
            }
            self.net.initial.push(tokens.unwrap_or(Tokens::Exactly(0)));
        }
        if self.net.places.is_empty() && self.diagnostics.is_empty() {
            self.report("the net has no places: add a section `vars`", self.words.end);
        }
        self.diagnostics.sort_by_key(|diagnostic| diagnostic.primary.span);
    }
}
