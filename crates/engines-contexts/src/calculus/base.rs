//! The base relations of a program.

use std::collections::BTreeMap;

use selvedge_check::{Run, Stop};
use selvedge_ir::fp::{Base, Fixpoint, Formula, Sort};
use selvedge_ir::visit::choice_types;
use selvedge_ir::{Assign, Call, Edge, Expr, Op, ProcId, Scope, Target, VarId};
use selvedge_logic::bdd::{Bdd, Limits, OutOfNodes};
use selvedge_logic::relation::{Column, Plan, Relation, Space};
use selvedge_transition::out_of_nodes;
use selvedge_transition::step::diagram::relation::Layout;

use super::encode::{Encoding, StateColumns};
use super::used::UsedCounts;
use crate::thread_paths::track::Tracked;

/// The columns of all sorts, and the relations.
pub(super) struct Bases {
    pub(super) space: Space,
    columns: BTreeMap<Sort, Vec<Column>>,
    /// The number of columns of each sort for variables; the others are spare.
    n_columns: BTreeMap<Sort, usize>,
    relations: BTreeMap<Base, Relation>,
    /// Set if `init` can fail.
    pub(super) init_fails: bool,
}

impl Bases {
    pub(super) fn new(tracked: &Tracked, target: &Target, fixpoint: &Fixpoint, run: &Run<'_>) -> Result<Bases, Stop> {
        let encoding = Encoding::new(&tracked.program);
        let program = encoding.program;
        let inits = program.init.iter().chain(program.entries.iter().flat_map(|entry| &entry.init));
        let n_initial = choice_types(inits.map(|(_, rhs)| rhs)).len();
        let n_choices = program.edges.iter().map(|edge| edge.op.choices().len()).max().unwrap_or(0).max(n_initial);
        let n_templates = program.entries.len();
        let used = UsedCounts::new(program);
        let width = |sort: Sort| match sort {
            Sort::Shared => encoding.n_shared,
            Sort::Own => encoding.n_own,
            Sort::Frame => encoding.frame_width,
            Sort::Template => (usize::BITS - n_templates.saturating_sub(1).leading_zeros()) as usize,
            Sort::Used => used.width,
        };
        let mut plan = Plan::new();
        let (mut columns, mut n_columns) = (BTreeMap::new(), BTreeMap::new());
        for sort in Sort::ALL {
            let (most, spare) = demand(fixpoint, sort);
            let names = (0..most + spare).map(|number| format!("{}{number}", sort.name()));
            columns.insert(sort, plan.columns(width(sort), names));
            n_columns.insert(sort, most);
        }
        let [choices] = plan.group(n_choices, ["choices"]);
        let limits = run.memory_limit().map_or(Limits::default(), |bytes| Limits::memory(bytes / 2));
        let space = plan.build(Limits { cache: limits.cache.min(1 << 18), ..limits });
        let mut bases = Bases { space, columns, n_columns, relations: BTreeMap::new(), init_fails: false };
        let maker = BaseBuilder { encoding, tracked, target, choices, used };
        for base in Base::ALL {
            run.check_limits()?;
            let relation = maker.relation(&bases, base).map_err(out_of_nodes)?;
            bases.relations.insert(base, relation);
        }
        let (initial, fails) = maker.after_init(&bases, run)?;
        bases.relations.insert(Base::Initial, initial);
        bases.init_fails = fails;
        Ok(bases)
    }

    pub(super) fn relation(&self, base: Base) -> &Relation {
        &self.relations[&base]
    }

    /// Returns the columns of variables with the given sorts, in the order in which they are bound.
    pub(super) fn columns(&self, sorts: &[Sort]) -> Vec<Column> {
        let mut used: BTreeMap<Sort, usize> = BTreeMap::new();
        let column = |sort: &Sort| {
            let number = used.entry(*sort).or_default();
            *number += 1;
            self.columns[sort][*number - 1]
        };
        sorts.iter().map(column).collect()
    }

    /// Returns a column that no variable uses.
    pub(super) fn spare(&self, sort: Sort, number: usize) -> Column {
        self.columns[&sort][self.n_columns[&sort] + number]
    }

    /// Returns two columns for blocks of threads.
    fn used(&self) -> [Column; 2] {
        [self.columns[&Sort::Used][0], self.columns[&Sort::Used][1]]
    }

