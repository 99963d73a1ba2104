//! Tests of the contents of generated programs.

use super::*;
use crate::model::Assign;

fn everything() -> Vec<Model> {
    let weights = Weights::everything();
    (0..2000).map(|seed| generate(seed, &weights)).collect()
}

#[test]
fn a_seed_gives_the_same_program() {
    let weights = Weights::everything();
    for seed in 0..100 {
        assert_eq!(generate(seed, &weights), generate(seed, &weights));
    }
}

#[test]
fn each_statement_occurs_now_and_then() {
    let models = everything();
    let texts: Vec<String> = models.iter().map(Model::to_string).collect();
    let wanted = "skip;|:= |constrain |constrain(|assume|assume(F)|abortif(|assert|goto |if |elsif |else|while |\
        return;|return |dead |print(|start_thread goto |start_thread L|start_thread f|ASYNC_1: |end_thread|\
        atomic_begin|atomic_end|enforce |thread_local |schoose[|SLIC_ERROR: | ERROR: |process |thread0()|\
        init()|bool<2>|bool |_ := |$ :=|--initial|--label| := *|? ";
    for piece in wanted.split('|') {
        let n_hits = texts.iter().filter(|text| text.contains(piece)).count();
        assert!(n_hits >= 5, "`{piece}` occurs in {n_hits} of {} programs", texts.len());
    }
}

#[test]
fn jumps_go_both_ways() {
    let mut n_up = 0;
    let mut n_down = 0;
    for model in everything() {
        for procedure in &model.procs {
            let mut known = Vec::new();
            crate::walk::for_each_stmt(&procedure.body, &mut |stmt| {
                known.extend(stmt.labels.iter().cloned());
                for label in stmt.kind.jumps() {
                    *(if known.contains(label) { &mut n_up } else { &mut n_down }) += 1;
                }
            });
        }
    }
    assert!(n_up > 100 && n_down > n_up, "{n_up} up, {n_down} down");
}

#[test]
fn assignments_never_name_a_variable_twice() {
    for model in everything() {
        model.any_stmt(|kind| {
            if let Kind::Assign(Assign { places, values, .. }) = kind {
                assert_eq!(places.len(), values.len());
                for (idx, place) in places.iter().enumerate() {
                    assert!(!places[..idx].contains(place), "{model}");
                }
            }
            false
        });
    }
}

/// Generates programs of the presets for several threads.
fn concurrent() -> Vec<Model> {
    let presets = Weights::concurrent();
    (0..2000).map(|seed| generate(seed, &presets[seed as usize % presets.len()].1)).collect()
}

fn any_stmt(body: &[Stmt], is_wanted: &dyn Fn(&Kind) -> bool) -> bool {
    let mut found = false;
    crate::walk::for_each_stmt(body, &mut |stmt| found |= is_wanted(&stmt.kind));
    found
}

fn is_start(kind: &Kind) -> bool {
    matches!(kind, Kind::StartGoto(_) | Kind::StartLabel(_) | Kind::StartCall(_) | Kind::Async(_))
}

/// Returns whether a thread is started inside a loop.
fn starts_in_a_loop(procedure: &Procedure) -> bool {
    any_stmt(&procedure.body, &|kind| matches!(kind, Kind::While(_, body) if any_stmt(body, &is_start)))
}

/// Returns whether a step can block between the beginning and the end of a section.
fn blocks_inside(procedure: &Procedure) -> bool {
    let kinds: Vec<&Kind> = procedure.body.iter().map(|stmt| &stmt.kind).collect();
    let begin = kinds.iter().position(|kind| matches!(kind, Kind::AtomicBegin));
    let inside = kinds[begin.unwrap_or(kinds.len())..].iter().take_while(|kind| !matches!(kind, Kind::AtomicEnd));
    inside.into_iter().any(|kind| matches!(kind, Kind::Assume(_) | Kind::Constrain(_)))
}

#[test]
fn concurrent_programs_have_what_reductions_stumble_over() {
    let models = concurrent();
    let count = |what: &str, is_wanted: &dyn Fn(&Model) -> bool| {
        let n_hits = models.iter().filter(|model| is_wanted(model)).count();
        assert!(n_hits >= 30, "{what}: {n_hits} of {} programs", models.len());
    };
    let in_some = |is_wanted: fn(&Procedure) -> bool| move |model: &Model| model.procs.iter().any(is_wanted);
    count("starts in loops", &in_some(starts_in_a_loop));
    count("blocks in sections", &in_some(blocks_inside));
    count("ends", &|model| model.any_stmt(|kind| matches!(kind, Kind::EndThread)));
    count("several kinds", &|model| model.procs.iter().filter(|procedure| procedure.initial.is_some()).count() > 1);
    count("several threads at first", &|model| model.question.initial.is_some());
    count("one thread", &|model| model.question.threads == Some(1));
    count("passive reads", &|model| model.to_string().contains("$ ") || model.to_string().contains("$)"));
    count("passive assignments", &|model| model.to_string().contains("$ :="));
    count("starts beyond the bound", &|model| {
        let mut n_starts = 0;
        for procedure in &model.procs {
            crate::walk::for_each_stmt(&procedure.body, &mut |stmt| n_starts += usize::from(is_start(&stmt.kind)));
        }
        model.question.threads.is_some_and(|bound| n_starts >= bound as usize)
    });
}
