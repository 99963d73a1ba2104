//! The rules of the house that a program can check: dependencies between crates and on others, the width of lines, the
//! length of functions, and the files that ARCHITECTURE.md names.

mod dependencies;
mod english;
mod graph;
mod layout;

use std::path::{Path, PathBuf};

use selvedge_testkit::corpus::root;

use graph::Graph;

/// The greatest number of columns of a line.
const COLUMNS: usize = 120;

/// The greatest number of lines of a function.
const FUNCTION_LINES: usize = 60;

#[test]
fn families_of_engines_do_not_depend_on_each_other() {
    let graph = Graph::read(&root().join("crates"));
    let is_family = |name: &str| name.starts_with("engines-");
    let families: Vec<&str> = graph.names().filter(|name| is_family(name)).collect();
    assert!(families.len() > 1, "the engines are in families: {families:?}");
    for family in families {
        let others: Vec<&str> = graph.all_below(family).into_iter().filter(|name| is_family(name)).collect();
        assert!(others.is_empty(), "{family} depends on {others:?}");
    }
}

#[test]
fn the_judge_and_the_reports_depend_on_no_engine() {
    let graph = Graph::read(&root().join("crates"));
    for (name, forbidden) in [
        ("replay", &["logic", "transition", "engines", "driver"][..]),
        ("report", &["transition", "engines", "driver"]),
        ("check", &["frontend", "logic", "transition", "engines", "driver"]),
        ("driver", &["frontend", "report", "cli"]),
        ("frontend", &["engines", "driver", "report"]),
    ] {
        let below = graph.all_below(name);
        let wrong: Vec<_> = below.iter().filter(|other| forbidden.contains(other)).collect();
        assert!(wrong.is_empty(), "{name} depends on {wrong:?}");
    }
}

/// The picture of the crates in the documentation is drawn from the manifests. `UPDATE_PICTURES=1` draws it again.
#[test]
fn the_picture_of_the_crates_is_true() {
    let drawn = layout::draw(&Graph::read(&root().join("crates")));
    let path = root().join("docs/pictures/crates.svg");
    if std::env::var_os("UPDATE_PICTURES").is_some() {
        std::fs::write(&path, &drawn).expect("the picture can be written");
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(kept == drawn, "docs/pictures/crates.svg is out of date: set UPDATE_PICTURES=1 to draw it again");
}

#[test]
fn the_walk_through_the_code_names_at_most_eight_files_that_exist() {
    let text = std::fs::read_to_string(root().join("ARCHITECTURE.md")).expect("ARCHITECTURE.md can be read");
    let stops: Vec<&str> = text.lines().filter(|line| line.starts_with(|first: char| first.is_ascii_digit())).collect();
    assert!((1..=8).contains(&stops.len()), "{stops:#?}");
    for stop in stops {
        let file = stop.split('`').nth(1).expect("a stop names its file first");
        assert!(root().join(file).is_file(), "{file} is not a file");
    }
}

#[test]
fn lines_and_functions_are_short() {
    let mut long = Vec::new();
    for path in sources(&root().join("crates")) {
        let text = std::fs::read_to_string(&path).expect("a source file can be read");
        let lines: Vec<&str> = text.lines().collect();
        let wide = lines.iter().enumerate().filter(|(_, line)| line.chars().count() > COLUMNS);
        long.extend(wide.map(|(number, _)| format!("{}:{}: wide line", path.display(), number + 1)));
        let functions = functions(&lines).into_iter().filter(|(_, length)| *length > FUNCTION_LINES);
        long.extend(functions.map(|(line, length)| format!("{}:{line}: {length} lines", path.display())));
    }
    assert!(long.is_empty(), "{}", long.join("\n"));
}

/// Lists all Rust files below a folder.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).expect("the folder can be read") {
        let path = entry.expect("the folder can be read").path();
        if path.is_dir() {
            found.extend(sources(&path));
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// Lists the functions of a formatted file: the line on which each begins, and its number of lines. Its end is the
/// next closing brace in the column in which it begins.
fn functions(lines: &[&str]) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    for (number, line) in lines.iter().enumerate() {
        let trimmed = line.trim_start();
        let words =
            trimmed.strip_prefix("pub").map_or(trimmed, |rest| rest.split_once(' ').map_or("", |(_, rest)| rest));
        let is_function = words.strip_prefix("const ").unwrap_or(words).starts_with("fn ");
        if !is_function || line.ends_with(';') || line.ends_with('}') {
            continue;
        }
        let end = format!("{}}}", " ".repeat(line.len() - trimmed.len()));
        let length = lines[number..].iter().position(|other| **other == *end).map_or(0, |last| last + 1);
        found.push((number + 1, length));
    }
    found
}
