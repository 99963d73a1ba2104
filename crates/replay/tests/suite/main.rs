//! Tests of the judge: the meaning of steps, traces, and certificates.

mod certificate;
mod claims;
mod commuting;
mod cover;
mod deadlock;
#[cfg(not(miri))] // The records take hours there.
mod evidence;
#[cfg(not(miri))] // Miri starts no solver.
mod integers;
mod interpreter;
mod invariants;
mod machine;
mod macro_steps;
mod misfits;
mod predicates;
mod random;
mod replay;
mod systems;
mod threads;
#[cfg(not(miri))] // It reads sources and runs nothing.
mod trust;
mod unwound;
mod views;
mod words;
