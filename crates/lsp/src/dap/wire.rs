//! Messages of the Debug Adapter Protocol.

use std::io::{self, BufRead, Write};
use std::sync::{Mutex, PoisonError};

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

/// An event: its name and its body.
pub(super) type Event = (&'static str, Value);

/// What the client sends.
pub(super) struct Requests<'s> {
    input: Frames<'s>,
}

impl<'s> Requests<'s> {
    pub(super) fn new(input: &'s mut dyn BufRead) -> Requests<'s> {
        Requests { input: Frames::new(input) }
    }

    /// Reads the next request; `None` at the end of the stream. Messages that cannot be read are answered, and
    /// responses and events are passed over.
    pub(super) fn next(&mut self, client: &Client<'_>) -> io::Result<Option<Request>> {
        while let Some(frame) = self.input.next()? {
            let message = match frame {
                Ok(message) if matches!(message["type"].as_str(), Some("response" | "event")) => continue,
                Ok(message) => message,
                Err(reason) => {
                    refuse(client, &Value::Null, reason)?;
                    continue;
                }
            };
            let request = match message["type"].as_str() {
                Some("request") => serde_json::from_value(message.clone()).map_err(|error| error.to_string()),
                _ => Err("`type` must be `request`".to_string()),
            };
            match request {
                Ok(request) => return Ok(Some(request)),
                Err(reason) => refuse(client, &message, format!("this is not a request: {reason}"))?,
            }
        }
        Ok(None)
    }
}

/// Answers a message that is not a request, with as much of its head as can be read.
fn refuse(client: &Client<'_>, message: &Value, reason: String) -> io::Result<()> {
    let seq = message["seq"].as_u64().unwrap_or(0);
    let command = message["command"].as_str().unwrap_or_default().to_string();
    client.answer(&Request { seq, command, arguments: Value::Null }, Err(reason))
}

/// The stream to the client, which the thread of a check writes to as well, with the number of the last message.
pub(super) struct Client<'s> {
    output: Mutex<(&'s mut (dyn Write + Send), u64)>,
}

impl<'s> Client<'s> {
    pub(super) fn new(output: &'s mut (dyn Write + Send)) -> Client<'s> {
        Client { output: Mutex::new((output, 0)) }
    }

    pub(super) fn answer(&self, request: &Request, result: Result<Value, String>) -> io::Result<()> {
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

    pub(super) fn event(&self, (event, body): Event) -> io::Result<()> {
        self.write(json!({ "type": "event", "event": event, "body": body }))
    }

    /// Writes a message with the next number.
    fn write(&self, mut message: Value) -> io::Result<()> {
        let mut output = self.output.lock().unwrap_or_else(PoisonError::into_inner);
        output.1 += 1;
        message["seq"] = output.1.into();
        frames::write(&mut *output.0, &message)
    }
}
