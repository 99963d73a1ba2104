//! The macro steps of a thread from a place, as definitions in the language of the solver.
//!
//! *Order of work.* The locations inside a macro step, by their ranks, each after all that lead to it, so that each is
//! left once. States that come to one location are joined: at most one of their guards holds, since fresh names choose
//! between the edges that leave a location. *End.* There is no cycle without a visible point.
//!
//! This is the walk of `facts`, with numbers in the place of their bits.

use std::collections::BTreeMap;

use selvedge_check::Role;
use selvedge_ir::flow::Flow;
use selvedge_ir::{Edge, EdgeId, Expr, LocId, Op, Program, Scope, Target, Ty, VarId};
use selvedge_transition::bitvectors;
use selvedge_transition::macro_step::place::Place;
use selvedge_transition::macro_step::ranks::Ranks;
use selvedge_transition::macro_step::visible_points::VisiblePoints;

/// Values of variables, by the names that the solver has for them. Those without a name may have any value.
pub(super) type Values = BTreeMap<VarId, String>;

/// The macro steps from a place.
#[derive(Default)]
pub(super) struct Block {
    /// The names that are used, with their types.
    pub(super) names: Vec<(String, Ty)>,
    /// What the names mean.
    pub(super) facts: Vec<String>,
    pub(super) outcomes: Vec<Outcome>,
    /// The conditions under which an error is on the way.
    pub(super) errors: Vec<String>,
}

/// The end of macro steps.
pub(super) struct Outcome {
    /// The condition under which the thread comes there.
    pub(super) guard: String,
    /// The place to which the thread comes; `None` if it has ended.
    pub(super) to: Option<Place>,
    /// The shared variables and those of the thread.
    pub(super) after: Values,
    /// The thread that was started, and its variables.
    pub(super) child: Option<(Place, Values)>,
}

/// A program and the order of its locations inside of macro steps.
pub(super) struct Graph<'a> {
    pub(super) program: &'a Program,
    target: &'a Target,
    flow: Flow,
    ranks: Ranks,
}

/// Returns the name of a variable before a step: of the thread that moves, or of another one, by number.
pub(super) fn name(program: &Program, thread: usize, var: VarId) -> String {
    match (program.vars[var].scope, thread) {
        (Scope::Shared, _) | (_, 0) => format!("v{}", var.index()),
        (_, other) => format!("x{other}v{}", var.index()),
    }
}

impl<'a> Graph<'a> {
    pub(super) fn new(program: &'a Program, target: &'a Target) -> Graph<'a> {
        let visible_points = VisiblePoints::few(program, target);
        let flow = Flow::new(program);
        let ranks = Ranks::new(program, &flow, &visible_points);
        Graph { program, target, flow, ranks }
    }

    /// Follows all ways from a place.
    pub(super) fn block(&self, place: Place) -> Block {
        let now = self.program.vars.indices().map(|var| (var, name(self.program, 0, var))).collect();
        let mut walk = Walk { graph: self, block: Block::default(), inner: BTreeMap::new() };
        walk.inner.insert((0, place), ("true".to_owned(), now));
        while let Some(((_, place), (guard, now))) = walk.inner.pop_first() {
            walk.leave(place, guard, &now);
        }
        walk.block
    }

    pub(super) fn is_error(&self, loc: LocId) -> bool {
        self.target.has_loc(loc)
    }
}

impl Block {
    fn fresh(&mut self, ty: Ty) -> String {
        let name = format!("t{}", self.names.len());
        self.names.push((name.clone(), ty));
        name
    }

    /// Returns a name for a value.
    fn define(&mut self, ty: Ty, value: &str) -> String {
        let name = self.fresh(ty);
        self.facts.push(format!("(= {name} {value})"));
        name
    }

    fn and(&mut self, guard: &str, condition: &str) -> String {
        match (guard, condition) {
            ("true", other) | (other, "true") => other.to_owned(),
            _ => self.define(Ty::Bool, &format!("(and {guard} {condition})")),
        }
    }
}

struct Walk<'g> {
    graph: &'g Graph<'g>,
    block: Block,
    /// The states inside, by rank and place.
    inner: BTreeMap<(usize, Place), (String, Values)>,
}

