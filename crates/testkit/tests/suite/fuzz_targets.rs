//! The targets of `fuzz/` on their seeds and on a few changes to them, without a fuzzer.

use std::collections::BTreeSet;

use selvedge_testkit::corpus::{files, root};
use selvedge_testkit::fuzz_targets::mutators::{Mutator, messages, words, words_of_c};
use selvedge_testkit::fuzz_targets::seeds::seeds;
use selvedge_testkit::fuzz_targets::{Body, TARGETS};
use selvedge_testkit::rng::Rng;

/// The number of changed seeds that each target is tried on.
const CHANGED: u64 = 300;

fn check(name: &str, body: Body, input: &[u8]) {
    if let Err(fault) = body(input) {
        panic!("{name}: {fault}\n{}", String::from_utf8_lossy(input));
    }
}

#[test]
fn targets_hold_on_all_seeds_and_on_changes_to_them() {
    for (name, body) in TARGETS {
        let seeds = seeds(name).expect("the seeds are readable");
        assert!(!seeds.is_empty(), "{name} has no seeds");
        seeds.iter().for_each(|seed| check(name, body, seed));
        let mutator: Mutator = match name {
            "c" => words_of_c,
            _ if seeds.iter().all(|seed| seed.starts_with(b"{")) => messages,
            _ => words,
        };
        for number in 0..CHANGED {
            let mut rng = Rng::for_item(1, number);
            let seed = rng.pick(&seeds).expect("there are seeds");
            check(name, body, &mutator(seed, &mut rng));
        }
    }
}

#[test]
fn every_target_has_its_program() {
    let programs = files(&root().join("fuzz/fuzz_targets"), "rs");
    let programs: BTreeSet<String> =
        programs.iter().filter_map(|path| Some(path.file_stem()?.to_string_lossy().into_owned())).collect();
    assert_eq!(programs, TARGETS.iter().map(|(name, _)| (*name).to_string()).collect::<BTreeSet<_>>());
}
