//! A small SAT solver that proves its answers step by step.
//!
//! The solver decides questions about clauses that grow in number, under assumptions, by conflict-driven clause
//! learning (Eén and Sörensson: An extensible SAT-solver, SAT 2003): two watched literals, first unique implication
//! points, activities of variables, saved phases, restarts, and learnt clauses that are dropped. It is made for many
//! small questions: a solver costs next to nothing until it has clauses.
//!
//! It need not be trusted. Each clause that it derives is handed to a [`Proof`] together with *hints*: clauses whose
//! unit propagation, in their order, refutes the negation of the clause, as in an LRAT proof. An answer
//! "unsatisfiable" names the clause that refutes the assumptions.
//!
//! *Order of work.* [`Solver::solve`] propagates; a conflict is analysed (`analyze`), the learnt clause is proved and
//! asserted; without conflict, the next assumption or the most active variable is decided (`order`).
//!
//! *Invariant.* Between two questions the trail has the literals that hold in all solutions, each with the number of a
//! unit clause in the proof, so that hints can refer to it.
//!
//! *End.* A conflict learns a clause that does not follow by propagation from those that are kept; restarts become
//! rarer, and more clauses are kept each time that some are dropped.
//!
//! Literals are numbers of variables, from 1, negative if negated.

mod analyze;
mod order;
mod reduce;

use std::ops::Range;

use order::Order;

/// The number of a clause in a proof.
pub type ClauseId = u32;

/// Receives the steps of a proof.
pub trait Proof {
    /// Adds a clause that follows by unit propagation along the hints. Returns its number.
    fn derive(&mut self, clause: &[i32], hints: &[ClauseId]) -> ClauseId;

    /// Deletes a clause, to which no further step refers.
    fn delete(&mut self, id: ClauseId);
}

/// The answer to a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// The clauses and assumptions have a solution, which [`Solver::value`] tells.
    Satisfiable,
    /// The clause with this number has only negations of assumptions.
    Unsatisfiable(ClauseId),
}

/// A literal: twice its variable, from 0, and 1 if it is negated.
type Code = u32;

fn code(lit: i32) -> Code {
    2 * (lit.unsigned_abs() - 1) + u32::from(lit < 0)
}

fn lit(code: Code) -> i32 {
    let var = (code / 2 + 1) as i32;
    if code & 1 == 0 { var } else { -var }
}

fn var(code: Code) -> usize {
    code as usize / 2
}

/// The reason of a variable that was decided, or that holds always and needs no reason.
const NO_CLAUSE: ClauseRef = u32::MAX;

/// A clause of at least two literals, of which the first two are watched: the place of its first literal. The places
/// before it have its number in the proof, its glue and its length.
type ClauseRef = u32;

/// The places of a clause before its literals.
const HEADER: usize = 3;

#[derive(Clone, Copy, Debug)]
struct Watch {
    /// Twice the place of the clause, and 1 if it has two literals.
    tagged: u32,
    /// Another literal of the clause; if it is true, or the only other one, the clause need not be looked at.
    blocker: Code,
}

impl Watch {
    fn new(clause: ClauseRef, len: usize, blocker: Code) -> Watch {
        Watch { tagged: 2 * clause + u32::from(len == 2), blocker }
    }

    fn clause(self) -> ClauseRef {
        self.tagged / 2
    }

    fn is_binary(self) -> bool {
        self.tagged & 1 == 1
    }
}

/// The state of a variable.
#[derive(Clone, Copy, Debug)]
struct Var {
    level: u32,
    /// The place in the trail.
    place: u32,
    /// The clause that implies it, or [`NO_CLAUSE`].
    reason: ClauseRef,
    /// The number of the unit clause in the proof, at level 0.
    unit: ClauseId,
    /// The value that it had last.
    phase: bool,
}

