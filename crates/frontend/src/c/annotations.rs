//! Annotations: comments that begin with `@`, of which `assert E;` is read.
//!
//! The tokens of such a comment are put in its place: [`Kind::Annotation`] for the word `assert`, the expression and
//! the semicolon. `==>` and `<==>` are tokens, `\true` and `\false` are numbers. Other annotations become one token,
//! which the preprocessor reports and drops.

use logos::Logos as _;

use super::lexer::Kind;

/// A token of an annotation: its kind, its range in the comment, and its text if that is another one.
pub(super) type Piece = (Kind, std::ops::Range<usize>, Option<&'static str>);

/// The text of the token for an annotation that is not read.
pub(super) const UNREAD: &str = "?";

/// Returns the tokens of a comment that is an annotation; `None` for other comments.
pub(super) fn tokens(comment: &str) -> Option<Vec<Piece>> {
    let inner = comment.strip_prefix("//@").or_else(|| comment.strip_prefix("/*@")?.strip_suffix("*/"))?;
    let unread = || vec![(Kind::Annotation, 0..comment.len(), Some(UNREAD))];
    Some(read(inner).unwrap_or_else(unread))
}

/// Returns the tokens of a list of assertions; `None` if there is something else.
fn read(inner: &str) -> Option<Vec<Piece>> {
    let mut pieces = merged(&raw(inner)?)?;
    let mut begins = true;
    for (kind, range, _) in &mut pieces {
        if begins {
            let is_assert = *kind == Kind::Name && inner.get(range.start - 3..range.end - 3) == Some("assert");
            *kind = is_assert.then_some(Kind::Annotation)?;
        }
        begins = *kind == Kind::Semicolon;
    }
    (begins && !pieces.is_empty()).then_some(pieces)
}

/// Returns the tokens without white space and without `@`, which begins lines of long annotations.
fn raw(inner: &str) -> Option<Vec<Piece>> {
    let mut found = Vec::new();
    let mut lexer = Kind::lexer(inner);
    while let Some(kind) = lexer.next() {
        let (kind, span) = (kind.unwrap_or(Kind::Stray), lexer.span());
        let range = span.start + 3..span.end + 3;
        match (kind, lexer.slice()) {
            (Kind::Space | Kind::Comment | Kind::Newline, _) | (Kind::Stray, "@") => {}
            (Kind::Stray, "\\") => found.push((Kind::Stray, range, None)),
            (Kind::Stray, _) => return None,
            (Kind::Name, "true") => found.push((Kind::Name, range, Some("1"))),
            (Kind::Name, "false") => found.push((Kind::Name, range, Some("0"))),
            _ => found.push((kind, range, None)),
        }
    }
    Some(found)
}

/// Puts together the tokens that are several in C: `==>`, `<==>`, `\true` and `\false`.
fn merged(raw: &[Piece]) -> Option<Vec<Piece>> {
    let mut pieces: Vec<Piece> = Vec::new();
    let mut rest = raw;
    while let [(kind, range, text), behind @ ..] = rest {
        let touch = |one: &Piece, other: &Piece| one.1.end == other.1.start;
        (rest, _) = match rest {
            [one @ (Kind::EqEq, ..), two @ (Kind::Gt, ..), behind @ ..] if touch(one, two) => {
                (behind, pieces.push((Kind::Implies, range.start..two.1.end, None)))
            }
            [one @ (Kind::Le, ..), two @ (Kind::Assign, ..), three @ (Kind::Gt, ..), behind @ ..]
                if touch(one, two) && touch(two, three) =>
            {
                (behind, pieces.push((Kind::Iff, range.start..three.1.end, None)))
            }
            [(Kind::Stray, ..), (Kind::Name, word, Some(number)), behind @ ..] => {
                (behind, pieces.push((Kind::Number, range.start..word.end, Some(*number))))
            }
            [(Kind::Stray, ..), ..] => return None,
            _ => (behind, pieces.push((*kind, range.clone(), text.filter(|_| *kind != Kind::Name)))),
        };
    }
    Some(pieces)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(comment: &str) -> Option<Vec<Kind>> {
        tokens(comment).map(|pieces| pieces.into_iter().map(|(kind, ..)| kind).collect())
    }

    #[test]
    fn assertions_are_read_and_others_are_one_token() {
        let read = [Kind::Annotation, Kind::Name, Kind::Implies, Kind::Number, Kind::Semicolon];
        assert_eq!(kinds("//@ assert x ==> \\true;").as_deref(), Some(&read[..]));
        assert_eq!(kinds("/*@ assert x ==> 1; */").as_deref(), Some(&read[..]));
        let twice = [Kind::Annotation, Kind::Name, Kind::Iff, Kind::Name, Kind::Semicolon];
        assert_eq!(kinds("/*@ assert a <==> b;\n  @ assert c <==> d; */"), Some([twice, twice].concat()));
        for other in
            ["//@ requires x > 0;", "/*@ loop invariant 1; */", "//@ assert \\forall int i; i;", "//@ assert x"]
        {
            assert_eq!(kinds(other).as_deref(), Some(&[Kind::Annotation][..]), "{other}");
        }
        assert_eq!(kinds("// @ assert x;"), None);
        assert_eq!(kinds("/* x */"), None);
    }
}
