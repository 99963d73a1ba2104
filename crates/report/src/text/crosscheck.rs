//! The table of what several tools say about one program.

use std::fmt::Write as _;
use std::time::Duration;

use super::layout::fill;
use super::result::seconds;
use crate::palette::{Palette, Tone, paint};

/// The opinion of one tool.
#[derive(Clone, Debug)]
pub struct Opinion {
    pub tool: String,
    /// `safe`, `safe (uncertified)`, `unsafe`, `unknown`, `not asked`, ..
    pub verdict: String,
    pub tone: Tone,
    pub time: Option<Duration>,
    /// Why there is no verdict.
    pub remark: String,
}

/// The table.
pub fn crosscheck(file: &str, opinions: &[Opinion], palette: &Palette) -> String {
    let width = |cell: fn(&Opinion) -> &str| opinions.iter().map(|row| cell(row).chars().count()).max().unwrap_or(0);
    let (tools, verdicts) = (width(|row| &row.tool), width(|row| &row.verdict));
    let mut text = format!("{}\n", paint(palette.strong, file));
    for row in opinions {
        let verdict = paint(palette.tone(row.tone), &row.verdict) + &fill(&row.verdict, verdicts);
        let time = row.time.map_or(String::new(), seconds);
        let line = format!("  {}{}  {verdict}  {time:>10}  {}", row.tool, fill(&row.tool, tools), row.remark);
        let _ = writeln!(text, "{}", line.trim_end());
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn opinions_stand_in_columns() {
        let opinion = |tool: &str, verdict: &str, millis: Option<u64>, remark: &str| Opinion {
            tool: tool.to_string(),
            verdict: verdict.to_string(),
            tone: Tone::Open,
            time: millis.map(Duration::from_millis),
            remark: remark.to_string(),
        };
        let opinions = [opinion("one", "safe", Some(1500), ""), opinion("another", "not asked", None, "it is sick")];
        let expected = "a.bp\n  one      safe          1.500 s\n  another  not asked              it is sick\n";
        assert_eq!(crosscheck("a.bp", &opinions, &Palette::plain()), expected);
    }
}
