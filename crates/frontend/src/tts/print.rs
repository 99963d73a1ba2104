//! Prints systems in a form that parses to the same system.

use std::fmt::Write as _;

use selvedge_ir::tts::{Cover, Rule, Tts};

use super::is_plain;

/// Prints a plain system without its targets.
///
/// # Panics
///
/// If the system is not plain ([`is_plain`]).
pub fn print(tts: &Tts) -> String {
    print_with_comments(tts, &[])
}

/// Prints a plain system below lines of comments.
///
/// # Panics
///
/// If the system is not plain ([`is_plain`]).
pub fn print_with_comments(tts: &Tts, comments: &[String]) -> String {
    assert!(is_plain(tts), "the format cannot express other systems");
    let mut text: String = comments.iter().map(|comment| format!("# {comment}\n")).collect();
    let _ = writeln!(text, "{} {}", tts.n_shared, tts.n_local);
    for rule in &tts.rules {
        let Rule { shared, local, shared_after, after, transfers, .. } = rule;
        let (arrow, to) = if let [_, started] = after.as_slice() { ("+>", started) } else { ("->", &after[0]) };
        let numbers = [shared.index(), local.index(), shared_after.index(), to.index()];
        let _ = write!(text, "{} {} {arrow} {} {}", numbers[0], numbers[1], numbers[2], numbers[3]);
        for (from, to) in transfers.iter().flat_map(|(from, to)| to.iter().map(move |to| (from, to))) {
            let _ = write!(text, " {} ~> {}", from.index(), to.index());
        }
        text.push('\n');
    }
    text
}

/// Prints a target as a line.
pub fn print_target(target: &Cover) -> String {
    let locals: Vec<String> = target.threads.iter().map(|local| local.index().to_string()).collect();
    format!("{}|{}\n", target.shared.index(), locals.join(","))
}
