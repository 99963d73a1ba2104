//! What the points-to analysis says, and what the interpreter sees: each pointer that is followed in a run of a program
//! leads to an object and an offset that the analysis names.
//!
//! The programs are lowered so that each pointer may lead to every part of the right shape, whatever the analysis says:
//! nothing that it has missed is cut off. They have no undefined behaviour.

use selvedge_check::execution::State;
use selvedge_check::{Run, Target, Task, ThreadScope};
use selvedge_driver::simulate;
use selvedge_frontend::LoadOptions;
use selvedge_frontend::c::{PointerUse, observe};
use selvedge_ir::eval::eval;
use selvedge_ir::span::SourceMap;
use selvedge_ir::trace::ThreadId;
use selvedge_ir::{Expr, Program, Scope, Value, VarId};

use super::{concurrent, program, sequential, threads};
use crate::harness::{COMPARISONS, Campaign, Fault, Tally, fault};
use crate::rng::Rng;

/// The number of steps of a run.
const STEPS: usize = 4_000;

/// The number of runs of each program.
const RUNS: u64 = 4;

/// The comparison of the points-to analysis with runs. A subject is the text of a program.
pub struct Pointers;

impl Campaign for Pointers {
    type Subject = String;

    fn subject(&self, seed: u64, number: u64) -> String {
        let rng = &mut Rng::for_item(seed, number);
        match number % 2 {
            0 => sequential::ours(&program::program(rng)),
            _ => threads::ours(&concurrent::with_pointers(rng), "assert", ""),
        }
    }

    fn compare(&self, text: &String, number: u64, tally: &mut Tally) -> Result<(), Fault> {
        watch(text, &LoadOptions::default(), number, tally).map(drop)
    }

    fn shrink(&self, text: String, fails: &mut dyn FnMut(&String) -> bool) -> String {
        let lines: Vec<String> = text.lines().map(str::to_owned).collect();
        sequential::shrink_lines(lines, |lines| fails(&lines.join("\n"))).join("\n")
    }

    fn show(&self, text: &String) -> String {
        text.clone()
    }
}

/// Runs a program a few times and checks where its pointers lead. Returns its uses of pointers; `None` if it is not
/// supported.
pub fn watch(
    text: &str,
    options: &LoadOptions,
    seed: u64,
    tally: &mut Tally,
) -> Result<Option<Vec<PointerUse>>, Fault> {
    let (loaded, uses) = observe(text, options);
    let Some(program) = loaded.program else {
        tally.count("refused");
        return Ok(None);
    };
    tally.count("programs");
    let watcher = Watcher { program: &program, map: &loaded.source_map, uses: &uses };
    let target = Target::all_asserts(&program);
    let threads = ThreadScope::AtMost(loaded.threads.unwrap_or(4));
    for run in 0..RUNS {
        let task = Task { program: &program, target: &target, threads };
        let Ok(run) = simulate(&task, seed * RUNS + run, STEPS, &Run::unlimited()) else {
            return fault("run", "it has no limits");
        };
        let before = std::iter::once(&run.start).chain(&run.states);
        for (step, before) in run.trace.steps.iter().zip(before) {
            let Ok(number) = uses.binary_search_by_key(&step.edge, |used| used.edge) else { continue };
            watcher.check(number, before, step.thread, tally)?;
        }
    }
    Ok(Some(uses))
}

struct Watcher<'p> {
    program: &'p Program,
    map: &'p SourceMap,
    uses: &'p [PointerUse],
}

impl Watcher<'_> {
    fn check(&self, number: usize, state: &State, thread: ThreadId, tally: &mut Tally) -> Result<(), Fault> {
        let used = &self.uses[number];
        let Some(Value::Machine(_, address)) = self.value(&used.address, state, thread) else {
            return fault("value", "a pointer has no value");
        };
        if used.expected.contains(&address) {
            tally.count("observed");
            tally.count(COMPARISONS);
            return Ok(());
        }
        match self.map.addresses.get(&address) {
            Some(name) => {
                let line = self.map.edges[used.edge].span;
                fault("target", format!("the pointer used at {line:?} leads to {name}"))
            }
            None => {
                tally.count("nowhere");
                Ok(())
            }
        }
    }

    fn value(&self, expr: &Expr, state: &State, thread: ThreadId) -> Option<Value> {
        let thread = state.threads.iter().find(|known| known.id == thread)?;
        let frame = thread.stack.last()?;
        let leaf = |leaf: &Expr| {
            let value = leaf.var().and_then(|var| {
                let (values, at) = match self.program.vars[var].scope {
                    Scope::Shared => (&state.shared, self.place(var)),
                    Scope::Thread => (&thread.vars, self.place(var)),
                    Scope::Local(proc) => {
                        (&frame.locals, self.program.procs[proc].locals.iter().position(|local| *local == var)?)
                    }
                };
                values.get(at).copied()
            });
            value.expect("an address is computed from variables of the state")
        };
        eval(expr, &leaf).ok()
    }

    /// Returns the place of a variable among those of its kind.
    fn place(&self, var: VarId) -> usize {
        let scope = self.program.vars[var].scope;
        self.program.vars.iter().take(var.index()).filter(|other| other.scope == scope).count()
    }
}
