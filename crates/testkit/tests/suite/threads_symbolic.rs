//! The engines `threads` and `threads-plain`, compared with the oracle on generated programs: verdicts, traces,
//! certificates and reachable sets.

use selvedge_check::{CancelToken, Engine, Initial, Limits, Question, Run, Subject, Task, ThreadScope, Verdict};
use selvedge_driver::{Pass, simplify};
use selvedge_engines::exhaustive::{Exhaustive, Exploration};
use selvedge_engines::threads::plain::{self, ThreadsPlain};
use selvedge_engines::threads::symbolic::{Options, Threads};
use selvedge_engines::threads::{PartialOrder, Reductions};
use selvedge_replay::{Judged, judge};
use selvedge_testkit::differ::pose;
use selvedge_testkit::generate::{Weights, generate};
use selvedge_testkit::oracle::patient;

/// Returns a run without a limit that is enforced, in which diagrams take little memory.
fn small() -> Run<'static> {
    Run::new(CancelToken::default(), Limits { memory: Some(1 << 24), ..Limits::default() }, &())
}

/// Returns all combinations of switches.
fn variants() -> Vec<Threads> {
    let mut variants = Vec::new();
    for (compress, dead, merge) in
        [(false, false, true), (true, false, true), (false, true, false), (true, true, false), (true, true, true)]
    {
        let reductions = Reductions { compress, dead, ..Reductions::NONE };
        variants.push(Threads { options: Options { reductions, merge } });
    }
    for partial_order in [PartialOrder::Ample, PartialOrder::Persistent] {
        for reductions in [Reductions::NONE, Reductions::default()] {
            let reductions = Reductions { partial_order, ..reductions };
            variants.push(Threads { options: Options { reductions, merge: true } });
        }
    }
    variants
}

