//! Evidence about pushdown systems.

use selvedge_ir::pds::SymbolId;

/// Evidence that a pushdown system reaches no target: a finite automaton that reads configurations.
///
/// The states of the automaton are numbers. The first ones are the control states of the system, in their order; a
/// configuration is accepted if the word of its stack, top first, leads from its control state to one of `finals`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SystemProof {
    /// The set that the automaton accepts.
    pub closure: Closure,
    /// The number of states of the automaton, those of the system included.
    pub n_nodes: u32,
    /// The states in which words may end.
    pub finals: Vec<u32>,
    /// The transitions.
    pub transitions: Vec<Transition>,
}

/// A transition of an automaton.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Transition {
    /// The state before.
    pub from: u32,
    /// The symbol that is read; `None` for transitions that read nothing.
    pub read: Option<SymbolId>,
    /// The state after.
    pub to: u32,
}

/// Which set of configurations proves the targets unreachable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Closure {
    /// One that has the initial configurations and all successors of its members, but no target.
    Successors,
    /// One that has the targets and all predecessors of its members, but no initial configuration.
    Predecessors,
}
