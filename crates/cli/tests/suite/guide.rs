//! The guide and the README: every page is in the table of contents, every link works, and every command prints what
//! the page shows.
//!
//! A block ```` ```console ```` contains commands after `$ `, each followed by its standard output; `...` matches any
//! number of lines, and `[exit 10]` is the exit code, 0 by default. The commands run in a folder with a copy of
//! `examples/`, one page after the other.

use std::path::{Path, PathBuf};
use std::process::Command;

fn docs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").canonicalize().expect("the guide is there")
}

fn readme() -> PathBuf {
    docs().join("../README.md").canonicalize().expect("the README is there")
}

/// The README and the pages of the guide.
fn all_pages() -> Vec<PathBuf> {
    std::iter::once(readme()).chain(pages()).collect()
}

/// The pages in the table of contents.
fn pages() -> Vec<PathBuf> {
    let summary = std::fs::read_to_string(docs().join("SUMMARY.md")).expect("the table of contents is there");
    links(&summary).into_iter().map(|link| docs().join(link)).collect()
}

/// The targets of all links to files.
fn links(text: &str) -> Vec<String> {
    all_links(text).map(|(file, _)| file.to_string()).filter(|file| !file.is_empty()).collect()
}

/// All links to files: the file, empty for the page itself, and the heading, if the link names one.
fn all_links(text: &str) -> impl Iterator<Item = (&str, Option<&str>)> {
    let targets = text.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    let targets = targets.filter(|target| !target.contains("://"));
    targets.map(|target| target.split_once('#').map_or((target, None), |(file, heading)| (file, Some(heading))))
}

/// The anchors of all headings.
fn headings(text: &str) -> Vec<String> {
    let name = |title: &str| {
        let kept = title.chars().filter(|char| char.is_alphanumeric() || matches!(char, ' ' | '-' | '_'));
        kept.collect::<String>().trim().to_lowercase().replace(' ', "-")
    };
    text.lines().filter(|line| line.starts_with('#')).map(|line| name(line.trim_start_matches('#'))).collect()
}

/// All Markdown files of a folder, recursively.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).expect("the folder is there") {
        let path = entry.expect("the folder can be read").path();
        if path.is_dir() {
            found.extend(files(&path));
        } else if path.extension().is_some_and(|ending| ending == "md") {
            found.push(path);
        }
    }
    found
}

/// A command with its expected output.
struct Example {
    line: usize,
    command: String,
    output: Vec<String>,
    code: i32,
}

fn examples(text: &str) -> Vec<Example> {
    let mut examples: Vec<Example> = Vec::new();
    let mut inside = false;
    for (number, line) in text.lines().enumerate() {
        if line.starts_with("```") {
            inside = line == "```console";
        } else if inside && let Some(command) = line.strip_prefix("$ ") {
            examples.push(Example { line: number + 1, command: command.to_string(), output: Vec::new(), code: 0 });
        } else if inside && let Some(example) = examples.last_mut() {
            let code = line.strip_prefix("[exit ").and_then(|rest| rest.strip_suffix(']')?.parse().ok());
            match code {
                Some(code) => example.code = code,
                None => example.output.push(line.to_string()),
            }
        }
    }
    examples
}

/// Runs an example, and fails with a message if it does not print what the page shows.
fn run(example: &Example, folder: &Path) -> Result<(), String> {
    let command = &example.command;
    let arguments = command.strip_prefix("selvedge ").or_else(|| command.strip_prefix("cargo run --release -- "));
    let arguments = arguments.ok_or("not a command of selvedge")?;
    let mut command = Command::new(env!("CARGO_BIN_EXE_selvedge"));
    let output = command.args(arguments.split_whitespace()).current_dir(folder).output().map_err(|e| e.to_string())?;
    let told = String::from_utf8_lossy(&output.stdout).into_owned();
    if output.status.code() != Some(example.code) {
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        return Err(format!("exit code {:?} instead of {}\n{told}{errors}", output.status.code(), example.code));
    }
    let mut rest = told.lines();
    let mut may_skip = false;
    for wanted in &example.output {
        if wanted == "..." {
            may_skip = true;
            continue;
        }
        let found = if may_skip {
            rest.any(|line| fits(line, wanted))
        } else {
            rest.next().is_some_and(|line| fits(line, wanted))
        };
        if !found {
            return Err(format!("no line `{wanted}` in its place\n{told}"));
        }
        may_skip = false;
    }
    if may_skip || rest.next().is_none() { Ok(()) } else { Err(format!("there is more than the page shows\n{told}")) }
}

/// Returns whether a line of the output matches a line of the page, which may omit a comma at the end (for JSON).
fn fits(line: &str, wanted: &str) -> bool {
    line == wanted || line.strip_suffix(',') == Some(wanted)
}