/// Returns the verdict in a word, its evidence judged.
fn judged(task: &Task<'_>, verdict: &Verdict) -> Result<&'static str, String> {
    match judge(task, verdict, &Run::unlimited()) {
        Ok(Judged::Unjudged(unjudged)) => Err(unjudged.to_string()),
        Ok(Judged::Certified | Judged::Uncertified) => Ok("safe"),
        Ok(Judged::ByOneSolver(solver)) => Err(format!("{solver} was asked")),
        Ok(Judged::Replayed(_)) => Ok("unsafe"),
        Err(reject) => Err(reject.to_string()),
    }
}

fn compare_verdicts(task: &Task<'_>) -> Result<(), String> {
    let expected = match Exhaustive::default().check(task, &patient(2)) {
        Ok(Verdict::Safe(_)) => "safe",
        Ok(Verdict::Unsafe(_)) => "unsafe",
        Err(_) => return Ok(()),
    };
    let plain = [true, false].map(|dead| ThreadsPlain { options: plain::Options { dead } });
    let plain = plain.into_iter().filter(|engine| engine.supports(task).is_ok());
    let mut engines: Vec<(Box<dyn Engine>, String)> = Vec::new();
    engines.extend(plain.map(|engine| (Box::new(engine.clone()) as Box<dyn Engine>, format!("{engine:?}"))));
    engines.extend(variants().into_iter().map(|engine| (Box::new(engine.clone()) as _, format!("{engine:?}"))));
    for (engine, name) in engines {
        let found = engine.check(task, &small()).map_err(|stop| stop.to_string())?;
        let found = judged(task, &found).map_err(|reject| format!("{name}: {reject}"))?;
        if found != expected {
            return Err(format!("{name}: {found}, but the oracle says {expected}"));
        }
    }
    Ok(())
}

/// Checks that two searches reached the same; the numbers of states are the same unless the oracle also distinguishes
/// what waits for the end of a prelude, or how many threads have ended.
fn same(task: &Task<'_>, seen: &Exploration, reached: &Exploration) -> Result<(), String> {
    if let Some(missing) = seen.thread_states.difference(&reached.thread_states).next() {
        return Err(format!("not reached: {missing:?}"));
    }
    if let Some(extra) = reached.thread_states.difference(&seen.thread_states).next() {
        return Err(format!("reached, but not by the oracle: {extra:?}"));
    }
    if seen.failing != reached.failing {
        return Err(format!("failing: {:?} instead of {:?}", reached.failing, seen.failing));
    }
    let comparable = task.program.prelude.is_none() && !matches!(task.threads, ThreadScope::Created(_));
    if comparable && seen.n_states != reached.n_states {
        return Err(format!("{} states instead of {}", reached.n_states, seen.n_states));
    }
    Ok(())
}

fn compare_sets(task: &Task<'_>) -> Result<(), String> {
    let Ok(seen) = Exhaustive::default().explore(task, &patient(2)) else { return Ok(()) };
    for merge in [false, true] {
        let engine = Threads { options: Options { merge, ..Options::default() } };
        let reached = engine.explore(task, &small()).map_err(|stop| stop.to_string())?;
        same(task, &seen, &reached).map_err(|fault| format!("merge {merge}: {fault}"))?;
    }
    if ThreadsPlain::default().supports(task).is_ok() {
        let reached = ThreadsPlain::default().explore(task, &small()).map_err(|stop| stop.to_string())?;
        same(task, &seen, &reached).map_err(|fault| format!("plain: {fault}"))?;
    }
    Ok(())
}

fn compare(seeds: std::ops::Range<u64>, weights: &Weights) {
    let (mut n_compared, mut faults) = (0, Vec::new());
    for seed in seeds {
        let posed = pose(&generate(seed, weights)).unwrap_or_else(|fault| panic!("seed {seed}: {fault:?}"));
        let inlined = simplify(&posed.task(), &[Pass::Inline]);
        let task = inlined.task(posed.threads);
        if Threads::default().supports(&task).is_err() || task.threads == ThreadScope::Unbounded {
            continue;
        }
        let created = match task.threads {
            ThreadScope::AtMost(bound) => Task { threads: ThreadScope::Created(bound), ..task },
            _ => task,
        };
        let result = compare_verdicts(&task).and_then(|()| compare_sets(&task));
        let result = result.and_then(|()| compare_verdicts(&created)).and_then(|()| compare_sets(&created));
        faults.extend(result.err().map(|fault| format!("seed {seed}: {fault}\n{}", posed.text)));
        n_compared += 1;
    }
    assert!(faults.is_empty(), "{}", faults.join("\n\n"));
    assert!(n_compared > 10, "only {n_compared} programs were compared");
}

#[test]
fn on_programs_with_threads_they_agree_with_the_oracle() {
    compare(0..120, &Weights::threads());
}

#[test]
fn on_programs_with_everything_they_agree_with_the_oracle() {
    compare(1000..1120, &Weights::everything());
}

/// Compares verdicts and sets on a program with this number of initial threads of `main`, and returns the verdict.
fn verdict(text: &str, initial: u32, threads: u32) -> &'static str {
    let loaded = selvedge_frontend::bp::load(text, &selvedge_frontend::bp::LoadOptions::default());
    let program = loaded.program.unwrap_or_else(|| panic!("{:?}\n{text}", loaded.diagnostics));
    let subject = Subject { program: &program, map: &loaded.source_map, text };
    let question = Question { threads: Some(threads), initial: Some(Initial::Exactly(initial)), ..Question::default() };
    let (asked, target, threads) = question.pose(subject).expect("the question fits");
    let whole = Task { program: &asked, target: &target, threads };
    let inlined = simplify(&whole, &[Pass::Inline]);
    let task = inlined.task(threads);
    Threads::default().supports(&task).unwrap_or_else(|reason| panic!("{reason}\n{text}"));
    compare_verdicts(&task).and_then(|()| compare_sets(&task)).unwrap_or_else(|fault| panic!("{fault}\n{text}"));
    let found = Threads::default().check(&task, &small()).expect("there is no limit");
    judged(&task, &found).expect("the evidence holds")
}

/// Errata: the image of a step is split, not the states before it. Each of these relates the shared and the local
/// variable in another way, and the second thread moves in between.
#[test]
fn splice_on_image() {
    for (step, related) in [
        ("s := l;", "s = l"),
        ("l := s;", "s = l"),
        ("s := s ^ l;", "T"),
        ("s, l := *, * constrain ('s = 'l);", "s = l"),
        ("s, l := l, s;", "T"),
    ] {
        let text = format!(
            "decl s;
             void main() begin
               decl l;
               s := *;
               l := *;
               atomic_begin;
               {step}
               assert({related});
               atomic_end;
               s := !s;
             end"
        );
        assert_eq!(verdict(&text, 1, 1), "safe", "{step}");
        assert_eq!(verdict(&text, 2, 2), "safe", "{step}");
        let apart = text.replace("atomic_begin;", "skip;").replace("atomic_end;", "skip;");
        assert_eq!(verdict(&apart, 2, 2), if related == "T" { "safe" } else { "unsafe" }, "{step}");
    }
}

