//! The options that a file brings along: a line `// options: ..` in the comment at its beginning.
//!
//! The options are some of those of the command line: those that ask the question and those that say how to read the
//! text. What a command does with its answer (files to write, limits, engines) is not for the file to decide. All
//! commands, the language server and the debug adapter read the line here.

use std::path::{Path, PathBuf};

use selvedge_ir::Count;
use selvedge_ir::span::Span;

use crate::c::{DataModel, Properties, Property, read_property_file};
use crate::diagnostic::{Code, Diagnostic};
use crate::files::read_regular;
use crate::load::{Dialect, Extern, LoadOptions};
use crate::suggest::nearest;

/// The options that a file brings along.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileOptions {
    /// `--threads`
    pub threads: Option<u32>,
    /// `--initial`; exactly so many, or any number.
    pub initial: Option<Count>,
    /// `--label`
    pub label: Option<String>,
    /// `--assertion`
    pub assertion: Option<String>,
    /// `--together`
    pub together: Vec<String>,
    /// `--deadlock`
    pub deadlock: bool,
    /// `--property`
    pub properties: Option<Properties>,
    /// `--entry`
    pub entry: Option<String>,
    /// `--dialect`
    pub dialect: Option<Dialect>,
    /// `--data-model`
    pub data_model: Option<DataModel>,
    /// `-I`; folders that are not absolute are beside the file.
    pub include: Vec<PathBuf>,
    /// `-D`: macros with their bodies.
    pub defines: Vec<(String, String)>,
    /// `--malloc-bound`
    pub malloc_bound: Option<u32>,
    /// `--extern`
    pub externs: Option<Extern>,
}

/// The names of the options that a file can bring along.
const NAMES: &[&str] = &[
    "--threads",
    "--initial",
    "--label",
    "--assertion",
    "--together",
    "--deadlock",
    "--property",
    "--entry",
    "--dialect",
    "--data-model",
    "-I",
    "-D",
    "--malloc-bound",
    "--extern",
];

/// A word of the line, and where it is.
type Word<'t> = (&'t str, Span);

impl FileOptions {
    /// Returns the names of the options that a file can bring along.
    pub fn names() -> &'static [&'static str] {
        NAMES
    }

    /// Reads the options of a text. `path` is the file that the text is from: folders and property files are beside it.
    pub fn read(text: &str, path: Option<&Path>) -> (FileOptions, Vec<Diagnostic>) {
        let folder = path.and_then(Path::parent).unwrap_or(Path::new(""));
        let mut reader = Reader { folder, options: FileOptions::default(), seen: Vec::new(), diagnostics: Vec::new() };
        let words = line(text);
        if words.is_empty() {
            reader.diagnostics.extend(misplaced(text));
        }
        let mut words = words.into_iter();
        while let Some(word) = words.next() {
            reader.option(word, &mut words);
        }
        reader.check_questions();
        (reader.options, reader.diagnostics)
    }

    /// Returns the options without those that choose between questions: for a command line that chooses one itself.
    #[must_use]
    pub fn without_question(&self) -> FileOptions {
        let asks_for_deadlocks = |properties: &Properties| properties.has(Property::Deadlock);
        FileOptions {
            label: None,
            assertion: None,
            together: Vec::new(),
            deadlock: false,
            properties: self.properties.filter(|properties| !asks_for_deadlocks(properties)),
            ..self.clone()
        }
    }

    /// Returns whether deadlocks are asked about.
    pub fn asks_for_deadlocks(&self) -> bool {
        self.deadlock || self.properties.is_some_and(|properties| properties.has(Property::Deadlock))
    }
}

