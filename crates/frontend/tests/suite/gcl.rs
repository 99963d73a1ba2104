//! Guarded commands: what a text is lowered to, what is reported at which place, and the one shape of a text.

use selvedge_frontend::diagnostic::{Code, Diagnostic};
use selvedge_frontend::{Loaded, gcl};
use selvedge_ir::text::print;
use selvedge_ir::validate::validate;
use selvedge_ir::{Program, VarId};

const MUTEX: &str = include_str!("../../../../examples/mutex.gcl");
const BAKERY: &str = include_str!("../../../../examples/bakery.gcl");
const TICKET: &str = include_str!("../../../../examples/ticket.gcl");

fn program(text: &str) -> (Program, Loaded) {
    let loaded = gcl::load(text);
    assert_eq!(loaded.diagnostics, [], "in:\n{text}");
    let program = loaded.program.clone().expect("a text without findings has a meaning");
    validate(&program).unwrap_or_else(|invalid| panic!("{invalid:?}"));
    assert_eq!(loaded.source_map.edges.len(), program.edges.len());
    assert_eq!(loaded.source_map.vars.len(), program.vars.len());
    (program, loaded)
}

/// The edges of a program as text.
fn edges(text: &str) -> Vec<String> {
    let printed = print(&program(text).0);
    let edges = printed.lines().filter(|line| line.trim_start().starts_with('e') && line.contains(" -> "));
    edges.map(|line| line.trim().to_owned()).collect()
}

/// The findings as code and marked text.
fn findings(text: &str) -> Vec<(Code, &str)> {
    gcl::load(text).diagnostics.iter().map(|diagnostic| (diagnostic.code, diagnostic.primary.span.of(text))).collect()
}

fn helps(text: &str) -> Vec<String> {
    gcl::load(text).diagnostics.into_iter().filter_map(|diagnostic| diagnostic.help).collect()
}

#[test]
fn the_examples_are_read_without_findings_and_are_in_shape() {
    for text in [MUTEX, BAKERY, TICKET] {
        program(text);
        assert_eq!(gcl::format(text).as_deref(), Ok(text));
    }
}

#[test]
fn a_command_is_one_step_from_the_head_to_itself() {
    let found = edges("var x, y: int; init x == 0; go: x < 2 * y -> x := y + 1, y := nondet; safe x >= 0;");
    assert_eq!(
        found,
        [
            "e0 L0 -> L1: assume x = 0",
            "e1 L1 -> L1: x := y + 1, y := ?0:int constrain x < 2 * y",
            "e2 L1 -> L1: assert 0 <= x",
        ]
    );
}

#[test]
fn a_process_is_a_counter_with_names_for_its_values() {
    let text = "process p { at a: t: goto b; at b: u: true -> skip; at c; start a, c; } safe !(p at c);";
    let loaded = gcl::load(text);
    let program = loaded.program.as_ref().expect("it has a meaning");
    assert_eq!(loaded.source_map.values[&VarId::new(0)], ["a", "b", "c"]);
    assert_eq!(program.vars[VarId::new(0)].name, "p");
    let names: Vec<&str> = loaded.source_map.commands.values().map(String::as_str).collect();
    assert_eq!(names, ["init", "p.t", "p.u"]);
    assert_eq!(
        edges(text),
        [
            "e0 L0 -> L1: assume (0 <= p) & (p <= 2) & ((p = 0) | (p = 2))",
            "e1 L1 -> L1: p := 1 constrain p = 0",
            "e2 L1 -> L1: assume p = 1",
            "e3 L1 -> L1: assert !(p = 2)",
        ]
    );
}

#[test]
fn a_program_without_deadlock_always_has_an_enabled_command() {
    let found = edges("var x: int; deadlock_free; up: x < 3 -> x := x + 1; down: x > 0 -> x := x - 1;");
    assert_eq!(found.last().map(String::as_str), Some("e3 L1 -> L1: assert (x < 3) | (0 < x)"));
}

