//! Places in a text, as the protocol counts them: lines from 0, columns in UTF-16 units.

use selvedge_ir::span::Span;
use serde_json::{Value, json};

/// The bytes at which lines begin.
pub(crate) struct Places<'t> {
    text: &'t str,
    starts: Vec<usize>,
}

impl<'t> Places<'t> {
    pub(crate) fn new(text: &'t str) -> Places<'t> {
        let breaks = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at + 1);
        Places { text, starts: std::iter::once(0).chain(breaks).collect() }
    }

    pub(crate) fn position(&self, offset: usize) -> Value {
        let offset = offset.min(self.text.len());
        let line = self.starts.partition_point(|start| *start <= offset) - 1;
        let before = self.text.get(self.starts[line]..offset).unwrap_or("");
        json!({ "line": line, "character": before.encode_utf16().count() })
    }

    pub(crate) fn range(&self, span: Span) -> Value {
        json!({ "start": self.position(span.start as usize), "end": self.position(span.end as usize) })
    }

    /// The whole text.
    pub(crate) fn all(&self) -> Value {
        self.range(Span::new(0, self.text.len()))
    }

    /// The byte of a place. Places behind the end of a line are its end.
    pub(crate) fn offset(&self, position: &Value) -> usize {
        let line = position["line"].as_u64().unwrap_or(0) as usize;
        let Some(start) = self.starts.get(line).copied() else { return self.text.len() };
        let mut units = position["character"].as_u64().unwrap_or(0) as usize;
        let mut offset = start;
        for char in self.text[start..].chars() {
            if units < char.len_utf16() || char == '\n' {
                break;
            }
            units -= char.len_utf16();
            offset += char.len_utf8();
        }
        offset
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_counted_in_utf16_units_and_go_there_and_back() {
        let text = "a\nä𝒳b\n";
        let places = Places::new(text);
        for (offset, _) in text.char_indices().chain([(text.len(), ' ')]) {
            assert_eq!(places.offset(&places.position(offset)), offset);
        }
        assert_eq!(places.position(text.find('b').unwrap()), json!({ "line": 1, "character": 3 }));
        assert_eq!(places.offset(&json!({ "line": 0, "character": 99 })), 1);
        assert_eq!(places.offset(&json!({ "line": 99, "character": 0 })), text.len());
    }
}
