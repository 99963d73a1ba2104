//! Certificates by unwinding, compared with their definition: a search through all executions counts the blocks of each
//! thread.

use std::collections::{BTreeMap, HashSet};
use std::fmt::Write as _;

use selvedge_check::{Certificate, Run, Task, ThreadId, ThreadScope};
use selvedge_ir::text::parse_with_target;
use selvedge_ir::validate::validate;
use selvedge_ir::{EdgeId, Program, Target};
use selvedge_replay::certificate::{Flaw, Refused, Unjudged, verify};
use selvedge_replay::commutation::Commutation;
use selvedge_replay::replay::reached;
use selvedge_replay::{Interpreter, Outcome, State};

use crate::random::Random;

/// The most states of a search.
pub(crate) const STATES: usize = 3_000;

/// What a certificate is: accepted, refuted by an execution to an error, or by a thread with more blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Answer {
    Accepted,
    Error,
    More,
    Open,
}

pub(crate) fn program(text: &str) -> (Program, Target) {
    let (program, target) = parse_with_target(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    validate(&program).unwrap_or_else(|invalid| panic!("{invalid:?}\n{text}"));
    (program, target)
}

fn judged(task: &Task<'_>, depth: u32) -> Result<Answer, Refused> {
    match verify(task, &Certificate::Unwound(depth), &Run::unlimited()) {
        Ok(_) => Ok(Answer::Accepted),
        Err(Refused::Flawed(Flaw::Base(steps))) if steps == depth => Ok(Answer::Error),
        Err(Refused::Flawed(Flaw::Step)) => Ok(Answer::More),
        Err(refused) => Err(refused),
    }
}

/// A state with the numbers of blocks of its threads, and the threads that are inside of one.
type Counted = (State, BTreeMap<ThreadId, u32>, Vec<ThreadId>);

/// Searches all executions in which no thread makes more blocks than `depth`.
struct Search<'t> {
    task: &'t Task<'t>,
    interpreter: Interpreter<'t>,
    commutation: Commutation<'t>,
    depth: u32,
    known: HashSet<Counted>,
    waiting: Vec<Counted>,
    has_error: bool,
    has_more: bool,
}

fn searched(task: &Task<'_>, depth: u32) -> Answer {
    let (interpreter, commutation) = (Interpreter::new(task.program, task.threads), Commutation::new(task.program));
    let (known, waiting) = (HashSet::new(), Vec::new());
    let mut search =
        Search { task, interpreter, commutation, depth, known, waiting, has_error: false, has_more: false };
    let starts: Vec<State> =
        search.interpreter.starts(4).map(|start| search.interpreter.start(&start).expect("it is a start")).collect();
    starts.into_iter().for_each(|state| search.add((state, BTreeMap::new(), Vec::new())));
    while let Some(counted) = search.waiting.pop() {
        search.follow(&counted);
        if search.known.len() > STATES {
            return Answer::Open;
        }
    }
    match (search.has_error, search.has_more) {
        (true, _) => Answer::Error,
        (false, true) => Answer::More,
        (false, false) => Answer::Accepted,
    }
}

impl Search<'_> {
    fn add(&mut self, counted: Counted) {
        if self.known.insert(counted.clone()) {
            self.waiting.push(counted);
        }
    }

    fn follow(&mut self, counted: &Counted) {
        let (state, counts, inside) = counted;
        if reached(self.task, state).is_some() {
            self.has_error = true;
            return;
        }
        for (position, thread) in state.threads.iter().enumerate() {
            let count = counts.get(&thread.id).copied().unwrap_or(0);
            let edges = self.interpreter.edges(state, thread).to_vec();
            if count >= self.depth && !inside.contains(&thread.id) {
                let leaves = self.task.program.edges.iter().any(|edge| edge.from == thread.loc());
                self.has_more |= leaves;
                continue;
            }
            let caller = thread.stack.iter().rev().nth(1).and_then(|frame| frame.call);
            for edge in edges {
                let is_quiet = self.commutation.is_invisible(&self.task.program.edges[edge], caller)
                    && state.holder != Some(thread.id);
                let steps: Vec<_> = self.interpreter.steps(state, position, edge).collect();
                for step in steps {
                    match self.interpreter.step(state, &step).expect("a step that is listed can be made") {
                        Outcome::Blocked => {}
                        Outcome::Failed => self.has_error |= self.task.target.has_assert(edge),
                        Outcome::Next(next) => self.add(after(counted, thread.id, is_quiet, next)),
                    }
                }
            }
        }
    }
}

