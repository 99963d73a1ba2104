//! The results as a Markdown page.

use std::fmt::Write as _;

use super::Record;

/// The results that a page shows.
#[derive(Clone, Copy)]
pub struct Page<'a> {
    /// The runs.
    pub records: &'a [Record],
    /// The time limit of each run, in seconds.
    pub limit: f64,
    /// The tool with which the others are compared.
    pub peer: &'a str,
    /// The time limit of the peer.
    pub peer_limit: f64,
}

/// Returns whether the programs of a family do not grow.
pub fn is_group(family: &str) -> bool {
    is_corpus(family) || ["ours", "families"].contains(&family)
}

/// Returns whether a family is a part of the corpus, which does not count in means of families.
fn is_corpus(family: &str) -> bool {
    family.starts_with("corpus")
}

impl Page<'_> {
    /// Returns the page.
    pub fn markdown(&self) -> String {
        let Page { records, limit, peer, peer_limit } = *self;
        let mut text = String::from("# Benchmarks\n\n");
        if peer.is_empty() {
            let _ = writeln!(text, "Seconds of a whole process; the limit is {limit} s. `bench/README.md` says more.");
        } else {
            let _ = writeln!(
                text,
                "Seconds of a whole process; the limit is {limit} s, for `{peer}` {peer_limit} s. `×` is how much \
                 longer `{peer}` takes than the tool, without the time that the processes take to start; `≥` where \
                 `{peer}` did not decide. `bench/README.md` says more.\n"
            );
        }
        self.summary(&mut text);
        self.at_the_peers_largest(&mut text);
        self.totals(&mut text);
        for family in families(records) {
            let _ = writeln!(text, "\n## {family}\n");
            if is_corpus(&family) {
                let _ = writeln!(text, "{} programs.\n", instances(records, &family).len());
            }
            self.family_table(&family, &mut text);
        }
        text
    }
}

