//! Selvedge for editors: a language server, and a debug adapter that walks through executions.
//!
//! Both speak their protocol over the streams that they are given and print nothing.

pub mod dap;
mod found;
mod frames;
pub mod server;

pub use found::SessionOptions;

use std::panic::{AssertUnwindSafe, catch_unwind};

/// Does some work; a panic in it is our mistake, and the server goes on. Nothing that the work may have left half done
/// is used afterwards.
fn guarded<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|panic| {
        let message = panic.downcast_ref::<&str>().map(|text| (*text).to_string());
        let message = message.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default();
        format!("internal error: {message}: please report this")
    })
}
