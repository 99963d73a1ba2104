//! Curves through times, and the page with all of them.

use std::fmt::Write as _;

use super::{Axis, Timing, series};

/// Times below this say more about the start of a process than about the program.
const LEAST: f64 = 0.05;

/// A curve `t = factor · n^slope` over threads, or `t = factor · slope^K` over contexts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fit {
    /// The time at 1, or the factor before the power.
    pub factor: f64,
    /// The exponent over threads, the base over contexts.
    pub slope: f64,
    /// How many times it is made of.
    pub points: usize,
}

/// The least squares in logarithms; none through fewer than three times.
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

/// The page with a table and the curves of each series.
pub fn markdown(timings: &[Timing], limit: f64) -> String {
    let mut text = format!(
        "# Threads that take turns\n\nSeconds of processor time of whole processes, with a limit of {limit} s of wall-clock time for each run. `no error`: none \
         within so many contexts per thread. Curves are least squares in logarithms through times of at least {LEAST} s.\n"
    );
    for series in series() {
        let of_series: Vec<&Timing> = timings.iter().filter(|timing| timing.series == series.name).collect();
        if of_series.is_empty() {
            continue;
        }
        let mut tools: Vec<&str> = of_series.iter().map(|timing| timing.tool.as_str()).collect();
        tools.sort_unstable();
        tools.dedup();
        let _ = writeln!(text, "\n## {}\n\n| program | threads | K | {} |", series.name, tools.join(" | "));
        let _ = writeln!(text, "|---|---:|---:|{}", "---:|".repeat(tools.len()));
        for point in &series.points {
            let cell = |tool: &&str| {
                let is_here = |timing: &&&Timing| {
                    timing.tool == **tool
                        && timing.program == point.program
                        && timing.contexts.is_none_or(|contexts| contexts == point.contexts)
                };
                of_series.iter().find(is_here).map_or("–".to_string(), |timing| written(timing))
            };
            let cells: Vec<String> = tools.iter().map(cell).collect();
            let _ = writeln!(
                text,
                "| {} | {} | {} | {} |",
                point.program,
                point.threads,
                point.contexts,
                cells.join(" | ")
            );
        }
        for tool in tools {
            if let Some(curve) = curve(series.axis, &of_series, tool) {
                let _ = writeln!(text, "\n`{tool}`: {curve}");
            }
        }
    }
    text
}

fn written(timing: &Timing) -> String {
    let at = timing.found_at.map_or(String::new(), |k| format!(" at {k}"));
    format!("{}{at} {:.2}", timing.verdict, timing.processor_seconds)
}

fn curve(axis: Axis, timings: &[&Timing], tool: &str) -> Option<String> {
    let done = timings.iter().filter(|timing| timing.tool == tool && !timing.verdict.ends_with("limit"));
    let place = |timing: &&&Timing| match axis {
        Axis::Threads => timing.threads as f64,
        Axis::Contexts | Axis::None => f64::from(timing.contexts.unwrap_or(0)),
    };
    let points: Vec<(f64, f64)> = done.map(|timing| (place(&timing), timing.processor_seconds)).collect();
    let Fit { factor, slope, points } = fit(axis, &points)?;
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
