//! The result of a check: the verdict with its scope, and the last line.

use std::collections::BTreeSet;
use std::time::Duration;

use selvedge_check::{
    Answer, Certificate, Contexts, CoverClaim, Cutoff, EngineEnd, EngineRun, EveMove, Event, Explanation, Outcome,
    OwnedTask, Paths, Refinement, Rounds, Seen, ShapeProof, Task, ThreadScope,
};
use selvedge_ir::span::Span;
use selvedge_ir::{Count, EdgeId, Entry, LocId, Op, Program, Target};

use super::block::Block;
use super::each;
use super::layout::list;
use super::trace::{Grouping, trace_in};
use crate::annotated_trace::{Context, Execution};
use crate::lanes::processes;
use crate::names::count;
use crate::palette::Palette;
use crate::{Reading, projection};

/// The level of detail of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    /// The changes.
    Changes,
    /// The whole state after each step.
    Full,
}

/// The style of text output.
#[derive(Clone, Copy, Debug)]
pub struct Style {
    pub palette: Palette,
    pub detail: Detail,
    /// The width of lines of traces; [`WIDTH`] where it is not known.
    pub width: usize,
}

/// The width of lines that do not go to a terminal.
pub const WIDTH: usize = 100;

/// Renders the block of an answer about a program, without the last line.
pub fn report(context: Context<'_>, answer: &Answer, reading: Reading<'_>, style: Style) -> String {
    let mut block = Block::of(&context.source.name, answer, headline(answer), &style.palette);
    if let Some(warning) = nothing_checked(context, answer) {
        block.fact("warning", warning);
    }
    if let Some(options) = reading.options_text() {
        block.fact("options", options);
    }
    block.fact("scope", scope(context, &answer.model.task()));
    if answer.each.is_none() {
        block.fact("checked", target(context, &answer.model.target));
    }
    certificate_facts(&mut block, context, answer);
    for (name, fact) in explanation_facts(&answer.explanation) {
        block.fact(name, fact);
    }
    block.fact("engine", format!("{}, {}", answer.engine, times(answer, reading.time)));
    let reached = answer.runs.iter().find(|run| run.engine == answer.engine).and_then(|run| run.far);
    if let (Some(far), Outcome::Unknown(_), 0 | 1) = (reached, &answer.outcome, answer.runs.len()) {
        block.fact("reached", far_text(far));
    }
    let is_news = |run: &&EngineRun| match run.end {
        EngineEnd::Answered => false,
        EngineEnd::Defect(_) => true,
        EngineEnd::Overtaken | EngineEnd::GaveUp(_) => answer.runs.len() > 1,
    };
    for run in answer.runs.iter().filter(is_news) {
        block.fact("also ran", format!("{}, {} ({})", run.engine, seconds(run.time), engine_end(run)));
    }
    let mut text = block.text;
    match (&answer.each, &answer.outcome) {
        (Some(each), _) => text.push_str(&each::table(context, each, style)),
        (None, Outcome::Unsafe(found)) => {
            text.push('\n');
            text.push_str(&trace_in(grouping(answer), context, Execution::of(found), "counterexample", style));
        }
        (None, _) => {}
    }
    if let Some(projection) = &answer.projection {
        text.push('\n');
        text.push_str(&projection::listing(context, projection, &style.palette));
    }
    text
}

/// Returns the headline of an answer that tells more than a verdict.
fn headline(answer: &Answer) -> Option<String> {
    let each = answer.each.as_ref()?;
    let tally = each::tally(each);
    let states = answer.exploration.as_ref().map(|seen| {
        let threads = match seen.n_thread_states(&answer.model.program) {
            Some(number) => many(number, "reachable thread state"),
            None => many(seen.thread_states.len(), "set") + " of reachable thread states",
        };
        let states = many(seen.n_states, if seen.in_sets { "set" } else { "state" });
        format!("{threads}, {states}{}; ", if seen.in_sets { " of states" } else { "" })
    });
    Some(format!("{}{tally}", states.unwrap_or_default()))
}

/// What to do if a solver judged its own proof.
pub const SECOND_SOLVER: &str =
    "with z3 and cvc5 both installed, each judges the proofs of the other; `selvedge doctor` says how";

