//! Every path through the checker: one program, one answer.
//!
//! For a model in order: the reader accepts its text; the lowered program is valid and survives its textual form; the
//! oracle's trace replays; the naive lowering agrees; after each pass, and after a few passes in a random order, the
//! oracle agrees and its trace, lifted, replays on the input; the driver agrees; a rewrite that keeps the meaning
//! keeps the answer. The first disagreement is the [`Fault`].

use selvedge_check::{Outcome, Question, Reason, Run, Subject, Task, ThreadScope, Verdict};
use selvedge_driver::{Failure, Options, Pass};
use selvedge_engines::EngineKind;
use selvedge_ir::passes::{Lift, Passed};
use selvedge_ir::span::SourceMap;
use selvedge_ir::validate::{validate, validate_target};
use selvedge_ir::{Program, Target, text};
use selvedge_replay::judge;

use crate::generate::{Weights, generate_in_turn};
use crate::harness::{CERTIFICATES, COMPARISONS, Comparison, Fault, Tally, fault};
use crate::lower::lower;
use crate::metamorph::{self, REWRITES};
use crate::model::Model;
use crate::oracle::{Answer, Budget, ask, within};
use crate::rng::Rng;

/// A pass with its name.
pub type NamedPass<'p> = (&'p str, &'p dyn Fn(&Program, &Target) -> Passed);

/// A program that was read, with the question about it.
pub struct Posed {
    /// The program as the user wrote it.
    pub program: Program,
    /// The positions of its parts.
    pub map: SourceMap,
    /// Its text.
    pub text: String,
    /// The program with the initial threads of the question.
    pub asked: Program,
    /// The errors of the question.
    pub target: Target,
    /// The bound on threads.
    pub threads: ThreadScope,
}

impl Posed {
    /// Returns the question.
    pub fn task(&self) -> Task<'_> {
        Task { program: &self.asked, target: &self.target, threads: self.threads }
    }

    /// Returns the input of the driver.
    pub fn subject(&self) -> Subject<'_> {
        Subject { program: &self.program, map: &self.map, text: &self.text }
    }
}

/// Reads the text of a model, which must have no errors, and poses its question.
pub fn pose(model: &Model) -> Result<Posed, Fault> {
    pose_text(model.to_string(), &model.question)
}

/// Reads a Boolean program, which must have no errors, and poses a question about it.
pub fn pose_text(text: String, question: &Question) -> Result<Posed, Fault> {
    let loaded = selvedge_frontend::bp::load(&text, &selvedge_frontend::bp::LoadOptions::default());
    let Some(program) = loaded.program else {
        let errors = loaded.diagnostics.iter().filter(|diagnostic| diagnostic.is_error());
        let messages: Vec<&str> = errors.map(|diagnostic| diagnostic.message.as_str()).collect();
        return fault("reader", messages.join("; "));
    };
    let map = loaded.source_map;
    match question.pose(Subject { program: &program, map: &map, text: &text }) {
        Ok((asked, target, threads)) => Ok(Posed { program, map, text, asked, target, threads }),
        Err(usage) => fault("question", usage.message),
    }
}

/// The comparison of all paths through the checker.
pub const ALL_WAYS: Comparison = Comparison::new(item, compare);

/// Generates the program with a number: the presets take turns.
pub fn item(seed: u64, number: u64) -> Model {
    generate_in_turn(&Weights::presets(), seed, number)
}

fn compare(model: &Model, number: u64, budget: Budget, tally: &mut Tally) -> Result<(), Fault> {
    let answer = compare_ways(model, &mut Rng::new(number), budget, tally)?;
    tally.count(match answer {
        Answer::Safe => "safe",
        Answer::Unsafe(_) => "unsafe",
        Answer::Deep => "deep",
        Answer::Large => "skipped",
    });
    Ok(())
}

fn compare_ways(model: &Model, rng: &mut Rng, budget: Budget, tally: &mut Tally) -> Result<Answer, Fault> {
    let posed = pose(model)?;
    let task = posed.task();
    check_valid("reader", &task)?;
    check_text(&task)?;
    let answer = ask(&task, budget);
    check_trace("oracle", &task, &answer)?;
    if answer == Answer::Large {
        return Ok(answer);
    }
    compare_twin(model, &answer, budget)?;
    let runs: Vec<_> =
        Pass::ALL.iter().map(|pass| |program: &Program, target: &Target| pass.run(program, target)).collect();
    let passes: Vec<NamedPass> = Pass::ALL.iter().zip(&runs).map(|(pass, run)| (pass.name(), run as _)).collect();
    for pass in &passes {
        compare_passes(&task, &[*pass], &answer, budget)?;
        tally.count(COMPARISONS);
    }
    let several: Vec<NamedPass> = (0..rng.between(2, 6)).filter_map(|_| rng.pick(&passes).copied()).collect();
    compare_passes(&task, &several, &answer, budget)?;
    compare_driver(model, &posed, &answer, budget, tally)?;
    compare_rewritten(model, rng, &answer, budget)?;
    Ok(answer)
}

fn check_valid(stage: &str, task: &Task<'_>) -> Result<(), Fault> {
    let valid = validate(task.program).and_then(|()| validate_target(task.program, task.target));
    valid.or_else(|broken| {
        let rules: Vec<String> = broken.iter().map(ToString::to_string).collect();
        fault(format!("{stage} (valid)"), rules.join("; "))
    })
}

