//! C programs of other people, which are not part of the project: the folder that `SELVEDGE_C_CORPUS` names.

use std::path::{Path, PathBuf};
use std::rc::Rc;

use selvedge_frontend::Source;
use selvedge_frontend::c::{self, Options};

fn programs(folder: &Path, found: &mut Vec<PathBuf>) {
    let entries = std::fs::read_dir(folder).expect("the folder can be read");
    for entry in entries {
        let path = entry.expect("the folder can be read").path();
        match path.extension().and_then(|extension| extension.to_str()) {
            _ if path.is_dir() => programs(&path, found),
            Some("c" | "i") => found.push(path),
            _ => {}
        }
    }
}

/// Reads all programs. A program may only be wrong because a header or a macro of its command line is missing.
#[test]
#[ignore = "needs programs that are not part of the project: SELVEDGE_C_CORPUS names their folder"]
fn programs_of_other_people_are_read() {
    let folder = std::env::var_os("SELVEDGE_C_CORPUS").expect("SELVEDGE_C_CORPUS names a folder");
    let mut paths = Vec::new();
    programs(Path::new(&folder), &mut paths);
    paths.sort();
    let include = std::env::var_os("SELVEDGE_C_INCLUDE").map(PathBuf::from).into_iter().collect();
    let options = Options { include, read: Rc::new(c::read_from_disk), ..Options::default() };
    let mut wrong = Vec::new();
    for path in &paths {
        let bytes = c::read_from_disk(path).expect("the file can be read");
        let unit = c::read(Source::from_bytes(path.to_string_lossy(), bytes), &options);
        let first = unit.diagnostics.iter().find(|found| found.is_error());
        wrong.extend(first.map(|found| format!("{}: {}", unit.files.place(found.primary.span.start), found.message)));
    }
    assert!(wrong.len() * 10 <= paths.len(), "{} of {} have errors: {wrong:#?}", wrong.len(), paths.len());
}
