//! The edits that make a program smaller.

use crate::generate::labels;
use crate::model::{Copies, Decl, Expr, Kind, Model, Place, Procedure, Shape, Stmt, Style};
use crate::walk::{count_stmts, for_each_block_mut, for_each_stmt_mut};

/// One edit. Positions are those of the program that the edit was listed for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Edit {
    /// Removes a procedure, and the statements that call or start it.
    DropProc(usize),
    /// Removes `count` adjacent statements, from the `first` of the `block`-th list of a procedure.
    DropStmts { procedure: usize, block: usize, first: usize, count: usize },
    /// Replaces a compound statement by the statements inside: those of all its lists, or of the `part`-th.
    Unwrap { procedure: usize, stmt: usize, part: Option<usize> },
    /// Removes a shared variable; reads of it become the constant.
    DropGlobal(usize, bool),
    /// Removes a local variable; reads of it become the constant.
    DropLocal { procedure: usize, local: usize, value: bool },
    /// Removes a parameter and its arguments; reads of it become the constant.
    DropParam { procedure: usize, param: usize, value: bool },
    /// Removes a result.
    DropResult { procedure: usize, result: usize },
    /// Removes the `enforce` clause.
    DropEnforce(usize),
    /// Removes a label of a procedure, and the jumps to it.
    DropLabel { procedure: usize, label: String },
    /// Removes the `part`-th part of a statement's own: a pair of an assignment, a target of a jump, an arm.
    DropPart { procedure: usize, stmt: usize, part: usize },
    /// Replaces a statement by a simpler one.
    Replace { procedure: usize, stmt: usize, simpler: Simpler },
    /// Removes the initial value of a variable.
    DropInit(usize),
    /// Makes a `thread_local` variable a shared one.
    Share(usize),
    /// Simplifies the `part`-th part of all expressions.
    Simplify { part: usize, simpler: SimplerExpr },
    /// Simplifies the question.
    Ask(SimplerQuestion),
}

/// Simpler statements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Simpler {
    /// `skip`
    Skip,
    /// The same without `constrain`.
    Unconstrained,
    /// The same without `else`.
    NoElse,
    /// `start_thread l` for `start_thread goto l`, `start_thread f()` for `ASYNC_1: f()`, `assume` for its synonyms.
    Plain,
    /// An `if` for a `while`.
    Once,
}

/// Simpler expressions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SimplerExpr {
    /// A constant.
    Const(bool),
    /// One of the operands.
    Operand(usize),
    /// `x` for `'x` and `x$`, `'x` for `'x$`.
    Plain,
}

/// Simpler questions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SimplerQuestion {
    /// One thread fewer.
    FewerThreads,
    /// No bound.
    NoThreads,
    /// One initial thread.
    OneInitial,
    /// All assertions instead of a label.
    NoLabel,
    /// The usual spelling.
    PlainStyle,
    /// A program with `main`, if there is only one initial procedure, without parameters.
    MainShape,
}

/// Lists all edits of a program, coarse ones first.
pub fn edits(model: &Model) -> Vec<Edit> {
    let mut list: Vec<Edit> = (0..model.procs.len()).rev().map(Edit::DropProc).collect();
    drops(model, &mut list);
    for value in [true, false] {
        list.extend((0..model.globals.len()).map(|global| Edit::DropGlobal(global, value)));
        for (procedure, body) in model.procs.iter().enumerate() {
            list.extend((0..body.locals.len()).map(|local| Edit::DropLocal { procedure, local, value }));
            list.extend((0..body.params.len()).map(|param| Edit::DropParam { procedure, param, value }));
        }
    }
    for (procedure, body) in model.procs.iter().enumerate() {
        list.extend((0..body.results).map(|result| Edit::DropResult { procedure, result }));
        list.extend(body.enforce.iter().map(|_| Edit::DropEnforce(procedure)));
    }
    list.extend((0..count_decls(model)).map(Edit::DropInit));
    list.extend((0..model.globals.len()).map(Edit::Share));
    use SimplerQuestion::*;
    list.extend([FewerThreads, NoThreads, OneInitial, NoLabel, PlainStyle, MainShape].map(Edit::Ask));
    fine(model, &mut list);
    list
}

