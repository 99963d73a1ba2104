//! The edits that make a program smaller.

use std::mem;

use crate::generate::labels;
use crate::model::{Assign, Copies, Decl, Expr, Kind, Model, Place, Procedure, Shape, Stmt, Style};
use crate::shrink::without_one;
use crate::walk::{count_stmts, for_each_block_mut, for_each_stmt, for_each_stmt_mut, nth_stmt_mut};

/// A change of the program that it was listed for; `None` where it does not fit.
pub type Edit = Box<dyn Fn(&mut Model) -> Option<()>>;

/// Lists all edits of a program, coarse ones first.
pub fn edits(model: &Model) -> Vec<Edit> {
    let mut list = Vec::new();
    each(&mut list, (0..model.procs.len()).rev(), drop_proc);
    drops(model, &mut list);
    for value in [true, false] {
        each(&mut list, 0..model.globals.len(), move |model, global| drop_global(model, global, value));
        for (idx, procedure) in model.procs.iter().enumerate() {
            each(&mut list, 0..procedure.locals.len(), move |model, local| {
                let name = model.procs[idx].locals.remove(local).name;
                forget(&mut model.procs[idx], &name, value)
            });
            each(&mut list, 0..procedure.params.len(), move |model, param| drop_param(model, idx, param, value));
        }
    }
    for (idx, procedure) in model.procs.iter().enumerate() {
        each(&mut list, 0..procedure.results, move |model, result| drop_result(model, idx, result));
        each(&mut list, [idx], |model, idx| model.procs[idx].enforce.take().map(drop));
    }
    each(&mut list, 0..decls(&mut model.clone()).len(), |model, idx| decls(model)[idx].init.take().map(drop));
    each(&mut list, 0..model.globals.len(), |model, global| {
        model.globals[global].thread_local = false;
        Some(())
    });
    each(&mut list, QUESTIONS, |model, simplify| simplify(model));
    fine(model, &mut list);
    list
}

/// Lists an edit for each of some items.
fn each<T: Clone + 'static>(
    list: &mut Vec<Edit>,
    items: impl IntoIterator<Item = T>,
    edit: impl Fn(&mut Model, T) -> Option<()> + Copy + 'static,
) {
    list.extend(items.into_iter().map(|item| Box::new(move |model: &mut Model| edit(model, item.clone())) as Edit));
}

/// Lists removals of statements: for each list of statements the whole, then halves, quarters, .., single ones. Then
/// lists replacements of compound statements by the statements inside: those of one of its lists, or of all.
fn drops(model: &Model, list: &mut Vec<Edit>) {
    for (idx, procedure) in model.procs.iter().enumerate() {
        let mut lengths = Vec::new();
        for_each_block_mut(&mut procedure.body.clone(), &mut |block| lengths.push(block.len()));
        for (block, length) in lengths.into_iter().enumerate() {
            let mut count = length;
            while count > 0 {
                let firsts = (0..length).step_by(count).filter(|first| first + count <= length);
                each(list, firsts, move |model, first| drop_stmts(&mut model.procs[idx], block, first, count));
                count /= 2;
            }
        }
        for stmt in 0..count_stmts(&procedure.body) {
            let parts = [Some(0), Some(1), Some(2), None];
            each(list, parts, move |model, part| unwrap(&mut model.procs[idx], stmt, part));
        }
    }
}

/// Lists replacements of single statements and of parts of expressions by simpler ones, and removals of labels.
fn fine(model: &Model, list: &mut Vec<Edit>) {
    for (idx, procedure) in model.procs.iter().enumerate() {
        let (mut number, mut labels) = (0, Vec::new());
        for_each_stmt(&procedure.body, &mut |stmt| {
            let place = number;
            each(list, simpler_kinds(&stmt.kind), move |model, simpler| {
                nth_stmt_mut(&mut model.procs[idx].body, &mut { place }).map(|stmt| stmt.kind = simpler)
            });
            labels.extend(stmt.labels.iter().cloned());
            number += 1;
        });
        each(list, labels, move |model, label| {
            for_each_stmt_mut(&mut model.procs[idx].body, &mut |stmt| stmt.labels.retain(|other| *other != label));
            Some(())
        });
    }
    let mut number = 0;
    model.clone().for_each_expr_mut(&mut |expr| {
        expr.for_each_part_mut(&mut |part| {
            let place = number;
            each(list, simpler_exprs(part), move |model, simpler| replace_expr(model, place, &simpler));
            number += 1;
        });
    });
}

