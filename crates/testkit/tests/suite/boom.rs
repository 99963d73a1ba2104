//! The output of `selvedge boom` can be read by the rules of its reader, and is an execution of the program.

use std::collections::BTreeMap;

use selvedge_check::{Outcome, Question, Run, Subject, Task, ThreadScope, Verdict};
use selvedge_driver::{Options, Simplified, check};
use selvedge_frontend::bp;
use selvedge_ir::Program;
use selvedge_ir::span::SourceMap;
use selvedge_replay::enumerate::least_threads;
use selvedge_replay::judge;
use selvedge_report::boom::{Detail, answer};
use selvedge_report::{Context, Source};
use selvedge_testkit::boom::{Execution, read};
use selvedge_testkit::corpus::{self, Entry, Expected};
use selvedge_testkit::differ::pose;
use selvedge_testkit::generate::{Weights, generate};
use selvedge_testkit::oracle::{Answer, Budget, ask, within};

/// The limit on states of the explicit engine.
const BUDGET: Budget = Budget::states(5_000);

fn load(text: &str) -> (Program, SourceMap) {
    let loaded = bp::load(text, &bp::LoadOptions::default());
    (loaded.program.expect("the program has no errors"), loaded.source_map)
}

/// Returns the output; `None` if the answer is unknown.
fn output(text: &str, bound: u32) -> Option<String> {
    let (program, map) = load(text);
    let subject = Subject { program: &program, map: &map, text };
    let question = Question { created: Some(bound), ..Question::default() };
    let options = Options { question, ..Options::default() };
    let report = within(BUDGET, |run| check(subject, &options, run)).expect("the judge agrees");
    let source = Source::new("program.bp".to_string(), text.to_string());
    let context = Context { program: &report.model.program, map: &map, source: &source };
    let printed = answer(context, &report, Detail::Trace);
    assert_eq!(printed.is_none(), matches!(report.outcome, Outcome::Unknown(_)));
    printed
}

/// Reads the output and replays it.
fn replayed(text: &str, bound: u32) -> Option<Execution> {
    let printed = output(text, bound)?;
    let execution = read(&printed).unwrap_or_else(|error| panic!("{error}\n{printed}"));
    let (program, map) = load(text);
    let replay = execution.replay(&program, &map);
    assert_eq!(replay, Ok(()), "{printed}");
    Some(execution)
}

fn verdict(execution: &Execution) -> Expected {
    if execution.failed { Expected::Unsafe } else { Expected::Safe }
}

#[test]
fn refined_programs_have_the_verdicts_of_their_table() {
    let entries = corpus::refined().expect("the corpus is readable");
    for Entry { name, text, question, verdict: expected, .. } in &entries {
        let bound = question.threads.expect("the table has a bound");
        let execution = replayed(text, bound).unwrap_or_else(|| panic!("{name} is undecided"));
        assert_eq!(Some(verdict(&execution)), *expected, "{name}");
    }
}

/// The table is about any number of threads: within three there are at most fewer errors.
#[test]
fn inlined_programs_have_no_error_that_their_table_excludes() {
    let Some(folder) = corpus::foreign("") else { return };
    let table = std::fs::read_to_string(folder.join("tts_verdicts.csv")).expect("the corpus is readable");
    let rows = table.lines().skip(1).map(|line| line.split(',').collect::<Vec<_>>());
    let known: BTreeMap<String, String> = rows.map(|row| (row[0].replace(".tts", ".bp"), row[5].to_string())).collect();
    let programs = corpus::all_foreign().expect("the corpus is readable");
    let mut n_decided = 0;
    for entry in programs.iter().filter(|entry| entry.name.starts_with("ijit")) {
        let Some(execution) = replayed(&entry.text, 3) else { continue };
        n_decided += 1;
        if let Some("SAFE") = known.get(&entry.name).map(String::as_str) {
            assert!(!execution.failed, "{}", entry.name);
        }
    }
    assert!(n_decided > 20, "{n_decided}");
}

