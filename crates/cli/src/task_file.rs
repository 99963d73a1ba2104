//! Task files of verification competitions (`.yml`): a program, properties, and how the program is to be read.

use std::path::{Path, PathBuf};

use selvedge_frontend::c::DataModel;
use serde::Deserialize;

use crate::args::{Asked, Cli, Command};
use crate::input::Input;

#[derive(Deserialize)]
struct TaskFile {
    format_version: String,
    input_files: Names,
    #[serde(default)]
    properties: Vec<PropertyView>,
    #[serde(default)]
    options: OptionsView,
}

/// One name, or a list.
#[derive(Deserialize)]
#[serde(untagged)]
enum Names {
    One(String),
    Some(Vec<String>),
}

#[derive(Deserialize)]
struct PropertyView {
    property_file: String,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct OptionsView {
    language: Option<String>,
    data_model: Option<String>,
}

/// Puts the program of a task file in its place, with the options of the file where the command line has none. Fails
/// with a sentence.
pub(crate) fn replace(cli: &mut Cli) -> Result<(), String> {
    let Command::Check(args) = &mut cli.command else { return Ok(()) };
    let Some(path) = args.inputs.iter().find_map(task_path) else { return Ok(()) };
    if args.inputs.len() > 1 {
        return Err("a task file (.yml) is checked alone: other programs are given, too".to_owned());
    }
    let refuse = |reason: String| format!("{}: {reason}", path.display());
    let source = Input::File(path.clone()).read()?;
    let task: TaskFile =
        serde_norway::from_str(source.text()).map_err(|error| refuse(format!("not a task file: {error}")))?;
    args.inputs = vec![Input::File(beside(&path, &program(&task).map_err(refuse)?))];
    if args.question.property.is_empty() {
        args.question.property = property(&task, &path).map_err(refuse)?.into_iter().collect();
    }
    cli.c.data_model = match (&task.options.data_model, cli.c.data_model) {
        (Some(name), None) => Some(
            DataModel::named(&name.to_lowercase())
                .ok_or_else(|| refuse(format!("there are data models ILP32 and LP64, not `{name}`")))?,
        ),
        (_, given) => given,
    };
    Ok(())
}

fn task_path(input: &Input) -> Option<PathBuf> {
    match input {
        Input::File(path) if path.extension().is_some_and(|name| name == "yml") => Some(path.clone()),
        _ => None,
    }
}

/// Returns the path of a file that a task file names.
fn beside(path: &Path, name: &str) -> PathBuf {
    path.parent().unwrap_or(Path::new("")).join(name)
}

fn program(task: &TaskFile) -> Result<String, String> {
    if !task.format_version.starts_with("2.") {
        return Err(format!("task files have the format 2.0, not {}", task.format_version));
    }
    if let Some(language) = task.options.language.as_ref().filter(|language| *language != "C") {
        return Err(format!("the language of tasks is C, not {language}"));
    }
    match &task.input_files {
        Names::One(name) => Ok(name.clone()),
        Names::Some(names) => match names.as_slice() {
            [name] => Ok(name.clone()),
            _ => Err("a task has one program".to_owned()),
        },
    }
}

/// Returns the property to check; `None` if the file names none. Of several, the user must choose.
fn property(task: &TaskFile, path: &Path) -> Result<Option<Asked>, String> {
    match task.properties.as_slice() {
        [] => Ok(None),
        [property] => crate::args::properties(&beside(path, &property.property_file).to_string_lossy()).map(Some),
        several => {
            let names: Vec<&str> = several.iter().map(|property| property.property_file.as_str()).collect();
            Err(format!("the task has several properties, choose one with --property: {}", names.join(", ")))
        }
    }
}
