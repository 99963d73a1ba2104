//! Petri nets as the tool MIST writes them (`docs/tts.md`): places, rules that take and put tokens, how many tokens
//! there are at first, and targets to be covered. Transfers and resets of places are not part of it.
//!
//! - `parse`: the text.
//! - `reduce`: the thread-transition system that a net is (thesis, §8.3).
//! - `print`: a thread-transition system as a net.

mod parse;
mod print;
mod reduce;

use crate::load::Loaded;
use crate::tts::finish;

pub use print::print;

/// A Petri net with the question about it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Net {
    /// The names of the places.
    pub places: Vec<String>,
    /// What can happen.
    pub rules: Vec<Change>,
    /// For each place the tokens at first.
    pub initial: Vec<Tokens>,
    /// What is asked for: a marking with at least these tokens on these places, one of several.
    pub targets: Vec<Vec<(usize, u32)>>,
}

/// A rule of a net. Places are known by their numbers, each at most once in a list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Change {
    /// The tokens that must be there.
    pub needs: Vec<(usize, u32)>,
    /// The tokens that are put, or taken.
    pub puts: Vec<(usize, i64)>,
}

/// How many tokens a place has at first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tokens {
    /// This many.
    Exactly(u32),
    /// This many or more.
    AtLeast(u32),
}

/// Reads a text as the thread-transition system that its net is.
pub fn load(text: &str) -> Loaded {
    let (net, places, diagnostics) = parse::parse(text);
    let (tts, spans) = reduce::reduce(&net, &places);
    finish(tts, &spans, diagnostics)
}

/// Reads a text as a net; `None` if it has errors.
pub fn load_net(text: &str) -> Option<Net> {
    let (net, _, diagnostics) = parse::parse(text);
    diagnostics.is_empty().then_some(net)
}
