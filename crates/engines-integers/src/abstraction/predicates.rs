//! Predicates in a normal form: conditions that differ only in notation are the same predicate.

use std::collections::BTreeMap;

use selvedge_check::{SolverFailure, Stop, Task};
use selvedge_ir::{BinaryOp, Expr, Program, Ty, UnaryOp, VarId};

use crate::horn::guarded_commands::GuardedCommands;
use crate::linear::{Comparison, Linear};

/// A leaf of a term: a variable, or a choice of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Leaf {
    Var(VarId),
    Choice(u32),
}

/// A condition without connectives. Its first factor is positive, and the factors have no common divisor; in a
/// divisibility atom, all numbers are below the divisor.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Atom {
    Flag(Leaf),
    /// The sum is at most zero.
    AtMost(Linear<Leaf>),
    /// The sum is zero.
    Zero(Linear<Leaf>),
    Divisible(u32, Linear<Leaf>),
}

/// A list of distinct predicates.
#[derive(Clone, Debug)]
pub struct Predicates {
    types: Vec<Ty>,
    names: Vec<String>,
    exprs: Vec<Expr>,
    numbers: BTreeMap<Atom, usize>,
}

impl Predicates {
    /// Creates an empty list of predicates for a program.
    pub fn none(program: &Program) -> Predicates {
        Predicates {
            types: program.vars.iter().map(|var| var.ty).collect(),
            names: program.vars.iter().map(|var| var.name.clone()).collect(),
            exprs: Vec::new(),
            numbers: BTreeMap::new(),
        }
    }

    /// Collects the predicates in the conditions of a program of guarded commands: in its initial condition, its guards
    /// and its assertions.
    pub fn of_conditions(task: &Task<'_>) -> Result<Predicates, Stop> {
        let system = GuardedCommands::of(task, "abstract").expect("only guarded commands have predicates");
        let mut predicates = Predicates::none(task.program);
        let guards = system.commands.iter().map(|(_, command)| &command.constrain);
        let asserts = task.program.edges.iter().filter_map(|edge| match &edge.op {
            selvedge_ir::Op::Assert(condition) => Some(condition),
            _ => None,
        });
        for condition in std::iter::once(system.init).chain(guards).chain(asserts) {
            predicates.add(condition)?;
        }
        Ok(predicates)
    }

    /// Returns the number of predicates.
    pub fn len(&self) -> usize {
        self.exprs.len()
    }

    /// Returns whether the list is empty.
    pub fn is_empty(&self) -> bool {
        self.exprs.is_empty()
    }

    /// Returns the predicates as conditions over the program's variables.
    pub fn exprs(&self) -> impl Iterator<Item = &Expr> {
        self.exprs.iter()
    }

    /// Adds the predicates that a condition is made of.
    pub fn add(&mut self, condition: &Expr) -> Result<(), Stop> {
        let mut found = Vec::new();
        let too_large = Stop::Solver(SolverFailure::TooLarge);
        self.walk(condition, &mut |atom| {
            found.push(atom);
            Some(Expr::TRUE)
        })
        .ok_or(too_large)?;
        for atom in found {
            if !self.numbers.contains_key(&atom) {
                let expr = expr(&atom).ok_or(too_large)?;
                self.numbers.insert(atom, self.exprs.len());
                self.exprs.push(expr);
            }
        }
        Ok(())
    }

    /// Rewrites a condition over the predicates, each of which becomes the variable with its number; returns `None` if
    /// other predicates are needed.
    pub fn formula(&self, condition: &Expr) -> Option<Expr> {
        self.walk(condition, &mut |atom| self.numbers.get(&atom).map(|number| Expr::Var(VarId::new(*number))))
    }

    /// Returns the name of the variable of a predicate: `b3_x_le_y`.
    pub fn name(&self, number: usize, predicate: &Expr) -> String {
        let mut name = format!("b{number}_");
        for c in self.written(predicate).chars() {
            match c {
                '<' => name.push_str("_l"),
                '=' => name.push('e'),
                ' ' => {}
                '+' => name.push_str("_plus_"),
                '-' => name.push_str("minus_"),
                '*' | '.' => name.push('_'),
                '%' => name.push_str("_mod_"),
                c => name.push(c),
            }
        }
        name
    }

