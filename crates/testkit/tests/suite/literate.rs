//! The code blocks of the documentation, run.

use selvedge_testkit::literate::{blocks, run, states_something};

/// Runs all blocks of a document below `docs/`.
fn check(name: &str, least: usize) {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/").to_string() + name;
    let text = std::fs::read_to_string(&path).expect("the document is there");
    let blocks = blocks(&text);
    assert!(blocks.len() >= least, "only {} programs", blocks.len());
    let failures: Vec<String> = blocks
        .iter()
        .filter_map(|block| match run(block) {
            Ok(()) if states_something(block) => None,
            Ok(()) => Some(format!("{name}:{}: the block states nothing", block.line)),
            Err(problem) => Some(format!("{name}:{}: {problem}", block.line)),
        })
        .collect();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn every_decision_of_the_semantics_has_its_reachable_set() {
    check("semantics.md", 60);
}

#[test]
fn every_program_of_the_language_reference_has_its_verdict() {
    check("language.md", 40);
}

#[test]
fn every_program_of_the_reference_of_guarded_commands_has_its_verdict() {
    check("gcl.md", 12);
}

#[test]
fn a_wrong_reachable_set_is_noticed() {
    let block = |reach: &str| {
        format!("```bp\ndecl g;\nvoid main() begin\n  g := 1;\nA: assert(g);\nend\n```\n```reach\n{reach}\n```\n")
    };
    let outcome = |reach: &str| run(&blocks(&block(reach))[0]);
    assert_eq!(outcome("A: g=1\nassert A: holds"), Ok(()));
    for wrong in ["A: g=0", "A: g=0\nA: g=1", "A: unreachable", "assert A: fails", "B: g=1", "A: h=1", "A g=1", "A: g"]
    {
        assert!(outcome(wrong).is_err(), "{wrong}");
    }
}
