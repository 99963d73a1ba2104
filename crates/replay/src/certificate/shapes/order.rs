//! Threads at one place in the ascending order of their values, as gates; and some of several threads.

use super::super::sat::{Lit, Sat};

/// Returns whether a row of values is before another one or the same: `false` before `true`, the first value
/// decides first.
pub(super) fn not_after(sat: &mut Sat<'_>, left: &[Lit], right: &[Lit]) -> Lit {
    let truth = sat.constant(true);
    left.iter().zip(right).rev().fold(truth, |rest, (left, right)| {
        let if_true = sat.and(*right, rest);
        let if_false = sat.or(*right, rest);
        sat.ite(*left, if_true, if_false)
    })
}

/// Puts rows in order, of which the first `n_sorted` are. Each further row is put into the ordered ones before it by
/// comparing neighbours from the end to the beginning, and exchanging those that are not in order.
pub(super) fn sort(sat: &mut Sat<'_>, rows: &mut [Vec<Lit>], n_sorted: usize) {
    for new in n_sorted.max(1)..rows.len() {
        for right in (1..=new).rev() {
            let keep = not_after(sat, &rows[right - 1], &rows[right]);
            for value in 0..rows[right].len() {
                let (one, other) = (rows[right - 1][value], rows[right][value]);
                rows[right - 1][value] = sat.ite(keep, one, other);
                rows[right][value] = sat.ite(keep, other, one);
            }
        }
    }
}

/// All ascending lists of `k` of the first `n` numbers, one after the other: there may be too many to keep.
pub(super) fn choose(n: usize, k: usize) -> impl Iterator<Item = Vec<usize>> {
    let mut next: Option<Vec<usize>> = (k <= n).then(|| (0..k).collect());
    std::iter::from_fn(move || {
        let list = next.take()?;
        let last = (0..k).rev().find(|at| list[*at] < n - k + at);
        next = last.map(|at| list[..at].iter().copied().chain(list[at] + 1..=list[at] + k - at).collect());
        Some(list)
    })
}

#[cfg(test)]
mod tests {
    use super::choose;

    #[test]
    fn all_lists_are_chosen_once() {
        let all = |n, k| choose(n, k).collect::<Vec<_>>();
        assert_eq!(all(0, 0), [Vec::<usize>::new()]);
        assert_eq!(all(3, 3), [[0, 1, 2]]);
        assert_eq!(all(4, 2), [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]]);
        assert_eq!(all(2, 3), Vec::<Vec<usize>>::new());
        assert_eq!(choose(120, 60).nth(1).map(|list| list[59]), Some(60), "they are not listed beforehand");
    }
}
