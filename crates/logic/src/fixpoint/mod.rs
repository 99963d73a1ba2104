//! Least fixed points of systems of equations between relations.
//!
//! A [`System`] declares relations in layers and gives them equations whose right-hand sides are [`Term`]s. Within a
//! layer, terms are positive; the complement of a relation may be taken in a later layer only, when its value is final.
//! So each layer has a least solution over the values of the layers before it, and [`System::solve`] finds it.
//!
//! # The method
//!
//! *Order of work.* Layer after layer. In a layer, first whatever does not depend on its relations is computed once,
//! then each right-hand side with all of them empty. Tuples that are new in a relation wait in its difference. The
//! solver takes differences and, for each occurrence of the relation in a term, evaluates the term with the difference
//! at that occurrence and the full values at all others. [`Order`] determines which differences are taken when.
//!
//! *Invariant.* Values hold consequences of the equations only. The result of an equation for tuples that do not wait
//! in a difference is contained in the value of its left-hand side. While a difference is being propagated, the
//! invariant does not hold for its tuples.
//!
//! *Termination.* Every step takes a difference that is not empty. A difference becomes nonempty only together with a
//! value that gains a tuple, and there are finitely many tuples.
//!
//! *Correctness.* Every operation of a term distributes over unions at each occurrence of a relation. So the result of
//! a term for the grown values is its previous result together with its results with some new tuple at some occurrence;
//! the latter are evaluated, with supersets of the required values at all other occurrences. At the end no tuple waits,
//! and by the invariant the values are a solution; they are the least one since they only hold consequences.

mod solve;
mod system;
mod term;

pub use solve::{Change, Order, Watch};
pub use system::{RelId, System};
pub use term::Term;
