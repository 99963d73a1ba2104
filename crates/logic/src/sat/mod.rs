//! Satisfiability of clauses, incrementally and under assumptions.
//!
//! The solver behind the façade is CaDiCaL, or, with the feature `plain` and in WebAssembly, our own `selvedge-cdcl`.
//! It runs in slices of a bounded number of conflicts, and between two of them the caller's callback decides whether to
//! continue; learnt clauses are kept.

#[cfg(not(any(feature = "plain", target_family = "wasm")))]
mod cadical;
#[cfg(any(feature = "plain", target_family = "wasm"))]
mod plain;

use std::fmt;
use std::ops::Not;

#[cfg(not(any(feature = "plain", target_family = "wasm")))]
use cadical::Inner;
#[cfg(any(feature = "plain", target_family = "wasm"))]
use plain::Inner;

/// Whether the caller can leave a search behind that does not end. In WebAssembly there is one thread only, and plain
/// Rust is slower.
const CAN_LEAVE: bool = cfg!(not(any(feature = "plain", target_family = "wasm")));

/// A propositional variable of a [`Solver`], or its negation.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SatLit(i32);

impl SatLit {
    /// Returns whether this is the variable itself and not its negation.
    fn is_positive(self) -> bool {
        self.0 > 0
    }
}

impl Not for SatLit {
    type Output = SatLit;

    fn not(self) -> SatLit {
        SatLit(-self.0)
    }
}

impl fmt::Debug for SatLit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

/// The solver's answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Some assignment satisfies all clauses and assumptions; see [`Solver::value`].
    Sat,
    /// No assignment does; [`Solver::core`] returns assumptions that are responsible.
    Unsat,
}

/// A set of clauses that grows.
pub struct Solver {
    inner: Inner,
    vars: i32,
    /// The assumptions of the last question.
    assumed: Vec<SatLit>,
}

impl fmt::Debug for Solver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Solver({} variables)", self.vars)
    }
}

impl Default for Solver {
    fn default() -> Self {
        Solver::new()
    }
}

impl Solver {
    /// Conflicts in the first slice. Slices grow by a half, so that a long search is interrupted a number of times that
    /// is logarithmic in its length, up to the last bound.
    const FIRST_SLICE: u32 = if CAN_LEAVE { 1_000 } else { 200 };
    const LAST_SLICE: u32 = if CAN_LEAVE { 20_000 } else { 1_000 };

    /// Returns a solver without variables and clauses.
    pub fn new() -> Solver {
        Solver { inner: Inner::new(), vars: 0, assumed: Vec::new() }
    }

    /// Returns a fresh variable.
    pub fn new_var(&mut self) -> SatLit {
        self.vars = self.vars.checked_add(1).expect("there are fewer than 2^31 variables");
        SatLit(self.vars)
    }

    /// Returns the number of variables.
    pub fn var_count(&self) -> usize {
        self.vars as usize
    }

    /// Adds a clause permanently. The empty clause makes everything unsatisfiable.
    pub fn add_clause(&mut self, clause: &[SatLit]) {
        assert!(clause.iter().all(|lit| lit.0.abs() <= self.vars), "a clause has a variable of another solver");
        self.inner.add_clause(&clause.iter().map(|lit| lit.0).collect::<Vec<_>>());
    }

    /// Decides whether all clauses and the assumptions can be satisfied together. `proceed` is called before each slice
    /// of the search, with the conflicts of the slice before it; its error ends the search and is returned.
    pub fn solve<E>(
        &mut self,
        assumptions: &[SatLit],
        mut proceed: impl FnMut(u32) -> Result<(), E>,
    ) -> Result<Answer, E> {
        let (mut done, mut slice) = (0, Solver::FIRST_SLICE);
        loop {
            proceed(done)?;
            if let Some(answer) = self.solve_within(assumptions, slice) {
                return Ok(answer);
            }
            (done, slice) = (slice, (slice + slice / 2).min(Solver::LAST_SLICE));
        }
    }

    /// As [`Solver::solve`], within the given number of conflicts; `None` if they do not suffice.
    pub fn solve_within(&mut self, assumptions: &[SatLit], conflicts: u32) -> Option<Answer> {
        self.assumed = assumptions.to_vec();
        let assumptions: Vec<i32> = assumptions.iter().map(|lit| lit.0).collect();
        let result = self.inner.solve(&assumptions, conflicts);
        result.map(|sat| if sat { Answer::Sat } else { Answer::Unsat })
    }

    /// Returns the value of a literal in the assignment found. Only after [`Answer::Sat`] and before the next clause.
    /// Variables that do not matter are false.
    pub fn value(&self, lit: SatLit) -> bool {
        assert!(self.inner.status() == Some(true), "there is no assignment");
        match self.inner.value(lit.0.abs()) {
            Some(value) => value == lit.is_positive(),
            None => !lit.is_positive(),
        }
    }

    /// Returns assumptions that cannot be satisfied together with the clauses, in the order in which they were given.
    /// Only after [`Answer::Unsat`] and before the next clause.
    pub fn core(&self) -> Vec<SatLit> {
        assert!(self.inner.status() == Some(false), "there is no core");
        self.assumed.iter().copied().filter(|lit| self.inner.failed(lit.0)).collect()
    }
}
