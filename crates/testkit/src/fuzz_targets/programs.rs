//! The programs that fuzzed evidence is about, in pairs: a safe one, and one that is unsafe and differs from it in one
//! word. Both have the same locations and variables, so that what proves the one safe is nearly evidence for the other.

use std::path::Path;
use std::sync::LazyLock;

use selvedge_check::{Question, Subject};
use selvedge_frontend::bp::LoadOptions;
use selvedge_frontend::{Context, Source, System, load, pds};
use selvedge_ir::pds::Pds;

use crate::differ::Posed;

/// A program with the question about it.
pub(super) struct Subjected {
    /// The name of its file.
    pub(super) file: String,
    pub(super) question: Question,
    pub(super) posed: Posed,
    pub(super) source: Source,
    pub(super) is_safe: bool,
}

impl Subjected {
    /// Returns the program that evidence is about, with its text.
    pub(super) fn context(&self) -> Context<'_> {
        Context { program: &self.posed.asked, map: &self.posed.map, source: &self.source }
    }
}

/// A pair of programs: a name, a text with a hole, the words that make it safe and unsafe, and the number of threads.
type Pair = (&'static str, &'static str, [&'static str; 2], Option<u32>);

const PAIRS: [Pair; 7] = [
    ("jump.bp", JUMP, ["done", "bad"], None),
    ("calls.bp", CALLS, ["x", "!x"], None),
    ("loop.bp", LOOP, ["a", "!a"], None),
    ("lock.bp", LOCK, ["1", "0"], Some(3)),
    ("workers.bp", WORKERS, ["1", "0"], None),
    ("wake.bp", WAKE, ["1", "0"], Some(2)),
    ("count.gcl", COUNT, ["5", "6"], None),
];

const JUMP: &str = "void main() begin
  goto HOLE;
  bad: assert(0);
  done: skip;
end
";

const CALLS: &str = "decl g;
bool same(x) begin
  return HOLE;
end
void main() begin
  decl l;
  l := *;
  g := same(l);
  assert(g = l);
end
";

const LOOP: &str = "decl a := 0, b := 0;
void main() begin
  while * do
    a, b := b, HOLE;
    assert(!(a & b));
  od;
end
";

const LOCK: &str = "decl lock := 0, inside := 0;
void worker() begin
  atomic_begin;
  assume(!lock);
  lock := HOLE;
  atomic_end;
  assert(!inside);
  inside := 1;
  inside := 0;
  lock := 0;
end
void main() begin
  start_thread worker();
  start_thread worker();
end
";

const WORKERS: &str = "decl lock := 0;
void main() begin
  again: start_thread goto worker;
  goto again;
  worker: atomic_begin;
  assume(!lock);
  lock := 1;
  atomic_end;
  assert(lock);
  done: lock := 0;
  atomic_begin;
  assume(!HOLE);
  assert(0);
end
";

const WAKE: &str = "decl ready := 0;
void main() begin
  decl waiting;
  waiting := 1;
  start_thread goto worker;
  ready := HOLE;
  waiting$ := 0;
  end_thread;
  worker: assume(!waiting);
  assert(ready);
end
";

const COUNT: &str = "var x: int = 0;
up: x < HOLE -> x := x + 1;
safe small: x <= 5;
";

/// All programs, each safe one before its unsafe twin.
pub(super) static PROGRAMS: LazyLock<Vec<Subjected>> = LazyLock::new(|| {
    let both = |pair: &Pair| [(*pair, true), (*pair, false)];
    PAIRS.iter().flat_map(both).map(|(pair, is_safe)| subjected(pair, is_safe)).collect()
});

fn subjected((file, text, words, threads): Pair, is_safe: bool) -> Subjected {
    let text = text.replace("HOLE", words[usize::from(!is_safe)]);
    let loaded = load(Path::new(file), &text, &LoadOptions::default());
    let program = loaded.program.expect("the programs have no errors");
    let (map, question) = (loaded.source_map, Question { threads, ..Question::default() });
    let posed = question.pose(Subject { program: &program, map: &map, text: &text });
    let (asked, target, threads) = posed.expect("the questions fit");
    let source = Source::new(file, text.clone());
    let file = format!("{}{file}", if is_safe { "safe_" } else { "unsafe_" });
    Subjected { file, question, posed: Posed { program, map, text, asked, target, threads }, source, is_safe }
}

const SYSTEM: &str = "initial <p, a>
target <q, b>
<q, a> --> <r, ->
<p, a> --> <p, a a>
<p, a> --> <HOLE, b>
";

/// A safe pushdown system and its unsafe twin, with their texts.
pub(super) static SYSTEMS: LazyLock<[(Source, Pds); 2]> = LazyLock::new(|| {
    ["r", "q"].map(|word| {
        let text = SYSTEM.replace("HOLE", word);
        match pds::load(&text).system {
            Some(System::Pds(pds)) => (Source::new("s.pds", text), pds),
            _ => panic!("the systems have no errors"),
        }
    })
});
