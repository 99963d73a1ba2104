//! Checks by trying all valuations whether formulas per location and procedure prove a small program safe.
//!
//! The judge asks a SAT solver whether some valuation breaks a closure condition (`replay::certificate`); here every
//! formula becomes a table and every condition a loop. Only the evaluation of expressions is shared with the judge, so
//! that the two can be compared.

use index_vec::IndexVec;
use selvedge_check::formula::{Atom, FormulaId, Formulas, Node};
use selvedge_check::{SummaryProof, Task};
use selvedge_ir::eval::holds;
use selvedge_ir::visit::choice_types;
use selvedge_ir::{Assign, Call, Edge, EdgeId, Expr, LocId, Op, ProcId, Program, Scope, Value, VarId};

/// The limit on the size of tables, as a power of two; larger programs are skipped.
const MAX_BITS: usize = 11;

/// Returns whether the proof proves the task's target unreachable; `None` if the program is too large or has a prelude.
pub fn proves(task: &Task<'_>, proof: &SummaryProof) -> Option<bool> {
    let program = task.program;
    let shape = Shape { program, globals: globals(program) };
    let bits = |proc: ProcId| shape.inputs(proc).len() + shape.visible(proc).len() + program.procs[proc].results.len();
    if program.prelude.is_some() || program.procs.indices().any(|proc| bits(proc) > MAX_BITS) {
        return None;
    }
    let loc = |loc: LocId| shape.table(&proof.formulas, proof.loc(loc), program.locs[loc].proc, Moment::Now);
    let proc = |proc: ProcId| shape.table(&proof.formulas, proof.proc(proc), proc, Moment::Return);
    let locs = program.locs.indices().map(loc).collect();
    let procs = program.procs.indices().map(proc).collect();
    let oracle = Oracle { task, shape: &shape, locs, procs };
    let edges = || program.edges.iter_enumerated().all(|(id, edge)| oracle.edge(id, edge));
    let no_error = || task.target.locs.iter().all(|loc| oracle.locs[*loc].is_empty());
    Some(oracle.start() && edges() && no_error())
}

fn globals(program: &Program) -> Vec<VarId> {
    let is_global = |var: &VarId| !matches!(program.vars[*var].scope, Scope::Local(_));
    program.vars.indices().filter(is_global).collect()
}

/// A value for every variable of the program; irrelevant ones are false.
type Values = IndexVec<VarId, bool>;

struct Shape<'p> {
    program: &'p Program,
    globals: Vec<VarId>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Moment {
    Now,
    Return,
}

/// The valuations that satisfy a formula.
enum Table {
    /// There is no formula: nothing is allowed.
    Missing,
    /// The formula mentions something that is not visible.
    Malformed,
    /// The table, by the values at the entry, now, and of the results.
    Listed(Vec<bool>),
}

impl Table {
    fn has(&self, place: usize) -> bool {
        matches!(self, Table::Listed(list) if list[place])
    }

    fn is_empty(&self) -> bool {
        match self {
            Table::Missing => true,
            Table::Malformed => false,
            Table::Listed(list) => !list.contains(&true),
        }
    }

    fn is_malformed(&self) -> bool {
        matches!(self, Table::Malformed)
    }
}

/// Returns all lists of this many truth values.
fn all(n_bits: usize) -> impl Iterator<Item = Vec<bool>> {
    (0..1usize << n_bits).map(move |number| (0..n_bits).map(|bit| number >> bit & 1 == 1).collect())
}

/// Returns the index of a list of truth values among [`all`].
fn place(bits: impl DoubleEndedIterator<Item = bool>) -> usize {
    bits.rev().fold(0, |number, bit| 2 * number + usize::from(bit))
}

impl Shape<'_> {
    fn inputs(&self, proc: ProcId) -> Vec<VarId> {
        self.globals.iter().chain(&self.program.procs[proc].params).copied().collect()
    }

    fn visible(&self, proc: ProcId) -> Vec<VarId> {
        self.globals.iter().chain(&self.program.procs[proc].locals).copied().collect()
    }

    /// Returns the variables that formulas may mention, at the entry and at the moment.
    fn columns(&self, proc: ProcId, moment: Moment) -> (Vec<VarId>, Vec<VarId>) {
        let now = if moment == Moment::Now { self.visible(proc) } else { self.globals.clone() };
        (self.inputs(proc), now)
    }

    fn blank(&self) -> Values {
        self.program.vars.iter().map(|_| false).collect()
    }

    fn table(&self, formulas: &Formulas, formula: Option<FormulaId>, proc: ProcId, moment: Moment) -> Table {
        let Some(formula) = formula else { return Table::Missing };
        let (entry, now) = self.columns(proc, moment);
        let n_results = if moment == Moment::Return { self.program.procs[proc].results.len() } else { 0 };
        let column = |atom: Atom| match atom {
            Atom::Entry(var) => entry.iter().position(|other| *other == var),
            Atom::Now(var) => now.iter().position(|other| *other == var).map(|at| entry.len() + at),
            Atom::Of { .. } => None,
            Atom::Result(number) => {
                ((number as usize) < n_results).then_some(entry.len() + now.len() + number as usize)
            }
        };
        let rows = all(entry.len() + now.len() + n_results);
        let values = rows.map(|row| evaluate(formulas, formula, &|atom| column(atom).map(|at| row[at])));
        values.collect::<Option<Vec<bool>>>().map_or(Table::Malformed, Table::Listed)
    }
}

