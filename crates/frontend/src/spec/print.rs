//! Prints thread-transition systems as nets: a place for each shared state, which has one token, and one for each local
//! state, which has as many as there are threads. A system with several starts begins with a choice.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use selvedge_ir::tts::{LocalId, Rule, SharedId, Start, Tts};

/// Prints the net of a system. If it has no target, the net gets one that cannot be covered, since the format requires
/// one.
pub fn print(tts: &Tts, comments: &[String]) -> String {
    let mut text: String = comments.iter().map(|comment| format!("# {comment}\n")).collect();
    vars(tts, &mut text);
    text.push_str("\nrules\n");
    for rule in &tts.rules {
        write_rule(rule, &mut text);
    }
    if tts.starts.len() != 1 {
        tts.starts.iter().enumerate().for_each(|(number, start)| write_start(number, start, &mut text));
    }
    write_init(tts, &mut text);
    text.push_str("\ntarget\n");
    for target in &tts.targets {
        let mut tokens: BTreeMap<String, i64> = [(shared(target.shared), 1)].into();
        target.threads.iter().for_each(|thread| *tokens.entry(local(*thread)).or_default() += 1);
        let _ = writeln!(text, "    {}", conditions(&tokens));
    }
    if tts.targets.is_empty() {
        text.push_str("    never >= 1\n");
    }
    text
}

fn shared(shared: SharedId) -> String {
    format!("s{}", shared.index())
}

fn local(local: LocalId) -> String {
    format!("l{}", local.index())
}

/// Returns the names of the places that are not states.
fn further(tts: &Tts) -> Vec<String> {
    let choice = tts.starts.len() != 1;
    let starts = (0..tts.starts.len()).map(|number| format!("start{number}"));
    let mut names: Vec<String> = if choice { starts.chain(["start".to_string()]).collect() } else { Vec::new() };
    names.extend(tts.targets.is_empty().then(|| "never".to_string()));
    names
}

fn vars(tts: &Tts, text: &mut String) {
    let shareds = (0..tts.n_shared).map(|number| format!("s{number}"));
    let locals = (0..tts.n_local).map(|number| format!("l{number}"));
    let names: Vec<String> = shareds.chain(locals).chain(further(tts)).collect();
    text.push_str("vars\n");
    names.chunks(16).for_each(|names| {
        let _ = writeln!(text, "    {}", names.join(" "));
    });
}

fn conditions(tokens: &BTreeMap<String, i64>) -> String {
    tokens.iter().map(|(place, number)| format!("{place} >= {number}")).collect::<Vec<_>>().join(", ")
}

/// Writes a rule that takes some tokens and puts others; nothing if they are the same.
fn write_change(taken: &[String], put: &[String], text: &mut String) {
    let (mut needs, mut change): (BTreeMap<String, i64>, BTreeMap<String, i64>) = Default::default();
    for place in taken {
        *needs.entry(place.clone()).or_default() += 1;
        *change.entry(place.clone()).or_default() -= 1;
    }
    put.iter().for_each(|place| *change.entry(place.clone()).or_default() += 1);
    change.retain(|_, number| *number != 0);
    if change.is_empty() {
        return;
    }
    let update = |(place, number): (&String, &i64)| {
        let sign = if *number < 0 { '-' } else { '+' };
        format!("{place}' = {place} {sign} {}", number.abs())
    };
    let updates: Vec<String> = change.iter().map(update).collect();
    let _ = writeln!(text, "    {} ->\n        {};", conditions(&needs), updates.join(", "));
}

/// Returns whether a net can do what the rules of a system do: threads that are transferred have no choice.
pub fn can_print(tts: &Tts) -> bool {
    tts.rules.iter().flat_map(|rule| &rule.transfers).all(|(_, to)| to.len() == 1)
}

fn write_rule(rule: &Rule, text: &mut String) {
    if !rule.transfers.is_empty() {
        return write_transfer(rule, text);
    }
    let put: Vec<String> =
        [shared(rule.shared_after)].into_iter().chain(rule.after.iter().copied().map(local)).collect();
    write_change(&[shared(rule.shared), local(rule.local)], &put, text);
}

/// Writes a rule with transfers: the new number of tokens of each place is the sum of those that go there.
fn write_transfer(rule: &Rule, text: &mut String) {
    let mut sums: BTreeMap<String, (Vec<String>, i64)> = BTreeMap::new();
    for (from, to) in &rule.transfers {
        sums.entry(local(*from)).or_default();
        for place in to.iter().filter(|place| !rule.transfers(**place)) {
            sums.insert(local(*place), (vec![local(*place)], 0));
        }
    }
    for (from, to) in &rule.transfers {
        to.iter().for_each(|place| sums.entry(local(*place)).or_default().0.push(local(*from)));
    }
    let mut add = |place: String, number: i64| {
        sums.entry(place.clone()).or_insert_with(|| (vec![place], 0)).1 += number;
    };
    add(shared(rule.shared), -1);
    add(shared(rule.shared_after), 1);
    // The token of the thread that moves went with the others.
    rule.ways(&rule.local).iter().for_each(|place| add(local(*place), -1));
    rule.after.iter().for_each(|place| add(local(*place), 1));
    let update = |(place, (sum, number)): (&String, &(Vec<String>, i64))| match (sum.is_empty(), *number) {
        (true, number) => format!("{place}' = {number}"),
        (false, 0) => format!("{place}' = {}", sum.join(" + ")),
        (false, number) if number < 0 => format!("{place}' = {} - {}", sum.join(" + "), -number),
        (false, number) => format!("{place}' = {} + {number}", sum.join(" + ")),
    };
    let updates: Vec<String> = sums.iter().map(update).collect();
    let needs = [(shared(rule.shared), 1), (local(rule.local), 1)].into();
    let _ = writeln!(text, "    {} ->\n        {};", conditions(&needs), updates.join(", "));
}

/// Writes the rules that choose a start: first the start itself, then any number of threads, then the rest.
fn write_start(number: usize, start: &Start, text: &mut String) {
    let chosen = format!("start{number}");
    write_change(&["start".to_string()], std::slice::from_ref(&chosen), text);
    for any in &start.any {
        write_change(std::slice::from_ref(&chosen), &[chosen.clone(), local(*any)], text);
    }
    let put: Vec<String> = [shared(start.shared)].into_iter().chain(start.threads.iter().copied().map(local)).collect();
    write_change(&[chosen], &put, text);
}

fn write_init(tts: &Tts, text: &mut String) {
    let mut initial: Vec<String> = Vec::new();
    let only = if let [start] = tts.starts.as_slice() { Some(start) } else { None };
    for number in (0..tts.n_shared).map(SharedId::from_raw) {
        let is_first = only.is_some_and(|start| start.shared == number);
        initial.push(format!("{} = {}", shared(number), u32::from(is_first)));
    }
    for number in (0..tts.n_local).map(LocalId::from_raw) {
        let count = only.map_or(0, |start| start.threads.iter().filter(|thread| **thread == number).count());
        let sign = if only.is_some_and(|start| start.any.contains(&number)) { ">=" } else { "=" };
        initial.push(format!("{} {sign} {count}", local(number)));
    }
    initial.extend(further(tts).iter().map(|name| format!("{name} = {}", u32::from(name == "start"))));
    text.push_str("\ninit\n");
    let lines: Vec<String> = initial.chunks(8).map(|chunk| format!("    {}", chunk.join(", "))).collect();
    let _ = writeln!(text, "{}", lines.join(",\n"));
}
