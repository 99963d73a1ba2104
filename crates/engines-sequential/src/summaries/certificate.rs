//! The path edges and summaries as a certificate about the whole program.
//!
//! The engine worked on a slice. The slice lacks variables, which the certificate does not mention, and edges after
//! which no target is reachable. After such an edge everything is allowed: the locations there, and all that they lead
//! to, get the formula *true*. None of them leads to a target in the slice, unless the slicer was less exact than
//! expected; then there is no certificate.

use std::collections::{BTreeMap, BTreeSet};

use index_vec::IndexVec;
use rustc_hash::FxHashMap;
use selvedge_check::formula::{Atom, FormulaId, Formulas, Node};
use selvedge_check::{Certificate, Stop, SummaryProof};
use selvedge_ir::flow::Flow;
use selvedge_ir::passes::Lift;
use selvedge_ir::{Edge, EdgeId, LocId, Op, ProcId, Program, VarId};
use selvedge_logic::bdd::{Bdd, Var};
use selvedge_transition::paths::layout::When;
use selvedge_transition::step::control::{Control, control};

use super::solve::{Entries, Solver};

impl Solver<'_> {
    /// Returns the certificate of the original program; `lift` leads back to it, and `results` says which of its
    /// procedures' results are in the slice.
    ///
    /// A procedure of the slice may also be called after an edge that the slice lacks, with any values. No target is
    /// reachable from that call, hence none from inside the procedure: all its entries are added, the path edges grow,
    /// and the certificate is written again. This ends because each round adds a procedure.
    pub(super) fn certificate(
        &mut self,
        whole: &Program,
        lift: &Lift,
        results: &IndexVec<ProcId, Vec<usize>>,
    ) -> Result<Option<Certificate>, Stop> {
        let back = SliceMap::new(self.program, whole, lift, results);
        loop {
            match self.written(whole, &back, lift)? {
                Ok(proof) => return Ok(Some(Certificate::Summaries(proof))),
                Err(Obstacle::Elsewhere) => return Ok(None),
                Err(Obstacle::Entered(proc)) => {
                    let grows = self.enter_with_all_values(proc)?;
                    if !grows || self.run(Entries::Given)?.is_some() {
                        return Ok(None);
                    }
                }
            }
        }
    }

    /// Writes the path edges and summaries as they are.
    fn written(&self, whole: &Program, back: &SliceMap, lift: &Lift) -> Result<Result<SummaryProof, Obstacle>, Stop> {
        let mut writer =
            FormulaWriter { solver: self, lift, formulas: Formulas::default(), nodes: FxHashMap::default() };
        let truth = writer.node(Node::Const(true));
        let mut locs = BTreeMap::new();
        let mut procs = BTreeMap::new();
        for (proc, old) in &back.procs {
            self.tick()?;
            let frame = writer.frame(*proc);
            let here = self.program.locs.indices().filter(|loc| self.program.locs[*loc].proc == *proc);
            for loc in here.filter(|loc| !self.edges[*loc].is_false()) {
                let leads_on = !self.flow.out(loc).is_empty() || self.target.has_loc(loc);
                if let Some(old) = back.locs.get(&loc) {
                    locs.insert(*old, if leads_on { writer.path_edges(*proc, loc, frame) } else { truth });
                }
            }
            if !self.summaries[*proc].is_false() {
                procs.insert(*old, writer.summary(*proc, &back.results[*old], frame));
            }
        }
        let allowed = allow_the_rest(whole, back, &self.entered, truth, &mut locs, &mut procs);
        let (locs, procs) = (locs.into_iter().collect(), procs.into_iter().collect());
        Ok(allowed.map(|()| SummaryProof { formulas: writer.formulas, locs, procs }))
    }
}

/// The reason why the formulas of the slice do not suffice for the whole program.
enum Obstacle {
    /// A procedure of the slice may be entered with other values.
    Entered(ProcId),
    /// Any other reason.
    Elsewhere,
}

/// Maps the parts of the slice to those of the whole program.
pub(super) struct SliceMap {
    edges: BTreeSet<EdgeId>,
    pub(super) locs: BTreeMap<LocId, LocId>,
    procs: BTreeMap<ProcId, ProcId>,
    /// For each procedure of the whole program, the positions of its results in the slice.
    results: IndexVec<ProcId, Vec<usize>>,
}

impl SliceMap {
    /// Builds the map. Each edge of the slice is one edge of the whole, and so are its ends.
    pub(super) fn new(
        slice: &Program,
        whole: &Program,
        lift: &Lift,
        results: &IndexVec<ProcId, Vec<usize>>,
    ) -> SliceMap {
        let (edges, locs, procs) = (BTreeSet::new(), BTreeMap::new(), BTreeMap::new());
        let mut back = SliceMap { edges, locs, procs, results: results.clone() };
        for (id, edge) in slice.edges.iter_enumerated() {
            let old = lift.edges[id][0].edge;
            back.edges.insert(old);
            back.locs.insert(edge.from, whole.edges[old].from);
            back.locs.insert(edge.to, whole.edges[old].to);
            back.procs.insert(slice.locs[edge.from].proc, whole.locs[whole.edges[old].from].proc);
            if let (Op::Call(new), Op::Call(call)) = (&edge.op, &whole.edges[old].op) {
                back.procs.insert(new.callee, call.callee);
            }
        }
        let kinds = slice.entries.iter().zip(&whole.entries).map(|(new, old)| (new.proc, old.proc));
        back.procs.extend(kinds.chain(slice.prelude.zip(whole.prelude)));
        for (new, old) in &back.procs {
            back.locs.insert(slice.procs[*new].entry, whole.procs[*old].entry);
        }
        back
    }
}