impl LoadOptions {
    /// Returns the options with those of a file where none is given; those that come from the file also as words.
    #[must_use]
    pub fn or_file(mut self, file: &FileOptions) -> (LoadOptions, Vec<String>) {
        let mut taken = Vec::new();
        if let (None, Some(entry)) = (&self.entry, &file.entry) {
            self.entry = Some(entry.clone());
            taken.push(format!("--entry {entry}"));
        }
        if let (None, Some(dialect)) = (self.dialect, file.dialect) {
            self.dialect = Some(dialect);
            taken.push(format!("--dialect {}", dialect.name()));
        }
        if let (None, Some(model)) = (self.data_model, file.data_model) {
            self.data_model = Some(model);
            taken.push(format!("--data-model {}", model.name()));
        }
        if let (None, Some(bound)) = (self.malloc_bound, file.malloc_bound) {
            self.malloc_bound = Some(bound);
            taken.push(format!("--malloc-bound {bound}"));
        }
        if let (None, Some(externs)) = (self.externs, file.externs) {
            self.externs = Some(externs);
            taken.push(format!("--extern {}", externs.name()));
        }
        let given = self.include.clone();
        for folder in file.include.iter().filter(|folder| !given.contains(folder)) {
            self.include.push(folder.clone());
            taken.push(format!("-I {}", folder.display()));
        }
        let given: Vec<String> = self.defines.iter().map(|(name, _)| name.clone()).collect();
        for (name, body) in file.defines.iter().filter(|(name, _)| !given.contains(name)) {
            taken.push(if body == "1" { format!("-D {name}") } else { format!("-D {name}={body}") });
            self.defines.push((name.clone(), body.clone()));
        }
        (self, taken)
    }
}

/// Returns the words behind `options:` in the comment at the beginning of a text. A line that does not begin with an
/// option is prose.
fn line(text: &str) -> Vec<Word<'_>> {
    let options = comments(text).filter_map(|(start, comment)| {
        let options = comment.trim_start().strip_prefix("options:")?;
        Some(words(options, start + comment.len() - options.len()))
    });
    let is_line = |words: &Vec<Word<'_>>| words.first().is_some_and(|(word, _)| word.starts_with('-'));
    options.into_iter().find(is_line).unwrap_or_default()
}

/// Warns of a line that looks like one with options, and is not read: behind the first declaration, in capitals, or in
/// a comment of another kind.
fn misplaced(text: &str) -> Option<Diagnostic> {
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let trimmed = line.trim_start();
        let comment = ["//", "/*", "#"].iter().find_map(|mark| trimmed.strip_prefix(mark)).map(str::trim_start);
        let word = comment.and_then(|comment| comment.get(.."options:".len()));
        if let (Some(comment), true) = (comment, word.is_some_and(|word| word.eq_ignore_ascii_case("options:")))
            && comment["options:".len()..].trim_start().starts_with("--")
        {
            let at = start + line.len() - comment.len();
            let message = "this line of options is not read".to_string();
            let help = "write it as `// options: ..`, in the comment at the beginning of the file";
            let span = Span::new(at, at + "options:".len());
            return Some(Diagnostic::new(Code::MisplacedOptions, message, span).help(help));
        }
        start += line.len();
    }
    None
}

/// Lists the lines of the comment at the beginning of a text: where each begins behind its `//` or `#`, and its text.
fn comments(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut start = 0;
    let lines = text.split_inclusive('\n').map(move |line| {
        start += line.len();
        (start - line.len(), line)
    });
    let comment = |(start, line): (usize, &'_ str)| {
        let trimmed = line.trim_start();
        let comment = trimmed.strip_prefix("//").or_else(|| trimmed.strip_prefix('#'));
        let length = line.len();
        (trimmed.is_empty(), comment.map(|comment| (start + length - comment.len(), comment.len())))
    };
    let lines = lines.map(comment).take_while(|(is_empty, comment)| *is_empty || comment.is_some());
    lines.filter_map(|(_, comment)| comment).map(move |(start, length)| (start, &text[start..start + length]))
}

/// The verdict that a program should have.
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

