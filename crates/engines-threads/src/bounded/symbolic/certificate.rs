//! The reached states as a certificate: for each list of places a formula.
//!
//! A list of pairs means that the threads at one place can be matched to its pairs, in any order. So its formula is
//! symmetric in the threads of a place, and holds for the order in which a certificate lists them. The matching is
//! written thread by thread, with the numbers of threads that each pair still takes: the rest of the formula after a
//! number of threads depends on these numbers only, and is written once.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;
use selvedge_check::formula::{Atom, FormulaId, Node};
use selvedge_check::{self as check, Certificate, Seen, Shape, ShapeProof, Stop};
use selvedge_ir::VarId;
use selvedge_logic::bdd::{Bdd, Var};
use selvedge_transition::formula_writer::{FormulaWriter, Written};
use selvedge_transition::macro_step::place::Place;
use selvedge_transition::step::diagram::layout::{When, Who};

use super::machine::Machine;
use super::search::{Marking, SymbolicSearch};
use super::state::{Pair, places};

impl SymbolicSearch<'_> {
    /// Returns the certificate of a search without errors; `None` if it would be too large.
    pub(super) fn certificate(&self) -> Result<Option<Certificate>, Stop> {
        let all_places = self.machine.listed_places();
        let numbers: FxHashMap<Place, u32> = self.machine.visible_places().into_iter().zip(0..).collect();
        let mut writer = MatchingWriter::new(&self.machine);
        let mut shapes: BTreeMap<(Vec<u32>, u32), FormulaId> = BTreeMap::new();
        for (Marking { ended, pairs }, shared) in &self.reached {
            self.machine.run.tick()?;
            let threads: Vec<u32> = places(pairs).iter().map(|place| numbers[place]).collect();
            let formula = writer.state(pairs, shared);
            let shape = (threads, *ended);
            let all = match shapes.get(&shape) {
                Some(known) => writer.formulas.node(Node::Or(*known, formula)),
                None => formula,
            };
            shapes.insert(shape, all);
            if writer.formulas.is_too_large() {
                return Ok(None);
            }
        }
        let shapes =
            shapes.into_iter().map(|((threads, ended), formula)| Shape::of_all(threads, ended, formula)).collect();
        let formulas = writer.formulas.formulas;
        Ok(Some(Certificate::Shapes(ShapeProof { seen: Seen::All, formulas, places: all_places, shapes })))
    }
}

impl Machine<'_> {
    /// Returns all visible points, each with every role that a thread can have there, and the beginning of the prelude.
    pub(crate) fn visible_places(&self) -> Vec<Place> {
        Place::all(self.program, &self.visible_points)
    }

    /// Returns the same as a certificate lists them.
    pub(crate) fn listed_places(&self) -> Vec<check::Place> {
        self.visible_places().into_iter().map(|place| place.listed(&self.layout)).collect()
    }
}

/// Writes the formulas of lists of pairs.
struct MatchingWriter<'m> {
    machine: &'m Machine<'m>,
    /// The shared variables of the program, by variable of the diagrams.
    shared: FxHashMap<Var, VarId>,
    formulas: FormulaWriter,
    /// The diagrams already written: of shared variables, or of a thread with this number at this place.
    written: FxHashMap<Option<(u32, Place)>, Written>,
}

impl<'m> MatchingWriter<'m> {
    fn new(machine: &'m Machine<'_>) -> MatchingWriter<'m> {
        let layout = &machine.layout;
        let shared = layout.kept_shared().iter().map(|var| (layout.var(*var, Who::Mover, When::Now), *var)).collect();
        MatchingWriter { machine, shared, formulas: FormulaWriter::default(), written: FxHashMap::default() }
    }

    /// Returns the formula of the states with these pairs and shared valuations.
    fn state(&mut self, pairs: &[Pair], shared: &Bdd) -> FormulaId {
        let mut formula = self.diagram(shared, None);
        let mut first = 0;
        for here in pairs.chunk_by(|one, other| one.place == other.place) {
            let counts: Vec<u32> = here.iter().map(|pair| pair.count).collect();
            let rest = self.matched(here, first, counts, &mut FxHashMap::default());
            formula = self.formulas.node(Node::And(formula, rest));
            first += here.iter().map(|pair| pair.count).sum::<u32>();
        }
        formula
    }

    /// Requires that the threads at one place, from this one on, can be matched to the pairs; `left` has the number of
    /// threads that each pair still takes.
    fn matched(
        &mut self,
        pairs: &[Pair],
        thread: u32,
        left: Vec<u32>,
        memo: &mut FxHashMap<Vec<u32>, FormulaId>,
    ) -> FormulaId {
        if let Some(known) = memo.get(&left) {
            return *known;
        }
        let mut any: Option<FormulaId> = None;
        for (number, pair) in pairs.iter().enumerate().filter(|(number, _)| left[*number] > 0) {
            let mut fewer = left.clone();
            fewer[number] -= 1;
            let set = self.machine.sets.get(pair.set).clone();
            let this = self.diagram(&set, Some((thread, pair.place)));
            let rest = self.matched(pairs, thread + 1, fewer, memo);
            let both = self.formulas.node(Node::And(this, rest));
            any = Some(any.map_or(both, |any| self.formulas.node(Node::Or(any, both))));
        }
        let formula = any.unwrap_or_else(|| self.formulas.node(Node::Const(true)));
        memo.insert(left, formula);
        formula
    }

    /// Writes a diagram over the shared variables, or over those of a thread.
    fn diagram(&mut self, set: &Bdd, of: Option<(u32, Place)>) -> FormulaId {
        let (layout, shared) = (&self.machine.layout, &self.shared);
        let atom = |var: Var| match of {
            None => Atom::Now(shared[&var]),
            Some((thread, place)) => {
                let mut kept = layout.kept(place.loc).iter();
                let number = kept.position(|kept| layout.var(*kept, Who::Mover, When::Now) == var);
                Atom::Of { thread, var: number.expect("sets mention kept variables only") as u32 }
            }
        };
        self.formulas.diagram(set, &atom, self.written.entry(of).or_default())
    }
}
