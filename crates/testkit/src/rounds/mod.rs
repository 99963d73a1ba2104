//! The engine `rounds` on one program, compared with searches over all schedules of up to three threads.
//!
//! For each number of rounds: what any list of up to three threads reaches in turns (`contexts::search`, which is
//! independent of blocks and interfaces) is reached; a shared state that the engine adds has an execution to it that
//! replays; errors likewise. If the engine proves that some number of rounds is enough, a search without bound on
//! rounds finds no error.

use std::collections::BTreeSet;

use selvedge_check::{Bound, Engine, Explanation, RoundBound, Run, Stop, Task, ThreadScope, Trace, Verdict};
use selvedge_driver::{Pass, simplify};
use selvedge_engines::contexts::rounds::proof::certificate;
use selvedge_engines::contexts::rounds::{Options, Rounds};
use selvedge_ir::{Count, Edge, Entry, Expr, Loc, Op, Proc, ProcId, Program, Scope, Target, VarId};
use selvedge_replay::{Judged, judge};

use crate::contexts::contexts_of;
use crate::contexts::search::{InTurns, search};
use crate::differ::{Posed, pose};
use crate::generate::{Weights, generate_in_turn};
use crate::harness::{CERTIFICATES, COMPARISONS, Comparison, Fault, Tally, fault};
use crate::model::Model;
use crate::oracle::{Answer, Budget, ask, patient};

/// The comparison of the engine with searches.
pub const IN_ROUNDS: Comparison =
    Comparison::new(item, |model, _, budget, tally| compare_posed(&pose(model)?, budget, tally))
        .within(Budget { frames: 4, ..Budget::states(4_000) });

/// The greatest number of rounds that is compared.
pub const LAST: u32 = 3;

/// The greatest number of threads in the searches.
pub const THREADS: usize = 3;

/// The number of added states of a program that are checked.
const ADDED: usize = 4;

/// Generates the program with a number: half of them with recursion.
pub fn item(seed: u64, number: u64) -> Model {
    generate_in_turn(&Weights::in_rounds(), seed, number)
}

/// Compares the engine with the searches on one question.
fn compare_posed(posed: &Posed, budget: Budget, tally: &mut Tally) -> Result<(), Fault> {
    let task = posed.task();
    let known = schedules(&task, budget);
    let (Some(known), Ok(())) = (known, engine(LAST).supports(&task)) else {
        tally.count("open");
        return Ok(());
    };
    let mut is_unsafe = false;
    for k in 1..=LAST {
        is_unsafe |= compare_verdict(&task, &known, k, budget, tally)?;
    }
    compare_shared(&task, &known, tally)?;
    tally.count(if is_unsafe { "unsafe" } else { "safe" });
    Ok(())
}

/// Returns the engine for a number of rounds.
pub fn engine(rounds: u32) -> Rounds {
    Rounds { options: Options { bound: Some(RoundBound { first: 1, last: rounds }), ..Options::default() } }
}

/// The time limit of the engine, in seconds.
const PATIENCE: u64 = 4;

/// Returns what all lists of up to three threads reach, by rounds; `None` beyond the budget.
pub fn schedules(task: &Task<'_>, budget: Budget) -> Option<InTurns> {
    let mut known = InTurns { shared: vec![BTreeSet::new(); LAST as usize], ..InTurns::default() };
    for entries in lists(task.program) {
        let program = Program { entries: entries.into_iter().collect(), ..task.program.clone() };
        let found = search(&Task { program: &program, threads: ThreadScope::Unbounded, ..*task }, LAST, budget)?;
        for (all, more) in known.shared.iter_mut().zip(found.shared) {
            all.extend(more);
        }
        known.error = known.error.into_iter().chain(found.error).min();
        known.deep = known.deep.into_iter().chain(found.deep).min();
    }
    Some(known)
}

/// Returns all lists of up to three threads that a run may have, in all orders. Required threads may idle, so that they
/// can be left out.
fn lists(program: &Program) -> Vec<Vec<Entry>> {
    let mut all: Vec<Vec<usize>> = vec![Vec::new()];
    let mut last = all.clone();
    for _ in 0..THREADS {
        let longer = |list: &Vec<usize>| -> Vec<Vec<usize>> {
            let fits = |id: &usize| {
                let used = list.iter().filter(|other| *other == id).count() as u32;
                match program.entries[*id].count {
                    Count::Any => true,
                    Count::Exactly(most) | Count::AtMost(most) => used < most,
                }
            };
            let ids = (0..program.entries.len()).filter(fits);
            ids.map(|id| list.iter().copied().chain([id]).collect()).collect()
        };
        last = last.iter().flat_map(longer).collect();
        all.extend(last.clone());
    }
    let entry = |id: &usize| Entry { count: Count::Exactly(1), ..program.entries[*id].clone() };
    all.iter().map(|list| list.iter().map(entry).collect()).collect()
}

