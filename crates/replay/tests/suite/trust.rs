//! The table of trusted lines in `docs/trust.md` is true, and the judge uses no helper of the engines.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

const SOURCE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/src");
const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/trust.md");

/// Files that no judgement rests on.
const NOT_TRUSTED: [&str; 1] = ["words.rs"];

/// The modules of `ir` whose types the judge reads.
const VOCABULARY: [&str; 5] = ["bits", "pds", "target", "trace", "tts"];

/// A row of the table.
struct Part {
    name: String,
    files: Vec<String>,
    rests_on: Vec<String>,
    lines: usize,
    in_all: usize,
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("the folder is there").map(|entry| entry.expect("it is readable").path());
    entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

/// The source files of the judge, by their paths below `src`; files with tests only are left out.
fn sources() -> BTreeMap<String, String> {
    let relative =
        |path: &Path| path.strip_prefix(SOURCE).expect("it is below").to_str().expect("it is text").to_string();
    let named = files(Path::new(SOURCE)).into_iter().map(|path| (relative(&path), path));
    let is_source = |name: &str| name.ends_with(".rs") && !name.ends_with("tests.rs");
    let sources = named.filter(|(name, _)| is_source(name));
    sources.map(|(name, path)| (name, fs::read_to_string(path).expect("it is readable"))).collect()
}

/// The lines that are neither blank nor comments nor tests.
fn lines(source: &str) -> usize {
    let code = source.split("#[cfg(test)]").next().expect("there is a first part");
    code.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("//")).count()
}

fn words(cell: &str) -> Vec<String> {
    cell.split(',').map(|word| word.trim().trim_matches('`').to_string()).filter(|word| !word.is_empty()).collect()
}

fn table() -> Vec<Part> {
    let page = fs::read_to_string(PAGE).expect("the page is there");
    let table = page.split("<!-- trust table -->").nth(1).expect("the table begins");
    let table = table.split("<!-- end of table -->").next().expect("the table ends");
    let rows = table.lines().filter(|line| line.starts_with('|')).skip(2);
    let part = |row: &str| {
        let cells: Vec<&str> = row.trim_matches('|').split('|').map(str::trim).collect();
        let [name, files, rests_on, lines, in_all] = cells[..] else { panic!("five columns: {row}") };
        let number = |cell: &str| cell.parse().unwrap_or_else(|_| panic!("a number: {row}"));
        Part {
            name: name.trim_matches('*').to_string(),
            files: words(files),
            rests_on: words(rests_on),
            lines: number(lines),
            in_all: number(in_all),
        }
    };
    rows.map(part).collect()
}

/// A part with all that it rests on.
fn closure<'t>(table: &'t [Part], name: &'t str, found: &mut BTreeSet<&'t str>) {
    if found.insert(name) {
        let part = table.iter().find(|part| part.name == name).unwrap_or_else(|| panic!("no part `{name}`"));
        part.rests_on.iter().for_each(|other| closure(table, other, found));
    }
}

#[test]
fn the_table_of_trusted_lines_is_true() {
    let (table, sources) = (table(), sources());
    let (everything, parts) = table.split_last().expect("the last row is the sum");
    let own = |part: &Part| part.files.iter().map(|file| lines(&sources[file])).sum::<usize>();
    let sizes: BTreeMap<&str, usize> = parts.iter().map(|part| (part.name.as_str(), own(part))).collect();
    let mut wrong = Vec::new();
    for part in parts {
        let mut rests_on = BTreeSet::new();
        closure(&table, &part.name, &mut rests_on);
        let in_all: usize = rests_on.iter().map(|name| sizes[name]).sum();
        if (part.lines, part.in_all) != (sizes[part.name.as_str()], in_all) {
            wrong.push(format!("{}: {} lines, {in_all} in all", part.name, sizes[part.name.as_str()]));
        }
    }
    let sum: usize = sizes.values().sum();
    if (everything.lines, everything.in_all) != (sum, sum) {
        wrong.push(format!("everything: {sum} lines"));
    }
    assert!(wrong.is_empty(), "docs/trust.md should say:\n{}", wrong.join("\n"));
}

/// The goals of the page: all lines, and those that traces, control flow and summaries rest on together.
#[test]
fn the_trusted_lines_are_few() {
    let table = table();
    let mut rests_on = BTreeSet::new();
    ["traces", "control flow", "summaries"].iter().for_each(|name| closure(&table, name, &mut rests_on));
    let together: usize =
        table.iter().filter(|part| rests_on.contains(part.name.as_str())).map(|part| part.lines).sum();
    let everything = table.last().expect("the last row is the sum").lines;
    assert!(together <= 1_681 && everything <= 8_266, "{together} and {everything} lines");
    let page = fs::read_to_string(PAGE).expect("the page is there");
    let told = format!("(now {},{:03})", together / 1000, together % 1000);
    let words: Vec<&str> = page.split_whitespace().collect();
    assert!(words.join(" ").contains(&told), "the page should say {told}");
}

#[test]
fn every_file_of_the_judge_is_in_the_table_once() {
    let mut listed: Vec<String> = table().into_iter().flat_map(|part| part.files).collect();
    listed.extend(NOT_TRUSTED.map(str::to_string));
    listed.sort();
    assert_eq!(listed, sources().into_keys().collect::<Vec<_>>());
}

/// The judge reads programs by code of its own. Helpers that are methods are named here, as an import does not show
/// them.
#[test]
fn the_judge_uses_no_helper_of_the_engines() {
    let methods = ["any_leaf", "for_each_leaf", "map_leaves", "is_passive", "choices()", "conjuncts", "operands()"];
    for (file, source) in sources().into_iter().filter(|(file, _)| !NOT_TRUSTED.contains(&file.as_str())) {
        for import in source.split("selvedge_ir::").skip(1) {
            let name: String = import.chars().take_while(|letter| letter.is_alphanumeric() || *letter == '_').collect();
            let is_module = name.chars().next().is_some_and(char::is_lowercase);
            assert!(!is_module || VOCABULARY.contains(&name.as_str()), "{file} uses `selvedge_ir::{name}`");
        }
        for method in methods {
            assert!(!source.contains(&format!(".{method}")), "{file} uses `.{method}`");
        }
    }
}
