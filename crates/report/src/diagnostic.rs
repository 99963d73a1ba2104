//! Diagnostics as text: where, an excerpt of the source, remarks, help.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;

use annotate_snippets::renderer::DecorStyle;
use annotate_snippets::{AnnotationKind, Group, Level, Origin, Renderer, Snippet};
use selvedge_frontend::diagnostic::{Annotation, Code, Diagnostic, Severity};
use selvedge_ir::span::Span;

use crate::names::count;
use crate::palette::Palette;
use crate::source::{Position, Source};

/// The number of warnings of one kind that are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shown {
    All,
    /// This many per code; a line says how many more there are.
    PerCode(usize),
}

/// The number of errors that are shown.
const MAX_ERRORS: usize = 20;

/// Places further apart than this many lines are shown in separate excerpts.
const NEAR: usize = 50;

/// Excerpts of more bytes are left out: the work of the renderer grows with them, and so would that for a line with
/// many diagnostics with its square.
const LONGEST_EXCERPT: usize = 8_192;

/// All diagnostics, and a line that counts them. Empty if there are none.
pub fn render(source: &Source, diagnostics: &[Diagnostic], shown: Shown, palette: &Palette) -> String {
    if diagnostics.is_empty() {
        return String::new();
    }
    let renderer = if palette.is_coloured() { Renderer::styled() } else { Renderer::plain() };
    let renderer = renderer.decor_style(DecorStyle::Ascii);
    let mut hidden: BTreeMap<Code, usize> = BTreeMap::new();
    let mut seen: BTreeMap<Code, usize> = BTreeMap::new();
    let mut text = String::new();
    let (mut errors, mut first_code) = (0, None);
    for diagnostic in diagnostics {
        if diagnostic.is_error() {
            errors += 1;
            first_code = first_code.or(Some(diagnostic.code));
            if errors > MAX_ERRORS {
                continue;
            }
        }
        let seen = seen.entry(diagnostic.code).or_default();
        *seen += 1;
        match shown {
            Shown::PerCode(limit) if !diagnostic.is_error() && *seen > limit => {
                *hidden.entry(diagnostic.code).or_default() += 1;
            }
            Shown::All | Shown::PerCode(_) => {
                let (file, start) = source.part(diagnostic.primary.span.start as usize);
                text.push_str(&one(&renderer, file, &moved(diagnostic, start)));
                text.push_str("\n\n");
            }
        }
    }
    if errors > MAX_ERRORS {
        text.push_str(&format!("{} not shown\n", count(errors - MAX_ERRORS, "more error")));
    }
    for (code, more) in hidden {
        let warnings = count(more, "more warning");
        text.push_str(&format!("{warnings} {} not shown (--all-warnings shows them)\n", code.as_str()));
    }
    text.push_str(&format!("{}: {}\n", source.name, tally(diagnostics)));
    if let Some(code) = first_code {
        text.push_str(&format!("`selvedge explain {}` shows an example and how to correct it\n", code.as_str()));
    }
    text
}

/// `3 errors, 2 warnings`.
pub fn tally(diagnostics: &[Diagnostic]) -> String {
    let kinds = [(Severity::Error, "error"), (Severity::Warning, "warning"), (Severity::Note, "note")];
    let of = |severity: Severity| diagnostics.iter().filter(|diagnostic| diagnostic.severity == severity).count();
    let counted = kinds.map(|(severity, noun)| (of(severity), noun));
    let parts = counted.iter().filter(|(number, _)| *number > 0).map(|(number, noun)| count(*number, noun));
    parts.collect::<Vec<_>>().join(", ")
}

/// Returns a diagnostic with its places counted from an offset; places before it are left out.
fn moved(diagnostic: &Diagnostic, start: usize) -> Cow<'_, Diagnostic> {
    if start == 0 {
        return Cow::Borrowed(diagnostic);
    }
    let start = u32::try_from(start).unwrap_or(u32::MAX);
    let mut moved = diagnostic.clone();
    moved.secondary.retain(|annotation| annotation.span.start >= start);
    for annotation in moved.secondary.iter_mut().chain([&mut moved.primary]) {
        annotation.span.start -= start;
        annotation.span.end -= start;
    }
    Cow::Owned(moved)
}

fn one(renderer: &Renderer, source: &Source, diagnostic: &Diagnostic) -> String {
    let level = match diagnostic.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
        Severity::Note => Level::NOTE,
    };
    let title = level.primary_title(diagnostic.message.as_str()).id(diagnostic.code.as_str());
    let primary_line = source.line(diagnostic.primary.span.start as usize);
    let is_near = |annotation: &&Annotation| line_of(source, annotation).abs_diff(primary_line) <= NEAR;
    let (near, far): (Vec<&Annotation>, Vec<&Annotation>) = diagnostic.secondary.iter().partition(is_near);
    let mut group = with_excerpt(Group::with_title(title), source, Some(&diagnostic.primary), &near);
    for annotation in far {
        group = with_excerpt(group, source, None, &[annotation]);
    }
    if let Some(help) = &diagnostic.help {
        group = group.element(Level::HELP.message(help.as_str()));
    }
    renderer.render(&[group])
}

fn line_of(source: &Source, annotation: &Annotation) -> usize {
    source.line(annotation.span.start as usize)
}

