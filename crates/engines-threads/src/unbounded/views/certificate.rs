//! The table as a certificate: for each list of places a formula.
//!
//! The diagrams are written node by node. A diagram mentions the threads by view slot, and the view slot of a thread is
//! its number. The table is closed under exchanges of threads at one place, so the formula holds in particular for the
//! order in which a certificate lists them.

use rustc_hash::FxHashMap;
use selvedge_check::formula::Atom;
use selvedge_check::{Certificate, Seen, Shape, ShapeProof, Stop};
use selvedge_ir::VarId;
use selvedge_logic::bdd::Var;
use selvedge_transition::formula_writer::FormulaWriter;
use selvedge_transition::step::diagram::layout::{When, Who};

use super::search::ViewSearch;

impl ViewSearch<'_> {
    /// Returns the certificate of a closed table without errors; `None` if it would be too large.
    pub(super) fn certificate(&self) -> Result<Option<Certificate>, Stop> {
        let model = &self.model;
        let layout = &model.layout;
        let now = |var: &VarId| layout.var(*var, Who::Mover, When::Now);
        let shared: FxHashMap<Var, VarId> = layout.kept_shared().iter().map(|var| (now(var), *var)).collect();
        // The thread and the slot in its valuation, for each variable of the diagrams.
        let of_copy =
            |thread: usize| layout.copies[thread].iter().enumerate().map(move |(slot, var)| (*var, (thread, slot)));
        let locals: FxHashMap<Var, (usize, usize)> = (0..layout.copies.len()).flat_map(of_copy).collect();
        let mut writer = FormulaWriter::default();
        let mut views = Vec::new();
        for (key, set) in self.table.iter() {
            model.run.tick()?;
            let atom = |var: Var| match shared.get(&var) {
                Some(shared) => Atom::Now(*shared),
                None => {
                    let (thread, slot) = locals[&var];
                    let mut kept = layout.kept(model.place(key.threads[thread]).loc).iter();
                    let number = kept.position(|kept| layout.slot(*kept) == slot);
                    let number = number.expect("views mention kept variables only");
                    Atom::Of { thread: thread as u32, var: number as u32 }
                }
            };
            let formula = writer.diagram(set, &atom, &mut FxHashMap::default());
            views.push(Shape::of_some(key.threads.clone(), key.held, formula));
            if writer.is_too_large() {
                return Ok(None);
            }
        }
        views.sort_by(|left, right| (&left.threads, left.held).cmp(&(&right.threads, right.held)));
        let places = model.places.iter().map(|place| place.listed(layout)).collect();
        let (seen, formulas) = (Seen::Any(self.k as u32), writer.formulas);
        Ok(Some(Certificate::Shapes(ShapeProof { seen, formulas, places, shapes: views })))
    }
}
