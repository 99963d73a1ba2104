//! The harness for the reader and the formatter: no bytes cause a panic, and accepted texts keep their meaning.

use selvedge_frontend::Loaded;
use selvedge_frontend::bp::{self, LoadOptions, Parsed, dump::dump};
use selvedge_frontend::diagnostic::Diagnostic;
use selvedge_frontend::gcl;
use selvedge_ir::span::Span;
use selvedge_ir::validate::validate;

use crate::corpus;
use crate::differ::item;
use crate::harness::{COMPARISONS, Campaign, Fault, Tally, fault};
use crate::integers::{families, generate};
use crate::mutate::mutate;
use crate::rng::Rng;

/// The result of reading a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reading {
    /// It has syntax errors.
    Broken,
    /// It has a tree, but no meaning.
    Parsed,
    /// It has a meaning.
    Lowered,
}

/// The comparison of mutated texts before and after formatting.
pub struct Texts {
    /// The texts that mutants are made of.
    pub sources: Vec<String>,
}

impl Campaign for Texts {
    type Subject = Vec<u8>;

    fn subject(&self, seed: u64, number: u64) -> Vec<u8> {
        mutate(&mut Rng::for_item(seed, number), &self.sources)
    }

    fn compare(&self, text: &Vec<u8>, _: u64, tally: &mut Tally) -> Result<(), Fault> {
        let reading = read(text)?;
        tally.count(COMPARISONS);
        tally.count(match reading {
            Reading::Broken => "broken",
            Reading::Parsed => "parsed",
            Reading::Lowered => "lowered",
        });
        Ok(())
    }

    fn shrink(&self, text: Vec<u8>, fails: &mut dyn FnMut(&Vec<u8>) -> bool) -> Vec<u8> {
        shrink_text(&text, 20_000, |text| fails(&text.to_vec()))
    }

    fn show(&self, text: &Vec<u8>) -> String {
        format!("{}\n\n{text:?}", String::from_utf8_lossy(text))
    }
}

/// Reads and formats a text, as a Boolean program and as guarded commands.
pub fn read(bytes: &[u8]) -> Result<Reading, Fault> {
    let text = String::from_utf8_lossy(bytes);
    read_commands(&text)?;
    read_program(&text, &LoadOptions::default())
}

/// Reads and formats a Boolean program.
pub(crate) fn read_program(text: &str, options: &LoadOptions) -> Result<Reading, Fault> {
    let loaded = bp::load(text, options);
    check_loaded(text, &loaded)?;
    check_same(&loaded, &bp::load(text, options))?;
    match bp::format(text) {
        Err(diagnostics) if diagnostics.iter().any(Diagnostic::is_error) && loaded.program.is_none() => {
            Ok(Reading::Broken)
        }
        Err(_) => fault("format", "a text without syntax errors is not formatted"),
        Ok(formatted) => {
            check_formatted(text, &loaded, &formatted, options)?;
            Ok(if loaded.program.is_some() { Reading::Lowered } else { Reading::Parsed })
        }
    }
}

/// Reads and formats guarded commands.
pub(crate) fn read_commands(text: &str) -> Result<(), Fault> {
    let loaded = gcl::load(text);
    check_loaded(text, &loaded)?;
    check_same(&loaded, &gcl::load(text))?;
    let Ok(formatted) = gcl::format(text) else { return Ok(()) };
    check_meaning(&loaded, &gcl::load(&formatted), &formatted)?;
    check_twice(&formatted, &gcl::format(&formatted))
}

