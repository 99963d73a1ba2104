//! The typed tree of C: conversions, types, declarations, statements, initial values.

use selvedge_frontend::Source;
use selvedge_frontend::c::tree::{Definition, Expr, Linkage, StmtKind, Storage};
use selvedge_frontend::c::{self, DataModel, Options, Unit, dump};

fn read_with(text: &str, model: DataModel) -> Unit {
    let unit = c::read(Source::new("main.c", text), &Options { model, ..Options::default() });
    let errors: Vec<_> = unit.diagnostics.iter().filter(|found| found.is_error()).collect();
    assert!(errors.is_empty(), "in:\n{text}\n{errors:#?}");
    unit
}

fn read(text: &str) -> Unit {
    read_with(text, DataModel::Lp64)
}

/// The declarations that expressions use.
const DECLARATIONS: &str = "
    char c; signed char sc; unsigned char uc; short s; unsigned short us; int i, j; unsigned u; long l;
    unsigned long ul;
    long long ll; _Bool b; float f; double d; enum e { A, B } e; int *p, *q, a[3], m[2][3]; const int *cp; void *v;
    struct st { int x; unsigned b3 : 3; unsigned b32 : 32; struct { int in; }; int arr[2]; } st, *ps; _Atomic int at;
    int fn(int, char); int (*fp)(int, char); int var(int, ...); volatile int vo; struct st gs(void); int old();
    ";

/// Returns an expression statement as text.
fn show(text: &str) -> String {
    let unit = read(&format!("{DECLARATIONS} void test(void) {{ {text}; }}"));
    dump::expression(&unit, last_expr(&unit))
}

fn last_expr(unit: &Unit) -> &Expr {
    let id = unit.function("test").expect("there is a function `test`");
    let body = unit.functions[id].body.as_ref().expect("it is defined");
    let StmtKind::Block(stmts) = &body.block.kind else { panic!("a body is a block") };
    match &stmts.last().expect("it has a statement").kind {
        StmtKind::Expr(expr) => expr,
        other => panic!("{other:?} is no expression"),
    }
}

/// Checks the type of an expression.
fn has_type(text: &str, ty: &str) {
    let unit = read(&format!("{DECLARATIONS} void test(void) {{ {text}; }}"));
    assert_eq!(unit.show_type(last_expr(&unit).ty), ty, "{text}");
}

#[test]
fn operands_are_promoted_and_balanced() {
    assert_eq!(
        show("c + s"),
        "(+ (implicit integer (load c : char) : int) (implicit integer (load s : short) : int) : int)"
    );
    assert_eq!(show("i < u"), "(< (implicit integer (load i : int) : unsigned int) (load u : unsigned int) : int)");
    assert_eq!(show("uc << l"), "(<< (implicit integer (load uc : unsigned char) : int) (load l : long) : int)");
    assert_eq!(show("-b"), "(minus (implicit integer (load b : _Bool) : int) : int)");
    assert_eq!(show("i + d"), "(+ (implicit integer-to-float (load i : int) : double) (load d : double) : double)");
    for (text, ty) in [
        ("l + u", "long"),
        ("ll + ul", "unsigned long long"),
        ("l + ul", "unsigned long"),
        ("us + uc", "int"),
        ("e + 1", "unsigned int"),
        ("A", "int"),
        ("f + f", "float"),
        ("~c", "int"),
        ("!d", "int"),
        ("'a'", "int"),
        ("L'a'", "int"),
        ("sizeof i", "unsigned long"),
        ("p - q", "long"),
        ("b ? c : sc", "int"),
        ("st.b3 + 0", "int"),
        ("st.b32 + 0", "unsigned int"),
        ("c", "char"),
        ("(short)i", "short"),
        ("c += 1", "char"),
        ("c++", "char"),
        ("i, ll", "long long"),
        ("1 ? p : 0", "int *"),
        ("1 ? p : v", "void *"),
        ("1 ? p : cp", "const int *"),
        ("1 ? 0 : (void *)0", "void *"),
        ("&a", "int (*)[3]"),
        ("a", "int *"),
        ("m", "int (*)[3]"),
        ("*m", "int *"),
        ("fn", "int (*)(int, char)"),
        ("&fn", "int (*)(int, char)"),
        ("*fp", "int (*)(int, char)"),
        ("\"abc\"", "char *"),
        ("&\"abc\"", "char (*)[4]"),
        ("at", "int"),
        ("&at", "_Atomic int *"),
        ("gs().x", "int"),
    ] {
        has_type(text, ty);
    }
}

