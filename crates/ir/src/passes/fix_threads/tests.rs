use super::*;
use crate::passes::testing::check_valid;
use crate::text::parse_with_target;

fn fixed_threads(text: &str, bound: Option<u32>) -> Result<Vec<FixedThreads>, Refusal> {
    let (program, target) = parse_with_target(text).expect("the program reads");
    let fixed_threads = run(&program, &target, bound)?;
    for FixedThreads { program, target, .. } in &fixed_threads {
        let text = check_valid(program, target);
        assert!(program.entries.iter().all(|entry| entry.count == Count::Exactly(1)), "{text}");
        assert!(!program.starts_threads(), "{text}");
    }
    Ok(fixed_threads)
}

const FORKS: &str = "
    shared x: bool
    proc main() from L0 to L4
      local a: bool
      e0 L0 -> L1: fork L2
      e1 L1 -> L0: skip
      e2 L2 -> L3: call f()
      e3 L3 -> L4: return
    proc f() from L5 to L7
      e4 L5 -> L6: x := !x
      e5 L6 -> L7: end
    start main
    target L2
";

#[test]
fn kinds_with_a_number_are_that_many_threads() {
    let text = FORKS.replace("fork L2", "skip").replace("start main", "start main exactly 2");
    let lists = fixed_threads(&text, None).expect("it has a list");
    assert_eq!(lists.iter().map(|list| list.program.entries.len()).collect::<Vec<_>>(), [2]);
}

#[test]
fn a_list_within_another_is_left_out_unless_threads_are_started() {
    let any = FORKS.replace("start main", "start main any");
    let sizes = |text: &str| -> Vec<usize> {
        let lists = fixed_threads(text, Some(3)).expect("it has lists");
        lists.iter().map(|list| list.lift.initial.len()).collect()
    };
    assert_eq!(sizes(&any.replace("fork L2", "skip")), [3]);
    assert_eq!(sizes(&any), [1, 2, 3]);
}

#[test]
fn without_a_bound_on_threads_there_is_no_list() {
    let refusal = fixed_threads(FORKS, None).expect_err("it starts any number of threads");
    assert!(refusal.reason.contains("--threads"), "{}", refusal.reason);
}

#[test]
fn a_copied_thread_goes_on_in_a_copy_of_its_procedure() {
    let lists = fixed_threads(FORKS, Some(2)).expect("it has a list");
    let [FixedThreads { program, target, .. }] = lists.as_slice() else { panic!("one list") };
    let copy = program.procs.iter().find(|proc| proc.name == "main$from2").expect("the copy is there");
    assert_eq!(copy.params, copy.locals);
    assert!(target.locs.contains(&copy.entry), "the copy begins at an error");
    assert_eq!(target.locs.len(), 4, "the location, its copy, and a step before for each of two places");
}

#[test]
fn a_stack_of_recursive_calls_cannot_be_copied() {
    let text = FORKS.replace("L5 -> L6: x := !x", "L5 -> L6: call f()").replace("L6 -> L7: end", "L6 -> L7: return");
    let text = text.replace("e4 L5", "e6 L5 -> L5: fork L6\n      e4 L5");
    let refusal = fixed_threads(&text, Some(2)).expect_err("a frame of `f` may lie below");
    assert_eq!(refusal.edge.map(|edge| edge.index()), Some(6), "{refusal:?}");
}

#[test]
fn steps_of_other_threads_are_refused() {
    let text = FORKS.replace("L1 -> L0: skip", "L1 -> L0: assume a$").replace("fork L2", "skip");
    let refusal = fixed_threads(&text, None).expect_err("it reads a variable of other threads");
    assert_eq!(refusal.edge.map(|edge| edge.index()), Some(1), "{refusal:?}");
}