    fn at(&self, shared: usize, own: usize, frame: usize) -> StateColumns {
        let column = |sort: Sort, number: usize| self.columns[&sort][number];
        StateColumns {
            shared: column(Sort::Shared, shared),
            own: column(Sort::Own, own),
            frame: column(Sort::Frame, frame),
        }
    }
}

/// Returns the number of columns of a sort that the equations and the relations of the program need, and the number of
/// spare ones.
fn demand(fixpoint: &Fixpoint, sort: Sort) -> (usize, usize) {
    fn in_formula(formula: &Formula, sort: Sort, bound: usize) -> (usize, usize) {
        match formula {
            Formula::True | Formula::False | Formula::Equal { .. } => (bound, 0),
            Formula::Atom { args, .. } => {
                let doubled = (0..args.len()).filter(|place| args[..*place].contains(&args[*place])).count();
                (bound, doubled)
            }
            Formula::And(parts) | Formula::Or(parts) => {
                let demands = parts.iter().map(|part| in_formula(part, sort, bound));
                demands.fold((bound, 0), |all, one| (all.0.max(one.0), all.1.max(one.1)))
            }
            Formula::Exists { sorts, body, .. } => {
                in_formula(body, sort, bound + sorts.iter().filter(|other| **other == sort).count())
            }
        }
    }
    let of = |sorts: &mut dyn Iterator<Item = Sort>| sorts.filter(|other| *other == sort).count();
    let own = Base::ALL.iter().map(|base| of(&mut base.sorts().iter().copied())).max().unwrap_or(0);
    let equations = fixpoint
        .equations
        .iter()
        .map(|equation| in_formula(&equation.body, sort, of(&mut equation.params.iter().map(|param| param.sort))));
    equations.fold((own, 0), |all, one| (all.0.max(one.0), all.1.max(one.1)))
}

struct BaseBuilder<'t> {
    encoding: Encoding<'t>,
    tracked: &'t Tracked,
    target: &'t Target,
    choices: Column,
    used: UsedCounts,
}

