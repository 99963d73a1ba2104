//! Pushdown systems as text.

use std::fs;
use std::path::{Path, PathBuf};

use selvedge_frontend::System;
use selvedge_frontend::pds::{load, print, print_threads, print_view, read_head, read_view};
use selvedge_ir::pds::{Pds, Threads};

fn single(text: &str) -> Pds {
    let loaded = load(text);
    match loaded.system {
        Some(System::Pds(pds)) => pds,
        other => panic!("{other:?}: {:?}", loaded.diagnostics),
    }
}

fn threads(text: &str) -> Threads {
    let loaded = load(text);
    match loaded.system {
        Some(System::Threads(threads)) => threads,
        other => panic!("{other:?}: {:?}", loaded.diagnostics),
    }
}

/// The first message about a text, and the part of the text that it is about.
fn complaint(text: &str) -> (String, &str) {
    let loaded = load(text);
    assert!(loaded.system.is_none(), "{text}");
    let first = &loaded.diagnostics[0];
    (first.message.clone(), first.primary.span.of(text))
}

const SMALL: &str = "# a comment\ninitial <p, g0 g1>\ntarget <q, g1>\ntarget <q, *>\n\
                     <p, g0> --> <q, ->   # pops\n<q, g1>-><p,g0 g1>\n<p, g0> --> <p, g0>\n";

#[test]
fn rules_starts_and_targets_are_read_and_printed() {
    let pds = single(SMALL);
    assert_eq!((pds.rules.len(), pds.initial.len(), pds.targets.len()), (3, 1, 2));
    let text = print(&pds);
    assert!(text.contains("<p, g0> --> <q, ->") && text.contains("target <q, *>"), "{text}");
    assert_eq!(single(&text), pds);
}

#[test]
fn the_empty_word_has_three_spellings() {
    let spelled = |word: &str| single(&format!("initial <p, g>\n<p, g> --> <q{word}>"));
    assert_eq!(spelled(", -"), spelled(""));
    assert_eq!(spelled(", "), spelled(",->".trim_end_matches('>')));
}

#[test]
fn mistakes_are_located() {
    assert_eq!(complaint("<p, g> --> <q, a b c>\ninitial <p, g>").1, "<q, a b c>");
    assert_eq!(complaint("<p, g h> --> <q, a>\ninitial <p, g>").1, "<p, g h>");
    assert_eq!(complaint("start <p, g>").1, "start");
    assert_eq!(complaint("initial <p, g").1, "<");
    assert_eq!(complaint("initial <p, g> h").1, "h");
    assert_eq!(complaint("initial <p g>").1, "g");
    assert!(complaint("<p, g> --> <q, a>").0.contains("no initial configuration"));
    assert_eq!(complaint("2\nPDA 1 2\n0 x -> 0 -").1, "x");
    assert_eq!(complaint("2\n0 1 -> 0 -").1, "0 1 -> 0 -");
    assert_eq!(complaint("99999999999999999999\n").1, "99999999999999999999");
}

#[test]
fn threads_are_read_and_printed() {
    let text = "3\nPDA 1 2\n0 1 -> 1 -\n0 - -> 0 1\nPDA 4 6\n2 4 -> 0 5 6\n";
    let system = threads(text);
    assert_eq!(print_threads(&system), text);
    let view = read_view("2|1,-\n", &system).unwrap();
    assert_eq!(print_view(&view), "2|1,-\n");
    assert!(read_view("2|1", &system).is_err());
    assert!(read_view("3|1,4", &system).is_err());
    assert!(read_view("", &system).is_err());
}

#[test]
fn targets_are_read_by_name() {
    let pds = single(SMALL);
    assert_eq!(read_head("<q, g1>", &pds), Ok(pds.targets[0]));
    assert_eq!(read_head("<q,*>", &pds), Ok(pds.targets[1]));
    assert!(read_head("<r, g1>", &pds).unwrap_err().contains("`r`"));
    assert!(read_head("q, g1", &pds).is_err());
    assert!(read_head("", &pds).is_err());
}

#[test]
fn pieces_of_texts_are_never_fatal() {
    for text in [SMALL, "3 # x\nPDA 1 2\n0 1 -> 1 -\n0 2 -> 1 1 2\n", "initial <é, ∀>\n<é, ∀> --> <\u{1}, ->"] {
        let cuts: Vec<usize> = (0..=text.len()).filter(|cut| text.is_char_boundary(*cut)).collect();
        for (number, from) in cuts.iter().enumerate() {
            for to in &cuts[number..] {
                let loaded = load(&text[*from..*to]);
                assert_eq!(loaded.system.is_none(), loaded.diagnostics.iter().any(|found| found.is_error()));
            }
        }
    }
}

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            files(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "pds") {
            found.push(path);
        }
    }
}

/// A system with what stands beside it; two of the corpus have a target for another number of threads.
#[test]
fn the_systems_of_the_corpus_are_read_and_printed() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpus/cuba");
    let mut paths = Vec::new();
    files(&corpus, &mut paths);
    for path in &paths {
        let text = fs::read_to_string(path).expect("the corpus is readable");
        let system = threads(&text);
        assert_eq!(threads(&print_threads(&system)), system, "{}", path.display());
        if let Ok(view) = fs::read_to_string(path.with_extension("init")) {
            let view = read_view(&view, &system).unwrap_or_else(|found| panic!("{}: {found:?}", path.display()));
            assert_eq!(read_view(&print_view(&view), &system), Ok(view));
        }
    }
    assert!(paths.is_empty() || paths.len() >= 39, "{} systems", paths.len());
}
