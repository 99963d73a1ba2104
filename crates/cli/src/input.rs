//! Sources of programs and traces: files, or standard input for `-`.

use std::convert::Infallible;
use std::io::Read;
use std::path::PathBuf;
use std::str::FromStr;

use selvedge_faults::{self as faults, Point};
use selvedge_report::Source;

use crate::outputs;

/// A text that the user names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Input {
    /// `-`
    Stdin,
    File(PathBuf),
}

/// The largest input: positions in it are numbers of 32 bits, and programs take many times their text in memory.
const LARGEST: u64 = 1 << 30;

/// Reads everything, unless there is too much (`/dev/zero` has no end).
fn bounded(input: impl Read) -> std::io::Result<Vec<u8>> {
    faults::attempt(Point::Read)?;
    let mut bytes = Vec::new();
    let length = input.take(LARGEST + 1).read_to_end(&mut bytes)?;
    if length as u64 > LARGEST {
        return Err(std::io::Error::new(std::io::ErrorKind::FileTooLarge, "it is larger than 1 GiB"));
    }
    Ok(bytes)
}

impl FromStr for Input {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Input, Infallible> {
        Ok(if text == "-" { Input::Stdin } else { Input::File(PathBuf::from(text)) })
    }
}

impl Input {
    /// Returns its name in messages.
    pub(crate) fn name(&self) -> String {
        match self {
            Input::Stdin => "<stdin>".to_string(),
            Input::File(path) => outputs::shown(path),
        }
    }

    /// Its text, or a sentence that says why there is none.
    pub(crate) fn read(&self) -> Result<Source, String> {
        let name = self.name();
        let bytes = match self {
            Input::Stdin => bounded(std::io::stdin().lock()),
            Input::File(path) => std::fs::File::open(path).and_then(bounded),
        };
        let bytes = bytes.map_err(|error| match error.kind() {
            std::io::ErrorKind::IsADirectory => {
                format!("{name} is a folder: name its files, or use `selvedge test {name}` if they say their verdicts")
            }
            _ => format!("cannot read {name}: {error}"),
        })?;
        let path = match self {
            Input::Stdin => name,
            Input::File(path) => path.to_string_lossy().into_owned(),
        };
        Ok(Source::from_bytes(path, bytes))
    }

    /// Reads a text without comments, all of which must be UTF-8.
    pub(crate) fn read_data(&self) -> Result<Source, String> {
        let source = self.read()?;
        match source.first_not_utf8() {
            Some(at) => Err(format!("{}: this byte is not UTF-8: save the file in this encoding", source.place(at))),
            None => Ok(source),
        }
    }
}