/// Adds the certificate, or why it was not checked.
fn certificate_facts(block: &mut Block, context: Context<'_>, answer: &Answer) {
    if let Outcome::Safe(Some(certificate)) = &answer.outcome {
        let certifier = answer.certifier.map(|engine| format!(", by {engine}")).unwrap_or_default();
        let checked = seconds(answer.times.judge);
        let judge = answer.own_judge.map(|solver| format!(" by {solver} alone")).unwrap_or_default();
        block.fact("certificate", format!("{}{certifier}, checked{judge} in {checked}", certificate_text(certificate)));
        if answer.own_judge.is_some() {
            block.fact("hint", SECOND_SOLVER);
        }
        let unreachable = unreachable_asserts(&answer.model, certificate);
        if !unreachable.is_empty() {
            block.fact("unreachable", lines_of(context, &unreachable));
        }
    }
    block.unchecked(answer);
}

/// Lists what an engine tells about its search.
fn explanation_facts(explanation: &Explanation) -> Vec<(&'static str, String)> {
    let mut facts = Vec::new();
    facts.extend(explanation.arguments.iter().map(|argument| ("argument", argument.to_string())));
    facts.extend(explanation.cutoff.iter().map(|cutoff| ("cutoff", cutoff_text(cutoff))));
    facts.extend(explanation.contexts.iter().map(|contexts| ("contexts", contexts_text(contexts))));
    facts.extend(explanation.refinement.iter().map(|refinement| ("refinement", refinement_text(refinement))));
    if let Some(rounds) = &explanation.rounds {
        facts.push(("rounds", rounds_text(rounds)));
        let play = if rounds.enough.is_none() { rounds.play.as_slice() } else { &[] };
        let play = play.iter().enumerate();
        facts.extend(play.map(|(number, named)| ("Eve's play", format!("{}. {}", number + 1, eve_text(named)))));
    }
    facts
}

/// Returns how the steps of a trace are grouped. A thread that is started may have a place before others that were
/// there.
fn grouping(answer: &Answer) -> Grouping {
    let is_start = |edge: &selvedge_ir::Edge| matches!(edge.op, Op::Spawn(_) | Op::Fork(_));
    let starts = answer.model.program.edges.iter().any(is_start);
    match &answer.explanation {
        Explanation { rounds: Some(_), .. } => Grouping::Rounds,
        Explanation { contexts: Some(_), .. } if !starts => Grouping::Contexts,
        _ => Grouping::Switches,
    }
}

/// Describes how many threads are enough.
pub(crate) fn cutoff_text(cutoff: &Cutoff) -> String {
    let reached: Vec<String> = cutoff.reached.iter().map(usize::to_string).collect();
    let n_threads = count(cutoff.plateau(), "thread");
    let what = match cutoff.proof {
        Some(proof) => format!("{n_threads}, by {proof}"),
        None => format!("open: no more seen than with {n_threads}"),
    };
    format!("{what}; thread states of 1, 2, .. threads: {}", reached.join(", "))
}

/// Describes the figures of a loop of abstraction and refinement.
fn refinement_text(refinement: &Refinement) -> String {
    format!(
        "{}, {}, {}, {} in {}",
        count(refinement.iterations, "iteration"),
        count(refinement.queries, "prover query"),
        count(refinement.predicates, "predicate"),
        count(refinement.states, "state"),
        count(refinement.abstract_states, "abstract state")
    )
}

/// Describes the results for growing numbers of contexts per thread.
pub(crate) fn contexts_text(contexts: &Contexts) -> String {
    let error = contexts.error.map(|k| format!("an error within {} per thread", count(k as usize, "context")));
    error.into_iter().chain(reached_text(&contexts.reached)).collect::<Vec<_>>().join("; ")
}

/// Lists how many shared states are reached within numbers of contexts or rounds.
fn reached_text(reached: &[(u32, u128)]) -> Option<String> {
    let reached: Vec<String> = reached.iter().map(|(k, n_states)| format!("{n_states} at {k}")).collect();
    (!reached.is_empty()).then(|| format!("reachable shared states: {}", reached.join(", ")))
}

/// A thread that Eve names in the adequacy game.
fn eve_text(named: &EveMove) -> String {
    let ended = if named.ended { ", which has ended" } else { "" };
    let values: Vec<String> =
        named.shared.iter().map(|(name, value)| format!("{name} = {}", u8::from(*value))).collect();
    format!("a thread of {}{ended}; {}", named.template, values.join(", "))
}

/// Describes the results for growing numbers of rounds.
fn rounds_text(rounds: &Rounds) -> String {
    let error = rounds.error.map(|k| format!("an error within {}", count(k as usize, "round")));
    let enough = rounds.enough.map(|k| format!("all states are reached in {}", count(k as usize, "round")));
    let open: Vec<String> = rounds.open.iter().map(u32::to_string).collect();
    let open = (!open.is_empty()).then(|| format!("open whether all states are reached in {}", open.join(", ")));
    error.into_iter().chain(enough).chain(open).chain(reached_text(&rounds.reached)).collect::<Vec<_>>().join("; ")
}

