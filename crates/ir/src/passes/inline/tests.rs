use super::super::testing::{check, run_on};
use super::super::{LiftStep, Source, StepPart};
use super::{run, run_within};
use crate::syntax::{EdgeId, Op, VarId};

const NESTED: &str = "shared x: bool
     proc main() from L0 to L3
       local a, b: bool
       L0 -> L1: a, _ := call f(x, ?0)
       L1 -> L2: assert a
       L2 -> L3: return
     proc f(p, q: bool) returns bool, bool from L4 to L7
       local l: bool
       label HERE: L5
       L4 -> L5: l := call g(l)
       L5 -> L6: assert l
       L6 -> L7: return p, ?0
     proc g(p: bool) returns bool from L8 to L9
       L8 -> L9: return !p
     start main
     target e1, e4, L5";

#[test]
fn calls_that_are_not_recursive_vanish() {
    let passed = check(
        run,
        NESTED,
        "shared x: bool
         proc main() from L0 to L3
           local a, b, f.p, f.q, f.l, g.p: bool
           label HERE: L5
           L0 -> L4: f.p := x, f.q := ?0, f.l := ?1
           L1 -> L2: assert a
           L2 -> L3: return
           L4 -> L7: g.p := f.l
           L5 -> L6: assert f.l
           L6 -> L1: a := f.p
           L7 -> L5: f.l := !g.p
         start main
         target e1, e4, L5",
    );
    let choices = vec![Source::Choice(0)];
    let fresh = vec![(VarId::new(5), Source::Choice(1))];
    assert_eq!(passed.lift.edges[0], [LiftStep { edge: EdgeId::new(0), choices, fresh, part: StepPart::Main }]);
    let steps = |edge: usize| passed.lift.edges[edge].iter().map(|step| step.edge.index()).collect::<Vec<_>>();
    assert_eq!((3..7).map(steps).collect::<Vec<_>>(), [[3], [4], [5], [6]]);
    let own = |var: usize| passed.lift.vars[var].map(|var| var.index());
    assert_eq!((0..7).map(own).collect::<Vec<_>>(), [Some(0), Some(1), Some(2), None, None, None, None]);
}

#[test]
fn each_call_has_locals_of_its_own() {
    let passed = run_on(
        run,
        "proc main() from L0 to L3
           local f.p: bool
           L0 -> L1: f.p := call f(f.p)
           L1 -> L2: f.p := call f(!f.p)
           L2 -> L2: assert f.p
           L2 -> L3: return
         proc f(p: bool) returns bool from L4 to L6
           L4 -> L5: assert p
           L5 -> L6: return p
         start main
         target e2, e4",
    );
    let names: Vec<&str> = passed.program.vars.iter().map(|var| var.name.as_str()).collect();
    assert_eq!(names, ["f.p", "f.p.2", "f.p.3"]);
    assert_eq!(passed.target.asserts.len(), 3);
    assert_eq!(passed.program.procs.len(), 1);
}

#[test]
fn recursive_procedures_stay_and_take_in_what_they_call() {
    check(
        run,
        "shared x: bool
         proc main() from L0 to L2
           L0 -> L1: call rec()
           L1 -> L2: return
         proc rec() from L3 to L6
           L3 -> L4: call leaf()
           L4 -> L5: call rec()
           L4 -> L6: return
         proc leaf() from L7 to L8
           L7 -> L8: end
         start main",
        "shared x: bool
         proc main() from L0 to L2
           L0 -> L1: call rec()
           L1 -> L2: return
         proc rec() from L3 to L6
           L3 -> L7: skip
           L4 -> L5: call rec()
           L4 -> L6: return
           L7 -> L6: end
         start main",
    );
}

#[test]
fn spawned_procedures_stay_and_forks_begin_in_the_copied_body() {
    check(
        run,
        "proc main() from L0 to L2
           L0 -> L1: call f()
           L1 -> L2: return
         proc f() from L3 to L6
           local l: bool
           L3 -> L4: fork L5
           L4 -> L5: spawn f()
           L5 -> L6: return
         start main
         target L5",
        "proc main() from L0 to L2
           local f.l@1: bool
           L0 -> L3: f.l@1 := ?0
           L1 -> L2: return
           L3 -> L4: fork L5
           L4 -> L5: spawn f()
           L5 -> L1: skip
         proc f() from L6 to L9
           local l@0: bool
           L6 -> L7: fork L8
           L7 -> L8: spawn f()
           L8 -> L9: return
         start main
         target L5, L8",
    );
}

#[test]
fn procedures_whose_locals_other_threads_mention_stay() {
    let text = "proc main() from L0 to L2
           L0 -> L1: call f()
           L1 -> L2: return
         proc f() from L3 to L5
           local l: bool
           L3 -> L4: assume l$
           L4 -> L5: return
         start main: main any";
    check(run, text, text);
    let assigned = text.replace("assume l$", "l$ := T");
    check(run, &assigned, &assigned);
}

#[test]
#[cfg_attr(miri, ignore = "the program is too large for an interpreter")]
fn the_limit_keeps_calls() {
    let doubling = |i: usize| {
        let (l, m, n, exit) = (4 * i, 4 * i + 1, 4 * i + 2, 4 * i + 3);
        let call = format!("call f{}()", i + 1);
        format!(
            "proc f{i}() from L{l} to L{exit}\nL{l} -> L{m}: {call}\nL{m} -> L{n}: {call}\nL{n} -> L{exit}: return\n"
        )
    };
    let chain: String = (0..12).map(doubling).collect();
    let text = format!("{chain}proc f12() from L48 to L49\nL48 -> L49: return\nstart f0\n");
    let limited = run_on(|program, target| run_within(program, target, 1000), &text);
    assert!(limited.program.edges.len() <= 1000, "{} edges", limited.program.edges.len());
    assert!((2..13).contains(&limited.program.procs.len()));
    let unlimited = run_on(run, &text);
    assert_eq!(unlimited.program.procs.len(), 1);
    assert_eq!(unlimited.program.edges.len(), 3 * ((1 << 12) - 1) + (1 << 12));
}

#[test]
fn the_prelude_is_inlined_too() {
    let passed = run_on(
        run,
        "shared x: bool
         proc set() from L0 to L1
           L0 -> L1: return
         proc first() from L2 to L4
           L2 -> L3: call set()
           L3 -> L4: return
         proc main() from L5 to L6
           L5 -> L6: return
         prelude first
         start main",
    );
    assert_eq!(passed.program.procs.len(), 2);
    assert!(!passed.program.edges.iter().any(|edge| matches!(edge.op, Op::Call(_))));
}
