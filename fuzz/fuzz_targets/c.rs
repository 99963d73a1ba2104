#![no_main]

use selvedge_testkit::fuzz_targets::{mutators, readers};

selvedge_fuzz::target!(readers::c, mutators::words_of_c);
