//! Families of programs that scale. Each instance says whether an error can be reached.

use std::fmt::Write as _;

use selvedge_testkit::corpus::{files, foreign};

/// Programs that grow with a number. Each has a safe and an unsafe twin that differ in a line or two.
pub struct Family {
    /// The name.
    pub name: &'static str,
    /// The sizes of a full run, ascending.
    pub sizes: &'static [usize],
    /// A function that generates the program of a size.
    pub make: fn(usize, Twin) -> String,
}

/// All families.
pub const FAMILIES: &[Family] = &[
    Family { name: "doubling", sizes: &[8, 16, 32, 64, 128, 256, 512, 1000], make: doubling },
    Family { name: "counter", sizes: &[4, 6, 8, 10, 12, 14], make: counter },
    Family { name: "modes", sizes: &[4, 8, 16, 32, 64, 128], make: modes },
    Family { name: "driver", sizes: &[8, 16, 32, 64, 128, 256], make: driver },
    Family { name: "abstraction", sizes: &[4, 8, 12, 16, 20, 24], make: abstraction },
    Family { name: "factoring", sizes: &[4, 6, 8, 9, 10, 12, 14], make: factoring },
];

/// The correct or the incorrect one of two similar programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Twin {
    /// The correct one.
    Safe,
    /// The one with a mistake.
    Unsafe,
}

impl Twin {
    /// Both twins.
    pub const BOTH: [Twin; 2] = [Twin::Safe, Twin::Unsafe];

    /// Returns the end of its name.
    pub fn suffix(self) -> &'static str {
        self.pick("safe", "unsafe")
    }

    /// Returns one of two things, depending on the twin.
    pub fn pick<T>(self, safe: T, mistaken: T) -> T {
        match self {
            Twin::Safe => safe,
            Twin::Unsafe => mistaken,
        }
    }
}

/// Returns the sequential part of the corpus; empty if the corpus is not installed.
pub fn corpus() -> Vec<std::path::PathBuf> {
    foreign("satabs-generated/safety").map_or(Vec::new(), |folder| files(&folder, "bp"))
}

/// Generates a program of about this many lines, for measuring the reader.
pub fn lines(n_lines: usize) -> String {
    let mut text = String::from("decl g0, g1, g2;\n");
    let n_procs = (n_lines / 100).max(1);
    for proc in 0..n_procs {
        let name = if proc == 0 { "main".to_string() } else { format!("f{proc}") };
        let _ = writeln!(text, "void {name}() begin\n  decl a, b;");
        for line in 0..94 {
            let _ = match line % 5 {
                0 => writeln!(text, "  a, b := g0 & !b, a | g1;"),
                1 => writeln!(text, "  L{line}: g2 := schoose[a & g0, b];"),
                2 => writeln!(text, "  if a then g1 := !g1; else goto L{}; fi;", line - 1),
                3 => writeln!(text, "  a := * constrain 'a = b;"),
                _ => writeln!(text, "  assert(a | !a);"),
            };
        }
        let call = if proc + 1 < n_procs { format!("f{}();", proc + 1) } else { "skip;".to_string() };
        let _ = writeln!(text, "  {call}\nend\n");
    }
    text
}

/// Generates n procedures, each of which calls the next one twice: a path of length 2^n (Bebop). The unsafe twin claims
/// the opposite of what an even number of flips leaves.
fn doubling(n: usize, twin: Twin) -> String {
    let claim = twin.pick("!g", "g");
    let mut text = String::from("decl g;\n");
    for proc in (0..n).rev() {
        let body = if proc + 1 == n { "g := !g;".to_string() } else { format!("f{0}(); f{0}();", proc + 1) };
        let _ = writeln!(text, "void f{proc}() begin {body} end");
    }
    let _ = writeln!(text, "void main() begin\n  g := F;\n  f0();\n  f0();\n  assert({claim});\nend");
    text
}

/// Returns the names of n variables.
fn names(prefix: &str, n: usize) -> Vec<String> {
    (0..n).map(|number| format!("{prefix}{number}")).collect()
}

/// Generates a loop over an n-bit counter and 8 other variables, with an invariant about its lowest bit. The error of
/// the unsafe twin needs the highest value, 2^n rounds away.
fn counter(n: usize, twin: Twin) -> String {
    let claim = twin.pick("b0 = parity".to_string(), format!("!({})", names("b", n).join(" & ")));
    let (bits, others) = (names("b", n).join(", "), names("x", 8));
    let next =
        |bit: usize| if bit == 0 { "!b0".to_string() } else { format!("b{bit} ^ ({})", names("b", bit).join(" & ")) };
    let values: Vec<String> = (0..n).map(next).collect();
    let zeros = vec!["F"; n].join(", ");
    let flipped: Vec<String> = others.iter().map(|other| format!("{other} ^ b0")).collect();
    let [values, others, flipped] = [values, others, flipped].map(|list| list.join(", "));
    format!(
        "decl {bits}, parity;\ndecl {others};\nvoid main() begin\n  {bits}, parity := {zeros}, F;\n  while * do\n    \
         {bits}, parity := {values}, !parity;\n    {others} := {flipped};\n    assert({claim});\n  od;\nend\n"
    )
}

