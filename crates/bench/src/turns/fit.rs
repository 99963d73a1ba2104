//! Curves fitted to times, and the page with all of them.

use std::fmt::Write as _;

use selvedge_driver::external::Spin;

use super::{Axis, Plan, Point, Series, Timing, series};
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
pub fn markdown(timings: &[Timing], plan: &Plan, output: &Output) -> String {
    let (limit, eager) = (plan.limit.as_secs(), plan.eager_limit.as_secs());
    let mut text = format!(
        "# Threads that take turns\n\nSeconds of processor time of whole processes, with a limit of {limit} s of \
         wall-clock time for each run ({eager} s for `contexts-eager`). `no error`: none within `K` contexts per \
         thread. Curves are least squares in logarithms through times of at least {LEAST} s. The column `paper` has \
         the seconds of Lal and Reps (2009), Figs. 7 and 8, on their models and their machine.\n"
    );
    if Spin::find().is_none() {
        text.push_str("\nSPIN was not found, so there is no column for it.\n");
    }
    for series in series() {
        let of_series: Vec<&Timing> = timings.iter().filter(|timing| timing.series == series.name).collect();
        if !of_series.is_empty() {
            section(&mut text, &series, &of_series, output);
        }
    }
    text
}

fn section(text: &mut String, series: &Series, timings: &[&Timing], output: &Output) {
    let tools = tools(timings);
    let has_paper = series.points.iter().any(|point| point.paper.is_some());
    let mut columns = tools.clone();
    columns.extend(has_paper.then_some("paper"));
    let _ = writeln!(text, "\n## {}\n\n| program | threads | K | {} |", series.name, columns.join(" | "));
    let _ = writeln!(text, "|---|---:|---:|{}", "---:|".repeat(columns.len()));
    for point in &series.points {
        let mut cells: Vec<String> = tools.iter().map(|tool| cell(point, timings, tool)).collect();
        cells.extend(has_paper.then(|| point.paper.clone().unwrap_or_default()));
        let Point { program, threads, contexts, .. } = point;
        let _ = writeln!(text, "| {program} | {threads} | {contexts} | {} |", cells.join(" | "));
    }
    for tool in tools {
        if let Some(curve) = curve(series.axis, timings, tool) {
            let _ = writeln!(text, "\n`{tool}`: {curve}");
        }
    }
    if lines(timings, series.axis).iter().any(|line| line.points.len() > 1) {
        text.push_str(&output.image(series.name, &file_name(series)));
    }
}

fn tools<'t>(timings: &[&'t Timing]) -> Vec<&'t str> {
    let mut tools: Vec<&str> = timings.iter().map(|timing| timing.tool.as_str()).collect();
    tools.sort_unstable();
    tools.dedup();
    tools
}

fn cell(point: &Point, timings: &[&Timing], tool: &str) -> String {
    let is_here = |timing: &&&Timing| {
        timing.tool == tool
            && timing.program == point.program
            && timing.contexts.is_none_or(|contexts| contexts == point.contexts)
    };
    timings.iter().find(is_here).map_or("–".to_string(), |timing| written(timing))
}

/// Returns the file name of the plot of a series.
pub fn file_name(series: &Series) -> String {
    format!("{}.svg", series.name.replace([' ', '+'], "-"))
}

/// Plots a series; `None` where nothing grows.
pub fn svg(timings: &[Timing], series: &Series) -> Option<String> {
    let of_series: Vec<&Timing> = timings.iter().filter(|timing| timing.series == series.name).collect();
    let over = if series.axis == Axis::Threads { "threads" } else { "contexts per thread" };
    plot::lines(&format!("{}: seconds by {over}", series.name), plot::Axis::Linear, &lines(&of_series, series.axis))
}

/// Returns for each tool the times of the runs that it finished.
fn lines(timings: &[&Timing], axis: Axis) -> Vec<plot::Series> {
    if axis == Axis::None {
        return Vec::new();
    }
    let line = |tool: &str| plot::Series { name: tool.to_string(), points: points(axis, timings, tool) };
    tools(timings).into_iter().map(line).collect()
}

fn points(axis: Axis, timings: &[&Timing], tool: &str) -> Vec<(f64, f64)> {
    let done = timings.iter().filter(|timing| timing.tool == tool && !timing.verdict.ends_with("limit"));
    let place = |timing: &&&Timing| match axis {
        Axis::Threads => timing.threads as f64,
        Axis::Contexts | Axis::None => f64::from(timing.contexts.unwrap_or(0)),
    };
    done.map(|timing| (place(&timing), timing.processor_seconds)).collect()
}

fn written(timing: &Timing) -> String {
    let at = timing.found_at.map_or(String::new(), |k| format!(" at {k}"));
    format!("{}{at} {:.2}", timing.verdict, timing.processor_seconds)
}

fn curve(axis: Axis, timings: &[&Timing], tool: &str) -> Option<String> {
    let Fit { factor, slope, points } = fit(axis, &points(axis, timings, tool))?;
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
