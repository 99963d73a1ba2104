//! Removes everything that cannot influence whether the target is reached: code that never runs, code after which no
//! target can be reached, and variables on which nothing depends.
//!
//! Order of work: locations that control can reach from the entries (`reached`); in a program with one thread, among
//! these the edges after which a target can still be reached (`Useful`), and again the locations that are reachable
//! through them alone; then the variables on which the conditions of the remaining edges depend (`relevant`). Removed
//! parts are never read, so each step of the result is the step of the input along the same edge, with any values for
//! the choices that were removed.
//!
//! All conditions stay, since a thread that blocks there must still block; so do assertions outside the target, which
//! stop a thread. In a program with several threads, a thread that cannot reach the target may help another to reach
//! it, so only code that never runs is removed. Communication through passive copies stays as a whole: a step must keep
//! the threads that take part in it.

use fixedbitset::FixedBitSet;
use index_vec::IndexVec;

use super::Passed;
use super::cells::{Cells, Flows};
use super::edit::{Keep, collect};
use crate::callgraph::{CallGraph, is_sequential};
use crate::dataflow::{Analysis, Arrow, ArrowKind, Arrows, Direction, Values, solve};
use crate::flow::reached;
use crate::syntax::{EdgeId, LocId, Op, ProcId, Program, Scope, VarId};
use crate::target::Target;
use crate::visit::{for_each_old_read, reads};

/// Runs the pass.
pub fn run(program: &Program, target: &Target) -> Passed {
    run_with_results(program, target).0
}

/// Runs the pass, and returns for each procedure of the input which of its results are left.
pub fn run_with_results(program: &Program, target: &Target) -> (Passed, IndexVec<ProcId, Vec<usize>>) {
    let edges = kept_edges(program, target);
    let relevant = relevant(program, &edges);
    let keep = keep(program, edges, &relevant);
    let mut passed = Passed::unchanged(program, target);
    for id in keep.edges.ones() {
        trim(program, &relevant, &mut passed.program, id);
    }
    for (id, proc) in passed.program.procs.iter_mut_enumerated() {
        retain_places(&mut proc.results, |place| relevant.result(id, place));
    }
    let results = program
        .procs
        .iter_enumerated()
        .map(|(id, proc)| (0..proc.results.len()).filter(|place| relevant.result(id, *place)).collect());
    (passed.retain(&keep).renumber_choices(program), results.collect())
}

/// Returns the edges that may matter: none if no target can be reached.
fn kept_edges(program: &Program, target: &Target) -> FixedBitSet {
    let reached = reached(program, |_| true);
    let is_reached = |loc: &LocId| reached.contains(loc.index());
    let reachable = target.asserts.iter().any(|edge| is_reached(&program.edges[*edge].from))
        || target.locs.iter().any(is_reached)
        || target.together.iter().any(|meeting| meeting.iter().all(is_reached));
    let edges = leaving(program, &reached);
    if !reachable {
        FixedBitSet::with_capacity(edges.len())
    } else if is_sequential(program) {
        useful_edges(program, target, &edges)
    } else {
        edges
    }
}

/// Returns the edges that leave some locations.
fn leaving(program: &Program, locs: &FixedBitSet) -> FixedBitSet {
    collect(program.edges.iter().map(|edge| locs.contains(edge.from.index())))
}

/// Returns those of some edges of a program with one thread after which a target can be reached.
fn useful_edges(program: &Program, target: &Target, edges: &FixedBitSet) -> FixedBitSet {
    let arrows = Arrows::new(program, &CallGraph::new(program));
    let analysis = Useful { program, target, edges };
    let continuations = solve(&arrows, &analysis);
    let leads = |arrow: &&Arrow| analysis.transfer(arrow, &continuations) & TARGET_AFTER_RETURN != 0;
    let kept = arrows.iter().filter(|arrow| !matches!(arrow.kind, ArrowKind::Leave(_))).filter(leads);
    let mut useful = FixedBitSet::with_capacity(program.edges.len());
    useful.extend(kept.filter_map(|arrow| arrow.kind.edge()).map(|edge| edge.index()));
    useful.intersect_with(&leaving(program, &reached(program, |id| useful.contains(id.index()))));
    useful
}

/// The continuations of control from a location, as bits: the procedure can return ..
const RETURN: u8 = 1;
/// .. reach a target before the return ..
const TARGET: u8 = 2;
/// .. reach a target before the return, or after it in some caller.
const TARGET_AFTER_RETURN: u8 = 4;

