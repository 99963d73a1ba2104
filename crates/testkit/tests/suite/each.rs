//! Every assertion separately in one run: the answers are those of one run for each.

use selvedge_check::{Asked, Engine as _, Exploration, Question, Run, Status, Stop, Target, Task};
use selvedge_driver::{Ask, Failure, Options, check};
use selvedge_engines::EngineKind;
use selvedge_engines::summaries::Summaries;
use selvedge_ir::callgraph::is_sequential;
use selvedge_testkit::differ::pose;
use selvedge_testkit::generate::{Weights, generate};
use selvedge_testkit::harness::Campaign as _;
use selvedge_testkit::oracle::{self, Budget, ask};

const N_PROGRAMS: usize = 300;

/// Returns whether a thread reaches the place, by the oracle: `None` if it does not know.
fn is_reached(task: &Task<'_>, asked: Asked) -> Option<bool> {
    let target = Target::new(Vec::new(), vec![asked.loc(task.program)]);
    match ask(&Task { target: &target, ..*task }, Budget::default()) {
        oracle::Answer::Safe => Some(false),
        oracle::Answer::Unsafe(_) => Some(true),
        oracle::Answer::Deep | oracle::Answer::Large => None,
    }
}

fn agrees(task: &Task<'_>, asked: Asked, answer: &Status) -> bool {
    let target = asked.target();
    let expected = ask(&Task { target: &target, ..*task }, Budget::default());
    match (answer, expected) {
        (Status::Violated(_), oracle::Answer::Safe) => false,
        (Status::Holds(_) | Status::Unreachable(_), oracle::Answer::Unsafe(_)) => false,
        (Status::Unreachable(_), _) => is_reached(task, asked) != Some(true),
        (Status::Holds(_), _) => is_reached(task, asked) != Some(false),
        (Status::Unknown(_), _) => false,
        _ => true,
    }
}

#[test]
fn one_run_decides_every_assertion_as_runs_of_their_own_do() {
    let weights = [Weights::sequential(), Weights::recursive()];
    let mut counts = [0; 3];
    let mut n_programs = 0;
    for seed in 30_000.. {
        let model = generate(seed, &weights[(seed % 2) as usize]);
        let posed = pose(&model).unwrap_or_else(|fault| panic!("seed {seed}: {fault}"));
        if !is_sequential(&posed.asked) || posed.target.asserts.len() + posed.target.locs.len() < 2 {
            continue;
        }
        if Summaries::default().supports(&posed.task()).is_err() {
            continue;
        }
        let question = selvedge_check::Question { label: model.question.label.clone(), ..Default::default() };
        let engine = Some(EngineKind::Summaries);
        let options = Options { question, ask: Ask::Each, engine: engine.map(EngineKind::row), ..Options::default() };
        let each = check(posed.subject(), &options, &Run::unlimited());
        let each = each.unwrap_or_else(|failure| panic!("seed {seed}: {failure:?}\n{}", posed.text));
        for (asked, answer) in each.each.iter().flatten() {
            assert!(agrees(&posed.task(), *asked, answer), "seed {seed}: {asked:?}: {answer:?}\n{}", posed.text);
            match answer {
                Status::Violated(_) => counts[0] += 1,
                Status::Holds(_) => counts[1] += 1,
                Status::Unreachable(_) => counts[2] += 1,
                Status::Unknown(_) => unreachable!("it would not agree"),
            }
        }
        n_programs += 1;
        if n_programs == N_PROGRAMS {
            break;
        }
    }
    assert!(counts.iter().all(|count| *count > 20), "{counts:?}");
}

#[test]
fn an_engine_that_cannot_do_all_at_once_is_asked_for_each() {
    let text =
        "decl x, y;\nvoid main() begin\n  x := T;\n  assert(x);\n  assert(y);\n  assume(F);\n  assert(!x);\nend\n";
    let loaded = selvedge_frontend::bp::load(text, &selvedge_frontend::bp::LoadOptions::default());
    let program = loaded.program.expect("the program is well-formed");
    let subject = selvedge_check::Subject { program: &program, map: &loaded.source_map, text };
    for engine in [EngineKind::Summaries, EngineKind::Exhaustive] {
        let options = Options { ask: Ask::Each, engine: Some(engine.row()), ..Options::default() };
        let each = check(subject, &options, &Run::unlimited()).expect("it is judged");
        let words: Vec<String> = each.each.iter().flatten().map(|(_, status)| status.word()).collect();
        match engine {
            EngineKind::Summaries => assert_eq!(words, ["holds", "violated", "unreachable"]),
            _ => assert_eq!(words, ["holds (uncertified)", "violated", "holds (uncertified)"]),
        }
    }
}

#[test]
fn a_limit_leaves_every_assertion_unknown() {
    let model = generate(30_001, &Weights::sequential());
    let posed = pose(&model).unwrap_or_else(|fault| panic!("{fault}"));
    let options = Options { ask: Ask::Each, engine: Some(EngineKind::Summaries.row()), ..Options::default() };
    let cancel = selvedge_check::CancelToken::default();
    cancel.cancel();
    let run = Run::new(cancel, selvedge_check::Limits::default(), &());
    let each = check(posed.subject(), &options, &run).expect("it stops in order");
    let stopped = |answer: &Status| matches!(answer, Status::Unknown(selvedge_check::Reason::Stop(Stop::Cancelled)));
    let each = each.each.expect("each was asked for");
    assert!(!each.is_empty() && each.iter().all(|(_, answer)| stopped(answer)));
}

