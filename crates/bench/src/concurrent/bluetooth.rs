//! The driver of a Bluetooth device: requests arrive while the driver is being stopped.
//!
//! The driver counts its pending requests, plus one for itself. A request (an *adder*) counts itself, gives up if the
//! driver is being stopped, and else works; the driver must not have stopped then. A *stopper* raises a flag, gives up
//! the driver's own share of the count, waits for the event that the count came to zero, and stops. Counting down from
//! zero leaves zero. Each of n threads is an adder or a stopper.
//!
//! With two stoppers both give up the driver's share, and the driver stops under an adder: three threads are enough.
//! In the fixed variant only the first stopper gives it up.

use super::number::Number;
use super::{Size, Twin};

pub(super) fn driver(size: Size, twin: Twin) -> String {
    let pending = Number::up_to("p", size.threads as usize + 1);
    let leave = leave(&pending);
    let stop = twin.pick("  last, stopping := stopping, 1;\n  if last then goto wait; fi;", "  stopping := 1;");
    format!(
        "decl stopping := 0;
decl event := 0;
decl stopped := 0;
decl {pending};

void main() begin
  decl last;
  goto adder, stopper;

adder:
  {names} := {plus_one};
  if !stopping then
    assert(!stopped);
  fi;
{leave}
  end_thread;

stopper:
{stop}
{leave}
wait:
  assume(event);
  stopped := 1;
end
",
        pending = pending.declared(1),
        names = pending.list(),
        plus_one = pending.plus_one(),
    )
}

/// Returns statements that count down, and set the event if nothing is left.
fn leave(pending: &Number) -> String {
    let (names, less) = (pending.list(), pending.minus_one_or_zero());
    let (zero, one) = (pending.is(0), pending.is(1));
    format!("  {names}, last := {less}, {zero} | {one};\n  if last then\n    event := 1;\n  fi;")
}
