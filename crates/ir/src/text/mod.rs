//! The textual form of programs, for tests and for people: `parse(&print(p)) == Ok(p)` for every valid program.
//!
//! One declaration or edge per line; indentation and blank lines mean nothing; `//` begins a comment.
//!
//! ```text
//! shared x: bool, n: int
//! thread t: bool
//! init x := F, n := ?0:int
//!
//! proc main() from L0 to L3
//!   local l: bool
//!   label START: L0
//!   e0 L0 -> L1: l := call f(x | ?0)
//!   e1 L1 -> L2: x := !l, t := ?0 constrain x' = (if t then l else t')
//!   e2 L2 -> L3: return
//! proc f(p: bool) returns bool from L4 to L5
//!   e3 L4 -> L5: return !p
//!
//! start main: main exactly 1 with t init t := T
//! target e3, L2
//! ```
//!
//! - *Numbers.* Locations carry their numbers; `loc L7` declares one that nothing mentions. Edges are numbered in the
//!   order of the text unless they carry a number.
//! - *Names* are written plain where they can be, and otherwise between backquotes: `` `{x==1}` ``. `x@3` is the
//!   variable number 3, whose name is `x`; variables are numbered in the order of their declarations unless they carry
//!   a number. A name without a number means the local variable before the global one.
//! - *Operations* are `skip`, `assume e`, `assert e`, `x := e, y$ := e constrain c`, `x, _ := call f(e)`, `return e,
//!   e`, `spawn f(e)`, `fork L1`, `end`, `atomic_begin` and `atomic_end`; then perhaps `ensures e`.
//! - *Expressions*, from the tightest: `x`, `x'` (after the step), `x$` and `x$'` (in another thread), `?0` and
//!   `?0:int` (choices), `T`, `F`, numbers, `divisible(3, e)`; `!`, `-`; `*`; `+`, `-`; `=`, `!=`, `<`, `<=`; `&`; `|`;
//!   `^`; `=>`; `if e then e else e`. Operators of one level associate to the left.
//! - *Machine integers* have types like `i32` and `u8`. Constants carry them (`-3:i8`), and so do choices (`?0:u8`) and
//!   operators, which are written as functions: `u8.add(x, y)`, `i8.lt(x, 0:i8)`, and `u8.i32(x)` for a cast.
//! - *Shared parts*: `let #0 = x & y; #1 = #0 | z in #0 = #1`. A definition sees those before it.
//! - *Kinds of threads*: `start NAME: PROC`, then `exactly 2`, `at most 2` or `any`, then the per-thread variables and
//!   their initial values. `start main` alone is `start main: main exactly 1`.

mod lex;
mod names;
mod parse;
mod parse_expr;
mod print;

use crate::syntax::BinaryOp;

pub use names::Names;
pub use parse::{ParseError, parse, parse_expr, parse_with_target};
pub use print::{expr, expr_with, op, op_with, print, print_target, print_with_target};

/// Returns whether a word is not a plain name.
fn is_keyword(word: &str) -> bool {
    let keywords = "T F _ any assert assume at atomic_begin atomic_end bool call constrain divisible else end ensures \
                    exactly fork from if init int label loc local most prelude proc return returns shared skip spawn \
                    start target then thread to with";
    keywords.split(' ').any(|keyword| keyword == word)
}

/// The binary operators with their signs and their levels; those of higher levels bind more tightly.
const OPERATORS: [(BinaryOp, &str, u32); 11] = [
    (BinaryOp::Implies, "=>", 1),
    (BinaryOp::Xor, "^", 2),
    (BinaryOp::Or, "|", 3),
    (BinaryOp::And, "&", 4),
    (BinaryOp::Eq, "=", 5),
    (BinaryOp::Ne, "!=", 5),
    (BinaryOp::Lt, "<", 5),
    (BinaryOp::Le, "<=", 5),
    (BinaryOp::Add, "+", 6),
    (BinaryOp::Sub, "-", 6),
    (BinaryOp::Mul, "*", 7),
];

#[cfg(test)]
mod tests;
