//! Certificates for people: what holds at each location, as a small formula.
//!
//! A certificate is checked by the judge as it is; what is written here is a view of it and proves nothing. For each
//! location it says what the certificate allows of the variables that a thread sees there, all other threads and all
//! callers left aside. Where a formula is too long to read, its size is said instead.

mod numbers;
mod words;

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use selvedge_check::formula::{Atom, FormulaId, Formulas, Node};
use selvedge_check::{
    Certificate, CoverClaim, CoverProof, IntegerProof, InvariantProof, Place, Seen, ShapeProof, SummaryProof,
};
use selvedge_ir::bits::{BitMap, Rest};
use selvedge_ir::{LocId, MachineTy, Program, Scope, Ty, Value, VarId};
use selvedge_logic::bdd::{Bdd, Limits, Manager, OutOfNodes, Var};

use crate::annotated_trace::{Annotator, Context};
use crate::condition::conjuncts;
use crate::names::{Names, shown};
use crate::views::{Holders, is_hidden, is_wrapper, word};
use numbers::{MAX_LOOKS, Number, Writer};

/// Limit on the number of nodes of diagrams for one certificate.
const MAX_NODES: usize = 400_000;

/// The entries of the cache of results: certificates have small formulas.
const CACHE: usize = 1 << 14;

/// The invariant at a location.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Invariant {
    pub loc: LocId,
    /// The name of the procedure.
    pub proc: String,
    /// The line of the statement that follows, and its text.
    pub line: Option<usize>,
    pub text: String,
    pub holds: Holds,
    /// The relation of the variables to those at the entry of the procedure, where the certificate says more about
    /// that.
    pub since_entry: Option<String>,
}

/// The knowledge about a location.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Holds {
    /// This formula.
    Formula(String),
    /// It is never reached.
    Unreached,
    /// The certificate does not look at threads there: if one comes by, then in the middle of what counts as one step.
    Unseen,
    /// Something that is too long to be shown.
    TooLong,
}

/// Returns what a certificate says about each location, in the order of procedures and locations; empty where it does
/// not speak of locations.
pub fn invariants(context: Context<'_>, certificate: &Certificate) -> Vec<Invariant> {
    listed(Speech { context, bits: None }, certificate)
}

/// What formulas speak of: a program, which may be one over the bits of another.
#[derive(Clone, Copy)]
struct Speech<'a> {
    context: Context<'a>,
    /// The program whose machine integers are written as bits, and how.
    bits: Option<(&'a Program, &'a BitMap)>,
}

fn listed(speech: Speech<'_>, certificate: &Certificate) -> Vec<Invariant> {
    let context = speech.context;
    let known = match certificate {
        Certificate::ControlFlow(locs) => locs.iter().map(|loc| (*loc, Known::anything())).collect(),
        Certificate::Summaries(proof) => of_summaries(speech, proof),
        // The states that are reached are not told.
        Certificate::Shapes(proof) if proof.seen == Seen::Reached => return Vec::new(),
        Certificate::Shapes(proof) => of_shapes(speech, proof),
        Certificate::Cover(proof) => of_cover(speech, proof),
        Certificate::Integers(proof) => of_integers(context, proof),
        Certificate::Invariants(proof) => of_places(context, proof),
        Certificate::Induction { .. } | Certificate::AllStates | Certificate::Unwound(_) => return Vec::new(),
        Certificate::OverPredicates(_) => return Vec::new(),
        Certificate::OverBits(proof) => {
            let over_bits = Context { program: &proof.program, ..context };
            let bits = Some((context.program, &proof.map));
            return listed(Speech { context: over_bits, bits }, &proof.certificate);
        }
    };
    let absent = |loc: LocId| if certificate.excludes(loc) { Holds::Unreached } else { Holds::Unseen };
    let annotator = Annotator::new(context);
    let program = context.program;
    let is_entry = |loc: LocId| program.procs[program.locs[loc].proc].entry == loc;
    let invariant = |loc: LocId| {
        let span = annotator.place(loc).filter(|_| !context.is_guarded());
        // Any guarded command may follow any other: they are all at one place.
        let all = match (context.is_guarded(), is_entry(loc)) {
            (false, _) => "",
            (true, true) => "the first state",
            (true, false) => "each command",
        };
        let known = known.get(&loc);
        Invariant {
            loc,
            proc: annotator.proc_name(program.locs[loc].proc).to_string(),
            line: span.map(|span| context.source.line(span.start as usize)),
            text: state_name(context, loc)
                .unwrap_or_else(|| span.map_or(all.to_string(), |span| context.source.flat(span))),
            holds: known.map_or_else(|| absent(loc), |known| known.holds.clone()),
            since_entry: known.and_then(|known| known.since_entry.clone()),
        }
    };
    let mut found: Vec<Invariant> = places(context, &annotator).into_iter().map(invariant).collect();
    // Of the locations inside of a statement nothing is to be said.
    found.dedup_by(|next, one| {
        next.holds == Holds::Unseen && (&next.proc, next.line, &next.text) == (&one.proc, one.line, &one.text)
    });
    if context.map.several_steps {
        // A statement is several steps: what is known before the first one counts.
        let mut seen = BTreeSet::new();
        found.retain(|one| one.line.is_some() && one.holds != Holds::Unseen);
        found.retain(|one| seen.insert((one.proc.clone(), one.line, one.text.clone())));
    }
    found
}

