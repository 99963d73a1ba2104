//! The table at the end of a check of several files.

use std::fmt::Write as _;

use super::layout::fill;
use crate::palette::{Palette, Tone, paint};

/// A line of the table.
#[derive(Clone, Debug)]
pub struct Row {
    pub file: String,
    /// `safe`, `unsafe`, `unknown`, `error`.
    pub verdict: String,
    /// A remark: the engine and the time, or the reason.
    pub remark: String,
    pub tone: Tone,
}

/// The table, and how many files had which verdict.
pub fn summary(rows: &[Row], palette: &Palette) -> String {
    let width = |cell: fn(&Row) -> &str| rows.iter().map(|row| cell(row).chars().count()).max().unwrap_or(0);
    let (files, verdicts) = (width(|row| &row.file), width(|row| &row.verdict));
    let mut text = format!("{}: {}\n", paint(palette.strong, "summary"), tally(rows));
    for row in rows {
        let verdict = paint(palette.tone(row.tone), &row.verdict) + &fill(&row.verdict, verdicts);
        let _ = writeln!(text, "  {}{}  {verdict}  {}", row.file, fill(&row.file, files), row.remark);
    }
    text
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

    #[test]
    fn the_summary_counts_verdicts_and_aligns_them() {
        let row = |file: &str, verdict: &str, tone| Row {
            file: file.to_string(),
            verdict: verdict.to_string(),
            remark: "r".to_string(),
            tone,
        };
        let rows =
            [row("a.bp", "safe", Tone::Good), row("long.bp", "unsafe", Tone::Bad), row("c.bp", "safe", Tone::Good)];
        let expected = "summary: 2 safe, 1 unsafe\n  a.bp     safe    r\n  long.bp  unsafe  r\n  c.bp     safe    r\n";
        assert_eq!(summary(&rows, &Palette::plain()), expected);
    }
}
