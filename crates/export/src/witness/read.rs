//! Reads witnesses. What they may have and we do not understand is refused: a witness is not validated by halves.

use super::view::{EntryView, InvariantView, ItemView, LocationView, WaypointView};
use super::{Content, Invariant, Kind, Place, Waypoint, Witness};

/// The largest file, in bytes.
const LARGEST: usize = 16 << 20;

/// The most waypoints or invariants.
const MOST: usize = 1_000;

/// Reads a witness, or says why it cannot.
pub fn read(text: &str) -> Result<Witness, String> {
    if text.len() > LARGEST {
        return Err("the file is larger than 16 MiB".to_owned());
    }
    let entries: Vec<EntryView> = serde_norway::from_str(text).map_err(|error| format!("not a witness: {error}"))?;
    let (mut hashes, mut segments, mut invariants) = (Vec::new(), Vec::new(), Vec::new());
    let mut is_violation = None;
    for entry in entries {
        let violates = match entry.entry_type.as_str() {
            "violation_sequence" => true,
            "invariant_set" => false,
            other => return Err(format!("there are entries `violation_sequence` and `invariant_set`, not `{other}`")),
        };
        let version = entry.metadata.format_version;
        if !["", "2.0", "2.1", "2.2"].contains(&version.as_str()) {
            return Err(format!("format {version} is not supported: there are 2.0, 2.1 and 2.2"));
        }
        if is_violation.replace(violates).is_some_and(|before| before || violates) {
            return Err("the file has several witnesses: split it".to_owned());
        }
        hashes.extend(entry.metadata.task.input_file_hashes.into_values());
        for item in entry.content {
            match item {
                ItemView { segment: Some(segment), invariant: None } if violates => {
                    let names_all = version == "2.2";
                    let steps = segment.into_iter().map(|step| waypoint(step.waypoint, names_all));
                    segments.push(steps.collect::<Result<Vec<_>, _>>()?);
                }
                ItemView { segment: None, invariant: Some(found) } if !violates => invariants.push(invariant(found)?),
                _ => return Err("an item is neither a segment nor an invariant, or in the wrong entry".to_owned()),
            }
        }
    }
    if segments.iter().map(Vec::len).sum::<usize>().max(invariants.len()) > MOST {
        return Err(format!("more than {MOST} waypoints or invariants are not supported"));
    }
    let content = match is_violation {
        Some(true) => violation(segments)?,
        Some(false) => Content::Correctness(invariants),
        None => return Err("the file has no entry".to_owned()),
    };
    Ok(Witness { hashes, content })
}

/// Puts the waypoints in a row. One in the last segment, and no other, is the error; or the last segment is two, which
/// are a data race.
fn violation(mut segments: Vec<Vec<Waypoint>>) -> Result<Content, String> {
    let is_target = |waypoint: &Waypoint| waypoint.kind == Kind::Target;
    let last = segments.pop().unwrap_or_default();
    let before: Vec<Waypoint> = segments.into_iter().flatten().collect();
    let behind = "waypoints behind the first `target` are not supported";
    match (before.iter().any(is_target), last.iter().position(is_target)) {
        (true, _) => Err(behind.to_owned()),
        (false, None) => Err("no waypoint of the last segment has the type `target`".to_owned()),
        (false, Some(0)) if last.len() == 2 && is_target(&last[1]) => Ok(Content::Race(before, [last[0], last[1]])),
        (false, Some(first)) if first + 1 == last.len() => Ok(Content::Violation([before, last].concat())),
        (false, Some(_)) => Err(behind.to_owned()),
    }
}

fn place(location: &LocationView) -> Place {
    Place { line: location.line, column: location.column }
}

