//! The passes by their names.

use super::Passed;
use crate::syntax::Program;
use crate::target::Target;

/// A pass that the user can name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Pass {
    /// [`super::fold`].
    Fold,
    /// [`super::slice`].
    Slice,
    /// [`super::drop_dead`].
    DropDead,
    /// [`super::inline`].
    Inline,
    /// [`super::compress`].
    Compress,
}

impl Pass {
    /// All passes.
    pub const ALL: &'static [Pass] = &[Pass::Fold, Pass::Slice, Pass::DropDead, Pass::Inline, Pass::Compress];

    /// Returns the name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Pass::Fold => "fold",
            Pass::Slice => "slice",
            Pass::DropDead => "drop_dead",
            Pass::Inline => "inline",
            Pass::Compress => "compress",
        }
    }

    /// Returns the pass with a name.
    pub fn from_name(name: &str) -> Option<Pass> {
        Pass::ALL.iter().copied().find(|pass| pass.name() == name)
    }

    /// Returns whether the program after the pass has a deadlock exactly if the one before it has one. Compression
    /// merges steps, so that a thread can no longer wait between them; the others drop steps and variables that no
    /// error depends on, but a thread may wait for them.
    pub fn keeps_deadlocks(self) -> bool {
        match self {
            Pass::Inline => true,
            Pass::Fold | Pass::Slice | Pass::DropDead | Pass::Compress => false,
        }
    }

    /// Runs the pass. With deadlocks among the errors it must keep them.
    pub fn run(self, program: &Program, target: &Target) -> Passed {
        assert!(!target.deadlock || self.keeps_deadlocks(), "the pass `{}` loses deadlocks", self.name());
        match self {
            Pass::Fold => super::fold::run(program, target),
            Pass::Slice => super::slice::run(program, target),
            Pass::DropDead => super::drop_dead::run(program, target),
            Pass::Inline => super::inline::run(program, target),
            Pass::Compress => super::compress::run(program, target),
        }
    }
}
