//! Every code is explained by a program that has exactly this finding, and by one that has none.

use std::path::Path;

use selvedge_frontend::diagnostic::{Code, Severity};
use selvedge_frontend::{LoadOptions, Source, c, gcl, load};

/// Returns whether a finding about C is one of executions, which are looked at when the program is lowered.
fn is_lowered(code: Code) -> bool {
    matches!(code, Code::CMayEnd | Code::CMemoryOrder)
}

fn findings(code: Code, program: &str) -> Vec<Code> {
    let diagnostics = match () {
        () if is_lowered(code) => load(Path::new("example.c"), program, &LoadOptions::default()).diagnostics,
        () if code.is_about_c() => c::read(Source::new("example.c", program), &c::Options::default()).diagnostics,
        () if code.is_about_commands() => gcl::load(program).diagnostics,
        () => load(Path::new("example.bp"), program, &LoadOptions::default()).diagnostics,
    };
    diagnostics.iter().map(|diagnostic| diagnostic.code).collect()
}

/// Returns the incorrect and the correct program of an explanation, without their indentation.
fn examples(code: Code) -> (String, String) {
    let (_, programs) = code.explain().split_once("\nIncorrect:\n\n").expect("there is an incorrect program");
    let (wrong, right) = programs.split_once("\nCorrect:\n\n").expect("there is a correct program");
    let plain = |program: &str| -> String {
        let line = |line: &str| format!("{}\n", line.strip_prefix("    ").expect("programs are indented"));
        program.lines().map(line).collect()
    };
    (plain(wrong), plain(right))
}

#[test]
fn a_wrong_example_has_its_finding_and_no_other() {
    for code in Code::ALL {
        assert_eq!(findings(*code, &examples(*code).0), [*code], "{}", code.as_str());
    }
}

#[test]
fn a_corrected_example_has_no_finding() {
    for code in Code::ALL {
        assert_eq!(findings(*code, &examples(*code).1), [], "{}", code.as_str());
    }
}

#[test]
fn numbers_are_in_order_and_head_their_explanations() {
    assert!(Code::ALL.is_sorted_by(|before, after| before < after && before.as_str() < after.as_str()));
    for code in Code::ALL {
        assert!(code.explain().starts_with(&format!("{}: {}\n\n", code.as_str(), code.title())), "{}", code.as_str());
    }
}

#[test]
fn errors_warnings_and_notes_are_told_apart_by_their_numbers() {
    for code in Code::ALL {
        let expected = match &code.as_str()[..4] {
            "SV00" | "SV03" => Severity::Error,
            "SV01" | "SV04" => Severity::Warning,
            _ => Severity::Note,
        };
        assert_eq!(code.severity(), expected, "{}", code.as_str());
    }
}

#[test]
fn an_explanation_shows_both_programs() {
    let text = Code::AssignedTwice.explain();
    assert!(text.starts_with("SV0024: a variable that is assigned twice\n\n"), "{text}");
    assert!(text.contains("    x, x := 0, 1;\n") && text.contains("    x, _ := 0, 1;\n"), "{text}");
    assert!(text.lines().all(|line| line.len() <= 80), "{text}");
}
