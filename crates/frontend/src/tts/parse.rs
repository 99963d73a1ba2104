//! The parser of systems. A line that cannot be parsed is omitted and reported.

use selvedge_ir::span::Span;
use selvedge_ir::tts::{Cover, LocalId, Rule, SharedId, Start, Tts};

use super::lower::{RuleSpans, Spans};
use crate::diagnostic::{Code, Diagnostic};
use crate::words::{Parse, Word, lines, run, sign, unexpected, whole, words};

/// Limit on the numbers of shared and local states.
const MOST: u64 = 1 << 24;

/// Returns the first finding about a text that has targets only, as in a file of its own; `None` if all of its lines
/// are targets. Whether their states exist is not checked.
pub fn find_other_lines(text: &str) -> Option<Diagnostic> {
    let (words, diagnostics) = split(text);
    let is_target = |line: &[Word<'_>]| matches!(line, [_, bar, _, ..] if bar.text == "|");
    let other = lines(&words).find(|line| !is_target(line)).map(|line| {
        let message = "this file is for targets `s|l1,l2,..` only: rules belong to the system";
        Diagnostic::new(Code::UnexpectedToken, message, whole(line))
    });
    diagnostics.into_iter().next().or(other)
}

fn split(text: &str) -> (Vec<Word<'_>>, Vec<Diagnostic>) {
    let is_digit = |c: char| c.is_ascii_digit();
    words(text, |rest, _| if rest.starts_with(is_digit) { run(rest, is_digit) } else { sign(rest, &["->", "+>"]) })
}

/// Parses a text.
pub(super) fn parse(text: &str) -> (Tts, Spans, Vec<Diagnostic>) {
    let (mut tts, mut spans) = (Tts::default(), Spans::default());
    let (words, mut diagnostics) = split(text);
    for (number, line) in lines(&words).enumerate() {
        let read = match number {
            0 => first_line(line, &mut tts, &mut spans),
            _ => add_line(line, &mut tts, &mut spans),
        };
        diagnostics.extend(read.err().map(|diagnostic| *diagnostic));
    }
    if words.is_empty() && diagnostics.is_empty() {
        let message = "the first line is missing: the numbers of shared and of local states";
        diagnostics.push(Diagnostic::new(Code::UnexpectedToken, message, Span::new(0, text.len())));
    }
    tts.starts.push(Start { shared: 0.into(), threads: vec![0.into()], any: Vec::new() });
    (tts, spans, diagnostics)
}

fn first_line(tokens: &[Word<'_>], tts: &mut Tts, spans: &mut Spans) -> Parse<()> {
    spans.head = whole(tokens);
    let [shared, local] = tokens else {
        let message = "the first line must have the numbers of shared and of local states";
        return unexpected(message, whole(tokens));
    };
    tts.n_shared = shared.number_in(1..=MOST, "the number of shared states")?;
    tts.n_local = local.number_in(1..=MOST, "the number of local states")?;
    Ok(())
}

fn add_line(tokens: &[Word<'_>], tts: &mut Tts, spans: &mut Spans) -> Parse<()> {
    if tts.n_shared == 0 || tts.n_local == 0 {
        // The first line has an error, so the bounds are not known.
        return Ok(());
    }
    match tokens {
        [shared, local, arrow, shared_after, local_after] if matches!(arrow.text, "->" | "+>") => {
            let (from, to) = (state(shared, local, tts)?, state(shared_after, local_after, tts)?);
            let after = if arrow.text == "->" { vec![to.1] } else { vec![from.1, to.1] };
            tts.rules.push(Rule { shared: from.0, local: from.1, shared_after: to.0, after, goes_on: true });
            let before = shared.span.to(local.span);
            spans.rules.push(RuleSpans { before, arrow: arrow.span, started: local_after.span, whole: whole(tokens) });
            Ok(())
        }
        [shared, bar, threads @ ..] if bar.text == "|" && !threads.is_empty() => {
            let shared = SharedId::from_raw(shared.number_in(below(tts.n_shared), "a shared state")?);
            let mut locals = Vec::new();
            for thread in threads.split(|token| token.text == ",") {
                let [local] = thread else {
                    let message = "expected local states after `|`, separated by commas";
                    return unexpected(message, whole(tokens));
                };
                locals.push(LocalId::from_raw(local.number_in(below(tts.n_local), "a local state")?));
            }
            locals.sort_unstable();
            tts.targets.push(Cover { shared, threads: locals });
            spans.targets.push(whole(tokens));
            Ok(())
        }
        _ => {
            let message = "expected a rule `s l -> s' l'` or `s l +> s' l'`, or a target `s|l1,l2,..`";
            unexpected(message, whole(tokens))
        }
    }
}

fn below(count: u32) -> std::ops::RangeInclusive<u64> {
    0..=u64::from(count) - 1
}

fn state(shared: &Word<'_>, local: &Word<'_>, tts: &Tts) -> Parse<(SharedId, LocalId)> {
    let shared = shared.number_in(below(tts.n_shared), "a shared state")?;
    let local = local.number_in(below(tts.n_local), "a local state")?;
    Ok((SharedId::from_raw(shared), LocalId::from_raw(local)))
}
