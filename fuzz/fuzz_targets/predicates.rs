#![no_main]

use selvedge_testkit::fuzz_targets::{mutators, readers};

selvedge_fuzz::target!(readers::predicates, mutators::words);
