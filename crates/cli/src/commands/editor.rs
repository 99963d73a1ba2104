//! `selvedge lsp` and `selvedge dap`: the servers for editors, on standard input and output.

use std::path::Path;

use selvedge_check::Solvers;
use selvedge_frontend::bp::LoadOptions;
use selvedge_lsp::{Loaded, Loader};

use super::language::Language;
use crate::args::InputFormat;
use crate::exit::Exit;
use crate::input::Input;
use crate::session::Session;

/// Reads programs as all commands do.
struct Languages {
    solvers: Solvers,
}

impl Loader for Languages {
    fn load(&self, path: &Path, text: &str, options: &LoadOptions) -> Loaded {
        let language = Language::of(&Input::File(path.to_path_buf()), InputFormat::Auto);
        let loaded = language.load(text, options);
        Loaded { program: loaded.program, map: loaded.map, diagnostics: loaded.diagnostics }
    }

    fn solvers(&self) -> Solvers {
        self.solvers.clone()
    }
}

pub(crate) fn dap(session: &Session) -> Exit {
    let languages = Languages { solvers: session.solvers.clone() };
    let served = selvedge_lsp::dap::serve(&mut std::io::stdin().lock(), &mut std::io::stdout().lock(), &languages);
    ended(served.map_err(|error| error.to_string()), session)
}

pub(crate) fn lsp(session: &Session) -> Exit {
    let (connection, threads) = lsp_server::Connection::stdio();
    let languages = Languages { solvers: session.solvers.clone() };
    let served = selvedge_lsp::server::serve(&connection, &languages);
    drop(connection);
    let joined = threads.join().map_err(|error| error.to_string());
    ended(served.map_err(|error| error.to_string()).and(joined), session)
}

fn ended(served: Result<(), String>, session: &Session) -> Exit {
    match served {
        Ok(()) => Exit::Success,
        Err(message) => {
            session.printer.error(&format!("the connection fails: {message}"));
            Exit::Input
        }
    }
}
