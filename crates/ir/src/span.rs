//! The positions of a program's parts in the text that it was read from.

use std::collections::{BTreeMap, BTreeSet};

use index_vec::IndexVec;

use crate::syntax::{EdgeId, LocId, ProcId, Program, VarId};

/// A half-open range of bytes in the source text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span {
    /// The first byte.
    pub start: u32,
    /// The byte after the last.
    pub end: u32,
}

impl Span {
    /// Returns the range from `start` to `end`.
    pub fn new(start: usize, end: usize) -> Span {
        let narrow = |offset: usize| u32::try_from(offset).expect("the reader refuses texts of 4 GiB and more");
        Span { start: narrow(start), end: narrow(end) }
    }

    /// Returns the smallest range that holds both.
    pub fn to(self, other: Span) -> Span {
        Span { start: self.start.min(other.start), end: self.end.max(other.end) }
    }

    /// Returns the part of `text` that the range covers; empty if the range does not fit the text.
    pub fn of(self, text: &str) -> &str {
        text.get(self.start as usize..self.end as usize).unwrap_or("")
    }
}

/// The positions of a program's parts. It belongs to the program as the user wrote it. Programs after passes have none,
/// since evidence is lifted back before it is shown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SourceMap {
    /// For each edge the statement that it came from.
    pub edges: IndexVec<EdgeId, Origin>,
    /// For each variable its declaration.
    pub vars: IndexVec<VarId, Span>,
    /// For each procedure its header.
    pub procs: IndexVec<ProcId, Span>,
    /// For variables whose values have names in the source, the names of the values 0, 1, ..: program counters.
    pub values: BTreeMap<VarId, Vec<String>>,
    /// For edges of named commands and conditions, their names; for commands of processes, with the process in front,
    /// or the process alone.
    pub commands: BTreeMap<EdgeId, String>,
    /// For steps that the source does not have as such, what they mean: for assertions, what is wrong where they fail.
    pub notes: BTreeMap<EdgeId, String>,
    /// The limits of the program, such as a number of objects that are allocated: for assertions that always fail, and
    /// are reached where a limit is exceeded, what is exceeded. Behind them, executions of the text are not executions
    /// of the program.
    pub limits: BTreeMap<EdgeId, String>,
    /// The names of the properties that the assertions are about; empty where it is the program that has them.
    pub properties: Vec<String>,
    /// Whether a statement may be several steps, as in C.
    pub several_steps: bool,
    /// How the values of variables are shown, where their types do not say it.
    pub views: BTreeMap<VarId, View>,
    /// The names of what is at addresses: objects and their parts, and functions.
    pub addresses: BTreeMap<u64, String>,
    /// Procedures that the source does not have, each with the one that it calls and that threads are named after.
    pub wrappers: BTreeMap<ProcId, ProcId>,
    /// For edges whose first choice is the result of a function without a body, the name of the function.
    pub inputs: BTreeMap<EdgeId, String>,
    /// For questions about data races, the shared variable that names what a thread stays about to access, for ever.
    pub race: Option<VarId>,
    /// For steps that other threads may notice, where in the text they happen.
    pub sites: BTreeMap<EdgeId, Site>,
    /// How the program represents the system that it was made from, if it was made from one.
    pub system: Option<SystemMap>,
}

/// How a program represents a thread-transition system or a Petri net. Its executions are shown as those of the system.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SystemMap {
    /// The bits of the shared state, lowest first.
    pub shared: Vec<VarId>,
    /// The number of shared states of the system. In larger ones a target is being noticed, or a rule is half done.
    pub n_shared: u32,
    /// The local state of a thread by its location, where the location says it.
    pub locals: BTreeMap<LocId, u32>,
    /// The bits that say it elsewhere, lowest first, and the local states that their numbers stand for, from 1 on.
    pub own: (Vec<VarId>, Vec<u32>),
    /// The locations inside of a rule.
    pub within: BTreeSet<LocId>,
    /// The steps by which the threads of a target step aside.
    pub aside: BTreeSet<EdgeId>,
    /// The net, if the system was made from one.
    pub net: Option<NetMap>,
}

/// How a thread-transition system represents a Petri net.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NetMap {
    /// The names of the places. Their local states are numbered from 1 on.
    pub places: Vec<String>,
    /// The shared state between rules.
    pub ready: u32,
}

/// How the values of a variable are shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum View {
    /// Not at all: the source does not have the variable.
    Hidden,
    /// As an address.
    Pointer,
    /// As a lock, which is free at 0; the thread that last changed it holds it.
    Lock,
    /// As a lock for readers, whose number it is, and one writer, at the largest number.
    ReadWriteLock,
    /// By names of constants.
    Words(Vec<(i128, String)>),
}

/// The place of a step inside of a statement: where control is just before the step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Site {
    /// Before an expression is evaluated.
    Before(Span),
    /// After an expression is evaluated, and before its value is used.
    After(Span),
    /// Between the read and the write of `a op= b`, or of `a++` and the like, which has no value.
    Between(Update),
    /// Inside of a call that waits, before the thread goes on.
    Waking(Span),
}

/// The parts of an expression that reads and writes an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Update {
    /// The whole expression.
    pub whole: Span,
    /// The object.
    pub target: Span,
    /// The operator without `=`.
    pub operator: &'static str,
    /// The right operand; 1 if there is none.
    pub value: Option<Span>,
    /// Whether the expression has the old value.
    pub is_postfix: bool,
}

impl SourceMap {
    /// Returns the map of a program whose parts have no positions.
    pub fn without_positions(program: &Program) -> SourceMap {
        let nowhere = Origin { span: Span::default(), role: Role::Statement };
        SourceMap {
            edges: program.edges.iter().map(|_| nowhere).collect(),
            vars: program.vars.iter().map(|_| Span::default()).collect(),
            procs: program.procs.iter().map(|_| Span::default()).collect(),
            ..SourceMap::default()
        }
    }
}

/// The statement that an edge belongs to, and the part of it that the edge represents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Origin {
    /// The text of the statement; for conditions, from the keyword to the end of the condition.
    pub span: Span,
    /// The part of the statement.
    pub role: Role,
}

/// The part of a statement that an edge represents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The statement itself.
    Statement,
    /// A condition that holds.
    Holds,
    /// A condition that does not hold.
    Fails,
    /// The initial values of a procedure's locals.
    Initialise,
    /// The check of an `enforce` clause.
    Enforce,
    /// The end of a procedure without `return`; the span is that of its `end`.
    FallOff,
    /// A step that the statement implies and the source does not have: it keeps the atomic flag in agreement with a
    /// variable that marks atomic sections.
    Section,
    /// A step of a statement that is an error: a value leaves its range, or an index its array. An assertion that fails
    /// comes next.
    Violation,
}
