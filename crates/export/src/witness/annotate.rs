//! Writes the invariants of a witness into the text of a program, as assertions.

use selvedge_frontend::Source;

use super::{Invariant, Place};

/// Returns the text with an assertion for each invariant, without new lines. An error says which cannot be added.
pub fn annotate(source: &Source, invariants: &[Invariant]) -> Result<String, String> {
    let text = source.text();
    let mut insertions: Vec<(usize, String)> = Vec::new();
    for invariant in invariants {
        let at = offset(source, invariant.place)?;
        let value = invariant.value.trim();
        if value.contains("*/") || value.contains("//") || value.contains("/*") || value.contains(['\n', ';']) {
            return Err(format!("`{value}` is not an expression that is supported as an invariant"));
        }
        let assertion = format!("/*@ assert ({value}); */");
        match invariant.is_of_loop {
            false => insertions.push((at, format!(" {assertion} "))),
            true => insertions.extend(in_loop(text, at, &assertion).ok_or_else(|| {
                format!("no loop with its condition or body in place begins at line {}", invariant.place.line)
            })?),
        }
    }
    insertions.sort_by_key(|(at, _)| std::cmp::Reverse(*at));
    let mut annotated = text.to_owned();
    insertions.into_iter().for_each(|(at, inserted)| annotated.insert_str(at, &inserted));
    Ok(annotated)
}

/// Returns the byte at a place; without a column, of the first word of the line.
fn offset(source: &Source, place: Place) -> Result<usize, String> {
    let missing = || format!("the program has no line {} with such a column", place.line);
    let range = source.lines(place.line..place.line.saturating_add(1));
    let line = source.text().get(range.clone()).filter(|line| !line.is_empty()).ok_or_else(missing)?;
    let first = line.char_indices().find(|(_, c)| !c.is_whitespace()).map(|(at, _)| at);
    let at = match place.column {
        Some(column) => line.char_indices().nth(column.saturating_sub(1)).map(|(at, _)| at),
        None => first,
    };
    at.map(|at| range.start + at).ok_or_else(missing)
}

/// Returns what is to be inserted so that an assertion is tried whenever the condition of a loop is: the condition
/// becomes one that begins with the assertion. The body of `do` begins with it.
fn in_loop(text: &str, at: usize, assertion: &str) -> Option<Vec<(usize, String)>> {
    let rest = &text[at..];
    let before = format!("({{ {assertion} 1; }}) && (");
    if let Some(behind) = rest.strip_prefix("do") {
        let body = at + rest.len() - behind.trim_start().len();
        return text[body..].starts_with('{').then(|| vec![(body + 1, format!(" {assertion} "))]);
    }
    let parts = parts(text, at)?;
    if rest.starts_with("while") {
        let (begin, end) = (*parts.first()?, *parts.last()?);
        return Some(vec![(begin + 1, before), (end, ")".to_owned())]);
    }
    let (true, [_, begin, end, _]) = (rest.starts_with("for"), parts.as_slice()) else { return None };
    Some(match text[begin + 1..*end].trim().is_empty() {
        true => vec![(begin + 1, format!(" ({{ {assertion} 1; }})"))],
        false => vec![(begin + 1, before), (*end, ")".to_owned())],
    })
}

/// Returns the bytes of the first parenthesis behind a byte, the semicolons directly in it, and its end. Texts and
/// comments in it are not supported.
fn parts(text: &str, from: usize) -> Option<Vec<usize>> {
    let (mut found, mut depth) = (Vec::new(), 0);
    for (at, byte) in text.bytes().enumerate().skip(from) {
        match byte {
            b'"' | b'\'' => return None,
            b'/' if matches!(text.as_bytes().get(at + 1), Some(b'/' | b'*')) => return None,
            b'(' => {
                found.extend((depth == 0).then_some(at));
                depth += 1;
            }
            b')' if depth == 1 => return Some([found, vec![at]].concat()),
            b')' => depth -= 1,
            b';' if depth == 1 => found.push(at),
            b';' | b'{' | b'}' if depth == 0 => return None,
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn annotated(text: &str, is_of_loop: bool) -> Option<String> {
        let place = Place { line: 1, column: Some(1) };
        let invariant = Invariant { place, is_of_loop, value: "x > 0".to_owned() };
        annotate(&Source::new("a.c", text), &[invariant]).ok()
    }

    #[test]
    fn assertions_come_before_statements_and_conditions() {
        let one = "/*@ assert (x > 0); */";
        assert_eq!(annotated("x++;", false), Some(format!(" {one} x++;")));
        assert_eq!(annotated("while (f(x)) {}", true), Some(format!("while (({{ {one} 1; }}) && (f(x))) {{}}")));
        assert_eq!(annotated("for (;;x++) {}", true), Some(format!("for (; ({{ {one} 1; }});x++) {{}}")));
        assert_eq!(
            annotated("for (i = 0; i < 3; i++);", true),
            Some(format!("for (i = 0;({{ {one} 1; }}) && ( i < 3); i++);"))
        );
        assert_eq!(annotated("do { } while (1);", true), Some(format!("do {{ {one}  }} while (1);")));
        for text in ["if (x) ;", "while x;", "for (x;y) ;", "while (c == '(') ;", ""] {
            assert_eq!(annotated(text, true), None, "{text}");
        }
    }
}
