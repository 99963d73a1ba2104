//! Functions that a program declares and other tools define: inputs, assumptions, failures.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use selvedge_frontend::Context;
use selvedge_ir::{Op, Ty};

pub(super) struct Library<'t> {
    context: Context<'t>,
    /// The names that the program uses as functions and does not define, and whether the file declares them.
    missing: BTreeMap<&'t str, bool>,
}

/// Functions with fixed definitions.
const FIXED: &[(&str, &str)] = &[
    ("assert", "__typeof__(assert(0)) assert(int holds) { if (!holds) sv_fail(__LINE__); }"),
    ("reach_error", "void reach_error(void) { sv_fail(__LINE__); }"),
    ("__VERIFIER_error", "void __VERIFIER_error(void) { sv_fail(__LINE__); }"),
    ("__VERIFIER_assert", "void __VERIFIER_assert(int holds) { if (!holds) sv_fail(__LINE__); }"),
    ("__CPROVER_assert", "void __CPROVER_assert(int holds, const char *text) { if (!holds) sv_fail(__LINE__); }"),
    ("__VERIFIER_assume", "void __VERIFIER_assume(int holds) { if (!holds) sv_park(); }"),
    ("__CPROVER_assume", "void __CPROVER_assume(int holds) { if (!holds) sv_park(); }"),
    ("assume_abort_if_not", "void assume_abort_if_not(int holds) { if (!holds) sv_park(); }"),
    ("__VERIFIER_atomic_begin", "void __VERIFIER_atomic_begin(void) {}"),
    ("__VERIFIER_atomic_end", "void __VERIFIER_atomic_end(void) {}"),
    ("__CPROVER_atomic_begin", "void __CPROVER_atomic_begin(void) {}"),
    ("__CPROVER_atomic_end", "void __CPROVER_atomic_end(void) {}"),
];

impl<'t> Library<'t> {
    pub(super) fn new(context: Context<'t>) -> Library<'t> {
        Library { context, missing: missing(context.source.text()) }
    }

    /// Returns the header that the runtime needs, unless the program has its contents.
    pub(super) fn includes(&self) -> &'static str {
        let text = self.context.source.text();
        let has_types = text.contains("pthread_mutex_t") || text.contains("pthread.h");
        if has_types { "" } else { "#include <pthread.h>" }
    }

    /// Returns the definitions of the functions that the program does not have.
    pub(super) fn definitions(&self) -> String {
        let mut text = String::new();
        for (name, is_declared) in &self.missing {
            let definition = match FIXED.iter().find(|(fixed, _)| fixed == name) {
                Some((_, definition)) => (*definition).to_owned(),
                None => {
                    let ty = if *is_declared { format!("__typeof__({name}())") } else { self.input_type(name) };
                    format!("{ty} {name}(void) {{ return sv_input(); }}")
                }
            };
            let _ = writeln!(text, "{definition}");
        }
        text
    }

    /// Returns the type of the result of a function without a declaration in the file, by its values.
    fn input_type(&self, name: &str) -> String {
        let Context { program, map, .. } = self.context;
        let edge = map.inputs.iter().find(|(_, function)| *function == name).map(|(edge, _)| &program.edges[*edge].op);
        let ty = match edge {
            Some(Op::Assign(assign)) => assign.active.first().map(|(var, _)| program.vars[*var].ty),
            _ => None,
        };
        let Some(Ty::Machine(ty)) = ty else { return "int".to_owned() };
        let sign = if ty.signed { "signed" } else { "unsigned" };
        match ty.bits {
            1 => "_Bool".to_owned(),
            8 => format!("{sign} char"),
            16 => format!("{sign} short"),
            32 => format!("{sign} int"),
            _ => format!("{sign} long"),
        }
    }
}

/// Returns the functions that are used and not defined, and whether they are declared outside of functions.
fn missing(text: &str) -> BTreeMap<&str, bool> {
    let (mut used, mut defined) = (BTreeMap::new(), BTreeSet::new());
    for (at, name, depth) in words(text) {
        let rest = text[at + name.len()..].trim_start();
        if rest.starts_with('(') {
            *used.entry(name).or_default() |= depth == 0;
            defined.extend(is_definition(rest).then_some(name));
        }
    }
    let is_known = |name: &str| FIXED.iter().any(|(fixed, _)| *fixed == name) || is_input(name);
    // The header has a macro of this name.
    let is_macro = |name: &str| name == "assert" && text.contains("assert.h");
    used.retain(|name, _| is_known(name) && !is_macro(name) && !defined.contains(name));
    used
}

/// Returns whether a function returns any value.
fn is_input(name: &str) -> bool {
    name.starts_with("__VERIFIER_nondet_") || name.starts_with("nondet_")
}

/// Lists the words of a text, outside of comments and strings, with their places and the number of braces around.
fn words(text: &str) -> Vec<(usize, &str, usize)> {
    let is_word = |char: char| char.is_ascii_alphanumeric() || matches!(char, '_' | '$');
    let mut found = Vec::new();
    let (mut at, mut depth) = (0, 0_usize);
    while let Some(first) = text[at..].chars().next() {
        let rest = &text[at..];
        let length = match first {
            '"' | '\'' => quoted(rest),
            '/' if rest.starts_with("//") => rest.find('\n').unwrap_or(rest.len()),
            '/' if rest.starts_with("/*") => rest.find("*/").map_or(rest.len(), |end| end + 2),
            first if is_word(first) => {
                let length = rest.find(|char| !is_word(char)).unwrap_or(rest.len());
                found.push((at, &rest[..length], depth));
                length
            }
            other => {
                depth = (depth + usize::from(other == '{')).saturating_sub(usize::from(other == '}'));
                other.len_utf8()
            }
        };
        at += length;
    }
    found
}

/// Returns the length of a string or character.
fn quoted(text: &str) -> usize {
    let quote = text.chars().next();
    let mut is_escaped = false;
    for (at, char) in text.char_indices().skip(1) {
        match char {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            char if Some(char) == quote || char == '\n' => return at + char.len_utf8(),
            _ => {}
        }
    }
    text.len()
}

/// Returns whether parentheses are followed by a body.
fn is_definition(text: &str) -> bool {
    let mut depth = 0_usize;
    for (at, char) in text.char_indices() {
        match char {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return text[at + 1..].trim_start().starts_with('{');
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_that_are_only_declared_are_found() {
        let text = "int nondet_int(void); // nondet_no()\nvoid reach_error() { abort(); }\n\
                    int main() { __VERIFIER_assume(nondet_int()); puts(\"nondet_x()\"); }";
        let found: Vec<(&str, bool)> = missing(text).into_iter().collect();
        assert_eq!(found, [("__VERIFIER_assume", false), ("nondet_int", true)]);
    }
}
