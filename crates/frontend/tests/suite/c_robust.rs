//! No text makes the reader of C panic, hang or overflow the stack.

use selvedge_frontend::Source;
use selvedge_frontend::c::{self, Options, dump};
use selvedge_frontend::diagnostic::Code;

const SEEDS: [&str; 3] = [
    "#include <pthread.h>\n#define MAX(a, b) ((a) > (b) ? (a) : (b))\n#ifdef MAX\nstruct s { int a : 3; char b[4]; \
     union { long l; struct { short x, y; }; }; } v[] = { { 1, \"ab\", .x = 2 }, [2 ... 3].b[1] = 'c' };\n#endif\n\
     typedef int (*fn)(struct s *, ...); static _Thread_local enum { A, B = 5, C } e = B;\n\
     void *t(void *p) { int i, a[3] = { [1] = 2 }; for (i = 0; i < MAX(3, i); i++) a[i] += *(int *)p; \
     do { if (a[0]) continue; else break; } while (i--); return ({ goto out; out: p; }); }\n\
     int main() { pthread_t h; pthread_create(&h, 0, t, &e); switch (e) { case A ... B: return 1; default:; } \
     return sizeof(int[v[0].a]) + _Generic(e, int: 1, default: 2) + (fn)0 != 0; }",
    "old(a, b) char a; { return a + b; } int x = 3, *p = &x, f(int, double), q[][2] = { 1, 2, 3 };\n\
     extern int x; const volatile unsigned long long u = 0x1FULL << 3; _Static_assert(sizeof u == 8, \"u\");\n\
     int g(int n, int m[n]) { int v[n]; __auto_type w = v[0]; typeof(w) *z = (int[]){ 1, 2 }; \
     return __builtin_add_overflow(w, n, z) ? z[1] ?: -~!w : (x, *p++, m[0] <<= 2); }\n\
     struct l { struct l *next; struct { int d; } __attribute__((packed, aligned(8))); int tail[]; } *head;\n\
     int k(struct l *l) { return l->next->d % 3 && (char)l->tail[0] || __sync_fetch_and_add(&x, 1); }",
    "# 1 \"a.c\"\n#define S(x) #x\n#define J(a, ...) a##__VA_ARGS__\n#if defined(S) && 1 + 2 * 3 == 7\n\
     char *s = S(\"a\" b) \"c\"; float fl = 1.5e3f;\n#elif 0\n#else\n#error no\n#endif\nint J(a, b) = 'x' + L'y';\n\
     inline static int h(void) { asm volatile(\"nop\" : : : \"memory\"); L: while (1) goto L; }\n",
];

/// A generator of numbers that is the same everywhere.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % bound.max(1)
    }
}

/// Reads a text, and shows what became of it.
fn read(text: &str) -> c::Unit {
    let unit = c::read(Source::new("main.c", text), &Options::default());
    dump::types(&unit);
    for found in &unit.diagnostics {
        unit.files.place(found.primary.span.start);
        assert!(found.primary.span.start <= found.primary.span.end, "{found:?} in {text}");
    }
    unit
}

/// Returns the codes of the errors in a text.
fn codes(text: &str) -> Vec<Code> {
    let mut codes: Vec<Code> =
        read(text).diagnostics.iter().filter(|found| found.is_error()).map(|found| found.code).collect();
    codes.dedup();
    codes
}

/// Deletes, repeats, swaps or replaces parts of a text.
fn mutate(text: &str, random: &mut Random) -> String {
    const WORDS: [&str; 24] = [
        "int",
        "struct",
        "{",
        "}",
        "(",
        ")",
        ";",
        ",",
        "*",
        "&",
        "=",
        "[",
        "]",
        ".",
        "->",
        "#define X(a) a\n",
        "\n#if 1\n",
        "case 1:",
        "typedef",
        "sizeof",
        "'",
        "\"",
        "__VA_ARGS__",
        "static",
    ];
    let mut parts: Vec<&str> = text.split_inclusive([' ', ';', '(', ')', ',', '{', '}', '[', ']']).collect();
    for _ in 0..=random.below(5) {
        let (one, other) = (random.below(parts.len()), random.below(parts.len()));
        match random.below(4) {
            0 => drop(parts.remove(one)),
            1 => parts.insert(one, parts[other]),
            2 => parts.swap(one, other),
            _ => parts[one] = WORDS[random.below(WORDS.len())],
        }
        if parts.is_empty() {
            break;
        }
    }
    parts.concat()
}

#[test]
fn the_seeds_have_no_errors() {
    for seed in SEEDS {
        assert_eq!(codes(seed), [], "{:#?}", read(seed).diagnostics);
    }
}

#[test]
fn mutated_programs_are_read_without_panic() {
    let mut random = Random(11);
    for round in 0..1500 {
        read(&mutate(SEEDS[round % SEEDS.len()], &mut random));
    }
}

