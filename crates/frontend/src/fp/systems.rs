//! Systems of equations for any number of rounds or contexts, as text.
//!
//! Both are the system S of La Torre, Madhusudan and Parlato (2010), section 4, with its local reachability spelled
//! out, so that threads may make calls, including recursive ones. They differ in the neighbours of a thread: any block
//! of threads that fits into a run (`rounds`), or the threads before and after it in the text (`contexts`).
//!
//! | relation | meaning |
//! |---|---|
//! | `Pj_i` | a frame was entered in round `j` and runs in round `i`: its history, its states at the entry and now |
//! | `Ei` | the shared states with which the `i` turns of a thread begin and end (TLI) |
//! | `Hi` | the histories that a thread in round `i` can have: `u` begin its turns, `v` end all but the last |
//! | `Wi` | a block to the left has had `i` turns, one to the right wants to go on (WRLI) |
//! | `Ri` | a block to the right that has had `i` turns (RLI) |

use std::fmt::Write as _;

/// The order in which threads take turns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Schedule {
    /// Any number of threads in any order, as many of each template as it allows.
    Rounds,
    /// The threads of the text in its order.
    Contexts,
}

/// Returns the equations for executions with a number of rounds, or of contexts of each thread.
pub fn system(schedule: Schedule, k: u32) -> String {
    let mut text = head(schedule, k);
    for round in 1..=k {
        let _ = writeln!(text, "\n// Round {round}.\n");
        match schedule {
            Schedule::Rounds => blocks(&mut text, round, k),
            Schedule::Contexts => neighbours(&mut text, round, k),
        }
        effects(&mut text, round);
        for entered in 1..=round {
            frames(&mut text, entered, round);
        }
    }
    let errors: Vec<String> = pairs(k).map(|(entered, round)| error(entered, round)).collect();
    define(&mut text, "Error()", &errors);
    text
}

fn head(schedule: Schedule, k: u32) -> String {
    let what = match schedule {
        Schedule::Rounds => format!(
            "// Any number of threads, as many of each template as it allows, in {k} rounds: the system S of La \
             Torre, Madhusudan\n\
             // and Parlato (2010), section 4, with calls; what `selvedge check --rounds {k}` looks at. Blocks may be
             // empty.\n"
        ),
        Schedule::Contexts => format!(
            "// The threads of the text take turns in its order, {k} contexts each, with calls: what `selvedge check \
             --contexts {k}`\n\
             // looks at.\n"
        ),
    };
    format!(
        "{what}// P: frames by the rounds of their entry and now; E: what a thread does; H: histories; W: wanted; \
         R: behind.\n\
         // u begin turns, v end them, w is where the last thread ends. Made by `selvedge solve --print`.\n"
    )
}

/// Returns all pairs of rounds in which a frame can have been entered and run.
fn pairs(k: u32) -> impl Iterator<Item = (u32, u32)> {
    (1..=k).flat_map(|round| (1..=round).map(move |entered| (entered, round)))
}

/// Returns `name1, .., namek, `; more must follow.
fn list(name: &str, k: u32) -> String {
    (1..=k).map(|number| format!("{name}{number}, ")).collect()
}

/// Returns a list of the given parts, each of which may be empty or end with a comma.
fn args(parts: &[&str]) -> String {
    parts.concat().trim_end_matches(", ").to_string()
}

/// Returns binders of the sort `Shared` after a comma; empty without variables.
fn shared(parts: &[&str]) -> String {
    match args(parts) {
        all if all.is_empty() => all,
        all => format!(", {all}: Shared"),
    }
}

/// Returns the condition that two vectors are equal: ` & a1 = b1` and so on, with `b` from its `first`.
fn equal(left: &str, right: &str, k: u32, first: u32) -> String {
    (1..=k).fold(String::new(), |mut text, number| {
        let _ = write!(text, " & {right}{} = {left}{number}", number + first - 1);
        text
    })
}

fn define(text: &mut String, head: &str, alternatives: &[String]) {
    let _ = writeln!(text, "rel {head} :=\n    {};\n", alternatives.join("\n  | "));
}

