//! The Horn clauses of generated programs: Spacer's verdict is that of `summaries`.
//!
//! Needs `z3`, which `./setup` installs into `.tools/`.

use selvedge_check::{CancelToken, Engine, Limits, Run, Verdict};
use selvedge_driver::external::{ExternalVerdict, Spacer};
use selvedge_engines::summaries::Summaries;
use selvedge_ir::callgraph::is_sequential;
use selvedge_testkit::differ::{Posed, pose};
use selvedge_testkit::generate::{Weights, generate};
use selvedge_testkit::spacer::{clauses, verdicts};

const BATCH: usize = 50;
const N_PROGRAMS: usize = 500;

/// Generates programs with one thread and a target, alternately with and without recursion.
fn programs() -> impl Iterator<Item = (u64, Posed)> {
    let weights = [Weights::sequential(), Weights::recursive()];
    let posed = move |seed: u64| {
        let model = generate(seed, &weights[(seed % 2) as usize]);
        let posed = pose(&model).unwrap_or_else(|fault| panic!("seed {seed}: {fault}"));
        let is_decided = is_sequential(&posed.asked) && !posed.target.is_empty() && clauses(&posed, "").is_ok();
        (is_decided && Summaries::default().supports(&posed.task()).is_ok()).then_some((seed, posed))
    };
    (10_000..).filter_map(posed)
}

fn ours(posed: &Posed) -> ExternalVerdict {
    match Summaries::default().check(&posed.task(), &Run::unlimited()) {
        Ok(Verdict::Safe(_)) => ExternalVerdict::Safe,
        Ok(Verdict::Unsafe(_)) => ExternalVerdict::Unsafe,
        Err(stop) => ExternalVerdict::Other(stop.to_string()),
    }
}

#[test]
fn spacer_agrees_on_generated_programs() {
    let spacer = Spacer::find().expect("z3 is needed: run ./setup, which installs it into .tools/");
    let programs: Vec<(u64, Posed)> = programs().take(N_PROGRAMS).collect();
    let mut n_unsafe = 0;
    for batch in programs.chunks(BATCH) {
        let texts = batch.iter().map(|(seed, posed)| clauses(posed, &format!("seed {seed}")));
        let texts = texts.collect::<Result<Vec<_>, _>>().expect("programs with one thread have clauses");
        let limits = Limits { time: Some(std::time::Duration::from_secs(300)), ..Limits::default() };
        let theirs = verdicts(&spacer, &texts, &Run::new(CancelToken::default(), limits, &())).expect("z3 answers");
        assert_eq!(theirs.len(), batch.len(), "{theirs:?}");
        for ((seed, posed), theirs) in batch.iter().zip(theirs) {
            let ours = ours(posed);
            assert_eq!(ours, theirs, "seed {seed}:\n{}", posed.text);
            n_unsafe += usize::from(ours == ExternalVerdict::Unsafe);
        }
    }
    assert!((N_PROGRAMS / 5..N_PROGRAMS * 4 / 5).contains(&n_unsafe), "{n_unsafe} of {N_PROGRAMS} are unsafe");
}