#[test]
fn constants_have_the_first_type_that_holds_them() {
    for (text, lp64, ilp32) in [
        ("2147483647", "int", "int"),
        ("2147483648", "long", "long long"),
        ("0x7fffffff", "int", "int"),
        ("0x80000000", "unsigned int", "unsigned int"),
        ("4294967296", "long", "long long"),
        ("0x8000000000000000", "unsigned long", "unsigned long long"),
        ("1u", "unsigned int", "unsigned int"),
        ("1l", "long", "long"),
        ("1ul", "unsigned long", "unsigned long"),
        ("1ll", "long long", "long long"),
        ("4294967295u", "unsigned int", "unsigned int"),
        ("4294967296u", "unsigned long", "unsigned long long"),
        ("037777777777", "unsigned int", "unsigned int"),
        ("1.5", "double", "double"),
        ("1.5f", "float", "float"),
        ("1.5L", "long double", "long double"),
        ("u'a'", "unsigned short", "unsigned short"),
        ("sizeof(int)", "unsigned long", "unsigned int"),
    ] {
        for (model, expected) in [(DataModel::Lp64, lp64), (DataModel::Ilp32, ilp32)] {
            let unit = read_with(&format!("void test(void) {{ {text}; }}"), model);
            assert_eq!(unit.show_type(last_expr(&unit).ty), expected, "{text} in {}", model.name());
        }
    }
}

#[test]
fn places_are_read_written_and_addressed() {
    assert_eq!(
        show("*p = a[1]"),
        "(= (deref (load p : int *) : int) (load (deref (pointer+ (decay a : int *) 1:int : int *) : int) : int) : int)"
    );
    assert_eq!(
        show("ps->in"),
        "(load (member 0 (member 3 (deref (load ps : struct st *) : struct st) : struct <1>) : int) : int)"
    );
    assert_eq!(show("&*p"), "(load p : int *)");
    assert_eq!(show("&a[2]"), "(pointer+ (decay a : int *) 2:int : int *)");
    assert_eq!(show("2[a]"), "(load (deref (pointer+ (decay a : int *) 2:int : int *) : int) : int)");
    assert_eq!(show("p += 2"), "(pointer+= p 2:int : int *)");
    assert_eq!(show("--p"), "(pre-- p : int *)");
    assert_eq!(show("c += l"), "(+= long c (load l : long) : char)");
    assert_eq!(show("s <<= 1"), "(<<= int s 1:int : short)");
    assert_eq!(show("st = *ps"), "(= st (load (deref (load ps : struct st *) : struct st) : struct st) : struct st)");
    assert_eq!(show("b = p"), "(= b (implicit bool (load p : int *) : _Bool) : _Bool)");
    assert_eq!(show("p == 0"), "(== (load p : int *) (implicit integer-to-pointer 0:int : int *) : int)");
    assert_eq!(show("i ?: j"), "(? (load i : int) (load j : int) : int)");
}

#[test]
fn calls_convert_their_arguments() {
    assert_eq!(
        show("fn(l, i)"),
        "(call fn (implicit integer (load l : long) : int) (implicit integer (load i : int) : char) : int)"
    );
    assert_eq!(show("fp(1, 2)"), "(call (load fp : int (*)(int, char)) 1:int (implicit integer 2:int : char) : int)");
    assert_eq!(
        show("(*fp)(1, 2)"),
        "(call (decay (deref (load fp : int (*)(int, char)) : int (int, char)) : int (*)(int, char)) 1:int \
         (implicit integer 2:int : char) : int)"
    );
    assert_eq!(
        show("(&fn)(1, 2)"),
        "(call (address fn : int (*)(int, char)) 1:int (implicit integer 2:int : char) : int)"
    );
    assert_eq!(
        show("var(1, c, f)"),
        "(call var 1:int (implicit integer (load c : char) : int) (implicit float (load f : float) : double) : int)"
    );
    assert_eq!(show("old(s)"), "(call old (implicit integer (load s : short) : int) : int)");
}

