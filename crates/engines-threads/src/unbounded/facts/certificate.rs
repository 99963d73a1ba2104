//! The facts as a certificate.

use rustc_hash::{FxHashMap, FxHashSet};
use selvedge_check::formula::{Atom, FormulaId, Node};
use selvedge_check::{Certificate, Place, Seen, Shape, ShapeProof};
use selvedge_ir::{Scope, VarId};
use selvedge_logic::aig::{Aig, Gate, Input, Lit, Translated};
use selvedge_transition::formula_writer::FormulaWriter;

use super::fact::{Fact, Relation, Slot};
use super::search::{Key, Search};

impl Search<'_> {
    /// Returns the certificate of a closed set without errors; `None` if it would be too large.
    pub(super) fn certificate(&self) -> Option<Certificate> {
        let mut writer = FormulaWriter::default();
        let mut shapes = Vec::new();
        for (key, facts) in &self.known {
            let mut aig = Aig::new();
            let mut inputs: FxHashMap<Input, Atom> = FxHashMap::default();
            let mut known: FxHashMap<Slot, Lit> = FxHashMap::default();
            let mut all = Vec::new();
            for fact in without_implied(facts) {
                fact.for_each_slot(&mut |slot| {
                    let slot = self.plain(slot);
                    known.entry(slot).or_insert_with(|| {
                        let input = aig.new_input();
                        inputs.insert(input, self.atom(key, slot));
                        aig.input(input)
                    });
                });
                all.push(fact.lit(&mut aig, &|slot| known[&self.plain(slot)]));
            }
            let all = aig.and_all(&all);
            let formula = written(&aig, all, &inputs, &mut writer);
            shapes.push(Shape::of_some(key.threads.clone(), key.held, formula));
            if writer.is_too_large() {
                return None;
            }
        }
        let places = self.graph.places.iter().map(|place| Place {
            role: place.role,
            calls: Vec::new(),
            loc: place.loc,
            vars: self.candidates.own(place.loc).iter().map(|var| (0, *var)).collect(),
        });
        let (seen, places) = (Seen::Any(self.k as u32), places.collect());
        let mut proof = ShapeProof { seen, formulas: writer.formulas, places, shapes };
        proof.sort();
        Some(Certificate::Shapes(proof))
    }

    /// Returns the slot of a variable: conditions do not say which variables are shared.
    fn plain(&self, slot: Slot) -> Slot {
        match slot {
            Slot::Own(_, var) if self.graph.program.vars[var].scope == Scope::Shared => Slot::Shared(var),
            slot => slot,
        }
    }

    fn atom(&self, key: &Key, slot: Slot) -> Atom {
        match slot {
            Slot::Shared(var) => Atom::Now(var),
            Slot::Own(thread, var) => {
                let place = self.graph.places[key.threads[thread as usize] as usize];
                let number = |kept: &VarId| *kept == var;
                let number = self.candidates.own(place.loc).iter().position(number);
                Atom::Of { thread, var: number.expect("facts speak of kept variables only") as u32 }
            }
        }
    }
}

/// Leaves out facts that others of a list imply by their form.
fn without_implied(facts: &[Fact]) -> Vec<&Fact> {
    let known: FxHashSet<&Fact> = facts.iter().collect();
    let is_known = |fact: &Fact| known.contains(fact);
    let unit = |slot: &Slot, bit: &bool| is_known(&Fact::Clause(vec![(*slot, *bit)]));
    let is_implied = |fact: &&Fact| match fact {
        Fact::Clause(bits) => bits.len() > 1 && bits.iter().any(|(slot, bit)| unit(slot, bit)),
        Fact::Unless(slot, bit, fact) => unit(slot, bit) || is_known(fact),
        Fact::Related(relation, left, right) => stronger(*relation).iter().any(|(relation, turned)| {
            let (left, right) = if *turned { (right, left) } else { (left, right) };
            is_known(&Fact::Related(*relation, left.clone(), right.clone()))
        }),
        Fact::Bounded(relation, word, _) | Fact::Bounds(relation, _, word) => {
            let equals = |fact: &&Fact| matches!(fact, Fact::Bounded(Relation::Equal, other, _) if other == word);
            *relation != Relation::Equal && facts.iter().any(|fact| equals(&fact))
        }
        Fact::Condition(..) => false,
    };
    facts.iter().filter(|fact| !is_implied(fact)).collect()
}

/// Returns relations that imply a relation, and whether of the numbers in the other order.
fn stronger(relation: Relation) -> Vec<(Relation, bool)> {
    match relation {
        Relation::Equal | Relation::Follows | Relation::Less { .. } => Vec::new(),
        Relation::AtMost { signed } => {
            vec![(Relation::Less { signed }, false), (Relation::Equal, false), (Relation::Equal, true)]
        }
        Relation::Differs => {
            let less = |signed, turned| (Relation::Less { signed }, turned);
            vec![less(false, false), less(false, true), less(true, false), less(true, true)]
        }
    }
}

fn written(aig: &Aig, root: Lit, inputs: &FxHashMap<Input, Atom>, writer: &mut FormulaWriter) -> FormulaId {
    let mut make = |gate: Gate<FormulaId>| {
        writer.node(match gate {
            Gate::False => Node::Const(false),
            Gate::Input(input) => Node::Atom(inputs[&input]),
            Gate::Not(operand) => Node::Not(operand),
            Gate::And(left, right) => Node::And(left, right),
        })
    };
    aig.translate(root, &mut Translated::default(), &mut make)
}
