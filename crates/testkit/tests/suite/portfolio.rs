//! The portfolio: with one job the same answer each time, with several the same verdict, and a record of the engines.

use std::time::Duration;

use selvedge_check::{
    Answer, CancelToken, EngineEnd, Initial, Limits, Outcome, Question, Reason, Run, Solvers, Stop, Subject,
};
use selvedge_driver::external::find_solvers;
use selvedge_driver::{Options, check};
use selvedge_frontend::bp::load;
use selvedge_frontend::gcl;
use selvedge_testkit::corpus::Expected;
use selvedge_testkit::integers::families::rows;

/// Generates two threads that count to 2^`bits` together; the last value is an error.
fn counter(bits: usize) -> String {
    let names: Vec<String> = (0..bits).map(|bit| format!("b{bit}")).collect();
    let sums: Vec<String> = (0..bits)
        .map(|bit| match bit {
            0 => "!b0".to_string(),
            _ => format!("b{bit} != ({})", names[..bit].join(" & ")),
        })
        .collect();
    format!(
        "decl {names};
         void main() begin
           {names} := {zeros};
           start_thread work;
           start_thread work;
         end
         void work() begin
           while * do
             assert(!({all}));
             {names} := {sums};
           od
         end",
        zeros = vec!["0"; bits].join(", "),
        all = names.join(" & "),
        names = names.join(", "),
        sums = sums.join(", "),
    )
}

fn ask(text: &str, jobs: usize, run: &Run<'_>) -> Answer {
    ask_about(text, Question { threads: Some(2), ..Question::default() }, jobs, run)
}

fn ask_about(text: &str, question: Question, jobs: usize, run: &Run<'_>) -> Answer {
    let loaded = load(text, &Default::default());
    let program = loaded.program.expect("the program is right");
    let subject = Subject { program: &program, map: &loaded.source_map, text };
    check(subject, &Options { question, jobs, ..Options::default() }, run).expect("the evidence is accepted")
}

/// With one job the work of solvers is counted, too.
#[test]
fn with_one_job_guarded_commands_have_the_same_answer_each_time() {
    let solvers = find_solvers(&Solvers::default());
    let names = ["synapse", "bakery2", "ticket2-e", "elev6"];
    for row in rows().into_iter().filter(|row| names.contains(&&*row.name)) {
        let loaded = gcl::load(&row.text);
        let program = loaded.program.expect("the program is right");
        let subject = Subject { program: &program, map: &loaded.source_map, text: &row.text };
        let run = Run::unlimited().with_solvers(solvers.clone());
        let ask =
            || check(subject, &Options { jobs: 1, ..Options::default() }, &run).expect("the evidence is accepted");
        let ends = |report: Answer| -> Vec<_> { report.runs.into_iter().map(|run| (run.engine, run.end)).collect() };
        let (first, second) = (ask(), ask());
        let is_right = match row.expected {
            Expected::Safe => matches!(first.outcome, Outcome::Safe(Some(_))),
            Expected::Unsafe => matches!(first.outcome, Outcome::Unsafe(_)),
        };
        assert!(is_right, "{}: {:?}", row.name, first.outcome);
        assert_eq!(ends(first), ends(second), "{}", row.name);
    }
}

/// The symbolic search needs a round for each value, which is more than its first budget; the other is fast.
#[test]
fn with_one_job_an_engine_that_uses_up_its_budget_waits_for_the_others() {
    let ends = |report: &Answer| -> Vec<_> { report.runs.iter().map(|run| (run.engine, run.end.clone())).collect() };
    let text = counter(10);
    let reports: Vec<Answer> = (0..2).map(|_| ask(&text, 1, &Run::unlimited())).collect();
    let gave_up = EngineEnd::GaveUp(Reason::Stop(Stop::PartStopped));
    assert_eq!(ends(&reports[0]), [("threads", gave_up), ("threads-explicit", EngineEnd::Answered)]);
    assert_eq!(ends(&reports[0]), ends(&reports[1]));
    let traces: Vec<_> = reports
        .iter()
        .map(|report| match &report.outcome {
            Outcome::Unsafe(found) => &found.trace,
            other => unreachable!("the counter reaches its last value: {other:?}"),
        })
        .collect();
    assert_eq!(traces[0], traces[1]);
}

#[test]
fn side_by_side_one_engine_wins_and_the_others_are_overtaken_or_give_up() {
    let report = ask(&counter(8), 2, &Run::unlimited());
    assert!(matches!(report.outcome, Outcome::Unsafe(_)));
    let winners: Vec<&str> =
        report.runs.iter().filter(|run| run.end == EngineEnd::Answered).map(|run| run.engine).collect();
    assert_eq!(winners, [report.engine]);
}