/// Lists the locations of which something can be said, in the order of the text.
fn places(context: Context<'_>, annotator: &Annotator<'_>) -> Vec<LocId> {
    let program = context.program;
    let mut locs: Vec<LocId> = program.locs.indices().collect();
    locs.retain(|loc| program.procs[program.locs[*loc].proc].exit != *loc);
    locs.retain(|loc| !is_wrapper(context.map, program.locs[*loc].proc));
    locs.sort_by_key(|loc| (program.locs[*loc].proc, annotator.place(*loc), *loc));
    if let Some(system) = &context.map.system {
        locs.retain(|loc| system.locals.contains_key(loc) && !system.within.contains(loc));
    }
    locs
}

/// Returns the name of the state of a system that threads at a location are in.
fn state_name(context: Context<'_>, loc: LocId) -> Option<String> {
    let system = context.map.system.as_ref()?;
    let local = *system.locals.get(&loc)?;
    Some(match &system.net {
        None => format!("local state {local}"),
        Some(_) if local == 0 => "the driver".to_owned(),
        Some(net) => match net.places.get(local as usize - 1) {
            Some(place) => format!("a token on {place}"),
            None => "a token that waits or is gone".to_owned(),
        },
    })
}

/// The knowledge about a location that may be reached.
struct Known {
    holds: Holds,
    since_entry: Option<String>,
}

impl Known {
    fn anything() -> Known {
        Known { holds: Holds::Formula("true".to_string()), since_entry: None }
    }
}

type Table = BTreeMap<LocId, Known>;

/// A proposition, whoever the thread is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Key {
    Now(VarId),
    Entry(VarId),
    Result(u32),
}

/// Diagrams over propositions. The variables of atoms that are quantified come after those of all propositions.
struct Paper<'a> {
    speech: Speech<'a>,
    manager: Manager,
    keys: Vec<Key>,
    vars: HashMap<Key, Var>,
    aside: HashMap<Atom, Var>,
}

