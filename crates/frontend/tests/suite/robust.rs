//! No text makes the reader panic, hang or overflow the stack; what it accepts is a valid program.

use selvedge_frontend::diagnostic::Code;
use selvedge_frontend::{LoadOptions, Loaded, bp};
use selvedge_ir::validate::validate;

const SEEDS: [&str; 3] = [
    "shared decl g := *, h := !g; decl thread_local t := g;
init begin decl i; g := i; end
process kernel once begin decl own := t; void main() begin own, g := !own, * constrain 'own = g; help(own);
  L: start_thread goto L; end
  bool help(x) begin return x; end end
process user [3] begin void main() begin decl a := 1, b := a; enforce !(a & b);
  if a then skip; elsif b then a := 0; else b := *; fi; while * do b := 1; od; top(a); start_thread top(b); end end
void top(x) begin dead x; x := schoose[x, g]; abortif(x); E: assume(x = g | x$); end",
    "decl a, b; /* c */ void main() begin decl l; 0: l, a, l$ := a ? b : l, *, l$ & a constrain ('l | l') => b; // d
  1: 1: ASYNC_1: f(a, b); goto 0, 1; l, _ := g2(); atomic_begin; assert a != b; atomic_end; print(a, b); end_thread; end
void f(x, y) begin return; end bool<2> g2() decl q; begin return q, {x==1}; end decl {x==1};",
    "void thread0() begin skip end; void thread1() begin if (?) then goto x; fi x: skip; end void init() begin return \
     end",
];

fn load(text: &str) -> Loaded {
    let loaded = bp::load(text, &LoadOptions::default());
    if let Some(program) = &loaded.program {
        assert_eq!(validate(program), Ok(()), "{text}");
        assert_eq!(program.edges.len(), loaded.source_map.edges.len());
        assert_eq!(program.vars.len(), loaded.source_map.vars.len());
    }
    for diagnostic in &loaded.diagnostics {
        assert!(text.get(diagnostic.primary.span.start as usize..diagnostic.primary.span.end as usize).is_some());
    }
    loaded
}

/// A generator of numbers that is the same everywhere.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % bound.max(1)
    }
}

/// Deletes, repeats, swaps or replaces a part of the text.
fn mutate(text: &str, random: &mut Random) -> String {
    const WORDS: [&str; 16] =
        ["begin", "end", "if", "fi", "od", "(", ")", ";", ":", ":=", "'", "*", "$", "decl", "\u{e9}", "/*"];
    let mut parts: Vec<&str> = text.split_inclusive([' ', ';', '(', ')', ',', ':']).collect();
    for _ in 0..=random.below(4) {
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
fn the_seeds_are_accepted() {
    for seed in SEEDS {
        assert!(load(seed).program.is_some(), "{:?}", load(seed).diagnostics);
    }
}

#[test]
fn mutated_programs_are_read_without_panic() {
    let mut random = Random(7);
    let mut n_accepted = 0;
    for round in 0..6_000 {
        let mut text = mutate(SEEDS[round % SEEDS.len()], &mut random);
        if round % 7 == 0 {
            let cut = random.below(text.len());
            text.truncate((0..=cut).rev().find(|place| text.is_char_boundary(*place)).unwrap_or(0));
        }
        n_accepted += usize::from(load(&text).program.is_some());
    }
    assert!(n_accepted > 100 && n_accepted < 3_000, "{n_accepted} accepted: the mutations are too weak or too strong");
}

fn in_main(statements: &str) -> String {
    format!("decl x;\nvoid main() begin\n{statements}\nend\n")
}

fn codes(text: &str) -> Vec<Code> {
    load(text).diagnostics.iter().map(|diagnostic| diagnostic.code).collect()
}

#[test]
fn deep_nesting_is_one_diagnostic() {
    const DEEP: usize = 20_000;
    let nested = |open: &str, inside: &str, close: &str| {
        in_main(&format!("{}{inside}{};", open.repeat(DEEP), close.repeat(DEEP)))
    };
    assert_eq!(codes(&in_main(&format!("x := {}x{};", "(".repeat(DEEP), ")".repeat(DEEP)))), [Code::BeyondLimit]);
    assert_eq!(codes(&nested("if x then ", "x := 1", " fi")), [Code::BeyondLimit]);
    assert_eq!(codes(&nested("while x do ", "x := 1", " od")), [Code::BeyondLimit]);
    assert_eq!(codes(&in_main(&format!("x := {}x;", "!".repeat(DEEP)))), [Code::BeyondLimit]);
    assert_eq!(codes(&in_main(&format!("x := {}x;", "x = ".repeat(DEEP)))), [Code::BeyondLimit]);
    assert_eq!(codes(&in_main(&format!("x := {}x;", "x ? x : ".repeat(DEEP)))), [Code::BeyondLimit]);
}

#[test]
fn nesting_up_to_the_limit_is_accepted() {
    let depth = bp::MAX_DEPTH as usize - 2;
    let parens = in_main(&format!("x := {}x{};", "(".repeat(depth), ")".repeat(depth)));
    assert_eq!(codes(&parens), []);
    let blocks = in_main(&format!("{}x := 1;{}", "if x then ".repeat(depth), " fi".repeat(depth)));
    assert_eq!(codes(&blocks), []);
}

#[test]
fn long_chains_are_no_nesting() {
    let chain = in_main(&format!("x := {}x;", "x & !x | ".repeat(50_000)));
    assert_eq!(codes(&chain), []);
}

#[test]
fn initial_values_that_explode_are_stopped() {
    let mut text = "decl v0 := *;\n".to_owned();
    for number in 1..200 {
        text += &format!("decl v{number} := v{0} & v{0};\n", number - 1);
    }
    text += "void main() begin assert(v199); end";
    assert_eq!(codes(&text), [Code::BeyondLimit]);
}
