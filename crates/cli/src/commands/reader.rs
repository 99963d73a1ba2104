//! The options with which programs are read, and compilers that preprocess C programs.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use selvedge_check::InvalidQuestion;
use selvedge_frontend::bp::LoadOptions;
use selvedge_frontend::c::{DataModel, Properties, Property, embedded_headers};
use selvedge_frontend::{FileOptions, Language, Source};

use crate::input::Input;
use crate::session::Session;

/// Returns the options that a file brings along, unless they do not count. Mistakes in them are found again when the
/// text is read.
pub(crate) fn file_options(language: Language, input: &Input, source: &Source, session: &Session) -> FileOptions {
    if language == Language::Pds || session.ignores_file_options {
        return FileOptions::default();
    }
    FileOptions::read(source.text(), path(input)).0
}

/// Returns the options for reading an input, and as words those that come from the file; a compiler may have to
/// preprocess it.
pub(crate) fn options(
    language: Language,
    input: &Input,
    file: &FileOptions,
    question: LoadOptions,
    session: &Session,
) -> Result<(LoadOptions, Vec<String>), String> {
    let given = LoadOptions {
        dialect: session.dialect,
        data_model: session.c.data_model,
        defines: session.c.defines(),
        include: session.c.include.clone(),
        malloc_bound: session.c.malloc_bound,
        externs: session.c.externs,
        ignore_file_options: session.ignores_file_options,
        path: path(input).map(Path::to_path_buf),
        ..question
    };
    let (mut options, taken) = given.or_file(file);
    options.preprocessed = match (&session.c.cc, path(input)) {
        (Some(cc), Some(path)) if language == Language::C => Some(preprocess(cc, path, &options)?),
        (Some(_), None) => return Err("--cc needs a file: standard input is preprocessed without it".to_string()),
        _ => None,
    };
    Ok((options, taken))
}

fn path(input: &Input) -> Option<&Path> {
    match input {
        Input::File(path) => Some(path),
        Input::Stdin => None,
    }
}

/// Checks that the options about C are for a C program, and that deadlocks are asked about alone.
pub(crate) fn validate(language: Language, options: &LoadOptions, session: &Session) -> Result<(), InvalidQuestion> {
    let invalid = |message: String, help: &str| Err(InvalidQuestion { message, help: Some(help.to_string()) });
    if language != Language::C {
        let property = (options.properties != Properties::default()).then_some("--property");
        return match property.or(session.c.given()) {
            Some(option) => invalid(format!("{option} is for C programs"), "leave it out"),
            None => Ok(()),
        };
    }
    let asks_for_deadlocks = options.deadlock || options.properties.has(Property::Deadlock);
    let asks_for_others = options.properties != Properties::default()
        && options.properties.iter().any(|asked| asked != Property::Deadlock);
    if asks_for_deadlocks && asks_for_others {
        let message = "deadlocks are a separate question, which cannot be combined with other properties".to_string();
        return invalid(message, "check for deadlocks separately");
    }
    Ok(())
}

/// Returns what a compiler's preprocessor makes of a file, with Selvedge's headers before those of the machine.
fn preprocess(cc: &Path, path: &Path, options: &LoadOptions) -> Result<String, String> {
    let shown = |error: &dyn std::fmt::Display| format!("cannot write the headers for --cc: {error}");
    let folder = Folder::new().map_err(|error| shown(&error))?;
    for (name, text) in embedded_headers() {
        let file = folder.0.as_path().join(name);
        let parent = file.parent().unwrap_or(folder.0.as_path());
        std::fs::create_dir_all(parent).map_err(|error| shown(&error))?;
        std::fs::write(&file, text).map_err(|error| shown(&error))?;
    }
    let model = options.data_model.unwrap_or_default();
    let mut command = Command::new(cc);
    command.args(["-E", "-D__SELVEDGE__=1"]);
    command.arg(format!("-D__SELVEDGE_{}__=1", model.name().to_uppercase()));
    command.args((model == DataModel::Ilp32).then_some("-m32"));
    command.args(options.defines.iter().map(|(name, value)| format!("-D{name}={value}")));
    for include in std::iter::once(&folder.0).chain(&options.include) {
        command.arg("-I").arg(include);
    }
    let output = command.arg(path).stdin(Stdio::null()).output();
    let output = output.map_err(|error| format!("cannot run {}: {error}", cc.display()))?;
    if !output.status.success() {
        let message = String::from_utf8_lossy(&output.stderr);
        return Err(format!("{} -E failed ({}):\n{}", cc.display(), output.status, message.trim_end()));
    }
    Ok(Source::from_bytes("", output.stdout).text().to_owned())
}

/// A folder of its own, which is removed in the end.
struct Folder(PathBuf);

impl Folder {
    fn new() -> std::io::Result<Folder> {
        let mut number = 0_u32;
        loop {
            let path = std::env::temp_dir().join(format!("selvedge-headers-{}-{number}", std::process::id()));
            match std::fs::create_dir(&path) {
                Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists && number < 1000 => number += 1,
                created => return created.map(|()| Folder(path)),
            }
        }
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // Files that stay behind do no harm.
        std::fs::remove_dir_all(&self.0).unwrap_or_default();
    }
}