/// Returns whether there is an error within `k` rounds, which must agree with the searches.
fn compare_verdict(task: &Task<'_>, known: &InTurns, k: u32, budget: Budget, tally: &mut Tally) -> Result<bool, Fault> {
    let mut explanation = Explanation::default();
    let answer = engine(k).decide(task, &patient(PATIENCE), &mut explanation);
    tally.count(if matches!(answer, Err(Stop::TimeLimit(_))) { "undecided" } else { COMPARISONS });
    match answer {
        Ok(Verdict::Unsafe(trace)) => {
            check_trace(task, &trace, k)?;
            let least = explanation.rounds.and_then(|rounds| rounds.error);
            if known.error.is_some_and(|error| least.is_some_and(|least| least > error)) {
                return fault("rounds", format!("an error within {least:?} rounds, but {:?} are enough", known.error));
            }
            Ok(true)
        }
        Ok(Verdict::Safe(_)) => {
            check_safe(task, known, budget)?;
            check_certificate(task, k, tally)?;
            Ok(false)
        }
        Err(Stop::BoundReached(Bound::Rounds(last))) if last == k => match known.error {
            Some(error) if error <= k => fault("rounds", format!("no error within {k} rounds, but within {error}")),
            _ => Ok(false),
        },
        Err(Stop::TimeLimit(_)) => Ok(false),
        Err(stop) => fault("rounds", stop.to_string()),
    }
}

/// Checks that an execution replays and has at most `k` rounds.
fn check_trace(task: &Task<'_>, trace: &Trace, k: u32) -> Result<(), Fault> {
    let judged = judge(task, &Verdict::Unsafe(trace.clone()), &Run::unlimited());
    judged.or_else(|reject| fault("rounds (judge)", reject.to_string()))?;
    let needed = contexts_of(task, trace);
    if needed > k { fault("rounds", format!("an execution of {needed} rounds within {k}")) } else { Ok(()) }
}

/// Checks that a proof by the game has a certificate, unless that is too long, and that the judge accepts it.
fn check_certificate(task: &Task<'_>, k: u32, tally: &mut Tally) -> Result<(), Fault> {
    let inlined = simplify(task, &[Pass::Inline]);
    let Ok(Some(found)) = certificate(&inlined.question(), [1, k], &patient(PATIENCE)) else {
        tally.count("uncertified");
        return Ok(());
    };
    let judged = judge(task, &inlined.lift(Verdict::Safe(Some(found))), &Run::unlimited());
    let judged = judged.or_else(|reject| fault("rounds (judge)", reject.to_string()))?;
    tally.count(if judged == Judged::Certified { CERTIFICATES } else { "uncertified" });
    Ok(())
}

/// Checks that few threads, without bound on rounds, find no error.
fn check_safe(task: &Task<'_>, known: &InTurns, budget: Budget) -> Result<(), Fault> {
    if known.error.is_some() {
        return fault("adequacy", format!("safe, but there is an error within {:?} rounds", known.error));
    }
    for entries in lists(task.program) {
        let program = Program { entries: entries.into_iter().collect(), ..task.program.clone() };
        let few = Task { program: &program, threads: ThreadScope::Unbounded, ..*task };
        if let Answer::Unsafe(trace) = ask(&few, budget) {
            return fault("adequacy", format!("safe, but there is an error in {} rounds", contexts_of(&few, &trace)));
        }
    }
    Ok(())
}

/// Compares the shared states of each number of rounds.
fn compare_shared(task: &Task<'_>, known: &InTurns, tally: &mut Tally) -> Result<(), Fault> {
    let target = Target::default();
    let states = match engine(LAST).shared_states(&Task { target: &target, ..*task }, &patient(PATIENCE)) {
        Ok(states) => states,
        Err(Stop::TimeLimit(_)) => return Ok(()),
        Err(stop) => return fault("rounds (shared states)", stop.to_string()),
    };
    for (number, (found, expected)) in states.reached.iter().zip(&known.shared).enumerate() {
        tally.count("sets");
        tally.count(COMPARISONS);
        let k = number as u32 + 1;
        if let Some(missed) = expected.difference(found).next() {
            return fault("rounds (shared states)", format!("{missed:?} is missed within {k} rounds"));
        }
        for added in found.difference(expected).take(ADDED) {
            check_added(task, &states.vars, added, k)?;
        }
    }
    Ok(())
}

/// Checks that an execution leads to a shared state within `k` rounds: that of an additional thread which asserts that
/// it is not reached.
fn check_added(task: &Task<'_>, vars: &[VarId], state: &[bool], k: u32) -> Result<(), Fault> {
    let (program, target) = probed(task.program, vars, state);
    let task = Task { program: &program, target: &target, ..*task };
    match engine(k).check(&task, &patient(PATIENCE)) {
        Ok(Verdict::Unsafe(trace)) => check_trace(&task, &trace, k),
        Err(Stop::TimeLimit(_)) => Ok(()),
        other => fault("rounds (added states)", format!("{state:?} within {k} rounds, but {other:?}")),
    }
}

/// Returns the program with an additional thread, which fails in this shared state.
fn probed(program: &Program, vars: &[VarId], state: &[bool]) -> (Program, Target) {
    let mut program = program.clone();
    let proc = ProcId::new(program.procs.len());
    let [entry, exit] = [(); 2].map(|()| program.locs.push(Loc { proc }));
    let is_met = |(var, value): (&VarId, &bool)| if *value { Expr::Var(*var) } else { Expr::negate(Expr::Var(*var)) };
    let met = vars.iter().zip(state).map(is_met).fold(Expr::TRUE, selvedge_ir::simplify::and);
    let assert = program.edges.push(Edge::new(entry, entry, Op::Assert(Expr::negate(met))));
    let name = "probe".to_string();
    program.procs.push(Proc { name: name.clone(), params: vec![], locals: vec![], results: vec![], entry, exit });
    program.edges.push(Edge::new(entry, exit, Op::Return(vec![])));
    program.entries.push(Entry { name, proc, count: Count::AtMost(1), thread_vars: vec![], init: vec![] });
    debug_assert!(vars.iter().all(|var| program.vars[*var].scope == Scope::Shared));
    (program, Target::new(vec![assert], vec![]))
}
