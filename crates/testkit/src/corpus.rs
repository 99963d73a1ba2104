//! Programs with known verdicts: our own ones, whose headers state them, and those of others.
//!
//! A header is a line comment at the beginning of a file: `// verdict: safe`, `// options: --threads 2`,
//! `// story: how it came here`.

use std::fs;
use std::path::{Path, PathBuf};

use selvedge_check::Question;
use selvedge_frontend::{FileOptions, LoadOptions};
use selvedge_report::json::QuestionView;

/// A program of a corpus.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Its path, relative to the corpus.
    pub name: String,
    /// Its text.
    pub text: String,
    /// The question about it.
    pub question: Question,
    /// The answer, where it is known.
    pub verdict: Option<Expected>,
    /// The reason why it is in the corpus.
    pub story: Option<String>,
}

/// A known verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expected {
    /// No error can be reached.
    Safe,
    /// An error can be reached.
    Unsafe,
}

impl Expected {
    /// Returns the verdict as a word.
    pub fn word(self) -> &'static str {
        match self {
            Expected::Safe => "safe",
            Expected::Unsafe => "unsafe",
        }
    }
}

/// Returns the root of the workspace.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Returns a folder of the corpus of other people's programs, if it is installed.
pub fn foreign(folder: &str) -> Option<PathBuf> {
    let path = root().join("../shared/corpus").join(folder);
    path.is_dir().then_some(path)
}

/// Reads our own programs: `tests/programs`, `tests/regress` and `examples`. An error is a sentence that names the
/// file.
pub fn own() -> Result<Vec<Entry>, String> {
    let root = root();
    let mut entries = Vec::new();
    for folder in ["tests/programs", "tests/regress", "examples"] {
        for path in files(&root.join(folder), "bp") {
            let text = read(&path)?;
            let name = path.strip_prefix(&root).unwrap_or(&path).display().to_string();
            entries.push(with_header(name, text)?);
        }
    }
    Ok(entries)
}

/// Reads the regression suite of Boppo: a folder per program, each with a description.
pub fn boppo() -> Result<Vec<Entry>, String> {
    let Some(folder) = foreign("satabs-boppo") else { return Ok(Vec::new()) };
    files(&folder, "desc").iter().map(|path| described(path)).collect()
}

/// Reads the programs from late refinement iterations of SatAbs: a table lists threads and verdicts.
pub fn refined() -> Result<Vec<Entry>, String> {
    let Some(folder) = foreign("satabs-refined") else { return Ok(Vec::new()) };
    let table = read(&folder.join("index.tsv"))?;
    table.lines().skip(1).map(|line| refined_row(&folder, line)).collect()
}

/// Reads the programs of `ijit` whose twins have verdicts in a table, with up to three threads of which one starts:
/// this number is enough to show an error that a twin has.
pub fn ijit() -> Result<Vec<Entry>, String> {
    let entry = |system: System| {
        let question = Question { threads: Some(3), ..Question::default() };
        let text = read(&system.path.with_extension("bp"))?;
        Ok(Entry { name: system.name.replace(".tts", ".bp"), text, question, verdict: system.one, story: None })
    };
    systems()?.into_iter().filter(|system| system.name.starts_with("ijit/")).map(entry).collect()
}

/// A thread-transition system of the corpus.
#[derive(Clone, Debug)]
pub struct System {
    /// Its path, relative to the corpus.
    pub name: String,
    /// The file; its target is in a file next to it.
    pub path: PathBuf,
    /// The number of its transitions.
    pub n_transitions: usize,
    /// The verdict with one initial thread.
    pub one: Option<Expected>,
    /// The verdict with any number of initial threads.
    pub any: Option<Expected>,
}

/// Reads the thread-transition systems of the corpus.
pub fn systems() -> Result<Vec<System>, String> {
    let Some(folder) = foreign("") else { return Ok(Vec::new()) };
    let system = |line: &str| {
        let columns: Vec<&str> = line.split(',').collect();
        let [file, _, _, n_transitions, _, one, any] = columns[..] else {
            return Err(format!("tts_verdicts.csv: `{line}`"));
        };
        Ok(System {
            name: file.to_string(),
            path: folder.join(file),
            n_transitions: n_transitions.parse().unwrap_or(0),
            one: verdict(&one.to_lowercase()),
            any: verdict(&any.to_lowercase()),
        })
    };
    read(&folder.join("tts_verdicts.csv"))?.lines().skip(1).map(system).collect()
}

/// Reads all programs of others, without verdicts.
pub fn all_foreign() -> Result<Vec<Entry>, String> {
    let Some(folder) = foreign("") else { return Ok(Vec::new()) };
    let entry = |path: &PathBuf| {
        let name = path.strip_prefix(&folder).unwrap_or(path).display().to_string();
        Ok(Entry { name, text: read(path)?, question: Question::default(), verdict: None, story: None })
    };
    files(&folder, "bp").iter().map(entry).collect()
}

