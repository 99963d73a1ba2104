//! The program whose executions to errors are those that pass all waypoints of a witness.
//!
//! A counter says how many waypoints have been passed. For each step that a waypoint speaks of there is a copy that
//! also passes the waypoint, if it is the next one; the step itself stays, since an execution may come by without
//! passing. A per-thread variable has the name of the thread in the witness: 0 for the initial one, and `k` for the one
//! that is created where the `k`-th waypoint for the creation of a thread is passed. A failed assertion is an error
//! only where the last waypoint speaks of it and all others have been passed; others end the thread, as in the program.
//! So each execution to an error, without what is added, is an execution of the program to this error, and an execution
//! that passes all waypoints in their order is found.
//!
//! For a data race, a thread may stay about to make an access only at one of the two places, which is noted; a failed
//! check for races is an error only at the other one.

use std::collections::BTreeSet;

use selvedge_frontend::Context;
use selvedge_ir::span::{Origin, Role, SourceMap, Span, View};
use selvedge_ir::{
    Assign, BinaryOp, Edge, EdgeId, Expr, Loc, LocId, MachineTy, Op, ProcId, Program, Scope, Ty, Var, VarId,
};

use super::{Kind, Place, Waypoint};

/// The type of the counter and of the names of threads.
const NUMBER: MachineTy = MachineTy::unsigned(16);

/// The name of threads that have none.
const NAMELESS: u32 = 0xffff;

/// Returns the program that follows a witness. An error says why the witness cannot be followed.
pub fn follow(
    context: Context<'_>,
    waypoints: &[Waypoint],
    race: Option<&[Waypoint; 2]>,
) -> Result<(Program, SourceMap), String> {
    let mut product = Product::new(context);
    product.name_threads()?;
    let mut n_created = 0;
    for (number, waypoint) in waypoints.iter().enumerate() {
        let found = product.meant(waypoint)?;
        let needs = product.needs(number as u32, waypoint.thread, n_created)?;
        n_created += u32::from(found.iter().any(|edge| context.program.edges[*edge].op.starts_thread()));
        let active = vec![(product.passed, number_of(number as u32 + 1))];
        let passing = Passing { step: Assign { active, passive: Vec::new(), constrain: needs }, child: n_created };
        found.into_iter().for_each(|edge| product.add_copy(edge, waypoint.kind, &passing));
    }
    if let Some(race) = race {
        product.add_race(race, waypoints.len() as u32, n_created)?;
    }
    if race.is_none() && context.map.race.is_some() {
        return Err("the last segment of a data race has two waypoints `target`".to_owned());
    }
    product.end_others();
    Ok((product.program, product.map))
}

/// What passing a waypoint needs and changes.
struct Passing {
    step: Assign,
    /// The name of the thread that is created there, if one is.
    child: u32,
}

fn number_of(number: u32) -> Expr {
    NUMBER.constant(i128::from(number))
}

fn is(var: VarId, value: u32) -> Expr {
    Expr::binary(BinaryOp::Eq, Expr::Var(var), number_of(value))
}

struct Product<'a> {
    context: Context<'a>,
    program: Program,
    map: SourceMap,
    /// The number of waypoints that have been passed.
    passed: VarId,
    /// The name of the thread, and that of the thread that it creates next.
    name: VarId,
    child: VarId,
    /// Whether the program has atomic sections.
    has_sections: bool,
}

