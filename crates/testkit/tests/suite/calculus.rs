//! The fixed-point calculus: the equations that come with the project agree with the engines.

use selvedge_check::{Run, ThreadScope};
use selvedge_engines::calculus::{SizeReports, solve, supports};
use selvedge_testkit::calculus::{EQUATIONS, SEQUENTIAL, equations};
use selvedge_testkit::contexts::posed;
use selvedge_testkit::harness::sample;

#[test]
fn equations_agree_with_engines_on_generated_programs() {
    let tally = sample(EQUATIONS, 3, 0, 90);
    assert!(tally["unsafe"] > 10 && tally["safe"] > 10, "{tally}");
}

/// Recursion without base case never returns, whatever follows the call.
#[test]
fn recursion_without_base_case_does_not_return() {
    let text = "void f() begin f(); end void main() begin f(); assert(F); end";
    let posed = posed(text, None);
    assert_eq!(posed.threads, ThreadScope::Unbounded);
    for name in SEQUENTIAL {
        let fixpoint = equations(name);
        assert!(supports(&fixpoint, &posed.asked).is_ok());
        let solved = solve(&fixpoint, &posed.asked, &posed.target, SizeReports::Rounds, &Run::unlimited());
        let solved = solved.expect("the program is small");
        assert!(!solved.error && !solved.growth.is_empty(), "{name}");
    }
}

#[test]
fn equations_refuse_programs_that_they_are_not_about() {
    let spawns = posed("void main() begin L: start_thread L; end", None);
    assert!(supports(&equations("summaries"), &spawns.asked).is_err());
    let once = posed("process p once begin void main() begin skip; end end", None);
    assert!(supports(&equations("rounds"), &once.asked).is_err());
    assert!(supports(&equations("contexts"), &once.asked).is_err());
    let any = posed("process p begin void main() begin skip; end end", None);
    assert!(supports(&equations("entry-forward"), &any.asked).is_err());
    assert!(supports(&equations("rounds"), &any.asked).is_ok());
    let calls = posed("void f() begin if * then f(); fi; end void main() begin f(); end", None);
    assert!(supports(&equations("contexts"), &calls.asked).is_err());
}
