//! The facts that are tried.

use std::collections::BTreeSet;
use std::rc::Rc;

use selvedge_ir::{Expr, LocId, Program, Scope, VarId};
use selvedge_transition::step::vars::{Keep, Kept, Slots};

use super::fact::{Fact, Relation, Slot, Word};
use super::numbers::{Bits, Numbers, conditions};

/// The most bits that clauses of two are made of.
const MOST_FLAGS: usize = 24;

/// Numbers of at most so many bits are flags.
const FLAG_WIDTH: usize = 2;

/// The most candidates for threads at certain places.
const MOST_CANDIDATES: usize = 8_000;

const RELATIONS: [Relation; 6] = [
    Relation::Equal,
    Relation::Differs,
    Relation::Less { signed: false },
    Relation::AtMost { signed: false },
    Relation::Less { signed: true },
    Relation::AtMost { signed: true },
];

/// How far facts go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Reach {
    /// Values of bits, relations of two numbers, clauses of two flags, and conditions.
    Plain,
    /// Also what holds unless a flag is set, or is not.
    Guarded,
}

/// The parts that facts are made of.
pub(super) struct Candidates<'a> {
    program: &'a Program,
    kept: Kept,
    numbers: Numbers,
    conditions: Vec<Rc<Expr>>,
    reach: Reach,
}

/// The bits of a number that are known at some places.
struct Known {
    word: Word,
    /// Set if these are all its bits.
    is_whole: bool,
    class: usize,
}

