//! Tests of the lowering, by the textual form of the representation.

use selvedge_frontend::diagnostic::Code;
use selvedge_frontend::{LoadOptions, Loaded, bp};
use selvedge_ir::span::Role;
use selvedge_ir::text::print;
use selvedge_ir::validate::validate;
use selvedge_ir::{Count, Program};

fn load(text: &str) -> Loaded {
    let loaded = bp::load(text, &LoadOptions::default());
    let errors: Vec<_> = loaded.diagnostics.iter().filter(|diagnostic| diagnostic.is_error()).collect();
    assert!(errors.is_empty(), "{errors:?}");
    loaded
}

fn program(text: &str) -> Program {
    let program = load(text).program.expect("there are no errors");
    assert_eq!(validate(&program), Ok(()));
    program
}

/// The edges of the first procedure with this name, without their numbers.
fn edges(program: &Program, procedure: &str) -> Vec<String> {
    let text = print(program);
    let head = format!("proc {procedure}(");
    let lines = text.lines().skip_while(|line| !line.starts_with(&head)).skip(1);
    let lines = lines.take_while(|line| line.starts_with(' ')).map(str::trim);
    lines.filter(|line| line.contains(" -> ")).map(|line| line[line.find(' ').unwrap_or(0) + 1..].to_owned()).collect()
}

/// The body of `main` in a program with shared `x`, `y` and local `l`.
fn check(statements: &str, expected: &[&str]) {
    let text = format!("decl x, y;\nvoid main() begin\n  decl l;\n{statements}\nend\n");
    assert_eq!(edges(&program(&text), "main"), expected, "{}", print(&program(&text)));
}

#[test]
fn each_statement_has_a_location_of_its_own() {
    check(
        "skip; x := y; goto a, b; a: skip; b: skip;",
        &[
            "L0 -> L1: skip",
            "L1 -> L2: x := y",
            "L2 -> L3: skip",
            "L2 -> L4: skip",
            "L3 -> L4: skip",
            "L4 -> L5: skip",
            "L5 -> L6: return",
        ],
    );
}

#[test]
fn conditions_become_two_assumptions_with_their_own_choices() {
    check(
        "if x & * then y := 1; elsif y then else skip; fi",
        &[
            "L0 -> L1: assume x & ?0",
            "L0 -> L5: assume !(x & ?0)",
            "L1 -> L3: y := T",
            "L5 -> L3: assume y",
            "L5 -> L2: assume !y",
            "L2 -> L3: skip",
            "L3 -> L4: return",
        ],
    );
}

#[test]
fn a_loop_returns_to_its_condition() {
    check(
        "while * do x := !x; od; while y do od;",
        &[
            "L0 -> L2: assume ?0",
            "L0 -> L1: assume !?0",
            "L2 -> L0: x := !x",
            "L1 -> L1: assume y",
            "L1 -> L3: assume !y",
            "L3 -> L4: return",
        ],
    );
}

#[test]
fn each_star_is_a_choice_of_its_own() {
    check(
        "x, _, y := * & *, *, schoose[x, y] constrain 'x | ? ;",
        &["L0 -> L1: x := ?0 & ?1, y := x | (!y & ?2) constrain x' | ?3", "L1 -> L2: return"],
    );
}

#[test]
fn shorthands_become_what_they_stand_for() {
    check(
        "dead x, l; abortif(x); constrain(x = y); print(x, y); assert x; end_thread",
        &[
            "L0 -> L1: x := ?0, l := ?1",
            "L1 -> L2: assume !x",
            "L2 -> L3: assume x = y",
            "L3 -> L4: skip",
            "L4 -> L5: assert x",
            "L5 -> L7: end",
        ],
    );
}

#[test]
fn operators_bind_as_in_boppo() {
    check(
        "x := !x & y | l ^ x = y => l ? x : y ? l : 1;",
        &["L0 -> L1: x := if (((!x & y) | l) ^ x) = (y => l) then x else if y then l else T", "L1 -> L2: return"],
    );
}

#[test]
fn long_chains_become_balanced_trees() {
    check("x := x & y & l & x & y;", &["L0 -> L1: x := x & y & (l & x) & y", "L1 -> L2: return"]);
}

