//! The requests that a text alone answers.

use std::collections::BTreeSet;
use std::path::Path;

use selvedge_frontend::bp::ast::{Block, Item, ProcessItem, Span, StmtKind};
use selvedge_frontend::{Language, LoadOptions, gcl};
use selvedge_ir::Op;
use serde_json::{Value, json};

use super::names::{Entity, Index, Kind};
use super::places::Places;
use super::{language_of, outline, path_of};

fn entity_at(language: Language, text: &str, params: &Value) -> Option<(Entity, Vec<Span>)> {
    let offset = Places::new(text).offset(&params["position"]);
    let index = Index::new(language, text);
    let entity = index.at(u32::try_from(offset).ok()?)?.clone();
    Some((entity, index.comments))
}

/// Which variable it is, and what the comment beside its declaration says: abstractions write the predicate there.
pub(super) fn hover(uri: &str, text: &str, params: &Value) -> Value {
    let Some((entity, comments)) = entity_at(language_of(uri), text, params) else { return Value::Null };
    let places = Places::new(text);
    let line = |offset: u32| text[..offset as usize].matches('\n').count();
    let declared = line(entity.declared.start);
    let beside = comments.iter().filter(|comment| {
        let at = line(comment.start);
        let ends = line(comment.end.max(comment.start + 1) - 1);
        at == declared && comment.start > entity.declared.end || ends + 1 == declared && is_own_line(text, **comment)
    });
    let mut value = format!("`{}`: {}", entity.name, entity.kind.words());
    if let Some(name) = shown_whole(entity.kind) {
        let header = entity.whole.of(text).lines().next().unwrap_or("").trim();
        value.push_str(&format!("\n\n```{name}\n{header}\n```"));
    }
    for comment in beside {
        let comment = comment.of(text).trim().trim_start_matches(['/', '*', '#', ' ']);
        value.push_str(&format!("\n\n{}", comment.trim_end_matches(['*', '/', ' '])));
    }
    value.push_str(&format!("\n\n{} uses", entity.uses.len()));
    json!({ "contents": { "kind": "markdown", "value": value }, "range": places.range(entity.declared) })
}

/// The language of a declaration whose first line is shown.
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

pub(super) fn definition(uri: &str, text: &str, params: &Value) -> Value {
    let Some((entity, _)) = entity_at(language_of(uri), text, params) else { return Value::Null };
    json!({ "uri": uri, "range": Places::new(text).range(entity.declared) })
}

pub(super) fn references(uri: &str, text: &str, params: &Value) -> Value {
    let Some((entity, _)) = entity_at(language_of(uri), text, params) else { return json!([]) };
    let places = Places::new(text);
    let own = (params["context"]["includeDeclaration"] == true).then_some(entity.declared);
    let spans = own.into_iter().chain(entity.uses);
    json!(spans.map(|span| json!({ "uri": uri, "range": places.range(span) })).collect::<Vec<_>>())
}

/// The outline.
pub(super) fn symbols(uri: &str, text: &str) -> Value {
    match language_of(uri) {
        Language::Bp => outline::boolean(text),
        Language::Gcl => outline::guarded(text),
        Language::C | Language::Pds | Language::Tts | Language::Spec => json!([]),
    }
}

/// The formatted text, as one edit. Texts that cannot be read are left alone.
pub(super) fn formatting(uri: &str, text: &str) -> Value {
    let formatted = language_of(uri).format(text).and_then(Result::ok);
    match formatted {
        Some(formatted) if formatted != text => json!([{ "range": Places::new(text).all(), "newText": formatted }]),
        _ => json!([]),
    }
}

/// *Check* and *Debug* on the program and on each assertion.
pub(super) fn lenses(uri: &str, text: &str) -> Value {
    let places = Places::new(text);
    let path = path_of(uri);
    let lens = |span: Span, title: &str, command: &str, arguments: Value| {
        json!({
            "range": places.range(span),
            "command": { "title": title, "command": command, "arguments": [arguments] },
        })
    };
    let top = Span::new(0, 0);
    let mut all = vec![
        lens(top, "Check", "selvedge.check", json!({ "uri": uri })),
        lens(top, "Debug", "selvedge.debug", json!({ "program": path })),
    ];
    for span in questions(language_of(uri), text) {
        let line = text[..span.start as usize].matches('\n').count() + 1;
        all.push(lens(span, "Check this", "selvedge.check", json!({ "uri": uri, "line": line })));
        let launch = json!({ "program": path, "assertion": line.to_string() });
        all.push(lens(span, "Debug this", "selvedge.debug", launch));
    }
    json!(all)
}

/// Returns what can be asked for alone: the assertions of a program, the conditions of guarded commands.
fn questions(language: Language, text: &str) -> Vec<Span> {
    let mut found = Vec::new();
    match language {
        Language::Bp => {
            for item in &selvedge_frontend::bp::parse(text).file.items {
                match item {
                    Item::Proc(proc) => assertions(&proc.body.stmts, &mut found),
                    Item::Process(process) => process.items.iter().for_each(|item| {
                        if let ProcessItem::Proc(proc) = item {
                            assertions(&proc.body.stmts, &mut found);
                        }
                    }),
                    Item::Init(init) => assertions(&init.body.stmts, &mut found),
                    Item::Decl(_) => {}
                }
            }
        }
        Language::Gcl => {
            for item in &selvedge_frontend::gcl::parse(text).file.items {
                if let gcl::ast::Item::Safe(safe) = item {
                    found.push(safe.span);
                }
            }
        }
        Language::C => found = asserted(text),
        Language::Pds | Language::Tts | Language::Spec => {}
    }
    found
}

/// Returns the assertions of the C functions that run, in the order of the text.
fn asserted(text: &str) -> Vec<Span> {
    let loaded = selvedge_frontend::load(Path::new("program.c"), text, &LoadOptions::default());
    let Some(program) = loaded.program else { return Vec::new() };
    let edges = program.edges.iter_enumerated().filter(|(_, edge)| matches!(edge.op, Op::Assert(_)));
    let spans: BTreeSet<Span> = edges.map(|(edge, _)| loaded.source_map.edges[edge].span).collect();
    spans.into_iter().collect()
}

fn assertions(block: &Block, found: &mut Vec<Span>) {
    for stmt in block {
        match &stmt.kind {
            StmtKind::Assert(_) => found.push(stmt.span),
            StmtKind::If(choice) => {
                choice.arms.iter().for_each(|arm| assertions(&arm.body, found));
                choice.otherwise.iter().for_each(|otherwise| assertions(&otherwise.body, found));
            }
            StmtKind::While(repeat) => assertions(&repeat.body, found),
            _ => {}
        }
    }
}
