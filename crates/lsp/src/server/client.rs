//! The client of the language server: the messages that it sends, and those that it is sent.

use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use serde_json::{Value, json};

use crate::frames;

/// Kinds of errors, with the numbers of the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ErrorCode {
    ParseError = -32700,
    InvalidRequest = -32600,
    MethodNotFound = -32601,
    InvalidParams = -32602,
    InternalError = -32603,
    NotInitialized = -32002,
    RequestCancelled = -32800,
    RequestFailed = -32803,
}

/// Why a request has no result: a kind and a sentence.
pub(super) type Refusal = (ErrorCode, String);

/// A message of the client.
pub(super) enum Incoming {
    Request {
        id: Value,
        method: String,
        params: Value,
    },
    Notification {
        method: String,
        params: Value,
    },
    /// An answer to a request of the server.
    Answer,
}

impl Incoming {
    /// Returns the message in a JSON value; fails with the number of the request, `null` if it has none.
    pub(super) fn read(mut message: Value) -> Result<Incoming, (Value, Refusal)> {
        let id = message.get("id").cloned();
        let is_id = |id: &Value| id.is_i64() || id.is_u64() || id.is_string();
        let known = id.clone().filter(is_id).unwrap_or_default();
        let wrong = |what: &str| Err((known.clone(), (ErrorCode::InvalidRequest, what.to_string())));
        if !message.is_object() {
            return wrong("a message must be an object");
        }
        let params = message.get_mut("params").map(Value::take).unwrap_or_default();
        match (message.get("method"), id) {
            (Some(Value::String(method)), None) => Ok(Incoming::Notification { method: method.clone(), params }),
            (Some(Value::String(method)), Some(id)) if is_id(&id) => {
                Ok(Incoming::Request { id, method: method.clone(), params })
            }
            (Some(Value::String(_)), Some(_)) => wrong("`id` must be a number or a string"),
            (Some(_), _) => wrong("`method` must be a string"),
            (None, Some(_)) if message.get("result").is_some() || message.get("error").is_some() => {
                Ok(Incoming::Answer)
            }
            (None, _) => wrong("`method` is missing"),
        }
    }
}

/// The stream to the client, which several threads write to.
pub(super) struct Client<'w> {
    output: Mutex<&'w mut (dyn Write + Send)>,
    /// Whether the client asks for lenses and hints again when it is told to.
    refreshes: [AtomicBool; 2],
    /// The number of requests that were sent.
    requests: AtomicU64,
}

/// The requests to ask for lenses and hints again, with the capabilities of clients that know them.
const REFRESHES: [(&str, &str); 2] = [
    ("workspace/codeLens/refresh", "/workspace/codeLens/refreshSupport"),
    ("workspace/inlayHint/refresh", "/workspace/inlayHint/refreshSupport"),
];

impl<'w> Client<'w> {
    pub(super) fn new(output: &'w mut (dyn Write + Send)) -> Client<'w> {
        Client { output: Mutex::new(output), refreshes: Default::default(), requests: AtomicU64::new(0) }
    }

    /// Reads the capabilities of the client.
    pub(super) fn follow(&self, capabilities: &Value) {
        for (flag, (_, pointer)) in self.refreshes.iter().zip(REFRESHES) {
            flag.store(capabilities.pointer(pointer) == Some(&Value::Bool(true)), Ordering::Relaxed);
        }
    }

    /// Asks the client to ask for lenses and hints again. Its answers say nothing.
    pub(super) fn refresh(&self) -> io::Result<()> {
        for (flag, (method, _)) in self.refreshes.iter().zip(REFRESHES) {
            if flag.load(Ordering::Relaxed) {
                let id = format!("refresh-{}", self.requests.fetch_add(1, Ordering::Relaxed));
                self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method }))?;
            }
        }
        Ok(())
    }

    fn send(&self, message: &Value) -> io::Result<()> {
        let mut output = self.output.lock().unwrap_or_else(PoisonError::into_inner);
        frames::write(&mut **output, message)
    }

    pub(super) fn notify(&self, method: &str, params: &Value) -> io::Result<()> {
        self.send(&json!({ "jsonrpc": "2.0", "method": method, "params": params }))
    }

    /// Answers a request.
    pub(super) fn answer(&self, id: &Value, result: Result<Value, Refusal>) -> io::Result<()> {
        self.send(&match result {
            Ok(result) => json!({ "jsonrpc": "2.0", "id": id, "result": result }),
            Err((code, message)) => {
                json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code as i32, "message": message } })
            }
        })
    }
}
