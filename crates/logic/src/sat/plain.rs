//! The solver of the judge, which is plain Rust.

use rustc_hash::FxHashMap;
use selvedge_cdcl::{Answer, ClauseId, Proof, Solver};

/// The solver. Literals are numbers of variables, from 1, negative if negated.
pub(super) struct Inner {
    solver: Solver,
    vars: i32,
    derived: Derived,
    status: Option<bool>,
    /// The negations of the assumptions that are responsible for the last answer, if there is no solution.
    refuted: Vec<i32>,
}

/// What must be remembered of the clauses to know which assumptions are responsible: the answer names a clause of their
/// negations, which was derived last, or has one literal, or none.
#[derive(Default)]
struct Derived {
    next: ClauseId,
    units: FxHashMap<ClauseId, i32>,
    last: (ClauseId, Vec<i32>),
}

impl Derived {
    fn note(&mut self, clause: &[i32]) -> ClauseId {
        self.next = self.next.checked_add(1).expect("there are fewer than 2^32 clauses");
        if let [unit] = clause {
            self.units.insert(self.next, *unit);
        }
        self.next
    }
}

impl Proof for Derived {
    fn derive(&mut self, clause: &[i32], _: &[ClauseId]) -> ClauseId {
        let id = self.note(clause);
        self.last = (id, clause.to_vec());
        id
    }

    fn delete(&mut self, id: ClauseId) {
        self.units.remove(&id);
    }
}

impl Inner {
    /// The conflicts between two calls of the solver's callback.
    const PART: u32 = 100;

    pub(super) fn new() -> Inner {
        Inner { solver: Solver::new(), vars: 0, derived: Derived::default(), status: None, refuted: Vec::new() }
    }

    pub(super) fn add_clause(&mut self, clause: &[i32]) {
        self.status = None;
        self.add_vars(clause);
        let mut clause = clause.to_vec();
        clause.sort_unstable();
        clause.dedup();
        let id = self.derived.note(&clause);
        self.solver.add_clause(id, &clause, &mut self.derived);
    }

    /// Returns whether there is a solution; `None` if that many conflicts do not suffice, give or take a hundred.
    pub(super) fn solve(&mut self, assumptions: &[i32], conflicts: u32) -> Option<bool> {
        self.status = None;
        self.add_vars(assumptions);
        let mut parts = 1 + conflicts.div_ceil(Inner::PART);
        let proceed = || {
            parts = parts.checked_sub(1).ok_or(())?;
            Ok::<(), ()>(())
        };
        let answer = self.solver.solve(assumptions, &mut self.derived, proceed).ok()?;
        self.status = Some(answer == Answer::Satisfiable);
        if let Answer::Unsatisfiable(id) = answer {
            self.refuted = match self.derived.units.get(&id) {
                Some(unit) => vec![*unit],
                None if self.derived.last.0 == id => self.derived.last.1.clone(),
                None => Vec::new(),
            };
        }
        self.status
    }

    fn add_vars(&mut self, lits: &[i32]) {
        let most = lits.iter().map(|lit| lit.abs()).max().unwrap_or(0);
        while self.vars < most {
            self.vars = self.solver.add_var();
        }
    }

    /// Returns the last answer, if no clause was added since.
    pub(super) fn status(&self) -> Option<bool> {
        self.status
    }

    /// Returns the value of a variable in the solution.
    pub(super) fn value(&self, var: i32) -> Option<bool> {
        Some(self.solver.value(var.unsigned_abs()))
    }

    /// Returns whether an assumption is responsible that there is no solution.
    pub(super) fn failed(&self, assumption: i32) -> bool {
        self.refuted.contains(&-assumption)
    }
}
