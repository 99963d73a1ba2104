//! `selvedge lsp`: the Language Server Protocol for programs of all languages; names, outlines and
//! formatting for Boolean programs and guarded commands.
//!
//! The texts of open files live here and are read anew for each request: reading takes milliseconds even for programs
//! of ten thousand lines. A check runs on a thread of its own, reports progress, and stops when the client cancels it;
//! what it finds is shown in the program until the text changes.

mod checks;
mod client;
mod completion;
mod diagnostics;
mod files;
mod folding;
mod found;
mod lenses;
mod lexemes;
mod names;
mod outline;
mod places;
mod rename;
mod requests;
mod semantic;
mod signature;
mod workspace;

use std::io::{self, BufRead, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use selvedge_check::Solvers;
use selvedge_frontend::Language;
use selvedge_frontend::visible::visible_name;
use serde_json::{Value, json};

use checks::{Asking, Checks};
use client::{Client, ErrorCode, Incoming, Refusal};
use files::{File, Files};

use crate::found::SessionOptions;
use crate::frames::Frames;

/// Returns what the server can do.
fn capabilities() -> Value {
    json!({
        "positionEncoding": "utf-16",
        "textDocumentSync": { "openClose": true, "change": 2, "save": true },
        "hoverProvider": true,
        "completionProvider": { "triggerCharacters": ["-"] },
        "signatureHelpProvider": { "triggerCharacters": ["(", ","] },
        "definitionProvider": true,
        "referencesProvider": true,
        "documentHighlightProvider": true,
        "documentSymbolProvider": true,
        "workspaceSymbolProvider": true,
        "documentFormattingProvider": true,
        "codeActionProvider": { "codeActionKinds": ["quickfix"] },
        "codeLensProvider": { "resolveProvider": false },
        "renameProvider": { "prepareProvider": true },
        "foldingRangeProvider": true,
        "semanticTokensProvider": {
            "legend": { "tokenTypes": semantic::TYPES, "tokenModifiers": semantic::MODIFIERS },
            "full": true,
        },
        "inlayHintProvider": true,
        "executeCommandProvider": { "commands": ["selvedge.check"], "workDoneProgress": true },
        "workspace": { "workspaceFolders": { "supported": true } },
    })
}

/// Serves one client until it says goodbye, or its stream ends.
pub fn serve(
    input: &mut dyn BufRead,
    output: &mut (dyn Write + Send),
    solvers: &Solvers,
    given: SessionOptions,
) -> io::Result<()> {
    let (client, files) = (Client::new(output), Files::default());
    std::thread::scope(|scope| {
        let checks = Checks::new(scope, &client, &files, solvers, given);
        let (client, files) = (&client, &files);
        let (settings, folders) = (Settings::default(), Vec::new());
        let mut server = Server { client, stage: Stage::Before, files, checks, given, settings, folders };
        let served = server.run(&mut Frames::new(input));
        server.checks.cancel_all();
        served
    })
}

/// What a client sets in `initializationOptions`.
#[derive(Clone, Copy, Debug)]
struct Settings {
    /// Whether a file is checked when it is saved.
    check_on_save: bool,
    /// Limit on the time of such a check.
    time_limit: Duration,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings { check_on_save: false, time_limit: Duration::from_secs(10) }
    }
}

impl Settings {
    /// Returns the settings in the parameters of `initialize`. What makes no sense there counts as not given.
    fn read(params: &Value) -> Settings {
        let options = &params["initializationOptions"];
        let seconds = options["timeLimit"].as_f64().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
        Settings {
            check_on_save: options["checkOnSave"].as_bool().unwrap_or(false),
            time_limit: seconds.unwrap_or(Settings::default().time_limit),
        }
    }
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
    files: &'e Files,
    checks: Checks<'s, 'e>,
    given: SessionOptions,
    settings: Settings,
    /// The folders that the client has open.
    folders: Vec<PathBuf>,
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
                self.settings = Settings::read(params);
                self.folders = workspace::folders(params);
                self.client.follow(&params["capabilities"]);
                let server = json!({ "name": "selvedge", "version": env!("CARGO_PKG_VERSION") });
                self.client.answer(id, Ok(json!({ "capabilities": capabilities(), "serverInfo": server })))
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

    /// Returns the result of a request that texts, and what was found about them, answer.
    fn result(&self, method: &str, params: &Value) -> Result<Value, Refusal> {
        if method == "workspace/symbol" {
            return Ok(workspace::symbols(&self.folders, self.files, params));
        }
        let Some(answerer) = answerer(method) else {
            return Err((ErrorCode::MethodNotFound, format!("`{method}` is not supported")));
        };
        let wrong = |what: &str| (ErrorCode::InvalidParams, what.to_string());
        let uri = params["textDocument"]["uri"].as_str().ok_or_else(|| wrong("`textDocument.uri` must be a string"))?;
        let is_place = |name: &str| params["position"][name].is_u64();
        if answerer.needs_place() && !(is_place("line") && is_place("character")) {
            return Err(wrong("`position` must have a `line` and a `character`, numbers from 0"));
        }
        let file = self.files.get(uri).unwrap_or_default();
        match answerer {
            Answerer::OfText(answer) => Ok(answer(uri, &file.text)),
            Answerer::OfPlace(answer) => Ok(answer(uri, &file.text, params)),
            Answerer::OfFile(answer) => Ok(answer(uri, &file, params)),
            Answerer::Fixes => Ok(diagnostics::fixes(uri, &file.text, self.given, params)),
            Answerer::Rename => {
                let renamed = rename::rename(uri, &file.text, self.given, params);
                renamed.map_err(|reason| (ErrorCode::RequestFailed, reason))
            }
        }
    }

