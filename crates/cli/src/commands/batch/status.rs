//! `selvedge batch status`: which tasks are done.

use std::collections::BTreeMap;

use selvedge_report::names::count;

use super::manifest;
use super::results;
use crate::args::ResultArgs;
use crate::exit::Exit;
use crate::session::Session;

pub(super) fn run(args: &ResultArgs, session: &Session) -> Result<Exit, Exit> {
    let tasks = manifest::read(&args.manifest, session)?;
    let mut verdicts: BTreeMap<String, usize> = BTreeMap::new();
    let mut missing = Vec::new();
    for (number, task) in tasks.iter().enumerate() {
        match results::read(&args.results, task) {
            Some(result) => *verdicts.entry(result.verdict().to_string()).or_default() += 1,
            None => missing.push(number),
        }
    }
    let counts: Vec<String> = verdicts.iter().map(|(verdict, number)| format!("{number} {verdict}")).collect();
    let done = tasks.len() - missing.len();
    session.printer.out(&format!("{done} of {} done: {}\n", count(tasks.len(), "task"), counts.join(", ")));
    if missing.is_empty() {
        return Ok(Exit::Success);
    }
    session.printer.out(&format!("missing: {}\n", ranges(&missing)));
    Ok(Exit::Unknown)
}

/// Returns ascending numbers as ranges, in the way in which Slurm writes them: `1,3-5`.
fn ranges(numbers: &[usize]) -> String {
    let mut found: Vec<(usize, usize)> = Vec::new();
    for number in numbers {
        match found.last_mut() {
            Some((_, last)) if *last + 1 == *number => *last = *number,
            _ => found.push((*number, *number)),
        }
    }
    let text = |(first, last): &(usize, usize)| match first == last {
        true => first.to_string(),
        false => format!("{first}-{last}"),
    };
    found.iter().map(text).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_joined_to_ranges() {
        assert_eq!(ranges(&[1, 3, 4, 5, 9, 10]), "1,3-5,9-10");
        assert_eq!(ranges(&[]), "");
    }
}