/// Returns the verdict that a text says it has, in a line `// verdict: safe` or `unsafe` of the comment at its
/// beginning, with the number of the line, from 1. Another word is a mistake.
pub fn expected_verdict(text: &str) -> Option<(usize, Result<Expected, String>)> {
    let (start, verdict) =
        comments(text).find_map(|(start, comment)| Some((start, comment.trim_start().strip_prefix("verdict:")?)))?;
    let line = text[..start].matches('\n').count() + 1;
    let ends = |part: char| part.is_whitespace() || part == ',' || part == ';';
    let word = verdict.trim_start().split(ends).next().unwrap_or_default();
    let known = [Expected::Safe, Expected::Unsafe].into_iter().find(|expected| expected.word() == word);
    Some((line, known.ok_or_else(|| word.to_string())))
}

/// Splits a text at white space; `start` is where it begins.
fn words(text: &str, start: usize) -> Vec<Word<'_>> {
    let mut words = Vec::new();
    let mut at = 0;
    for word in text.split(char::is_whitespace) {
        if !word.is_empty() {
            words.push((word, Span::new(start + at, start + at + word.len())));
        }
        at += word.len() + text[at + word.len()..].chars().next().map_or(0, char::len_utf8);
    }
    words
}

struct Reader<'t> {
    folder: &'t Path,
    options: FileOptions,
    /// The options that were read, with their places.
    seen: Vec<Word<'t>>,
    diagnostics: Vec<Diagnostic>,
}

impl<'t> Reader<'t> {
    /// Reads an option, with its value from the words that follow.
    fn option(&mut self, word: Word<'t>, rest: &mut std::vec::IntoIter<Word<'t>>) {
        let (name, attached) = split(word.0);
        if !NAMES.contains(&name) {
            let mut unknown = self.finding(word.1, format!("a file cannot set the option `{name}`"));
            unknown = match nearest(name, NAMES.iter().copied()) {
                near @ Some(_) => unknown.did_you_mean(near),
                None => unknown.help(format!("a file can set {}", NAMES.join(", "))),
            };
            self.diagnostics.push(unknown);
            // Its value is not to be taken for an option.
            if rest.as_slice().first().is_some_and(|(next, _)| !next.starts_with('-')) {
                rest.next();
            }
            return;
        }
        if !matches!(name, "-I" | "-D") && self.seen.iter().any(|(seen, _)| *seen == name) {
            let again = self.finding(word.1, format!("`{name}` is given twice"));
            self.diagnostics.push(again);
        }
        self.seen.push((name, word.1));
        if name == "--deadlock" {
            self.options.deadlock = true;
            return;
        }
        let value = attached.map(|value| (value, word.1)).or_else(|| {
            let has_value = rest.as_slice().first().is_some_and(|(next, _)| !next.starts_with('-'));
            if has_value { rest.next() } else { None }
        });
        match value {
            Some(value) => self.value(name, value),
            None => {
                let missing = self.finding(word.1, format!("`{name}` needs a value"));
                self.diagnostics.push(missing);
            }
        }
    }

    fn value(&mut self, name: &str, (value, span): Word<'_>) {
        let folder = self.folder;
        let options = &mut self.options;
        let positive = || value.parse().ok().filter(|number| *number > 0);
        let expected = match name {
            "--threads" => set(&mut options.threads, positive(), "a positive number"),
            "--initial" if value == "any" => set(&mut options.initial, Some(Count::Any), ""),
            "--initial" => set(&mut options.initial, positive().map(Count::Exactly), "a positive number, or `any`"),
            "--label" => set(&mut options.label, Some(value.to_string()), ""),
            "--assertion" => set(&mut options.assertion, Some(value.to_string()), ""),
            "--entry" => set(&mut options.entry, Some(value.to_string()), ""),
            "--malloc-bound" => set(&mut options.malloc_bound, value.parse().ok(), "a number"),
            "--dialect" => set(&mut options.dialect, Dialect::named(value), "`selvedge` or `getafix`"),
            "--data-model" => set(&mut options.data_model, DataModel::named(value), "`lp64` or `ilp32`"),
            "--extern" => set(&mut options.externs, Extern::named(value), "`havoc` or `skip`"),
            "--together" => {
                options.together = value.split(',').map(str::to_string).collect();
                None
            }
            "-I" => {
                options.include.push(folder.join(value));
                None
            }
            "-D" => {
                let (name, body) = value.split_once('=').unwrap_or((value, "1"));
                options.defines.push((name.to_string(), body.to_string()));
                None
            }
            _ => match properties(value, folder) {
                Ok(properties) => set(&mut options.properties, Some(properties), ""),
                Err(message) => {
                    let wrong = self.finding(span, message);
                    self.diagnostics.push(wrong);
                    None
                }
            },
        };
        if let Some(expected) = expected {
            let wrong = self.finding(span, format!("`{value}` is not a value of `{name}`: expected {expected}"));
            self.diagnostics.push(wrong);
        }
    }

