//! The host's compiler as a judge of values, types, sizes, offsets and initial values, on generated programs.
//!
//! The compiler checks assertions that hold if our reader is right; for the data model of 32 bits too, since nothing
//! has to be linked. Where bytes in memory are compared, a program is run. Without a compiler the tests say so and
//! pass.

#![allow(clippy::print_stderr, reason = "a test that is skipped says so")]

use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::Command;

use selvedge_frontend::Source;
use selvedge_frontend::c::tree::{Item, StmtKind};
use selvedge_frontend::c::{self, DataModel, Options, Unit};

/// A generator of numbers that is the same everywhere.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % bound.max(1)
    }

    fn pick<'a>(&mut self, list: &[&'a str]) -> &'a str {
        list[self.below(list.len())]
    }
}

fn read(text: &str, model: DataModel) -> Unit {
    c::read(Source::new("main.c", text), &Options { model, ..Options::default() })
}

/// Writes a file for the compiler, and returns its name.
fn write(name: &str, text: &str) -> PathBuf {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{}.c", std::process::id()));
    std::fs::write(&path, text).expect("the file can be written");
    path
}

/// Returns whether there is a compiler for this data model; says so if not.
fn has_compiler(model: DataModel) -> bool {
    let path = write(&format!("probe-{}", model.name()), "_Static_assert(sizeof(int) == 4, \"\");");
    let found = Command::new("cc").args(flags(model)).arg(&path).output().is_ok_and(|output| output.status.success());
    if !found {
        eprintln!("skipped: there is no `cc` for {}", model.name());
    }
    let _ = std::fs::remove_file(path);
    found
}

fn flags(model: DataModel) -> [&'static str; 4] {
    [if model == DataModel::Lp64 { "-m64" } else { "-m32" }, "-std=gnu17", "-w", "-fsyntax-only"]
}

/// Lets the compiler check the assertions in a text.
fn assert_compiles(name: &str, text: &str, model: DataModel) {
    let path = write(name, text);
    let output = Command::new("cc").args(flags(model)).arg(&path).output().expect("the compiler runs");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let _ = std::fs::remove_file(path);
    let first: Vec<&str> = said.lines().take(12).collect();
    assert!(output.status.success(), "{}: {first:#?}", model.name());
}

const TYPES: [&str; 14] = [
    "char",
    "signed char",
    "unsigned char",
    "short",
    "unsigned short",
    "int",
    "unsigned",
    "long",
    "unsigned long",
    "long long",
    "unsigned long long",
    "_Bool",
    "enum small",
    "enum negative",
];

const ENUMS: &str = "enum small { S0, S1, S7 = 7 }; enum negative { N = -5, Z = 0 }; enum wide { W = 5000000000 };\n";

/// Returns a constant expression.
fn expression(random: &mut Random, depth: usize) -> String {
    const CONSTANTS: [&str; 22] = [
        "0",
        "1",
        "2",
        "7",
        "31",
        "255",
        "65535",
        "2147483647",
        "2147483648",
        "0xffffffff",
        "0x7fffffffffffffff",
        "1u",
        "3000000000u",
        "5l",
        "9ul",
        "1ull",
        "'a'",
        "'\\377'",
        "S7",
        "N",
        "W",
        "sizeof(long)",
    ];
    if depth == 0 || random.below(5) == 0 {
        return random.pick(&CONSTANTS).to_owned();
    }
    let one = expression(random, depth - 1);
    match random.below(7) {
        0 => format!("({}){one}", random.pick(&TYPES)),
        1 => format!("{}({one})", random.pick(&["-", "~", "!", "+"])),
        2 => format!("(({one}) ? ({}) : ({}))", expression(random, depth - 1), expression(random, depth - 1)),
        3 => format!("(({one}) {} {})", random.pick(&["<<", ">>"]), random.below(40)),
        _ => {
            let op =
                random.pick(&["+", "-", "*", "/", "%", "&", "|", "^", "==", "!=", "<", "<=", ">", ">=", "&&", "||"]);
            format!("(({one}) {op} ({}))", expression(random, depth - 1))
        }
    }
}

/// Checks that our values and types of constant expressions are the compiler's. Those without a defined value are left
/// out.
#[test]
fn constant_expressions_have_the_values_and_types_of_the_host() {
    for model in DataModel::ALL.iter().copied().filter(|model| has_compiler(*model)) {
        let mut random = Random(3);
        let expressions: Vec<String> = (0..1500).map(|_| expression(&mut random, 4)).collect();
        let body: String = expressions.iter().map(|text| format!("  ({text});\n")).collect();
        let unit = read(&format!("{ENUMS}void test(void) {{\n{body}}}"), model);
        assert!(!unit.has_errors(), "{:#?}", unit.diagnostics);
        let mut checks = ENUMS.to_owned();
        let n_checks = add_checks(&mut checks, &unit, &expressions);
        assert!(n_checks > 800, "only {n_checks} expressions are constant");
        assert_compiles("expressions", &checks, model);
    }
}

