//! Evidence for safety.

use selvedge_ir::LocId;

/// Evidence for safety that a small checker can verify without the engine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Certificate {
    /// No error can be reached whatever the variables hold. The locations (sorted) contain the beginnings of the
    /// initial threads, are closed under all steps that are not blocked by a constant condition, and hold no error: no
    /// target location, and no target assertion except those of a constant true.
    ControlFlow(Vec<LocId>),
}