    /// Checks that at most one option chooses the question.
    fn check_questions(&mut self) {
        let chooses =
            |word: &&Word<'_>| matches!(word.0, "--label" | "--assertion" | "--together" | "--deadlock" | "--property");
        let chosen: Vec<Word<'_>> = self.seen.iter().filter(chooses).copied().collect();
        // An assertion is one of a property.
        let fits = |names: [&str; 2]| names.contains(&"--assertion") && names.contains(&"--property");
        if let [(first, _), (second, span), ..] = chosen[..]
            && first != second
            && !fits([first, second])
        {
            let both = self.finding(span, format!("`{first}` and `{second}` ask different questions"));
            self.diagnostics.push(both);
        }
    }

    fn finding(&self, span: Span, message: String) -> Diagnostic {
        Diagnostic::new(Code::FileOption, message, span)
    }
}

/// Splits `--name=value`, `-Ivalue` and `-Dvalue`.
fn split(word: &str) -> (&str, Option<&str>) {
    for short in ["-I", "-D"] {
        if let Some(value) = word.strip_prefix(short) {
            return (short, Some(value).filter(|value| !value.is_empty()));
        }
    }
    match word.split_once('=') {
        Some((name, value)) => (name, Some(value)),
        None => (word, None),
    }
}

/// Sets an option to its value; without one, returns what is expected.
fn set<T>(option: &mut Option<T>, value: Option<T>, expected: &'static str) -> Option<&'static str> {
    match value {
        Some(value) => {
            *option = Some(value);
            None
        }
        None => Some(expected),
    }
}

/// Reads a list of properties, or the name of a property file.
fn properties(value: &str, folder: &Path) -> Result<Properties, String> {
    if value.ends_with(".prp") {
        let bytes = read_regular(&folder.join(value)).map_err(|error| format!("cannot read {value}: {error}"))?;
        let text = String::from_utf8(bytes).map_err(|_| format!("{value} is not a text"))?;
        let read = read_property_file(&text).map_err(|error| format!("{value}: {error}"))?;
        return Ok(Properties::of(read));
    }
    let property = |name: &str| {
        let known = || Property::ALL.iter().map(|known| known.name()).collect::<Vec<_>>().join(", ");
        Property::named(name).ok_or_else(|| format!("there is no property `{name}`; the properties are {}", known()))
    };
    value.split(',').map(property).collect::<Result<Vec<_>, _>>().map(Properties::of)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> (FileOptions, Vec<Diagnostic>) {
        FileOptions::read(text, Some(Path::new("folder/file.c")))
    }

    #[test]
    fn options_are_read_from_the_first_comment() {
        let (options, diagnostics) = read("// verdict: safe\n\n// options: --threads 3 --initial any\ndecl x;\n");
        assert_eq!(diagnostics, []);
        assert_eq!(options, FileOptions { threads: Some(3), initial: Some(Count::Any), ..FileOptions::default() });
        assert_eq!(read("decl x;\n// the options: --threads 3\n"), Default::default());
        assert_eq!(read("# options: --deadlock\n").0, FileOptions { deadlock: true, ..FileOptions::default() });
    }

    #[test]
    fn a_line_of_options_elsewhere_draws_a_warning() {
        let behind = "decl x;\n// options: --threads 3\n";
        for text in [behind, "/* options: --threads 3 */\n", "// Options: --threads 3\ndecl x;\n"] {
            let (options, diagnostics) = read(text);
            assert_eq!(options, FileOptions::default(), "{text}");
            let [warning] = &diagnostics[..] else { panic!("{text}: {diagnostics:?}") };
            assert_eq!(warning.code, Code::MisplacedOptions, "{text}");
            assert!(warning.primary.span.of(text).eq_ignore_ascii_case("options:"), "{text}");
        }
    }

    #[test]
    fn folders_are_beside_the_file() {
        let (options, diagnostics) = read("// options: -I include -DSTEP -D N=3 --property memory,misuse\n");
        assert_eq!(diagnostics, []);
        assert_eq!(options.include, [PathBuf::from("folder/include")]);
        let define = |name: &str, body: &str| (name.to_string(), body.to_string());
        assert_eq!(options.defines, [define("STEP", "1"), define("N", "3")]);
        assert_eq!(options.properties, Some(Properties::of([Property::Memory, Property::Misuse])));
    }

    #[test]
    fn the_verdict_is_read_from_the_first_comment() {
        assert_eq!(expected_verdict("// a\n\n//verdict: unsafe, in two ways\n"), Some((3, Ok(Expected::Unsafe))));
        assert_eq!(expected_verdict("# verdict: safe\n1 2\n"), Some((1, Ok(Expected::Safe))));
        assert_eq!(expected_verdict("// verdict: Safe\n"), Some((1, Err("Safe".to_string()))));
        assert_eq!(expected_verdict("decl x;\n// verdict: safe\n"), None);
    }

    #[test]
    fn prose_is_not_a_line_of_options() {
        assert_eq!(read("// options: none so far\n"), Default::default());
    }

    #[test]
    fn mistakes_are_found_at_their_places() {
        let cases = [
            ("// options: --thread 3", "--thread", "a file cannot set the option `--thread`"),
            ("// options: --threads 0", "0", "`0` is not a value of `--threads`: expected a positive number"),
            ("// options: --threads", "--threads", "`--threads` needs a value"),
            ("// options: --label --deadlock", "--label", "`--label` needs a value"),
            ("// options: --threads 2 --threads=3", "--threads=3", "`--threads` is given twice"),
            ("// options: --deadlock --label L", "--label", "`--deadlock` and `--label` ask different questions"),
            ("// options: --html x.html", "--html", "a file cannot set the option `--html`"),
            (
                "// options: --property x",
                "x",
                "there is no property `x`; the properties are assertions, no-data-race, no-overflow, memory, \
                 deadlock, misuse",
            ),
        ];
        for (text, at, message) in cases {
            let (_, diagnostics) = read(text);
            let first = diagnostics.first().unwrap_or_else(|| panic!("{text}"));
            assert_eq!(first.message, message, "{text}");
            let span = first.primary.span;
            assert_eq!(&text[span.start as usize..span.end as usize], at, "{text}");
        }
    }

    #[test]
    fn given_options_win_over_those_of_a_file() {
        let (file, _) = read("// options: --dialect getafix -D N=3 -D M=4 --data-model ilp32\n");
        let defines = vec![("N".to_string(), "7".to_string())];
        let given = LoadOptions { dialect: Some(Dialect::Selvedge), defines, ..LoadOptions::default() };
        let (options, taken) = given.or_file(&file);
        assert_eq!(options.dialect, Some(Dialect::Selvedge));
        assert_eq!(taken, ["--data-model ilp32", "-D M=4"]);
        assert_eq!(options.defines.len(), 2);
    }
}
