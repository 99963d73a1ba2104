//! Removes everything that cannot influence whether the target is reached: code that never runs, code after which no
//! target can be reached, and variables on which nothing depends.
//!
//! Order of work: locations that control can reach from the entries (`Reach`); in a program with one thread, among
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
use super::edit::{Keep, collect};
use crate::callgraph::{CallGraph, is_sequential};
use crate::dataflow::{Analysis, Arrow, ArrowKind, Arrows, Direction, Values, solve};
use crate::syntax::{EdgeId, Expr, LocId, Op, ProcId, Program, Scope, VarId};
use crate::target::Target;

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
        retain_places(&mut proc.results, |place| relevant.result(id.index(), place));
    }
    let results = program
        .procs
        .iter_enumerated()
        .map(|(id, proc)| (0..proc.results.len()).filter(|place| relevant.result(id.index(), *place)).collect());
    (passed.retain(&keep).renumber_choices(program), results.collect())
}

/// Returns the edges that may matter: none if no target can be reached.
fn kept_edges(program: &Program, target: &Target) -> FixedBitSet {
    let arrows = Arrows::new(program, &CallGraph::new(program));
    let mut edges = FixedBitSet::with_capacity(program.edges.len());
    edges.insert_range(..);
    let reached = reach(program, &arrows, &mut edges);
    let reachable = target.asserts.iter().any(|edge| edges.contains(edge.index()))
        || target.locs.iter().any(|loc| reached[*loc])
        || target.together.iter().any(|meeting| meeting.iter().all(|loc| reached[*loc]));
    if !reachable {
        edges.clear();
    } else if is_sequential(program) {
        let useful = solve(&arrows, &Useful { program, target, edges: &edges });
        let analysis = Useful { program, target, edges: &edges };
        let leads = |arrow: &&Arrow| analysis.transfer(arrow, &useful).contains(Way::TARGET_AFTER_RETURN);
        let kept = arrows.iter().filter(|arrow| !matches!(arrow.kind, ArrowKind::Leave(_))).filter(leads);
        edges = kept.filter_map(|arrow| arrow.kind.edge()).map(|edge| edge.index()).collect();
        edges.grow(program.edges.len());
        reach(program, &arrows, &mut edges);
    }
    edges
}

/// Finds the locations that control can reach along some edges, and removes the edges that begin elsewhere.
fn reach(program: &Program, arrows: &Arrows, edges: &mut FixedBitSet) -> Values<bool> {
    let reached = solve(arrows, &Reach { program, edges });
    for (id, edge) in program.edges.iter_enumerated() {
        if !reached[edge.from] {
            edges.set(id.index(), false);
        }
    }
    reached
}

/// The analysis of the locations that control can reach from the entries. A call goes on only if its callee can return.
struct Reach<'p> {
    program: &'p Program,
    edges: &'p FixedBitSet,
}

impl Analysis for Reach<'_> {
    type Value = bool;
    const DIRECTION: Direction = Direction::Forward;

    fn start(&self, loc: LocId) -> bool {
        let is_entry = |proc: ProcId| self.program.procs[proc].entry == loc;
        self.program.prelude.is_some_and(is_entry) || self.program.entries.iter().any(|entry| is_entry(entry.proc))
    }

    fn transfer(&self, arrow: &Arrow, values: &Values<bool>) -> bool {
        let Some(id) = arrow.kind.edge() else { return values[arrow.from] };
        let edge = &self.program.edges[id];
        let returns = match (arrow.kind, &edge.op) {
            (ArrowKind::Across(_) | ArrowKind::Leave(_), Op::Call(call)) => {
                values[self.program.procs[call.callee].exit]
            }
            _ => true,
        };
        self.edges.contains(id.index()) && values[edge.from] && returns
    }

    fn join(&self, known: &mut bool, come: &bool) -> bool {
        !std::mem::replace(known, *known || *come) && *come
    }
}

/// A set of the continuations of control from a location.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Way(u8);

impl Way {
    const NONE: Way = Way(0);
    /// Return from the procedure.
    const RETURN: Way = Way(1);
    /// Reach a target before the return.
    const TARGET: Way = Way(2);
    /// Reach a target before the return, or after it in some caller.
    const TARGET_AFTER_RETURN: Way = Way(4);

    fn contains(self, other: Way) -> bool {
        self.0 & other.0 == other.0
    }

    fn and(self, other: Way) -> Way {
        Way(self.0 | other.0)
    }

    fn only(self, other: Way) -> Way {
        Way(self.0 & other.0)
    }
}

/// The analysis of continuations in a program with one thread, backwards from targets and returns.
struct Useful<'p> {
    program: &'p Program,
    target: &'p Target,
    edges: &'p FixedBitSet,
}

