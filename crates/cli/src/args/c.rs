//! The options of C programs.

use std::path::{Path, PathBuf};

use clap::Args;
use selvedge_frontend::Extern;
use selvedge_frontend::c::{DataModel, Properties, Property, read_property_file};
use selvedge_frontend::files::read_regular;

use super::values::{data_model_parser, extern_parser};

/// How C programs are read; the options are those of compilers.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct CArgs {
    /// Sizes of the types of C [default: lp64]
    #[arg(long, value_name = "MODEL", global = true, value_parser = data_model_parser())]
    #[arg(help_heading = "C programs")]
    pub(crate) data_model: Option<DataModel>,
    /// Folder to search for headers of a C program, in addition to that of the file
    #[arg(short = 'I', value_name = "DIR", global = true)]
    #[arg(help_heading = "C programs")]
    pub(crate) include: Vec<PathBuf>,
    /// Macro to define for a C program; its value is 1 if none is given
    #[arg(short = 'D', value_name = "NAME[=VALUE]", global = true, value_parser = define)]
    #[arg(help_heading = "C programs")]
    pub(crate) define: Vec<Define>,
    /// Preprocess C programs with this compiler (`PROGRAM -E`), with Selvedge's headers before those of the machine
    #[arg(long, value_name = "PROGRAM", global = true)]
    #[arg(help_heading = "C programs")]
    pub(crate) cc: Option<PathBuf>,
    /// Number of objects that each place in a C program may allocate [default: 2]. An execution that allocates more is
    /// not followed; if there is one, the answer is not `safe`
    #[arg(long, value_name = "N", global = true)]
    #[arg(help_heading = "C programs")]
    pub(crate) malloc_bound: Option<u32>,
    /// Meaning of unknown functions without a body in a C program [default: they are not supported]
    #[arg(long = "extern", value_name = "MEANING", global = true, value_parser = extern_parser())]
    #[arg(help_heading = "C programs")]
    pub(crate) externs: Option<Extern>,
}

impl CArgs {
    /// Returns an option that is given, by its name.
    pub(crate) fn given(&self) -> Option<&'static str> {
        match () {
            () if self.data_model.is_some() => Some("--data-model"),
            () if !self.include.is_empty() => Some("-I"),
            () if !self.define.is_empty() => Some("-D"),
            () if self.cc.is_some() => Some("--cc"),
            () if self.malloc_bound.is_some() => Some("--malloc-bound"),
            () if self.externs.is_some() => Some("--extern"),
            () => None,
        }
    }

    /// Returns the macros with their bodies.
    pub(crate) fn defines(&self) -> Vec<(String, String)> {
        self.define.iter().map(|Define(name, value)| (name.clone(), value.clone())).collect()
    }
}

/// A macro and its body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Define(pub(crate) String, pub(crate) String);

fn define(text: &str) -> Result<Define, String> {
    let (name, value) = text.split_once('=').unwrap_or((text, "1"));
    let is_first = |c: char| c.is_ascii_alphabetic() || c == '_' || c == '$';
    let is_name = name.starts_with(is_first) && name.chars().all(|c| is_first(c) || c.is_ascii_digit());
    match is_name && !value.contains(['\n', '\r']) {
        true => Ok(Define(name.to_string(), value.to_string())),
        false => Err("expected the name of a macro, or NAME=VALUE".to_string()),
    }
}

/// Properties of one option.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Asked(pub(crate) Vec<Property>);

/// Reads a list of names of properties, or the name of a property file.
pub(crate) fn properties(text: &str) -> Result<Asked, String> {
    if text.ends_with(".prp") {
        let bytes = read_regular(Path::new(text)).map_err(|error| format!("cannot read {text}: {error}"))?;
        let file = String::from_utf8(bytes).map_err(|_| format!("{text} is not a text"))?;
        return read_property_file(&file).map(Asked).map_err(|error| format!("{text}: {error}"));
    }
    let property = |name: &str| {
        let known: Vec<&str> = Property::ALL.iter().map(|property| property.name()).collect();
        let unknown =
            || format!("there is no property `{name}`; the properties are {}, or name a .prp file", known.join(", "));
        Property::named(name.trim()).ok_or_else(unknown)
    };
    text.split(',').map(property).collect::<Result<_, _>>().map(Asked)
}

/// Returns the properties of all options; the assertions without any.
pub(super) fn union(asked: &[Asked]) -> Properties {
    match asked {
        [] => Properties::default(),
        asked => Properties::of(asked.iter().flat_map(|Asked(properties)| properties).copied()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn macros_have_names_and_values() {
        assert_eq!(define("N=3"), Ok(Define("N".to_string(), "3".to_string())));
        assert_eq!(define("N"), Ok(Define("N".to_string(), "1".to_string())));
        assert_eq!(define("N=a=b"), Ok(Define("N".to_string(), "a=b".to_string())));
        for wrong in ["", "=3", "3", "a-b", "f(x)=x", "N=1\n#define M"] {
            assert!(define(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn properties_are_named() {
        assert_eq!(properties("memory,misuse"), Ok(Asked(vec![Property::Memory, Property::Misuse])));
        assert!(properties("races").is_err_and(|error| error.contains("`races`") && error.contains("no-data-race")));
        assert!(properties("missing.prp").is_err_and(|error| error.contains("cannot read missing.prp")));
    }
}