/// Counts a block if a step ends it.
fn after((_, counts, inside): &Counted, thread: ThreadId, is_quiet: bool, next: State) -> Counted {
    let (mut counts, mut inside) = (counts.clone(), inside.clone());
    inside.retain(|other| *other != thread);
    let is_alive = next.threads.iter().any(|other| other.id == thread);
    if is_alive && (is_quiet || next.holder == Some(thread)) {
        inside.push(thread);
        inside.sort_unstable();
    } else {
        *counts.entry(thread).or_default() += 1;
    }
    (next, counts, inside)
}

/// Compares the judge with the search for all numbers of blocks up to some; returns the answers of the judge.
fn compared(text: &str, most: u32) -> Vec<Answer> {
    let (program, target) = program(text);
    let task = Task { program: &program, target: &target, threads: ThreadScope::Unbounded };
    let compare = |depth| {
        let expected = searched(&task, depth);
        let found = judged(&task, depth);
        assert!(
            expected == Answer::Open || found == Ok(expected),
            "{depth} blocks: {found:?}, not {expected:?}\n{text}"
        );
        expected
    };
    (0..=most).map(compare).collect()
}

/// Returns a random program: one or two initial threads, and perhaps a third procedure that they call or start.
pub(crate) fn random_program(random: &mut Random) -> String {
    let n_procs = 2 + random.below(2);
    let length = 2 + random.below(3);
    let mut text = "shared x: bool, y: bool\nthread t: bool\n".to_string();
    text += ["init x := F, y := F\n", "init x := F\n", "init x := ?0, y := T\n"][random.below(3)];
    let mut asserts = Vec::new();
    let mut edge = 0;
    for proc in 0..n_procs {
        let first = (length + 2) * proc;
        let result = if proc == 2 { " returns bool" } else { "" };
        let param = if proc == 2 { "p: bool" } else { "" };
        let _ = writeln!(text, "proc f{proc}({param}){result} from L{first} to L{}", first + length + 1);
        text += "local a: bool\n";
        for step in 0..length {
            for _ in 0..1 + random.below(4) / 3 {
                let op = operation(random, proc, (first, step, length), n_procs == 3);
                if op.starts_with("assert") {
                    asserts.push(format!("e{edge}"));
                }
                let _ = writeln!(text, "e{edge} L{} -> L{}: {op}", first + step, first + step + 1);
                edge += 1;
            }
        }
        let end = if proc == 2 { "return a" } else { "return" };
        let _ = writeln!(text, "e{edge} L{} -> L{}: {end}", first + length, first + length + 1);
        edge += 1;
    }
    text += "start f0: f0 exactly 1 with t init t := ?0\n";
    if random.below(4) > 0 {
        text += "start f1: f1 exactly 1 with t init t := F\n";
    }
    if random.below(3) == 0 {
        asserts.push(format!("L{}", (length + 2) * random.below(n_procs) + random.below(length + 1)));
    }
    if random.below(3) == 0 && asserts.len() > 1 {
        asserts.pop();
    }
    if !asserts.is_empty() {
        let _ = writeln!(text, "target {}", asserts.join(", "));
    }
    text
}

/// A random operation of a procedure with a first location and a length. Only the first one starts threads, and copies
/// of itself only behind the step, so that there are few.
fn operation(
    random: &mut Random,
    proc: usize,
    (first, step, length): (usize, usize, usize),
    has_third: bool,
) -> String {
    let plain = [
        "x := a",
        "x := !y",
        "y := x",
        "y := T",
        "a := x",
        "a := y & !t",
        "a := !a",
        "a := ?0",
        "assume x",
        "assume !a",
        "assert !x",
        "assert a | y",
        "t := a",
        "a := t",
        "x := t constrain !y",
        "atomic_begin",
        "atomic_end",
        "y := ?0 constrain y' | x",
        "skip",
    ];
    match random.below([25, 22, 20][proc]) {
        20 if has_third => "a := call f2(x)".to_string(),
        21 if has_third => "_ := call f2(a)".to_string(),
        22 => format!("fork L{}", first + step + 1 + random.below(length - step)),
        23 => "spawn f1()".to_string(),
        24 if has_third => "spawn f2(a)".to_string(),
        number if proc == 2 && number % 5 == 0 => "a := p".to_string(),
        number => plain[number % plain.len()].to_string(),
    }
}