/// Reads a waypoint. If they all name their thread, no name means the initial one.
fn waypoint(view: WaypointView, names_all: bool) -> Result<Waypoint, String> {
    let place = place(&view.location);
    let refuse = |what: String| Err(format!("line {} of the program: {what}", place.line));
    if view.action != "follow" {
        return refuse(format!("the action `{}` is not supported: there is `follow`", view.action));
    }
    let value = view.constraint.as_ref().map(|constraint| constraint.value.trim());
    let kind = match (view.kind.as_str(), value) {
        ("target", None) => Kind::Target,
        ("function_enter", None) => Kind::Enter,
        ("assumption", Some("1" | "true")) => Kind::Here,
        ("branching", Some("true")) => Kind::Branch(true),
        ("branching", Some("false")) => Kind::Branch(false),
        ("function_return", None) => Kind::Return(None),
        ("function_return", Some(value)) => match result(value) {
            Some(number) => Kind::Return(Some(number)),
            None => return refuse(format!("`{value}` is not supported: write `\\result == NUMBER`")),
        },
        ("assumption" | "branching", Some(value)) => {
            return refuse(format!("the constraint `{value}` of `{}` is not supported", view.kind));
        }
        (kind, Some(_)) => return refuse(format!("`{kind}` has no constraint")),
        (kind, None) => return refuse(format!("a waypoint `{kind}` without a constraint is not supported")),
    };
    Ok(Waypoint { kind, place, thread: view.thread_id.or(names_all.then_some(0)) })
}

/// Reads the number in `\result == NUMBER`.
fn result(constraint: &str) -> Option<i128> {
    let dense: String = constraint.chars().filter(|c| !c.is_whitespace() && !"()".contains(*c)).collect();
    let number = dense.strip_prefix("\\result==").or_else(|| dense.strip_suffix("==\\result"))?;
    number.trim_end_matches(['u', 'U', 'l', 'L']).parse().ok()
}

fn invariant(view: InvariantView) -> Result<Invariant, String> {
    let is_of_loop = match view.kind.as_str() {
        "loop_invariant" => true,
        "location_invariant" => false,
        other => {
            return Err(format!("there are invariants `loop_invariant` and `location_invariant`, not `{other}`"));
        }
    };
    if view.format != "c_expression" {
        return Err(format!("invariants are of the format `c_expression`, not `{}`", view.format));
    }
    Ok(Invariant { place: place(&view.location), is_of_loop, value: view.value })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(kind: &str, action: &str, constraint: &str) -> String {
        format!(
            "- entry_type: violation_sequence\n  content:\n  - segment:\n    - waypoint:\n        \
             type: {kind}\n        action: {action}\n        {constraint}\n        location: {{ line: 3 }}\n  \
             - segment:\n    - waypoint:\n        type: target\n        action: follow\n        \
             location: {{ line: 4, column: 2 }}\n"
        )
    }

    fn first(kind: &str, constraint: &str) -> Result<Kind, String> {
        let witness = read(&file(kind, "follow", constraint))?;
        let Content::Violation(waypoints) = witness.content else { unreachable!("it is an execution") };
        assert_eq!(waypoints[1].place, Place { line: 4, column: Some(2) });
        Ok(waypoints[0].kind)
    }

    #[test]
    fn waypoints_are_read() {
        assert_eq!(first("assumption", "constraint: { value: 1 }"), Ok(Kind::Here));
        assert_eq!(first("branching", "constraint: { value: false }"), Ok(Kind::Branch(false)));
        assert_eq!(first("function_enter", ""), Ok(Kind::Enter));
        assert_eq!(first("function_return", "constraint: { value: '\\result == -7' }"), Ok(Kind::Return(Some(-7))));
    }

    #[test]
    fn what_is_not_understood_is_refused() {
        assert!(first("assumption", "constraint: { value: 'x > 1' }").is_err());
        assert!(first("function_return", "constraint: { value: '\\result > 1' }").is_err());
        assert!(first("target", "").is_err());
        assert!(first("somewhere", "").is_err());
        assert!(read(&file("assumption", "avoid", "constraint: { value: 1 }")).is_err());
        assert!(read("[]").is_err());
        assert!(read("a: [").is_err());
        assert!(read("- entry_type: violation_sequence\n  content: []\n").is_err());
    }

    #[test]
    fn a_text_that_grows_by_references_is_refused() {
        let mut text = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n".to_owned();
        for number in 1..12 {
            let one = format!("*a{}", number - 1);
            let nine = vec![one; 9].join(", ");
            text.push_str(&format!("a{number}: &a{number} [{nine}]\n"));
        }
        assert!(read(&text).is_err());
        assert!(read(&"[".repeat(100_000)).is_err());
    }
}
