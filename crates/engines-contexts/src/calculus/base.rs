//! The base relations of a program.

use std::collections::BTreeMap;

use selvedge_check::{Run, Stop};
use selvedge_ir::fp::{Base, Fixpoint, Formula, Sort};
use selvedge_ir::visit::choice_types;
use selvedge_ir::{Assign, Edge, Expr, Op, ProcId, Program, Scope, Target, VarId};
use selvedge_logic::bdd::{Bdd, Limits, OutOfNodes};
use selvedge_logic::relation::{Column, Plan, Relation, Space};
use selvedge_transition::out_of_nodes;
use selvedge_transition::step::diagram::relation::Layout;

use super::encode::{Encoding, StateColumns, StateLayout};
use super::used::UsedCounts;
use crate::thread_paths::track::Tracked;

/// The columns of all sorts, and the relations.
pub(super) struct Bases {
    pub(super) space: Space,
    pub(super) sorts: SortColumns,
    relations: BTreeMap<Base, Relation>,
    /// Set if `init` can fail.
    pub(super) init_fails: bool,
}

/// The columns of all sorts.
pub(super) struct SortColumns {
    columns: BTreeMap<Sort, Vec<Column>>,
    /// The number of columns of each sort for variables; the others are spare.
    n_columns: BTreeMap<Sort, usize>,
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
        let sorts = SortColumns { columns, n_columns };
        let states = StateLayout { encoding: &encoding, space: &space, choices: space.vars(choices) };
        let builder = BaseBuilder { program, states, sorts: &sorts, tracked, target, used };
        let mut relations = BTreeMap::new();
        for base in Base::ALL {
            run.check_limits()?;
            relations.insert(base, builder.relation(base).map_err(out_of_nodes)?);
        }
        let (initial, init_fails) = builder.after_init(&relations, run)?;
        relations.insert(Base::Initial, initial);
        Ok(Bases { space, sorts, relations, init_fails })
    }

    pub(super) fn relation(&self, base: Base) -> &Relation {
        &self.relations[&base]
    }
}

impl SortColumns {
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
    program: &'t Program,
    states: StateLayout<'t>,
    sorts: &'t SortColumns,
    tracked: &'t Tracked,
    target: &'t Target,
    used: UsedCounts,
}

