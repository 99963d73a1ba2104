//! The tools: engines of ours with their switches, and peers.

use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use selvedge_check::{Question, Subject, Task};
use selvedge_driver::external::Spacer;
use selvedge_engines::EngineKind;
use selvedge_export::horn;
use selvedge_frontend::bp::{LoadOptions, load};
use selvedge_frontend::{Context, Source};

use super::measure::verdict;

/// A tool that decides programs in a process of its own.
pub trait Tool {
    /// Returns its name in the results.
    fn name(&self) -> String;

    /// Returns the command that checks a program, which must end by itself around the limit. Preparation (a
    /// translation, say) is done here and does not count. `None` if the tool does not support the program.
    fn command(&self, asked: &Asked<'_>) -> io::Result<Option<Command>>;

    /// Returns options that make other configurations of the tool, each to be added to the command. The best answer
    /// counts.
    fn configurations(&self) -> &'static [&'static str] {
        &[]
    }

    /// Returns the verdict in the output: `safe`, `unsafe`, `time limit`, `memory limit`, or another text, which is not
    /// a verdict.
    fn verdict(&self, output: &str, code: Option<i32>) -> String {
        verdict(output, code)
    }

    /// Returns further information of the output that belongs into the results.
    fn note(&self, _output: &str) -> Option<String> {
        None
    }

    /// Returns the number of stored states, if the tool printed it.
    fn states(&self, _output: &str) -> Option<u64> {
        None
    }
}

/// A question about a program in a file.
#[derive(Clone, Copy)]
pub struct Asked<'a> {
    /// The program.
    pub file: &'a Path,
    /// The question.
    pub question: &'a Question,
    /// The bound on the contexts of each thread, for the engines that need one.
    pub contexts: Option<u32>,
    /// The time for the run.
    pub limit: Duration,
    /// The folder for temporary files.
    pub scratch: &'a Path,
}

impl Asked<'_> {
    /// Returns the limit in whole seconds, at least one.
    pub fn seconds(&self) -> u64 {
        self.limit.as_secs().max(1)
    }
}

/// Returns whether an engine is one of those for several threads, which have switches.
pub fn is_for_threads(engine: EngineKind) -> bool {
    engine.name().starts_with("threads")
}

/// Returns the switches of an engine, one at a time; first none at all.
pub fn switches(engine: Option<EngineKind>) -> Vec<Vec<&'static str>> {
    let mut found = vec![Vec::new()];
    let Some(engine) = engine else { return found };
    if engine == EngineKind::ThreadsExplicit {
        found.extend(["ample", "persistent", "cartesian"].map(|order| vec!["--partial-order", order]));
    }
    if matches!(engine, EngineKind::ThreadsExplicit | EngineKind::Threads) {
        found.push(vec!["--no-compress"]);
    }
    if is_for_threads(engine) {
        found.push(vec!["--no-dead"]);
    }
    found
}

/// An engine of Selvedge.
pub struct Ours {
    /// The program `selvedge`.
    pub selvedge: PathBuf,
    /// The engine; `None`: the portfolio.
    pub engine: Option<EngineKind>,
    /// More options of the command line.
    pub switches: Vec<&'static str>,
    /// Its name in the results, where it differs from the engine's.
    pub name: Option<&'static str>,
}

impl Ours {
    /// Returns the word at the start of the output line that belongs into the results: the winning engine, the number
    /// of threads that suffices, or the numbers of contexts.
    fn result_line(&self) -> Option<&'static str> {
        match self.engine {
            None => Some("engine:"),
            Some(EngineKind::Cutoff) => Some("cutoff:"),
            Some(_) => self.is_bounded().then_some("contexts"),
        }
    }

    fn engine_name(&self) -> &'static str {
        self.engine.map_or("auto", EngineKind::name)
    }

    /// Returns whether the engine needs a bound on contexts.
    fn is_bounded(&self) -> bool {
        matches!(self.engine, Some(EngineKind::Contexts | EngineKind::ContextsEager))
    }
}

impl Tool for Ours {
    fn name(&self) -> String {
        if let Some(name) = self.name {
            return name.to_string();
        }
        let words: Vec<&str> = self.switches.iter().map(|word| word.trim_start_matches('-')).collect();
        let words = words.into_iter().filter(|word| *word != "partial-order");
        std::iter::once(self.engine_name()).chain(words).collect::<Vec<_>>().join(" ")
    }

