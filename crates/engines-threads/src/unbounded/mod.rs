//! Any number of threads, without recursion: chapters 8 and 9 of the thesis behind Boom.
//!
//! No step requires the absence of another thread, so more threads can do whatever fewer threads can. Whether an error
//! can be reached is a question of coverability, which is decidable.
//!
//! - [`karp_miller`]: the set of all that can be covered, on decision diagrams.
//! - [`coverability`]: coverability in thread-transition systems.
//! - [`facts`]: views of a few threads again, as conjunctions of facts that no step makes false.
//! - [`horn`]: views of one or two threads, as what Spacer finds for Horn clauses.
//! - [`predicates`]: predicate abstraction with refinement, for wide numbers, on top of the others.
//! - [`views`]: abstraction by views of a few threads, on the program itself, in decision diagrams.

pub mod coverability;
pub mod facts;
pub mod horn;
pub mod karp_miller;
pub mod predicates;
pub mod views;

mod choose;

pub use selvedge_transition::support::{supports_broadcasts, supports_unbounded as supports};
