//! The parts of a page that are plain HTML.

use std::fmt::Write as _;
use std::time::Duration;

use selvedge_check::{Answer, Asked, EngineEnd, Outcome, Size, Status};
use selvedge_ir::EdgeId;
use selvedge_replay::Violation;

use super::colours::Colours;
use crate::Reading;
use crate::annotated_trace::Context;
use crate::invariant::{Holds, Invariant, invariants};
use crate::palette::Tone;
use crate::svg::escape;
use crate::text;

/// A section with a title.
pub(super) struct Section {
    id: &'static str,
    title: &'static str,
    html: String,
}

impl Section {
    pub(super) fn html(&self) -> String {
        let Section { id, title, html } = self;
        format!(
            "<section id=\"{id}\" aria-labelledby=\"{id}-title\"><h2 id=\"{id}-title\">{title}</h2>\n{html}</section>\n"
        )
    }
}

fn list(rows: &[(&str, String)]) -> String {
    let row = |(name, content): &(&str, String)| format!("<dt>{name}</dt><dd>{}</dd>\n", escape(content));
    format!("<dl>\n{}</dl>\n", rows.iter().map(row).collect::<String>())
}

/// Renders the answer in a few lines.
pub(super) fn facts(context: Context<'_>, answer: &Answer, reading: Reading<'_>) -> Option<Section> {
    let mut rows = vec![("Verdict", answer.word().to_string())];
    if !reading.command.is_empty() {
        rows.push(("Command", reading.command.to_string()));
    }
    rows.extend(answer.outcome.reason().map(|reason| ("Reason", reason.to_string())));
    rows.extend(text::nothing_checked(context, answer).map(|warning| ("Warning", warning.to_string())));
    rows.extend(reading.options_text().map(|options| ("Options", options)));
    rows.push(("Scope", text::scope(context, &answer.model.task())));
    let checked = match &answer.each {
        Some(_) => "each assertion and error label on its own".to_string(),
        None => text::target(context, &answer.model.target),
    };
    rows.push(("Checked", checked));
    rows.extend(evidence(answer).map(|evidence| ("Evidence", evidence)));
    let explanation = &answer.explanation;
    rows.extend(explanation.arguments.iter().map(|argument| ("Argument", argument.to_string())));
    rows.extend(explanation.cutoff.iter().map(|cutoff| ("Cutoff", text::cutoff_text(cutoff))));
    rows.extend(explanation.contexts.iter().map(|contexts| ("Contexts", text::contexts_text(contexts))));
    let total = text::seconds(reading.time + answer.times.total());
    rows.push(("Engine", format!("{}, {total} in all", answer.engine)));
    Some(Section { id: "answer", title: "Answer", html: list(&rows) })
}

/// Describes the evidence of one answer for all errors.
fn evidence(answer: &Answer) -> Option<String> {
    match (&answer.outcome, &answer.unchecked) {
        (_, _) if answer.each.is_some() => None,
        (Outcome::Unsafe(_), _) => {
            Some("the execution that this page walks through; the judge has executed it step by step".to_string())
        }
        (Outcome::Safe(Some(certificate)), _) => {
            let judge =
                answer.own_judge.map(|solver| format!("; {solver}, which found it, is the only solver that judged it"));
            Some(format!("a certificate: {}{}", text::certificate_text(certificate), judge.unwrap_or_default()))
        }
        (Outcome::Safe(None), Some(reason)) => Some(format!("none: the certificate could not be checked ({reason})")),
        (Outcome::Safe(None), None) => {
            Some("none: the engine gives no certificate, so the answer has not been checked".to_string())
        }
        (Outcome::Unknown(_), _) => None,
    }
}

