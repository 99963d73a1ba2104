//! What generated programs contain.

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
    let wanted = [
        "skip;",
        ":= ",
        "constrain ",
        "constrain(",
        "assume",
        "assume(F)",
        "abortif(",
        "assert",
        "goto ",
        "if ",
        "elsif ",
        "else",
        "while ",
        "return;",
        "return ",
        "dead ",
        "print(",
        "start_thread goto ",
        "start_thread L",
        "start_thread f",
        "ASYNC_1: ",
        "end_thread",
        "atomic_begin",
        "atomic_end",
        "enforce ",
        "thread_local ",
        "schoose[",
        "SLIC_ERROR: ",
        " ERROR: ",
        "process ",
        "thread0()",
        "init()",
        "bool<2>",
        "bool ",
        "_ := ",
        "$ :=",
        "--initial",
        "--label",
        " := *",
        "? ",
    ];
    for piece in wanted {
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
