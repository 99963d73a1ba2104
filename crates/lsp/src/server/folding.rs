//! Parts of a text that can be folded: procedures, processes, blocks, and comments.

use selvedge_frontend::Language;
use selvedge_frontend::bp::ast::{Block, Item, ProcessItem, Span, StmtKind};
use selvedge_frontend::gcl;
use serde_json::{Value, json};

use super::language_of;
use super::lexemes::Lexemes;
use super::places::Places;

/// Returns the parts that have more than one line.
pub(super) fn ranges(uri: &str, text: &str) -> Value {
    let language = language_of(uri);
    let mut blocks = Vec::new();
    match language {
        Language::Bp => {
            for item in &selvedge_frontend::bp::parse(text).file.items {
                boolean(item, &mut blocks);
            }
        }
        Language::Gcl => {
            for item in &selvedge_frontend::gcl::parse(text).file.items {
                blocks.extend(match item {
                    gcl::ast::Item::Process(process) => Some(process.span),
                    gcl::ast::Item::Command(command) => Some(command.span),
                    gcl::ast::Item::Safe(safe) => Some(safe.span),
                    _ => None,
                });
            }
        }
        Language::C | Language::Pds | Language::Tts | Language::Spec => {}
    }
    let places = Places::new(text);
    let lines = |span: Span| {
        let line = |offset: u32| places.position(offset as usize)["line"].as_u64().unwrap_or(0);
        (line(span.start), line(span.end.max(span.start + 1) - 1))
    };
    let several = |(first, last): &(u64, u64)| first < last;
    let blocks = blocks.into_iter().map(lines).filter(several);
    let blocks = blocks.map(|(first, last)| json!({ "startLine": first, "endLine": last }));
    let comments = comments(text, &Lexemes::new(language, text)).into_iter().map(lines).filter(several);
    let comments = comments.map(|(first, last)| json!({ "startLine": first, "endLine": last, "kind": "comment" }));
    json!(blocks.chain(comments).collect::<Vec<_>>())
}

/// Returns the comments; those with only white space between them, and no empty line, are one.
fn comments(text: &str, lexemes: &Lexemes) -> Vec<Span> {
    let mut merged: Vec<Span> = Vec::new();
    for comment in &lexemes.comments {
        let gap = merged.last().and_then(|last| text.get(last.end as usize..comment.start as usize));
        let follows = gap.is_some_and(|gap| gap.trim().is_empty() && gap.matches('\n').count() <= 1);
        match merged.last_mut() {
            Some(last) if follows => last.end = comment.end,
            _ => merged.push(*comment),
        }
    }
    merged
}

fn boolean(item: &Item, found: &mut Vec<Span>) {
    match item {
        Item::Decl(decl) => found.push(decl.span),
        Item::Init(init) => {
            found.push(init.span);
            block(&init.body.stmts, found);
        }
        Item::Proc(proc) => {
            found.push(proc.span);
            block(&proc.body.stmts, found);
        }
        Item::Process(process) => {
            found.push(process.span);
            for item in &process.items {
                if let ProcessItem::Proc(proc) = item {
                    found.push(proc.span);
                    block(&proc.body.stmts, found);
                }
            }
        }
    }
}

/// Adds the blocks among some statements: each branch of an `if` on its own.
fn block(stmts: &Block, found: &mut Vec<Span>) {
    for stmt in stmts {
        match &stmt.kind {
            StmtKind::If(choice) => {
                let heads = choice.arms.iter().map(|arm| (arm.keyword, &arm.body));
                let heads = heads.chain(choice.otherwise.iter().map(|other| (other.keyword, &other.body)));
                for (keyword, body) in heads {
                    let last = body.last().map_or(keyword.end, |last| last.span.end);
                    found.push(Span { start: keyword.start, end: last });
                    block(body, found);
                }
            }
            StmtKind::While(repeat) => {
                found.push(stmt.span);
                block(&repeat.body, found);
            }
            _ => {}
        }
    }
}
