//! All functions of two variables, all operations.

use super::oracle::Oracle;
use super::table::{Table, check_one, check_three, check_two};
use super::twin::{Diagrams, Facade};

const SUBSETS: [&[usize]; 4] = [&[], &[0], &[1], &[0, 1]];
const RENAMINGS: [&[(usize, usize)]; 6] =
    [&[], &[(0, 1)], &[(1, 0)], &[(0, 1), (1, 0)], &[(0, 0), (1, 0)], &[(0, 1), (1, 1)]];

fn functions<T: Diagrams>(d: &T) -> Vec<(T::D, Table)> {
    (0..16).map(|n| Table::numbered(2, n)).map(|t| (t.build(d), t)).collect()
}

fn all_of_two<T: Diagrams>() {
    let d = T::with_vars(2);
    let all = functions(&d);
    for (f, tf) in &all {
        check_one(&d, f, tf);
        for (g, tg) in &all {
            SUBSETS.iter().for_each(|vars| check_two(&d, (f, tf), (g, tg), vars));
            for (i, (h, th)) in all.iter().enumerate() {
                check_three(&d, [(f, tf), (g, tg), (h, th)], RENAMINGS[i % RENAMINGS.len()]);
            }
        }
    }
}

#[test]
fn all_operations_on_two_variables_agree_with_truth_tables() {
    all_of_two::<Facade>();
}

#[test]
fn the_oracle_agrees_with_truth_tables_on_two_variables() {
    all_of_two::<Oracle>();
}

#[test]
fn renamings_of_three_variables_agree_with_truth_tables_whatever_they_do_to_the_order() {
    let d = Facade::with_vars(3);
    for number in 0..256 {
        let table = Table::numbered(3, number);
        let f = table.build(&d);
        for code in 0..27 {
            let pairs = [(0, code % 3), (1, code / 3 % 3), (2, code / 9)];
            assert_eq!(Table::read(&d, 3, &d.rename(&f, &pairs)), table.renamed(&pairs), "{number} by {pairs:?}");
        }
    }
}

#[test]
fn restriction_to_every_care_set_of_three_variables_keeps_the_law_and_the_support() {
    let d = Facade::with_vars(3);
    let all: Vec<_> = (0..256).map(|n| Table::numbered(3, n).build(&d)).collect();
    for f in &all {
        for care in &all {
            let small = d.restrict(f, care);
            assert_eq!(d.and(&small, care), d.and(f, care));
            assert!(d.support(&small).iter().all(|v| d.support(f).contains(v)));
        }
    }
}
