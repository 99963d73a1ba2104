//! Panics inside a check: each is caught in the thread where it happens, with its message and place.

use std::any::Any;
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, PanicHookInfo, catch_unwind};

use selvedge_check::Stop;

thread_local! {
    /// The message of the last panic of this thread, and its place.
    static LAST: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// A panic that was caught.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Panic {
    /// Its message, and its place if [`install`] was called before.
    pub message: String,
}

impl Panic {
    /// Returns the reason to stop, if the panic is not a defect: libraries panic where the system refuses a thread.
    pub fn stop(&self) -> Option<Stop> {
        let is_refused = ["failed to spawn thread", "ThreadPoolBuildError", "kind: WouldBlock"];
        is_refused.iter().any(|words| self.message.contains(words)).then_some(Stop::NoThread)
    }
}

/// Keeps the messages of panics instead of printing them.
pub fn install() {
    std::panic::set_hook(Box::new(|info| {
        let message = describe(info);
        LAST.with(|last| last.replace(Some(message)));
    }));
}

fn describe(info: &PanicHookInfo<'_>) -> String {
    let place = info.location().map(|location| format!(" (at {}:{})", location.file(), location.line()));
    format!("{}{}", text(info.payload()), place.unwrap_or_default())
}

fn text(payload: &(dyn Any + Send)) -> &str {
    let text = payload.downcast_ref::<&str>().copied().or_else(|| payload.downcast_ref::<String>().map(String::as_str));
    text.unwrap_or("a panic without a message")
}

/// Returns the result of some work, or its panic. Nothing that the work may have left half done is used afterwards.
pub fn guard<T>(work: impl FnOnce() -> T) -> Result<T, Panic> {
    LAST.with(RefCell::take);
    catch_unwind(AssertUnwindSafe(work)).map_err(|payload| {
        // A panic that another thread hands on has its message with it, and passes no hook here.
        let message = LAST.with(RefCell::take).unwrap_or_else(|| text(&*payload).to_string());
        Panic { message }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_becomes_its_message_with_its_place() {
        install();
        let message = guard(|| panic!("seven is not prime")).unwrap_err().message;
        assert!(message.starts_with("seven is not prime (at "), "{message}");
        assert!(message.contains("defect.rs:"), "{message}");
        assert_eq!(guard(|| 7), Ok(7));
        let elsewhere = || std::thread::spawn(|| panic!("eight is {}", 8)).join();
        let handed_on = guard(|| elsewhere().unwrap_or_else(|payload| std::panic::resume_unwind(payload)));
        assert_eq!(handed_on.unwrap_err().message, "eight is 8");
    }

    #[test]
    fn a_refused_thread_is_no_defect() {
        let panic = |message: &str| Panic { message: message.to_string() };
        assert_eq!(panic("failed to spawn thread: Os { code: 11 }").stop(), Some(Stop::NoThread));
        let unwrapped =
            "called `Result::unwrap()` on an `Err` value: Os { code: 11, kind: WouldBlock, message: \"..\" }";
        assert_eq!(panic(unwrapped).stop(), Some(Stop::NoThread));
        assert_eq!(panic("seven is not prime").stop(), None);
    }
}
