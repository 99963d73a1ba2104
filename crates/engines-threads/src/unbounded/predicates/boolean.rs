//! The Boolean program over the predicates.
//!
//! It has the locations, edges and procedures of the program; its variables are the predicates: shared ones, and locals
//! of the procedures whose variables they read. Where a predicate is not tracked, it is false. A broadcast reaches
//! threads wherever they are, so that a predicate with shared and local variables has a *flag* beside it, which is true
//! where it is tracked: elsewhere the broadcast leaves it false. Flags are predicates as well, the constant true.

use index_vec::IndexVec;
use selvedge_check::{PredicatePlace, PredicateStep};
use selvedge_ir::simplify::simplify;
use selvedge_ir::{
    Assign, BinaryOp, Edge, EdgeId, Entry, Expr, LocId, Op, Proc, ProcId, Program, Scope, Spawn, Ty, Var, VarId,
};

use super::abstraction::{AbstractStep, Premise, Update};
use super::implicants::Cube;
use super::predicate::{Predicate, Predicates};

/// A Boolean program, and what its parts stand for.
pub(super) struct Boolean {
    pub(super) program: Program,
    pub(super) predicates: IndexVec<VarId, Expr>,
    pub(super) places: IndexVec<LocId, Option<PredicatePlace>>,
    pub(super) steps: IndexVec<EdgeId, PredicateStep>,
}

/// A flag: true where a predicate of a procedure is tracked.
struct Flag {
    owner: ProcId,
    /// A predicate that is tracked at the same locations.
    like: usize,
}

struct Writer<'w> {
    old: &'w Program,
    all: &'w [Predicate],
    flags: Vec<Flag>,
}

/// Writes the program.
pub(super) fn boolean(
    old: &Program,
    predicates: &Predicates<'_>,
    initial: &[Option<bool>],
    steps: &IndexVec<EdgeId, AbstractStep>,
) -> Boolean {
    let writer = Writer { old, all: &predicates.all, flags: flags(old, &predicates.all) };
    writer.program(initial, steps)
}

/// Returns the flags: one for all predicates that are tracked at the same locations. Initial threads begin with any
/// values, so that their procedures have none.
fn flags(old: &Program, all: &[Predicate]) -> Vec<Flag> {
    let mut flags: Vec<Flag> = Vec::new();
    for (like, predicate) in all.iter().enumerate() {
        let Some(owner) = predicate.owner else { continue };
        let is_mixed = predicate.vars.iter().any(|var| old.vars[*var].scope == Scope::Shared);
        let is_known =
            |flag: &Flag| old.locs.indices().all(|loc| all[flag.like].is_tracked(loc) == predicate.is_tracked(loc));
        let starts = old.entries.iter().any(|entry| entry.proc == owner);
        if is_mixed && !starts && !flags.iter().any(is_known) {
            flags.push(Flag { owner, like });
        }
    }
    flags
}

