//! Reports for people: the result, the trace, the last line.

pub(crate) mod block;
mod each;
mod folds;
mod layout;
mod result;
mod summary;
mod trace;

pub use block::no_answer;
pub use each::place_of;
pub(crate) use layout::cut;
pub use result::{
    Detail, SECOND_SOLVER, Style, WIDTH, certificate_text, far_text, grouped, initial_threads, remark, report, scope,
    target,
};
pub(crate) use result::{
    asked_labels, contexts_text, cutoff_text, engine_end, meeting_text, nothing_checked, seconds, unreachable_asserts,
};
pub use summary::{Row, crosscheck, summary};
pub use trace::{change_text, event_text, trace};
