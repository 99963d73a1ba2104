//! The formatter: its laws on every program at hand, with and without comments thrown in, and its taste in cases.

use std::path::{Path, PathBuf};

use selvedge_frontend::bp::lexer::{TokenKind, lex};
use selvedge_frontend::bp::{MAX_DEPTH, dump::dump, format, parse};
use selvedge_frontend::diagnostic::Code;

const WIDTH: usize = 100;

fn folder(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)
}

/// All `.bp` files under a folder, in order.
fn programs(path: &str) -> Vec<(PathBuf, String)> {
    let mut folders = vec![folder(path)];
    let mut files = Vec::new();
    while let Some(folder) = folders.pop() {
        let Ok(entries) = std::fs::read_dir(&folder) else { continue };
        for entry in entries.flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "bp") {
                files.push(path);
            }
        }
    }
    files.sort();
    files.into_iter().map(|path| (path.clone(), std::fs::read_to_string(path).expect("a readable file"))).collect()
}

fn comments(text: &str) -> Vec<String> {
    lex(text).comments.iter().map(|comment| comment.span.of(text).trim_end().to_owned()).collect()
}

fn mixtures(text: &str) -> usize {
    parse(text).diagnostics.iter().filter(|diagnostic| diagnostic.code == Code::MixedPrecedence).count()
}

/// Formats a text and checks everything that must hold between the text and the result.
fn check_laws(text: &str) -> Result<String, String> {
    let formatted = format(text).map_err(|diagnostics| format!("refused: {diagnostics:?}"))?;
    let again = format(&formatted).map_err(|diagnostics| format!("output refused: {diagnostics:?}\n{formatted}"))?;
    if again != formatted {
        return Err(format!("not idempotent:\n{formatted}\n-- becomes --\n{again}"));
    }
    if dump(&parse(text).file) != dump(&parse(&formatted).file) {
        return Err(format!("another tree:\n{formatted}"));
    }
    if comments(text) != comments(&formatted) {
        return Err(format!("other comments:\n{formatted}"));
    }
    if mixtures(&formatted) > 0 {
        return Err(format!("mixes precedences:\n{formatted}"));
    }
    if formatted.contains("\n\n\n") || formatted.lines().any(|line| line.ends_with(' ')) {
        return Err(format!("stray white space:\n{formatted}"));
    }
    Ok(formatted)
}

fn check_laws_in(path: &str) -> usize {
    let programs = programs(path);
    for (path, text) in &programs {
        if let Err(why) = check_laws(text) {
            panic!("{}: {why}", path.display());
        }
    }
    programs.len()
}

#[test]
fn laws_hold_on_the_examples_and_test_programs() {
    assert!(check_laws_in("examples") >= 8);
    assert!(check_laws_in("tests/programs") >= 60);
}

#[test]
fn laws_hold_on_the_corpus() {
    let Ok(true) = folder("../shared/corpus").try_exists() else {
        return; // The corpus is not part of the repository.
    };
    assert_eq!(check_laws_in("../shared/corpus"), 383);
}

#[test]
fn examples_are_formatted() {
    for (path, text) in programs("examples") {
        let formatted = format(&text).expect("no errors");
        assert!(formatted == text, "{} is not formatted; expected:\n{formatted}", path.display());
    }
}

/// Lines without comments fit, as far as they could be broken.
#[test]
fn lines_of_the_corpus_fit() {
    for (path, text) in programs("../shared/corpus") {
        let formatted = format(&text).expect("no errors");
        for line in formatted.lines().filter(|line| !line.contains("//") && !line.contains("/*")) {
            let words = line.split_whitespace().count();
            assert!(line.chars().count() <= WIDTH || words <= 4, "{}: {line}", path.display());
        }
    }
}

