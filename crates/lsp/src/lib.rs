//! Selvedge for editors: a language server, and a debug adapter that walks through executions.
//!
//! Both speak their protocol over the streams that they are given and print nothing.

pub mod dap;
mod found;
mod frames;
pub mod server;

pub use found::SessionOptions;