impl Writer<'_> {
    fn program(&self, initial: &[Option<bool>], steps: &IndexVec<EdgeId, AbstractStep>) -> Boolean {
        let old = self.old;
        let scope = |owner: Option<ProcId>| owner.map_or(Scope::Shared, Scope::Local);
        let var = |(number, owner): (usize, Option<ProcId>), letter: char| Var {
            name: format!("{letter}{number}"),
            scope: scope(owner),
            ty: Ty::Bool,
        };
        let plain = self.all.iter().map(|one| one.owner).enumerate().map(|item| var(item, 'p'));
        let flags = self.flags.iter().map(|flag| Some(flag.owner)).enumerate().map(|item| var(item, 'f'));
        let vars = plain.chain(flags).collect();
        let (mut edges, mut of_edges) = (IndexVec::new(), IndexVec::new());
        for (id, edge) in old.edges.iter_enumerated() {
            let mut writer = StepWriter::new(self, &steps[id]);
            let op = writer.op(edge);
            edges.push(Edge::new(edge.from, edge.to, op));
            of_edges.push(PredicateStep { edge: id, choices: writer.choices });
        }
        let procs = old.procs.iter_enumerated().map(|(id, proc)| self.proc(id, proc)).collect();
        let values = initial.iter().enumerate().filter_map(|(number, value)| Some((number, (*value)?)));
        let init = values.map(|(number, value)| (VarId::new(number), Expr::Bool(value))).collect();
        let entry = |entry: &Entry| Entry { thread_vars: Vec::new(), init: Vec::new(), ..entry.clone() };
        let entries = old.entries.iter().map(entry).collect();
        let program = Program { vars, procs, edges, init, entries, ..old.clone() };
        let exprs = self.all.iter().map(|one| one.expr.clone());
        let predicates = exprs.chain(self.flags.iter().map(|_| Expr::TRUE)).collect();
        let places = old.locs.indices().map(|loc| self.place(loc)).collect();
        Boolean { program, predicates, places, steps: of_edges }
    }

    /// Returns the locals that are tracked at a location: predicates and flags.
    fn tracked(&self, at: LocId) -> Vec<VarId> {
        let is_tracked = |(_, like): &(usize, usize)| self.all[*like].owner.is_some() && self.all[*like].is_tracked(at);
        self.locals().filter(is_tracked).map(|(number, _)| VarId::new(number)).collect()
    }

    /// Returns the numbers of all variables, each with a predicate that is tracked where it is.
    fn locals(&self) -> impl Iterator<Item = (usize, usize)> {
        let flags = self.flags.iter().enumerate().map(|(number, flag)| (self.all.len() + number, flag.like));
        (0..self.all.len()).map(|number| (number, number)).chain(flags)
    }

    fn place(&self, at: LocId) -> Option<PredicatePlace> {
        let is_exit = self.old.procs[self.old.locs[at].proc].exit == at;
        (!is_exit).then(|| PredicatePlace { calls: Vec::new(), loc: at, tracked: self.tracked(at) })
    }

    fn proc(&self, id: ProcId, proc: &Proc) -> Proc {
        let owned = self.locals().filter(|(_, like)| self.all[*like].owner == Some(id));
        let locals = owned.map(|(number, _)| VarId::new(number)).collect();
        let params = if self.is_spawned(id) { self.tracked(proc.entry) } else { Vec::new() };
        Proc { params, locals, results: Vec::new(), ..proc.clone() }
    }

    fn is_spawned(&self, proc: ProcId) -> bool {
        self.old.edges.iter().any(|edge| matches!(&edge.op, Op::Spawn(spawn) if spawn.callee == proc))
    }

    /// Returns the flag of a predicate, if it has one.
    fn flag(&self, number: usize) -> Option<VarId> {
        let one = &self.all[number];
        let mut flags = self.flags.iter().enumerate();
        let same = |flag: &Flag| {
            flag.owner == one.owner.unwrap_or(flag.owner)
                && self.old.locs.indices().all(|loc| self.all[flag.like].is_tracked(loc) == one.is_tracked(loc))
        };
        let (place, _) = flags.find(|(_, flag)| same(flag))?;
        Some(VarId::new(self.all.len() + place))
    }
}

/// The step along one edge.
struct StepWriter<'w> {
    writer: &'w Writer<'w>,
    step: &'w AbstractStep,
    /// What the choices stand for.
    choices: Vec<Option<VarId>>,
    /// The new values that have been written, of the thread that moves and of another one.
    active: Vec<(VarId, Expr)>,
    passive: Vec<(VarId, Expr)>,
}

