//! SPIN's verdict on the models of generated programs with threads, compared with the oracle.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use selvedge_driver::external::{Code, ExternalVerdict, Spin};
use selvedge_export::promela;
use selvedge_frontend::{Context, Source};

use crate::differ::{Posed, pose};
use crate::generate::{Template, Weights, generate_with};
use crate::harness::{COMPARISONS, Comparison, Fault, Tally, fault};
use crate::model::Model;
use crate::oracle::{Answer, Budget, ask, patient};
use crate::rng::Rng;

/// The comparison of SPIN with the oracle.
pub const MODELS: Comparison = Comparison { shrinks: 100, ..Comparison::new(item, compare) };

/// Generates the program with a number: small ones with threads and ones with everything alternate.
pub fn item(seed: u64, number: u64) -> Model {
    let mut weights = if number % 4 == 3 { Weights::everything() } else { Weights::threads() };
    weights.chances.recursion = 0;
    if number % 4 == 1 {
        weights = weights.with(&[(Template::Atomic, 20), (Template::StrayAtomic, 6)]);
    }
    generate_with(&mut Rng::for_item(seed, number), &weights)
}

/// Returns the model of a program. An error says why there is none.
pub fn model(posed: &Posed, name: &str) -> Result<String, String> {
    let source = Source::new(name, posed.text.clone());
    promela::render(Context { program: &posed.asked, map: &posed.map, source: &source }, &posed.task())
}

fn compare(program: &Model, _: u64, budget: Budget, tally: &mut Tally) -> Result<(), Fault> {
    static SPIN: OnceLock<Option<Spin>> = OnceLock::new();
    let Some(spin) = SPIN.get_or_init(Spin::find) else { return fault("spin", "SPIN and a C compiler are needed") };
    let posed = pose(program)?;
    let (model, ours) = (model(&posed, "generated"), ask(&posed.task(), budget));
    let (Ok(text), true) = (model, ours.is_decided()) else {
        tally.count("skipped");
        return Ok(());
    };
    let folder = scratch();
    let search = spin.decide(&text, &folder, Code::Quick, 2_000, &patient(100));
    let _ = std::fs::remove_dir_all(&folder);
    let expected = if ours == Answer::Safe { ExternalVerdict::Safe } else { ExternalVerdict::Unsafe };
    match search {
        Ok(search) if search.word == expected => {
            tally.count(COMPARISONS);
            ours.count(tally);
        }
        Ok(search) => return fault("spin", format!("{ours}, but SPIN says {:?}\n{text}", search.word)),
        Err(silence) => return fault("spin (no answer)", format!("{silence:?}\n{text}")),
    }
    Ok(())
}

/// Returns a new folder for each call.
fn scratch() -> PathBuf {
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    Path::new(&std::env::temp_dir()).join(format!("selvedge-spin-{}-{number}", std::process::id()))
}
