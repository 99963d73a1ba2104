#![no_main]

use selvedge_testkit::fuzz_targets::{evidence, mutators};

selvedge_fuzz::target!(evidence::trace, mutators::messages);
