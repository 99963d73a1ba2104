//! Makes a program smaller while it still shows a fault.
//!
//! Greedy: try the edits of the current program in order, coarse ones first; keep the result of the first one that is
//! smaller by [`size`] and still fails, and go on from there; stop when no edit helps. It ends because sizes are
//! natural numbers and only get smaller, and sooner where the calls of the predicate are used up. Edits work on the
//! tree and repair what refers to removed parts, so every candidate is as well-formed as the program itself.

use crate::edit::{apply, edits};
use crate::model::{Expr, Kind, Model, Shape};
use crate::walk::for_each_stmt;

/// The result of shrinking.
#[derive(Clone, Debug)]
pub struct Shrunk {
    /// The smallest failing program that was found.
    pub model: Model,
    /// The number of calls of the predicate.
    pub calls: usize,
    /// No edit makes it smaller; false if the calls were used up.
    pub minimal: bool,
}

/// Shrinks a program for which `still_fails` holds, with at most `max_calls` calls of it.
pub fn shrink(model: &Model, max_calls: usize, mut still_fails: impl FnMut(&Model) -> bool) -> Shrunk {
    let (mut best, mut candidates) = (model.clone(), edits(model));
    let mut calls = 0;
    // The position in the list of edits is kept after a success: the edits before it have mostly failed already. The
    // search ends when a whole round of edits had no success.
    let mut place = 0;
    let mut failures = 0;
    while failures < candidates.len() && calls < max_calls {
        place %= candidates.len();
        let candidate = apply(&best, &candidates[place]).filter(|candidate| size(candidate) < size(&best));
        calls += usize::from(candidate.is_some());
        match candidate.filter(|candidate| still_fails(candidate)) {
            Some(smaller) => (best, candidates, failures) = (smaller.clone(), edits(&smaller), 0),
            None => (place, failures) = (place + 1, failures + 1),
        }
    }
    Shrunk { model: best, calls, minimal: failures >= candidates.len() }
}

/// Makes something smaller: goes on with the first candidate that still fails, until none does. Terminates if
/// candidates are smaller.
pub(crate) fn first_failing<T>(start: T, candidates: impl Fn(&T) -> Vec<T>, fails: &mut dyn FnMut(&T) -> bool) -> T {
    let mut small = start;
    while let Some(smaller) = candidates(&small).into_iter().find(|candidate| fails(candidate)) {
        small = smaller;
    }
    small
}

/// Returns the lists without one of the items each.
pub(crate) fn without_one<T: Clone>(items: &[T]) -> Vec<Vec<T>> {
    (0..items.len()).map(|idx| [&items[..idx], &items[idx + 1..]].concat()).collect()
}

/// Returns the size of a program. Every useful edit reduces it.
pub fn size(model: &Model) -> usize {
    let question = &model.question;
    let mut size = question.threads.unwrap_or(0) as usize;
    size += 2 * usize::from(question.initial.is_some()) + usize::from(question.label.is_some());
    size += usize::from(model.shape != Shape::Main);
    let style = &model.style;
    let spellings = [style.digits, style.doubled, style.prime_behind, style.bare_conditions, style.bare_starts];
    size += spellings.iter().filter(|&&unusual| unusual).count();
    let decls = model.globals.iter().chain(model.procs.iter().flat_map(|procedure| &procedure.locals));
    for decl in decls {
        size += 5 + usize::from(decl.thread_local) + decl.init.as_ref().map_or(0, expr_size);
    }
    for procedure in &model.procs {
        size += 10 + 5 * procedure.params.len() + 3 * procedure.results;
        size += procedure.enforce.as_ref().map_or(0, expr_size);
        for_each_stmt(&procedure.body, &mut |stmt| size += 3 + stmt.labels.len() + kind_size(&stmt.kind));
    }
    size
}

