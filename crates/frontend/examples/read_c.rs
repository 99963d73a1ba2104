//! Reads C files and says what is wrong in them: `cargo run --example read_c -- [--ilp32] [--tokens|--types] FILE..`.
#![allow(clippy::print_stdout, reason = "an example for the terminal")]

use std::path::Path;
use std::rc::Rc;

use selvedge_frontend::Source;
use selvedge_frontend::c::{self, DataModel, Options};

fn main() {
    let mut options = Options { read: Rc::new(c::read_from_disk), ..Options::default() };
    let (mut n_files, mut n_right) = (0, 0);
    for argument in std::env::args().skip(1) {
        match argument.as_str() {
            "--ilp32" => options.model = DataModel::Ilp32,
            path => {
                n_files += 1;
                n_right += usize::from(read(path, &options));
            }
        }
    }
    println!("{n_right} of {n_files} files without errors");
}

/// Returns whether a file has no errors.
fn read(path: &str, options: &Options) -> bool {
    let Some(bytes) = c::read_from_disk(Path::new(path)) else {
        println!("{path}: cannot be read");
        return false;
    };
    let unit = c::read(Source::from_bytes(path, bytes), options);
    for found in unit.diagnostics.iter().filter(|found| found.is_error()) {
        println!("{}: {} {}", unit.files.place(found.primary.span.start), found.code.as_str(), found.message);
    }
    !unit.has_errors()
}
