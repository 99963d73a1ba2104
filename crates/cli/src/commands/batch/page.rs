//! `selvedge batch report`: a page with the answers, what was rejected, and for each engine how many tasks it decides
//! in how much time.

use std::collections::BTreeMap;

use selvedge_report::names::count;
use selvedge_report::svg::escape;

use super::evidence::Judgement;
use super::merge::{self, Merged, merge, table};
use crate::args::BatchReportArgs;
use crate::exit::Exit;
use crate::outputs;
use crate::session::Session;

const COLOURS: [&str; 8] = ["#1b6ca8", "#c0392b", "#27803b", "#8e44ad", "#b9770e", "#117a65", "#5d6d7e", "#d81b60"];

/// The size of the plot, and the room for its axes.
const SIZE: (f64, f64) = (720.0, 360.0);
const ROOM: f64 = 50.0;

/// The least time that the plot tells apart.
const LEAST: f64 = 0.001;

const STYLE: &str = "body{font:15px sans-serif;max-width:70em;margin:2em auto;padding:0 1em}\
table{border-collapse:collapse}td,th{border:1px solid #ccc;padding:.3em .6em;text-align:left}\
.safe{color:#27803b}.unsafe,.disagreement{color:#c0392b}.unknown{color:#b9770e}.disagreement{font-weight:bold}";

pub(super) fn run(args: &BatchReportArgs, session: &Session) -> Result<Exit, Exit> {
    let merged = merge(&args.merge, session)?;
    session.printer.out(table(&merged).lines().last().unwrap_or_default());
    session.printer.out("\n");
    let page = outputs::write(&args.html, &page(&merged), session);
    Ok(Exit::worst([merged.exit(), page, merge::write(&merged, &args.merge, session)]))
}

fn page(merged: &Merged) -> String {
    let rows = merged.answers.iter().map(|((file, question), answer)| {
        let class = answer.verdict;
        let rejected = answer.rejected.iter().map(|one| format!("<br>rejected: {}", escape(one))).collect::<String>();
        format!(
            "<tr><td>{}</td><td>{}</td><td class=\"{class}\">{class}</td><td>{}{rejected}</td></tr>\n",
            escape(file),
            escape(question),
            escape(&answer.because)
        )
    });
    let rows: String = rows.collect();
    let times = times(merged);
    let engines: String = times
        .iter()
        .map(|(engine, times)| {
            let sum: f64 = times.iter().sum();
            format!("<tr><td>{}</td><td>{}</td><td>{sum:.2}</td></tr>\n", escape(engine), times.len())
        })
        .collect();
    let head = format!("{} of {} done", merged.done(), count(merged.tasks.len(), "task"));
    format!(
        "<!doctype html>\n<html lang=\"en\"><meta charset=\"utf-8\"><title>Results of a batch</title>\n\
         <style>{STYLE}</style>\n<h1>Results of a batch</h1>\n<p>{head}.</p>\n\
         <h2>Answers</h2>\n<table><tr><th>file<th>question<th>answer<th>because</tr>\n{rows}</table>\n\
         <h2>Tasks decided over time</h2>\n{}\n\
         <table><tr><th>engine<th>tasks decided, with accepted evidence<th>seconds in all</tr>\n{engines}</table>\n\
         </html>\n",
        plot(&times)
    )
}

/// Returns for each engine the times of the tasks that it decides, in ascending order.
fn times(merged: &Merged) -> BTreeMap<&str, Vec<f64>> {
    let mut times: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for (task, judged) in &merged.tasks {
        let of_engine = times.entry(task.engine.as_str()).or_default();
        if let Some((result, Judgement::Accepted)) = judged {
            of_engine.push(result.seconds.max(LEAST));
        }
    }
    times.values_mut().for_each(|times| times.sort_by(f64::total_cmp));
    times
}

/// Draws the number of decided tasks to the right, and the time of each, in powers of ten, upwards.
#[expect(clippy::cast_precision_loss, reason = "numbers of tasks on a page")]
fn plot(times: &BTreeMap<&str, Vec<f64>>) -> String {
    let most = times.values().map(Vec::len).max().unwrap_or(0).max(1) as f64;
    let longest = times.values().flatten().copied().fold(1.0, f64::max);
    let decades = (longest / LEAST).log10().ceil().max(1.0);
    let (width, height) = SIZE;
    let x = |number: usize| ROOM + number as f64 / most * (width - ROOM - 150.0);
    let y = |time: f64| height - ROOM - (time / LEAST).log10() / decades * (height - 2.0 * ROOM);
    let mut svg = format!("<svg viewBox=\"0 0 {width} {height}\" width=\"{width}\" font-size=\"12\" role=\"img\">\n");
    for decade in 0..=(decades as i32) {
        let time = LEAST * 10_f64.powi(decade);
        let (y, right) = (y(time), x(most as usize));
        svg.push_str(&format!("<path d=\"M{ROOM} {y:.1}H{right:.1}\" stroke=\"#ddd\"/>"));
        svg.push_str(&format!(
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{time} s</text>\n",
            ROOM - 4.0,
            y + 4.0
        ));
    }
    for (number, (engine, times)) in times.iter().enumerate() {
        let colour = COLOURS[number % COLOURS.len()];
        let points: Vec<String> =
            times.iter().enumerate().map(|(at, time)| format!("{:.1},{:.1}", x(at + 1), y(*time))).collect();
        svg.push_str(&format!(
            "<polyline fill=\"none\" stroke=\"{colour}\" stroke-width=\"1.5\" points=\"{}\"/>",
            points.join(" ")
        ));
        let (left, top) = (width - 140.0, ROOM + 16.0 * number as f64);
        svg.push_str(&format!("<text x=\"{left}\" y=\"{top}\" fill=\"{colour}\">{}</text>\n", escape(engine)));
    }
    let middle = (ROOM + x(most as usize)) / 2.0;
    let bottom = height - ROOM + 30.0;
    svg.push_str(&format!(
        "<text x=\"{middle:.1}\" y=\"{bottom}\" text-anchor=\"middle\">tasks, up to {most}</text></svg>"
    ));
    svg
}
