//! What users read: every text of the command line, of reports and diagnostics, and the labels of pages.
//!
//! `LIST_TEXTS=FILE cargo test -p selvedge-testkit --test suite house::english` writes all of them into a file, each
//! with the file that it is from, to be read by people. The test looks for phrases that have been mended once.

use std::path::Path;

use super::root;

/// Crates that users see nothing of.
const INSIDE: [&str; 4] = ["testkit", "bench", "cdcl", "faults"];

/// Phrases that read as if translated. Each was in a text once.
const MENDED: [&str; 20] = [
    "whence",
    "nobody",
    "who won",
    "the run is none",
    "not looked at",
    "helped out",
    "left to us",
    "corrected twin",
    "so many",
    "rooms",
    "side by side",
    "stands before",
    "stands in",
    "threads stand",
    "does not stand",
    "after how long",
    "some execution to an error runs it",
    "overtaken",
    "takes the program",
    "send it to a colleague",
];

/// A text, and the file that it is from.
struct Text {
    file: String,
    text: String,
}

/// Returns the string literals of a file that look like words for people, and the help texts among its comments.
fn texts_of(source: &str, has_help: bool) -> Vec<String> {
    let code = source.split("#[cfg(test)]").next().unwrap_or_default();
    let mut texts = Vec::new();
    let mut rest = code;
    while let Some(at) = rest.find(['"', '/', '\'']) {
        let (sign, after) = (rest.as_bytes()[at], &rest[at + 1..]);
        let line_end = after.find('\n').unwrap_or(after.len());
        rest = match sign {
            b'/' if after.starts_with("// ") && has_help => {
                texts.push(after[3..line_end].to_string());
                &after[line_end..]
            }
            b'/' if after.starts_with('/') => &after[line_end..],
            // A character, which may be a quotation mark; a lifetime has no second quote there.
            b'\'' if after.starts_with("\\") => after.get(3..).unwrap_or_default(),
            b'\'' if after.chars().nth(1) == Some('\'') => {
                &after[after.char_indices().nth(2).map_or(after.len(), |(end, _)| end)..]
            }
            b'"' => {
                let end = end_of_string(after);
                texts.push(after[..end].to_string());
                &after[(end + 1).min(after.len())..]
            }
            _ => after,
        };
    }
    texts.retain(|text| is_for_people(text));
    texts
}

fn end_of_string(text: &str) -> usize {
    let mut is_escaped = false;
    let end = text.char_indices().find(|(_, c)| {
        let ends = *c == '"' && !is_escaped;
        is_escaped = *c == '\\' && !is_escaped;
        ends
    });
    end.map_or(text.len(), |(at, _)| at)
}

/// Returns whether a text has two words in a row.
fn is_for_people(text: &str) -> bool {
    let is_word = |word: &&str| {
        let word = word.trim_end_matches(['.', ',', ';', ':', ')']);
        word.len() > 1 && word.chars().all(|c| c.is_ascii_lowercase())
    };
    text.split(' ').collect::<Vec<_>>().windows(2).any(|pair| pair.iter().all(is_word))
}

fn collect(folder: &Path, found: &mut Vec<Text>) {
    let mut entries: Vec<_> = std::fs::read_dir(folder).expect("the folder is there").flatten().collect();
    entries.sort_by_key(std::fs::DirEntry::path);
    for entry in entries {
        let path = entry.path();
        let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
        if path.is_dir() {
            collect(&path, found);
        } else if matches!(extension, "rs" | "txt" | "html" | "js") {
            let source = std::fs::read_to_string(&path).expect("the file is text");
            let file = path.strip_prefix(root()).expect("it is inside").display().to_string();
            let has_help = file.starts_with("crates/cli/src/args");
            let texts = match extension {
                "rs" => texts_of(&source, has_help),
                _ => source.lines().filter(|line| is_for_people(line)).map(str::to_string).collect(),
            };
            found.extend(texts.into_iter().map(|text| Text { file: file.clone(), text }));
        }
    }
}

#[test]
fn texts_for_users_have_none_of_the_phrases_that_were_mended() {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(root().join("crates")).expect("the folder is there").flatten() {
        let name = entry.file_name();
        if !INSIDE.iter().any(|inside| name == *inside) && entry.path().join("src").is_dir() {
            collect(&entry.path().join("src"), &mut found);
        }
    }
    assert!(found.len() > 1500, "only {} texts are found", found.len());
    if let Some(path) = std::env::var_os("LIST_TEXTS") {
        let lines: String = found.iter().map(|Text { file, text }| format!("{file}: {}\n", text.trim())).collect();
        std::fs::write(path, lines).expect("the list can be written");
    }
    let is_bad = |text: &&Text| MENDED.iter().any(|phrase| text.text.to_lowercase().contains(phrase));
    let bad: Vec<String> = found.iter().filter(is_bad).map(|Text { file, text }| format!("{file}: {text}")).collect();
    assert!(bad.is_empty(), "say it in plain English:\n{}", bad.join("\n"));
}

#[test]
fn texts_are_found_in_code_with_characters_and_comments() {
    let source = "// not \"this one here\"\nlet c = '\"'; let d = '\\\\'; fn f<'a>() { \
                  g(\"two plain \\\"words\\\"\") }\n\
                  #[cfg(test)] \"nor this one\"";
    assert_eq!(texts_of(source, false), ["two plain \\\"words\\\""]);
    assert_eq!(texts_of("/// Some plain help.\nfn f() {}", true), ["Some plain help."]);
}
