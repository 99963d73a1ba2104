//! The engine `summaries` on programs that show what it tracks and what it forgets.

use selvedge_check::formula::{Atom, Node};
use selvedge_check::{CancelToken, Certificate, Engine, Limits, Run, Task, ThreadScope, Verdict};
use selvedge_engines::summaries::{Options, Summaries};
use selvedge_ir::VarId;
use selvedge_ir::text::parse_with_target;
use selvedge_ir::validate::validate;
use selvedge_replay::judge;

/// The verdict, which the judge accepts, found with this much memory.
fn check(text: &str, options: Options, memory: Option<u64>) -> Verdict {
    let (program, target) = parse_with_target(text).expect("the program is well-formed");
    validate(&program).expect("the program is valid");
    let task = Task { program: &program, target: &target, threads: ThreadScope::Unbounded };
    let run = Run::new(CancelToken::default(), Limits { memory, ..Limits::default() }, &());
    let verdict = Summaries { options }.check(&task, &run).unwrap_or_else(|stop| panic!("{stop}\n{text}"));
    let judged = judge(&task, &verdict, &Run::unlimited());
    assert!(judged.is_ok(), "{judged:?}\n{text}");
    verdict
}

/// Returns whether the certificate of a safe program mentions a variable.
fn speaks_of(verdict: &Verdict, var: usize) -> bool {
    let Verdict::Safe(Some(Certificate::Summaries(proof))) = verdict else { panic!("{verdict:?}") };
    let var = VarId::new(var);
    let is_about = |node: &Node| matches!(node, Node::Atom(Atom::Now(of) | Atom::Entry(of)) if *of == var);
    proof.formulas.nodes().iter().any(is_about)
}

const EXACT: Options = Options { eager: false, exact: true, declared: false };

#[test]
fn variables_that_only_steer_are_not_tracked_where_they_do_not_matter() {
    let text = "shared lock: bool\nshared busy: bool\ninit lock := F, busy := F\nproc main() from L0 to L3\n\
        L0 -> L1: busy := !busy\nL1 -> L2: lock := F constrain busy\nL2 -> L0: assert !lock\nstart main\ntarget e2";
    assert!(!speaks_of(&check(text, Options::default(), None), 1));
    assert!(speaks_of(&check(text, EXACT, None), 1));
}

#[test]
fn variables_that_steer_are_tracked_where_they_matter() {
    let text = "shared lock: bool\nshared busy: bool\ninit lock := ?0, busy := F\nproc main() from L0 to L4\n\
        L0 -> L1: busy := lock\nL1 -> L2: assume !busy\nL2 -> L3: assert !lock\nstart main\ntarget e2";
    assert!(speaks_of(&check(text, Options::default(), None), 1));
    let text = text.replace("!busy", "busy");
    assert!(matches!(check(&text, Options::default(), None), Verdict::Unsafe(_)));
}

#[test]
fn a_location_that_is_asked_for_is_guarded_by_what_comes_before() {
    let text = "shared a: bool\nshared b: bool\nshared c: bool\ninit a := F, b := F, c := F\nproc main() from L0 to \
                L4\nL0 -> L1: b := !b, c := b\nL1 -> L0: assume b | c\nL1 -> L2: assume a\nL2 -> L3: skip\nstart main\n\
                target L3";
    assert!(!speaks_of(&check(text, Options::default(), None), 1));
    let text = text.replace("b := !b", "a := !a, b := !b");
    assert!(matches!(check(&text, Options::default(), None), Verdict::Unsafe(_)));
}

/// Any values, but never two neighbours at once.
fn neighbours(n: usize) -> String {
    let list = |item: &dyn Fn(usize) -> String| (0..n).map(item).collect::<Vec<_>>().join(", ");
    let exclusive: Vec<String> = (1..n).map(|i| format!("!(x{}' & x{i}')", i - 1)).collect();
    format!(
        "shared {}: bool\ninit {}\nproc main() from L0 to L2\nL0 -> L1: {} constrain {}\nL1 -> L0: assert !(x0 & x1)\n\
         start main\ntarget e1",
        list(&|i| format!("x{i}")),
        list(&|i| format!("x{i} := F")),
        list(&|i| format!("x{i} := ?{i} & (x{} | ?{i})", (i + 1) % n)),
        exclusive.join(" & "),
    )
}

#[test]
fn an_assignment_of_many_choices_needs_few_nodes() {
    let verdict = check(&neighbours(24), EXACT, Some(1 << 19));
    assert!(matches!(verdict, Verdict::Safe(Some(_))), "{verdict:?}");
}

/// Counts to the highest value of this many bits before it fails.
fn counter(n: usize) -> String {
    let bits: Vec<String> = (0..n).map(|i| format!("b{i}")).collect();
    let next = |i: usize| if i == 0 { "!b0".to_string() } else { format!("b{i} ^ ({})", bits[..i].join(" & ")) };
    let steps: Vec<String> = (0..n).map(|i| format!("b{i} := {}", next(i))).collect();
    let zero: Vec<String> = bits.iter().map(|bit| format!("{bit} := F")).collect();
    format!(
        "shared {}: bool\ninit {}\nproc main() from L0 to L2\nL0 -> L0: {}\nL0 -> L1: assert !({})\nstart main\ntarget \
         e1",
        bits.join(", "),
        zero.join(", "),
        steps.join(", "),
        bits.join(" & ")
    )
}

#[test]
fn the_way_back_is_found_through_many_rings() {
    let Verdict::Unsafe(trace) = check(&counter(8), Options::default(), None) else { panic!("the error is reached") };
    assert_eq!(trace.steps.len(), 256);
}

/// Pairs of equal variables, whose firsts and whose seconds each have a condition of their own, which keeps the two
/// halves apart in the order that is tried first.
fn halves(n: usize) -> String {
    let list = |item: &dyn Fn(usize) -> String, with: &str| (0..n).map(item).collect::<Vec<_>>().join(with);
    format!(
        "shared {}: bool\nshared {}: bool\nproc main() from L0 to L4\nL0 -> L1: assume {}\nL1 -> L2: assume {}\n\
         L2 -> L3: assume {}\nL3 -> L0: assert {}\nstart main\ntarget e3",
        list(&|i| format!("x{i}"), ", "),
        list(&|i| format!("y{i}"), ", "),
        list(&|i| format!("x{i}"), " | "),
        list(&|i| format!("y{i}"), " | "),
        list(&|i| format!("(x{i} = y{i})"), " & "),
        list(&|i| format!("(x{i} = y{i})"), " & "),
    )
}

#[test]
fn another_order_rescues_a_program_that_runs_out_of_nodes() {
    let verdict = check(&halves(20), EXACT, Some(1 << 24));
    assert!(matches!(verdict, Verdict::Safe(Some(_))), "{verdict:?}");
}
