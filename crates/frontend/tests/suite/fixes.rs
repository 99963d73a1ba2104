//! The edits that diagnostics suggest: made, they mend the text.

use std::path::Path;

use selvedge_frontend::{LoadOptions, load};

/// Makes the first edit, as often as there is one, and compares the text in the end, which has no errors.
#[track_caller]
fn check(file: &str, text: &str, expected: &str) {
    let mut mended = text.to_owned();
    for _ in 0..10 {
        let loaded = load(Path::new(file), &mended, &LoadOptions::default());
        let Some(fix) = loaded.diagnostics.iter().find_map(|found| found.fix_in(&mended)) else { break };
        mended.replace_range(fix.span.start as usize..fix.span.end as usize, &fix.text);
    }
    assert_eq!(mended, expected);
    let loaded = load(Path::new(file), &mended, &LoadOptions::default());
    assert!(!loaded.has_errors(), "{:?}", loaded.diagnostics);
}

#[test]
fn names_in_boolean_programs() {
    check(
        "p.bp",
        "// options: --thread 2\ndecl locked;\nvoid enter() begin again: if lokced then goto agian; fi; end\n\
         void main() begin\n  locked := 1; entre(); start_thread entr; assert(lcoked);\nend\n",
        "// options: --threads 2\ndecl locked;\nvoid enter() begin again: if locked then goto again; fi; end\n\
         void main() begin\n  locked := 1; enter(); start_thread enter; assert(locked);\nend\n",
    );
}

#[test]
fn words_of_other_languages_in_boolean_programs() {
    check(
        "p.bp",
        "decl x, y = 0;\nvoid main() begin\n  x = true\n  y := x and !y;\n  assert(x or y);\nend\n",
        "decl x, y := 0;\nvoid main() begin\n  x := T;\n  y := x & !y;\n  assert(x | y);\nend\n",
    );
}

#[test]
fn guarded_commands() {
    check(
        "p.gcl",
        "var ticket: int = 0;\nprocess p {\n  at idle: ticket > 0 -> tikcet := *, goto bsuy;\n  at busy: skip;\n}\n\
         safe !(q at buys);\n",
        "var ticket: int = 0;\nprocess p {\n  at idle: ticket > 0 -> ticket := nondet, goto busy;\n  at busy: skip;\n\
         }\nsafe !(p at busy);\n",
    );
}

#[test]
fn c_programs() {
    check(
        "p.c",
        "#include <asert.h>\nstruct point { int left; };\nint counter;\nint main(void) {\n\
         \x20 struct point p = { 0 };\n  cuonter = p.letf;\n  if (counter) goto doen;\n\
         \x20 assert(counter == 0);\ndone:\n  return 0;\n}\n",
        "#include <assert.h>\nstruct point { int left; };\nint counter;\nint main(void) {\n\
         \x20 struct point p = { 0 };\n  counter = p.left;\n  if (counter) goto done;\n\
         \x20 assert(counter == 0);\ndone:\n  return 0;\n}\n",
    );
}

/// The position of a finding can be wider than the name that is wrong: then there is no edit.
#[test]
fn what_the_message_does_not_quote_is_not_replaced() {
    let text = "void mian() begin skip; end\n";
    let options = LoadOptions { entry: Some("main".to_owned()), ..LoadOptions::default() };
    let loaded = load(Path::new("p.bp"), text, &options);
    let found = loaded.diagnostics.iter().find(|found| found.fix.is_some()).expect("a procedure is suggested");
    assert_eq!(found.help.as_deref(), Some("did you mean `mian`?"));
    assert_eq!(found.fix_in(text), None);
}
