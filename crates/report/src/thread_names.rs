//! Names of threads: what a thread runs, with a number among those that run the same.
//!
//! A thread that the program starts with is called after its kind, any other one after the procedure that it begins in.
//! The number is left out where no run has two threads of that name. A name never changes: the numbers follow the order
//! in which threads come to life.

use std::collections::{BTreeMap, BTreeSet};

use selvedge_frontend::Context;
use selvedge_ir::flow::Flow;
use selvedge_ir::trace::ThreadId;
use selvedge_ir::{Count, EdgeId, LocId, Op, ProcId, Program};
use selvedge_replay::{State, Thread};

use crate::system_vars::thread_word;

/// The names of the threads of an execution, as far as they have come to life.
#[derive(Clone, Debug, Default)]
pub struct ThreadNames {
    /// The names that only one thread of a run can have.
    single: BTreeSet<String>,
    /// How many threads have each name.
    counts: BTreeMap<String, usize>,
    known: BTreeMap<ThreadId, String>,
}

impl ThreadNames {
    /// Names the threads of some states that follow one another.
    pub fn new<'s>(context: Context<'_>, states: impl IntoIterator<Item = &'s State>) -> ThreadNames {
        let single = single(context.program, &context.map.wrappers);
        let mut names = ThreadNames { single, ..ThreadNames::default() };
        states.into_iter().for_each(|state| names.see(context, state));
        names
    }

    /// Names the threads of a state that are new.
    pub fn see(&mut self, context: Context<'_>, state: &State) {
        for thread in &state.threads {
            if self.known.contains_key(&thread.id) {
                continue;
            }
            let plain = thread_word(context.map, thread)
                .unwrap_or_else(|| plain(context.program, &context.map.wrappers, thread));
            let count = self.counts.entry(plain.to_string()).or_default();
            *count += 1;
            let name = if self.single.contains(plain) { plain.to_string() } else { format!("{plain}#{count}") };
            self.known.insert(thread.id, name);
        }
    }

    /// Returns the name of a thread.
    pub fn of(&self, thread: ThreadId) -> String {
        self.known.get(&thread).cloned().unwrap_or_else(|| format!("thread {}", thread.0))
    }

    /// Lists all threads with their names, in the order of their numbers.
    pub fn all(&self) -> impl Iterator<Item = (ThreadId, &str)> {
        self.known.iter().map(|(thread, name)| (*thread, name.as_str()))
    }
}

/// Procedures that the source does not have, with those that stand for them.
type Wrappers = BTreeMap<ProcId, ProcId>;

/// Returns the procedure of the source that a thread begins in.
fn seen(wrappers: &Wrappers, proc: ProcId) -> ProcId {
    wrappers.get(&proc).copied().unwrap_or(proc)
}

/// Returns what a thread runs: its kind, or the procedure that it began in.
fn plain<'p>(program: &'p Program, wrappers: &Wrappers, thread: &Thread) -> &'p str {
    let first = seen(wrappers, thread.stack.first().expect("a thread has a frame").proc);
    match thread.entry.map(|entry| &program.entries[entry]).filter(|entry| entry.proc == first) {
        Some(entry) => &entry.name,
        None => &program.procs[first].name,
    }
}

/// Returns the names that only one thread of a run can have. Copies of threads may have any name but the prelude's.
fn single(program: &Program, wrappers: &Wrappers) -> BTreeSet<String> {
    let mut most: BTreeMap<&str, usize> = BTreeMap::new();
    let mut add = |name, count| *most.entry(name).or_default() += count;
    program.prelude.iter().for_each(|proc| add(&program.procs[*proc].name, 1));
    for entry in &program.entries {
        add(&entry.name, if matches!(entry.count, Count::Exactly(0 | 1) | Count::AtMost(0 | 1)) { 1 } else { 2 });
    }
    let copies = program.edges.iter().any(|edge| matches!(edge.op, Op::Fork(_)));
    for (id, edge) in program.edges.iter_enumerated() {
        if let Op::Spawn(spawn) = &edge.op {
            add(&program.procs[seen(wrappers, spawn.callee)].name, if happens_once(program, id) { 1 } else { 2 });
        }
    }
    let is_single = |(name, count): &(&str, usize)| *count == 1 && !copies && !name.is_empty();
    most.into_iter().filter(is_single).map(|(name, _)| name.to_string()).collect()
}

