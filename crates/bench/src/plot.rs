//! Plots as SVG: seconds against sizes or numbers of programs, and the seconds of two tools against each other.

use std::fmt::Write as _;

use super::Record;

const WIDTH: f64 = 560.0;
const HEIGHT: f64 = 360.0;
/// The left, right, top and bottom margin.
const MARGIN: [f64; 4] = [60.0, 130.0, 40.0, 45.0];
/// Colours that remain distinguishable with colour blindness.
const COLOURS: [&str; 6] = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"];

/// A scale from values to places.
#[derive(Clone, Copy)]
struct Scale {
    axis: Axis,
    from: (f64, f64),
    to: (f64, f64),
}

impl Scale {
    fn place(&self, value: f64) -> f64 {
        let at = |value: f64| if self.axis == Axis::Linear { value } else { value.ln() };
        let (low, high) = (at(self.from.0), at(self.from.1));
        self.to.0 + (at(value) - low) / (high - low) * (self.to.1 - self.to.0)
    }
}

/// The scale of an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Axis {
    /// Even spacing.
    Linear,
    /// Logarithmic spacing.
    Logarithmic,
}

/// A line of a plot.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// The name of the tool or configuration.
    pub name: String,
    /// The points: position on the axis, and seconds.
    pub points: Vec<(f64, f64)>,
}

/// Plots one family: a line per tool over the sizes that it decided. Returns `None` if there are fewer than two sizes.
pub fn svg(records: &[Record], family: &str) -> Option<String> {
    let points = records.iter().filter(|record| record.family == family && record.is_decided());
    let series = by_tool(points.map(|record| (record.tool.as_str(), (record.size as f64, record.seconds))));
    lines(&format!("{family}: seconds by size"), Axis::Logarithmic, &series)
}

/// Returns the cactus plot of a group: the number of programs that each tool decided within a time. `None` if no tool
/// decided two.
pub fn cactus(records: &[Record], family: &str) -> Option<String> {
    let points = records.iter().filter(|record| record.family == family && record.is_decided());
    let mut series = by_tool(points.map(|record| (record.tool.as_str(), (0.0, record.seconds))));
    series.iter_mut().for_each(Series::rank);
    lines(&format!("{family}: seconds by number of programs decided"), Axis::Linear, &series)
}

/// Groups points by tool, in the order in which the tools first occur.
pub fn by_tool<'n>(points: impl Iterator<Item = (&'n str, (f64, f64))>) -> Vec<Series> {
    let mut all: Vec<Series> = Vec::new();
    for (tool, point) in points {
        match all.iter_mut().find(|series| series.name == tool) {
            Some(series) => series.points.push(point),
            None => all.push(Series { name: tool.to_string(), points: vec![point] }),
        }
    }
    all
}

impl Series {
    /// Sorts the points by time and places each at its rank.
    pub fn rank(&mut self) {
        self.points.sort_by(|left, right| left.1.total_cmp(&right.1));
        self.points.iter_mut().enumerate().for_each(|(rank, point)| point.0 = rank as f64 + 1.0);
    }
}

/// Plots lines over an axis, with seconds upwards. Returns `None` if there is only one position on the axis.
pub fn lines(title: &str, axis: Axis, series: &[Series]) -> Option<String> {
    let points = || series.iter().flat_map(|series| series.points.iter());
    let low = points().map(|point| point.0).fold(f64::INFINITY, f64::min);
    let high = points().map(|point| point.0).fold(0.0, f64::max);
    if low >= high || (axis == Axis::Logarithmic && low < 1.0) {
        return None;
    }
    let slowest = points().map(|point| point.1).fold(0.01, f64::max);
    let x = Scale { axis, from: (low, high), to: (MARGIN[0], WIDTH - MARGIN[1]) };
    let y = Scale { axis: Axis::Logarithmic, from: (0.001, slowest * 1.5), to: (HEIGHT - MARGIN[3], MARGIN[2]) };
    let mut text = head(title);
    axes(&mut text, x, y);
    for (number, series) in series.iter().enumerate() {
        let place = |(at, seconds): &(f64, f64)| (x.place(*at), y.place(seconds.max(0.001)));
        line(&mut text, &series.name, number, &series.points.iter().map(place).collect::<Vec<_>>());
    }
    text.push_str("</svg>\n");
    Some(text)
}

