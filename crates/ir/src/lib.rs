//! The control-flow representation of programs, Boolean and integer programs alike.
//!
//! Read [`syntax`] first: it holds the types and no code. Everything else is derived from it: [`flow`] indexes the
//! edges by location, [`visit`] walks expressions, [`machine`] computes with machine integers, [`simplify`] shortens
//! them, [`validate`] says what a well-formed program is, [`text`] prints and reads programs, [`dot`] draws them,
//! [`passes`] transform them. The passes use the analyses [`callgraph`], [`mod_ref`] and [`liveness`], which are built
//! on [`dataflow`]. [`trace`] holds executions, which passes lift, [`mod@bits`] how a program over bits stands for one
//! with machine integers. [`pds`] holds pushdown systems and [`tts`] thread-transition systems; neither are programs.
//!
//! This crate never reads a file, never prints and does not depend on a solver.

#![warn(missing_docs)]

pub mod bits;
pub mod callgraph;
pub mod dataflow;
pub mod dot;
pub mod eval;
pub mod flow;
pub mod fp;
pub mod liveness;
pub mod machine;
pub mod mod_ref;
pub mod passes;
pub mod pds;
pub mod ranges;
pub mod simplify;
pub mod slots;
pub mod span;
pub mod syntax;
pub mod target;
pub mod text;
pub mod trace;
pub mod tts;
pub mod validate;
pub mod visibility;
pub mod visit;

pub use syntax::{
    Assign, BinaryOp, Call, Count, Edge, EdgeId, Entry, EntryId, Expr, Label, Let, Loc, LocId, MachineOp, MachineTy,
    Op, Proc, ProcId, Program, Scope, Spawn, Ty, UnaryOp, Value, Var, VarId,
};
pub use target::Target;
pub use trace::{Fresh, Start, StartThread, Step, ThreadId, Trace};
