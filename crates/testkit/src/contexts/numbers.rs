//! Threads with machine integers that take turns as one thread: engines for one thread, and the choice without
//! `--engine`, compared with a search in turns.
//!
//! Every second program starts its threads, so that slots and their mailboxes have variables of all types.

use std::time::Duration;

use selvedge_check::{
    Bound, CancelToken, ContextBound, Limits, Outcome, Question, Reason, Run, Solvers, Stop, Subject,
};
use selvedge_driver::{Options, check};
use selvedge_engines::EngineKind;
use selvedge_ir::span::SourceMap;
use selvedge_ir::validate::validate;
use selvedge_ir::{Count, Edge, Entry, Expr, Loc, Op, Proc, ProcId, Program, Spawn, VarId, text};
use selvedge_replay::Interpreter;

use super::{check_verdict, contexts_of, search::search};
use crate::harness::{COMPARISONS, Campaign, Fault, Tally, fault};
use crate::machine;
use crate::oracle::Budget;
use crate::rng::Rng;

/// The comparison.
pub struct NumbersInTurns {
    /// The solvers of the machine.
    pub solvers: Solvers,
}

/// The greatest number of contexts per thread.
const LAST: u32 = 3;

/// The bound on threads: as many as the programs have.
const THREADS: u32 = 3;

/// The time limit of an engine.
const PATIENCE: Duration = Duration::from_secs(2);

/// The memory of an engine.
const MEMORY: u64 = 200_000_000;

/// The limit on the states of the search in turns.
const BUDGET: Budget = Budget::states(4_000);

impl Campaign for NumbersInTurns {
    type Subject = String;

    fn subject(&self, seed: u64, number: u64) -> String {
        let plain = machine::program(&mut Rng::for_item(seed, number));
        match number % 2 {
            0 => plain,
            _ => text::print(&started(text::parse(&plain).expect("generated programs are well-formed"))),
        }
    }

    fn compare(&self, text: &String, number: u64, tally: &mut Tally) -> Result<(), Fault> {
        let program = text::parse(text).or_else(|error| fault("read", error.to_string()))?;
        if let Err(invalid) = validate(&program) {
            return fault("valid", invalid.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "));
        }
        self.compare_program(&program, number, tally)
    }

    fn shrink(&self, text: String, fails: &mut dyn FnMut(&String) -> bool) -> String {
        machine::smaller(text, fails)
    }

    fn show(&self, text: &String) -> String {
        text.clone()
    }
}

/// Returns the program with a first thread that starts all others, and one that runs a procedure with a parameter.
fn started(mut program: Program) -> Program {
    let main = ProcId::from_usize(program.procs.len());
    let mut spawns: Vec<Spawn> = Vec::new();
    for entry in &program.entries {
        let Count::Exactly(count) = entry.count else { continue };
        spawns.extend((0..count).map(|_| Spawn { callee: entry.proc, args: Vec::new() }));
    }
    let helper = program.procs.iter_enumerated().find(|(_, proc)| !proc.params.is_empty());
    spawns.extend(helper.map(|(callee, proc)| {
        let arg = |param: &VarId| Expr::default_of(program.vars[*param].ty);
        Spawn { callee, args: proc.params.iter().map(arg).collect() }
    }));
    let entry = program.locs.push(Loc { proc: main });
    let mut at = entry;
    for spawn in spawns {
        let next = program.locs.push(Loc { proc: main });
        program.edges.push(Edge::new(at, next, Op::Spawn(spawn)));
        at = next;
    }
    let exit = program.locs.push(Loc { proc: main });
    program.edges.push(Edge::new(at, exit, Op::Return(Vec::new())));
    let (params, locals, results) = (Vec::new(), Vec::new(), Vec::new());
    program.procs.push(Proc { name: "main".to_string(), params, locals, results, entry, exit });
    let name = "main".to_string();
    let (thread_vars, init) = (Vec::new(), Vec::new());
    program.entries = [Entry { name, proc: main, count: Count::Exactly(1), thread_vars, init }].into_iter().collect();
    program
}

/// The engines that are compared; `None` is the choice without `--engine`.
fn engines(number: u64) -> Vec<Option<EngineKind>> {
    use EngineKind::{Bmc, Horn, Induction, Invariants, Sat, Summaries};
    let others = [Invariants, Horn, Sat, Induction, Summaries];
    vec![Some(Bmc), Some(others[(number / 2) as usize % others.len()]), None]
}

impl NumbersInTurns {
    fn compare_program(&self, program: &Program, number: u64, tally: &mut Tally) -> Result<(), Fault> {
        let map = SourceMap::without_positions(program);
        let subject = Subject { program, map: &map, text: "" };
        let question = Question { threads: Some(THREADS), ..Question::default() };
        let (asked, target, threads) =
            question.pose(subject).or_else(|invalid| fault("question", invalid.message.clone()))?;
        let task = selvedge_check::Task { program: &asked, target: &target, threads };
        // Programs whose values cannot be listed must not be searched at all.
        let is_known = Interpreter::new(&asked, threads).enumerable().is_ok();
        let Some(oracle) = is_known.then(|| search(&task, LAST, BUDGET)).flatten() else {
            tally.count("open");
            return Ok(());
        };
        tally.count(if oracle.error.is_some() { "unsafe" } else { "safe" });
        let starts = program.starts_threads();
        for engine in engines(number) {
            let k = 1 + (number / 10 % u64::from(LAST)) as u32;
            let mut options =
                Options { engine: engine.map(EngineKind::row), question: question.clone(), ..Options::default() };
            options.engine_options.contexts.bound = Some(ContextBound::exactly(k));
            let limits = Limits { time: Some(PATIENCE), memory: Some(MEMORY), ..Limits::default() };
            let run = Run::new(CancelToken::default(), limits, &()).with_solvers(self.solvers.clone());
            let name = engine.map_or("auto", EngineKind::name);
            let answer = check(subject, &options, &run).or_else(|failure| fault(name, failure.to_string()))?;
            let proved = answer.explanation.contexts.as_ref().and_then(|contexts| contexts.proved);
            match answer.outcome {
                Outcome::Safe(_) if engine.is_some() => return fault(name, "says safe, which it cannot know"),
                Outcome::Safe(_) => check_verdict(name, false, &oracle, k)?,
                Outcome::Unsafe(_) if engine.is_none() && !oracle.has_error(k) => tally.count("beyond"),
                Outcome::Unsafe(found) => {
                    check_verdict(name, true, &oracle, k)?;
                    let needed = contexts_of(&task, &found.trace);
                    if needed > k && !starts && engine.is_some() {
                        return fault(name, format!("an execution of {needed} contexts within {k}"));
                    }
                    tally.count(format!("{name}: unsafe"));
                }
                Outcome::Unknown(Reason::Stop(Stop::BoundReached(Bound::Contexts(last)))) if last == k => {
                    check_verdict(name, false, &oracle, k)?;
                    tally.count(format!("{name}: {}", if proved == Some(k) { "proved" } else { "nothing" }));
                }
                Outcome::Unknown(_) => {
                    tally.count("undecided");
                    continue;
                }
            }
            tally.count(COMPARISONS);
        }
        Ok(())
    }
}
