//! The path edges and summaries of a saturated automaton as a certificate.
//!
//! A transition into the entry of a procedure relates the variables at the entry to the current ones; a transition that
//! reads nothing relates them to those at the return. The formula of a location is a decision tree of its tuples, over
//! the variables that are relevant there; equal subtrees are shared.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashMap;
use selvedge_check::formula::{Atom, FormulaId, Formulas, Node as Connective};
use selvedge_check::{Certificate, Stop, SummaryProof};
use selvedge_ir::{LocId, ProcId, VarId};

use super::post::{Control, PostNode, Saturation, StackSymbol, TransitionStart};
use super::system::{ControlState, ProgramSystem, StackFrame};

/// Limit on the transitions of an automaton with a certificate: larger ones would take too long to check.
const MOST_TRANSITIONS: usize = 300_000;

type Automaton<'r, 'a> = Saturation<'r, ProgramSystem<'a>>;

/// Builds the certificate of a saturated automaton without errors.
pub(super) fn certificate(automaton: &Automaton<'_, '_>) -> Result<Option<Certificate>, Stop> {
    if automaton.transitions.len() > MOST_TRANSITIONS {
        return Ok(None);
    }
    let mut rows = FormulaRows { automaton, locs: BTreeMap::new(), procs: BTreeMap::new() };
    for transition in automaton.transitions.keys() {
        automaton.tick()?;
        if let (TransitionStart::Control(control), PostNode::Entry(start, first)) = (transition.from, transition.to) {
            rows.add(control, transition.read, start, first);
        }
    }
    let FormulaRows { locs, procs, .. } = rows;
    let mut writer = TreeWriter { automaton, formulas: Formulas::default(), known: FxHashMap::default() };
    let mut proof = SummaryProof::default();
    for (loc, tuples) in &locs {
        let id = writer.tree(&location_atoms(&automaton.system, *loc), 0, &tuples.iter().collect::<Vec<_>>())?;
        proof.locs.push((*loc, id));
    }
    for (proc, tuples) in &procs {
        let id = writer.tree(&summary_atoms(&automaton.system, *proc), 0, &tuples.iter().collect::<Vec<_>>())?;
        proof.procs.push((*proc, id));
    }
    Ok(Some(Certificate::Summaries(SummaryProof { formulas: writer.formulas, ..proof })))
}

/// The tuples of each location and each summary, in the order of their atoms.
struct FormulaRows<'b, 'r, 'a> {
    automaton: &'b Automaton<'r, 'a>,
    locs: BTreeMap<LocId, BTreeSet<Vec<bool>>>,
    procs: BTreeMap<ProcId, BTreeSet<Vec<bool>>>,
}

impl FormulaRows<'_, '_, '_> {
    fn add(&mut self, control: Control, read: Option<StackSymbol>, start: Control, first: StackSymbol) {
        let system = &self.automaton.system;
        let (ControlState::At(entry), StackFrame::Here(entry_loc, params)) =
            (&system.states[start as usize], &system.frames[first as usize])
        else {
            return;
        };
        let slots = &system.steps.slots;
        let value = |atom: &Atom, globals: &[u64], locals: &[u64], results: &[bool]| match *atom {
            Atom::Now(var) => slots.read(globals, locals, var),
            Atom::Entry(var) => slots.read(entry, params, var),
            Atom::Result(number) => results[number as usize],
            Atom::Of { .. } => unreachable!("a program with one thread has no atoms of others"),
        };
        match (&system.states[control as usize], read.map(|symbol| &system.frames[symbol as usize])) {
            (ControlState::At(globals), Some(StackFrame::Here(loc, locals))) => {
                let atoms = location_atoms(system, *loc);
                let row = atoms.iter().map(|atom| value(atom, globals, locals, &[])).collect();
                self.locs.entry(*loc).or_default().insert(row);
            }
            (ControlState::Back(globals, results), None) => {
                let proc = system.program.locs[*entry_loc].proc;
                let atoms = summary_atoms(system, proc);
                let row = atoms.iter().map(|atom| value(atom, globals, &[], results)).collect();
                self.procs.entry(proc).or_default().insert(row);
            }
            _ => {}
        }
    }
}

/// Returns the atoms of a location's formula: the relevant variables at the entry, and those at the location.
fn location_atoms(system: &ProgramSystem<'_>, loc: LocId) -> Vec<Atom> {
    let proc = system.program.locs[loc].proc;
    let vars = system.steps.slots.shared.iter().chain(&system.program.procs[proc].locals);
    vars.flat_map(|var| [entry_atom(system, proc, *var), now_atom(system, loc, *var)]).flatten().collect()
}

/// Returns the atoms of a procedure's summary.
fn summary_atoms(system: &ProgramSystem<'_>, proc: ProcId) -> Vec<Atom> {
    let this = &system.program.procs[proc];
    let globals = system.steps.slots.shared.iter();
    let globals = globals.flat_map(|var| [entry_atom(system, proc, *var), now_atom(system, this.exit, *var)]);
    let params = this.params.iter().map(|param| entry_atom(system, proc, *param));
    let results = (0..this.results.len() as u32).map(|number| Some(Atom::Result(number)));
    globals.chain(params).chain(results).flatten().collect()
}

fn entry_atom(system: &ProgramSystem<'_>, proc: ProcId, var: VarId) -> Option<Atom> {
    let this = &system.program.procs[proc];
    let is_input = !this.locals.contains(&var) || this.params.contains(&var);
    (is_input && system.steps.keeps(this.entry, var)).then_some(Atom::Entry(var))
}

fn now_atom(system: &ProgramSystem<'_>, loc: LocId, var: VarId) -> Option<Atom> {
    system.steps.keeps(loc, var).then_some(Atom::Now(var))
}

struct TreeWriter<'b, 'r, 'a> {
    automaton: &'b Automaton<'r, 'a>,
    formulas: Formulas,
    known: FxHashMap<Connective, FormulaId>,
}

impl TreeWriter<'_, '_, '_> {
    /// Returns the decision tree of a set of tuples. The rows are sorted and agree on the atoms before `depth`.
    fn tree(&mut self, atoms: &[Atom], depth: usize, rows: &[&Vec<bool>]) -> Result<FormulaId, Stop> {
        self.automaton.tick()?;
        if rows.is_empty() || depth == atoms.len() {
            return Ok(self.node(Connective::Const(!rows.is_empty())));
        }
        let split = rows.partition_point(|row| !row[depth]);
        let low = self.tree(atoms, depth + 1, &rows[..split])?;
        let high = self.tree(atoms, depth + 1, &rows[split..])?;
        if low == high {
            return Ok(low);
        }
        let atom = self.node(Connective::Atom(atoms[depth]));
        Ok(self.node(Connective::Ite(atom, high, low)))
    }

    fn node(&mut self, node: Connective) -> FormulaId {
        if let Some(known) = self.known.get(&node) {
            return *known;
        }
        let id = self.formulas.add(node).expect("parts are written before wholes");
        self.known.insert(node, id);
        id
    }
}
