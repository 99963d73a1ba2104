//! The form of the tool CUBA: the number of shared states, and for each thread a line `PDA first last` with its stack
//! symbols before its rules `q a -> q' w`; `-` is the empty word, and on the left the empty stack. The initial
//! configuration and the target are in separate files: `shared|top1,top2,..`.

use std::fmt::Write as _;

use selvedge_ir::pds::{Thread, ThreadRule, Threads, View};
use selvedge_ir::span::Span;

use super::{is_arrow, lex};
use crate::diagnostic::{Code, Diagnostic};
use crate::words::{Parse, Word, lines, unexpected, whole, wrong};

/// Limit on the numbers of shared states and symbols.
const MOST: u64 = 1 << 24;

/// Parses the tokens of a text. A line that cannot be parsed is omitted and reported.
pub(super) fn parse(tokens: &[Word<'_>], diagnostics: &mut Vec<Diagnostic>) -> Threads {
    let mut threads = Threads::default();
    let mut lines = lines(tokens);
    let first = lines.next().unwrap_or_default();
    let mut note = |result: Parse<()>| diagnostics.extend(result.err().map(|diagnostic| *diagnostic));
    note(first_line(first, &mut threads));
    for line in lines {
        note(add_line(line, &mut threads));
    }
    threads
}

fn first_line(line: &[Word<'_>], threads: &mut Threads) -> Parse<()> {
    threads.n_shared = line[0].number_in(1..=MOST, "the number of shared states")?;
    match line.get(1) {
        Some(token) => unexpected("the first line must be the number of shared states", token.span),
        None => Ok(()),
    }
}

fn add_line(line: &[Word<'_>], threads: &mut Threads) -> Parse<()> {
    let span = whole(line);
    match line {
        [word, first, last] if word.text == "PDA" => {
            let first = first.number_in(0..=MOST, "a stack symbol")?;
            let last = last.number_in(u64::from(first)..=MOST, "the greatest stack symbol")?;
            threads.threads.push(Thread { first, last, rules: Vec::new() });
            Ok(())
        }
        [from, top, arrow, to, push @ ..] if is_arrow(arrow) && (1..=2).contains(&push.len()) => {
            let shared = 0..=MOST - 1;
            let Some(thread) = threads.threads.last_mut() else {
                return unexpected("a rule must follow the line `PDA first last` of its thread", span);
            };
            // Some files have rules for states and symbols outside the bounds that they declare; these are accepted.
            let symbols = 0..=MOST;
            let from = from.number_in(shared.clone(), "a shared state")?;
            let to = to.number_in(shared, "a shared state")?;
            let top = if top.text == "-" { None } else { Some(top.number_in(symbols.clone(), "a stack symbol")?) };
            let push = if push[0].text == "-" && push.len() == 1 { &[] } else { push };
            let push: Vec<u32> =
                push.iter().map(|token| token.number_in(symbols.clone(), "a stack symbol")).collect::<Parse<_>>()?;
            if top.is_none() && push.len() > 1 {
                return unexpected("a rule can only push one symbol onto the empty stack", span);
            }
            threads.n_shared = threads.n_shared.max(from.max(to) + 1);
            for symbol in push.iter().copied().chain(top) {
                (thread.first, thread.last) = (thread.first.min(symbol), thread.last.max(symbol));
            }
            thread.rules.push(ThreadRule { from, top, to, push });
            Ok(())
        }
        _ => unexpected("expected `PDA first last` or a rule `q a -> q' w`", span),
    }
}

/// Reads an initial configuration or a target of these threads: `shared|top1,top2,..`.
pub fn read_view(text: &str, threads: &Threads) -> Result<View, Vec<Diagnostic>> {
    let (tokens, diagnostics) = lex(text);
    if !diagnostics.is_empty() {
        return Err(diagnostics);
    }
    let mut lines = lines(&tokens);
    let line = lines.next().unwrap_or_default();
    let view = match lines.next() {
        Some(more) => unexpected("expected the end of the text", more[0].span),
        None => view(line, threads, text.len()),
    };
    view.map_err(|diagnostic| vec![*diagnostic])
}

fn view(line: &[Word<'_>], threads: &Threads, length: usize) -> Parse<View> {
    let [shared, bar, tops @ ..] = line else {
        return unexpected("expected `shared|top1,top2,..`", Span::new(0, length));
    };
    if bar.text != "|" {
        return unexpected("expected `|` after the shared state", bar.span);
    }
    let shared = shared.number_in(0..=u64::from(threads.n_shared.saturating_sub(1)), "a shared state")?;
    let parts: Vec<&[Word<'_>]> = tops.split(|token| token.text == ",").collect();
    if parts.len() != threads.threads.len() {
        let message =
            format!("the system has {} threads, but {} symbols are given", threads.threads.len(), parts.len());
        return wrong(Code::WrongValueCount, message, Span::new(0, length));
    }
    let top = |part: &&[Word<'_>]| match part {
        [dash] if dash.text == "-" => Ok(None),
        [top] => top.number_in(0..=MOST, "a stack symbol").map(Some),
        _ => unexpected("expected one symbol per thread, or `-`", bar.span),
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