#[test]
fn truncated_programs_are_read_without_panic() {
    for seed in SEEDS {
        for cut in (0..seed.len()).filter(|cut| seed.is_char_boundary(*cut)).step_by(3) {
            read(&seed[..cut]);
        }
    }
}

#[test]
fn deep_nesting_is_an_error_and_no_overflow() {
    const DEEP: usize = 20_000;
    let in_main = |body: &str| format!("int x; int main() {{ {body} }}");
    for text in [
        in_main(&format!("x = {}1{};", "(".repeat(DEEP), ")".repeat(DEEP))),
        in_main(&format!("x = {}1;", "-".repeat(DEEP * 2).replace("--", "- -"))),
        in_main(&format!("x = {}1;", "!".repeat(DEEP))),
        in_main(&format!("x = {}1;", "(int)".repeat(DEEP))),
        in_main(&format!("x = {}1{};", "({ ".repeat(DEEP), "; })".repeat(DEEP))),
        in_main(&format!("x = {}1;", "1 ? 2 : ".repeat(DEEP))),
        in_main(&format!("{}1;", "x = ".repeat(DEEP))),
        in_main(&format!("{}{}", "{".repeat(DEEP), "}".repeat(DEEP))),
        in_main(&format!("{};", "if (x) ".repeat(DEEP))),
        in_main(&format!("{};", "while (x) ".repeat(DEEP))),
        in_main(&format!("x = {}1;", "sizeof ".repeat(DEEP))),
        in_main(&format!("x = 1{};", " + 1".repeat(DEEP))),
        in_main(&format!("void *p; x = {}p;", "*(void **)".repeat(DEEP))),
        in_main(&format!("x = 1{};", ", 1".repeat(DEEP))),
        in_main(&format!("{} x = 2;", "if (x) x = 1; else ".repeat(DEEP))),
        format!("int {}x{};", "(".repeat(DEEP), ")".repeat(DEEP)),
        format!("int {}x;", "*".repeat(DEEP)),
        format!("int x{};", "[1]".repeat(DEEP)),
        format!("int x = {}1{};", "{".repeat(DEEP), "}".repeat(DEEP)),
        format!("{} int x; {}", "struct { ".repeat(DEEP), "};".repeat(DEEP)),
        format!("int f({}int{});", "int (*)(".repeat(DEEP), ")".repeat(DEEP)),
        (1..DEEP).fold("typedef int *t0;\n".to_owned(), |text, n| text + &format!("typedef t{} *t{n};\n", n - 1)),
        (1..DEEP).fold("struct s0 { int a; };\n".to_owned(), |text, n| {
            text + &format!("struct s{n} {{ struct s{} a; }};\n", n - 1)
        }),
        format!("enum {{ A = 1{} }};", " + 1".repeat(DEEP)),
    ] {
        let found = codes(&text);
        let head: String = text.chars().take(60).collect();
        assert!(found.contains(&Code::BeyondLimit), "{head}: {found:?}");
    }
}

#[test]
fn long_lists_are_no_nesting() {
    const LONG: usize = 20_000;
    for text in [
        format!("int a[] = {{ {} }};", "1, ".repeat(LONG)),
        format!("int main() {{ {} }}", "; ".repeat(LONG)),
        format!("int x; int main() {{ {} }}", "x = x + 1; ".repeat(LONG)),
        format!("int main(int x) {{ switch (x) {{ {} return 0; }} }}", {
            (0..LONG).map(|n| format!("case {n}: ")).collect::<String>()
        }),
        format!("int main() {{ {} return 0; }}", (0..LONG).map(|n| format!("L{n}: ")).collect::<String>()),
        (0..LONG).map(|n| format!("int v{n};\n")).collect::<String>(),
        format!("int x; int main() {{ {} x = 2; }}", "if (x) x = 1; else ".repeat(1500)),
        format!("char *s = {};", "\"a\" ".repeat(LONG)),
    ] {
        let found = codes(&text);
        assert_eq!(found, [], "{}", text.chars().take(60).collect::<String>());
    }
}

#[test]
fn huge_initial_values_are_stopped() {
    assert_eq!(codes("int a[] = { [0 ... 99999999] = 1 };"), [Code::BeyondLimit]);
    assert_eq!(codes("int a[1 << 30][1 << 30][1 << 30];"), [Code::BeyondLimit]);
    let reversed: String = (0..20_000).rev().map(|n| format!("[{n}] = 1, ")).collect();
    assert_eq!(codes(&format!("int a[] = {{ {reversed} }};")), []);
}

#[test]
fn at_most_twenty_errors_are_reported() {
    let text: String = (0..100).map(|n| format!("int f{n}() {{ return u{n}; }}\n")).collect();
    let n_errors = read(&text).diagnostics.iter().filter(|found| found.is_error()).count();
    assert_eq!(n_errors, 20);
}