#[test]
fn certificates_are_what_they_claim_on_random_programs() {
    let mut random = Random(20_261_119);
    let mut seen = BTreeMap::new();
    for _ in 0..if cfg!(miri) { 3 } else { 400 } {
        for answer in compared(&random_program(&mut random), 3) {
            *seen.entry(format!("{answer:?}")).or_insert(0) += 1;
        }
    }
    assert!(cfg!(miri) || seen.len() >= 3 && seen.values().all(|count| *count > 20), "{seen:?}");
}

/// Each of two threads sets its flag and looks at the other's.
const FLAGS: &str = "shared f: bool, g: bool, m: bool\ninit f := F, g := F, m := F\n\
    proc left() from L0 to L5\nlocal s: bool\nL0 -> L1: f := T\nL1 -> L2: s := g\nL2 -> L3: assume !s\n\
    L3 -> L4: m := T\nL4 -> L5: return\n\
    proc right() from L6 to L11\nlocal t: bool\nL6 -> L7: g := T\nL7 -> L8: t := f\nL8 -> L9: assume !t\n\
    e8 L9 -> L10: assert !m\nL10 -> L11: return\nstart left\nstart right\ntarget e8";

#[test]
fn an_order_of_all_events_is_needed() {
    use Answer::{Accepted, Error, More};
    assert_eq!(compared(FLAGS, 5), [More, More, More, More, Accepted, Accepted]);
    let swapped = FLAGS.replace("f := T\nL1 -> L2: s := g", "s := g\nL1 -> L2: f := T");
    let swapped = swapped.replace("g := T\nL7 -> L8: t := f", "t := f\nL7 -> L8: g := T");
    assert_eq!(compared(&swapped, 4), [More, More, More, Error, Error]);
}

/// Three threads hand a token on; the last one finds it only behind both others, whichever is declared first.
#[test]
fn what_comes_earlier_is_transitive() {
    let text = "shared a: bool, b: bool, c: bool\ninit a := F, b := F, c := F\n\
        proc one() from L0 to L3\nL0 -> L1: c := T\nL1 -> L2: a := T\nL2 -> L3: return\n\
        proc two() from L4 to L7\nL4 -> L5: assume a\nL5 -> L6: b := T\nL6 -> L7: return\n\
        proc three() from L8 to L11\nL8 -> L9: assume b\ne7 L9 -> L10: assert c\nL10 -> L11: return\n";
    let late = text.replace("c := T\nL1 -> L2: a := T", "a := T\nL1 -> L2: c := T");
    for order in ["one two three", "one three two", "two one three", "two three one", "three one two", "three two one"]
    {
        let starts: String = order.split(' ').map(|name| format!("start {name}\n")).collect();
        use Answer::{Accepted, Error, More};
        assert_eq!(compared(&format!("{text}{starts}target e7"), 4), [More, More, More, Accepted, Accepted], "{order}");
        assert_eq!(compared(&format!("{late}{starts}target e7"), 3), [More, More, Error, Error], "{order}");
    }
}