#[test]
fn functions_of_the_compiler_are_typed_by_their_operands() {
    assert_eq!(
        show("__sync_fetch_and_add(&i, c)"),
        "(builtin SyncFetch { op: Add, returns_new: false } (address i : int *) \
         (implicit integer (load c : char) : int) : int)"
    );
    assert_eq!(
        show("__sync_bool_compare_and_swap(&l, 1, 2)"),
        "(builtin SyncBoolCompareAndSwap (address l : long *) (implicit integer 1:int : long) \
         (implicit integer 2:int : long) : _Bool)"
    );
    assert_eq!(show("__sync_synchronize()"), "(builtin SyncSynchronize : void)");
    assert_eq!(show("__atomic_load_n(&at, 5)"), "(builtin AtomicLoad (address at : _Atomic int *) 5:int : int)");
    assert_eq!(
        show("__atomic_compare_exchange_n(&at, p, 3, 0, 5, 5)"),
        "(builtin AtomicCompareExchange (address at : _Atomic int *) (load p : int *) 3:int \
         (implicit bool 0:int : _Bool) 5:int 5:int : _Bool)"
    );
    assert_eq!(
        show("__builtin_add_overflow(i, l, &c)"),
        "(builtin Overflow(Add) (load i : int) (load l : long) (address c : char *) : _Bool)"
    );
    assert_eq!(show("__builtin_expect(i, 0)"), "(implicit integer (load i : int) : long)");
    assert_eq!(show("__builtin_offsetof(struct st, arr[1])"), "20:unsigned long");
    assert_eq!(show("__builtin_types_compatible_p(int, enum e)"), "0:int");
    assert_eq!(show("__builtin_types_compatible_p(unsigned, enum e)"), "1:int");
    assert_eq!(show("__builtin_constant_p(i) + __builtin_constant_p(3)"), "(+ 0:int 1:int : int)");
    assert_eq!(show("__builtin_choose_expr(1, i, d)"), "(load i : int)");
    assert_eq!(show("_Generic(c + 0, char: 1, int: 2, default: 3)"), "2:int");
    assert_eq!(show("_Generic(p, const int *: 1, int *: 2)"), "2:int");
    assert_eq!(
        show("__builtin_popcountl(i)"),
        "(builtin Popcount (implicit integer (load i : int) : unsigned long) : int)"
    );
}

/// Returns the type of a variable as its declaration says it.
fn declared(text: &str, name: &str) -> String {
    let unit = read(text);
    let object = unit.objects.iter().find(|object| unit.name(object.name) == name).expect("it is declared");
    unit.types.declare(object.ty, name.to_owned(), &unit.names)
}

#[test]
fn declarators_are_read_inside_out() {
    for text in [
        "int x",
        "int *x",
        "int *const x",
        "const char *x",
        "int x[2][3]",
        "int (*x)[3]",
        "int *x[3]",
        "int (*x)(int, char)",
        "int *(*x)(void)",
        "int (*(*x)(void))[3]",
        "void (*x[2])(int (*)(char), ...)",
        "int (*x)()",
        "volatile _Atomic long x",
        "char *(*(**x[8])())[7]",
    ] {
        assert_eq!(declared(&format!("{text};"), "x"), text);
    }
    assert_eq!(declared("unsigned long int long x;", "x"), "unsigned long long x");
    assert_eq!(declared("_Atomic(int) x;", "x"), "_Atomic int x");
    assert_eq!(declared("typedef int t[3]; const t x;", "x"), "const int x[3]");
    assert_eq!(declared("int y; typeof(y) *x;", "x"), "int *x");
    assert_eq!(declared("int x[] = { 1, 2, 3 };", "x"), "int x[3]");
    assert_eq!(declared("char x[] = \"abc\";", "x"), "char x[4]");
    assert_eq!(declared("int x[]; int x[5];", "x"), "int x[5]");
    assert_eq!(declared("void f(int x[3]) { }", "x"), "int *x");
    assert_eq!(declared("void f(void) { __auto_type x = 1.5f; }", "x"), "float x");
    assert_eq!(declared("typedef unsigned int x8 __attribute__((__mode__(__QI__))); x8 x;", "x"), "unsigned char x");
    assert_eq!(declared("static x;", "x"), "int x");
}

