//! The clauses: a relation for each list of places that up to `k` threads can be at.
//!
//! A *key* is such a list, with whether another thread holds the atomic flag. Steps are those of one of the threads of
//! a key, and those of one more thread, which with each part of the key is in a relation. States with fewer threads
//! have keys of all their threads.

use std::collections::{BTreeMap, BTreeSet};

use indexmap::IndexMap;
use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet};
use selvedge_check::{Role, Run, Stop};
use selvedge_ir::visit::choice_types;
use selvedge_ir::{Count, Expr, Program, Scope, Target, Ty, VarId};
use selvedge_logic::smt::Smt;
use selvedge_transition::bitvectors::{self, sort};
use selvedge_transition::macro_step::place::Place;
use selvedge_transition::step::vars::{Keep, Kept, Slots};

use super::super::choose::choose;
use super::block::{Block, Graph, Outcome, Values, name};

/// The most clauses that are given to the solver.
const MOST_CLAUSES: usize = 20_000;

/// Places of threads in ascending order, by number, and whether another thread holds the atomic flag.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Key {
    pub(super) threads: Vec<u32>,
    pub(super) held: bool,
}

/// A thread at a place: its values are those before the step, of the thread with a number, or new ones.
#[derive(Clone, Copy)]
struct Stand<'b> {
    place: u32,
    values: Where<'b>,
}

#[derive(Clone, Copy)]
enum Where<'b> {
    Before(usize),
    After(&'b Values),
}

/// A clause, with the relations that it needs and the one that it adds to; none if that is an error.
struct Clause {
    needs: Vec<usize>,
    head: Option<usize>,
    text: String,
}

/// A program as clauses.
pub(super) struct System<'a> {
    pub(super) program: &'a Program,
    pub(super) k: usize,
    kept: Kept,
    pub(super) places: Vec<Place>,
    /// The relations, with whether one is ever added to.
    pub(super) keys: IndexMap<Key, bool, FxBuildHasher>,
    clauses: Vec<Clause>,
}