/// A set of clauses that grows.
#[derive(Debug, Default)]
pub struct Solver {
    /// The literals of all clauses, with their headers.
    lits: Vec<Code>,
    clauses: Vec<ClauseRef>,
    n_learnt: usize,
    /// By literal, the clauses that watch it and must be looked at when it becomes false.
    watches: Vec<Vec<Watch>>,
    vars: Vec<Var>,
    /// By literal: 1 if it is true, -1 if it is false, 0 if it is open.
    values: Vec<i8>,
    trail: Vec<Code>,
    /// The length of the trail when each level began.
    levels: Vec<usize>,
    n_propagated: usize,
    order: Order,
    /// The empty clause, once it is derived.
    empty: Option<ClauseId>,
    model: Vec<bool>,
    analysis: analyze::Analysis,
    /// The learnt clauses that may be kept.
    most_learnt: usize,
    buffer: Vec<Code>,
}

impl Solver {
    /// Conflicts before the first restart.
    const RESTART: u64 = 100;

    /// Creates a solver without variables and clauses.
    pub fn new() -> Solver {
        Solver::default()
    }

    /// Adds a variable. Returns its number.
    pub fn add_var(&mut self) -> i32 {
        self.vars.push(Var { level: 0, place: 0, reason: NO_CLAUSE, unit: 0, phase: false });
        self.values.extend([0, 0]);
        self.watches.extend([Vec::new(), Vec::new()]);
        self.order.add_var();
        self.analysis.add_var();
        self.vars.len() as i32
    }

    /// Adds a clause, which has this number in the proof.
    pub fn add_clause(&mut self, id: ClauseId, clause: &[i32], proof: &mut impl Proof) {
        debug_assert!(self.levels.is_empty(), "clauses are added between two questions");
        let mut codes = std::mem::take(&mut self.buffer);
        codes.clear();
        codes.extend(clause.iter().map(|lit| code(*lit)));
        codes.sort_unstable();
        codes.dedup();
        let holds = |pair: &[Code]| pair[0] ^ 1 == pair[1];
        if !codes.windows(2).any(holds) && !codes.iter().any(|code| self.truth(*code) > 0) {
            self.add_open(id, &mut codes, proof);
        }
        self.buffer = codes;
    }

    /// Adds a clause in which no literal is true, without its false literals.
    fn add_open(&mut self, id: ClauseId, codes: &mut Vec<Code>, proof: &mut impl Proof) {
        let false_lits = codes.iter().filter(|code| self.truth(**code) < 0);
        let mut hints: Vec<ClauseId> = false_lits.map(|code| self.vars[var(*code)].unit).collect();
        let id = if hints.is_empty() {
            id
        } else {
            hints.push(id);
            codes.retain(|code| self.truth(*code) == 0);
            proof.derive(&codes.iter().map(|code| lit(*code)).collect::<Vec<_>>(), &hints)
        };
        match codes.as_slice() {
            [] => self.empty = Some(id),
            [unit] => self.assign_unit(*unit, id),
            _ => {
                self.attach(codes, id, 0);
            }
        }
    }

    /// Adds a clause. The glue is the number of levels of its literals when it was learnt, 0 for a clause of the
    /// question.
    fn attach(&mut self, codes: &[Code], id: ClauseId, glue: u32) -> ClauseRef {
        self.lits.extend([id, glue, codes.len() as u32]);
        let clause = self.lits.len() as ClauseRef;
        self.clauses.push(clause);
        self.lits.extend_from_slice(codes);
        self.watches[codes[0] as usize].push(Watch::new(clause, codes.len(), codes[1]));
        self.watches[codes[1] as usize].push(Watch::new(clause, codes.len(), codes[0]));
        clause
    }

