//! Variables and values in reports for people.

use std::collections::BTreeSet;

use selvedge_ir::{Program, Scope, Value, VarId};

/// The names of variables, qualified where a plain name could mean another variable that is visible beside it.
pub struct Names<'p> {
    program: &'p Program,
    /// The names of shared variables, and those of per-thread ones.
    global: [BTreeSet<&'p str>; 2],
}

impl<'p> Names<'p> {
    pub fn new(program: &'p Program) -> Names<'p> {
        let of_scope = |scope: Scope| {
            program.vars.iter().filter(move |var| var.scope == scope).map(|var| var.name.as_str()).collect()
        };
        Names { program, global: [of_scope(Scope::Shared), of_scope(Scope::Thread)] }
    }

    /// The name of a variable: `x`, `main.x` for a local that hides a global one, `thread.x` for a per-thread variable
    /// that hides a shared one.
    pub fn of(&self, id: VarId) -> String {
        let var = &self.program.vars[id];
        let [shared, thread] = &self.global;
        let name = var.name.as_str();
        match var.scope {
            Scope::Local(proc) if shared.contains(name) || thread.contains(name) => {
                format!("{}.{name}", self.program.procs[proc].name)
            }
            Scope::Thread if shared.contains(name) => format!("thread.{name}"),
            Scope::Shared | Scope::Thread | Scope::Local(_) => name.to_string(),
        }
    }
}

/// Lists the variables of a scope, in the order of their declaration.
pub(crate) fn vars_of(program: &Program, scope: Scope) -> Vec<VarId> {
    program.vars.iter_enumerated().filter(|(_, var)| var.scope == scope).map(|(id, _)| id).collect()
}

/// A value as people read it: truth values as 0 and 1.
pub fn value(value: Value) -> String {
    match value {
        Value::Bool(value) => u8::from(value).to_string(),
        number => number.number().to_string(),
    }
}

/// A value with a name by its name.
pub fn shown(of: Value, word: Option<&String>) -> String {
    word.cloned().unwrap_or_else(|| value(of))
}

/// `1 step`, `2 steps`.
pub fn count(n: usize, noun: &str) -> String {
    match n {
        1 => format!("1 {noun}"),
        n if noun.ends_with("ch") || noun.ends_with("ss") => format!("{n} {noun}es"),
        n if noun.ends_with("ery") => format!("{n} {}ies", noun.trim_end_matches('y')),
        n => format!("{n} {noun}s"),
    }
}

#[cfg(test)]
mod tests {
    use selvedge_ir::text::parse;

    use super::*;

    #[test]
    fn names_that_hide_others_are_qualified() {
        let program = "shared x: bool, y: bool\nthread t: bool\nproc main() from L0 to L1\nlocal x: bool\n\
            local t: bool\nlocal z: bool\ne0 L0 -> L1: return\nstart main";
        let program = parse(program).expect("the program is well-formed");
        let names = Names::new(&program);
        let all: Vec<String> = program.vars.indices().map(|var| names.of(var)).collect();
        assert_eq!(all, ["x", "y", "t", "main.x", "main.t", "z"]);
    }

    #[test]
    fn nouns_are_counted() {
        assert_eq!(count(1, "context switch"), "1 context switch");
        assert_eq!(count(2, "context switch"), "2 context switches");
        assert_eq!(count(0, "step"), "0 steps");
    }
}