/// Renders the result for each assertion and label that was asked for, as far as one answer for all tells.
pub(super) fn assertions(context: Context<'_>, answer: &Answer) -> Option<Section> {
    let violated = match &answer.outcome {
        Outcome::Unsafe(found) => Some(&found.replay.violation),
        Outcome::Safe(_) | Outcome::Unknown(_) => None,
    };
    let unreachable: Vec<EdgeId> = match &answer.outcome {
        Outcome::Safe(Some(certificate)) => text::unreachable_asserts(&answer.model, certificate),
        _ => Vec::new(),
    };
    let other = match &answer.outcome {
        Outcome::Safe(Some(_)) if answer.own_judge.is_some() => {
            (Tone::Good, "holds (checked by the solver that found it)")
        }
        Outcome::Safe(Some(_)) => (Tone::Good, "holds"),
        Outcome::Safe(None) => (Tone::Good, "holds (uncertified)"),
        Outcome::Unsafe(_) => (Tone::Open, "not decided: one error ends the search (see --all)"),
        Outcome::Unknown(_) => (Tone::Open, "not decided"),
    };
    let mut rows = String::new();
    for edge in &answer.model.target.asserts {
        let fails = matches!(violated, Some(Violation::Assert { edge: found, .. }) if found == edge);
        let result = match () {
            () if fails => (Tone::Bad, "violated"),
            () if unreachable.contains(edge) => (Tone::Good, "unreachable"),
            () => other,
        };
        rows.push_str(&row(context, Asked::Assert(*edge), result));
    }
    for loc in &answer.model.target.locs {
        let reached = matches!(violated, Some(Violation::Location { loc: found, .. }) if found == loc);
        rows.push_str(&row(context, Asked::Loc(*loc), if reached { (Tone::Bad, "reached") } else { other }));
    }
    if answer.model.target.deadlock {
        let result =
            if matches!(violated, Some(Violation::Deadlock(_))) { (Tone::Bad, "can be reached") } else { other };
        let _ = writeln!(rows, "<tr><td></td><td>deadlock: no thread can move</td>{}</tr>", verdict(result));
    }
    for meeting in &answer.model.target.together {
        let result = if matches!(violated, Some(Violation::Together(_))) { (Tone::Bad, "violated") } else { other };
        let what = format!("threads at {} at once", text::meeting_text(context, meeting));
        let _ = writeln!(rows, "<tr><td></td><td>{}</td>{}</tr>", escape(&what), verdict(result));
    }
    table_of_errors(rows)
}

fn table_of_errors(rows: String) -> Option<Section> {
    let head =
        "<thead><tr><th scope=\"col\">Line</th><th scope=\"col\">Error</th><th scope=\"col\">Result</th></tr></thead>";
    let html = format!("<table class=\"grid\">{head}<tbody>\n{rows}</tbody></table>\n");
    (!rows.is_empty()).then_some(Section { id: "assertions", title: "Assertions and labels", html })
}

fn row(context: Context<'_>, asked: Asked, result: (Tone, &str)) -> String {
    let (position, statement) = text::place_of(context, asked);
    let line = position.map_or(String::new(), |at| format!("<a href=\"#L{0}\">{0}</a>", at.line));
    format!("<tr><td>{line}</td><td><code>{}</code></td>{}</tr>\n", escape(&statement), verdict(result))
}

fn verdict((tone, result): (Tone, &str)) -> String {
    format!("<td class=\"{}\">{}</td>", tone.class(), escape(result))
}

/// Renders the answers for each assertion and location.
pub(super) fn each_table(context: Context<'_>, each: &[(Asked, Status)]) -> Option<Section> {
    let mut rows = String::new();
    for (asked, status) in each {
        let word = match status {
            Status::Unknown(reason) => format!("unknown: {reason}"),
            _ => status.word(),
        };
        rows.push_str(&row(context, *asked, (Tone::of_status(status), &word)));
    }
    table_of_errors(rows)
}

/// The certificate of a safe answer.
pub(super) fn proof(context: Context<'_>, answer: &Answer) -> Option<Section> {
    let Outcome::Safe(Some(certificate)) = &answer.outcome else { return None };
    let certifier = answer.certifier.unwrap_or(answer.engine);
    let rows = [
        ("Says", text::certificate_text(certificate)),
        ("Scope", text::scope(context, &answer.model.task())),
        ("Made by", format!("the engine {certifier}")),
        (
            "Checked by",
            format!(
                "selvedge's judge, which shares no code with the engines{}, in {}",
                answer.own_judge.map(|solver| format!(", and {solver}, which found it")).unwrap_or_default(),
                text::seconds(answer.times.judge)
            ),
        ),
    ];
    let mut html = list(&rows);
    let found = invariants(context, certificate);
    if found.is_empty() {
        html.push_str("<p>This kind of certificate speaks of executions as a whole, not of locations.</p>\n");
    } else {
        html.push_str(
            "<p>The invariant before each statement, projected onto one thread and the procedure that it runs. \
             <code>old(x)</code> and <code>given(x)</code> are values at the entry \
             of the procedure; <code>true</code> allows anything, and <code>..</code> stands for more that is too long \
             to be shown.</p>\n",
        );
        html.push_str(&invariant_tables(&found));
    }
    Some(Section { id: "proof", title: "Proof", html })
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
        Holds::Unseen => "<em>no invariant here: merged with the previous statement</em>".to_string(),
        Holds::TooLong => "<em>a formula that is too long to be shown</em>".to_string(),
    };
    let more = invariant.since_entry.as_ref().map_or(String::new(), |text| {
        format!("<details><summary>since the entry</summary><code>{}</code></details>", escape(text))
    });
    let statement: String = escape(&crate::text::cut(&invariant.text, 60));
    format!("<tr><td>{line}</td><td><code>{statement}</code></td><td>{holds}{more}</td></tr>\n")
}