/// Lists removals of statements: for each list of statements the whole, then halves, quarters, .., single ones.
fn drops(model: &Model, list: &mut Vec<Edit>) {
    for (procedure, body) in model.procs.iter().enumerate() {
        let mut lengths = Vec::new();
        for_each_block_mut(&mut body.body.clone(), &mut |block| lengths.push(block.len()));
        for (block, &length) in lengths.iter().enumerate() {
            let mut count = length;
            while count > 0 {
                let firsts = (0..length).step_by(count).filter(|first| first + count <= length);
                list.extend(firsts.map(|first| Edit::DropStmts { procedure, block, first, count }));
                count /= 2;
            }
        }
        for stmt in 0..count_stmts(&body.body) {
            let parts = [Some(0), Some(1), Some(2), None];
            list.extend(parts.map(|part| Edit::Unwrap { procedure, stmt, part }));
        }
    }
}

fn fine(model: &Model, list: &mut Vec<Edit>) {
    for (procedure, body) in model.procs.iter().enumerate() {
        for stmt in 0..count_stmts(&body.body) {
            use Simpler::*;
            let simpler = [Skip, Unconstrained, NoElse, Plain, Once];
            list.extend(simpler.map(|simpler| Edit::Replace { procedure, stmt, simpler }));
            list.extend((0..3).map(|part| Edit::DropPart { procedure, stmt, part }));
        }
        let mut names = Vec::new();
        for_each_stmt_mut(&mut body.body.clone(), &mut |stmt| names.append(&mut stmt.labels));
        list.extend(names.into_iter().map(|label| Edit::DropLabel { procedure, label }));
    }
    let mut n_parts = 0;
    model.clone().for_each_expr_mut(&mut |expr| expr.for_each_part_mut(&mut |_| n_parts += 1));
    for part in 0..n_parts {
        use SimplerExpr::*;
        let simpler = [Const(true), Const(false), Operand(0), Operand(1), Operand(2), Plain];
        list.extend(simpler.map(|simpler| Edit::Simplify { part, simpler }));
    }
}

/// Applies an edit; `None` where it does not fit the program.
pub fn apply(model: &Model, edit: &Edit) -> Option<Model> {
    let mut model = model.clone();
    match edit {
        Edit::DropProc(idx) => drop_proc(&mut model, *idx)?,
        Edit::DropStmts { procedure, block, first, count } => {
            drop_stmts(&mut model.procs[*procedure], *block, *first, *count);
        }
        Edit::Unwrap { procedure, stmt, part } => unwrap(&mut model.procs[*procedure], *stmt, *part)?,
        Edit::DropGlobal(idx, value) => drop_global(&mut model, *idx, *value),
        Edit::DropLocal { procedure, local, value } => {
            let procedure = &mut model.procs[*procedure];
            let name = procedure.locals.remove(*local).name;
            forget(procedure, &name, *value);
        }
        Edit::DropParam { procedure, param, value } => drop_param(&mut model, *procedure, *param, *value),
        Edit::DropResult { procedure, result } => drop_result(&mut model, *procedure, *result),
        Edit::DropEnforce(procedure) => drop(model.procs[*procedure].enforce.take()?),
        Edit::DropLabel { procedure, label } => drop_label(&mut model.procs[*procedure], label),
        Edit::DropPart { procedure, stmt, part } => {
            drop_part(nth_stmt(&mut model.procs[*procedure], *stmt)?, *part)?;
        }
        Edit::Replace { procedure, stmt, simpler } => {
            replace(nth_stmt(&mut model.procs[*procedure], *stmt)?, *simpler)?;
        }
        Edit::DropInit(idx) => drop(decls_mut(&mut model).into_iter().nth(*idx)?.init.take()?),
        Edit::Share(idx) => model.globals[*idx].thread_local = false,
        Edit::Simplify { part, simpler } => simplify(&mut model, *part, *simpler)?,
        Edit::Ask(simpler) => ask(&mut model, *simpler)?,
    }
    repair(&mut model);
    Some(model)
}