/// A thread that starts in the middle of an atomic section begins behind it.
#[test]
fn what_is_started_comes_behind_the_block_that_starts_it() {
    let text = "shared x: bool\ninit x := F\nproc main() from L0 to L6\nL0 -> L1: atomic_begin\nL1 -> L2: x := FIRST\n\
        L2 -> L3: spawn other()\nL3 -> L4: x := LAST\nL4 -> L5: atomic_end\nL5 -> L6: return\n\
        proc other() from L7 to L9\ne6 L7 -> L8: assert SAFE\nL8 -> L9: return\nstart main\ntarget e6";
    let ask = |first: &str, last: &str, safe: &str| {
        compared(&text.replace("FIRST", first).replace("LAST", last).replace("SAFE", safe), 2)[2]
    };
    assert_eq!(ask("F", "T", "x"), Answer::Accepted);
    assert_eq!(ask("T", "F", "!x"), Answer::Accepted);
    assert_eq!(ask("T", "F", "x"), Answer::Error);
    assert_eq!(ask("F", "T", "!x"), Answer::Error);
}

/// A copy has the variables of the thread that it is made of, a thread that is started only those of all procedures.
#[test]
fn threads_begin_with_the_variables_of_the_one_that_starts_them() {
    let text = "shared x: bool\nthread t: bool\ninit x := F\n\
        proc main() from L0 to L4\nlocal a: bool\nL0 -> L1: a := T, t := T\nL1 -> L2: OP\nL2 -> L4: return\n\
        e3 L3 -> L2: assert SEEN\n\
        proc other(p: bool) from L5 to L7\nlocal a: bool\ne4 L5 -> L6: assert STARTED\nL6 -> L7: return\n\
        start main: main exactly 1 with t init t := F\ntarget e3, e4";
    let ask = |op: &str, seen: &str, started: &str| {
        let text = text.replace("OP", op).replace("SEEN", seen).replace("STARTED", started);
        compared(&text, 3)[3]
    };
    assert_eq!(ask("fork L3", "a & t", "T"), Answer::Accepted);
    assert_eq!(ask("fork L3", "!a", "T"), Answer::Error);
    assert_eq!(ask("fork L3", "!t", "T"), Answer::Error);
    assert_eq!(ask("spawn other(a)", "T", "p & t"), Answer::Accepted);
    assert_eq!(ask("spawn other(!a)", "T", "p"), Answer::Error);
    assert_eq!(ask("spawn other(a)", "T", "a"), Answer::Error);
    assert_eq!(ask("spawn other(a)", "T", "!t"), Answer::Error);
}

#[test]
fn errors_are_locations_too() {
    let text = "shared x: bool\ninit x := F\nproc main() from L0 to L4\nL0 -> L1: fork L3\nL1 -> L2: x := T\n\
        L2 -> L4: return\nL3 -> L2: assume x\nstart main\ntarget LOC";
    let ask = |loc: &str| compared(&text.replace("LOC", loc), 3);
    assert_eq!(ask("L0"), [Answer::Error; 4]);
    for loc in ["L1", "L2", "L3"] {
        assert_eq!(ask(loc)[3], Answer::Error, "{loc}");
    }
    assert_eq!(ask("L3")[1], Answer::Error);
    let blocked = text.replace("assume x", "assume F").replace("L1 -> L2: x := T", "L1 -> L4: return");
    assert_eq!(compared(&blocked.replace("LOC", "L2"), 3)[2], Answer::Accepted);
}

#[test]
fn what_is_not_unwound_is_not_judged() {
    let ask = |text: &str, threads: ThreadScope, depth: u32| {
        let (program, target) = program(text);
        judged(&Task { program: &program, target: &target, threads }, depth)
    };
    let is_beyond = |answer: Result<Answer, Refused>| matches!(answer, Err(Refused::Unjudged(Unjudged::Beyond(_))));
    let plain = "shared x: bool\ninit x := F\nproc main() from L0 to L2\ne0 L0 -> L1: OP\nL1 -> L2: return\n\
        proc setup() from L3 to L4\nL3 -> L4: return\nstart main: main COUNT\ntarget T";
    let of = |op: &str, count: &str, target: &str| {
        plain.replace("OP", op).replace("COUNT", count).replace("target T", target)
    };
    let all = ThreadScope::Unbounded;
    assert_eq!(ask(&of("x := T", "exactly 2", "target e0"), all, 2), Ok(Answer::Accepted));
    assert!(is_beyond(ask(&of("x := T", "exactly 2", "target L1 + L1"), all, 2)));
    let prelude = of("x := T", "exactly 2", "target e0").replace("start main", "prelude setup\nstart main");
    assert!(is_beyond(ask(&prelude, all, 2)));
    let passive = of("x := T", "exactly 2", "target e0").replace("shared x: bool", "shared x: bool\nthread t: bool");
    let passive =
        passive.replace("L0 -> L1: x := T", "L0 -> L1: t$ := T").replace("exactly 2", "exactly 2 with t init t := F");
    assert!(is_beyond(ask(&passive, all, 2)));
    assert!(is_beyond(ask(&of("x := T", "any", "target e0"), all, 2)));
    assert!(is_beyond(ask(&of("x := T", "exactly 2", "target e0"), all, 201)));
    assert!(is_beyond(ask(&of("x := T", "exactly 201", "target e0"), all, 1)));
    // A hundred and one threads with two events each.
    assert!(is_beyond(ask(&of("x := T", "exactly 101", "target e0"), all, 2)));
    let recursive = of("call main()", "exactly 1", "target e0");
    assert!(matches!(ask(&recursive, all, 2), Err(Refused::Flawed(Flaw::OutOfScope(_)))));
}

