//! The façade over decision diagrams against truth tables, beside a second implementation on another library.

mod oracle;
mod random;
mod small;
mod store;
mod table;
mod twin;