impl<'a> Candidates<'a> {
    pub(super) fn new(program: &'a Program, reach: Reach) -> Candidates<'a> {
        let kept = Kept::new(program, &Slots::new(program), Keep::Live);
        let is_state = |leaf: &Expr| !matches!(leaf, Expr::Next(_) | Expr::Choice(..) | Expr::Bool(_));
        let mut seen: BTreeSet<String> = BTreeSet::new();
        let mut plain: Vec<Rc<Expr>> = Vec::new();
        for condition in conditions(program) {
            let condition = strip(condition);
            let mut fits = !condition.is_leaf();
            condition.for_each_leaf(|leaf| fits &= is_state(leaf));
            if fits && seen.insert(format!("{condition:?}")) {
                plain.push(Rc::new(condition.clone()));
            }
        }
        Candidates { program, kept, numbers: Numbers::new(program), conditions: plain, reach }
    }

    /// Returns the variables of a thread that are kept at a location.
    pub(super) fn own(&self, loc: LocId) -> &[VarId] {
        self.kept.at(loc)
    }

    /// Returns the facts that may hold where threads are at some locations.
    pub(super) fn of(&self, locs: &[LocId]) -> Vec<Fact> {
        let known = self.known(locs);
        let mut wide: Vec<Fact> = Vec::new();
        let mut facts: Vec<Fact> = Vec::new();
        for bit in known.iter().flat_map(|known| known.word.iter()) {
            facts.extend([true, false].map(|value| Fact::Clause(vec![(*bit, value)])));
        }
        let numbers: Vec<&Known> = known.iter().filter(|known| known.is_whole && known.word.len() > 1).collect();
        for (number, left) in numbers.iter().enumerate() {
            self.bounds(left, &mut wide);
            for right in numbers[number + 1..].iter().filter(|right| right.class == left.class) {
                relate(left, right, &mut wide);
            }
        }
        for (thread, loc) in locs.iter().enumerate() {
            for condition in self.conditions.iter().filter(|condition| self.is_known(condition, *loc)) {
                wide.extend([true, false].map(|truth| Fact::Condition(thread as u32, Rc::clone(condition), truth)));
            }
        }
        let flags = flags(&known);
        let guarded = if self.reach == Reach::Guarded { guarded(&flags, &wide) } else { Vec::new() };
        facts.extend(wide);
        for (number, (one, _)) in flags.iter().enumerate() {
            for (other, _) in &flags[number + 1..] {
                for values in [(true, true), (true, false), (false, true), (false, false)] {
                    facts.push(Fact::Clause(vec![(*one, values.0), (*other, values.1)]));
                }
            }
        }
        facts.extend(guarded);
        facts.truncate(MOST_CANDIDATES);
        facts
    }

    /// The bits of numbers that are kept.
    fn known(&self, locs: &[LocId]) -> Vec<Known> {
        let mut known = Vec::new();
        let mut add = |bits: &Bits, class: usize, kept: &[VarId], slot: &dyn Fn(VarId) -> Slot| {
            let word: Word = bits.iter().filter(|bit| kept.contains(bit)).map(|bit| slot(*bit)).collect();
            if !word.is_empty() {
                known.push(Known { is_whole: word.len() == bits.len(), word, class });
            }
        };
        for (bits, class) in self.numbers.all.iter().zip(&self.numbers.class) {
            if self.program.vars[bits[0]].scope == Scope::Shared {
                add(bits, *class, &self.kept.shared, &Slot::Shared);
                continue;
            }
            for (thread, loc) in locs.iter().enumerate() {
                add(bits, *class, self.kept.at(*loc), &|bit| Slot::Own(thread as u32, bit));
            }
        }
        known
    }

    fn is_known(&self, condition: &Expr, loc: LocId) -> bool {
        let kept = |var: VarId| match self.program.vars[var].scope {
            Scope::Shared => self.kept.shared.contains(&var),
            Scope::Thread | Scope::Local(_) => self.kept.at(loc).contains(&var),
        };
        !condition.any_leaf(|leaf| leaf.var().is_some_and(|var| !kept(var)))
    }

    /// The relations of a number to the constants of its class, and to zero.
    fn bounds(&self, known: &Known, facts: &mut Vec<Fact>) {
        let width = known.word.len();
        let of_class = self.numbers.constants.get(&known.class).into_iter().flatten();
        let mut constants: Vec<u64> = of_class.filter(|(_, bits)| *bits == width).map(|(value, _)| *value).collect();
        if !constants.contains(&0) {
            constants.push(0);
        }
        for constant in constants {
            for relation in RELATIONS {
                facts.push(Fact::Bounded(relation, Rc::clone(&known.word), constant));
                if !matches!(relation, Relation::Equal | Relation::Differs) {
                    facts.push(Fact::Bounds(relation, constant, Rc::clone(&known.word)));
                }
            }
        }
    }
}

/// Returns what a negation negates: both truth values are tried anyway.
fn strip(condition: &Expr) -> &Expr {
    match condition {
        Expr::Unary(selvedge_ir::UnaryOp::Not, operand) => strip(operand),
        condition => condition,
    }
}

/// What holds unless a flag of one bit is set, or is not.
fn guarded(flags: &[(Slot, usize)], wide: &[Fact]) -> Vec<Fact> {
    let mut facts = Vec::new();
    for (flag, _) in flags.iter().filter(|(_, width)| *width == 1) {
        for fact in wide {
            facts.extend([true, false].map(|value| Fact::Unless(*flag, value, Rc::new(fact.clone()))));
        }
    }
    facts
}

/// The bits of small numbers, with their widths, those of the smallest ones first.
fn flags(known: &[Known]) -> Vec<(Slot, usize)> {
    let small = known.iter().filter(|known| known.word.len() <= FLAG_WIDTH);
    let mut flags: Vec<(Slot, usize)> =
        small.flat_map(|known| known.word.iter().map(|slot| (*slot, known.word.len()))).collect();
    flags.sort_by_key(|(_, width)| *width);
    flags.truncate(MOST_FLAGS);
    flags
}

fn relate(left: &Known, right: &Known, facts: &mut Vec<Fact>) {
    for relation in RELATIONS {
        facts.push(Fact::Related(relation, Rc::clone(&left.word), Rc::clone(&right.word)));
        if !matches!(relation, Relation::Equal | Relation::Differs) {
            facts.push(Fact::Related(relation, Rc::clone(&right.word), Rc::clone(&left.word)));
        }
    }
    if left.word.len() == right.word.len() {
        facts.push(Fact::Related(Relation::Follows, Rc::clone(&left.word), Rc::clone(&right.word)));
        facts.push(Fact::Related(Relation::Follows, Rc::clone(&right.word), Rc::clone(&left.word)));
    }
}
