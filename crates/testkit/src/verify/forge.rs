//! Forged evidence: changes to certificates and executions in their form as JSON, which all kinds share.
//!
//! A change drops, repeats, moves or exchanges items of a list, changes a number, a truth value or a word, makes a
//! formula weaker, stronger, or the opposite, or takes over a part of the evidence about another program.

use serde_json::{Value, json};

use super::rebit::rebit;
use crate::evidence::collect;
use crate::rng::Rng;

/// The parts of a file that are evidence; the others only name the program and the question.
const PARTS: [&str; 4] = ["proof", "start", "steps", "bodies"];

/// A piece of evidence with the places at which it can be changed.
pub(super) struct Piece {
    pub(super) value: Value,
    places: Vec<String>,
    /// The places of references to formulas.
    references: Vec<String>,
    /// The place of the proof with formulas: over bits, it is a part of the whole proof.
    inner: &'static str,
}

impl Piece {
    pub(super) fn new(value: Value) -> Piece {
        let mut places = Vec::new();
        for part in PARTS {
            collect(&value[part], format!("/{part}"), &mut places);
        }
        let is_over_bits = value["proof"]["kind"] == "over_bits";
        let inner = if is_over_bits { "/proof/proof" } else { "/proof" };
        // A program over bits is changed as a program.
        places.retain(|place| !(is_over_bits && place == "/proof/bits"));
        let references = places.iter().filter(|place| is_reference(place, inner)).cloned().collect();
        Piece { value, places, references, inner }
    }

    /// Returns the piece with one to three changes; `None` if there is nothing to change.
    pub(super) fn forged(&self, rng: &mut Rng, donors: &[Piece]) -> Option<Value> {
        let mut forged = self.value.clone();
        let n_changes = 1 + rng.below(3).min(rng.below(3));
        let n_made = (0..n_changes).filter(|_| self.change(rng, donors, &mut forged).is_some()).count();
        (n_made > 0 && forged != self.value).then_some(forged)
    }

    fn change(&self, rng: &mut Rng, donors: &[Piece], value: &mut Value) -> Option<()> {
        if self.inner != "/proof" && rng.percent(60) {
            return rebit(rng, &mut value["proof"]);
        }
        match rng.below(10) {
            0..3 if !self.references.is_empty() => self.reformulate(rng, value),
            0..2 if value["steps"].is_array() => enclose(rng, value),
            3 | 4 if !donors.is_empty() => {
                let donor = rng.pick(donors)?;
                let place = rng.pick(&donor.places)?;
                splice(rng, value, donor, place)
            }
            _ => {
                let place = rng.pick(&self.places)?;
                change_at(rng, value.pointer_mut(place)?)
            }
        }
    }

    /// Makes a formula weaker or stronger, or replaces it by a constant, its negation, or another one.
    fn reformulate(&self, rng: &mut Rng, value: &mut Value) -> Option<()> {
        let place = rng.pick(&self.references)?;
        let old = value.pointer(place)?.as_u64()?;
        let formulas = value.pointer_mut(&format!("{}/formulas", self.inner))?.as_array_mut()?;
        // An earlier change may have taken all of them.
        let other = rng.below(formulas.len().max(1));
        let node = match rng.below(6) {
            0 => json!(["true"]),
            1 => json!(["false"]),
            2 => json!(["not", old]),
            3 => json!(["and", old, other]),
            4 => json!(["or", old, other]),
            _ => {
                formulas.push(json!(["not", other]));
                {
                    let word = if rng.coin() { "and" } else { "or" };
                    json!([word, old, formulas.len() - 1])
                }
            }
        };
        formulas.push(node);
        let new = formulas.len() - 1;
        *value.pointer_mut(place)? = new.into();
        Some(())
    }
}

/// Makes a body of the steps behind one step of an execution.
fn enclose(rng: &mut Rng, value: &mut Value) -> Option<()> {
    let steps = value["steps"].as_array_mut()?;
    let first = rng.below(steps.len().max(1));
    let length = rng.between(0, steps.len().checked_sub(first + 1)?.min(6));
    let body: Vec<Value> = steps.drain(first + 1..first + 1 + length).collect();
    let bodies = value.as_object_mut()?.entry("bodies").or_insert_with(|| json!([])).as_array_mut()?;
    bodies.push(body.into());
    let number = bodies.len() - 1;
    value["steps"][first]["body"] = number.into();
    Some(())
}

