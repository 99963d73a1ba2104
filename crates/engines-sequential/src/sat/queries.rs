//! The queries to the solvers: is a guard satisfiable, and is one set of executions covered by others?

use rustc_hash::{FxHashMap, FxHashSet};
use selvedge_check::{Run, Stop};
use selvedge_logic::aig::{Aig, Encoder, Input, Lit};
use selvedge_logic::qbf::{Quantified, Strategy, forall_exists};
use selvedge_logic::sat::{Answer, Solver};

/// An assignment of the inputs; those that do not occur are false.
pub(super) type InputModel = FxHashMap<Input, bool>;

/// A set of tuples in parametric form: each assignment of the inputs that satisfies the guard gives one.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Image {
    pub(super) guard: Lit,
    pub(super) tuple: Vec<Lit>,
}

/// An image in which the existentially bound inputs have been replaced by fresh ones.
#[derive(Clone, Debug)]
pub(super) struct CopiedImage {
    image: Image,
    /// The replaced inputs and their replacements.
    inputs: Vec<(Input, Input)>,
}

/// The conflicts that are as much work as one question about coverage, which copies circuits.
const QUESTION: u32 = 10;

/// The number of such questions that are told at a time.
const TOLD: u32 = 16;

/// The solver for guards, which keeps learnt clauses, and the answers about coverage so far (thesis, §10.3.1).
pub(super) struct Queries {
    solver: Solver,
    encoder: Encoder,
    covered: FxHashMap<(Image, Vec<Image>), bool>,
}

impl Queries {
    /// Number of variables above which the solver is replaced by an empty one.
    const MANY_VARS: usize = 100_000;

    pub(super) fn new() -> Queries {
        Queries { solver: Solver::new(), encoder: Encoder::new(), covered: FxHashMap::default() }
    }

    /// Returns an assignment that satisfies a formula.
    pub(super) fn model(&mut self, aig: &Aig, formula: Lit, run: &Run<'_>) -> Result<Option<InputModel>, Stop> {
        if !self.is_satisfiable(aig, formula, run)? {
            return Ok(None);
        }
        let mut model = InputModel::default();
        if formula.as_constant().is_none() {
            for input in aig.support(&[formula]) {
                let lit = self.encoder.input(aig, input, &mut self.solver);
                model.insert(input, self.solver.value(lit));
            }
        }
        Ok(Some(model))
    }

    /// Returns whether a formula is satisfiable.
    pub(super) fn is_satisfiable(&mut self, aig: &Aig, formula: Lit, run: &Run<'_>) -> Result<bool, Stop> {
        if let Some(value) = formula.as_constant() {
            return Ok(value);
        }
        if self.solver.var_count() > Queries::MANY_VARS {
            (self.solver, self.encoder) = (Solver::new(), Encoder::new());
        }
        let lit = self.encoder.encode(aig, formula, &mut self.solver);
        Ok(self.solver.solve(&[lit], |conflicts| run.check_search(conflicts))? == Answer::Sat)
    }

    /// Returns whether each tuple of an image is in the union of the others, under the same values of the inputs that
    /// these do not own: equations (4.2) and (4.3), for a union of path edges.
    /// Gives up after a number of slices of search and returns `None`.
    ///
    /// Two assignments are tried before the solver searches: each owned input has the value of the tuple at a position
    /// where the other tuple is that input itself; or that of the input that it replaces.
    pub(super) fn is_covered(
        &mut self,
        aig: &mut Aig,
        image: &Image,
        by: &[&CopiedImage],
        run: &Run<'_>,
        effort: u32,
    ) -> Result<Option<bool>, Stop> {
        let key = (image.clone(), by.iter().map(|copied| copied.image.clone()).collect::<Vec<_>>());
        if let Some(known) = self.covered.get(&key) {
            return Ok(Some(*known));
        }
        let mut some = Lit::FALSE;
        for copied in by {
            let equal = equal(aig, &image.tuple, &copied.image.tuple);
            let both = aig.and(copied.image.guard, equal);
            some = aig.or(some, both);
        }
        let matrix = aig.implies(image.guard, some);
        let answer = match matrix.as_constant() {
            Some(value) => value,
            None => {
                let mut n_slices = 0;
                // `None` means that the effort is spent.
                let proceed = |conflicts| -> Result<(), Option<Stop>> {
                    n_slices += 1;
                    let asked = if n_slices % TOLD == 0 { TOLD * QUESTION } else { 0 };
                    if n_slices > effort { Err(None) } else { run.check_search(conflicts + asked).map_err(Some) }
                };
                match decide(aig, matrix, image, by, proceed) {
                    Ok(value) => value,
                    Err(given_up) => return given_up.map_or(Ok(None), Err),
                }
            }
        };
        self.covered.insert(key, answer);
        Ok(Some(answer))
    }
}

