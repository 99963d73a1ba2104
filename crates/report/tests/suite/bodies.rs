//! Traces whose calls share bodies, which no engine of today makes: as text, as JSON, and back.

use selvedge_check::{Counterexample, Task, ThreadScope};
use selvedge_ir::span::{Origin, Role, SourceMap, Span};
use selvedge_ir::text::parse_with_target;
use selvedge_ir::trace::{Start, StartThread, Step, ThreadId, Trace};
use selvedge_ir::{EdgeId, EntryId, Program};
use selvedge_replay::replay::replay;
use selvedge_report::json::{QuestionView, TraceFile, read_trace, to_text};
use selvedge_report::text::{Detail, Style, trace};
use selvedge_report::{Context, Execution, Palette, Source};

/// `main` calls `flip` twice, which makes `x` what it was.
const TWICE: &str = "shared x: bool\ninit x := F\n\
    proc main() from L0 to L3\ne0 L0 -> L1: call flip()\ne1 L1 -> L2: call flip()\ne2 L2 -> L3: return\n\
    proc flip() from L4 to L6\ne3 L4 -> L5: x := !x\ne4 L5 -> L6: return\n\
    start main\ntarget L2";

fn step(edge: usize, body: Option<u32>) -> Step {
    let (thread, edge) = (ThreadId(0), EdgeId::new(edge));
    Step { thread, edge, choices: Vec::new(), passive: Vec::new(), fresh: Vec::new(), body }
}

fn shared_body() -> Trace {
    let thread = StartThread { entry: EntryId::new(0), choices: Vec::new(), fresh: Vec::new() };
    Trace {
        start: Start { threads: vec![thread], ..Start::default() },
        steps: vec![step(0, Some(0)), step(1, Some(0))],
        bodies: vec![vec![step(3, None), step(4, None)]],
    }
}

/// Every statement is at the beginning of the text.
fn flat_map(program: &Program) -> SourceMap {
    let origin = Origin { span: Span::new(0, 4), role: Role::Statement };
    SourceMap { edges: program.edges.iter().map(|_| origin).collect(), ..SourceMap::default() }
}

#[test]
fn a_shared_body_is_one_line_of_text_and_survives_json() {
    let (program, target) = parse_with_target(TWICE).expect("the program is well-formed");
    let source = Source::new("p.bp", "text\n");
    let map = flat_map(&program);
    let context = Context { program: &program, map: &map, source: &source };
    let task = Task { program: &program, target: &target, threads: ThreadScope::Unbounded };
    let replayed = replay(&task, &shared_body()).expect("the trace is one of the program");
    let execution = Execution {
        steps: &shared_body().steps,
        start: &replayed.start,
        states: &replayed.states,
        violation: Some(&replayed.violation),
        irrelevant: None,
    };
    let style = Style { palette: Palette::plain(), detail: Detail::Changes, width: selvedge_report::text::WIDTH };
    let text = trace(context, execution, "trace", style);
    assert!(text.contains("runs flip through its return, x: 0 → 1"), "{text}");
    assert!(text.contains("runs flip through its return, x: 1 → 0"), "{text}");

    let counterexample = Counterexample::new(shared_body(), replayed);
    let json = to_text(&TraceFile::new(context, QuestionView::default(), &counterexample));
    let read = read_trace(&json).expect("what was written can be read");
    assert_eq!(read.trace(&program), Ok(shared_body()));
}
