//! Threads that hand work to each other.

use super::locks::{locals, work};
use super::number::Number;
use super::{Size, Twin};

/// The capacity of a queue.
const CAPACITY: usize = 2;

/// Generates a listener that starts workers and gives them connections by way of a queue, as Apache's does. A worker
/// that finds the queue empty waits for a signal, which may be an old one. The unsafe twin does not look again when it
/// wakes, though the connection that the signal was about may be gone.
pub(super) fn workers(size: Size, twin: Twin) -> String {
    let queue = Number::up_to("q", CAPACITY);
    let woken = twin.pick("    goto look;", "    skip;");
    format!(
        "decl lock := 0;
decl signal := 0;
decl finished := 0;
decl {queue};

void main() begin
{locals}
  while * do
    start_thread goto worker;
  od;
  while * do
    lock := 1 constrain !lock;
    if !{full} then
      {names} := {more};
      signal := 1;
    fi;
    lock := 0;
  od;
  finished := 1;
  end_thread;

worker:
  lock := 1 constrain !lock;
look:
  if {empty} then
    if finished then
      lock := 0;
      end_thread;
    fi;
    lock := 0;
    signal := 0 constrain signal;
    lock := 1 constrain !lock;
{woken}
  fi;
  assert(!{empty});
  {names} := {less};
  lock := 0;
{work}
  goto worker;
end
",
        full = queue.is(CAPACITY),
        empty = queue.is(0),
        names = queue.list(),
        more = queue.plus_one(),
        less = queue.minus_one(),
        queue = queue.declared(0),
        locals = locals(size),
        work = work(size),
    )
}

/// Generates producers and consumers of a buffer with two places. The unsafe twin looks for a free place before it
/// takes the lock.
pub(super) fn buffer(size: Size, twin: Twin) -> String {
    let count = Number::up_to("c", CAPACITY);
    let (full, empty) = (count.is(CAPACITY), count.is(0));
    let enter = |condition: &str| {
        let in_one_step = format!("  lock := 1 constrain !lock & !{condition};");
        twin.pick(in_one_step, format!("  assume(!{condition});\n  lock := 1 constrain !lock;"))
    };
    format!(
        "decl lock := 0;
decl {count};

void main() begin
{locals}
again:
  goto produce, consume;

produce:
{work}
{enter_produce}
  assert(!{full});
  {names} := {more};
  lock := 0;
  goto again;

consume:
{enter_consume}
  assert(!{empty});
  {names} := {less};
  lock := 0;
{work}
  goto again;
end
",
        enter_produce = enter(&full),
        enter_consume = enter(&empty),
        names = count.list(),
        more = count.plus_one(),
        less = count.minus_one(),
        count = count.declared(0),
        locals = locals(size),
        work = work(size),
    )
}