/// Plots the seconds of one tool to the right and of another upwards, both logarithmic. Below the diagonal the second
/// one is faster.
pub fn scatter(title: &str, right: &str, up: &str, points: &[(f64, f64)]) -> String {
    let slowest = points.iter().map(|point| point.0.max(point.1)).fold(0.01, f64::max) * 1.5;
    let scale = |to| Scale { axis: Axis::Logarithmic, from: (0.0007, slowest), to };
    let side = HEIGHT - MARGIN[2] - MARGIN[3];
    let (x, y) = (scale((MARGIN[0], MARGIN[0] + side)), scale((HEIGHT - MARGIN[3], MARGIN[2])));
    let ((left, end), (bottom, top)) = (x.to, y.to);
    let mut text = head(title);
    for (time, shown) in times(slowest) {
        let (across, upwards) = (x.place(time), y.place(time));
        let (before, middle, below) = (left - 6.0, upwards + 4.0, bottom + 16.0);
        let _ = writeln!(
            text,
            "<path d=\"M{left:.1} {upwards:.1}H{end:.1}M{across:.1} {bottom:.1}V{top:.1}\" stroke=\"#ddd\"/><text \
             x=\"{before:.1}\" y=\"{middle:.1}\" text-anchor=\"end\">{shown}</text><text x=\"{across:.1}\" \
             y=\"{below:.1}\" text-anchor=\"middle\">{shown}</text>"
        );
    }
    let diagonal = format!("M{left:.1} {bottom:.1}L{end:.1} {top:.1}");
    let _ = writeln!(text, "<path d=\"{diagonal}\" stroke=\"#888\" stroke-dasharray=\"4 3\"/>");
    for (across, upwards) in points {
        let (cx, cy, colour) = (x.place(across.max(0.001)), y.place(upwards.max(0.001)), COLOURS[0]);
        let _ =
            writeln!(text, "<circle cx=\"{cx:.1}\" cy=\"{cy:.1}\" r=\"3\" fill=\"{colour}\" fill-opacity=\"0.6\"/>");
    }
    let beside = end + 14.0;
    let legend = format!("right: {right}\nup: {up}\nbelow the line\nthe second is faster");
    for (number, line) in legend.lines().enumerate() {
        let at = MARGIN[2] + 14.0 + 18.0 * number as f64;
        let _ = writeln!(text, "<text x=\"{beside:.1}\" y=\"{at:.1}\">{line}</text>");
    }
    text.push_str("</svg>\n");
    text
}

/// Returns the powers of ten of seconds up to a time, from a millisecond on, each also as it is shown.
fn times(slowest: f64) -> impl Iterator<Item = (f64, f64)> {
    let powers = std::iter::successors(Some(0.001), |time| Some(time * 10.0));
    powers.take_while(move |time| *time <= slowest).map(|time| (time, (time * 1000.0).round() / 1000.0))
}

fn head(title: &str) -> String {
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" font-family=\"sans-serif\" \
         font-size=\"12\">\n<rect width=\"{WIDTH}\" height=\"{HEIGHT}\" fill=\"white\"/>\n<text x=\"{}\" y=\"22\" \
         font-size=\"15\">{title}</text>\n",
        MARGIN[0]
    )
}

/// Draws grid lines at powers of ten of time, and at a few round sizes.
fn axes(text: &mut String, x: Scale, y: Scale) {
    let ((left, end), (bottom, top)) = (x.to, y.to);
    for (time, shown) in times(y.from.1) {
        let at = y.place(time);
        let (before, middle) = (left - 6.0, at + 4.0);
        let _ = writeln!(
            text,
            "<line x1=\"{left:.1}\" x2=\"{end:.1}\" y1=\"{at:.1}\" y2=\"{at:.1}\" stroke=\"#ddd\"/><text \
             x=\"{before:.1}\" y=\"{middle:.1}\" text-anchor=\"end\">{shown}</text>"
        );
    }
    for size in sizes(x) {
        let (at, below) = (x.place(size), bottom + 18.0);
        let _ = writeln!(
            text,
            "<line x1=\"{at:.1}\" x2=\"{at:.1}\" y1=\"{top:.1}\" y2=\"{bottom:.1}\" stroke=\"#ddd\"/><text \
             x=\"{at:.1}\" y=\"{below:.1}\" text-anchor=\"middle\">{size}</text>"
        );
    }
}

/// Returns the sizes with a mark: powers of two, or at most ten multiples of one, two or five times a power of ten.
fn sizes(x: Scale) -> Vec<f64> {
    let (from, to) = x.from;
    match x.axis {
        Axis::Logarithmic => {
            let powers = std::iter::successors(Some(1.0), |size| Some(size * 2.0));
            powers.take_while(|size| *size <= to).filter(|size| *size >= from).collect()
        }
        Axis::Linear => {
            let steps = (0..9).flat_map(|power| [1.0, 2.0, 5.0].map(|step| step * 10f64.powi(power)));
            let step = steps.into_iter().find(|step| (to - from) / step <= 10.0).unwrap_or(to);
            let first = (from / step).ceil() as u64;
            (first..).map(|number| number as f64 * step).take_while(|size| *size <= to).collect()
        }
    }
}

fn line(text: &mut String, tool: &str, number: usize, places: &[(f64, f64)]) {
    let colour = COLOURS[number % COLOURS.len()];
    let points: Vec<String> = places.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
    let points = points.join(" ");
    let _ = writeln!(text, "<polyline points=\"{points}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"/>");
    for (x, y) in places {
        let _ = writeln!(text, "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3\" fill=\"{colour}\"/>");
    }
    let (x, y) = (WIDTH - MARGIN[1] + 12.0, MARGIN[2] + 18.0 * number as f64 + 10.0);
    let _ = writeln!(text, "<text x=\"{x:.1}\" y=\"{y:.1}\" fill=\"{colour}\">{tool}</text>");
}