/// Repairs jumps to labels that are gone, shared variables that only passive copies could name, and the like.
fn repair(model: &mut Model) {
    for procedure in &mut model.procs {
        let mut known = Vec::new();
        for_each_stmt_mut(&mut procedure.body, &mut |stmt| known.extend(stmt.labels.iter().cloned()));
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
    for procedure in &mut model.procs {
        for_each_stmt_mut(&mut procedure.body, &mut |stmt| {
            drop_places(stmt, |place| matches!(place, Place::Passive(name) if shared.contains(name)));
        });
    }
}

fn drop_proc(model: &mut Model, idx: usize) -> Option<()> {
    let n_initial = model.procs.iter().filter(|procedure| procedure.initial.is_some()).count();
    if model.procs[idx].initial.is_some() && (n_initial == 1 || model.procs[idx].name == "thread0") {
        return None;
    }
    let name = model.procs.remove(idx).name;
    for procedure in &mut model.procs {
        for_each_stmt_mut(&mut procedure.body, &mut |stmt| {
            if stmt.kind.callee() == Some(&name) {
                stmt.kind = Kind::Skip;
            }
        });
    }
    Some(())
}

/// Removes statements; their labels move to the statement behind them, or disappear.
fn drop_stmts(procedure: &mut Procedure, block: usize, first: usize, count: usize) {
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
}

fn unwrap(procedure: &mut Procedure, stmt: usize, part: Option<usize>) -> Option<()> {
    let compound = nth_stmt(procedure, stmt)?;
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
            let labels = std::mem::take(&mut stmts[at].labels);
            stmts.splice(at..=at, inner.iter().cloned());
            match stmts.get_mut(at) {
                Some(next) => drop(next.labels.splice(0..0, labels)),
                None => stmts.push(Stmt { labels, kind: Kind::Skip }),
            }
        }
    });
    Some(())
}

fn drop_global(model: &mut Model, idx: usize, value: bool) {
    let name = model.globals.remove(idx).name;
    for decl in &mut model.globals {
        decl.init.iter_mut().for_each(|init| forget_in(init, &name, value));
    }
    for procedure in &mut model.procs {
        forget(procedure, &name, value);
    }
}

fn drop_param(model: &mut Model, idx: usize, param: usize, value: bool) {
    let name = model.procs[idx].params.remove(param);
    forget(&mut model.procs[idx], &name, value);
    let callee = model.procs[idx].name.clone();
    for procedure in &mut model.procs {
        for_each_stmt_mut(&mut procedure.body, &mut |stmt| match &mut stmt.kind {
            Kind::Call(_, call) | Kind::StartCall(call) | Kind::Async(call) if call.callee == callee => {
                call.args.remove(param);
            }
            _ => {}
        });
    }
}

fn drop_result(model: &mut Model, idx: usize, result: usize) {
    model.procs[idx].results -= 1;
    let callee = model.procs[idx].name.clone();
    for_each_stmt_mut(&mut model.procs[idx].body, &mut |stmt| {
        if let Kind::Return(values) = &mut stmt.kind
            && !values.is_empty()
        {
            values.remove(result);
        }
    });
    for procedure in &mut model.procs {
        for_each_stmt_mut(&mut procedure.body, &mut |stmt| match &mut stmt.kind {
            Kind::Call(places, call) if call.callee == callee && !places.is_empty() => drop(places.remove(result)),
            _ => {}
        });
    }
}

/// Removes all uses of a variable from a procedure.
fn forget(procedure: &mut Procedure, name: &str, value: bool) {
    procedure.for_each_expr_mut(&mut |expr| forget_in(expr, name, value));
    for_each_stmt_mut(&mut procedure.body, &mut |stmt| {
        drop_places(stmt, |place| matches!(place, Place::Var(other) | Place::Passive(other) if other == name));
        match &mut stmt.kind {
            Kind::Call(places, _) => {
                for place in places.iter_mut() {
                    if place.as_deref() == Some(name) {
                        *place = None;
                    }
                }
            }
            Kind::Dead(names) => {
                names.retain(|other| other != name);
                if names.is_empty() {
                    stmt.kind = Kind::Skip;
                }
            }
            _ => {}
        }
    });
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
    let places = std::mem::take(&mut assign.places);
    let values = std::mem::take(&mut assign.values);
    let kept = places.into_iter().zip(values).filter(|(place, _)| !unwanted(place));
    (assign.places, assign.values) = kept.unzip();
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
        Expr::Next(name) => *part = Expr::Var(std::mem::take(name)),
        Expr::PassiveNext(name) => *part = Expr::Passive(std::mem::take(name)),
        _ => {}
    });
    expr
}

fn drop_label(procedure: &mut Procedure, label: &str) {
    for_each_stmt_mut(&mut procedure.body, &mut |stmt| stmt.labels.retain(|other| other != label));
}

fn drop_part(stmt: &mut Stmt, part: usize) -> Option<()> {
    match &mut stmt.kind {
        Kind::Assign(assign) if assign.places.len() > 1 && part < assign.places.len() => {
            assign.places.remove(part);
            assign.values.remove(part);
        }
        Kind::Goto(labels) if labels.len() > 1 && part < labels.len() => drop(labels.remove(part)),
        Kind::If(arms, _) if arms.len() > 1 && part < arms.len() => drop(arms.remove(part)),
        Kind::Dead(names) if names.len() > 1 && part < names.len() => drop(names.remove(part)),
        Kind::Call(places, _) => drop(places.get_mut(part)?.take()?),
        _ => return None,
    }
    Some(())
}

