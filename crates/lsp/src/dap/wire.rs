//! Messages of the Debug Adapter Protocol on a stream: a header with the length, then JSON.

use std::io::{self, BufRead, Write};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// A request of the client.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Request {
    pub(super) seq: u64,
    pub(super) command: String,
    #[serde(default)]
    pub(super) arguments: Value,
}

#[derive(Serialize)]
struct Response<'m> {
    seq: u64,
    r#type: &'static str,
    request_seq: u64,
    success: bool,
    command: &'m str,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<&'m str>,
    body: Value,
}

#[derive(Serialize)]
struct Event<'m> {
    seq: u64,
    r#type: &'static str,
    event: &'m str,
    body: Value,
}

/// The longest message that is read.
const MAX_LENGTH: usize = 64 << 20;

/// Both directions of a connection.
pub(super) struct Wire<'s> {
    input: &'s mut dyn BufRead,
    output: &'s mut dyn Write,
    seq: u64,
}

impl<'s> Wire<'s> {
    pub(super) fn new(input: &'s mut dyn BufRead, output: &'s mut dyn Write) -> Wire<'s> {
        Wire { input, output, seq: 0 }
    }

    /// The next request; `None` at the end of the stream. Messages of other types are passed over.
    pub(super) fn read(&mut self) -> io::Result<Option<Request>> {
        loop {
            let Some(message) = self.message()? else { return Ok(None) };
            if message["type"] == "request"
                && let Ok(request) = serde_json::from_value(message)
            {
                return Ok(Some(request));
            }
        }
    }

    fn message(&mut self) -> io::Result<Option<Value>> {
        let mut length = None;
        loop {
            let mut line = String::new();
            if self.input.read_line(&mut line)? == 0 {
                return Ok(None);
            }
            match line.trim_end() {
                "" if length.is_some() => break,
                header => {
                    let value = header.strip_prefix("Content-Length:").and_then(|value| value.trim().parse().ok());
                    length = value.or(length);
                }
            }
        }
        let length = length.filter(|length| *length <= MAX_LENGTH);
        let length = length.ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "a message without length"))?;
        let mut bytes = vec![0; length];
        self.input.read_exact(&mut bytes)?;
        serde_json::from_slice(&bytes).map(Some).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
    }

    pub(super) fn answer(&mut self, request: &Request, result: Result<Value, String>) -> io::Result<()> {
        let seq = self.next();
        let (success, message, body) = match &result {
            Ok(body) => (true, None, body.clone()),
            Err(message) => (false, Some(message.as_str()), json!({ "error": { "id": 1, "format": message } })),
        };
        let command = request.command.as_str();
        self.write(&Response { seq, r#type: "response", request_seq: request.seq, success, command, message, body })
    }

    pub(super) fn event(&mut self, event: &str, body: Value) -> io::Result<()> {
        let seq = self.next();
        self.write(&Event { seq, r#type: "event", event, body })
    }

    fn next(&mut self) -> u64 {
        self.seq += 1;
        self.seq
    }

    fn write(&mut self, message: &impl Serialize) -> io::Result<()> {
        let text = serde_json::to_string(message).map_err(io::Error::other)?;
        write!(self.output, "Content-Length: {}\r\n\r\n{text}", text.len())?;
        self.output.flush()
    }
}
