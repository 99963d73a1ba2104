//! Partners of the reader of C: generated programs that the compiler of the machine compiles and runs.

pub mod compiler;
mod concurrent;
mod expr;
mod maker;
pub mod pointers;
mod program;
pub mod sequential;
mod stmt;
pub mod texts;
pub mod threads;
mod types;
