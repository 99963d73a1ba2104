//! Reports for people: the result, the trace, the last line.

mod crosscheck;
mod each;
mod layout;
mod reachable;
mod result;
mod summary;
mod trace;

pub use crosscheck::{Opinion, crosscheck};
pub use each::{answer_word, each, each_line, place_of};
pub(crate) use layout::cut;
pub use reachable::{reachable, reachable_line, reachable_reason, status_word};
pub use result::{
    Asked, Detail, Style, certificate_text, initial_threads, no_answer, reason, remark, report, scope, target,
    verdict_line, verdict_word,
};
pub(crate) use result::{contexts_text, cutoff_text, meeting_text, reason_text, seconds, unreachable_asserts};
pub use summary::{Row, summary};
pub use trace::{change_text, event_text, trace};
