//! Exact predicate abstraction of guarded commands: a Boolean program whose variables say which predicates hold.
//!
//! The abstract program has the same locations and edges, in the same order, so an execution of it names commands of
//! the original. A command leads from one valuation of the predicates to another exactly if some state of the first
//! leads to some state of the second.
//!
//! *Order of work*: the value of a predicate after a command is a condition on the state before it. If that condition
//! is made of known predicates, it is assigned directly. For the other predicates the solver enumerates all valuations
//! that they can have together with those predicates before the command that are linked to them by common variables;
//! all other predicates are independent of them, so nothing is lost. Initial valuations are found in the same way, one
//! group of linked predicates at a time. Conditions that must hold are made of predicates themselves.

pub mod predicates;

use std::collections::BTreeSet;

use selvedge_check::{Run, Stop, Task};
use selvedge_ir::visit::reads;
use selvedge_ir::{Assign, BinaryOp, Edge, Expr, Op, Program, Scope, Ty, Var, VarId};
use selvedge_logic::smt::{Smt, Term};

use crate::horn::guarded_commands::{GuardedCommands, after};
use crate::horn::z3;
use crate::prover::solver_stop;
use crate::terms::{choice, marked, symbol};
pub use predicates::Predicates;

/// A Boolean program over predicates.
#[derive(Clone, Debug)]
pub struct Abstraction {
    /// The program. Its variables are the predicates, in their order.
    pub program: Program,
    /// The meanings of the variables.
    pub meanings: Vec<String>,
    /// The number of queries to the solver.
    pub queries: usize,
}

/// Computes the abstraction of a program of guarded commands. The predicates must include those of the program's own
/// conditions ([`Predicates::of_conditions`]).
pub fn abstracted(task: &Task<'_>, predicates: &Predicates, run: &Run<'_>) -> Result<Abstraction, Stop> {
    let system = GuardedCommands::of(task, "abstract").expect("only guarded commands have predicates");
    let mut abstracter = Abstracter { system: &system, predicates, run, queries: 0 };
    let mut program = Program {
        vars: predicates
            .exprs()
            .enumerate()
            .map(|(number, predicate)| Var {
                name: predicates.name(number, predicate),
                scope: Scope::Shared,
                ty: Ty::Bool,
            })
            .collect(),
        ..task.program.clone()
    };
    program.edges = task
        .program
        .edges
        .iter_enumerated()
        .map(|(id, edge)| {
            let op = match &edge.op {
                _ if id == system.first => Op::Assign(abstracter.first()?),
                Op::Assign(command) => Op::Assign(abstracter.command(command)?),
                Op::Assert(condition) => Op::Assert(abstracter.known(condition)),
                _ => unreachable!("guarded commands have no other steps"),
            };
            Ok(Edge::new(edge.from, edge.to, op))
        })
        .collect::<Result<_, Stop>>()?;
    let meanings = predicates.exprs().map(|predicate| predicates.written(predicate)).collect();
    Ok(Abstraction { program, meanings, queries: abstracter.queries })
}

struct Abstracter<'a> {
    system: &'a GuardedCommands<'a>,
    predicates: &'a Predicates,
    run: &'a Run<'a>,
    queries: usize,
}