/// Writes W, H and R for blocks of any threads. The order of the equations is that of their definitions in the paper.
fn blocks(text: &mut String, i: u32, k: u32) {
    let (u, w, x, v) = (list("u", i), list("w", i - 1), list("x", i), list("v", i - 1));
    let before = list("u", i - 1);
    let beside = if i == 1 { String::new() } else { format!(" & B{i}({})", args(&["c, ", &before, &w])) };
    if i > 1 {
        let found = format!("(exists d: Used. R{}({}) & Fit(c, d))", i - 1, args(&["d, ", &before, &w]));
        define(text, &format!("B{i}(c: Used{})", shared(&[&before, &w])), &[found]);
    }
    let empty = format!("(Nobody(c) & Initial(u1){}{beside})", equal("w", "u", i - 1, 2));
    let longer = format!(
        "(exists t: Template, d: Used{}. W{i}({}) & E{i}({}) & More(t, d, c){beside})",
        shared(&[&x]),
        args(&["d, ", &x, &w]),
        args(&["t, ", &x, &u])
    );
    define(text, &format!("W{i}(c: Used{})", shared(&[&u, &w])), &[empty, longer]);
    let left = format!("W{i}({}) & More(t, c, d)", args(&["c, ", &u, &w]));
    let history = match i {
        1 => format!("(exists c, d: Used. {left})"),
        _ => format!(
            "(exists c, d, r: Used{}. {left} & E{}({}) & R{}({}) & Fit(d, r))",
            shared(&[&w]),
            i - 1,
            args(&["t, ", &before, &v]),
            i - 1,
            args(&["r, ", &v, &w])
        ),
    };
    define(text, &format!("H{i}(t: Template{})", shared(&[&u, &v])), &[history]);
    if i < k {
        let all = list("w", i);
        let fits = format!("(exists d: Used. W{i}({}) & Fit(d, c))", args(&["d, ", &u, &w]));
        let longer = format!(
            "(exists t: Template, d: Used{}. R{i}({}) & E{i}({}) & More(t, d, c) & {fits})",
            shared(&[&x]),
            args(&["d, ", &x, &all]),
            args(&["t, ", &u, &x])
        );
        let empty = format!("(Nobody(c){} & {fits})", equal("w", "u", i, 1));
        define(text, &format!("R{i}(c: Used{})", shared(&[&u, &all])), &[empty, longer]);
    }
}

/// Writes W, H and R for the threads before and after one in the text.
fn neighbours(text: &mut String, i: u32, k: u32) {
    let (u, w, x, v) = (list("u", i), list("w", i - 1), list("x", i), list("v", i - 1));
    let before = list("u", i - 1);
    let beside = if i == 1 { String::new() } else { format!(" & R{}({})", i - 1, args(&["t, ", &before, &w])) };
    let first = format!("(First(t) & Initial(u1){}{beside})", equal("w", "u", i - 1, 2));
    let later = format!(
        "(exists s: Template{}. W{i}({}) & E{i}({}) & Next(s, t){beside})",
        shared(&[&x]),
        args(&["s, ", &x, &w]),
        args(&["s, ", &x, &u])
    );
    define(text, &format!("W{i}(t: Template{})", shared(&[&u, &w])), &[first, later]);
    let histories = match i {
        1 => vec!["W1(t, u1)".to_string()],
        _ => {
            let common = format!("W{i}({}) & E{}({})", args(&["t, ", &u, &w]), i - 1, args(&["t, ", &before, &v]));
            let behind = format!("Next(t, s) & R{}({})", i - 1, args(&["s, ", &v, &w]));
            vec![
                format!("(exists s: Template{}. {common} & {behind})", shared(&[&w])),
                format!("(exists {}. {common} & Last(t){})", &shared(&[&w])[2..], equal("w", "v", i - 1, 1)),
            ]
        }
    };
    define(text, &format!("H{i}(t: Template{})", shared(&[&u, &v])), &histories);
    if i < k {
        let all = list("w", i);
        let wanted = format!("W{i}({})", args(&["t, ", &u, &w]));
        let last = format!("(Last(t) & E{i}({}) & {wanted})", args(&["t, ", &u, &all]));
        let longer = format!(
            "(exists s: Template{}. R{i}({}) & E{i}({}) & Next(t, s) & {wanted})",
            shared(&[&x]),
            args(&["s, ", &x, &all]),
            args(&["t, ", &u, &x])
        );
        define(text, &format!("R{i}(t: Template{})", shared(&[&u, &all])), &[last, longer]);
    }
}

