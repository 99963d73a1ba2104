//! The output of a solver as terms and values.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use super::sexp::Sexp;
use super::term::{Sort, Symbol, Term};
use super::{SmtError, SmtValue};

/// Reads a term; `symbols` gives the meaning of words. Quantifiers and division are not supported; remainders of a
/// division by a constant are, inside comparisons.
pub fn read_term(sexp: &Sexp, symbols: &BTreeMap<String, Symbol>) -> Result<Term, SmtError> {
    let scope = symbols.iter().map(|(name, symbol)| (name.clone(), symbol.clone().into())).collect();
    let reader = Reader { scope, remainders: Rc::default() };
    let is_whole = |term: &Term| term.symbols().iter().all(|symbol| !symbol.name.starts_with(REMAINDER));
    reader.term(sexp).filter(is_whole).ok_or_else(|| SmtError::Strange(shortened(sexp)))
}

/// The prefix of the names of remainders while comparisons are read.
const REMAINDER: &str = "remainder!";

/// The greatest divisor whose remainders are enumerated.
const DIVISOR: i128 = 64;

/// Reads a value of a model.
pub fn read_value(sexp: &Sexp) -> Result<SmtValue, SmtError> {
    let reader = Reader { scope: BTreeMap::new(), remainders: Rc::default() };
    let value = reader.term(sexp).and_then(|term| term.as_value());
    value.ok_or_else(|| SmtError::Strange(shortened(sexp)))
}

/// Returns the part of an answer that is shown in a message.
pub(super) fn shortened(sexp: &Sexp) -> String {
    sexp.to_string().chars().take(200).collect()
}

/// The meaning of words: symbols, and terms bound by `let`.
struct Reader {
    scope: BTreeMap<String, Term>,
    /// The remainders so far: a name for each, the dividend and the divisor.
    remainders: Rc<RefCell<Vec<(Symbol, Term, i128)>>>,
}

impl Reader {
    fn term(&self, sexp: &Sexp) -> Option<Term> {
        match sexp {
            Sexp::Atom(word) => self.word(word),
            Sexp::List(parts) => match parts.as_slice() {
                [Sexp::Atom(word), Sexp::List(names), body] if word == "let" => self.binding(names, body),
                [Sexp::Atom(operator), operands @ ..] => self.application(operator, operands),
                [Sexp::List(operator), operand] => self.divisibility(operator, operand),
                _ => None,
            },
        }
    }

    fn word(&self, word: &str) -> Option<Term> {
        match word {
            "true" => Some(true.into()),
            "false" => Some(false.into()),
            _ => self.scope.get(word).cloned().or_else(|| word.parse::<i128>().ok().map(Term::from)),
        }
    }

    /// Reads a `let`, whose names are all bound at once.
    fn binding(&self, names: &[Sexp], body: &Sexp) -> Option<Term> {
        let mut scope = self.scope.clone();
        for name in names {
            let [Sexp::Atom(name), value] = name.list()? else { return None };
            scope.insert(name.clone(), self.term(value)?);
        }
        Reader { scope, remainders: Rc::clone(&self.remainders) }.term(body)
    }

    /// Reads `((_ divisible n) t)`.
    fn divisibility(&self, operator: &[Sexp], operand: &Sexp) -> Option<Term> {
        let [Sexp::Atom(mark), Sexp::Atom(word), Sexp::Atom(divisor)] = operator else { return None };
        let divisor: i128 = divisor.parse().ok()?;
        (mark == "_" && word == "divisible" && divisor > 0).then_some(())?;
        Some(self.term(operand)?.divisible(divisor))
    }

    fn application(&self, operator: &str, operands: &[Sexp]) -> Option<Term> {
        if operator == "=" || operator == "distinct" {
            let [left, right] = operands else { return None };
            let equal = self.equality(left, right)?;
            return Some(if operator == "=" { equal } else { equal.not() });
        }
        let operands: Vec<Term> = operands.iter().map(|operand| self.term(operand)).collect::<Option<_>>()?;
        let wants = match operator {
            "not" | "and" | "or" | "=>" | "xor" => Some(Sort::Bool),
            "ite" => None,
            _ => Some(Sort::Int),
        };
        wants.is_none_or(|sort| operands.iter().all(|operand| operand.sort() == sort)).then_some(())?;
        match (operator, operands.as_slice()) {
            ("not", [part]) => Some(part.not()),
            ("and", _) => Some(Term::and(operands)),
            ("or", _) => Some(Term::or(operands)),
            ("=>", [left, right]) => Some(left.implies(right)),
            ("xor", [left, right]) => Some(left.equals(right).not()),
            ("+", _) => Some(Term::add(operands)),
            ("-", [part]) => Some(part.scale(-1)),
            ("-", [first, rest @ ..]) => Some(first.minus(&Term::add(rest.iter().cloned()))),
            ("*", [left, right]) => left.as_int().map(|n| right.scale(n)).or(right.as_int().map(|n| left.scale(n))),
            ("<=", [left, right]) => self.by_remainders(left.le(right)),
            ("<", [left, right]) => self.by_remainders(left.lt(right)),
            (">=", [left, right]) => self.by_remainders(right.le(left)),
            (">", [left, right]) => self.by_remainders(right.lt(left)),
            ("mod", [dividend, divisor]) => self.named_remainder(dividend, divisor.as_int()?),
            ("ite", [condition, then, otherwise]) => (condition.sort() == Sort::Bool
                && then.sort() == otherwise.sort())
            .then(|| Term::ite(condition, then, otherwise)),
            _ => None,
        }
    }

