//! Results for other programs and other eyes: SARIF, pages, manual pages, the debugger without a terminal.

use serde_json::{Value, json};

use crate::harness::{run, scratch};

#[test]
fn sarif_has_a_flow_for_each_thread_in_the_order_of_steps() {
    let ran = run(
        "check --format sarif --threads 2 --engine threads-explicit unsafe.bp warnings.bp ../../../../examples/lock.bp",
    );
    assert_eq!(ran.code, 10, "{}", ran.err);
    let file: Value = serde_json::from_str(&ran.out).expect("it is JSON");
    assert_eq!(file["version"], "2.1.0");
    let run = &file["runs"][0];
    let results = run["results"].as_array().expect("it is a list");
    let rules: Vec<&Value> =
        run["tool"]["driver"]["rules"].as_array().expect("it is a list").iter().map(|rule| &rule["id"]).collect();
    assert!(results.iter().all(|result| rules.contains(&&result["ruleId"])), "every rule is described");
    assert!(results.iter().any(|result| result["level"] == "warning"), "warnings are results");
    let errors: Vec<&Value> = results.iter().filter(|result| result["ruleId"] == "assertion").collect();
    let flows = |result: &Value| result["codeFlows"][0]["threadFlows"].as_array().expect("it is a list").clone();
    for error in &errors {
        let mut order: Vec<u64> = Vec::new();
        for flow in flows(error) {
            let steps = flow["locations"].as_array().expect("it is a list");
            let numbers: Vec<u64> = steps.iter().filter_map(|step| step["executionOrder"].as_u64()).collect();
            assert!(numbers.is_sorted(), "a thread's steps are in order");
            order.extend(numbers);
        }
        order.sort_unstable();
        assert_eq!(order, (1..=order.len() as u64).collect::<Vec<_>>(), "every step is in one flow");
    }
    assert!(!errors.is_empty());
}

#[test]
fn sarif_of_a_safe_program_is_an_empty_list() {
    let ran = run("check --format sarif safe.bp");
    let file: Value = serde_json::from_str(&ran.out).expect("it is JSON");
    assert_eq!((ran.code, &file["runs"][0]["results"]), (0, &json!([])));
}

#[test]
fn every_command_has_a_manual_page() {
    let folder = scratch("man");
    assert_eq!(run(&format!("man {folder}")).code, 0);
    for page in ["selvedge.1", "selvedge-check.1", "selvedge-debug.1", "selvedge-lsp.1"] {
        let text = std::fs::read_to_string(format!("{folder}/{page}")).expect("the page was written");
        assert!(text.contains(".SH NAME"), "{page}");
    }
}

#[test]
fn the_debugger_needs_a_terminal_and_an_execution() {
    let ran = run("debug unsafe.bp");
    assert_eq!(ran.code, 1);
    assert!(ran.err.contains("needs a terminal"), "{}", ran.err);
    let ran = run("debug safe.bp");
    assert_eq!((ran.code, ran.last_line()), (0, "VERIFICATION SUCCESSFUL"));
    assert!(ran.out.contains("no execution"), "{}", ran.out);
}

#[test]
fn the_debugger_takes_traces_and_reports_and_refuses_other_files() {
    let (trace, report) = (scratch("debug-trace.json"), scratch("debug-report.json"));
    assert_eq!(run(&format!("check --quiet --trace-out {trace} unsafe.bp")).code, 10);
    std::fs::write(&report, run("check --format json unsafe.bp").out).expect("it can be written");
    for file in [&trace, &report] {
        let ran = run(&format!("debug --trace {file} unsafe.bp"));
        assert!(ran.err.contains("needs a terminal"), "{file} is read and replayed: {}", ran.err);
    }
    assert_eq!(run("debug --trace safe.bp unsafe.bp").code, 2);
    std::fs::write(&report, run("check --format json safe.bp").out).expect("it can be written");
    let ran = run(&format!("debug --trace {report} safe.bp"));
    assert!(ran.code == 2 && ran.err.contains("no trace"), "{}", ran.err);
}

#[test]
fn texts_of_programs_cannot_break_out_of_a_page() {
    let (program, page) = (scratch("evil.bp"), scratch("evil.html"));
    let text =
        "decl {</script>}; // </script><script>alert(1)</script>\nvoid main() begin\n  assert({</script>});\nend\n";
    std::fs::write(&program, text).expect("it can be written");
    assert_eq!(run(&format!("check --quiet --html {page} {program}")).code, 10);
    let html = std::fs::read_to_string(&page).expect("the page was written");
    assert_eq!(html.matches("<script").count(), 2, "the data and the script of the page, and no other");
    assert!(html.contains("&lt;/script&gt;"));
}

#[test]
fn a_page_is_for_one_program() {
    let ran = run("check --html page.html safe.bp unsafe.bp");
    assert_eq!(ran.code, 1);
    assert!(ran.err.contains("--html takes one result"), "{}", ran.err);
}