/// Reachable states, and judged answers for each error: the two agree, and no answer lacks its evidence.
#[test]
fn what_can_be_reached_agrees_with_judged_answers() {
    let weights = [Weights::sequential(), Weights::threads()];
    let (mut n_violated, mut n_certified, mut n_programs) = (0, 0, 0);
    for seed in 31_000..31_200 {
        let posed = pose(&generate(seed, &weights[(seed % 2) as usize])).unwrap_or_else(|fault| panic!("{fault}"));
        let question = Question { threads: Some(3), ..Question::default() };
        let options = Options { question, ask: Ask::Reachable, jobs: 1, ..Options::default() };
        let answer = oracle::within(Budget::states(3_000).tight(), |run| check(posed.subject(), &options, run));
        let answer = match answer {
            Ok(answer) => answer,
            Err(Failure::Usage(_)) => continue,
            Err(failure) => panic!("seed {seed}: {failure}\n{}", posed.text),
        };
        let Some(seen) = &answer.exploration else { continue };
        n_programs += 1;
        for (asked, status) in answer.each.iter().flatten() {
            let fails = matches!(asked, Asked::Assert(edge) if seen.failing.contains(edge));
            match status {
                Status::Violated(_) => n_violated += 1,
                _ => assert!(!fails || matches!(status, Status::Unknown(_)), "seed {seed}: {asked:?}\n{}", posed.text),
            }
            n_certified += usize::from(status.certified() == Some(true));
        }
    }
    assert!(n_programs > 60 && n_violated > 20 && n_certified > 20, "{n_programs} {n_violated} {n_certified}");
}

/// The states of threads that are listed by default, with reductions and bodies in the place of calls, are those of the
/// interpreter: one by one, and as sets in decision diagrams.
#[test]
fn reachable_states_are_those_of_the_oracle() {
    let weights = [Weights::sequential(), Weights::threads(), Weights::everything()];
    let (mut n_programs, mut n_sets, mut n_reduced, mut n_calls, mut n_any) = (0, 0, 0, 0, 0);
    for seed in 32_000..32_300 {
        let posed = pose(&generate(seed, &weights[(seed % 3) as usize])).unwrap_or_else(|fault| panic!("{fault}"));
        let explored = |engine: EngineKind| {
            let question = Question { threads: Some(3), ..Question::default() };
            let options = Options { question, ask: Ask::Reachable, engine: Some(engine.row()), ..Options::default() };
            let answer = oracle::within(Budget::states(3_000).tight(), |run| check(posed.subject(), &options, run));
            answer.ok().and_then(|answer| answer.exploration).filter(|seen| !seen.truncated)
        };
        let Some(expected) = explored(EngineKind::Exhaustive) else { continue };
        if let Some(found) = explored(EngineKind::ThreadsExplicit) {
            same_states(&expected, &found, &format!("threads-explicit, seed {seed}\n{}", posed.text));
            n_programs += 1;
            n_reduced += usize::from(found.n_states < expected.n_states);
            n_any += usize::from(!found.any.is_empty());
            let is_call = |edge: &selvedge_ir::Edge| matches!(edge.op, selvedge_ir::Op::Call(_));
            n_calls += usize::from(posed.subject().program.edges.iter().any(is_call));
        }
        if let Some(found) = explored(EngineKind::Threads) {
            same_states(&expected, &found, &format!("threads, seed {seed}\n{}", posed.text));
            n_sets += usize::from(found.thread_states.iter().any(|state| !state.free.is_empty()));
        }
    }
    let counts = [n_programs, n_sets, n_reduced, n_calls, n_any];
    assert!(counts.iter().all(|count| *count > 30), "{counts:?}");
}

/// Numbers are visited over bits, and come back as numbers.
#[test]
fn reachable_states_of_programs_with_numbers_are_those_of_the_oracle() {
    let [mut n_programs, mut n_threads] = [0; 2];
    let numbers = selvedge_testkit::numbers::Numbers::default();
    for seed in 0..400 {
        let text = numbers.show(&numbers.subject(seed, 0));
        let loaded = selvedge_frontend::bp::load(&text, &selvedge_frontend::bp::LoadOptions::default());
        let Some(program) = loaded.program.filter(|program| program.has_machine_integers()) else { continue };
        let subject = selvedge_check::Subject { program: &program, map: &loaded.source_map, text: &text };
        let explored = |engine: EngineKind| {
            let question = Question { threads: Some(2), ..Question::default() };
            let options = Options { question, ask: Ask::Reachable, engine: Some(engine.row()), ..Options::default() };
            let answer = oracle::within(Budget::states(2_000).tight(), |run| check(subject, &options, run));
            answer.ok().and_then(|answer| answer.exploration).filter(|seen| !seen.truncated)
        };
        let Some(expected) = explored(EngineKind::Exhaustive) else { continue };
        for engine in [EngineKind::ThreadsExplicit, EngineKind::Threads] {
            let Some(found) = explored(engine) else { continue };
            same_states(&expected, &found, &format!("{}, seed {seed}\n{text}", engine.name()));
            n_programs += 1;
            n_threads += usize::from(!is_sequential(&program));
        }
    }
    assert!(n_programs > 60 && n_threads > 20, "{n_programs} {n_threads}");
}

fn same_states(expected: &Exploration, found: &Exploration, what: &str) {
    assert_eq!(expected.failing, found.failing, "{what}");
    assert_eq!(expected.any, found.any, "{what}");
    let missing = expected.thread_states.difference(&found.thread_states).next();
    let extra = found.thread_states.difference(&expected.thread_states).next();
    assert!(missing.is_none() && extra.is_none(), "missing {missing:?}, extra {extra:?}\n{what}");
}
