//! Terms over Booleans and integers, and their SMT-LIB form.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use super::SmtValue;

/// The type of a term.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Sort {
    /// Truth values.
    Bool,
    /// Integers.
    Int,
}

/// A constant symbol, for which a solver finds a value.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Symbol {
    /// Its name, in which `|` and `\` do not occur.
    pub name: Arc<str>,
    /// Its type.
    pub sort: Sort,
}

impl Symbol {
    /// Returns a symbol with this name, in which `|` and `\` become `_`.
    pub fn new(name: &str, sort: Sort) -> Symbol {
        Symbol { name: name.replace(['|', '\\'], "_").into(), sort }
    }
}

/// A term. Clones share their parts.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Term(Arc<Node>);

/// The outermost part of a term.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Node {
    /// A truth constant.
    Bool(bool),
    /// An integer constant.
    Int(i128),
    /// A symbol.
    Symbol(Symbol),
    /// Negation of a truth value.
    Not(Term),
    /// Conjunction of two or more.
    And(Vec<Term>),
    /// Disjunction of two or more.
    Or(Vec<Term>),
    /// Equality of two terms of one type.
    Eq(Term, Term),
    /// Less than or equal.
    Le(Term, Term),
    /// Less than.
    Lt(Term, Term),
    /// Divisibility by a positive constant.
    Divisible(i128, Term),
    /// Sum of two or more.
    Add(Vec<Term>),
    /// Multiplication by a constant.
    Scale(i128, Term),
    /// `if .0 then .1 else .2`.
    Ite(Term, Term, Term),
}

impl From<bool> for Term {
    fn from(value: bool) -> Term {
        Term(Arc::new(Node::Bool(value)))
    }
}

impl From<i128> for Term {
    fn from(value: i128) -> Term {
        Term(Arc::new(Node::Int(value)))
    }
}

impl From<i64> for Term {
    fn from(value: i64) -> Term {
        i128::from(value).into()
    }
}

impl From<SmtValue> for Term {
    fn from(value: SmtValue) -> Term {
        match value {
            SmtValue::Bool(value) => value.into(),
            SmtValue::Int(value) => value.into(),
        }
    }
}

impl From<Symbol> for Term {
    fn from(symbol: Symbol) -> Term {
        Term(Arc::new(Node::Symbol(symbol)))
    }
}

/// Constructors. Constants vanish where they can, nested conjunctions, disjunctions and sums become flat, and double
/// negations go away; otherwise a term is what it was made of.
impl Term {
    fn node(node: Node) -> Term {
        Term(Arc::new(node))
    }

    /// Returns the outermost part.
    pub fn head(&self) -> &Node {
        &self.0
    }

    /// Returns the value of a constant.
    pub fn as_value(&self) -> Option<SmtValue> {
        match self.head() {
            Node::Bool(value) => Some(SmtValue::Bool(*value)),
            Node::Int(value) => Some(SmtValue::Int(*value)),
            _ => None,
        }
    }

    /// Returns the truth value of a constant.
    pub fn as_bool(&self) -> Option<bool> {
        if let Node::Bool(value) = self.head() { Some(*value) } else { None }
    }

    /// Returns the integer of a constant.
    pub fn as_int(&self) -> Option<i128> {
        if let Node::Int(value) = self.head() { Some(*value) } else { None }
    }

    /// Negation.
    pub fn not(&self) -> Term {
        match self.head() {
            Node::Bool(value) => (!value).into(),
            Node::Not(inner) => inner.clone(),
            _ => Term::node(Node::Not(self.clone())),
        }
    }

    /// Conjunction.
    pub fn and(parts: impl IntoIterator<Item = Term>) -> Term {
        Term::connected(parts, true, Node::And)
    }

    /// Disjunction.
    pub fn or(parts: impl IntoIterator<Item = Term>) -> Term {
        Term::connected(parts, false, Node::Or)
    }

