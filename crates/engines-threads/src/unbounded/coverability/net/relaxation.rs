//! Linear programs over the rationals: greatest sums with weights that no step makes worth more than it costs.
//!
//! Each constraint is Σ aᵥ·yᵥ ≤ b with b ≥ 0, and y ≥ 0; the sum to be made greatest changes from question to question,
//! and the constraints do not. So y = 0 is a solution to begin with, and the last solution of a question is one for
//! the next.
//!
//! **Order of work.** The simplex method with a dictionary: a row says what a *basic* variable is, as a sum of the
//! others, which are 0. As long as the sum grows with one of the others, that one grows until a basic variable would be
//! negative, and the two change places. Rows are integers with a common divisor of their own, so that nothing is
//! rounded; only the choice of the variable is made with floating-point numbers.
//!
//! **Invariant.** The solution of the dictionary satisfies all constraints.
//!
//! **End.** Most steps make the sum greater. There may be cycles, so that the number of steps is limited. Numbers that
//! become too large end the question, too. Both say [`Greatest::Unknown`].
//!
//! **Right.** If a variable can grow for ever, its column says so in integers.

/// A linear program without its sum.
#[derive(Clone)]
pub(super) struct Relaxation {
    n_vars: usize,
    rows: Vec<Row>,
    /// For each row its basic variable. Variables from `n_vars` on are what a constraint leaves.
    basic: Vec<usize>,
    /// For each column its variable.
    others: Vec<usize>,
    /// The rows at first.
    first: Vec<Row>,
}

/// scale · x = bound − Σ coefs · others, for the basic variable x.
#[derive(Clone)]
struct Row {
    scale: i64,
    coefs: Vec<i64>,
    bound: i64,
}

/// The greatest value of a sum.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Greatest {
    /// About this much.
    Bounded(f64),
    /// No limit: the sum grows with these numbers, by which no constraint is broken, however often they are added.
    Unbounded(Vec<i64>),
    Unknown,
}

/// Limit on the steps for a question.
const MOST_STEPS: usize = 400;

/// Steps after which the variable with the least number is chosen, against cycles.
const STEEPEST: usize = 100;

/// Numbers beyond this are made smaller, if they have a common divisor.
const LARGE: i64 = 1 << 16;

impl Relaxation {
    /// Returns the program with these constraints: lists of variables with numbers, and bounds.
    pub(super) fn new(n_vars: usize, constraints: &[(Vec<(usize, i64)>, i64)]) -> Relaxation {
        let row = |(sum, bound): &(Vec<(usize, i64)>, i64)| {
            let mut coefs = vec![0; n_vars];
            sum.iter().for_each(|(var, coef)| coefs[*var] += coef);
            Row { scale: 1, coefs, bound: *bound }
        };
        let rows: Vec<Row> = constraints.iter().map(row).collect();
        let first = rows.clone();
        let mut relaxation = Relaxation { n_vars, rows, basic: Vec::new(), others: Vec::new(), first };
        relaxation.reset();
        relaxation
    }

    fn reset(&mut self) {
        self.rows.clone_from(&self.first);
        self.basic = (self.n_vars..self.n_vars + self.rows.len()).collect();
        self.others = (0..self.n_vars).collect();
    }

    /// Returns the greatest value of a sum, given by numbers for some of the variables.
    pub(super) fn maximize(&mut self, sum: &[(usize, i64)]) -> Greatest {
        let mut by_var = vec![0.0; self.n_vars + self.rows.len()];
        sum.iter().for_each(|(var, coef)| by_var[*var] += *coef as f64);
        for step in 0..MOST_STEPS {
            let gains = self.gains(&by_var);
            let grows = |column: &usize| gains[*column] > 1e-7;
            let columns = (0..self.others.len()).filter(grows);
            let column = if step < STEEPEST {
                columns.max_by(|one, other| gains[*one].total_cmp(&gains[*other]).then(other.cmp(one)))
            } else {
                columns.min_by_key(|column| self.others[*column])
            };
            let Some(column) = column else { return Greatest::Bounded(self.value(&by_var)) };
            let Some(row) = self.first_to_vanish(column) else { return self.ray(column, sum) };
            if self.exchange(row, column).is_none() {
                self.reset();
                return Greatest::Unknown;
            }
        }
        Greatest::Unknown
    }

    /// Returns for each column by how much the sum grows with it.
    fn gains(&self, by_var: &[f64]) -> Vec<f64> {
        let mut gains: Vec<f64> = self.others.iter().map(|var| by_var[*var]).collect();
        for (row, var) in self.rows.iter().zip(&self.basic).filter(|(_, var)| by_var[**var] != 0.0) {
            let factor = by_var[*var] / row.scale as f64;
            gains.iter_mut().zip(&row.coefs).for_each(|(gain, coef)| *gain -= factor * *coef as f64);
        }
        gains
    }

    fn value(&self, by_var: &[f64]) -> f64 {
        let rows = self.rows.iter().zip(&self.basic);
        rows.map(|(row, var)| by_var[*var] * row.bound as f64 / row.scale as f64).sum()
    }

    /// Returns the row whose basic variable is the first to become 0 if a column grows.
    fn first_to_vanish(&self, column: usize) -> Option<usize> {
        let mut found: Option<usize> = None;
        for (number, row) in self.rows.iter().enumerate().filter(|(_, row)| row.coefs[column] > 0) {
            let is_first = found.is_none_or(|best| {
                let other = &self.rows[best];
                let here = i128::from(row.bound) * i128::from(other.coefs[column]);
                let there = i128::from(other.bound) * i128::from(row.coefs[column]);
                (here, self.basic[number]) < (there, self.basic[best])
            });
            if is_first {
                found = Some(number);
            }
        }
        found
    }

