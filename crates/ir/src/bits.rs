//! The relation between a program with machine integers and one over bits. Locations, edges and procedures have the
//! same numbers in both. "Old" is the program with machine integers, "new" the one over bits.

use index_vec::IndexVec;

use crate::syntax::{EdgeId, EntryId, LocId, ProcId, Ty, VarId};

/// The new variables and choices that stand for the old ones.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BitMap {
    /// For each old variable.
    pub vars: IndexVec<VarId, Code>,
    /// For each result of each procedure, how many bits of it are returned.
    pub results: IndexVec<ProcId, Vec<Width>>,
    /// For each choice of each edge.
    pub edges: IndexVec<EdgeId, Vec<BitChoice>>,
    /// For each choice of the initial values of shared variables.
    pub init: Vec<BitChoice>,
    /// The same for each kind of initial thread.
    pub entries: IndexVec<EntryId, Vec<BitChoice>>,
    /// The values that old variables may have.
    pub ranges: RangeMap,
}

/// The values that the variables of a program may have: a set of states that is closed under all steps.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RangeMap {
    /// The values of each shared or per-thread variable, everywhere.
    pub vars: IndexVec<VarId, Range>,
    /// The values of the locals that may be read later, at each location; `None` if it is never reached.
    pub locs: IndexVec<LocId, Option<Vec<(VarId, Range)>>>,
    /// The values of the results of each procedure.
    pub results: IndexVec<ProcId, Vec<Range>>,
}

/// A set of numbers; the truth values are 0 and 1.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Range {
    /// No number.
    Never,
    /// These few numbers, at least one, in ascending order.
    Values(Vec<i128>),
    /// The numbers from one to another, both included.
    Interval(i128, i128),
}

/// The new variables that stand for an old one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Code {
    /// The type of the old variable.
    pub ty: Ty,
    /// The new variables, one for each of the lowest bits, the lowest first.
    pub bits: Vec<VarId>,
    /// The bits above them.
    pub rest: Rest,
}

/// The number of bits that stand for a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Width {
    /// The type of the value.
    pub ty: Ty,
    /// The number of its lowest bits that are there.
    pub n_bits: u32,
    /// The bits above them.
    pub rest: Rest,
    /// The number of its lowest bits that a procedure returns: no fewer, since a variable that takes them may have
    /// more.
    pub returned: u32,
}

/// The bits of a value above those that are there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rest {
    /// As in this constant.
    Constant(u64),
    /// As the highest one that is there.
    Sign,
}

/// The new choices that make an old one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BitChoice {
    /// The type of the old choice.
    pub ty: Ty,
    /// For each bit, the lowest first, the new choice; `None` for those that make no difference.
    pub bits: Vec<Option<u32>>,
}