/// Generates n procedures that call each other and hand a mode around. In the unsafe twin the last one notices an odd
/// number of changes.
fn modes(n: usize, twin: Twin) -> String {
    let claim = twin.pick("m = p", "!p");
    let mut text = String::from("decl m;\n");
    for proc in 0..n {
        let _ = writeln!(
            text,
            "void f{proc}(p) begin\n  decl old := p;\n  assert({});\n  if * then\n    m := !m;\n    f{}(!p);\n    m := \
             !m;\n  fi;\n  assert(p = old);\nend",
            if proc + 1 == n { claim } else { "m = p" },
            (proc + 1) % n
        );
    }
    text + "void main() begin\n  m := F;\n  f0(F);\nend\n"
}

/// Generates n procedures with 4 locals each, n globals of which each procedure touches three, and a lock. In the
/// unsafe twin one procedure forgets to release the lock.
fn driver(n: usize, twin: Twin) -> String {
    let n_locals = 4;
    let mut text = format!("decl lock;\ndecl {};\n", names("g", n).join(", "));
    for proc in (0..n).rev() {
        let _ = writeln!(text, "void f{proc}(p) begin\n  decl {};", names("l", n_locals).join(", "));
        let _ = writeln!(text, "  l0, l1 := p, g{proc};\n  l2 := l0 | *;\n  g{} := l1 ^ l2;", (proc + 1) % n);
        for callee in [2 * proc + 1, 2 * proc + 2].into_iter().filter(|callee| *callee < n) {
            let _ = writeln!(text, "  if l{} then f{callee}(l0 & g{proc}); fi;", callee % n_locals);
        }
        let forgets = twin == Twin::Unsafe && proc + 1 == n;
        let release = if forgets { "if l3 then lock := F; fi;" } else { "lock := F;" };
        let _ = writeln!(text, "  assert(!lock);\n  lock := T;\n  g{} := l3;\n  {release}\nend", (proc + 2) % n);
    }
    text + "void main() begin\n  lock := F;\n  while * do f0(*); od;\nend\n"
}

/// Generates n predicates in parallel assignments with constrain clauses, as SatAbs writes them. The assertion of the
/// unsafe twin fails after n steps.
fn abstraction(n: usize, twin: Twin) -> String {
    let claim = twin.pick("!(p0 & p1)".to_string(), format!("!p{}", n - 1));
    let (names, zeros) = (names("p", n).join(", "), vec!["F"; n].join(", "));
    // A predicate becomes true only after the one before it was, and at most one of two neighbours is.
    let value = |p: usize| match p {
        0 => "schoose[F, p0]".to_string(),
        p => format!("schoose[F, !p{}]", p - 1),
    };
    let values: Vec<String> = (0..n).map(value).collect();
    let exclusive: Vec<String> = (1..n).map(|p| format!("!('p{} & 'p{p})", p - 1)).collect();
    let (values, exclusive) = (values.join(", "), exclusive.join(" & "));
    format!(
        "decl {names};\nvoid main() begin\n  {names} := {zeros};\n  while * do\n    {names} := {values}\n      \
         constrain {exclusive};\n    assert({claim});\n  od;\nend\n"
    )
}

/// Multiplies two arbitrary numbers of n bits, one bit of the second after the other. The error is a product that
/// equals the given number, with no factor 0 or 1: a prime, or in the unsafe twin the product of two primes of n bits.
/// For n from 3 on.
fn factoring(n: usize, twin: Twin) -> String {
    let (small, large) = (next_prime(5 << n >> 3), previous_prime(7 << n >> 3));
    let number = twin.pick(next_prime(small * large), small * large);
    let (x, y, product) = (names("x", n), names("y", n), names("p", 2 * n));
    let mut text = format!("decl {};\ndecl {};\ndecl {}, c;\n", x.join(", "), y.join(", "), product.join(", "));
    let _ = writeln!(text, "void main() begin\n  {} := {};", product.join(", "), vec!["F"; 2 * n].join(", "));
    for (shift, y) in y.iter().enumerate() {
        let _ = writeln!(text, "  c := F;");
        for (x, p) in x.iter().zip(&product[shift..]) {
            let both = format!("({x} & {y})");
            let _ = writeln!(text, "  {p}, c := {p} ^ {both} ^ c, ({p} & {both}) | (c & ({p} | {both}));");
        }
        let _ = writeln!(text, "  {} := c;", product[shift + n]);
    }
    let is_bit = |(bit, p): (usize, &String)| if number >> bit & 1 == 1 { p.clone() } else { format!("!{p}") };
    let is_number: Vec<String> = product.iter().enumerate().map(is_bit).collect();
    let _ = writeln!(text, "  assume({});\n  assume({});", x[1..].join(" | "), y[1..].join(" | "));
    let _ = writeln!(text, "  assert(!({}));\nend", is_number.join(" & "));
    text
}

fn is_prime(number: u64) -> bool {
    number > 1 && (2..).take_while(|divisor| divisor * divisor <= number).all(|divisor| !number.is_multiple_of(divisor))
}

fn next_prime(from: u64) -> u64 {
    (from..).find(|number| is_prime(*number)).expect("there is always a larger prime")
}

fn previous_prime(from: u64) -> u64 {
    (2..=from).rev().find(|number| is_prime(*number)).expect("it begins at 2 or above")
}