fn add_checks(checks: &mut String, unit: &Unit, expressions: &[String]) -> usize {
    let id = unit.function("test").expect("it is there");
    let StmtKind::Block(stmts) = &unit.functions[id].body.as_ref().expect("it is defined").block.kind else {
        panic!("a body is a block")
    };
    let mut n_checks = 0;
    for (text, stmt) in expressions.iter().zip(stmts) {
        let StmtKind::Expr(expr) = &stmt.kind else { panic!("all are expressions") };
        let ty = unit.show_type(expr.ty);
        let _ = writeln!(
            checks,
            "_Static_assert(__builtin_types_compatible_p(__typeof__(({text})), {ty}), \"type {ty}\");"
        );
        // A value that overflows somewhere has none in C.
        let folded = unit.fold(expr).filter(|folded| !folded.overflows);
        let (Some(_), Some(value)) = (folded, unit.integer(expr)) else { continue };
        let literal = match i64::try_from(value) {
            Ok(i64::MIN) => "(-9223372036854775807ll - 1)".to_owned(),
            Ok(_) => format!("{value}ll"),
            Err(_) => format!("{value}ull"),
        };
        let _ = writeln!(checks, "_Static_assert(({text}) == ({ty}){literal}, \"value {value}\");");
        n_checks += 1;
    }
    n_checks
}

/// The variables of expressions that are not constant.
const VARIABLES: &str = "char c; signed char sc; unsigned char uc; short s; unsigned short us; int i; unsigned u; \
    long l; unsigned long ul; long long ll; unsigned long long ull; _Bool b; float f; double d; long double ld; \
    enum small e; enum negative n; enum wide w; int a[3], *p; const char *q; void *v; \
    struct { int b3 : 3; unsigned u5 : 5, u32 : 32; _Bool b1 : 1; enum small e4 : 4; } t; \
    int fn(char); int (*fp)(char);\n";

/// Returns an expression over variables; it may be wrong.
fn variable_expression(random: &mut Random, depth: usize) -> String {
    const LEAVES: [&str; 34] = [
        "c",
        "sc",
        "uc",
        "s",
        "us",
        "i",
        "u",
        "l",
        "ul",
        "ll",
        "ull",
        "b",
        "f",
        "d",
        "ld",
        "e",
        "n",
        "w",
        "a[1]",
        "*p",
        "(t.b3, 1)",
        "+t.b3",
        "-t.u5",
        "~t.u32",
        "+t.b1",
        "+t.e4",
        "1",
        "2u",
        "fn(1)",
        "fp(2)",
        "sizeof a",
        "p",
        "q",
        "v",
    ];
    if depth == 0 || random.below(6) == 0 {
        return random.pick(&LEAVES).to_owned();
    }
    let one = variable_expression(random, depth - 1);
    let other = variable_expression(random, depth - 1);
    match random.below(8) {
        0 => format!("({})({one})", random.pick(&TYPES)),
        1 => format!("{}({one})", random.pick(&["-", "~", "!", "+", "*", "&"])),
        2 => format!("(({one}) ? ({other}) : ({}))", variable_expression(random, depth - 1)),
        3 => format!("{} {} ({other})", random.pick(&LEAVES), random.pick(&["=", "+=", "<<=", "*=", "-="])),
        4 => format!("({})++", random.pick(&LEAVES)),
        5 => format!("(({one}) ?: ({other}))"),
        _ => {
            let op = random.pick(&["+", "-", "*", "/", "%", "&", "<<", ">>", "==", "<", ">=", "&&", "||", ","]);
            format!("(({one}) {op} ({other}))")
        }
    }
}

/// Checks that our types of expressions over variables are the compiler's, for those that we accept.
#[test]
fn expressions_over_variables_have_the_types_of_the_host() {
    for model in DataModel::ALL.iter().copied().filter(|model| has_compiler(*model)) {
        let mut random = Random(13);
        let mut checks = format!("{ENUMS}{VARIABLES}");
        let mut n_checks = 0;
        for _ in 0..1500 {
            let text = variable_expression(&mut random, 3);
            let unit = read(&format!("{ENUMS}{VARIABLES}void test(void) {{ ({text}); }}"), model);
            if !unit.has_errors() {
                let _ = writeln!(checks, "void test{n_checks}(void) {{");
                n_checks += 1;
                add_checks(&mut checks, &unit, &[text]);
                checks.push_str("}\n");
            }
        }
        assert!(n_checks > 600, "only {n_checks} expressions are accepted");
        assert_compiles("types", &checks, model);
    }
}

