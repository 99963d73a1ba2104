//! Mutual exclusion for numbered threads, each of which runs a text of its own: no two threads are alike.

use std::fmt::Write as _;

use super::number::Number;
use super::{Size, Twin};

/// Generates Peterson's algorithm for n threads: on each of n - 1 levels one thread stays behind. `rIL` says that
/// thread I is on level L or above, `vIL` that it came there last. The unsafe twin sets `vIL` before `rIL`.
pub(crate) fn peterson(size: Size, twin: Twin) -> String {
    let n_threads = size.threads as usize;
    let levels = 1..n_threads.max(2);
    let each = |prefix: &str| {
        let names =
            (0..n_threads).flat_map(|thread| levels.clone().map(move |level| format!("{prefix}{thread}{level} := 0")));
        names.collect::<Vec<_>>().join(", ")
    };
    let mut text = format!("decl inside := 0;\ndecl {};\ndecl {};\n", each("r"), each("v"));
    for thread in 0..n_threads {
        let others: Vec<usize> = (0..n_threads).filter(|other| *other != thread).collect();
        let mut body = String::new();
        for level in levels.clone() {
            let climb = format!("  r{thread}{level} := 1;\n");
            let names: Vec<String> = (0..n_threads).map(|other| format!("v{other}{level}")).collect();
            let values: Vec<&str> = (0..n_threads).map(|other| if other == thread { "1" } else { "0" }).collect();
            let came = format!("  {} := {};\n", names.join(", "), values.join(", "));
            body += &twin.pick(climb.clone() + &came, came + &climb);
            let alone: Vec<String> = others.iter().map(|other| format!("!r{other}{level}")).collect();
            let _ = writeln!(body, "  assume(({}) | !v{thread}{level});", alone.join(" & "));
        }
        let names: Vec<String> = levels.clone().map(|level| format!("r{thread}{level}")).collect();
        let zeros = vec!["0"; names.len()].join(", ");
        let leave = format!("  {} := {zeros};", names.join(", "));
        text += &thread_text(thread, &body, &leave);
    }
    text
}

/// Generates Szymanski's algorithm: a waiting room with an entrance and an exit. The three bits of `fI` are the flag of
/// thread I, from 0 to 4. In the unsafe twin no thread waits for those with smaller numbers.
pub(super) fn szymanski(size: Size, twin: Twin) -> String {
    let n_threads = size.threads as usize;
    let names: Vec<String> =
        (0..n_threads).flat_map(|thread| (0..3).map(move |bit| format!("f{thread}{bit} := 0"))).collect();
    let mut text = format!("decl inside := 0;\ndecl {};\n", names.join(", "));
    for thread in 0..n_threads {
        let others = || (0..n_threads).filter(move |other| *other != thread);
        let smaller = twin.pick(all((0..thread).map(|other| flag_among(other, &[0, 1]))), "1".to_string());
        let body = format!(
            "  {raise}  assume({open});\n  {enter}  if {behind} then\n    {wait}    assume({opened});\n  fi;\n  \
             {close}  assume({smaller});\n",
            raise = set_flag(thread, 1),
            open = all(others().map(|other| flag_among(other, &[0, 1, 2]))),
            enter = set_flag(thread, 3),
            behind = any(others().map(|other| flag_among(other, &[1]))),
            wait = set_flag(thread, 2),
            opened = any(others().map(|other| flag_among(other, &[4]))),
            close = set_flag(thread, 4),
        );
        let larger = all((thread + 1..n_threads).map(|other| flag_among(other, &[0, 1, 4])));
        text += &thread_text(thread, &body, &format!("  assume({larger});\n  {}", set_flag(thread, 0).trim_end()));
    }
    text
}

fn thread_text(thread: usize, enter: &str, leave: &str) -> String {
    format!(
        "\nvoid thread{thread}() begin\nagain:\n{enter}  assert(!inside);\n  inside := 1;\n  inside := 0;\n{leave}\n  \
         goto again;\nend\n"
    )
}

fn set_flag(thread: usize, value: usize) -> String {
    let flag = Number::up_to(&format!("f{thread}"), 4);
    format!("{} := {};\n", flag.list(), flag.constant(value))
}

fn flag_among(thread: usize, values: &[usize]) -> String {
    let literal = |value: usize, bit: usize| format!("{}f{thread}{bit}", if value >> bit & 1 == 1 { "" } else { "!" });
    let is = |value: &usize| format!("{} & {} & {}", literal(*value, 0), literal(*value, 1), literal(*value, 2));
    format!("({})", values.iter().map(is).collect::<Vec<_>>().join(" | "))
}

fn all(parts: impl Iterator<Item = String>) -> String {
    joined(parts, " & ", "1")
}

fn any(parts: impl Iterator<Item = String>) -> String {
    joined(parts, " | ", "0")
}

fn joined(parts: impl Iterator<Item = String>, connective: &str, empty: &str) -> String {
    let parts: Vec<String> = parts.collect();
    if parts.is_empty() { empty.to_string() } else { parts.join(connective) }
}
