//! Translates formulas to terms over columns.
//!
//! The column of a variable has the number of variables of its sort that are bound outside of it; so the positions of a
//! relation have fixed columns, and a bound variable never has the column of a variable in whose scope it is. An atom
//! is the relation with its columns renamed. In a conjunction below a quantifier, a variable is projected away as soon
//! as no later part mentions it.

use std::collections::BTreeSet;

use selvedge_ir::fp::{Equation, Fixpoint, Formula, Param, Sort, Symbol};
use selvedge_logic::bdd::OutOfNodes;
use selvedge_logic::fixpoint::{RelId, System, Term};
use selvedge_logic::relation::Column;

use super::base::Bases;

/// Translates the equations to a system, whose relations are in the order of the equations.
pub(super) fn elaborate(fixpoint: &Fixpoint, bases: &Bases) -> Result<System, OutOfNodes> {
    let mut system = System::new(&bases.space);
    let mut relations = Vec::new();
    let mut layer = 0;
    for equation in &fixpoint.equations {
        while layer < equation.layer {
            system.next_layer();
            layer += 1;
        }
        relations.push(system.relation(&equation.name, &bases.sorts.columns(&sorts(&equation.params))));
    }
    for (equation, relation) in fixpoint.equations.iter().zip(&relations) {
        let maker = TermBuilder { bases, relations: &relations, equations: &fixpoint.equations };
        let scope = sorts(&equation.params);
        let body = maker.padded(maker.term(&equation.body, &scope)?, &bases.sorts.columns(&scope));
        // The reader has checked the layers.
        system.equation(*relation, body.term);
    }
    Ok(system)
}

fn sorts(params: &[Param]) -> Vec<Sort> {
    params.iter().map(|param| param.sort).collect()
}

/// A term with its columns.
#[derive(Clone)]
struct ColumnTerm {
    term: Term,
    columns: BTreeSet<Column>,
}

struct TermBuilder<'a> {
    bases: &'a Bases,
    relations: &'a [RelId],
    equations: &'a [Equation],
}

impl TermBuilder<'_> {
    fn term(&self, formula: &Formula, scope: &[Sort]) -> Result<ColumnTerm, OutOfNodes> {
        let space = &self.bases.space;
        match formula {
            Formula::True => Ok(ColumnTerm { term: space.full(&[]).into(), columns: BTreeSet::new() }),
            Formula::False => Ok(ColumnTerm { term: space.empty(&[]).into(), columns: BTreeSet::new() }),
            Formula::Atom { symbol, args, negated } => self.atom(*symbol, args, *negated, scope),
            Formula::Equal { left, right, negated } => self.equal(*left, *right, *negated, scope),
            Formula::And(parts) => self.join(parts, scope, &BTreeSet::new()),
            Formula::Or(parts) => {
                let parts = parts.iter().map(|part| self.term(part, scope)).collect::<Result<Vec<_>, _>>()?;
                let all: BTreeSet<Column> = parts.iter().flat_map(|part| part.columns.iter().copied()).collect();
                let all: Vec<Column> = all.into_iter().collect();
                let parts = parts.into_iter().map(|part| self.padded(part, &all));
                Ok(parts
                    .reduce(|a, b| ColumnTerm { term: a.term.union(b.term), ..a })
                    .expect("a disjunction has parts"))
            }
            Formula::Exists { first, sorts, body } => {
                let inner: Vec<Sort> = scope[..*first].iter().chain(sorts).copied().collect();
                let bound: BTreeSet<Column> = self.bases.sorts.columns(&inner).split_off(*first).into_iter().collect();
                let parts = match &**body {
                    Formula::And(parts) => parts.as_slice(),
                    single => std::slice::from_ref(single),
                };
                self.join(parts, &inner, &bound)
            }
        }
    }

    /// Translates a conjunction, without columns that are bound. A column is projected away when its last part is
    /// joined.
    fn join(&self, parts: &[Formula], scope: &[Sort], bound: &BTreeSet<Column>) -> Result<ColumnTerm, OutOfNodes> {
        let parts = parts.iter().map(|part| self.term(part, scope)).collect::<Result<Vec<_>, _>>()?;
        let mut all: Option<ColumnTerm> = None;
        for (number, part) in parts.iter().enumerate() {
            let joined = match all {
                Some(before) => ColumnTerm {
                    columns: before.columns.union(&part.columns).copied().collect(),
                    term: before.term.join(part.term.clone()),
                },
                None => part.clone(),
            };
            let later = |column: &Column| parts[number + 1..].iter().any(|part| part.columns.contains(column));
            let kept = joined.columns.iter().copied().filter(|column| !bound.contains(column) || later(column));
            let kept: BTreeSet<Column> = kept.collect();
            all = Some(if kept.len() == joined.columns.len() {
                joined
            } else {
                let list: Vec<Column> = kept.iter().copied().collect();
                ColumnTerm { term: joined.term.project(&list), columns: kept }
            });
        }
        Ok(all.expect("a conjunction has parts"))
    }

    fn equal(&self, left: usize, right: usize, negated: bool, scope: &[Sort]) -> Result<ColumnTerm, OutOfNodes> {
        if left == right {
            return self.term(if negated { &Formula::False } else { &Formula::True }, scope);
        }
        let columns = self.bases.sorts.columns(scope);
        let (left, right) = (columns[left], columns[right]);
        let equal = self.bases.space.equal(left, right)?;
        let term = if negated { equal.complement()? } else { equal };
        Ok(ColumnTerm { term: term.into(), columns: [left, right].into() })
    }

    fn atom(&self, symbol: Symbol, args: &[usize], negated: bool, scope: &[Sort]) -> Result<ColumnTerm, OutOfNodes> {
        let of_scope = self.bases.sorts.columns(scope);
        let (term, sorts) = match symbol {
            Symbol::Base(base) => {
                let relation = self.bases.relation(base);
                let relation = if negated { relation.complement()? } else { relation.clone() };
                (Term::from(relation), base.sorts().to_vec())
            }
            Symbol::Equation(number) => {
                let relation = self.relations[number];
                let term = if negated { Term::not(relation) } else { Term::from(relation) };
                (term, sorts(&self.equations[number].params))
            }
        };
        // A variable that occurs twice is renamed in the first position; the others are compared with it.
        let (mut pairs, mut doubled) = (Vec::new(), Vec::new());
        for (place, (own, arg)) in self.bases.sorts.columns(&sorts).into_iter().zip(args).enumerate() {
            if args[..place].contains(arg) {
                let spare = self.bases.sorts.spare(sorts[place], doubled.len());
                doubled.push((spare, of_scope[*arg]));
                pairs.push((own, spare));
            } else {
                pairs.push((own, of_scope[*arg]));
            }
        }
        let mut term = term.rename(&pairs);
        for (spare, column) in &doubled {
            term = term.join(self.bases.space.equal(*spare, *column)?);
        }
        let columns: BTreeSet<Column> = args.iter().map(|arg| of_scope[*arg]).collect();
        if !doubled.is_empty() {
            term = term.project(&columns.iter().copied().collect::<Vec<_>>());
        }
        Ok(ColumnTerm { term, columns })
    }

    /// Adds columns, which are not restricted.
    fn padded(&self, made: ColumnTerm, columns: &[Column]) -> ColumnTerm {
        let missing: Vec<Column> = columns.iter().copied().filter(|column| !made.columns.contains(column)).collect();
        if missing.is_empty() {
            return made;
        }
        let columns = made.columns.iter().copied().chain(missing.iter().copied()).collect();
        ColumnTerm { term: made.term.join(self.bases.space.full(&missing)), columns }
    }
}
