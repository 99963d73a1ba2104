//! Warnings about unused declarations.
//!
//! Generated programs have many of them: SatAbs declares each predicate in each procedure and gives each statement a
//! label. So names in the style of generators are not reported.

use rustc_hash::FxHashSet;
use selvedge_ir::span::Span;
use selvedge_ir::{Op, ProcId, Scope};

use super::Lowering;
use crate::bp::LoadOptions;
use crate::bp::ast::Symbol;
use crate::diagnostic::{Code, Diagnostic};

impl Lowering<'_> {
    /// Records an unused label.
    pub(super) fn unused_label(&mut self, symbol: Symbol, span: Span, options: &LoadOptions) {
        let text = self.text(symbol);
        if is_generated_label(text) || options.labels.iter().any(|label| label == text) {
            return;
        }
        let message = format!("nothing jumps to the label `{text}`");
        self.unused_labels.push(Diagnostic::new(Code::UnusedLabel, message, span));
    }

    /// Reports the recorded labels and all unused variables.
    pub(super) fn warn_of_unused(&mut self) {
        let mut unused = std::mem::take(&mut self.unused_labels);
        for (var, is_used) in self.used.iter_enumerated() {
            let declared = &self.found.program.vars[var];
            if *is_used || is_generated_variable(&declared.name) || self.found.shapes[var].is_element {
                continue;
            }
            let name = declared.name.split('[').next().unwrap_or_default();
            let kind = if matches!(declared.scope, Scope::Local(_)) { "local variable" } else { "variable" };
            let message = format!("the {kind} `{name}` is never used");
            unused.push(Diagnostic::new(Code::UnusedVariable, message, self.found.map.vars[var]));
        }
        unused.extend(self.unused_procedures());
        self.found.diagnostics.append(&mut unused);
    }
}

impl Lowering<'_> {
    /// Finds the procedures that no other one calls or starts, and with which no thread begins.
    fn unused_procedures(&self) -> Vec<Diagnostic> {
        let program = &self.found.program;
        let mut used: FxHashSet<ProcId> = self.entry_procs.iter().copied().chain(program.prelude).collect();
        used.extend(program.entries.iter().map(|entry| entry.proc));
        for edge in &program.edges {
            let callee = match &edge.op {
                Op::Call(call) => call.callee,
                Op::Spawn(spawn) => spawn.callee,
                _ => continue,
            };
            if program.locs[edge.from].proc != callee {
                used.insert(callee);
            }
        }
        let mut unused = Vec::new();
        for (proc, unit) in self.tables.units.iter_enumerated() {
            if used.contains(&proc) || unit.name == "main" || is_generated_procedure(unit.name) {
                continue;
            }
            let message = format!("the procedure `{}` is never called", unit.name);
            unused.push(Diagnostic::new(Code::UnusedProcedure, message, unit.header));
        }
        unused
    }
}

/// Returns whether a procedure looks generated: names that begin with `_` or contain `$` or `::`.
fn is_generated_procedure(text: &str) -> bool {
    text.starts_with('_') || text.contains('$') || text.contains("::")
}

/// Returns whether a label looks generated: numbers; `PC7`, `l7` and `L7`; `ASYNC_..`; labels of c2bp (`c2bp..`,
/// `C_1_2`, `S_1_2`); error labels; and names that begin with `_`.
fn is_generated_label(text: &str) -> bool {
    let numbered = |prefix: &str| text.strip_prefix(prefix).is_some_and(is_number);
    is_number(text)
        || ["PC", "l", "L"].iter().any(|prefix| numbered(prefix))
        || ["ASYNC_", "c2bp", "C_", "S_", "_"].iter().any(|prefix| text.starts_with(prefix))
        || text.contains("ERROR")
}

/// Returns whether a variable looks generated: `b7` and `b7_..`, the predicates of SatAbs, and names that begin with
/// `_`.
fn is_generated_variable(text: &str) -> bool {
    let is_predicate = |rest: &str| is_number(rest.split('_').next().unwrap_or(rest));
    text.starts_with('_') || text.strip_prefix('b').is_some_and(is_predicate)
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}