impl<'a> Paper<'a> {
    /// Current and initial values are next to each other in the order, which keeps equations between them small; so are
    /// bits of numbers that have the same place.
    fn new(speech: Speech<'a>) -> Paper<'a> {
        let program = speech.context.program;
        let n_results = program.procs.iter().map(|proc| proc.results.len() as u32).max().unwrap_or(0);
        let mut vars: Vec<VarId> = program.vars.indices().collect();
        if let Some((_, map)) = speech.bits {
            let codes = map.vars.iter().flat_map(|code| code.bits.iter().enumerate());
            let places: HashMap<VarId, usize> = codes.map(|(place, bit)| (*bit, place)).collect();
            vars.sort_by_key(|var| places.get(var).copied().unwrap_or(0));
        }
        let of_vars = vars.into_iter().flat_map(|var| [Key::Now(var), Key::Entry(var)]);
        let keys: Vec<Key> = of_vars.chain((0..n_results).map(Key::Result)).collect();
        let manager = Manager::new(Limits { nodes: MAX_NODES, cache: CACHE });
        let vars = keys.iter().copied().zip(manager.add_vars(keys.len())).collect();
        Paper { speech, manager, keys, vars, aside: HashMap::new() }
    }

    /// Reads a formula as a diagram; `key` gives the proposition of an atom, or `None` if the atom is quantified
    /// existentially.
    fn read(
        &mut self,
        formulas: &Formulas,
        root: FormulaId,
        key: &dyn Fn(Atom) -> Option<Key>,
        known: &mut HashMap<FormulaId, Bdd>,
    ) -> Result<Bdd, OutOfNodes> {
        let mut open = vec![root];
        while let Some(id) = open.last().copied() {
            if known.contains_key(&id) {
                open.pop();
                continue;
            }
            let Some(node) = formulas.get(id) else {
                return Err(OutOfNodes { limit: MAX_NODES });
            };
            let missing: Vec<FormulaId> =
                node.parts().into_iter().flatten().filter(|part| !known.contains_key(part)).collect();
            if !missing.is_empty() {
                open.extend(missing);
                continue;
            }
            let of = |part: FormulaId| &known[&part];
            let read = match node {
                Node::Const(value) => self.manager.constant(value),
                Node::Atom(atom) => {
                    let var = self.var_of(atom, key(atom));
                    self.manager.var(var)?
                }
                Node::Not(part) => of(part).not()?,
                Node::And(left, right) => of(left).and(of(right))?,
                Node::Or(left, right) => of(left).or(of(right))?,
                Node::Ite(condition, then, otherwise) => of(condition).ite(of(then), of(otherwise))?,
            };
            known.insert(id, read);
            open.pop();
        }
        let aside: Vec<Var> = self.aside.values().copied().collect();
        known[&root].exists(&self.manager.var_set(&aside)?)
    }

    /// Returns the variable of an atom; one without a proposition gets a variable after all others.
    fn var_of(&mut self, atom: Atom, key: Option<Key>) -> Var {
        match key.and_then(|key| self.vars.get(&key)) {
            Some(var) => *var,
            None => *self.aside.entry(atom).or_insert_with(|| self.manager.add_vars(1)[0]),
        }
    }

    fn words(&self, f: &Bdd) -> Result<Option<String>, OutOfNodes> {
        let (keys, program) = (&self.keys, self.speech.context.program);
        let names = Names::new(program);
        let name = |var: Var| match keys[var.level()] {
            Key::Now(var) => names.of(var),
            Key::Entry(var) => old(program, var, &names),
            Key::Result(number) => format!("result{}", number + 1),
        };
        let numbers = self.numbers();
        if numbers.is_empty() && self.hidden().is_empty() {
            return words::words(&self.manager, f, &name);
        }
        let f = f.exists(&self.manager.var_set(&self.hidden())?)?.and(&self.states()?)?;
        let left = Cell::new(MAX_LOOKS);
        Writer { manager: &self.manager, numbers: &numbers, name: &name, left }.words(&f)
    }

    /// Lists the variables that the source does not have.
    fn hidden(&self) -> Vec<Var> {
        let map = self.speech.context.map;
        let of = |var: VarId| [Key::Now(var), Key::Entry(var)].map(|key| self.vars[&key]);
        match self.speech.bits {
            Some((_, bits)) => {
                let hidden = bits.vars.iter_enumerated().filter(|(var, _)| is_hidden(map, *var));
                hidden.flat_map(|(_, code)| code.bits.iter().flat_map(|bit| of(*bit))).collect()
            }
            None if map.system.is_some() => Vec::new(),
            None => map.views.keys().filter(|var| is_hidden(map, **var)).flat_map(|var| of(*var)).collect(),
        }
    }

    /// Lists the numbers that bits stand for: machine integers, or the shared state of a system.
    fn numbers(&self) -> Vec<Number<'a>> {
        let Speech { context, bits } = self.speech;
        let mut numbers = Vec::new();
        if let Some((program, map)) = bits {
            let names = Names::new(program);
            for (var, code) in map.vars.iter_enumerated() {
                let Ty::Machine(ty) = code.ty else { continue };
                for key in [Key::Now, Key::Entry] {
                    let is_now = key(var) == Key::Now(var);
                    numbers.push(Number {
                        name: if is_now { names.of(var) } else { old(program, var, &names) },
                        bits: code.bits.iter().map(|bit| self.vars[&key(*bit)]).collect(),
                        rest: code.rest,
                        ty,
                        word: Box::new(move |value| word(context.map, &Holders::new(), var, value)),
                    });
                }
            }
        }
        if let Some(system) = context.map.system.as_ref() {
            numbers.push(Number {
                name: "shared".to_owned(),
                bits: system.shared.iter().map(|bit| self.vars[&Key::Now(*bit)]).collect(),
                rest: Rest::Constant(0),
                ty: MachineTy { bits: 64, signed: false },
                word: Box::new(|_| None),
            });
        }
        numbers
    }

