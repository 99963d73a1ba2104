//! Messages of the Debug Adapter Protocol on a stream: a header with the length, then JSON.

use std::io::{self, BufRead, Write};

use serde::Deserialize;
use serde_json::{Value, json};

/// A request of the client.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Request {
    pub(super) seq: u64,
    pub(super) command: String,
    #[serde(default)]
    pub(super) arguments: Value,
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
        let mut answer = json!({
            "type": "response",
            "request_seq": request.seq,
            "success": result.is_ok(),
            "command": request.command,
        });
        match result {
            Ok(body) => answer["body"] = body,
            Err(message) => {
                answer["body"] = json!({ "error": { "id": 1, "format": message } });
                answer["message"] = message.into();
            }
        }
        self.write(answer)
    }

    pub(super) fn event(&mut self, event: &str, body: Value) -> io::Result<()> {
        self.write(json!({ "type": "event", "event": event, "body": body }))
    }

    /// Writes a message with the next number.
    fn write(&mut self, mut message: Value) -> io::Result<()> {
        self.seq += 1;
        message["seq"] = self.seq.into();
        let text = message.to_string();
        write!(self.output, "Content-Length: {}\r\n\r\n{text}", text.len())?;
        self.output.flush()
    }
}
