//! Tests of the readers, formatters and lowerings.

mod c_preprocessor;
mod corpus;
mod diagnostics;
mod explanations;
mod format;
mod gcl;
mod lowering;
mod pds;
mod robust;
mod trees;
mod tts;