impl<'a> System<'a> {
    /// Returns the clauses for lists of `k` threads; `None` if there are too many, or a thread begins with an error.
    pub(super) fn new(
        program: &'a Program,
        target: &'a Target,
        k: usize,
        run: &Run<'_>,
    ) -> Result<Option<System<'a>>, Stop> {
        let graph = Graph::new(program, target);
        let kept = Kept::new(program, &Slots::new(program), Keep::Live);
        let (places, blocks) = blocks(&graph, run)?;
        let begins_wrong = program.entries.iter().any(|entry| graph.is_error(program.procs[entry.proc].entry));
        let keys = IndexMap::default();
        let mut system = System { program, k, kept, places, keys, clauses: Vec::new() };
        system.start();
        for (mover, block) in (0..).zip(&blocks) {
            run.tick()?;
            system.members(mover, block);
            system.outsiders(mover, block);
            if system.clauses.len() > MOST_CLAUSES {
                return Ok(None);
            }
        }
        system.leave_out_unreached();
        Ok((!begins_wrong).then_some(system))
    }

    /// Returns the variables of a thread that relations speak of at a place.
    pub(super) fn own(&self, place: u32) -> &[VarId] {
        self.kept.at(self.places[place as usize].loc)
    }

    /// Returns the arguments of a relation as leaves: shared variables and those of the first thread, and those of the
    /// second thread as those of another one.
    pub(super) fn leaves(&self, key: &Key) -> Vec<Expr> {
        let shared = self.kept.shared.iter().copied().map(Expr::Var);
        let of = |(thread, place): (usize, &u32)| -> Vec<Expr> {
            let leaf = if thread == 0 { Expr::Var } else { Expr::Passive };
            self.own(*place).iter().copied().map(leaf).collect()
        };
        shared.chain(key.threads.iter().enumerate().flat_map(of)).collect()
    }

    /// Sends all clauses to the solver. It must keep the relations as they are: what it would say about one that it
    /// has put into others has quantifiers.
    pub(super) fn tell(&self, smt: &mut Smt, run: &Run<'_>) -> Result<(), Stop> {
        for option in ["slice", "inline_linear", "inline_eager"] {
            smt.tell(format!("(set-option :fp.xform.{option} false)"));
        }
        smt.tell("(set-logic HORN)".to_string());
        for (number, (key, _)) in self.keys.iter().enumerate().filter(|(_, (_, is_reached))| **is_reached) {
            let leaves = self.leaves(key);
            let sorts = leaves.iter().filter_map(Expr::var).map(|var| sort(self.program.vars[var].ty));
            smt.tell(format!("(declare-fun P{number} ({}) Bool)", sorts.collect::<Vec<_>>().join(" ")));
        }
        for clause in &self.clauses {
            run.tick()?;
            smt.tell(clause.text.clone());
        }
        Ok(())
    }

    fn is_holder(&self, place: u32) -> bool {
        matches!(self.places[place as usize].role, Role::Holder(_))
    }

    fn number(&self, place: Place) -> u32 {
        self.places.binary_search(&place).expect("all places are known") as u32
    }

    /// Returns the key of some threads, and the threads in the order of the key.
    fn list(&self, places: &[u32], chosen: &[usize]) -> (Key, Vec<usize>) {
        let mut order = chosen.to_vec();
        order.sort_by_key(|thread| places[*thread]);
        let held = (0..places.len()).any(|thread| !chosen.contains(&thread) && self.is_holder(places[thread]));
        (Key { threads: order.iter().map(|thread| places[*thread]).collect(), held }, order)
    }

    /// Returns the number of a relation. If two threads are at one place, it holds in both orders.
    fn relation(&mut self, key: &Key) -> usize {
        if let Some(known) = self.keys.get_index_of(key) {
            return known;
        }
        let (number, _) = self.keys.insert_full(key.clone(), false);
        if let [one, other] = key.threads.as_slice()
            && one == other
        {
            let stand = |thread| Stand { place: *one, values: Where::Before(thread) };
            let places = [*one, *one];
            let facts = [[1, 2], [2, 1]].map(|order| {
                let stands = order.map(stand);
                self.fact(number, &stands.iter().collect::<Vec<_>>(), None, &mut Vec::new())
            });
            let names = self.names(places.len(), &Block::default(), &[]);
            let text = written(&names, &Block::default(), &facts[..1], "true", &facts[1]);
            self.clauses.push(Clause { needs: vec![number], head: Some(number), text });
        }
        number
    }

    /// Returns that a relation holds of some threads. What has no value gets a name for any one.
    fn fact(
        &self,
        relation: usize,
        stands: &[&Stand<'_>],
        shared: Option<&Values>,
        any: &mut Vec<(String, Ty)>,
    ) -> String {
        let program = self.program;
        let mut args = Vec::new();
        for var in &self.kept.shared {
            let after = shared.and_then(|values| values.get(var)).cloned();
            args.push(after.unwrap_or_else(|| name(program, 0, *var)));
        }
        for stand in stands {
            for var in self.own(stand.place) {
                args.push(match stand.values {
                    Where::Before(thread) => name(program, thread, *var),
                    Where::After(values) => values.get(var).cloned().unwrap_or_else(|| {
                        let fresh = format!("a{}", any.len());
                        any.push((fresh.clone(), program.vars[*var].ty));
                        fresh
                    }),
                });
            }
        }
        if args.is_empty() { format!("P{relation}") } else { format!("(P{relation} {})", args.join(" ")) }
    }

    /// Returns the types of all names of a clause about this many other threads.
    fn names(&self, others: usize, block: &Block, any: &[(String, Ty)]) -> FxHashMap<String, Ty> {
        let of = |thread: usize| self.program.vars.iter_enumerated().map(move |(id, var)| (thread, id, var.ty));
        let vars = (0..=others).flat_map(of).map(|(thread, id, ty)| (name(self.program, thread, id), ty));
        vars.chain(block.names.iter().cloned()).chain(any.iter().cloned()).collect()
    }

    /// Adds a clause: from these threads, in the relations of these lists, a step leads to others; or to an error.
    fn add(&mut self, places: &[u32], sources: &[Vec<usize>], block: &Block, guard: &str, to: Option<Arrival<'_>>) {
        let mut needs = Vec::new();
        let mut facts = Vec::new();
        for chosen in sources {
            let (key, order) = self.list(places, chosen);
            let relation = self.relation(&key);
            let stands: Vec<Stand<'_>> =
                order.iter().map(|thread| Stand { place: places[*thread], values: Where::Before(*thread) }).collect();
            facts.push(self.fact(relation, &stands.iter().collect::<Vec<_>>(), None, &mut Vec::new()));
            needs.push(relation);
        }
        let mut any = Vec::new();
        let (head, conclusion) = match to {
            None => (None, "false".to_owned()),
            Some(Arrival { stands, chosen, shared }) => {
                let after: Vec<u32> = stands.iter().map(|stand| stand.place).collect();
                let (key, order) = self.list(&after, chosen);
                let relation = self.relation(&key);
                let chosen: Vec<&Stand<'_>> = order.iter().map(|thread| &stands[*thread]).collect();
                (Some(relation), self.fact(relation, &chosen, Some(shared), &mut any))
            }
        };
        let names = self.names(places.len(), block, &any);
        let text = written(&names, block, &facts, guard, &conclusion);
        self.clauses.push(Clause { needs, head, text });
    }

    /// The steps of the threads of a key.
    fn members(&mut self, mover: u32, block: &Block) {
        for n_others in 0..self.k {
            for others in lists(self.places.len() as u32, n_others) {
                if others.iter().any(|place| self.is_holder(*place)) {
                    continue;
                }
                let places: Vec<u32> = std::iter::once(mover).chain(others).collect();
                let all = vec![(0..places.len()).collect::<Vec<_>>()];
                for error in &block.errors {
                    self.add(&places, &all, block, error, None);
                }
                for outcome in &block.outcomes {
                    let stands = self.stands(&places, outcome);
                    for chosen in choose(stands.len(), self.k.min(stands.len())) {
                        let to = Arrival { stands: &stands, chosen: &chosen, shared: &outcome.after };
                        if !chosen.is_empty() {
                            self.add(&places, &all, block, &outcome.guard, Some(to));
                        }
                    }
                }
            }
        }
    }

    /// The steps of one of `k + 1` threads, of which those of a key are the others.
    fn outsiders(&mut self, mover: u32, block: &Block) {
        for others in lists(self.places.len() as u32, self.k) {
            if others.iter().any(|place| self.is_holder(*place)) {
                continue;
            }
            let places: Vec<u32> = std::iter::once(mover).chain(others).collect();
            let sources = choose(places.len(), self.k);
            let chosen: Vec<usize> = (0..self.k).collect();
            for outcome in &block.outcomes {
                if !self.is_noticed(mover, outcome) {
                    continue;
                }
                let stands = self.stands(&places, outcome);
                let to = Arrival { stands: &stands, chosen: &chosen, shared: &outcome.after };
                self.add(&places, &sources, block, &outcome.guard, Some(to));
            }
        }
    }

    /// Returns the threads after a step of the first one, which comes last, before the one that it starts.
    fn stands<'b>(&self, places: &[u32], outcome: &'b Outcome) -> Vec<Stand<'b>> {
        let old = |(thread, place): (usize, &u32)| Stand { place: *place, values: Where::Before(thread) };
        let moved = outcome.to.map(|to| Stand { place: self.number(to), values: Where::After(&outcome.after) });
        let child = outcome.child.as_ref();
        let child = child.map(|(child, values)| Stand { place: self.number(*child), values: Where::After(values) });
        places.iter().enumerate().skip(1).map(old).chain(moved).chain(child).collect()
    }

    /// Returns whether others can notice a step: a shared variable may change, or whether the flag is held.
    fn is_noticed(&self, mover: u32, outcome: &Outcome) -> bool {
        let holds = outcome.to.is_some_and(|to| matches!(to.role, Role::Holder(_)));
        let changes = |var: &VarId| outcome.after.get(var) != Some(&name(self.program, 0, *var));
        holds != self.is_holder(mover) || self.kept.shared.iter().any(changes)
    }

    /// The lists of threads at the start.
    fn start(&mut self) {
        let program = self.program;
        let mut block = Block::default();
        let (mut n_begun, shared) = (0, begin(&mut block, "i", &program.init, &Values::new(), program));
        let kinds: Vec<(u32, Option<u32>)> = program.entries.iter().map(|entry| counted(entry.count)).collect();
        let least: u32 = kinds.iter().map(|(least, _)| least).sum();
        for size in 1..=self.k {
            if size < self.k && least > size as u32 {
                continue;
            }
            for chosen in lists(program.entries.len() as u32, size) {
                let count = |kind: u32| chosen.iter().filter(|other| **other == kind).count() as u32;
                let fits = |(kind, (_, most)): (u32, &(u32, Option<u32>))| most.is_none_or(|most| count(kind) <= most);
                if !(0..).zip(&kinds).all(fits) {
                    continue;
                }
                let mut begun: Vec<(u32, Values)> = Vec::new();
                for kind in &chosen {
                    let entry = &program.entries[*kind as usize];
                    n_begun += 1;
                    let mut values = begin(&mut block, &format!("s{n_begun}"), &entry.init, &shared, program);
                    let of_thread = |var: &VarId| program.vars[*var].scope == Scope::Thread;
                    for var in program.vars.indices().filter(of_thread).filter(|var| !entry.thread_vars.contains(var)) {
                        let default = Expr::default_of(program.vars[var].ty);
                        values.insert(var, bitvectors::text(&default, &|_| String::new()));
                    }
                    let place =
                        Place { role: Role::Free((*kind as usize).into()), loc: program.procs[entry.proc].entry };
                    begun.push((self.number(place), values));
                }
                let stands: Vec<Stand<'_>> =
                    begun.iter().map(|(place, values)| Stand { place: *place, values: Where::After(values) }).collect();
                let all: Vec<usize> = (0..stands.len()).collect();
                let to = Arrival { stands: &stands, chosen: &all, shared: &shared };
                self.add(&[], &[], &block, "true", Some(to));
            }
        }
    }

    /// Leaves out clauses that need relations that nothing is ever added to.
    fn leave_out_unreached(&mut self) {
        loop {
            let is_reached = |relation: &usize| self.keys[*relation];
            let mut heads: Vec<usize> = Vec::new();
            for clause in &self.clauses {
                let head = clause.head.filter(|head| !is_reached(head));
                heads.extend(head.filter(|_| clause.needs.iter().all(is_reached)));
            }
            if heads.is_empty() {
                break;
            }
            heads.into_iter().for_each(|head| self.keys[head] = true);
        }
        let keys = &self.keys;
        self.clauses.retain(|clause| clause.needs.iter().all(|relation| keys[*relation]));
    }
}

