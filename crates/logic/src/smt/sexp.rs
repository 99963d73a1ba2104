//! The output format of solvers: words and lists.

use std::fmt;

/// A word or a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sexp {
    /// A word. A quoted symbol is without its bars, a string with its quotation marks.
    Atom(String),
    /// A list.
    List(Vec<Sexp>),
}

impl Sexp {
    /// Reads all words and lists of a text.
    pub fn parse_all(text: &str) -> Option<Vec<Sexp>> {
        let mut reader = SexpReader::default();
        let mut all = Vec::new();
        for c in text.chars().chain(['\n']) {
            all.extend(reader.push(c)?);
        }
        reader.is_between().then_some(all)
    }

    /// Returns the word, if it is one.
    pub fn atom(&self) -> Option<&str> {
        if let Sexp::Atom(word) = self { Some(word) } else { None }
    }

    /// Returns the parts, if it is a list.
    pub fn list(&self) -> Option<&[Sexp]> {
        if let Sexp::List(parts) = self { Some(parts) } else { None }
    }

    /// Returns the message of a list `(error "..")`.
    pub fn error(&self) -> Option<String> {
        match self.list()? {
            [Sexp::Atom(word), rest @ ..] if word == "error" => {
                Some(rest.iter().map(Sexp::to_string).collect::<Vec<_>>().join(" ").trim_matches('"').to_string())
            }
            _ => None,
        }
    }
}

impl fmt::Display for Sexp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Sexp::Atom(word) if word.is_empty() || word.contains([' ', '(', ')']) && !word.starts_with('"') => {
                write!(f, "|{word}|")
            }
            Sexp::Atom(word) => f.write_str(word),
            Sexp::List(parts) => {
                f.write_str("(")?;
                for (number, part) in parts.iter().enumerate() {
                    write!(f, "{}{part}", if number == 0 { "" } else { " " })?;
                }
                f.write_str(")")
            }
        }
    }
}

/// Reads words and lists character by character.
#[derive(Default)]
pub(super) struct SexpReader {
    /// The lists that are open, the innermost last.
    open: Vec<Vec<Sexp>>,
    word: Option<String>,
    mode: Mode,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Mode {
    #[default]
    Plain,
    /// Between bars.
    Quoted,
    /// Between quotation marks.
    Text,
    /// After a quotation mark in a text: a second one escapes it.
    TextEnd,
    Comment,
}

impl SexpReader {
    /// Takes a character, and returns the words and lists that are complete now. `None` if a list ends that never
    /// began.
    pub(super) fn push(&mut self, c: char) -> Option<Vec<Sexp>> {
        let mut done = Vec::new();
        match self.mode {
            Mode::Quoted if c == '|' => self.mode = Mode::Plain,
            Mode::Quoted => self.word.get_or_insert_default().push(c),
            Mode::Text => {
                self.word.get_or_insert_default().push(c);
                if c == '"' {
                    self.mode = Mode::TextEnd;
                }
            }
            Mode::TextEnd if c == '"' => self.mode = Mode::Text,
            Mode::TextEnd => {
                self.mode = Mode::Plain;
                return self.push(c);
            }
            Mode::Comment => {
                if c == '\n' {
                    self.mode = Mode::Plain;
                }
            }
            Mode::Plain => self.plain(c, &mut done)?,
        }
        Some(done)
    }

    fn plain(&mut self, c: char, done: &mut Vec<Sexp>) -> Option<()> {
        match c {
            '|' => {
                self.word.get_or_insert_default();
                self.mode = Mode::Quoted;
            }
            '"' => {
                self.word.get_or_insert_default().push(c);
                self.mode = Mode::Text;
            }
            ';' => {
                self.end_word(done);
                self.mode = Mode::Comment;
            }
            '(' => {
                self.end_word(done);
                self.open.push(Vec::new());
            }
            ')' => {
                self.end_word(done);
                let list = Sexp::List(self.open.pop()?);
                self.complete(list, done);
            }
            c if c.is_whitespace() => self.end_word(done),
            c => self.word.get_or_insert_default().push(c),
        }
        Some(())
    }

    fn end_word(&mut self, done: &mut Vec<Sexp>) {
        if let Some(word) = self.word.take() {
            self.complete(Sexp::Atom(word), done);
        }
    }

    fn complete(&mut self, sexp: Sexp, done: &mut Vec<Sexp>) {
        match self.open.last_mut() {
            Some(list) => list.push(sexp),
            None => done.push(sexp),
        }
    }

    /// Returns whether no word or list is incomplete.
    fn is_between(&self) -> bool {
        self.open.is_empty() && self.word.is_none() && self.mode == Mode::Plain
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_lists_come_back_as_written() {
        let text = "sat (a (b c) |x y| \"two \"\"words\"\"\") ; nothing\n()";
        let all = Sexp::parse_all(text).expect("it is balanced");
        assert_eq!(all.len(), 3);
        let inner = all[1].list().expect("a list");
        assert_eq!((inner.len(), inner[2].atom()), (4, Some("x y")));
        assert_eq!(all[1].to_string(), "(a (b c) |x y| \"two \"words\"\")");
        assert_eq!(all[2], Sexp::List(Vec::new()));
    }

    #[test]
    fn unbalanced_text_is_not_read() {
        assert_eq!(Sexp::parse_all("(a"), None);
        assert_eq!(Sexp::parse_all("a)"), None);
        assert_eq!(Sexp::parse_all("|a"), None);
    }

    #[test]
    fn an_error_is_recognised() {
        let all = Sexp::parse_all("(error \"line 1: unknown constant foo (Int)\")").expect("it is balanced");
        assert_eq!(all[0].error().as_deref(), Some("line 1: unknown constant foo (Int)"));
        assert_eq!(Sexp::Atom("error".to_string()).error(), None);
    }
}