#[test]
fn limits_end_a_portfolio_with_the_reason() {
    for jobs in [1, 2] {
        let limit = Duration::from_millis(1);
        let limits = Limits { time: Some(limit), ..Limits::default() };
        let report = ask(&counter(14), jobs, &Run::new(CancelToken::default(), limits, &()));
        let Outcome::Unknown(Reason::Stop(stop)) = report.outcome else { unreachable!("there is no time to answer") };
        assert_eq!(stop, Stop::TimeLimit(limit), "{jobs} jobs");
        assert!(report.runs.iter().all(|run| run.end != EngineEnd::Answered));
    }
}

#[test]
fn whoever_interrupts_a_portfolio_interrupts_all_of_it() {
    for jobs in [1, 2] {
        let cancel = CancelToken::default();
        cancel.cancel();
        let report = ask(&counter(14), jobs, &Run::new(cancel, Limits::default(), &()));
        assert!(matches!(report.outcome, Outcome::Unknown(Reason::Stop(Stop::Cancelled))), "{jobs} jobs");
    }
}

/// Returns whether the portfolio finds an error, with one job and with two: these must agree and have evidence.
fn is_unsafe(text: &str, question: &Question) -> bool {
    let found = [1, 2].map(|jobs| {
        let report = ask_about(text, question.clone(), jobs, &Run::unlimited());
        match report.outcome {
            Outcome::Unsafe(_) => true,
            Outcome::Safe(Some(_)) => false,
            other => unreachable!("{jobs} jobs: {other:?}"),
        }
    });
    assert_eq!(found[0], found[1], "{text}");
    found[0]
}

/// Its views would have to be of eight threads, which takes too long; the tree of Karp and Miller and the search
/// backwards are small. They must get their turn.
#[test]
fn engines_that_never_end_do_not_keep_others_from_answering() {
    let text = include_str!("../../../../examples/bluetooth_fixed.bp");
    assert!(!is_unsafe(text, &Question::default()));
}

/// Generates threads that enter a room and leave it, and count the threads inside: up to `c`. A thread inside asserts
/// that the count is not `wrong`.
fn room(c: usize, wrong: usize) -> String {
    let n_bits = (usize::BITS - c.leading_zeros()) as usize;
    let names: Vec<String> = (0..n_bits).map(|bit| format!("b{bit}")).collect();
    let is = |value: usize| {
        let bits = names
            .iter()
            .enumerate()
            .map(|(bit, name)| if value >> bit & 1 == 1 { name.clone() } else { format!("!{name}") });
        bits.collect::<Vec<_>>().join(" & ")
    };
    let carried = |sign: &str| {
        let bits = names.iter().enumerate().map(|(bit, name)| {
            let below: Vec<String> = names[..bit].iter().map(|name| format!("{sign}{name}")).collect();
            if below.is_empty() { format!("!{name}") } else { format!("{name} ^ ({})", below.join(" & ")) }
        });
        bits.collect::<Vec<_>>().join(", ")
    };
    format!(
        "shared decl {names};
         init begin {names} := {zeros}; end
         process visitor begin
           void main() begin
             {names} := {more} constrain !({full});
             assert(!({wrong}));
             {names} := {less};
           end
         end",
        zeros = vec!["0"; n_bits].join(", "),
        more = carried(""),
        less = carried("!"),
        full = is(c),
        wrong = is(wrong),
        names = names.join(", "),
    )
}

/// errata: `cutoff_large`. The error needs this number of threads; in the safe twin the count is never zero while a
/// thread is inside.
#[test]
fn cutoff_large() {
    for c in [5, 10, 20] {
        assert!(is_unsafe(&room(c, c), &Question::default()), "{c} threads are inside");
        assert!(!is_unsafe(&room(c, 0), &Question::default()), "up to {c} threads are counted");
    }
}

/// errata: `cutoff_stutter`. Two and three threads reach the same; four reach more, and there the error is.
#[test]
fn cutoff_stutter() {
    let text = |wrong: &str| {
        format!(
            "decl s1 := 0; decl s0 := 0;
             void main() begin
               l0: goto a, b, c;
               a: s1, s0 := 1, 0 constrain (!s1 & !s0); goto l1;
               b: s1, s0 := 0, 0 constrain (s1 & !s0); goto l1;
               c: s1, s0 := 1, 1 constrain (s1 & !s0); goto l0;
               l1: goto d, e;
               d: s1, s0 := 0, 1 constrain (s1 & s0); goto l0;
               e: assert(!({wrong})); goto l1;
             end"
        )
    };
    let (none, four) = ("0", "!s1 & s0");
    let any = Question { initial: Some(Initial::Any), ..Question::default() };
    let three = Question { initial: Some(Initial::Exactly(3)), ..Question::default() };
    assert!(is_unsafe(&text(four), &any));
    assert!(!is_unsafe(&text(four), &three));
    assert!(!is_unsafe(&text(none), &any));
}
