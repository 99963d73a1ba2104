//! Rewrites of programs that cannot change the verdict.

use std::collections::BTreeMap;

use crate::model::{Expr, Kind, Model, Place, Procedure, Shape, Stmt};
use crate::rng::Rng;
use crate::walk::{for_each_block_mut, for_each_stmt_mut};

/// A rewrite that keeps the verdict. It returns `None` where it would change the meaning.
pub type Rewrite = fn(&mut Model, &mut Rng) -> Option<()>;

/// All rewrites, with their names.
pub const REWRITES: &[(&str, Rewrite)] = &[
    ("rename", rename),
    ("insert skips", insert_skips),
    ("unfold ifs", |model, _| unfold(model, unfold_if)),
    ("unfold whiles", |model, _| unfold(model, unfold_while)),
    ("wrap in atomic", wrap_in_atomic),
    ("add unused procedure", add_unused_proc),
    ("flip global", flip_global),
];

/// Returns the rewritten program; `None` where the rewrite has nothing to do or would change the meaning.
pub fn apply(rewrite: Rewrite, model: &Model, rng: &mut Rng) -> Option<Model> {
    let mut rewritten = model.clone();
    rewrite(&mut rewritten, rng)?;
    (rewritten != *model).then_some(rewritten)
}

/// Returns whether the number of steps matters: an `enforce` clause is assumed after every step, which other threads
/// may see.
pub fn counts_steps(model: &Model) -> bool {
    has_threads(model) && model.procs.iter().any(|procedure| procedure.enforce.is_some())
}

/// Returns whether runs may have more than one thread.
fn has_threads(model: &Model) -> bool {
    let starts =
        |kind: &Kind| matches!(kind, Kind::StartCall(_) | Kind::StartGoto(_) | Kind::StartLabel(_) | Kind::Async(_));
    model.question.initial.is_some() || model.n_initial() > 1 || model.shape != Shape::Main || model.any_stmt(starts)
}

/// Gives every variable, label and called procedure another name.
fn rename(model: &mut Model, _: &mut Rng) -> Option<()> {
    let mut names: BTreeMap<String, String> = BTreeMap::new();
    let mut fresh = |name: &str| {
        let new = format!("{name}_renamed$${}", names.len());
        names.entry(name.to_string()).or_insert(new).clone()
    };
    for decl in &mut model.globals {
        decl.name = fresh(&decl.name);
    }
    for procedure in &mut model.procs {
        if procedure.initial.is_none() {
            procedure.name = fresh(&procedure.name);
        }
        procedure.params.iter_mut().for_each(|name| *name = fresh(name));
        procedure.locals.iter_mut().for_each(|decl| decl.name = fresh(&decl.name));
        for_each_stmt_mut(&mut procedure.body, &mut |stmt| {
            for label in stmt.labels.iter_mut().filter(|label| !label.ends_with("ERROR")) {
                *label = fresh(label);
            }
        });
    }
    let known = |name: &mut String| {
        if let Some(new) = names.get(name) {
            *name = new.clone();
        }
    };
    model.question.label.iter_mut().for_each(known);
    model
        .for_each_expr_mut(&mut |expr| expr.for_each_part_mut(&mut |part| part.name_mut().into_iter().for_each(known)));
    model.for_each_stmt_mut(&mut |stmt| rename_uses(&mut stmt.kind, &known));
    Some(())
}

fn rename_uses(kind: &mut Kind, known: &dyn Fn(&mut String)) {
    match kind {
        Kind::Assign(assign) => {
            for place in &mut assign.places {
                if let Place::Var(name) | Place::Passive(name) = place {
                    known(name);
                }
            }
        }
        Kind::Goto(names) | Kind::Dead(names) => names.iter_mut().for_each(known),
        Kind::StartGoto(label) | Kind::StartLabel(label) => known(label),
        Kind::Call(places, call) => {
            places.iter_mut().flatten().for_each(known);
            known(&mut call.callee);
        }
        Kind::StartCall(call) | Kind::Async(call) => known(&mut call.callee),
        _ => {}
    }
}

/// Inserts `skip` here and there.
fn insert_skips(model: &mut Model, rng: &mut Rng) -> Option<()> {
    if counts_steps(model) {
        return None;
    }
    for procedure in &mut model.procs {
        for_each_block_mut(&mut procedure.body, &mut |block| {
            let at = rng.between(0, block.len());
            block.insert(at, Stmt::new(Kind::Skip));
        });
    }
    Some(())
}

/// Replaces each statement by those that `unfold` makes of it, from the inside out. Unfolded statements get numbers,
/// which make their labels unique.
fn unfold(model: &mut Model, unfold: fn(&mut Stmt, usize) -> Option<Vec<Stmt>>) -> Option<()> {
    if counts_steps(model) {
        return None;
    }
    model.procs.iter_mut().for_each(|procedure| unfold_block(&mut procedure.body, unfold, &mut 0));
    Some(())
}

fn unfold_block(block: &mut Vec<Stmt>, unfold: fn(&mut Stmt, usize) -> Option<Vec<Stmt>>, number: &mut usize) {
    let mut unfolded = Vec::new();
    for mut stmt in std::mem::take(block) {
        for inner in stmt.kind.blocks_mut() {
            unfold_block(inner, unfold, number);
        }
        *number += 1;
        match unfold(&mut stmt, *number) {
            Some(stmts) => unfolded.extend(stmts),
            None => unfolded.push(stmt),
        }
    }
    *block = unfolded;
}

