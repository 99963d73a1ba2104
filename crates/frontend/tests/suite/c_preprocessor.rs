//! The preprocessor of C: what a text becomes, and what is found wrong in it.

use std::path::Path;
use std::rc::Rc;

use selvedge_frontend::Source;
use selvedge_frontend::c::{DataModel, Options, Preprocessed, dump, preprocess};
use selvedge_frontend::diagnostic::Code;

fn run(text: &str) -> Preprocessed {
    preprocess(Source::new("main.c", text), &Options::default())
}

/// Returns the tokens of a text, without line breaks.
fn expand(text: &str) -> String {
    let found = run(text);
    assert_eq!(found.diagnostics, [], "in: {text}");
    dump::tokens(&found).split_whitespace().collect::<Vec<_>>().join(" ")
}

fn codes(text: &str) -> Vec<Code> {
    run(text).diagnostics.iter().map(|found| found.code).collect()
}

#[test]
fn macros_are_replaced_and_replaced_again() {
    assert_eq!(expand("#define A B\n#define B 3\nA B C"), "3 3 C");
    assert_eq!(expand("#define F(x, y) y + x\nF(1, (2, 3)) F"), "(2, 3) + 1 F");
    assert_eq!(expand("#define F(x) [x]\n#define G F\nG(1) F\n(2)"), "[1] [2]");
    assert_eq!(expand("#define F() 7\nF() F( )"), "7 7");
    assert_eq!(expand("#define A 1\n#undef A\nA"), "A");
}

#[test]
fn a_macro_is_not_replaced_inside_of_itself() {
    assert_eq!(expand("#define x (4 + x)\nx"), "(4 + x)");
    assert_eq!(expand("#define f(a) a*g\n#define g(a) f(a)\nf(2)(9)"), "2*9*g");
    assert_eq!(expand("#define foo foo\nfoo(1)"), "foo(1)");
    assert_eq!(expand("#define f(x) x f\nf(1)(2)(3)"), "1 f(2)(3)");
}

/// The examples of the standard, 6.10.3.5.
#[test]
fn the_examples_of_the_standard_hold() {
    let text = "#define x 3\n#define f(a) f(x * (a))\n#undef x\n#define x 2\n#define g f\n#define z z[0]\n\
        #define h g(~\n#define m(a) a(w)\n#define w 0,1\n#define t(a) a\n#define p() int\n#define q(x) x\n\
        #define r(x,y) x ## y\n#define str(x) # x\n\
        f(y+1) + f(f(z)) % t(t(g)(0) + t)(1);\ng(x+(3,4)-w) | h 5) & m\n(f)^m(m);\n\
        p() i[q()] = { q(1), r(2,3), r(4,), r(,5), r(,) };\nchar c[2][6] = { str(hello), str() };";
    assert_eq!(
        expand(text),
        "f(2 * (y+1)) + f(2 * (f(2 * (z[0])))) % f(2 * (0)) + t(1); f(2 * (2+(3,4)-0,1)) | f(2 * (~ 5)) & \
         f(2 * (0,1))^m(0,1); int i[] = { 1, 23, 4, 5, }; char c[2][6] = { \"hello\", \"\" };"
    );
    let text = "#define hash_hash # ## #\n#define mkstr(a) # a\n#define in_between(a) mkstr(a)\n\
        #define join(c, d) in_between(c hash_hash d)\nchar p[] = join(x, y);";
    assert_eq!(expand(text), "char p[] = \"x ## y\";");
    let text = "#define t(x,y,z) x ## y ## z\nint j[] = { t(1,2,3), t(,4,5), t(6,,7), t(8,9,), t(10,,), t(,11,), \
        t(,,12), t(,,) };";
    assert_eq!(expand(text), "int j[] = { 123, 45, 67, 89, 10, 11, 12, };");
}