/// The analysis of continuations in a program with one thread, backwards from targets and returns.
struct Useful<'p> {
    program: &'p Program,
    target: &'p Target,
    edges: &'p FixedBitSet,
}

impl Useful<'_> {
    /// Returns the continuations before a call: into the callee, if a target is reached before it returns, and across
    /// it if it can return. Both arrows carry both, since each may be the last to change.
    fn before_call(&self, id: EdgeId, values: &Values<u8>) -> u8 {
        let edge = &self.program.edges[id];
        let Op::Call(call) = &edge.op else { return 0 };
        let entry = values[self.program.procs[call.callee].entry];
        let after = if entry & RETURN != 0 { values[edge.to] } else { 0 };
        if entry & TARGET != 0 { after | TARGET | TARGET_AFTER_RETURN } else { after }
    }
}

impl Analysis for Useful<'_> {
    type Value = u8;
    const DIRECTION: Direction = Direction::Backward;

    fn start(&self, loc: LocId) -> u8 {
        let is_exit = self.program.procs[self.program.locs[loc].proc].exit == loc;
        let target = if self.target.has_loc(loc) { TARGET | TARGET_AFTER_RETURN } else { 0 };
        if is_exit { target | RETURN } else { target }
    }

    fn transfer(&self, arrow: &Arrow, values: &Values<u8>) -> u8 {
        if arrow.kind.edge().is_some_and(|id| !self.edges.contains(id.index())) {
            return 0;
        }
        let after = values[arrow.to];
        match arrow.kind {
            ArrowKind::Step(id) if self.target.has_assert(id) => after | TARGET | TARGET_AFTER_RETURN,
            ArrowKind::Step(_) | ArrowKind::Fork(_) | ArrowKind::Spawn(_) => after,
            ArrowKind::Across(id) | ArrowKind::Enter(id) => self.before_call(id, values),
            ArrowKind::Leave(_) | ArrowKind::Start(_) => after & TARGET_AFTER_RETURN,
            // The prelude ends here, however deep its stack: what follows does not wait for returns.
            ArrowKind::Finish(_) if after & TARGET_AFTER_RETURN != 0 => TARGET | TARGET_AFTER_RETURN,
            ArrowKind::Finish(_) => 0,
        }
    }
}

/// The variables and results of procedures on which some condition depends.
struct Relevant {
    relevant: FixedBitSet,
    cells: Cells,
}

impl Relevant {
    fn var(&self, var: VarId) -> bool {
        self.relevant.contains(var.index())
    }

    fn result(&self, proc: ProcId, place: usize) -> bool {
        self.relevant.contains(self.cells.result(proc, place))
    }
}

/// Finds what the conditions of the kept edges depend on: their variables, and transitively whatever is assigned to
/// those. A returned value links the expression in the callee to the variable in the caller.
fn relevant(program: &Program, edges: &FixedBitSet) -> Relevant {
    let cells = Cells::new(program);
    let roots = roots(program, edges).into_iter().map(VarId::index).collect();
    let relevant = closure(program, &cells, edges, roots);
    Relevant { relevant, cells }
}

/// Returns the variables in the conditions of the kept edges.
fn roots(program: &Program, edges: &FixedBitSet) -> Vec<VarId> {
    let mut roots = Vec::new();
    for edge in edges.ones().map(|id| &program.edges[id]) {
        edge.ensures.for_each_leaf(|leaf| roots.extend(leaf.var()));
        match &edge.op {
            Op::Assign(assign) => {
                assign.constrain.for_each_leaf(|leaf| roots.extend(leaf.var()));
                let bound = assign.active.iter().filter(|(_, rhs)| assign.binds_choices(rhs));
                roots.extend(bound.chain(&assign.passive).map(|(var, _)| *var));
            }
            Op::Assert(condition) => condition.for_each_leaf(|leaf| roots.extend(leaf.var())),
            _ => {}
        }
    }
    roots
}

/// Returns the variables on which anything but values of others depends: conditions, initial values of threads, and what
/// threads and procedures are called with or return.
pub fn influencing(program: &Program) -> FixedBitSet {
    let edges = (0..program.edges.len()).collect();
    let mut roots = roots(program, &edges);
    roots.extend(program.entries.iter().flat_map(|entry| &entry.init).flat_map(|(_, rhs)| reads(rhs)));
    for edge in program.edges.iter().filter(|edge| !matches!(edge.op, Op::Assign(_))) {
        for_each_old_read(edge, |var| roots.push(var));
    }
    vars_of(program, &closure(program, &Cells::new(program), &edges, roots.into_iter().map(VarId::index).collect()))
}

