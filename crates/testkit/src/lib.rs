//! Development only: programs to try the checker on, and harnesses that try it.
//!
//! [`generate`] makes programs as [`model`]s, which [`print`](mod@print) turns into text and [`shrink`](mod@shrink)
//! makes smaller while they show a fault. [`differ`] sends one program along all ways through the checker and compares
//! the answers, [`campaign`] many of them; [`texts`] does the same for broken texts, which [`mutate`](mod@mutate)
//! makes; [`engines`] and [`threads`] compare all engines, [`integers`] those for guarded commands. [`corpus`] and [`literate`] read programs with known verdicts.

pub mod rng;

pub mod model;
pub mod print;
pub mod walk;

pub mod generate;

pub mod edit;
pub mod shrink;

pub mod mutate;

pub mod corpus;
pub mod coverability;
pub mod literate;

pub mod lower;
pub mod metamorph;
pub mod obligations;
pub mod oracle;
pub mod seen;
pub mod spacer;
pub mod spin;
pub mod systems;

pub mod boom;
pub mod calculus;
pub mod campaign;
pub mod contexts;
pub mod differ;
pub mod engines;
pub mod integers;
pub mod rounds;
pub mod texts;
pub mod threads;
pub mod tts;
pub mod unbounded;
pub mod workers;
