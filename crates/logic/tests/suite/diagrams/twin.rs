//! The interface that the tests need of an implementation of decision diagrams, implemented by the façade.

use selvedge_logic::bdd::{Bdd, CutPart, Limits, Manager, Var};

/// An implementation of Boolean functions over a fixed number of variables.
pub(crate) trait Diagrams {
    type D: Clone + PartialEq + std::fmt::Debug;

    fn with_vars(count: usize) -> Self;
    fn constant(&self, value: bool) -> Self::D;
    fn var(&self, var: usize) -> Self::D;
    fn not(&self, f: &Self::D) -> Self::D;
    fn and(&self, f: &Self::D, g: &Self::D) -> Self::D;
    fn or(&self, f: &Self::D, g: &Self::D) -> Self::D;
    fn xor(&self, f: &Self::D, g: &Self::D) -> Self::D;
    fn iff(&self, f: &Self::D, g: &Self::D) -> Self::D;
    fn implies(&self, f: &Self::D, g: &Self::D) -> Self::D;
    fn minus(&self, f: &Self::D, g: &Self::D) -> Self::D;
    fn ite(&self, f: &Self::D, g: &Self::D, h: &Self::D) -> Self::D;
    fn exists(&self, f: &Self::D, vars: &[usize]) -> Self::D;
    fn and_exists(&self, f: &Self::D, g: &Self::D, vars: &[usize]) -> Self::D;
    fn rename(&self, f: &Self::D, pairs: &[(usize, usize)]) -> Self::D;
    fn restrict(&self, f: &Self::D, care: &Self::D) -> Self::D;
    fn subset(&self, f: &Self::D, g: &Self::D) -> bool;
    fn disjoint(&self, f: &Self::D, g: &Self::D) -> bool;
    fn count(&self, f: &Self::D) -> u128;
    fn support(&self, f: &Self::D) -> Vec<usize>;
    fn node_count(&self, f: &Self::D) -> usize;
    fn pick(&self, f: &Self::D) -> Option<Vec<bool>>;
    fn assignments(&self, f: &Self::D) -> Vec<Vec<bool>>;
    fn split_at(&self, f: &Self::D, cut: usize) -> Vec<(Self::D, Self::D)>;
    fn eval(&self, f: &Self::D, values: &[bool]) -> bool;
}

/// The façade under test.
pub(crate) struct Facade {
    pub(crate) manager: Manager,
    pub(crate) vars: Vec<Var>,
}

impl Facade {
    pub(crate) fn chosen(&self, vars: &[usize]) -> Vec<Var> {
        vars.iter().map(|&v| self.vars[v]).collect()
    }
}

impl Diagrams for Facade {
    type D = Bdd;

    fn with_vars(count: usize) -> Self {
        let manager = Manager::new(Limits { nodes: 1 << 16, cache: 1 << 12 });
        let vars = manager.add_vars(count);
        Facade { manager, vars }
    }
    fn constant(&self, value: bool) -> Bdd {
        self.manager.constant(value)
    }
    fn var(&self, var: usize) -> Bdd {
        self.manager.var(self.vars[var]).unwrap()
    }
    fn not(&self, f: &Bdd) -> Bdd {
        f.not().unwrap()
    }
    fn and(&self, f: &Bdd, g: &Bdd) -> Bdd {
        f.and(g).unwrap()
    }
    fn or(&self, f: &Bdd, g: &Bdd) -> Bdd {
        f.or(g).unwrap()
    }
    fn xor(&self, f: &Bdd, g: &Bdd) -> Bdd {
        f.xor(g).unwrap()
    }
    fn iff(&self, f: &Bdd, g: &Bdd) -> Bdd {
        f.iff(g).unwrap()
    }
    fn implies(&self, f: &Bdd, g: &Bdd) -> Bdd {
        f.implies(g).unwrap()
    }
    fn minus(&self, f: &Bdd, g: &Bdd) -> Bdd {
        f.minus(g).unwrap()
    }
    fn ite(&self, f: &Bdd, g: &Bdd, h: &Bdd) -> Bdd {
        f.ite(g, h).unwrap()
    }
    fn exists(&self, f: &Bdd, vars: &[usize]) -> Bdd {
        f.exists(&self.manager.var_set(&self.chosen(vars)).unwrap()).unwrap()
    }
    fn and_exists(&self, f: &Bdd, g: &Bdd, vars: &[usize]) -> Bdd {
        f.and_exists(g, &self.manager.var_set(&self.chosen(vars)).unwrap()).unwrap()
    }
    fn rename(&self, f: &Bdd, pairs: &[(usize, usize)]) -> Bdd {
        let pairs: Vec<(Var, Var)> = pairs.iter().map(|&(a, b)| (self.vars[a], self.vars[b])).collect();
        f.rename(&self.manager.renaming(&pairs)).unwrap()
    }
    fn restrict(&self, f: &Bdd, care: &Bdd) -> Bdd {
        f.restrict(care).unwrap()
    }
    fn subset(&self, f: &Bdd, g: &Bdd) -> bool {
        f.is_subset(g)
    }
    fn disjoint(&self, f: &Bdd, g: &Bdd) -> bool {
        f.is_disjoint(g)
    }
    fn count(&self, f: &Bdd) -> u128 {
        f.count(&self.vars).unwrap()
    }
    fn support(&self, f: &Bdd) -> Vec<usize> {
        f.support().into_iter().map(Var::level).collect()
    }
    fn node_count(&self, f: &Bdd) -> usize {
        f.node_count()
    }
    fn pick(&self, f: &Bdd) -> Option<Vec<bool>> {
        f.pick(&self.vars)
    }
    fn assignments(&self, f: &Bdd) -> Vec<Vec<bool>> {
        f.assignments(&self.vars).collect()
    }
    fn split_at(&self, f: &Bdd, cut: usize) -> Vec<(Bdd, Bdd)> {
        let parts = f.split_at(self.vars[cut]).unwrap();
        parts.into_iter().map(|CutPart { above, below }| (above, below)).collect()
    }
    fn eval(&self, f: &Bdd, values: &[bool]) -> bool {
        f.eval(|v| values[v.level()])
    }
}