    /// Returns the text of a predicate: `x<=y+1`.
    pub fn written(&self, expr: &Expr) -> String {
        match expr {
            Expr::Int(number) => number.to_string(),
            Expr::Var(var) => self.names[var.index()].clone(),
            Expr::Unary(UnaryOp::DivisibleBy(divisor), operand) => format!("{}%{divisor}==0", self.written(operand)),
            Expr::Binary(op, pair) => {
                let word = match op {
                    BinaryOp::Le => "<=",
                    BinaryOp::Eq => "==",
                    BinaryOp::Add => "+",
                    _ => "*",
                };
                format!("{}{word}{}", self.written(&pair.0), self.written(&pair.1))
            }
            _ => "?".to_string(),
        }
    }

    /// Replaces the atoms of a condition; returns `None` if some atom has no replacement, or numbers get too large.
    fn walk(&self, expr: &Expr, atom: &mut dyn FnMut(Atom) -> Option<Expr>) -> Option<Expr> {
        Some(match expr {
            Expr::Bool(_) => expr.clone(),
            Expr::Var(var) => atom(Atom::Flag(Leaf::Var(*var)))?,
            Expr::Choice(number, _) => atom(Atom::Flag(Leaf::Choice(*number)))?,
            Expr::Unary(UnaryOp::Not, operand) => Expr::negate(self.walk(operand, atom)?),
            Expr::Unary(UnaryOp::DivisibleBy(divisor), operand) => {
                let compare = |sum: Linear<Leaf>| Some(divisible(*divisor, sum));
                self.cases(operand, atom, &compare, &|sum| Atom::Divisible(*divisor, sum))?
            }
            Expr::Binary(op, pair) => match op {
                _ if self.is_flag(&pair.0) => {
                    let left = self.walk(&pair.0, atom)?;
                    Expr::binary(*op, left, self.walk(&pair.1, atom)?)
                }
                BinaryOp::Lt | BinaryOp::Le | BinaryOp::Eq | BinaryOp::Ne => {
                    let difference = Expr::binary(BinaryOp::Sub, pair.0.clone(), pair.1.clone());
                    let make = if matches!(op, BinaryOp::Lt | BinaryOp::Le) { Atom::AtMost } else { Atom::Zero };
                    self.cases(&difference, atom, &|sum| compare(*op, sum), &make)?
                }
                _ => return None,
            },
            Expr::Ite(triple) => {
                let condition = self.walk(&triple.0, atom)?;
                let then = self.walk(&triple.1, atom)?;
                Expr::Ite(Box::new((condition, then, self.walk(&triple.2, atom)?)))
            }
            _ => return None,
        })
    }

    fn is_flag(&self, expr: &Expr) -> bool {
        match expr {
            Expr::Bool(_) => true,
            Expr::Var(var) => self.types[var.index()] == Ty::Bool,
            Expr::Choice(_, ty) => *ty == Ty::Bool,
            Expr::Unary(op, _) => *op != UnaryOp::Neg,
            Expr::Binary(op, _) => !matches!(op, BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul),
            Expr::Ite(triple) => self.is_flag(&triple.1),
            _ => false,
        }
    }

    /// Makes a case distinction over the conditions inside a term, where `compare` and `make` give the atom in each
    /// case.
    fn cases(
        &self,
        term: &Expr,
        atom: &mut dyn FnMut(Atom) -> Option<Expr>,
        compare: &dyn Fn(Linear<Leaf>) -> Option<Comparison<Leaf>>,
        make: &dyn Fn(Linear<Leaf>) -> Atom,
    ) -> Option<Expr> {
        if let Some((condition, then, otherwise)) = split(term) {
            let condition = self.walk(&condition, atom)?;
            let then = self.cases(&then, atom, compare, make)?;
            return Some(Expr::Ite(Box::new((condition, then, self.cases(&otherwise, atom, compare, make)?))));
        }
        Some(match compare(linear(term)?)? {
            Comparison::Const(value) => Expr::Bool(value),
            Comparison::Holds(sum) => atom(make(sum))?,
            Comparison::Fails(sum) => Expr::negate(atom(make(sum))?),
        })
    }
}

