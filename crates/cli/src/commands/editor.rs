//! `selvedge lsp` and `selvedge dap`: the servers for editors, on standard input and output.

use std::io::{self, stdin, stdout};

use selvedge_lsp::{SessionOptions, dap, server};

use crate::exit::Exit;
use crate::session::Session;

pub(crate) fn dap(session: &Session) -> Exit {
    ended(dap::serve(&mut stdin().lock(), &mut stdout(), &session.solvers, options(session)), session)
}

pub(crate) fn lsp(session: &Session) -> Exit {
    ended(server::serve(&mut stdin().lock(), &mut stdout(), &session.solvers, options(session)), session)
}

fn ended(served: io::Result<()>, session: &Session) -> Exit {
    match served {
        Ok(()) => Exit::Success,
        Err(error) => session.refuse(Exit::Input, format!("the connection fails: {error}")),
    }
}

/// Returns the options of all programs.
fn options(session: &Session) -> SessionOptions {
    SessionOptions { dialect: session.dialect, ignores_file_options: session.ignores_file_options }
}
