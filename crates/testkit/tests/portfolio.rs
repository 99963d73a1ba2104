//! The portfolio: with one job the same answer each time, with several the same verdict, and a record of who ran.

use std::time::Duration;

use selvedge_check::{CancelToken, Limits, Run, Stop};
use selvedge_driver::{LegEnd, Options, Outcome, Question, Reason, Report, Subject, check};
use selvedge_frontend::bp::load;

/// Two threads count to 2^`bits` together; the last value is an error.
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

fn ask(text: &str, jobs: usize, run: &Run<'_>) -> Report {
    let loaded = load(text, &Default::default());
    let program = loaded.program.expect("the program is right");
    let subject = Subject { program: &program, map: &loaded.source_map, text };
    let question = Question { threads: Some(2), ..Question::default() };
    check(subject, &Options { question, jobs, ..Options::default() }, run).expect("the evidence is accepted")
}

/// The symbolic search needs a round for each value, which is more than its first budget; the other is fast.
#[test]
fn with_one_job_an_engine_that_uses_up_its_budget_waits_for_the_others() {
    let ends = |report: &Report| -> Vec<_> { report.legs.iter().map(|leg| (leg.engine, leg.end.clone())).collect() };
    let text = counter(10);
    let reports: Vec<Report> = (0..2).map(|_| ask(&text, 1, &Run::unlimited())).collect();
    let gave_up = LegEnd::GaveUp(Reason::Stop(Stop::Cancelled));
    assert_eq!(ends(&reports[0]), [("threads", gave_up), ("threads-explicit", LegEnd::Won)]);
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
    let winners: Vec<&str> = report.legs.iter().filter(|leg| leg.end == LegEnd::Won).map(|leg| leg.engine).collect();
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
        assert!(report.legs.iter().all(|leg| leg.end != LegEnd::Won));
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
