//! The maximal nodes as a certificate: vectors over valuations that are listed one by one.

use indexmap::IndexSet;
use rustc_hash::FxHashMap;
use selvedge_check::{Certificate, CoverClaim, CoverProof, LocalState, OmegaVector, Role, SharedState, Stop};
use selvedge_ir::VarId;
use selvedge_ir::tts::{LocalId, SharedId};
use selvedge_logic::bdd::Var;
use selvedge_transition::macro_step::place::Place;
use selvedge_transition::step::diagram::layout::{When, Who};

use super::omega_marking::{Count, Group};
use super::tree::{OmegaNode, Tree};

/// Limit on the vectors of a certificate. Larger ones are not given: they would take too long to check.
const MOST_VECTORS: usize = 20_000;

/// Numbers of threads by state, `None` for any number.
type Counts = Vec<(LocalId, Option<u32>)>;

impl Tree<'_> {
    /// Returns the certificate of a complete tree without errors; `None` if it would be too large.
    ///
    /// A node represents the vectors that have one of its shared valuations, for each group with a number that many
    /// threads in some of its valuations, and any number in each valuation of a group with ω.
    pub(super) fn certificate(&self) -> Result<Option<Certificate>, Stop> {
        let layout = &self.machine.layout;
        let var = |var: &VarId| layout.var(*var, Who::Mover, When::Now);
        let mut writer = VectorWriter {
            tree: self,
            shared: layout.kept_shared().iter().map(var).collect(),
            numbers: self.machine.visible_places().into_iter().zip(0..).collect(),
            shareds: IndexSet::new(),
            locals: IndexSet::new(),
            vectors: Vec::new(),
        };
        for node in self.maximal.iter().map(|number| &self.nodes[*number]) {
            self.machine.run.tick()?;
            // The prelude is over before there are configurations.
            let in_prelude = node.marking.groups().iter().any(|group| group.place.role == Role::Prelude);
            if !in_prelude && !writer.write(node) {
                return Ok(None);
            }
        }
        let VectorWriter { shareds, locals, vectors, .. } = writer;
        let vectors = maximal(vectors);
        Ok(Some(Certificate::Cover(CoverProof {
            shared_vars: layout.kept_shared().to_vec(),
            shareds: shareds.into_iter().collect(),
            places: self.machine.listed_places(),
            locals: locals.into_iter().collect(),
            claim: CoverClaim::Vectors(vectors),
        })))
    }
}

struct VectorWriter<'t> {
    tree: &'t Tree<'t>,
    /// The variables of the diagrams for the shared variables.
    shared: Vec<Var>,
    numbers: FxHashMap<Place, u32>,
    shareds: IndexSet<SharedState>,
    locals: IndexSet<LocalState>,
    vectors: Vec<OmegaVector>,
}

impl VectorWriter<'_> {
    /// Adds the vectors of a node; `false` if there would be too many.
    fn write(&mut self, node: &OmegaNode) -> bool {
        let mut ways: Vec<Counts> = vec![Vec::new()];
        for group in node.marking.groups() {
            let Some(own) = self.group(group) else { return false };
            if ways.len().saturating_mul(own.len()) > MOST_VECTORS {
                return false;
            }
            let join = |way: &Counts| own.iter().map(|one| sum(way, one)).collect::<Vec<_>>();
            ways = ways.iter().flat_map(join).collect();
        }
        let held = node.marking.groups().iter().any(|group| matches!(group.place.role, Role::Holder(_)));
        let n_shared = node.shared.count(&self.shared).unwrap_or(u128::MAX);
        if n_shared.saturating_mul(ways.len() as u128) + self.vectors.len() as u128 > MOST_VECTORS as u128 {
            return false;
        }
        for values in node.shared.assignments(&self.shared) {
            let shared = SharedId::new(self.shareds.insert_full(SharedState { values, held }).0);
            self.vectors.extend(ways.iter().map(|counts| OmegaVector { shared, counts: counts.clone() }));
        }
        true
    }

    /// Returns the ways in which the threads of a group can be spread over its valuations; `None` if they are too many.
    fn group(&mut self, group: &Group) -> Option<Vec<Counts>> {
        let machine = &self.tree.machine;
        let vars: Vec<Var> = machine
            .layout
            .kept(group.place.loc)
            .iter()
            .map(|var| machine.layout.var(*var, Who::Mover, When::Now))
            .collect();
        let set = machine.sets.get(group.set);
        if set.count(&vars).is_none_or(|count| count > MOST_VECTORS as u128) {
            return None;
        }
        let place = self.numbers[&group.place];
        let locals: Vec<LocalId> = set
            .assignments(&vars)
            .map(|values| LocalId::new(self.locals.insert_full(LocalState { place, values }).0))
            .collect();
        match group.count {
            Count::Omega => Some(vec![sum(&Vec::new(), &locals.into_iter().map(|local| (local, None)).collect())]),
            Count::Finite(count) => spread(&locals, count),
        }
    }
}

/// Returns the vectors that are not below another one. Those of different nodes can be below each other.
fn maximal(mut vectors: Vec<OmegaVector>) -> Vec<OmegaVector> {
    vectors.sort_by(|one, other| (one.shared, &one.counts).cmp(&(other.shared, &other.counts)));
    vectors.dedup();
    let same = vectors.chunk_by(|one, other| one.shared == other.shared);
    let kept = same.flat_map(|here| {
        let is_below = |one: &OmegaVector| here.iter().any(|other| other != one && below(one, other));
        here.iter().filter(move |one| !is_below(one))
    });
    kept.cloned().collect()
}

fn below(one: &OmegaVector, other: &OmegaVector) -> bool {
    let covers = |count: &Option<u32>, other: &Option<u32>| other.is_none() || count.is_some() && count <= other;
    one.counts.iter().all(|(local, count)| {
        let found = other.counts.binary_search_by_key(local, |(local, _)| *local);
        found.is_ok_and(|at| covers(count, &other.counts[at].1))
    })
}

/// Returns all ways to spread a number of threads over some states.
fn spread(locals: &[LocalId], count: u32) -> Option<Vec<Counts>> {
    let mut ways: Vec<(usize, Counts)> = vec![(0, Vec::new())];
    for _ in 0..count {
        let mut longer = Vec::new();
        for (first, way) in ways {
            longer.extend((first..locals.len()).map(|at| (at, sum(&way, &vec![(locals[at], Some(1))]))));
        }
        if longer.len() > MOST_VECTORS {
            return None;
        }
        ways = longer;
    }
    Some(ways.into_iter().map(|(_, way)| way).collect())
}

/// Adds two lists of numbers, in ascending order of the states.
fn sum(one: &Counts, other: &Counts) -> Counts {
    let mut counts: Counts = one.iter().chain(other).copied().collect();
    counts.sort_by_key(|(local, _)| *local);
    counts.dedup_by(|later, first| {
        let same = later.0 == first.0;
        if same {
            first.1 = first.1.zip(later.1).map(|(one, other)| one + other);
        }
        same
    });
    counts
}