/// What a clause leads to: some of the threads after a step.
struct Arrival<'b> {
    stands: &'b [Stand<'b>],
    chosen: &'b [usize],
    shared: &'b Values,
}

/// Returns the places that control can reach, in ascending order, and the macro steps from each.
fn blocks(graph: &Graph<'_>, run: &Run<'_>) -> Result<(Vec<Place>, Vec<Block>), Stop> {
    let program = graph.program;
    let begin = |(kind, entry): (_, &selvedge_ir::Entry)| Place {
        role: Role::Free(kind),
        loc: program.procs[entry.proc].entry,
    };
    let mut waiting: Vec<Place> = program.entries.iter_enumerated().map(begin).collect();
    let mut known: BTreeMap<Place, Block> = BTreeMap::new();
    while let Some(place) = waiting.pop() {
        run.tick()?;
        if known.contains_key(&place) {
            continue;
        }
        let block = graph.block(place);
        for outcome in &block.outcomes {
            waiting.extend(outcome.to);
            waiting.extend(outcome.child.as_ref().map(|(child, _)| *child));
        }
        known.insert(place, block);
    }
    Ok(known.into_iter().unzip())
}

/// Returns the least and the greatest number of threads.
fn counted(count: Count) -> (u32, Option<u32>) {
    match count {
        Count::Exactly(count) => (count, Some(count)),
        Count::AtMost(most) => (0, Some(most)),
        Count::Any => (0, None),
    }
}

