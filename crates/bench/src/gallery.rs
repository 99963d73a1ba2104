//! The plots of the documentation, drawn from the results that are kept in `bench/`: nothing is measured here.
//!
//! Growth over sizes, threads and contexts, as families of lines; pairs of switches, as the thesis's scatter plots;
//! and how many programs each engine decides in which time, as cactus plots. The page `docs/plots.md` shows them.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;

use super::plot::{self, Axis, Series, by_tool};

/// What the plots need of a run.
#[derive(Deserialize)]
struct Run {
    family: String,
    size: usize,
    tool: String,
    verdict: String,
    seconds: f64,
}

/// What they need of a run in turns.
#[derive(Deserialize)]
struct Turn {
    series: String,
    threads: usize,
    contexts: Option<u32>,
    tool: String,
    verdict: String,
    processor_seconds: Option<f64>,
}

/// A scatter plot's data, as `bench threads` writes it.
#[derive(Deserialize)]
struct Figure {
    figure: String,
    about: String,
    x: String,
    y: String,
    points: Vec<Point>,
}

#[derive(Deserialize)]
struct Point {
    x: f64,
    y: f64,
}

/// The families whose growth is shown.
const GROWTH: [(&str, &[&str]); 2] = [
    ("results", &["doubling-safe", "driver-safe", "abstraction-safe", "factoring-unsafe"]),
    ("results-threads", &["bluetooth-safe", "ticket-safe", "tas-safe", "rwlock-safe", "peterson-safe", "buffer-safe"]),
];

/// The groups of programs whose cactus plots are shown.
const CACTUS: [(&str, &[&str]); 2] = [
    ("results-unbounded", &["corpus-tts-one"]),
    ("results-everything", &["ours", "corpus-boppo", "corpus-ijit", "corpus-satabs-generated"]),
];

/// Where the data of scatter plots is; of figures in both the last counts.
const FIGURES: [&str; 2] = ["results-threads", "results-switches"];

/// All plots by the names of their files.
///
/// # Errors
///
/// The file that is missing or cannot be read.
pub fn plots(bench: &Path) -> Result<BTreeMap<String, String>, String> {
    let mut all = BTreeMap::new();
    for (folder, families) in GROWTH {
        let runs: Vec<Run> = read(&bench.join(folder).join("results.json"))?;
        for family in families {
            all.extend(growth(&runs, family).map(|svg| (format!("growth-{family}.svg"), svg)));
        }
    }
    let turns: Vec<Turn> = read(&bench.join("results-contexts/results.json"))?;
    all.extend(of_turns(&turns, "threads").map(|svg| ("contexts-over-threads.svg".to_string(), svg)));
    all.extend(of_turns(&turns, "contexts").map(|svg| ("contexts-over-contexts.svg".to_string(), svg)));
    for (folder, families) in CACTUS {
        let runs: Vec<Run> = read(&bench.join(folder).join("results.json"))?;
        for family in families {
            all.extend(cactus(&runs, family).map(|svg| (format!("cactus-{family}.svg"), svg)));
        }
    }
    for folder in FIGURES {
        let figures: Vec<Figure> = read(&bench.join(folder).join("figures.json"))?;
        all.extend(figures.iter().map(|figure| (format!("figure-{}.svg", figure.figure), scatter(figure))));
    }
    Ok(all)
}

fn read<T: for<'de> Deserialize<'de>>(path: &Path) -> Result<T, String> {
    let text = std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    serde_json::from_str(&text).map_err(|error| format!("{}: {error}", path.display()))
}

fn is_decided(verdict: &str) -> bool {
    matches!(verdict, "safe" | "unsafe" | "no error" | "done")
}

fn growth(runs: &[Run], family: &str) -> Option<String> {
    let decided = runs.iter().filter(|run| run.family == family && is_decided(&run.verdict));
    let series = by_tool(decided.map(|run| (run.tool.as_str(), (run.size as f64, run.seconds))));
    plot::lines(&format!("{family}: seconds by size"), Axis::Logarithmic, &series)
}

fn of_turns(turns: &[Turn], over: &str) -> Option<String> {
    let wanted =
        turns.iter().filter(|turn| turn.series == format!("bluetooth over {over}") && is_decided(&turn.verdict));
    let series = by_tool(wanted.filter_map(|turn| {
        let x = if over == "threads" { turn.threads as f64 } else { f64::from(turn.contexts?) };
        Some((turn.tool.as_str(), (x, turn.processor_seconds?)))
    }));
    plot::lines(&format!("Bluetooth in turns: processor seconds by {over}"), Axis::Linear, &series)
}

fn cactus(runs: &[Run], family: &str) -> Option<String> {
    let decided = runs.iter().filter(|run| run.family == family && is_decided(&run.verdict));
    let mut series = by_tool(decided.map(|run| (run.tool.as_str(), (0.0, run.seconds))));
    series.iter_mut().for_each(Series::rank);
    plot::lines(&format!("{family}: seconds by number of programs decided"), Axis::Linear, &series)
}

fn scatter(figure: &Figure) -> String {
    let points: Vec<(f64, f64)> = figure.points.iter().map(|point| (point.x, point.y)).collect();
    let title = format!("{}: {}", figure.figure, figure.about);
    plot::scatter(&title, &figure.x, &figure.y, &points)
}

#[cfg(test)]
mod tests {
    use super::*;
    use selvedge_testkit::corpus::root;

    #[test]
    fn the_plots_of_the_documentation_are_those_of_the_results() {
        let folder = root().join("docs/plots");
        let drawn = plots(&root().join("bench")).expect("the results are there");
        for (name, svg) in &drawn {
            let kept = std::fs::read_to_string(folder.join(name)).unwrap_or_default();
            assert!(kept == *svg, "docs/plots/{name} is not what `bench/run plots` draws");
        }
        let page = std::fs::read_to_string(root().join("docs/plots.md")).expect("the page is there");
        for entry in std::fs::read_dir(folder).expect("the folder is there") {
            let name = entry.expect("it can be read").file_name().into_string().expect("names are plain");
            assert!(drawn.contains_key(&name), "nobody draws docs/plots/{name}");
            assert!(page.contains(&format!("plots/{name}")), "docs/plots.md does not show {name}");
        }
    }

    #[test]
    fn a_cactus_counts_what_was_decided_in_the_order_of_times() {
        let run = |tool: &str, verdict: &str, seconds: f64| Run {
            family: "f".to_string(),
            size: 1,
            tool: tool.to_string(),
            verdict: verdict.to_string(),
            seconds,
        };
        let runs = [run("a", "safe", 2.0), run("a", "unsafe", 0.5), run("a", "time limit", 9.0), run("b", "safe", 1.0)];
        let svg = cactus(&runs, "f").expect("there are two points");
        assert_eq!(svg.matches("<circle").count(), 3);
    }
}