/// Returns what a summary says beside the verdict: the reason where there is none, else the engine and the time.
pub fn remark<M: selvedge_check::Model>(answer: &Answer<M>, load: Duration) -> String {
    let total = seconds(load + answer.times.total());
    answer.outcome.reason().map_or_else(|| format!("{}, {total}", answer.engine), ToString::to_string)
}

/// Describes how an engine's run ended.
pub(crate) fn engine_end(run: &EngineRun) -> String {
    match (&run.end, run.far) {
        (EngineEnd::Answered, _) => "its answer is reported".to_string(),
        (EngineEnd::Overtaken, _) => "stopped: another engine finished first".to_string(),
        (EngineEnd::GaveUp(reason), Some(far)) => format!("{reason}; {}", far_text(far)),
        (EngineEnd::GaveUp(reason), None) => reason.to_string(),
        (EngineEnd::Defect(message), _) => format!("defect: {message}"),
    }
}

/// Describes how far a search is.
pub fn far_text(event: Event) -> String {
    match event {
        Event::Phase(phase) => phase.to_string(),
        Event::Closed(argument) => argument.to_string(),
        Event::Searched { visited, waiting, depth } => {
            let (visited, depth) = (many(visited, "state"), many(depth, "step"));
            format!("{visited} seen, {} of them to be explored, up to {depth} deep", grouped(waiting))
        }
        Event::Diagrams { rounds, waiting, nodes } => {
            let nodes = many(nodes, "node");
            format!("{} done, {} waiting, diagrams of {nodes}", many(rounds, "round"), grouped(waiting))
        }
        Event::ThreadStates { threads, states } => {
            format!("{} explored, with {}", many(threads, "thread"), many(states, "thread state"))
        }
        Event::SharedStates { k, states } => {
            format!("no error in {} per thread, with {states} shared states", many(k as usize, "turn"))
        }
        Event::Views { k, views, waiting } => {
            format!("{} of views of {} met, {} waiting", many(views, "set"), many(k, "thread"), grouped(waiting))
        }
        Event::Unwound { steps, .. } => format!("all executions of up to {} written as formulas", many(steps, "step")),
        Event::Solved { conflicts } => {
            many(usize::try_from(conflicts).unwrap_or(usize::MAX), "conflict") + " met by SAT solvers"
        }
        Event::Refined(refinement) => format!(
            "{} with {}, {}",
            many(refinement.iterations, "abstraction"),
            many(refinement.predicates, "predicate"),
            many(refinement.states, "state")
        ),
    }
}

/// `1 step`, `12,000 steps`.
fn many(number: impl std::fmt::Display, noun: &str) -> String {
    let number = grouped(number);
    format!("{number} {noun}{}", if number == "1" { "" } else { "s" })
}

/// Writes a number with a comma before each group of three digits.
pub fn grouped(number: impl std::fmt::Display) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Describes what an answer speaks of: how many threads, and with which ones a run begins; for guarded commands the
/// processes.
pub fn scope(context: Context<'_>, task: &Task<'_>) -> String {
    let program = task.program;
    if context.is_guarded() {
        return match &processes(context.map, |var| program.vars[var].name.clone())[..] {
            [] => "guarded commands, one at a time".to_string(),
            [only] => format!("one process, {only}"),
            all => format!("{}: {}", count(all.len(), "process"), list(all, 15, WIDTH)),
        };
    }
    let spawns = program.edges.iter().any(|edge| matches!(edge.op, Op::Spawn(_) | Op::Fork(_)));
    let threads = match (task.threads, fixed_threads(program)) {
        (_, Some(1)) if !spawns => "single thread".to_string(),
        (ThreadScope::AtMost(bound), _) => format!("at most {}", count(bound as usize, "thread")),
        (ThreadScope::Created(bound), _) => format!("at most {} in a run", count(bound as usize, "thread")),
        (ThreadScope::Unbounded, Some(n_threads)) if !spawns => format!("the {n_threads} threads of the program"),
        (ThreadScope::Unbounded, _) => "any number of threads".to_string(),
    };
    match &context.map.system {
        None => format!("{threads}; {}", initial_threads(program)),
        Some(system) if system.net.is_some() => threads.replace("thread", "token"),
        Some(_) => format!("{threads}, {}", initial_threads_of_system(program)),
    }
}

/// The number of initial threads, if all runs have the same.
fn fixed_threads(program: &Program) -> Option<u32> {
    let counts = program.entries.iter().map(|entry| match entry.count {
        Count::Exactly(count) => Some(count),
        Count::AtMost(_) | Count::Any => None,
    });
    counts.sum()
}

