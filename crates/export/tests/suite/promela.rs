//! Models for SPIN, by their text. Whether their verdicts are right is tried with SPIN itself in `testkit`.

use selvedge_check::{Task, ThreadScope};
use selvedge_export::promela;
use selvedge_frontend::bp::{LoadOptions, load};
use selvedge_frontend::{Context, Source};
use selvedge_ir::Target;

fn model(text: &str, threads: u32) -> Result<String, String> {
    let loaded = load(text, &LoadOptions::default());
    let program = loaded.program.expect("the program has no errors");
    let target = Target::all_asserts(&program);
    let source = Source::new("test.bp", text.to_string());
    let context = Context { program: &program, map: &loaded.source_map, source: &source };
    promela::render(context, &Task { program: &program, target: &target, threads: ThreadScope::AtMost(threads) })
}

fn written(text: &str) -> String {
    model(text, 2).expect("the program has a model")
}

#[test]
fn a_section_that_blocks_in_the_middle_is_one_guarded_transition() {
    let text = written(
        "decl x := 0, y := 0; void main() begin start_thread w; w: atomic_begin; x := !x; assume(y); y := !x; \
         atomic_end; assert(x); y := 1; end",
    );
    assert!(!text.contains("holder"), "{text}");
    assert!(text.contains("d_step { (g1); "), "{text}");
}

#[test]
fn a_section_with_a_loop_or_a_start_needs_the_flag() {
    let round = "decl x := 0; void main() begin start_thread w; w: atomic_begin; while x do x := *; od; atomic_end; \
                 x := *; assert(x); end";
    let start = "decl x := 0; void main() begin atomic_begin; start_thread w; x := 1; atomic_end; goto e; \
                 w: assert(x); e: skip; end";
    for text in [round, start] {
        let text = written(text);
        assert!(text.contains("holder = _pid") && text.contains("holder = 0"), "{text}");
        assert!(text.contains("(!holder"), "{text}");
    }
}

#[test]
fn many_choices_are_made_one_variable_at_a_time() {
    let names: Vec<String> = (0..8).map(|number| format!("x{number}")).collect();
    let (list, stars) = (names.join(", "), ["*"; 8].join(", "));
    let text =
        written(&format!("decl {list}; void main() begin {list} := {stars}; assert({}); end", names.join(" | ")));
    assert_eq!(text.matches("h7 = 1 fi").count(), 1, "{text}");
    assert!(text.lines().all(|line| line.len() < 1_000), "{text}");
}

#[test]
fn exchanged_variables_are_saved_first() {
    let text = written("decl x, y; void main() begin while * do x, y := y, x; od; assert(x | !y); end");
    assert!(text.contains("h0 = g0; g0 = g1; g1 = h0"), "{text}");
}

#[test]
fn negations_in_a_row_are_kept_apart() {
    let text = written("decl x; void main() begin decl y; assert(!y => x); end");
    assert!(!text.contains("!!") && text.contains("(!(!l0) || g0)"), "{text}");
}

#[test]
fn without_starts_there_are_neither_channels_nor_idle_processes() {
    let text = written("decl x := 0; void main() begin x := !x; assert(x); end");
    assert!(!text.contains("chan") && !text.contains("idle") && text.matches("run thread").count() == 1, "{text}");
}

#[test]
fn passive_copies_and_unbounded_threads_are_refused() {
    let passive = "void main() begin decl v := 0; start_thread w; w: v$ := 1; assert(v); end";
    assert!(model(passive, 2).is_err_and(|reason| reason.contains("line 1, `v$ := 1`")));
    assert!(model("decl x; void main() begin assert(x); end", 1_000).is_ok(), "one thread of thousand is used");
    let many = "decl x; void main() begin start_thread w; w: assert(x); end";
    assert!(model(many, 1_000).is_err_and(|reason| reason.contains("at most 200 threads")));
}

/// The locations of `init` are written in their order; the clause puts its entry behind the others.
#[test]
fn the_process_that_runs_init_begins_at_its_entry() {
    let text = written(
        "decl g; void thread0() begin start_thread L2; L2: assert(g); end void init() begin enforce !F; g := T; end",
    );
    let init = text.split("\ninit {").nth(1).expect("there is a process `init`");
    let (before, _) = init.split_once(" = 1; goto").expect("it assigns");
    let entry = before.rsplit("\nL").next().and_then(|rest| rest.split(':').next()).expect("a label is above");
    assert!(init.contains(&format!("  goto L{entry};\n")), "{text}");
}
