//! Texts in languages other than the one that they are read in.

use selvedge_ir::span::Span;

/// A sign of a language: how a line begins, the name of the language, and what to do.
type Sign = (&'static str, &'static str, &'static str);

const C: &str = "use the extension .c, or `--input-format c`";
const COMMANDS: &str = "use the extension .gcl, or `--input-format gcl`";
const EVIDENCE: &str = "name the program here; `replay` and `verify` take the evidence first, then the program";
/// How headings begin in Markdown.
const HEADING: &str = "# ";
const NONE: &str = "Selvedge cannot read it; docs/language.md describes Boolean programs";

/// The signs, those that exclude most first.
const SIGNS: &[Sign] = &[
    ("\"format\": \"selvedge-", "a trace, certificate or report of Selvedge", EVIDENCE),
    ("#include", "C", C),
    ("#define", "C", C),
    ("int main", "C", C),
    ("static ", "C", C),
    ("typedef ", "C", C),
    ("int ", "C", C),
    ("process ", "guarded commands", COMMANDS),
    ("var ", "guarded commands", COMMANDS),
    ("proctype ", "Promela", NONE),
    ("active proctype", "Promela", NONE),
    ("mtype", "Promela", NONE),
    ("---- MODULE", "TLA+", NONE),
    ("MODULE ", "SMV", NONE),
    ("fn main", "Rust", NONE),
    ("use std::", "Rust", NONE),
    ("package ", "Go or Java", NONE),
    ("public class", "Java", NONE),
    ("def ", "Python", NONE),
    ("import ", "Python or Java", NONE),
    ("(set-logic", "SMT-LIB", NONE),
    ("(declare-", "SMT-LIB", NONE),
    ("#!", "a script", NONE),
    ("<!", "HTML or XML", NONE),
    ("<?xml", "XML", NONE),
    (HEADING, "a text in Markdown, or a script", NONE),
];

/// Returns the name of the language of a text, what to do, and the place of the first sign of it. Boolean programs have
/// `begin` or `decl`, so a text with one of these words at the beginning of a line is in no other language.
pub(crate) fn recognise(text: &str) -> Option<(&'static str, &'static str, Span)> {
    if let Some(zero) = text.find('\0') {
        return Some(("a binary file", NONE, Span::new(zero, zero + 1)));
    }
    let is_ours = |line: &str| ["decl ", "begin", "shared decl"].iter().any(|word| line.starts_with(word));
    if text.lines().any(|line| is_ours(line.trim_start()) || line.trim_end().ends_with(" begin")) {
        return None;
    }
    // Comments of Boolean programs may begin with `#` as well.
    let has_procedures = text.lines().any(|line| ["void ", "bool "].iter().any(|word| line.starts_with(word)));
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let indent = line.len() - line.trim_start().len();
        let content = line.trim();
        let is_sign = |sign: &str| content.starts_with(sign) && !(sign == HEADING && has_procedures);
        if let Some((sign, name, advice)) = SIGNS.iter().copied().find(|(sign, ..)| is_sign(sign)) {
            let at = start + indent;
            return Some((name, advice, Span::new(at, at + sign.trim_end().len())));
        }
        start += line.len();
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn languages_are_recognised_by_their_first_sign() {
        let name = |text: &str| recognise(text).map(|(name, ..)| name);
        assert_eq!(name("// a lock\n#include <pthread.h>\n"), Some("C"));
        assert_eq!(name("active proctype p() { skip }"), Some("Promela"));
        assert_eq!(name("var x;\nsafe x >= 0;\n"), Some("guarded commands"));
        assert_eq!(name("decl x;\nint main() begin\n"), None);
        assert_eq!(name("process p begin\n"), None);
        assert_eq!(name("nothing of that"), None);
        assert_eq!(name("\u{7f}ELF\0\0 decl x;"), Some("a binary file"));
        assert_eq!(name("# Title\n\nText.\n"), Some("a text in Markdown, or a script"));
        assert_eq!(name("# a lock\nvoid main() {\n}\n"), None);
        let trace = "{\n  \"format\": \"selvedge-trace\",\n}\n";
        assert_eq!(name(trace), Some("a trace, certificate or report of Selvedge"));
    }

    #[test]
    fn the_place_is_that_of_the_sign() {
        let text = "x\n  int main(void) {}";
        let (_, _, span) = recognise(text).expect("it is C");
        assert_eq!(span.of(text), "int main");
    }
}