/// Allows everything after the edges that the slice lacks, unless that would change the existing formulas. The
/// procedures in `entered` are prepared for every entry.
fn allow_the_rest(
    whole: &Program,
    back: &SliceMap,
    entered: &BTreeSet<ProcId>,
    truth: FormulaId,
    locs: &mut BTreeMap<LocId, FormulaId>,
    procs: &mut BTreeMap<ProcId, FormulaId>,
) -> Result<(), Obstacle> {
    let entries = back.procs.iter().map(|(new, old)| (whole.procs[*old].entry, *new)).collect();
    let in_slice = locs.iter().filter(|(_, here)| **here != truth).map(|(loc, _)| *loc).collect();
    let summarised = procs.keys().copied().collect();
    let mut rest = Rest { whole, entries, in_slice, summarised, entered, truth, locs, procs, waiting: Vec::new() };
    let flow = Flow::new(whole);
    let mut reached: Vec<LocId> = rest.locs.keys().copied().collect();
    while !reached.is_empty() {
        for loc in reached.drain(..) {
            let is_free = rest.locs[&loc] == truth;
            for id in flow.out(loc).iter().filter(|id| is_free || !back.edges.contains(id)) {
                rest.follow(&whole.edges[*id])?;
            }
        }
        for loc in std::mem::take(&mut rest.waiting) {
            if rest.in_slice.contains(&loc) {
                return Err(Obstacle::Elsewhere);
            }
            if rest.locs.insert(loc, truth).is_none() {
                reached.push(loc);
            }
        }
    }
    Ok(())
}

/// The part of the program that the slice lacks, as far as it was reached.
struct Rest<'c> {
    whole: &'c Program,
    /// The procedures of the slice by their entries in the whole program.
    entries: BTreeMap<LocId, ProcId>,
    /// The locations and procedures whose formulas must not change.
    in_slice: BTreeSet<LocId>,
    summarised: BTreeSet<ProcId>,
    /// The procedures of the slice that are prepared for every entry.
    entered: &'c BTreeSet<ProcId>,
    truth: FormulaId,
    locs: &'c mut BTreeMap<LocId, FormulaId>,
    procs: &'c mut BTreeMap<ProcId, FormulaId>,
    /// The locations at which everything is to be allowed.
    waiting: Vec<LocId>,
}

impl Rest<'_> {
    /// Allows everything after an edge.
    fn follow(&mut self, edge: &Edge) -> Result<(), Obstacle> {
        match control(self.whole, edge) {
            Control::Return => self.return_from(self.whole.locs[edge.from].proc)?,
            Control::Call(call) => {
                self.enter(call.callee)?;
                if self.procs.contains_key(&call.callee) {
                    self.waiting.push(edge.to);
                }
            }
            Control::End => {}
            Control::Next | Control::Start(_) => self.waiting.push(edge.to),
        }
        Ok(())
    }

    /// Enters a procedure with any values, unless it is in the slice and prepared for that.
    fn enter(&mut self, callee: ProcId) -> Result<(), Obstacle> {
        let entry = self.whole.procs[callee].entry;
        match self.entries.get(&entry).filter(|_| self.in_slice.contains(&entry)) {
            Some(proc) if !self.entered.contains(proc) => return Err(Obstacle::Entered(*proc)),
            Some(_) => {}
            None => self.waiting.push(entry),
        }
        Ok(())
    }

    /// Returns from a procedure with any values, to all calls that were reached; after the prelude the threads start.
    fn return_from(&mut self, proc: ProcId) -> Result<(), Obstacle> {
        let whole = self.whole;
        if self.summarised.contains(&proc) {
            return Err(Obstacle::Elsewhere);
        }
        if self.procs.insert(proc, self.truth).is_none() {
            let calls = whole.edges.iter().filter(|edge| matches!(&edge.op, Op::Call(call) if call.callee == proc));
            let reached = calls.filter(|edge| self.locs.contains_key(&edge.from));
            self.waiting.extend(reached.map(|edge| edge.to));
            for template in whole.entries.iter().filter(|_| whole.prelude == Some(proc)) {
                self.enter(template.proc)?;
            }
        }
        Ok(())
    }
}

/// Writes diagrams as formulas about the whole program.
struct FormulaWriter<'s, 'a> {
    solver: &'s Solver<'a>,
    lift: &'s Lift,
    formulas: Formulas,
    nodes: FxHashMap<Node, FormulaId>,
}