    /// Returns a conjunction, whose neutral element is true, or a disjunction, whose neutral element is false.
    fn connected(parts: impl IntoIterator<Item = Term>, neutral: bool, node: fn(Vec<Term>) -> Node) -> Term {
        let mut all = Vec::new();
        for part in parts {
            match part.head() {
                Node::Bool(value) if *value == neutral => {}
                Node::Bool(_) => return part,
                Node::And(inner) if neutral => all.extend(inner.iter().cloned()),
                Node::Or(inner) if !neutral => all.extend(inner.iter().cloned()),
                _ => all.push(part),
            }
        }
        Term::several(all, neutral, node)
    }

    /// Returns a node with several parts, the only part, or the neutral element.
    fn several(mut parts: Vec<Term>, neutral: impl Into<Term>, node: fn(Vec<Term>) -> Node) -> Term {
        match parts.len() {
            0 => neutral.into(),
            1 => parts.remove(0),
            _ => Term::node(node(parts)),
        }
    }

    /// Implication.
    pub fn implies(&self, then: &Term) -> Term {
        Term::or([self.not(), then.clone()])
    }

    /// Equality of two terms of one type.
    pub fn equals(&self, other: &Term) -> Term {
        match (self.head(), other.head()) {
            (Node::Int(left), Node::Int(right)) => (left == right).into(),
            (Node::Bool(true), _) => other.clone(),
            (Node::Bool(false), _) => other.not(),
            (_, Node::Bool(true)) => self.clone(),
            (_, Node::Bool(false)) => self.not(),
            _ if self == other => true.into(),
            _ => Term::node(Node::Eq(self.clone(), other.clone())),
        }
    }

    /// Less than or equal.
    pub fn le(&self, other: &Term) -> Term {
        match (self.as_int(), other.as_int()) {
            (Some(left), Some(right)) => (left <= right).into(),
            _ => Term::node(Node::Le(self.clone(), other.clone())),
        }
    }

    /// Less than.
    pub fn lt(&self, other: &Term) -> Term {
        match (self.as_int(), other.as_int()) {
            (Some(left), Some(right)) => (left < right).into(),
            _ => Term::node(Node::Lt(self.clone(), other.clone())),
        }
    }

    /// Divisibility by a constant, which must be positive.
    pub fn divisible(&self, divisor: i128) -> Term {
        assert!(divisor > 0, "a divisor is positive");
        match self.as_int() {
            _ if divisor == 1 => true.into(),
            Some(value) => (value % divisor == 0).into(),
            None => Term::node(Node::Divisible(divisor, self.clone())),
        }
    }

    /// Sum. Constants are not added up, since their sum may be too large.
    pub fn add(parts: impl IntoIterator<Item = Term>) -> Term {
        let mut all = Vec::new();
        for part in parts {
            match part.head() {
                Node::Int(0) => {}
                Node::Add(inner) => all.extend(inner.iter().cloned()),
                _ => all.push(part),
            }
        }
        Term::several(all, 0i128, Node::Add)
    }

    /// Multiplication by a constant.
    pub fn scale(&self, factor: i128) -> Term {
        match (factor, self.as_int().and_then(|value| value.checked_mul(factor))) {
            (0, _) => 0i128.into(),
            (1, _) => self.clone(),
            (_, Some(product)) => product.into(),
            _ => Term::node(Node::Scale(factor, self.clone())),
        }
    }

    /// Difference.
    pub fn minus(&self, other: &Term) -> Term {
        Term::add([self.clone(), other.scale(-1)])
    }

    /// Choice between two terms of one type.
    pub fn ite(condition: &Term, then: &Term, otherwise: &Term) -> Term {
        match condition.as_bool() {
            Some(true) => then.clone(),
            Some(false) => otherwise.clone(),
            None if then == otherwise => then.clone(),
            None => Term::node(Node::Ite(condition.clone(), then.clone(), otherwise.clone())),
        }
    }

    /// Returns the type of a well-typed term.
    pub fn sort(&self) -> Sort {
        match self.head() {
            Node::Symbol(symbol) => symbol.sort,
            Node::Int(_) | Node::Add(_) | Node::Scale(..) => Sort::Int,
            Node::Ite(_, then, _) => then.sort(),
            _ => Sort::Bool,
        }
    }

