//! The clauses, in the language of z3's fixed-point engine.

use std::collections::BTreeSet;

use selvedge_ir::Expr;
use selvedge_logic::smt::{Smt, Symbol, Term};

use super::guarded_commands::{GuardedCommands, after};
use crate::terms::{choice, marked, symbol};

/// The relation of reachable states.
pub(super) const RELATION: &str = "P";

/// The query, which prints its evidence after the answer.
pub(super) const QUERY: &str = "(query E :print-certificate true)";

/// Sends everything but the query to the solver. Spacer must keep the relation and its columns as they are, so that its
/// evidence describes states.
pub(super) fn tell(system: &GuardedCommands<'_>, smt: &mut Smt) {
    for option in ["engine spacer", "xform.slice false", "xform.inline_linear false", "xform.inline_eager false"] {
        smt.tell(format!("(set-option :fp.{option})"));
    }
    let program = system.program;
    let sorts: Vec<String> = program.vars.indices().map(|var| symbol(program, var, "").sort.to_string()).collect();
    smt.tell(format!("(declare-rel {RELATION} ({}))", sorts.join(" ")));
    smt.tell("(declare-rel E ())".to_string());
    for symbol in symbols(system) {
        smt.tell(format!("(declare-var {symbol} {})", symbol.sort));
    }
    let here = fact(program.vars.indices().map(|var| Term::from(symbol(program, var, ""))));
    let of = |expr: &Expr| marked(program, expr, "");
    smt.tell(format!("(rule (=> {} {here}))", of(system.init)));
    for (_, command) in &system.commands {
        let there = fact(program.vars.indices().map(|var| of(&after(command, &Expr::Var(var)))));
        smt.tell(format!("(rule (=> (and {here} {}) {there}))", of(&command.constrain)));
    }
    for (_, condition) in &system.asserts {
        smt.tell(format!("(rule (=> (and {here} {}) E))", of(condition).not()));
    }
}

/// Returns all variables, and the choices of all commands.
fn symbols(system: &GuardedCommands<'_>) -> BTreeSet<Symbol> {
    let program = system.program;
    let mut symbols: BTreeSet<Symbol> = program.vars.indices().map(|var| symbol(program, var, "")).collect();
    for (_, command) in &system.commands {
        for (number, ty) in command.choices().into_iter().enumerate() {
            symbols.insert(choice(u32::try_from(number).unwrap_or(u32::MAX), ty, ""));
        }
    }
    symbols
}

fn fact(values: impl Iterator<Item = Term>) -> String {
    let words: Vec<String> = values.map(|value| value.to_string()).collect();
    if words.is_empty() { RELATION.to_string() } else { format!("({RELATION} {})", words.join(" ")) }
}