    /// Returns the condition that the shared state is one of the system, if there is one: others count the threads of a
    /// target.
    fn states(&self) -> Result<Bdd, OutOfNodes> {
        let Some(system) = &self.speech.context.map.system else { return Ok(self.manager.top()) };
        let bits: Vec<Var> = system.shared.iter().map(|bit| self.vars[&Key::Now(*bit)]).collect();
        let beyond = u64::from(system.n_shared)..1 << bits.len().min(20);
        let beyond = beyond.map(|state| self.manager.number(&bits, state as usize));
        self.manager.any(beyond)?.not()
    }

    fn holds(&self, f: Result<Bdd, OutOfNodes>) -> Holds {
        match f.and_then(|f| self.words(&f)) {
            Ok(Some(text)) => Holds::Formula(text),
            Ok(None) | Err(OutOfNodes { .. }) => Holds::TooLong,
        }
    }
}

/// Returns the name of the value of a variable at the entry of the procedure.
fn old(program: &Program, var: VarId, names: &Names<'_>) -> String {
    match program.vars[var].scope {
        Scope::Local(_) => format!("given({})", program.vars[var].name),
        Scope::Shared | Scope::Thread => format!("old({})", names.of(var)),
    }
}

fn of_summaries(speech: Speech<'_>, proof: &SummaryProof) -> Table {
    let mut paper = Paper::new(speech);
    let (mut now, mut whole) = (HashMap::new(), HashMap::new());
    let mut table = Table::new();
    for (loc, formula) in &proof.locs {
        let only_now = |atom: Atom| match atom {
            Atom::Now(var) => Some(Key::Now(var)),
            _ => None,
        };
        let all = |atom: Atom| match atom {
            Atom::Now(var) => Some(Key::Now(var)),
            Atom::Entry(var) => Some(Key::Entry(var)),
            Atom::Result(number) => Some(Key::Result(number)),
            Atom::Of { .. } => None,
        };
        let here = paper.read(&proof.formulas, *formula, &only_now, &mut now);
        let relation = paper.read(&proof.formulas, *formula, &all, &mut whole);
        let says_more = relation.is_ok() && relation != here;
        let holds = paper.holds(here);
        let since_entry = match paper.holds(relation) {
            Holds::Formula(text) if says_more => Some(text),
            _ => None,
        };
        table.insert(*loc, Known { holds, since_entry });
    }
    table
}

/// The proposition that an atom is for the thread with this number at this place.
fn seen_by(thread: u32, place: &Place, context: Context<'_>, atom: Atom) -> Option<Key> {
    match atom {
        Atom::Now(var) => Some(Key::Now(var)),
        Atom::Of { thread: of, var } if of == thread => {
            let (frame, var) = *place.vars.get(var as usize)?;
            let is_running = frame as usize == place.calls.len() || context.program.vars[var].scope == Scope::Thread;
            is_running.then_some(Key::Now(var))
        }
        _ => None,
    }
}

/// Lists of threads at places with a formula about them, which allow together what their sum allows.
fn of_shapes(speech: Speech<'_>, proof: &ShapeProof) -> Table {
    let context = speech.context;
    let mut paper = Paper::new(speech);
    let mut sums: BTreeMap<LocId, Result<Bdd, OutOfNodes>> = BTreeMap::new();
    for shape in &proof.shapes {
        for (number, place) in shape.threads.iter().enumerate() {
            let place = &proof.places[*place as usize];
            let sum = sums.remove(&place.loc).unwrap_or_else(|| Ok(paper.manager.bottom()));
            // Two threads at one place may differ by their order only; both are looked at.
            let more = sum.and_then(|sum| {
                if sum.is_true() {
                    return Ok(sum);
                }
                let key = |atom| seen_by(number as u32, place, context, atom);
                let allowed = paper.read(&proof.formulas, shape.formula, &key, &mut HashMap::new())?;
                sum.or(&allowed)
            });
            sums.insert(place.loc, more);
        }
    }
    let known = |(loc, sum)| (loc, Known { holds: paper.holds(sum), since_entry: None });
    sums.into_iter().map(known).collect()
}

/// The longest formula over integers that is shown, in characters.
const MAX_TEXT: usize = 4000;

/// `p at critical` for a program counter, `b = 1` for another variable.
fn stands(context: Context<'_>, names: &Names<'_>, var: VarId, at: Value) -> String {
    let words = context.map.values.get(&var);
    let word = match at {
        Value::Int(number) => words.and_then(|words| words.get(usize::try_from(number).ok()?)),
        Value::Bool(_) | Value::Machine(..) => None,
    };
    let sign = if word.is_some() { "at" } else { "=" };
    format!("{} {sign} {}", names.of(var), shown(at, word))
}