    fn command(&self, asked: &Asked<'_>) -> io::Result<Option<Command>> {
        if self.is_bounded() != asked.contexts.is_some() {
            return Ok(None);
        }
        let mut command = Command::new(&self.selvedge);
        command.arg("check").args(self.result_line().is_none().then_some("--quiet"));
        command.args(["--engine", self.engine_name()]).args(&self.switches);
        command.args(["--time-limit", &format!("{}s", asked.seconds())]);
        command.args(asked.contexts.into_iter().flat_map(|last| ["--contexts".to_string(), format!("1..{last}")]));
        command.args(selvedge_testkit::print::options(asked.question).split_whitespace()).arg(asked.file);
        Ok(Some(command))
    }

    fn verdict(&self, output: &str, code: Option<i32>) -> String {
        let word = verdict(output, code);
        if self.is_bounded() && word == "unknown" { "no error".to_string() } else { word }
    }

    fn note(&self, output: &str) -> Option<String> {
        let word = self.result_line()?;
        let line = output.lines().find_map(|line| line.trim_start().strip_prefix(word))?;
        let part = match line.split_once("an error within ") {
            Some((_, number)) => number.split(' ').next(),
            None if self.is_bounded() => None,
            None => line.split([',', ';']).next(),
        };
        part.map(|part| part.trim().to_string())
    }
}

impl Tool for Spacer {
    fn name(&self) -> String {
        "spacer".to_string()
    }

    fn command(&self, asked: &Asked<'_>) -> io::Result<Option<Command>> {
        let Some(clauses) = translate(asked, |context, task| horn::render(context, task.target))? else {
            return Ok(None);
        };
        let path = asked.scratch.join("clauses.smt2");
        std::fs::write(&path, clauses)?;
        let mut command = Command::new(self.path());
        command.arg(format!("-T:{}", asked.seconds())).arg(path);
        Ok(Some(command))
    }

    /// Returns the option that switches inlining off: by default, Spacer inlines procedures that are called more than
    /// once, which suits most families, but not a chain of calls.
    fn configurations(&self) -> &'static [&'static str] {
        &["fp.xform.inline_eager=false"]
    }
}

/// Reads the program and translates it with the question; `None` if the translation does not support it, or has no
/// bound on contexts.
pub(super) fn translate(
    asked: &Asked<'_>,
    render: impl FnOnce(Context<'_>, &Task<'_>) -> Result<String, String>,
) -> io::Result<Option<String>> {
    if asked.contexts.is_some() {
        return Ok(None);
    }
    let text = std::fs::read_to_string(asked.file)?;
    let loaded = load(&text, &LoadOptions::default());
    let Some(program) = loaded.program else { return Ok(None) };
    let subject = Subject { program: &program, map: &loaded.source_map, text: &text };
    let Ok((posed, target, threads)) = asked.question.pose(subject) else { return Ok(None) };
    let source = Source::new(asked.file.display().to_string(), text.clone());
    let context = Context { program: &posed, map: &loaded.source_map, source: &source };
    Ok(render(context, &Task { program: &posed, target: &target, threads }).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_engine_is_named_by_its_switches_and_run_with_the_question() {
        let ours = Ours {
            selvedge: PathBuf::from("selvedge"),
            engine: Some(EngineKind::Exhaustive),
            switches: vec!["--partial-order", "ample", "--no-compress"],
            name: None,
        };
        assert_eq!(ours.name(), "exhaustive ample no-compress");
        let question = Question { threads: Some(3), ..Question::default() };
        let limit = Duration::from_millis(10);
        let scratch = Path::new(".");
        let asked = Asked { file: Path::new("x.bp"), question: &question, contexts: None, limit, scratch };
        let command = ours.command(&asked).expect("it needs no files").expect("it takes all programs");
        let words: Vec<String> = command.get_args().map(|word| word.to_string_lossy().into_owned()).collect();
        let expected =
            "check --quiet --engine exhaustive --partial-order ample --no-compress --time-limit 1s --threads 3 x.bp";
        assert_eq!(words.join(" "), expected);
    }

    #[test]
    fn the_number_of_contexts_is_read_off_the_report() {
        let engine = Some(EngineKind::Contexts);
        let ours = Ours { selvedge: PathBuf::from("selvedge"), engine, switches: Vec::new(), name: None };
        let note = ours.note("  contexts  4 at 1; an error within 2 contexts per thread\n");
        assert_eq!(note.as_deref(), Some("2"));
        assert_eq!(ours.note("no error within 2 contexts per thread"), None);
    }
}
