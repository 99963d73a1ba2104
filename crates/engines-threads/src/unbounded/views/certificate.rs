//! The table as a certificate: for each list of places a formula.
//!
//! The diagrams are written node by node. A diagram mentions the threads by view slot, and the view slot of a thread is
//! its number. The table is closed under exchanges of threads at one place, so the formula holds in particular for the
//! order in which a certificate lists them.

use rustc_hash::FxHashMap;
use selvedge_check::formula::{Atom, FormulaId, Formulas, Node};
use selvedge_check::{self as check, Certificate, Seen, Shape, ShapeProof, Stop};
use selvedge_ir::VarId;
use selvedge_logic::bdd::{Bdd, Var};
use selvedge_transition::step::diagram::layout::{When, Who};

use super::model::{PlaceId, ViewModel, ViewSlot};
use super::search::ViewSearch;

/// Limit on the nodes of a certificate. Larger ones are not given: they would take too long to check.
const MOST_NODES: usize = 2_000_000;

impl ViewSearch<'_> {
    /// Returns the certificate of a closed table without errors; `None` if it would be too large.
    pub(super) fn certificate(&self) -> Result<Option<Certificate>, Stop> {
        let model = &self.model;
        let mut writer = ViewWriter::new(model);
        let mut views = Vec::new();
        for (key, set) in self.table.iter() {
            model.run.tick()?;
            let formula = writer.diagram(set, &key.threads, &mut FxHashMap::default());
            views.push(Shape::of_some(key.threads.clone(), key.held, formula));
            if writer.formulas.nodes().len() > MOST_NODES {
                return Ok(None);
            }
        }
        views.sort_by(|left, right| (&left.threads, left.held).cmp(&(&right.threads, right.held)));
        let place = |place: &selvedge_transition::macro_step::place::Place| check::Place {
            role: place.role,
            calls: Vec::new(),
            loc: place.loc,
            vars: model.layout.kept(place.loc).iter().map(|var| (0, *var)).collect(),
        };
        let places = model.places.iter().map(place).collect();
        let (seen, formulas) = (Seen::Any(self.k as u32), writer.formulas);
        Ok(Some(Certificate::Shapes(ShapeProof { seen, formulas, places, shapes: views })))
    }
}

struct ViewWriter<'m> {
    model: &'m ViewModel<'m>,
    /// The meaning of each variable of the diagrams: a shared one, or one with a place in the valuation of a thread.
    shared: FxHashMap<Var, VarId>,
    locals: FxHashMap<Var, (usize, usize)>,
    formulas: Formulas,
    known: FxHashMap<Node, FormulaId>,
}

impl<'m> ViewWriter<'m> {
    fn new(model: &'m ViewModel<'_>) -> ViewWriter<'m> {
        let layout = &model.layout;
        let shared = layout.kept_shared().iter().map(|var| (layout.var(*var, Who::Mover, When::Now), *var)).collect();
        let view_slots = (0..layout.copies.len()).flat_map(|view_slot| {
            model
                .vars(ViewSlot::Copy(view_slot))
                .into_iter()
                .enumerate()
                .map(move |(slot, var)| (var, (view_slot, slot)))
        });
        let locals = view_slots.collect();
        ViewWriter { model, shared, locals, formulas: Formulas::default(), known: FxHashMap::default() }
    }

    fn node(&mut self, node: Node) -> FormulaId {
        if let Some(known) = self.known.get(&node) {
            return *known;
        }
        let id = self.formulas.add(node).expect("parts are written before wholes");
        self.known.insert(node, id);
        id
    }

    /// Writes the formula of a diagram about threads at some places. The same diagram is written once.
    #[expect(clippy::mutable_key_type, reason = "a diagram is compared and hashed by the function that it denotes")]
    fn diagram(&mut self, set: &Bdd, threads: &[PlaceId], written: &mut FxHashMap<Bdd, FormulaId>) -> FormulaId {
        if let Some(known) = written.get(set) {
            return *known;
        }
        let formula = match set.decision() {
            None => self.node(Node::Const(set.is_true())),
            Some((var, high, low)) => {
                let (high, low) = (self.diagram(&high, threads, written), self.diagram(&low, threads, written));
                let atom = self.atom(var, threads);
                let atom = self.node(Node::Atom(atom));
                self.node(Node::Ite(atom, high, low))
            }
        };
        written.insert(set.clone(), formula);
        formula
    }

    fn atom(&self, var: Var, threads: &[PlaceId]) -> Atom {
        if let Some(shared) = self.shared.get(&var) {
            return Atom::Now(*shared);
        }
        let (thread, slot) = self.locals[&var];
        let layout = &self.model.layout;
        let mut kept = layout.kept(self.model.place(threads[thread]).loc).iter();
        let number = kept.position(|kept| layout.slot(*kept) == slot);
        Atom::Of { thread: thread as u32, var: number.expect("views mention kept variables only") as u32 }
    }
}
