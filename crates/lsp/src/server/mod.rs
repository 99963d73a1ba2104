//! `selvedge lsp`: the Language Server Protocol for programs of all languages; names, outlines and
//! formatting for Boolean programs and guarded commands.
//!
//! The texts of open files live here and are read anew after each change: reading takes milliseconds even for programs
//! of ten thousand lines. A check runs on a thread of its own, reports progress, and stops when the client cancels it.

mod checks;
mod client;
mod names;
mod outline;
mod places;
mod requests;

use std::collections::BTreeMap;
use std::io::{self, BufRead, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use selvedge_check::Solvers;
use selvedge_frontend::Language;
use selvedge_frontend::diagnostic::{Annotation, Diagnostic, Severity};
use selvedge_frontend::visible::visible_name;
use selvedge_ir::span::Span;
use serde_json::{Value, json};

use checks::Checks;
use client::{Client, ErrorCode, Incoming, Refusal};
use places::Places;

use crate::found::{SessionOptions, Wanted};
use crate::frames::Frames;

/// Returns what the server can do.
fn capabilities() -> Value {
    json!({
        "textDocumentSync": { "openClose": true, "change": 1, "save": true },
        "hoverProvider": true,
        "definitionProvider": true,
        "referencesProvider": true,
        "documentSymbolProvider": true,
        "documentFormattingProvider": true,
        "codeLensProvider": { "resolveProvider": false },
        "executeCommandProvider": { "commands": ["selvedge.check"], "workDoneProgress": true },
    })
}

/// Serves one client until it says goodbye, or its stream ends.
pub fn serve(
    input: &mut dyn BufRead,
    output: &mut (dyn Write + Send),
    solvers: &Solvers,
    given: SessionOptions,
) -> io::Result<()> {
    let client = Client::new(output);
    std::thread::scope(|scope| {
        let checks = Checks::new(scope, &client, solvers, given);
        let mut server = Server { client: &client, stage: Stage::Before, files: BTreeMap::new(), checks, given };
        let served = server.run(&mut Frames::new(input));
        server.checks.cancel_all();
        served
    })
}

/// The stages of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// Before the request `initialize`.
    Before,
    Working,
    /// After the request `shutdown`.
    Over,
}

struct Server<'s, 'e> {
    client: &'e Client<'e>,
    stage: Stage,
    /// The texts of open files by their addresses.
    files: BTreeMap<String, String>,
    checks: Checks<'s, 'e>,
    given: SessionOptions,
}

impl Server<'_, '_> {
    /// Reads and answers messages up to the notification `exit`.
    fn run(&mut self, frames: &mut Frames<'_>) -> io::Result<()> {
        while let Some(frame) = frames.next()? {
            let message = match frame {
                Ok(message) => message,
                Err(reason) => {
                    self.client.answer(&Value::Null, Err((ErrorCode::ParseError, reason)))?;
                    continue;
                }
            };
            match Incoming::read(message) {
                Ok(Incoming::Request { id, method, params }) => self.request(&id, &method, &params)?,
                Ok(Incoming::Notification { method, .. }) if method == "exit" => return Ok(()),
                Ok(Incoming::Notification { method, params }) => self.notification(&method, &params)?,
                Ok(Incoming::Answer) => {}
                Err((id, refusal)) => self.client.answer(&id, Err(refusal))?,
            }
        }
        Ok(())
    }

    fn request(&mut self, id: &Value, method: &str, params: &Value) -> io::Result<()> {
        let refuse = |code: ErrorCode, message: &str| self.client.answer(id, Err((code, message.to_string())));
        match (self.stage, method) {
            (Stage::Before, "initialize") => {
                self.stage = Stage::Working;
                self.client.answer(id, Ok(json!({ "capabilities": capabilities() })))
            }
            (Stage::Before, _) => refuse(ErrorCode::NotInitialized, "the first request must be `initialize`"),
            (Stage::Over, _) => refuse(ErrorCode::InvalidRequest, "the server was shut down"),
            (Stage::Working, "initialize") => refuse(ErrorCode::InvalidRequest, "this is the second `initialize`"),
            (Stage::Working, "shutdown") => {
                self.stage = Stage::Over;
                self.checks.cancel_all();
                self.client.answer(id, Ok(Value::Null))
            }
            (Stage::Working, "workspace/executeCommand") => match self.execute(id, params) {
                Ok(()) => Ok(()),
                Err(refusal) => self.client.answer(id, Err(refusal)),
            },
            (Stage::Working, _) => {
                let result = guarded(|| self.result(method, params)).and_then(|result| result);
                self.client.answer(id, result)
            }
        }
    }

    /// Returns the result of a request that a text alone answers.
    fn result(&self, method: &str, params: &Value) -> Result<Value, Refusal> {
        type Answerer = fn(&str, &str, &Value) -> Value;
        let answerer: Answerer = match method {
            "textDocument/hover" => requests::hover,
            "textDocument/definition" => requests::definition,
            "textDocument/references" => requests::references,
            "textDocument/documentSymbol" => |uri, text, _| requests::symbols(uri, text),
            "textDocument/formatting" => |uri, text, _| requests::formatting(uri, text),
            "textDocument/codeLens" => |uri, text, _| requests::lenses(uri, text),
            other => return Err((ErrorCode::MethodNotFound, format!("`{other}` is not supported"))),
        };
        let wrong = |what: &str| (ErrorCode::InvalidParams, what.to_string());
        let uri = params["textDocument"]["uri"].as_str().ok_or_else(|| wrong("`textDocument.uri` must be a text"))?;
        if matches!(method, "textDocument/hover" | "textDocument/definition" | "textDocument/references") {
            let is_place = |name: &str| params["position"][name].is_u64();
            if !is_place("line") || !is_place("character") {
                return Err(wrong("`position` must have a `line` and a `character`, numbers from 0"));
            }
        }
        let text = self.files.get(uri).map_or("", String::as_str);
        Ok(answerer(uri, text, params))
    }