    /// Reads an equality, possibly between the remainder of a division by a constant and a constant.
    fn equality(&self, left: &Sexp, right: &Sexp) -> Option<Term> {
        for (one, other) in [(left, right), (right, left)] {
            if let Some((dividend, divisor)) = self.remainder(one) {
                let rest = self.term(other)?.as_int()?;
                let is_remainder = (0..divisor).contains(&rest);
                let difference = Term::add([dividend, (-rest).into()]);
                return Some(if is_remainder { difference.divisible(divisor) } else { false.into() });
            }
        }
        let (left, right) = (self.term(left)?, self.term(right)?);
        (left.sort() == right.sort()).then(|| left.equals(&right)).and_then(|equal| self.by_remainders(equal))
    }

    /// Returns a name for a remainder, until the comparison that contains it has been read.
    fn named_remainder(&self, dividend: &Term, divisor: i128) -> Option<Term> {
        let mut remainders = self.remainders.borrow_mut();
        let name = Symbol::new(&format!("{REMAINDER}{}", remainders.len()), Sort::Int);
        (0 < divisor && divisor <= DIVISOR).then_some(())?;
        remainders.push((name.clone(), dividend.clone(), divisor));
        Some(name.into())
    }

    /// Returns a comparison without remainders: one case for each value that they can have. The last one comes first,
    /// since the earlier ones may be in its dividend.
    fn by_remainders(&self, comparison: Term) -> Option<Term> {
        let mut comparison = comparison;
        loop {
            let found = comparison.symbols();
            let remainders = self.remainders.borrow();
            let Some((name, dividend, divisor)) = remainders.iter().rev().find(|(name, ..)| found.contains(name))
            else {
                return Some(comparison);
            };
            let case = |rest: i128| {
                let is_rest = Term::add([dividend.clone(), (-rest).into()]).divisible(*divisor);
                Term::and([is_rest, comparison.substitute(&BTreeMap::from([(name.clone(), rest.into())]))])
            };
            comparison = Term::or((0..*divisor).map(case).collect::<Vec<_>>());
        }
    }

    /// Reads `(mod t n)` for a positive constant.
    fn remainder(&self, sexp: &Sexp) -> Option<(Term, i128)> {
        let [Sexp::Atom(operator), dividend, divisor] = sexp.list()? else { return None };
        let divisor = self.term(divisor)?.as_int()?;
        let dividend = if operator == "mod" && divisor > 0 { self.term(dividend)? } else { return None };
        (dividend.sort() == Sort::Int).then_some((dividend, divisor))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Option<String> {
        let symbols = [("x", Sort::Int), ("y", Sort::Int), ("b", Sort::Bool)];
        let symbols = symbols.map(|(name, sort)| (name.to_string(), Symbol::new(name, sort))).into_iter().collect();
        let sexps = Sexp::parse_all(text).expect("it is balanced");
        read_term(&sexps[0], &symbols).ok().map(|term| term.to_string())
    }

    fn check(text: &str, expected: &str) {
        assert_eq!(read(text).as_deref(), Some(expected), "{text}");
    }

    #[test]
    fn what_elimination_writes_is_read() {
        check(
            "(let ((a!1 (<= (* 3 x) 7))) (or a!1 (not (= 0 (mod (+ 1 x) 2)))))",
            "(or (<= (* 3 |x|) 7) (not (= (mod (+ 1 |x|) 2) 0)))",
        );
        check("(>= (- x y 3) (- 2))", "(<= (- 2) (+ |x| (* (- 1) (+ |y| 3))))");
        check("((_ divisible 3) x)", "(= (mod |x| 3) 0)");
        check("(= (mod x 3) 2)", "(= (mod (+ |x| (- 2)) 3) 0)");
        check("(= (mod x 3) 5)", "false");
        check("(ite b x 2)", "(ite |b| |x| 2)");
    }

    #[test]
    fn remainders_in_comparisons_become_cases() {
        check("(<= (mod x 2) 0)", "(= (mod |x| 2) 0)");
        check("(let ((a!1 (mod x 2))) (= 1 a!1))", "(= (mod (+ |x| (- 1)) 2) 0)");
        check(
            "(<= (+ x (mod y 2)) 4)",
            "(or (and (= (mod |y| 2) 0) (<= |x| 4)) (and (= (mod (+ |y| (- 1)) 2) 0) (<= (+ |x| 1) 4)))",
        );
        assert_eq!(read("(mod x 2)"), None);
        assert_eq!(read("(<= (mod x 100) 3)"), None);
    }

    #[test]
    fn what_is_not_linear_or_ill_typed_is_refused() {
        for text in [
            "(div x 2)",
            "(* x y)",
            "(mod x y)",
            "(+ x b)",
            "(and x b)",
            "(= x b)",
            "z",
            "(exists ((z Int)) (= z x))",
            "(ite x x x)",
            "99999999999999999999999999999999999999999",
        ] {
            assert_eq!(read(text), None, "{text}");
        }
    }
}
