//! Reads C files and says what is wrong in them:
//! `cargo run -p selvedge-frontend --example read_c -- [--ilp32] [-IFOLDER] [-DNAME] [--tokens] [--types] FILE..`
#![allow(clippy::print_stdout, reason = "an example for the terminal")]

use std::path::Path;
use std::rc::Rc;

use selvedge_frontend::Source;
use selvedge_frontend::c::{self, DataModel, Options};

fn main() {
    let mut options = Options { read: Rc::new(c::read_from_disk), ..Options::default() };
    let mut show = Show::default();
    let (mut n_files, mut n_right, mut n_lines) = (0, 0, 0);
    let start = std::time::Instant::now();
    for argument in std::env::args().skip(1) {
        match argument.as_str() {
            "--ilp32" => options.model = DataModel::Ilp32,
            "--tokens" => show.tokens = true,
            "--types" => show.types = true,
            text if text.starts_with("-I") => options.include.push(text[2..].into()),
            text if text.starts_with("-D") => options.defines.push((text[2..].replace('=', " "), String::new())),
            path => {
                n_files += 1;
                n_right += usize::from(read(path, &options, show, &mut n_lines));
            }
        }
    }
    println!("{n_right} of {n_files} files without errors, {n_lines} lines in {:.3} s", start.elapsed().as_secs_f64());
}

/// What to show beside the findings.
#[derive(Clone, Copy, Default)]
struct Show {
    tokens: bool,
    types: bool,
}

/// Returns whether a file has no errors.
fn read(path: &str, options: &Options, show: Show, n_lines: &mut usize) -> bool {
    let Some(bytes) = c::read_from_disk(Path::new(path)) else {
        println!("{path}: cannot be read");
        return false;
    };
    let source = Source::from_bytes(path, bytes);
    *n_lines += source.text().lines().count();
    if show.tokens {
        println!("{}", c::dump::tokens(&c::preprocess(source.clone(), options)));
    }
    let unit = c::read(source, options);
    if show.types {
        println!("{}", c::dump::types(&unit));
    }
    for found in unit.diagnostics.iter().filter(|found| found.is_error()) {
        println!("{}: {} {}", unit.files.place(found.primary.span.start), found.code.as_str(), found.message);
    }
    !unit.has_errors()
}