/// Applies an edit; `None` where it does not fit the program.
pub fn apply(model: &Model, edit: &Edit) -> Option<Model> {
    let mut model = model.clone();
    edit(&mut model)?;
    repair(&mut model);
    Some(model)
}

/// Repairs jumps to labels that are gone, shared variables that only passive copies could name, and the like.
fn repair(model: &mut Model) {
    for procedure in &mut model.procs {
        let mut known = Vec::new();
        for_each_stmt(&procedure.body, &mut |stmt| known.extend(stmt.labels.iter().cloned()));
        for_each_stmt_mut(&mut procedure.body, &mut |stmt| {
            match &mut stmt.kind {
                Kind::Goto(labels) => labels.retain(|label| known.contains(label)),
                Kind::StartGoto(label) | Kind::StartLabel(label) if !known.contains(label) => stmt.kind = Kind::Skip,
                _ => {}
            }
            if stmt.kind == Kind::Goto(Vec::new()) {
                stmt.kind = Kind::Skip;
            }
        });
    }
    let known = labels(model);
    model.question.label = model.question.label.take().filter(|label| known.contains(label));
    repair_passive(model);
}

/// Removes passive copies of shared variables: reads become plain ones, assignments disappear.
fn repair_passive(model: &mut Model) {
    let shared = |decl: &&Decl| !decl.thread_local;
    let shared: Vec<String> = model.globals.iter().filter(shared).map(|decl| decl.name.clone()).collect();
    model.for_each_expr_mut(&mut |expr| {
        expr.for_each_part_mut(&mut |part| match part {
            Expr::Passive(name) if shared.contains(name) => *part = Expr::Var(name.clone()),
            Expr::PassiveNext(name) if shared.contains(name) => *part = Expr::Next(name.clone()),
            _ => {}
        });
    });
    model.for_each_stmt_mut(&mut |stmt| {
        drop_places(stmt, |place| matches!(place, Place::Passive(name) if shared.contains(name)));
    });
}

/// Removes a procedure, and the statements that call or start it.
fn drop_proc(model: &mut Model, idx: usize) -> Option<()> {
    let procedure = &model.procs[idx];
    if procedure.initial.is_some() && (model.n_initial() == 1 || procedure.name == "thread0") {
        return None;
    }
    let name = model.procs.remove(idx).name;
    model.for_each_stmt_mut(&mut |stmt| {
        if stmt.kind.callee() == Some(&name) {
            stmt.kind = Kind::Skip;
        }
    });
    Some(())
}

/// Removes adjacent statements of a list; their labels move to the statement behind them, or disappear.
fn drop_stmts(procedure: &mut Procedure, block: usize, first: usize, count: usize) -> Option<()> {
    let mut number = 0;
    for_each_block_mut(&mut procedure.body, &mut |stmts| {
        if number == block {
            let removed: Vec<Stmt> = stmts.drain(first..first + count).collect();
            if let Some(next) = stmts.get_mut(first) {
                let labels = removed.into_iter().flat_map(|stmt| stmt.labels);
                next.labels.splice(0..0, labels);
            }
        }
        number += 1;
    });
    Some(())
}

/// Replaces a compound statement by the statements inside: those of all its lists, or of one.
fn unwrap(procedure: &mut Procedure, stmt: usize, part: Option<usize>) -> Option<()> {
    let compound = nth_stmt_mut(&mut procedure.body, &mut { stmt })?;
    let blocks = compound.kind.blocks();
    let inner: Vec<Stmt> = match part {
        Some(part) => blocks.get(part)?.to_vec(),
        None if blocks.len() > 1 => blocks.into_iter().flatten().cloned().collect(),
        None => return None,
    };
    compound.kind = Kind::Skip;
    let marker = "\u{0}unwrap".to_string();
    compound.labels.push(marker.clone());
    for_each_block_mut(&mut procedure.body, &mut |stmts| {
        if let Some(at) = stmts.iter().position(|stmt| stmt.labels.contains(&marker)) {
            stmts[at].labels.pop();
            let labels = mem::take(&mut stmts[at].labels);
            stmts.splice(at..=at, inner.iter().cloned());
            match stmts.get_mut(at) {
                Some(next) => drop(next.labels.splice(0..0, labels)),
                None => stmts.push(Stmt { labels, kind: Kind::Skip }),
            }
        }
    });
    Some(())
}