impl BaseBuilder<'_> {
    fn relation(&self, bases: &Bases, base: Base) -> Result<Relation, OutOfNodes> {
        let bdd = match base {
            Base::Initial => self.initial(bases)?,
            Base::Begin => self.begin(bases)?,
            Base::Step => self.any_edge(bases, |edge| self.step(bases, edge))?,
            Base::Call => self.any_edge(bases, |edge| self.call(bases, edge))?,
            Base::Return => self.any_edge(bases, |edge| self.returns(bases, edge))?,
            Base::Entry => self.entry(bases)?,
            Base::Exit => self.any_edge(bases, |edge| match edge.op {
                Op::Return(_) => self.from(bases, edge).map(Some),
                _ => Ok(None),
            })?,
            Base::End => self.any_edge(bases, |edge| self.end(bases, edge))?,
            Base::Free => self.free(bases)?,
            Base::Target => self.errors(bases)?,
            Base::First => self.template(bases, 0, 0)?,
            Base::Next => self.next(bases)?,
            Base::Last => self.template(bases, 0, self.encoding.program.entries.len().saturating_sub(1))?,
            Base::Halt => self.any_edge(bases, |edge| match edge.op {
                Op::End => self.from(bases, edge).map(Some),
                _ => Ok(None),
            })?,
            Base::Nobody => self.used.empty(&bases.space, bases.used()[0])?,
            Base::More => self.more(bases)?,
            Base::Fit => self.used.fits(&bases.space, bases.used())?,
        };
        Ok(bases.space.relation(bdd, &bases.columns(base.sorts())))
    }

    /// Returns the frames at the entry of some procedure.
    fn entry(&self, bases: &Bases) -> Result<Bdd, OutOfNodes> {
        let entries = self.encoding.program.procs.iter().map(|proc| proc.entry);
        let frame = bases.at(0, 0, 0).frame;
        let at_loc = |all: Bdd, loc| all.or(&self.encoding.at_loc(&bases.space, frame, loc)?);
        entries.into_iter().try_fold(bases.space.manager().bottom(), at_loc)
    }

    /// Relates each template to the next one in the order of the program.
    fn next(&self, bases: &Bases) -> Result<Bdd, OutOfNodes> {
        let mut all = bases.space.manager().bottom();
        for number in 1..self.encoding.program.entries.len() {
            all = all.or(&self.template(bases, 0, number - 1)?.and(&self.template(bases, 1, number)?)?)?;
        }
        Ok(all)
    }

    /// Relates the counts of a block to those with one more thread of a template.
    fn more(&self, bases: &Bases) -> Result<Bdd, OutOfNodes> {
        let mut all = bases.space.manager().bottom();
        for number in 0..self.encoding.program.entries.len() {
            let more = self.used.add(&bases.space, number, bases.used())?;
            all = all.or(&self.template(bases, 0, number)?.and(&more)?)?;
        }
        Ok(all)
    }

    /// Returns the union of a relation over all edges.
    fn any_edge(
        &self,
        bases: &Bases,
        of: impl Fn(&Edge) -> Result<Option<Bdd>, OutOfNodes>,
    ) -> Result<Bdd, OutOfNodes> {
        let mut all = bases.space.manager().bottom();
        for edge in &self.encoding.program.edges {
            if let Some(more) = of(edge)? {
                all = all.or(&more)?;
            }
        }
        Ok(all)
    }

    fn from(&self, bases: &Bases, edge: &Edge) -> Result<Bdd, OutOfNodes> {
        self.encoding.at_loc(&bases.space, bases.at(0, 0, 0).frame, edge.from)
    }

    fn without_choices(&self, bases: &Bases, bdd: &Bdd) -> Result<Bdd, OutOfNodes> {
        bdd.exists(&bases.space.manager().var_set(&bases.space.vars(self.choices))?)
    }

    fn value(&self, bases: &Bases, rhs: &Expr, at: StateColumns) -> Result<Bdd, OutOfNodes> {
        self.encoding.layout(&bases.space, self.choices).value([at, at], rhs)
    }

    /// Requires that a variable has a value.
    fn gets(&self, bases: &Bases, var: VarId, at: StateColumns, value: &Bdd) -> Result<Bdd, OutOfNodes> {
        bases.space.manager().var(self.encoding.var(&bases.space, at, var))?.iff(value)
    }

    /// Requires that variables have the same values in two states.
    fn same(
        &self,
        bases: &Bases,
        vars: impl Iterator<Item = VarId>,
        a: StateColumns,
        b: StateColumns,
    ) -> Result<Bdd, OutOfNodes> {
        let var = |at: StateColumns, var: VarId| self.encoding.var(&bases.space, at, var);
        bases.space.manager().equal(&vars.map(|id| (var(a, id), var(b, id))).collect::<Vec<_>>())
    }

    fn template(&self, bases: &Bases, column: usize, number: usize) -> Result<Bdd, OutOfNodes> {
        let column = bases.columns[&Sort::Template][column];
        let vars = bases.space.vars(column).into_iter().enumerate();
        let literals: Vec<_> = vars.map(|(bit, var)| (var, number >> bit & 1 == 1)).collect();
        bases.space.manager().cube(&literals)
    }

    /// Returns the shared states before `init`; further variables are unconstrained.
    fn initial(&self, bases: &Bases) -> Result<Bdd, OutOfNodes> {
        let at = bases.at(0, 0, 0);
        let mut all = bases.space.manager().top();
        for (var, rhs) in &self.encoding.program.init {
            all = all.and(&self.gets(bases, *var, at, &self.value(bases, rhs, at)?)?)?;
        }
        self.without_choices(bases, &all)
    }

    fn begin(&self, bases: &Bases) -> Result<Bdd, OutOfNodes> {
        let (program, at) = (self.encoding.program, bases.at(0, 0, 0));
        let mut all = bases.space.manager().bottom();
        for (id, entry) in program.entries.iter_enumerated() {
            let mut begins = self.template(bases, 0, id.index())?;
            begins = begins.and(&self.encoding.at_loc(&bases.space, at.frame, program.procs[entry.proc].entry)?)?;
            for (var, rhs) in &entry.init {
                begins = begins.and(&self.gets(bases, *var, at, &self.value(bases, rhs, at)?)?)?;
            }
            for (var, of_thread) in program.vars.iter_enumerated() {
                if of_thread.scope == Scope::Thread && !entry.thread_vars.contains(&var) {
                    begins = begins.and(&self.gets(bases, var, at, &bases.space.manager().bottom())?)?;
                }
            }
            all = all.or(&begins)?;
        }
        self.without_choices(bases, &all)
    }

    fn step(&self, bases: &Bases, edge: &Edge) -> Result<Option<Bdd>, OutOfNodes> {
        let assign = match &edge.op {
            Op::Assign(assign) => assign.clone(),
            Op::Assert(condition) => Assign::assume(condition.clone()),
            Op::AtomicBegin | Op::AtomicEnd => Assign::skip(),
            _ => return Ok(None),
        };
        let (now, next) = (bases.at(0, 0, 0), bases.at(1, 1, 1));
        let proc = self.encoding.program.locs[edge.from].proc;
        let assigned = |var: &VarId| assign.active.iter().any(|(target, _)| target == var);
        let mut step = self.encoding.layout(&bases.space, self.choices).moved([now, next], &assign, &|_| false)?;
        let kept = self.encoding.visible(proc).filter(|var| !assigned(var));
        step = step.and(&self.same(bases, kept, now, next)?)?.and(&self.from(bases, edge)?)?;
        step.and(&self.encoding.at_loc(&bases.space, next.frame, edge.to)?).map(Some)
    }

    fn call(&self, bases: &Bases, edge: &Edge) -> Result<Option<Bdd>, OutOfNodes> {
        let Op::Call(call) = &edge.op else { return Ok(None) };
        let callee = &self.encoding.program.procs[call.callee];
        let (now, entered) = (bases.at(0, 0, 0), bases.at(0, 0, 1));
        let mut found = bases.space.manager().top();
        for (param, arg) in callee.params.iter().zip(&call.args) {
            found = found.and(&self.gets(bases, *param, entered, &self.value(bases, arg, now)?)?)?;
        }
        found = self.without_choices(bases, &found)?.and(&self.from(bases, edge)?)?;
        found.and(&self.encoding.at_loc(&bases.space, entered.frame, callee.entry)?).map(Some)
    }

    /// Returns all returns from the procedure that an edge calls, with the results that the edge assigns.
    fn returns(&self, bases: &Bases, edge: &Edge) -> Result<Option<Bdd>, OutOfNodes> {
        let Op::Call(call) = &edge.op else { return Ok(None) };
        let (caller, exit, after) = (bases.at(0, 0, 0), bases.at(0, 0, 1), bases.at(1, 1, 2));
        let mut all = bases.space.manager().bottom();
        for last in &self.encoding.program.edges {
            let Op::Return(values) = &last.op else { continue };
            if self.encoding.program.locs[last.from].proc == call.callee {
                let found = self.results(bases, call, values, exit, after)?;
                all = all.or(&found.and(&self.encoding.at_loc(&bases.space, exit.frame, last.from)?)?)?;
            }
        }
        let proc = self.encoding.program.locs[edge.from].proc;
        let kept = self.encoding.visible(proc).filter(|var| !call.results.contains(&Some(*var)));
        all = all.and(&self.same(bases, kept, caller, after)?)?.and(&self.from(bases, edge)?)?;
        all.and(&self.encoding.at_loc(&bases.space, after.frame, edge.to)?).map(Some)
    }

    fn results(
        &self,
        bases: &Bases,
        call: &Call,
        values: &[Expr],
        exit: StateColumns,
        after: StateColumns,
    ) -> Result<Bdd, OutOfNodes> {
        let mut found = bases.space.manager().top();
        for (var, value) in call.results.iter().zip(values) {
            if let Some(var) = var {
                found = found.and(&self.gets(bases, *var, after, &self.value(bases, value, exit)?)?)?;
            }
        }
        self.without_choices(bases, &found)
    }

    fn end(&self, bases: &Bases, edge: &Edge) -> Result<Option<Bdd>, OutOfNodes> {
        if !matches!(edge.op, Op::Return(_) | Op::End) {
            return Ok(None);
        }
        let (now, next) = (bases.at(0, 0, 0), bases.at(0, 1, 1));
        let of_thread = |(id, var): (VarId, &selvedge_ir::Var)| {
            (var.scope == Scope::Thread && Some(id) != self.tracked.flag).then_some(id)
        };
        let kept = self.encoding.program.vars.iter_enumerated().filter_map(of_thread);
        let mut found = self.same(bases, kept, now, next)?.and(&self.from(bases, edge)?)?;
        found = found.and(&self.encoding.ended(&bases.space, next.frame)?)?;
        if let Some(flag) = self.tracked.flag {
            found = found.and(&self.gets(bases, flag, next, &bases.space.manager().bottom())?)?;
        }
        Ok(Some(found))
    }

    fn free(&self, bases: &Bases) -> Result<Bdd, OutOfNodes> {
        match self.tracked.flag {
            Some(flag) => self.gets(bases, flag, bases.at(0, 0, 0), &bases.space.manager().bottom()),
            None => Ok(bases.space.manager().top()),
        }
    }

    fn errors(&self, bases: &Bases) -> Result<Bdd, OutOfNodes> {
        let at = bases.at(0, 0, 0);
        let mut all = bases.space.manager().bottom();
        for loc in &self.target.locs {
            all = all.or(&self.encoding.at_loc(&bases.space, at.frame, *loc)?)?;
        }
        for id in &self.target.asserts {
            let edge = &self.encoding.program.edges[*id];
            let Op::Assert(condition) = &edge.op else { continue };
            let fails = self.value(bases, condition, at)?.not()?;
            all = all.or(&self.without_choices(bases, &fails)?.and(&self.from(bases, edge)?)?)?;
        }
        Ok(all)
    }

    /// Computes the shared states in which the threads start: those in which `init` ends; and whether it can fail. Some
    /// variables keep the values that others have then.
    fn after_init(&self, bases: &Bases, run: &Run<'_>) -> Result<(Relation, bool), Stop> {
        let mut states = bases.relation(Base::Initial).clone();
        let mut fails = false;
        if let Some(prelude) = self.encoding.program.prelude {
            (states, fails) = self.through(bases, prelude, &states, run)?;
        }
        let pairs = self.tracked.kept.iter().map(|(var, kept)| {
            let of = |id: VarId| self.encoding.var(&bases.space, bases.at(0, 0, 0), id);
            (of(*var), of(*kept))
        });
        let pairs: Vec<_> = pairs.collect();
        let copies: Vec<_> = pairs.iter().map(|(_, kept)| *kept).collect();
        let manager = bases.space.manager();
        let free = manager.var_set(&copies).and_then(|copies| states.bdd().exists(&copies));
        let kept = free.and_then(|free| free.and(&manager.equal(&pairs)?)).map_err(out_of_nodes)?;
        Ok((bases.space.relation(kept, states.columns()), fails))
    }

    /// Computes the shared states at the ends of a procedure without calls that runs alone, and whether it can fail.
    fn through(
        &self,
        bases: &Bases,
        prelude: ProcId,
        states: &Relation,
        run: &Run<'_>,
    ) -> Result<(Relation, bool), Stop> {
        let (now, next) = (bases.at(0, 0, 0), bases.at(1, 1, 1));
        let [before, after] = [now, next].map(|at| [at.shared, at.own, at.frame]);
        let back: Vec<(Column, Column)> = after.into_iter().zip(before).collect();
        let entry = self.encoding.program.procs[prelude].entry;
        let own: Vec<(_, bool)> = bases.space.vars(now.own).into_iter().map(|var| (var, false)).collect();
        let begins = || -> Result<Relation, OutOfNodes> {
            let at_loc = self.encoding.at_loc(&bases.space, now.frame, entry)?;
            let begins = at_loc.and(&bases.space.manager().cube(&own)?)?.and(states.bdd())?;
            Ok(bases.space.relation(begins, &before))
        };
        let mut all = begins().map_err(out_of_nodes)?;
        let mut new = all.clone();
        while !new.is_empty() {
            run.check_limits()?;
            let image = || -> Result<Relation, OutOfNodes> {
                new.join_project(bases.relation(Base::Step), &after)?.rename(&back)?.difference(&all)
            };
            new = image().map_err(out_of_nodes)?;
            all = all.union(&new).map_err(out_of_nodes)?;
        }
        let ends = bases.relation(Base::End).project(&before).and_then(|ends| all.join_project(&ends, &[now.shared]));
        Ok((ends.map_err(out_of_nodes)?, !all.is_disjoint(bases.relation(Base::Target))))
    }
}
