//! Thread-transition systems as text, as programs and as Petri nets: every translation preserves coverability.

use selvedge_check::{Question, Run, Subject, Task, ThreadScope};
use selvedge_driver::{Pass, simplify};
use selvedge_engines::tts_extract::{Options, extract};
use selvedge_engines::unbounded::coverability::{Answer, Rules, backward};
use selvedge_engines::unbounded::{supports, supports_broadcasts};
use selvedge_frontend::{Loaded, bp, spec, tts};
use selvedge_ir::tts::{LocalId, Start, Tts};
use selvedge_ir::validate::validate;
use selvedge_ir::{Program, Target};
use selvedge_replay::replay;
use selvedge_testkit::coverability::{random, random_with_transfers};
use selvedge_testkit::differ::pose;
use selvedge_testkit::generate::{Weights, generate};
use selvedge_testkit::mutate::mutate;
use selvedge_testkit::rng::Rng;

/// Returns whether a target can be covered; a run to it is followed.
fn is_covered(tts: &Tts) -> bool {
    let rules = Rules::new(tts);
    match backward::decide(&rules, &tts.targets, None, &Run::unlimited()).expect("nothing stops it") {
        Answer::Covered(run) => {
            assert_eq!(tts.replay(&run), Ok(()));
            true
        }
        Answer::Uncovered(_) => false,
    }
}

/// Returns whether a program can reach its error, by its thread-transition system; the execution is replayed.
fn is_unsafe(program: &Program, target: &Target) -> bool {
    let task = Task { program, target, threads: ThreadScope::Unbounded };
    let simplified = simplify(&task, &[Pass::Inline]);
    let task = simplified.task(ThreadScope::Unbounded);
    supports_broadcasts(&task, "test").expect("it is a program without recursion");
    let system = extract(&task, Options::default(), &Run::unlimited()).expect("nothing stops it");
    let rules = Rules::new(&system.tts);
    match backward::decide(&rules, &system.tts.targets, None, &Run::unlimited()).expect("nothing stops it") {
        Answer::Covered(run) => {
            let trace = system.trace(&run, &Run::unlimited()).expect("nothing stops it");
            replay(&task, &trace).unwrap_or_else(|wrong| panic!("{wrong:?}: {trace:?}"));
            true
        }
        Answer::Uncovered(_) => false,
    }
}

/// Returns the same for the text of a system.
fn is_unsafe_text(loaded: &Loaded, text: &str) -> bool {
    let program = loaded.program.as_ref().expect("the text has no errors");
    assert_eq!(validate(program), Ok(()));
    let subject = Subject { program, map: &loaded.source_map, text };
    let (program, target, _) = Question::default().pose(subject).expect("the question fits");
    is_unsafe(&program, &target)
}

fn text_of(tts: &Tts) -> String {
    let targets: String = tts.targets.iter().map(tts::print_target).collect();
    format!("{}{targets}", tts::print(tts))
}

fn systems() -> impl Iterator<Item = (u64, Tts)> {
    (0..150).map(|number| (number, random(&mut Rng::for_item(11, number))))
}

fn systems_with_transfers() -> impl Iterator<Item = (u64, Tts)> {
    (0..100).map(|number| (number, random_with_transfers(&mut Rng::for_item(12, number))))
}

#[test]
fn systems_with_transfers_keep_their_verdict_as_text_as_programs_and_as_nets() {
    let (mut n_covered, mut n_nets) = (0, 0);
    for (number, system) in systems_with_transfers() {
        let plain = tts::plain(&system).tts;
        let expected = is_covered(&system);
        n_covered += usize::from(expected);
        assert_eq!(is_covered(&plain), expected, "system {number}: {system:?}\n{plain:?}");
        let text = text_of(&plain);
        let loaded = tts::load(&text);
        assert_eq!(loaded.diagnostics, [], "system {number}");
        assert_eq!(loaded.tts(), Some(&plain), "system {number}");
        assert_eq!(is_unsafe_text(&loaded, &text), expected, "system {number}:\n{text}");
        if spec::can_print(&system) {
            let text = spec::print(&system, &[]);
            let loaded = spec::load(&text);
            assert_eq!(loaded.diagnostics, [], "system {number}:\n{text}");
            let back = loaded.tts().expect("the text has no errors");
            assert_eq!(is_covered(back), expected, "system {number}:\n{text}");
            n_nets += 1;
            if n_nets < 10 {
                assert_eq!(is_unsafe_text(&loaded, &text), expected, "system {number}:\n{text}");
            }
        }
    }
    assert!((20..80).contains(&n_covered) && n_nets > 20, "{n_covered}, {n_nets}");
}

