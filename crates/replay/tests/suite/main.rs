//! Tests of the judge: the meaning of steps, traces, and certificates.

mod certificate;
mod cover;
mod evidence;
mod integers;
mod interpreter;
mod machine;
mod replay;
mod threads;
mod trust;
