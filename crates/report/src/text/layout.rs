//! Small helpers for columns and lists.

use crate::annotated_trace::Binding;
use crate::names::shown;

/// Items joined by commas, broken into lines of at most `limit` characters with `indent` blanks before each but the
/// first.
pub(super) fn list(items: &[String], indent: usize, limit: usize) -> String {
    let mut text = String::new();
    let mut column = indent;
    for (number, item) in items.iter().enumerate() {
        let width = visible_width(item) + 2;
        if number > 0 && column + width > limit {
            text.push_str(",\n");
            text.extend(std::iter::repeat_n(' ', indent));
            column = indent;
        } else if number > 0 {
            text.push_str(", ");
        }
        text.push_str(item);
        column += width;
    }
    text
}

/// The number of characters without the codes that change colours.
fn visible_width(text: &str) -> usize {
    let mut parts = text.split('\u{1b}');
    let plain = parts.next().map_or(0, |part| part.chars().count());
    let coloured = parts.map(|part| part.split_once('m').map_or(part, |(_, rest)| rest).chars().count());
    plain + coloured.sum::<usize>()
}

/// `x = 1`, or `x = *` for a value that does not matter.
pub(super) fn equation(binding: &Binding) -> String {
    let value = if binding.free { "*".to_string() } else { shown(binding.value, binding.word.as_ref()) };
    format!("{} = {value}", binding.name)
}

pub(super) fn equations(bindings: &[Binding]) -> Vec<String> {
    bindings.iter().map(equation).collect()
}

/// The text, cut after `width` characters with a mark.
pub(crate) fn cut(text: &str, width: usize) -> String {
    if text.chars().count() <= width {
        return text.to_string();
    }
    text.chars().take(width - 1).chain(['…']).collect()
}

/// Blanks that fill a text up to a width.
pub(super) fn fill(text: &str, width: usize) -> String {
    " ".repeat(width.saturating_sub(text.chars().count()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lists_are_broken_before_the_item_that_does_not_fit() {
        let items: Vec<String> = (0..30).map(|n| format!("v{n:02} = 0")).collect();
        let text = list(&items, 4, 60);
        assert!(text.lines().all(|line| line.chars().count() <= 60));
        assert_eq!(text.split(',').count(), 30);
        assert!(text.lines().skip(1).all(|line| line.starts_with("    v")));
    }

    #[test]
    fn colours_take_no_room() {
        assert_eq!(visible_width("\u{1b}[33mx: 0 → 1\u{1b}[0m"), 8);
        assert_eq!(visible_width("x: 0 → 1"), 8);
    }

    #[test]
    fn long_texts_are_cut_with_a_mark() {
        assert_eq!(cut("abcdef", 4), "abc…");
        assert_eq!(cut("abcd", 4), "abcd");
    }
}
