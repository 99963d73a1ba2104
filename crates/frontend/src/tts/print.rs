//! A system as text that is read as the same system.

use std::fmt::Write as _;

use selvedge_ir::tts::{Cover, Rule, Tts};

use super::is_plain;

/// Returns a plain system without its targets.
///
/// # Panics
///
/// If the system is not plain ([`is_plain`]).
pub fn print(tts: &Tts) -> String {
    print_with_comments(tts, &[])
}

/// Returns the same below lines of comment.
///
/// # Panics
///
/// If the system is not plain ([`is_plain`]).
pub fn print_with_comments(tts: &Tts, comments: &[String]) -> String {
    assert!(is_plain(tts), "the text has no words for other systems");
    let mut text: String = comments.iter().map(|comment| format!("# {comment}\n")).collect();
    let _ = writeln!(text, "{} {}", tts.n_shared, tts.n_local);
    for rule in &tts.rules {
        let Rule { shared, local, shared_after, after, .. } = rule;
        let (arrow, to) = if let [_, started] = after.as_slice() { ("+>", started) } else { ("->", &after[0]) };
        let numbers = [shared.index(), local.index(), shared_after.index(), to.index()];
        let _ = writeln!(text, "{} {} {arrow} {} {}", numbers[0], numbers[1], numbers[2], numbers[3]);
    }
    text
}

/// Returns a target, as a line.
pub fn print_target(target: &Cover) -> String {
    let locals: Vec<String> = target.threads.iter().map(|local| local.index().to_string()).collect();
    format!("{}|{}\n", target.shared.index(), locals.join(","))
}
