//! `selvedge explain`: what a diagnostic means.

use selvedge_frontend::diagnostic::{Code, Severity};

use crate::args::ExplainArgs;
use crate::exit::Exit;
use crate::session::Session;

pub(crate) fn run(args: &ExplainArgs, session: &Session) -> Exit {
    match &args.code {
        None => {
            session.printer.out(&list());
            Exit::Success
        }
        Some(wanted) => match find(wanted) {
            Some(code) => {
                session.printer.out(&(code.explain().trim_end().to_string() + "\n"));
                Exit::Success
            }
            None => {
                session.printer.error(&format!("there is no code `{wanted}`"));
                session.printer.help("`selvedge explain` lists all codes");
                Exit::Usage
            }
        },
    }
}

/// The code as the user may write it: `SV0012`, `sv0012`, `12`, `error[SV0012]`.
fn find(wanted: &str) -> Option<Code> {
    let inner = wanted.split_once('[').map_or(wanted, |(_, inner)| inner.trim_end_matches(']'));
    let number = inner.to_ascii_uppercase();
    let number: u32 = number.strip_prefix("SV").unwrap_or(&number).parse().ok()?;
    Code::ALL.iter().copied().find(|code| code.as_str() == format!("SV{number:04}"))
}

fn list() -> String {
    let line = |code: &Code| format!("{}  {:<7}  {}\n", code.as_str(), severity(*code), code.title());
    Code::ALL.iter().map(line).collect()
}

fn severity(code: Code) -> &'static str {
    match code.severity() {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Note => "note",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_found_however_they_are_written() {
        for wanted in ["SV0012", "sv0012", "12", "SV12", "error[SV0012]"] {
            assert_eq!(find(wanted), Some(Code::UnknownVariable), "{wanted}");
        }
        assert_eq!(find("SV9999"), None);
        assert_eq!(find("nonsense"), None);
    }
}
