//! Forged relations between a program with machine integers and one over bits: another program over bits, bits
//! exchanged, widths and rests changed, choices exchanged, ranges made smaller or larger.

use selvedge_check::ThreadScope;
use selvedge_ir::{Target, text};
use serde_json::{Value, json};

use super::tamper::{Asked, Extent};
use crate::rng::Rng;

/// Makes one change to a proof over bits.
pub(super) fn rebit(rng: &mut Rng, proof: &mut Value) -> Option<()> {
    match rng.below(12) {
        0..3 => other_program(rng, &mut proof["bits"]),
        3 => exchange(rng, &mut proof["codes"]),
        4 => narrow(rng, &mut proof["codes"]),
        5 => other_rest(rng, &mut proof["codes"]),
        6 => other_width(rng, &mut proof["results"]),
        7 => other_choice(rng, proof),
        8 => never(rng, &mut proof["ranges"]["locations"]),
        _ => other_range(rng, &mut proof["ranges"]),
    }
}

/// Edits a step or a start of the program over bits.
fn other_program(rng: &mut Rng, bits: &mut Value) -> Option<()> {
    let program = text::parse(bits.as_str()?).ok()?;
    let extent = if rng.percent(70) { Extent::Values } else { Extent::All };
    let asked = Asked { program, target: Target::default(), threads: ThreadScope::Unbounded };
    *bits = text::print(&asked.edited(rng, extent)?.program).into();
    Some(())
}

/// Exchanges two bits, of one variable or of two.
fn exchange(rng: &mut Rng, codes: &mut Value) -> Option<()> {
    let [first, second] = [bit(rng, codes)?, bit(rng, codes)?];
    let (left, right) = (codes.pointer(&first)?.clone(), codes.pointer(&second)?.clone());
    *codes.pointer_mut(&first)? = right;
    *codes.pointer_mut(&second)? = left;
    Some(())
}

/// Returns the place of a bit of a variable.
fn bit(rng: &mut Rng, codes: &Value) -> Option<String> {
    let code = rng.below(codes.as_array()?.len().max(1));
    let n_bits = codes[code]["bits"].as_array()?.len();
    (n_bits > 0).then(|| format!("/{code}/bits/{}", rng.below(n_bits)))
}

/// Makes one variable narrower, and perhaps another one wider by the same bit.
fn narrow(rng: &mut Rng, codes: &mut Value) -> Option<()> {
    let n_codes = codes.as_array()?.len();
    let (from, to) = (rng.below(n_codes.max(1)), rng.below(n_codes.max(1)));
    let bit = codes[from]["bits"].as_array_mut()?.pop()?;
    if rng.percent(80) {
        let bits = codes[to]["bits"].as_array_mut()?;
        bits.insert(rng.between(0, bits.len()), bit);
    }
    Some(())
}

/// Puts another number, or the sign, above the bits of a variable.
fn other_rest(rng: &mut Rng, codes: &mut Value) -> Option<()> {
    let code = rng.below(codes.as_array()?.len().max(1));
    let rest = codes.get_mut(code)?.get_mut("rest")?;
    *rest = match rng.below(4) {
        0 => Value::Null,
        1 => json!(0),
        2 => json!(u64::MAX),
        _ => json!(1_u64 << rng.below(8)),
    };
    Some(())
}

/// Changes the bits of a result.
fn other_width(rng: &mut Rng, results: &mut Value) -> Option<()> {
    let procs = results.as_array_mut()?;
    let proc = rng.below(procs.len().max(1));
    let widths = procs.get_mut(proc)?.as_array_mut()?;
    let number = rng.below(widths.len().max(1));
    let width = widths.get_mut(number)?;
    let part = ["bits", "returned"][rng.below(2)];
    match rng.below(4) {
        0 => width["rest"] = Value::Null,
        1 => width["rest"] = json!([0, 1, u64::MAX][rng.below(3)]),
        _ => width[part] = json!((width[part].as_i64()? + [1, -1][rng.below(2)]).max(0)),
    }
    Some(())
}

/// Exchanges two choices over bits, takes one away, or adds one.
fn other_choice(rng: &mut Rng, proof: &mut Value) -> Option<()> {
    let mut places = Vec::new();
    for part in ["choices", "init", "entries"] {
        collect_leaves(&proof[part], format!("/{part}"), &mut places);
    }
    let (place, other) = (rng.pick(&places)?, rng.pick(&places)?);
    let new = match rng.below(4) {
        0 => Value::Null,
        1 => json!(rng.below(6)),
        _ => proof.pointer(other)?.clone(),
    };
    *proof.pointer_mut(place)? = new;
    Some(())
}

/// Collects the places of everything that is no list.
fn collect_leaves(value: &Value, place: String, places: &mut Vec<String>) {
    match value {
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(at, item)| collect_leaves(item, format!("{place}/{at}"), places));
        }
        _ => places.push(place),
    }
}

/// Says of a location that it is never reached, or of one that is not that it may be.
fn never(rng: &mut Rng, locations: &mut Value) -> Option<()> {
    let locations = locations.as_array_mut()?;
    let at = rng.below(locations.len().max(1));
    let location = locations.get_mut(at)?;
    *location = if location.is_null() { json!([]) } else { Value::Null };
    Some(())
}

/// Changes a range: to none, to another one, without a value, with one more, or with other bounds.
fn other_range(rng: &mut Rng, ranges: &mut Value) -> Option<()> {
    let mut places = Vec::new();
    collect_leaves(ranges.get("variables")?, "/variables".to_string(), &mut places);
    collect_leaves(ranges.get("locations")?, "/locations".to_string(), &mut places);
    collect_leaves(ranges.get("results")?, "/results".to_string(), &mut places);
    places.retain(|place| ranges.pointer(place).is_some_and(Value::is_string));
    let (place, other) = (rng.pick(&places)?, rng.pick(&places)?);
    let new = match rng.below(5) {
        0 => "never".to_string(),
        1 => ranges.pointer(other)?.as_str()?.to_string(),
        _ => changed(rng, ranges.pointer(place)?.as_str()?)?,
    };
    *ranges.pointer_mut(place)? = new.into();
    Some(())
}

fn changed(rng: &mut Rng, range: &str) -> Option<String> {
    let moved = |number: i128, rng: &mut Rng| number + [-1, 1, -2, 4][rng.below(4)];
    if let Some((least, greatest)) = range.split_once("..") {
        let (least, greatest): (i128, i128) = (least.parse().ok()?, greatest.parse().ok()?);
        return Some(match rng.below(3) {
            0 => format!("{}..{greatest}", moved(least, rng)),
            1 => format!("{least}..{}", moved(greatest, rng)),
            _ => format!("{least}"),
        });
    }
    let mut values: Vec<i128> = range.split(' ').map(|value| value.parse().ok()).collect::<Option<_>>()?;
    let at = rng.below(values.len().max(1));
    match rng.below(4) {
        0 if values.len() > 1 => drop(values.remove(at)),
        1 => values.push(values.last()? + 1),
        2 => return Some(format!("{}..{}", values.first()?, values.last()?)),
        _ => values[at] = moved(values[at], rng),
    }
    values.sort_unstable();
    values.dedup();
    Some(values.iter().map(ToString::to_string).collect::<Vec<_>>().join(" "))
}