/// A formula for each control point of a location, with the values of the variables that belong to it.
fn of_integers(context: Context<'_>, proof: &IntegerProof) -> Table {
    let names = Names::new(context.program);
    let mut parts: BTreeMap<LocId, Vec<String>> = BTreeMap::new();
    for point in &proof.points {
        let stands: Vec<String> =
            proof.control.iter().zip(&point.values).map(|(var, at)| stands(context, &names, *var, *at)).collect();
        let formula = conjuncts(context, &point.formula).join(" &\n");
        let part = if stands.is_empty() { formula } else { format!("{}: {formula}", stands.join(", ")) };
        parts.entry(point.loc).or_default().push(part);
    }
    let known = |(loc, parts): (LocId, Vec<String>)| {
        let text = parts.join(";\n");
        let holds = if text.len() <= MAX_TEXT { Holds::Formula(text) } else { Holds::TooLong };
        (loc, Known { holds, since_entry: None })
    };
    parts.into_iter().map(known).collect()
}

/// A formula for each place of a location, whatever the calls above it.
fn of_places(context: Context<'_>, proof: &InvariantProof) -> Table {
    let mut parts: BTreeMap<LocId, Vec<String>> = BTreeMap::new();
    for (place, formula) in proof.stated() {
        parts.entry(place.loc).or_default().push(conjuncts(context, formula).join(" &\n"));
    }
    let known = |(loc, parts): (LocId, Vec<String>)| {
        let text = parts.join(";\n");
        let holds = if text.len() <= MAX_TEXT { Holds::Formula(text) } else { Holds::TooLong };
        (loc, Known { holds, since_entry: None })
    };
    parts.into_iter().map(known).collect()
}

/// States that are listed one by one: a location allows the sum of the pairs of shared and thread states that occur.
fn of_cover(speech: Speech<'_>, proof: &CoverProof) -> Table {
    let context = speech.context;
    let mut pairs: Vec<(usize, usize)> = match &proof.claim {
        CoverClaim::Views(table) | CoverClaim::Basis { within: table, .. } => table
            .rows
            .iter()
            .flat_map(|row| row.threads.iter().chain(&row.last).map(|local| (row.shared.index(), local.index())))
            .collect(),
        CoverClaim::Vectors(vectors) => vectors
            .iter()
            .flat_map(|vector| vector.counts.iter().map(|(local, _)| (vector.shared.index(), local.index())))
            .collect(),
        CoverClaim::Adequacy(claim) => {
            let states = claim.turns.iter().flat_map(|turn| &turn.states);
            states.filter_map(|state| Some((state.shared.index(), state.local?.index()))).collect()
        }
    };
    pairs.sort_unstable();
    pairs.dedup();
    let paper = Paper::new(speech);
    let mut sums: BTreeMap<LocId, Result<Bdd, OutOfNodes>> = BTreeMap::new();
    for (shared, local) in pairs {
        let state = &proof.locals[local];
        let place = &proof.places[state.place as usize];
        let of_shared = proof.shared_vars.iter().copied().zip(&proof.shareds[shared].values);
        let is_seen = |frame: u32, var: VarId| {
            frame as usize == place.calls.len() || context.program.vars[var].scope == Scope::Thread
        };
        let of_local = place.vars.iter().zip(&state.values).filter(|((frame, var), _)| is_seen(*frame, *var));
        let literals: Vec<(VarId, bool)> = of_shared
            .map(|(var, value)| (var, *value))
            .chain(of_local.map(|((_, var), value)| (*var, *value)))
            .collect();
        let sum = sums.remove(&place.loc).unwrap_or_else(|| Ok(paper.manager.bottom()));
        let more = sum.and_then(|sum| sum.or(&paper.product(&literals)?));
        sums.insert(place.loc, more);
    }
    let known = |(loc, sum)| (loc, Known { holds: paper.holds(sum), since_entry: None });
    sums.into_iter().map(known).collect()
}

impl Paper<'_> {
    fn product(&self, literals: &[(VarId, bool)]) -> Result<Bdd, OutOfNodes> {
        literals.iter().try_fold(self.manager.top(), |product, (var, value)| {
            product.and(&self.manager.literal(self.vars[&Key::Now(*var)], *value)?)
        })
    }
}