impl Page<'_> {
    /// Returns the ratio of the peer's time to that of a tool that decided. A peer that did not decide counts with the
    /// limit.
    pub fn ratio(&self, instance: &str, tool: &str) -> Option<f64> {
        let Page { records, peer, peer_limit: limit, .. } = *self;
        let ours = find(records, instance, tool).filter(|record| record.is_decided())?;
        let theirs = find(records, instance, peer);
        let seconds = match theirs {
            Some(theirs) if theirs.is_decided() => theirs.net_seconds,
            // The limit for a corpus may be lower.
            Some(theirs) if theirs.verdict == "time limit" => theirs.seconds.min(limit),
            // The peer was skipped after a smaller instance was too much already, or gave up.
            _ if records.iter().any(|record| record.tool == peer && record.family == ours.family) => limit,
            _ => return None,
        };
        Some(seconds / ours.net_seconds)
    }

    fn tools(&self) -> Vec<String> {
        let Page { records, peer, .. } = *self;
        let tools = distinct(records.iter().filter(|record| record.family != "reading").map(|record| &record.tool));
        tools.into_iter().filter(|tool| tool != peer).collect()
    }

    /// Lists for each family and engine the geometric mean of the ratios over the instances that the engine decided.
    fn summary(&self, text: &mut String) {
        let Page { records, peer, .. } = *self;
        let tools = self.tools();
        if tools.is_empty() || !records.iter().any(|record| record.tool == peer) {
            return;
        }
        let _ = writeln!(text, "| family | {} |", tools.join(" × | ") + " ×");
        let _ = writeln!(text, "|---|{}", "---:|".repeat(tools.len()));
        let mut all: Vec<Vec<f64>> = vec![Vec::new(); tools.len()];
        for family in families(records).into_iter().filter(|family| family != "reading") {
            let mut cells = Vec::new();
            for (tool, all) in tools.iter().zip(&mut all) {
                let names = instances(records, &family);
                let ratios: Vec<f64> = names.iter().filter_map(|name| self.ratio(name, tool)).collect();
                let mean = geometric_mean(&ratios);
                cells.push(
                    mean.map_or("–".to_string(), |mean| format!("{mean:.1} ({} of {})", ratios.len(), names.len())),
                );
                all.extend((!is_corpus(&family)).then_some(mean).flatten());
            }
            let _ = writeln!(text, "| {family} | {} |", cells.join(" | "));
        }
        let means: Vec<String> = all
            .iter()
            .map(|means| geometric_mean(means).map_or("–".to_string(), |mean| format!("**{mean:.1}**")))
            .collect();
        let _ = writeln!(text, "| **geometric mean of the families** | {} |", means.join(" | "));
    }

    /// Lists for each family the largest size that the peer decided, and there the ratio of each tool and of the best
    /// one. A tool that did not decide it, or was skipped there, counts with the limit: its ratio is an upper bound
    /// (`≤`).
    fn at_the_peers_largest(&self, text: &mut String) {
        let Page { records, limit, peer, .. } = *self;
        let (tools, mut best_ones) = (self.tools(), Vec::new());
        if !records.iter().any(|record| record.tool == peer) {
            return;
        }
        let _ = writeln!(text, "\n## At the largest size that `{peer}` decides\n");
        let _ = writeln!(text, "| instance | {peer} | states | {} | best |", tools.join(" × | ") + " ×");
        let _ = writeln!(text, "|---|---:|---:|{}---:|", "---:|".repeat(tools.len()));
        for family in families(records).into_iter().filter(|family| family != "reading" && !is_corpus(family)) {
            let decided = records.iter().filter(|record| record.family == family && record.is_decided());
            let Some(theirs) = decided.filter(|record| record.tool == peer).max_by_key(|record| record.size) else {
                continue;
            };
            let ratio = |tool: &String| self.ratio(&theirs.instance, tool);
            let cell = |tool: &String| match ratio(tool) {
                Some(ratio) => format!("{ratio:.1}"),
                None => format!("≤ {:.1}", theirs.net_seconds / limit),
            };
            let best = tools.iter().filter_map(ratio).fold(theirs.net_seconds / limit, f64::max);
            best_ones.push(best);
            let (cells, states) = (tools.iter().map(cell).collect::<Vec<_>>().join(" | "), theirs.states.unwrap_or(0));
            let _ =
                writeln!(text, "| {} | {:.3} s | {states} | {cells} | {best:.1} |", theirs.instance, theirs.seconds);
        }
        if let Some(mean) = geometric_mean(&best_ones) {
            let blanks = "| ".repeat(tools.len() + 2);
            let _ = writeln!(text, "| **geometric mean** {blanks}| **{mean:.1}** |");
        }
    }

    /// Compares two versions over all programs that both decided: the geometric mean of the ratios of their whole
    /// times, and the programs for which this version takes more than half as long again as the other one.
    pub fn versions(&self) -> String {
        let both = |record: &&Record| record.tool != self.peer && record.is_decided();
        let mut ratios = Vec::new();
        for record in self.records.iter().filter(both) {
            let other = find(self.records, &record.instance, self.peer).filter(|other| other.is_decided());
            ratios.extend(other.map(|other| (record.seconds / other.seconds, record, other)));
        }
        let slower = ratios.iter().filter(|(ratio, ..)| *ratio > 1.5);
        let slower = slower.map(|(ratio, record, other)| {
            format!("- {}: {ratio:.2} ({:.3} s, before {:.3} s)\n", record.instance, record.seconds, other.seconds)
        });
        let values: Vec<f64> = ratios.iter().map(|(ratio, ..)| *ratio).collect();
        let mean = geometric_mean(&values).map_or("–".to_string(), |mean| format!("{mean:.3}"));
        let heading =
            format!("\n## This version against the one before\n\n{} programs that both decide; ", values.len());
        let sentence = format!("geometric mean of the ratios {mean}. Over 1.5:\n\n");
        heading + &sentence + &slower.collect::<String>()
    }

    /// Lists for groups of programs that do not grow how many each tool decided, and in which time.
    fn totals(&self, text: &mut String) {
        let groups: Vec<String> = families(self.records).into_iter().filter(|family| is_group(family)).collect();
        if groups.is_empty() {
            return;
        }
        let _ = writeln!(text, "\n## Groups of programs\n\n| group | tool | asked | decided | seconds | slowest |");
        let _ = writeln!(text, "|---|---|---:|---:|---:|---:|");
        for group in groups {
            let of_group: Vec<&Record> = self.records.iter().filter(|record| record.family == group).collect();
            for tool in distinct(of_group.iter().map(|record| &record.tool)) {
                let asked: Vec<&&Record> = of_group.iter().filter(|record| record.tool == tool).collect();
                let decided: Vec<f64> =
                    asked.iter().filter(|record| record.is_decided()).map(|record| record.seconds).collect();
                let (total, slowest) = (decided.iter().sum::<f64>(), decided.iter().copied().fold(0.0, f64::max));
                let (n_asked, n_decided) = (asked.len(), decided.len());
                let _ = writeln!(text, "| {group} | {tool} | {n_asked} | {n_decided} | {total:.1} | {slowest:.2} |");
            }
        }
    }

    fn family_table(&self, family: &str, text: &mut String) {
        let Page { records, peer, .. } = *self;
        let of_family: Vec<Record> = records.iter().filter(|record| record.family == family).cloned().collect();
        let tools = distinct(of_family.iter().map(|record| &record.tool));
        let _ = writeln!(text, "| instance | size | {} | memory |", tools.join(" | "));
        let _ = writeln!(text, "|---|---:|{}---:|", "---:|".repeat(tools.len()));
        for instance in instances(records, family) {
            let size = of_family.iter().find(|record| record.instance == instance).map_or(0, |record| record.size);
            let cells: Vec<String> = tools.iter().map(|tool| self.cell(&instance, tool)).collect();
            let ours = of_family.iter().filter(|record| record.instance == instance && record.tool != peer);
            let peak = ours.filter_map(|record| record.peak_bytes).max();
            let memory = peak.map_or("–".to_string(), |peak| format!("{} MB", peak / 1_000_000));
            let _ = writeln!(text, "| {instance} | {size} | {} | {memory} |", cells.join(" | "));
        }
    }

    fn cell(&self, instance: &str, tool: &str) -> String {
        let Page { records, peer, .. } = *self;
        let Some(record) = find(records, instance, tool) else { return "–".to_string() };
        let note = record.note.as_ref().map_or(String::new(), |note| format!(", {note}"));
        let time = format!("{:.3}{note}", record.seconds);
        let decided = find(records, instance, peer).is_some_and(Record::is_decided);
        let bound = if decided { "" } else { "≥ " };
        match self.ratio(instance, tool) {
            Some(ratio) if tool != peer => format!("{} {time} ({bound}{ratio:.1}×)", record.verdict),
            _ => format!("{} {time}", record.verdict),
        }
    }
}

