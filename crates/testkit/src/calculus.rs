//! The equations of `calculus/` on generated programs: they agree with the engines.
//!
//! A third of the programs each: one thread, with recursion, for the three forms of sequential reachability; two threads that
//! take turns; templates of which there are any number of threads, in two rounds.

use std::panic::{AssertUnwindSafe, catch_unwind};

use selvedge_check::{ContextBound, RoundBound, Run, Stop, Task, ThreadScope, Verdict};
use selvedge_driver::{Pass, simplify};
use selvedge_engines::calculus::{Telling, solve, supports};
use selvedge_engines::{EngineKind, EngineOptions, build};
use selvedge_frontend::fp;
use selvedge_ir::fp::Fixpoint;
use selvedge_ir::{Count, Program};

use crate::corpus::root;
use crate::differ::{Fault, fault, panic_message, pose};
use crate::engines::{Compared, Comparison};
use crate::generate::{Weights, generate_with};
use crate::model::Model;
use crate::oracle::Budget;
use crate::rng::Rng;

/// The comparison of equations with engines.
pub const EQUATIONS: Comparison = Comparison { item, compare };

/// The equations about one thread.
pub const SEQUENTIAL: [&str; 3] = ["summaries", "entry-forward", "entry-forward-split"];

/// The program with this number.
pub fn item(seed: u64, number: u64) -> Model {
    let [(_, named), ..] = Weights::in_turns();
    let [_, (_, flat), _, (_, sections)] = Weights::in_rounds();
    let mut turns = named;
    turns.chances.recursion = 0;
    let weights = match number % 6 {
        0 | 3 => Weights::recursive(),
        1 | 4 => turns,
        2 => flat,
        _ => sections,
    };
    generate_with(&mut Rng::for_item(seed, number), &weights)
}

/// A file of `calculus/`.
pub fn equations(name: &str) -> Fixpoint {
    let path = root().join("calculus").join(format!("{name}.fp"));
    let text = std::fs::read_to_string(&path).expect("the equations are part of the project");
    let loaded = fp::load(&text);
    loaded.fixpoint.unwrap_or_else(|| panic!("{}: {:?}", path.display(), loaded.diagnostics))
}

fn compare(model: &Model, number: u64, budget: Budget) -> Result<Compared, Fault> {
    let unwound = catch_unwind(AssertUnwindSafe(|| compare_model(model, number, budget)));
    unwound.unwrap_or_else(|payload| fault("panic", panic_message(&*payload)))
}

fn compare_model(model: &Model, number: u64, _: Budget) -> Result<Compared, Fault> {
    let posed = pose(model)?;
    let mut options = EngineOptions::default();
    options.contexts.bound = Some(ContextBound::exactly(2));
    options.rounds.bound = Some(RoundBound::exactly(2));
    let (kind, files): (_, &[&str]) = match number % 3 {
        0 => (EngineKind::Summaries, &SEQUENTIAL),
        1 => (EngineKind::Contexts, &["contexts"]),
        _ => (EngineKind::Rounds, &["rounds"]),
    };
    let program = if number % 3 == 2 { any_number(&posed.asked) } else { posed.asked.clone() };
    let task = Task { program: &program, target: &posed.target, threads: ThreadScope::Unbounded };
    let inlined = simplify(&task, if number.is_multiple_of(3) { &[] } else { &[Pass::Inline] });
    let small = inlined.task(task.threads);
    let engine = build(kind, &options);
    let mut compared = Compared::default();
    if engine.supports(&small).is_err() {
        compared.open += 1;
        return Ok(compared);
    }
    let is_unsafe = match engine.check(&small, &Run::unlimited()) {
        Ok(Verdict::Unsafe(_)) => true,
        Ok(Verdict::Safe(_)) | Err(Stop::BoundReached(_)) => false,
        Err(stop) => return fault(kind.name(), stop.to_string()),
    };
    for file in files {
        let fixpoint = equations(file);
        if supports(&fixpoint, small.program).is_err() {
            compared.open += 1;
            return Ok(compared);
        }
        let telling = if number.is_multiple_of(2) { Telling::End } else { Telling::Rounds };
        let solved = solve(&fixpoint, small.program, small.target, telling, &Run::unlimited());
        let solved = solved.or_else(|stop| fault(*file, stop.to_string()))?;
        compared.sets += 1;
        if solved.error != is_unsafe {
            return fault(*file, format!("Error() is {}, but `{}` says {is_unsafe}", solved.error, kind.name()));
        }
    }
    if is_unsafe {
        compared.unsafe_ += 1;
    } else {
        compared.safe += 1;
    }
    Ok(compared)
}

/// The program with any number of threads of each kind.
fn any_number(program: &Program) -> Program {
    let mut program = program.clone();
    for entry in &mut program.entries {
        entry.count = Count::Any;
    }
    program
}
