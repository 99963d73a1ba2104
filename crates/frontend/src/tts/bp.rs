//! Prints plain systems as Boolean programs: the same program as the lowering, except for additional jumps between
//! statements.

use std::fmt::Write as _;

use selvedge_ir::tts::{LocalId, Tts};

use super::is_plain;
use super::lower::n_bits;

/// Prints a system as a Boolean program.
///
/// # Panics
///
/// If the system is not plain ([`is_plain`]).
pub fn print_as_program(tts: &Tts, comments: &[String]) -> String {
    assert!(is_plain(tts), "other systems are made plain first");
    let n_bits = n_bits(tts);
    let mut text: String = comments.iter().map(|comment| format!("// {comment}\n")).collect();
    for bit in 0..n_bits {
        let _ = writeln!(text, "decl s{bit} := F;");
    }
    let _ = writeln!(text, "\nvoid main() begin");
    let groups = groups(tts);
    for (local, statements) in groups.iter().enumerate() {
        write_local(local, statements, n_bits, &mut text);
    }
    if !tts.targets.is_empty() {
        let _ = writeln!(text, "  aside: end_thread;\n  ERROR: end_thread;");
    }
    text.push_str("end\n");
    text
}

/// A step of a thread in a local state.
enum Statement {
    Moves { from: u32, to: u32, then: String },
    Starts { from: u32, to: u32, started: LocalId },
}

fn groups(tts: &Tts) -> Vec<Vec<Statement>> {
    let mut groups: Vec<Vec<Statement>> = (0..tts.n_local).map(|_| Vec::new()).collect();
    for rule in &tts.rules {
        let (from, to) = (rule.shared.raw(), rule.shared_after.raw());
        let statement = match rule.after.as_slice() {
            [_, started] => Statement::Starts { from, to, started: *started },
            after => Statement::Moves { from, to, then: format!("l{}", after[0].index()) },
        };
        groups[rule.local.index()].push(statement);
    }
    let mut next = tts.n_shared;
    for target in &tts.targets {
        let mut from = target.shared.raw();
        for (at, local) in target.threads.iter().enumerate() {
            let is_last = at + 1 == target.threads.len();
            let (to, then) = if is_last { (from, "ERROR") } else { (next, "aside") };
            groups[local.index()].push(Statement::Moves { from, to, then: then.to_string() });
            if !is_last {
                (from, next) = (next, next + 1);
            }
        }
    }
    groups
}

fn write_local(local: usize, statements: &[Statement], n_bits: u32, text: &mut String) {
    let label = |number: usize| format!("l{local}_{number}");
    match statements.len() {
        0 => {
            let _ = writeln!(text, "  l{local}: end_thread;");
            return;
        }
        n_statements => {
            let labels: Vec<String> = (0..n_statements).map(label).collect();
            let _ = writeln!(text, "  l{local}: goto {};", labels.join(", "));
        }
    }
    for (number, statement) in statements.iter().enumerate() {
        let label = label(number);
        match statement {
            Statement::Moves { from, to, then } => {
                let _ = writeln!(text, "  {label}: {} goto {then};", step(*from, *to, n_bits));
            }
            Statement::Starts { from, to, started } => {
                let step = step(*from, *to, n_bits);
                let _ = writeln!(
                    text,
                    "  {label}: atomic_begin; {step} start_thread goto l{}; atomic_end; goto l{local};",
                    started.index()
                );
            }
        }
    }
}

/// Returns the statement that leads from a shared state to another.
fn step(from: u32, to: u32, n_bits: u32) -> String {
    let bit = |number: u32, at: u32| number >> at & 1 == 1;
    let literal = |at: u32| format!("{}s{at}", if bit(from, at) { "" } else { "!" });
    let condition = (0..n_bits).map(literal).collect::<Vec<String>>().join(" & ");
    let changed: Vec<u32> = (0..n_bits).filter(|at| bit(from, *at) != bit(to, *at)).collect();
    let vars: Vec<String> = changed.iter().map(|at| format!("s{at}")).collect();
    let values: Vec<&str> = changed.iter().map(|at| if bit(to, *at) { "T" } else { "F" }).collect();
    match (condition.as_str(), changed.is_empty()) {
        ("", _) => "skip;".to_string(),
        (condition, true) => format!("assume({condition});"),
        (condition, false) => format!("{} := {} constrain {condition};", vars.join(","), values.join(",")),
    }
}
