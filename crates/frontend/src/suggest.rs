//! Suggestions for misspelled names.

/// Returns the candidate with the smallest edit distance, the first of several. `None` if none is near: the distance
/// may be at most a third of the name's length, and at least one edit is always allowed.
pub fn nearest<'c>(name: &str, candidates: impl Iterator<Item = &'c str>) -> Option<&'c str> {
    let limit = (name.len() / 3).max(1);
    let near = candidates.filter_map(|candidate| Some((distance(name, candidate, limit)?, candidate)));
    near.min_by_key(|(distance, _)| *distance).map(|(_, candidate)| candidate)
}

/// Returns the number of insertions, deletions, replacements and swaps of neighbours that turn one name into the other,
/// if it is not zero and at most `limit`.
fn distance(from: &str, to: &str, limit: usize) -> Option<usize> {
    let (from, to) = (from.as_bytes(), to.as_bytes());
    if from.len().abs_diff(to.len()) > limit || from.len().max(to.len()) > 200 {
        return None;
    }
    let mut before_last: Vec<usize> = vec![0; to.len() + 1];
    let mut last: Vec<usize> = (0..=to.len()).collect();
    for row in 1..=from.len() {
        let mut current = vec![row; to.len() + 1];
        for column in 1..=to.len() {
            let replace = last[column - 1] + usize::from(from[row - 1] != to[column - 1]);
            current[column] = replace.min(last[column] + 1).min(current[column - 1] + 1);
            let swapped = row > 1 && column > 1 && from[row - 1] == to[column - 2] && from[row - 2] == to[column - 1];
            if swapped {
                current[column] = current[column].min(before_last[column - 2] + 1);
            }
        }
        before_last = last;
        last = current;
    }
    Some(last[to.len()]).filter(|distance| (1..=limit).contains(distance))
}

#[cfg(test)]
mod tests {
    use super::nearest;

    fn check(name: &str, candidates: &[&str], expected: Option<&str>) {
        assert_eq!(nearest(name, candidates.iter().copied()), expected);
    }

    #[test]
    fn a_swap_is_one_edit() {
        check("lokced", &["locker", "locked"], Some("locked"));
    }

    #[test]
    fn a_name_that_shares_little_is_no_neighbour() {
        check("abc", &["xyz", "ayz"], None);
    }

    #[test]
    fn the_first_of_equally_near_names_wins() {
        check("x1", &["x2", "x3"], Some("x2"));
    }
}