#[test]
fn storage_and_linkage_follow_the_words() {
    let unit = read(
        "int tentative; int defined = 1; extern int other; static int hidden; _Thread_local int own; extern int defined;
         void f(int param) { static int kept = 3; int local; extern int other; }",
    );
    let find = |name: &str| {
        let object = unit.objects.iter().find(|object| unit.name(object.name) == name).expect("it is declared");
        (object.storage, object.linkage, object.definition)
    };
    assert_eq!(find("tentative"), (Storage::Static, Linkage::External, Definition::Tentative));
    assert_eq!(find("defined"), (Storage::Static, Linkage::External, Definition::Defined));
    assert_eq!(find("other"), (Storage::Static, Linkage::External, Definition::Declared));
    assert_eq!(find("hidden"), (Storage::Static, Linkage::Internal, Definition::Tentative));
    assert_eq!(find("own").0, Storage::Thread);
    assert_eq!(find("kept"), (Storage::Static, Linkage::None, Definition::Defined));
    assert_eq!(find("local").0, Storage::Auto);
    assert_eq!(find("param").0, Storage::Param);
    let n_other = unit.objects.iter().filter(|object| unit.name(object.name) == "other").count();
    assert_eq!(n_other, 1, "`extern` names one object everywhere");
}

#[test]
fn inner_names_hide_outer_ones() {
    let unit = read("int x; int test(void) { long x; { char x; x; } }");
    let id = unit.function("test").expect("it is there");
    let text = dump::types(&unit);
    assert!(unit.functions[id].body.is_some() && text.contains("do (load x : char)"), "{text}");
    let text = dump::types(&read("typedef int T; void f(void) { int T = 1; T * T; }"));
    assert!(text.contains("(* (load T : int) (load T : int) : int)"), "{text}");
}

#[test]
fn old_definitions_and_missing_types_are_read() {
    let text = dump::types(&read("main() { return add(1, 2); } add(a, b) char a; { return a + b; }"));
    assert!(text.contains("function int main()") && text.contains("param defined char a"), "{text}");
    assert!(text.contains("param defined int b"), "{text}");
}

