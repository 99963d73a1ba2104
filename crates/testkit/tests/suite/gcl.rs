//! Programs of guarded commands: those of the literature, the examples, and generated ones, compared with a search over
//! a box.

use selvedge_check::Target;
use selvedge_frontend::gcl;
use selvedge_ir::text::{parse, print};
use selvedge_ir::validate::validate;
use selvedge_ir::{Program, Ty};
use selvedge_replay::replay;
use selvedge_testkit::corpus::{Expected, files, root};
use selvedge_testkit::integers::boxed::task;
use selvedge_testkit::integers::{Bounds, Found, generate, rows, search};

fn load(name: &str, text: &str) -> Program {
    let loaded = gcl::load(text);
    let messages: Vec<&str> = loaded.diagnostics.iter().map(|finding| finding.message.as_str()).collect();
    let program = loaded.program.unwrap_or_else(|| panic!("{name}: {messages:?}\n{text}"));
    validate(&program).unwrap_or_else(|invalid| panic!("{name}: {invalid:?}"));
    program
}

/// Returns the result of the search over the box; an error is executed.
fn boxed(name: &str, program: &Program, bounds: Bounds) -> Option<Expected> {
    let target = Target::all_asserts(program);
    match search(program, &target, bounds) {
        Found::Error(trace) => {
            let replayed = replay(&task(program, &target), &trace);
            assert!(replayed.is_ok(), "{name}: {:?}", replayed.err());
            Some(Expected::Unsafe)
        }
        Found::None { complete: true } => Some(Expected::Safe),
        Found::None { complete: false } => None,
    }
}

#[test]
fn a_search_over_a_box_contradicts_no_program_of_the_tables_and_finds_every_error() {
    let rows = rows();
    assert!(rows.len() >= 39, "{} rows", rows.len());
    for row in rows {
        let program = load(&row.name, &row.text);
        let states = if row.expected == Expected::Safe { 4_000 } else { 250_000 };
        let bounds = Bounds { states, ..Bounds::default() };
        let found = boxed(&row.name, &program, bounds);
        match row.expected {
            Expected::Safe => assert_ne!(found, Some(Expected::Unsafe), "{}", row.name),
            Expected::Unsafe => assert_eq!(found, Some(Expected::Unsafe), "{}", row.name),
        }
    }
}

#[test]
fn our_files_are_in_shape_and_have_their_verdicts() {
    let mut seen = 0;
    for folder in ["tests/programs/gcl", "examples"] {
        for path in files(&root().join(folder), "gcl") {
            let text = std::fs::read_to_string(&path).expect("the file is there");
            let name = path.display().to_string();
            let program = load(&name, &text);
            assert_eq!(gcl::format(&text).as_deref(), Ok(text.as_str()), "{name}");
            let is_unsafe = text.contains("// verdict: unsafe");
            assert!(is_unsafe || text.contains("// verdict: safe"), "{name} has no verdict");
            let found = boxed(&name, &program, Bounds { states: 4_000, ..Bounds::default() });
            assert_eq!(found == Some(Expected::Unsafe), is_unsafe, "{name}");
            seen += 1;
        }
    }
    assert!(seen >= 14, "{seen}");
}

#[test]
fn generated_programs_are_read_print_as_themselves_and_have_integers() {
    let mut errors = 0;
    for number in 0..300 {
        let text = generate::program(1, number);
        let program = load(&format!("program {number}"), &text);
        assert_eq!(parse(&print(&program)).as_ref(), Ok(&program), "{text}");
        assert!(program.vars.iter().any(|var| var.ty == Ty::Int));
        let once = gcl::format(&text).expect("it has no errors");
        assert_eq!(gcl::format(&once).as_deref(), Ok(once.as_str()));
        assert_eq!(load("formatted", &once), program, "{text}");
        let bounds = Bounds { size: 12, inputs: 3, states: 1_500 };
        errors += usize::from(boxed(&text, &program, bounds) == Some(Expected::Unsafe));
    }
    assert!((60..=270).contains(&errors), "{errors} of 300 have an error");
}

#[test]
fn a_program_is_made_smaller_as_long_as_it_shows_the_same() {
    let text = "var x: int;\nvar y: int;\ninit x == 0;\ninit y == 0;\nc0: true -> x := x + 1;\nsafe x < 3 | y > 7;\n";
    let mut shows = |text: &String| boxed(text, &load("smaller", text), Bounds::default()) == Some(Expected::Unsafe);
    let small = "var x: int;\nvar y: int;\nc0: true -> x := x + 1;\nsafe x < 3 | y > 7;\n";
    assert_eq!(generate::shrink(text.to_string(), &mut shows), small, "a program has a command");
}
