//! The parser of systems. A line that cannot be parsed is omitted and reported.

use std::collections::{BTreeMap, BTreeSet};

use selvedge_ir::span::Span;
use selvedge_ir::tts::{Cover, LocalId, Rule, RuleId, SharedId, Start, Tts};

use super::lower::Spans;
use crate::diagnostic::{Code, Diagnostic};
use crate::words::{Parse, Word, lines, run, sign, unexpected, whole, words};

/// Limit on the numbers of shared and local states.
const MOST: u64 = 1 << 24;

/// Limit on the rules that those without a moving thread become.
const MOST_WRITTEN_OUT: usize = 1 << 22;

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
    words(
        text,
        |rest, _| if rest.starts_with(is_digit) { run(rest, is_digit) } else { sign(rest, &["->", "+>", "~>"]) },
    )
}

/// Parses a text.
pub(super) fn parse(text: &str) -> (Tts, Spans, Vec<Diagnostic>) {
    let (mut tts, mut spans) = (Tts::default(), Spans::default());
    let (words, mut diagnostics) = split(text);
    let mut all = Vec::new();
    for (number, line) in lines(&words).enumerate() {
        if number > 0 && line.get(2).is_some_and(|arrow| arrow.text == "~>") {
            all.push(tts.rules.len());
        }
        let read = match number {
            0 => first_line(line, &mut tts, &mut spans),
            _ => add_line(line, &mut tts, &mut spans),
        };
        diagnostics.extend(read.err().map(|diagnostic| *diagnostic));
    }
    all.retain(|rule| *rule < tts.rules.len());
    if diagnostics.is_empty() && !all.is_empty() {
        write_out(&all, &mut tts, &mut spans, &mut diagnostics);
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
        [shared, local, arrow, shared_after, local_after, transfers @ ..]
            if matches!(arrow.text, "->" | "+>" | "~>") && (arrow.text == "->" || transfers.is_empty()) =>
        {
            let (from, to) = (state(shared, local, tts)?, state(shared_after, local_after, tts)?);
            let transfers = self::transfers(transfers, tts)?;
            spans.rules.push(whole(tokens));
            let after = if arrow.text == "+>" { vec![from.1, to.1] } else { vec![to.1] };
            let rule = Rule { shared: from.0, local: from.1, shared_after: to.0, after, goes_on: true, transfers };
            tts.rules.push(rule);
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
            let message = "expected a rule `s l -> s' l'`, with transfers `p ~> q` behind it if there are any, or \
                           `s l +> s' l'` or `s l ~> s' l'`, or a target `s|l1,l2,..`";
            unexpected(message, whole(tokens))
        }
    }
}

/// Parses the transfers `p ~> q ..` of a rule. Several with the same `p` leave each thread the choice.
fn transfers(tokens: &[Word<'_>], tts: &Tts) -> Parse<Vec<(LocalId, Vec<LocalId>)>> {
    let mut ways: BTreeMap<LocalId, BTreeSet<LocalId>> = BTreeMap::new();
    for transfer in tokens.chunks(3) {
        let [from, arrow, to] = transfer else {
            return unexpected("expected transfers `p ~> q` behind the rule", whole(transfer));
        };
        if arrow.text != "~>" {
            return unexpected("expected transfers `p ~> q` behind the rule", whole(transfer));
        }
        let local = |word: &Word<'_>| word.number_in(below(tts.n_local), "a local state").map(LocalId::from_raw);
        ways.entry(local(from)?).or_default().insert(local(to)?);
    }
    let lists = ways.into_iter().map(|(from, to)| (from, to.into_iter().collect::<Vec<LocalId>>()));
    Ok(lists.filter(|(from, to)| *to != [*from]).collect())
}

/// Replaces the rules `s l ~> s' l'`, which move all threads in `l` and need none: some thread is always there, so
/// that a thread in any state may take the rule, and transfers the others. `all` are the numbers of these rules.
fn write_out(all: &[usize], tts: &mut Tts, spans: &mut Spans, diagnostics: &mut Vec<Diagnostic>) {
    let mut locals: BTreeSet<LocalId> = [LocalId::from_raw(0)].into();
    locals.extend(
        tts.rules.iter().flat_map(|rule| rule.after.iter().chain(rule.transfers.iter().flat_map(|(_, to)| to))),
    );
    if all.len().saturating_mul(locals.len()) > MOST_WRITTEN_OUT {
        let message = "the system has too many rules `s l ~> s' l'` for its number of local states";
        diagnostics.push(Diagnostic::new(Code::Unsupported, message, spans.rules[all[0]]));
        return;
    }
    for number in all {
        let id = RuleId::from(*number);
        let (from, to) = (tts.rules[id].local, tts.rules[id].after[0]);
        if from != to {
            tts.rules[id].transfers = vec![(from, vec![to])];
        }
        for local in locals.iter().filter(|local| **local != from) {
            let rule = Rule { local: *local, after: vec![*local], ..tts.rules[id].clone() };
            tts.rules.push(rule);
            spans.rules.push(spans.rules[*number]);
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
