//! `selvedge test` and `selvedge init`: projects of programs with known verdicts.

pub(super) mod files;
pub(super) mod init;
mod junit;
pub(super) mod test;