/// Evaluates a formula; `None` if one of its atoms has no value.
pub(crate) fn evaluate(formulas: &Formulas, id: FormulaId, atom: &dyn Fn(Atom) -> Option<bool>) -> Option<bool> {
    let mut values: Vec<Option<bool>> = Vec::new();
    for node in &formulas.nodes()[..=id.0 as usize] {
        let value = |id: &FormulaId| values[id.0 as usize];
        values.push(match node {
            Node::Const(value) => Some(*value),
            Node::Atom(proposition) => atom(*proposition),
            Node::Not(operand) => value(operand).map(|value| !value),
            Node::And(left, right) => value(left).zip(value(right)).map(|(left, right)| left && right),
            Node::Or(left, right) => value(left).zip(value(right)).map(|(left, right)| left || right),
            Node::Ite(condition, then, otherwise) => {
                let parts = value(condition).zip(value(then)).zip(value(otherwise));
                parts.map(|((condition, then), otherwise)| if condition { then } else { otherwise })
            }
        });
    }
    values.pop().flatten()
}

struct Oracle<'a> {
    task: &'a Task<'a>,
    shape: &'a Shape<'a>,
    locs: IndexVec<LocId, Table>,
    procs: IndexVec<ProcId, Table>,
}

/// Evaluates a Boolean expression.
fn value(expr: &Expr, now: &Values, next: &Values, choices: &[bool]) -> bool {
    let leaf = |leaf: &Expr| {
        Value::Bool(match leaf {
            Expr::Var(var) => now[*var],
            Expr::Next(var) => next[*var],
            Expr::Choice(number, _) => choices[*number as usize],
            _ => unreachable!("the program is Boolean and has one thread"),
        })
    };
    holds(expr, &leaf).expect("truth values do not overflow")
}