fn replace(stmt: &mut Stmt, simpler: Simpler) -> Option<()> {
    let kind = match (simpler, std::mem::replace(&mut stmt.kind, Kind::Skip)) {
        (Simpler::Skip, _) => Kind::Skip,
        (Simpler::Unconstrained, Kind::Assign(mut assign)) => {
            assign.constrain = None;
            Kind::Assign(assign)
        }
        (Simpler::NoElse, Kind::If(arms, Some(_))) => Kind::If(arms, None),
        (Simpler::Plain, Kind::StartGoto(label)) => Kind::StartLabel(label),
        (Simpler::Plain, Kind::Async(call)) => Kind::StartCall(call),
        (Simpler::Plain, Kind::Constrain(condition)) => Kind::Assume(condition),
        (Simpler::Plain, Kind::AbortIf(condition)) => Kind::Assume(Expr::not(condition)),
        (Simpler::Once, Kind::While(condition, body)) => Kind::If(vec![(condition, body)], None),
        _ => return None,
    };
    stmt.kind = kind;
    Some(())
}

fn simplify(model: &mut Model, part: usize, simpler: SimplerExpr) -> Option<()> {
    let mut number = 0;
    let mut done = None;
    model.for_each_expr_mut(&mut |expr| {
        expr.for_each_part_mut(&mut |expr| {
            if number == part && done.is_none() {
                done = simpler_expr(expr, simpler).map(|simpler| *expr = simpler);
            }
            number += 1;
        });
    });
    done
}

fn simpler_expr(expr: &Expr, simpler: SimplerExpr) -> Option<Expr> {
    match (simpler, expr) {
        (SimplerExpr::Const(value), _) => Some(Expr::Const(value)),
        (SimplerExpr::Operand(idx), _) => expr.operands().get(idx).map(|operand| (*operand).clone()),
        (SimplerExpr::Plain, Expr::Next(name) | Expr::Passive(name)) => Some(Expr::Var(name.clone())),
        (SimplerExpr::Plain, Expr::PassiveNext(name)) => Some(Expr::Next(name.clone())),
        (SimplerExpr::Plain, _) => None,
    }
}

fn ask(model: &mut Model, simpler: SimplerQuestion) -> Option<()> {
    let question = &mut model.question;
    match simpler {
        SimplerQuestion::FewerThreads => question.threads = Some(question.threads.filter(|&n| n > 1)? - 1),
        SimplerQuestion::NoThreads => drop(question.threads.take()?),
        SimplerQuestion::OneInitial => drop(question.initial.take()?),
        SimplerQuestion::NoLabel => drop(question.label.take()?),
        SimplerQuestion::PlainStyle => model.style = Style::default(),
        SimplerQuestion::MainShape => return main_shape(model),
    }
    Some(())
}

fn main_shape(model: &mut Model) -> Option<()> {
    let n_initial = model.procs.iter().filter(|procedure| procedure.initial.is_some()).count();
    if model.shape == Shape::Main || n_initial != 1 {
        return None;
    }
    let first = model.procs.iter_mut().find(|procedure| procedure.initial.is_some())?;
    first.name = "main".to_string();
    first.initial = Some(Copies::Exactly(1));
    model.shape = Shape::Main;
    Some(())
}

fn nth_stmt(procedure: &mut Procedure, number: usize) -> Option<&mut Stmt> {
    nth_in(&mut procedure.body, &mut { number })
}

fn nth_in<'m>(body: &'m mut [Stmt], number: &mut usize) -> Option<&'m mut Stmt> {
    for stmt in body {
        if *number == 0 {
            return Some(stmt);
        }
        *number -= 1;
        for block in stmt.kind.blocks_mut() {
            let inside = count_stmts(block);
            if *number < inside {
                return nth_in(block, number);
            }
            *number -= inside;
        }
    }
    None
}

fn decls_mut(model: &mut Model) -> Vec<&mut Decl> {
    model.globals.iter_mut().chain(model.procs.iter_mut().flat_map(|procedure| &mut procedure.locals)).collect()
}

fn count_decls(model: &Model) -> usize {
    model.globals.len() + model.procs.iter().map(|procedure| procedure.locals.len()).sum::<usize>()
}