/// Finds a condition inside a term; returns the condition, and the term where it holds and where it does not.
fn split(term: &Expr) -> Option<(Expr, Expr, Expr)> {
    match term {
        Expr::Ite(triple) => Some((triple.0.clone(), triple.1.clone(), triple.2.clone())),
        Expr::Unary(op, operand) => {
            let (condition, then, otherwise) = split(operand)?;
            let with = |operand: Expr| Expr::Unary(*op, Box::new(operand));
            Some((condition, with(then), with(otherwise)))
        }
        Expr::Binary(op, pair) => {
            if let Some((condition, then, otherwise)) = split(&pair.0) {
                let with = |left: Expr| Expr::binary(*op, left, pair.1.clone());
                return Some((condition, with(then), with(otherwise)));
            }
            let (condition, then, otherwise) = split(&pair.1)?;
            let with = |right: Expr| Expr::binary(*op, pair.0.clone(), right);
            Some((condition, with(then), with(otherwise)))
        }
        _ => None,
    }
}

/// Returns a term without conditions as a sum.
fn linear(term: &Expr) -> Option<Linear<Leaf>> {
    Some(match term {
        Expr::Int(number) => Linear::from(i128::from(*number)),
        Expr::Var(var) => Linear::leaf(Leaf::Var(*var)),
        Expr::Choice(number, _) => Linear::leaf(Leaf::Choice(*number)),
        Expr::Unary(UnaryOp::Neg, operand) => linear(operand)?.times(-1)?,
        Expr::Binary(BinaryOp::Add, pair) => linear(&pair.0)?.plus(&linear(&pair.1)?, 1)?,
        Expr::Binary(BinaryOp::Sub, pair) => linear(&pair.0)?.plus(&linear(&pair.1)?, -1)?,
        Expr::Binary(BinaryOp::Mul, pair) => {
            let (left, right) = (linear(&pair.0)?, linear(&pair.1)?);
            match (left.is_constant(), right.is_constant()) {
                (true, _) => right.times(left.constant)?,
                (_, true) => left.times(right.constant)?,
                _ => return None,
            }
        }
        _ => return None,
    })
}

/// Compares a difference with zero.
fn compare(op: BinaryOp, difference: Linear<Leaf>) -> Option<Comparison<Leaf>> {
    match op {
        BinaryOp::Le => difference.at_most_zero(),
        BinaryOp::Lt => difference.plus(&Linear::from(1), 1)?.at_most_zero(),
        BinaryOp::Eq => difference.zero(),
        _ => difference.zero().map(Comparison::negate),
    }
}

/// Compares the remainder of a sum with zero.
fn divisible(divisor: u32, sum: Linear<Leaf>) -> Comparison<Leaf> {
    let sum = sum.modulo(i128::from(divisor));
    if sum.is_constant() { Comparison::Const(sum.constant == 0) } else { Comparison::Holds(sum) }
}

/// Returns an atom as an expression over the variables of a program; `None` if it mentions choices, or its numbers are
/// too large.
fn expr(atom: &Atom) -> Option<Expr> {
    match atom {
        Atom::Flag(leaf) => leaf_expr(*leaf),
        Atom::AtMost(linear) => sides(BinaryOp::Le, linear),
        Atom::Zero(linear) => sides(BinaryOp::Eq, linear),
        Atom::Divisible(divisor, linear) => {
            let mut terms = terms(linear.factors.iter().map(|(leaf, factor)| (*leaf, *factor)))?;
            if linear.constant != 0 {
                terms.push(Expr::Int(i64::try_from(linear.constant).ok()?));
            }
            Some(Expr::Unary(UnaryOp::DivisibleBy(*divisor), Box::new(Expr::balanced(BinaryOp::Add, terms)?)))
        }
    }
}

