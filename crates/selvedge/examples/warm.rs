//! Asks about a row of programs, each a changed form of the one before, cold and in a session, and prints the times.
//!
//! `cargo run --release -p selvedge --example warm -- FILE..` treats the files as one row.
#![expect(clippy::print_stdout, reason = "it is a program")]

use std::time::{Duration, Instant};

use selvedge::{Error, Limits, Program, Question, Session, check};

fn main() -> Result<(), Error> {
    let programs: Vec<Program> = std::env::args().skip(1).map(Program::from_path).collect::<Result<_, _>>()?;
    let (question, limits) = (Question::new(), Limits::default().jobs(1).time(Duration::from_secs(20)));
    // The first check of a process pays for what all of them need, and is not counted.
    programs.first().map(|program| check(program, &question, &limits)).transpose()?;
    let start = Instant::now();
    let cold = programs.iter().map(|program| check(program, &question, &limits)).collect::<Result<Vec<_>, _>>()?;
    let cold_time = start.elapsed();
    let (mut session, start) = (Session::new(), Instant::now());
    let warm = programs.iter().map(|program| session.check(program, &question, &limits));
    let warm = warm.collect::<Result<Vec<_>, _>>()?;
    let warm_time = start.elapsed();
    for (cold, warm) in cold.iter().zip(&warm) {
        assert!(cold.verdict() == warm.verdict() || cold.reason().is_some(), "{cold:?} {warm:?}");
    }
    let reused = warm.iter().filter(|answer| answer.engine().starts_with("evidence")).count();
    let later: f64 = cold.iter().skip(1).map(|answer| answer.time().as_secs_f64()).sum();
    println!(
        "{} programs, {reused} answered by evidence: cold {:.4} s (later ones {later:.4} s), warm {:.4} s, ratio {:.2}",
        programs.len(),
        cold_time.as_secs_f64(),
        warm_time.as_secs_f64(),
        warm_time.as_secs_f64() / cold_time.as_secs_f64()
    );
    Ok(())
}
