//! SPIN as a peer: the model of a program, compiled for speed, with partial-order reduction.
//!
//! Only the search counts. The translation, the compiler, and a first search that determines how much memory the second
//! one needs (see [`Room`]) run before, so that the measured search wastes nothing.

use std::io;
use std::path::Path;
use std::process::Command;

use selvedge_check::{CancelToken, Limits, Run};
use selvedge_driver::external::{Code, ExternalFailure, ExternalVerdict, Room, Spin, Storage, read_search};
use selvedge_export::promela;

use super::tool::{Asked, Tool, translate};

/// The memory that a search may use, in megabytes.
const MEGABYTES: u64 = 8_000;

impl Tool for Spin {
    fn name(&self) -> String {
        "spin".to_string()
    }

    fn command(&self, asked: &Asked<'_>) -> io::Result<Option<Command>> {
        let Some(model) = translate(asked, promela::render)? else { return Ok(None) };
        prepare(self, &model, &asked.scratch.join("spin"), asked).map(Some)
    }

    fn verdict(&self, output: &str, _: Option<i32>) -> String {
        match read_search(output).word {
            ExternalVerdict::Safe => "safe".to_string(),
            ExternalVerdict::Unsafe => "unsafe".to_string(),
            ExternalVerdict::Other(reason) if reason.contains("memory") => "memory limit".to_string(),
            ExternalVerdict::Other(_) => "unknown".to_string(),
        }
    }

    fn states(&self, output: &str) -> Option<u64> {
        read_search(output).states
    }
}

/// Prepares the search that is measured. States are collapsed if they do not fit otherwise.
fn prepare(spin: &Spin, model: &str, folder: &Path, asked: &Asked<'_>) -> io::Result<Command> {
    let unlimited = Run::unlimited();
    let limits = Limits { time: Some(asked.limit), ..Limits::default() };
    let mut command = None;
    for storage in [Storage::Plain, Storage::Collapsed] {
        let pan = spin.compile(model, folder, (Code::Fast, storage), MEGABYTES, &unlimited).map_err(failed)?;
        let first = pan.search(Room::LARGE, &Run::new(CancelToken::default(), limits, &()));
        match first {
            Ok(search) if !matches!(search.word, ExternalVerdict::Other(_)) => {
                return Ok(pan.command(Room::fitting(&search)));
            }
            Err(ExternalFailure::Failed(error)) => return Err(error),
            Ok(_) | Err(ExternalFailure::Stop(_)) => command = Some(pan.command(Room::LARGE)),
        }
        if matches!(first, Err(ExternalFailure::Stop(_))) {
            break;
        }
    }
    Ok(command.expect("one of the ways was tried"))
}

fn failed(silence: ExternalFailure) -> io::Error {
    match silence {
        ExternalFailure::Failed(error) => error,
        ExternalFailure::Stop(stop) => io::Error::other(stop.to_string()),
    }
}
