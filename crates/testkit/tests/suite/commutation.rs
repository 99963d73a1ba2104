//! The judge's own rule of commutation, compared with that of the engines (`ir::visibility`) on generated programs: a
//! mistake in one of them would otherwise be accepted by both.

use selvedge_ir::visibility::Visibility;
use selvedge_ir::{Edge, EdgeId, Expr, Op, ProcId, Program, VarId};
use selvedge_replay::commutation::Commutation;
use selvedge_testkit::differ::pose;
use selvedge_testkit::generate::{Weights, generate};

const N_PROGRAMS: u64 = 600;

#[derive(Debug, Default)]
struct Tally {
    hidden: usize,
    invisible: usize,
    visible: usize,
    calls: usize,
}

/// Returns whether a step is invisible by `ir::visibility`; for calls and returns that is composed from the visibility
/// of variables.
fn expected(program: &Program, visibility: &Visibility, edge: &Edge, caller: Option<EdgeId>) -> bool {
    let hides = |proc: ProcId| !program.procs[proc].locals.iter().any(|local| visibility.is_shown(*local));
    let ensured = caller.map_or(&Expr::TRUE, |call| &program.edges[call].ensures);
    match (&edge.op, caller.map(|call| &program.edges[call].op)) {
        (Op::Call(call), _) => hides(call.callee) && !call.args.iter().any(|arg| visibility.reads_shown(arg)),
        (Op::Return(values), Some(Op::Call(call))) => {
            let is_shown = |(value, var): (&Expr, &Option<VarId>)| {
                var.is_some_and(|var| visibility.is_shown(var) || visibility.reads_shown(value))
            };
            hides(call.callee) && !values.iter().zip(&call.results).any(is_shown) && !visibility.reads_shown(ensured)
        }
        _ => visibility.is_invisible_step(edge),
    }
}

/// Returns the calls of a procedure, and none, for a thread that begins with it.
fn callers(program: &Program, proc: ProcId) -> Vec<Option<EdgeId>> {
    let calls = |edge: &EdgeId| matches!(&program.edges[*edge].op, Op::Call(call) if call.callee == proc);
    program.edges.indices().filter(calls).map(Some).chain([None]).collect()
}

fn compare(program: &Program, text: &str, tally: &mut Tally) {
    let (ours, theirs) = (Commutation::new(program), Visibility::new(program));
    for (var, variable) in program.vars.iter_enumerated() {
        assert_eq!(ours.is_shown(var), theirs.is_shown(var), "`{}` in\n{text}", variable.name);
        tally.hidden += usize::from(!ours.is_shown(var));
    }
    for (id, edge) in program.edges.iter_enumerated() {
        for caller in callers(program, program.locs[edge.from].proc) {
            let invisible = ours.is_invisible(edge, caller);
            let expected = expected(program, &theirs, edge, caller);
            assert_eq!(invisible, expected, "edge {} called by {caller:?} in\n{text}", id.index());
            *(if invisible { &mut tally.invisible } else { &mut tally.visible }) += 1;
            tally.calls += usize::from(invisible && matches!(edge.op, Op::Call(_) | Op::Return(_)));
        }
    }
}

#[test]
fn the_judge_and_the_engines_agree_on_what_others_notice() {
    let mut tally = Tally::default();
    for seed in 0..N_PROGRAMS {
        let weights = if seed.is_multiple_of(2) { Weights::threads() } else { Weights::everything() };
        let posed = pose(&generate(seed, &weights)).unwrap_or_else(|fault| panic!("seed {seed}: {fault}"));
        compare(&posed.asked, &posed.text, &mut tally);
    }
    assert!(tally.hidden > 100 && tally.invisible > 1000 && tally.visible > 1000 && tally.calls > 50, "{tally:?}");
}
