//! Plots of time against size, both logarithmic, as SVG.

use std::fmt::Write as _;

use super::Record;

const WIDTH: f64 = 560.0;
const HEIGHT: f64 = 360.0;
/// Left, right, top, bottom.
const MARGIN: [f64; 4] = [60.0, 130.0, 40.0, 45.0];
/// Colours that people with any kind of sight tell apart.
const COLOURS: [&str; 6] = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"];

/// A scale from values to places.
#[derive(Clone, Copy)]
struct Scale {
    kind: Kind,
    from: (f64, f64),
    to: (f64, f64),
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Linear,
    Logarithmic,
}

impl Scale {
    fn place(&self, value: f64) -> f64 {
        let at = |value: f64| if self.kind == Kind::Linear { value } else { value.ln() };
        let (low, high) = (at(self.from.0), at(self.from.1));
        self.to.0 + (at(value) - low) / (high - low) * (self.to.1 - self.to.0)
    }
}

/// The plot of one family: a line per tool over the sizes that it decided. `None` if there are fewer than two sizes.
pub fn svg(records: &[Record], family: &str) -> Option<String> {
    let points: Vec<&Record> = records.iter().filter(|record| record.family == family && record.is_decided()).collect();
    let sizes = || points.iter().map(|record| record.size as f64);
    let (low, high) = (sizes().fold(f64::INFINITY, f64::min), sizes().fold(0.0, f64::max));
    if low >= high || low < 1.0 {
        return None;
    }
    let slowest = points.iter().map(|record| record.seconds).fold(0.01, f64::max);
    let x = Scale { kind: Kind::Logarithmic, from: (low, high), to: (MARGIN[0], WIDTH - MARGIN[1]) };
    let y = Scale { kind: Kind::Logarithmic, from: (0.001, slowest * 1.5), to: (HEIGHT - MARGIN[3], MARGIN[2]) };
    let mut text = head(&format!("{family}: seconds by size"));
    axes(&mut text, x, y);
    let mut tools: Vec<&str> = Vec::new();
    for record in &points {
        if !tools.contains(&record.tool.as_str()) {
            tools.push(&record.tool);
        }
    }
    for (number, tool) in tools.iter().enumerate() {
        let of_tool = points.iter().filter(|record| record.tool == *tool);
        let places: Vec<(f64, f64)> =
            of_tool.map(|record| (x.place(record.size as f64), y.place(record.seconds.max(0.001)))).collect();
        line(&mut text, tool, number, &places);
    }
    text.push_str("</svg>\n");
    Some(text)
}

/// The cactus plot of a group of programs: how many each tool decided within which time. `None` if nobody decided two.
pub fn cactus(records: &[Record], family: &str) -> Option<String> {
    let points: Vec<&Record> = records.iter().filter(|record| record.family == family && record.is_decided()).collect();
    let mut times: Vec<(&str, Vec<f64>)> = Vec::new();
    for record in &points {
        let seconds = record.seconds.max(0.001);
        match times.iter_mut().find(|(tool, _)| *tool == record.tool) {
            Some((_, times)) => times.push(seconds),
            None => times.push((&record.tool, vec![seconds])),
        }
    }
    let most = times.iter().map(|(_, times)| times.len()).max().filter(|most| *most > 1)?;
    let slowest = points.iter().map(|record| record.seconds).fold(0.01, f64::max);
    let x = Scale { kind: Kind::Linear, from: (1.0, most as f64), to: (MARGIN[0], WIDTH - MARGIN[1]) };
    let y = Scale { kind: Kind::Logarithmic, from: (0.001, slowest * 1.5), to: (HEIGHT - MARGIN[3], MARGIN[2]) };
    let mut text = head(&format!("{family}: seconds by number of programs decided"));
    axes(&mut text, x, y);
    for (number, (tool, mut times)) in times.into_iter().enumerate() {
        times.sort_by(f64::total_cmp);
        let places: Vec<(f64, f64)> =
            times.iter().enumerate().map(|(rank, time)| (x.place(rank as f64 + 1.0), y.place(*time))).collect();
        line(&mut text, tool, number, &places);
    }
    text.push_str("</svg>\n");
    Some(text)
}

fn head(title: &str) -> String {
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" font-family=\"sans-serif\" \
         font-size=\"12\">\n<rect width=\"{WIDTH}\" height=\"{HEIGHT}\" fill=\"white\"/>\n<text x=\"{}\" y=\"22\" \
         font-size=\"15\">{title}</text>\n",
        MARGIN[0]
    )
}

/// Lines at powers of ten of time, and at a few round sizes.
fn axes(text: &mut String, x: Scale, y: Scale) {
    let mut time = y.from.0;
    while time <= y.from.1 {
        let at = y.place(time);
        let _ = writeln!(
            text,
            "<line x1=\"{:.1}\" x2=\"{:.1}\" y1=\"{at:.1}\" y2=\"{at:.1}\" stroke=\"#ddd\"/><text x=\"{:.1}\" \
             y=\"{:.1}\" text-anchor=\"end\">{}</text>",
            x.to.0,
            x.to.1,
            x.to.0 - 6.0,
            at + 4.0,
            (time * 1000.0).round() / 1000.0
        );
        time *= 10.0;
    }
    for size in sizes(x) {
        let at = x.place(size);
        let _ = writeln!(
            text,
            "<line x1=\"{at:.1}\" x2=\"{at:.1}\" y1=\"{:.1}\" y2=\"{:.1}\" stroke=\"#ddd\"/><text x=\"{at:.1}\" \
             y=\"{:.1}\" text-anchor=\"middle\">{size}</text>",
            y.to.1,
            y.to.0,
            y.to.0 + 18.0
        );
    }
}

/// The sizes that are marked: powers of two, or at most ten multiples of one, two or five times a power of ten.
fn sizes(x: Scale) -> Vec<f64> {
    let (from, to) = x.from;
    match x.kind {
        Kind::Logarithmic => {
            let powers = std::iter::successors(Some(1.0), |size| Some(size * 2.0));
            powers.take_while(|size| *size <= to).filter(|size| *size >= from).collect()
        }
        Kind::Linear => {
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
    let _ = writeln!(
        text,
        "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"/>",
        points.join(" ")
    );
    for (x, y) in places {
        let _ = writeln!(text, "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3\" fill=\"{colour}\"/>");
    }
    let (x, y) = (WIDTH - MARGIN[1] + 12.0, MARGIN[2] + 18.0 * number as f64);
    let _ = writeln!(text, "<text x=\"{x:.1}\" y=\"{:.1}\" fill=\"{colour}\">{tool}</text>", y + 10.0);
}
