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

    /// Runs the pass.
    pub fn run(self, program: &Program, target: &Target) -> Passed {
        match self {
            Pass::Fold => super::fold::run(program, target),
            Pass::Slice => super::slice::run(program, target),
            Pass::DropDead => super::drop_dead::run(program, target),
            Pass::Inline => super::inline::run(program, target),
            Pass::Compress => super::compress::run(program, target),
        }
    }
}