/// Decides whether for all values of the other inputs there are values of the owned ones that satisfy the matrix.
fn decide<E>(
    aig: &mut Aig,
    matrix: Lit,
    image: &Image,
    by: &[&CopiedImage],
    proceed: impl FnMut(u32) -> Result<(), E>,
) -> Result<bool, E> {
    let support = aig.support(&[matrix]);
    let inner: Vec<(Input, Input)> = by.iter().flat_map(|copied| copied.inputs.iter().copied()).collect();
    let bound: FxHashSet<Input> = inner.iter().map(|(_, own)| *own).collect();
    let inner: Vec<(Input, Input)> = inner.into_iter().filter(|(_, own)| support.contains(own)).collect();
    let outer: Vec<Input> = support.into_iter().filter(|input| !bound.contains(input)).collect();
    let strategies = strategies(aig, image, by, &inner, &outer);
    let inner: Vec<Input> = inner.into_iter().map(|(_, own)| own).collect();
    let formula = Quantified { matrix, outer: &outer, inner: &inner };
    Ok(forall_exists(aig, formula, &strategies, proceed)?.outer.is_none())
}

/// Returns candidate values of the owned inputs: those that make the tuples match, and those of the replaced inputs.
fn strategies(
    aig: &mut Aig,
    image: &Image,
    by: &[&CopiedImage],
    inner: &[(Input, Input)],
    outer: &[Input],
) -> Vec<Strategy> {
    let mut matched: FxHashMap<Lit, Lit> = FxHashMap::default();
    for copied in by {
        for (own, wanted) in copied.image.tuple.iter().zip(&image.tuple) {
            matched.entry(*own).or_insert(*wanted);
            matched.entry(!*own).or_insert(!*wanted);
        }
    }
    let known: FxHashSet<Input> = outer.iter().copied().collect();
    // A match may contain inputs that vanished from the matrix; they count as false.
    let identity: Vec<Lit> = inner.iter().map(|(original, _)| aig.input(*original)).collect();
    let by_match =
        inner.iter().zip(&identity).map(|((_, own), original)| *matched.get(&aig.input(*own)).unwrap_or(original));
    let by_match: Vec<Lit> = by_match.collect();
    let mut strategies: Vec<Strategy> = Vec::new();
    for strategy in [by_match, identity] {
        let closed = aig.substitute(&strategy, |input| (!known.contains(&input)).then_some(Lit::FALSE));
        if !strategies.contains(&closed) {
            strategies.push(closed);
        }
    }
    strategies
}

impl CopiedImage {
    /// Copies an image, with fresh inputs for those that satisfy a condition.
    pub(super) fn new(aig: &mut Aig, image: &Image, own: impl Fn(Input) -> bool) -> CopiedImage {
        let roots: Vec<Lit> = image.tuple.iter().copied().chain([image.guard]).collect();
        let inputs: Vec<Input> = aig.support(&roots).into_iter().filter(|input| own(*input)).collect();
        let inputs: Vec<(Input, Input)> = inputs.into_iter().map(|input| (input, aig.new_input())).collect();
        let new: FxHashMap<Input, Lit> = inputs.iter().map(|(old, new)| (*old, aig.input(*new))).collect();
        let mut tuple = aig.substitute(&roots, |input| new.get(&input).copied());
        let guard = tuple.pop().expect("the guard is the last root");
        CopiedImage { image: Image { guard, tuple }, inputs }
    }
}

/// Returns the condition that two tuples are equal.
pub(super) fn equal(aig: &mut Aig, left: &[Lit], right: &[Lit]) -> Lit {
    let same: Vec<Lit> = left.iter().zip(right).map(|(left, right)| aig.iff(*left, *right)).collect();
    aig.and_all(&same)
}
