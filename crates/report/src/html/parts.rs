//! The parts of a page that are plain HTML.

use std::fmt::Write as _;
use std::time::Duration;

use selvedge_driver::{Answer, Each, LegEnd, Outcome, Report, Size};
use selvedge_ir::EdgeId;
use selvedge_replay::Violation;

use crate::invariant::{Holds, Invariant, invariants};
use crate::story::Context;
use crate::text;

/// A section with a title.
pub(super) struct Part {
    id: &'static str,
    title: &'static str,
    html: String,
}

impl Part {
    pub(super) fn html(&self) -> String {
        let Part { id, title, html } = self;
        format!(
            "<section id=\"{id}\" aria-labelledby=\"{id}-title\"><h2 id=\"{id}-title\">{title}</h2>\n{html}</section>\n"
        )
    }
}

/// A text inside of HTML.
pub(super) fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

fn list(rows: &[(&str, String)]) -> String {
    let row = |(name, content): &(&str, String)| format!("<dt>{name}</dt><dd>{}</dd>\n", escape(content));
    format!("<dl>\n{}</dl>\n", rows.iter().map(row).collect::<String>())
}

/// The answer in a few lines.
pub(super) fn facts(context: Context<'_>, report: &Report, load: Duration) -> Option<Part> {
    let mut rows = vec![("Verdict", text::verdict_word(&report.outcome).to_string())];
    rows.extend(text::reason(&report.outcome).map(|reason| ("Reason", reason)));
    rows.push(("Scope", text::scope(report.into())));
    rows.push(("Asked", text::target(context, &report.target)));
    if let Outcome::Unsafe(_) = &report.outcome {
        rows.push((
            "Evidence",
            "the execution that this page walks through; the judge has executed it step by step".to_string(),
        ));
    }
    if let Outcome::Safe(certificate) = &report.outcome {
        rows.push((
            "Evidence",
            match certificate {
                Some(certificate) => format!("a certificate: {}", text::certificate_text(certificate)),
                None => "none: the engine gives no certificate, so nobody has checked the answer".to_string(),
            },
        ));
    }
    rows.extend(report.explanation.arguments.iter().map(|argument| ("Argument", argument.to_string())));
    rows.extend(report.explanation.cutoff.iter().map(|cutoff| ("Cutoff", text::cutoff_text(cutoff))));
    rows.extend(report.explanation.contexts.iter().map(|contexts| ("Contexts", text::contexts_text(contexts))));
    let total = text::seconds(load + report.times.total());
    rows.push(("Engine", format!("{}, {total} in all", report.engine)));
    Some(Part { id: "answer", title: "Answer", html: list(&rows) })
}

/// What became of each assertion and label that was asked for, as far as one answer for all tells.
pub(super) fn assertions(context: Context<'_>, report: &Report) -> Option<Part> {
    let violated = match &report.outcome {
        Outcome::Unsafe(found) => Some(&found.replay.violation),
        Outcome::Safe(_) | Outcome::Unknown(_) => None,
    };
    let unreachable: Vec<EdgeId> = match &report.outcome {
        Outcome::Safe(Some(certificate)) => text::unreachable_asserts(report, certificate),
        _ => Vec::new(),
    };
    let open = match &report.outcome {
        Outcome::Safe(Some(_)) => "holds",
        Outcome::Safe(None) => "holds (uncertified)",
        Outcome::Unsafe(_) => "not decided: one error ends the search (see --all)",
        Outcome::Unknown(_) => "not decided",
    };
    let mut rows = String::new();
    for edge in &report.target.asserts {
        let fails = matches!(violated, Some(Violation::Assert { edge: found, .. }) if found == edge);
        let result = match () {
            () if fails => "violated",
            () if unreachable.contains(edge) => "unreachable",
            () => open,
        };
        rows.push_str(&row(context, selvedge_driver::Asked::Assert(*edge), result));
    }
    for loc in &report.target.locs {
        let reached = matches!(violated, Some(Violation::Location { loc: found, .. }) if found == loc);
        rows.push_str(&row(context, selvedge_driver::Asked::Loc(*loc), if reached { "reached" } else { open }));
    }
    for meeting in &report.target.together {
        let result = if matches!(violated, Some(Violation::Together(_))) { "violated" } else { open };
        let what = format!("threads at {} at once", text::meeting_text(context, meeting));
        let _ = writeln!(rows, "<tr><td></td><td>{}</td>{}</tr>", escape(&what), verdict(result));
    }
    table_of_errors(rows)
}

