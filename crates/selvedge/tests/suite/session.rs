//! A session gives the answers that the questions have on their own.

use selvedge::{Limits, Program, Question, Session, Verdict, check};

#[test]
fn a_session_answers_each_question_as_if_it_were_the_only_one() {
    let base = std::fs::read_to_string(super::root().join("examples/lock_fixed.bp")).unwrap();
    let rows = [
        base.clone(),
        base.replace("inside := 0;\n  lock := 0", "inside := 0;\n  skip;\n  lock := 0"),
        base.replace("constrain !lock", "constrain (lock | !lock)"),
        base.replace("constrain !lock", "constrain 1"),
        base.clone(),
        base.replace("decl inside := 0", "decl inside := 1"),
        base,
    ];
    let (mut session, mut reused) = (Session::new(), 0);
    for (number, text) in rows.iter().enumerate() {
        let program: Program = text.parse().unwrap();
        let alone = check(&program, &Question::new(), &Limits::default()).unwrap();
        let answer = session.check(&program, &Question::new(), &Limits::default()).unwrap();
        assert_eq!(answer.verdict(), alone.verdict(), "{number}");
        assert_ne!(answer.verdict(), Verdict::Unknown, "{number}");
        answer.verify(&Limits::default()).unwrap_or_else(|error| panic!("{number}: {error}"));
        reused += usize::from(answer.engine().starts_with("evidence"));
    }
    assert!((1..rows.len()).contains(&reused), "{reused}");
}
