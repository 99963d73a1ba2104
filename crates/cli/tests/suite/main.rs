//! Tests of the program as its users see it: exit code, standard output and standard error, pages of reports in a
//! browser, the servers for editors, the debugger in a terminal, and the commands of the guide.
//!
//! The engine and the passes are named where an answer is kept word by word, so that new engines do not change it.
//! `INSTA_UPDATE=always cargo test -p selvedge-cli` rewrites the snapshots; read the difference.

mod batch;
mod boom;
mod browser;
mod c;
mod check;
mod commands;
mod contexts;
mod deadlock;
mod each;
mod editor;
mod faults;
mod files;
mod formats;
mod gcl;
mod guide;
mod harness;
mod hostile;
mod interchange;
mod json;
mod limits;
mod numbers;
mod options;
mod projects;
mod reachable;
mod replay;
mod rounds;
mod schema;
mod solvers;
mod systems;
mod terminal;
mod tts;
mod usage;
mod verify;
mod witness;
mod workflows;
