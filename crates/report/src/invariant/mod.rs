//! Certificates for people: what holds at each location, as a small formula.
//!
//! A certificate is checked by the judge as it is; what is written here is a view of it and proves nothing. For each
//! location it says what the certificate allows of the variables that a thread sees there, all other threads and all
//! callers left aside. Where a formula is too long to read, its size is said instead.

mod diagram;
mod words;

use std::collections::{BTreeMap, HashMap};

use selvedge_check::formula::{Atom, FormulaId, Formulas, Node};
use selvedge_check::{Certificate, CoverClaim, CoverProof, IntegerProof, Place, ShapeProof, SummaryProof};
use selvedge_ir::{LocId, Scope, Value, VarId};

use crate::annotated_trace::{Annotator, Context};
use crate::condition::conjuncts;
use crate::names::{Names, shown};
use diagram::{Diagram, Diagrams, FALSE, TRUE, TooLarge};

/// The most nodes of diagrams for one certificate.
const MAX_NODES: usize = 400_000;

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
    let known = match certificate {
        Certificate::ControlFlow(locs) => locs.iter().map(|loc| (*loc, Known::anything())).collect(),
        Certificate::Summaries(proof) => of_summaries(context, proof),
        Certificate::Shapes(proof) => of_shapes(context, proof),
        Certificate::Cover(proof) => of_cover(context, proof),
        Certificate::Integers(proof) => of_integers(context, proof),
        Certificate::Induction { .. } => return Vec::new(),
    };
    let absent = match certificate {
        Certificate::ControlFlow(_) | Certificate::Summaries(_) | Certificate::Integers(_) => Holds::Unreached,
        _ => Holds::Unseen,
    };
    let annotator = Annotator::new(context);
    let program = context.program;
    let mut locs: Vec<LocId> = program.locs.indices().collect();
    locs.retain(|loc| program.procs[program.locs[*loc].proc].exit != *loc);
    locs.sort_by_key(|loc| (program.locs[*loc].proc, annotator.place(*loc), *loc));
    let is_entry = |loc: LocId| program.procs[program.locs[loc].proc].entry == loc;
    let invariant = |loc: LocId| {
        let span = annotator.place(loc).filter(|_| !context.is_guarded());
        // Any guarded command may follow any other: they all stand at one place.
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
            text: span.map_or(all.to_string(), |span| context.source.flat(span)),
            holds: known.map_or(absent.clone(), |known| known.holds.clone()),
            since_entry: known.and_then(|known| known.since_entry.clone()),
        }
    };
    locs.into_iter().map(invariant).collect()
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

/// Diagrams over propositions.
struct Paper<'a> {
    context: Context<'a>,
    diagrams: Diagrams,
    keys: Vec<Key>,
    numbers: HashMap<Key, u32>,
}

