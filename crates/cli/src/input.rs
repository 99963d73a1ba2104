//! Sources of programs and traces: files, or standard input for `-`.

use std::convert::Infallible;
use std::io::Read as _;
use std::path::PathBuf;
use std::str::FromStr;

use selvedge_report::Source;

/// A text that the user names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Input {
    /// `-`
    Stdin,
    File(PathBuf),
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
            Input::File(path) => path.display().to_string(),
        }
    }

    /// Its text, or a sentence that says why there is none.
    pub(crate) fn read(&self) -> Result<Source, String> {
        let name = self.name();
        let bytes = match self {
            Input::Stdin => {
                let mut bytes = Vec::new();
                std::io::stdin().lock().read_to_end(&mut bytes).map(|_| bytes)
            }
            Input::File(path) => std::fs::read(path),
        };
        let bytes = bytes.map_err(|error| format!("cannot read {name}: {error}"))?;
        let text = String::from_utf8(bytes).map_err(|error| {
            format!("cannot read {name}: it is not UTF-8 text (byte {})", error.utf8_error().valid_up_to() + 1)
        })?;
        Ok(Source::new(name, text))
    }
}
