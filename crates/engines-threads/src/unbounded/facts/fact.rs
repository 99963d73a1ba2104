//! Facts about the variables of a few threads.

use std::rc::Rc;

use selvedge_ir::{Expr, VarId};
use selvedge_logic::aig::{Aig, Lit};
use selvedge_transition::step::circuit::holds;

/// A variable in a list of threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Slot {
    /// A shared variable.
    Shared(VarId),
    /// A variable of the thread with this number.
    Own(u32, VarId),
}

/// The bits of a number, the lowest first.
pub(super) type Word = Rc<[Slot]>;

/// What two numbers may have to do with each other. A shorter one is continued by zeros, or by its highest bit if both
/// have signs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Relation {
    Equal,
    Differs,
    /// The first is one more than the second; the least number follows the greatest.
    Follows,
    Less {
        signed: bool,
    },
    AtMost {
        signed: bool,
    },
}

/// Something that may hold whenever threads are at some places.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Fact {
    /// One of some bits has the value that it is listed with.
    Clause(Vec<(Slot, bool)>),
    /// Two numbers are related.
    Related(Relation, Word, Word),
    /// A number is related to a constant, given by its bits.
    Bounded(Relation, Word, u64),
    /// The other way round.
    Bounds(Relation, u64, Word),
    /// A condition of the program, about the variables of one thread, is true or false.
    Condition(u32, Rc<Expr>, bool),
    /// A bit has a value, or a fact holds.
    Unless(Slot, bool, Rc<Fact>),
}

impl Fact {
    /// Returns the literal of the fact where variables have these values.
    pub(super) fn lit(&self, aig: &mut Aig, value: &dyn Fn(Slot) -> Lit) -> Lit {
        match self {
            Fact::Clause(bits) => {
                let bits: Vec<Lit> = bits.iter().map(|(slot, bit)| same(value(*slot), *bit)).collect();
                aig.or_all(&bits)
            }
            Fact::Related(relation, left, right) => {
                let word = |word: &Word| word.iter().map(|slot| value(*slot)).collect::<Vec<_>>();
                related(aig, *relation, word(left), word(right))
            }
            Fact::Bounded(relation, word, constant) => {
                let bits: Vec<Lit> = word.iter().map(|slot| value(*slot)).collect();
                let constant = number(*constant, bits.len());
                related(aig, *relation, bits, constant)
            }
            Fact::Bounds(relation, constant, word) => {
                let bits: Vec<Lit> = word.iter().map(|slot| value(*slot)).collect();
                let constant = number(*constant, bits.len());
                related(aig, *relation, constant, bits)
            }
            Fact::Condition(thread, condition, truth) => {
                let lit = holds(aig, condition, &|var| value(own(*thread, var)));
                same(lit, *truth)
            }
            Fact::Unless(slot, bit, fact) => {
                let fact = fact.lit(aig, value);
                aig.or(same(value(*slot), *bit), fact)
            }
        }
    }

    /// Calls a function with each variable of the fact. Those of conditions count as those of their thread, shared or
    /// not.
    pub(super) fn for_each_slot(&self, visit: &mut dyn FnMut(Slot)) {
        match self {
            Fact::Clause(bits) => bits.iter().for_each(|(slot, _)| visit(*slot)),
            Fact::Related(_, left, right) => left.iter().chain(right.iter()).for_each(|slot| visit(*slot)),
            Fact::Bounded(_, word, _) | Fact::Bounds(_, _, word) => word.iter().for_each(|slot| visit(*slot)),
            Fact::Condition(thread, condition, _) => condition.for_each_leaf(|leaf| {
                if let Some(var) = leaf.var() {
                    visit(own(*thread, var));
                }
            }),
            Fact::Unless(slot, _, fact) => {
                visit(*slot);
                fact.for_each_slot(visit);
            }
        }
    }
}

/// A variable that may be shared. Who gives values to variables knows which ones are: see [`Fact::lit`].
fn own(thread: u32, var: VarId) -> Slot {
    Slot::Own(thread, var)
}

fn same(lit: Lit, value: bool) -> Lit {
    if value { lit } else { !lit }
}

/// Returns the lowest bits of a constant.
fn number(constant: u64, n_bits: usize) -> Vec<Lit> {
    (0..n_bits).map(|place| Lit::from(constant.checked_shr(place as u32).unwrap_or(0) & 1 == 1)).collect()
}

fn related(aig: &mut Aig, relation: Relation, mut left: Vec<Lit>, mut right: Vec<Lit>) -> Lit {
    let signed = matches!(relation, Relation::Less { signed: true } | Relation::AtMost { signed: true });
    let width = left.len().max(right.len());
    for word in [&mut left, &mut right] {
        let fill = if signed { word.last().copied().unwrap_or(Lit::FALSE) } else { Lit::FALSE };
        word.resize(width, fill);
    }
    match relation {
        Relation::Equal => equal(aig, &left, &right),
        Relation::Differs => !equal(aig, &left, &right),
        Relation::Follows => {
            let next = successor(aig, &right);
            equal(aig, &left, &next)
        }
        Relation::Less { .. } => less(aig, &left, &right, signed),
        Relation::AtMost { .. } => !less(aig, &right, &left, signed),
    }
}

fn successor(aig: &mut Aig, bits: &[Lit]) -> Vec<Lit> {
    let mut carry = Lit::TRUE;
    let mut next = Vec::with_capacity(bits.len());
    for bit in bits {
        next.push(aig.xor(*bit, carry));
        carry = aig.and(*bit, carry);
    }
    next
}

fn equal(aig: &mut Aig, left: &[Lit], right: &[Lit]) -> Lit {
    let bits: Vec<Lit> = left.iter().zip(right).map(|(left, right)| aig.iff(*left, *right)).collect();
    aig.and_all(&bits)
}

/// The highest bits that differ decide; of signs the other way round.
fn less(aig: &mut Aig, left: &[Lit], right: &[Lit], signed: bool) -> Lit {
    let mut less = Lit::FALSE;
    for (place, (left_bit, right_bit)) in left.iter().zip(right).enumerate() {
        let is_sign = signed && place + 1 == left.len();
        let differ = aig.xor(*left_bit, *right_bit);
        less = aig.ite(differ, if is_sign { *left_bit } else { *right_bit }, less);
    }
    less
}
