//! The results as a Markdown page.

use std::fmt::Write as _;

use super::{PEER, Record};

/// The page.
pub fn markdown(records: &[Record], limit: f64) -> String {
    let mut text = String::from("# Benchmarks\n\n");
    let _ = writeln!(
        text,
        "Seconds of a whole process; the limit is {limit} s. `×` is how much longer `{PEER}` takes than the tool, without \
         the time that the processes take to start; `≥` where `{PEER}` did not decide. `bench/README.md` says more.\n"
    );
    summary(records, limit, &mut text);
    for family in families(records) {
        let _ = writeln!(text, "\n## {family}\n");
        if family == "corpus" {
            let _ = writeln!(text, "{} programs.\n", instances(records, &family).len());
        }
        family_table(records, &family, limit, &mut text);
    }
    text
}

fn families(records: &[Record]) -> Vec<String> {
    distinct(records.iter().map(|record| &record.family))
}

fn instances(records: &[Record], family: &str) -> Vec<String> {
    distinct(records.iter().filter(|record| record.family == family).map(|record| &record.instance))
}

/// Each once, in the order in which they first occur.
fn distinct<'a>(words: impl Iterator<Item = &'a String>) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for word in words {
        if !found.contains(word) {
            found.push(word.clone());
        }
    }
    found
}

fn find<'a>(records: &'a [Record], instance: &str, tool: &str) -> Option<&'a Record> {
    records.iter().find(|record| record.instance == instance && record.tool == tool)
}

/// How much longer the peer takes than a tool that decided. A peer that did not counts with the limit.
pub fn ratio(records: &[Record], instance: &str, tool: &str, limit: f64) -> Option<f64> {
    let ours = find(records, instance, tool).filter(|record| record.is_decided())?;
    let theirs = find(records, instance, PEER);
    let seconds = match theirs {
        Some(theirs) if theirs.is_decided() => theirs.net_seconds,
        // Not asked any more because a smaller one was too much already, or given up.
        _ if records.iter().any(|record| record.tool == PEER && record.family == ours.family) => limit,
        _ => return None,
    };
    Some(seconds / ours.net_seconds)
}

/// The geometric mean; `None` of nothing.
pub fn geometric_mean(values: &[f64]) -> Option<f64> {
    let sum: f64 = values.iter().map(|value| value.ln()).sum();
    (!values.is_empty()).then(|| (sum / values.len() as f64).exp())
}

fn tools(records: &[Record]) -> Vec<String> {
    let tools = distinct(records.iter().filter(|record| record.family != "reading").map(|record| &record.tool));
    tools.into_iter().filter(|tool| tool != PEER).collect()
}

/// For each family and engine, the geometric mean of the ratios over the instances that the engine decided.
fn summary(records: &[Record], limit: f64, text: &mut String) {
    let tools = tools(records);
    if tools.is_empty() || !records.iter().any(|record| record.tool == PEER) {
        return;
    }
    let _ = writeln!(text, "| family | {} |", tools.join(" × | ") + " ×");
    let _ = writeln!(text, "|---|{}", "---:|".repeat(tools.len()));
    let mut all: Vec<Vec<f64>> = vec![Vec::new(); tools.len()];
    for family in families(records).into_iter().filter(|family| family != "reading") {
        let mut cells = Vec::new();
        for (tool, all) in tools.iter().zip(&mut all) {
            let names = instances(records, &family);
            let ratios: Vec<f64> = names.iter().filter_map(|name| ratio(records, name, tool, limit)).collect();
            let mean = geometric_mean(&ratios);
            cells.push(mean.map_or("–".to_string(), |mean| format!("{mean:.1} ({} of {})", ratios.len(), names.len())));
            all.extend((family != "corpus").then_some(mean).flatten());
        }
        let _ = writeln!(text, "| {family} | {} |", cells.join(" | "));
    }
    let means: Vec<String> = all
        .iter()
        .map(|means| geometric_mean(means).map_or("–".to_string(), |mean| format!("**{mean:.1}**")))
        .collect();
    let _ = writeln!(text, "| **geometric mean of the families** | {} |", means.join(" | "));
}

fn family_table(records: &[Record], family: &str, limit: f64, text: &mut String) {
    let of_family: Vec<Record> = records.iter().filter(|record| record.family == family).cloned().collect();
    let tools = distinct(of_family.iter().map(|record| &record.tool));
    let _ = writeln!(text, "| instance | size | {} | memory |", tools.join(" | "));
    let _ = writeln!(text, "|---|---:|{}---:|", "---:|".repeat(tools.len()));
    for instance in instances(records, family) {
        let size = of_family.iter().find(|record| record.instance == instance).map_or(0, |record| record.size);
        let cells: Vec<String> = tools.iter().map(|tool| cell(records, &instance, tool, limit)).collect();
        let ours = of_family.iter().filter(|record| record.instance == instance && record.tool != PEER);
        let peak = ours.filter_map(|record| record.peak_bytes).max();
        let memory = peak.map_or("–".to_string(), |peak| format!("{} MB", peak / 1_000_000));
        let _ = writeln!(text, "| {instance} | {size} | {} | {memory} |", cells.join(" | "));
    }
}

fn cell(records: &[Record], instance: &str, tool: &str, limit: f64) -> String {
    let Some(record) = find(records, instance, tool) else { return "–".to_string() };
    let time = format!("{:.3}", record.seconds);
    let decided = find(records, instance, PEER).is_some_and(Record::is_decided);
    let bound = if decided { "" } else { "≥ " };
    match ratio(records, instance, tool, limit) {
        Some(ratio) if tool != PEER => format!("{} {time} ({bound}{ratio:.1}×)", record.verdict),
        _ => format!("{} {time}", record.verdict),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(instance: &str, tool: &str, verdict: &str, seconds: f64) -> Record {
        Record {
            family: "f".to_string(),
            instance: instance.to_string(),
            size: 1,
            expected: None,
            tool: tool.to_string(),
            verdict: verdict.to_string(),
            seconds,
            net_seconds: seconds,
            peak_bytes: Some(2_000_000),
        }
    }

    #[test]
    fn ratios_are_of_decided_runs_and_bounded_by_the_limit() {
        let records = [
            record("a", "ours", "safe", 0.5),
            record("a", PEER, "safe", 2.0),
            record("b", "ours", "safe", 0.5),
            record("b", PEER, "time limit", 10.2),
            record("c", "ours", "time limit", 10.1),
        ];
        assert_eq!(ratio(&records, "a", "ours", 10.0), Some(4.0));
        assert_eq!(ratio(&records, "b", "ours", 10.0), Some(20.0));
        assert_eq!(ratio(&records, "c", "ours", 10.0), None);
        let text = markdown(&records, 10.0);
        assert!(text.contains("| a | 1 | safe 0.500 (4.0×) | safe 2.000 | 2 MB |"), "{text}");
        assert!(text.contains("| b | 1 | safe 0.500 (≥ 20.0×) | time limit 10.200 | 2 MB |"), "{text}");
        assert!(text.contains("| f | 8.9 (2 of 3) |"), "{text}");
    }

    #[test]
    fn geometric_means_are_of_logarithms() {
        assert_eq!(geometric_mean(&[]), None);
        assert!(geometric_mean(&[2.0, 8.0]).is_some_and(|mean| (mean - 4.0).abs() < 1e-9));
    }
}