/// Returns a struct or union with random members. Earlier ones are used as members.
fn record(random: &mut Random, number: usize) -> String {
    let mut text = format!("{} R{number} {{ ", if random.below(5) == 0 { "union" } else { "struct" });
    for member in 0..1 + random.below(7) {
        let ty = random.pick(&TYPES[..11]);
        let width = 1 + random.below(8);
        let _ = match random.below(9) {
            0 => write!(text, "{ty} m{member}[{}]; ", 1 + random.below(5)),
            1 => write!(text, "{ty} m{member} : {width}; "),
            2 => write!(text, "int m{member} : {}; ", 1 + random.below(31)),
            3 => write!(text, "unsigned long long m{member} : {}; ", 1 + random.below(63)),
            4 => write!(text, "{ty} : {}; ", random.below(8)),
            5 => write!(text, "{} *m{member}; ", random.pick(&["void", "char", "struct unknown"])),
            6 if number > 0 => write!(text, "R{} m{member}; ", random.below(number)),
            7 => write!(text, "{} m{member}; ", random.pick(&["double", "float", "long double", "_Bool", "enum wide"])),
            _ => write!(text, "{ty} m{member}; "),
        };
    }
    let attribute = match random.below(8) {
        0 => " __attribute__((packed))",
        1 => " __attribute__((aligned(8)))",
        2 => " __attribute__((packed, aligned(4)))",
        _ => "",
    };
    format!("typedef {text}}}{attribute} R{number};\n")
}

/// Checks that our sizes, alignments and offsets are the compiler's.
#[test]
fn layouts_are_those_of_the_host() {
    for model in DataModel::ALL.iter().copied().filter(|model| has_compiler(*model)) {
        let mut random = Random(5);
        let records: String = (0..400).map(|number| record(&mut random, number)).collect();
        let text = format!("{ENUMS}{records}");
        let unit = read(&text, model);
        assert!(!unit.has_errors(), "{:#?}", unit.diagnostics);
        let mut checks = text.clone();
        for record in unit.types.records.iter().filter(|record| record.body.is_some()) {
            let (Some(body), Some(tag)) = (&record.body, record.tag) else { continue };
            let name = unit.name(tag);
            let (size, align) = (body.size, body.align);
            let _ = writeln!(checks, "_Static_assert(sizeof({name}) == {size}, \"size of {name}: {size}\");");
            let _ = writeln!(checks, "_Static_assert(_Alignof({name}) == {align}, \"alignment of {name}: {align}\");");
            for field in body.fields.iter().filter(|field| field.bits.is_none()) {
                let Some(member) = field.name.map(|member| unit.name(member)) else { continue };
                let offset = field.offset;
                let offset_of = format!("__builtin_offsetof({name}, {member})");
                let _ = writeln!(checks, "_Static_assert({offset_of} == {offset}, \"{name}.{member}: {offset}\");");
            }
        }
        assert_compiles("layouts", &checks, model);
    }
}