/// Returns the variables on which the values of some variables depend through assignments, calls and returns, including
/// the variables themselves. Conditions that decide whether something is assigned do not count.
pub fn feeding(program: &Program, vars: &FixedBitSet) -> FixedBitSet {
    let edges = (0..program.edges.len()).collect();
    vars_of(program, &closure(program, &Cells::new(program), &edges, vars.ones().collect()))
}

/// Returns the cells that are variables.
fn vars_of(program: &Program, cells: &FixedBitSet) -> FixedBitSet {
    cells.ones().take_while(|cell| *cell < program.vars.len()).collect()
}

/// Returns the cells whose values may flow into some cells along some edges or at the start, including these.
fn closure(program: &Program, cells: &Cells, edges: &FixedBitSet, mut open: Vec<usize>) -> FixedBitSet {
    let mut feeds: Vec<Vec<usize>> = vec![Vec::new(); cells.len];
    let mut add = |cell: usize, source: Flows| match source {
        Flows::Anything => {}
        Flows::Cell(other) => feeds[cell].push(other),
        Flows::Expr(expr) => expr.for_each_leaf(|leaf| feeds[cell].extend(leaf.var().map(VarId::index))),
    };
    edges.ones().for_each(|id| cells.for_each_flow(program, &program.edges[id], &mut add));
    for (var, rhs) in program.entries.iter().flat_map(|entry| &entry.init) {
        add(var.index(), Flows::Expr(rhs));
    }
    let mut seen = FixedBitSet::with_capacity(cells.len);
    while let Some(cell) = open.pop() {
        if !seen.put(cell) {
            open.append(&mut feeds[cell]);
        }
    }
    seen
}

/// Returns all parts to keep: a procedure stays if something of it does, if a thread starts with it, or if other
/// threads' steps mention its variables.
fn keep(program: &Program, edges: FixedBitSet, relevant: &Relevant) -> Keep {
    let mut procs = FixedBitSet::with_capacity(program.procs.len());
    let mut locs = FixedBitSet::with_capacity(program.locs.len());
    for edge in edges.ones().map(|id| &program.edges[id]) {
        locs.extend([edge.from.index(), edge.to.index()]);
        procs.insert(program.locs[edge.from].proc.index());
        procs.extend(edge.op.callee().map(ProcId::index));
        if let Op::Fork(loc) = edge.op {
            locs.insert(loc.index());
        }
    }
    procs.extend(program.roots().map(ProcId::index));
    procs.extend(program.vars.iter_enumerated().filter_map(|(id, var)| match var.scope {
        Scope::Local(owner) if relevant.var(id) => Some(owner.index()),
        _ => None,
    }));
    for proc in procs.ones().map(|proc| &program.procs[proc]) {
        locs.extend([proc.entry.index(), proc.exit.index()]);
    }
    Keep { vars: collect((0..program.vars.len()).map(|var| relevant.relevant.contains(var))), procs, locs, edges }
}

/// Removes irrelevant variables and results from an edge.
fn trim(program: &Program, relevant: &Relevant, result: &mut Program, id: usize) {
    let edge = &mut result.edges[id];
    match &mut edge.op {
        Op::Assign(assign) => assign.active.retain(|(var, _)| relevant.var(*var)),
        Op::Call(call) => {
            let params = &program.procs[call.callee].params;
            retain_places(&mut call.args, |place| relevant.var(params[place]));
            retain_places(&mut call.results, |place| relevant.result(call.callee, place));
            for result in &mut call.results {
                *result = result.filter(|var| relevant.var(*var));
            }
        }
        Op::Spawn(spawn) => {
            let params = &program.procs[spawn.callee].params;
            retain_places(&mut spawn.args, |place| relevant.var(params[place]));
        }
        Op::Return(values) => {
            let proc = program.locs[edge.from].proc;
            retain_places(values, |place| relevant.result(proc, place));
        }
        Op::Assert(_) | Op::Fork(_) | Op::End | Op::AtomicBegin | Op::AtomicEnd => {}
    }
}

/// Keeps the items at some indices of a list.
fn retain_places<T>(items: &mut Vec<T>, mut keep: impl FnMut(usize) -> bool) {
    let mut place = 0;
    items.retain(|_| {
        place += 1;
        keep(place - 1)
    });
}

#[cfg(test)]
mod tests;
