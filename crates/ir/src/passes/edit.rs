//! Helpers of the passes: removing parts of a program, and renumbering the rest.

use fixedbitset::FixedBitSet;
use index_vec::{Idx, IndexVec};

use super::{Copies, Lift, LiftStep, Passed, Source};
use crate::syntax::{Edge, EdgeId, Entry, Expr, Label, Loc, LocId, Op, Proc, ProcId, Program, Scope, Ty, Var, VarId};
use crate::target::Target;
use crate::visit::init_choices;

impl Passed {
    /// Returns the input unchanged. Passes start from it.
    pub fn unchanged(program: &Program, target: &Target) -> Passed {
        Passed { program: program.clone(), target: target.clone(), lift: Lift::identity(program) }
    }

    /// Adds a shared Boolean variable, which is false at the start.
    pub(super) fn add_flag(&mut self, name: String) -> VarId {
        let flag = self.program.vars.push(Var { name, scope: Scope::Shared, ty: Ty::Bool });
        self.program.init.push((flag, Expr::FALSE));
        self.lift.vars.push(None);
        flag
    }

    /// Adds a location to the procedure of another one.
    pub(super) fn add_loc_near(&mut self, loc: LocId) -> LocId {
        self.program.locs.push(self.program.locs[loc])
    }

    /// Adds an edge that represents some old steps.
    pub(super) fn add_edge(&mut self, from: LocId, to: LocId, op: Op, steps: Vec<LiftStep>) -> EdgeId {
        self.lift.edges.push(steps);
        self.program.edges.push(Edge::new(from, to, op))
    }

    /// Removes everything that is not kept, and renumbers the rest. Parts that are kept must not mention removed ones,
    /// except that labels, targets, initial values and lists of variables are pruned. Calls must fit the parameters
    /// that are kept.
    pub(super) fn retain(self, keep: &Keep) -> Passed {
        let Passed { program, target, lift } = self;
        let new = Renumbering::new(keep);
        let label = |label: &Label| Some(Label { loc: new.locs[label.loc]?, ..label.clone() });
        let kept_lift = Lift {
            edges: kept(lift.edges, &keep.edges).collect(),
            vars: kept(lift.vars, &keep.vars).collect(),
            copies: lift.copies.map(|copies| Copies {
                locs: kept(copies.locs, &keep.locs).collect(),
                vars: kept(copies.vars, &keep.vars).collect(),
                ..copies
            }),
            ..lift
        };
        let result = Program {
            vars: kept(program.vars, &keep.vars).map(|var| new.var(var)).collect(),
            procs: kept(program.procs, &keep.procs).map(|proc| new.proc(proc)).collect(),
            locs: kept(program.locs, &keep.locs).map(|loc| Loc { proc: new.known(loc.proc) }).collect(),
            edges: kept(program.edges, &keep.edges).map(|edge| new.edge(edge)).collect(),
            labels: program.labels.iter().filter_map(label).collect(),
            init: new.init(&program.init),
            prelude: program.prelude.map(|proc| new.known(proc)),
            entries: program.entries.iter().map(|entry| new.entry(entry)).collect(),
        };
        let target = Target::new(
            target.asserts.iter().filter_map(|edge| new.edges[*edge]).collect(),
            target.locs.iter().filter_map(|loc| new.locs[*loc]).collect(),
        )
        .with_together(target.moved_together(|loc| Vec::from_iter(new.locs[loc])))
        .with_deadlock(target.deadlock);
        Passed { program: result, target, lift: kept_lift }
    }

    /// Numbers the choices of each edge and of the initial values anew, without gaps. Choices of the input that no
    /// longer occur get the default value.
    pub(super) fn renumber_choices(mut self, old: &Program) -> Passed {
        for (edge, steps) in self.program.edges.iter_mut().zip(self.lift.edges.iter_mut()) {
            let new = number_choices(edge.op.exprs_mut());
            for step in steps {
                let old_types = old.edges[step.edge].op.choices();
                renumber_sources(&mut step.choices, &old_types, &new);
                for (var, source) in &mut step.fresh {
                    *source = renumbered(*source, old.vars[*var].ty, &new);
                }
            }
        }
        let of_init = |init: &mut [(VarId, Expr)], old: &[(VarId, Expr)], sources: &mut [Source]| {
            let new = number_choices(init.iter_mut().map(|(_, rhs)| rhs).collect());
            renumber_sources(sources, &init_choices(old), &new);
        };
        of_init(&mut self.program.init, &old.init, &mut self.lift.init);
        let lifts = self.lift.entries.iter_mut().zip(&old.entries);
        for (entry, (sources, old)) in self.program.entries.iter_mut().zip(lifts) {
            of_init(&mut entry.init, &old.init, sources);
        }
        self
    }
}

/// Numbers the choices in some expressions in the order of their old numbers; returns the new number of each old one.
pub(super) fn number_choices(exprs: Vec<&mut Expr>) -> Vec<Option<u32>> {
    let mut new: Vec<Option<u32>> = Vec::new();
    for expr in &exprs {
        expr.for_each_leaf(|leaf| {
            if let Expr::Choice(number, _) = leaf {
                let number = *number as usize;
                new.resize(new.len().max(number + 1), None);
                new[number] = Some(0);
            }
        });
    }
    if new.iter().all(Option::is_some) {
        return (0..new.len() as u32).map(Some).collect();
    }
    new.iter_mut().flatten().zip(0..).for_each(|(place, number)| *place = number);
    for expr in exprs {
        expr.for_each_leaf_mut(&mut |leaf| {
            if let Expr::Choice(number, _) = leaf {
                *number = new[*number as usize].expect("all that occur have a new number");
            }
        });
    }
    new
}

