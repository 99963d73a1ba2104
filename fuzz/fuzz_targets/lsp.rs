#![no_main]

use selvedge_testkit::fuzz_targets::{mutators, protocols};

selvedge_fuzz::target!(protocols::lsp, mutators::messages);
