//! Changes to inputs that leave most of them readable, for a fuzzer that otherwise changes bytes.

use serde_json::Value;

use crate::mutate::{C, mutate, mutate_in};
use crate::rng::Rng;

/// A change to an input, of which the random numbers are given.
pub type Mutator = fn(&[u8], &mut Rng) -> Vec<u8>;

/// Changes a text by its words.
pub fn words(input: &[u8], rng: &mut Rng) -> Vec<u8> {
    mutate(rng, &[String::from_utf8_lossy(input).into_owned()])
}

/// Changes a C program by its words.
pub fn words_of_c(input: &[u8], rng: &mut Rng) -> Vec<u8> {
    mutate_in(rng, &[String::from_utf8_lossy(input).into_owned()], &C)
}

/// Changes lines of JSON: a line is dropped, repeated or moved, or a part of one is changed.
pub fn messages(input: &[u8], rng: &mut Rng) -> Vec<u8> {
    let text = String::from_utf8_lossy(input);
    let mut lines: Vec<String> = text.lines().map(str::to_string).collect();
    for _ in 0..rng.between(1, 3) {
        if lines.is_empty() {
            break;
        }
        let (one, other) = (rng.below(lines.len()), rng.below(lines.len()));
        match rng.below(12) {
            0 if lines.len() > 1 => drop(lines.remove(one)),
            1 if lines.len() > 1 => lines.insert(one, lines[other].clone()),
            2 => lines.swap(one, other),
            _ => lines[one] = message(&lines[one], rng),
        }
    }
    lines.join("\n").into_bytes()
}

/// Changes a part of a message. Text that is not JSON is changed by its words.
fn message(line: &str, rng: &mut Rng) -> String {
    let Ok(mut value) = serde_json::from_str::<Value>(line) else {
        return String::from_utf8_lossy(&words(line.as_bytes(), rng)).replace('\n', " ");
    };
    let mut places = Vec::new();
    collect(&value, String::new(), &mut places);
    let (Some(place), Some(other)) = (rng.pick(&places), rng.pick(&places)) else { return line.to_string() };
    let donor = value.pointer(other).cloned().unwrap_or_default();
    if let Some(part) = value.pointer_mut(place) {
        change(part, donor, rng);
    }
    value.to_string()
}

/// Collects the places of all parts of a value, as JSON pointers.
fn collect(value: &Value, place: String, places: &mut Vec<String>) {
    match value {
        Value::Object(fields) => fields.iter().for_each(|(name, part)| {
            collect(part, format!("{place}/{}", name.replace('~', "~0").replace('/', "~1")), places);
        }),
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(at, item)| collect(item, format!("{place}/{at}"), places));
        }
        _ => {}
    }
    places.push(place);
}

/// Changes a value: to another one of its kind, to one of another kind, or to another part of the same message.
fn change(value: &mut Value, donor: Value, rng: &mut Rng) {
    const NUMBERS: [i64; 10] = [0, 1, 2, 3, -1, 255, 1 << 31, u32::MAX as i64, i64::MAX, i64::MIN];
    if rng.percent(10) {
        *value = donor;
        return;
    }
    match value {
        Value::Array(items) if !items.is_empty() => {
            let (one, other) = (rng.below(items.len()), rng.below(items.len()));
            match rng.below(4) {
                0 => drop(items.remove(one)),
                1 => items.insert(one, items[other].clone()),
                2 => items.swap(one, other),
                _ => items[one] = donor,
            }
        }
        Value::Array(items) => items.push(donor),
        Value::Object(fields) => {
            let names: Vec<String> = fields.keys().cloned().collect();
            if let Some(name) = rng.pick(&names) {
                fields.shift_remove(name);
            }
        }
        Value::Number(number) if rng.coin() => {
            let near = number.as_i64().unwrap_or(0);
            *value = near.wrapping_add([1, -1][rng.below(2)]).into();
        }
        Value::Number(_) => *value = NUMBERS[rng.below(NUMBERS.len())].into(),
        Value::Bool(truth) => *truth = !*truth,
        Value::String(text) => *text = String::from_utf8_lossy(&words(text.as_bytes(), rng)).into_owned(),
        Value::Null => *value = Value::from(NUMBERS[rng.below(NUMBERS.len())]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changed_messages_are_mostly_json_and_reproducible() {
        let input = br#"{"a": [1, null, {"b/c": "x"}], "d": true}
{"e": -7}"#;
        let changed = |seed: u64| messages(input, &mut Rng::new(seed));
        let n_readable = (0..300)
            .filter(|seed| {
                let text = String::from_utf8(changed(*seed)).expect("it is a text");
                text.lines().all(|line| serde_json::from_str::<Value>(line).is_ok())
            })
            .count();
        assert!(n_readable > 250, "{n_readable}");
        assert!((0..300).all(|seed| changed(seed) == changed(seed)));
        assert!((0..300).filter(|seed| changed(*seed) != input).count() > 200);
    }
}
