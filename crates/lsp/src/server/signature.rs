//! Help with the arguments of a call that is being typed.

use selvedge_frontend::Language;
use selvedge_frontend::bp::ast::{Item, Proc, ProcessItem};
use serde_json::{Value, json};

use super::language_of;
use super::lexemes::{Lexemes, Sort};
use super::names::{Index, Kind};
use super::places::Places;

/// Returns the header of the procedure whose arguments are around a position, and which of them is being typed.
pub(super) fn help(uri: &str, text: &str, params: &Value) -> Value {
    let offset = Places::new(text).offset(&params["position"]);
    let index = Index::new(language_of(uri), text);
    let Some((name, number)) = call_around(text, &index.lexemes, offset) else { return Value::Null };
    let place = u32::try_from(offset).unwrap_or(u32::MAX);
    let mut known = index.known_at(place).into_iter();
    let callee = known.find(|entity| entity.kind == Kind::Procedure && entity.name == name);
    let Some(declared) = callee.map(|entity| entity.whole) else { return Value::Null };
    match procedure(language_of(uri), text, declared.start) {
        Some((label, parameters)) => json!({
            "signatures": [{
                "label": label,
                "parameters": parameters.iter().map(|name| json!({ "label": name })).collect::<Vec<_>>(),
            }],
            "activeSignature": 0,
            "activeParameter": number,
        }),
        None => Value::Null,
    }
}

/// Returns the name before the innermost parenthesis that is open at a place, and the number of commas behind it.
fn call_around<'t>(text: &'t str, lexemes: &Lexemes, offset: usize) -> Option<(&'t str, usize)> {
    let (mut closed, mut commas) = (0u32, 0);
    let mut before = lexemes.before(offset);
    while let Some(word) = before.next() {
        match word.span.of(text) {
            ")" | "]" => closed += 1,
            "(" if closed == 0 => {
                let name = before.next().filter(|word| word.sort == Sort::Name)?;
                return Some((name.span.of(text), commas));
            }
            "(" | "[" => closed = closed.checked_sub(1)?,
            "," if closed == 0 => commas += 1,
            ";" => return None,
            _ => {}
        }
    }
    None
}

/// Returns the header on one line, and the names of the parameters, of the procedure that begins at a byte.
fn procedure(language: Language, text: &str, start: u32) -> Option<(String, Vec<String>)> {
    if language != Language::Bp {
        return None;
    }
    let file = selvedge_frontend::bp::parse(text).file;
    let of_process = |item: &'_ ProcessItem| match item {
        ProcessItem::Proc(proc) => Some(proc.clone()),
        ProcessItem::Decl(_) => None,
    };
    let procs = file.items.iter().flat_map(|item| -> Vec<Proc> {
        match item {
            Item::Proc(proc) => vec![proc.clone()],
            Item::Process(process) => process.items.iter().filter_map(of_process).collect(),
            Item::Decl(_) | Item::Init(_) => Vec::new(),
        }
    });
    let proc = procs.into_iter().find(|proc| proc.span.start == start)?;
    let header = proc.header.of(text).split_whitespace().collect::<Vec<_>>().join(" ");
    Some((header, proc.params.iter().map(|param| file.names.text(param.name.symbol).to_string()).collect()))
}