/// Returns whether no run makes a step twice: its procedure is run by one initial thread or the prelude and never
/// called or started, and no way leads from the step back to it.
fn happens_once(program: &Program, edge: EdgeId) -> bool {
    let proc = program.locs[program.edges[edge].from].proc;
    let is_started = |op: &Op| match op {
        Op::Call(call) => call.callee == proc,
        Op::Spawn(spawn) => spawn.callee == proc,
        _ => false,
    };
    let mut runs = program.entries.iter().filter(|entry| entry.proc == proc);
    let is_single = |count: Count| matches!(count, Count::Exactly(1) | Count::AtMost(1));
    let runs_once = match runs.next() {
        Some(entry) => is_single(entry.count) && runs.next().is_none() && program.prelude != Some(proc),
        None => program.prelude == Some(proc),
    };
    runs_once && !program.edges.iter().any(|edge| is_started(&edge.op)) && !comes_back(program, proc, edge)
}

/// Returns whether a way inside a procedure leads from an edge back to it.
fn comes_back(program: &Program, proc: ProcId, edge: EdgeId) -> bool {
    let flow = Flow::new(program);
    let mut seen: BTreeSet<LocId> = BTreeSet::new();
    let mut waiting = vec![program.edges[edge].to];
    while let Some(loc) = waiting.pop() {
        if loc != program.procs[proc].exit && seen.insert(loc) {
            waiting.extend(flow.out(loc).iter().map(|edge| program.edges[*edge].to));
        }
    }
    seen.contains(&program.edges[edge].from)
}

#[cfg(test)]
mod tests {
    use selvedge_check::ThreadScope;
    use selvedge_frontend::Source;
    use selvedge_ir::span::SourceMap;
    use selvedge_ir::text::parse;
    use selvedge_replay::Interpreter;

    use super::*;

    fn single_names(text: &str) -> Vec<String> {
        single(&parse(text).expect("the program is well-formed"), &Wrappers::new()).into_iter().collect()
    }

    #[test]
    fn a_thread_that_is_alone_has_no_number() {
        let once = "proc main() from L0 to L1\nL0 -> L2: spawn f()\nL2 -> L1: return\n\
            proc f() from L3 to L4\nL3 -> L4: return\nstart main";
        assert_eq!(single_names(once), ["f", "main"]);
        let again = once.replace("L2 -> L1: return", "L2 -> L1: return\nL2 -> L0: skip");
        assert_eq!(single_names(&again), ["main"]);
        let twice = once.replace("L2 -> L1: return", "L2 -> L1: spawn f()");
        assert_eq!(single_names(&twice), ["main"]);
        let copied = once.replace("L3 -> L4: return", "L3 -> L3: fork L3\nL3 -> L4: return");
        assert_eq!(single_names(&copied), [""; 0]);
    }

    #[test]
    fn threads_are_numbered_among_those_that_run_the_same() {
        let text = "proc p() from L0 to L1\nL0 -> L1: return\nproc q() from L2 to L3\nL2 -> L3: return\n\
            start p: p exactly 1\nstart q: q exactly 2";
        let program = parse(text).expect("the program is well-formed");
        let interpreter = Interpreter::new(&program, ThreadScope::Unbounded);
        let start = interpreter.starts(3).next().expect("there is a start");
        let state = interpreter.start(&start).expect("it is legal");
        let (map, source) = (SourceMap::default(), Source::default());
        let names = ThreadNames::new(Context { program: &program, map: &map, source: &source }, [&state]);
        assert_eq!(names.all().map(|(_, name)| name).collect::<Vec<_>>(), ["p", "q#1", "q#2"]);
    }
}
