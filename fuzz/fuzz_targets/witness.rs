#![no_main]

use selvedge_testkit::fuzz_targets::{mutators, witnesses};

selvedge_fuzz::target!(witnesses::witness, mutators::words);
