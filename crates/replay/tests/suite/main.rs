//! Tests of the judge: the meaning of steps, traces, and certificates.

mod certificate;
mod cover;
mod deadlock;
mod evidence;
mod integers;
mod interpreter;
mod replay;
mod threads;
mod trust;