/// Renders how long each engine ran.
pub(super) fn runs(answer: &Answer) -> Option<Section> {
    let longest = answer.runs.iter().map(|run| run.time.as_secs_f64()).fold(f64::EPSILON, f64::max);
    let mut rows = String::new();
    for run in &answer.runs {
        let tone = match run.end {
            EngineEnd::Answered => Tone::Good,
            EngineEnd::Overtaken | EngineEnd::GaveUp(_) => Tone::Open,
            EngineEnd::Defect(_) => Tone::Bad,
        };
        let tone = tone.class();
        let share = 100.0 * run.time.as_secs_f64() / longest;
        let _ = writeln!(
            rows,
            "<tr><td>{}</td><td class=\"number\">{}</td><td class=\"bar\"><span \
             style=\"width:{share:.1}%\"></span></td><td class=\"{tone}\">{}</td></tr>",
            run.engine,
            text::seconds(run.time),
            escape(&text::engine_end(run))
        );
    }
    let html = format!(
        "<table class=\"grid\"><thead><tr><th scope=\"col\">Engine</th><th scope=\"col\">Time</th>\
         <th scope=\"col\"><span class=\"unseen\">Share</span></th><th scope=\"col\">End</th></tr></thead>\
         <tbody>\n{rows}</tbody></table>\n"
    );
    (!answer.runs.is_empty()).then_some(Section { id: "race", title: "Engines", html })
}

/// Sizes and times.
pub(super) fn statistics(answer: &Answer, load: Duration) -> Option<Section> {
    let searched = answer.searched?;
    let size = |name: &str, of: fn(&Size) -> usize| {
        let [before, after] = [of(&Size::of(&answer.model.program)), of(&searched)];
        format!("<tr><td>{name}</td><td class=\"number\">{before}</td><td class=\"number\">{after}</td></tr>\n")
    };
    let sizes = [
        size("Procedures", |size| size.procs),
        size("Locations", |size| size.locs),
        size("Edges", |size| size.edges),
        size("Variables", |size| size.vars),
    ];
    let times = answer.times;
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
        "<div class=\"beside\"><table class=\"grid\"><thead><tr><th scope=\"col\">Program</th><th scope=\"col\">As \
         written</th><th scope=\"col\">As searched</th></tr></thead><tbody>\n{}</tbody></table>\n<table \
         class=\"grid\"><thead><tr><th scope=\"col\">Phase</th><th scope=\"col\">Time</th></tr></thead><tbody>\n\
         {}</tbody></table></div>\n",
        sizes.concat(),
        times.concat()
    );
    Some(Section { id: "statistics", title: "Statistics", html })
}

/// Returns what a certificate says about locations; empty where there is none.
pub(super) fn known(context: Context<'_>, answer: &Answer) -> Vec<Invariant> {
    match &answer.outcome {
        Outcome::Safe(Some(certificate)) => invariants(context, certificate),
        _ => Vec::new(),
    }
}

/// The lines of the program, each with an anchor, and with the invariants before its statements.
pub(super) fn source(context: Context<'_>, known: &[Invariant]) -> String {
    let mut html = String::new();
    let mut colours = Colours::new(&context.source.path);
    for (number, line) in context.source.text().lines().enumerate() {
        let number = number + 1;
        let line = colours.line(line);
        let holds = holds_before(known, number);
        let _ = writeln!(
            html,
            "<li id=\"L{number}\"><span class=\"at\"></span><span class=\"no\">{number}</span><code>{line}</code>\
             {holds}</li>"
        );
    }
    html
}

/// Renders what holds before the statements of a line. Nothing is said where anything may hold.
fn holds_before(known: &[Invariant], line: usize) -> String {
    let mut texts: Vec<&str> = Vec::new();
    for invariant in known.iter().filter(|invariant| invariant.line == Some(line)) {
        let text = match &invariant.holds {
            Holds::Formula(text) if text != "true" => text,
            Holds::Unreached => "never reached",
            Holds::Formula(_) | Holds::Unseen | Holds::TooLong => continue,
        };
        if !texts.contains(&text) {
            texts.push(text);
        }
    }
    match texts.as_slice() {
        [] => String::new(),
        texts => {
            let text = escape(&texts.join("; then "));
            format!("<span class=\"holds\" title=\"Before this line: {text}\">{text}</span>")
        }
    }
}