/// Moves the terms with positive factors to the left, the others and the constant to the right.
fn sides(op: BinaryOp, linear: &Linear<Leaf>) -> Option<Expr> {
    let left = terms(linear.factors.iter().filter(|(_, factor)| **factor > 0).map(|(leaf, factor)| (*leaf, *factor)))?;
    let mut right =
        terms(linear.factors.iter().filter(|(_, factor)| **factor < 0).map(|(leaf, factor)| (*leaf, -*factor)))?;
    let constant = i64::try_from(linear.constant.checked_neg()?).ok()?;
    if constant != 0 || right.is_empty() {
        right.push(Expr::Int(constant));
    }
    Some(Expr::binary(op, Expr::balanced(BinaryOp::Add, left)?, Expr::balanced(BinaryOp::Add, right)?))
}

fn terms(factors: impl Iterator<Item = (Leaf, i128)>) -> Option<Vec<Expr>> {
    factors
        .map(|(leaf, factor)| {
            let of = leaf_expr(leaf)?;
            Some(match factor {
                1 => of,
                factor => Expr::binary(BinaryOp::Mul, Expr::Int(i64::try_from(factor).ok()?), of),
            })
        })
        .collect()
}

fn leaf_expr(leaf: Leaf) -> Option<Expr> {
    match leaf {
        Leaf::Var(var) => Some(Expr::Var(var)),
        Leaf::Choice(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use selvedge_ir::{Scope, Var};

    use super::*;

    fn x() -> Expr {
        Expr::Var(VarId::new(0))
    }

    fn y() -> Expr {
        Expr::Var(VarId::new(1))
    }

    fn none() -> Predicates {
        let var = |name: &str| Var { name: name.to_string(), scope: Scope::Shared, ty: Ty::Int };
        let program = Program { vars: [var("x"), var("y")].into_iter().collect(), ..Program::default() };
        Predicates::none(&program)
    }

    #[test]
    fn one_condition_is_one_predicate_however_it_is_written() {
        let mut predicates = none();
        let number = Expr::Int;
        let twice = |expr: Expr| Expr::binary(BinaryOp::Mul, number(2), expr);
        let ways = [
            Expr::binary(BinaryOp::Lt, x(), y()),
            Expr::binary(BinaryOp::Le, Expr::binary(BinaryOp::Add, x(), number(1)), y()),
            Expr::binary(BinaryOp::Le, y(), x()),
            Expr::binary(BinaryOp::Lt, twice(x()), twice(y())),
            Expr::binary(BinaryOp::Lt, twice(x()), Expr::binary(BinaryOp::Sub, twice(y()), number(1))),
        ];
        ways.iter().for_each(|way| predicates.add(way).expect("the numbers are small"));
        assert_eq!(predicates.len(), 1);
        assert_eq!(predicates.written(&predicates.exprs[0]), "x<=y+-1");
        let p = Expr::Var(VarId::new(0));
        assert_eq!(predicates.formula(&ways[0]), Some(p.clone()));
        assert_eq!(predicates.formula(&ways[2]), Some(Expr::negate(p)));
    }

    #[test]
    fn conditions_inside_terms_are_taken_apart() {
        let mut predicates = none();
        let condition = Expr::binary(BinaryOp::Eq, y(), Expr::Int(0));
        let term = Expr::Ite(Box::new((condition, x(), Expr::Int(5))));
        predicates.add(&Expr::binary(BinaryOp::Le, term, Expr::Int(3))).expect("the numbers are small");
        let names: Vec<String> = predicates.exprs().map(|expr| predicates.written(expr)).collect();
        assert_eq!(names, ["y==0", "x<=3"]);
    }

    #[test]
    fn remainders_and_impossible_equations_are_simplified() {
        let predicates = none();
        let twice = Expr::binary(BinaryOp::Mul, Expr::Int(2), x());
        let odd = Expr::binary(BinaryOp::Eq, twice.clone(), Expr::Int(3));
        assert_eq!(predicates.formula(&odd), Some(Expr::FALSE));
        assert_eq!(predicates.formula(&Expr::Unary(UnaryOp::DivisibleBy(2), Box::new(twice))), Some(Expr::TRUE));
    }
}
