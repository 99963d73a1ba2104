//! Ways to choose some of a few threads.

use smallvec::SmallVec;

/// A short list of threads.
pub(super) type ThreadList = SmallVec<[u32; 4]>;

/// Calls `each` with all ways to add `n` of the items to a list, each at most once, in their order.
pub(super) fn choose(items: &[u32], n: usize, list: &mut ThreadList, each: &mut impl FnMut(&[u32])) {
    if n == 0 {
        return each(list);
    }
    for place in 0..(items.len() + 1).saturating_sub(n) {
        list.push(items[place]);
        choose(&items[place + 1..], n - 1, list, each);
        list.pop();
    }
}

/// Calls `each` with all ways to add `n` of the items to a list, each any number of times, in their order.
pub(super) fn repeat(items: &[u32], n: usize, list: &mut ThreadList, each: &mut impl FnMut(&[u32])) {
    if n == 0 {
        return each(list);
    }
    for place in 0..items.len() {
        list.push(items[place]);
        repeat(&items[place..], n - 1, list, each);
        list.pop();
    }
}
