//! Truth tables, and the test of every operation against them.

use super::twin::Diagrams;

/// The values of a function for all assignments. Variable 0 is the most significant bit of a row's number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Table {
    pub(crate) vars: usize,
    pub(crate) rows: Vec<bool>,
}

impl Table {
    pub(crate) fn from_fn(vars: usize, f: impl Fn(&[bool]) -> bool) -> Table {
        let rows = (0..1usize << vars).map(|row| f(&Table::values(vars, row))).collect();
        Table { vars, rows }
    }

    /// The function whose rows are the bits of a number.
    pub(crate) fn numbered(vars: usize, number: usize) -> Table {
        Table { vars, rows: (0..1usize << vars).map(|row| number >> row & 1 == 1).collect() }
    }

    pub(crate) fn values(vars: usize, row: usize) -> Vec<bool> {
        (0..vars).map(|v| row >> (vars - 1 - v) & 1 == 1).collect()
    }

    pub(crate) fn at(&self, values: &[bool]) -> bool {
        self.rows[values.iter().fold(0, |row, &b| 2 * row + usize::from(b))]
    }

    pub(crate) fn zip(&self, other: &Table, op: impl Fn(bool, bool) -> bool) -> Table {
        Table { vars: self.vars, rows: self.rows.iter().zip(&other.rows).map(|(&a, &b)| op(a, b)).collect() }
    }

    pub(crate) fn quantified(&self, vars: &[usize], op: impl Fn(bool, bool) -> bool) -> Table {
        vars.iter().fold(self.clone(), |table, &var| {
            let with = |values: &[bool], value| {
                let mut values = values.to_vec();
                values[var] = value;
                table.at(&values)
            };
            Table::from_fn(table.vars, |values| op(with(values, false), with(values, true)))
        })
    }

    pub(crate) fn renamed(&self, pairs: &[(usize, usize)]) -> Table {
        Table::from_fn(self.vars, |values| {
            let mut old = values.to_vec();
            pairs.iter().for_each(|&(from, to)| old[from] = values[to]);
            self.at(&old)
        })
    }

    pub(crate) fn build<T: Diagrams>(&self, d: &T) -> T::D {
        let literal = |var: usize, value: bool| if value { d.var(var) } else { d.not(&d.var(var)) };
        let mut f = d.constant(false);
        for row in (0..self.rows.len()).filter(|&row| self.rows[row]) {
            let values = Table::values(self.vars, row);
            let cube = (0..self.vars).fold(d.constant(true), |all, v| d.and(&all, &literal(v, values[v])));
            f = d.or(&f, &cube);
        }
        f
    }

    pub(crate) fn read<T: Diagrams>(d: &T, vars: usize, f: &T::D) -> Table {
        Table::from_fn(vars, |values| d.eval(f, values))
    }
}

fn is<T: Diagrams>(d: &T, what: &str, f: &T::D, expected: &Table) {
    assert_eq!(Table::read(d, expected.vars, f), *expected, "{what}");
    assert_eq!(*f, expected.build(d), "{what} is canonical");
}

/// Everything that concerns one function.
pub(crate) fn check_one<T: Diagrams>(d: &T, f: &T::D, table: &Table) {
    is(d, "the function", f, table);
    is(d, "not", &d.not(f), &table.zip(table, |a, _| !a));
    let satisfying: Vec<Vec<bool>> =
        (0..table.rows.len()).filter(|&r| table.rows[r]).map(|r| Table::values(table.vars, r)).collect();
    assert_eq!(d.count(f), satisfying.len() as u128);
    assert_eq!(d.pick(f), satisfying.first().cloned());
    assert_eq!(d.assignments(f), satisfying);
    let depends = |&v: &usize| table.quantified(&[v], |a, b| a && b) != table.quantified(&[v], |a, b| a || b);
    assert_eq!(d.support(f), (0..table.vars).filter(depends).collect::<Vec<_>>());
    (0..table.vars).for_each(|cut| check_split(d, f, table, cut));
}

fn check_split<T: Diagrams>(d: &T, f: &T::D, table: &Table, cut: usize) {
    let parts = d.split_at(f, cut);
    let mut whole = d.constant(false);
    for (i, (above, below)) in parts.iter().enumerate() {
        assert!(d.support(above).iter().all(|&v| v < cut) && d.support(below).iter().all(|&v| v >= cut));
        assert!(*above != d.constant(false) && *below != d.constant(false));
        for (other_above, other_below) in &parts[..i] {
            assert!(d.disjoint(above, other_above) && below != other_below, "the parts are distinct");
        }
        whole = d.or(&whole, &d.and(above, below));
    }
    is(d, "the parts together", &whole, table);
}

/// Everything that concerns two functions and a set of variables.
pub(crate) fn check_two<T: Diagrams>(d: &T, (f, tf): (&T::D, &Table), (g, tg): (&T::D, &Table), vars: &[usize]) {
    is(d, "and", &d.and(f, g), &tf.zip(tg, |a, b| a && b));
    is(d, "or", &d.or(f, g), &tf.zip(tg, |a, b| a || b));
    is(d, "xor", &d.xor(f, g), &tf.zip(tg, |a, b| a != b));
    is(d, "iff", &d.iff(f, g), &tf.zip(tg, |a, b| a == b));
    is(d, "implies", &d.implies(f, g), &tf.zip(tg, |a, b| !a || b));
    is(d, "minus", &d.minus(f, g), &tf.zip(tg, |a, b| a && !b));
    is(d, "exists", &d.exists(f, vars), &tf.quantified(vars, |a, b| a || b));
    let both = tf.zip(tg, |a, b| a && b);
    is(d, "and-exists", &d.and_exists(f, g, vars), &both.quantified(vars, |a, b| a || b));
    assert_eq!(d.subset(f, g), tf.rows.iter().zip(&tg.rows).all(|(&a, &b)| !a || b));
    assert_eq!(d.disjoint(f, g), !both.rows.contains(&true));
    let restricted = d.restrict(f, g);
    assert_eq!(d.and(&restricted, g), d.and(f, g), "restriction agrees on the care set");
}

/// Conditional and renaming.
pub(crate) fn check_three<T: Diagrams>(d: &T, functions: [(&T::D, &Table); 3], pairs: &[(usize, usize)]) {
    let [(f, tf), (g, tg), (h, th)] = functions;
    let by_cases = Table::from_fn(tf.vars, |v| if tf.at(v) { tg.at(v) } else { th.at(v) });
    is(d, "if-then-else", &d.ite(f, g, h), &by_cases);
    is(d, "rename", &d.rename(f, pairs), &tf.renamed(pairs));
}