#[test]
fn passive_copies_are_read_and_assigned() {
    check(
        "l$, l := l$ & x, 1 constrain 'l$ | !l$ | 'l; assume(l$);",
        &["L0 -> L1: l := T, l$ := l$ & x constrain l$' | !l$ | l'", "L1 -> L2: assume l$", "L2 -> L3: return"],
    );
}

#[test]
fn locals_are_initialised_at_once_in_textual_order() {
    let program =
        program("decl g;\nvoid main() begin\n  decl a := *, b := a & g, c, d := c;\n  assert(a | b | d);\nend\n");
    let expected = ["L3 -> L0: a := ?0, b := ?0 & g, d := c", "L0 -> L1: assert a | b | d", "L1 -> L2: return"];
    assert_eq!(edges(&program, "main"), expected);
}

#[test]
fn initial_values_of_globals_read_no_variable() {
    let text = "decl u, g := u | *; decl h := g & u; decl thread_local t := h, s, r := s & t;\n\
     void main() begin u := t & r; end";
    let printed = print(&program(text));
    assert!(printed.contains("init u := ?0, g := ?0 | ?1, h := (?0 | ?1) & ?0\n"), "{printed}");
    assert!(
        printed.contains("start main: main exactly 1 with t, s, r init t := h, s := ?0, r := ?0 & h\n"),
        "{printed}"
    );
}

#[test]
fn enforce_holds_after_every_step() {
    let text = "decl x, y;\nvoid f() begin\n  enforce !x | y & *;\n  a: x := *;\n  g();\n  assert(x);\n  \
     start_thread a;\n  atomic_begin;\n  return;\nend
void g() begin skip; end\nvoid main() begin f(); end";
    let expected = [
        "L8 -> L0: assume !x | (y & ?0)",
        "L0 -> L1: x := ?0 constrain !x' | (y' & ?1)",
        "L1 -> L2: call g() ensures !(x & !y)",
        "L2 -> L3: assert x ensures !(x & !y)",
        "L3 -> L4: fork L0 ensures !(x & !y)",
        "L4 -> L5: atomic_begin ensures !(x & !y)",
        "L5 -> L7: return",
    ];
    assert_eq!(edges(&program(text), "f"), expected);
}

#[test]
fn beside_a_condition_on_other_threads_the_clause_is_about_the_values_before() {
    let text = "decl thread_local x, y;\nvoid main() begin\n  enforce x | y;\n  assume(x$);\n  \
     x := y constrain 'x$;\nend";
    let expected = [
        "L3 -> L0: assume x | y",
        "L0 -> L1: assume x$ ensures x | y",
        "L1 -> L2: x := y constrain x$' ensures y | y",
        "L2 -> L4: return",
    ];
    let found = edges(&program(text), "main");
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(expected) {
        let step = |text: &str| text.split_once(": ").map(|(_, step)| step.to_owned());
        assert_eq!(step(found), step(expected));
    }
    let chosen = text.replace("x := y", "x := *");
    let chosen = bp::load(&chosen, &LoadOptions::default());
    assert!(chosen.diagnostics.iter().any(|diagnostic| diagnostic.code == Code::Unsupported));
}

#[test]
fn a_trivial_enforce_clause_costs_nothing() {
    check("enforce T; x := 1;", &["L0 -> L1: x := T", "L1 -> L2: return"]);
}

#[test]
fn threads_start_at_labels_or_with_calls() {
    let text = "void main() begin\n  f: start_thread goto f;\n  start_thread f;\n  start_thread g;\n  start_thread \
     g();\n  ASYNC_3: g();\nend
void f() begin skip; end\nvoid g() begin skip; end";
    let expected = [
        "L0 -> L1: fork L0",
        "L1 -> L2: fork L0",
        "L2 -> L3: spawn g()",
        "L3 -> L4: spawn g()",
        "L4 -> L5: spawn g()",
        "L5 -> L6: return",
    ];
    assert_eq!(edges(&program(text), "main"), expected);
}

#[test]
fn calls_pass_values_both_ways() {
    let text = "decl x, y;\nvoid main() begin\n  x, _ := f(y, *);\n  f(x, y);\nend\n\
     bool<2> f(a, b) begin\n  return b, a;\nend";
    let program = program(text);
    let expected = ["L0 -> L1: x, _ := call f(y, ?0)", "L1 -> L2: _, _ := call f(x, y)", "L2 -> L3: return"];
    assert_eq!(edges(&program, "main"), expected);
    assert_eq!(edges(&program, "f"), ["L4 -> L6: return b, a"]);
}

