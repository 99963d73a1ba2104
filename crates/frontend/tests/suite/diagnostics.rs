//! Findings, at their places. A line `//^^^ CODE text` speaks of the line before it: the carets mark the place, and the
//! message, or the help after it, contains the text.

use selvedge_frontend::bp::{self, Dialect, LoadOptions};
use selvedge_frontend::diagnostic::{Code, Diagnostic};

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Expected {
    line: usize,
    first: usize,
    width: usize,
    code: String,
}

fn check(fixture: &str) {
    check_with(fixture, &LoadOptions::default());
}

fn check_with(fixture: &str, options: &LoadOptions) {
    let loaded = bp::load(fixture, options);
    let mut texts = Vec::new();
    let mut expected = Vec::new();
    let mut source_line = 0;
    for (number, line) in fixture.lines().enumerate() {
        let Some(remark) = line.trim_start().strip_prefix("//^") else {
            source_line = number;
            continue;
        };
        let (carets, remark) = remark.split_once(' ').unwrap_or((remark, ""));
        let (code, text) = remark.split_once(' ').unwrap_or((remark, ""));
        let first = line.find('^').expect("the line has a caret");
        expected.push(Expected { line: source_line, first, width: carets.len() + 1, code: code.to_owned() });
        texts.push((source_line, first, text.to_owned()));
    }
    let mut found: Vec<Expected> = loaded.diagnostics.iter().map(|diagnostic| place(fixture, diagnostic)).collect();
    expected.sort();
    found.sort();
    assert_eq!(found, expected, "in:\n{fixture}\n{:#?}", loaded.diagnostics);
    for (line, first, text) in texts {
        let said = loaded.diagnostics.iter().filter(|diagnostic| {
            let place = place(fixture, diagnostic);
            (place.line, place.first) == (line, first)
        });
        let said: Vec<String> =
            said.map(|diagnostic| format!("{} {:?}", diagnostic.message, diagnostic.help)).collect();
        assert!(said.iter().any(|said| said.contains(&text)), "`{text}` is not said by {said:?}");
    }
    assert_eq!(loaded.program.is_some(), !loaded.diagnostics.iter().any(Diagnostic::is_error));
}

/// The place within the first line of the span.
fn place(text: &str, diagnostic: &Diagnostic) -> Expected {
    let span = diagnostic.primary.span;
    let before = &text[..span.start as usize];
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    let shown = span.of(text).lines().next().unwrap_or("");
    Expected {
        line: before.matches('\n').count(),
        first: span.start as usize - line_start,
        width: shown.len().max(1),
        code: diagnostic.code.as_str().to_owned(),
    }
}

fn codes(text: &str) -> Vec<Code> {
    bp::load(text, &LoadOptions::default()).diagnostics.iter().map(|diagnostic| diagnostic.code).collect()
}

