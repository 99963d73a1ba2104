//! What the judge says in words.

use selvedge_check::Stop;
use selvedge_ir::trace::ThreadId;
use selvedge_ir::{EdgeId, LocId, ProcId, VarId};
use selvedge_replay::Reject;
use selvedge_replay::certificate::{Flaw, Refused, Unjudged};
use selvedge_replay::interpreter::Illegal;
use selvedge_replay::replay::{Mismatch, Moment, Reason};

#[test]
fn mistakes_of_traces_are_told_with_their_moment() {
    let told = |moment, reason| Reject::Trace(Mismatch { moment, reason }).to_string();
    assert_eq!(
        told(Moment::Start, Reason::Illegal(Illegal::WrongThreads)),
        "the trace does not replay: at the start: the program does not start with these threads"
    );
    assert_eq!(
        told(Moment::Step(2), Reason::Blocked),
        "the trace does not replay: in step 3: a condition does not hold"
    );
    assert_eq!(
        told(Moment::End, Reason::NoError),
        "the trace does not replay: at the end: the trace ends without an error"
    );
    let illegal = [
        (Illegal::NoSuchThread(ThreadId(4)), "there is no live thread 4"),
        (Illegal::AtomicElsewhere(ThreadId(4)), "another thread holds the atomic flag"),
        (Illegal::WrongFresh(VarId::new(5)), "variable 5 does not start with any value here"),
    ];
    for (illegal, words) in illegal {
        assert_eq!(illegal.to_string(), words);
    }
}

#[test]
fn flaws_are_told_with_their_place() {
    let flaws = [
        (Flaw::Start(LocId::new(3)), "it does not allow every start at location 3"),
        (Flaw::NotClosed(EdgeId::new(4)), "it is not closed under edge 4"),
        (Flaw::Malformed(Some(ProcId::new(1))), "its formulas do not fit procedure 1"),
        (Flaw::Malformed(None), "it is malformed"),
    ];
    for (flaw, words) in flaws {
        assert_eq!(Refused::from(flaw.clone()).to_string(), words);
        assert_eq!(Reject::Certificate(flaw).to_string(), format!("the certificate is flawed: {words}"));
    }
    let disagree = Flaw::SolversDisagree { sat: "z3", unsat: "cvc5" };
    let words = "the certificate is not accepted: the solvers disagree: cvc5 says `unsat`, z3 says `sat`";
    assert_eq!(disagree.rejection(), words);
    let beyond = Refused::from(Unjudged::Beyond("too many"));
    assert_eq!(beyond.to_string(), "the judge cannot check it: too many");
    assert!(Refused::from(Stop::Cancelled).to_string().starts_with("its check was not finished: "));
}
