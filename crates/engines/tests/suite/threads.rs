//! The engines for a bounded number of threads on a program that they do not support.

use selvedge_check::{Engine, Run, Task, ThreadScope};
use selvedge_engines::threads::explicit::ThreadsExplicit;
use selvedge_engines::threads::symbolic::Threads;
use selvedge_ir::text::parse_with_target;

#[test]
fn a_prelude_that_starts_threads_gets_neither_findings_nor_states() {
    let text = "proc first() from L0 to L2\ne0 L0 -> L1: spawn main()\ne1 L1 -> L2: return\n\
                proc main() from L3 to L4\ne2 L3 -> L4: return\nprelude first\nstart main\ntarget L4";
    let (program, target) = parse_with_target(text).expect("the program is well-formed");
    let task = Task { program: &program, target: &target, threads: ThreadScope::AtMost(2) };
    let engines: [&dyn Engine; 2] = [&Threads::default(), &ThreadsExplicit::default()];
    for engine in engines {
        assert!(engine.supports(&task).is_err(), "{}", engine.name());
        assert!(engine.check_each(&task, &Run::unlimited()).is_none(), "{}", engine.name());
        assert!(engine.reachable(&task, &|_, _| true, &Run::unlimited()).is_none(), "{}", engine.name());
    }
}
