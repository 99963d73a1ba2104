//! Petri nets in the format of the tool MIST (`docs/tts.md`): places, rules that take and put tokens, initial numbers
//! of tokens, and targets to be covered. A rule may move all tokens of a place to another one (a *transfer*) or remove
//! them (a *reset*).
//!
//! - `parse`: the parser.
//! - `reduce`: nets as thread-transition systems (thesis, §8.3).
//! - `print`: thread-transition systems as nets.

mod parse;
mod print;
mod reduce;

use crate::load::Loaded;
use crate::tts::finish;

pub use print::{can_print, print};

/// A Petri net with the question about it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Net {
    /// The names of the places.
    pub places: Vec<String>,
    /// The rules.
    pub rules: Vec<Change>,
    /// For each place its initial number of tokens.
    pub initial: Vec<Tokens>,
    /// The targets: is a marking reachable that has at least the tokens of one of these?
    pub targets: Vec<Vec<(usize, u32)>>,
}

/// A rule of a net. Places are given by number, each at most once in a list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Change {
    /// The tokens that must be there.
    pub needs: Vec<(usize, u32)>,
    /// The tokens that are put, or taken if negative, after the transfers.
    pub puts: Vec<(usize, i64)>,
    /// The places whose tokens all go elsewhere, in ascending order: to another place, or nowhere.
    pub transfers: Vec<(usize, Option<usize>)>,
}

/// The initial number of tokens of a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tokens {
    /// This many.
    Exactly(u32),
    /// This many or more.
    AtLeast(u32),
}

/// Parses a net and reduces it to a thread-transition system.
pub fn load(text: &str) -> Loaded {
    load_with_labels(text, &[])
}

/// Parses a net and reduces it for a question that refers to labels.
pub fn load_with_labels(text: &str, labels: &[String]) -> Loaded {
    let (net, places, diagnostics) = parse::parse(text);
    let (tts, spans, net) = reduce::reduce(&net, &places);
    let mut loaded = finish(tts, &spans, diagnostics, labels);
    if let Some(system) = &mut loaded.source_map.system {
        system.net = Some(net);
    }
    loaded
}

/// Parses a net; `None` if it has errors.
pub fn load_net(text: &str) -> Option<Net> {
    let (net, _, diagnostics) = parse::parse(text);
    diagnostics.is_empty().then_some(net)
}
