//! The values that options take, and how they are read.

use clap::ValueEnum;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser as _};
use selvedge_check::ContextBound;
use selvedge_driver::{Initial, Pass};
use selvedge_engines::EngineKind;
use selvedge_engines::sat::{Recursion, SummaryMode};

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum When {
    Auto,
    Always,
    Never,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// For people
    Text,
    /// For programs (docs/schema/report.schema.json)
    Json,
    /// For code-scanning services and their viewers (SARIF 2.1.0)
    Sarif,
}

/// The languages that programs are written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum InputFormat {
    /// By the ending: `.gcl` are guarded commands, `.pds` is a pushdown system, `.tts` a thread-transition system,
    /// `.spec` a Petri net, all else a Boolean program
    Auto,
    /// Boolean programs
    Bp,
    /// Guarded commands over integers (docs/gcl.md)
    Gcl,
    /// Pushdown systems (docs/pds.md)
    Pds,
    /// Thread-transition systems (docs/tts.md)
    Tts,
    /// Petri nets as MIST writes them (docs/tts.md)
    Spec,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Way {
    /// From the initial configurations
    Forward,
    /// From the targets
    Backward,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum What {
    /// The syntax tree
    Ast,
    /// The control-flow representation as text
    Ir,
    /// The control-flow graph
    Cfg,
    /// Numbers
    Stats,
    /// Programs with integers: abstract states and the steps between them, for Graphviz or as SVG
    AbstractModel,
}

/// The formats that programs can be written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ConvertTo {
    /// Constrained Horn clauses in SMT-LIB 2
    Horn,
    /// A pushdown system (docs/pds.md): the reachable part, one valuation at a time
    Pds,
    /// A thread-transition system (docs/tts.md); its target goes to the .prop beside the file
    Tts,
    /// A Petri net for MIST (docs/tts.md)
    Spec,
    /// A Boolean program, from a thread-transition system or a Petri net
    Bp,
    /// A model for SPIN, with a bounded number of threads and without recursion
    Promela,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Picture {
    /// For Graphviz
    Dot,
    /// A picture
    Svg,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum PathsChoice {
    /// All paths: some safe programs are never proved
    All,
    /// Those without repeated state, where it makes a difference
    LoopFree,
}

/// An engine, or `auto`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct EngineChoice(pub(crate) Option<EngineKind>);

pub(super) fn engine_parser() -> impl clap::builder::TypedValueParser<Value = EngineChoice> {
    let auto = PossibleValue::new("auto").help("chooses by the program");
    let engines = EngineKind::ALL.iter().map(|kind| PossibleValue::new(kind.name()).help(kind.summary()));
    let names: Vec<PossibleValue> = std::iter::once(auto).chain(engines).collect();
    PossibleValuesParser::new(names).map(|name| EngineChoice(EngineKind::from_name(&name)))
}

pub(super) fn summary_mode_parser() -> impl clap::builder::TypedValueParser<Value = SummaryMode> {
    let names: Vec<&str> = SummaryMode::ALL.iter().map(|mode| mode.name()).collect();
    PossibleValuesParser::new(names).map(|name| {
        let mode = SummaryMode::ALL.iter().find(|mode| mode.name() == name);
        *mode.expect("the parser takes the names of modes only")
    })
}

pub(super) fn recursion_parser() -> impl clap::builder::TypedValueParser<Value = Recursion> {
    let names: Vec<&str> = Recursion::ALL.iter().map(|recursion| recursion.name()).collect();
    PossibleValuesParser::new(names).map(|name| {
        let recursion = Recursion::ALL.iter().find(|recursion| recursion.name() == name);
        *recursion.expect("the parser takes these names only")
    })
}

/// Passes, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Passes(pub(crate) Vec<Pass>);

impl std::fmt::Display for Passes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.0.is_empty() {
            return f.write_str("none");
        }
        let names: Vec<&str> = self.0.iter().map(|pass| pass.name()).collect();
        f.write_str(&names.join(","))
    }
}

pub(super) fn passes(text: &str) -> Result<Passes, String> {
    if text == "none" {
        return Ok(Passes(Vec::new()));
    }
    let pass = |name: &str| {
        let known = || Passes(Pass::ALL.to_vec()).to_string();
        Pass::from_name(name.trim()).ok_or_else(|| format!("there is no pass `{name}`; the passes are {}", known()))
    };
    text.split(',').map(pass).collect::<Result<_, _>>().map(Passes)
}

/// `4`, or `1..4`.
pub(super) fn context_bound(text: &str) -> Result<ContextBound, String> {
    let number = |text: &str| text.trim().parse::<u32>().ok();
    let bound = match text.split_once("..") {
        Some((first, last)) => number(first).zip(number(last)).map(|(first, last)| ContextBound { first, last }),
        None => number(text).map(ContextBound::exactly),
    };
    let bound = bound.filter(|bound| 1 <= bound.first && bound.first <= bound.last && bound.last <= MAX_CONTEXTS);
    bound.ok_or_else(|| format!("a number from 1 to {MAX_CONTEXTS}, or a range as `1..4`"))
}

/// More contexts than anybody can look at.
pub(super) const MAX_CONTEXTS: u32 = 64;

pub(super) fn initial(text: &str) -> Result<Initial, String> {
    if text == "any" {
        return Ok(Initial::Any);
    }
    match text.parse() {
        Ok(0) | Err(_) => Err("a number of threads from 1 on, or `any`".to_string()),
        Ok(count) => Ok(Initial::Exactly(count)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn initial_threads_are_a_number_or_any() {
        assert_eq!(initial("3"), Ok(Initial::Exactly(3)));
        assert_eq!(initial("any"), Ok(Initial::Any));
        assert!(initial("0").is_err());
        assert!(initial("-1").is_err());
        assert!(initial("many").is_err());
    }

    #[test]
    fn contexts_are_a_number_or_a_range() {
        assert_eq!(context_bound("3"), Ok(ContextBound::exactly(3)));
        assert_eq!(context_bound("1..4"), Ok(ContextBound { first: 1, last: 4 }));
        for wrong in ["0", "0..3", "3..2", "1..", "many", "1..100"] {
            assert!(context_bound(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn an_unknown_pass_is_refused_by_name() {
        assert!(passes("nonsense").unwrap_err().contains("`nonsense`"));
        assert_eq!(passes("none"), Ok(Passes(Vec::new())));
    }
}
