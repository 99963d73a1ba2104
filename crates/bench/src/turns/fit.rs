//! Curves fitted to times, and the page with all of them.

use std::fmt::Write as _;

use selvedge_driver::external::Spin;

use super::{Axis, Point, Series, series};
use crate::Record;
use crate::output::Output;
use crate::plot;

/// The least time that is fitted: shorter ones say more about the start of a process than about the program.
const LEAST: f64 = 0.05;

/// A curve `t = factor · n^slope` over threads, or `t = factor · slope^K` over contexts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fit {
    /// The time at 1, or the factor before the power.
    pub factor: f64,
    /// The exponent over threads, the base over contexts.
    pub slope: f64,
    /// The number of times that it is fitted to.
    pub points: usize,
}

/// Fits a curve by least squares in logarithms; `None` for fewer than three times.
pub fn fit(axis: Axis, points: &[(f64, f64)]) -> Option<Fit> {
    let logs: Vec<(f64, f64)> = points
        .iter()
        .filter(|(_, seconds)| *seconds >= LEAST)
        .map(|(x, seconds)| (if axis == Axis::Threads { x.ln() } else { *x }, seconds.ln()))
        .collect();
    let count = logs.len() as f64;
    if logs.len() < 3 || axis == Axis::None {
        return None;
    }
    let (mean_x, mean_y) =
        (logs.iter().map(|(x, _)| x).sum::<f64>() / count, logs.iter().map(|(_, y)| y).sum::<f64>() / count);
    let spread: f64 = logs.iter().map(|(x, _)| (x - mean_x).powi(2)).sum();
    if spread == 0.0 {
        return None;
    }
    let slope = logs.iter().map(|(x, y)| (x - mean_x) * (y - mean_y)).sum::<f64>() / spread;
    let factor = (mean_y - slope * mean_x).exp();
    let slope = if axis == Axis::Threads { slope } else { slope.exp() };
    Some(Fit { factor, slope, points: logs.len() })
}

/// Returns the page with a table and the curves of each series.
pub fn markdown(records: &[Record], limit: f64, eager_limit: f64, output: &Output) -> String {
    let mut text = format!(
        "# Threads that take turns\n\nSeconds of processor time of whole processes, with a limit of {limit} s of \
         wall-clock time for each run ({eager_limit} s for `contexts-eager`). `no error`: none within `K` contexts per \
         thread. Curves are least squares in logarithms through times of at least {LEAST} s. The column `paper` has \
         the seconds of Lal and Reps (2009), Figs. 7 and 8, on their models and their machine.\n"
    );
    if Spin::find().is_none() {
        text.push_str("\nSPIN was not found, so there is no column for it.\n");
    }
    for series in series() {
        let of_series = of_series(records, &series);
        if !of_series.is_empty() {
            section(&mut text, &series, &of_series, output);
        }
    }
    text
}

fn of_series<'r>(records: &'r [Record], series: &Series) -> Vec<&'r Record> {
    records.iter().filter(|record| record.family == series.name).collect()
}

fn section(text: &mut String, series: &Series, records: &[&Record], output: &Output) {
    let tools = tools(records);
    let has_paper = series.points.iter().any(|point| point.paper.is_some());
    let mut columns = tools.clone();
    columns.extend(has_paper.then_some("paper"));
    let _ = writeln!(text, "\n## {}\n\n| program | threads | K | {} |", series.name, columns.join(" | "));
    let _ = writeln!(text, "|---|---:|---:|{}", "---:|".repeat(columns.len()));
    for point in &series.points {
        let mut cells: Vec<String> = tools.iter().map(|tool| cell(point, records, tool)).collect();
        cells.extend(has_paper.then(|| point.paper.clone().unwrap_or_default()));
        let Point { program, threads, contexts, .. } = point;
        let _ = writeln!(text, "| {program} | {threads} | {contexts} | {} |", cells.join(" | "));
    }
    for tool in tools {
        if let Some(curve) = curve(series.axis, records, tool) {
            let _ = writeln!(text, "\n`{tool}`: {curve}");
        }
    }
    if lines(records, series.axis).iter().any(|line| line.points.len() > 1) {
        text.push_str(&output.image(series.name, &file_name(series)));
    }
}

fn tools<'r>(records: &[&'r Record]) -> Vec<&'r str> {
    let mut tools: Vec<&str> = records.iter().map(|record| record.tool.as_str()).collect();
    tools.sort_unstable();
    tools.dedup();
    tools
}

/// Returns the verdict and the time of a tool, with or without the bound on contexts.
fn cell(point: &Point, records: &[&Record], tool: &str) -> String {
    let names = [point.bounded(), point.program.clone()];
    let found = records.iter().find(|record| record.tool == tool && names.contains(&record.instance));
    found.map_or("–".to_string(), |record| {
        let at = record.note.as_ref().map_or(String::new(), |k| format!(" at {k}"));
        format!("{}{at} {:.2}", record.verdict, seconds(record))
    })
}

/// Returns the processor time of a run, where the system reports it.
fn seconds(record: &Record) -> f64 {
    record.processor_seconds.unwrap_or(record.seconds)
}

/// Returns the file name of the plot of a series.
pub fn file_name(series: &Series) -> String {
    format!("{}.svg", series.name.replace([' ', '+'], "-"))
}

/// Plots a series; `None` where nothing grows.
pub fn svg(records: &[Record], series: &Series) -> Option<String> {
    let over = if series.axis == Axis::Threads { "threads" } else { "contexts per thread" };
    let lines = lines(&of_series(records, series), series.axis);
    plot::lines(&format!("{}: seconds by {over}", series.name), plot::Axis::Linear, &lines)
}

/// Returns for each tool the times of the runs that it finished.
fn lines(records: &[&Record], axis: Axis) -> Vec<plot::Series> {
    if axis == Axis::None {
        return Vec::new();
    }
    let line = |tool: &str| plot::Series { name: tool.to_string(), points: points(records, tool) };
    tools(records).into_iter().map(line).collect()
}

fn points(records: &[&Record], tool: &str) -> Vec<(f64, f64)> {
    let done = records.iter().filter(|record| record.tool == tool && !record.verdict.ends_with("limit"));
    done.map(|record| (record.size as f64, seconds(record))).collect()
}

fn curve(axis: Axis, records: &[&Record], tool: &str) -> Option<String> {
    let Fit { factor, slope, points } = fit(axis, &points(records, tool))?;
    Some(match axis {
        Axis::Threads => format!("t ≈ {factor:.3} s · n^{slope:.2} ({points} times)"),
        Axis::Contexts | Axis::None => format!("t ≈ {factor:.4} s · {slope:.2}^K ({points} times)"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn curves_through_exact_points_are_exact() {
        let powers: Vec<(f64, f64)> = (1..=6).map(|n| (f64::from(n), 0.5 * f64::from(n * n))).collect();
        let found = fit(Axis::Threads, &powers).expect("six times are enough");
        assert!((found.slope - 2.0).abs() < 1e-9 && (found.factor - 0.5).abs() < 1e-9, "{found:?}");
        let doubling: Vec<(f64, f64)> = (1..=5).map(|k| (f64::from(k), 0.1 * 2f64.powi(k))).collect();
        let found = fit(Axis::Contexts, &doubling).expect("five times are enough");
        assert!((found.slope - 2.0).abs() < 1e-9 && (found.factor - 0.1).abs() < 1e-9, "{found:?}");
        assert_eq!(fit(Axis::Contexts, &doubling[..2]), None);
    }
}
