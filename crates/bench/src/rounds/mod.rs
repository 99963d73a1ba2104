//! Any number of threads in rounds: a table like Table 1 of La Torre, Madhusudan and Parlato (2010), with results of
//! `views` and the portfolio on the same programs.

mod classics;
mod drivers;

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use selvedge_check::{CancelToken, Limits, Outcome, Question, Reason, RoundBound, Run, Stop, Subject};
use selvedge_driver::{Options, check};
use selvedge_engines::EngineKind;
use selvedge_engines::contexts::rounds::{self, Adequacy};
use selvedge_frontend::bp::{LoadOptions, load};
use serde::Serialize;

use crate::measure::processor;
use drivers::{DEVICES, Quality};
use selvedge_testkit::rng::Rng;

/// The number of programs for each device and quality.
const PER_KIND: u64 = 8;

/// The rounds of the bounded analysis, as in the paper.
const ROUNDS: u32 = 4;

/// A program of the suite.
#[derive(Clone, Debug)]
pub struct Instance {
    /// The family.
    pub family: String,
    /// Its number in the family.
    pub number: u64,
    /// The text.
    pub text: String,
}

/// Returns all programs: at least 200 with one kernel and any number of drivers, and the classics.
pub fn instances() -> Vec<Instance> {
    let mut all = Vec::new();
    for (device, (name, _)) in DEVICES.iter().enumerate() {
        let qualities = [Quality::Right, Quality::Broken, Quality::Coarse];
        for (number, quality) in (0..PER_KIND).flat_map(|_| qualities).enumerate() {
            let number = number as u64;
            let text = drivers::program(&mut Rng::for_item(device as u64, number), device, quality);
            all.push(Instance { family: (*name).to_string(), number, text });
        }
    }
    for (number, (name, text)) in classics::all().into_iter().enumerate() {
        all.push(Instance { family: name.to_string(), number: number as u64, text });
    }
    all
}

/// The result of one analysis.
#[derive(Clone, Debug, Serialize, PartialEq)]
pub struct Answer {
    /// `safe`, `unsafe`, `no error`, `time-out` or `open`.
    pub verdict: String,
    /// There is a certificate or a trace.
    pub certified: bool,
    /// The number of rounds that suffices, or within which there is an error.
    pub rounds: Option<u32>,
    /// Seconds of processor time.
    pub seconds: f64,
}

/// All results for one program.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// The family.
    pub family: String,
    /// The number in the family.
    pub number: u64,
    /// One kernel and one driver, in any number of rounds.
    pub two_threads: Answer,
    /// Any number of threads in four rounds.
    pub rounds: Answer,
    /// Adequacy of up to three rounds, where four have no error.
    pub adequacy: Option<Answer>,
    /// The engine `views`.
    pub views: Answer,
    /// The portfolio.
    pub auto: Answer,
}

/// Runs all analyses on one program, within this time each.
pub fn measure(instance: &Instance, limit: Duration) -> Row {
    let question = |threads: Option<u32>| Question { threads, ..Question::default() };
    let in_rounds = |adequacy: Adequacy| {
        let mut options = options(question(None), Some(EngineKind::Rounds));
        options.engine_options.rounds =
            rounds::Options { bound: Some(RoundBound { first: 1, last: ROUNDS }), adequacy };
        options
    };
    let ask = |options: &Options| answer(&instance.text, options, limit);
    let rounds = ask(&in_rounds(Adequacy::Skipped));
    let adequacy = (rounds.verdict == "no error").then(|| ask(&in_rounds(Adequacy::Played)));
    Row {
        family: instance.family.clone(),
        number: instance.number,
        two_threads: ask(&options(question(Some(2)), None)),
        rounds,
        adequacy,
        views: ask(&options(question(None), Some(EngineKind::Views))),
        auto: ask(&options(question(None), None)),
    }
}

fn options(question: Question, engine: Option<EngineKind>) -> Options {
    Options { question, engine: engine.map(EngineKind::row), jobs: 2, ..Options::default() }
}

/// Runs something until it has taken this much processor time, which is more reliable than the clock on a busy machine,
/// and returns the time that it took.
fn within<T>(limit: Duration, cancel: &CancelToken, work: impl FnOnce() -> T) -> (T, f64) {
    let used = || processor(std::process::id()).unwrap_or(0.0);
    let (start, is_done) = (used(), AtomicBool::new(false));
    let result = std::thread::scope(|scope| {
        scope.spawn(|| {
            while !is_done.load(Ordering::Relaxed) && used() - start < limit.as_secs_f64() {
                std::thread::sleep(Duration::from_millis(20));
            }
            if !is_done.load(Ordering::Relaxed) {
                cancel.cancel();
            }
        });
        let result = work();
        is_done.store(true, Ordering::Relaxed);
        result
    });
    (result, used() - start)
}

