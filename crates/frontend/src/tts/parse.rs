//! The parser of systems. A line that cannot be parsed is omitted and reported.

use selvedge_ir::span::Span;
use selvedge_ir::tts::{Cover, LocalId, Rule, SharedId, Start, Tts};

use super::lower::{RuleSpans, Spans};
use crate::diagnostic::{Code, Diagnostic};
use crate::tokens::too_long;

/// Limit on the numbers of shared and local states.
const MOST: u64 = 1 << 24;

type Parse<T> = Result<T, Box<Diagnostic>>;

fn wrong<T>(code: Code, message: impl Into<String>, span: Span) -> Parse<T> {
    Err(Box::new(Diagnostic::new(code, message, span)))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Number(u64),
    /// `->`
    Moves,
    /// `+>`
    Starts,
    /// `|`
    Bar,
    Comma,
    /// Anything else.
    Other,
}

#[derive(Clone, Copy, Debug)]
struct Token {
    kind: Kind,
    span: Span,
}

/// Parses a text.
pub(super) fn parse(text: &str) -> (Tts, Spans, Vec<Diagnostic>) {
    let (mut tts, mut spans, mut diagnostics) = (Tts::default(), Spans::default(), Vec::new());
    if let Some(diagnostic) = too_long(text) {
        return (tts, spans, vec![diagnostic]);
    }
    let mut is_first = true;
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let tokens = lex(line, start);
        start += line.len();
        if tokens.is_empty() {
            continue;
        }
        let read = if std::mem::take(&mut is_first) {
            first_line(&tokens, &mut tts, &mut spans)
        } else {
            add_line(&tokens, &mut tts, &mut spans)
        };
        diagnostics.extend(read.err().map(|diagnostic| *diagnostic));
    }
    if is_first {
        let message = "the first line is missing: the numbers of shared and of local states";
        diagnostics.push(Diagnostic::new(Code::UnexpectedToken, message, Span::new(0, text.len())));
    }
    tts.starts.push(Start { shared: 0.into(), threads: vec![0.into()], any: Vec::new() });
    (tts, spans, diagnostics)
}

/// Reads the words of a line, up to its comment.
fn lex(line: &str, start: usize) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(rest) = line.get(at..).filter(|rest| !rest.is_empty() && !rest.starts_with('#')) {
        let first = rest.chars().next().unwrap_or(' ');
        let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        let (kind, length) = match first {
            _ if digits > 0 => (Some(Kind::Number(rest[..digits].parse().unwrap_or(u64::MAX))), digits),
            '|' => (Some(Kind::Bar), 1),
            ',' => (Some(Kind::Comma), 1),
            _ if rest.starts_with("->") => (Some(Kind::Moves), 2),
            _ if rest.starts_with("+>") => (Some(Kind::Starts), 2),
            _ if first.is_whitespace() => (None, first.len_utf8()),
            _ => (Some(Kind::Other), first.len_utf8()),
        };
        let span = Span::new(start + at, start + at + length);
        tokens.extend(kind.map(|kind| Token { kind, span }));
        at += length;
    }
    tokens
}

fn whole(tokens: &[Token]) -> Span {
    tokens[0].span.to(tokens[tokens.len() - 1].span)
}

fn first_line(tokens: &[Token], tts: &mut Tts, spans: &mut Spans) -> Parse<()> {
    spans.head = whole(tokens);
    let [shared, local] = tokens else {
        let message = "the first line must have the numbers of shared and of local states";
        return wrong(Code::UnexpectedToken, message, whole(tokens));
    };
    tts.n_shared = number(shared, 1..=MOST, "the number of shared states")?;
    tts.n_local = number(local, 1..=MOST, "the number of local states")?;
    Ok(())
}

fn add_line(tokens: &[Token], tts: &mut Tts, spans: &mut Spans) -> Parse<()> {
    if tts.n_shared == 0 || tts.n_local == 0 {
        // The first line has an error, so the bounds are not known.
        return Ok(());
    }
    match tokens {
        [shared, local, arrow, shared_after, local_after] if matches!(arrow.kind, Kind::Moves | Kind::Starts) => {
            let (from, to) = (state(shared, local, tts)?, state(shared_after, local_after, tts)?);
            let after = if arrow.kind == Kind::Moves { vec![to.1] } else { vec![from.1, to.1] };
            tts.rules.push(Rule { shared: from.0, local: from.1, shared_after: to.0, after, goes_on: true });
            let before = shared.span.to(local.span);
            spans.rules.push(RuleSpans { before, arrow: arrow.span, started: local_after.span, whole: whole(tokens) });
            Ok(())
        }
        [shared, bar, threads @ ..] if bar.kind == Kind::Bar && !threads.is_empty() => {
            let shared = SharedId::from_raw(number(shared, below(tts.n_shared), "a shared state")?);
            let mut locals = Vec::new();
            for thread in threads.split(|token| token.kind == Kind::Comma) {
                let [local] = thread else {
                    let message = "expected local states after `|`, separated by commas";
                    return wrong(Code::UnexpectedToken, message, whole(tokens));
                };
                locals.push(LocalId::from_raw(number(local, below(tts.n_local), "a local state")?));
            }
            locals.sort_unstable();
            tts.targets.push(Cover { shared, threads: locals });
            spans.targets.push(whole(tokens));
            Ok(())
        }
        _ => {
            let message = "expected a rule `s l -> s' l'` or `s l +> s' l'`, or a target `s|l1,l2,..`";
            wrong(Code::UnexpectedToken, message, whole(tokens))
        }
    }
}

fn below(count: u32) -> std::ops::RangeInclusive<u64> {
    0..=u64::from(count) - 1
}

fn state(shared: &Token, local: &Token, tts: &Tts) -> Parse<(SharedId, LocalId)> {
    let shared = number(shared, below(tts.n_shared), "a shared state")?;
    let local = number(local, below(tts.n_local), "a local state")?;
    Ok((SharedId::from_raw(shared), LocalId::from_raw(local)))
}

/// Parses a number within these bounds.
fn number(token: &Token, bounds: std::ops::RangeInclusive<u64>, what: &str) -> Parse<u32> {
    let Kind::Number(number) = token.kind else {
        return wrong(Code::UnexpectedToken, format!("{what} must be a number"), token.span);
    };
    if !bounds.contains(&number) {
        let message = format!("{what} must be a number from {} to {}", bounds.start(), bounds.end());
        return wrong(Code::NumberOutOfRange, message, token.span);
    }
    Ok(u32::try_from(number).expect("the bounds are below the greatest number that is read"))
}