/// Errata: the counter of the place to which a thread moves is looked up after it has left its own.
#[test]
fn counters_self_loop() {
    let text = "decl a, b;
                void main() begin
                  atomic_begin;
                  if (!a) then a := T; elsif (!b) then b := T; else assert(F); fi
                  atomic_end;
                  L: goto L;
                end";
    let text = text.replace("decl a, b;", "decl a := F; decl b := F;");
    assert_eq!(verdict(&text, 2, 3), "safe");
    assert_eq!(verdict(&text, 3, 3), "unsafe");
}

/// Errata: two threads that are both in A or both in C are not two threads that are each in A or C.
#[test]
fn merge_counts() {
    let text = "decl g; decl done := F; decl seen; decl value;
                void main() begin
                  decl l;
                  l := g;
                  done := T;
                  assume(done);
                  g := F;
                  atomic_begin;
                  if (seen) then assert(value = l); fi
                  seen, value := T, l;
                  atomic_end;
                end"
    .replace("decl seen;", "decl seen := F;");
    // Both threads read the same value unless one has already set it to false.
    assert_eq!(verdict(&text, 2, 2), "unsafe");
    let frozen = text.replace("g := F;", "skip;");
    assert_eq!(verdict(&frozen, 2, 2), "safe");
    assert_eq!(verdict(&frozen, 3, 3), "safe");
}

/// Errata: a smaller set that was found first must not hide a larger one.
#[test]
fn subsumption_direction() {
    let text = "decl g := F;
                void main() begin
                  decl x, y;
                  y := F;
                  x := F;
                  goto SHORT, LONG;
                  LONG: x := *;
                  skip;
                  y := *;
                  SHORT: g := T;
                  g := F;
                  assert(!(x & y));
                end";
    assert_eq!(verdict(text, 1, 1), "unsafe");
    assert_eq!(verdict(text, 2, 2), "unsafe");
    assert_eq!(verdict(&text.replace("y := *;", "y := F;"), 2, 2), "safe");
}

/// Errata: the thread that ends is the one that vanishes.
#[test]
fn end_thread_index() {
    let text = "decl g := F;
                void main() begin
                  decl l;
                  l := F;
                  start_thread goto CHILD;
                  l := T;
                  end_thread;
                  CHILD: g := T;
                  assert(!l);
                  skip;
                end";
    assert_eq!(verdict(text, 1, 2), "safe");
    assert_eq!(verdict(&text.replace("assert(!l)", "assert(l)"), 1, 2), "unsafe");
}

/// A copy has the valuation of the thread that it was copied from, also where that was one of many.
#[test]
fn a_copy_and_its_original_agree() {
    let text = "decl s; decl t; decl ready := F;
                void main() begin
                  decl a, b;
                  a, b := *, *;
                  start_thread goto CHILD;
                  s, t := a, b;
                  ready := T;
                  end_thread;
                  CHILD: assume(ready);
                  assert((s = a) & (t = b));
                end";
    assert_eq!(verdict(text, 1, 2), "safe");
    assert_eq!(verdict(text, 1, 3), "safe");
    assert_eq!(
        verdict(&text.replace("a, b := *, *;", "a, b := *, *; start_thread goto CHILD; a := !a;"), 1, 3),
        "unsafe"
    );
    let call = "decl s; decl ready := F;
                void main() begin
                  decl a, b;
                  a, b := *, *;
                  start_thread child(a ^ b);
                  s := a ^ b;
                  ready := T;
                end
                void child(p) begin
                  assume(ready);
                  assert(s = p);
                end";
    assert_eq!(verdict(call, 1, 2), "safe");
    assert_eq!(verdict(&call.replace("s := a ^ b", "s := a"), 1, 2), "unsafe");
}