#[test]
fn strings_and_pastes_take_arguments_as_they_are_written() {
    assert_eq!(expand("#define S(x) #x\nS( a  \"b\\n\" 'c' )"), r#""a \"b\\n\" 'c'""#);
    assert_eq!(expand("#define A 1\n#define S(x) #x x\nS(A)"), "\"A\" 1");
    assert_eq!(expand("#define C(a, b) a##b##_t\nC(x, 1) C(,y)"), "x1_t y_t");
}

#[test]
fn variadic_macros_take_the_rest() {
    assert_eq!(expand("#define V(f, ...) f(__VA_ARGS__)\nV(g, 1, 2) V(h,)"), "g(1, 2) h()");
    assert_eq!(expand("#define P(f, ...) p(f, ##__VA_ARGS__)\nP(1) P(1, 2) P(1, 2, 3)"), "p(1) p(1,2) p(1,2, 3)");
    assert_eq!(expand("#define P(f, rest...) p(f, ##rest)\nP(1) P(1, 2)"), "p(1) p(1,2)");
    assert_eq!(expand("#define S(...) #__VA_ARGS__\nS(a,b)"), "\"a,b\"");
}

#[test]
fn conditions_choose_one_group() {
    assert_eq!(expand("#if 0\nit's\n#elif 1\nb\n#elif 1\nc\n#else\nd\n#endif"), "b");
    assert_eq!(expand("#ifdef A\na\n#else\nb\n#endif\n#ifndef A\nc\n#endif"), "b c");
    assert_eq!(expand("#if 0\n#if 1\nx\n#else\ny\n#endif\n#else\nz\n#endif"), "z");
    assert_eq!(expand("#define A\n#if defined A && defined(A) && !defined B\nx\n#endif"), "x");
    assert_eq!(expand("#if __has_include(<pthread.h>) && !__has_include(<nothing.h>)\nx\n#endif"), "x");
}

#[test]
fn conditions_calculate_with_64_bits() {
    for holds in [
        "1 + 2 * 3 == 7",
        "-1 < 0",
        "-1 > 0u",
        "(2 || 1/0) == 1",
        "(0 && 1/0) == 0",
        "1 ? 2 : 1/0",
        "-7 / 2 == -3 && -7 % 2 == -1",
        "0xFFFFFFFFFFFFFFFF == -1",
        "1 << 4 == 16 && -8 >> 1 == -4",
        "'a' == 97 && '\\n' == 10",
        "undefined_name == 0",
        "~0 == -1 && !0",
        "(3 ^ 1 | 4 & 5) == 6",
    ] {
        assert_eq!(expand(&format!("#if {holds}\nyes\n#endif")), "yes", "{holds}");
    }
    for wrong in ["1/0", "1 +", "(1", "1 2", "1.5", "", "08", "\"x\""] {
        assert_eq!(codes(&format!("#if {wrong}\n#endif")), [Code::CDirective], "{wrong}");
    }
}

#[test]
fn built_in_macros_know_their_place() {
    assert_eq!(expand("__LINE__\n__LINE__ __FILE__"), "1 2 \"main.c\"");
    assert_eq!(expand("#line 40 \"other.c\"\n__LINE__ __FILE__\n__LINE__"), "40 \"other.c\" 41");
    assert_eq!(expand("# 7 \"x.c\" 2\n__LINE__ __FILE__"), "7 \"x.c\"");
    assert_eq!(expand("#define L __LINE__\n\nL __COUNTER__ __COUNTER__"), "3 0 1");
    assert_eq!(expand("#define F(x) __LINE__\nF(\n1)"), "2");
}

#[test]
fn data_models_have_their_macros() {
    let text = "__LP64__ __SIZEOF_LONG__ __SIZE_TYPE__ __i386__";
    assert_eq!(expand(text), "1 8 long unsigned int __i386__");
    let options = Options { model: DataModel::Ilp32, ..Options::default() };
    let found = preprocess(Source::new("main.c", text), &options);
    assert_eq!(dump::tokens(&found).trim(), "__LP64__ 4 unsigned int 1");
}

#[test]
fn pragmas_and_joined_lines_leave_nothing() {
    assert_eq!(expand("#pragma omp parallel\n_Pragma(\"once\") x"), "x");
    assert_eq!(expand("#define A 1 + \\\n  2\nA"), "1 + 2");
    assert_eq!(expand("#def\\\nine A 5\nA"), "5");
    assert_eq!(codes("#pragma pack(1)\n"), [Code::CUnsupported]);
}

#[test]
fn headers_are_found_beside_the_file_and_in_folders() {
    let read = |path: &Path| match path.to_str()? {
        "dir/a.h" => Some(b"#pragma once\n#include \"sub/b.h\"\nint a;\n".to_vec()),
        "dir/sub/b.h" => Some(b"#include \"c.h\"\nint b;\n".to_vec()),
        "dir/sub/c.h" => Some(b"int c;\n".to_vec()),
        "inc/d.h" => Some(b"int d;\n".to_vec()),
        _ => None,
    };
    let options = Options { include: vec!["inc".into()], read: Rc::new(read), ..Options::default() };
    let text = "#include \"a.h\"\n#include \"a.h\"\n#include <d.h>\n#define N <d.h>\n#include N\nint m;";
    let found = preprocess(Source::new("dir/main.c", text), &options);
    assert_eq!(found.diagnostics, []);
    assert_eq!(dump::tokens(&found).replace('\n', " ").trim(), "int c; int b; int a; int d; int d; int m;");
    let place = found.files.place(found.tokens[0].loc.span.start);
    assert_eq!(place.to_string(), "dir/sub/c.h:1:1");
}

#[test]
fn defines_of_the_command_line_come_first() {
    let defines = vec![("N".to_owned(), "4".to_owned()), ("F(x)".to_owned(), "(x)".to_owned())];
    let options = Options { defines, undefines: vec!["__linux__".to_owned()], ..Options::default() };
    let found = preprocess(Source::new("main.c", "N F(1) __linux__"), &options);
    assert_eq!(dump::tokens(&found).trim(), "4 (1) __linux__");
}

#[test]
fn mistakes_have_codes() {
    for (text, code) in [
        ("#include <pthred.h>", Code::CInclude),
        ("#include", Code::CDirective),
        ("#frobnicate", Code::CDirective),
        ("#define 3", Code::CDirective),
        ("#define F(x", Code::CDirective),
        ("#define F(x, x) x", Code::CMacro),
        ("#define F(x) x\nF(1", Code::CMacro),
        ("#define F(x) x\nF(1, 2)", Code::CMacro),
        ("#define F(x) x ## +\nF(a)", Code::CMacro),
        ("#define F(x) #y\nF(a)", Code::CMacro),
        ("#define F ## x", Code::CMacro),
        ("#else", Code::CDirective),
        ("#endif", Code::CDirective),
        ("#if 1\n#else\n#else\n#endif", Code::CDirective),
        ("#if 0\n#else\n#elif 1\n#endif", Code::CDirective),
        ("#if 1", Code::CDirective),
        ("#error don't", Code::CDirective),
        ("#warning careful", Code::CWarning),
        ("#define A 1\n#define A 2", Code::CMacroRedefined),
        ("x @ y", Code::StrayCharacter),
        ("x 'y", Code::CLiteral),
        ("x /* y", Code::UnterminatedComment),
    ] {
        assert_eq!(codes(text), [code], "{text}");
    }
    assert_eq!(codes("#define A 1\n#define A 1\n#define F(x) x\n#define F(x) x"), []);
}

#[test]
fn a_finding_behind_macros_names_all_places() {
    let text = "#define INNER @\n#define OUTER x INNER\nint a = OUTER;";
    let found = run(text).diagnostics.remove(0);
    assert_eq!(found.primary.span.of(text), "OUTER");
    let labels: Vec<(&str, &str)> =
        found.secondary.iter().map(|also| (also.span.of(text), also.label.as_str())).collect();
    let expected = [("@", "in the body of the macro `INNER`"), ("INNER", "in the body of the macro `OUTER`")];
    assert_eq!(labels, expected);
}

#[test]
fn texts_that_explode_are_stopped() {
    let mut text = "#define M0 x x\n".to_owned();
    for level in 1..64 {
        text += &format!("#define M{level} M{0} M{0}\n", level - 1);
    }
    assert_eq!(codes(&(text + "M63")), [Code::BeyondLimit]);
    let nested = format!("#define F(x) x\n{}1{}", "F(".repeat(5000), ")".repeat(5000));
    assert_eq!(codes(&nested), [Code::BeyondLimit]);
    let read = |_: &Path| Some(b"#include \"a.h\"\n#include \"a.h\"\n".to_vec());
    let options = Options { read: Rc::new(read), ..Options::default() };
    let found = preprocess(Source::new("main.c", "#include \"a.h\"\n"), &options);
    assert_eq!(found.diagnostics.iter().map(|found| found.code).collect::<Vec<_>>(), [Code::BeyondLimit]);
    assert_eq!(codes(&"#if 1\n".repeat(100_000))[0], Code::BeyondLimit);
    assert_eq!(codes(&format!("#if {}1\n#endif", "(".repeat(100_000))), [Code::CDirective]);
    let doubled = format!("#define D(x) x x\n{}y{}", "D(".repeat(60), ")".repeat(60));
    assert_eq!(codes(&doubled), [Code::BeyondLimit]);
}
