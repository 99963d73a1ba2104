//! Reports of our own defects: the message, and a command line that reproduces it.

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, PanicHookInfo, catch_unwind};

thread_local! {
    /// The message of the last panic of this thread, and its place.
    static LAST: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Keeps the message of a panic instead of printing it.
pub(crate) fn install() {
    std::panic::set_hook(Box::new(|info| {
        let message = describe(info);
        LAST.with(|last| last.replace(Some(message)));
    }));
}

fn describe(info: &PanicHookInfo<'_>) -> String {
    let payload = info.payload();
    let text = payload.downcast_ref::<&str>().copied().or_else(|| payload.downcast_ref::<String>().map(String::as_str));
    let message = text.unwrap_or("a panic without a message");
    let place = info.location().map(|location| format!(" (at {}:{})", location.file(), location.line()));
    format!("{message}{}", place.unwrap_or_default())
}

/// The result of some work, or what its panic said. Nothing that the work may have left half done is used afterwards.
pub(crate) fn guard<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|_| last_message())
}

fn last_message() -> String {
    LAST.with(RefCell::take).unwrap_or_else(|| "a panic without a message".to_string())
}

/// The text of an internal error.
pub(crate) fn report(message: &str) -> String {
    let words: Vec<String> = std::env::args().map(|word| quoted(&word)).collect();
    let stdin = if words.iter().any(|word| word == "-") { "\n  with the same standard input" } else { "" };
    format!(
        "internal error: {message}\n  This is a mistake in Selvedge, not in the program. To reproduce it:\n    \
         {}{stdin}\n",
        words.join(" ")
    )
}

/// A word as a shell reads it.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./=,:+@%".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_string();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_becomes_its_message_with_its_place() {
        install();
        let message = guard(|| panic!("seven is not prime")).unwrap_err();
        assert!(message.starts_with("seven is not prime (at "), "{message}");
        assert!(message.contains("crash.rs:"), "{message}");
        assert_eq!(guard(|| 7), Ok(7));
    }

    #[test]
    fn words_are_quoted_for_the_shell() {
        assert_eq!(quoted("--threads=3"), "--threads=3");
        assert_eq!(quoted("my file.bp"), "'my file.bp'");
        assert_eq!(quoted("it's"), r"'it'\''s'");
        assert_eq!(quoted(""), "''");
    }
}