#[test]
fn plain_systems_cover_the_same_and_are_read_as_they_were_printed() {
    let mut n_covered = 0;
    for (number, system) in systems() {
        let plain = tts::plain(&system).tts;
        assert!(tts::is_plain(&plain), "system {number}");
        assert_eq!(is_covered(&plain), is_covered(&system), "system {number}: {system:?}\n{plain:?}");
        n_covered += usize::from(is_covered(&plain));
        let loaded = tts::load(&text_of(&plain));
        assert_eq!(loaded.diagnostics, [], "system {number}");
        assert_eq!(loaded.tts(), Some(&plain), "system {number}");
    }
    assert!((30..120).contains(&n_covered), "{n_covered}");
}

#[test]
fn programs_of_systems_are_unsafe_where_the_target_is_covered() {
    for (number, system) in systems() {
        let text = text_of(&tts::plain(&system).tts);
        assert_eq!(is_unsafe_text(&tts::load(&text), &text), is_covered(&system), "system {number}:\n{text}");
    }
}

/// A system with several targets, of several threads each.
#[test]
fn several_targets_of_several_threads_are_gathered_one_by_one() {
    let mut n_covered = 0;
    for (number, mut system) in systems() {
        system
            .rules
            .retain(|rule| rule.goes_on && (rule.after.len() == 1 || rule.after[..] == [rule.local, rule.local]));
        system.starts = vec![Start { shared: 0.into(), threads: vec![LocalId::from(0usize)], any: Vec::new() }];
        assert!(tts::is_plain(&system));
        let text = text_of(&system);
        n_covered += usize::from(is_covered(&system));
        assert_eq!(is_unsafe_text(&tts::load(&text), &text), is_covered(&system), "system {number}:\n{text}");
    }
    assert!(n_covered > 5, "{n_covered}");
}

#[test]
fn nets_of_systems_and_systems_of_nets_cover_the_same() {
    for (number, system) in systems() {
        let text = spec::print(&system, &["A net.".to_string()]);
        let loaded = spec::load(&text);
        assert_eq!(loaded.diagnostics, [], "system {number}:\n{text}");
        let back = loaded.tts().expect("the text has no errors");
        assert_eq!(is_covered(back), is_covered(&system), "system {number}:\n{text}");
        if number < 30 {
            assert_eq!(is_unsafe_text(&loaded, &text), is_covered(&system), "system {number}:\n{text}");
        }
    }
}

#[test]
fn systems_as_boolean_programs_keep_their_verdict() {
    for (number, system) in systems() {
        let text = tts::print_as_program(&tts::plain(&system).tts, &[]);
        let loaded = bp::load(&text, &bp::LoadOptions::default());
        let program = loaded.program.unwrap_or_else(|| panic!("system {number}: {:?}\n{text}", loaded.diagnostics));
        let subject = Subject { program: &program, map: &loaded.source_map, text: &text };
        let (program, target, _) = Question::default().pose(subject).expect("the question fits");
        assert_eq!(is_unsafe(&program, &target), is_covered(&system), "system {number}:\n{text}");
    }
}

#[test]
fn systems_of_generated_programs_keep_their_verdict_as_text() {
    let mut n_compared = 0;
    for (at, (_, weights)) in Weights::concurrent().iter().enumerate() {
        for seed in 0..30 {
            let posed = pose(&generate(seed * 100 + at as u64, weights)).expect("generated programs are fine");
            let task = Task { threads: ThreadScope::Unbounded, ..posed.task() };
            let simplified = simplify(&task, &[Pass::Inline]);
            let task = simplified.task(ThreadScope::Unbounded);
            if supports(&task, "test").is_err() {
                continue;
            }
            let system = extract(&task, Options::default(), &Run::unlimited()).expect("nothing stops it");
            if system.tts.rules.len() > 2_000 || system.tts.targets.is_empty() {
                continue;
            }
            let text = text_of(&tts::plain(&system.tts).tts);
            assert_eq!(is_unsafe_text(&tts::load(&text), &text), is_covered(&system.tts), "{}", posed.text);
            n_compared += 1;
        }
    }
    assert!(n_compared > 40, "{n_compared}");
}

#[test]
fn broken_texts_of_systems_and_nets_have_diagnostics_and_no_panics() {
    let mut n_broken = 0;
    for (number, system) in systems() {
        let mut rng = Rng::for_item(13, number);
        let texts = [text_of(&tts::plain(&system).tts), spec::print(&system, &[])];
        for (at, text) in texts.iter().enumerate() {
            let broken = mutate(&mut rng, std::slice::from_ref(text));
            let broken = String::from_utf8_lossy(&broken);
            let loaded = if at == 0 { tts::load(&broken) } else { spec::load(&broken) };
            assert_eq!(loaded.tts().is_none(), !loaded.diagnostics.is_empty());
            n_broken += usize::from(loaded.tts().is_none());
            let ends_inside =
                |found: &selvedge_frontend::diagnostic::Diagnostic| found.primary.span.end as usize <= broken.len();
            assert!(loaded.diagnostics.iter().all(ends_inside));
        }
    }
    assert!(n_broken > 50, "{n_broken}");
}
