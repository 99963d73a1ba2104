//! Findings in C programs, at their places. A line `//^^^ CODE text` speaks of the line before it: the carets mark the
//! place, and the message, or the help after it, contains the text.

use selvedge_frontend::Source;
use selvedge_frontend::c::{self, Options};
use selvedge_frontend::diagnostic::Diagnostic;

/// The line, the first column and the width of a finding, and its code.
type Found = (usize, usize, usize, String);

fn place(text: &str, diagnostic: &Diagnostic) -> Found {
    let span = diagnostic.primary.span;
    let before = &text[..(span.start as usize).min(text.len())];
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    let shown = span.of(text).lines().next().unwrap_or("");
    let line = before.matches('\n').count();
    (line, span.start as usize - line_start, shown.len().max(1), diagnostic.code.as_str().to_owned())
}

fn check(fixture: &str) {
    let unit = c::read(Source::new("main.c", fixture), &Options::default());
    let (mut expected, mut texts, mut source_line) = (Vec::new(), Vec::new(), 0);
    for (number, line) in fixture.lines().enumerate() {
        let Some(remark) = line.trim_start().strip_prefix("//^") else {
            source_line = number;
            continue;
        };
        let (carets, remark) = remark.split_once(' ').unwrap_or((remark, ""));
        let (code, text) = remark.split_once(' ').unwrap_or((remark, ""));
        let first = line.find('^').expect("the line has a caret");
        expected.push((source_line, first, carets.len() + 1, code.to_owned()));
        texts.push((source_line, first, text.to_owned()));
    }
    let mut found: Vec<Found> = unit.diagnostics.iter().map(|diagnostic| place(fixture, diagnostic)).collect();
    expected.sort();
    found.sort();
    assert_eq!(found, expected, "in:\n{fixture}\n{:#?}", unit.diagnostics);
    for (line, first, text) in texts {
        let here = unit.diagnostics.iter().filter(|diagnostic| {
            let place = place(fixture, diagnostic);
            (place.0, place.1) == (line, first)
        });
        let said: Vec<String> = here.map(|found| format!("{} {:?}", found.message, found.help)).collect();
        assert!(said.iter().any(|said| said.contains(&text)), "`{text}` is not said by {said:?}");
    }
}

#[test]
fn each_statement_has_its_finding_and_the_rest_is_read() {
    check(
        "
int counter, *p;
struct point { int x, y; } origin;
int f(int a) {
  int b = couter;
        //^^^^^^ SV0305 did you mean `counter`?
  b = a + ;
        //^ SV0003 expected an expression, found `;`
  origin.z = 1;
       //^ SV0311 no member `z`
  f(1, 2);
//^^^^^^^ SV0310 takes 1 argument, not 2
  a = 1
     //^ SV0005 expected `;`
  b = 2;
  3 = a;
//^^^^^ SV0309 not an object
  p = 5;
    //^ SV0402 `int *`, not `int`
  *a;
//^^ SV0307 points to nothing
  goto nowhere;
     //^^^^^^^ SV0314 no label `nowhere`
  case 3: ;
//^^^^^^^ SV0315 not inside a `switch`
  continue;
//^^^^^^^^ SV0315 not inside a loop
  return &counter;
       //^^^^^^^^ SV0402
}
",
    );
}

#[test]
fn declarations_that_contradict_each_other_are_found() {
    check(
        "
int x;
  long x;
     //^ SV0306 already declared
int f(int);
int f(int a, int b);
  //^ SV0306
struct s { int a; };
struct s { int b; };
     //^ SV0306 defined twice
void g(void) { int a; int a; }
                        //^ SV0306 declared twice
enum e { A, B, A };
             //^ SV0306
typedef int t;
typedef long t;
           //^ SV0306
int y = 1;
int y = 2;
  //^ SV0306 has an initial value already
struct u v;
       //^ SV0308
  unknown_t w;
//^^^^^^^^^ SV0305 no type `unknown_t`
",
    );
}

#[test]
fn what_is_outside_of_the_language_is_refused_at_its_place() {
    check(
        "
int f(void) {
  int g(void) { return 1; }
    //^^^^^^^ SV0304 a function inside of a function
  void *l = &&here;
          //^^ SV0304 the address of a label
  goto *l;
     //^ SV0304 computed label
here:
  return 0;
}
  _Complex double z;
//^^^^^^^^^^^^^^^ SV0304 complex
__attribute__((constructor)) void init(void);
             //^^^^^^^^^^^ SV0304 `constructor`
  asm(\"nop\");
//^^^ SV0304 assembly outside
",
    );
}

#[test]
fn a_missing_brace_is_reported_at_its_opener() {
    check("int main() {\n         //^ SV0004 to close this\n  while (1) { ; }\n");
}

#[test]
fn a_finding_in_a_macro_is_shown_where_the_macro_is_used() {
    let text = "#define INC(v) (v)++\nint main(void) {\n  INC(3);\n  return 0;\n}\n";
    let unit = c::read(Source::new("main.c", text), &Options::default());
    let [found] = unit.diagnostics.as_slice() else { panic!("{:#?}", unit.diagnostics) };
    assert_eq!(found.primary.span.of(text), "INC(3)");
    assert_eq!(found.secondary[0].label, "in the body of the macro `INC`");
    assert!(found.secondary[0].span.of(text).starts_with('('));
}

#[test]
fn calls_without_a_declaration_are_warned_about() {
    check(
        "
int main(void) {
  helper();
//^^^^^^ SV0401 `helper` is not declared
  helper();
  int *p = malloc(4);
         //^^^^^^ SV0401 `malloc` is not declared
  __VERIFIER_assume(p != 0);
  return 0;
}
",
    );
}

/// Assigning such a struct looked for constant members without end.
#[test]
fn a_struct_is_no_part_of_itself() {
    check("struct s { int a; struct s b; } x;\n                         //^ SV0308 whose size is not known\n");
    let text = "struct s { struct s b[2]; } x, y; void f(void) { x = y; }";
    assert_eq!(c::read(Source::new("main.c", text), &Options::default()).diagnostics.len(), 1);
}