#[test]
fn ten_mistakes_give_ten_diagnostics() {
    check(
        "
decl locked, other;

void main() begin
  decl a, a;
        //^ SV0017 `a` is declared twice
  lokced := 1;
//^^^^^^ SV0012 did you mean `locked`?
  a, a := 0, 1;
   //^ SV0024 `a` is assigned twice
  a := other &;
            //^ SV0003 expected an expression
  if other then goto nowhere; fi;
                   //^^^^^^^ SV0014 there is no label `nowhere`
  helper(1, 0);
//^^^^^^ SV0021 takes 1 argument, not 2
  a, other := 1;
//^^^^^^^^ SV0020 1 value for 2 variables
  a := 'other;
     //^^^^^^ SV0025 the new value
  assume(a
      //^ SV0004 expected `)`
  if a then
//^^ SV0004 has no `fi`
    skip;
end

void helper(p) begin
  skip;
end
",
    );
}

#[test]
fn a_label_of_another_procedure_is_named_as_such() {
    check(
        "
void main() begin
  goto inside;
     //^^^^^^ SV0015 belongs to `other`, not to `main`
end
void other() begin
  inside: goto inside;
end
",
    );
}

#[test]
fn a_missing_od_points_at_the_loop_and_the_rest_is_read() {
    check(
        "
decl x;
void main() begin
  if x then
    while x do
  //^^^^^ SV0004 has no `od`
      x := 0;
  fi;
  y := 1;
//^ SV0012 no variable `y`
end
",
    );
}

#[test]
fn a_missing_end_is_noticed_at_the_next_procedure() {
    check(
        "
void main() begin
          //^^^^^ SV0004 has no `end`
  f();
void f() begin
  skip;
end
",
    );
}

#[test]
fn a_closing_word_without_opener_is_reported_alone() {
    check(
        "
decl x;
void main() begin
  x := 1;
  fi;
//^^ SV0003 `fi` without `if`
  x := 0;
end
",
    );
}

#[test]
fn missing_semicolons_are_reported_behind_the_statement() {
    check(
        "
decl x, y;
void main() begin
  x := 1
     //^ SV0005 before `y`
  y := 0
     //^ SV0005 before `skip`
  skip
end
",
    );
}

#[test]
fn a_missing_then_is_one_mistake() {
    check(
        "
decl x;
void main() begin
  if x goto L; fi;
     //^^^^ SV0003 expected `then`
  L: x := 1;
end
",
    );
}

#[test]
fn stray_characters_and_foreign_letters_give_one_finding_each() {
    check(
        "
decl x, naïve;
      //^^^^^^ SV0001 is not a name
void main() begin
  x := naïve @@ x;
     //^^^^^^ SV0001 is not a name
            //^ SV0001 `@`
  x := 1; // ünïcödé is fine here
end
",
    );
}

#[test]
fn names_in_a_part_that_could_not_be_read_are_not_called_unknown() {
    check(
        "
decl x y, z;
     //^ SV0003 expected `,` before `y`
decl , v;
   //^ SV0003 expected the name of a variable
void main() begin
  x, y, z, v := 1, 1, 1, 1;
  w;
 //^ SV0003 expected `:=` or `(`
  w := 1;
  goto here;
  here skip;
//^^^^ SV0003 expected `:` after the label
end
  helper() begin
//^^^^^^ SV0003 expected `void` or `bool`
  u := 1;
//^ SV0012 no variable `u`
  u := 0;
end
",
    );
}

#[test]
fn a_statement_that_could_not_be_read_is_not_counted() {
    check(
        "
decl x, y;
void f(a) begin assume(a); end
void main() begin
  x, y := 1 1;
          //^ SV0003 expected `;`
  x, y := , 1;
        //^ SV0003 expected an expression
  f(;
  //^ SV0003 expected an expression
  x := y;
end
",
    );
}

#[test]
fn the_word_sync_is_rejected_at_its_place() {
    check(
        "
void main() begin
  L: sync a, b;
   //^^^^^^^^^ SV0028 not supported
  goto L;
end
",
    );
}

#[test]
fn passive_copies_are_rejected_where_they_mean_nothing() {
    check(
        "
decl g;
bool f(a) begin return a; end
void main() begin
  decl l, m;
  l := m$;
     //^^ SV0026 cannot be read here
  assert l$;
       //^^ SV0026
  if l$ then skip; fi;
   //^^ SV0026
  l$ := f(l);
//^^ SV0026
  assume(g$ | l$);
       //^^ SV0027 `g` is shared
  l$, m$ := l$ & m, g;
  m := 1 constrain 'l$ | m$ | g;
  assume('l | l$);
       //^^ SV0025 the new value
end
",
    );
}

#[test]
fn a_variable_whose_name_ends_with_the_passive_sign_is_itself() {
    check("decl x$;\nvoid main() begin\n  decl x;\n  x := x$;\n  x$ := x;\nend\n");
}

#[test]
fn counts_of_results_are_checked() {
    check(
        "
decl x, y;
bool<2> f() begin
  return x;
//^^^^^^^^ SV0023 returns 2 values, not 1
end
bool g() begin
  return;
//^^^^^^ SV0104 without values
end
bool h() begin
  if x then return 1; fi
  end
//^^^ SV0105 can end without
void main() begin
  x := f();
//^ SV0022 returns 2 values, not 1
  x, y := g();
//^^^^ SV0022
  f();
  x := h();
end
",
    );
}

#[test]
fn values_of_main_go_nowhere() {
    check("decl x;\nbool<2> main() begin\n  if x then return; fi;\n  x := 1;\nend\n");
    check("void main() begin\n  return 1;\nend\n");
}

#[test]
fn unreachable_statements_are_reported_once_per_run() {
    check(
        "
decl x;
void main() begin
  if x then return; else goto L; fi;
  x := 1;
//^^^^^^ SV0103 never reached
  x := 0;
  L: x := 1;
end_thread;
  assert(0);
//^^^^^^^^^ SV0103
end
",
    );
}

#[test]
fn generated_labels_and_variables_are_not_called_unused() {
    check(
        "
decl b0, b12_x_lt_y, bx;
                   //^^ SV0101 never used
void main() begin
  PC0: l1: L2: 7: c2bp_b_1: C_1_2: S_1: MY_ERROR_LABEL: _x: skip;
  other: skip;
//^^^^^ SV0102 nothing jumps to
end
",
    );
}

#[test]
fn a_label_that_is_asked_for_is_used() {
    let options = LoadOptions { labels: vec!["other".to_owned()], ..LoadOptions::default() };
    check_with("void main() begin\n  other: skip;\nend\n", &options);
}

#[test]
fn an_entry_that_does_not_exist_is_an_error() {
    let options = LoadOptions { entry: Some("mian".to_owned()), ..LoadOptions::default() };
    check_with("  void main() begin skip; end\n//^^^^^^^^^^^ SV0029 did you mean `main`?\n", &options);
}

#[test]
fn a_thread_can_start_at_labels_and_procedures_only() {
    check(
        "
decl x;
void main() begin
  start_thread wroker;
             //^^^^^^ SV0016 did you mean `worker`?
  start_thread worker;
             //^^^^^^ SV0021 takes 1 argument
  start_thread goto worker;
                  //^^^^^^ SV0014
  start_thread nobody(x);
             //^^^^^^ SV0013
end
void worker(a) begin
  assume(a);
end
",
    );
}

#[test]
fn comparisons_beside_chains_draw_a_warning() {
    check(
        "
decl a, b, c;
void main() begin
  a := a & b = c;
           //^ SV0106 `&` binds tighter than `=`
  a := a != b | c;
       //^^ SV0106
  a := (a & b) = c;
  a := a & b => c;
end
",
    );
}

#[test]
fn initial_values_read_only_what_stands_before() {
    check(
        "
decl x := y, y;
        //^ SV0033 has no value yet
decl thread_local t := x;
decl z := t;
        //^ SV0033 is a per-thread variable
void main() begin
  decl a := a, b := a;
          //^ SV0033
  y := t & b & z;
  a := 1;
end
",
    );
}

#[test]
fn process_mistakes_are_found() {
    check(
        "
  process P [0] begin
           //^ SV0010 between 1 and 65536
  decl own;
  void main() begin
    own := 1; shared_step();
  end
end
  process Q once begin
//^^^^^^^^^^^^^^ SV0031 no procedure `main`
  void run() begin skip; end
end
  process P begin
        //^ SV0019 is defined twice
  void main() begin other(); end
                  //^^^^^ SV0013
end
void shared_step() begin
  own := 0;
//^^^ SV0012
end
",
    );
}

#[test]
fn an_empty_file_has_no_entry() {
    assert_eq!(codes(""), [Code::NoEntry]);
    assert_eq!(codes("\u{feff}// nothing\r\n"), [Code::NoEntry]);
}

#[test]
fn windows_line_ends_mean_nothing() {
    assert_eq!(codes("decl x;\r\nvoid main() begin // first\r\n  x := 1;\r\nend\r\n"), []);
}

#[test]
fn new_values_have_a_meaning_or_are_rejected() {
    let in_main =
        |stmt: &str| format!("decl x;\nbool f(a) begin return a; end\nvoid main() begin\n  x := *;\n  {stmt}\nend\n");
    for stmt in [
        "assume('x);",
        "assume(x');",
        "assert('x);",
        "abortif('x);",
        "if ('x) then skip; fi",
        "while ('x) do skip; od",
        "x := 'x;",
        "x := f('x);",
        "return 'x;",
        "print('x);",
        "start_thread f('x);",
    ] {
        let text = in_main(stmt);
        for dialect in [Dialect::Selvedge, Dialect::Getafix] {
            let options = LoadOptions { dialect: Some(dialect), ..LoadOptions::default() };
            let found: Vec<Code> = bp::load(&text, &options).diagnostics.iter().map(|found| found.code).collect();
            assert!(found.contains(&Code::MisplacedPrime), "{dialect:?}, {stmt}: {found:?}");
        }
    }
    let enforced = "decl x;\nvoid main() begin\n  enforce 'x;\n  x := *;\nend\n";
    assert_eq!(codes(enforced), [Code::MisplacedPrime]);
    assert_eq!(codes("decl x := 'x;\nvoid main() begin\n  x := 0;\nend\n"), [Code::MisplacedPrime]);
    let in_main = |stmt: &str| format!("decl x;\nvoid main() begin\n  x := *;\n  {stmt}\nend\n");
    assert_eq!(codes(&in_main("x := * constrain 'x;")), []);
    assert_eq!(codes(&in_main("constrain(x);")), []);
    assert_eq!(codes(&in_main("constrain('x);")), [Code::RelationalUpdate]);
}

#[test]
fn a_relational_update_needs_the_dialect() {
    check(
        "
decl x, y;
void main() begin
  x := *;
  constrain((x = y) & ('x = y));
                     //^^ SV0041 --dialect getafix
end
",
    );
}

#[test]
fn other_threads_have_no_part_in_relational_updates() {
    let options = LoadOptions { dialect: Some(Dialect::Getafix), ..LoadOptions::default() };
    check_with(
        "
void main() begin
  decl x;
  x := 0;
  constrain('x = x$);
               //^^ SV0026 cannot be read here
  constrain('x$ & 'x);
          //^^^ SV0026 cannot be read here
end
",
        &options,
    );
}

#[test]
fn a_variable_that_marks_sections_is_told_and_excludes_statements_for_the_same() {
    check(
        "
decl atomic;
   //^^^^^^ SV0201 --dialect selvedge
void init() begin
  atomic := F;
end
void thread0() begin
  atomic_begin;
//^^^^^^^^^^^^ SV0028 both kinds
  atomic := T;
end
",
    );
}

#[test]
fn a_thread_begins_with_a_procedure_of_its_own_beside_a_variable_that_marks_sections() {
    check(
        "
decl atomic;
   //^^^^^^ SV0201 no other thread
void init() begin
  atomic := F;
end
  void thread0() begin
//^^^^^^^^^^^^^^ SV0028 also called
  atomic := T;
end
void thread1() begin
  thread0();
end
",
    );
}

#[test]
fn the_dialect_of_getafix_is_told_by_the_shape_of_the_program() {
    let body = "begin atomic := F; end\n";
    let with = |heads: &[&str]| heads.iter().fold("decl atomic;\n".to_owned(), |text, head| text + head + " " + body);
    let is_told = |text: &str, dialect| {
        let options = LoadOptions { dialect, ..LoadOptions::default() };
        bp::load(text, &options).diagnostics.iter().any(|found| found.code == Code::AtomicVariable)
    };
    let shape = with(&["void init()", "void thread0()", "void thread1()"]);
    assert!(is_told(&shape, None));
    assert!(!is_told(&shape, Some(Dialect::Selvedge)));
    let others = [&["void thread0()", "void thread1()"][..], &["void init()", "void thread0()", "void main()"]];
    for heads in others {
        assert!(!is_told(&with(heads), None), "{heads:?}");
        assert!(is_told(&with(heads), Some(Dialect::Getafix)), "{heads:?}");
    }
}
