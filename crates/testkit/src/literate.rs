//! Markdown whose code blocks are tests.
//!
//! A block ```` ```bp ```` is a program; words after it are its options (`threads=2`, `initial=2`, `label=L`,
//! `dialect=getafix`) and the expected result (`verdict=safe`, `verdict=unsafe`, `error=SV0012` or a prefix of the
//! code). A block ```` ```reach ```` belongs to the program before it: for each label that it names, it lists all
//! valuations with which a thread is there. A block ```` ```gcl ```` is a program of guarded commands with its verdict
//! or error, which a search over a box must not contradict.

use std::collections::{BTreeMap, BTreeSet};

use crate::corpus;
use crate::engines::values_of;
use crate::integers::{Bounds, Found, search};
use selvedge_check::{Outcome, Question, Run, Subject, Target, Task, ThreadScope};
use selvedge_driver::{Options, check};
use selvedge_engines::exhaustive::{Exhaustive, Exploration, ThreadState};
use selvedge_frontend::Loaded;
use selvedge_frontend::bp::{Dialect, LoadOptions, load};
use selvedge_frontend::gcl;
use selvedge_ir::{LocId, ProcId, Program, Scope, VarId};

/// A program in a text, with its expected result.
#[derive(Clone, Debug, Default)]
pub struct Block {
    /// The line of its fence, from 1.
    pub line: usize,
    /// It consists of guarded commands.
    pub is_gcl: bool,
    /// The words after `bp`.
    pub words: BTreeMap<String, String>,
    /// The program.
    pub program: String,
    /// The lines of its `reach` block.
    pub reach: Vec<String>,
}

/// Returns the programs of a text, in order.
pub fn blocks(markdown: &str) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    let mut lines = markdown.lines().enumerate();
    while let Some((number, line)) = lines.next() {
        let Some(info) = line.strip_prefix("```").filter(|info| !info.is_empty()) else { continue };
        let body: Vec<&str> = lines.by_ref().map(|(_, line)| line).take_while(|line| *line != "```").collect();
        let mut words = info.split_whitespace();
        match (words.next(), blocks.last_mut()) {
            (Some(language @ ("bp" | "gcl")), _) => {
                let words = words.map(|word| word.split_once('=').unwrap_or((word, "")));
                let words = words.map(|(key, value)| (key.to_string(), value.to_string())).collect();
                let is_gcl = language == "gcl";
                let program = body.join("\n") + "\n";
                blocks.push(Block { line: number + 1, is_gcl, words, program, reach: Vec::new() });
            }
            (Some("reach"), Some(block)) => block.reach.extend(body.into_iter().map(str::to_string)),
            _ => {}
        }
    }
    blocks
}

/// Runs a block. An error says what is wrong.
pub fn run(block: &Block) -> Result<(), String> {
    let text = &block.program;
    let loaded = if block.is_gcl { gcl::load(text) } else { load(text, &load_options(block)?) };
    let mut errors = loaded.diagnostics.iter().filter(|finding| finding.is_error());
    if let Some(code) = block.words.get("error") {
        let found = errors.any(|finding| finding.code.as_str().starts_with(code));
        return if found { Ok(()) } else { Err(format!("no error {code}…")) };
    }
    let Some(program) = &loaded.program else {
        return Err(errors.map(|finding| finding.message.as_str()).collect::<Vec<_>>().join("; "));
    };
    if let Some(expected) = block.words.get("verdict") {
        let found = if block.is_gcl { boxed_verdict(program) } else { verdict(block, &loaded, program)? };
        if found != expected {
            return Err(format!("the verdict is {found}"));
        }
    }
    if block.reach.is_empty() { Ok(()) } else { reach(block, &loaded, program) }
}

fn load_options(block: &Block) -> Result<LoadOptions, String> {
    let named = |name: &String| Dialect::named(name).ok_or_else(|| format!("there is no dialect `{name}`"));
    let dialect = block.words.get("dialect").map(named).transpose()?;
    Ok(LoadOptions { dialect, ..LoadOptions::default() })
}

/// Returns the verdict of the search over a box, for guarded commands: perhaps no engine supports the program.
fn boxed_verdict(program: &Program) -> &'static str {
    match search(program, &Target::all_asserts(program), Bounds::default()) {
        Found::Error(_) => "unsafe",
        Found::None { .. } => "safe",
    }
}

/// Returns whether the block states anything that can fail.
pub fn states_something(block: &Block) -> bool {
    !block.reach.is_empty() || block.words.contains_key("verdict") || block.words.contains_key("error")
}

fn question(block: &Block) -> Result<Question, String> {
    let option = |key| Some(format!("--{key} {}", block.words.get(key)?));
    let deadlock = block.words.get("deadlock").map(|_| "--deadlock".to_string());
    let options = ["threads", "initial", "label"].into_iter().filter_map(option).chain(deadlock);
    corpus::question(&options.collect::<Vec<_>>().join(" "))
}

fn verdict(block: &Block, loaded: &Loaded, program: &Program) -> Result<&'static str, String> {
    let subject = Subject { program, map: &loaded.source_map, text: &block.program };
    let options = Options { question: question(block)?, ..Options::default() };
    match check(subject, &options, &Run::unlimited()) {
        Ok(report) => match report.outcome {
            Outcome::Safe(_) => Ok("safe"),
            Outcome::Unsafe(_) => Ok("unsafe"),
            Outcome::Unknown(reason) => Err(format!("unknown: {reason:?}")),
        },
        Err(failure) => Err(format!("{failure:?}")),
    }
}

