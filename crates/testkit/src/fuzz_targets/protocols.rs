//! Sessions of the language server and the debug adapter.
//!
//! Each line of the input is a message, which is given the header that the protocols want; a line that begins with `%`
//! goes to the stream as it is, so that headers can be wrong as well. `@/` in a message is the folder of the programs
//! that the debug adapter can launch. No session begins a check: that is what tests of the engines are for.

use std::io::{ErrorKind, Result as Io};
use std::path::PathBuf;
use std::sync::LazyLock;

use selvedge_check::Solvers;
use selvedge_frontend::files::write;
use selvedge_lsp::{SessionOptions, dap as adapter, server};
use serde_json::Value;

use super::programs::PROGRAMS;
use super::seeds::trace_of;
use crate::corpus::root;
use crate::harness::{Fault, fault};

/// The folder of the programs and of their traces.
static FOLDER: LazyLock<PathBuf> = LazyLock::new(|| {
    let folder = root().join("target/fuzz-programs");
    std::fs::create_dir_all(&folder).expect("the folder can be made");
    for subject in PROGRAMS.iter().filter(|subject| !subject.is_safe) {
        let path = folder.join(&subject.file);
        write(&path, subject.posed.text.as_bytes()).expect("a program can be written");
        if let Some(trace) = trace_of(subject) {
            write(&path.with_extension("json"), trace.as_bytes()).expect("a trace can be written");
        }
    }
    folder
});

/// The code with which the language server answers after a panic.
const INTERNAL_ERROR: i32 = -32603;

/// Returns the stream of bytes that an input stands for; `None` if a message begins a check.
fn stream(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut stream = Vec::new();
    for line in bytes.split(|byte| *byte == b'\n') {
        let text = String::from_utf8_lossy(line);
        let has = |word: &str| text.contains(word);
        if has("executeCommand") || (has("launch") || has("attach")) && !has("\"trace\":\"") {
            return None;
        }
        if let Some(raw) = line.strip_prefix(b"%") {
            stream.extend_from_slice(raw);
            stream.extend_from_slice(b"\n");
            continue;
        }
        let message = text.replace("@/", &format!("{}/", FOLDER.display()));
        stream.extend_from_slice(format!("Content-Length: {}\r\n\r\n{message}", message.len()).as_bytes());
    }
    Some(stream)
}

/// Checks that a session ended as it should, and that every message of the server is one.
fn check_session(ended: &Io<()>, mut output: &[u8]) -> Result<(), Fault> {
    if let Err(error) = ended
        && error.kind() != ErrorKind::UnexpectedEof
    {
        return fault("end", error.to_string());
    }
    while !output.is_empty() {
        let Some((message, rest)) = first_message(output) else {
            return fault("output", format!("this is no message: {}", String::from_utf8_lossy(output)));
        };
        if message["error"]["code"] == INTERNAL_ERROR {
            return fault("internal", message.to_string());
        }
        output = rest;
    }
    Ok(())
}

/// Splits a stream behind its first message.
fn first_message(output: &[u8]) -> Option<(Value, &[u8])> {
    let rest = output.strip_prefix(b"Content-Length: ")?;
    let end = rest.windows(4).position(|window| window == b"\r\n\r\n")?;
    let length: usize = std::str::from_utf8(&rest[..end]).ok()?.parse().ok()?;
    let (body, behind) = rest[end + 4..].split_at_checked(length)?;
    Some((serde_json::from_slice(body).ok()?, behind))
}

/// A session of the language server.
pub fn lsp(bytes: &[u8]) -> Result<(), Fault> {
    let Some(stream) = stream(bytes) else { return Ok(()) };
    let mut output = Vec::new();
    let ended = server::serve(&mut stream.as_slice(), &mut output, &Solvers::default(), SessionOptions::default());
    check_session(&ended, &output)
}

/// A session of the debug adapter.
pub fn dap(bytes: &[u8]) -> Result<(), Fault> {
    let Some(stream) = stream(bytes) else { return Ok(()) };
    let mut output = Vec::new();
    let ended = adapter::serve(&mut stream.as_slice(), &mut output, &Solvers::default(), SessionOptions::default());
    check_session(&ended, &output)
}
