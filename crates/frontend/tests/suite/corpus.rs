//! Every program of the corpus is read without an error.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use selvedge_frontend::bp;
use selvedge_ir::validate::validate;

fn programs(folder: &Path, found: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let path = entry.path();
        if path.is_dir() {
            programs(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "bp") {
            found.push(path);
        }
    }
}

#[test]
#[expect(clippy::print_stdout, reason = "the counts are what a reader of the test's output wants")]
fn the_whole_corpus_is_read() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpus");
    let mut paths = Vec::new();
    programs(&corpus, &mut paths);
    paths.sort();
    if paths.is_empty() {
        println!("skipped: no corpus beside the workspace");
        return;
    }
    let mut failures = Vec::new();
    let mut codes: BTreeMap<&str, u32> = BTreeMap::new();
    for path in &paths {
        let text = fs::read_to_string(path).expect("the corpus is readable");
        let loaded = bp::load(&text, &bp::LoadOptions::default());
        for diagnostic in &loaded.diagnostics {
            *codes.entry(diagnostic.code.as_str()).or_insert(0) += 1;
        }
        if let Some(program) = &loaded.program
            && let Err(invalid) = validate(program)
        {
            failures.push(format!("{}: {invalid:?}", path.display()));
        }
        if let Some(error) = loaded.diagnostics.iter().find(|diagnostic| diagnostic.is_error()) {
            failures.push(format!("{}: {} {:?}", path.display(), error.message, error.primary.span));
        }
    }
    println!("{} programs, {} with errors, findings: {codes:?}", paths.len(), failures.len());
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
