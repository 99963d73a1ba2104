//! What a caller of the program sees: exit code, standard output and standard error, for good and bad input.
//!
//! The engine and the passes are named where an answer is kept word by word, so that new engines do not change it.
//! `INSTA_UPDATE=always cargo test -p selvedge-cli` rewrites what is kept; read the difference.

mod boom;
mod check;
mod commands;
mod contexts;
mod each;
mod formats;
mod gcl;
mod harness;
mod interchange;
mod json;
mod limits;
mod reachable;
mod replay;
mod rounds;
mod schema;
mod solvers;
mod systems;
mod tts;
mod usage;
mod verify;
