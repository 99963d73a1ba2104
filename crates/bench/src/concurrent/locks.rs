//! Locks for identical threads: each enters and leaves a critical section for ever.
//!
//! The assertion at the beginning of the section says that no other thread is inside. Inside, a thread shifts an
//! arbitrary value through its local variables, and leaves depending on the last one.

use super::number::Number;
use super::{Size, Twin};

/// Generates a lock that is tested and taken in one step. The unsafe twin tests in one step and takes in the next.
pub(super) fn test_and_set(size: Size, twin: Twin) -> String {
    let take = twin.pick("  old, lock := lock, 1;", "  old := lock;\n  lock := 1;");
    format!(
        "decl lock := 0;
decl inside := 0;

void main() begin
  decl old;
{locals}
again:
{take}
  if old then goto again; fi;
{section}
  lock := 0;
  goto again;
end
",
        locals = locals(size),
        section = section(size),
    )
}

/// Generates a ticket lock: threads draw tickets and wait to be served. The unsafe twin reads the next ticket in one
/// step and advances it in another.
pub(super) fn ticket(size: Size, twin: Twin) -> String {
    let max = size.threads as usize - 1;
    let (next, serving, mine) = (Number::up_to("n", max), Number::up_to("s", max), Number::up_to("m", max));
    let (names, own, more) = (next.list(), mine.list(), next.plus_one());
    let in_one_step = format!("  {own}, {names} := {names}, {more};");
    let draw = twin.pick(in_one_step, format!("  {own} := {names};\n  {names} := {more};"));
    format!(
        "decl {next};
decl {serving};
decl inside := 0;

void main() begin
  decl {own};
{locals}
again:
{draw}
  assume({turn});
{section}
  {served} := {further};
  goto again;
end
",
        next = next.declared(0),
        turn = serving.equals(&mine),
        served = serving.list(),
        further = serving.plus_one(),
        serving = serving.declared(0),
        locals = locals(size),
        section = section(size),
    )
}

/// Generates a lock for many readers or one writer. The unsafe twin's writer looks for readers in one step and enters
/// in the next.
pub(super) fn reader_writer(size: Size, twin: Twin) -> String {
    let readers = Number::up_to("r", size.threads as usize);
    let none = readers.is(0);
    let in_one_step = format!("  writing := 1 constrain !writing & {none};");
    let enter = twin.pick(in_one_step, format!("  assume(!writing & {none});\n  writing := 1 constrain !writing;"));
    format!(
        "decl writing := 0;
decl inside := 0;
decl {readers};

void main() begin
{locals}
again:
  goto read, write;

read:
  {names} := {more} constrain !writing;
  assert(!inside);
{work}
  {names} := {less};
  goto again;

write:
{enter}
{section}
  writing := 0;
  goto again;
end
",
        names = readers.list(),
        more = readers.plus_one(),
        less = readers.minus_one(),
        readers = readers.declared(0),
        locals = locals(size),
        work = work(size),
        section = section(size),
    )
}

/// Returns the critical section.
fn section(size: Size) -> String {
    format!("  assert(!inside);\n  inside := 1;\n{}\n  inside := 0;", work(size))
}

/// Declares the local variables, which start with arbitrary values.
pub(super) fn locals(size: Size) -> String {
    if size.locals == 0 { String::new() } else { format!("  decl {};", names(size).join(", ")) }
}

/// Returns the work with local variables: a register that is shifted as long as its last bit is set.
pub(super) fn work(size: Size) -> String {
    let names = names(size);
    let Some((last, before)) = names.split_last() else { return "  skip;".to_string() };
    let values: Vec<String> = std::iter::once("*".to_string()).chain(before.iter().cloned()).collect();
    format!("  while {last} do\n    {} := {};\n  od;", names.join(", "), values.join(", "))
}

fn names(size: Size) -> Vec<String> {
    (0..size.locals).map(|number| format!("w{number}")).collect()
}