/// Compiles and runs a program, and returns what it prints.
fn run(name: &str, text: &str) -> String {
    let path = write(name, text);
    let program = path.with_extension("out");
    let compiled = Command::new("cc").args(["-std=gnu17", "-w", "-o"]).arg(&program).arg(&path).output();
    let compiled = compiled.expect("the compiler runs");
    let said = String::from_utf8_lossy(&compiled.stderr).into_owned();
    assert!(compiled.status.success(), "{said}");
    let output = Command::new(&program).output().expect("the program runs");
    let _ = (std::fs::remove_file(path), std::fs::remove_file(program));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Returns whether programs that the compiler makes have the data model `lp64`.
fn runs_lp64() -> bool {
    let is_known = cfg!(all(target_os = "linux", target_arch = "x86_64"));
    if !is_known {
        eprintln!("skipped: programs of this machine do not have the layout of x86-64");
    }
    is_known && has_compiler(DataModel::Lp64)
}

/// Checks that a bit-field has the bits that the compiler writes.
#[test]
fn bit_fields_are_where_the_host_has_them() {
    if !runs_lp64() {
        return;
    }
    let mut random = Random(7);
    let records: String = (0..200).map(|number| record(&mut random, number)).collect();
    let text = format!("{ENUMS}{records}");
    let unit = read(&text, DataModel::Lp64);
    let mut program = format!("#include <stdio.h>\n#include <string.h>\n{text}int main(void) {{\n");
    let mut expected = String::new();
    for record in &unit.types.records {
        let (Some(body), Some(tag)) = (&record.body, record.tag) else { continue };
        for field in &body.fields {
            let (Some(bits), Some(member)) = (field.bits, field.name) else { continue };
            let (name, member) = (unit.name(tag), unit.name(member));
            let _ = writeln!(
                program,
                "{{ {name} r; unsigned char *b = (void *)&r; memset(b, 0, sizeof r); r.{member} = -1; \
                 int f = -1, n = 0; for (unsigned i = 0; i < 8 * sizeof r; i++) \
                 if (b[i / 8] >> i % 8 & 1) {{ if (f < 0) f = i; n++; }} printf(\"{name}.{member} %d+%d\\n\", f, n); }}"
            );
            let first = field.offset * 8 + u64::from(bits.shift);
            let _ = writeln!(expected, "{name}.{member} {first}+{}", bits.width);
        }
    }
    program.push_str("return 0; }\n");
    assert!(expected.lines().count() > 100);
    assert_eq!(run("bits", &program), expected);
}

/// Returns random initial values in braces, with designators.
fn values(random: &mut Random, depth: usize, is_struct: bool) -> String {
    let mut text = "{ ".to_owned();
    for _ in 0..random.below(5) {
        if random.below(3) == 0 {
            let designator = match (is_struct, random.below(3)) {
                (true, 0) => ".a = ".to_owned(),
                (true, 1) => format!(".n.p[{}] = ", random.below(2)),
                (true, _) => ".u.y = ".to_owned(),
                (false, 0) => format!("[{}].n = ", random.below(3)),
                (false, 1) => format!("[{} ... 2].b = ", random.below(3)),
                (false, _) => format!("[{}] = ", random.below(3)),
            };
            text += &designator;
        }
        let is_list = depth > 0 && random.below(3) == 0;
        let is_inner_struct = random.below(2) == 0;
        text += &match is_list {
            true => values(random, depth - 1, is_inner_struct),
            false => random.below(100).to_string(),
        };
        text += ", ";
    }
    text + "}"
}

/// Returns the bytes that our initial values make.
fn bytes(unit: &Unit, id: c::tree::ObjectId) -> Vec<u8> {
    let object = &unit.objects[id];
    let size = unit.types.layout(object.ty).expect("it is complete").size;
    let mut bytes = vec![0u8; usize::try_from(size).expect("it is small")];
    for item in &object.init.as_ref().expect("it has values").items {
        let value = unit.integer(&item.value).expect("it is constant");
        let (first, n_bits) = match item.bits {
            Some(bits) => (item.offset * 8 + u64::from(bits.shift), u64::from(bits.width)),
            None => (item.offset * 8, unit.types.layout(item.ty).expect("it is complete").size * 8),
        };
        for bit in 0..n_bits {
            let at = usize::try_from(first + bit).expect("it is small");
            bytes[at / 8] |= u8::from(value >> bit & 1 == 1) << (at % 8);
        }
    }
    bytes
}

/// Checks that the initial values of a variable make the bytes that the compiler makes.
#[test]
fn initial_values_are_those_of_the_host() {
    const STRUCT: &str = "typedef struct { char a; int b; struct { short p[2]; unsigned q : 5, r : 9; } n; \
                          union { int x; long y; struct { char v, w; } z; } u; } S;\n";
    if !runs_lp64() {
        return;
    }
    let mut random = Random(9);
    let (mut program, mut expected) = (format!("#include <stdio.h>\n{STRUCT}"), String::new());
    let mut prints = String::new();
    for number in 0..1200 {
        let is_struct = random.below(2) == 0;
        let declared = if is_struct { format!("S v{number}") } else { format!("S v{number}[3]") };
        let definition = format!("{declared} = {};\n", values(&mut random, 2, is_struct));
        let unit = read(&format!("{STRUCT}{definition}"), DataModel::Lp64);
        if unit.has_errors() {
            continue;
        }
        let [Item::Object(id)] = unit.items[..] else { panic!("one variable is declared") };
        program += &definition;
        let _ = writeln!(prints, "show(&v{number}, sizeof v{number});");
        let text: String = bytes(&unit, id).iter().map(|byte| format!("{byte:02x}")).collect();
        let _ = writeln!(expected, "{definition}{text}");
        let _ = writeln!(prints, "puts(\"\");");
    }
    program += "void show(void *p, unsigned long n) { for (unsigned long i = 0; i < n; i++) \
                printf(\"%02x\", ((unsigned char *)p)[i]); }\n";
    let _ = writeln!(program, "int main(void) {{ {prints} return 0; }}");
    let found = run("values", &program);
    let pairs: Vec<(&str, &str)> =
        expected.lines().collect::<Vec<_>>().chunks(2).map(|pair| (pair[0], pair[1])).collect();
    assert!(pairs.len() > 200, "only {} are valid", pairs.len());
    for ((definition, ours), theirs) in pairs.iter().zip(found.lines()) {
        assert_eq!(*ours, theirs, "{definition}");
    }
}
