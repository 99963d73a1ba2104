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
//! solver takes differences and, for each place where the relation stands in a term, evaluates the term with the
//! difference in that place and the full values in all others. [`Order`] says which differences are taken when.
//!
//! *Invariant.* Values hold consequences of the equations only. Whatever an equation yields from tuples none of which
//! waits in a difference is in the value of its left-hand side. While a difference is being propagated the invariant is
//! broken for its tuples.
//!
//! *End.* Every step takes a difference that is not empty. A difference becomes nonempty only together with a value
//! that gains a tuple, and there are finitely many tuples.
//!
//! *Why it is right.* Every operation of a term distributes over unions in each place of a relation. So what a term
//! yields for the grown values is what it yielded before and what it yields with some new tuple in some place; the
//! latter is evaluated, with all other places filled with supersets of what is due. At the end no tuple waits, and the
//! invariant says that the values are a solution; they are the least one since they hold consequences only.

mod solve;
mod system;
mod term;

pub use solve::{Change, Order, Solution, Unwatched, Watch};
pub use system::{IllFormed, RelId, System};
pub use term::Term;
