//! Ways to choose some of a few threads.

use smallvec::SmallVec;

/// A short list of threads.
pub(super) type Threads = SmallVec<[u32; 4]>;

/// All ways to add `n` of the items to a list, each at most once, in their order.
pub(super) fn choose(items: &[u32], n: usize, list: &mut Threads, each: &mut impl FnMut(&[u32])) {
    if n == 0 {
        return each(list);
    }
    for place in 0..(items.len() + 1).saturating_sub(n) {
        list.push(items[place]);
        choose(&items[place + 1..], n - 1, list, each);
        list.pop();
    }
}

/// All ways to add `n` of the items to a list, each as often as one likes, in their order.
pub(super) fn repeat(items: &[u32], n: usize, list: &mut Threads, each: &mut impl FnMut(&[u32])) {
    if n == 0 {
        return each(list);
    }
    for place in 0..items.len() {
        list.push(items[place]);
        repeat(&items[place..], n - 1, list, each);
        list.pop();
    }
}
