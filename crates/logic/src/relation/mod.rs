//! Relations: decision diagrams with named columns.
//!
//! A column is a vector of bits, usually a state vector: the globals, the locals, their copies at the entry of a
//! procedure, their values after a step. A [`Relation`] is a set of tuples with one vector for each of its columns.
//! Columns are declared in groups of equal width on a [`Plan`]; in the order of variables, bit `i` of all columns of a
//! group are adjacent, which makes comparing and renaming them cheap. A [`Space`] is a finished plan with its store of
//! nodes.
//!
//! The equations of a paper read like this, with `H(g0, g1)` a set of path edges and `step(g1, g2)` a statement:
//!
//! ```
//! use selvedge_logic::bdd::Limits;
//! use selvedge_logic::relation::Plan;
//!
//! let mut plan = Plan::new();
//! let [g0, g1, g2] = plan.group(4, ["g0", "g1", "g2"]);
//! let space = plan.build(Limits { nodes: 1 << 12, cache: 1 << 10 });
//! let path = space.equal(g0, g1)?;
//! let low = space.manager().literal(space.var(g1, 0), false)?;
//! let step = space.equal(g1, g2)?.join(&space.relation(low, &[g1]))?;
//! let next = path.join_project(&step, &[g0, g2])?.rename(&[(g2, g1)])?;
//! assert_eq!(next.count(), Some(8));
//! # Ok::<(), selvedge_logic::bdd::OutOfNodes>(())
//! ```
//!
//! Operations panic if they do not fit the columns of their operands.

mod space;
mod table;

pub use space::{Column, Plan, Space};
pub use table::Relation;
