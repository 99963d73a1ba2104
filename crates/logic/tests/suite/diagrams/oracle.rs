//! The second implementation, on a library that shares no code with the first. Where that library has no such
//! operation, it is put together here from simpler ones, without regard to cost.

use biodivine_lib_bdd::{Bdd, BddValuation, BddVariable, BddVariableSet};

use super::twin::Diagrams;

/// Holds one more copy of each variable below the others, for renaming.
pub(crate) struct Oracle {
    set: BddVariableSet,
    count: usize,
}

impl Oracle {
    fn name(&self, var: usize) -> BddVariable {
        self.set.variables()[var]
    }

    fn names(&self, vars: impl IntoIterator<Item = usize>) -> Vec<BddVariable> {
        vars.into_iter().map(|v| self.name(v)).collect()
    }

    fn cofactor(&self, f: &Bdd, values: &[bool]) -> Bdd {
        let values: Vec<(BddVariable, bool)> = values.iter().enumerate().map(|(v, &b)| (self.name(v), b)).collect();
        f.restrict(&values)
    }

    fn substitute(&self, f: &Bdd, pairs: &[(usize, Bdd)]) -> Bdd {
        let shelved = pairs.iter().fold(f.clone(), |f, (a, _)| f.substitute(self.name(*a), &self.var(self.count + a)));
        pairs.iter().fold(shelved, |f, (a, g)| f.substitute(self.name(self.count + a), g))
    }
}

impl Diagrams for Oracle {
    type D = Bdd;

    fn with_vars(count: usize) -> Self {
        Oracle { set: BddVariableSet::new_anonymous(2 * count as u16), count }
    }
    fn constant(&self, value: bool) -> Bdd {
        if value { self.set.mk_true() } else { self.set.mk_false() }
    }
    fn var(&self, var: usize) -> Bdd {
        self.set.mk_var(self.name(var))
    }
    fn not(&self, f: &Bdd) -> Bdd {
        f.not()
    }
    fn and(&self, f: &Bdd, g: &Bdd) -> Bdd {
        f.and(g)
    }
    fn or(&self, f: &Bdd, g: &Bdd) -> Bdd {
        f.or(g)
    }
    fn xor(&self, f: &Bdd, g: &Bdd) -> Bdd {
        f.xor(g)
    }
    fn iff(&self, f: &Bdd, g: &Bdd) -> Bdd {
        f.iff(g)
    }
    fn implies(&self, f: &Bdd, g: &Bdd) -> Bdd {
        f.imp(g)
    }
    fn minus(&self, f: &Bdd, g: &Bdd) -> Bdd {
        f.and_not(g)
    }
    fn ite(&self, f: &Bdd, g: &Bdd, h: &Bdd) -> Bdd {
        Bdd::if_then_else(f, g, h)
    }
    fn exists(&self, f: &Bdd, vars: &[usize]) -> Bdd {
        f.exists(&self.names(vars.iter().copied()))
    }
    fn and_exists(&self, f: &Bdd, g: &Bdd, vars: &[usize]) -> Bdd {
        self.exists(&f.and(g), vars)
    }
    fn rename(&self, f: &Bdd, pairs: &[(usize, usize)]) -> Bdd {
        let pairs: Vec<(usize, Bdd)> = pairs.iter().map(|&(a, b)| (a, self.var(b))).collect();
        self.substitute(f, &pairs)
    }
    fn restrict(&self, f: &Bdd, care: &Bdd) -> Bdd {
        f.and(care)
    }
    fn subset(&self, f: &Bdd, g: &Bdd) -> bool {
        f.and_not(g).is_false()
    }
    fn disjoint(&self, f: &Bdd, g: &Bdd) -> bool {
        f.and(g).is_false()
    }
    fn count(&self, f: &Bdd) -> u128 {
        let all = u128::try_from(f.exact_cardinality()).unwrap();
        all >> self.count
    }
    fn support(&self, f: &Bdd) -> Vec<usize> {
        let mut support: Vec<usize> = f.support_set().into_iter().map(BddVariable::to_index).collect();
        support.sort();
        support
    }
    fn node_count(&self, f: &Bdd) -> usize {
        // The constants are nodes there: one for false, two otherwise.
        if f.is_false() { 0 } else { f.size() - 2 }
    }
    fn pick(&self, f: &Bdd) -> Option<Vec<bool>> {
        let first = f.first_valuation()?;
        Some((0..self.count).map(|v| first[self.name(v)]).collect())
    }
    fn assignments(&self, f: &Bdd) -> Vec<Vec<bool>> {
        let only = self.names(self.count..2 * self.count).into_iter().fold(f.clone(), |f, v| f.var_select(v, false));
        let mut all: Vec<Vec<bool>> =
            only.sat_valuations().map(|s| (0..self.count).map(|v| s[self.name(v)]).collect()).collect();
        all.sort();
        all
    }
    fn split_at(&self, f: &Bdd, cut: usize) -> Vec<(Bdd, Bdd)> {
        let mut parts: Vec<(Bdd, Bdd)> = Vec::new();
        for row in 0..1usize << cut {
            let values: Vec<bool> = (0..cut).map(|v| row >> (cut - 1 - v) & 1 == 1).collect();
            let below = self.cofactor(f, &values);
            let row = values.iter().enumerate().map(|(v, &b)| if b { self.var(v) } else { self.var(v).not() });
            let row = row.fold(self.set.mk_true(), |all, literal| all.and(&literal));
            match parts.iter_mut().find(|(_, known)| *known == below) {
                Some((above, _)) => *above = above.or(&row),
                None if below.is_false() => {}
                None => parts.push((row, below)),
            }
        }
        parts
    }
    fn eval(&self, f: &Bdd, values: &[bool]) -> bool {
        let all = values.iter().copied().chain(vec![false; self.count]).collect();
        f.eval_in(&BddValuation::new(all))
    }
}
