//! Parts of a question by the values that variables start with, and whether some parts make the whole.

/// Variables with the values that they start with: the executions that start so.
pub(super) type Cube = Vec<(String, bool)>;

/// The most values that are tried.
const MOST: u32 = 1 << 20;

/// Returns whether each start is in one of the cubes, so that what holds in all of them holds for the program: each
/// execution starts with some value of each variable.
///
/// A variable that some cube mentions is tried with both values; of the cubes those are kept that allow the value, with
/// the variable left out. It ends because each step leaves fewer variables. A cube without variables is everything, and
/// no cube is nothing.
pub(super) fn cover(cubes: &[Cube]) -> bool {
    let mut left = MOST;
    covers(cubes, &mut left)
}

fn covers(cubes: &[Cube], left: &mut u32) -> bool {
    if cubes.iter().any(Vec::is_empty) {
        return true;
    }
    let Some((name, _)) = cubes.first().and_then(|cube| cube.first()) else { return false };
    *left = left.saturating_sub(1);
    *left > 0 && [false, true].into_iter().all(|value| covers(&within(cubes, name, value), left))
}

/// Returns what the cubes say about the other variables, where one has a value.
fn within(cubes: &[Cube], name: &str, value: bool) -> Vec<Cube> {
    let allows = |cube: &&Cube| cube.iter().all(|(other, wanted)| other != name || *wanted == value);
    let rest = |cube: &Cube| cube.iter().filter(|(other, _)| other != name).cloned().collect();
    cubes.iter().filter(allows).map(rest).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cubes(text: &str) -> Vec<Cube> {
        let literal = |word: &str| (word.trim_start_matches('!').to_string(), !word.starts_with('!'));
        text.split('|').map(|cube| cube.split_whitespace().map(literal).collect()).collect()
    }

    #[test]
    fn cubes_make_the_whole_if_each_start_is_in_one() {
        for whole in ["", "x|!x", "x y|x !y|!x y|!x !y", "x|!x y|!x !y", "y x|!x|x !y", "x|!y|!x y"] {
            assert!(cover(&cubes(whole)), "{whole}");
        }
        for part in ["x", "x|y", "x y|x !y|!x y", "x y|!x !y", "x|!y"] {
            assert!(!cover(&cubes(part)), "{part}");
        }
        assert!(!cover(&[]));
    }

    /// Tries all starts.
    #[test]
    fn the_argument_agrees_with_trying_all_starts() {
        let names = ["a", "b", "c"];
        let mut seed = 7_u64;
        let mut random = |most: u64| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) % most
        };
        let mut whole = 0;
        for _ in 0..3000 {
            let mut cube = || {
                let literal = |name: &&str| match random(5) {
                    0 | 1 => Some((name.to_string(), false)),
                    2 | 3 => Some((name.to_string(), true)),
                    _ => None,
                };
                names.iter().filter_map(literal).collect::<Cube>()
            };
            let cubes: Vec<Cube> = (0..6).map(|_| cube()).collect();
            let is_in = |start: u32, cube: &Cube| {
                cube.iter().all(|(name, value)| {
                    let at = names.iter().position(|other| other == name).expect("the names are known");
                    (start >> at & 1 == 1) == *value
                })
            };
            let expected = (0..8).all(|start| cubes.iter().any(|cube| is_in(start, cube)));
            assert_eq!(cover(&cubes), expected, "{cubes:?}");
            whole += u32::from(expected);
        }
        assert!((100..2900).contains(&whole), "{whole}");
    }
}
