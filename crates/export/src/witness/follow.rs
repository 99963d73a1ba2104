//! The program whose executions to errors are those that pass all waypoints of a witness.
//!
//! A counter says how many waypoints have been passed. For each step that a waypoint speaks of there is a copy that
//! also passes the waypoint, if it is the next one; the step itself stays, since an execution may come by without
//! passing. A per-thread variable has the name of the thread in the witness: the first waypoint that has a name gives
//! it to a thread without one. A failed assertion is an error only where the last waypoint speaks of it and all others
//! have been passed; others end the thread, as in the program. So each execution to an error, without what is added,
//! is an execution of the program to this error, and an execution that passes all waypoints in their order is found.

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
pub fn follow(context: Context<'_>, waypoints: &[Waypoint]) -> Result<(Program, SourceMap), String> {
    let mut product = Product::new(context);
    product.forget_names()?;
    let edges: Vec<EdgeId> = context.program.edges.indices().collect();
    let mut named = BTreeSet::from([0]);
    for (number, waypoint) in waypoints.iter().enumerate() {
        let passing = product.passing(number as u32, waypoint.thread, &mut named)?;
        let found: Vec<EdgeId> = edges.iter().copied().filter(|edge| product.is_meant(*edge, waypoint)).collect();
        if found.is_empty() {
            let column = waypoint.place.column.map(|column| format!(", column {column}")).unwrap_or_default();
            return Err(format!("no step of the program is at line {}{column}", waypoint.place.line));
        }
        found.into_iter().for_each(|edge| product.add_copy(edge, waypoint.kind, &passing));
    }
    product.end_others();
    Ok((product.program, product.map))
}

struct Product<'a> {
    context: Context<'a>,
    program: Program,
    map: SourceMap,
    /// The number of waypoints that have been passed.
    passed: VarId,
    /// The name of the thread.
    name: VarId,
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
        let (passed, name) = (add("$waypoints", Scope::Shared), add("$thread", Scope::Thread));
        program.init.push((passed, NUMBER.constant(0)));
        for entry in &mut program.entries {
            entry.thread_vars.push(name);
            entry.init.push((name, NUMBER.constant(0)));
        }
        let has_sections = program.edges.iter().any(|edge| edge.op == Op::AtomicBegin);
        Product { context, program, map, passed, name, has_sections }
    }

    /// Lets each thread that is created begin without a name.
    fn forget_names(&mut self) -> Result<(), String> {
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
            let forgets = assign(vec![(self.name, NUMBER.constant(i128::from(NAMELESS)))], Expr::TRUE);
            self.add_edge(begin, entry, forgets, Expr::TRUE, origin);
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

    /// Returns what passing a waypoint needs and changes.
    fn passing(&self, number: u32, thread: Option<u32>, named: &mut BTreeSet<u32>) -> Result<Assign, String> {
        let is =
            |var: VarId, value: u32| Expr::binary(BinaryOp::Eq, Expr::Var(var), NUMBER.constant(i128::from(value)));
        let mut active = vec![(self.passed, NUMBER.constant(i128::from(number) + 1))];
        let mut needs = is(self.passed, number);
        if let Some(thread) = thread {
            if thread >= NAMELESS {
                return Err(format!("there is no thread {thread}"));
            }
            let is_new = named.insert(thread);
            needs = Expr::and(needs, is(self.name, if is_new { NAMELESS } else { thread }));
            active.extend(is_new.then(|| (self.name, NUMBER.constant(i128::from(thread)))));
        }
        Ok(Assign { active, passive: Vec::new(), constrain: needs })
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
    fn add_copy(&mut self, id: EdgeId, kind: Kind, passing: &Assign) {
        let edge = self.context.program.edges[id].clone();
        let (origin, needs) = (self.map.edges[id], passing.constrain.clone());
        let copy = match (kind, &edge.op) {
            (Kind::Target, Op::Assert(condition)) => {
                let holds = Expr::or(Expr::negate(needs), condition.clone());
                self.add_edge(edge.from, edge.to, Op::Assert(holds), edge.ensures, origin)
            }
            (_, Op::Assign(step)) => {
                let returns = self.returns(step, kind);
                let constrain = returns.into_iter().fold(Expr::and(step.constrain.clone(), needs), Expr::and);
                let active = [step.active.clone(), passing.active.clone()].concat();
                let step = Assign { active, passive: step.passive.clone(), constrain };
                self.add_edge(edge.from, edge.to, Op::Assign(step), edge.ensures, origin)
            }
            _ => self.add_two_steps(edge, origin, passing),
        };
        let map = self.context.map;
        self.map.inputs.extend(map.inputs.get(&id).map(|name| (copy, name.clone())));
        self.map.notes.extend(map.notes.get(&id).map(|note| (copy, note.clone())));
    }

    /// Adds a step that passes a waypoint, and one behind it: as one section, if the program has no others.
    fn add_two_steps(&mut self, edge: Edge, origin: Origin, passing: &Assign) -> EdgeId {
        let proc = self.program.locs[edge.from].proc;
        let [begin, between, end] = [self.new_loc(proc), self.new_loc(proc), self.new_loc(proc)];
        let passes = Op::Assign(passing.clone());
        if self.has_sections || !matches!(edge.op, Op::Spawn(_)) {
            self.add_edge(edge.from, between, passes, Expr::TRUE, origin);
            return self.add_edge(between, edge.to, edge.op, edge.ensures, origin);
        }
        self.add_edge(edge.from, begin, Op::AtomicBegin, Expr::TRUE, origin);
        self.add_edge(begin, between, passes, Expr::TRUE, origin);
        self.add_edge(end, edge.to, Op::AtomicEnd, Expr::TRUE, origin);
        self.add_edge(between, end, edge.op, edge.ensures, origin)
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