fn table_of_errors(rows: String) -> Option<Part> {
    let head =
        "<thead><tr><th scope=\"col\">Line</th><th scope=\"col\">Error</th><th scope=\"col\">Result</th></tr></thead>";
    let html = format!("<table class=\"grid\">{head}<tbody>\n{rows}</tbody></table>\n");
    (!rows.is_empty()).then_some(Part { id: "assertions", title: "Assertions and labels", html })
}

fn row(context: Context<'_>, asked: selvedge_driver::Asked, result: &str) -> String {
    let (position, statement) = text::place_of(context, asked);
    let line = position.map_or(String::new(), |at| format!("<a href=\"#L{0}\">{0}</a>", at.line));
    format!("<tr><td>{line}</td><td><code>{}</code></td>{}</tr>\n", escape(&statement), verdict(result))
}

fn verdict(result: &str) -> String {
    let tone = match result.split(' ').next() {
        Some("violated" | "reached") => "unsafe",
        Some("holds" | "unreachable") => "safe",
        _ => "unknown",
    };
    format!("<td class=\"{tone}\">{}</td>", escape(result))
}

/// The answers for each assertion and location.
pub(super) fn each_table(context: Context<'_>, each: &Each) -> Option<Part> {
    let mut rows = String::new();
    for (asked, answer) in &each.answers {
        let word = match answer {
            Answer::Unknown(reason) => format!("unknown: {}", text::reason_text(reason)),
            _ => text::answer_word(answer).to_string(),
        };
        rows.push_str(&row(context, *asked, &word));
    }
    table_of_errors(rows)
}

pub(super) fn each_facts(each: &Each, load: Duration) -> Option<Part> {
    let asked = text::Asked { program: &each.program, target: &each.target, threads: each.threads };
    let rows = [
        ("Scope", text::scope(asked)),
        ("Asked", "each assertion and error label on its own".to_string()),
        ("Engine", format!("{}, {}", each.engine, text::seconds(load + each.time))),
    ];
    Some(Part { id: "answer", title: "Answer", html: list(&rows) })
}

/// The certificate of a safe answer.
pub(super) fn proof(context: Context<'_>, report: &Report) -> Option<Part> {
    let Outcome::Safe(Some(certificate)) = &report.outcome else { return None };
    let certifier = report.certifier.unwrap_or(report.engine);
    let rows = [
        ("Says", text::certificate_text(certificate)),
        ("Scope", text::scope(report.into())),
        ("Made by", format!("the engine {certifier}")),
        (
            "Checked by",
            format!(
                "selvedge's judge, which shares no code with the engines, in {}",
                text::seconds(report.times.judge)
            ),
        ),
    ];
    let mut html = list(&rows);
    let found = invariants(context, certificate);
    if found.is_empty() {
        html.push_str("<p>This kind of certificate speaks of executions as a whole, not of locations.</p>\n");
    } else {
        html.push_str(
            "<p>What the certificate allows where a thread stands before a statement, other threads and callers left \
             aside: nothing else can hold there. <code>old(x)</code> and <code>given(x)</code> are values at the entry \
             of the procedure; <code>T</code> is anything.</p>\n",
        );
        html.push_str(&invariant_tables(&found));
    }
    Some(Part { id: "proof", title: "Proof", html })
}

fn invariant_tables(found: &[Invariant]) -> String {
    let mut html = String::new();
    for group in found.chunk_by(|one, other| one.proc == other.proc) {
        let _ = writeln!(
            html,
            "<table class=\"grid\"><caption>{}</caption><thead><tr><th scope=\"col\">Line</th>\
             <th scope=\"col\">Before</th><th scope=\"col\">Holds</th></tr></thead><tbody>",
            escape(&group[0].proc)
        );
        for invariant in group {
            html.push_str(&invariant_row(invariant));
        }
        html.push_str("</tbody></table>\n");
    }
    html
}

