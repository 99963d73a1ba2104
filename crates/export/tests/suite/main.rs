//! Integration tests of the exporters.

mod promela;
