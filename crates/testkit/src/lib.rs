//! Development only: programs to test the checker with, and harnesses that test it.
//!
//! [`generate`] makes programs as [`model`]s, which [`print`](mod@print) turns into text and [`shrink`](mod@shrink)
//! makes smaller. [`harness`] runs comparisons on many generated programs, systems or texts and shrinks what it finds;
//! each comparison is a module: [`differ`] (passes and the driver), [`engines`], [`threads`], [`unbounded`],
//! [`contexts`], [`rounds`], [`deadlock`], [`calculus`], [`integers`], [`machine`], [`numbers`], [`c`],
//! [`coverability`], [`spin`], [`texts`] and [`verify`]. [`corpus`] and [`literate`] read programs with known verdicts.
//! [`campaign`] runs all comparisons in turns, and [`evidence`] records what the tests of the judge judge again.
//! [`fuzz_targets`] are what `fuzz/` runs on any bytes. [`trials`] run the program itself while the world fails.

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
pub mod c;
pub mod calculus;
pub mod campaign;
pub mod contender;
pub mod contexts;
pub mod deadlock;
pub mod differ;
pub mod engines;
pub mod evidence;
pub mod fuzz_targets;
pub mod harness;
pub mod integers;
pub mod machine;
pub mod numbers;
pub mod rounds;
pub mod texts;
pub mod threads;
pub mod trials;
pub mod tts;
pub mod unbounded;
pub mod verify;
pub mod workers;