/// Removes a shared variable; reads of it become the constant.
fn drop_global(model: &mut Model, idx: usize, value: bool) -> Option<()> {
    let name = model.globals.remove(idx).name;
    for decl in &mut model.globals {
        decl.init.iter_mut().for_each(|init| forget_in(init, &name, value));
    }
    model.procs.iter_mut().try_for_each(|procedure| forget(procedure, &name, value))
}

/// Removes a parameter and its arguments; reads of it become the constant.
fn drop_param(model: &mut Model, idx: usize, param: usize, value: bool) -> Option<()> {
    let name = model.procs[idx].params.remove(param);
    forget(&mut model.procs[idx], &name, value)?;
    let callee = model.procs[idx].name.clone();
    model.for_each_stmt_mut(&mut |stmt| match &mut stmt.kind {
        Kind::Call(_, call) | Kind::StartCall(call) | Kind::Async(call) if call.callee == callee => {
            call.args.remove(param);
        }
        _ => {}
    });
    Some(())
}

/// Removes a result.
fn drop_result(model: &mut Model, idx: usize, result: usize) -> Option<()> {
    model.procs[idx].results -= 1;
    let callee = model.procs[idx].name.clone();
    for_each_stmt_mut(&mut model.procs[idx].body, &mut |stmt| match &mut stmt.kind {
        Kind::Return(values) if !values.is_empty() => drop(values.remove(result)),
        _ => {}
    });
    model.for_each_stmt_mut(&mut |stmt| match &mut stmt.kind {
        Kind::Call(places, call) if call.callee == callee && !places.is_empty() => drop(places.remove(result)),
        _ => {}
    });
    Some(())
}

/// Removes all uses of a variable from a procedure.
fn forget(procedure: &mut Procedure, name: &str, value: bool) -> Option<()> {
    procedure.for_each_expr_mut(&mut |expr| forget_in(expr, name, value));
    for_each_stmt_mut(&mut procedure.body, &mut |stmt| {
        drop_places(stmt, |place| matches!(place, Place::Var(other) | Place::Passive(other) if other == name));
        match &mut stmt.kind {
            Kind::Call(places, _) => {
                places.iter_mut().for_each(|place| *place = place.take().filter(|var| var != name))
            }
            Kind::Dead(names) => names.retain(|other| other != name),
            _ => {}
        }
        if stmt.kind == Kind::Dead(Vec::new()) {
            stmt.kind = Kind::Skip;
        }
    });
    Some(())
}

fn forget_in(expr: &mut Expr, name: &str, value: bool) {
    expr.for_each_part_mut(&mut |part| {
        if part.name_mut().is_some_and(|other| other == name) {
            *part = Expr::Const(value);
        }
    });
}

/// Removes the pairs of an assignment whose left-hand side is unwanted. An assignment to nothing is an `assume`.
fn drop_places(stmt: &mut Stmt, unwanted: impl Fn(&Place) -> bool) {
    let Kind::Assign(assign) = &mut stmt.kind else { return };
    let pairs = mem::take(&mut assign.places).into_iter().zip(mem::take(&mut assign.values));
    (assign.places, assign.values) = pairs.filter(|(place, _)| !unwanted(place)).unzip();
    if assign.places.is_empty() {
        stmt.kind = match assign.constrain.take() {
            Some(condition) => Kind::Assume(without_primes(condition)),
            None => Kind::Skip,
        };
    }
}

/// Replaces new values by old ones, as is right without an assignment.
fn without_primes(mut expr: Expr) -> Expr {
    expr.for_each_part_mut(&mut |part| match part {
        Expr::Next(name) => *part = Expr::Var(mem::take(name)),
        Expr::PassiveNext(name) => *part = Expr::Passive(mem::take(name)),
        _ => {}
    });
    expr
}

