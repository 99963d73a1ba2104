//! Steps as relations in decision diagrams.

pub mod begin;
pub mod expr;
pub mod layout;
pub mod pick;
pub mod step;