/// Compares the pass that counts created threads with the interpreter, which does so itself.
#[test]
fn counted_threads_are_created_threads() {
    let (mut n_safe, mut n_unsafe, mut n_refused) = (0, 0, 0);
    for number in 0..250 {
        let posed = pose(&generate(number, &Weights::threads())).expect("generated programs are read");
        let threads = ThreadScope::Created(least_threads(&posed.asked) + number as u32 % 3);
        let task = Task { threads, ..posed.task() };
        let Some(counted) = Simplified::counted(&task, &[]) else {
            n_refused += 1;
            continue;
        };
        let (native, found) = (ask(&task, BUDGET), ask(&counted.question(), BUDGET));
        assert!(!native.contradicts(&found), "{native}, but counted {found}\n{}", posed.text);
        match found {
            Answer::Safe => n_safe += 1,
            Answer::Unsafe(trace) => {
                n_unsafe += 1;
                let judged = judge(&task, &counted.lift(Verdict::Unsafe(trace)), &Run::unlimited());
                assert!(judged.is_ok(), "{judged:?}\n{}", posed.text);
            }
            Answer::Deep | Answer::Large => {}
        }
    }
    assert!(n_safe > 40 && n_unsafe > 40 && n_refused < 150, "{n_safe} safe, {n_unsafe} unsafe, {n_refused} refused");
}

/// A thread that ends does not allow another one to be created.
#[test]
fn ended_threads_count() {
    let text = "
        decl a := 0;
        void main() begin
          decl me;
          PC0: start_thread goto w;
          PC1: assume(a);
          PC2: start_thread goto x;
          PC3: skip;
          PC4: end_thread;
          w: PC5: a := 1;
          PC6: end_thread;
          x: PC7: assert(0);
        end
    ";
    let two = replayed(text, 2).expect("it is small");
    assert!(!two.failed);
    let three = replayed(text, 3).expect("it is small");
    assert!(three.failed);
    let last = three.lines.last().expect("there is a trace");
    assert_eq!((last.labels.join(" "), last.thread, last.locals.len()), ("x PC7".to_string(), 2, 3));
}

#[test]
fn branches_say_whether_they_are_taken_and_every_statement_has_its_line() {
    let text = "
        decl g;
        void main() begin
          decl b0, b1;
          PC0: b0, b1 := 0, 1;
          PC1: if b0 then goto out; fi;
          PC2: skip;
          PC3: if b1 then goto out; fi;
          PC4: skip;
          out: l1: PC8: PC9: assume(b1);
          PC10: assert(!b1);
        end
    ";
    let found = replayed(text, 2).expect("it is small");
    let shown: Vec<(String, bool)> = found.lines.iter().map(|line| (line.labels.join(" "), line.taken)).collect();
    let expected =
        [("PC0", true), ("PC1", false), ("PC2", true), ("PC3", true), ("", true), ("out l1 PC9", true), ("PC10", true)];
    assert_eq!(shown, expected.map(|(labels, taken)| (labels.to_string(), taken)));
    assert_eq!(found.bound, 2);
}

#[test]
fn a_wrong_output_is_noticed() {
    let text = "
        void main() begin
          decl b0;
          PC0: b0 := *;
          PC1: start_thread goto l;
          PC2: skip;
          l: PC3: assert(!b0);
        end
    ";
    let (program, map) = load(text);
    let right = output(text, 2).expect("it is small");
    assert_eq!(read(&right).and_then(|found| found.replay(&program, &map)), Ok(()));
    let last = right.lines().rfind(|line| line.starts_with("TRACE")).expect("there is a trace").to_string();
    let wrong = [
        right.replace("PC2", "PC1"),
        right.replace("VERIFICATION FAILED\n", ""),
        right.replace(&format!("{last}\n"), ""),
        right.replace(&last, &last.replace("b0=1", "b0=0")),
        right.replace("t=0 PC0", "t=1 PC0"),
        right.replace("b0=1", "b0=*"),
    ];
    for wrong in wrong.iter().filter(|wrong| **wrong != right) {
        let result = read(wrong).and_then(|found| found.replay(&program, &map));
        assert!(result.is_err(), "{wrong}");
    }
    assert!(wrong.iter().filter(|wrong| **wrong != right).count() >= 5);
}
