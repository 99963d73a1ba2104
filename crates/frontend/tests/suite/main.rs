//! Tests of the readers, formatters and lowerings.

mod c_corpus;
mod c_diagnostics;
mod c_host;
mod c_preprocessor;
mod c_robust;
mod c_tree;
mod corpus;
mod diagnostics;
mod explanations;
mod fixes;
mod format;
mod gcl;
mod lowering;
mod pds;
mod robust;
mod trees;
mod tts;
