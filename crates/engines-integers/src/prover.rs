//! The SMT solver of the run, as the engines see it.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;
use selvedge_check::{Run, SolverFailure, Stop};
use selvedge_ir::Value;
use selvedge_logic::smt::{Dialect, Interrupted, Program, Smt, SmtError, Sort, Symbol, Term};

use crate::terms::program_values;

/// A solver with the symbols that it knows. A query depends on the conditions that are required, and on no other query.
pub(super) struct Prover<'r> {
    smt: Smt,
    run: &'r Run<'r>,
    declared: BTreeSet<Symbol>,
    /// Conditions that were queried, and whether they are satisfiable.
    answers: FxHashMap<Term, bool>,
}

/// The source of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AnswerSource {
    Solver,
    /// The same query was answered before.
    Memory,
}

impl<'r> Prover<'r> {
    /// Starts z3 if it is installed, and cvc5 otherwise.
    pub(super) fn new(run: &'r Run<'r>) -> Result<Prover<'r>, Stop> {
        let solvers = run.solvers();
        let (path, dialect) = match (&solvers.z3, &solvers.cvc5) {
            (Some(z3), _) => (z3, Dialect::Z3),
            (None, Some(cvc5)) => (cvc5, Dialect::Cvc5),
            (None, None) => return Err(Stop::NoSolver),
        };
        let memory = run.memory_limit().map(|bytes| (bytes / 1_000_000).max(64));
        let program = Program { path: path.to_path_buf(), dialect, memory, work: run.solver_work() };
        Ok(Prover { smt: Smt::new(program), run, declared: BTreeSet::new(), answers: FxHashMap::default() })
    }

    fn declare(&mut self, terms: &[&Term]) {
        for symbol in terms.iter().flat_map(|term| term.symbols()) {
            if !self.declared.contains(&symbol) {
                self.smt.declare(&symbol);
                self.declared.insert(symbol);
            }
        }
    }

    /// Requires a condition from now on.
    pub(super) fn require(&mut self, condition: &Term) {
        self.declare(&[condition]);
        self.smt.assert(condition);
    }

    /// Asks a question under one more condition. All symbols of the question are declared.
    fn under<T>(
        &mut self,
        condition: &Term,
        ask: impl FnOnce(&mut Smt, &Run<'r>) -> Result<T, Interrupted<Stop>>,
    ) -> Result<T, Stop> {
        self.smt.push();
        self.smt.assert(condition);
        let answer = ask(&mut self.smt, self.run);
        self.smt.pop();
        answer.map_err(solver_stop)
    }

    /// Returns whether a condition is satisfiable.
    pub(super) fn is_sat(&mut self, condition: &Term) -> Result<bool, Stop> {
        if let Some(value) = condition.as_bool() {
            return Ok(value);
        }
        self.declare(&[condition]);
        self.under(condition, |smt, run| smt.is_sat(&[], || run.check_limits()))
    }

    /// Answers like [`Prover::is_sat`], and remembers the answer.
    pub(super) fn is_sat_once(&mut self, condition: &Term) -> Result<(bool, AnswerSource), Stop> {
        if let Some(known) = condition.as_bool().or_else(|| self.answers.get(condition).copied()) {
            return Ok((known, AnswerSource::Memory));
        }
        let answer = self.is_sat(condition)?;
        self.answers.insert(condition.clone(), answer);
        Ok((answer, AnswerSource::Solver))
    }

    /// Returns values of symbols for which a condition holds, small ones where that is cheap; `None` if there are none.
    pub(super) fn small_model(&mut self, condition: &Term, symbols: &[Symbol]) -> Result<Option<Vec<Value>>, Stop> {
        for bound in [0i64, 1, 2, 4, 8, 16, 64, 1024] {
            let within = symbols.iter().filter(|symbol| symbol.sort == Sort::Int).map(|symbol| {
                let symbol = Term::from(symbol.clone());
                Term::and([Term::from(-bound).le(&symbol), symbol.le(&bound.into())])
            });
            let small = Term::and(within.chain([condition.clone()]));
            if let Some(values) = self.model(&small, symbols)? {
                return Ok(Some(values));
            }
        }
        self.model(condition, symbols)
    }

    /// Returns values of symbols for which a condition holds; `None` if there are none.
    pub(super) fn model(&mut self, condition: &Term, symbols: &[Symbol]) -> Result<Option<Vec<Value>>, Stop> {
        let terms: Vec<Term> = symbols.iter().map(|symbol| symbol.clone().into()).collect();
        self.values(condition, &terms)
    }

    /// Returns values of terms for which a condition holds; `None` if there are none.
    pub(super) fn values(&mut self, condition: &Term, terms: &[Term]) -> Result<Option<Vec<Value>>, Stop> {
        self.declare(&terms.iter().chain([condition]).collect::<Vec<_>>());
        let values = self.under(condition, |smt, run| match smt.is_sat(&[], || run.check_limits())? {
            true => smt.values(terms, || run.check_limits()).map(Some),
            false => Ok(None),
        })?;
        values.map(program_values).transpose()
    }

    /// Enumerates the truth values that predicates can have together where a condition holds.
    pub(super) fn all_solutions(&mut self, condition: &Term, predicates: &[Term]) -> Result<Vec<Vec<bool>>, Stop> {
        self.declare(&predicates.iter().chain([condition]).collect::<Vec<_>>());
        self.under(condition, |smt, run| smt.all_solutions(predicates, || run.check_limits()))
    }

    /// Eliminates some symbols: the result holds if there are values of them for which the condition holds.
    pub(super) fn eliminate(&mut self, symbols: &[Symbol], condition: &Term) -> Result<Term, Stop> {
        let run = self.run;
        self.smt.eliminate(symbols, condition, || run.check_limits()).map_err(solver_stop)
    }
}

/// Translates a failure of the solver to the reason why the check stops.
pub(crate) fn solver_stop(interrupted: Interrupted<Stop>) -> Stop {
    match interrupted {
        Interrupted::Caller(stop) => stop,
        Interrupted::Solver(SmtError::Exhausted) => Stop::PartStopped,
        Interrupted::Solver(SmtError::NoThread) => Stop::NoThread,
        Interrupted::Solver(error) => Stop::Solver(match error {
            SmtError::NotStarted(_) => SolverFailure::NotStarted,
            SmtError::Died => SolverFailure::Died,
            SmtError::Rejected(_) | SmtError::Strange(_) | SmtError::Incapable(_) => SolverFailure::Strange,
            SmtError::Undecided | SmtError::Exhausted | SmtError::NoThread => SolverFailure::Undecided,
        }),
    }
}
