//! Concurrent algorithms without recursion, after the descriptions behind Fig. 8 of Lal and Reps: how they work is
//! common knowledge. Threads begin again when they are done. Each has a twin with one mistake.

use std::fmt::Write as _;

use super::number::Number;
use super::{Size, Twin};

/// Generates Anderson's queue lock: a thread draws a place and waits for its slot. The unsafe twin draws in two steps.
pub(crate) fn anderson(size: Size, twin: Twin) -> String {
    let n_slots = size.threads as usize;
    let next = Number::up_to("n", n_slots - 1);
    let place = Number::up_to("m", n_slots - 1);
    let advance = format!(
        "if {} then\n    {} := {};\n  else\n    {} := {};\n  fi;",
        next.is(n_slots - 1),
        next.list(),
        next.constant(0),
        next.list(),
        next.plus_one()
    );
    let (open, close) = twin.pick(("  atomic_begin;\n", "  atomic_end;\n"), ("", ""));
    let slots: Vec<String> = (0..n_slots).map(|slot| format!("s{slot}")).collect();
    let first: Vec<String> = (0..n_slots).map(|slot| format!("s{slot} := {}", u8::from(slot == 0))).collect();
    let mine = |slot: usize| format!("({} & s{slot})", place.is(slot));
    let waits = (0..n_slots).map(mine).collect::<Vec<_>>().join(" | ");
    let closes = (0..n_slots).map(|slot| format!("s{slot} & !{}", place.is(slot))).collect::<Vec<_>>().join(", ");
    let before = |slot: usize| place.is((slot + n_slots - 1) % n_slots);
    let opens = (0..n_slots).map(|slot| format!("s{slot} | {}", before(slot))).collect::<Vec<_>>().join(", ");
    format!(
        "shared decl inside := 0;\nshared decl {first};\nshared decl {zero};\n\n\
         process p [{n_slots}] begin\nvoid main() \
         begin\n  decl {place};\n  decl seen;\nagain:\n  skip;\n{open}  {place} := {next};\n  {advance}\n{close}  \
         assume({waits});\n  seen, inside := inside, 1;\n  assert(!seen);\n  inside := 0;\n  {slots} := {closes};\n  \
         {slots} := {opens};\n  goto again;\nend\nend\n",
        first = first.join(", "),
        zero = next.declared(0),
        next = next.list(),
        place = place.list(),
        slots = slots.join(", "),
    )
}

/// Generates Lamport's bakery with tickets up to 7. The unsafe twin does not break ties between equal tickets.
pub(crate) fn bakery(size: Size, twin: Twin) -> String {
    let n_threads = size.threads as usize;
    let ticket = |thread: usize| Number::up_to(&format!("n{thread}_"), 7);
    let mut text = "decl inside := 0;\n".to_string();
    for thread in 0..n_threads {
        let _ = writeln!(text, "decl c{thread} := 0, {};", ticket(thread).declared(0));
    }
    for thread in 0..n_threads {
        let (mine, most) = (ticket(thread), Number::up_to("m", 7));
        let _ =
            write!(text, "\nvoid thread{thread}() begin\n  decl {}, seen;\nagain:\n  c{thread} := 1;\n", most.list());
        let _ = writeln!(text, "  {} := {};", most.list(), most.constant(0));
        for other in (0..n_threads).filter(|other| *other != thread) {
            let theirs = ticket(other);
            let _ = writeln!(text, "  if {} then {} := {}; fi;", most.less(&theirs), most.list(), theirs.list());
        }
        let _ =
            writeln!(text, "  assume(!{});\n  {} := {};\n  c{thread} := 0;", most.is(7), mine.list(), most.plus_one());
        for other in (0..n_threads).filter(|other| *other != thread) {
            let theirs = ticket(other);
            let tie = match (other < thread, twin) {
                (true, Twin::Safe) => String::new(),
                _ => format!(" | {}", mine.equals(&theirs)),
            };
            let _ = writeln!(text, "  assume(!c{other});");
            let _ = writeln!(text, "  assume({} | {}{tie});", theirs.is(0), mine.less(&theirs));
        }
        let _ = writeln!(text, "  seen, inside := inside, 1;\n  assert(!seen);\n  inside := 0;");
        let _ = writeln!(text, "  {} := {};\n  goto again;\nend", mine.list(), mine.constant(0));
    }
    text
}

/// Generates information exchange between slaves, which write into buffers, and as many masters, which read the newest
/// one: 5 buffers. A buffer is idle (00), being written (01), the newest (10) or being read (11). All masters read the
/// same buffer; the last to leave releases it. In the unsafe twin the one before the last does.
pub(crate) fn msmie(size: Size, twin: Twin) -> String {
    let n_buffers = 5;
    let n_masters = size.threads as usize / 2;
    let readers = Number::up_to("m", n_masters);
    let has = |buffer: usize, state: usize| {
        let bit = |bit: usize| if state >> bit & 1 == 1 { "" } else { "!" };
        format!("({}b{buffer}_1 & {}b{buffer}_0)", bit(1), bit(0))
    };
    let any = |state: usize| (0..n_buffers).map(|buffer| has(buffer, state)).collect::<Vec<_>>().join(" | ");
    let mut text = String::new();
    for buffer in 0..n_buffers {
        let _ = writeln!(text, "shared decl b{buffer}_0 := 0, b{buffer}_1 := 0;");
    }
    let _ = writeln!(text, "shared decl {};", readers.declared(0));
    // Moves the first buffer in one state to another state.
    let moved = |from: usize, to: usize| {
        let mut chain = String::new();
        for buffer in 0..n_buffers {
            let word = if buffer == 0 { "if" } else { "elsif" };
            let _ = writeln!(
                chain,
                "  {word} {} then b{buffer}_1, b{buffer}_0 := {}, {};",
                has(buffer, from),
                to >> 1 & 1,
                to & 1
            );
        }
        chain + "  fi;\n"
    };
    let give_back = readers.is(twin.pick(0, 1));
    let _ = write!(
        text,
        "\nprocess slave [{n_masters}] begin\nvoid main() begin\nagain:\n  atomic_begin;\n  assume({idle});\n{take}  \
         atomic_end;\n  atomic_begin;\n  assume({writing});\n  if {newest} then\n{drop}  fi;\n{publish}  \
         atomic_end;\n  goto again;\nend\nend\n",
        idle = any(0),
        take = moved(0, 1),
        writing = any(1),
        newest = any(2),
        drop = moved(2, 0),
        publish = moved(1, 2),
    );
    let _ = write!(
        text,
        "\nprocess master [{n_masters}] begin\nvoid main() begin\nagain:\n  atomic_begin;\n  \
         assume({reading} | {newest});\n  \
         if !({reading}) then\n{begin}  fi;\n  {names} := {more};\n  atomic_end;\n  assert({reading});\n  \
         atomic_begin;\n  {names} := {less};\n  if {give_back} then\n{end}  fi;\n  atomic_end;\n  goto again;\nend\n\
         end\n",
        reading = any(3),
        newest = any(2),
        begin = moved(2, 3),
        names = readers.list(),
        more = readers.plus_one(),
        less = readers.minus_one(),
        end = moved(3, 0),
    );
    text
}