impl BaseBuilder<'_> {
    fn relation(&self, base: Base) -> Result<Relation, OutOfNodes> {
        let bdd = match base {
            Base::Initial => self.initial()?,
            Base::Begin => self.begin()?,
            Base::Step => self.any_edge(|edge| self.step(edge))?,
            Base::Call => self.any_edge(|edge| self.call(edge))?,
            Base::Return => self.any_edge(|edge| self.returns(edge))?,
            Base::Entry => self.entry()?,
            Base::Exit => self.before(|op| matches!(op, Op::Return(_)))?,
            Base::End => self.any_edge(|edge| self.end(edge))?,
            Base::Free => self.free()?,
            Base::Target => self.errors()?,
            Base::First => self.template(0, 0)?,
            Base::Next => self.next()?,
            Base::Last => self.template(0, self.program.entries.len().saturating_sub(1))?,
            Base::Halt => self.before(|op| *op == Op::End)?,
            Base::Nobody => self.used.empty(self.states.space, self.sorts.used()[0])?,
            Base::More => self.more()?,
            Base::Fit => self.used.fits(self.states.space, self.sorts.used())?,
        };
        Ok(self.states.space.relation(bdd, &self.sorts.columns(base.sorts())))
    }

    /// Returns the frames at the entry of some procedure.
    fn entry(&self) -> Result<Bdd, OutOfNodes> {
        let frame = self.sorts.at(0, 0, 0).frame;
        self.states.manager().any(self.program.procs.iter().map(|proc| self.states.at_loc(frame, proc.entry)))
    }

    /// Relates each template to the next one in the order of the program.
    fn next(&self) -> Result<Bdd, OutOfNodes> {
        let pair = |number: usize| self.template(0, number - 1)?.and(&self.template(1, number)?);
        self.states.manager().any((1..self.program.entries.len()).map(pair))
    }

    /// Relates the counts of a block to those with one more thread of a template.
    fn more(&self) -> Result<Bdd, OutOfNodes> {
        let more = |number: usize| {
            let more = self.used.add(self.states.space, number, self.sorts.used())?;
            self.template(0, number)?.and(&more)
        };
        self.states.manager().any((0..self.program.entries.len()).map(more))
    }

    /// Returns the union of a relation over all edges.
    fn any_edge(&self, of: impl Fn(&Edge) -> Result<Option<Bdd>, OutOfNodes>) -> Result<Bdd, OutOfNodes> {
        self.states.manager().any(self.program.edges.iter().filter_map(|edge| of(edge).transpose()))
    }

    /// Returns the frames before some steps.
    fn before(&self, step: impl Fn(&Op) -> bool) -> Result<Bdd, OutOfNodes> {
        self.any_edge(|edge| step(&edge.op).then(|| self.from(edge)).transpose())
    }

    fn from(&self, edge: &Edge) -> Result<Bdd, OutOfNodes> {
        self.states.at_loc(self.sorts.at(0, 0, 0).frame, edge.from)
    }

    fn value(&self, rhs: &Expr, at: StateColumns) -> Result<Bdd, OutOfNodes> {
        self.states.value([at, at], rhs)
    }

    /// Requires that variables have the values of expressions over another state, for some choices.
    fn assigned(&self, active: Vec<(VarId, Expr)>, from: StateColumns, to: StateColumns) -> Result<Bdd, OutOfNodes> {
        self.states.moved([from, to], &Assign { active, ..Assign::skip() }, &|_| false)
    }

    /// Requires that a variable is false.
    fn is_false(&self, var: VarId, at: StateColumns) -> Result<Bdd, OutOfNodes> {
        self.states.manager().literal(self.states.var(at, var), false)
    }

    /// Requires that variables have the same values in two states.
    fn same(&self, vars: impl Iterator<Item = VarId>, a: StateColumns, b: StateColumns) -> Result<Bdd, OutOfNodes> {
        let var = |at: StateColumns, var: VarId| self.states.var(at, var);
        self.states.manager().equal(&vars.map(|id| (var(a, id), var(b, id))).collect::<Vec<_>>())
    }

    fn template(&self, column: usize, number: usize) -> Result<Bdd, OutOfNodes> {
        let column = self.sorts.columns[&Sort::Template][column];
        self.states.manager().number(&self.states.space.vars(column), number)
    }

    /// Returns the shared states before `init`; further variables are unconstrained.
    fn initial(&self) -> Result<Bdd, OutOfNodes> {
        let at = self.sorts.at(0, 0, 0);
        self.assigned(self.program.init.clone(), at, at)
    }

    fn begin(&self) -> Result<Bdd, OutOfNodes> {
        let (program, at) = (self.program, self.sorts.at(0, 0, 0));
        let mut all = self.states.manager().bottom();
        for (id, entry) in program.entries.iter_enumerated() {
            let mut begins = self.template(0, id.index())?;
            begins = begins.and(&self.states.at_loc(at.frame, program.procs[entry.proc].entry)?)?;
            begins = begins.and(&self.assigned(entry.init.clone(), at, at)?)?;
            for (var, of_thread) in program.vars.iter_enumerated() {
                if of_thread.scope == Scope::Thread && !entry.thread_vars.contains(&var) {
                    begins = begins.and(&self.is_false(var, at)?)?;
                }
            }
            all = all.or(&begins)?;
        }
        Ok(all)
    }

    fn step(&self, edge: &Edge) -> Result<Option<Bdd>, OutOfNodes> {
        if !matches!(edge.op, Op::Assign(_) | Op::Assert(_) | Op::AtomicBegin | Op::AtomicEnd) {
            return Ok(None);
        }
        let assign = edge.as_assignment();
        let (now, next) = (self.sorts.at(0, 0, 0), self.sorts.at(1, 1, 1));
        let proc = self.program.locs[edge.from].proc;
        let assigned = |var: &VarId| assign.active.iter().any(|(target, _)| target == var);
        let mut step = self.states.moved([now, next], &assign, &|_| false)?;
        let kept = self.states.visible(proc).filter(|var| !assigned(var));
        step = step.and(&self.same(kept, now, next)?)?.and(&self.from(edge)?)?;
        step.and(&self.states.at_loc(next.frame, edge.to)?).map(Some)
    }

    fn call(&self, edge: &Edge) -> Result<Option<Bdd>, OutOfNodes> {
        let Op::Call(call) = &edge.op else { return Ok(None) };
        let callee = &self.program.procs[call.callee];
        let (now, entered) = (self.sorts.at(0, 0, 0), self.sorts.at(0, 0, 1));
        let arguments = callee.params.iter().copied().zip(call.args.iter().cloned()).collect();
        let found = self.assigned(arguments, now, entered)?.and(&self.from(edge)?)?;
        found.and(&self.states.at_loc(entered.frame, callee.entry)?).map(Some)
    }

    /// Returns all returns from the procedure that an edge calls, with the results that the edge assigns.
    fn returns(&self, edge: &Edge) -> Result<Option<Bdd>, OutOfNodes> {
        let Op::Call(call) = &edge.op else { return Ok(None) };
        let (caller, exit, after) = (self.sorts.at(0, 0, 0), self.sorts.at(0, 0, 1), self.sorts.at(1, 1, 2));
        let mut all = self.states.manager().bottom();
        for last in &self.program.edges {
            let Op::Return(values) = &last.op else { continue };
            if self.program.locs[last.from].proc == call.callee {
                let results = call.results.iter().zip(values).filter_map(|(var, value)| Some(((*var)?, value.clone())));
                let found = self.assigned(results.collect(), exit, after)?;
                all = all.or(&found.and(&self.states.at_loc(exit.frame, last.from)?)?)?;
            }
        }
        let proc = self.program.locs[edge.from].proc;
        let kept = self.states.visible(proc).filter(|var| !call.results.contains(&Some(*var)));
        all = all.and(&self.same(kept, caller, after)?)?.and(&self.from(edge)?)?;
        all = all.and(&self.value(&edge.ensures, after)?)?;
        all.and(&self.states.at_loc(after.frame, edge.to)?).map(Some)
    }

    fn end(&self, edge: &Edge) -> Result<Option<Bdd>, OutOfNodes> {
        if !matches!(edge.op, Op::Return(_) | Op::End) {
            return Ok(None);
        }
        let (now, next) = (self.sorts.at(0, 0, 0), self.sorts.at(0, 1, 1));
        let of_thread = |(id, var): (VarId, &selvedge_ir::Var)| {
            (var.scope == Scope::Thread && Some(id) != self.tracked.flag).then_some(id)
        };
        let kept = self.program.vars.iter_enumerated().filter_map(of_thread);
        let mut found = self.same(kept, now, next)?.and(&self.from(edge)?)?;
        found = found.and(&self.states.ended(next.frame)?)?;
        if let Some(flag) = self.tracked.flag {
            found = found.and(&self.is_false(flag, next)?)?;
        }
        Ok(Some(found))
    }

    fn free(&self) -> Result<Bdd, OutOfNodes> {
        match self.tracked.flag {
            Some(flag) => self.is_false(flag, self.sorts.at(0, 0, 0)),
            None => Ok(self.states.manager().top()),
        }
    }

    fn errors(&self) -> Result<Bdd, OutOfNodes> {
        let at = self.sorts.at(0, 0, 0);
        let mut all = self.states.manager().bottom();
        for loc in &self.target.locs {
            all = all.or(&self.states.at_loc(at.frame, *loc)?)?;
        }
        for id in &self.target.asserts {
            let edge = &self.program.edges[*id];
            let Some(failure) = edge.failure() else { continue };
            let fails = self.value(&failure, at)?;
            let fails = fails.exists(&self.states.manager().var_set(&self.states.choices)?)?;
            all = all.or(&fails.and(&self.from(edge)?)?)?;
        }
        Ok(all)
    }

    /// Computes the shared states in which the threads start: those in which `init` ends; and whether it can fail. Some
    /// variables keep the values that others have then.
    fn after_init(&self, relations: &BTreeMap<Base, Relation>, run: &Run<'_>) -> Result<(Relation, bool), Stop> {
        let mut states = relations[&Base::Initial].clone();
        let mut fails = false;
        if let Some(prelude) = self.program.prelude {
            (states, fails) = self.through(relations, prelude, &states, run)?;
        }
        let pairs = self.tracked.kept.iter().map(|(var, kept)| {
            let of = |id: VarId| self.states.var(self.sorts.at(0, 0, 0), id);
            (of(*var), of(*kept))
        });
        let pairs: Vec<_> = pairs.collect();
        let copies: Vec<_> = pairs.iter().map(|(_, kept)| *kept).collect();
        let manager = self.states.manager();
        let free = manager.var_set(&copies).and_then(|copies| states.bdd().exists(&copies));
        let kept = free.and_then(|free| free.and(&manager.equal(&pairs)?)).map_err(out_of_nodes)?;
        Ok((self.states.space.relation(kept, states.columns()), fails))
    }

    /// Computes the shared states at the ends of a procedure without calls that runs alone, and whether it can fail.
    fn through(
        &self,
        relations: &BTreeMap<Base, Relation>,
        prelude: ProcId,
        states: &Relation,
        run: &Run<'_>,
    ) -> Result<(Relation, bool), Stop> {
        let (now, next) = (self.sorts.at(0, 0, 0), self.sorts.at(1, 1, 1));
        let [before, after] = [now, next].map(|at| [at.shared, at.own, at.frame]);
        let back: Vec<(Column, Column)> = after.into_iter().zip(before).collect();
        let entry = self.program.procs[prelude].entry;
        let own: Vec<(_, bool)> = self.states.space.vars(now.own).into_iter().map(|var| (var, false)).collect();
        let begins = || -> Result<Relation, OutOfNodes> {
            let at_loc = self.states.at_loc(now.frame, entry)?;
            let begins = at_loc.and(&self.states.manager().cube(&own)?)?.and(states.bdd())?;
            Ok(self.states.space.relation(begins, &before))
        };
        let mut all = begins().map_err(out_of_nodes)?;
        let mut new = all.clone();
        while !new.is_empty() {
            run.check_limits()?;
            let image = || -> Result<Relation, OutOfNodes> {
                new.join_project(&relations[&Base::Step], &after)?.rename(&back)?.difference(&all)
            };
            new = image().map_err(out_of_nodes)?;
            all = all.union(&new).map_err(out_of_nodes)?;
        }
        let ends = relations[&Base::End].project(&before).and_then(|ends| all.join_project(&ends, &[now.shared]));
        Ok((ends.map_err(out_of_nodes)?, !all.is_disjoint(&relations[&Base::Target])))
    }
}