impl Useful<'_> {
    /// Returns the continuations before a call: into the callee, if a target is reached before it returns, and across
    /// it if it can return. Both arrows carry both, since each may be the last to change.
    fn before_call(&self, id: EdgeId, values: &Values<Way>) -> Way {
        let edge = &self.program.edges[id];
        let Op::Call(call) = &edge.op else { return Way::NONE };
        let entry = values[self.program.procs[call.callee].entry];
        let after = if entry.contains(Way::RETURN) { values[edge.to] } else { Way::NONE };
        if entry.contains(Way::TARGET) { after.and(Way::TARGET).and(Way::TARGET_AFTER_RETURN) } else { after }
    }
}

impl Analysis for Useful<'_> {
    type Value = Way;
    const DIRECTION: Direction = Direction::Backward;

    fn start(&self, loc: LocId) -> Way {
        let is_exit = self.program.procs[self.program.locs[loc].proc].exit == loc;
        let target = if self.target.has_loc(loc) { Way::TARGET.and(Way::TARGET_AFTER_RETURN) } else { Way::NONE };
        if is_exit { target.and(Way::RETURN) } else { target }
    }

    fn transfer(&self, arrow: &Arrow, values: &Values<Way>) -> Way {
        if arrow.kind.edge().is_some_and(|id| !self.edges.contains(id.index())) {
            return Way::NONE;
        }
        let after = values[arrow.to];
        match arrow.kind {
            ArrowKind::Step(id) if self.target.has_assert(id) => after.and(Way::TARGET).and(Way::TARGET_AFTER_RETURN),
            ArrowKind::Step(_) | ArrowKind::Fork(_) | ArrowKind::Spawn(_) => after,
            ArrowKind::Across(id) | ArrowKind::Enter(id) => self.before_call(id, values),
            ArrowKind::Leave(_) | ArrowKind::Finish(_) | ArrowKind::Start(_) => after.only(Way::TARGET_AFTER_RETURN),
        }
    }

    fn join(&self, known: &mut Way, come: &Way) -> bool {
        let grows = !known.contains(*come);
        *known = known.and(*come);
        grows
    }
}

/// The variables and results of procedures on which some condition depends.
struct Relevant {
    /// A bit for each variable, and from `first_result` on for each result of each procedure.
    nodes: FixedBitSet,
    first_result: Vec<usize>,
}

impl Relevant {
    fn var(&self, var: VarId) -> bool {
        self.nodes.contains(var.index())
    }

    fn result(&self, proc: usize, place: usize) -> bool {
        self.nodes.contains(self.first_result[proc] + place)
    }
}

/// Finds what the conditions of the kept edges depend on: their variables, and transitively whatever is assigned to
/// those. A returned value links the expression in the callee to the variable in the caller.
fn relevant(program: &Program, edges: &FixedBitSet) -> Relevant {
    let (graph, first_result) = dependences(program, edges);
    Relevant { nodes: graph.closure(), first_result }
}

/// Returns the variables on which the values of some variables depend through assignments, calls and returns, including
/// the variables themselves. Conditions that decide whether something is assigned do not count.
pub fn feeding(program: &Program, vars: &FixedBitSet) -> FixedBitSet {
    let mut edges = FixedBitSet::with_capacity(program.edges.len());
    edges.insert_range(..);
    let (mut graph, _) = dependences(program, &edges);
    graph.roots = vars.ones().collect();
    graph.closure().ones().take_while(|node| *node < program.vars.len()).collect()
}

/// Returns the dependences along some edges, and the node of each procedure's first result; nodes before these are
/// variables.
fn dependences(program: &Program, edges: &FixedBitSet) -> (Dependences, Vec<usize>) {
    let mut n_nodes = program.vars.len();
    let mut first_result = Vec::with_capacity(program.procs.len());
    for proc in &program.procs {
        first_result.push(n_nodes);
        n_nodes += proc.results.len();
    }
    let mut graph = Dependences { feeds: vec![Vec::new(); n_nodes], roots: Vec::new() };
    for edge in edges.ones().map(|id| &program.edges[id]) {
        graph.add_op(program, &first_result, program.locs[edge.from].proc.index(), &edge.op);
    }
    for (var, rhs) in program.entries.iter().flat_map(|entry| &entry.init) {
        graph.add_feed(var.index(), rhs);
    }
    (graph, first_result)
}

/// The dependences between nodes, and the nodes to begin with.
struct Dependences {
    feeds: Vec<Vec<usize>>,
    roots: Vec<usize>,
}

