//! The tables of several verdicts: of files, and of tools.

use std::time::Duration;

use super::layout::fill;
use super::result::seconds;
use crate::palette::{Palette, Tone, paint};

/// A line of the table.
#[derive(Clone, Debug)]
pub struct Row {
    /// The file or the tool.
    pub name: String,
    /// `safe`, `safe (uncertified)`, `unsafe`, `unknown`, `error`, `not run`, ..
    pub verdict: String,
    pub tone: Tone,
    /// The time, in a table with times.
    pub time: Option<Duration>,
    /// The engine and the time, or why there is no verdict.
    pub remark: String,
}

/// Returns the table of several files, and how many had which verdict.
pub fn summary(rows: &[Row], palette: &Palette) -> String {
    format!("{}: {}\n{}", paint(palette.strong, "summary"), tally(rows), lines(rows, |_| String::new(), palette))
}

/// Returns the table of what several tools say about one program.
pub fn crosscheck(file: &str, opinions: &[Row], palette: &Palette) -> String {
    let time = |row: &Row| format!("{:>10}  ", row.time.map_or(String::new(), seconds));
    format!("{}\n{}", paint(palette.strong, file), lines(opinions, time, palette))
}

fn lines(rows: &[Row], time: impl Fn(&Row) -> String, palette: &Palette) -> String {
    let width = |cell: fn(&Row) -> &str| rows.iter().map(|row| cell(row).chars().count()).max().unwrap_or(0);
    let (names, verdicts) = (width(|row| &row.name), width(|row| &row.verdict));
    let line = |row: &Row| {
        let verdict = paint(palette.tone(row.tone), &row.verdict) + &fill(&row.verdict, verdicts);
        let line = format!("  {}{}  {verdict}  {}{}", row.name, fill(&row.name, names), time(row), row.remark);
        format!("{}\n", line.trim_end())
    };
    rows.iter().map(line).collect()
}

/// `2 safe, 1 unsafe`, in the order in which the verdicts first occur.
fn tally(rows: &[Row]) -> String {
    let mut tally: Vec<(&str, usize)> = Vec::new();
    for row in rows {
        match tally.iter_mut().find(|(verdict, _)| *verdict == row.verdict) {
            Some((_, count)) => *count += 1,
            None => tally.push((&row.verdict, 1)),
        }
    }
    tally.iter().map(|(verdict, count)| format!("{count} {verdict}")).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(name: &str, verdict: &str, millis: Option<u64>, remark: &str) -> Row {
        Row {
            name: name.to_string(),
            verdict: verdict.to_string(),
            tone: Tone::Open,
            time: millis.map(Duration::from_millis),
            remark: remark.to_string(),
        }
    }

    #[test]
    fn the_summary_counts_verdicts_and_aligns_them() {
        let rows =
            [row("a.bp", "safe", None, "r"), row("long.bp", "unsafe", None, "r"), row("c.bp", "safe", None, "r")];
        let expected = "summary: 2 safe, 1 unsafe\n  a.bp     safe    r\n  long.bp  unsafe  r\n  c.bp     safe    r\n";
        assert_eq!(summary(&rows, &Palette::plain()), expected);
    }

    #[test]
    fn opinions_stand_in_columns() {
        let opinions = [row("one", "safe", Some(1500), ""), row("another", "not asked", None, "it is sick")];
        let expected = "a.bp\n  one      safe          1.500 s\n  another  not asked              it is sick\n";
        assert_eq!(crosscheck("a.bp", &opinions, &Palette::plain()), expected);
    }
}