fn kind_size(kind: &Kind) -> usize {
    let exprs = |list: &[Expr]| list.iter().map(expr_size).sum::<usize>();
    match kind {
        Kind::Skip => 0,
        Kind::Assign(assign) => {
            2 * assign.places.len() + exprs(&assign.values) + assign.constrain.as_ref().map_or(0, |c| 1 + expr_size(c))
        }
        Kind::Assert(e) | Kind::Assume(e) => 1 + expr_size(e),
        Kind::Constrain(e) | Kind::AbortIf(e) => 3 + expr_size(e),
        Kind::Goto(labels) => 1 + labels.len(),
        Kind::If(arms, otherwise) => {
            let conditions: usize = arms.iter().map(|(condition, _)| 3 + expr_size(condition)).sum();
            2 + conditions + usize::from(otherwise.is_some())
        }
        Kind::While(condition, _) => 5 + expr_size(condition),
        Kind::Call(results, call) => 3 + 2 * results.iter().flatten().count() + results.len() + exprs(&call.args),
        Kind::StartCall(call) => 2 + exprs(&call.args),
        Kind::Async(call) => 3 + exprs(&call.args),
        Kind::Return(values) | Kind::Print(values) => 1 + exprs(values),
        Kind::Dead(names) => 1 + names.len(),
        Kind::StartGoto(_) => 3,
        Kind::StartLabel(_) => 2,
        Kind::EndThread | Kind::AtomicBegin | Kind::AtomicEnd => 1,
    }
}

/// Returns the size of an expression. Constants are smaller than variables, these smaller than choices and new values;
/// a part is smaller than the whole.
fn expr_size(expr: &Expr) -> usize {
    match expr {
        Expr::Const(true) => 1,
        Expr::Const(false) => 2,
        Expr::Var(_) => 3,
        Expr::Choice | Expr::Next(_) => 4,
        Expr::Passive(_) => 5,
        Expr::PassiveNext(_) => 6,
        inner => 1 + inner.operands().into_iter().map(expr_size).sum::<usize>(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::{Weights, generate};
    use crate::rng::Rng;

    /// Generates programs of all presets for which the predicate holds.
    fn samples(predicate: impl Fn(&Model) -> bool) -> Vec<Model> {
        let presets = Weights::presets();
        let all = presets.iter().flat_map(|(_, weights)| (0..200).map(|seed| generate(seed, weights)));
        all.filter(predicate).collect()
    }

    fn reads_in_assertion(model: &Model, name: &str) -> bool {
        model.any_stmt(|kind| {
            matches!(kind, Kind::Assert(_)) && format!("{kind:?}").contains(&format!("Var(\"{name}\")"))
        })
    }

    #[test]
    fn an_assertion_that_reads_a_variable_is_left_alone() {
        let samples = samples(|model| reads_in_assertion(model, "g0"));
        assert!(samples.len() > 100, "only {} samples", samples.len());
        for model in &samples {
            let shrunk = shrink(model, 100_000, |model| reads_in_assertion(model, "g0"));
            assert!(shrunk.minimal);
            let text = shrunk.model.to_string();
            let n_procs = shrunk.model.procs.len();
            assert!(shrunk.model.n_stmts() == 1 && shrunk.model.globals.len() == 1, "{n_procs} procedures:\n{text}");
            assert!(text.contains("assert(g0);"), "{text}");
        }
    }

    #[test]
    fn a_call_keeps_its_callee_and_nothing_else() {
        let calls = |model: &Model| model.any_stmt(|kind| matches!(kind, Kind::Call(..)));
        for model in samples(calls) {
            let shrunk = shrink(&model, 100_000, calls).model;
            assert_eq!((shrunk.n_stmts(), shrunk.globals.len()), (1, 0), "{shrunk}");
            assert!(shrunk.procs.iter().all(|procedure| procedure.params.is_empty() && procedure.results == 0));
        }
    }

    #[test]
    fn a_jump_keeps_its_label() {
        let jumps = |model: &Model| model.any_stmt(|kind| matches!(kind, Kind::Goto(_)));
        for model in samples(jumps) {
            let shrunk = shrink(&model, 100_000, jumps).model;
            assert!(shrunk.n_stmts() <= 2, "{shrunk}");
        }
    }

    #[test]
    fn the_number_of_calls_is_bounded() {
        let model = generate(1, &Weights::sequential());
        let mut asked = 0;
        let shrunk = shrink(&model, 5, |_| {
            asked += 1;
            false
        });
        assert_eq!((shrunk.calls, asked, shrunk.minimal), (5, 5, false));
        assert_eq!(shrunk.model, model);
    }

    #[test]
    fn random_answers_end_too() {
        for seed in 0..50 {
            let mut rng = Rng::new(seed);
            let shrunk = shrink(&generate(seed, &Weights::everything()), usize::MAX, |_| rng.percent(20));
            assert!(shrunk.minimal);
        }
    }
}