/// Reads a program with a header.
pub fn with_header(name: String, text: String) -> Result<Entry, String> {
    let mut entry = Entry { name, text: String::new(), question: Question::default(), verdict: None, story: None };
    for line in text.lines().take_while(|line| line.starts_with("//") || line.is_empty()) {
        let Some((key, value)) = line.trim_start_matches("//").split_once(':') else { continue };
        let value = value.trim();
        match key.trim() {
            "verdict" => entry.verdict = Some(verdict(value).ok_or(format!("{}: verdict `{value}`", entry.name))?),
            "options" => entry.question = question(value).map_err(|error| format!("{}: {error}", entry.name))?,
            "story" => entry.story = Some(value.to_string()),
            _ => {}
        }
    }
    entry.text = text;
    Ok(entry)
}

fn verdict(word: &str) -> Option<Expected> {
    [Expected::Safe, Expected::Unsafe].into_iter().find(|expected| expected.word() == word)
}

/// Parses the question from options of the command line, as all commands read those of a file.
pub fn question(options: &str) -> Result<Question, String> {
    let (file, mistakes) = FileOptions::read(&format!("// options: {options}"), None);
    if let Some(mistake) = mistakes.first() {
        return Err(mistake.message.clone());
    }
    let (_, reading) = LoadOptions::default().or_file(&file);
    if !reading.is_empty() || (file == FileOptions::default() && !options.is_empty()) {
        return Err(format!("`{options}` does not ask a question"));
    }
    Ok(QuestionView::default().or_file(&file).0.question())
}

/// Reads a `test.desc`: the second line names the program, the third the options, a later one the verdict.
fn described(path: &Path) -> Result<Entry, String> {
    let description = read(path)?;
    let folder = path.parent().unwrap_or(path);
    let mut lines = description.lines();
    let mut next = || lines.next().ok_or(format!("{}: too short", path.display()));
    next()?;
    let program = folder.join(next()?.trim());
    let mut question = Question::default();
    let mut options = next()?.split_whitespace();
    while let Some(option) = options.next() {
        if option == "-l" {
            question.label = options.next().map(str::to_string);
        }
    }
    let verdict = lines.find_map(|line| match line.trim() {
        "^VERIFICATION SUCCESSFUL$" => Some(Expected::Safe),
        "^VERIFICATION FAILED$" => Some(Expected::Unsafe),
        _ => None,
    });
    let name = program.strip_prefix(folder.parent().unwrap_or(folder)).unwrap_or(&program).display().to_string();
    Ok(Entry { name, text: read(&program)?, question, verdict, story: None })
}

fn refined_row(folder: &Path, line: &str) -> Result<Entry, String> {
    let columns: Vec<&str> = line.split('\t').collect();
    let [file, threads, word, ..] = columns[..] else { return Err(format!("index.tsv: `{line}`")) };
    let threads = threads.parse().map_err(|_| format!("index.tsv: `{threads}` is no number"))?;
    let question = Question { threads: Some(threads), ..Question::default() };
    let text = read(&folder.join(file))?;
    Ok(Entry { name: file.to_string(), text, question, verdict: verdict(word), story: None })
}

pub(crate) fn read(path: &Path) -> Result<String, String> {
    let bytes = fs::read(path).map_err(|error| format!("{}: {error}", path.display()))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Lists all files below a folder with this extension, sorted; none if the folder does not exist.
pub fn files(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|other| other == extension) {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_say_verdict_options_and_story() {
        let text = "// verdict: unsafe\n// options: --threads 2 --initial any --label L\n\n// story: found it\ndecl x;";
        let entry = with_header("x.bp".to_string(), text.to_string()).unwrap();
        assert_eq!(entry.verdict, Some(Expected::Unsafe));
        assert_eq!(crate::print::options(&entry.question), "--threads 2 --initial any --label L");
        assert_eq!(entry.story.as_deref(), Some("found it"));
    }

    #[test]
    fn mistakes_in_headers_are_errors() {
        for header in ["// verdict: maybe", "// options: --threads", "// options: --threads x", "// options: --bound 3"]
        {
            assert!(with_header(String::new(), header.to_string()).is_err(), "{header}");
        }
    }

    #[test]
    fn the_foreign_corpus_is_read_where_it_is() {
        let (boppo, refined, ijit) = (boppo().unwrap(), refined().unwrap(), ijit().unwrap());
        if foreign("").is_some() {
            assert!(ijit.len() >= 70 && ijit.iter().all(|entry| entry.verdict.is_some()), "{}", ijit.len());
            assert!(boppo.len() >= 37 && boppo.iter().all(|entry| entry.verdict.is_some()), "{}", boppo.len());
            assert!(refined.iter().all(|entry| entry.question.threads.is_some() && entry.verdict.is_some()));
            assert!(boppo.iter().any(|entry| entry.question.label.as_deref() == Some("MY_ERROR_LABEL")));
        }
    }
}