fn renumber_sources(sources: &mut [Source], old_types: &[Ty], new: &[Option<u32>]) {
    for (source, ty) in sources.iter_mut().zip(old_types) {
        *source = renumbered(*source, *ty, new);
    }
}

fn renumbered(source: Source, ty: Ty, new: &[Option<u32>]) -> Source {
    match source {
        Source::Choice(number) => match new.get(number as usize) {
            Some(Some(number)) => Source::Choice(*number),
            _ => Source::Value(ty.default_value()),
        },
        fixed => fixed,
    }
}

/// Returns the condition and that Boolean variables, lowest bit first, hold a number.
pub(super) fn and_number(condition: Expr, bits: &[VarId], number: usize) -> Expr {
    bits.iter().enumerate().fold(condition, |all, (place, bit)| {
        let is_one = Expr::Var(*bit);
        Expr::and(all, if number >> place & 1 == 1 { is_one } else { Expr::negate(is_one) })
    })
}

/// The parts of a program to keep, by number.
#[derive(Clone, Debug)]
pub(super) struct Keep {
    pub(super) vars: FixedBitSet,
    pub(super) procs: FixedBitSet,
    pub(super) locs: FixedBitSet,
    pub(super) edges: FixedBitSet,
}

impl Keep {
    /// Keeps everything.
    pub(super) fn all(program: &Program) -> Keep {
        Keep {
            vars: (0..program.vars.len()).collect(),
            procs: (0..program.procs.len()).collect(),
            locs: (0..program.locs.len()).collect(),
            edges: (0..program.edges.len()).collect(),
        }
    }

    /// Keeps the given procedures with everything in them, and all variables that are not local to another one.
    pub(super) fn procs(program: &Program, procs: FixedBitSet) -> Keep {
        let is_kept = |proc: ProcId| procs.contains(proc.index());
        let in_kept = |loc: LocId| is_kept(program.locs[loc].proc);
        Keep {
            vars: collect(program.vars.iter().map(|var| !matches!(var.scope, Scope::Local(owner) if !is_kept(owner)))),
            locs: collect(program.locs.indices().map(in_kept)),
            edges: collect(program.edges.iter().map(|edge| in_kept(edge.from))),
            procs,
        }
    }
}

/// Returns the set of indices at which the sequence is true.
pub(super) fn collect(flags: impl ExactSizeIterator<Item = bool>) -> FixedBitSet {
    let mut set = FixedBitSet::with_capacity(flags.len());
    flags.enumerate().filter(|(_, flag)| *flag).for_each(|(place, _)| set.insert(place));
    set
}

/// Returns the items whose indices are in a set.
fn kept<T>(items: impl IntoIterator<Item = T>, keep: &FixedBitSet) -> impl Iterator<Item = T> {
    items.into_iter().zip(0..).filter(|(_, place)| keep.contains(*place)).map(|(item, _)| item)
}

/// The new numbers of the parts that are kept.
struct Renumbering {
    vars: IndexVec<VarId, Option<VarId>>,
    procs: IndexVec<ProcId, Option<ProcId>>,
    locs: IndexVec<LocId, Option<LocId>>,
    edges: IndexVec<EdgeId, Option<EdgeId>>,
}

impl Renumbering {
    fn new(keep: &Keep) -> Renumbering {
        Renumbering {
            vars: numbers(&keep.vars),
            procs: numbers(&keep.procs),
            locs: numbers(&keep.locs),
            edges: numbers(&keep.edges),
        }
    }

    fn known(&self, proc: ProcId) -> ProcId {
        self.procs[proc].expect("the procedures of what is kept are kept")
    }

    fn loc(&self, loc: LocId) -> LocId {
        self.locs[loc].expect("the locations of what is kept are kept")
    }

    fn var_id(&self, var: VarId) -> VarId {
        self.vars[var].expect("the variables of what is kept are kept")
    }

    fn var_ids(&self, vars: &[VarId]) -> Vec<VarId> {
        vars.iter().filter_map(|var| self.vars[*var]).collect()
    }

    fn var(&self, var: Var) -> Var {
        let scope = match var.scope {
            Scope::Local(owner) => Scope::Local(self.known(owner)),
            scope => scope,
        };
        Var { scope, ..var }
    }

    fn proc(&self, proc: Proc) -> Proc {
        Proc {
            params: self.var_ids(&proc.params),
            locals: self.var_ids(&proc.locals),
            entry: self.loc(proc.entry),
            exit: self.loc(proc.exit),
            ..proc
        }
    }

    fn init(&self, init: &[(VarId, Expr)]) -> Vec<(VarId, Expr)> {
        init.iter().filter_map(|(var, rhs)| Some((self.vars[*var]?, rhs.renamed(&|var| self.var_id(var))))).collect()
    }

    fn entry(&self, entry: &Entry) -> Entry {
        Entry {
            proc: self.known(entry.proc),
            thread_vars: self.var_ids(&entry.thread_vars),
            init: self.init(&entry.init),
            ..entry.clone()
        }
    }

    fn edge(&self, mut edge: Edge) -> Edge {
        edge.rename(&|var| self.var_id(var));
        let Edge { from, to, mut op, ensures } = edge;
        match &mut op {
            Op::Call(call) => call.callee = self.known(call.callee),
            Op::Spawn(spawn) => spawn.callee = self.known(spawn.callee),
            Op::Fork(loc) => *loc = self.loc(*loc),
            _ => {}
        }
        Edge { from: self.loc(from), to: self.loc(to), op, ensures }
    }
}

fn numbers<I: Idx>(keep: &FixedBitSet) -> IndexVec<I, Option<I>> {
    let mut next = 0..;
    let number = |place: usize| if keep.contains(place) { next.next().map(I::from_usize) } else { None };
    (0..keep.len()).map(number).collect()
}
