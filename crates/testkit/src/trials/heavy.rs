//! Tasks that run for minutes or forever, one for each engine and command: what limits and interrupts must end.

use selvedge_engines::EngineKind;

use super::files::Contents;

/// A task that does not end by itself within seconds.
#[derive(Clone, Debug)]
pub struct Heavy {
    /// What is tried.
    pub name: String,
    /// The arguments, without limits.
    pub words: Vec<String>,
    /// The files that it reads, and old ones that it would replace.
    pub files: Contents,
}

/// Returns the bits of a counter as names, and the expressions that increment it.
fn counter(letter: char, bits: usize) -> (Vec<String>, Vec<String>) {
    let names: Vec<String> = (0..bits).map(|bit| format!("{letter}{bit}")).collect();
    let next = |bit: usize| match bit {
        0 => format!("!{letter}0"),
        bit => format!("{letter}{bit} ^ ({})", names[..bit].join(" & ")),
    };
    let next = (0..bits).map(next).collect();
    (names, next)
}

/// Returns a declaration of variables that start with zero.
fn zeros(names: &[String]) -> String {
    let parts: Vec<String> = names.iter().map(|name| format!("{name} := 0")).collect();
    format!("decl {};\n", parts.join(", "))
}

/// Returns a program with one thread that counts to 2^40.
pub fn counting() -> String {
    let (names, next) = counter('b', 40);
    format!(
        "{}void main() begin\n  while 1 do\n    {} := {};\n    assert(!({}));\n  od;\nend\n",
        zeros(&names),
        names.join(", "),
        next.join(", "),
        names.join(" & ")
    )
}

/// Returns a program whose threads count together and each for itself.
pub fn crowd() -> String {
    let ((shared, next), (own, own_next)) = (counter('s', 12), counter('l', 12));
    format!(
        "shared {}void main() begin\n  decl {own};\n  {own} := {};\n  while * do\n    start_thread goto work;\n  \
         od;\n  end_thread;\n  work: while 1 do\n    if * then\n      {} := {};\n    fi;\n    if s1 then\n      \
         {own} := {};\n    fi;\n    assert(!({} & {}));\n  od;\nend\n",
        zeros(&shared),
        ["0"; 12].join(", "),
        shared.join(", "),
        next.join(", "),
        own_next.join(", "),
        shared.join(" & "),
        own.join(" & "),
        own = own.join(", "),
    )
}

/// Returns a program whose processes exist from the beginning and count together.
pub fn processes() -> String {
    let (shared, next) = counter('s', 24);
    format!(
        "shared {}process worker begin\n  void main() begin\n    while * do\n      {} := {};\n      \
         assert(!({}));\n    od;\n  end\nend\n",
        zeros(&shared),
        shared.join(", "),
        next.join(", "),
        shared.join(" & ")
    )
}

/// Returns a program over integers without a simple invariant.
pub fn sums() -> String {
    "var x, y, z: int = 0;\nstep: x <= 1000000000 -> x := x + y + 1, y := y + z, z := z + 1;\n\
     safe bounded: x + y >= z - 1 & x != 123456789;\n"
        .to_string()
}

/// Returns a program in C that multiplies any numbers in a loop.
pub fn products() -> String {
    let names: Vec<String> = (0..8).map(|number| format!("x{number}")).collect();
    let step = |pair: &[String]| format!("if (__VERIFIER_nondet_int()) {} += {} * {};", pair[0], pair[1], pair[0]);
    let steps: Vec<String> = names.windows(2).map(step).collect();
    format!(
        "#include <assert.h>\nextern unsigned __VERIFIER_nondet_uint(void);\nextern int __VERIFIER_nondet_int(void);\n\
         int main(void) {{\nunsigned {} = __VERIFIER_nondet_uint();\nwhile (__VERIFIER_nondet_int()) {{\n{}\n}}\n\
         assert(x0 != 12345 || x1 != 77 || {} % 7 == 3);\n}}\n",
        names.join(" = __VERIFIER_nondet_uint(), "),
        steps.join("\n"),
        names.join(" * ")
    )
}