    /// Returns the numbers by which a column can grow for ever, if the sum really grows with them.
    fn ray(&self, column: usize, sum: &[(usize, i64)]) -> Greatest {
        let mut common: i64 = 1;
        for row in &self.rows {
            let denominator = row.scale / gcd(row.scale, row.coefs[column]);
            match common.checked_mul(denominator / gcd(common, denominator)) {
                Some(least) => common = least,
                None => return Greatest::Unknown,
            }
        }
        let mut ray = vec![0; self.n_vars];
        if let Some(own) = ray.get_mut(self.others[column]) {
            *own = common;
        }
        for (row, var) in self.rows.iter().zip(&self.basic) {
            let exact = i128::from(-row.coefs[column]) * i128::from(common) / i128::from(row.scale);
            match (ray.get_mut(*var), i64::try_from(exact)) {
                (Some(own), Ok(exact)) => *own = exact,
                (Some(_), Err(_)) => return Greatest::Unknown,
                (None, _) => {}
            }
        }
        let gain: i128 = sum.iter().map(|(var, coef)| i128::from(ray[*var]) * i128::from(*coef)).sum();
        if gain > 0 { Greatest::Unbounded(ray) } else { Greatest::Unknown }
    }

    /// Lets the basic variable of a row and the variable of a column change places; `None` if numbers become too large.
    fn exchange(&mut self, at: usize, column: usize) -> Option<()> {
        let mut pivot = self.rows[at].clone();
        let factor = std::mem::replace(&mut pivot.coefs[column], pivot.scale);
        pivot.scale = factor;
        for (number, row) in self.rows.iter_mut().enumerate() {
            let coef = row.coefs[column];
            if number != at && coef != 0 {
                row.substitute(&pivot, coef, column)?;
            }
        }
        pivot.shorten();
        self.rows[at] = pivot;
        std::mem::swap(&mut self.basic[at], &mut self.others[column]);
        Some(())
    }
}

impl Row {
    /// Puts what a variable is, according to another row, in the place of that variable, which has a number here.
    fn substitute(&mut self, pivot: &Row, coef: i64, column: usize) -> Option<()> {
        let common = gcd(pivot.scale, coef);
        let (own, other) = (pivot.scale / common, coef / common);
        self.coefs[column] = 0;
        let mut most = 0;
        for (coef, more) in self.coefs.iter_mut().zip(&pivot.coefs) {
            *coef = narrow(i128::from(*coef) * i128::from(own) - i128::from(*more) * i128::from(other))?;
            most |= coef.unsigned_abs();
        }
        self.bound = narrow(i128::from(self.bound) * i128::from(own) - i128::from(pivot.bound) * i128::from(other))?;
        self.scale = self.scale.checked_mul(own)?;
        if most > LARGE as u64 || self.scale > LARGE {
            self.shorten();
        }
        Some(())
    }

    /// Divides by what all numbers have in common.
    fn shorten(&mut self) {
        let mut common = gcd(self.scale, self.bound);
        for coef in &self.coefs {
            if common == 1 {
                return;
            }
            common = gcd(common, *coef);
        }
        self.scale /= common;
        self.bound /= common;
        self.coefs.iter_mut().for_each(|coef| *coef /= common);
    }
}

fn narrow(number: i128) -> Option<i64> {
    i64::try_from(number).ok().filter(|number| *number != i64::MIN)
}

fn gcd(one: i64, other: i64) -> i64 {
    let (mut one, mut other) = (one.abs(), other.abs());
    while other != 0 {
        (one, other) = (other, one % other);
    }
    one
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_greatest_sum_is_found_again_and_again() {
        // x + 2y ≤ 4, 3x + y ≤ 6.
        let mut relaxation = Relaxation::new(2, &[(vec![(0, 1), (1, 2)], 4), (vec![(0, 3), (1, 1)], 6)]);
        let value = |found: Greatest| match found {
            Greatest::Bounded(value) => (value * 1e6).round() / 1e6,
            other => panic!("{other:?}"),
        };
        assert_eq!(value(relaxation.maximize(&[(0, 1), (1, 1)])), 2.8);
        assert_eq!(value(relaxation.maximize(&[(0, 1)])), 2.0);
        assert_eq!(value(relaxation.maximize(&[(0, -1), (1, 1)])), 2.0);
        assert_eq!(value(relaxation.maximize(&[(0, -1), (1, -1)])), 0.0);
    }

    #[test]
    fn a_sum_without_bound_comes_with_the_numbers_that_make_it_grow() {
        // 3x ≤ 2y, y ≤ x + z.
        let constraints = [(vec![(0, 3), (1, -2)], 0), (vec![(1, 1), (0, -1), (2, -1)], 0)];
        let mut relaxation = Relaxation::new(3, &constraints);
        let Greatest::Unbounded(ray) = relaxation.maximize(&[(0, 1), (2, -1)]) else { panic!("there is no bound") };
        let sum = |list: &[(usize, i64)]| list.iter().map(|(var, coef)| ray[*var] * coef).sum::<i64>();
        assert!(constraints.iter().all(|(list, bound)| sum(list) <= *bound), "{ray:?}");
        assert!(sum(&[(0, 1), (2, -1)]) > 0 && ray.iter().all(|number| *number >= 0), "{ray:?}");
        assert_eq!(relaxation.maximize(&[(0, 1), (2, -2)]), Greatest::Bounded(0.0));
    }
}
