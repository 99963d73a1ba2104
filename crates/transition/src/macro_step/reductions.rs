//! The reductions that a search over threads makes.

/// The reductions that an engine makes. None of them changes which errors are reachable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reductions {
    /// Fuses steps that other threads cannot observe with the next one that they can (algorithms of class (b), "local
    /// block compression"), and atomic sections to one step.
    ///
    /// Default: on.
    pub compress: bool,
    /// Forgets the values of variables that are not read any more (thesis, §10.9).
    ///
    /// Default: on.
    pub dead: bool,
    /// Leaves out interleavings that lead to the same states (thesis, chapter 6).
    pub partial_order: PartialOrder,
}

/// The interleavings that are left out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum PartialOrder {
    /// No interleavings.
    #[default]
    Off,
    /// All but those of one thread whose step is independent of all steps that the others can still make (thesis,
    /// §6.2).
    Ample,
    /// All but those of one group of threads that depend on each other (thesis, §6.3).
    Persistent,
    /// A thread runs on until its next step depends on a step that another can still make (thesis, §6.4).
    Cartesian,
}

impl Reductions {
    /// No reduction: the set of reachable states is exact.
    pub const NONE: Reductions = Reductions { compress: false, dead: false, partial_order: PartialOrder::Off };
}

impl Default for Reductions {
    fn default() -> Reductions {
        Reductions { compress: true, dead: true, partial_order: PartialOrder::Off }
    }
}
