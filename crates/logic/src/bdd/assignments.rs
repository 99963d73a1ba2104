//! Enumeration of satisfying assignments.

use super::{Bdd, Var};

/// All satisfying assignments of a function, each as the values of the requested variables, in that order.
#[derive(Debug)]
pub struct Assignments {
    /// The variables from the top of the order down, each with its index in the result.
    order: Vec<(Var, usize)>,
    /// The values of the assignment under construction, in the order returned.
    values: Vec<bool>,
    /// Branches not yet taken: the number of variables decided before, the value of the last of them, and the remaining
    /// function. No branch is constant false, so each leads to an assignment.
    open: Vec<(usize, bool, Bdd)>,
}

impl Assignments {
    pub(super) fn new(function: Bdd, vars: &[Var]) -> Assignments {
        let mut order: Vec<(Var, usize)> = vars.iter().copied().zip(0..).collect();
        order.sort();
        assert!(order.windows(2).all(|w| w[0].0 != w[1].0), "a variable is asked for twice");
        let listed = |var: &Var| order.binary_search_by_key(var, |&(v, _)| v).is_ok();
        assert!(function.support().iter().all(listed), "the enumerated variables include the support");
        let open = if function.is_false() { Vec::new() } else { vec![(0, false, function)] };
        Assignments { values: vec![false; order.len()], order, open }
    }

    /// Returns the functions that remain if the variable at a depth is true and if it is false.
    fn branches(&self, function: &Bdd, depth: usize) -> (Bdd, Bdd) {
        match function.decision() {
            Some((var, high, low)) if var == self.order[depth].0 => (high, low),
            _ => (function.clone(), function.clone()),
        }
    }
}

impl Iterator for Assignments {
    type Item = Vec<bool>;

    /// Takes the branch left open last and goes down from it, false before true, leaving the true branches open.
    fn next(&mut self) -> Option<Vec<bool>> {
        let (mut depth, value, mut function) = self.open.pop()?;
        if depth > 0 {
            self.values[self.order[depth - 1].1] = value;
        }
        while depth < self.order.len() {
            let (high, low) = self.branches(&function, depth);
            let value = low.is_false();
            self.values[self.order[depth].1] = value;
            depth += 1;
            if !value && !high.is_false() {
                self.open.push((depth, true, high.clone()));
            }
            function = if value { high } else { low };
        }
        Some(self.values.clone())
    }
}
