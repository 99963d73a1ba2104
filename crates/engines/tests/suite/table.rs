//! The table of engines agrees with the engines, and what is made from it is up to date.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use selvedge_engines::table::Row;
use selvedge_engines::{EngineKind, EngineOptions, build};

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read(path: &str) -> String {
    fs::read_to_string(repository().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

#[test]
fn engines_have_the_names_of_their_rows() {
    let mut names = BTreeSet::new();
    for kind in EngineKind::ALL {
        assert_eq!(build(*kind, &EngineOptions::default()).name(), kind.name());
        assert_eq!(EngineKind::from_name(kind.name()), Some(*kind));
        assert!(names.insert(kind.name()), "{} has two rows", kind.name());
    }
}

#[test]
fn every_engine_has_a_page_in_the_book() {
    let summary = read("docs/SUMMARY.md");
    for kind in EngineKind::ALL {
        let name = kind.name();
        assert!(read(&format!("docs/engines/{name}.md")).starts_with(&format!("# {name}\n")), "heading of {name}.md");
        assert!(summary.contains(&format!("[{name}](engines/{name}.md)")), "{name} is missing in docs/SUMMARY.md");
    }
}

#[test]
fn the_portfolio_names_no_engine_twice() {
    let all: Vec<EngineKind> = EngineKind::PORTFOLIO.into_iter().flatten().copied().collect();
    assert_eq!(all.iter().collect::<BTreeSet<_>>().len(), all.len());
}

#[test]
fn the_table_in_the_documentation_is_made_from_this_one() {
    compare("docs/engines/README.md", &table());
}

/// The table in Markdown.
fn table() -> String {
    let mut text =
        "| engine | for | idea |\n|---|---|---|\n| [auto](auto.md) | everything | the portfolio |\n".to_string();
    for kind in EngineKind::ALL {
        let Row { name, scope, idea, .. } = kind.row();
        text += &format!("| [{name}]({name}.md) | {scope} | {idea} |\n");
    }
    text
}

const BEGIN: &str = "<!-- engines: made from crates/engines/src/table.rs -->\n";
const END: &str = "<!-- end of engines -->";

/// Compares the part of a file between the marks with a table, or rewrites it if `UPDATE_TABLES` is set.
fn compare(path: &str, table: &str) {
    let text = read(path);
    let (before, rest) = text.split_once(BEGIN).unwrap_or_else(|| panic!("{path} has no mark"));
    let (found, after) = rest.split_once(END).unwrap_or_else(|| panic!("{path} has no second mark"));
    if std::env::var_os("UPDATE_TABLES").is_some() {
        fs::write(repository().join(path), format!("{before}{BEGIN}{table}{END}{after}"))
            .expect("the file can be written");
    } else {
        assert_eq!(found, table, "{path} is out of date: run this test with UPDATE_TABLES=1");
    }
}
