//! Choosing some of many.

/// Returns all ascending lists of `size` of the first `n` numbers.
pub(super) fn choose(n: usize, size: usize) -> Vec<Vec<usize>> {
    match size {
        0 => vec![Vec::new()],
        _ => (size..=n)
            .flat_map(|last| {
                choose(last - 1, size - 1).into_iter().map(move |mut list| {
                    list.push(last - 1);
                    list
                })
            })
            .collect(),
    }
}
