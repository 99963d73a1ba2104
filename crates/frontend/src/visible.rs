//! Texts for people: characters that change how the text around them is displayed are written as escapes.
//!
//! Names, comments and files can have control characters, which move the cursor of a terminal or change its state, and
//! characters that reorder or hide text. What is shown to people goes through [`visible`] or [`visible_name`]; formats
//! that machines read keep the characters.

use std::borrow::Cow;

/// Returns whether a character is not displayed itself, but changes how other text is displayed: control characters,
/// those that change the direction of text, and invisible ones.
pub fn is_hidden(char: char) -> bool {
    matches!(
        char,
        '\0'..='\u{1F}'
            | '\u{7F}'..='\u{9F}'
            | '\u{AD}'
            | '\u{61C}'
            | '\u{180E}'
            | '\u{200B}'..='\u{200F}'
            | '\u{2028}'..='\u{202E}'
            | '\u{2060}'..='\u{206F}'
            | '\u{FEFF}'
            | '\u{FFF9}'..='\u{FFFB}'
            | '\u{E0000}'..='\u{E0FFF}'
    )
}

/// Returns a text with escapes in the place of hidden characters, except for line breaks and tabs.
pub fn visible(text: &str) -> Cow<'_, str> {
    escape(text, |char| is_hidden(char) && char != '\n' && char != '\t')
}

/// Returns the same for a name or sentence on one line: line breaks and tabs are escaped as well.
pub fn visible_name(text: &str) -> Cow<'_, str> {
    escape(text, is_hidden)
}

fn escape(text: &str, is_escaped: impl Fn(char) -> bool) -> Cow<'_, str> {
    let is_plain = |byte: &u8| matches!(byte, b' '..=b'~');
    if text.as_bytes().iter().all(is_plain) || !text.contains(&is_escaped) {
        return Cow::Borrowed(text);
    }
    let mut escaped = String::with_capacity(text.len() + 8);
    for char in text.chars() {
        if is_escaped(char) {
            escaped.extend(char.escape_default());
        } else {
            escaped.push(char);
        }
    }
    Cow::Owned(escaped)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hidden_characters_become_escapes() {
        assert_eq!(visible("a\tb\nc"), "a\tb\nc");
        assert_eq!(visible_name("a\tb\nc\r"), "a\\tb\\nc\\r");
        assert_eq!(visible("\u{1B}[2J"), "\\u{1b}[2J");
        assert_eq!(visible("x\u{202E}y\u{2066}\u{200F}\u{9B}\u{7F}"), "x\\u{202e}y\\u{2066}\\u{200f}\\u{9b}\\u{7f}");
        assert_eq!(visible_name("grün, 日本"), "grün, 日本");
    }
}