fn invariant_row(invariant: &Invariant) -> String {
    let line = invariant.line.map_or(String::new(), |line| format!("<a href=\"#L{line}\">{line}</a>"));
    let holds = match &invariant.holds {
        Holds::Formula(text) => format!("<code>{}</code>", escape(text)),
        Holds::Unreached => "<em>never reached</em>".to_string(),
        Holds::Unseen => "<em>not looked at: part of a step that begins before</em>".to_string(),
        Holds::TooLong => "<em>a formula that is too long to be shown</em>".to_string(),
    };
    let more = invariant.since_entry.as_ref().map_or(String::new(), |text| {
        format!("<details><summary>since the entry</summary><code>{}</code></details>", escape(text))
    });
    let statement: String = escape(&crate::text::cut(&invariant.text, 60));
    format!("<tr><td>{line}</td><td><code>{statement}</code></td><td>{holds}{more}</td></tr>\n")
}

/// Who ran how long.
pub(super) fn race(report: &Report) -> Option<Part> {
    let longest = report.legs.iter().map(|leg| leg.time.as_secs_f64()).fold(f64::EPSILON, f64::max);
    let mut rows = String::new();
    for leg in &report.legs {
        let (tone, end) = match &leg.end {
            LegEnd::Won => ("safe", "won".to_string()),
            LegEnd::Overtaken => ("unknown", "overtaken".to_string()),
            LegEnd::GaveUp(reason) => ("unknown", text::reason_text(reason)),
        };
        let share = 100.0 * leg.time.as_secs_f64() / longest;
        let _ = writeln!(
            rows,
            "<tr><td>{}</td><td class=\"number\">{}</td><td class=\"bar\"><span style=\"width:{share:.1}%\"></span></td>\
             <td class=\"{tone}\">{}</td></tr>",
            leg.engine,
            text::seconds(leg.time),
            escape(&end)
        );
    }
    let html = format!(
        "<table class=\"grid\"><thead><tr><th scope=\"col\">Engine</th><th scope=\"col\">Time</th>\
         <th scope=\"col\"><span class=\"unseen\">Share</span></th><th scope=\"col\">End</th></tr></thead>\
         <tbody>\n{rows}</tbody></table>\n"
    );
    (!report.legs.is_empty()).then_some(Part { id: "race", title: "Engines", html })
}

/// Sizes and times.
pub(super) fn statistics(report: &Report, load: Duration) -> Option<Part> {
    let size = |name: &str, of: fn(&Size) -> usize| {
        let [before, after] = [of(&report.sizes[0]), of(&report.sizes[1])];
        format!("<tr><td>{name}</td><td class=\"number\">{before}</td><td class=\"number\">{after}</td></tr>\n")
    };
    let sizes = [
        size("Procedures", |size| size.procs),
        size("Locations", |size| size.locs),
        size("Edges", |size| size.edges),
        size("Variables", |size| size.vars),
    ];
    let times = report.times;
    let time = |name: &str, time: Duration| {
        format!("<tr><td>{name}</td><td class=\"number\">{}</td></tr>\n", text::seconds(time))
    };
    let times = [
        time("Reading", load),
        time("Simplifying", times.simplify),
        time("Searching", times.engine),
        time("Judging", times.judge),
    ];
    let html = format!(
        "<div class=\"beside\"><table class=\"grid\"><thead><tr><th scope=\"col\">Program</th><th scope=\"col\">As written\
         </th><th scope=\"col\">As searched</th></tr></thead><tbody>\n{}</tbody></table>\n<table class=\"grid\"><thead><tr>\
         <th scope=\"col\">Phase</th><th scope=\"col\">Time</th></tr></thead><tbody>\n{}</tbody></table></div>\n",
        sizes.concat(),
        times.concat()
    );
    Some(Part { id: "statistics", title: "Statistics", html })
}

/// The lines of the program, each with an anchor.
pub(super) fn source(context: Context<'_>) -> String {
    let mut html = String::new();
    for (number, line) in context.source.text().lines().enumerate() {
        let number = number + 1;
        let _ = writeln!(
            html,
            "<li id=\"L{number}\"><span class=\"at\"></span><span class=\"no\">{number}</span><code>{}</code></li>",
            escape(line)
        );
    }
    html
}