impl Walk<'_> {
    fn leave(&mut self, place: Place, mut guard: String, now: &Values) {
        let edges = self.graph.flow.out(place.loc);
        for (left, edge) in (0..edges.len()).rev().zip(edges) {
            let taken = if left == 0 { "true".to_owned() } else { self.block.fresh(Ty::Bool) };
            let taken_here = self.block.and(&guard, &taken);
            self.follow(place, *edge, taken_here, now);
            if left > 0 {
                guard = self.block.and(&guard, &format!("(not {taken})"));
            }
        }
    }

    /// Returns an expression over values before a step, and after it, with choices.
    fn value(&mut self, expr: &Expr, now: &Values, next: &Values, choices: &[String]) -> String {
        let mut unknown: Values = Values::new();
        expr.for_each_leaf(|leaf| {
            if let Some(var) = leaf.var().filter(|var| !now.contains_key(var)) {
                unknown.entry(var).or_insert_with(|| self.block.fresh(self.graph.program.vars[var].ty));
            }
        });
        let known = |values: &Values, var: VarId| values.get(&var).or_else(|| unknown.get(&var)).cloned();
        bitvectors::text(expr, &|leaf| match leaf {
            Expr::Next(var) => known(next, *var).or_else(|| known(now, *var)).unwrap_or_default(),
            Expr::Choice(number, _) => choices[*number as usize].clone(),
            leaf => leaf.var().and_then(|var| known(now, var)).unwrap_or_default(),
        })
    }

    fn follow(&mut self, place: Place, id: EdgeId, guard: String, now: &Values) {
        let edge = &self.graph.program.edges[id];
        let next = place.after(edge);
        let choices: Vec<String> = edge.op.choices().iter().map(|ty| self.block.fresh(*ty)).collect();
        match &edge.op {
            Op::Assign(assign) => {
                let mut after = now.clone();
                for (var, rhs) in &assign.active {
                    let value = self.value(rhs, now, now, &choices);
                    after.insert(*var, self.block.define(self.graph.program.vars[*var].ty, &value));
                }
                let passes = self.value(&assign.constrain, now, &after, &choices);
                let guard = self.block.and(&guard, &passes);
                self.arrive(next, guard, after, None);
            }
            Op::Assert(condition) => {
                let holds = self.value(condition, now, now, &choices);
                if self.graph.target.has_assert(id) {
                    let fails = self.block.and(&guard, &format!("(not {holds})"));
                    self.block.errors.push(fails);
                }
                let guard = self.block.and(&guard, &holds);
                self.arrive(next, guard, now.clone(), None);
            }
            Op::Spawn(_) | Op::Fork(_) => {
                let child = self.child(place, edge, now, &choices);
                if child.as_ref().is_some_and(|(child, _)| self.graph.is_error(child.loc)) {
                    self.block.errors.push(guard.clone());
                }
                self.arrive(next, guard, now.clone(), child);
            }
            Op::AtomicBegin | Op::AtomicEnd => self.arrive(next, guard, now.clone(), None),
            Op::Return(_) | Op::End => self.end(Outcome { guard, to: None, after: now.clone(), child: None }),
            Op::Call(_) => unreachable!("calls are replaced"),
        }
    }

    /// Returns the thread that a step starts: its parameters, or all variables of the thread that starts it.
    fn child(&mut self, place: Place, edge: &Edge, now: &Values, choices: &[String]) -> Option<(Place, Values)> {
        let program = self.graph.program;
        let is_of_thread = |var: &VarId| program.vars[*var].scope == Scope::Thread;
        let (loc, values) = match &edge.op {
            Op::Fork(at) => (*at, now.clone()),
            Op::Spawn(spawn) => {
                let proc = &program.procs[spawn.callee];
                let mut values: Values =
                    now.iter().filter(|(var, _)| is_of_thread(var)).map(|(var, name)| (*var, name.clone())).collect();
                for (param, arg) in proc.params.iter().zip(&spawn.args) {
                    let value = self.value(arg, now, now, choices);
                    values.insert(*param, self.block.define(program.vars[*param].ty, &value));
                }
                (proc.entry, values)
            }
            _ => unreachable!("only these start threads"),
        };
        place.entry().map(|kind| (Place { role: Role::Free(kind), loc }, values))
    }

    fn arrive(&mut self, next: Place, guard: String, after: Values, child: Option<(Place, Values)>) {
        if self.graph.is_error(next.loc) {
            self.block.errors.push(guard);
            return;
        }
        let Some(rank) = self.graph.ranks.get(next) else {
            return self.end(Outcome { guard, to: Some(next), after, child });
        };
        debug_assert!(child.is_none(), "a thread is visible where it has started another");
        let joined = match self.inner.remove(&(rank + 1, next)) {
            Some((known, values)) => {
                let values = self.select(&guard, &after, &values);
                (self.block.define(Ty::Bool, &format!("(or {guard} {known})")), values)
            }
            None => (guard, after),
        };
        self.inner.insert((rank + 1, next), joined);
    }

    /// Notes an end; those at one place become one.
    fn end(&mut self, outcome: Outcome) {
        let alike = |known: &Outcome| known.to == outcome.to && known.child.is_none() && outcome.child.is_none();
        let Some(at) = self.block.outcomes.iter().position(alike) else { return self.block.outcomes.push(outcome) };
        let known = self.block.outcomes.remove(at);
        let after = self.select(&outcome.guard, &outcome.after, &known.after);
        let guard = self.block.define(Ty::Bool, &format!("(or {} {})", outcome.guard, known.guard));
        self.block.outcomes.insert(at, Outcome { guard, after, ..known });
    }

    /// The first values where a condition holds, the second ones elsewhere.
    fn select(&mut self, condition: &str, then: &Values, otherwise: &Values) -> Values {
        let mut all = Values::new();
        for (var, value) in then {
            let Some(other) = otherwise.get(var) else { continue };
            let joined = if value == other {
                value.clone()
            } else {
                let ty = self.graph.program.vars[*var].ty;
                self.block.define(ty, &format!("(ite {condition} {value} {other})"))
            };
            all.insert(*var, joined);
        }
        all
    }
}