/// One program that has everything.
const EVERYTHING: &str = "\
shared decl a, b := 0 ? 1 : *;
decl thread_local t;
bool<2> f(x, y) decl z; begin enforce a & b | t; return x, schoose[y, !z] end
bool<p, q> g() begin return 0, 1; end
bool atomic_begin() begin return T; end
void skip(u) begin return; end;
init begin a, b := 0, 1; end
process p [2] begin
  decl v := 1;
  void main() begin
    decl w, ww;
    L: 1: L: w, _ := f(a = b => t, !(a ^ b)) ;
    w, w$, _ := *, w$ & a, ? constrain ('w = 'w$) != (b' | ~a);
    if a then if b then goto L, 1; fi else skip(a); elsif_: w := atomic_begin(); fi
    if (a) then assume b elsif b -> a then assert(a == b); M: else dead w, ww; fi;
    while (!(*)) do abortif(a); constrain(b); print(a, b); od
    ASYNC_1: skip(0); start_thread skip(a); start_thread goto L; start_thread L; sync a , b;
    atomic_begin; atomic_end; thread_end; M2:
  end
end
process q once begin void main() begin end end
process r begin void main() begin skip end end
";

/// Throws a comment in at every place between two tokens, one at a time and all at once.
#[test]
fn laws_hold_with_comments_everywhere() {
    let spellings = [
        " /* c */ ",
        " // c\n",
        "\n// c\n",
        "\n\n  /* c */\n",
        "\n/* c */ ",
        " /* c\n   d */ ",
        " /* c */ // d  \n",
        " # c\r\n\r\n/*d*/",
    ];
    let ends: Vec<usize> = {
        let lexed = lex(EVERYTHING);
        lexed.tokens.iter().map(|token| token.span.start as usize).collect()
    };
    for spelling in spellings {
        for place in &ends {
            let text = [&EVERYTHING[..*place], spelling, &EVERYTHING[*place..]].concat();
            check_laws(&text).unwrap_or_else(|why| panic!("{spelling:?} at {place}: {why}"));
        }
    }
    for first in 0..spellings.len() {
        let mut text = String::new();
        let mut start = 0;
        for (index, place) in ends.iter().enumerate() {
            text += &EVERYTHING[start..*place];
            text += spellings[(first + index * 3) % spellings.len()];
            start = *place;
        }
        check_laws(&text).unwrap_or_else(|why| panic!("{why}"));
    }
}

#[test]
fn laws_hold_for_every_shape_of_white_space() {
    for white in ["\n", "\r\n", "\r", "\n\n\n\n", "\t", " \u{FEFF}"] {
        let lexed = lex(EVERYTHING);
        let words: Vec<&str> = lexed.tokens.iter().map(|token| token.span.of(EVERYTHING)).collect();
        check_laws(&words.join(white)).unwrap_or_else(|why| panic!("{white:?}: {why}"));
    }
}

#[test]
fn laws_hold_for_deep_and_long_expressions() {
    let depth = MAX_DEPTH as usize;
    let wrap =
        |before: &str, times: usize, after: &str| [before.repeat(times), "a".into(), after.repeat(times)].concat();
    let deep = [
        wrap("!", depth - 2, ""),
        wrap("(a & ", depth - 2, ")"),
        wrap("a = b & (a != ", depth / 3 - 2, ")"),
        wrap("a = b => ", depth / 2 - 2, ""),
        wrap("a ? ", depth - 2, " : b"),
        wrap("a ? b : ", depth - 2, ""),
        wrap("schoose[", depth - 2, ", 0]"),
        vec!["long_name"; 3000].join(" & "),
        vec!["a = b"; 100].join(" = "),
    ];
    for expr in deep {
        for (before, after) in [("assert ", ""), ("a := ", ""), ("if ", " then fi"), ("a := 0 constrain ", "")] {
            let text = format!("decl a, b;\nvoid main() begin {before}{expr}{after}; end");
            if let Err(why) = check_laws(&text)
                && !why.starts_with("mixes")
            {
                panic!("{before}: {why}");
            }
        }
    }
}

#[test]
fn syntax_errors_are_returned_and_nothing_is_formatted() {
    let diagnostics = format("void main() begin x := ; if a then end").expect_err("two errors");
    assert!(diagnostics.iter().filter(|diagnostic| diagnostic.is_error()).count() >= 2);
}

#[test]
fn broken_texts_do_not_panic() {
    let tokens = lex(EVERYTHING).tokens;
    for token in tokens.iter().filter(|token| token.kind != TokenKind::Eof) {
        let (start, end) = (token.span.start as usize, token.span.end as usize);
        for text in [EVERYTHING[..end].to_owned(), [&EVERYTHING[..start], &EVERYTHING[end..]].concat()] {
            if format(&text).is_ok() {
                check_laws(&text).unwrap_or_else(|why| panic!("{why}"));
            }
        }
    }
}

#[test]
fn empty_texts() {
    assert_eq!(format(""), Ok(String::new()));
    assert_eq!(format(" \n\n"), Ok(String::new()));
    assert_eq!(format("\n\n  // c  \n\n"), Ok("// c\n".to_owned()));
}

/// Compares the formatted text with an expectation, after checking the laws.
#[track_caller]
fn check(text: &str, expected: &str) {
    let formatted = check_laws(text).unwrap_or_else(|why| panic!("{why}"));
    assert!(formatted == expected, "expected:\n{expected}\nfound:\n{formatted}");
}

/// The same for statements in a procedure.
#[track_caller]
fn check_stmts(text: &str, expected: &str) {
    let indented: String = expected.lines().map(|line| format!("  {line}").trim_end().to_owned() + "\n").collect();
    check(&format!("void main() begin\n{text}\nend"), &format!("void main() begin\n{indented}end\n"));
}

#[test]
fn one_statement_per_line() {
    check_stmts("x:=1;y:=0 ; if(x)then skip fi y:=f(x,y)", "x := 1;\ny := 0;\nif x then\n  skip;\nfi;\ny := f(x, y);");
}

#[test]
fn labels_stand_before_their_statement() {
    check_stmts("l1:\n PC8: skip; // location only\n\n l2:\n", "l1: PC8: skip; // location only\n\nl2: skip;");
}

#[test]
fn other_spellings_become_one() {
    check_stmts(
        "x := ~y && z || choose[a,?]; assert x == y; thread_end; x := * constrain x' -> y;",
        "x := !y & z | schoose[a, *];\nassert(x = y);\nend_thread;\nx := * constrain 'x => y;",
    );
}

#[test]
fn parentheses_that_help_stay() {
    check_stmts(
        "assert(((a & b) = c)); assert(a & b = c); assert((a) | (b & c)); assert((a | b) ^ c);",
        "assert((a & b) = c);\nassert((a & b) = c);\nassert(a | b & c);\nassert((a | b) ^ c);",
    );
    check_stmts("assert((a = b) = (c => d)); assert(a = (b = c));", "assert((a = b) = (c => d));\nassert(a = b = c);");
    check_stmts("assert(!(!(a)) & (!'b));", "assert(!!a & !'b);");
}

#[test]
fn parentheses_of_the_tree_stay() {
    check_stmts("assert((a & b) & c); assert(!(a & b));", "assert((a & b) & c);\nassert(!(a & b));");
}

#[test]
fn procedures_stand_between_blank_lines() {
    check(
        "decl a;\n\n\n\ndecl b; // of b\n// of f\nvoid f() begin end void main() decl x;begin\n\n\n f();\n\n\nend",
        "decl a;\n\ndecl b; // of b\n\n// of f\nvoid f() begin\nend\n\nvoid main()\n  decl x;\nbegin\n  f();\nend\n",
    );
}

#[test]
fn comments_stay_beside_what_they_explain() {
    check_stmts(
        "// first\n x := 1; // one\n\n // second\n // third\n if x // why\n then // then\n skip; // s\n // last\n fi \
         // done",
        "// first\nx := 1; // one\n\n// second\n// third\nif x then // why\n  // then\n  skip; // s\n  // last\n\
         fi; // done",
    );
}

#[test]
fn comments_in_lists_and_expressions() {
    check(
        "decl a, // first\n     b, // second\n /* inner */ c;",
        "decl a, // first\n    b, // second\n    /* inner */ c;\n",
    );
    check_stmts(
        "x := a & // left\n b & /* middle */ c // right\n ;",
        "x := a & // left\n    b & /* middle */ c; // right",
    );
    check_stmts("f(/* in */ a, b /* out */);", "f(/* in */ a, b); /* out */");
}

#[test]
fn long_lines_break_at_commas_and_operators() {
    let names: Vec<String> = (10..40).map(|number| format!("b{number}")).collect();
    check(
        &format!("decl {};", names.join(",")),
        "decl b10, b11, b12, b13, b14, b15, b16, b17, b18, b19, b20, b21, b22, b23, b24, b25, b26, b27, b28,\n    \
         b29, b30, b31, b32, b33, b34, b35, b36, b37, b38, b39;\n",
    );
    let pair = |name: &str| format!("(!{name}_predicate | '{name}_predicate_after_it | {name}_again)");
    check_stmts(
        &format!("x, y := *, * constrain {} & {} & {}", pair("one"), pair("two"), pair("three")),
        "x, y := *, *\n    constrain (!one_predicate | 'one_predicate_after_it | one_again) &\n      \
         (!two_predicate | 'two_predicate_after_it | two_again) &\n      \
         (!three_predicate | 'three_predicate_after_it | three_again);",
    );
}

#[test]
fn processes() {
    check(
        "shared decl g;init begin g:=0;end process p once begin decl v;void main() begin v:=g;end end process \
         q[3] begin \
         void main() begin end end",
        "shared decl g;\n\ninit begin\n  g := 0;\nend\n\nprocess p once begin\n  decl v;\n\n  void main() begin\n    \
         v := g;\n  end\nend\n\nprocess q [3] begin\n  void main() begin\n  end\nend\n",
    );
}

#[test]
fn a_byte_order_mark_in_a_comment_stays() {
    assert_eq!(selvedge_frontend::bp::format("//\u{feff} \n").as_deref(), Ok("//\u{feff}\n"));
}