impl Dependences {
    fn add_op(&mut self, program: &Program, first_result: &[usize], proc: usize, op: &Op) {
        match op {
            Op::Assign(assign) => {
                for (var, rhs) in assign.active.iter().chain(&assign.passive) {
                    self.add_feed(var.index(), rhs);
                }
                if assign.constrain != Expr::TRUE {
                    self.roots.extend(mentioned(&assign.constrain));
                }
                let bound = assign.active.iter().filter(|(_, rhs)| assign.binds_choices(rhs));
                self.roots.extend(bound.chain(&assign.passive).map(|(var, _)| var.index()));
            }
            Op::Assert(condition) => self.roots.extend(mentioned(condition)),
            Op::Call(call) => {
                self.add_args(&program.procs[call.callee].params, &call.args);
                for (place, var) in call.results.iter().enumerate() {
                    if let Some(var) = var {
                        self.feeds[var.index()].push(first_result[call.callee.index()] + place);
                    }
                }
            }
            Op::Spawn(spawn) => self.add_args(&program.procs[spawn.callee].params, &spawn.args),
            Op::Return(values) => {
                for (place, value) in values.iter().enumerate() {
                    self.add_feed(first_result[proc] + place, value);
                }
            }
            Op::Fork(_) | Op::End | Op::AtomicBegin | Op::AtomicEnd => {}
        }
    }

    fn add_args(&mut self, params: &[VarId], args: &[Expr]) {
        params.iter().zip(args).for_each(|(param, arg)| self.add_feed(param.index(), arg));
    }

    fn add_feed(&mut self, node: usize, expr: &Expr) {
        self.feeds[node].extend(mentioned(expr));
    }

    fn closure(mut self) -> FixedBitSet {
        let mut seen = FixedBitSet::with_capacity(self.feeds.len());
        while let Some(node) = self.roots.pop() {
            if !seen.put(node) {
                self.roots.append(&mut self.feeds[node]);
            }
        }
        seen
    }
}

/// Returns the variables that an expression mentions in any way.
fn mentioned(expr: &Expr) -> Vec<usize> {
    let mut vars = Vec::new();
    expr.for_each_leaf(|leaf| {
        if let Expr::Var(var) | Expr::Next(var) | Expr::Passive(var) | Expr::PassiveNext(var) = leaf {
            vars.push(var.index());
        }
    });
    vars
}

/// Returns all parts to keep: a procedure stays if something of it does, if a thread starts with it, or if other
/// threads' steps mention its variables.
fn keep(program: &Program, edges: FixedBitSet, relevant: &Relevant) -> Keep {
    let mut procs = FixedBitSet::with_capacity(program.procs.len());
    let mut locs = FixedBitSet::with_capacity(program.locs.len());
    for edge in edges.ones().map(|id| &program.edges[id]) {
        locs.extend([edge.from.index(), edge.to.index()]);
        procs.insert(program.locs[edge.from].proc.index());
        match &edge.op {
            Op::Call(call) => procs.insert(call.callee.index()),
            Op::Spawn(spawn) => procs.insert(spawn.callee.index()),
            Op::Fork(loc) => locs.insert(loc.index()),
            _ => {}
        }
    }
    procs.extend(program.entries.iter().map(|entry| entry.proc).chain(program.prelude).map(|proc| proc.index()));
    procs.extend(program.vars.iter_enumerated().filter_map(|(id, var)| match var.scope {
        Scope::Local(owner) if relevant.var(id) => Some(owner.index()),
        _ => None,
    }));
    for proc in procs.ones().map(|proc| &program.procs[proc]) {
        locs.extend([proc.entry.index(), proc.exit.index()]);
    }
    Keep { vars: collect((0..program.vars.len()).map(|var| relevant.nodes.contains(var))), procs, locs, edges }
}

/// Removes irrelevant variables and results from an edge.
fn trim(program: &Program, relevant: &Relevant, result: &mut Program, id: usize) {
    let edge = &mut result.edges[id];
    match &mut edge.op {
        Op::Assign(assign) => assign.active.retain(|(var, _)| relevant.var(*var)),
        Op::Call(call) => {
            let params = &program.procs[call.callee].params;
            retain_places(&mut call.args, |place| relevant.var(params[place]));
            retain_places(&mut call.results, |place| relevant.result(call.callee.index(), place));
            for result in &mut call.results {
                *result = result.filter(|var| relevant.var(*var));
            }
        }
        Op::Spawn(spawn) => {
            let params = &program.procs[spawn.callee].params;
            retain_places(&mut spawn.args, |place| relevant.var(params[place]));
        }
        Op::Return(values) => {
            let proc = program.locs[edge.from].proc.index();
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
