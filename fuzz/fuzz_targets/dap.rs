#![no_main]

use selvedge_testkit::fuzz_targets::{mutators, protocols};

selvedge_fuzz::target!(protocols::dap, mutators::messages);
