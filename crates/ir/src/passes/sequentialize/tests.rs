use super::*;
use crate::passes::testing::check_valid;
use crate::text::parse_with_target;

/// Returns a program, its result with a number of contexts, and the text of it.
fn sequential(text: &str, contexts: u32) -> (Sequential, String) {
    let (program, target) = parse_with_target(text).expect("the program reads");
    let sequential = run(&program, &target, contexts);
    let text = check_valid(&sequential.program, &sequential.target);
    (sequential, text)
}

const TWO: &str = "
    shared x, y: bool
    init x := F
    proc one() from L0 to L2
      e0 L0 -> L1: assume x
      e1 L1 -> L2: return
    proc other() from L3 to L5
      e2 L3 -> L4: y := !x
      e3 L4 -> L6: assert y
      e4 L6 -> L5: return
    start one
    start other
    target e3
";

#[test]
fn each_context_has_its_copies_and_all_but_the_first_a_guess() {
    let (sequential, _) = sequential(TWO, 3);
    let count = |part: &str| sequential.program.vars.iter().filter(|var| var.name.contains(part)).count();
    assert_eq!((count("x_"), count("x_guess_"), count("context_")), (5, 2, 2));
    let last: Vec<&str> =
        sequential.last.iter().map(|(_, copy)| sequential.program.vars[*copy].name.as_str()).collect();
    assert_eq!(last, ["x_3", "y_3"]);
}

#[test]
fn a_step_on_shared_variables_has_an_edge_for_each_context() {
    let (sequential, text) = sequential(TWO, 4);
    let copies = |edge: usize| {
        let edges = sequential.program.edges.indices();
        edges.filter(|id| sequential.lift.purpose(*id).origin() == Some(EdgeId::new(edge))).count()
    };
    assert_eq!([0, 1, 2, 3].map(copies), [4, 1, 4, 8], "the assertion passes or fails in each\n{text}");
}

#[test]
fn one_context_needs_no_guess_and_no_counter() {
    let (sequential, text) = sequential(TWO, 1);
    assert!(
        !sequential.program.vars.iter().any(|var| var.name.contains("guess") || var.name.contains("context")),
        "{text}"
    );
}

#[test]
fn the_copies_of_a_variable_or_those_of_a_context_are_side_by_side() {
    let (program, target) = parse_with_target(TWO).expect("the program reads");
    let names = |arrangement: Arrangement| -> Vec<String> {
        let vars = arranged(&program, &target, 2, arrangement).program.vars;
        vars.iter().map(|var| var.name.clone()).filter(|name| name.starts_with(['x', 'y'])).collect()
    };
    assert_eq!(names(Arrangement::ByVariable), ["x_1", "x_guess_2", "x_2", "y_1", "y_guess_2", "y_2"]);
    assert_eq!(names(Arrangement::ByContext), ["x_1", "y_1", "x_guess_2", "x_2", "y_guess_2", "y_2"]);
}

#[test]
fn copies_and_guesses_have_the_types_of_their_variables() {
    let text = TWO.replace("shared x, y: bool", "shared x: bool\n    shared n: u8\n    shared y: bool");
    let text = text.replace("y := !x", "n := u8.add(n, 1:u8)");
    let (sequential, text) = sequential(&text, 2);
    let of_number = |var: &&crate::syntax::Var| var.name.starts_with("n_");
    let types: Vec<String> =
        sequential.program.vars.iter().filter(of_number).map(|var| format!("{:?}", var.ty)).collect();
    assert_eq!(types.len(), 3, "{text}");
    assert!(types.iter().all(|ty| ty.contains("bits: 8")), "{types:?}");
}
