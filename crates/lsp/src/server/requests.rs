//! The requests that a text alone answers.

use selvedge_frontend::bp::ast::{Block, Item, ProcessItem, Span, StmtKind};
use selvedge_frontend::bp::{self, format, parse};
use serde_json::{Value, json};

use super::names::{Entity, Index, Kind};
use super::path_of;
use super::places::Places;

fn entity_at(text: &str, params: &Value) -> Option<(Entity, bp::Parsed)> {
    let parsed = parse(text);
    let offset = Places::new(text).offset(&params["position"]);
    let index = Index::new(&parsed.file);
    let entity = index.at(u32::try_from(offset).ok()?)?.clone();
    Some((entity, parsed))
}

/// Which variable it is, and what the comment beside its declaration says: abstractions write the predicate there.
pub(super) fn hover(text: &str, params: &Value) -> Value {
    let Some((entity, parsed)) = entity_at(text, params) else { return Value::Null };
    let places = Places::new(text);
    let line = |offset: u32| text[..offset as usize].matches('\n').count();
    let declared = line(entity.declared.start);
    let comments = parsed.comments.iter().filter(|comment| {
        let at = line(comment.span.start);
        let ends = line(comment.span.end.max(comment.span.start + 1) - 1);
        at == declared && comment.span.start > entity.declared.end
            || ends + 1 == declared && is_own_line(text, comment.span)
    });
    let comments: Vec<&str> = comments.map(|comment| comment.span.of(text).trim()).collect();
    let mut value = format!("`{}`: {}", entity.name, entity.kind.words());
    if matches!(entity.kind, Kind::Procedure) {
        let header = entity.whole.of(text).lines().next().unwrap_or("").trim();
        value.push_str(&format!("\n\n```bp\n{header}\n```"));
    }
    for comment in comments {
        value.push_str(&format!(
            "\n\n{}",
            comment.trim_start_matches(['/', '*', ' ']).trim_end_matches(['*', '/', ' '])
        ));
    }
    value.push_str(&format!("\n\n{} uses", entity.uses.len()));
    json!({ "contents": { "kind": "markdown", "value": value }, "range": places.range(entity.declared) })
}

fn is_own_line(text: &str, span: Span) -> bool {
    let before = &text[..span.start as usize];
    before.rsplit('\n').next().is_some_and(|line| line.trim().is_empty())
}

pub(super) fn definition(uri: &str, text: &str, params: &Value) -> Value {
    let Some((entity, _)) = entity_at(text, params) else { return Value::Null };
    json!({ "uri": uri, "range": Places::new(text).range(entity.declared) })
}

pub(super) fn references(uri: &str, text: &str, params: &Value) -> Value {
    let Some((entity, _)) = entity_at(text, params) else { return json!([]) };
    let places = Places::new(text);
    let own = (params["context"]["includeDeclaration"] == true).then_some(entity.declared);
    let spans = own.into_iter().chain(entity.uses);
    json!(spans.map(|span| json!({ "uri": uri, "range": places.range(span) })).collect::<Vec<_>>())
}

pub(super) fn symbols(text: &str) -> Value {
    let parsed = parse(text);
    let places = Places::new(text);
    let name = |name: bp::ast::Name| parsed.file.names.text(name.symbol).to_string();
    let symbol = |text: String, kind: u32, whole: Span, own: Span, children: Vec<Value>| {
        let text = if text.is_empty() { "?".to_string() } else { text };
        json!({ "name": text, "kind": kind, "range": places.range(whole), "selectionRange": places.range(own), "children": children })
    };
    let decl = |decl: &bp::ast::Decl| -> Vec<Value> {
        decl.vars.iter().map(|var| symbol(name(var.name), 13, decl.span, var.name.span, Vec::new())).collect()
    };
    let procedure = |proc: &bp::ast::Proc| symbol(name(proc.name), 12, proc.span, proc.name.span, Vec::new());
    let mut all = Vec::new();
    for item in &parsed.file.items {
        match item {
            Item::Decl(one) => all.extend(decl(one)),
            Item::Proc(proc) => all.push(procedure(proc)),
            Item::Init(init) => all.push(symbol("init".to_string(), 9, init.span, init.word, Vec::new())),
            Item::Process(process) => {
                let children = process.items.iter().flat_map(|item| match item {
                    ProcessItem::Decl(one) => decl(one),
                    ProcessItem::Proc(proc) => vec![procedure(proc)],
                });
                all.push(symbol(name(process.name), 5, process.span, process.name.span, children.collect()));
            }
        }
    }
    json!(all)
}

/// The formatted text, as one edit. Texts that cannot be read are left alone.
pub(super) fn formatting(uri: &str, text: &str) -> Value {
    let is_bp = path_of(uri).ends_with(".bp");
    match format(text) {
        Ok(formatted) if is_bp && formatted != text => {
            json!([{ "range": Places::new(text).all(), "newText": formatted }])
        }
        _ => json!([]),
    }
}

/// *Check* and *Debug* on the program, and *Check* on each assertion.
pub(super) fn lenses(uri: &str, text: &str) -> Value {
    let parsed = parse(text);
    let places = Places::new(text);
    let path = path_of(uri);
    let lens = |span: Span, title: &str, command: &str, arguments: Value| json!({ "range": places.range(span), "command": { "title": title, "command": command, "arguments": [arguments] } });
    let top = Span::new(0, 0);
    let mut all = vec![
        lens(top, "Check", "selvedge.check", json!({ "uri": uri })),
        lens(top, "Debug", "selvedge.debug", json!({ "program": path })),
    ];
    let mut asserts = Vec::new();
    for item in &parsed.file.items {
        match item {
            Item::Proc(proc) => assertions(&proc.body.stmts, &mut asserts),
            Item::Process(process) => process.items.iter().for_each(|item| {
                if let ProcessItem::Proc(proc) = item {
                    assertions(&proc.body.stmts, &mut asserts);
                }
            }),
            Item::Init(init) => assertions(&init.body.stmts, &mut asserts),
            Item::Decl(_) => {}
        }
    }
    for span in asserts {
        let line = text[..span.start as usize].matches('\n').count() + 1;
        all.push(lens(span, "Check this assertion", "selvedge.check", json!({ "uri": uri, "line": line })));
    }
    json!(all)
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
