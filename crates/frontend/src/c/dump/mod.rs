//! Tokens and the typed tree as text, for people and for tests. The text is the same for the same input.

mod tree;

use super::preprocess::Preprocessed;

pub use tree::{expression, types};

/// Returns the tokens behind the preprocessor. A line of the source begins a line; a space is where there is white
/// space.
pub fn tokens(preprocessed: &Preprocessed) -> String {
    let mut text = String::new();
    for token in &preprocessed.tokens {
        if token.first && !text.is_empty() {
            text.push('\n');
        } else if token.space && !text.is_empty() {
            text.push(' ');
        }
        text.push_str(preprocessed.names.text(token.text));
    }
    text
}