/// Checks that a program has a meaning if and only if it has no errors, that the meaning is a valid program, and that
/// every place of a diagnostic and of a part of the program can be shown.
pub(crate) fn check_loaded(text: &str, loaded: &Loaded) -> Result<(), Fault> {
    check_spans(text, &loaded.diagnostics)?;
    if loaded.has_errors() == loaded.program.is_some() {
        return fault("errors", "a program with errors has a meaning, or one without has none");
    }
    let Some(program) = &loaded.program else { return Ok(()) };
    if let Err(broken) = validate(program) {
        return fault("valid", broken.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "));
    }
    let map = &loaded.source_map;
    let lengths = (map.edges.len(), map.vars.len(), map.procs.len());
    if lengths != (program.edges.len(), program.vars.len(), program.procs.len()) {
        return fault("map", format!("the map has {lengths:?} edges, variables and procedures"));
    }
    let statements = map.edges.iter().map(|origin| origin.span);
    match statements.chain(map.vars.iter().copied()).chain(map.procs.iter().copied()).find(|at| !is_place(text, *at)) {
        Some(span) => fault("map", format!("{span:?} is no place of the text")),
        None => Ok(()),
    }
}

/// Checks that reading a text again gave the same.
pub(crate) fn check_same(first: &Loaded, second: &Loaded) -> Result<(), Fault> {
    let is_same = first.program == second.program
        && first.system == second.system
        && first.source_map == second.source_map
        && first.diagnostics == second.diagnostics;
    if is_same { Ok(()) } else { fault("twice", "the same text is read in two ways") }
}

fn is_place(text: &str, span: Span) -> bool {
    text.get(span.start as usize..span.end as usize).is_some()
}

/// Checks that every place of a diagnostic can be shown.
pub(crate) fn check_spans(text: &str, diagnostics: &[Diagnostic]) -> Result<(), Fault> {
    for diagnostic in diagnostics {
        let mut places = std::iter::once(&diagnostic.primary).chain(&diagnostic.secondary);
        if let Some(place) = places.find(|place| !is_place(text, place.span)) {
            return fault("span", format!("{:?} of `{}`", place.span, diagnostic.message));
        }
    }
    Ok(())
}

/// Checks that formatting keeps the tree, the comments and the meaning, and changes nothing the second time.
fn check_formatted(text: &str, loaded: &Loaded, formatted: &str, options: &LoadOptions) -> Result<(), Fault> {
    let (before, after) = (bp::parse(text), bp::parse(formatted));
    if dump(&after.file) != dump(&before.file) {
        return fault("format (tree)", format!("formatting changes the tree:\n{formatted}"));
    }
    let comments = |text: &str, parsed: &Parsed| -> Vec<String> {
        // The language takes a byte order mark for white space.
        let words =
            |span: Span| span.of(text).replace('\u{feff}', " ").split_whitespace().collect::<Vec<_>>().join(" ");
        parsed.comments.iter().map(|comment| words(comment.span)).collect()
    };
    if comments(text, &before) != comments(formatted, &after) {
        return fault("format (comments)", format!("formatting changes comments:\n{formatted}"));
    }
    check_meaning(loaded, &bp::load(formatted, options), formatted)?;
    check_twice(formatted, &bp::format(formatted))
}

fn check_meaning(before: &Loaded, after: &Loaded, formatted: &str) -> Result<(), Fault> {
    if before.program == after.program {
        return Ok(());
    }
    fault("format (meaning)", format!("formatting changes the meaning:\n{formatted}"))
}

fn check_twice(formatted: &str, twice: &Result<String, Vec<Diagnostic>>) -> Result<(), Fault> {
    match twice {
        Ok(twice) if twice == formatted => Ok(()),
        Ok(twice) => fault("format (twice)", format!("first\n{formatted}\nthen\n{twice}")),
        Err(_) => fault("format (twice)", "the formatted text is not formatted again"),
    }
}

/// Returns the texts that mutants are made of: our own programs, generated ones, and those of others, if installed.
pub fn sources() -> Result<Vec<String>, String> {
    let mut sources: Vec<String> = corpus::own()?.into_iter().map(|entry| entry.text).collect();
    sources.extend((0..100).map(|number| item(1, number).to_string()));
    sources.extend((0..50).map(|number| generate::program(1, number)));
    sources.extend(families::rows().into_iter().map(|row| row.text));
    sources.extend(corpus::all_foreign()?.into_iter().map(|entry| entry.text));
    Ok(sources)
}

/// Removes pieces of a text, large ones first, while it still fails. Terminates since texts get shorter or pieces
/// smaller.
pub fn shrink_text(text: &[u8], max_calls: usize, mut still_fails: impl FnMut(&[u8]) -> bool) -> Vec<u8> {
    let mut best = text.to_vec();
    let mut calls = 0;
    let mut length = best.len();
    while length > 0 {
        let before = best.len();
        let mut at = 0;
        while at < best.len() && calls < max_calls {
            let mut shorter = best.clone();
            shorter.drain(at..(at + length).min(best.len()));
            calls += 1;
            if still_fails(&shorter) { best = shorter } else { at += length }
        }
        if best.len() == before || calls >= max_calls {
            length /= 2;
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_shrink_to_what_matters() {
        let text = "some text with an x and a y, and more".repeat(50);
        let has = |text: &[u8]| text.contains(&b'x') && text.contains(&b'y');
        let small = shrink_text(text.as_bytes(), 10_000, has);
        assert_eq!(small.len(), 2, "{}", String::from_utf8_lossy(&small));
    }

    #[test]
    fn readings_are_told_apart() {
        assert_eq!(read(b"void main() begin skip; end"), Ok(Reading::Lowered));
        assert_eq!(read(b"void main() begin x := T; end"), Ok(Reading::Parsed));
        assert_eq!(read(b"void main() begin x := ; end"), Ok(Reading::Broken));
        assert_eq!(read(&[0xff, 0, b'x']), Ok(Reading::Broken));
    }
}