    /// Decides whether all clauses and assumptions can hold together. `proceed` is called at the start and every
    /// hundred conflicts; its error ends the search and is returned.
    pub fn solve<E>(
        &mut self,
        assumptions: &[i32],
        proof: &mut impl Proof,
        mut proceed: impl FnMut() -> Result<(), E>,
    ) -> Result<Answer, E> {
        let assumptions: Vec<Code> = assumptions.iter().map(|lit| code(*lit)).collect();
        self.most_learnt = self.most_learnt.max(self.clauses.len() / 3).max(1_000);
        for round in 0.. {
            let found = self.search(&assumptions, luby(round) * Solver::RESTART, proof, &mut proceed);
            self.backtrack(0);
            if let Some(answer) = found? {
                return Ok(answer);
            }
            if self.n_learnt > self.most_learnt {
                self.reduce(proof);
                self.most_learnt += self.most_learnt / 10;
            }
        }
        unreachable!("the loop has no end")
    }

    /// Returns the value of a variable in the solution that was found last; those that were added later are false.
    pub fn value(&self, var: u32) -> bool {
        self.model.get(var as usize - 1).copied().unwrap_or(false)
    }

    /// Searches up to a number of conflicts.
    fn search<E>(
        &mut self,
        assumptions: &[Code],
        conflicts: u64,
        proof: &mut impl Proof,
        proceed: &mut impl FnMut() -> Result<(), E>,
    ) -> Result<Option<Answer>, E> {
        let mut n_conflicts = 0;
        proceed()?;
        loop {
            if let Some(empty) = self.empty {
                return Ok(Some(Answer::Unsatisfiable(empty)));
            }
            // A conflict without decisions contradicts the clauses; others teach a clause and undo decisions.
            if let Some(conflict) = self.propagate_with(proof) {
                n_conflicts += 1;
                if self.levels.is_empty() {
                    let empty = self.prove_empty(conflict, proof);
                    self.empty = Some(empty);
                } else {
                    self.learn(conflict, proof);
                }
                if n_conflicts % Solver::RESTART == 0 {
                    proceed()?;
                }
                continue;
            }
            if n_conflicts >= conflicts {
                return Ok(None);
            }
            // The first levels belong to the assumptions, in their order; one that is false already follows from the
            // clauses and the assumptions before it.
            let decision = match assumptions.get(self.levels.len()) {
                Some(assumption) if self.truth(*assumption) < 0 => {
                    return Ok(Some(Answer::Unsatisfiable(self.prove_failure(*assumption, proof))));
                }
                Some(assumption) => *assumption,
                None => match self.next_decision() {
                    Some(decision) => decision,
                    None => return Ok(Some(self.keep_solution())),
                },
            };
            self.levels.push(self.trail.len());
            if self.truth(decision) == 0 {
                self.assign(decision, NO_CLAUSE);
            }
        }
    }

    fn next_decision(&mut self) -> Option<Code> {
        loop {
            let var = self.order.pop()?;
            if self.values[2 * var as usize] == 0 {
                return Some(2 * var + u32::from(!self.vars[var as usize].phase));
            }
        }
    }

    fn keep_solution(&mut self) -> Answer {
        self.model.clear();
        self.model.extend(self.values.iter().step_by(2).map(|value| *value > 0));
        Answer::Satisfiable
    }

    /// Returns 1 if a literal is true, -1 if it is false, 0 if it is open.
    fn truth(&self, code: Code) -> i8 {
        self.values[code as usize]
    }

    /// Returns the places of the literals of a clause.
    fn places(&self, clause: ClauseRef) -> Range<usize> {
        let start = clause as usize;
        start..start + self.lits[start - 1] as usize
    }

    fn clause(&self, clause: ClauseRef) -> &[Code] {
        &self.lits[self.places(clause)]
    }

    fn id(&self, clause: ClauseRef) -> ClauseId {
        self.lits[clause as usize - HEADER]
    }

    fn assign(&mut self, code: Code, reason: ClauseRef) {
        self.values[code as usize] = 1;
        self.values[(code ^ 1) as usize] = -1;
        let variable = &mut self.vars[var(code)];
        variable.level = self.levels.len() as u32;
        variable.place = self.trail.len() as u32;
        variable.reason = reason;
        self.trail.push(code);
    }