impl FormulaWriter<'_, '_> {
    fn node(&mut self, node: Node) -> FormulaId {
        if let Some(id) = self.nodes.get(&node) {
            return *id;
        }
        let id = self.formulas.add(node).expect("parts are written before wholes");
        self.nodes.insert(node, id);
        id
    }

    fn old(&self, var: VarId) -> VarId {
        self.lift.vars[var].expect("slicing makes no variables")
    }

    fn and(&mut self, left: FormulaId, right: FormulaId) -> FormulaId {
        self.node(Node::And(left, right))
    }

    /// Returns the frame condition of a procedure: all inputs without an entry copy stay unchanged while it runs.
    fn frame(&mut self, proc: ProcId) -> FrameCondition {
        let solver = self.solver;
        let copied: BTreeSet<VarId> = solver.layout.scopes[proc].with_entry_copy().collect();
        let globals = solver.program.vars.iter_enumerated();
        let is_global = |scope| !matches!(scope, selvedge_ir::Scope::Local(_));
        let globals = globals.filter(|(_, var)| is_global(var.scope)).map(|(id, _)| id);
        let fixed: Vec<VarId> = globals.filter(|var| !copied.contains(var)).collect();
        let mut outlives = self.node(Node::Const(true));
        for var in fixed {
            let same = self.unchanged(var);
            outlives = self.and(outlives, same);
        }
        let mut inside = outlives;
        for param in solver.program.procs[proc].params.iter().filter(|param| !copied.contains(param)) {
            let same = self.unchanged(*param);
            inside = self.and(inside, same);
        }
        FrameCondition { inside, outlives }
    }

    fn unchanged(&mut self, var: VarId) -> FormulaId {
        let old = self.old(var);
        let now = self.node(Node::Atom(Atom::Now(old)));
        let entry = self.node(Node::Atom(Atom::Entry(old)));
        let not_entry = self.node(Node::Not(entry));
        self.node(Node::Ite(now, entry, not_entry))
    }

    fn path_edges(&mut self, proc: ProcId, loc: LocId, frame: FrameCondition) -> FormulaId {
        let solver = self.solver;
        let mut atoms = FxHashMap::default();
        for var in solver.layout.visible(solver.program, proc) {
            atoms.insert(solver.layout.var(var, When::Now), Atom::Now(self.old(var)));
        }
        for var in solver.layout.scopes[proc].with_entry_copy() {
            atoms.insert(solver.layout.var(var, When::Entry), Atom::Entry(self.old(var)));
        }
        let diagram = self.diagram(&solver.edges[loc], &atoms);
        self.and(diagram, frame.inside)
    }

    fn summary(&mut self, proc: ProcId, results: &[usize], frame: FrameCondition) -> FormulaId {
        let solver = self.solver;
        let scope = &solver.layout.scopes[proc];
        let mut atoms = FxHashMap::default();
        for var in &scope.globals {
            atoms.insert(solver.layout.var(*var, When::Now), Atom::Entry(self.old(*var)));
        }
        for var in &scope.modified {
            atoms.insert(solver.layout.var(*var, When::Next), Atom::Now(self.old(*var)));
        }
        for param in &solver.program.procs[proc].params {
            atoms.insert(solver.layout.var(*param, When::Next), Atom::Entry(self.old(*param)));
        }
        for (result, place) in solver.layout.results.iter().zip(results) {
            atoms.insert(*result, Atom::Result(*place as u32));
        }
        let diagram = self.diagram(&solver.summaries[proc], &atoms);
        self.and(diagram, frame.outlives)
    }

    /// Writes a diagram as nested conditionals, each node once. Works without recursion.
    #[expect(
        clippy::mutable_key_type,
        reason = "equality and hash of a diagram are those of its node, which never change"
    )]
    fn diagram(&mut self, bdd: &Bdd, atoms: &FxHashMap<Var, Atom>) -> FormulaId {
        let mut written: FxHashMap<Bdd, FormulaId> = FxHashMap::default();
        let mut waiting = vec![bdd.clone()];
        while let Some(top) = waiting.last() {
            if written.contains_key(top) {
                waiting.pop();
                continue;
            }
            let Some((var, high, low)) = top.decision() else {
                let constant = self.node(Node::Const(top.is_true()));
                written.insert(top.clone(), constant);
                continue;
            };
            match (written.get(&high), written.get(&low)) {
                (Some(then), Some(otherwise)) => {
                    let (then, otherwise) = (*then, *otherwise);
                    let condition = self.node(Node::Atom(atoms[&var]));
                    let id = self.node(Node::Ite(condition, then, otherwise));
                    written.insert(top.clone(), id);
                }
                (None, _) => waiting.push(high),
                (_, None) => waiting.push(low),
            }
        }
        written[bdd]
    }
}

/// The frame condition of a procedure, while it runs and after it has returned.
#[derive(Clone, Copy)]
struct FrameCondition {
    inside: FormulaId,
    outlives: FormulaId,
}