#[test]
fn every_link_leads_to_a_file() {
    for page in all_pages().into_iter().chain([docs().join("SUMMARY.md")]) {
        let text = std::fs::read_to_string(&page).unwrap_or_else(|error| panic!("{}: {error}", page.display()));
        assert!(text.starts_with("# "), "{} has a title", page.display());
        for link in links(&text) {
            let target = page.parent().expect("a file has a folder").join(&link);
            assert!(target.exists(), "{}: there is no {link}", page.display());
        }
    }
}

#[test]
fn every_link_to_a_heading_leads_to_one() {
    for page in all_pages() {
        let text = std::fs::read_to_string(&page).expect("the page is there");
        for (file, heading) in all_links(&text) {
            let Some(heading) = heading else { continue };
            let target = if file.is_empty() { page.clone() } else { page.parent().expect("it is a file").join(file) };
            let there = headings(&std::fs::read_to_string(&target).expect("the link leads to a file"));
            assert!(there.iter().any(|name| name == heading), "{}: no heading {heading}", page.display());
        }
    }
}

#[test]
fn every_page_is_in_the_table_of_contents() {
    let known = pages();
    for page in files(&docs()).iter().filter(|page| !page.ends_with("SUMMARY.md")) {
        assert!(known.contains(page), "{} is not in the table of contents", page.display());
    }
}

/// Builds the book with mdBook from `.tools` or `PATH`; does nothing if there is none.
#[test]
fn the_guide_is_a_book_without_warnings() {
    let tools = docs().join("../.tools/mdbook/bin/mdbook");
    let program = if tools.exists() { tools } else { PathBuf::from("mdbook") };
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("book");
    let Ok(output) = Command::new(program).arg("build").arg("--dest-dir").arg(&folder).arg(docs()).output() else {
        return;
    };
    let told = String::from_utf8_lossy(&output.stderr).into_owned() + &String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && !told.to_lowercase().contains("warn"), "{told}");
    let first = std::fs::read_to_string(folder.join("guide/first-steps.html")).expect("the first page is there");
    assert!(first.contains("<h1"), "it has a title");
    // The first page is also the one of the whole book, whose links start elsewhere.
    for page in ["index.html", "guide/first-steps.html"] {
        let page = folder.join(page);
        let text = std::fs::read_to_string(&page).expect("the page is there");
        for link in text.split("href=\"").skip(1).filter_map(|rest| rest.split(['"', '#']).next()) {
            let target = page.parent().expect("a file has a folder").join(link);
            assert!(link.contains("://") || target.exists(), "{}: there is no {link}", page.display());
        }
    }
}

#[test]
fn every_page_about_an_engine_is_about_one_that_there_is() {
    for file in std::fs::read_dir(docs().join("engines")).expect("the pages are there") {
        let page = file.expect("the folder can be read").path();
        assert!(pages().contains(&page), "{} is in the table of contents", page.display());
        let name = page.file_stem().and_then(|name| name.to_str()).expect("names are UTF-8").to_string();
        let known =
            ["README", "auto"].contains(&name.as_str()) || selvedge_engines::EngineKind::from_name(&name).is_some();
        assert!(known, "there is no engine {name}");
    }
}

#[test]
fn every_engine_has_a_page() {
    for engine in selvedge_engines::EngineKind::ALL {
        let page = docs().join("engines").join(format!("{}.md", engine.name()));
        assert!(page.exists(), "there is no {}", page.display());
    }
}

/// Copies the files of a folder.
fn copy_folder(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).expect("the folder can be made");
    for file in std::fs::read_dir(from).expect("the examples are there") {
        let file = file.expect("the folder can be read").path();
        if file.is_file() {
            let copy = to.join(file.file_name().expect("a file has a name"));
            std::fs::copy(&file, copy).expect("the example can be copied");
        }
    }
}

#[test]
fn every_command_of_the_guide_prints_what_the_page_says() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("guide");
    for programs in ["examples", "examples/c", "examples/classics", "tests/programs/c"] {
        copy_folder(&docs().join("..").join(programs), &folder.join(programs));
    }
    let (mut n_examples, mut failures) = (0, Vec::new());
    for page in all_pages() {
        let text = std::fs::read_to_string(&page).expect("the page is there");
        for example in examples(&text) {
            n_examples += 1;
            if let Err(problem) = run(&example, &folder) {
                failures.push(format!("{}:{}: {}\n{problem}", page.display(), example.line, example.command));
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
    assert!(n_examples > 40, "only {n_examples} commands");
}

#[test]
fn the_gallery_has_a_dozen_examples() {
    let text = std::fs::read_to_string(docs().join("guide/gallery.md")).expect("the page is there");
    let sections = text.split("\n## ").skip(1);
    assert!(sections.filter(|section| !examples(&format!("\n{section}")).is_empty()).count() >= 12);
}