#[test]
fn remainders_and_divisibility_are_the_same_condition() {
    let found = edges("var x: int; init x % 3 == 2; safe !(4 divides x + 1) | x % 5 != 0 | x % 2 == 7;");
    assert_eq!(found[0], "e0 L0 -> L1: assume divisible(3, x - 2)");
    assert_eq!(found[1], "e1 L1 -> L1: assert !divisible(4, x + 1) | !divisible(5, x) | F");
}

#[test]
fn ranges_are_bounds_of_the_first_states_and_stay() {
    let found = edges("var s: -1..2; var r: 0..1; var b: bool; t: b -> s := b ? r : 2, b := nondet; safe s == 0;");
    assert_eq!(found[0], "e0 L0 -> L1: assume (-1 <= s) & (s <= 2) & ((0 <= r) & (r <= 1))");
    assert_eq!(found[1], "e1 L1 -> L1: s := if b then r else 2, b := ?0 constrain b");
    let text = "var s: 0..2; var r: 0..3; t: true -> s := r; u: true -> s := 3; v: true -> s := s + 1;";
    let codes: Vec<(Code, &str)> = findings(text);
    assert_eq!(codes, [(Code::OutsideRange, "r"), (Code::OutsideRange, "3"), (Code::OutsideRange, "s + 1")]);
}

#[test]
fn a_variable_of_a_process_is_seen_from_outside_with_the_process_in_front() {
    program("process p { var t: int = 1; at a: up: t := t + 1; } safe p.t > 0;");
    let text = "process p { var t: int = 1; at a: up: t := t + 1; } safe t > 0;";
    assert_eq!(findings(text), [(Code::UnknownVariable, "t")]);
    assert!(helps("var count: int; t: true -> cuont := count;")[0].contains("`count`"));
}

#[test]
fn terms_that_are_not_linear_are_rejected() {
    let text = "var x, y: int; a: true -> x := x * y; b: x / 2 == y -> x := 0; c: x % y == 0 -> skip; safe x % 2 < y;";
    let marked: Vec<(Code, &str)> = findings(text);
    let expected = ["x * y", "x / 2", "y", "x % 2"].map(|text| (Code::NonLinear, text));
    assert_eq!(marked, expected);
    program("var x: int; a: true -> x := (1 + 1) * x - x * 3; safe x == 0;");
}

#[test]
fn types_are_kept_apart() {
    let text = "var x: int; var b: bool; t: x -> b := x, x := b; safe b == x & b + 1 > 0 & !x;";
    let expected = ["x", "x", "b", "x", "b", "x"].map(|text| (Code::WrongType, text));
    assert_eq!(findings(text), expected);
}

#[test]
fn every_mistake_is_reported_once_and_the_rest_is_still_read() {
    let text = "
var x: int
var y: whole;
init x = ;
process p {
  at a: t: x < 1 < 2 -> goto b;
  goto c;
  at b: goto a
}
t: x := 1, x := 2;
u: true -> goto a;
safe x > 99999999999999999999;
";
    let codes: Vec<Code> = findings(text).into_iter().map(|(code, _)| code).collect();
    assert_eq!(
        codes,
        [
            Code::MissingSemicolon,
            Code::UnexpectedToken,
            Code::UnexpectedToken,
            Code::UnexpectedToken,
            Code::UnexpectedToken,
            Code::MissingSemicolon,
            Code::AssignedTwice,
            Code::MisplacedGoto,
            Code::NumberOutOfRange,
        ]
    );
}

#[test]
fn names_that_are_declared_twice_or_nowhere_are_reported() {
    let text =
        "var x, x: int; process p { at a: goto b; at a: goto c; } process p { at a: skip; } safe q at a & x > 0;";
    let codes: Vec<(Code, &str)> = findings(text);
    assert_eq!(
        codes,
        [
            (Code::DuplicateVariable, "x"),
            (Code::UnknownLabel, "b"),
            (Code::UnknownLabel, "c"),
            (Code::DuplicateProcedure, "p"),
            (Code::UnknownProcedure, "q"),
        ]
    );
}