/// Returns simpler statements: `skip`, the plain form of a special one, and the statement without one of its parts.
fn simpler_kinds(kind: &Kind) -> Vec<Kind> {
    let others = match kind {
        Kind::Assign(assign) => {
            let pairs = fewer(&assign.places).into_iter().zip(fewer(&assign.values));
            let shorter = pairs.map(|(places, values)| Assign { places, values, constrain: assign.constrain.clone() });
            let plain = [Assign { constrain: None, ..assign.clone() }];
            plain.into_iter().chain(shorter).map(Kind::Assign).collect()
        }
        Kind::If(arms, otherwise) => {
            let shorter = fewer(arms).into_iter().map(|arms| Kind::If(arms, otherwise.clone()));
            [Kind::If(arms.clone(), None)].into_iter().chain(shorter).collect()
        }
        Kind::While(condition, body) => vec![Kind::If(vec![(condition.clone(), body.clone())], None)],
        Kind::StartGoto(label) => vec![Kind::StartLabel(label.clone())],
        Kind::Async(call) => vec![Kind::StartCall(call.clone())],
        Kind::Constrain(condition) => vec![Kind::Assume(condition.clone())],
        Kind::AbortIf(condition) => vec![Kind::Assume(Expr::not(condition.clone()))],
        Kind::Goto(labels) => fewer(labels).into_iter().map(Kind::Goto).collect(),
        Kind::Dead(names) => fewer(names).into_iter().map(Kind::Dead).collect(),
        Kind::Call(places, call) => {
            let without = |discarded: usize| {
                let place = |(idx, place): (usize, &Option<String>)| place.clone().filter(|_| idx != discarded);
                Kind::Call(places.iter().enumerate().map(place).collect(), call.clone())
            };
            (0..places.len()).map(without).collect()
        }
        _ => Vec::new(),
    };
    [Kind::Skip].into_iter().chain(others).collect()
}

/// Returns the lists without one of the items each, if there are several.
fn fewer<T: Clone>(items: &[T]) -> Vec<Vec<T>> {
    if items.len() > 1 { without_one(items) } else { Vec::new() }
}

/// Returns simpler expressions: constants, operands, `x` for `'x` and `x$`, `'x` for `'x$`.
fn simpler_exprs(expr: &Expr) -> Vec<Expr> {
    let plain = match expr {
        Expr::Next(name) | Expr::Passive(name) => Some(Expr::Var(name.clone())),
        Expr::PassiveNext(name) => Some(Expr::Next(name.clone())),
        _ => None,
    };
    [true, false].map(Expr::Const).into_iter().chain(expr.operands().into_iter().cloned()).chain(plain).collect()
}

/// Replaces the part with a number among those of all expressions.
fn replace_expr(model: &mut Model, place: usize, simpler: &Expr) -> Option<()> {
    let mut number = 0;
    model.for_each_expr_mut(&mut |expr| {
        expr.for_each_part_mut(&mut |part| {
            if number == place {
                *part = simpler.clone();
            }
            number += 1;
        });
    });
    Some(())
}

/// Simpler questions: one thread fewer, no bound, one initial thread, all assertions instead of a label, the usual
/// spelling, a program with `main`.
const QUESTIONS: [fn(&mut Model) -> Option<()>; 6] = [
    |model| {
        model.question.threads = Some(model.question.threads.filter(|&n| n > 1)? - 1);
        Some(())
    },
    |model| model.question.threads.take().map(drop),
    |model| model.question.initial.take().map(drop),
    |model| model.question.label.take().map(drop),
    |model| {
        model.style = Style::default();
        Some(())
    },
    main_shape,
];

/// Writes a program with one initial procedure as one with `main`.
fn main_shape(model: &mut Model) -> Option<()> {
    if model.shape == Shape::Main || model.n_initial() != 1 {
        return None;
    }
    let first = model.procs.iter_mut().find(|procedure| procedure.initial.is_some())?;
    first.name = "main".to_string();
    first.initial = Some(Copies::Exactly(1));
    model.shape = Shape::Main;
    Some(())
}

fn decls(model: &mut Model) -> Vec<&mut Decl> {
    model.globals.iter_mut().chain(model.procs.iter_mut().flat_map(|procedure| &mut procedure.locals)).collect()
}