impl Oracle<'_> {
    fn program(&self) -> &Program {
        self.task.program
    }

    /// Returns whether a location allows these values.
    fn allows(&self, loc: LocId, entry: &Values, now: &Values) -> bool {
        let (inputs, visible) = self.shape.columns(self.program().locs[loc].proc, Moment::Now);
        let entry = inputs.iter().map(|var| entry[*var]);
        self.locs[loc].has(place(entry.chain(visible.iter().map(|var| now[*var]))))
    }

    /// Returns all values that a location allows, at the entry and now.
    fn allowed(&self, loc: LocId) -> impl Iterator<Item = (Values, Values)> {
        let (inputs, visible) = self.shape.columns(self.program().locs[loc].proc, Moment::Now);
        let rows = all(inputs.len() + visible.len()).enumerate().filter(move |(place, _)| self.locs[loc].has(*place));
        rows.map(move |(_, row)| {
            let (mut entry, mut now) = (self.shape.blank(), self.shape.blank());
            inputs.iter().zip(&row).for_each(|(var, value)| entry[*var] = *value);
            visible.iter().zip(&row[inputs.len()..]).for_each(|(var, value)| now[*var] = *value);
            (entry, now)
        })
    }

    /// Returns whether a procedure may begin with these globals and parameters, whatever its other locals are.
    fn begins(&self, proc: ProcId, inputs: &Values) -> bool {
        let procedure = &self.program().procs[proc];
        let locals: Vec<VarId> =
            procedure.locals.iter().copied().filter(|local| !procedure.params.contains(local)).collect();
        all(locals.len()).all(|row| {
            let mut now = inputs.clone();
            locals.iter().zip(row).for_each(|(var, value)| now[*var] = value);
            self.allows(procedure.entry, inputs, &now)
        })
    }

    /// Checks that every start is allowed.
    fn start(&self) -> bool {
        let program = self.program();
        let kind = program.entries.first().expect("a program with one thread has one kind of thread");
        let inputs = self.shape.inputs(kind.proc);
        let n_shared = choice_types(program.init.iter().map(|(_, rhs)| rhs)).len();
        let n_thread = choice_types(kind.init.iter().map(|(_, rhs)| rhs)).len();
        all(inputs.len() + n_shared + n_thread).all(|row| {
            let mut values = self.shape.blank();
            inputs.iter().zip(&row).for_each(|(var, value)| values[*var] = *value);
            let choices = &row[inputs.len()..];
            for (var, rhs) in &program.init {
                values[*var] = value(rhs, &values, &values, &choices[..n_shared]);
            }
            let shared = values.clone();
            for (var, rhs) in &kind.init {
                values[*var] = value(rhs, &shared, &shared, &choices[n_shared..]);
            }
            for (id, var) in program.vars.iter_enumerated() {
                if var.scope == Scope::Thread && !kind.thread_vars.contains(&id) {
                    values[id] = false;
                }
            }
            self.begins(kind.proc, &values)
        })
    }

    /// Checks that every step along an edge is allowed, and none is an error.
    fn edge(&self, id: EdgeId, edge: &Edge) -> bool {
        match &self.locs[edge.from] {
            Table::Missing => return true,
            Table::Malformed => return edge.op == Op::End,
            Table::Listed(_) => {}
        }
        let choices = || all(edge.op.choices().len());
        match &edge.op {
            Op::Assign(assign) if edge.ensures == Expr::TRUE => self.steps(edge, assign),
            // A condition on other threads holds.
            Op::Assign(assign) => self.steps(edge, &Assign { constrain: edge.ensures.clone(), ..assign.clone() }),
            Op::AtomicBegin | Op::AtomicEnd => self.steps(edge, &Assign::assume(edge.ensures.clone())),
            Op::Assert(condition) => {
                let fails = |(_, now): (Values, Values)| {
                    value(&edge.ensures, &now, &now, &[]) && choices().any(|row| !value(condition, &now, &now, &row))
                };
                let is_error = self.task.target.has_assert(id) && self.allowed(edge.from).any(fails);
                !is_error && self.steps(edge, &Assign::assume(Expr::and(condition.clone(), edge.ensures.clone())))
            }
            Op::Call(call) => self.call(edge, call),
            Op::Return(values) => self.returns(edge, values),
            Op::End => true,
            Op::Spawn(_) | Op::Fork(_) => false,
        }
    }

    fn steps(&self, edge: &Edge, assign: &Assign) -> bool {
        let n_choices = Op::Assign(assign.clone()).choices().len();
        let step = |(entry, now): (Values, Values)| {
            all(n_choices).all(|row| {
                let mut next = now.clone();
                for (var, rhs) in &assign.active {
                    next[*var] = value(rhs, &now, &now, &row);
                }
                let blocked = !assign.constrain.is_passive() && !value(&assign.constrain, &now, &next, &row);
                blocked || self.allows(edge.to, &entry, &next)
            })
        };
        !self.locs[edge.to].is_malformed() && self.allowed(edge.from).all(step)
    }

    fn call(&self, edge: &Edge, call: &Call) -> bool {
        let callee = &self.program().procs[call.callee];
        let summary = &self.procs[call.callee];
        let returns = !matches!(summary, Table::Missing);
        if self.locs[callee.entry].is_malformed()
            || summary.is_malformed()
            || returns && self.locs[edge.to].is_malformed()
        {
            return false;
        }
        let n_choices = edge.op.choices().len();
        self.allowed(edge.from).all(|(entry, now)| {
            all(n_choices).all(|row| {
                let mut inputs = self.shape.blank();
                self.shape.globals.iter().for_each(|var| inputs[*var] = now[*var]);
                for (param, arg) in callee.params.iter().zip(&call.args) {
                    inputs[*param] = value(arg, &now, &now, &row);
                }
                self.begins(call.callee, &inputs) && self.returned(edge, call, &inputs, &entry, &now)
            })
        })
    }

    /// Checks that the caller may continue, whichever way the callee returns.
    fn returned(&self, edge: &Edge, call: &Call, inputs: &Values, entry: &Values, now: &Values) -> bool {
        let (columns, globals) = self.shape.columns(call.callee, Moment::Return);
        let n_results = self.program().procs[call.callee].results.len();
        all(globals.len() + n_results).all(|row| {
            let at_entry = columns.iter().map(|var| inputs[*var]);
            if !self.procs[call.callee].has(place(at_entry.chain(row.iter().copied()))) {
                return true;
            }
            let mut after = now.clone();
            globals.iter().zip(&row).for_each(|(var, value)| after[*var] = *value);
            for (target, value) in call.results.iter().zip(&row[globals.len()..]) {
                if let Some(var) = target {
                    after[*var] = *value;
                }
            }
            !value(&edge.ensures, &after, &after, &[]) || self.allows(edge.to, entry, &after)
        })
    }

    fn returns(&self, edge: &Edge, values: &[Expr]) -> bool {
        let proc = self.program().locs[edge.from].proc;
        let is_called =
            self.program().edges.iter().any(|edge| matches!(&edge.op, Op::Call(call) if call.callee == proc));
        if !is_called {
            return true;
        }
        let (columns, globals) = self.shape.columns(proc, Moment::Return);
        let n_choices = edge.op.choices().len();
        !self.procs[proc].is_malformed()
            && self.allowed(edge.from).all(|(entry, now)| {
                all(n_choices).all(|row| {
                    let at_entry = columns.iter().map(|var| entry[*var]);
                    let at_return = globals.iter().map(|var| now[*var]);
                    let results: Vec<bool> = values.iter().map(|expr| value(expr, &now, &now, &row)).collect();
                    self.procs[proc].has(place(at_entry.chain(at_return).chain(results)))
                })
            })
    }
}
