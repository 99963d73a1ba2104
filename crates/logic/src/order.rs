//! A static order of variables by co-occurrence.
//!
//! Variables that belong together, such as those of one assignment, are given as a set. A good order keeps each set
//! close together; the measure is the sum of the spans. The search is FORCE (Aloul, Markov, Sakallah): like particles
//! tied by springs, items move to the mean of the centres of their sets, again and again.

/// Returns the sum over all sets of the distance between their outermost members. `order` lists the items from first to
/// last; items of sets that are not listed are a bug of the caller.
pub fn span(order: &[usize], sets: &[Vec<usize>]) -> usize {
    let place = places(order);
    let ends = |set: &Vec<usize>| {
        let first = set.iter().map(|&item| place[item]).min()?;
        let last = set.iter().map(|&item| place[item]).max()?;
        Some(last - first)
    };
    sets.iter().filter_map(ends).sum()
}

/// Returns an order of the items `0..count` whose span is at most that of the order given by their numbers.
///
/// In each round, items are sorted by the mean of the centres of gravity of the sets they are in; items in no set, and
/// items with equal means, keep their relative order. The best order seen is kept, so the result is never worse than
/// the start. Ends after a number of rounds without improvement that grows with the logarithm of the number of items;
/// an improvement lowers the span, which is a natural number. Depends on nothing but its arguments.
pub fn force(count: usize, sets: &[Vec<usize>]) -> Vec<usize> {
    force_from((0..count).collect(), sets)
}

/// Returns the best of several orders that the same search finds from scrambled starts. Two sets that are far apart at
/// first can stay apart, although other sets connect their members in pairs; a scrambled start avoids this.
pub fn force_again(count: usize, sets: &[Vec<usize>]) -> Vec<usize> {
    let starts = (1..=RESTARTS).map(|seed| scrambled(count, seed));
    let orders = starts.map(|start| force_from(start, sets));
    orders.min_by_key(|order| span(order, sets)).unwrap_or_default()
}

/// The number of scrambled starts.
const RESTARTS: usize = 8;

/// Returns a pseudo-random order that depends on nothing but its arguments.
fn scrambled(count: usize, seed: usize) -> Vec<usize> {
    let mut items: Vec<usize> = (0..count).collect();
    items.sort_by_key(|item| ((item + 1).wrapping_mul(7919 * seed + 1)) % 10_007);
    items
}

/// Searches from a given order.
fn force_from(mut order: Vec<usize>, sets: &[Vec<usize>]) -> Vec<usize> {
    let count = order.len();
    let mut best = (span(&order, sets), order.clone());
    let patience = 4 + 2 * (usize::BITS - count.leading_zeros()) as usize;
    let mut idle = 0;
    while idle < patience && best.0 > 0 {
        let next = round(&order, sets);
        if next == order {
            break;
        }
        order = next;
        let cost = span(&order, sets);
        idle = if cost < best.0 { 0 } else { idle + 1 };
        if cost < best.0 {
            best = (cost, order.clone());
        }
    }
    best.1
}

fn places(order: &[usize]) -> Vec<usize> {
    let mut place = vec![0; order.len()];
    order.iter().enumerate().for_each(|(at, &item)| place[item] = at);
    place
}

/// Performs one round: sorts the items by the mean of their sets' centres.
fn round(order: &[usize], sets: &[Vec<usize>]) -> Vec<usize> {
    let place = places(order);
    let mut pull = vec![(0.0, 0u32); order.len()];
    for set in sets.iter().filter(|set| !set.is_empty()) {
        let centre = set.iter().map(|&item| place[item] as f64).sum::<f64>() / set.len() as f64;
        for &item in set {
            pull[item].0 += centre;
            pull[item].1 += 1;
        }
    }
    let target = |item: usize| match pull[item] {
        (_, 0) => place[item] as f64,
        (sum, sets) => sum / f64::from(sets),
    };
    let mut next = order.to_vec();
    // The sort is stable, so ties are resolved by the previous order.
    next.sort_by(|&a, &b| target(a).total_cmp(&target(b)));
    next
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_span_adds_the_distances_of_the_outermost_members() {
        assert_eq!(span(&[2, 0, 1, 3], &[vec![0, 1], vec![2, 3], vec![1], vec![]]), 1 + 3);
    }

    #[test]
    fn the_order_found_is_never_worse_than_the_given_one() {
        for seed in 0..200 {
            let count = 2 + seed % 30;
            let names = scrambled(count, seed);
            let sets: Vec<Vec<usize>> =
                (0..count).map(|i| (0..1 + (i + seed) % 4).map(|k| names[(i + k * k) % count]).collect()).collect();
            let order = force(count, &sets);
            let mut all = order.clone();
            all.sort();
            assert_eq!(all, (0..count).collect::<Vec<_>>(), "a permutation");
            assert!(span(&order, &sets) <= span(&(0..count).collect::<Vec<_>>(), &sets));
        }
    }

    #[test]
    fn a_scrambled_chain_gets_much_shorter() {
        let names = scrambled(64, 3);
        let sets: Vec<Vec<usize>> = names.windows(2).map(|w| w.to_vec()).collect();
        let start = span(&(0..64).collect::<Vec<_>>(), &sets);
        let found = span(&force(64, &sets), &sets);
        assert!(found * 2 < start, "{found} against {start}");
    }

    #[test]
    fn two_scrambled_clusters_are_taken_apart() {
        let sets = vec![vec![0, 2, 4, 6], vec![1, 3, 5, 7], vec![0, 6], vec![1, 7]];
        let order = force(8, &sets);
        assert!(span(&order, &sets) < span(&[0, 1, 2, 3, 4, 5, 6, 7], &sets));
        assert_eq!(order, force(8, &sets), "the same each time");
    }

    #[test]
    fn a_scrambled_start_joins_what_two_halves_keep_apart() {
        let n = 20;
        let mut sets: Vec<Vec<usize>> = (0..n).map(|i| vec![i, n + i]).collect();
        sets.push((0..n).collect());
        sets.push((n..2 * n).collect());
        let (first, again) = (force(2 * n, &sets), force_again(2 * n, &sets));
        assert!(10 * span(&again, &sets) < 4 * span(&first, &sets), "{first:?} {again:?}");
    }
}
