//! The programs in a folder.

use std::path::{Path, PathBuf};

/// The extensions of programs.
const EXTENSIONS: [&str; 7] = ["bp", "c", "i", "gcl", "pds", "tts", "spec"];

/// Lists the files that are given, and all programs in the folders that are given, in alphabetical order. Folders whose
/// names begin with a dot are left out.
pub(crate) fn programs(paths: &[PathBuf]) -> Result<Vec<PathBuf>, String> {
    let mut found = Vec::new();
    for path in paths {
        let metadata = std::fs::metadata(path).map_err(|error| unreadable(path, &error))?;
        if metadata.is_dir() {
            collect(path, &mut found)?;
        } else {
            found.push(path.clone());
        }
    }
    let mut seen = std::collections::BTreeSet::new();
    found.retain(|path| seen.insert(path.clone()));
    Ok(found)
}

/// Symbolic links to folders are not followed, so that this ends.
fn collect(folder: &Path, found: &mut Vec<PathBuf>) -> Result<(), String> {
    let list = || -> std::io::Result<Vec<(PathBuf, bool)>> {
        let entries = std::fs::read_dir(folder)?.map(|entry| {
            let entry = entry?;
            Ok((entry.path(), entry.file_type()?.is_dir()))
        });
        entries.collect()
    };
    let mut entries = list().map_err(|error| unreadable(folder, &error))?;
    entries.sort();
    for (path, is_folder) in entries {
        let is_hidden = path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'));
        if is_folder && !is_hidden {
            collect(&path, found)?;
        } else if !is_folder && is_program(&path) {
            // A path that begins with `./` is longer and says no more.
            found.push(path.strip_prefix(".").map(Path::to_path_buf).unwrap_or(path));
        }
    }
    Ok(())
}

fn is_program(path: &Path) -> bool {
    path.extension().and_then(|extension| extension.to_str()).is_some_and(|name| EXTENSIONS.contains(&name))
}

fn unreadable(path: &Path, error: &std::io::Error) -> String {
    format!("cannot read {}: {error}", crate::outputs::shown(path))
}
