//! Tests: the families have their verdicts at small sizes, and results become tables and plots.

use crate::concurrent::{CONCURRENT, Concurrent, Size, Twin};
use crate::families::{FAMILIES, lines};
use crate::table::Page;
use crate::{Record, contradictions, plot};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use selvedge_check::{Engine, Outcome, Question, Run, Verdict};
use selvedge_driver::{Options, check};
use selvedge_engines::EngineKind;
use selvedge_engines::sat::Sat;
use selvedge_engines::summaries::Summaries;
use selvedge_frontend::bp::{LoadOptions, load};
use selvedge_testkit::corpus::{Entry, Expected, files, root};
use selvedge_testkit::differ::pose_text;
use selvedge_testkit::oracle::{Budget, within};
use selvedge_testkit::threads::compare_entry;

#[test]
fn every_family_has_its_verdict_at_small_sizes() {
    for family in FAMILIES {
        for (size, twin) in [4, 6, 8].into_iter().flat_map(|size| Twin::BOTH.map(|twin| (size, twin))) {
            let text = (family.make)(size, twin);
            let posed = pose_text(text.clone(), &Question::default()).expect("the family is well-formed");
            // Decision diagrams of products are large.
            let is_hard = family.name.starts_with("factoring") && (size > 4 || twin == Twin::Safe);
            let engine: &dyn Engine = if is_hard { &Sat::default() } else { &Summaries::default() };
            let found = match engine.check(&posed.task(), &Run::unlimited()) {
                Ok(Verdict::Safe(_)) => Twin::Safe,
                Ok(Verdict::Unsafe(_)) => Twin::Unsafe,
                Err(stop) => panic!("{}-{size}: {stop}", family.name),
            };
            assert_eq!(found, twin, "{}-{size}\n{text}", family.name);
        }
    }
}

/// Returns the sizes that are small enough for the oracle.
fn small_sizes(family: &Concurrent) -> Vec<Size> {
    let locals = family.locals[0].min(2);
    [2, 3].into_iter().map(|threads| Size { threads, locals }).collect()
}

/// Returns the oracle's verdict; `None` if there are too many states.
fn driven(name: &str, text: &str, question: Question) -> Option<Expected> {
    let posed = pose_text(text.to_string(), &question).unwrap_or_else(|fault| panic!("{name}: {fault}\n{text}"));
    let options = Options { question, engine: Some(EngineKind::Exhaustive.row()), ..Options::default() };
    let report = within(Budget::states(20_000), |run| check(posed.subject(), &options, run))
        .unwrap_or_else(|failure| panic!("{name}: {failure:?}"));
    match report.outcome {
        Outcome::Safe(_) => Some(Expected::Safe),
        Outcome::Unsafe(_) => Some(Expected::Unsafe),
        Outcome::Unknown(_) => None,
    }
}

#[test]
fn every_family_with_threads_has_its_verdicts_at_small_sizes() {
    let mut n_open = 0;
    for family in CONCURRENT {
        for (size, twin) in small_sizes(family).into_iter().flat_map(|size| Twin::BOTH.map(|twin| (size, twin))) {
            let name = format!("{}-{} {size:?}", family.name, twin.suffix());
            let text = (family.make)(size, twin);
            let Some(found) = driven(&name, &text, family.question(size)) else {
                n_open += 1;
                continue;
            };
            assert_eq!(found, family.expected(size, twin), "{name}\n{text}");
        }
    }
    assert!(n_open <= 8, "{n_open} were too large");
}

/// The count goes up and down by one in every bit: with a wrong one the driver would stop too early, or never.
#[test]
fn every_engine_agrees_on_the_bluetooth_driver() {
    let family = CONCURRENT.iter().find(|family| family.name == "bluetooth").expect("the family is there");
    for (threads, twin) in [2, 3].into_iter().flat_map(|threads| Twin::BOTH.map(|twin| (threads, twin))) {
        let size = Size { threads, locals: 0 };
        let (name, text) = (format!("bluetooth-{}-{threads}", twin.suffix()), (family.make)(size, twin));
        let (question, verdict) = (family.question(size), Some(family.expected(size, twin)));
        compare_entry(&Entry { name, text, question, verdict, story: None });
    }
}

#[test]
fn the_text_for_the_reader_has_the_lines_that_are_wanted() {
    let text = lines(1000);
    assert!((950..1050).contains(&text.lines().count()), "{} lines", text.lines().count());
    assert!(load(&text, &LoadOptions::default()).program.is_some());
}

/// Returns the record of a run of a tool on an instance of family `f`.
pub(crate) fn record(instance: &str, tool: &str, verdict: &str, seconds: f64) -> Record {
    Record {
        family: "f".to_string(),
        instance: instance.to_string(),
        size: 1,
        tool: tool.to_string(),
        verdict: verdict.to_string(),
        seconds,
        net_seconds: seconds,
        peak_bytes: Some(2_000_000),
        ..Record::default()
    }
}

fn sized(size: usize, tool: &str, verdict: &str) -> Record {
    Record { size, peak_bytes: None, ..record(&format!("f-{size}"), tool, verdict, size as f64 / 10.0) }
}

#[test]
fn tools_that_disagree_are_named() {
    let records = [sized(1, "one", "safe"), sized(1, "two", "unsafe"), sized(2, "one", "time limit")];
    assert_eq!(contradictions(&records), ["f-1 is safe, but two says unsafe"]);
    let agreed = [sized(1, "one", "safe"), sized(1, "two", "safe"), sized(2, "two", "unsafe")];
    assert_eq!(contradictions(&agreed), Vec::<String>::new());
}

#[test]
fn a_plot_has_a_line_for_each_tool_and_a_point_for_each_decided_run() {
    let records: Vec<Record> = [1, 2, 4, 8]
        .into_iter()
        .flat_map(|size| {
            let verdict = if size == 8 { "time limit" } else { "safe" };
            [sized(size, "one", "safe"), sized(size, "spacer", verdict)]
        })
        .collect();
    let svg = plot::svg(&records, "f").expect("there are several sizes");
    assert_eq!(svg.matches("<polyline").count(), 2);
    assert_eq!(svg.matches("<circle").count(), 7);
    assert_eq!(plot::svg(&records[..1], "f"), None);
    let page = Page { records: &records, limit: 10.0, peer: "spacer", peer_limit: 10.0 }.markdown();
    assert!(page.contains("| f-8 | 8 | safe 0.800 (≥ 1.0×) | time limit 0.800 | – |"), "{page}");
}

/// Returns the targets of images on a page, relative to its folder.
fn images(page: &Path) -> BTreeSet<PathBuf> {
    let text = fs::read_to_string(page).expect("the page is there");
    let folder = page.parent().expect("a page is in a folder");
    let targets = text.split("![").skip(1).filter_map(|rest| rest.split("](").nth(1)?.split(')').next());
    targets.map(|target| folder.join(target).canonicalize().expect("images that pages show are there")).collect()
}

#[test]
fn every_plot_is_on_a_page() {
    let mut shown = images(&root().join("docs/plots.md"));
    for page in files(&root().join("bench/results"), "md") {
        shown.extend(images(&page));
    }
    for plot in files(&root().join("docs/plots"), "svg") {
        let plot = plot.canonicalize().expect("the file is there");
        assert!(shown.contains(&plot), "no page shows {}", plot.display());
    }
}
