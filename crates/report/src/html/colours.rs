//! The colours of a program's text: comments, reserved words, numbers and strings, for all languages alike.
//!
//! A page shows whole lines, so that the text is taken apart line by line; only a comment may go on in the next one.
//! The readers of the languages decide what a text means; nothing here can change that.

use crate::svg::escape;

/// The reserved words of a language.
const BOOLEAN: &[&str] = &[
    "decl",
    "shared",
    "thread_local",
    "void",
    "bool",
    "init",
    "process",
    "begin",
    "end",
    "skip",
    "goto",
    "if",
    "then",
    "elsif",
    "else",
    "fi",
    "while",
    "do",
    "od",
    "return",
    "assert",
    "assume",
    "constrain",
    "enforce",
    "abortif",
    "dfs",
    "dead",
    "print",
    "call",
    "start_thread",
    "end_thread",
    "atomic_begin",
    "atomic_end",
    "lock",
    "unlock",
    "choose",
    "schoose",
    "constrain",
    "sync",
    "fork",
    "T",
    "F",
    "true",
    "false",
    "main",
];
const GUARDED: &[&str] = &[
    "var",
    "int",
    "bool",
    "init",
    "safe",
    "deadlock_free",
    "process",
    "start",
    "any",
    "at",
    "goto",
    "skip",
    "nondet",
    "true",
    "false",
    "divides",
];
const C: &[&str] = &[
    "auto",
    "break",
    "case",
    "char",
    "const",
    "continue",
    "default",
    "do",
    "double",
    "else",
    "enum",
    "extern",
    "float",
    "for",
    "goto",
    "if",
    "inline",
    "int",
    "long",
    "register",
    "restrict",
    "return",
    "short",
    "signed",
    "sizeof",
    "static",
    "struct",
    "switch",
    "typedef",
    "union",
    "unsigned",
    "void",
    "volatile",
    "while",
    "bool",
    "true",
    "false",
    "NULL",
    "_Atomic",
    "_Bool",
    "_Static_assert",
    "_Thread_local",
    "assert",
];

/// Writes the lines of a text.
pub(super) struct Colours {
    words: &'static [&'static str],
    is_c: bool,
    /// Set while a comment goes on in the next line.
    in_comment: bool,
}

impl Colours {
    /// Returns the writer for a file of this name.
    pub(super) fn new(path: &str) -> Colours {
        let extension = path.rsplit('.').next().unwrap_or_default();
        let is_c = matches!(extension, "c" | "h" | "i");
        let words = match extension {
            _ if is_c => C,
            "gcl" => GUARDED,
            "tts" | "prop" | "spec" | "pds" => &[],
            _ => BOOLEAN,
        };
        Colours { words, is_c, in_comment: false }
    }

    /// Returns the next line as HTML.
    pub(super) fn line(&mut self, line: &str) -> String {
        let mut html = String::new();
        let mut rest = line;
        while !rest.is_empty() {
            let (class, length) = self.piece(rest, rest.len() == line.len());
            let (piece, after) = rest.split_at(length);
            match class {
                "" => html.push_str(&escape(piece)),
                _ => html.push_str(&format!("<span class=\"{class}\">{}</span>", escape(piece))),
            }
            rest = after;
        }
        html
    }

    /// Returns the class of the next piece, which is not empty, and its length.
    fn piece(&mut self, rest: &str, is_first: bool) -> (&'static str, usize) {
        if self.in_comment {
            let end = rest.find("*/").map(|at| at + 2);
            self.in_comment = end.is_none();
            return ("k-note", end.unwrap_or(rest.len()));
        }
        let word = |is_part: fn(char) -> bool| rest.find(|c| !is_part(c)).unwrap_or(rest.len());
        let first = rest.chars().next().expect("the rest is not empty");
        match first {
            '/' if rest.starts_with("//") => ("k-note", rest.len()),
            '/' if rest.starts_with("/*") => {
                let end = rest[2..].find("*/").map(|at| at + 4);
                self.in_comment = end.is_none();
                ("k-note", end.unwrap_or(rest.len()))
            }
            '#' if !self.is_c => ("k-note", rest.len()),
            '#' if is_first => ("k-word", 1 + rest[1..].find(|c: char| !c.is_alphabetic()).unwrap_or(rest.len() - 1)),
            '"' if self.is_c => ("k-text", string_length(rest)),
            _ if first.is_ascii_digit() => ("k-number", word(|c| c.is_alphanumeric() || c == '_')),
            _ if first.is_alphabetic() || first == '_' => {
                let length = word(|c| c.is_alphanumeric() || c == '_' || c == '$');
                (if self.words.contains(&&rest[..length]) { "k-word" } else { "" }, length)
            }
            _ => ("", first.len_utf8()),
        }
    }
}

/// Returns the length of a string with its quotes; one that does not end takes the rest of the line.
fn string_length(rest: &str) -> usize {
    let mut is_escaped = false;
    for (at, c) in rest.char_indices().skip(1) {
        match c {
            '"' if !is_escaped => return at + 1,
            _ => is_escaped = c == '\\' && !is_escaped,
        }
    }
    rest.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(path: &str, text: &str) -> Vec<String> {
        let mut colours = Colours::new(path);
        text.lines().map(|line| colours.line(line)).collect()
    }

    #[test]
    fn words_numbers_and_comments_have_classes_and_names_have_none() {
        let line = &lines("a.bp", "decl n := 12; // if\n")[0];
        let expected = "<span class=\"k-word\">decl</span> n := <span class=\"k-number\">12</span>; \
                        <span class=\"k-note\">// if</span>";
        assert_eq!(line, expected);
    }

    #[test]
    fn a_comment_goes_on_until_it_ends() {
        let found = lines("a.c", "x /* if\nelse \"*/ if \"a\\\"b\"");
        assert_eq!(found[0], "x <span class=\"k-note\">/* if</span>");
        let string = "<span class=\"k-text\">&quot;a\\&quot;b&quot;</span>";
        let expected = format!("<span class=\"k-note\">else &quot;*/</span> <span class=\"k-word\">if</span> {string}");
        assert_eq!(found[1], expected);
    }

    #[test]
    fn no_character_is_lost() {
        for text in ["é := ü'1\"", "\"open", "/*", "x$ := 3l", "#define é 1", "/* é */ \u{7}"] {
            for path in ["a.bp", "a.c", "a.gcl", "a.tts"] {
                let html = lines(path, text).concat();
                let plain: String =
                    html.split('<').map(|part| part.split_once('>').map_or(part, |(_, rest)| rest)).collect();
                assert_eq!(plain, escape(text), "{path}");
            }
        }
    }
}
