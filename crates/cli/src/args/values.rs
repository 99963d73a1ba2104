//! The values of options, and their parsers.

use clap::ValueEnum;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser as _};
use selvedge_check::{ContextBound, Initial};
use selvedge_driver::Pass;
use selvedge_engines::EngineKind;
use selvedge_engines::sat::{Recursion, SummaryMode};
use selvedge_frontend::Extern;
use selvedge_frontend::bp::Dialect;
use selvedge_frontend::c::DataModel;

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum When {
    Auto,
    Always,
    Never,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// Plain text for the terminal
    Text,
    /// JSON (docs/schema/report.schema.json)
    Json,
    /// SARIF 2.1.0, for code-scanning services
    Sarif,
}

/// The languages that programs are written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum InputFormat {
    /// By file extension: `.c` and `.i` for C, `.gcl` for guarded commands, `.pds` for pushdown systems, `.tts` for
    /// thread-transition systems, `.spec` for Petri nets, anything else for Boolean programs
    Auto,
    /// Boolean programs
    Bp,
    /// C with threads (docs/c.md)
    C,
    /// Guarded commands over integers (docs/gcl.md)
    Gcl,
    /// Pushdown systems (docs/pds.md)
    Pds,
    /// Thread-transition systems (docs/tts.md)
    Tts,
    /// Petri nets in the format of MIST (docs/tts.md)
    Spec,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Way {
    /// Search forward from the initial configurations
    Forward,
    /// Search backward from the targets
    Backward,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum What {
    /// The syntax tree
    Ast,
    /// The intermediate representation, as text
    Ir,
    /// The objects and functions of a C program, with their types and sizes
    Types,
    /// The control-flow graph
    Cfg,
    /// Statistics
    Stats,
    /// The abstract states of a program with integers and the transitions between them
    AbstractModel,
}

/// The formats that a program can be converted to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ConvertTo {
    /// Constrained Horn clauses in SMT-LIB 2
    Horn,
    /// A pushdown system (docs/pds.md), limited to its reachable part
    Pds,
    /// A thread-transition system (docs/tts.md); its target is written to a .prop file next to it
    Tts,
    /// A Petri net for MIST (docs/tts.md)
    Spec,
    /// A Boolean program, from a thread-transition system or a Petri net
    Bp,
    /// A Promela model for SPIN; requires a bounded number of threads and no recursion
    Promela,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Picture {
    /// DOT, for Graphviz
    Dot,
    /// SVG
    Svg,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum PathsChoice {
    /// All paths; some safe programs cannot be proved
    All,
    /// Paths without repeated states, where this makes a difference
    LoopFree,
}

/// An engine, or `auto`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct EngineChoice(pub(crate) Option<EngineKind>);

pub(super) fn engine_parser() -> impl clap::builder::TypedValueParser<Value = EngineChoice> {
    let auto = PossibleValue::new("auto").help("choose engines that suit the program");
    let engines = EngineKind::ALL.iter().map(|kind| PossibleValue::new(kind.name()).help(kind.summary()));
    let names: Vec<PossibleValue> = std::iter::once(auto).chain(engines).collect();
    PossibleValuesParser::new(names).map(|name| EngineChoice(EngineKind::from_name(&name)))
}

pub(super) fn dialect_parser() -> impl clap::builder::TypedValueParser<Value = Dialect> {
    let value = |dialect: &Dialect| {
        PossibleValue::new(dialect.name()).help(match dialect {
            Dialect::Selvedge => "as described in docs/language.md",
            Dialect::Getafix => "with the relational updates and the variable `atomic` of Getafix",
        })
    };
    let names: Vec<PossibleValue> = Dialect::ALL.iter().map(value).collect();
    PossibleValuesParser::new(names)
        .map(|name| Dialect::named(&name).expect("the parser accepts only the names of dialects"))
}

pub(super) fn data_model_parser() -> impl clap::builder::TypedValueParser<Value = DataModel> {
    let value = |model: &DataModel| {
        PossibleValue::new(model.name()).help(match model {
            DataModel::Lp64 => "`long` and pointers have 64 bits",
            DataModel::Ilp32 => "`long` and pointers have 32 bits",
        })
    };
    let names: Vec<PossibleValue> = DataModel::ALL.iter().map(value).collect();
    PossibleValuesParser::new(names)
        .map(|name| DataModel::named(&name).expect("the parser accepts only the names of data models"))
}

pub(super) fn extern_parser() -> impl clap::builder::TypedValueParser<Value = Extern> {
    let havoc = PossibleValue::new("havoc").help("they change nothing and return any value");
    let skip = PossibleValue::new("skip").help("they change nothing and return 0");
    PossibleValuesParser::new([havoc, skip]).map(|name| if name == "skip" { Extern::Skip } else { Extern::Havoc })
}

pub(super) fn summary_mode_parser() -> impl clap::builder::TypedValueParser<Value = SummaryMode> {
    let names: Vec<&str> = SummaryMode::ALL.iter().map(|mode| mode.name()).collect();
    PossibleValuesParser::new(names).map(|name| {
        let mode = SummaryMode::ALL.iter().find(|mode| mode.name() == name);
        *mode.expect("the parser accepts only the names of modes")
    })
}

pub(super) fn recursion_parser() -> impl clap::builder::TypedValueParser<Value = Recursion> {
    let names: Vec<&str> = Recursion::ALL.iter().map(|recursion| recursion.name()).collect();
    PossibleValuesParser::new(names).map(|name| {
        let recursion = Recursion::ALL.iter().find(|recursion| recursion.name() == name);
        *recursion.expect("the parser accepts only these names")
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
    bound.ok_or_else(|| format!("expected a number from 1 to {MAX_CONTEXTS}, or a range such as `1..4`"))
}

/// The largest bound on contexts and rounds that the options accept.
pub(super) const MAX_CONTEXTS: u32 = 64;

/// Reads a number from 1 on.
pub(super) fn positive(text: &str) -> Result<u32, String> {
    text.parse().ok().filter(|number| *number > 0).ok_or_else(|| "expected a positive number".to_string())
}

pub(super) fn initial(text: &str) -> Result<Initial, String> {
    if text == "any" {
        return Ok(Initial::Any);
    }
    match text.parse() {
        Ok(0) | Err(_) => Err("expected a positive number of threads, or `any`".to_string()),
        Ok(count) => Ok(Initial::Exactly(count)),
    }
}

/// Reads a shared variable and the truth value that it starts with: `x=1`.
pub(super) fn start_value(text: &str) -> Result<(String, bool), String> {
    match text.rsplit_once('=') {
        Some((name, "0")) if !name.is_empty() => Ok((name.to_string(), false)),
        Some((name, "1")) if !name.is_empty() => Ok((name.to_string(), true)),
        _ => Err("expected a variable with 0 or 1, as in `x=1`".to_string()),
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