#[test]
fn statements_keep_their_structure() {
    let text = dump::types(&read(
        "int f(int x) {
           again: switch (x) { case 1: x = 2; { case 2: break; } default: while (x) { if (x) continue; else break; } }
           do x--; while (x); for (int i = 0, j; i < 3; i++) goto again; for (;;) break;
           asm volatile(\"\" ::: \"memory\"); return x; }",
    ));
    let expected = "function int f(int)
  param defined int x
  block
    label 0
    switch (load x : int)
      case 0: 1 .. 1
      case 1: 2 .. 2
      case 2: default
      block
        at case 0
        do (= x 2:int : int)
        block
          at case 1
          break
        at case 2
        while (load x : int)
          block
            if (load x : int)
              continue
            else
              break
    repeat
      do (post-- x : int)
    while (load x : int)
    for
      auto defined int i
        @0  = 0:int
      auto defined int j
      condition (< (load i : int) 3:int : int)
      step (post++ i : int)
      goto 0
    for
      condition
      step
      break
    asm
    return (load x : int)
";
    assert_eq!(text, expected);
}

#[test]
fn cases_are_values_of_the_promoted_type() {
    let text =
        dump::types(&read("int f(unsigned char c) { switch (c) { case -1: return 1; case 'a' ... 'z': return 2; } }"));
    assert!(text.contains("case 0: -1 .. -1") && text.contains("case 1: 97 .. 122"), "{text}");
    let text = dump::types(&read("int f(unsigned u) { switch (u) { case -1: return 1; } }"));
    assert!(text.contains("case 0: 4294967295 .. 4294967295"), "{text}");
}

/// Returns the initial values of a variable as `offset=value`.
fn items(text: &str) -> String {
    let unit = read(&format!("{text};"));
    let object = unit.objects.iter().find(|object| object.init.is_some()).expect("it has initial values");
    let items = &object.init.as_ref().expect("it has initial values").items;
    let show = |item: &c::tree::InitItem| {
        let bits = item.bits.map(|bits| format!(":{}", bits.shift)).unwrap_or_default();
        format!("{}{bits}={}", item.offset, unit.integer(&item.value).map_or("?".to_owned(), |value| value.to_string()))
    };
    items.iter().map(show).collect::<Vec<_>>().join(" ")
}

#[test]
fn initial_values_are_flattened() {
    assert_eq!(items("int x = { 5 }"), "0=5");
    assert_eq!(items("int a[2][2] = { 1, 2, 3 }"), "0=1 4=2 8=3");
    assert_eq!(items("int a[2][2] = { { 1 }, { 3 } }"), "0=1 8=3");
    assert_eq!(items("int a[] = { [3] = 1, 2, [0] = 7 }"), "12=1 16=2 0=7");
    assert_eq!(items("int a[] = { 1, 2, [0] = 9 }"), "4=2 0=9");
    assert_eq!(items("int a[6] = { [1 ... 3] = 4, 5 }"), "4=4 8=4 12=4 16=5");
    assert_eq!(items("struct { char c; int i[2]; char d; } s = { 1, 2, 3, 4 }"), "0=1 4=2 8=3 12=4");
    assert_eq!(items("struct { int a, b; } s = { .b = 1, .a = 2 }"), "4=1 0=2");
    assert_eq!(items("struct { int a, b; } s = { b: 1, a: 2 }"), "4=1 0=2");
    assert_eq!(items("struct { int a; struct { int b, c; } n; int d; } s = { .n.b = 1, 2, 3 }"), "4=1 8=2 12=3");
    assert_eq!(items("struct { struct { int a, b; }; int c; } s = { .b = 1, 2 }"), "4=1 8=2");
    assert_eq!(items("union { int a; char b; } u = { .b = 1 }"), "0=1");
    assert_eq!(items("union { struct { int x, y; } a; char b; } u = { .a = { 1, 2 }, .b = 3 }"), "0=3");
    assert_eq!(items("struct { unsigned a : 3, : 2, b : 4; } s = { 1, 2 }"), "0:0=1 0:5=2");
    assert_eq!(items("char s[3] = \"abc\""), "0=97 1=98 2=99");
    assert_eq!(items("char s[2][3] = { \"a\", { \"b\" } }"), "0=97 1=0 3=98 4=0");
    assert_eq!(items("struct { char n[2]; int x; } s[] = { \"a\", 1, \"b\", 2 }"), "0=97 1=0 4=1 8=98 9=0 12=2");
    assert_eq!(items("struct { int a, b; } s = (__typeof__(s)){ 1, 2 }"), "0=1 4=2");
}

#[test]
fn constants_are_folded_as_the_program_would_compute_them() {
    for (text, value) in [
        ("1 + 2 * 3 - 4 / 3 % 2", 6),
        ("-7 / 2", -3),
        ("-7 % 2", -1),
        ("(unsigned char)300", 44),
        ("(signed char)200", -56),
        ("-1 > 0u", 1),
        ("(_Bool)256", 1),
        ("1 << 31 < 0", 1),
        ("0x80000000 >> 31", 1),
        ("-8 >> 1", -4),
        ("~0u == 4294967295u", 1),
        ("sizeof(int[3]) + sizeof(struct { char c; int i; })", 20),
        ("1 ? 2 : 1 / 0", 2),
        ("0 && 1 / 0", 0),
        ("(int)3.9 + (int)-3.9", 0),
        ("(char)'\\xff' == -1", 1),
        ("&((struct { int a, b; } *)0)->b == (int *)4", 1),
        ("4294967296 * 2 / 3", 2_863_311_530),
        ("18446744073709551615u / 2", 9_223_372_036_854_775_807),
        ("(unsigned)-1 + 1l", 4_294_967_296),
        ("'a' < 'b' ? sizeof(long) : 0", 8),
    ] {
        let unit = read(&format!("void test(void) {{ {text}; }}"));
        assert_eq!(unit.integer(last_expr(&unit)), Some(value), "{text}");
    }
    for text in ["1 / 0", "1 << 32", "1 << -1", "x", "x + 1", "f()", "(1, 2)"] {
        let unit = read(&format!("int x, f(void); void test(void) {{ {text}; }}"));
        assert_eq!(unit.integer(last_expr(&unit)), None, "{text}");
    }
}

#[test]
fn all_headers_are_read_in_both_models() {
    let headers = [
        "alloca",
        "assert",
        "ctype",
        "errno",
        "fcntl",
        "float",
        "inttypes",
        "limits",
        "malloc",
        "math",
        "memory",
        "pthread",
        "sched",
        "semaphore",
        "setjmp",
        "signal",
        "stdalign",
        "stdarg",
        "stdatomic",
        "stdbool",
        "stddef",
        "stdint",
        "stdio",
        "stdlib",
        "stdnoreturn",
        "string",
        "strings",
        "sys/stat",
        "sys/time",
        "sys/types",
        "sys/wait",
        "threads",
        "time",
        "unistd",
        "wchar",
    ];
    for model in DataModel::ALL {
        let mut all = String::new();
        for header in headers {
            let include = format!("#include <{header}.h>\n");
            read_with(&format!("{include}{include}"), *model);
            all += &include;
        }
        read_with(&all, *model);
        let unit = c::read(Source::new("main.c", all), &Options { model: *model, ..Options::default() });
        assert_eq!(unit.diagnostics, [], "no header needs a warning");
    }
}

#[test]
fn variable_lengths_floats_and_flexible_arrays_are_marked() {
    let text = dump::types(&read(
        "int f(int n) { int v[n + 1]; struct { int n; char t[]; } *p; return sizeof v + sizeof *p; }",
    ));
    assert!(text.contains("auto defined int v[*]") && text.contains("(sizeof int [*] : unsigned long)"), "{text}");
    let unit = read("float f; long double l; void test(void) { f * l; }");
    assert!(unit.types.is_float(last_expr(&unit).ty));
}

#[test]
fn line_markers_give_the_places_of_the_user() {
    let text = "# 1 \"user.c\"\nint a;\n# 40 \"user.h\" 1\nint b;\nint c;\n# 3 \"user.c\" 2\nint d;\n";
    let unit = read(text);
    let place = |name: &str| {
        let object = unit.objects.iter().find(|object| unit.name(object.name) == name).expect("it is declared");
        unit.files.place(object.loc.span.start).to_string()
    };
    assert_eq!(
        [place("a"), place("b"), place("c"), place("d")],
        ["user.c:1:5", "user.h:40:5", "user.h:41:5", "user.c:3:5"]
    );
}

#[test]
fn names_of_other_checkers_are_names() {
    read(
        "int x$1, ndt$3; __CPROVER_thread_local int own;
         void t(void) { __CPROVER_atomic_begin(); x$1 = 1; __CPROVER_atomic_end(); }
         int main() { __CPROVER_ASYNC_1: t(); __CPROVER_assume(x$1 > 0); __CPROVER_assert(x$1 == 1, \"one\");
           int n = __VERIFIER_nondet_int(); __VERIFIER_assume(n); ERROR: return 0; }",
    );
}

#[test]
fn locks_have_the_sizes_of_the_library() {
    let sizes = [
        ("pthread_mutex_t", 40, 24),
        ("pthread_cond_t", 48, 48),
        ("pthread_rwlock_t", 56, 32),
        ("pthread_barrier_t", 32, 20),
        ("pthread_attr_t", 56, 36),
        ("pthread_rwlockattr_t", 8, 8),
        ("sem_t", 32, 16),
        ("cnd_t", 48, 48),
        ("struct timespec", 16, 8),
    ];
    for (ty, lp64, ilp32) in sizes {
        for (model, size) in [(DataModel::Lp64, lp64), (DataModel::Ilp32, ilp32)] {
            let headers = "#include <pthread.h>\n#include <semaphore.h>\n#include <threads.h>\n";
            read_with(&format!("{headers}_Static_assert(sizeof({ty}) == {size}, \"{ty}\");"), model);
        }
    }
    let unit = read("#include <pthread.h>\npthread_mutex_t m = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;");
    assert!(dump::types(&unit).contains("@16 .0.4 = 1:int"), "{}", dump::types(&unit));
}
