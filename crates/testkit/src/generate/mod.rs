//! Random Boolean programs that the reader accepts without errors: well scoped, with the right numbers of values.
//!
//! Order of work: the shape and the signatures of all procedures, then the bodies with jumps without targets, then the
//! targets of the jumps and the labels. State spaces stay small, since the oracle that judges the programs is explicit.

mod body;
mod expr;
mod weights;

pub use weights::{Chances, Template, Weights};

use crate::model::{BinOp, Copies, Decl, Expr, Kind, Model, Procedure, Shape, Stmt, Style};
use crate::rng::Rng;
use crate::walk::{count_stmts, for_each_stmt_mut, nth_stmt_mut};
use body::BodyMaker;
use expr::ExprMaker;
use selvedge_check::{Initial, Question};

/// Generates the program of a seed.
pub fn generate(seed: u64, weights: &Weights) -> Model {
    generate_with(&mut Rng::new(seed), weights)
}

/// Generates the program with a number: named weights take turns.
pub fn generate_in_turn(presets: &[(&str, Weights)], seed: u64, number: u64) -> Model {
    generate_with(&mut Rng::for_item(seed, number), &presets[number as usize % presets.len()].1)
}

/// Generates the program that the next numbers of a stream determine.
pub fn generate_with(rng: &mut Rng, weights: &Weights) -> Model {
    let mut model = outline(rng, weights);
    let recursive = rng.percent(weights.chances.recursion);
    for idx in 0..model.procs.len() {
        let body = BodyMaker::new(rng, weights, &model, idx, recursive).body();
        model.procs[idx].body = body;
        place_jumps(rng, weights, &mut model.procs[idx]);
    }
    place_error_label(rng, weights, &mut model);
    ensure_target(rng, weights, &mut model);
    ask_label(rng, weights, &mut model);
    model
}

/// Makes the program with empty bodies.
fn outline(rng: &mut Rng, weights: &Weights) -> Model {
    let shape = shape(rng, weights);
    let names = procedure_names(rng, weights, shape);
    let mut model = Model {
        question: question(rng, weights, shape),
        shape,
        style: Style {
            digits: rng.percent(30),
            doubled: rng.percent(20),
            prime_behind: rng.percent(20),
            bare_conditions: rng.percent(20),
            bare_starts: rng.coin(),
        },
        globals: globals(rng, weights),
        procs: Vec::new(),
    };
    for (name, initial) in names {
        let procedure = signature(rng, weights, &model, name, initial);
        model.procs.push(procedure);
    }
    model
}

fn shape(rng: &mut Rng, weights: &Weights) -> Shape {
    if rng.percent(weights.chances.classic) {
        Shape::Classic
    } else if rng.percent(weights.chances.processes) {
        Shape::Processes
    } else {
        Shape::Main
    }
}

fn question(rng: &mut Rng, weights: &Weights, shape: Shape) -> Question {
    let (low, high) = weights.threads;
    if high == 0 {
        return Question::default();
    }
    // Two kinds of threads may need two threads.
    let least = if shape == Shape::Main { low } else { low.max(2) };
    let threads = rng.between(least as usize, high as usize) as u32;
    let several = shape == Shape::Main && threads > 1 && rng.percent(weights.chances.initial);
    let initial = several.then(|| Initial::Exactly(rng.between(2, threads as usize) as u32));
    Question { threads: Some(threads), initial, ..Question::default() }
}

/// Chooses the procedures' names, and the numbers of initial threads that start in them.
fn procedure_names(rng: &mut Rng, weights: &Weights, shape: Shape) -> Vec<(String, Option<Copies>)> {
    let one = Some(Copies::Exactly(1));
    let mut names = match shape {
        Shape::Main => vec![("main".to_string(), one)],
        Shape::Classic => {
            let alone = rng.percent(weights.chances.alone);
            let names = if alone { &["thread0", "init"][..] } else { &["thread0", "thread1", "init"] };
            let n_names = if alone { 2 } else { rng.between(2, 3) };
            names.iter().take(n_names).map(|name| (name.to_string(), one)).collect()
        }
        Shape::Processes => {
            let names = ["one", "two"].iter().take(rng.between(1, 2));
            names.map(|name| (name.to_string(), Some(copies(rng)))).collect()
        }
    };
    let n_procs = rng.between(weights.procs.0, weights.procs.1);
    names.extend((1..n_procs).map(|number| (format!("f{number}"), None)));
    names
}

fn copies(rng: &mut Rng) -> Copies {
    match rng.below(4) {
        0 => Copies::Once,
        1 => Copies::Any,
        _ => Copies::Exactly(1),
    }
}

/// Makes the variables outside procedures.
fn globals(rng: &mut Rng, weights: &Weights) -> Vec<Decl> {
    let mut decls: Vec<Decl> = Vec::new();
    for number in 0..rng.between(weights.globals.0, weights.globals.1) {
        let thread_local = number > 0 && rng.percent(weights.chances.thread_local);
        let name = if thread_local { format!("t{number}") } else { format!("g{number}") };
        let init = rng.percent(weights.chances.initialiser).then(|| initial_value(rng, weights, &decls, thread_local));
        decls.push(Decl { name, thread_local, init });
    }
    decls
}

