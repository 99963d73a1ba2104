//! `selvedge lsp` and `selvedge dap`: the servers for editors, on standard input and output.

use crate::exit::Exit;
use crate::session::Session;

pub(crate) fn dap(session: &Session) -> Exit {
    let served =
        selvedge_lsp::dap::serve(&mut std::io::stdin().lock(), &mut std::io::stdout().lock(), &session.solvers);
    ended(served.map_err(|error| error.to_string()), session)
}

pub(crate) fn lsp(session: &Session) -> Exit {
    let (connection, threads) = lsp_server::Connection::stdio();
    let served = selvedge_lsp::server::serve(&connection, &session.solvers);
    drop(connection);
    let joined = threads.join().map_err(|error| error.to_string());
    ended(served.map_err(|error| error.to_string()).and(joined), session)
}

fn ended(served: Result<(), String>, session: &Session) -> Exit {
    match served {
        Ok(()) => Exit::Success,
        Err(message) => session.refuse(Exit::Input, format!("the connection fails: {message}")),
    }
}