/// Returns the initial values of variables, over those of others.
fn begin(block: &mut Block, prefix: &str, init: &[(VarId, Expr)], others: &Values, program: &Program) -> Values {
    let types = choice_types(init.iter().map(|(_, rhs)| rhs));
    let choice = |number: usize| format!("{prefix}c{number}");
    block.names.extend(types.iter().enumerate().map(|(number, ty)| (choice(number), *ty)));
    let mut values = Values::new();
    for (var, rhs) in init {
        let value = bitvectors::text(rhs, &|leaf| match leaf {
            Expr::Choice(number, _) => choice(*number as usize),
            leaf => leaf
                .var()
                .map_or(String::new(), |var| others.get(&var).cloned().unwrap_or_else(|| name(program, 0, var))),
        });
        let defined = format!("{prefix}v{}", var.index());
        block.names.push((defined.clone(), program.vars[*var].ty));
        block.facts.push(format!("(= {defined} {value})"));
        values.insert(*var, defined);
    }
    values
}

/// Returns a clause as text, with the definitions of the names that it uses, and of those that these use.
fn written(names: &FxHashMap<String, Ty>, block: &Block, facts: &[String], guard: &str, conclusion: &str) -> String {
    let defined: FxHashMap<&str, &str> =
        block.facts.iter().filter_map(|fact| Some((words(fact).nth(1)?, fact.as_str()))).collect();
    let mut used: BTreeSet<&str> = BTreeSet::new();
    let mut conditions: Vec<&str> = facts.iter().map(String::as_str).collect();
    conditions.push(guard);
    let mut waiting: Vec<&str> = conditions.iter().copied().chain([conclusion]).collect();
    let mut seen: FxHashSet<&str> = FxHashSet::default();
    while let Some(text) = waiting.pop() {
        for word in words(text).filter(|word| names.contains_key(*word)) {
            used.insert(word);
            if let Some(fact) = defined.get(word).filter(|_| seen.insert(word)) {
                conditions.push(fact);
                waiting.push(fact);
            }
        }
    }
    let sorts: String = used.iter().map(|word| format!("({word} {})", sort(names[*word]))).collect();
    let clause = format!("(=> (and true {}) {conclusion})", conditions.join(" "));
    if used.is_empty() { format!("(assert {clause})") } else { format!("(assert (forall ({sorts}) {clause}))") }
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|letter: char| letter.is_whitespace() || "()".contains(letter)).filter(|word| !word.is_empty())
}

/// Returns all lists of `size` numbers below `n`, in ascending order, with repetitions.
fn lists(n: u32, size: usize) -> Vec<Vec<u32>> {
    let mut all = vec![Vec::new()];
    for _ in 0..size {
        let longer = |list: &Vec<u32>| -> Vec<Vec<u32>> {
            let first = list.last().copied().unwrap_or(0);
            (first..n).map(|next| [list.as_slice(), &[next]].concat()).collect()
        };
        all = all.iter().flat_map(longer).collect();
    }
    all
}
