//! The encoding of states as bytes, since the visited set holds millions of them.
//!
//! A truth value is a byte; a machine integer is a byte for its type, and its bits as a number. Numbers are written in
//! groups of seven bits, the last one with its top bit clear. Only canonical states are encoded: the numbers of threads
//! are their positions.

use selvedge_ir::trace::{Fresh, StartThread, ThreadId};
use selvedge_ir::{EdgeId, EntryId, LocId, MachineTy, ProcId, Value, VarId};
use selvedge_replay::{Frame, Prelude, State, Thread};

/// Returns the bytes of a canonical state.
pub(super) fn encode(state: &State) -> Box<[u8]> {
    let mut out = Vec::with_capacity(64);
    values(&mut out, &state.shared);
    option(&mut out, state.holder.map(|holder| holder.0 as usize));
    option(&mut out, state.prelude.as_ref().map(|prelude| prelude.thread.0 as usize));
    if let Some(prelude) = &state.prelude {
        number(&mut out, prelude.waiting.len());
        prelude.waiting.iter().for_each(|start| start_thread(&mut out, start));
    }
    number(&mut out, state.threads.len());
    number(&mut out, state.next_thread as usize);
    for thread in &state.threads {
        option(&mut out, thread.entry.map(EntryId::index));
        values(&mut out, &thread.vars);
        number(&mut out, thread.stack.len());
        for frame in &thread.stack {
            number(&mut out, frame.proc.index());
            number(&mut out, frame.loc.index());
            option(&mut out, frame.call.map(EdgeId::index));
            values(&mut out, &frame.locals);
        }
    }
    out.into_boxed_slice()
}

/// Returns the canonical state with the given bytes.
pub(super) fn decode(bytes: &[u8]) -> State {
    let mut reader = StateReader(bytes);
    let shared = reader.values();
    let holder = reader.option().map(|holder| ThreadId(holder as u32));
    let prelude = reader
        .option()
        .map(|thread| Prelude { thread: ThreadId(thread as u32), waiting: reader.list(StateReader::start_thread) });
    let n_threads = reader.number();
    let next_thread = reader.number() as u32;
    let mut threads: Vec<Thread> = (0..n_threads).map(|_| reader.thread()).collect();
    for (position, thread) in threads.iter_mut().enumerate() {
        thread.id = ThreadId(position as u32);
    }
    State { shared, holder, threads, prelude, next_thread }
}

fn number(out: &mut Vec<u8>, mut value: usize) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

fn option(out: &mut Vec<u8>, value: Option<usize>) {
    number(out, value.map_or(0, |value| value + 1));
}

fn values(out: &mut Vec<u8>, values: &[Value]) {
    number(out, values.len());
    values.iter().for_each(|value| write_value(out, *value));
}

/// The byte of the type of the first machine integers: those below are truth values.
const MACHINE: u8 = 2;

fn write_value(out: &mut Vec<u8>, value: Value) {
    match value {
        Value::Bool(value) => out.push(u8::from(value)),
        Value::Machine(ty, bits) => {
            out.push(MACHINE + ty.bits * 2 + u8::from(ty.signed));
            number(out, bits as usize);
        }
        Value::Int(_) => unreachable!("the engine does not take programs with integers"),
    }
}

fn start_thread(out: &mut Vec<u8>, start: &StartThread) {
    number(out, start.entry.index());
    values(out, &start.choices);
    number(out, start.fresh.len());
    for (var, value) in &start.fresh {
        number(out, var.index());
        write_value(out, *value);
    }
}

struct StateReader<'b>(&'b [u8]);

impl StateReader<'_> {
    fn byte(&mut self) -> u8 {
        let (first, rest) = self.0.split_first().expect("decoding reads what encoding wrote");
        self.0 = rest;
        *first
    }

    fn number(&mut self) -> usize {
        let (mut value, mut shift) = (0, 0);
        loop {
            let byte = self.byte();
            value |= usize::from(byte & 0x7f) << shift;
            shift += 7;
            if byte < 0x80 {
                return value;
            }
        }
    }

    fn option(&mut self) -> Option<usize> {
        self.number().checked_sub(1)
    }

    fn list<T>(&mut self, element: impl Fn(&mut Self) -> T) -> Vec<T> {
        (0..self.number()).map(|_| element(self)).collect()
    }

    fn value(&mut self) -> Value {
        match self.byte() {
            tag @ ..MACHINE => Value::Bool(tag != 0),
            tag => {
                let ty = MachineTy { bits: (tag - MACHINE) / 2, signed: (tag - MACHINE) % 2 == 1 };
                Value::Machine(ty, self.number() as u64)
            }
        }
    }

    fn values(&mut self) -> Vec<Value> {
        self.list(StateReader::value)
    }

    fn thread(&mut self) -> Thread {
        let entry = self.option().map(EntryId::new);
        Thread { id: ThreadId(0), entry, vars: self.values(), stack: self.list(StateReader::frame) }
    }

    fn frame(&mut self) -> Frame {
        let proc = ProcId::new(self.number());
        let loc = LocId::new(self.number());
        Frame { proc, loc, call: self.option().map(EdgeId::new), locals: self.values() }
    }

    fn start_thread(&mut self) -> StartThread {
        let entry = EntryId::new(self.number());
        let choices = self.values();
        let fresh: Fresh = self.list(|reader| (VarId::new(reader.number()), reader.value()));
        StartThread { entry, choices, fresh }
    }
}