/// Where the number of threads is limited, only what holds without the limit is judged.
#[test]
fn a_limit_on_threads_is_no_flaw() {
    let text = "shared x: bool\ninit x := F\nproc main() from L0 to L4\nL0 -> L1: START\nL1 -> L2: assume x\n\
        e2 L2 -> L3: assert SAFE\nL3 -> L4: return\nproc other() from L5 to L7\nL5 -> L6: x := T\nL6 -> L7: return\n\
        start main: main COUNT\ntarget e2";
    let ask = |start: &str, safe: &str, count: &str, threads: ThreadScope| {
        let text = text.replace("START", start).replace("SAFE", safe).replace("COUNT", count);
        let (program, target) = program(&text);
        judged(&Task { program: &program, target: &target, threads }, 4)
    };
    let is_open = |answer: Result<Answer, Refused>| matches!(answer, Err(Refused::Unjudged(Unjudged::Beyond(_))));
    assert_eq!(ask("spawn other()", "x", "exactly 1", ThreadScope::Unbounded), Ok(Answer::Accepted));
    assert_eq!(ask("spawn other()", "!x", "exactly 1", ThreadScope::Unbounded), Ok(Answer::Error));
    for threads in [ThreadScope::AtMost(1), ThreadScope::AtMost(2), ThreadScope::Created(1)] {
        assert_eq!(ask("spawn other()", "x", "exactly 1", threads), Ok(Answer::Accepted));
        assert!(is_open(ask("spawn other()", "!x", "exactly 1", threads)));
        // Nothing depends on the limit where no thread starts another one.
        assert_eq!(ask("x := T", "!x", "exactly 1", threads), Ok(Answer::Error));
    }
    for (count, threads) in [("any", ThreadScope::AtMost(2)), ("at most 2", ThreadScope::Unbounded)] {
        assert_eq!(ask("skip", "!x", count, threads), Ok(Answer::Accepted));
        assert!(is_open(ask("x := T", "!x", count, threads)));
    }
    // Of at most two threads one sets the variable, and of none the other one waits for ever.
    let pair = "shared x: bool\ninit x := F\nproc main() from L0 to L2\nL0 -> L1: x := T\nL1 -> L2: return\n\
        proc other() from L3 to L5\ne2 L3 -> L4: assert !x\nL4 -> L5: return\n\
        start main: main at most 1\nstart other: other exactly 1\ntarget e2";
    let (program, target) = program(pair);
    assert!(is_open(judged(&Task { program: &program, target: &target, threads: ThreadScope::Unbounded }, 3)));
}