/// With which threads a run begins.
pub fn initial_threads(program: &Program) -> String {
    let run = |entry: &Entry| {
        let name = &program.procs[entry.proc].name;
        match entry.count {
            Count::Exactly(1) => format!("one initial thread runs {name}"),
            Count::Exactly(count) => format!("{count} initial threads run {name}"),
            Count::AtMost(1) => format!("at most one initial thread runs {name}"),
            Count::AtMost(count) => format!("at most {count} initial threads run {name}"),
            Count::Any => format!("any number of initial threads run {name}"),
        }
    };
    let mut parts: Vec<String> = program.entries.iter().map(run).collect();
    if let Some(prelude) = program.prelude {
        parts.insert(0, format!("{} runs first", program.procs[prelude].name));
    }
    parts.join(", ")
}

/// With how many threads a run of a thread-transition system begins.
fn initial_threads_of_system(program: &Program) -> String {
    let counts = program.entries.iter().map(|entry| match entry.count {
        Count::Exactly(count) => format!("{count} at the start"),
        Count::AtMost(count) => format!("at most {count} at the start"),
        Count::Any => "any number of them at the start".to_string(),
    });
    counts.collect::<Vec<_>>().join(", ")
}

/// Returns a warning if the program has nothing that could be an error, and nothing else was asked for.
pub(crate) fn nothing_checked(context: Context<'_>, answer: &Answer) -> Option<&'static str> {
    let is_nothing = answer.model.target.is_empty() && answer.exploration.is_none();
    let is_c = !context.map.properties.is_empty();
    is_nothing.then_some(if is_c {
        "nothing was checked: the program has no assertions; --property no-data-race,no-overflow,memory asks about \
         other errors, --deadlock whether its threads can get stuck"
    } else {
        "nothing was checked: the program has no assertions and no error labels; --deadlock asks whether its threads \
         can get stuck, --label NAME whether a label can be reached, --reachable for its states"
    })
}

/// The errors that were asked for.
pub fn target(context: Context<'_>, target: &Target) -> String {
    if target.is_empty() {
        return "nothing (the program has no assertions or error labels)".to_string();
    }
    let mut parts = Vec::new();
    let noun = check_noun(context);
    match target.asserts.as_slice() {
        [] => {}
        [assert] => parts.push(format!("the {noun} on line {}", line_of(context, *assert))),
        asserts => parts.push(count(asserts.len(), noun)),
    }
    let labels = asked_labels(context, target);
    parts.extend(labels.iter().map(|label| target_of_system(context, label).unwrap_or(format!("label {label}"))));
    parts.extend(
        target.deadlock.then(|| "deadlock: whether a state can be reached in which no thread can move".to_string()),
    );
    parts
        .extend(target.together.iter().map(|meeting| format!("threads at {} at once", meeting_text(context, meeting))));
    match asked_properties(context) {
        Some(properties) => format!("{properties}: {}", list(&parts, 15, WIDTH)),
        None => list(&parts, 15, WIDTH),
    }
}

/// Returns the target of a system that a label stands for, or their number if there are several.
fn target_of_system(context: Context<'_>, label: &str) -> Option<String> {
    let system = context.map.system.as_ref().filter(|_| label == "ERROR")?;
    let head = context.map.procs.first().copied();
    let spans = system.aside.iter().map(|edge| context.map.edges[*edge].span);
    let spans: BTreeSet<Span> = spans.filter(|span| Some(*span) != head).collect();
    Some(match spans.first() {
        Some(span) if spans.len() == 1 => format!("target {}", context.source.flat(*span)),
        _ => count(spans.len(), "target"),
    })
}

/// Returns the names of the properties that are asked about, if they are not the assertions of the program alone.
fn asked_properties(context: Context<'_>) -> Option<String> {
    let names = &context.map.properties;
    let is_told = names.is_empty() || *names == ["assertions"] || *names == ["deadlock"];
    (!is_told).then(|| names.join(", "))
}

/// Returns the word for an error that is searched for.
fn check_noun(context: Context<'_>) -> &'static str {
    if asked_properties(context).is_some() { "check" } else { "assertion" }
}

/// Lists the labels that are asked for, each once.
pub(crate) fn asked_labels<'a>(context: Context<'a>, target: &Target) -> BTreeSet<&'a str> {
    let labels = context.program.labels.iter().filter(|label| target.has_loc(label.loc));
    labels.map(|label| label.name.as_str()).collect()
}

