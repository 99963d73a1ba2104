//! A program in the shape of an abstracted device driver: many predicates, many unknown values, few that matter.
//!
//! One thread starts clients and then plays the hardware, whose interrupts are atomic. A client calls the driver's
//! functions in any order. They keep local predicates about what they do, with the unknown left open as an abstraction
//! leaves it, and shared predicates about the device's registers. A lock guards the device: no two threads use it at
//! once. In the unsafe twin one function skips the lock where it believes that it does not need it.

use std::fmt::Write as _;

use super::{Size, Twin};

/// The number of shared predicates in addition to the five that the protocol needs.
const N_REGISTERS: usize = 7;

/// The functions of the driver, with the number of statements about predicates of each.
const FUNCTIONS: [(&str, usize); 6] =
    [("open", 5), ("close", 3), ("read", 5), ("write", 5), ("control", 5), ("poll", 4)];

pub(super) fn driver(size: Size, twin: Twin) -> String {
    let registers: Vec<String> = (0..N_REGISTERS).map(|number| format!("r{number} := 0")).collect();
    let locals: Vec<String> = (0..size.locals.max(2)).map(|number| format!("p{number}")).collect();
    let names: Vec<&str> = FUNCTIONS.iter().map(|(name, _)| *name).collect();
    let mut text = format!(
        "decl lock := 0, opened := 0, busy := 0, ready := 0, masked := 0;\ndecl {};\n\nvoid main() begin\n  decl \
         {};\n  while * do\n    start_thread goto client;\n  od;\n\nhardware:\n  atomic_begin;\n  if opened & !masked \
         then\n    ready, r0 := *, ready;\n    masked := ready;\n  fi;\n  atomic_end;\n  goto hardware;\n\nclient:\n  \
         goto {}, leave;\n",
        registers.join(", "),
        locals.join(", "),
        names.join(", "),
    );
    for (number, (name, n_statements)) in FUNCTIONS.iter().enumerate() {
        text += &function(size, twin, number, name, *n_statements);
    }
    text + "\nleave:\n  skip;\nend\n"
}

/// Returns a function that prepares, takes the lock, uses the device, and releases the lock.
fn function(size: Size, twin: Twin, number: usize, name: &str, n_statements: usize) -> String {
    let mut text = format!("\n{name}:\n");
    for statement in 0..n_statements {
        text += &predicates(size, number * 5 + statement);
    }
    let condition = predicate(size, number);
    let (take, give) = match (twin, name) {
        (Twin::Unsafe, "control") => (
            format!("  if {condition} then\n    lock := 1 constrain !lock;\n  fi;\n"),
            format!("  if {condition} then\n    lock := 0;\n  fi;\n"),
        ),
        _ => ("  lock := 1 constrain !lock;\n".to_string(), "  lock := 0;\n".to_string()),
    };
    let _ = write!(
        text,
        "{take}  assert(!busy);\n  busy := 1;\n{}  busy := 0;\n{give}  goto client;\n",
        body(size, number, name)
    );
    text
}

/// Returns the statements by which a function uses the device.
fn body(size: Size, number: usize, name: &str) -> String {
    let (one, register) = (predicate(size, number + 1), format!("r{}", number % N_REGISTERS));
    match name {
        "open" => format!("  opened := 1;\n  masked, {register} := 0, *;\n"),
        "close" => format!("  opened, ready := 0, 0;\n  {register} := {one};\n"),
        "read" => format!("  if ready then\n    {one} := {register};\n    ready, masked := 0, 0;\n  fi;\n"),
        "write" => format!("  if opened then\n    {register} := schoose[{one}, ready];\n    ready := *;\n  fi;\n"),
        _ => format!("  if opened & {one} then\n    masked := {register};\n  else\n    {register} := !{one};\n  fi;\n"),
    }
}

/// Returns a statement as an abstraction writes it: some predicates follow from others, some are open, some exclude
/// each other.
fn predicates(size: Size, number: usize) -> String {
    let (one, two) = (predicate(size, number), predicate(size, number + 1));
    let other = predicate(size, number * 3 + 5);
    let register = format!("r{}", number % N_REGISTERS);
    match number % 3 {
        0 => format!("  {one} := schoose[{register} & {two}, {other}];\n"),
        1 => format!("  {one}, {two} := *, {other} constrain !('{one} & '{two});\n"),
        _ => format!("  if {one} & !{other} then\n    {two} := *;\n  else\n    {two} := {register};\n  fi;\n"),
    }
}

fn predicate(size: Size, number: usize) -> String {
    format!("p{}", number % size.locals.max(2))
}
