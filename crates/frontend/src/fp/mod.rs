//! The fixed-point calculus: systems of equations between relations on the states of a program (`.fp`).
//!
//! ```text
//! rel Reach(g: Shared, p: Own, l: Frame) :=
//!     exists t: Template. Initial(g) & Begin(t, g, p, l)
//!   | exists h: Shared, q: Own, m: Frame. Reach(h, q, m) & Step(h, q, m, g, p, l);
//! rel Error() := exists g: Shared, p: Own, l: Frame. Reach(g, p, l) & Target(g, p, l);
//! ```
//!
//! Equations are positive within a layer; `layer;` begins the next, in which relations of earlier ones may be negated.
//! The answer is the relation `Error()`.

mod parse;
mod systems;

use selvedge_ir::fp::Fixpoint;

use crate::diagnostic::Diagnostic;
pub use systems::{Schedule, system};

/// The result of reading a text.
#[derive(Clone, Debug)]
pub struct LoadedFixpoint {
    /// The system; `None` if the text has errors.
    pub fixpoint: Option<Fixpoint>,
    pub diagnostics: Vec<Diagnostic>,
}

/// Reads a system of equations.
pub fn load(text: &str) -> LoadedFixpoint {
    let (fixpoint, diagnostics) = parse::parse(text);
    let has_errors = diagnostics.iter().any(Diagnostic::is_error);
    LoadedFixpoint { fixpoint: (!has_errors).then_some(fixpoint), diagnostics }
}

#[cfg(test)]
mod tests {
    use super::*;

    const REACH: &str = "rel Reach(g: Shared, p: Own, l: Frame) :=
          exists t: Template. Initial(g) & Begin(t, g, p, l)
        | exists h: Shared, q: Own, m: Frame. Reach(h, q, m) & Step(h, q, m, g, p, l);";
    const ERROR: &str = "rel Error() := exists g: Shared, p: Own, l: Frame. Reach(g, p, l) & Target(g, p, l);";

    fn messages(text: &str) -> Vec<String> {
        load(text).diagnostics.into_iter().map(|diagnostic| diagnostic.message).collect()
    }

    #[test]
    fn a_system_has_equations_and_an_answer() {
        let fixpoint = load(&format!("{REACH}\n{ERROR}")).fixpoint.expect("the text is right");
        assert_eq!((fixpoint.equations.len(), fixpoint.answer), (2, Some(1)));
        assert_eq!(fixpoint.equations[0].params.len(), 3);
    }

    #[test]
    fn mistakes_are_told_at_their_places() {
        let cases = [
            ("rel Error() := exists g: Shared. Nothing(g);", "there is no relation `Nothing`"),
            ("rel Error() := exists g: Shared. Free(g);", "`g` is of sort `Shared`, but `Own` is expected"),
            ("rel Error() := exists g: Shared. Initial(g, g);", "`Initial` takes 1 arguments, not 2"),
            ("rel Error() := Initial(g);", "`g` is not bound"),
            ("rel Error() := exists g: State. Initial(g);", "`State` is not a sort"),
            ("rel Error() := !Error();", "`Error` is negated, but not solved yet"),
            ("rel A() := true;", "there is no relation `Error()`"),
            ("rel Error() := exists g: Shared, l: Frame. g = l;", "`l` is of sort `Frame`, but `Shared` is expected"),
            ("rel Error() := exists g: Shared Initial(g);", "expected `.`"),
            ("rel Step() := true; rel Error() := true;", "the program already defines the relation `Step`"),
            ("rel Error() := forall g: Shared. Initial(g);", "this quantifier would negate an equation"),
            ("rel Error() := true $;", "`$` is not part of the language"),
        ];
        for (text, message) in cases {
            let found = messages(text);
            assert!(found.iter().any(|found| found.starts_with(message)), "{text}: {found:?}");
        }
    }

    #[test]
    fn layers_allow_negation_of_what_is_solved() {
        let text = format!("{REACH} layer; rel Error() := exists g: Shared, p: Own, l: Frame. !Reach(g, p, l);");
        assert_eq!(messages(&text), Vec::<String>::new());
        let later = format!("rel Error() := exists g: Shared, p: Own, l: Frame. Reach(g, p, l); layer; {REACH}");
        assert!(messages(&later)[0].contains("later layer"));
    }

    /// Fuzzing found that deep nesting overflowed the stack: only this parser had no limit.
    #[test]
    fn deep_nesting_is_one_diagnostic() {
        let nested = |depth: usize| format!("rel Error() := {}true{};", "(".repeat(depth), ")".repeat(depth));
        assert_eq!(messages(&nested(256)), Vec::<String>::new());
        assert_eq!(messages(&nested(100_000)), ["nested more than 256 levels deep"]);
        let quantified = "exists g: Shared. ".repeat(100_000);
        assert_eq!(messages(&format!("rel Error() := {quantified}true;")), ["nested more than 256 levels deep"]);
        let equations = "rel A() := (true); ".repeat(10) + &nested(256);
        assert_eq!(messages(&equations).len(), 9, "each equation is nested on its own");
    }
}
