//! The input languages, one folder each: lexer, parser, resolver, formatter and lowering to the representation.
//!
//! A reader never fails. It returns as much of the program as it could read, and the [`diagnostic::Diagnostic`]s.

pub mod bp;
pub mod c;
pub mod codes;
pub mod diagnostic;
mod file_options;
pub mod files;
mod foreign;
pub mod fp;
pub mod gcl;
mod load;
pub mod pds;
pub mod source;
pub mod spec;
mod suggest;
pub mod tokens;
pub mod tts;
pub mod visible;
mod words;

pub use file_options::FileOptions;
pub use load::{Dialect, Extern, Language, LoadOptions, Loaded, System, load};
pub use source::{Context, Position, Source};
pub use suggest::nearest;
