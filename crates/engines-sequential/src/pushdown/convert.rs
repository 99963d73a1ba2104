//! Translates a program with one thread to an explicit pushdown system.

use selvedge_check::{Run, Stop, Task};
use selvedge_ir::pds::{Config, Head, Pds, Rule, StateId, SymbolId};
use selvedge_ir::{Program, VarId};
use selvedge_transition::step::explicit::values::{Bits, get};

use super::automaton;
use super::post::{RuleSystem as _, StackSymbol, Until, Word};
use super::relevant::Relevant;
use super::system::{ControlState, ProgramSystem, StackFrame};

/// A pushdown system with a legend.
#[derive(Clone, Debug)]
pub struct Converted {
    /// The system.
    pub pds: Pds,
    /// The meanings of its states and symbols, one line each.
    pub legend: Vec<String>,
}

/// Translates the reachable part of a program: all heads that an execution can have, errors or not, and their rules.
/// The targets are those of the task, which must be one that [`Pushdown`](super::Pushdown) supports.
pub fn convert(task: &Task<'_>, run: &Run<'_>) -> Result<Converted, Stop> {
    let mut automaton = automaton(task, &Relevant::new(task.program), run);
    automaton.run(Until::Done)?;
    let system = &automaton.system;
    let mut pds = Pds {
        states: (0..system.states.len()).map(|number| format!("s{number}")).collect(),
        symbols: (0..system.frames.len()).map(|number| symbol_name(system, number)).collect(),
        ..Pds::default()
    };
    pds.initial.push(Config { state: StateId::new(0), stack: vec![SymbolId::new(0)] });
    let mut heads: Vec<_> = automaton.heads().collect();
    heads.sort_unstable();
    heads.dedup();
    for (control, top) in heads {
        run.tick()?;
        for step in automaton.known_moves(control, top) {
            let (from, to) = (StateId::from_raw(control), StateId::from_raw(step.to));
            pds.rules.push(Rule { from, top: SymbolId::from_raw(top), to, push: word(step.push) });
        }
        if system.is_target(control, Some(top)) && !system.is_target(control, None) {
            pds.targets.push(Head { state: StateId::from_raw(control), top: Some(SymbolId::from_raw(top)) });
        }
    }
    let failed = system.states.get_index_of(&ControlState::Failed).map(StateId::new);
    pds.targets.extend(failed.map(|state| Head { state, top: None }));
    dedup(&mut pds);
    Ok(Converted { legend: legend(system), pds })
}

/// Removes duplicate rules: several choices may lead to the same rule.
fn dedup(pds: &mut Pds) {
    let mut seen = rustc_hash::FxHashSet::default();
    pds.rules.retain(|rule| seen.insert(rule.clone()));
}

fn word(push: Word) -> Vec<SymbolId> {
    let symbol = |symbol: StackSymbol| SymbolId::from_raw(symbol);
    match push {
        Word::Pop => Vec::new(),
        Word::Replace(top) => vec![symbol(top)],
        Word::Push(top, below) => vec![symbol(top), symbol(below)],
    }
}

fn symbol_name(system: &ProgramSystem<'_>, number: usize) -> String {
    match &system.frames[number] {
        StackFrame::Boot => "boot".to_string(),
        StackFrame::ThreadStart => "start".to_string(),
        StackFrame::PreludeEnd => "prelude".to_string(),
        StackFrame::Done => "done".to_string(),
        StackFrame::Here(..) => format!("n{number}"),
        StackFrame::Site(..) => format!("c{number}"),
    }
}

fn legend(system: &ProgramSystem<'_>) -> Vec<String> {
    let (program, globals_of) = (system.program, &system.steps.slots.shared);
    let mut lines = Vec::new();
    for (number, state) in system.states.iter().enumerate() {
        let meaning = match state {
            ControlState::Boot => "before the first step".to_string(),
            ControlState::Failed => "an assertion has failed".to_string(),
            ControlState::At(globals) => valuation(program, globals_of, globals),
            ControlState::Back(globals, results) => {
                let results: Vec<&str> = results.iter().map(|value| truth(*value)).collect();
                format!("returning ({}), {}", results.join(", "), valuation(program, globals_of, globals))
            }
        };
        lines.push(format!("s{number}: {meaning}"));
    }
    for (number, frame) in system.frames.iter().enumerate() {
        let (place, loc, locals) = match frame {
            StackFrame::Here(loc, locals) => ("", *loc, locals),
            StackFrame::Site(edge, locals) => ("waiting in ", program.edges[*edge].from, locals),
            _ => continue,
        };
        let proc = &program.procs[program.locs[loc].proc];
        let values = valuation(program, &proc.locals, locals);
        lines.push(format!("{}: {place}{} L{}, {values}", symbol_name(system, number), proc.name, loc.index()));
    }
    lines
}

/// Returns the values of variables, which are in the order of their places.
fn valuation(program: &Program, vars: &[VarId], values: &Bits) -> String {
    let value = |(place, var): (usize, &VarId)| format!("{}={}", program.vars[*var].name, truth(get(values, place)));
    let parts: Vec<String> = vars.iter().enumerate().map(value).collect();
    if parts.is_empty() { "no variables".to_string() } else { parts.join(" ") }
}

fn truth(value: bool) -> &'static str {
    if value { "T" } else { "F" }
}
