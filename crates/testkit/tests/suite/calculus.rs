//! The fixed-point calculus: the equations that come with the project agree with the engines.

use selvedge_check::{Run, ThreadScope};
use selvedge_engines::calculus::{SizeReports, solve, supports};
use selvedge_testkit::calculus::{EQUATIONS, SEQUENTIAL, equations};
use selvedge_testkit::campaign::silence_panics;
use selvedge_testkit::contexts::posed;
use selvedge_testkit::engines::{Finding, run};
use selvedge_testkit::oracle::Budget;
use selvedge_testkit::workers::Items;

#[test]
fn equations_agree_with_engines_on_generated_programs() {
    silence_panics();
    let items = Items { first: 0, count: 90, jobs: 2 };
    let (compared, findings) = run(EQUATIONS, 3, items, Budget::states(2_000), |_, _| {}).expect("nothing hangs");
    let told = |finding: &Finding| format!("{}\n\n{}\nFrom program {}", finding.fault, finding.small, finding.number);
    assert!(findings.is_empty(), "{}", findings.iter().map(told).collect::<Vec<_>>().join("\n"));
    assert!(compared.unsafe_ > 10 && compared.safe > 10, "{compared}");
}

/// Recursion without base case never comes back, whatever stands behind the call.
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