/// Writes the effects of a thread in round `i`: it idles, is interrupted, ends wherever it is, or returns from its
/// first procedure.
fn effects(text: &mut String, i: u32) {
    let (u, v, all) = (list("u", i), list("v", i - 1), list("v", i));
    let history = args(&["t, ", &u, &v]);
    let mut found = vec![format!("(H{i}({history}) & u{i} = v{i})")];
    for entered in 1..=i {
        let frame = format!("P{entered}_{i}({history}, g, v{i}, p, q, e, l)");
        let bound = "exists g: Shared, p, q: Own, e, l: Frame.";
        found.push(format!("({bound} {frame} & Free(q))"));
        found.push(format!("({bound} {frame} & Halt(l))"));
    }
    found.push(format!(
        "(exists p, q: Own, e, l: Frame. P1_{i}({history}, u1, v{i}, p, q, e, l) & Exit(l) & Begin(t, u1, p, e))"
    ));
    define(text, &format!("E{i}(t: Template{})", shared(&[&u, &all])), &found);
}

/// Writes the frames that were entered in round `j` and run in round `i`.
fn frames(text: &mut String, j: u32, i: u32) {
    let (u, v) = (list("u", i), list("v", i - 1));
    let history = args(&["t, ", &u, &v]);
    let mut found = Vec::new();
    if (j, i) == (1, 1) {
        found.push("(H1(t, u1) & Begin(t, u1, p, e) & g = u1 & h = u1 & p = q & e = l)".to_string());
    }
    if j == i {
        found.extend((1..=i).map(|caller| {
            let frame = format!("P{caller}_{i}({history}, f, g, o, p, d, c)");
            format!("(exists f: Shared, o: Own, d, c: Frame. {frame} & Call(g, p, c, e) & g = h & p = q & e = l)")
        }));
    } else {
        let earlier = args(&["t, ", &list("u", i - 1), &list("v", i - 2)]);
        found.push(format!(
            "(P{j}_{}({earlier}, g, v{}, p, q, e, l) & Free(q) & H{i}({history}) & h = u{i})",
            i - 1,
            i - 1
        ));
    }
    found.push(format!(
        "(exists f: Shared, o: Own, m: Frame. P{j}_{i}({history}, g, f, p, o, e, m) & Step(f, o, m, h, q, l))"
    ));
    for m in j..=i {
        let caller = args(&["t, ", &list("u", m), &list("v", m - 1)]);
        found.push(format!(
            "(exists f, n: Shared, o, r: Own, c, b, x: Frame. P{j}_{m}({caller}, g, f, p, o, e, c) & Call(f, o, c, \
             b)\n       \
             & P{m}_{i}({history}, f, n, o, r, b, x) & Return(c, n, r, x, h, q, l))"
        ));
    }
    let head = format!("P{j}_{i}(t: Template{}, p, q: Own, e, l: Frame)", shared(&[&u, &v, "g, h"]));
    define(text, &head, &found);
}

fn error(j: u32, i: u32) -> String {
    let (u, v) = (list("u", i), list("v", i - 1));
    format!(
        "(exists t: Template{}, p, q: Own, e, l: Frame. P{j}_{i}({}, g, h, p, q, e, l) & Target(h, q, l))",
        shared(&[&u, &v, "g, h"]),
        args(&["t, ", &u, &v])
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fp::load;

    #[test]
    fn the_systems_read_for_every_number() {
        for schedule in [Schedule::Rounds, Schedule::Contexts] {
            for k in 1..=5 {
                let loaded = load(&system(schedule, k));
                assert!(loaded.diagnostics.is_empty(), "{schedule:?} {k}: {:?}", loaded.diagnostics);
                let fixpoint = loaded.fixpoint.expect("there are no diagnostics");
                assert_eq!(fixpoint.answer, Some(fixpoint.equations.len() - 1));
            }
        }
    }
}
