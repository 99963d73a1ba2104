//! Programs whose threads take turns: times over the number of threads and over the number of contexts of each, as in
//! Figs. 6 to 8 of Lal and Reps (2009).
//!
//! Within a series, a tool that reached the limit is not run on harder points. SPIN, where it supports the program,
//! decides without a bound on contexts.

mod bluetooth;
mod tree;

pub mod fit;

use selvedge_check::Question;

use super::concurrent::{Size, anderson, bakery, msmie, peterson};
use super::families::Twin;
use super::suite::{Group, Growth, Instance, Text};

/// The parameter that grows along a series.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Axis {
    /// The number of threads.
    Threads,
    /// The number of contexts of each thread.
    Contexts,
    /// Nothing: unrelated programs.
    None,
}

/// Programs with their bounds, the easier ones first.
pub struct Series {
    /// The name.
    pub name: &'static str,
    /// The parameter that grows.
    pub axis: Axis,
    /// The programs.
    pub points: Vec<Point>,
}

/// A program and a bound.
pub struct Point {
    /// The program's name.
    pub program: String,
    /// The number of threads.
    pub threads: usize,
    /// The bound on the contexts of each thread.
    pub contexts: u32,
    /// The paper's seconds for its own model of the program, and those of SPIN where they are given.
    pub paper: Option<String>,
    /// The program.
    pub text: String,
}

impl Point {
    /// Returns the name of the instance with the bound on contexts.
    fn bounded(&self) -> String {
        format!("{} {}", self.program, self.contexts)
    }
}

/// Returns the points of all series as instances. Unrelated programs have groups of their own, and come also without
/// the bound, for SPIN.
pub fn groups() -> Vec<Group> {
    let mut groups = Vec::new();
    for Series { name, axis, points } in series() {
        let group = |instances| Group { family: name.to_string(), growth: Growth::Ascending, instances };
        match axis {
            Axis::None => groups.extend(points.iter().map(|point| group(vec![bounded(axis, point), unbounded(point)]))),
            _ => groups.push(group(points.iter().map(|point| bounded(axis, point)).collect())),
        }
    }
    groups
}

fn bounded(axis: Axis, point: &Point) -> Instance {
    let text = point.text.clone();
    Instance {
        name: point.bounded(),
        size: if axis == Axis::Threads { point.threads } else { point.contexts as usize },
        expected: None,
        question: Question::default(),
        contexts: Some(point.contexts),
        text: Text::Made(Box::new(move || text.clone())),
    }
}

fn unbounded(point: &Point) -> Instance {
    let question = Question { threads: Some(point.threads as u32), ..Question::default() };
    Instance { name: point.program.clone(), question, contexts: None, ..bounded(Axis::None, point) }
}

/// Returns all series.
pub fn series() -> Vec<Series> {
    let bluetooth = |name, axis, sizes: Vec<(usize, u32)>, twin: Twin| {
        let point = |(threads, contexts): (usize, u32)| Point {
            program: format!("bluetooth-{}-{threads}", twin.suffix()),
            threads,
            contexts,
            paper: None,
            text: bluetooth::driver(threads, twin),
        };
        Series { name, axis, points: sizes.into_iter().map(point).collect() }
    };
    let threads = (1..=12).map(|threads| (threads, 4)).collect();
    let contexts = (1..=8).map(|contexts| (3, contexts)).collect();
    let errors = (3..=6).map(|threads| (threads, 4)).collect();
    let mut all = vec![
        bluetooth("bluetooth over threads", Axis::Threads, threads, Twin::Safe),
        bluetooth("bluetooth over contexts", Axis::Contexts, contexts, Twin::Safe),
        bluetooth("bluetooth with its error", Axis::Threads, errors, Twin::Unsafe),
    ];
    for (name, inserters, searchers) in [("tree 1+1", 1, 1), ("tree 2+1", 2, 1), ("tree 2+2", 2, 2)] {
        all.push(trees(name, inserters, searchers, Twin::Safe));
    }
    all.push(trees("tree 2+1 with its error", 2, 1, Twin::Unsafe));
    all.push(algorithms());
    all
}

/// Fig. 7: seconds for 2 to 6 contexts, by inserters and searchers.
const FIGURE_7: [((usize, usize), [&str; 5]); 3] = [
    ((1, 1), ["6.1", "21.6", "84.5", "314.8", "1054.8"]),
    ((2, 1), ["11.9", "46.8", "211.9", "832.0", "2995.6"]),
    ((2, 2), ["14.1", "64.4", "298.0", "1255.4", "4432.1"]),
];

fn trees(name: &'static str, inserters: usize, searchers: usize, twin: Twin) -> Series {
    let row = FIGURE_7.iter().find(|(threads, _)| *threads == (inserters, searchers) && twin == Twin::Safe);
    let point = |contexts: u32| Point {
        program: format!("tree-{}-{inserters}-{searchers}", twin.suffix()),
        threads: inserters + searchers,
        contexts,
        paper: row.map(|(_, seconds)| seconds[contexts as usize - 2].to_string()),
        text: tree::tree(inserters, searchers, twin),
    };
    Series { name, axis: Axis::Contexts, points: (2..=6).map(point).collect() }
}

/// Returns the programs of Fig. 8, with the contexts that it gives.
fn algorithms() -> Series {
    let mut points = Vec::new();
    for twin in Twin::BOTH {
        let mut add = |name: &str, threads: usize, contexts: u32, papers: [&str; 2], text: String| {
            let program = format!("{name}-{}", twin.suffix());
            let paper = Some(papers[usize::from(twin == Twin::Unsafe)].to_string());
            points.push(Point { program, threads, contexts, paper, text });
        };
        let of = |threads: u32| Size { threads, locals: 0 };
        add("anderson", 6, 2, ["52.46, SPIN no memory", "54.90, SPIN no memory"], anderson(of(6), twin));
        add("bakery", 4, 2, ["5.87, SPIN 28.5", "13.88, SPIN 44.2"], bakery(of(4), twin));
        add("peterson", 4, 3, ["5.46, SPIN 3.05", "25.72, SPIN no memory"], peterson(of(4), twin));
        add("msmie", 20, 2, ["47.94, SPIN 31.0", "1.29, SPIN 1.04"], msmie(of(20), twin));
    }
    Series { name: "algorithms", axis: Axis::None, points }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_programs_can_be_read_and_have_the_threads_they_say() {
        for point in series().iter().flat_map(|series| &series.points) {
            let loaded = selvedge_frontend::bp::load(&point.text, &selvedge_frontend::bp::LoadOptions::default());
            let program = loaded.program.unwrap_or_else(|| panic!("{}: {:?}", point.program, loaded.diagnostics));
            let count = |entry: &selvedge_ir::Entry| match entry.count {
                selvedge_ir::Count::Exactly(count) => count as usize,
                _ => 0,
            };
            assert_eq!(program.entries.iter().map(count).sum::<usize>(), point.threads, "{}", point.program);
        }
    }
}