/// Makes a constant, a choice, or an expression over the variables before: shared ones may only read shared ones.
fn initial_value(rng: &mut Rng, weights: &Weights, before: &[Decl], thread_local: bool) -> Expr {
    let known = before.iter().filter(|decl| thread_local || !decl.thread_local);
    let leaves: Vec<Expr> = known.map(|decl| Expr::var(&decl.name)).collect();
    match rng.below(10) {
        0 => Expr::Choice,
        1 | 2 if !leaves.is_empty() => ExprMaker { rng, chances: &weights.chances, leaves, choices_left: 1 }.expr(1),
        _ => Expr::Const(rng.coin()),
    }
}

fn signature(rng: &mut Rng, weights: &Weights, model: &Model, name: String, initial: Option<Copies>) -> Procedure {
    let chances = &weights.chances;
    let has_params =
        if initial.is_some() { model.shape == Shape::Main && rng.percent(5) } else { rng.percent(chances.params) };
    let n_params = if has_params { rng.between(1, 2) } else { 0 };
    let results =
        if rng.percent(chances.results) && initial.is_none() || rng.percent(5) { rng.between(1, 2) } else { 0 };
    let params: Vec<String> = (0..n_params).map(|number| format!("p{number}")).collect();
    let n_locals = rng.between(weights.locals.0, weights.locals.1);
    let mut leaves: Vec<Expr> = in_scope(model, &name).map(|decl| Expr::var(&decl.name)).collect();
    leaves.extend(params.iter().map(|name| Expr::var(name)));
    let mut locals = Vec::new();
    for number in 0..n_locals {
        let mut maker = ExprMaker { rng: &mut *rng, chances, leaves: leaves.clone(), choices_left: 1 };
        let init = maker.rng.percent(chances.initialiser / 2).then(|| maker.expr(1));
        let name = format!("l{number}");
        leaves.push(Expr::var(&name));
        locals.push(Decl { name, thread_local: false, init });
    }
    let mut maker = ExprMaker { rng: &mut *rng, chances, leaves, choices_left: 1 };
    let enforce = maker.rng.percent(chances.enforce).then(|| Expr::binary(BinOp::Or, maker.literal(), maker.expr(1)));
    Procedure { name, initial, params, results, locals, enforce, body: Vec::new() }
}

/// Returns the variables outside procedures that a procedure names: `init` has no thread to which others could belong.
fn in_scope<'m>(model: &'m Model, procedure: &str) -> impl Iterator<Item = &'m Decl> + use<'m> {
    let is_init = procedure == "init";
    model.globals.iter().filter(move |decl| !is_init || !decl.thread_local)
}

/// Gives each jump of a procedure its targets, and each target its label.
fn place_jumps(rng: &mut Rng, weights: &Weights, procedure: &mut Procedure) {
    let n_stmts = count_stmts(&procedure.body);
    let mut targets = vec![false; n_stmts];
    let mut number = 0;
    for_each_stmt_mut(&mut procedure.body, &mut |stmt| {
        let mut aim = |label: &mut String| {
            let target = jump_target(rng, weights, number, n_stmts);
            targets[target] = true;
            *label = format!("L{target}");
        };
        match &mut stmt.kind {
            Kind::Goto(labels) => labels.iter_mut().for_each(aim),
            Kind::StartGoto(label) | Kind::StartLabel(label) => aim(label),
            _ => {}
        }
        number += 1;
    });
    let mut number = 0;
    for_each_stmt_mut(&mut procedure.body, &mut |stmt| {
        if targets[number] {
            stmt.labels.push(format!("L{number}"));
        }
        if rng.percent(2) {
            stmt.labels.push(format!("U{number}"));
        }
        number += 1;
    });
}

fn jump_target(rng: &mut Rng, weights: &Weights, from: usize, n_stmts: usize) -> usize {
    if from + 1 == n_stmts || rng.percent(weights.chances.back_edge) {
        rng.between(0, from)
    } else {
        rng.between(from + 1, n_stmts - 1)
    }
}

fn place_error_label(rng: &mut Rng, weights: &Weights, model: &mut Model) {
    if !rng.percent(weights.chances.error_label) {
        return;
    }
    let procedure = rng.below(model.procs.len());
    let body = &mut model.procs[procedure].body;
    let place = rng.below(count_stmts(body));
    let label = if rng.coin() { "ERROR" } else { "SLIC_ERROR" };
    nth_stmt_mut(body, &mut { place }).expect("there are more").labels.push(label.to_string());
}

/// Adds an assertion to a program that has nothing to reach.
fn ensure_target(rng: &mut Rng, weights: &Weights, model: &mut Model) {
    let has_label = labels(model).iter().any(|label| label.ends_with("ERROR"));
    if has_label || model.any_stmt(|kind| matches!(kind, Kind::Assert(_))) {
        return;
    }
    let place = rng.below(model.procs.len());
    let condition = BodyMaker::new(rng, weights, model, place, false).assertion();
    let body = &mut model.procs[place].body;
    let at = rng.between(0, body.len());
    body.insert(at, Stmt::new(Kind::Assert(condition)));
}

fn ask_label(rng: &mut Rng, weights: &Weights, model: &mut Model) {
    if rng.percent(weights.chances.ask_label) {
        model.question.label = rng.pick(&labels(model)).cloned();
    }
}

/// Returns all labels of a program, in the order of the text.
pub fn labels(model: &Model) -> Vec<String> {
    let mut labels = Vec::new();
    for procedure in &model.procs {
        crate::walk::for_each_stmt(&procedure.body, &mut |stmt| labels.extend(stmt.labels.iter().cloned()));
    }
    labels
}

#[cfg(test)]
mod tests;
