//! Several pushdown systems with a shared state in turns: one pushdown system (Fig. 4 of Lal and Reps), a program for the
//! engines with a bound on contexts (section 5), and a search of configurations agree on the corpus of CUBA.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use selvedge_check::{ContextBound, Run, Target, Task, ThreadScope};
use selvedge_engines::contexts::eager::shared_states;
use selvedge_engines::contexts::lazy::Contexts;
use selvedge_engines::contexts::{Options, threads::enlisted};
use selvedge_engines::pushdown::{Answer, Direction, check};
use selvedge_frontend::pds::{System, load, read_view};
use selvedge_ir::pds::program::program;
use selvedge_ir::pds::turns::in_turns;
use selvedge_ir::pds::{Head, Threads};
use selvedge_ir::validate::validate;
use selvedge_testkit::contexts::systems::{SystemInTurns, search};

/// All systems with an initial configuration, or nothing where the corpus is not there.
fn corpus() -> Vec<(PathBuf, Threads)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpus/cuba");
    let (mut files, mut open) = (Vec::new(), vec![folder]);
    while let Some(folder) = open.pop() {
        let Ok(entries) = std::fs::read_dir(folder) else { continue };
        for path in entries.filter_map(Result::ok).map(|entry| entry.path()) {
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|ending| ending == "pds") {
                files.push(path);
            }
        }
    }
    files.sort();
    files.into_iter().filter_map(|path| Some((path.clone(), read(&path)?))).collect()
}

fn read(path: &Path) -> Option<Threads> {
    let text = std::fs::read_to_string(path).expect("the file can be read");
    let Some(System::Threads(mut threads)) = load(&text).system else { return None };
    let view = |ending: &str| {
        let text = std::fs::read_to_string(path.with_extension(ending)).ok()?;
        // Two of the corpus have a target for another number of threads.
        read_view(&text, &threads).ok()
    };
    let (initial, target) = (Some(view("init")?), view("spec"));
    threads.initial = initial;
    threads.target = target;
    Some(threads)
}

/// The shared states that a program of the threads reaches within 1, 2, .. contexts, by the lazy engine; and at some of
/// these numbers by the eager one.
fn by_program(threads: &Threads, last: u32, eagerly: u32) -> (Vec<BTreeSet<u32>>, Vec<BTreeSet<u32>>) {
    let program = program(threads).expect("the initial configuration is known");
    assert_eq!(validate(&program), Ok(()));
    let task = Task { program: &program, target: &Target::default(), threads: ThreadScope::Unbounded };
    let options = Options { bound: Some(ContextBound { first: 1, last }) };
    let number = |bits: &Vec<bool>| bits.iter().rev().fold(0, |number, bit| 2 * number + u32::from(*bit));
    let numbers = |states: &BTreeSet<Vec<bool>>| -> BTreeSet<u32> { states.iter().map(number).collect() };
    let (_, lists) = enlisted(&task, &options, "test").expect("the threads are a list");
    let eager = |k: u32| numbers(&shared_states(&lists[0], k, &Run::unlimited()).expect("it ends").list());
    let lazy = Contexts { options }.shared_states(&task, &Run::unlimited()).expect("it ends");
    (lazy.reached.iter().map(numbers).collect(), (1..=eagerly).map(eager).collect())
}

/// The shared states, and whether the target is reached, by one pushdown system.
fn by_system(threads: &Threads, k: u32) -> Option<(BTreeSet<u32>, Option<bool>)> {
    let reaches = |threads: &Threads, head: Option<u32>| {
        let mut turns = in_turns(threads, k).expect("it is small");
        if let Some(shared) = head {
            turns.pds.targets = vec![Head { state: turns.confirmed[shared as usize], top: None }];
        }
        match check(&turns.pds, Direction::Forward, &Run::unlimited()).expect("it ends") {
            Answer::Reachable(trace) => {
                turns.pds.replay(&trace).expect("the run is one");
                true
            }
            Answer::Unreachable(_) => false,
        }
    };
    let rules: usize = threads.threads.iter().map(|thread| thread.rules.len()).sum();
    let size = (threads.n_shared as usize).pow(k - 1) * rules * k as usize;
    if size > MAX_SIZE {
        return None;
    }
    let open = Threads { target: None, ..threads.clone() };
    let shared = (0..threads.n_shared).filter(|shared| reaches(&open, Some(*shared))).collect();
    Some((shared, threads.target.is_some().then(|| reaches(threads, None))))
}

/// Larger systems are compared by the program only.
const MAX_SIZE: usize = 2_000;

#[test]
fn the_corpus_of_cuba_has_one_answer_in_turns() {
    let (mut n_systems, mut n_exact, mut n_by_system) = (0, 0, 0);
    for (path, threads) in corpus() {
        n_systems += 1;
        let (last, eagerly) = bounds(&threads);
        let (lazy, eager) = by_program(&threads, last, eagerly);
        assert_eq!(eager, lazy[..eagerly as usize], "{}", path.display());
        let explicit = search(&threads, last, 5, 3_000);
        for k in 1..=last {
            let name = format!("{} at {k}", path.display());
            let found = &lazy[k as usize - 1];
            let by_system = by_system(&threads, k);
            if let Some((shared, _)) = &by_system {
                n_by_system += 1;
                assert_eq!(shared, found, "{name}");
            }
            let Some(SystemInTurns { shared, target, deep }) = &explicit else { continue };
            let expected = &shared[k as usize - 1];
            let is_exact = deep.is_none_or(|deep| deep > k);
            n_exact += usize::from(is_exact);
            assert!(if is_exact { found == expected } else { found.is_superset(expected) }, "{name}: {found:?}");
            if let Some((_, Some(reached))) = by_system {
                let known = target.is_some_and(|target| target <= k);
                assert!(reached == known || (reached && !is_exact), "{name}");
            }
        }
    }
    if n_systems > 0 {
        assert!(n_systems >= 25 && n_exact >= 20 && n_by_system >= 40, "{n_systems}, {n_exact}, {n_by_system}");
    }
}

/// Up to how many contexts the lazy and the eager engine are asked: all guesses of many shared states take long.
fn bounds(threads: &Threads) -> (u32, u32) {
    match threads.n_shared {
        0..=4 => (4, 3),
        5..=10 => (4, 2),
        11..=100 => (2, 1),
        _ => (1, 1),
    }
}
