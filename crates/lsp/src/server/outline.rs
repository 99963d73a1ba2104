//! The outlines of programs: declarations, procedures, processes with their parts.

use selvedge_frontend::bp::ast::{Item, ProcessItem};
use selvedge_frontend::{bp, gcl};
use selvedge_ir::span::Span;
use serde_json::{Value, json};

use super::places::Places;

// The protocol's numbers for kinds of symbols.
const CLASS: u32 = 5;
const PROPERTY: u32 = 7;
pub(super) const CONSTRUCTOR: u32 = 9;
const FUNCTION: u32 = 12;
const VARIABLE: u32 = 13;

fn symbol(places: &Places<'_>, name: &str, kind: u32, whole: Span, own: Span, children: Vec<Value>) -> Value {
    let name = if name.is_empty() { "?" } else { name };
    json!({
        "name": name, "kind": kind, "range": places.range(whole), "selectionRange": places.range(own),
        "children": children,
    })
}

/// The outline of a Boolean program.
pub(super) fn boolean(text: &str) -> Value {
    let parsed = bp::parse(text);
    let places = Places::new(text);
    let name = |name: bp::ast::Name| parsed.file.names.text(name.symbol).to_string();
    let symbol = |text: String, kind: u32, whole: Span, own: Span, children: Vec<Value>| {
        symbol(&places, &text, kind, whole, own, children)
    };
    let decl = |decl: &bp::ast::Decl| -> Vec<Value> {
        decl.vars.iter().map(|var| symbol(name(var.name), VARIABLE, decl.span, var.name.span, Vec::new())).collect()
    };
    let procedure = |proc: &bp::ast::Proc| symbol(name(proc.name), FUNCTION, proc.span, proc.name.span, Vec::new());
    let mut all = Vec::new();
    for item in &parsed.file.items {
        match item {
            Item::Decl(one) => all.extend(decl(one)),
            Item::Proc(proc) => all.push(procedure(proc)),
            Item::Init(init) => all.push(symbol("init".to_string(), CONSTRUCTOR, init.span, init.word, Vec::new())),
            Item::Process(process) => {
                let children = process.items.iter().flat_map(|item| match item {
                    ProcessItem::Decl(one) => decl(one),
                    ProcessItem::Proc(proc) => vec![procedure(proc)],
                });
                all.push(symbol(name(process.name), CLASS, process.span, process.name.span, children.collect()));
            }
        }
    }
    json!(all)
}

/// The outline of guarded commands: variables, commands, processes with theirs, and the conditions.
pub(super) fn guarded(text: &str) -> Value {
    let parsed = gcl::parse(text);
    let places = Places::new(text);
    let vars = |vars: &gcl::ast::Vars| -> Vec<Value> {
        vars.names.iter().map(|name| symbol(&places, &name.text, VARIABLE, vars.span, name.span, Vec::new())).collect()
    };
    let named = |name: Option<&gcl::ast::Name>, otherwise: &str, kind: u32, whole: Span| {
        let (name, own) = name.map_or((otherwise, whole), |name| (name.text.as_str(), name.span));
        symbol(&places, name, kind, whole, own, Vec::new())
    };
    let mut all = Vec::new();
    for item in &parsed.file.items {
        match item {
            gcl::ast::Item::Vars(one) => all.extend(vars(one)),
            gcl::ast::Item::Init(init) => all.push(named(None, "init", CONSTRUCTOR, init.span)),
            gcl::ast::Item::Command(one) => all.push(named(one.name.as_ref(), "command", FUNCTION, one.span)),
            gcl::ast::Item::Safe(safe) => all.push(named(safe.name.as_ref(), "safe", PROPERTY, safe.span)),
            gcl::ast::Item::DeadlockFree(span) => all.push(named(None, "deadlock_free", PROPERTY, *span)),
            gcl::ast::Item::Process(process) => {
                let children = process.items.iter().flat_map(|item| match item {
                    gcl::ast::ProcessItem::Vars(one) => vars(one),
                    gcl::ast::ProcessItem::At(at, Some(one)) => {
                        let place = at.first().map_or("command", |name| name.text.as_str());
                        vec![named(one.name.as_ref(), place, FUNCTION, one.span)]
                    }
                    gcl::ast::ProcessItem::At(_, None) | gcl::ast::ProcessItem::Start(_) => Vec::new(),
                });
                let children = children.collect();
                all.push(symbol(&places, &process.name.text, CLASS, process.span, process.name.span, children));
            }
        }
    }
    json!(all)
}