    fn execute(&mut self, id: &Value, params: &Value) -> Result<(), Refusal> {
        if params["command"] != "selvedge.check" {
            return Err((ErrorCode::InvalidParams, format!("there is no command {}", params["command"])));
        }
        let arguments = params["arguments"][0].clone();
        let uri = arguments["uri"].as_str().unwrap_or("").to_string();
        // Files that other servers look after are not open here: their text comes with the question.
        let sent = || arguments["text"].as_str().map(Into::into);
        let Some(text) = self.files.get(&uri).map(|file| file.text).or_else(sent) else {
            return Err((ErrorCode::InvalidParams, format!("{} is not open", visible_name(&uri))));
        };
        let asking = Asking::Request { id: id.clone(), token: params["workDoneToken"].clone() };
        self.checks.start(asking, &uri, text, arguments);
        Ok(())
    }

    /// Follows a notification. Those that make no sense have no answer in the protocol and change nothing.
    fn notification(&mut self, method: &str, params: &Value) -> io::Result<()> {
        if self.stage != Stage::Working {
            return Ok(());
        }
        let uri = params["textDocument"]["uri"].as_str();
        match (method, uri) {
            ("textDocument/didOpen", Some(uri)) => {
                let Some(text) = params["textDocument"]["text"].as_str() else { return Ok(()) };
                self.files.set(uri, text);
                self.files.publish(uri, self.client, self.given)
            }
            ("textDocument/didChange", Some(uri)) => {
                let changes = params["contentChanges"].as_array().map_or(&[][..], Vec::as_slice);
                if !self.files.change(uri, changes) {
                    return Ok(());
                }
                self.files.publish(uri, self.client, self.given)
            }
            ("textDocument/didSave", Some(uri)) => {
                if let Some(file) = self.files.get(uri).filter(|_| self.settings.check_on_save) {
                    let asking = Asking::Saved { within: self.settings.time_limit };
                    self.checks.start(asking, uri, file.text, json!({ "uri": uri }));
                }
                Ok(())
            }
            ("textDocument/didClose", Some(uri)) => {
                self.files.close(uri);
                self.files.publish(uri, self.client, self.given)
            }
            ("workspace/didChangeWorkspaceFolders", _) => {
                let removed = workspace::folders(&json!({ "workspaceFolders": params["event"]["removed"] }));
                self.folders.retain(|folder| !removed.contains(folder));
                self.folders.extend(workspace::folders(&json!({ "workspaceFolders": params["event"]["added"] })));
                Ok(())
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
}

/// How the result of a request comes from a file.
#[derive(Clone, Copy)]
enum Answerer {
    OfText(fn(&str, &str) -> Value),
    /// Of the name at a position.
    OfPlace(fn(&str, &str, &Value) -> Value),
    /// Of the text, and what checks have found about it.
    OfFile(fn(&str, &File, &Value) -> Value),
    Fixes,
    Rename,
}

impl Answerer {
    /// Returns whether the parameters must have a position.
    fn needs_place(self) -> bool {
        matches!(self, Answerer::OfPlace(_) | Answerer::Rename)
    }
}

/// Returns how a request about a file is answered; `None` if it is not supported.
fn answerer(method: &str) -> Option<Answerer> {
    Some(match method {
        "textDocument/hover" => Answerer::OfPlace(requests::hover),
        "textDocument/definition" => Answerer::OfPlace(requests::definition),
        "textDocument/references" => Answerer::OfPlace(requests::references),
        "textDocument/documentHighlight" => Answerer::OfPlace(requests::highlights),
        "textDocument/completion" => Answerer::OfPlace(completion::completions),
        "textDocument/signatureHelp" => Answerer::OfPlace(signature::help),
        "textDocument/prepareRename" => Answerer::OfPlace(rename::prepare),
        "textDocument/rename" => Answerer::Rename,
        "textDocument/codeAction" => Answerer::Fixes,
        "textDocument/documentSymbol" => Answerer::OfText(requests::symbols),
        "textDocument/formatting" => Answerer::OfText(requests::formatting),
        "textDocument/foldingRange" => Answerer::OfText(folding::ranges),
        "textDocument/semanticTokens/full" => Answerer::OfText(semantic::tokens),
        "textDocument/codeLens" => Answerer::OfFile(|uri, file, _| lenses::lenses(uri, file)),
        "textDocument/inlayHint" => Answerer::OfFile(|_, file, params| requests::hints(file, params)),
        _ => return None,
    })
}

/// Does some work; a panic in it becomes an answer.
fn guarded<T>(work: impl FnOnce() -> T) -> Result<T, Refusal> {
    crate::guarded(work).map_err(|message| (ErrorCode::InternalError, message))
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

#[cfg(test)]
mod tests {
    use super::path_of;

    #[test]
    fn addresses_are_decoded() {
        assert_eq!(path_of("file:///a%20b/%C3%A4.bp"), "/a b/ä.bp");
        assert_eq!(path_of("file:///100%.bp"), "/100%.bp");
    }
}