/// `A and B`, by the first label of each location.
pub(crate) fn meeting_text(context: Context<'_>, meeting: &[LocId]) -> String {
    let name = |loc: &LocId| {
        let label = context.program.labels.iter().find(|label| label.loc == *loc);
        label.map_or(format!("location {}", loc.index()), |label| label.name.clone())
    };
    meeting.iter().map(name).collect::<Vec<_>>().join(" and ")
}

fn line_of(context: Context<'_>, edge: EdgeId) -> usize {
    context.source.line(context.map.edges[edge].span.start as usize)
}

/// Describes a certificate.
pub fn certificate_text(certificate: &Certificate) -> String {
    match certificate {
        Certificate::ControlFlow(_) => "no control path leads to an error".to_string(),
        Certificate::Summaries(_) => "what holds at each location, and how each procedure returns".to_string(),
        Certificate::Induction { k, paths: Paths::All } => format!("k-induction with k = {k}"),
        Certificate::Induction { k, paths: Paths::LoopFree } => format!("k-induction with k = {k}, loop-free paths"),
        Certificate::Shapes(proof) => shapes_text(proof),
        Certificate::Cover(proof) => {
            let states = format!(
                "over {} and {}",
                count(proof.shareds.len(), "shared state"),
                count(proof.locals.len(), "thread state")
            );
            match &proof.claim {
                CoverClaim::Views(table) => format!("a closed table of the views of {} threads {states}", table.k),
                CoverClaim::Vectors(vectors) => {
                    format!("a closed set of {} {states}", count(vectors.len(), "vector"))
                }
                CoverClaim::Basis { within, weights, forbidden } => {
                    let weighted = match weights.len() {
                        0 => String::new(),
                        n => format!(" and {}", count(n, "weighting")),
                    };
                    format!(
                        "a closed table of the views of {} threads{weighted} without {} {states}",
                        within.k,
                        count(forbidden.len(), "forbidden configuration")
                    )
                }
                CoverClaim::Adequacy(claim) => format!(
                    "nothing is new after {}: {} and {} {states}",
                    count(claim.k as usize, "round"),
                    count(claim.turns.len(), "turn"),
                    count(claim.positions.len(), "position")
                ),
            }
        }
        Certificate::AllStates => "all states, which the judge visits itself".to_string(),
        Certificate::Unwound(steps) => {
            format!("no thread makes more than {}", count(*steps as usize, "visible step"))
        }
        Certificate::Integers(proof) => {
            format!("a formula over integers, at {}", count(proof.points.len(), "control point"))
        }
        Certificate::Invariants(proof) => {
            format!("an invariant over machine integers, at {}", count(proof.stated().count(), "place"))
        }
        Certificate::OverBits(proof) => format!("over bits, {}", certificate_text(&proof.certificate)),
        Certificate::OverPredicates(proof) => {
            let predicates = count(proof.stated().count(), "predicate");
            format!("over {predicates}, {}", certificate_text(&proof.certificate))
        }
    }
}

fn shapes_text(proof: &ShapeProof) -> String {
    let places = count(proof.places.len(), "place");
    match proof.seen {
        Seen::Reached => format!("all states that can be reached, found again one by one, over {places}"),
        Seen::All => format!("a closed set of {} of threads over {places}", count(proof.shapes.len(), "shape")),
        Seen::Any(k) => format!(
            "a closed table of {} of {} over {places}",
            count(proof.shapes.len(), "view"),
            count(k as usize, "thread"),
        ),
    }
}

/// The assertions that were asked for and that no execution reaches, as far as the certificate says.
pub(crate) fn unreachable_asserts(task: &OwnedTask, certificate: &Certificate) -> Vec<EdgeId> {
    let is_outside = |edge: &EdgeId| certificate.excludes(task.program.edges[*edge].from);
    task.target.asserts.iter().copied().filter(is_outside).collect()
}

fn lines_of(context: Context<'_>, asserts: &[EdgeId]) -> String {
    let lines: Vec<String> = asserts.iter().map(|edge| line_of(context, *edge).to_string()).collect();
    let noun = if lines.len() == 1 { "the assertion on line" } else { "the assertions on lines" };
    format!("{noun} {}", list(&lines, 15, WIDTH))
}

fn times(answer: &Answer, load: Duration) -> String {
    let times = answer.times;
    let total = seconds(load + times.total());
    format!("{total} (searching {}, judging {})", seconds(times.engine), seconds(times.judge))
}

pub(crate) fn seconds(time: Duration) -> String {
    format!("{:.3} s", time.as_secs_f64())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_grouped_by_three() {
        assert_eq!(grouped(0), "0");
        assert_eq!(grouped(999), "999");
        assert_eq!(grouped(1000), "1,000");
        assert_eq!(grouped(1_234_567), "1,234,567");
    }
}