#[test]
fn unused_names_are_warned_of() {
    let text = "var x, y: int; process p { at a: t: x := 0; at b: x := 1, goto a; }";
    let loaded = gcl::load(text);
    let found: Vec<(Code, &str)> = findings(text);
    assert_eq!(found, [(Code::UnusedVariable, "y"), (Code::UnusedLabel, "b")]);
    assert!(loaded.program.is_some() && !loaded.diagnostics.iter().any(Diagnostic::is_error));
}

#[test]
fn choices_stand_in_assignments_only() {
    let text = "var x: int; init x == nondet; t: nondet -> x := nondet ? nondet : -nondet; safe x == nondet;";
    let expected = [(Code::MisplacedNondet, "nondet"); 3];
    assert_eq!(findings(text), expected);
    let found = edges("var x: int; t: x := nondet ? nondet : -nondet; safe x > 0;");
    assert_eq!(found[1], "e1 L1 -> L1: x := if ?0 then ?1:int else -?2:int");
}

#[test]
fn deep_nesting_is_refused_and_long_chains_are_not() {
    let deep = format!("var x: int; safe {}x > 0{};", "(".repeat(5000), ")".repeat(5000));
    assert_eq!(findings(&deep)[0].0, Code::BeyondLimit);
    let minus = format!("var x: int; safe x > {}1;", "-".repeat(5000));
    assert_eq!(findings(&minus)[0].0, Code::BeyondLimit);
    let long = format!("var x: int; safe x > 0{};", " & x + 1 + 1 > 0".repeat(5000));
    program(&long);
    let sum = format!("var x: int; safe x{} > 0;", " + 1 - x".repeat(5000));
    program(&sum);
}

#[test]
fn formatting_keeps_comments_and_tokens_and_happens_once() {
    let text = "// top\nvar x,y:int=0; /* both */ // zero\n\n\n# next\ninit  x= - 1&&y==(2-x) ;\nprocess p{ // open\n\n\
                at a:t:x<0||y>1->x:=-x,/* in */goto b;at b;\n// last\n\n}\nsafe!(p at b)=>x>0; // end";
    let once = gcl::format(text).expect("it has no errors");
    let expected = "// top\nvar x, y: int = 0; /* both */ // zero\n\n# next\ninit x == -1 & y == (2 - x);\n\
     process p { // open\n  \
                    at a: t: x < 0 | y > 1 -> x := -x, /* in */ goto b;\n  at b;\n  // last\n}\n\
                    safe !(p at b) => x > 0; // end\n";
    assert_eq!(once, expected);
    assert_eq!(gcl::format(&once).as_deref(), Ok(once.as_str()));
}

#[test]
fn a_long_statement_goes_on_further_in() {
    let text = format!("var x: int;\nsafe x > 0{};\n", " & x != 123456".repeat(20));
    let once = gcl::format(&text).expect("it has no errors");
    assert!(once.lines().all(|line| line.len() <= 100), "{once}");
    assert!(once.lines().skip(2).all(|line| line.starts_with("    & ")), "{once}");
    assert_eq!(gcl::format(&once).as_deref(), Ok(once.as_str()));
    assert_eq!(program(&text).0, program(&once).0);
}

#[test]
fn a_stray_character_is_shown_as_it_is_written() {
    for (text, shown) in [("var x: int; '", "`'`"), ("var x: int; \"", "`\"`"), ("var x: int; \u{1}", "`\\u{1}`")] {
        let messages: Vec<String> = gcl::load(text).diagnostics.into_iter().map(|found| found.message).collect();
        assert!(messages.contains(&format!("{shown} is not part of the language")), "{messages:?}");
    }
}
