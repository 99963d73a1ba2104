//! Completions: the names that are known at a place, and the words of the language.

use selvedge_frontend::Language;
use serde_json::{Value, json};

use super::diagnostics::file_options;
use super::language_of;
use super::lexemes::{Lexeme, Sort, keywords};
use super::names::{Entity, Index, Kind};
use super::places::Places;

// The protocol's kinds of completions.
const FUNCTION: u32 = 3;
const VARIABLE: u32 = 6;
const CLASS: u32 = 7;
const PROPERTY: u32 = 10;
const KEYWORD: u32 = 14;
const CONSTANT: u32 = 21;
const REFERENCE: u32 = 18;

/// Words of Boolean programs that are special in some places only.
pub(super) const SPECIAL: &[&str] = &["shared", "process", "thread_local", "once", "init", "lock", "unlock"];

/// The names that make sense at a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wanted {
    Labels,
    LabelsAndProcedures,
    /// The locations of the process with the name of this lexeme.
    LocationsOf(Lexeme),
    Any,
    Nothing,
}

/// Returns what can be written at a position. Clients leave out what does not begin with the word that is typed.
pub(super) fn completions(uri: &str, text: &str, params: &Value) -> Value {
    let language = language_of(uri);
    let offset = Places::new(text).offset(&params["position"]);
    let index = Index::new(language, text);
    if let Some(comment) = index.lexemes.comment_at(offset) {
        return json!(options(&text[comment.start as usize..offset]));
    }
    let Ok(place) = u32::try_from(offset) else { return json!([]) };
    let known = index.known_at(place);
    let wanted = wanted(language, text, &index, offset);
    let mut items: Vec<Value> = match wanted {
        Wanted::Nothing => return json!([]),
        Wanted::Any => known.iter().filter(|entity| !entity.kind.is_place()).map(|entity| item(entity)).collect(),
        Wanted::Labels => known.iter().filter(|entity| entity.kind.is_place()).map(|entity| item(entity)).collect(),
        Wanted::LabelsAndProcedures => {
            let fits = |entity: &&&Entity| entity.kind.is_place() || entity.kind == Kind::Procedure;
            known.iter().filter(fits).map(|entity| item(entity)).collect()
        }
        Wanted::LocationsOf(process) => {
            let name = process.span.of(text);
            let process = index.entities.iter().find(|entity| entity.kind == Kind::Process && entity.name == name);
            let inside = |entity: &&Entity| process.is_some_and(|process| process.whole == entity.scope);
            let locations = index.entities.iter().filter(|entity| entity.kind == Kind::Location);
            locations.filter(inside).map(item).collect()
        }
    };
    if wanted == Wanted::Any {
        items.extend(words(language));
    }
    json!(items)
}

/// Returns the options that the comment at the beginning of a file can have, if the line of the cursor is such a line.
fn options(before: &str) -> Vec<Value> {
    let line = before.lines().last().unwrap_or("").trim_start_matches(['/', '*', '#', ' ']);
    if !line.starts_with("options:") {
        return Vec::new();
    }
    file_options()
        .iter()
        .map(|name| json!({ "label": name, "kind": PROPERTY, "detail": "option of this file" }))
        .collect()
}

fn item(entity: &Entity) -> Value {
    let kind = match entity.kind {
        Kind::Procedure | Kind::Command => FUNCTION,
        Kind::Process => CLASS,
        Kind::Label | Kind::Location => REFERENCE,
        Kind::Safe => PROPERTY,
        _ => VARIABLE,
    };
    json!({ "label": entity.name, "kind": kind, "detail": entity.kind.words() })
}

fn words(language: Language) -> Vec<Value> {
    let special = if language == Language::Bp { SPECIAL } else { &[] };
    let constants: &[&str] = if language == Language::Bp { &["T", "F"] } else { &[] };
    let keywords = keywords(language).iter().chain(special).map(|word| json!({ "label": word, "kind": KEYWORD }));
    keywords.chain(constants.iter().map(|word| json!({ "label": word, "kind": CONSTANT }))).collect()
}

/// Returns what makes sense at a place, from the words before the one that is typed there.
fn wanted(language: Language, text: &str, index: &Index, offset: usize) -> Wanted {
    let is_typed = |word: &&Lexeme| word.span.end as usize == offset && matches!(word.sort, Sort::Name | Sort::Keyword);
    let mut before = index.lexemes.before(offset).skip_while(is_typed);
    let Some(last) = before.next() else { return Wanted::Any };
    let text_of = |word: &Lexeme| word.span.of(text);
    if (language, text_of(last)) == (Language::Gcl, "at") {
        let process = before.next().filter(|word| word.sort == Sort::Name);
        return process.map_or(Wanted::Labels, |process| Wanted::LocationsOf(*process));
    }
    // A list goes back to the word that it belongs to: `goto a, b`.
    let mut rest = std::iter::once(last).chain(before);
    let head = rest.find(|word| word.sort == Sort::Keyword || word.sort == Sort::Sign && text_of(word) != ",");
    match head.map(text_of) {
        Some("goto" | "start") => Wanted::Labels,
        Some("start_thread") => Wanted::LabelsAndProcedures,
        Some("decl" | "void" | "bool" | "var") => Wanted::Nothing,
        _ if text_of(last) == "process" => Wanted::Nothing,
        _ => Wanted::Any,
    }
}
