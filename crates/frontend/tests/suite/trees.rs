//! Tests of the parser, by the dump of the tree.

use selvedge_frontend::bp;
use selvedge_frontend::bp::dump::dump;
use selvedge_frontend::tokens::CommentKind;

/// The dump of the body of `main`, line by line.
fn check(statements: &str, expected: &[&str]) {
    let text = format!("void main() begin\n{statements}\nend\n");
    let parsed = bp::parse(&text);
    assert_eq!(parsed.diagnostics, []);
    let dumped = dump(&parsed.file);
    let lines: Vec<&str> = dumped.lines().skip(2).map(|line| line.strip_prefix("    ").unwrap_or(line)).collect();
    assert_eq!(lines, expected);
}

#[test]
fn labels_keep_their_order_and_repetitions() {
    check(
        "L1: 7: L1: ASYNC_2: f(); end_thread: goto 7, L1; last:",
        &["labels L1 7 L1 ASYNC_2", "call f to ", "labels end_thread", "goto 7 L1", "labels last", "skip"],
    );
}

#[test]
fn spellings_of_one_thing_make_one_tree() {
    let one = bp::parse("void main() begin x := a && b || ~c; x := choose[1, ?]; thread_end; assume x' -> y == z; end");
    let other =
        bp::parse("void main() begin x := (a & b) | !c; x := schoose[1, *]; end_thread; assume('x => (y = z)); end;");
    assert_eq!(dump(&one.file), dump(&other.file));
}

#[test]
fn parentheses_decide_what_a_chain_is() {
    check(
        "x := a & b & c; x := (a & b) & c; x := a & (b & c); x := ((a));",
        &["assign x", "  (& a b c)", "assign x", "  (& (& a b) c)", "assign x", "  (& a (& b c))", "assign x", "  a"],
    );
}

#[test]
fn comparisons_associate_to_the_right_and_conditionals_are_loosest() {
    check(
        "x := a = b => c != d; x := a ? b : c ? d : a = b; x := ? ? ? : ?;",
        &["assign x", "  (= a (=> b (!= c d)))", "assign x", "  (? a b (? c d (= a b)))", "assign x", "  (? * * *)"],
    );
}

#[test]
fn threads_start_in_three_ways() {
    check(
        "start_thread goto l; start_thread 7; start_thread f(a, *);",
        &["start_thread goto l", "start_thread 7", "start_thread call f", "  a", "  *"],
    );
}

#[test]
fn declarations_stay_where_they_stood() {
    let text = "shared decl a, b := *; decl thread_local t; bool<2> f(p, q) decl l := p; begin decl m; skip; decl n; \
     enforce m; return n, l; end";
    let parsed = bp::parse(text);
    assert_eq!(parsed.diagnostics, []);
    let expected = "\
shared decl
  a
  b := *
decl thread_local
  t
procedure f (p q) Bools(2)
  decl
    l := p
  begin
    decl
      m
    skip
    decl
      n
    enforce m
    return
      n
      l
";
    assert_eq!(dump(&parsed.file), expected);
}

#[test]
fn contextual_words_are_names_elsewhere() {
    check(
        "process, init := once, shared & thread_local; init();",
        &["assign process init", "  once", "  (& shared thread_local)", "call init to "],
    );
}

#[test]
fn names_may_contain_signs_and_quotes() {
    check(
        "c$$f(); $main({x==1}); {*p < 5} := 'b$ | b$';",
        &["call c$$f to ", "call $main to ", "  {x==1}", "assign {*p < 5}", "  (| 'b$ 'b$)"],
    );
}

#[test]
fn semicolons_are_optional_before_closing_words() {
    check(
        "if (a) then skip elsif b then skip; else skip fi while (c) do if d then fi od ;; skip",
        &["if a", "  skip", "if b", "  skip", "else", "  skip", "while c", "  if d", "skip"],
    );
}

#[test]
fn comments_are_kept_beside_the_tree() {
    let text = "// one\r\n# two\nvoid main() begin /* three\n */ skip; end // four";
    let parsed = bp::parse(text);
    let comments: Vec<(CommentKind, &str)> =
        parsed.comments.iter().map(|comment| (comment.kind, comment.span.of(text))).collect();
    let expected = [
        (CommentKind::Line, "// one"),
        (CommentKind::Line, "# two"),
        (CommentKind::Block, "/* three\n */"),
        (CommentKind::Line, "// four"),
    ];
    assert_eq!(comments, expected);
}