impl<'a> Paper<'a> {
    /// Now and then stand beside each other, which keeps equations between them small.
    fn new(context: Context<'a>) -> Paper<'a> {
        let vars = context.program.vars.indices();
        let keys: Vec<Key> = vars.flat_map(|var| [Key::Now(var), Key::Entry(var)]).collect();
        let numbers = keys.iter().enumerate().map(|(number, key)| (*key, number as u32)).collect();
        Paper { context, diagrams: Diagrams::new(MAX_NODES), keys, numbers }
    }

    fn var(&mut self, key: Key) -> Result<Diagram, TooLarge> {
        let next = self.keys.len() as u32;
        let number = *self.numbers.entry(key).or_insert(next);
        if number == next {
            self.keys.push(key);
        }
        self.diagrams.var(number)
    }

    /// A formula as a diagram; `key` says what an atom is, `None` if it is left aside: then it may have either value.
    ///
    /// Left-aside atoms get variables of their own, below all others, and are quantified at the end.
    fn read(
        &mut self,
        formulas: &Formulas,
        root: FormulaId,
        key: &dyn Fn(Atom) -> Option<Key>,
        known: &mut HashMap<FormulaId, Diagram>,
    ) -> Result<Diagram, TooLarge> {
        let mut open = vec![root];
        while let Some(id) = open.last().copied() {
            if known.contains_key(&id) {
                open.pop();
                continue;
            }
            let Some(node) = formulas.get(id) else { return Err(TooLarge) };
            let missing: Vec<FormulaId> =
                node.parts().into_iter().flatten().filter(|part| !known.contains_key(part)).collect();
            if !missing.is_empty() {
                open.extend(missing);
                continue;
            }
            let of = |part: FormulaId| known[&part];
            let read = match node {
                Node::Const(value) => u32::from(value),
                Node::Atom(atom) => match key(atom) {
                    Some(key) => self.var(key)?,
                    None => self.diagrams.var(aside(atom))?,
                },
                Node::Not(part) => self.diagrams.not(of(part))?,
                Node::And(left, right) => self.diagrams.and(of(left), of(right))?,
                Node::Or(left, right) => self.diagrams.or(of(left), of(right))?,
                Node::Ite(condition, then, otherwise) => self.diagrams.ite(of(condition), of(then), of(otherwise))?,
            };
            known.insert(id, read);
            open.pop();
        }
        let mut read = known[&root];
        for var in self.diagrams.support(read).into_iter().rev().filter(|var| *var >= ASIDE) {
            read = self.diagrams.exists(read, var)?;
        }
        Ok(read)
    }

    fn words(&mut self, f: Diagram) -> Result<Option<String>, TooLarge> {
        let (keys, names, program) = (&self.keys, Names::new(self.context.program), self.context.program);
        let name = |number: u32| match keys[number as usize] {
            Key::Now(var) => names.of(var),
            Key::Entry(var) if matches!(program.vars[var].scope, Scope::Local(_)) => {
                format!("given({})", program.vars[var].name)
            }
            Key::Entry(var) => format!("old({})", names.of(var)),
            Key::Result(number) => format!("result{}", number + 1),
        };
        words::words(&mut self.diagrams, f, &name)
    }

    fn holds(&mut self, f: Result<Diagram, TooLarge>) -> Holds {
        match f.and_then(|f| self.words(f)) {
            Ok(Some(text)) => Holds::Formula(text),
            Ok(None) | Err(TooLarge) => Holds::TooLong,
        }
    }
}

/// The first variable of atoms that are left aside.
const ASIDE: u32 = 1 << 24;

fn aside(atom: Atom) -> u32 {
    match atom {
        Atom::Of { thread, var } => ASIDE + thread * 4096 + var,
        Atom::Now(var) | Atom::Entry(var) => ASIDE * 2 + var.index() as u32,
        Atom::Result(number) => ASIDE * 3 + number,
    }
}

fn of_summaries(context: Context<'_>, proof: &SummaryProof) -> Table {
    let mut paper = Paper::new(context);
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
fn of_shapes(context: Context<'_>, proof: &ShapeProof) -> Table {
    let mut paper = Paper::new(context);
    let mut sums: BTreeMap<LocId, Result<Diagram, TooLarge>> = BTreeMap::new();
    for shape in &proof.shapes {
        for (number, place) in shape.threads.iter().enumerate() {
            let place = &proof.places[*place as usize];
            let sum = *sums.entry(place.loc).or_insert(Ok(FALSE));
            // Two threads at one place may be told apart by their order only; both are looked at.
            let more = sum.and_then(|sum| {
                if sum == TRUE {
                    return Ok(TRUE);
                }
                let key = |atom| seen_by(number as u32, place, context, atom);
                let allowed = paper.read(&proof.formulas, shape.formula, &key, &mut HashMap::new())?;
                paper.diagrams.or(sum, allowed)
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
        Value::Bool(_) => None,
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

/// States that are listed one by one: a location allows the sum of the pairs of shared and thread states that occur.
fn of_cover(context: Context<'_>, proof: &CoverProof) -> Table {
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
    let mut paper = Paper::new(context);
    let mut sums: BTreeMap<LocId, Result<Diagram, TooLarge>> = BTreeMap::new();
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
        let sum = *sums.entry(place.loc).or_insert(Ok(FALSE));
        let more = sum.and_then(|sum| {
            let product = paper.product(&literals)?;
            paper.diagrams.or(sum, product)
        });
        sums.insert(place.loc, more);
    }
    let known = |(loc, sum)| (loc, Known { holds: paper.holds(sum), since_entry: None });
    sums.into_iter().map(known).collect()
}

impl Paper<'_> {
    fn product(&mut self, literals: &[(VarId, bool)]) -> Result<Diagram, TooLarge> {
        let mut product = TRUE;
        for (var, value) in literals {
            let positive = self.var(Key::Now(*var))?;
            let literal = if *value { positive } else { self.diagrams.not(positive)? };
            product = self.diagrams.and(product, literal)?;
        }
        Ok(product)
    }
}
