//! The files that a command writes: checked against those that it reads before anything is done, and written whole.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use selvedge_frontend::files::{self, FileId};
use selvedge_frontend::visible::visible_name;

use crate::exit::Exit;
use crate::input::Input;
use crate::session::Session;

/// Makes a write beyond the limit on the size of files fail, as on a full disk, instead of ending the program.
pub(crate) fn survive_file_limits() {
    #[cfg(unix)]
    {
        // Without the handler such a write ends the program; the old file is whole in either case.
        let _ = signal_hook::flag::register(signal_hook::consts::SIGXFSZ, Arc::default());
    }
}

/// Returns the name of a file for messages.
pub(crate) fn shown(path: &Path) -> String {
    visible_name(&path.to_string_lossy()).into_owned()
}

/// Writes a file, or says why not.
pub(crate) fn write(path: &Path, text: &str, session: &Session) -> Exit {
    write_bytes(path, text.as_bytes(), session)
}

/// Writes a file of any bytes, or says why not.
pub(crate) fn write_bytes(path: &Path, bytes: &[u8], session: &Session) -> Exit {
    if ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"].iter().any(|name| path == Path::new(name)) {
        session.printer.out_bytes(bytes);
        return Exit::Success;
    }
    session.printer.begin();
    match files::write(path, bytes) {
        Ok(()) => Exit::Success,
        Err(error) => session.refuse(Exit::Input, format!("cannot write {}: {error}", shown(path))),
    }
}

/// Writes a file if one is named, else to standard output.
pub(crate) fn write_or_print(path: Option<&PathBuf>, text: &str, session: &Session) -> Exit {
    if let Some(path) = path {
        return write(path, text, session);
    }
    session.printer.out_bytes(text.as_bytes());
    Exit::Success
}

/// The files of a command: what it reads, and what it will write.
#[derive(Default)]
pub(crate) struct CommandFiles<'c> {
    read: Vec<PathBuf>,
    written: Vec<(&'c str, PathBuf)>,
}

impl<'c> CommandFiles<'c> {
    /// Returns the files that some inputs consist of, with those beside them.
    pub(crate) fn reading<'i>(inputs: impl IntoIterator<Item = &'i Input>, session: &Session) -> CommandFiles<'c> {
        let mut read: Vec<PathBuf> = session.prop.iter().cloned().collect();
        for input in inputs {
            match input {
                Input::Stdin => read.push(PathBuf::from("/dev/stdin")),
                Input::File(path) => {
                    let beside = ["prop", "init", "spec"].map(|ending| path.with_extension(ending));
                    read.push(path.clone());
                    read.extend(beside.into_iter().filter(|path| path.exists()));
                }
            }
        }
        CommandFiles { read, written: Vec::new() }
    }

    /// Adds a file that an option names.
    #[must_use]
    pub(crate) fn writing(mut self, option: &'c str, path: Option<&PathBuf>) -> CommandFiles<'c> {
        self.written.extend(path.map(|path| (option, path.clone())));
        self
    }

    /// Refuses an output that is an input, or two that are one file, and one whose folder is missing.
    pub(crate) fn check(&self, session: &Session) -> Result<(), Exit> {
        self.clash().map_err(|message| session.refuse(Exit::Usage, message))?;
        for (_, path) in &self.written {
            let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
            if folder.is_some_and(|folder| !folder.is_dir()) {
                return Err(session.refuse(Exit::Input, format!("cannot write {}: its folder is missing", shown(path))));
            }
            if path.is_dir() {
                return Err(session.refuse(Exit::Input, format!("cannot write {}: it is a folder", shown(path))));
            }
        }
        Ok(())
    }

    fn clash(&self) -> Result<(), String> {
        let read: Vec<(&PathBuf, FileId)> =
            self.read.iter().filter_map(|path| Some((path, FileId::of(path)?))).collect();
        let mut written: Vec<(&str, FileId)> = Vec::new();
        written.extend(FileId::of(Path::new("/dev/stdout")).map(|id| ("standard output", id)));
        for (option, path) in &self.written {
            let Some(id) = FileId::of(path) else { continue };
            if let Some((input, _)) = read.iter().find(|(_, other)| *other == id) {
                return Err(format!(
                    "{option} would overwrite the input {}: give another file",
                    shown(input.as_path())
                ));
            }
            let is_standard = path.starts_with("/dev") || path.starts_with("/proc");
            if let Some((other, _)) = written.iter().find(|(_, other)| *other == id && !is_standard) {
                return Err(format!("{option} and {other} are the same file: give another one"));
            }
            written.push((option, id));
        }
        Ok(())
    }
}

/// The folder of `--keep`, and the first failure to write into it.
#[derive(Clone, Debug)]
pub(crate) struct Keep {
    folder: PathBuf,
    failure: Arc<OnceLock<String>>,
}

impl From<OsString> for Keep {
    fn from(folder: OsString) -> Keep {
        Keep { folder: PathBuf::from(folder), failure: Arc::default() }
    }
}

impl Keep {
    /// Makes the folder.
    pub(crate) fn make(&self, session: &Session) -> Result<(), Exit> {
        std::fs::create_dir_all(&self.folder).map_err(|error| {
            session.refuse(Exit::Input, format!("cannot make the folder {}: {error}", shown(&self.folder)))
        })
    }

    /// Writes the file of an iteration. The first failure is remembered.
    pub(crate) fn write(&self, number: usize, text: &str) {
        self.write_to(self.file(number), text);
    }

    /// Writes the file of an iteration whose program is in the form of the representation.
    pub(crate) fn write_plain(&self, number: usize, text: &str) {
        self.write_to(self.file(number).with_extension("txt"), text);
    }

    fn write_to(&self, path: PathBuf, text: &str) {
        if let Err(error) = files::write(&path, text.as_bytes()) {
            let _ = self.failure.set(format!("cannot write {}: {error}", shown(&path)));
        }
    }

    /// Says what could not be written.
    pub(crate) fn end(&self, session: &Session) -> Exit {
        self.failure.get().map_or(Exit::Success, |message| session.refuse(Exit::Input, message))
    }

    /// Returns the file of an iteration.
    pub(crate) fn file(&self, number: usize) -> PathBuf {
        self.folder.join(format!("{number:03}.bp"))
    }
}
