//! The names of a program's variables and procedures in its textual form.

use rustc_hash::FxHashMap;

use super::is_keyword;
use crate::syntax::{ProcId, Program, Scope, VarId};

/// Printable names, no two alike.
#[derive(Clone, Debug)]
pub struct Names {
    vars: Vec<String>,
    procs: Vec<String>,
}

impl Names {
    /// Returns the names of a program's variables and procedures. A name that repeats carries its number; if the
    /// variables' order is not that of the printed declarations, all of them do.
    pub fn unique(program: &Program) -> Names {
        let vars = program.vars.iter().map(|var| var.name.as_str());
        let procs = program.procs.iter().map(|proc| proc.name.as_str());
        Names { vars: numbered(vars, !in_printed_order(program)), procs: numbered(procs, false) }
    }

    /// Returns the name of a variable.
    pub fn var(&self, var: VarId) -> &str {
        self.vars.get(var.index()).map_or("?", String::as_str)
    }

    /// Returns the name of a procedure.
    pub fn proc(&self, proc: ProcId) -> &str {
        self.procs.get(proc.index()).map_or("?", String::as_str)
    }
}

/// Returns printable names: those that repeat, or all, carry their numbers.
fn numbered<'n>(names: impl Iterator<Item = &'n str> + Clone, all: bool) -> Vec<String> {
    let mut uses: FxHashMap<&str, usize> = FxHashMap::default();
    for name in names.clone() {
        *uses.entry(name).or_default() += 1;
    }
    let with_number = |(idx, name): (usize, &str)| {
        if all || uses[name] > 1 { format!("{}@{idx}", quote(name)) } else { quote(name) }
    };
    names.enumerate().map(with_number).collect()
}

/// Returns whether the declarations, as they are printed, number the variables from zero on: those of all procedures
/// first, then the locals, procedure by procedure.
fn in_printed_order(program: &Program) -> bool {
    let is_global = |var: &VarId| !matches!(program.vars[*var].scope, Scope::Local(_));
    let globals = program.vars.indices().filter(is_global);
    let locals = program.procs.iter().flat_map(|proc| proc.locals.iter().copied());
    globals.chain(locals).eq(program.vars.indices())
}

/// Returns the name, between backquotes unless it is a plain one.
pub(super) fn quote(name: &str) -> String {
    let mut chars = name.chars();
    let starts_plain = chars.next().is_some_and(is_name_start);
    if starts_plain && chars.all(is_name_part) && !is_keyword(name) {
        return name.to_owned();
    }
    let mut quoted = String::from("`");
    for char in name.chars() {
        match char {
            '`' | '\\' => quoted.extend(['\\', char]),
            char if char.is_control() => quoted.extend(char.escape_unicode()),
            char => quoted.push(char),
        }
    }
    quoted.push('`');
    quoted
}

pub(super) fn is_name_start(char: char) -> bool {
    char.is_ascii_alphabetic() || char == '_'
}

pub(super) fn is_name_part(char: char) -> bool {
    char.is_ascii_alphanumeric() || char == '_' || char == '.'
}
