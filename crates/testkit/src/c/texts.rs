//! The reader and the lowering of C on broken texts: no bytes cause a panic, reading again gives the same, places lie
//! inside of the text, a program without errors is valid, and what is said can be shown.

use std::path::Path;

use selvedge_frontend::{LoadOptions, Loaded, Source, load};
use selvedge_report::Palette;
use selvedge_report::diagnostic::{Shown, render};

use super::{concurrent, program, sequential, threads};
use crate::corpus;
use crate::harness::{COMPARISONS, Campaign, Fault, Tally, fault};
use crate::mutate::{C, mutate_in};
use crate::rng::Rng;
use crate::texts::{check_loaded, check_same, shrink_text};

/// Mutated C programs.
pub struct BrokenPrograms {
    /// The texts that mutants are made of.
    pub sources: Vec<String>,
}

impl Campaign for BrokenPrograms {
    type Subject = Vec<u8>;

    fn subject(&self, seed: u64, number: u64) -> Vec<u8> {
        mutate_in(&mut Rng::for_item(seed, number), &self.sources, &C)
    }

    fn compare(&self, text: &Vec<u8>, _: u64, tally: &mut Tally) -> Result<(), Fault> {
        let loaded = read(&Source::from_bytes("program.c", text.clone()))?;
        tally.count(COMPARISONS);
        tally.count(if loaded.program.is_some() { "lowered" } else { "broken" });
        Ok(())
    }

    fn shrink(&self, text: Vec<u8>, fails: &mut dyn FnMut(&Vec<u8>) -> bool) -> Vec<u8> {
        shrink_text(&text, 20_000, |text| fails(&text.to_vec()))
    }

    fn show(&self, text: &Vec<u8>) -> String {
        format!("{}\n\n{text:?}", String::from_utf8_lossy(text))
    }
}

/// Reads and lowers a text, twice, and shows what is said about it.
pub(crate) fn read(source: &Source) -> Result<Loaded, Fault> {
    let load = || load(Path::new("program.c"), source.text(), &LoadOptions::default());
    let loaded = load();
    check_loaded(source.text(), &loaded)?;
    check_same(&loaded, &load())?;
    let shown = render(source, &loaded.diagnostics, Shown::PerCode(3), &Palette::plain());
    if shown.is_empty() != loaded.diagnostics.is_empty() {
        return fault("shown", "diagnostics are shown as nothing, or none as something");
    }
    Ok(loaded)
}

/// Returns the texts that mutants are made of: our own programs and generated ones. An error names a file.
pub fn sources() -> Result<Vec<String>, String> {
    let folders = ["tests/programs", "examples", "tests/regress"];
    let paths = folders.iter().flat_map(|folder| corpus::files(&corpus::root().join(folder), "c"));
    let mut sources: Vec<String> = paths.map(|path| corpus::read(&path)).collect::<Result<_, String>>()?;
    for number in 0..20 {
        let mut rng = Rng::for_item(1, number);
        sources.push(sequential::ours(&program::program(&mut rng)));
        sources.push(threads::ours(&concurrent::program(&mut rng), "assert", ""));
    }
    Ok(sources)
}