    /// Returns the parts, from left to right.
    pub fn parts(&self) -> Vec<&Term> {
        match self.head() {
            Node::Bool(_) | Node::Int(_) | Node::Symbol(_) => Vec::new(),
            Node::Not(part) | Node::Divisible(_, part) | Node::Scale(_, part) => vec![part],
            Node::And(parts) | Node::Or(parts) | Node::Add(parts) => parts.iter().collect(),
            Node::Eq(left, right) | Node::Le(left, right) | Node::Lt(left, right) => vec![left, right],
            Node::Ite(condition, then, otherwise) => vec![condition, then, otherwise],
        }
    }

    /// Returns all symbols.
    pub fn symbols(&self) -> BTreeSet<Symbol> {
        let mut symbols = BTreeSet::new();
        self.collect_symbols(&mut symbols);
        symbols
    }

    fn collect_symbols(&self, symbols: &mut BTreeSet<Symbol>) {
        match self.head() {
            Node::Symbol(symbol) => {
                symbols.insert(symbol.clone());
            }
            _ => self.parts().into_iter().for_each(|part| part.collect_symbols(symbols)),
        }
    }

    /// Returns the term with other parts, made from its own from left to right.
    pub fn map_parts(&self, mut of: impl FnMut(&Term) -> Term) -> Term {
        match self.head() {
            Node::Bool(_) | Node::Int(_) | Node::Symbol(_) => self.clone(),
            Node::Not(part) => of(part).not(),
            Node::And(parts) => Term::and(parts.iter().map(of)),
            Node::Or(parts) => Term::or(parts.iter().map(of)),
            Node::Eq(left, right) => of(left).equals(&of(right)),
            Node::Le(left, right) => of(left).le(&of(right)),
            Node::Lt(left, right) => of(left).lt(&of(right)),
            Node::Divisible(divisor, part) => of(part).divisible(*divisor),
            Node::Add(parts) => Term::add(parts.iter().map(of)),
            Node::Scale(factor, part) => of(part).scale(*factor),
            Node::Ite(condition, then, otherwise) => Term::ite(&of(condition), &of(then), &of(otherwise)),
        }
    }

    /// Returns the term with other terms in the place of some symbols, all at once.
    pub fn substitute(&self, values: &BTreeMap<Symbol, Term>) -> Term {
        match self.head() {
            Node::Symbol(symbol) => values.get(symbol).unwrap_or(self).clone(),
            _ => self.map_parts(|part| part.substitute(values)),
        }
    }
}

impl fmt::Display for Symbol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "|{}|", self.name)
    }
}

impl fmt::Display for Sort {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Sort::Bool => "Bool",
            Sort::Int => "Int",
        })
    }
}

/// As SMT-LIB writes it.
impl fmt::Display for Term {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.head() {
            Node::Bool(value) => write!(f, "{value}"),
            Node::Int(value) => write_int(f, *value),
            Node::Symbol(symbol) => write!(f, "{symbol}"),
            Node::Not(part) => write!(f, "(not {part})"),
            Node::And(parts) => write_list(f, "and", parts),
            Node::Or(parts) => write_list(f, "or", parts),
            Node::Add(parts) => write_list(f, "+", parts),
            Node::Eq(left, right) => write!(f, "(= {left} {right})"),
            Node::Le(left, right) => write!(f, "(<= {left} {right})"),
            Node::Lt(left, right) => write!(f, "(< {left} {right})"),
            Node::Divisible(divisor, part) => write!(f, "(= (mod {part} {divisor}) 0)"),
            Node::Scale(factor, part) => {
                write!(f, "(* ")?;
                write_int(f, *factor)?;
                write!(f, " {part})")
            }
            Node::Ite(condition, then, otherwise) => write!(f, "(ite {condition} {then} {otherwise})"),
        }
    }
}

fn write_list(f: &mut fmt::Formatter<'_>, operator: &str, parts: &[Term]) -> fmt::Result {
    write!(f, "({operator}")?;
    parts.iter().try_for_each(|part| write!(f, " {part}"))?;
    write!(f, ")")
}

fn write_int(f: &mut fmt::Formatter<'_>, value: i128) -> fmt::Result {
    if value < 0 { write!(f, "(- {})", value.unsigned_abs()) } else { write!(f, "{value}") }
}
