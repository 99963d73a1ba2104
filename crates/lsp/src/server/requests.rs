//! Requests about the name at a place, and about the whole text.

use selvedge_frontend::Language;
use selvedge_ir::span::Span;
use serde_json::{Value, json};

use super::files::File;
use super::names::{Entity, Index, Kind};
use super::places::Places;
use super::{language_of, outline};

/// Returns the declaration of the name at a position, with the name there and all of the text.
fn entity_at(uri: &str, text: &str, params: &Value) -> Option<(Entity, Span, Index)> {
    let offset = Places::new(text).offset(&params["position"]);
    let index = Index::new(language_of(uri), text);
    let (entity, name) = index.at(u32::try_from(offset).ok()?)?;
    let (entity, name) = (entity.clone(), name);
    Some((entity, name, index))
}

/// Returns which variable it is, and what the comment beside its declaration says: abstractions write the predicate
/// there.
pub(super) fn hover(uri: &str, text: &str, params: &Value) -> Value {
    let Some((entity, name, index)) = entity_at(uri, text, params) else { return Value::Null };
    let line = |offset: u32| text[..offset as usize].matches('\n').count();
    let declared = line(entity.declared.start);
    let beside = index.lexemes.comments.iter().filter(|comment| {
        let at = line(comment.start);
        let ends = line(comment.end.max(comment.start + 1) - 1);
        at == declared && comment.start > entity.declared.end || ends + 1 == declared && is_own_line(text, **comment)
    });
    let mut value = format!("`{}`: {}", entity.name, entity.kind.words());
    if let Some(language) = shown_whole(entity.kind) {
        let header = entity.whole.of(text).lines().next().unwrap_or("").trim();
        value.push_str(&format!("\n\n```{language}\n{header}\n```"));
    }
    for comment in beside {
        let comment = comment.of(text).trim().trim_start_matches(['/', '*', '#', ' ']);
        value.push_str(&format!("\n\n{}", comment.trim_end_matches(['*', '/', ' '])));
    }
    value.push_str(&match entity.uses.len() {
        1 => "\n\n1 use".to_string(),
        count => format!("\n\n{count} uses"),
    });
    json!({ "contents": { "kind": "markdown", "value": value }, "range": Places::new(text).range(name) })
}

/// Returns the language of a declaration whose first line is shown.
fn shown_whole(kind: Kind) -> Option<&'static str> {
    match kind {
        Kind::Procedure => Some("bp"),
        Kind::Variable | Kind::Command | Kind::Safe => Some("gcl"),
        _ => None,
    }
}

fn is_own_line(text: &str, span: Span) -> bool {
    let before = &text[..span.start as usize];
    before.rsplit('\n').next().is_some_and(|line| line.trim().is_empty())
}

/// Returns where the name is declared.
pub(super) fn definition(uri: &str, text: &str, params: &Value) -> Value {
    let Some((entity, ..)) = entity_at(uri, text, params) else { return Value::Null };
    json!({ "uri": uri, "range": Places::new(text).range(entity.declared) })
}

/// Returns where the name is used.
pub(super) fn references(uri: &str, text: &str, params: &Value) -> Value {
    let Some((entity, ..)) = entity_at(uri, text, params) else { return json!([]) };
    let places = Places::new(text);
    let skipped = usize::from(params["context"]["includeDeclaration"] != true);
    let spans = entity.places().skip(skipped);
    json!(spans.map(|span| json!({ "uri": uri, "range": places.range(span) })).collect::<Vec<_>>())
}

/// The protocol's kinds of highlights.
const READ: u32 = 2;
const WRITE: u32 = 3;

/// Returns the places of the name under the cursor: its declaration and those where it gets a value, and the others.
pub(super) fn highlights(uri: &str, text: &str, params: &Value) -> Value {
    let Some((entity, ..)) = entity_at(uri, text, params) else { return json!([]) };
    let places = Places::new(text);
    let shown = |span: Span, is_write: bool| {
        let kind = if is_write { WRITE } else { READ };
        json!({ "range": places.range(span), "kind": kind })
    };
    let uses = entity.uses.iter().map(|found| shown(found.span, found.is_write));
    json!(std::iter::once(shown(entity.declared, true)).chain(uses).collect::<Vec<_>>())
}

/// Returns the outline.
pub(super) fn symbols(uri: &str, text: &str) -> Value {
    match language_of(uri) {
        Language::Bp => outline::boolean(text),
        Language::Gcl => outline::guarded(text),
        Language::C | Language::Pds | Language::Tts | Language::Spec => json!([]),
    }
}

/// Returns the formatted text, as one edit. Texts that cannot be read are left alone.
pub(super) fn formatting(uri: &str, text: &str) -> Value {
    let formatted = language_of(uri).format(text).and_then(Result::ok);
    match formatted {
        Some(formatted) if formatted != text => json!([{ "range": Places::new(text).all(), "newText": formatted }]),
        _ => json!([]),
    }
}

/// Returns the values of the last execution to an error, beside the lines of a range.
pub(super) fn hints(file: &File, params: &Value) -> Value {
    let Some(failure) = file.failure().and_then(|checked| checked.failure.as_ref()) else { return json!([]) };
    let line = |end: &str| params["range"][end]["line"].as_u64().map(|line| line as usize);
    let (first, last) = (line("start").unwrap_or(0), line("end").unwrap_or(usize::MAX));
    let lines: Vec<&str> = file.text.lines().collect();
    let hint = |(line, (label, tooltip)): (&usize, &(String, String))| {
        let end = lines.get(*line)?.trim_end().encode_utf16().count();
        Some(json!({
            "position": { "line": line, "character": end },
            "label": label, "tooltip": tooltip, "paddingLeft": true,
        }))
    };
    let in_range = failure.hints.range(first..=last.max(first));
    json!(in_range.filter_map(hint).collect::<Vec<_>>())
}
