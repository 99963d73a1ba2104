//! Explicit valuations.