fn families(records: &[Record]) -> Vec<String> {
    distinct(records.iter().map(|record| &record.family))
}

fn instances(records: &[Record], family: &str) -> Vec<String> {
    distinct(records.iter().filter(|record| record.family == family).map(|record| &record.instance))
}

/// Returns each word once, in the order of first occurrence.
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

/// Returns the geometric mean; `None` without values.
pub fn geometric_mean(values: &[f64]) -> Option<f64> {
    let sum: f64 = values.iter().map(|value| value.ln()).sum();
    (!values.is_empty()).then(|| (sum / values.len() as f64).exp())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::record;

    const PEER: &str = "peer";

    #[test]
    fn ratios_are_of_decided_runs_and_bounded_by_the_limit() {
        let records = [
            record("a", "ours", "safe", 0.5),
            record("a", PEER, "safe", 2.0),
            record("b", "ours", "safe", 0.5),
            record("b", PEER, "time limit", 10.2),
            record("c", "ours", "time limit", 10.1),
        ];
        let page = Page { records: &records, limit: 10.0, peer: PEER, peer_limit: 10.0 };
        assert_eq!(page.ratio("a", "ours"), Some(4.0));
        assert_eq!(page.ratio("b", "ours"), Some(20.0));
        assert_eq!(page.ratio("c", "ours"), None);
        let text = page.markdown();
        assert!(text.contains("| a | 1 | safe 0.500 (4.0×) | safe 2.000 | 2 MB |"), "{text}");
        assert!(text.contains("| b | 1 | safe 0.500 (≥ 20.0×) | time limit 10.200 | 2 MB |"), "{text}");
        assert!(text.contains("| f | 8.9 (2 of 3) |"), "{text}");
    }

    #[test]
    fn versions_are_compared_on_what_both_decide() {
        let records = [
            record("a", "ours", "safe", 1.0),
            record("a", PEER, "safe", 4.0),
            record("b", "ours", "unsafe", 4.0),
            record("b", PEER, "unsafe", 1.0),
            record("c", "ours", "safe", 1.0),
            record("c", PEER, "time limit", 10.0),
        ];
        let text = Page { records: &records, limit: 10.0, peer: PEER, peer_limit: 10.0 }.versions();
        assert!(text.contains("2 programs that both decide; geometric mean of the ratios 1.000."), "{text}");
        assert!(text.ends_with("Over 1.5:\n\n- b: 4.00 (4.000 s, before 1.000 s)\n"), "{text}");
    }

    #[test]
    fn geometric_means_are_of_logarithms() {
        assert_eq!(geometric_mean(&[]), None);
        assert!(geometric_mean(&[2.0, 8.0]).is_some_and(|mean| (mean - 4.0).abs() < 1e-9));
    }
}
