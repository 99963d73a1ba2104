//! Pairs of runs of two tools on the same programs: the thesis's scatter plots for our own switches.

use std::fmt::Write as _;

use super::Record;
use super::plot;
use super::table::geometric_mean;

/// Two tools that figures of the thesis compare: the figure, the feature that is switched on, the tool without it and
/// the tool with it.
type Pair = (&'static str, &'static str, &'static str, &'static str);

/// The figures 6.1 to 6.3 and 7.2 to 7.6, and the pairs that belong to them for the engine with explicit valuations.
/// The thesis's ample sets and Cartesian reduction together are one reduction here, so that 6.3 has persistent sets in
/// their place. A pair of which one engine does not have the switch has no points.
const PAIRS: [Pair; 19] = [
    ("6.1", "ample sets, without symmetry", "threads-plain", "threads-plain ample"),
    ("6.2", "Cartesian, without symmetry", "threads-plain", "threads-plain cartesian"),
    ("6.3", "persistent sets, without symmetry", "threads-plain", "threads-plain persistent"),
    ("7.2", "symmetry", "threads-plain", "threads"),
    ("7.3", "explicit valuations", "spin", "threads-explicit"),
    ("7.3b", "decision diagrams", "threads-explicit", "threads"),
    ("7.4", "symmetry beside ample sets", "threads-plain ample", "threads ample"),
    ("7.4b", "symmetry beside Cartesian", "threads-plain cartesian", "threads cartesian"),
    ("7.5", "ample sets beside symmetry", "threads", "threads ample"),
    ("7.5b", "Cartesian beside symmetry", "threads", "threads cartesian"),
    ("7.5c", "persistent sets beside symmetry", "threads", "threads persistent"),
    ("7.5d", "ample sets, explicit", "threads-explicit", "threads-explicit ample"),
    ("7.5e", "Cartesian, explicit", "threads-explicit", "threads-explicit cartesian"),
    ("7.5f", "persistent sets, explicit", "threads-explicit", "threads-explicit persistent"),
    ("7.6", "symmetry instead of ample sets", "threads-plain ample", "threads"),
    ("dead", "dead variables forgotten", "threads no-dead", "threads"),
    ("dead-b", "dead variables forgotten, explicit", "threads-explicit no-dead", "threads-explicit"),
    ("compress", "compression", "threads no-compress", "threads"),
    ("compress-b", "compression, explicit", "threads-explicit no-compress", "threads-explicit"),
];

/// The least time in a figure: processor time is counted in hundredths of a second.
const LEAST: f64 = 0.01;

/// The points of one figure.
#[derive(Clone, Debug)]
pub struct Figure {
    /// The figure of the thesis.
    pub figure: &'static str,
    /// The feature that is switched on.
    pub about: &'static str,
    /// The tool without the feature.
    pub x: &'static str,
    /// The tool with the feature.
    pub y: &'static str,
    /// A point for each instance that at least one of the two tools decided.
    pub points: Vec<Point>,
}

/// Seconds of two tools for one instance, of processor time where that was measured; the limit where a tool did not
/// decide.
#[derive(Clone, Debug)]
pub struct Point {
    /// The instance.
    pub instance: String,
    /// The time without the feature.
    pub x: f64,
    /// The time with the feature.
    pub y: f64,
}

impl Figure {
    /// Returns the scatter plot: a point for each instance.
    pub fn svg(&self) -> String {
        let points: Vec<(f64, f64)> = self.points.iter().map(|point| (point.x, point.y)).collect();
        plot::scatter(&format!("{}: {}", self.figure, self.about), self.x, self.y, &points)
    }

    /// Returns the speedup of the second tool as a geometric mean; a lower bound where the first one did not decide.
    pub fn speedup(&self) -> Option<f64> {
        let ratios: Vec<f64> = self.points.iter().map(|point| point.x / point.y).collect();
        geometric_mean(&ratios)
    }

    /// Counts the instances that the second tool decides at least a tenth faster, and those at least a tenth slower.
    pub fn won_and_lost(&self) -> (usize, usize) {
        let won = self.points.iter().filter(|point| point.x > 1.1 * point.y).count();
        let lost = self.points.iter().filter(|point| point.y > 1.1 * point.x).count();
        (won, lost)
    }
}

/// Returns all figures that have points. `limit` is used for runs that did not decide, or that were skipped after one
/// that did not.
pub fn figures(records: &[Record], limit: f64) -> Vec<Figure> {
    let figure = |(figure, about, x, y): Pair| Figure { figure, about, x, y, points: points(records, x, y, limit) };
    PAIRS.into_iter().map(figure).filter(|figure| !figure.points.is_empty()).collect()
}

fn points(records: &[Record], x: &str, y: &str, limit: f64) -> Vec<Point> {
    let is_there = |tool: &str| records.iter().any(|record| record.tool == tool);
    if !is_there(x) || !is_there(y) {
        return Vec::new();
    }
    let seconds = |instance: &str, tool: &str| {
        let found = records.iter().find(|record| record.instance == instance && record.tool == tool);
        let decided = found.filter(|record| record.is_decided());
        decided.map(|record| record.processor_seconds.unwrap_or(record.net_seconds).max(LEAST))
    };
    let mut points: Vec<Point> = Vec::new();
    for record in records.iter().filter(|record| record.tool == x || record.tool == y) {
        let name = &record.instance;
        if points.iter().any(|point| point.instance == *name) {
            continue;
        }
        let (left, right) = (seconds(name, x), seconds(name, y));
        if left.is_some() || right.is_some() {
            let (x, y) = (left.unwrap_or(limit), right.unwrap_or(limit));
            points.push(Point { instance: name.clone(), x, y });
        }
    }
    points
}

/// Returns the figures as a table.
pub fn markdown(figures: &[Figure]) -> String {
    let mut text = String::from("| figure | what | from | to | instances | faster | slower | speed-up |\n");
    text.push_str("|---|---|---|---|---:|---:|---:|---:|\n");
    for figure in figures {
        let (won, lost) = figure.won_and_lost();
        let mean = figure.speedup().map_or("–".to_string(), |mean| format!("{mean:.2}"));
        let Figure { figure: name, about, x, y, points } = figure;
        let _ = writeln!(text, "| {name} | {about} | {x} | {y} | {} | {won} | {lost} | {mean} |", points.len());
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::record;

    #[test]
    fn a_figure_has_a_point_for_each_instance_that_a_tool_decided() {
        let records = [
            record("a", "threads", "safe", 4.0),
            record("a", "threads ample", "safe", 1.0),
            record("b", "threads", "time limit", 10.2),
            record("b", "threads ample", "safe", 2.5),
            record("c", "threads", "time limit", 10.2),
        ];
        let figures = figures(&records, 10.0);
        assert_eq!(figures.len(), 1);
        assert_eq!((figures[0].figure, figures[0].points.len()), ("7.5", 2));
        assert!(figures[0].speedup().is_some_and(|mean| (mean - 4.0).abs() < 1e-9));
        assert_eq!(figures[0].won_and_lost(), (2, 0));
        assert!(
            markdown(&figures)
                .contains("| 7.5 | ample sets beside symmetry | threads | threads ample | 2 | 2 | 0 | 4.00 |")
        );
    }
}