/// Steps that others cannot notice end a block at the latest after some hundred, those of an atomic section must.
#[test]
fn blocks_are_finite() {
    let round = "shared x: bool\ninit x := F\nproc main() from L0 to L3\nlocal a: bool\nBEGIN\nL1 -> L1: a := !a\n\
        L1 -> L2: x := T\nL2 -> L3: return\nstart main\ntarget L3";
    let ask = |begin: &str, depth: u32| {
        let (program, target) = program(&round.replace("BEGIN", begin));
        judged(&Task { program: &program, target: &target, threads: ThreadScope::Unbounded }, depth)
    };
    // A thread may go round for ever.
    assert!(matches!(ask("L0 -> L1: skip", 2), Err(Refused::Unjudged(Unjudged::Beyond(_)))));
    assert!(matches!(ask("L0 -> L1: atomic_begin", 2), Err(Refused::Unjudged(Unjudged::Beyond(_)))));
    let chain = |steps: usize, atomic: bool| {
        let (begin, end) = if atomic { ("atomic_begin", "atomic_end") } else { ("skip", "skip") };
        let last = steps + 4;
        let mut text = format!("shared x: bool\ninit x := F\nproc main() from L0 to L{last}\nlocal a: bool\n");
        let _ = writeln!(text, "L0 -> L1: {begin}");
        for step in 1..steps {
            let _ = writeln!(text, "L{step} -> L{}: a := !a", step + 1);
        }
        let _ = writeln!(text, "L{steps} -> L{}: x := T\nL{} -> L{}: {end}", steps + 1, steps + 1, steps + 2);
        let edge = EdgeId::new(steps + 2);
        let _ = writeln!(text, "L{} -> L{}: assert x\nL{} -> L{last}: return", steps + 2, steps + 3, steps + 3);
        let (program, target) = program(&(text + &format!("start main\ntarget e{}", edge.index())));
        let task = Task { program: &program, target: &target, threads: ThreadScope::Unbounded };
        (0..6).map(|depth| judged(&task, depth)).collect::<Vec<_>>()
    };
    use Answer::{Accepted, More};
    let [more, accepted] = [More, Accepted].map(Ok);
    assert_eq!(chain(400, false)[..4], [more.clone(), more.clone(), more.clone(), accepted.clone()]);
    assert_eq!(chain(400, true)[..4], [more.clone(), more.clone(), more.clone(), accepted.clone()]);
    // The first block ends after 500 steps: that is one block more.
    let long = chain(600, false);
    assert!(matches!(long[1], Err(Refused::Unjudged(Unjudged::Beyond(_)))), "{long:?}");
    assert_eq!(long[4..], [accepted.clone(), accepted]);
    assert!(matches!(chain(600, true)[3], Err(Refused::Unjudged(Unjudged::Beyond(_)))));
}

/// Where ways through a block meet, a variable may have been written on one of them only.
#[test]
fn ways_that_wrote_and_ways_that_did_not_meet() {
    let text = "shared x: bool, y: bool\ninit x := F, y := F\nproc main() from L0 to L6\nlocal a: bool\n\
        L0 -> L1: a := F\nL1 -> L2: atomic_begin\nL2 -> L3: x := T, a := T\nL2 -> L3: skip\nL2 -> L3: y := T\n\
        e5 L3 -> L4: assert SAFE\nL4 -> L5: atomic_end\nL5 -> L6: return\nstart main\ntarget e5";
    let ask = |safe: &str| compared(&text.replace("SAFE", safe), 2)[2];
    assert_eq!(ask("(x = a) & !(x & y)"), Answer::Accepted);
    for wrong in ["x", "!x", "y", "!y", "x | y", "x = y", "a", "!a"] {
        assert_eq!(ask(wrong), Answer::Error, "{wrong}");
    }
}

#[test]
fn per_thread_variables_begin_with_what_they_say() {
    let text = "shared x: bool\nthread t: bool\ninit x := ?0\nproc main() from L0 to L2\ne0 L0 -> L1: assert SAFE\n\
        L1 -> L2: return\nstart main: main exactly 2 with t init t := INIT\ntarget e0";
    let ask = |init: &str, safe: &str| compared(&text.replace("INIT", init).replace("SAFE", safe), 2)[2];
    assert_eq!(ask("x", "t = x"), Answer::Accepted);
    assert_eq!(ask("!x", "t != x"), Answer::Accepted);
    for (init, wrong) in [("x", "t"), ("x", "!t"), ("?0", "t = x"), ("?0", "t != x"), ("T", "!t"), ("F", "t")] {
        assert_eq!(ask(init, wrong), Answer::Error, "{init}, {wrong}");
    }
}
