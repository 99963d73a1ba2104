//! Semantic tokens: what each word of a text is, for editors to colour.

use std::collections::BTreeMap;

use selvedge_frontend::Language;
use selvedge_ir::span::Span;
use serde_json::{Value, json};

use super::completion::SPECIAL;
use super::language_of;
use super::lexemes::Sort;
use super::names::{Entity, Index, Kind};
use super::places::Places;

/// The kinds of tokens, by the protocol's names; a token has the number of its place here.
pub(super) const TYPES: &[&str] =
    &["keyword", "comment", "number", "operator", "variable", "parameter", "function", "class", "property", "label"];

/// The modifiers, by the protocol's names; each is a bit.
pub(super) const MODIFIERS: &[&str] = &["declaration", "modification", "static"];

const DECLARATION: u32 = 1;
const MODIFICATION: u32 = 2;
/// For variables that threads share.
const STATIC: u32 = 4;

/// Returns the tokens of a text, each by its distance from the one before.
pub(super) fn tokens(uri: &str, text: &str) -> Value {
    let language = language_of(uri);
    let index = Index::new(language, text);
    let mut named: BTreeMap<Span, (&'static str, u32)> = BTreeMap::new();
    for entity in &index.entities {
        named.entry(entity.declared).or_insert((type_of(entity.kind), DECLARATION | shared(entity)));
        for found in &entity.uses {
            let written = if found.is_write { MODIFICATION } else { 0 };
            named.entry(found.span).or_insert((type_of(entity.kind), written | shared(entity)));
        }
    }
    // A word of which only parts have a meaning, as `p.x`, is left out for them.
    let mut all = named.clone();
    for word in &index.lexemes.words {
        let is_special = language == Language::Bp && SPECIAL.contains(&word.span.of(text));
        let kind = match word.sort {
            Sort::Keyword => "keyword",
            Sort::Number => "number",
            Sort::Sign => "operator",
            Sort::Name if is_special => "keyword",
            Sort::Name => continue,
        };
        all.entry(word.span).or_insert((kind, 0));
    }
    for comment in &index.lexemes.comments {
        all.extend(lines_of(text, *comment).map(|line| (line, ("comment", 0))));
    }
    json!({ "data": encoded(text, &all) })
}

fn type_of(kind: Kind) -> &'static str {
    match kind {
        Kind::Shared | Kind::PerThread | Kind::Local | Kind::Variable => "variable",
        Kind::Parameter => "parameter",
        Kind::Procedure | Kind::Command => "function",
        Kind::Process => "class",
        Kind::Safe => "property",
        Kind::Label | Kind::Location => "label",
    }
}

fn shared(entity: &Entity) -> u32 {
    if entity.kind == Kind::Shared { STATIC } else { 0 }
}

/// Returns the parts of a span on each of its lines: a token has only one line.
fn lines_of(text: &str, span: Span) -> impl Iterator<Item = Span> {
    let mut start = span.start as usize;
    span.of(text).split_inclusive('\n').filter_map(move |line| {
        let shown = line.trim_end();
        let part = Span::new(start, start + shown.len());
        start += line.len();
        (!shown.is_empty()).then_some(part)
    })
}

/// Returns five numbers for each token: lines and characters from the one before, length, type and modifiers.
fn encoded(text: &str, tokens: &BTreeMap<Span, (&'static str, u32)>) -> Vec<u64> {
    let places = Places::new(text);
    let mut data = Vec::with_capacity(tokens.len() * 5);
    let (mut line, mut character, mut end) = (0, 0, 0);
    for (span, (kind, modifiers)) in tokens.iter().filter(|(span, _)| span.start < span.end) {
        if span.start < end {
            continue;
        }
        let at = places.position(span.start as usize);
        let (new_line, new_character) = (at["line"].as_u64().unwrap_or(0), at["character"].as_u64().unwrap_or(0));
        let from = if new_line == line { character } else { 0 };
        let number = TYPES.iter().position(|known| known == kind).unwrap_or(0) as u64;
        let length = span.of(text).encode_utf16().count() as u64;
        data.extend([new_line - line, new_character - from, length, number, u64::from(*modifiers)]);
        (line, character, end) = (new_line, new_character, span.end);
    }
    data
}