fn answer(text: &str, options: &Options, limit: Duration) -> Answer {
    let loaded = load(text, &LoadOptions::default());
    let program = loaded.program.expect("the programs of the suite read");
    let subject = Subject { program: &program, map: &loaded.source_map, text };
    let cancel = CancelToken::default();
    let run = Run::new(cancel.clone(), Limits::default(), &());
    let (report, seconds) = within(limit, &cancel, || check(subject, options, &run));
    let report = report.expect("the engines and the judge agree");
    let found = report.explanation.rounds.unwrap_or_default();
    let (verdict, certified) = match &report.outcome {
        Outcome::Safe(certificate) => ("safe", certificate.is_some()),
        Outcome::Unsafe(_) => ("unsafe", true),
        Outcome::Unknown(Reason::Stop(Stop::BoundReached(_))) => ("no error", false),
        Outcome::Unknown(Reason::Stop(_)) => ("time-out", false),
        Outcome::Unknown(_) => ("open", false),
    };
    let rounds = found.error.or(found.enough);
    Answer { verdict: verdict.to_string(), certified, rounds, seconds }
}

/// Returns pairs of answers about one program that cannot both be right.
pub fn contradictions(rows: &[Row]) -> Vec<String> {
    let mut wrong = Vec::new();
    for row in rows {
        let answers = [&row.rounds, &row.views, &row.auto].into_iter().chain(&row.adequacy);
        let says = |verdict: &str| answers.clone().any(|answer| answer.verdict == verdict);
        if says("safe") && (says("unsafe") || row.two_threads.verdict == "unsafe") {
            wrong.push(format!("{} {}: both safe and unsafe", row.family, row.number));
        }
    }
    wrong
}

/// Returns the table.
pub fn markdown(rows: &[Row], limit: f64) -> String {
    let mut text = format!(
        "# Any number of threads in rounds\n\nOne kernel and any number of drivers (crates/bench/src/rounds), {limit} \
         s of processor time for each run. The columns are those of Table 1 of La Torre, Madhusudan and Parlato \
         (2010): one kernel and one driver; any number of drivers in four rounds; and, where these have no error, \
         whether up to three rounds are enough, which Eve's victory leaves open. `views` and the portfolio (`auto`) \
         decide without a bound on rounds. In brackets: unsafe in four rounds, but safe with one kernel and one \
         driver.\n\n"
    );
    text.push_str(
        "| family | programs | 2 threads: unsafe | safe | 4 rounds: unsafe | none | time-out | adequacy: proved | Eve \
         wins | time-out | views: decided | auto: decided |\n\
         |---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|\n",
    );
    let mut families: Vec<&str> = rows.iter().map(|row| row.family.as_str()).collect();
    families.sort_unstable();
    families.dedup();
    for family in families {
        let of_family: Vec<&Row> = rows.iter().filter(|row| row.family == family).collect();
        text.push_str(&line(family, &of_family));
    }
    text.push_str(&line("**all**", &rows.iter().collect::<Vec<_>>()));
    text.push_str(&shares(rows));
    text
}

/// Compares the shares of proved programs and of time-outs with those of the paper.
fn shares(rows: &[Row]) -> String {
    let asked: Vec<&Answer> = rows.iter().filter_map(|row| row.adequacy.as_ref()).collect();
    let proved: Vec<&&Answer> = asked.iter().filter(|answer| answer.verdict == "safe").collect();
    let certified = proved.iter().filter(|answer| answer.certified).count();
    let late = rows.iter().filter(|row| row.rounds.verdict == "time-out").count();
    let decided = rows.iter().filter(|row| row.auto.verdict == "safe" || row.auto.verdict == "unsafe").count();
    let percent = |part: usize, whole: usize| 100.0 * part as f64 / whole.max(1) as f64;
    format!(
        "\nWithout error in four rounds: {}, of which {} ({:.0} %) are proved by the game (the paper: 1309 of 1624, 81 \
         %), {certified} of them with a certificate of the game. Time-outs of the four rounds: {late} of {} ({:.1} %; \
         the paper: 2829 of 8215, 34 %). The portfolio decides {decided} ({:.1} %).\n",
        asked.len(),
        proved.len(),
        percent(proved.len(), asked.len()),
        rows.len(),
        percent(late, rows.len()),
        percent(decided, rows.len()),
    )
}

fn line(name: &str, rows: &[&Row]) -> String {
    let count = |is: &dyn Fn(&Row) -> bool| rows.iter().filter(|row| is(row)).count();
    let decided = |answer: &Answer| answer.verdict == "safe" || answer.verdict == "unsafe";
    let [two_unsafe, two_safe] = ["unsafe", "safe"].map(|verdict| count(&|row| row.two_threads.verdict == verdict));
    let [found, none, late] =
        ["unsafe", "no error", "time-out"].map(|verdict| count(&|row| row.rounds.verdict == verdict));
    let only = count(&|row| row.rounds.verdict == "unsafe" && row.two_threads.verdict == "safe");
    let [proved, open, stopped] = ["safe", "no error", "time-out"]
        .map(|verdict| count(&|row| row.adequacy.as_ref().is_some_and(|answer| answer.verdict == verdict)));
    let (views, auto, n_rows) = (count(&|row| decided(&row.views)), count(&|row| decided(&row.auto)), rows.len());
    format!(
        "| {name} | {n_rows} | {two_unsafe} | {two_safe} | {found} (+{only}) | {none} | {late} | {proved} | {open} | \
         {stopped} | {views} | {auto} |\n"
    )
}
