//! Formulas with one alternation of quantifiers, by counterexample-guided expansion.
//!
//! For `exists X forall Y: matrix`, one solver proposes values of `X` that satisfy the matrix for the values of `Y`
//! seen so far, a second one looks for values of `Y` that refute the proposal. A refutation is added to the first
//! solver: the matrix with these values substituted for `Y`. `forall X exists Y: matrix` is the negation of `exists X
//! forall Y: not matrix`.
//!
//! Instances that would need many values of `Y` are often decided at once by one good answer to all values of `X`: a
//! [`Strategy`] gives `Y` as functions of `X`. It is a valid expansion, so the callers' strategies are added to the
//! first solver before the first proposal.

use crate::aig::{Aig, Encoder, Input, Lit};
use crate::sat::{Answer, SatLit, Solver};

/// The formula below the quantifiers, and the inputs that each quantifier binds. The matrix depends on no other inputs.
#[derive(Clone, Copy, Debug)]
pub struct Quantified<'a> {
    /// The formula.
    pub matrix: Lit,
    /// The inputs bound by the outer quantifier.
    pub outer: &'a [Input],
    /// The inputs bound by the inner quantifier.
    pub inner: &'a [Input],
}

/// A function of the outer inputs for each inner input, in their order.
pub type Strategy = Vec<Lit>;

/// The result of deciding a formula.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decision {
    /// Values of the outer inputs that make the matrix true for all inner values, or false for all of them, depending
    /// on the question.
    pub outer: Option<Vec<bool>>,
    /// The number of expansions by values of the inner inputs, besides the strategies.
    pub expansions: usize,
}

/// Looks for values of the outer inputs for which the matrix holds for all inner ones. The formula `exists outer forall
/// inner: matrix` is true if and only if there are some. Strategies are answers of the inner inputs that may refute
/// every choice. The graph grows by what the expansions need.
pub fn exists_forall<E>(
    aig: &mut Aig,
    formula: Quantified<'_>,
    strategies: &[Strategy],
    proceed: impl FnMut(u32) -> Result<(), E>,
) -> Result<Decision, E> {
    let mut search = Search::new(aig, formula);
    for strategy in strategies {
        search.refute(strategy);
    }
    search.run(proceed)
}

/// Looks for values of the outer inputs for which no values of the inner ones satisfy the matrix. The formula `forall
/// outer exists inner: matrix` is true if and only if there are none. Strategies are candidates for Skolem functions:
/// if for all outer values one of them satisfies the matrix, no further expansion is needed. The graph grows by what
/// the expansions need.
pub fn forall_exists<E>(
    aig: &mut Aig,
    formula: Quantified<'_>,
    strategies: &[Strategy],
    proceed: impl FnMut(u32) -> Result<(), E>,
) -> Result<Decision, E> {
    exists_forall(aig, Quantified { matrix: !formula.matrix, ..formula }, strategies, proceed)
}

/// The search for outer values.
///
/// *Invariant.* The proposer's assignments are the outer values that no expansion so far refutes.
///
/// *Termination.* A proposal is consistent with all former expansions, so the values that refute it are new, and there
/// are finitely many.
///
/// *Correctness.* Without proposals, each choice of outer values is refuted by some expansion. Without a refutation,
/// the proposal is the result.
struct Search<'a> {
    aig: &'a mut Aig,
    formula: Quantified<'a>,
    proposer: EncodedSolver,
    refuter: EncodedSolver,
}

/// A solver with the part of the graph that it knows.
#[derive(Default)]
struct EncodedSolver {
    solver: Solver,
    encoder: Encoder,
}

impl EncodedSolver {
    fn assert(&mut self, aig: &Aig, lit: Lit) {
        self.encoder.assert(aig, lit, &mut self.solver);
    }

    /// Returns the literals that represent inputs.
    fn literals(&mut self, aig: &Aig, inputs: &[Input]) -> Vec<SatLit> {
        inputs.iter().map(|&input| self.encoder.input(aig, input, &mut self.solver)).collect()
    }
}

impl<'a> Search<'a> {
    fn new(aig: &'a mut Aig, formula: Quantified<'a>) -> Search<'a> {
        let support = aig.support(&[formula.matrix]);
        let bound = |i: &Input| formula.outer.contains(i) || formula.inner.contains(i);
        assert!(support.iter().all(bound), "the matrix depends on an input that is not bound");
        let mut refuter = EncodedSolver::default();
        refuter.assert(aig, !formula.matrix);
        Search { aig, formula, proposer: EncodedSolver::default(), refuter }
    }

    fn run<E>(mut self, mut proceed: impl FnMut(u32) -> Result<(), E>) -> Result<Decision, E> {
        let outer = self.proposer.literals(self.aig, self.formula.outer);
        let mut expansions = 0;
        loop {
            if self.proposer.solver.solve(&[], &mut proceed)? == Answer::Unsat {
                return Ok(Decision { outer: None, expansions });
            }
            let proposal: Vec<bool> = outer.iter().map(|&lit| self.proposer.solver.value(lit)).collect();
            let Some(refutation) = self.refutation(&proposal, &mut proceed)? else {
                return Ok(Decision { outer: Some(proposal), expansions });
            };
            let constants: Strategy = refutation.into_iter().map(Lit::from).collect();
            self.refute(&constants);
            expansions += 1;
        }
    }

    /// Looks for inner values that make the matrix false for the proposed outer ones.
    fn refutation<E>(
        &mut self,
        proposal: &[bool],
        proceed: impl FnMut(u32) -> Result<(), E>,
    ) -> Result<Option<Vec<bool>>, E> {
        let outer = self.refuter.literals(self.aig, self.formula.outer);
        let inner = self.refuter.literals(self.aig, self.formula.inner);
        let assumptions: Vec<SatLit> =
            outer.iter().zip(proposal).map(|(&lit, &v)| if v { lit } else { !lit }).collect();
        Ok(match self.refuter.solver.solve(&assumptions, proceed)? {
            Answer::Unsat => None,
            Answer::Sat => Some(inner.iter().map(|&lit| self.refuter.solver.value(lit)).collect()),
        })
    }

    /// Requires the matrix to hold with the strategy substituted for the inner inputs.
    fn refute(&mut self, strategy: &Strategy) {
        let inner = self.formula.inner;
        assert!(strategy.len() == inner.len(), "a strategy has a function for each inner input");
        let answer = |input| inner.iter().position(|&i| i == input).map(|at| strategy[at]);
        let expanded = self.aig.substitute(&[self.formula.matrix], answer)[0];
        self.proposer.assert(self.aig, expanded);
    }
}
