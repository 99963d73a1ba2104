//! Symbols of all files of the workspace.

use std::path::{Path, PathBuf};

use selvedge_frontend::Language;
use selvedge_frontend::files::read_regular;
use selvedge_report::sarif::uri;
use serde_json::{Value, json};

use super::files::Files;
use super::{outline, path_of, requests};

/// Limits on what is looked at: a workspace may be a whole disk.
const MAX_FILES: usize = 1000;
const MAX_FOLDERS: usize = 2000;

/// Limit on the length of a file that is looked at.
const MAX_LENGTH: usize = 1 << 20;

/// Limit on the number of symbols of an answer.
const MAX_SYMBOLS: usize = 500;

/// Returns the folders that a client has open.
pub(super) fn folders(params: &Value) -> Vec<PathBuf> {
    let listed = params["workspaceFolders"].as_array().map_or(&[][..], Vec::as_slice);
    let listed = listed.iter().map(|folder| &folder["uri"]);
    let uris: Vec<&Value> = if listed.len() > 0 { listed.collect() } else { vec![&params["rootUri"]] };
    uris.into_iter().filter_map(Value::as_str).map(|uri| PathBuf::from(path_of(uri))).collect()
}

/// Returns the symbols whose names have the letters of the query, in this order.
pub(super) fn symbols(folders: &[PathBuf], files: &Files, params: &Value) -> Value {
    let query = params["query"].as_str().unwrap_or("");
    let open = files.all();
    let mut found = Vec::new();
    for (uri, text) in &open {
        collect(uri, text, query, &mut found);
    }
    for path in programs(folders) {
        let address = uri_of(&path);
        let is_open = open.iter().any(|(other, _)| path_of(other) == path.to_string_lossy());
        if !is_open
            && found.len() < MAX_SYMBOLS
            && let Some(text) = read(&path)
        {
            collect(&address, &text, query, &mut found);
        }
    }
    found.truncate(MAX_SYMBOLS);
    json!(found)
}

fn collect(uri: &str, text: &str, query: &str, found: &mut Vec<Value>) {
    let outline = requests::symbols(uri, text);
    for symbol in outline.as_array().into_iter().flatten() {
        add(uri, symbol, None, query, found);
    }
}

fn add(uri: &str, symbol: &Value, container: Option<&str>, query: &str, found: &mut Vec<Value>) {
    let name = symbol["name"].as_str().unwrap_or("");
    if has_letters(name, query) && symbol["kind"] != outline::CONSTRUCTOR {
        let location = json!({ "uri": uri, "range": symbol["selectionRange"] });
        let mut information = json!({ "name": name, "kind": symbol["kind"], "location": location });
        if let Some(container) = container {
            information["containerName"] = json!(container);
        }
        found.push(information);
    }
    for child in symbol["children"].as_array().into_iter().flatten() {
        add(uri, child, Some(name), query, found);
    }
}

/// Returns whether a name has all letters of a query in their order, whatever their case.
fn has_letters(name: &str, query: &str) -> bool {
    let mut letters = name.chars().flat_map(char::to_lowercase);
    query.chars().flat_map(char::to_lowercase).all(|wanted| letters.any(|letter| letter == wanted))
}

/// Returns the programs in some folders and those within them, ordered by their names. Hidden folders, links and those
/// that builds write to are left out.
fn programs(folders: &[PathBuf]) -> Vec<PathBuf> {
    let mut open: Vec<PathBuf> = folders.to_vec();
    let (mut found, mut n_folders) = (Vec::new(), 0);
    while let Some(folder) = open.pop() {
        n_folders += 1;
        let Ok(entries) = std::fs::read_dir(&folder) else { continue };
        for entry in entries.filter_map(Result::ok) {
            let (path, name) = (entry.path(), entry.file_name());
            let is_left_out = name.to_string_lossy().starts_with('.') || name == "target" || name == "node_modules";
            match entry.file_type() {
                Ok(kind) if kind.is_dir() && !is_left_out => open.push(path),
                Ok(kind) if kind.is_file() && has_outline(&path) => found.push(path),
                _ => {}
            }
        }
        if found.len() >= MAX_FILES || n_folders >= MAX_FOLDERS {
            break;
        }
    }
    found.sort();
    found.truncate(MAX_FILES);
    found
}

fn has_outline(path: &Path) -> bool {
    let is_named = path.extension().is_some_and(|extension| extension == "bp" || extension == "gcl");
    is_named && matches!(Language::of_path(path), Language::Bp | Language::Gcl)
}

fn read(path: &Path) -> Option<String> {
    let bytes = read_regular(path).ok().filter(|bytes| bytes.len() <= MAX_LENGTH)?;
    String::from_utf8(bytes).ok()
}

/// Returns the address of a file.
fn uri_of(path: &Path) -> String {
    format!("file://{}", uri(&path.to_string_lossy()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_files_are_read_back() {
        let path = Path::new("/a b/ä%.bp");
        assert_eq!(path_of(&uri_of(path)), path.to_string_lossy());
    }

    #[test]
    fn letters_are_found_in_order_and_in_any_case() {
        assert!(has_letters("StopAll", "sal") && has_letters("x", "") && !has_letters("StopAll", "las"));
    }
}