/// Returns a program with many lines.
pub fn lines(count: usize) -> String {
    format!("decl a;\nvoid main() begin\n{}assert(a | !a);\nend\n", "a := !a;\n".repeat(count))
}

/// Returns a program in C whose threads add to a number, so that each refinement of an abstraction shows another step.
fn steps() -> String {
    "#include <assert.h>\n#include <pthread.h>\nunsigned n;\nvoid *f(void *unused) {\n  n += 3;\n  \
     assert(n != 1000000);\n  return 0;\n}\nint main(void) {\n  pthread_t thread;\n  while (1)\n    \
     pthread_create(&thread, 0, f, 0);\n}\n"
        .to_owned()
}

/// Returns the options that make an engine search for long, and the program.
fn of_engine(engine: EngineKind) -> (&'static str, &'static str, String) {
    match engine {
        EngineKind::Summaries | EngineKind::Sat | EngineKind::Pushdown => ("", "counting.bp", counting()),
        EngineKind::Bmc | EngineKind::Induction => ("--bound 1000000", "counting.bp", counting()),
        EngineKind::Invariants => ("", "products.c", products()),
        EngineKind::Threads | EngineKind::ThreadsExplicit | EngineKind::ThreadsPlain | EngineKind::Exhaustive => {
            ("--threads 6", "crowd.bp", crowd())
        }
        EngineKind::BmcThreads => ("--threads 6 --bound 1000000", "crowd.bp", crowd()),
        EngineKind::ViewsExplicit
        | EngineKind::Backward
        | EngineKind::KarpMillerExplicit
        | EngineKind::Directed
        | EngineKind::Cutoff
        | EngineKind::Views
        | EngineKind::Facts
        | EngineKind::KarpMiller => ("", "crowd.bp", crowd()),
        EngineKind::Predicates => ("", "steps.c", steps()),
        EngineKind::Contexts | EngineKind::ContextsEager => ("--contexts 6 --threads 4", "crowd.bp", crowd()),
        EngineKind::Rounds => ("--rounds 8", "processes.bp", processes()),
        EngineKind::Ase | EngineKind::Ur | EngineKind::Horn | EngineKind::Cegar => ("", "sums.gcl", sums()),
    }
}

/// Makes a task of its words, with a file; `with` are options and names of files that are written.
pub fn task(name: &str, text: &str, files: &[(&str, String)]) -> Heavy {
    let words: Vec<String> = text.split_whitespace().map(str::to_string).collect();
    let mut contents: Contents =
        files.iter().map(|(name, text)| (name.to_string(), text.clone().into_bytes())).collect();
    for pair in words.windows(2) {
        if ["--html", "--trace-out", "--certificate", "-o"].contains(&pair[0].as_str()) {
            contents.insert(pair[1].clone(), b"the old content\n".to_vec());
        }
    }
    Heavy { name: name.to_string(), words, files: contents }
}

/// Returns a task for each engine of the table, and for the portfolio.
pub fn of_engines() -> Vec<Heavy> {
    let outputs = "--html r.html --trace-out t.json --certificate c.json";
    let of = |engine: &EngineKind| {
        let (options, file, text) = of_engine(*engine);
        let words = format!("check --engine {} {options} {outputs} {file}", engine.name());
        task(engine.name(), &words, &[(file, text)])
    };
    let mut tasks: Vec<Heavy> = EngineKind::ALL.iter().map(of).collect();
    for (file, text, options) in [
        ("counting.bp", counting(), "--jobs 1"),
        ("counting.bp", counting(), "--jobs 2"),
        ("crowd.bp", crowd(), "--jobs 2"),
        ("crowd.bp", crowd(), "--jobs 2 --threads 6"),
        ("sums.gcl", sums(), "--jobs 1"),
        ("sums.gcl", sums(), "--jobs 2"),
    ] {
        let name = format!("auto {options} {file}");
        tasks.push(task(&name, &format!("check {options} {outputs} {file}"), &[(file, text)]));
    }
    tasks
}