    fn execute(&mut self, id: &Value, params: &Value) -> Result<(), Refusal> {
        if params["command"] != "selvedge.check" {
            return Err((ErrorCode::InvalidParams, format!("there is no command {}", params["command"])));
        }
        let arguments = params["arguments"][0].clone();
        let uri = arguments["uri"].as_str().unwrap_or("").to_string();
        // Files that other servers look after are not open here: their text comes with the question.
        let sent = arguments["text"].as_str().map(str::to_string);
        let Some(text) = self.files.get(&uri).cloned().or(sent) else {
            return Err((ErrorCode::InvalidParams, format!("{} is not open", visible_name(&uri))));
        };
        let token = params["workDoneToken"].clone();
        self.checks.start(id.clone(), &uri, text, arguments, token);
        Ok(())
    }

    /// Follows a notification. Those that make no sense have no answer in the protocol and change nothing.
    fn notification(&mut self, method: &str, params: &Value) -> io::Result<()> {
        if self.stage != Stage::Working {
            return Ok(());
        }
        let uri = params["textDocument"]["uri"].as_str();
        let changes = params["contentChanges"].as_array();
        let text = match method {
            "textDocument/didOpen" => params["textDocument"]["text"].as_str(),
            "textDocument/didChange" => changes.and_then(|changes| changes.last()?["text"].as_str()),
            _ => None,
        };
        match (method, uri, text) {
            ("textDocument/didOpen" | "textDocument/didChange", Some(uri), Some(text)) => {
                self.files.insert(uri.to_string(), text.to_string());
                self.publish(uri)
            }
            ("textDocument/didClose", Some(uri), _) => {
                self.files.remove(uri);
                let params = json!({ "uri": uri, "diagnostics": [] });
                self.client.notify("textDocument/publishDiagnostics", &params)
            }
            ("$/cancelRequest", ..) => {
                self.checks.cancel_request(&params["id"]);
                Ok(())
            }
            ("window/workDoneProgress/cancel", ..) => {
                self.checks.cancel_token(&params["token"]);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn publish(&self, uri: &str) -> io::Result<()> {
        let text = self.files.get(uri).map_or("", String::as_str);
        // A text on which the reader fails has no diagnostics.
        let diagnostics = guarded(|| diagnostics(uri, text, self.given)).unwrap_or_default();
        self.client.notify("textDocument/publishDiagnostics", &json!({ "uri": uri, "diagnostics": diagnostics }))
    }
}

/// Does some work; a panic in it is our mistake, and the server goes on. Nothing that the work may have left half done
/// is used afterwards.
fn guarded<T>(work: impl FnOnce() -> T) -> Result<T, Refusal> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|panic| {
        let message = panic.downcast_ref::<&str>().map(|text| (*text).to_string());
        let message = message.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default();
        (ErrorCode::InternalError, format!("internal error: {message}: please report this"))
    })
}

/// Returns the language of a file by its address.
fn language_of(uri: &str) -> Language {
    Language::of_path(Path::new(&path_of(uri)))
}

/// The path of an address.
fn path_of(uri: &str) -> String {
    let encoded = uri.strip_prefix("file://").unwrap_or(uri);
    let mut bytes = Vec::new();
    let mut rest = encoded.as_bytes();
    while let Some((first, tail)) = rest.split_first() {
        let code = tail.get(..2).and_then(|code| std::str::from_utf8(code).ok());
        let byte = code.filter(|_| *first == b'%').and_then(|code| u8::from_str_radix(code, 16).ok());
        bytes.push(byte.unwrap_or(*first));
        rest = if byte.is_some() { &tail[2..] } else { tail };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Returns the diagnostics of a text.
fn diagnostics(uri: &str, text: &str, given: SessionOptions) -> Vec<Value> {
    let places = Places::new(text);
    let path = Path::new(&path_of(uri)).to_path_buf();
    let wanted = Wanted { program: path_of(uri), ..Wanted::default() };
    // Without a configuration there are no mistakes in one.
    let options = wanted.asked(text, given).map(|asked| asked.options).unwrap_or_default();
    let loaded = selvedge_frontend::load(&path, text, &options);
    let remark = |annotation: &Annotation| {
        json!({
            "location": { "uri": uri, "range": places.range(annotation.span) },
            "message": annotation.label,
        })
    };
    // Places in headers are behind the text.
    let is_inside = |span: Span| span.end as usize <= text.len();
    let shown = |span: Span| places.range(if is_inside(span) { span } else { Span::default() });
    let remarks = |found: &Diagnostic| -> Vec<Value> {
        found.secondary.iter().filter(|also| is_inside(also.span)).map(remark).collect()
    };
    let view = |found: &Diagnostic| {
        let help = found.help.as_ref().map_or(String::new(), |help| format!("\nhelp: {help}"));
        json!({
            "range": shown(found.primary.span),
            "severity": match found.severity { Severity::Error => 1, Severity::Warning => 2, Severity::Note => 3 },
            "code": found.code.as_str(),
            "source": "selvedge",
            "message": format!("{}{help}", found.message),
            "relatedInformation": remarks(found),
        })
    };
    loaded.diagnostics.iter().map(view).collect()
}

#[cfg(test)]
mod tests {
    use super::path_of;

    #[test]
    fn addresses_are_decoded() {
        assert_eq!(path_of("file:///a%20b/%C3%A4.bp"), "/a b/ä.bp");
        assert_eq!(path_of("file:///100%.bp"), "/100%.bp");
    }
}
