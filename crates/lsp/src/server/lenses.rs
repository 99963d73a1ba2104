//! Lenses: *Check* and *Debug* above the program and above each of its assertions, with the verdict of the last check.

use std::collections::BTreeSet;
use std::path::Path;

use selvedge_frontend::bp::ast::{Block, Item, ProcessItem, Span, StmtKind};
use selvedge_frontend::{Language, LoadOptions, gcl};
use selvedge_ir::Op;
use serde_json::{Value, json};

use super::files::File;
use super::places::Places;
use super::{language_of, path_of};

/// Returns the lenses of a file.
pub(super) fn lenses(uri: &str, file: &File) -> Value {
    let (text, path) = (&*file.text, path_of(uri));
    let places = Places::new(text);
    let lens = |span: Span, title: String, command: &str, arguments: Value| {
        json!({
            "range": places.range(span),
            "command": { "title": title, "command": command, "arguments": [arguments] },
        })
    };
    let top = Span::new(0, 0);
    let mut all = vec![
        lens(top, titled("Check", verdict(file, None)), "selvedge.check", json!({ "uri": uri })),
        lens(top, "Debug".to_string(), "selvedge.debug", json!({ "program": path })),
    ];
    for span in questions(language_of(uri), text) {
        let line = text[..span.start as usize].matches('\n').count() as u64 + 1;
        let title = titled("Check this", verdict(file, Some(line)));
        all.push(lens(span, title, "selvedge.check", json!({ "uri": uri, "line": line })));
        let launch = json!({ "program": path, "assertion": line.to_string() });
        all.push(lens(span, "Debug this".to_string(), "selvedge.debug", launch));
    }
    json!(all)
}

fn titled(title: &str, verdict: Option<&str>) -> String {
    verdict.map_or(title.to_string(), |verdict| format!("{title} ({verdict})"))
}

/// Returns what checks say about a question: a line with an assertion, or the whole program. A program that is safe has
/// safe assertions, and the assertion that fails in an execution is unsafe.
fn verdict(file: &File, line: Option<u64>) -> Option<&'static str> {
    let asked = |line: Option<u64>| file.checked.iter().find(|checked| checked.asked == line);
    if let Some(own) = asked(line) {
        return Some(own.verdict);
    }
    let line = line?;
    let whole = asked(None)?;
    let fails_here = whole.failure.as_ref().is_some_and(|failure| failure.line + 1 == line);
    (whole.verdict == "safe" || fails_here).then_some(whole.verdict)
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
    spans.into_iter().filter(|span| span.end as usize <= text.len()).collect()
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
