//! `selvedge lsp`: the Language Server Protocol for programs of all languages; names, outlines and
//! formatting for Boolean programs and guarded commands.
//!
//! The texts of open files live here and are read anew after each change: reading takes milliseconds even for programs
//! of ten thousand lines. A check runs on a thread of its own, reports progress, and stops when the client cancels it.

mod checks;
mod names;
mod outline;
mod places;
mod requests;

use std::collections::BTreeMap;
use std::error::Error;
use std::path::Path;

use lsp_server::{Connection, ErrorCode, Message, Notification, Request, RequestId, Response};
use selvedge_check::Solvers;
use selvedge_frontend::Language;
use selvedge_frontend::bp::LoadOptions;
use selvedge_frontend::diagnostic::{Annotation, Severity};
use serde_json::{Value, json};

use checks::Checks;
use places::Places;

/// Serves one client until it says goodbye.
pub fn serve(connection: &Connection, solvers: &Solvers) -> Result<(), Box<dyn Error + Send + Sync>> {
    let capabilities = json!({
        "textDocumentSync": { "openClose": true, "change": 1, "save": true },
        "hoverProvider": true,
        "definitionProvider": true,
        "referencesProvider": true,
        "documentSymbolProvider": true,
        "documentFormattingProvider": true,
        "codeLensProvider": { "resolveProvider": false },
        "executeCommandProvider": { "commands": ["selvedge.check"], "workDoneProgress": true },
    });
    connection.initialize(capabilities)?;
    std::thread::scope(|scope| {
        let mut server = Server { connection, files: BTreeMap::new(), checks: Checks::new(scope, connection, solvers) };
        for message in &connection.receiver {
            match message {
                Message::Request(request) => {
                    if connection.handle_shutdown(&request)? {
                        break;
                    }
                    server.request(request)?;
                }
                Message::Notification(notification) => server.notification(notification)?,
                Message::Response(_) => {}
            }
        }
        server.checks.cancel_all();
        Ok(())
    })
}

type Sent = Result<(), Box<dyn Error + Send + Sync>>;

struct Server<'s, 'e> {
    connection: &'e Connection,
    /// The texts of open files by their addresses.
    files: BTreeMap<String, String>,
    checks: Checks<'s, 'e>,
}

impl Server<'_, '_> {
    fn request(&mut self, request: Request) -> Sent {
        let uri = request.params["textDocument"]["uri"].as_str().unwrap_or("").to_string();
        let text = self.files.get(&uri).map_or("", String::as_str);
        let result = match request.method.as_str() {
            "textDocument/hover" => requests::hover(&uri, text, &request.params),
            "textDocument/definition" => requests::definition(&uri, text, &request.params),
            "textDocument/references" => requests::references(&uri, text, &request.params),
            "textDocument/documentSymbol" => requests::symbols(&uri, text),
            "textDocument/formatting" => requests::formatting(&uri, text),
            "textDocument/codeLens" => requests::lenses(&uri, text),
            "workspace/executeCommand" => return self.execute(request),
            other => {
                let message = format!("`{other}` is not supported");
                return self.send(Response::new_err(request.id, ErrorCode::MethodNotFound as i32, message));
            }
        };
        self.send(Response::new_ok(request.id, result))
    }

    fn execute(&mut self, request: Request) -> Sent {
        if request.params["command"] != "selvedge.check" {
            let message = format!("there is no command {}", request.params["command"]);
            return self.send(Response::new_err(request.id, ErrorCode::InvalidParams as i32, message));
        }
        let arguments = request.params["arguments"][0].clone();
        let uri = arguments["uri"].as_str().unwrap_or("").to_string();
        let Some(text) = self.files.get(&uri).cloned() else {
            let message = format!("{uri} is not open");
            return self.send(Response::new_err(request.id, ErrorCode::InvalidParams as i32, message));
        };
        let token = request.params["workDoneToken"].clone();
        self.checks.start(request.id, &uri, text, arguments, token);
        Ok(())
    }

    fn notification(&mut self, notification: Notification) -> Sent {
        let params = &notification.params;
        let uri = params["textDocument"]["uri"].as_str().unwrap_or("").to_string();
        match notification.method.as_str() {
            "textDocument/didOpen" => {
                let text = params["textDocument"]["text"].as_str().unwrap_or("").to_string();
                self.files.insert(uri.clone(), text);
                self.publish(&uri)
            }
            "textDocument/didChange" => {
                let changes = params["contentChanges"].as_array();
                let text = changes.and_then(|changes| changes.last()?["text"].as_str()).unwrap_or("").to_string();
                self.files.insert(uri.clone(), text);
                self.publish(&uri)
            }
            "textDocument/didClose" => {
                self.files.remove(&uri);
                self.notify("textDocument/publishDiagnostics", json!({ "uri": uri, "diagnostics": [] }))
            }
            "$/cancelRequest" => {
                self.checks.cancel_request(&params["id"]);
                Ok(())
            }
            "window/workDoneProgress/cancel" => {
                self.checks.cancel_token(&params["token"]);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn publish(&self, uri: &str) -> Sent {
        let text = self.files.get(uri).map_or("", String::as_str);
        let diagnostics = diagnostics(uri, text);
        self.notify("textDocument/publishDiagnostics", json!({ "uri": uri, "diagnostics": diagnostics }))
    }

    fn notify(&self, method: &str, params: Value) -> Sent {
        let notification = Notification { method: method.to_string(), params };
        Ok(self.connection.sender.send(Message::Notification(notification))?)
    }

    fn send(&self, response: Response) -> Sent {
        Ok(self.connection.sender.send(Message::Response(response))?)
    }
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
fn diagnostics(uri: &str, text: &str) -> Vec<Value> {
    let places = Places::new(text);
    let loaded = selvedge_frontend::load(Path::new(&path_of(uri)), text, &LoadOptions::default());
    let remark = |annotation: &Annotation| {
        json!({
            "location": { "uri": uri, "range": places.range(annotation.span) },
            "message": annotation.label,
        })
    };
    let view = |found: &selvedge_frontend::diagnostic::Diagnostic| {
        let help = found.help.as_ref().map_or(String::new(), |help| format!("\nhelp: {help}"));
        json!({
            "range": places.range(found.primary.span),
            "severity": match found.severity { Severity::Error => 1, Severity::Warning => 2 },
            "code": found.code.as_str(),
            "source": "selvedge",
            "message": format!("{}{help}", found.message),
            "relatedInformation": found.secondary.iter().map(remark).collect::<Vec<_>>(),
        })
    };
    loaded.diagnostics.iter().map(view).collect()
}

/// A number or a text.
fn id_of(id: &Value) -> Option<RequestId> {
    serde_json::from_value(id.clone()).ok()
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