impl Abstracter<'_> {
    /// Rewrites a condition of the program over the predicates.
    fn known(&self, condition: &Expr) -> Expr {
        self.predicates.formula(condition).expect("the predicates of all conditions are known")
    }

    /// Builds the first step: any valuation that some initial state has.
    fn first(&mut self) -> Result<Assign, Stop> {
        let init = self.system.init.conjuncts();
        let all: Vec<&Expr> = self.predicates.exprs().collect();
        let mut open: BTreeSet<usize> = (0..all.len()).collect();
        let mut parts = Vec::new();
        while let Some(first) = open.first().copied() {
            let linked = self.linked(reads(all[first]).into_iter().collect(), &init);
            let group: Vec<usize> =
                open.iter().copied().filter(|number| *number == first || touches(all[*number], &linked)).collect();
            let terms: Vec<Term> = group.iter().map(|number| marked(self.system.program, all[*number], "")).collect();
            let solutions = self.solutions(self.system.init, &[], &terms)?;
            let columns: Vec<Expr> = group.iter().map(|number| Expr::Next(VarId::new(*number))).collect();
            parts.push(tree(&columns, &solutions));
            group.iter().for_each(|number| {
                open.remove(number);
            });
        }
        let active = (0..all.len()).zip(0..).map(|(var, number)| (VarId::new(var), Expr::choice(number))).collect();
        let constrain = Expr::balanced(BinaryOp::And, parts).unwrap_or(self.known(self.system.init));
        Ok(Assign { active, passive: Vec::new(), constrain })
    }

    /// Abstracts a command.
    fn command(&mut self, command: &Assign) -> Result<Assign, Stop> {
        let is_changed = |expr: &Expr| reads(expr).iter().any(|var| command.active.iter().any(|(to, _)| to == var));
        let mut active = Vec::new();
        let mut unknown: Vec<(VarId, Expr)> = Vec::new();
        for (number, predicate) in self.predicates.exprs().enumerate().filter(|(_, expr)| is_changed(expr)) {
            let then = after(command, predicate);
            match self.predicates.formula(&then) {
                Some(formula) => active.push((VarId::new(number), formula)),
                None => unknown.push((VarId::new(number), then)),
            }
        }
        let guard = self.known(&command.constrain);
        if unknown.is_empty() {
            return Ok(Assign { active, passive: Vec::new(), constrain: guard });
        }
        let relation = self.relation(command, &unknown)?;
        active.extend(unknown.iter().zip(0..).map(|((var, _), number)| (*var, Expr::choice(number))));
        Ok(Assign { active, passive: Vec::new(), constrain: Expr::and(guard, relation) })
    }

    /// Returns the valuations that the given predicates can have together after a command, depending on the predicates
    /// before it that are linked to them.
    fn relation(&mut self, command: &Assign, unknown: &[(VarId, Expr)]) -> Result<Expr, Stop> {
        let program = self.system.program;
        let seeds = unknown.iter().flat_map(|(_, then)| reads(then)).collect();
        let linked = self.linked(seeds, &command.constrain.conjuncts());
        let before: Vec<(usize, &Expr)> =
            self.predicates.exprs().enumerate().filter(|(_, expr)| touches(expr, &linked)).collect();
        let terms: Vec<Term> = before
            .iter()
            .map(|(_, expr)| *expr)
            .chain(unknown.iter().map(|(_, then)| then))
            .map(|expr| marked(program, expr, ""))
            .collect();
        let solutions = self.solutions(&command.constrain, &command.choices(), &terms)?;
        let columns: Vec<Expr> = before
            .iter()
            .map(|(number, _)| Expr::Var(VarId::new(*number)))
            .chain(unknown.iter().map(|(var, _)| Expr::Next(*var)))
            .collect();
        Ok(tree(&columns, &solutions))
    }

    /// Returns the variables that predicates and conditions link to the given ones.
    fn linked(&self, seeds: BTreeSet<VarId>, conditions: &[&Expr]) -> BTreeSet<VarId> {
        let mut linked = seeds;
        loop {
            let before = linked.len();
            for expr in self.predicates.exprs().chain(conditions.iter().copied()) {
                if touches(expr, &linked) {
                    linked.extend(reads(expr));
                }
            }
            if linked.len() == before {
                return linked;
            }
        }
    }

    /// Enumerates the values that the terms can have together where a condition holds.
    fn solutions(&mut self, condition: &Expr, choices: &[Ty], terms: &[Term]) -> Result<Vec<Vec<bool>>, Stop> {
        let program = self.system.program;
        let mut smt = Smt::new(z3(self.run)?);
        program.vars.indices().for_each(|var| smt.declare(&symbol(program, var, "")));
        for (ty, number) in choices.iter().zip(0..) {
            smt.declare(&choice(number, *ty, ""));
        }
        smt.assert(&marked(program, condition, ""));
        let solutions = smt.all_solutions(terms, || self.run.check_limits()).map_err(solver_stop);
        self.queries += smt.questions();
        solutions
    }
}

fn touches(expr: &Expr, vars: &BTreeSet<VarId>) -> bool {
    reads(expr).iter().any(|var| vars.contains(var))
}

/// Builds the condition that the columns have the values of one of the rows, which are sorted and as long as the
/// columns.
fn tree(columns: &[Expr], rows: &[Vec<bool>]) -> Expr {
    let Some((column, rest)) = columns.split_first() else { return Expr::Bool(!rows.is_empty()) };
    if rows.is_empty() {
        return Expr::FALSE;
    }
    let depth = rows[0].len() - columns.len();
    let cut = rows.partition_point(|row| !row[depth]);
    let (low, high) = rows.split_at(cut);
    match (tree(rest, low), tree(rest, high)) {
        (low, high) if low == high => low,
        (Expr::FALSE, high) => Expr::and(column.clone(), high),
        (low, Expr::FALSE) => Expr::and(Expr::negate(column.clone()), low),
        (low, high) => Expr::Ite(Box::new((column.clone(), high, low))),
    }
}