impl<'a> Product<'a> {
    fn new(context: Context<'a>) -> Product<'a> {
        let (mut program, mut map) = (context.program.clone(), context.map.clone());
        let mut add = |name: &str, scope: Scope| {
            map.vars.push(Span::default());
            let var = program.vars.push(Var { name: name.to_owned(), scope, ty: Ty::Machine(NUMBER) });
            map.views.insert(var, View::Hidden);
            var
        };
        let passed = add("$waypoints", Scope::Shared);
        let [name, child] = ["$thread", "$child"].map(|name| add(name, Scope::Thread));
        program.init.push((passed, number_of(0)));
        for entry in &mut program.entries {
            entry.thread_vars.extend([name, child]);
            entry.init.extend([(name, number_of(0)), (child, number_of(NAMELESS))]);
        }
        let has_sections = program.edges.iter().any(|edge| edge.op == Op::AtomicBegin);
        Product { context, program, map, passed, name, child, has_sections }
    }

    /// Lets each thread that is created begin with the name that its creator has for it. It has a copy of the
    /// per-thread variables of its creator.
    fn name_threads(&mut self) -> Result<(), String> {
        let edges = &self.context.program.edges;
        let created = |op: &Op| match op {
            Op::Spawn(spawn) => Some(spawn.callee),
            _ => None,
        };
        let procs: BTreeSet<ProcId> = edges.iter().filter_map(|edge| created(&edge.op)).collect();
        let is_called = |edge: &Edge| matches!(&edge.op, Op::Call(call) if procs.contains(&call.callee));
        if edges.iter().any(|edge| is_called(edge) || matches!(edge.op, Op::Fork(_))) {
            return Err("a function that threads begin with is also called".to_owned());
        }
        for proc in procs {
            let (entry, begin) = (self.program.procs[proc].entry, self.new_loc(proc));
            let origin = Origin { span: self.map.procs[proc], role: Role::Initialise };
            self.program.procs[proc].entry = begin;
            let named = vec![(self.name, Expr::Var(self.child)), (self.child, number_of(NAMELESS))];
            self.add_edge(begin, entry, assign(named, Expr::TRUE), Expr::TRUE, origin);
        }
        Ok(())
    }

    fn new_loc(&mut self, proc: ProcId) -> LocId {
        self.program.locs.push(Loc { proc })
    }

    fn add_edge(&mut self, from: LocId, to: LocId, op: Op, ensures: Expr, origin: Origin) -> EdgeId {
        self.map.edges.push(origin);
        self.program.edges.push(Edge { from, to, op, ensures })
    }

    /// Returns the steps that a waypoint speaks of.
    fn meant(&self, waypoint: &Waypoint) -> Result<Vec<EdgeId>, String> {
        let edges = self.context.program.edges.indices();
        let found: Vec<EdgeId> = edges.filter(|edge| self.is_meant(*edge, waypoint)).collect();
        if found.is_empty() {
            let column = waypoint.place.column.map(|column| format!(", column {column}")).unwrap_or_default();
            return Err(format!("no step of the program is at line {}{column}", waypoint.place.line));
        }
        Ok(found)
    }

    /// Returns the condition that this many waypoints have been passed, by the right thread of those that were created.
    fn needs(&self, passed: u32, thread: Option<u32>, n_created: u32) -> Result<Expr, String> {
        match thread {
            Some(thread) if thread > n_created => {
                Err(format!("no waypoint for the creation of thread {thread} comes before what it does"))
            }
            Some(thread) => Ok(Expr::and(is(self.passed, passed), is(self.name, thread))),
            None => Ok(is(self.passed, passed)),
        }
    }

    /// Returns whether a waypoint speaks of a step.
    fn is_meant(&self, id: EdgeId, waypoint: &Waypoint) -> bool {
        let Context { program, map, .. } = self.context;
        let (op, origin) = (&program.edges[id].op, map.edges[id]);
        match waypoint.kind {
            Kind::Here => self.begins(origin.span, waypoint.place),
            Kind::Branch(holds) => {
                origin.role == (if holds { Role::Holds } else { Role::Fails })
                    && self.begins(origin.span, waypoint.place)
            }
            Kind::Enter => matches!(op, Op::Spawn(_) | Op::Call(_)) && self.covers(origin.span, waypoint.place),
            Kind::Return(_) => map.inputs.contains_key(&id) && self.covers(origin.span, waypoint.place),
            Kind::Target => {
                matches!(op, Op::Assert(_)) && !map.limits.contains_key(&id) && self.covers(origin.span, waypoint.place)
            }
        }
    }

    fn begins(&self, span: Span, place: Place) -> bool {
        let begin = self.context.source.position_in_file(span.start as usize);
        begin.line == place.line && place.column.is_none_or(|column| column == begin.column)
    }

    fn covers(&self, span: Span, place: Place) -> bool {
        let position = |at: u32| {
            let position = self.context.source.position_in_file(at as usize);
            (position.line, position.column)
        };
        let (begin, end) = (position(span.start), position(span.end));
        match place.column {
            Some(column) => begin <= (place.line, column) && (place.line, column) <= end,
            None => begin.0 <= place.line && place.line <= end.0,
        }
    }

    /// Adds a copy of a step that passes a waypoint, in the same step if possible: what comes as a step of its own
    /// makes executions longer for the engines.
    fn add_copy(&mut self, id: EdgeId, kind: Kind, passing: &Passing) {
        let edge = self.context.program.edges[id].clone();
        let (origin, needs) = (self.map.edges[id], passing.step.constrain.clone());
        let copy = match (kind, &edge.op) {
            (Kind::Target, Op::Assert(condition)) => {
                let holds = Expr::or(Expr::negate(needs), condition.clone());
                self.add_edge(edge.from, edge.to, Op::Assert(holds), edge.ensures, origin)
            }
            (_, Op::Assign(step)) => {
                let returns = self.returns(step, kind);
                let constrain = returns.into_iter().fold(Expr::and(step.constrain.clone(), needs), Expr::and);
                let active = [step.active.clone(), passing.step.active.clone()].concat();
                let step = Assign { active, passive: step.passive.clone(), constrain };
                self.add_edge(edge.from, edge.to, Op::Assign(step), edge.ensures, origin)
            }
            _ => self.add_two_steps(edge, origin, passing),
        };
        let map = self.context.map;
        self.map.inputs.extend(map.inputs.get(&id).map(|name| (copy, name.clone())));
        self.map.notes.extend(map.notes.get(&id).map(|note| (copy, note.clone())));
    }

    /// Adds a step that passes a waypoint, and one behind it: as one section, if the program has no others. If it
    /// creates a thread, this one has its name, and those behind it have none.
    fn add_two_steps(&mut self, edge: Edge, origin: Origin, passing: &Passing) -> EdgeId {
        let proc = self.program.locs[edge.from].proc;
        let mut passes = passing.step.clone();
        if !matches!(edge.op, Op::Spawn(_)) {
            let between = self.new_loc(proc);
            self.add_edge(edge.from, between, Op::Assign(passes), Expr::TRUE, origin);
            return self.add_edge(between, edge.to, edge.op, edge.ensures, origin);
        }
        let [begin, between, created, end] = [(); 4].map(|()| self.new_loc(proc));
        passes.active.push((self.child, number_of(passing.child)));
        let forgets = assign(vec![(self.child, number_of(NAMELESS))], Expr::TRUE);
        let (first, last) = if self.has_sections { (edge.from, edge.to) } else { (begin, end) };
        if !self.has_sections {
            self.add_edge(edge.from, begin, Op::AtomicBegin, Expr::TRUE, origin);
            self.add_edge(end, edge.to, Op::AtomicEnd, Expr::TRUE, origin);
        }
        self.add_edge(first, between, Op::Assign(passes), Expr::TRUE, origin);
        self.add_edge(created, last, forgets, Expr::TRUE, origin);
        self.add_edge(between, created, edge.op, edge.ensures, origin)
    }

    /// Lets threads stay about to make an access at one of two places, and checks for races fail at the other one, when
    /// all waypoints have been passed.
    fn add_race(&mut self, targets: &[Waypoint; 2], n_passed: u32, n_created: u32) -> Result<(), String> {
        let old = self.context.program;
        let race = self.context.map.race.ok_or("the witness is of a data race: ask with --property no-data-race")?;
        self.map.vars.push(Span::default());
        let ty = Ty::Machine(NUMBER);
        let place = self.program.vars.push(Var { name: "$place".to_owned(), scope: Scope::Shared, ty });
        self.map.views.insert(place, View::Hidden);
        self.program.init.push((place, number_of(0)));
        let stays = |id: &EdgeId| old.edges[*id].op.assigned().any(|var| var == race);
        let checks = |id: &EdgeId| old.edges[*id].op.exprs().any(|expr| expr.any_leaf(|leaf| *leaf == Expr::Var(race)));
        let named = |product: &Self, target: &Waypoint| match target.thread {
            Some(thread) if thread > n_created => Err(format!("thread {thread} is not created by a waypoint")),
            Some(thread) => Ok(is(product.name, thread)),
            None => Ok(Expr::TRUE),
        };
        for (target, number) in targets.iter().zip([1, 2]) {
            let by = named(self, target)?;
            for id in self.meant(target)?.into_iter().filter(checks) {
                let there = Expr::and(is(self.passed, n_passed), Expr::and(is(place, 3 - number), by.clone()));
                self.add_copy(id, Kind::Target, &Passing { step: Assign::assume(there), child: NAMELESS });
            }
            let covers = |id: &EdgeId| self.covers(self.context.map.edges[*id].span, target.place);
            let before: Vec<EdgeId> = old.edges.indices().filter(stays).filter(covers).collect();
            for id in before {
                let active = vec![(place, number_of(number))];
                let step = Assign { active, passive: Vec::new(), constrain: by.clone() };
                self.add_copy(id, Kind::Here, &Passing { step, child: NAMELESS });
            }
        }
        for id in old.edges.indices().filter(stays) {
            self.program.edges[id].op = Op::assume(Expr::FALSE);
        }
        Ok(())
    }

    /// Returns the condition that an input is the number of a waypoint.
    fn returns(&self, step: &Assign, kind: Kind) -> Option<Expr> {
        let Kind::Return(Some(number)) = kind else { return None };
        let (var, _) = step.active.iter().find(|(_, rhs)| matches!(rhs, Expr::Choice(..)))?;
        Some(match self.program.vars[*var].ty {
            Ty::Machine(ty) => Expr::binary(BinaryOp::Eq, Expr::Next(*var), ty.constant(number)),
            Ty::Int => Expr::binary(BinaryOp::Eq, Expr::Next(*var), Expr::Int(i64::try_from(number).ok()?)),
            Ty::Bool if number == 0 => Expr::negate(Expr::Next(*var)),
            Ty::Bool => Expr::Next(*var),
        })
    }

    /// Lets the failure of an assertion of the program end the thread without an error.
    fn end_others(&mut self) {
        for id in self.context.program.edges.indices().filter(|id| !self.context.map.limits.contains_key(id)) {
            let op = &mut self.program.edges[id].op;
            if let Op::Assert(condition) = op {
                *op = assign(Vec::new(), condition.clone());
            }
        }
    }
}

fn assign(active: Vec<(VarId, Expr)>, constrain: Expr) -> Op {
    Op::Assign(Assign { active, passive: Vec::new(), constrain })
}