fn check_text(task: &Task<'_>) -> Result<(), Fault> {
    let printed = text::print_with_target(task.program, task.target);
    match text::parse_with_target(&printed) {
        Ok((program, target)) if program == *task.program && target == *task.target => Ok(()),
        Ok(_) => fault("text", "the program changes when printed and read"),
        Err(error) => fault("text", format!("the printed program is not read: {error}")),
    }
}

fn check_trace(stage: &str, task: &Task<'_>, answer: &Answer) -> Result<(), Fault> {
    let Answer::Unsafe(trace) = answer else { return Ok(()) };
    let judged = judge(task, &Verdict::Unsafe(trace.clone()), &Run::unlimited());
    judged.map(drop).or_else(|reject| fault(format!("{stage} (trace)"), reject.to_string()))
}

fn check_answers(stage: &str, expected: &Answer, found: &Answer) -> Result<(), Fault> {
    if expected.contradicts(found) { fault(stage, format!("{expected}, but then {found}")) } else { Ok(()) }
}

/// Compares with the naive lowering.
fn compare_twin(model: &Model, answer: &Answer, budget: Budget) -> Result<(), Fault> {
    let lowered = lower(model);
    let task = Task { program: &lowered.program, target: &lowered.target, threads: lowered.threads };
    check_valid("twin", &task)?;
    check_answers("twin", answer, &ask(&task, budget))
}

/// Compares the answers before and after passes, one after the other, and replays the trace found after them.
pub fn compare_passes(task: &Task<'_>, list: &[NamedPass<'_>], answer: &Answer, budget: Budget) -> Result<(), Fault> {
    let names: Vec<&str> = list.iter().map(|(name, _)| *name).collect();
    let stage = names.join(" ");
    let (mut program, mut target) = (task.program.clone(), task.target.clone());
    let mut lifts: Vec<Lift> = Vec::new();
    for (_, pass) in list {
        let passed = pass(&program, &target);
        (program, target) = (passed.program, passed.target);
        lifts.push(passed.lift);
    }
    let after = Task { program: &program, target: &target, threads: task.threads };
    check_valid(&stage, &after)?;
    let found = ask(&after, budget);
    check_trace(&format!("{stage} (engine)"), &after, &found)?;
    check_answers(&stage, answer, &found)?;
    let Answer::Unsafe(trace) = found else { return Ok(()) };
    let lifted = lifts.iter().rev().fold(trace, |trace, lift| lift.trace(&trace));
    check_trace(&stage, task, &Answer::Unsafe(lifted))
}

/// Compares the whole driver: as the user calls it, and with each engine that supports the program, without passes and
/// with all.
fn compare_driver(
    model: &Model,
    posed: &Posed,
    answer: &Answer,
    budget: Budget,
    tally: &mut Tally,
) -> Result<(), Fault> {
    let mut options = Options { question: model.question.clone(), ..Options::default() };
    options.engine_options.exhaustive.frames = budget.frames;
    options.engine_options.bmc.steps = 25;
    options.engine_options.bmc_threads.bound = 4;
    options.engine_options.induction.bound = 8;
    compare_options(posed, "driver", &options, answer, budget, tally)?;
    for engine in EngineKind::ALL {
        for passes in [Vec::new(), Pass::ALL.to_vec()] {
            let stage = format!("{} after {} passes", engine.name(), passes.len());
            let options = Options { engine: Some(engine.row()), passes: Some(passes), ..options.clone() };
            compare_options(posed, &stage, &options, answer, budget, tally)?;
        }
    }
    Ok(())
}

fn compare_options(
    posed: &Posed,
    stage: &str,
    options: &Options,
    answer: &Answer,
    budget: Budget,
    tally: &mut Tally,
) -> Result<(), Fault> {
    let found = match within(budget, |run| selvedge_driver::check(posed.subject(), options, run)) {
        Ok(report) => match report.outcome {
            Outcome::Safe(certificate) => {
                if certificate.is_some() {
                    tally.count(CERTIFICATES);
                }
                Answer::Safe
            }
            Outcome::Unsafe(counterexample) => Answer::Unsafe(counterexample.trace),
            Outcome::Unknown(Reason::Unsupported(_)) if options.engine.is_some() => return Ok(()),
            Outcome::Unknown(Reason::Unsupported(unsupported)) => return fault(stage, unsupported.reason),
            Outcome::Unknown(_) => Answer::Large,
        },
        Err(Failure::Usage(usage)) => return fault(format!("{stage} (usage)"), usage.message),
        Err(Failure::Internal { message, .. }) => return fault(format!("{stage} (judge)"), message),
        Err(failure) => return fault(stage, failure.to_string()),
    };
    tally.count(if found.is_decided() { COMPARISONS } else { "undecided" });
    check_trace(stage, &posed.task(), &found)?;
    check_answers(stage, answer, &found)
}

fn compare_rewritten(model: &Model, rng: &mut Rng, answer: &Answer, budget: Budget) -> Result<(), Fault> {
    let Some((name, rewrite)) = rng.pick(REWRITES) else { return Ok(()) };
    let Some(rewritten) = metamorph::apply(*rewrite, model, rng) else { return Ok(()) };
    let stage = format!("rewrite: {name}");
    let posed = pose(&rewritten).or_else(|inner| fault(stage.clone(), inner.to_string()))?;
    check_answers(&stage, answer, &ask(&posed.task(), budget))
}