    /// Assigns a literal that holds in all solutions.
    fn assign_unit(&mut self, code: Code, unit: ClauseId) {
        self.assign(code, NO_CLAUSE);
        self.vars[var(code)].unit = unit;
    }

    /// Propagates, and proves unit clauses for what follows at level 0. Returns a clause whose literals are all false.
    fn propagate_with(&mut self, proof: &mut impl Proof) -> Option<ClauseRef> {
        let n_before = self.n_propagated;
        let conflict = self.propagate();
        if self.levels.is_empty() {
            for place in n_before..self.trail.len() {
                self.prove_unit(self.trail[place], proof);
            }
        }
        conflict
    }

    fn propagate(&mut self) -> Option<ClauseRef> {
        while let Some(&code) = self.trail.get(self.n_propagated) {
            self.n_propagated += 1;
            let falsified = code ^ 1;
            let mut watches = std::mem::take(&mut self.watches[falsified as usize]);
            let conflict = self.visit(falsified, &mut watches);
            self.watches[falsified as usize] = watches;
            if conflict.is_some() {
                self.n_propagated = self.trail.len();
                return conflict;
            }
        }
        None
    }

    /// Looks at the clauses that watch a literal that has become false. Each of them watches another literal from now
    /// on, is satisfied, implies its last literal, or is in conflict. Watches that stay are moved to the front.
    fn visit(&mut self, falsified: Code, watches: &mut Vec<Watch>) -> Option<ClauseRef> {
        let mut kept = 0;
        let mut conflict = None;
        for at in 0..watches.len() {
            let mut watch = watches[at];
            if conflict.is_none() && self.truth(watch.blocker) <= 0 {
                if !watch.is_binary() {
                    let Some(other) = self.keep_watch(watch.clause(), falsified) else { continue };
                    watch.blocker = other;
                }
                match self.truth(watch.blocker) {
                    0 => self.assign(watch.blocker, watch.clause()),
                    value if value < 0 => conflict = Some(watch.clause()),
                    _ => {}
                }
            }
            watches[kept] = watch;
            kept += 1;
        }
        watches.truncate(kept);
        conflict
    }

    /// Lets a clause watch another literal than the one that became false, if possible: if the other watched literal is
    /// not true and a third one is not false. If not, returns the other watched literal.
    fn keep_watch(&mut self, clause: ClauseRef, falsified: Code) -> Option<Code> {
        let places = self.places(clause);
        let lits = &mut self.lits[places];
        if lits[0] == falsified {
            lits.swap(0, 1);
        }
        if self.values[lits[0] as usize] > 0 {
            return Some(lits[0]);
        }
        let Some(at) = (2..lits.len()).find(|at| self.values[lits[*at] as usize] >= 0) else { return Some(lits[0]) };
        lits.swap(1, at);
        let watch = Watch::new(clause, lits.len(), lits[0]);
        self.watches[lits[1] as usize].push(watch);
        None
    }

    fn backtrack(&mut self, level: usize) {
        if level >= self.levels.len() {
            return;
        }
        let n_kept = self.levels[level];
        for code in self.trail.drain(n_kept..) {
            self.values[code as usize] = 0;
            self.values[(code ^ 1) as usize] = 0;
            self.vars[var(code)].phase = code & 1 == 0;
            self.order.insert(code / 2);
        }
        self.levels.truncate(level);
        self.n_propagated = n_kept;
    }
}

/// The sequence of Luby, Sinclair and Zuckerman: 1 1 2 1 1 2 4 ..
fn luby(mut round: u64) -> u64 {
    loop {
        let size = (round + 2).next_power_of_two();
        if size == round + 2 {
            return size / 2;
        }
        round -= size / 2 - 1;
    }
}