fn labelled(label: &str, kind: Kind) -> Stmt {
    Stmt { labels: vec![label.to_string()], kind }
}

/// Unfolds to `goto then, else; then: assume(e); ..; goto end; else: assume(!e); ..; end: skip`.
fn unfold_if(stmt: &mut Stmt, number: usize) -> Option<Vec<Stmt>> {
    let Kind::If(arms, otherwise) = &mut stmt.kind else { return None };
    let [then, other, end] = ["Then", "Else", "End"].map(|word| format!("{word}{number}"));
    let (condition, body) = arms.remove(0);
    let rest = match arms.is_empty() {
        true => otherwise.take().unwrap_or_default(),
        false => vec![Stmt::new(Kind::If(std::mem::take(arms), otherwise.take()))],
    };
    let jump = Kind::Goto(vec![then.clone(), other.clone()]);
    let mut stmts = vec![Stmt { labels: std::mem::take(&mut stmt.labels), kind: jump }];
    stmts.push(labelled(&then, Kind::Assume(condition.clone())));
    stmts.extend(body);
    stmts.push(Stmt::new(Kind::Goto(vec![end.clone()])));
    stmts.push(labelled(&other, Kind::Assume(Expr::not(condition))));
    stmts.extend(rest);
    stmts.push(labelled(&end, Kind::Skip));
    Some(stmts)
}

/// Unfolds to `head: if e then ..; goto head; fi`.
fn unfold_while(stmt: &mut Stmt, number: usize) -> Option<Vec<Stmt>> {
    let Kind::While(condition, body) = &mut stmt.kind else { return None };
    let head = format!("Head{number}");
    let mut body = std::mem::take(body);
    body.push(Stmt::new(Kind::Goto(vec![head.clone()])));
    let mut labels = std::mem::take(&mut stmt.labels);
    labels.push(head);
    Some(vec![Stmt { labels, kind: Kind::If(vec![(condition.clone(), body)], None) }])
}

/// Puts the whole program into an atomic section, if it has one thread.
fn wrap_in_atomic(model: &mut Model, _: &mut Rng) -> Option<()> {
    if has_threads(model) {
        return None;
    }
    model.procs[0].body.insert(0, Stmt::new(Kind::AtomicBegin));
    model.procs[0].body.push(Stmt::new(Kind::AtomicEnd));
    Some(())
}

/// Adds a procedure that is never called.
fn add_unused_proc(model: &mut Model, rng: &mut Rng) -> Option<()> {
    let body = vec![Stmt::new(Kind::Skip), Stmt::new(Kind::Assert(Expr::Const(false)))];
    model.procs.push(Procedure {
        name: "nobody_calls_me".to_string(),
        initial: None,
        params: (0..rng.below(3)).map(|number| format!("q{number}")).collect(),
        results: rng.below(3),
        locals: Vec::new(),
        enforce: None,
        body,
    });
    Some(())
}

/// Lets a shared variable hold the negation of its value: negates every value that is written to it and every one that
/// is read from it. Results of calls cannot be negated, so a variable that receives one is not chosen.
fn flip_global(model: &mut Model, rng: &mut Rng) -> Option<()> {
    let receives = |name: &str| {
        model.any_stmt(
            |kind| matches!(kind, Kind::Call(places, _) if places.iter().flatten().any(|place| place == name)),
        )
    };
    let shared = model.globals.iter().filter(|decl| !decl.thread_local && !receives(&decl.name));
    let names: Vec<String> = shared.map(|decl| decl.name.clone()).collect();
    let name = rng.pick(&names)?;
    model.for_each_expr_mut(&mut |expr| flip_reads(expr, name));
    for decl in model.globals.iter_mut().filter(|decl| decl.name == *name) {
        decl.init = decl.init.take().map(Expr::not);
    }
    model.for_each_stmt_mut(&mut |stmt| {
        let Kind::Assign(assign) = &mut stmt.kind else { return };
        for (place, value) in assign.places.iter().zip(&mut assign.values) {
            if matches!(place, Place::Var(other) if other == name) {
                *value = Expr::not(value.clone());
            }
        }
    });
    Some(())
}

fn flip_reads(expr: &mut Expr, name: &str) {
    if expr.name_mut().is_some_and(|other| other == name) {
        *expr = Expr::not(expr.clone());
    } else {
        expr.operands_mut().into_iter().for_each(|operand| flip_reads(operand, name));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::{Weights, generate};
    use crate::walk::count_stmts;

    #[test]
    fn every_rewrite_finds_programs_to_rewrite() {
        for (name, rewrite) in REWRITES {
            let mut rng = Rng::new(1);
            let models = (0..100).map(|seed| generate(seed, &Weights::sequential()));
            let n_rewritten = models.filter_map(|model| apply(*rewrite, &model, &mut rng)).count();
            assert!(n_rewritten > 20, "{name} rewrites {n_rewritten} programs");
        }
    }

    #[test]
    fn unfolding_leaves_none_of_the_unfolded_statements() {
        for seed in 0..100 {
            let model = generate(seed, &Weights::sequential());
            let before = count_stmts(&model.procs[0].body);
            let unfold_whiles: Rewrite = |model, _| unfold(model, unfold_while);
            if let Some(model) = apply(unfold_whiles, &model, &mut Rng::new(seed)) {
                assert!(!model.any_stmt(|kind| matches!(kind, Kind::While(..))), "{model}");
                assert!(count_stmts(&model.procs[0].body) >= before);
            }
        }
    }
}
