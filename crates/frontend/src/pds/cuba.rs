//! The form of the tool CUBA: the number of shared states, and for each thread a line `PDA first last` with its stack
//! symbols before its rules `q a -> q' w`; `-` is the empty word, and on the left the empty stack. The initial
//! configuration and the target are in separate files: `shared|top1,top2,..`.

use std::fmt::Write as _;

use selvedge_ir::pds::{Thread, ThreadRule, Threads, View};
use selvedge_ir::span::Span;

use super::lexer::{Kind, Token, lex};
use crate::diagnostic::{Code, Diagnostic};

/// Limit on the numbers of shared states and symbols.
const MOST: u64 = 1 << 24;

type Parse<T> = Result<T, Box<Diagnostic>>;

fn wrong<T>(code: Code, message: impl Into<String>, span: Span) -> Parse<T> {
    Err(Box::new(Diagnostic::new(code, message, span)))
}

/// Parses the tokens of a text. A line that cannot be parsed is omitted and reported.
pub(super) fn parse(tokens: &[Token<'_>], diagnostics: &mut Vec<Diagnostic>) -> Threads {
    let mut threads = Threads::default();
    let mut lines = tokens.split(|token| token.kind == Kind::Newline).filter(|line| !line.is_empty());
    let first = lines.next().unwrap_or_default();
    let mut note = |result: Parse<()>| diagnostics.extend(result.err().map(|diagnostic| *diagnostic));
    note(first_line(first, &mut threads));
    for line in lines {
        note(add_line(line, &mut threads));
    }
    threads
}

fn first_line(line: &[Token<'_>], threads: &mut Threads) -> Parse<()> {
    threads.n_shared = number(&line[0], 1..=MOST, "the number of shared states")?;
    match line.get(1) {
        Some(token) => wrong(Code::UnexpectedToken, "the first line must be the number of shared states", token.span),
        None => Ok(()),
    }
}

fn add_line(line: &[Token<'_>], threads: &mut Threads) -> Parse<()> {
    let span = line[0].span.to(line[line.len() - 1].span);
    match line {
        [word, first, last] if word.text == "PDA" => {
            let first = number(first, 0..=MOST, "a stack symbol")?;
            let last = number(last, u64::from(first)..=MOST, "the greatest stack symbol")?;
            threads.threads.push(Thread { first, last, rules: Vec::new() });
            Ok(())
        }
        [from, top, arrow, to, push @ ..] if arrow.kind == Kind::Arrow && (1..=2).contains(&push.len()) => {
            let shared = 0..=MOST - 1;
            let Some(thread) = threads.threads.last_mut() else {
                return wrong(
                    Code::UnexpectedToken,
                    "a rule must follow the line `PDA first last` of its thread",
                    span,
                );
            };
            // Some files have rules for states and symbols outside the bounds that they declare; these are accepted.
            let symbols = 0..=MOST;
            let from = number(from, shared.clone(), "a shared state")?;
            let to = number(to, shared, "a shared state")?;
            let top = if top.text == "-" { None } else { Some(number(top, symbols.clone(), "a stack symbol")?) };
            let push = if push[0].text == "-" && push.len() == 1 { &[] } else { push };
            let push: Vec<u32> =
                push.iter().map(|token| number(token, symbols.clone(), "a stack symbol")).collect::<Parse<_>>()?;
            if top.is_none() && push.len() > 1 {
                return wrong(Code::UnexpectedToken, "a rule can only push one symbol onto the empty stack", span);
            }
            threads.n_shared = threads.n_shared.max(from.max(to) + 1);
            for symbol in push.iter().copied().chain(top) {
                (thread.first, thread.last) = (thread.first.min(symbol), thread.last.max(symbol));
            }
            thread.rules.push(ThreadRule { from, top, to, push });
            Ok(())
        }
        _ => wrong(Code::UnexpectedToken, "expected `PDA first last` or a rule `q a -> q' w`", span),
    }
}

/// Parses a number within these bounds.
fn number(token: &Token<'_>, bounds: std::ops::RangeInclusive<u64>, what: &str) -> Parse<u32> {
    let Some(number) = token.number() else {
        return wrong(Code::UnexpectedToken, format!("{what} must be a number"), token.span);
    };
    if !bounds.contains(&number) {
        let message = format!("{what} must be a number from {} to {}", bounds.start(), bounds.end());
        return wrong(Code::NumberOutOfRange, message, token.span);
    }
    Ok(u32::try_from(number).expect("the bounds are below the greatest number that is read"))
}

/// Reads an initial configuration or a target of these threads: `shared|top1,top2,..`.
pub fn read_view(text: &str, threads: &Threads) -> Result<View, Vec<Diagnostic>> {
    let (tokens, diagnostics) = lex(text);
    if !diagnostics.is_empty() {
        return Err(diagnostics);
    }
    let mut lines = tokens.split(|token| token.kind == Kind::Newline).filter(|line| !line.is_empty());
    let line = lines.next().unwrap_or_default();
    let view = match lines.next() {
        Some(more) => wrong(Code::UnexpectedToken, "expected the end of the text", more[0].span),
        None => view(line, threads, text.len()),
    };
    view.map_err(|diagnostic| vec![*diagnostic])
}

fn view(line: &[Token<'_>], threads: &Threads, length: usize) -> Parse<View> {
    let [shared, bar, tops @ ..] = line else {
        return wrong(Code::UnexpectedToken, "expected `shared|top1,top2,..`", Span::new(0, length));
    };
    if bar.kind != Kind::Bar {
        return wrong(Code::UnexpectedToken, "expected `|` after the shared state", bar.span);
    }
    let shared = number(shared, 0..=u64::from(threads.n_shared.saturating_sub(1)), "a shared state")?;
    let parts: Vec<&[Token<'_>]> = tops.split(|token| token.kind == Kind::Comma).collect();
    if parts.len() != threads.threads.len() {
        let message =
            format!("the system has {} threads, but {} symbols are given", threads.threads.len(), parts.len());
        return wrong(Code::WrongValueCount, message, Span::new(0, length));
    }
    let top = |part: &&[Token<'_>]| match part {
        [dash] if dash.text == "-" => Ok(None),
        [top] => number(top, 0..=MOST, "a stack symbol").map(Some),
        _ => wrong(Code::UnexpectedToken, "expected one symbol per thread, or `-`", bar.span),
    };
    let tops = parts.iter().map(top).collect::<Parse<_>>()?;
    Ok(View { shared, tops })
}

/// Prints threads in a form that parses to the same threads, without initial configuration and target.
pub fn print_threads(threads: &Threads) -> String {
    let mut text = format!("{}\n", threads.n_shared);
    for thread in &threads.threads {
        let _ = writeln!(text, "PDA {} {}", thread.first, thread.last);
        for rule in &thread.rules {
            let _ = writeln!(text, "{rule}");
        }
    }
    text
}

/// Prints an initial configuration or target.
pub fn print_view(view: &View) -> String {
    format!("{view}\n")
}
