//! Results of tests in the format of JUnit, which services of continuous integration show.

use std::time::Duration;

use selvedge_report::svg::escape;

use super::test::{Case, CaseEnd, CaseResult};

/// Returns the report: one suite, one case for each program. A wrong verdict is a failure, a missing one an error.
pub(super) fn report(cases: &[Case], results: &[CaseResult], time: Duration) -> String {
    let of = |is_counted: fn(&CaseEnd) -> bool| results.iter().filter(|result| is_counted(&result.end)).count();
    let failures = of(|end| matches!(end, CaseEnd::Wrong(_)));
    let errors = of(|end| matches!(end, CaseEnd::Undecided(_)));
    let counts = format!(
        "tests=\"{}\" failures=\"{failures}\" errors=\"{errors}\" time=\"{:.3}\"",
        cases.len(),
        time.as_secs_f64()
    );
    let cases: String = cases.iter().zip(results).map(|(case, result)| element(case, result)).collect();
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites {counts}>\n\
         <testsuite name=\"selvedge\" skipped=\"0\" {counts}>\n{cases}</testsuite>\n</testsuites>\n"
    )
}

fn element(case: &Case, result: &CaseResult) -> String {
    let folder = case.path.parent().map(|folder| folder.to_string_lossy().into_owned()).unwrap_or_default();
    let folder = if folder.is_empty() { ".".to_string() } else { folder };
    let name = case.path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let attributes = format!(
        "classname=\"{}\" name=\"{}\" file=\"{}\" line=\"{}\" time=\"{:.3}\"",
        text(&folder),
        text(&name),
        text(&case.path.to_string_lossy()),
        case.line,
        result.time.as_secs_f64()
    );
    let inside = match &result.end {
        CaseEnd::Passed => String::new(),
        CaseEnd::Wrong(message) => format!("<failure type=\"wrong verdict\" message=\"{}\"/>", text(message)),
        CaseEnd::Undecided(reason) => format!("<error type=\"undecided\" message=\"{}\"/>", text(reason)),
    };
    format!("<testcase {attributes}>{inside}</testcase>\n")
}

/// Returns a text as it can be in an attribute. XML has no way to write most control characters.
fn text(text: &str) -> String {
    let visible: String = text.chars().map(|char| if char.is_control() { ' ' } else { char }).collect();
    escape(&visible).replace(['\u{FFFE}', '\u{FFFF}'], " ")
}