#[test]
fn values_that_are_due_and_missing_are_arbitrary() {
    let text = "decl x;\nvoid main() begin x := f(); end\nbool f() begin\n  if x then return; fi\nend";
    let expected = ["L3 -> L4: assume x", "L3 -> L5: assume !x", "L4 -> L6: return ?0", "L5 -> L6: return ?0"];
    assert_eq!(edges(&program(text), "f"), expected);
}

#[test]
fn a_procedure_may_have_the_name_of_a_keyword() {
    let text = "void atomic_begin() begin skip; end\nvoid main() begin\n  atomic_begin();\n  atomic_begin;\nend";
    assert_eq!(edges(&program(text), "main")[..2], ["L3 -> L4: call `atomic_begin`()", "L4 -> L5: atomic_begin"]);
}

#[test]
fn labels_are_recorded_once_each_with_their_location() {
    let program =
        program("void main() begin\n  skip;\n  1: A: 1: skip;\n  if * then B: skip; fi\n  goto 1, A, B;\nend");
    let labels: Vec<(&str, usize)> =
        program.labels.iter().map(|label| (label.name.as_str(), label.loc.index())).collect();
    assert_eq!(labels, [("1", 1), ("A", 1), ("B", 4)]);
}

#[test]
fn processes_become_entries_with_their_variables() {
    let text = "shared decl g := 0; decl thread_local t := g;\ninit begin g := *; end
process kernel once begin decl k := t; void main() begin step(k); end void step(a) begin g := a; end end
process user begin void main() begin t := 1; end end\nprocess pair [2] begin void main() begin skip; end end";
    let program = program(text);
    let entries: Vec<(&str, Count, usize)> =
        program.entries.iter().map(|entry| (entry.name.as_str(), entry.count, entry.thread_vars.len())).collect();
    assert_eq!(entries, [("kernel", Count::AtMost(1), 2), ("user", Count::Any, 1), ("pair", Count::Exactly(2), 1)]);
    let names: Vec<&str> = program.procs.iter().map(|procedure| procedure.name.as_str()).collect();
    assert_eq!(names, ["init", "kernel.main", "kernel.step", "user.main", "pair.main"]);
    assert_eq!(program.prelude.map(|prelude| prelude.index()), Some(0));
    assert!(print(&program).contains("start kernel: kernel.main at most 1 with t, k init t := g, k := g\n"));
}

#[test]
fn numbered_threads_run_behind_init() {
    let text =
        "decl g;\nvoid thread1() begin g := 1; end\nvoid init() begin g := 0; end\nvoid thread0() begin skip; end";
    let program = program(text);
    let entries: Vec<&str> = program.entries.iter().map(|entry| entry.name.as_str()).collect();
    assert_eq!(entries, ["thread0", "thread1"]);
    assert_eq!(program.prelude.map(|prelude| program.procs[prelude].name.as_str()), Some("init"));
}

#[test]
fn another_entry_can_be_chosen() {
    let options = LoadOptions { entry: Some("other".to_owned()), ..LoadOptions::default() };
    let program = bp::load("void main() begin skip; end void other() begin skip; end", &options).program;
    let program = program.expect("there are no errors");
    assert_eq!(program.entries.len(), 1);
    assert_eq!(program.procs[program.entries[0].proc].name, "other");
}

#[test]
fn edges_know_their_statements_and_roles() {
    let text = "decl x;\nvoid main() begin\n  decl l := 1;\n  L: if (x) then x := l; fi;\n  goto L;\n end\n";
    let loaded = load(text);
    let shown: Vec<(&str, Role)> =
        loaded.source_map.edges.iter().map(|origin| (origin.span.of(text), origin.role)).collect();
    let expected = [
        ("1", Role::Initialise),
        ("if (x)", Role::Holds),
        ("if (x)", Role::Fails),
        ("x := l", Role::Statement),
        ("goto L", Role::Statement),
    ];
    assert_eq!(shown, expected);
    assert_eq!(loaded.source_map.procs[0].of(text), "void main()");
    assert_eq!(loaded.source_map.vars.iter().map(|span| span.of(text)).collect::<Vec<_>>(), ["x", "l"]);
}