impl<'w> StepWriter<'w> {
    fn new(writer: &'w Writer<'w>, step: &'w AbstractStep) -> StepWriter<'w> {
        StepWriter { writer, step, choices: Vec::new(), active: Vec::new(), passive: Vec::new() }
    }

    fn op(&mut self, edge: &Edge) -> Op {
        match &edge.op {
            Op::Assign(_) => self.assign(edge),
            Op::Assert(_) => {
                let asserted = self.step.asserted.as_deref().map(|update| self.value(update, None));
                Op::Assert(asserted.unwrap_or(Expr::TRUE))
            }
            Op::Return(_) => Op::Return(Vec::new()),
            Op::Spawn(spawn) => self.spawn(spawn),
            op => op.clone(),
        }
    }

    fn assign(&mut self, edge: &Edge) -> Op {
        let all = self.writer.all;
        for (number, update) in &self.step.active {
            let value = self.value(update, Some(*number));
            self.active.push((VarId::new(*number), value));
        }
        for (number, like) in self.writer.locals().filter(|(_, like)| all[*like].owner.is_some()) {
            let (before, after) = (all[like].is_tracked(edge.from), all[like].is_tracked(edge.to));
            if before && !after {
                self.active.push((VarId::new(number), Expr::FALSE));
            } else if number >= all.len() && after && !before {
                self.active.push((VarId::new(number), Expr::TRUE));
            }
        }
        for (number, update) in &self.step.passive {
            let value = self.value(update, Some(*number));
            self.passive.push((VarId::new(*number), value));
        }
        let passive = self.passive.iter().map(|(var, value)| match self.writer.flag(var.index()) {
            Some(flag) => (*var, simplify(&Expr::and(Expr::Passive(flag), value.clone()))),
            None => (*var, value.clone()),
        });
        let (passive, active) = (passive.collect(), self.active.clone());
        let condition = self.step.condition.as_deref();
        let constrain = condition.map_or(Expr::TRUE, |update| Expr::negate(self.any(&update.known.fails, update)));
        Op::Assign(Assign { active, passive, constrain: simplify(&constrain) })
    }

    fn spawn(&mut self, spawn: &Spawn) -> Op {
        let entry = self.writer.old.procs[spawn.callee].entry;
        let args = self.writer.tracked(entry).into_iter().map(|var| {
            let found = self.step.child.iter().find(|(number, _)| *number == var.index());
            // The others are flags.
            found.map_or(Expr::TRUE, |(number, update)| self.value(update, Some(*number)))
        });
        let args = args.collect();
        Op::Spawn(Spawn { callee: spawn.callee, args })
    }

    /// Returns the new value of a predicate; `None` stands for the condition of an assertion.
    fn value(&mut self, update: &Update, of: Option<usize>) -> Expr {
        let holds = self.any(&update.known.holds, update);
        if update.known.is_exact {
            return simplify(&holds);
        }
        let fails = self.any(&update.known.fails, update);
        let choice = Expr::choice(self.choices.len() as u32);
        self.choices.push(of.map(VarId::new));
        let open = Expr::and(Expr::negate(fails), choice);
        simplify(&Expr::or(holds, open))
    }

    /// Returns the condition that one of some cubes holds.
    fn any(&mut self, cubes: &[Cube], update: &Update) -> Expr {
        let cubes = cubes.iter().map(|cube| self.cube(cube, update)).collect();
        Expr::balanced(BinaryOp::Or, cubes).unwrap_or(Expr::FALSE)
    }

    fn cube(&mut self, cube: &Cube, update: &Update) -> Expr {
        let literal = |(place, value): &(usize, bool)| {
            let premise = self.premise(update.premises[*place]);
            if *value { premise } else { Expr::negate(premise) }
        };
        let literals = cube.iter().map(literal).collect();
        Expr::balanced(BinaryOp::And, literals).unwrap_or(Expr::TRUE)
    }

    /// Returns a premise; new values are written out.
    fn premise(&self, premise: Premise) -> Expr {
        let written = |values: &[(VarId, Expr)], number: usize| -> Expr {
            let found = values.iter().find(|(var, _)| var.index() == number);
            found.expect("only new values that were looked at before are premises").1.clone()
        };
        match premise {
            Premise::Now(number) => Expr::Var(VarId::new(number)),
            Premise::Other(number) => Expr::Passive(VarId::new(number)),
            Premise::Next(number) => written(&self.active, number),
            Premise::OtherNext(number) => written(&self.passive, number),
        }
    }
}
