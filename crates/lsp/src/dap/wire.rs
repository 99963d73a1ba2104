//! Messages of the Debug Adapter Protocol.

use std::io::{self, BufRead, Write};

use serde::Deserialize;
use serde_json::{Value, json};

use crate::frames::{self, Frames};

/// A request of the client.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Request {
    pub(super) seq: u64,
    pub(super) command: String,
    #[serde(default)]
    pub(super) arguments: Value,
}

/// Both directions of a connection.
pub(super) struct Wire<'s> {
    input: Frames<'s>,
    output: &'s mut dyn Write,
    seq: u64,
}

impl<'s> Wire<'s> {
    pub(super) fn new(input: &'s mut dyn BufRead, output: &'s mut dyn Write) -> Wire<'s> {
        Wire { input: Frames::new(input), output, seq: 0 }
    }

    /// The next request; `None` at the end of the stream. Messages that cannot be read are answered; responses and
    /// events are passed over.
    pub(super) fn read(&mut self) -> io::Result<Option<Request>> {
        while let Some(frame) = self.input.next()? {
            let message = match frame {
                Ok(message) if matches!(message["type"].as_str(), Some("response" | "event")) => continue,
                Ok(message) => message,
                Err(reason) => {
                    self.refuse(&Value::Null, reason)?;
                    continue;
                }
            };
            let request = match message["type"].as_str() {
                Some("request") => serde_json::from_value(message.clone()).map_err(|error| error.to_string()),
                _ => Err("`type` must be `request`".to_string()),
            };
            match request {
                Ok(request) => return Ok(Some(request)),
                Err(reason) => self.refuse(&message, format!("this is not a request: {reason}"))?,
            }
        }
        Ok(None)
    }

    /// Answers a message that is not a request, with as much of its head as can be read.
    fn refuse(&mut self, message: &Value, reason: String) -> io::Result<()> {
        let seq = message["seq"].as_u64().unwrap_or(0);
        let command = message["command"].as_str().unwrap_or_default().to_string();
        self.answer(&Request { seq, command, arguments: Value::Null }, Err(reason))
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
        frames::write(self.output, &message)
    }
}