/// Returns whether a place is the formula of a shape, of a location, or of a procedure.
fn is_reference(place: &str, proof: &str) -> bool {
    let inside = place.strip_prefix(proof).unwrap_or(place);
    let listed = ["/locations/", "/procedures/"];
    place.ends_with("/formula") || place.ends_with("/1") && listed.iter().any(|list| inside.starts_with(list))
}

/// Takes over the part of a donor at a place: as a whole, or one more item of a list.
fn splice(rng: &mut Rng, value: &mut Value, donor: &Piece, place: &str) -> Option<()> {
    let part = donor.value.pointer(place)?;
    match (value.pointer_mut(place)?, part) {
        (Value::Array(items), Value::Array(others)) if rng.coin() => {
            let item = rng.pick(others)?.clone();
            items.insert(rng.between(0, items.len()), item);
        }
        (old, part) => *old = part.clone(),
    }
    Some(())
}

fn change_at(rng: &mut Rng, value: &mut Value) -> Option<()> {
    match value {
        Value::Bool(truth) => *truth = !*truth,
        Value::Number(number) => *value = other_number(rng, number.as_i64()?).into(),
        Value::String(text) => *text = other_text(rng, text)?,
        Value::Array(items) => change_list(rng, items)?,
        Value::Null | Value::Object(_) => return None,
    }
    Some(())
}

fn other_number(rng: &mut Rng, number: i64) -> i64 {
    [number + 1, number - 1, number + 2, 0, 1, 2, rng.below(12) as i64, 60][rng.below(8)].max(0)
}

fn change_list(rng: &mut Rng, items: &mut Vec<Value>) -> Option<()> {
    if items.is_empty() {
        return None;
    }
    let (at, other) = (rng.below(items.len()), rng.below(items.len()));
    match rng.below(6) {
        0 | 1 => drop(items.remove(at)),
        2 => items.swap(at, other),
        3 => {
            let item = items[at].clone();
            items.insert(other, item);
        }
        4 => {
            // One more item, which differs from another one in some place.
            let mut item = items[at].clone();
            let mut places = Vec::new();
            collect(&item, String::new(), &mut places);
            let place = rng.pick(&places)?.clone();
            change_at(rng, item.pointer_mut(&place)?);
            items.insert(rng.between(at, items.len()), item);
        }
        _ => items.truncate(at),
    }
    Some(())
}

/// Returns another text: digits with one flipped, another formula of SMT-LIB, or another word.
fn other_text(rng: &mut Rng, text: &str) -> Option<String> {
    let is_digit = |byte: u8| byte == b'0' || byte == b'1';
    if !text.is_empty() && text.bytes().all(is_digit) {
        let mut digits = text.as_bytes().to_vec();
        let at = rng.below(digits.len());
        digits[at] ^= 1;
        return String::from_utf8(digits).ok();
    }
    if text.starts_with('(') || text.starts_with('|') {
        return other_formula(rng, text);
    }
    let words = ["and", "or", "not", "true", "false", "now", "entry", "of", "any", "main", "free", "holder"];
    let more = ["successors", "predecessors", "prelude", ""];
    let words: Vec<&str> = words.into_iter().chain(more).collect();
    rng.pick(&words).map(ToString::to_string)
}

/// Returns another formula of SMT-LIB: a constant, the negation, an operator or a number exchanged.
fn other_formula(rng: &mut Rng, text: &str) -> Option<String> {
    let exchanges = [("<=", "<"), ("<", "<="), ("and", "or"), ("or", "and"), ("=", "<="), ("+", "-"), ("not", "and")];
    match rng.below(8) {
        0 => Some("true".to_string()),
        1 => Some("false".to_string()),
        2 => Some(format!("(not {text})")),
        3 | 4 => {
            let digits: Vec<usize> =
                text.bytes().enumerate().filter(|(_, byte)| byte.is_ascii_digit()).map(|d| d.0).collect();
            let at = *rng.pick(&digits)?;
            Some(format!("{}{}{}", &text[..at], rng.below(10), &text[at + 1..]))
        }
        _ => {
            let (old, new) = *rng.pick(&exchanges)?;
            let opened = format!("({old} ");
            let found: Vec<usize> = text.match_indices(&opened).map(|(at, _)| at).collect();
            let at = *rng.pick(&found)?;
            Some(format!("{}({new} {}", &text[..at], &text[at + opened.len()..]))
        }
    }
}
