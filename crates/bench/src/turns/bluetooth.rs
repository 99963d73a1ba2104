//! The driver of a Bluetooth device in procedures, after the description of section 7: 8 shared variables, 5
//! procedures.
//!
//! Each thread adds a request or stops the driver. A request counts itself in, works if the driver is not being
//! stopped, and counts itself out; a stopper raises a flag, counts the driver's own share out, waits until nothing is
//! pending, and stops. With two stoppers the share is given up twice. In the safe twin only the first stopper gives it
//! up.

use super::Twin;

pub(super) fn driver(n_threads: usize, twin: Twin) -> String {
    let stop = twin.pick(
        "  atomic_begin;\n  last := stopping;\n  stopping := 1;\n  atomic_end;\n  if last then return; fi;",
        "  last := 0;\n  stopping := 1;",
    );
    format!(
        "shared decl stopping := 0, event := 0, stopped := 0, failed := 0;
shared decl p0 := 1, p1 := 0, p2 := 0, p3 := 0;

void increment() begin
  p0, p1, p2, p3 := !p0, p1 ^ p0, p2 ^ (p1 & p0), p3 ^ (p2 & p1 & p0);
end

void decrement() begin
  decl last;
  atomic_begin;
  p0, p1, p2, p3 := !p0, p1 ^ !p0, p2 ^ !(p1 | p0), p3 ^ !(p2 | p1 | p0);
  last := !p0 & !p1 & !p2 & !p3;
  atomic_end;
  if last then
    event := 1;
  fi;
end

void add() begin
  decl allowed;
  increment();
  allowed := !stopping;
  if allowed then
    if stopped then
      failed := 1;
    fi;
    assert(!failed);
  fi;
  decrement();
end

void stop() begin
  decl last;
{stop}
  decrement();
  assume(event);
  stopped := 1;
end

process p [{n_threads}] begin
  void main() begin
    if * then
      add();
    else
      stop();
    fi;
  end
end
"
    )
}
