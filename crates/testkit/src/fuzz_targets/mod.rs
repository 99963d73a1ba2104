//! The bodies of the targets of `fuzz/`: each takes any bytes, as a file or a stream may have them, and says what is
//! wrong with what became of them.
//!
//! `fuzz/` has one program for each target, which lets libFuzzer look for bytes with new coverage; a test of the suite
//! calls each target with its [`seeds`]. [`mutators`] change texts and messages in ways that leave most of them
//! readable.

pub mod evidence;
pub mod mutators;
mod programs;
pub mod protocols;
pub mod readers;
pub mod seeds;
pub mod witnesses;

use crate::harness::Fault;

/// The body of a target.
pub type Body = fn(&[u8]) -> Result<(), Fault>;

/// All targets, by name.
pub const TARGETS: [(&str, Body); 18] = [
    ("bp", readers::bp),
    ("bp_getafix", readers::bp_getafix),
    ("c", readers::c),
    ("gcl", readers::gcl),
    ("predicates", readers::predicates),
    ("tts", readers::tts),
    ("spec", readers::spec),
    ("pds", readers::pds),
    ("fp", readers::fp),
    ("ir", readers::ir),
    ("watch", readers::watch),
    ("witness", witnesses::witness),
    ("diagnostics", readers::diagnostics),
    ("certificate", evidence::certificate),
    ("system_certificate", evidence::system_certificate),
    ("trace", evidence::trace),
    ("lsp", protocols::lsp),
    ("dap", protocols::dap),
];