fn reach(block: &Block, loaded: &Loaded, program: &Program) -> Result<(), String> {
    let subject = Subject { program, map: &loaded.source_map, text: &block.program };
    let posed = Question { label: None, ..question(block)? }.pose(subject);
    let (program, target, threads) = posed.map_err(|error| error.message)?;
    let threads = if threads == ThreadScope::Unbounded { ThreadScope::AtMost(1) } else { threads };
    let task = Task { program: &program, target: &target, threads };
    let seen = Exhaustive::default().explore(&task, &Run::unlimited()).map_err(|stop| stop.to_string())?;
    if seen.truncated {
        return Err("the search reached its bound on frames".to_string());
    }
    let asserts = Target::all_asserts(&program);
    let mut expected: BTreeMap<&str, BTreeSet<Valuation>> = BTreeMap::new();
    for line in block.reach.iter().map(|line| line.trim()).filter(|line| !line.is_empty()) {
        let (label, facts) = line.split_once(':').ok_or_else(|| format!("no label in `{line}`"))?;
        match label.strip_prefix("assert ") {
            Some(label) => assertion(&program, &asserts, &seen, label, facts.trim())?,
            None => {
                let valuations = expected.entry(label).or_default();
                if facts.trim() != "unreachable" {
                    valuations.insert(valuation(facts)?);
                }
            }
        }
    }
    expected.into_iter().try_for_each(|(label, valuations)| compare(&program, &seen, label, &valuations))
}

/// The values of some variables, as words `x=0`.
type Valuation = Vec<String>;

/// Parses `x=0 y=1`; sorts the words.
fn valuation(facts: &str) -> Result<Valuation, String> {
    let mut words: Valuation = facts.split_whitespace().map(str::to_string).collect();
    words.sort();
    match words.iter().find(|word| !word.contains('=')) {
        Some(word) => Err(format!("`{word}` is no value")),
        None => Ok(words),
    }
}

/// Returns the locations with a label.
fn locs(program: &Program, label: &str) -> BTreeSet<LocId> {
    program.labels.iter().filter(|named| named.name == label).map(|named| named.loc).collect()
}

/// Checks that the assertion with this label can fail, or cannot.
fn assertion(program: &Program, asserts: &Target, seen: &Exploration, label: &str, fact: &str) -> Result<(), String> {
    let locs = locs(program, label);
    let mut edges = asserts.asserts.iter().filter(|edge| locs.contains(&program.edges[**edge].from)).peekable();
    if edges.peek().is_none() {
        return Err(format!("no assertion has the label {label}"));
    }
    let fails = edges.any(|edge| seen.failing.contains(edge));
    match (fact, fails) {
        ("fails", true) | ("holds", false) => Ok(()),
        ("fails", false) => Err(format!("assertion {label} cannot fail")),
        ("holds", true) => Err(format!("assertion {label} can fail")),
        _ => Err(format!("`{fact}` is neither `fails` nor `holds`")),
    }
}

/// Checks that the valuations with which a thread is at the label are the expected ones.
fn compare(program: &Program, seen: &Exploration, label: &str, expected: &BTreeSet<Valuation>) -> Result<(), String> {
    let locs = locs(program, label);
    if locs.is_empty() {
        return Err(format!("there is no label {label}"));
    }
    let names: Vec<&str> = expected.first().into_iter().flatten().filter_map(|word| word.split('=').next()).collect();
    let states = seen.thread_states.iter().filter(|state| locs.contains(&state.loc));
    let found: BTreeSet<Valuation> = states.map(|state| project(program, state, &names)).collect::<Result<_, _>>()?;
    if found == *expected {
        return Ok(());
    }
    let [missing, extra] = [expected.difference(&found), found.difference(expected)]
        .map(|valuations| valuations.map(|words| words.join(" ")).collect::<Vec<_>>().join(", "));
    Err(format!("at {label}: not reached: [{missing}]; reached but not listed: [{extra}]"))
}

/// Returns the values of the named variables as the thread sees them.
fn project(program: &Program, state: &ThreadState, names: &[&str]) -> Result<Valuation, String> {
    let proc = program.locs[state.loc].proc;
    let mut visible = values_of(program, state);
    visible.retain(|(var, _)| program.vars[*var].scope != Scope::Thread || has(program, proc, *var));
    let word = |name: &&str| {
        let found = visible.iter().find(|(var, _)| program.vars[*var].name == *name);
        let (_, value) = found.ok_or_else(|| format!("no variable {name} is visible"))?;
        Ok(format!("{name}={}", value.number()))
    };
    names.iter().map(word).collect()
}

/// Returns whether a per-thread variable belongs to the process of a procedure. Procedures outside processes see all of
/// them.
fn has(program: &Program, proc: ProcId, var: VarId) -> bool {
    let Some((process, _)) = program.procs[proc].name.split_once('.') else { return true };
    program.entries.iter().any(|entry| entry.name == process && entry.thread_vars.contains(&var))
}
