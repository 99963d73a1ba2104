//! `selvedge lsp` and `selvedge dap`: the servers for editors, on standard input and output.

use std::io::{self, stdin, stdout};

use selvedge_lsp::{dap, server};

use crate::exit::Exit;
use crate::session::Session;

pub(crate) fn dap(session: &Session) -> Exit {
    ended(dap::serve(&mut stdin().lock(), &mut stdout().lock(), &session.solvers, session.dialect), session)
}

pub(crate) fn lsp(session: &Session) -> Exit {
    ended(server::serve(&mut stdin().lock(), &mut stdout(), &session.solvers, session.dialect), session)
}

fn ended(served: io::Result<()>, session: &Session) -> Exit {
    match served {
        Ok(()) => Exit::Success,
        Err(error) => session.refuse(Exit::Input, format!("the connection fails: {error}")),
    }
}
