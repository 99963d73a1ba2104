//! Another name for a declaration and all of its uses.
//!
//! A new name may clash with another one or be hidden by it. Instead of a rule for each case, the edited text is read
//! again: it must have the same declarations with the same uses, at the places to which the edits move them, and no
//! errors. Then the edited program has the meaning of the old one.

use selvedge_ir::span::Span;
use serde_json::{Value, json};

use super::diagnostics::n_errors;
use super::language_of;
use super::lexemes::{Lexemes, Sort};
use super::names::{Entity, Index};
use super::places::Places;
use crate::found::SessionOptions;

/// Returns the name at a position, which can be renamed.
pub(super) fn prepare(uri: &str, text: &str, params: &Value) -> Value {
    let places = Places::new(text);
    let index = Index::new(language_of(uri), text);
    let offset = u32::try_from(places.offset(&params["position"])).unwrap_or(u32::MAX);
    match index.at(offset) {
        Some((entity, span)) => json!({ "range": places.range(span), "placeholder": entity.name }),
        None => Value::Null,
    }
}

/// Returns the edits, or a sentence that says why the name cannot be changed to the new one.
pub(super) fn rename(uri: &str, text: &str, given: SessionOptions, params: &Value) -> Result<Value, String> {
    let new = params["newName"].as_str().ok_or("`newName` must be a string")?;
    let language = language_of(uri);
    let places = Places::new(text);
    let index = Index::new(language, text);
    let offset = u32::try_from(places.offset(&params["position"])).unwrap_or(u32::MAX);
    let (entity, _) = index.at(offset).ok_or("there is no name here that can be changed")?;
    if n_errors(uri, text, given) > 0 {
        return Err("the program has errors, so not all uses of a name are known: correct them first".to_string());
    }
    let lexemes = Lexemes::new(language, new);
    let is_name = matches!(lexemes.words[..], [word] if word.sort == Sort::Name && word.span.of(new) == new);
    if !is_name || lexemes.has_errors || new.contains('.') || new == "_" {
        return Err(format!("`{new}` is not a name"));
    }
    let mut spans: Vec<Span> = entity.places().collect();
    spans.sort_unstable();
    spans.dedup();
    let edited = edited(text, &spans, new);
    let is_same = is_same(&index, &Index::new(language, &edited), entity, &spans, new);
    if !is_same || n_errors(uri, &edited, given) > 0 {
        return Err(format!("`{new}` would change the meaning of the program: choose a name that is not in use"));
    }
    let edit = |span: &Span| json!({ "range": places.range(*span), "newText": new });
    Ok(json!({ "changes": { uri: spans.iter().map(edit).collect::<Vec<_>>() } }))
}

/// Returns the text with another name at some places, which are in order.
fn edited(text: &str, spans: &[Span], new: &str) -> String {
    let mut edited = String::with_capacity(text.len());
    let mut end = 0;
    for span in spans {
        edited.push_str(&text[end..span.start as usize]);
        edited.push_str(new);
        end = span.end as usize;
    }
    edited + &text[end..]
}

/// Returns whether two texts have the same declarations with the same uses, where the first is edited at some places.
fn is_same(before: &Index, after: &Index, renamed: &Entity, spans: &[Span], new: &str) -> bool {
    let moved = |offset: u32| {
        let count = spans.iter().filter(|span| span.start < offset).count() as i64;
        i64::from(offset) + count * (new.len() as i64 - renamed.name.len() as i64)
    };
    let is_moved = |old: Span, found: Span| moved(old.start) == i64::from(found.start);
    before.entities.len() == after.entities.len()
        && before.entities.iter().zip(&after.entities).all(|(old, found)| {
            old.kind == found.kind
                && old.uses.len() == found.uses.len()
                && old.places().zip(found.places()).all(|(old, found)| is_moved(old, found))
        })
}