/// Adds the lines of some places. Only they are handed to the renderer, whose work grows with the text. Where they are
/// long, only the places and what is said about them are added.
fn with_excerpt<'s>(
    group: Group<'s>,
    source: &'s Source,
    primary: Option<&'s Annotation>,
    others: &[&'s Annotation],
) -> Group<'s> {
    let all = || primary.into_iter().chain(others.iter().copied());
    let first = all().map(|annotation| line_of(source, annotation)).min().unwrap_or(1);
    let last = all().map(|annotation| source.line(annotation.span.end as usize).min(first + 2 * NEAR)).max();
    let range = source.lines(first..last.unwrap_or(first) + 1);
    if range.len() <= LONGEST_EXCERPT {
        return group.element(excerpt(source, primary, others, (first, range)));
    }
    all().fold(group, |group, annotation| {
        let Position { line, column } = source.position(annotation.span.start as usize);
        let group = group.element(Origin::path(source.name.as_str()).line(line).char_column(column));
        match annotation.label.as_str() {
            "" => group,
            label => group.element(Level::NOTE.message(label)),
        }
    })
}

/// The lines from a first one on, with marks at some places.
fn excerpt<'s>(
    source: &'s Source,
    primary: Option<&'s Annotation>,
    others: &[&'s Annotation],
    (first, range): (usize, Range<usize>),
) -> Snippet<'s, annotate_snippets::Annotation<'s>> {
    let annotate = |kind: AnnotationKind, annotation: &'s Annotation| {
        let place = kind.span(within(annotation.span, &range, source.text()));
        if annotation.label.is_empty() { place } else { place.label(annotation.label.as_str()) }
    };
    Snippet::source(&source.text()[range.clone()])
        .line_start(first)
        .path(source.name.as_str())
        .annotations(primary.map(|annotation| annotate(AnnotationKind::Primary, annotation)))
        .annotations(others.iter().map(|annotation| annotate(AnnotationKind::Context, annotation)))
}

/// A span relative to an excerpt, cut to it, on character boundaries.
fn within(span: Span, range: &Range<usize>, text: &str) -> Range<usize> {
    let place = |offset: u32| {
        let mut offset = (offset as usize).clamp(range.start, range.end);
        while !text.is_char_boundary(offset) {
            offset -= 1;
        }
        offset - range.start
    };
    place(span.start)..place(span.end).max(place(span.start))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unused(start: usize) -> Diagnostic {
        Diagnostic::new(Code::UnusedVariable, "`x` is never read", Span::new(start, start + 1)).label("here")
    }

    #[test]
    fn a_diagnostic_shows_code_place_excerpt_and_help() {
        let source = Source::new("p.bp", "decl x;\nvoid main() begin y := 1; end\n");
        let unknown = Diagnostic::new(Code::UnknownVariable, "there is no variable `y`", Span::new(26, 27))
            .label("not declared")
            .also(Span::new(5, 6), "a similar name")
            .help("did you mean `x`?");
        let text = render(&source, &[unknown], Shown::All, &Palette::plain());
        let expected = "\
error[SV0012]: there is no variable `y`
 --> p.bp:2:19
  |
1 | decl x;
  |      - a similar name
2 | void main() begin y := 1; end
  |                   ^ not declared
  |
  = help: did you mean `x`?

p.bp: 1 error
`selvedge explain SV0012` shows an example and how to correct it
";
        assert_eq!(text, expected);
    }

    #[test]
    fn warnings_beyond_the_cap_are_counted_not_shown() {
        let source = Source::new("p.bp", "decl x;\n".repeat(9));
        let warnings: Vec<Diagnostic> = (0..9).map(|n| unused(8 * n + 5)).collect();
        let text = render(&source, &warnings, Shown::PerCode(3), &Palette::plain());
        assert_eq!(text.matches("warning[SV0101]").count(), 3);
        assert!(text.contains("6 more warnings SV0101 not shown"));
        assert!(text.ends_with("p.bp: 9 warnings\n"));
    }

    #[test]
    fn places_outside_the_text_or_inside_a_character_do_not_panic() {
        let source = Source::new("p.bp", "ä");
        for (start, end) in [(0, 1), (1, 2), (1, 1), (2, 2), (7, 9)] {
            let text = render(
                &source,
                &[Diagnostic::new(Code::StrayCharacter, "stray", Span::new(start, end))],
                Shown::All,
                &Palette::plain(),
            );
            assert!(text.contains("error[SV0001]: stray"), "{text}");
        }
    }

    #[test]
    fn long_lines_are_not_shown_but_named() {
        let text = format!("{}decl x;\n", " ".repeat(2 * LONGEST_EXCERPT));
        let place = 2 * LONGEST_EXCERPT + 5;
        let text = render(&Source::new("p.bp", text), &[unused(place)], Shown::All, &Palette::plain());
        assert!(text.contains(&format!("--> p.bp:1:{}", place + 1)), "{text}");
        assert!(text.contains("note: here") && text.len() < 300, "{text}");
    }

    #[test]
    fn far_places_get_their_own_excerpt() {
        let source = Source::new("p.bp", "decl x;\n".repeat(1000));
        let diagnostic = unused(5).also(Span::new(8 * 900 + 5, 8 * 900 + 6), "far away");
        let text = render(&source, &[diagnostic], Shown::All, &Palette::plain());
        assert!(text.contains("901 | decl x;"), "{text}");
        assert!(text.lines().count() < 20, "{text}");
    }
}
