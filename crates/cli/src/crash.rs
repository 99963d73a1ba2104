//! Reports of our own defects: the message, and a command line that reproduces it.

use std::path::PathBuf;

/// The text of an internal error.
pub(crate) fn report(message: &str) -> String {
    let words: Vec<String> = std::env::args_os().map(|word| quoted(&word.to_string_lossy())).collect();
    let stdin = if words.iter().any(|word| word == "-") { "\n  with the same standard input" } else { "" };
    format!(
        "internal error: {message}\n  This is a bug in Selvedge, not in your program. To reproduce it:\n    \
         {}{stdin}\n",
        words.join(" ")
    )
}

/// Returns the command line, with the program's name without its folder.
pub(crate) fn command_line() -> String {
    let mut words = std::env::args_os();
    let name = words.next().map(PathBuf::from).and_then(|path| path.file_name().map(|name| name.to_os_string()));
    let words = name.into_iter().chain(words);
    words.map(|word| quoted(&word.to_string_lossy())).collect::<Vec<_>>().join(" ")
}

/// A word as a shell reads it.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./=,:+@%".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_string();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_for_the_shell() {
        assert_eq!(quoted("--threads=3"), "--threads=3");
        assert_eq!(quoted("my file.bp"), "'my file.bp'");
        assert_eq!(quoted("it's"), r"'it'\''s'");
        assert_eq!(quoted(""), "''");
    }
}
