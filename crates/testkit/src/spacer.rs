//! Verdicts of Spacer on the Horn clauses of many programs, in one process.

use selvedge_check::Run;
use selvedge_driver::external::{ExternalFailure, ExternalVerdict, Spacer};
use selvedge_export::horn;
use selvedge_frontend::{Context, Source};

use crate::differ::Posed;

/// Returns the clauses of a program. An error says why there are none.
pub fn clauses(posed: &Posed, name: &str) -> Result<String, String> {
    let source = Source::new(name, posed.text.clone());
    horn::render(Context { program: &posed.asked, map: &posed.map, source: &source }, &posed.target)
}

/// Returns the verdicts on several texts with clauses, in order.
pub fn verdicts(spacer: &Spacer, texts: &[String], run: &Run<'_>) -> Result<Vec<ExternalVerdict>, ExternalFailure> {
    spacer.decide_all(&texts.join("(reset)\n"), run)
}
