//! Messages on a stream, as the language server and the debug adapter read and write them: a header with the length,
//! then JSON.
//!
//! Nothing that a client sends makes the reader take more memory than a message may have. A message that cannot be read
//! is skipped and reported, and the next one is read: where its length is known, behind it, else from the next
//! `Content-Length:` on. A stream without one for as long as a message may be has none at all, and is read no further.

use std::io::{self, BufRead, ErrorKind, Read as _, Write};

use serde_json::Value;

/// Limit on the length of a message.
const MAX_LENGTH: u64 = 64 << 20;

/// Limit on the length of a line of a header.
const MAX_LINE: usize = 1024;

/// Limit on the number of lines of a header.
const MAX_LINES: usize = 32;

/// The header that every message has.
const LENGTH: &[u8] = b"Content-Length:";

/// A message, or a sentence that says why it cannot be read.
pub(crate) type Frame = Result<Value, String>;

/// The reader of a stream.
pub(crate) struct Frames<'s> {
    input: &'s mut dyn BufRead,
    /// The number of bytes of the last message that are still to be skipped.
    unread: u64,
    /// Whether the end of the last message is not known.
    is_lost: bool,
}

impl<'s> Frames<'s> {
    pub(crate) fn new(input: &'s mut dyn BufRead) -> Frames<'s> {
        Frames { input, unread: 0, is_lost: false }
    }

    /// Reads the next message; `None` at the end of the stream. An end inside of a message is an error.
    pub(crate) fn next(&mut self) -> io::Result<Option<Frame>> {
        let unread = std::mem::take(&mut self.unread);
        if io::copy(&mut (&mut *self.input).take(unread), &mut io::sink())? < unread {
            return Err(cut_off());
        }
        let length = match self.header()? {
            None => return Ok(None),
            Some(Ok(length)) => length,
            Some(Err(message)) => {
                self.is_lost = true;
                return Ok(Some(Err(message)));
            }
        };
        if length > MAX_LENGTH {
            self.unread = length;
            return Ok(Some(Err(format!("messages of more than {MAX_LENGTH} bytes are not read: this has {length}"))));
        }
        let mut bytes = Vec::new();
        (&mut *self.input).take(length).read_to_end(&mut bytes)?;
        if (bytes.len() as u64) < length {
            return Err(cut_off());
        }
        Ok(Some(serde_json::from_slice(&bytes).map_err(|error| format!("this is not JSON: {error}"))))
    }

    /// Reads a header up to its empty line: the length of the message, or what is wrong with it.
    fn header(&mut self) -> io::Result<Option<Result<u64, String>>> {
        let mut length = None;
        if std::mem::take(&mut self.is_lost) {
            if !self.skip_to_length()? {
                return Ok(None);
            }
            match self.line()? {
                Some(line) => length = Some(number(&line)),
                None => return Ok(Some(Err(too_long()))),
            }
        }
        for number_of_lines in 0..MAX_LINES {
            if self.input.fill_buf()?.is_empty() {
                let is_clean = number_of_lines == 0 && length.is_none();
                return if is_clean { Ok(None) } else { Err(cut_off()) };
            }
            let Some(line) = self.line()? else { return Ok(Some(Err(too_long()))) };
            if line.is_empty() {
                return Ok(Some(length.unwrap_or_else(|| Err("the header has no Content-Length".to_string()))));
            }
            let is_length = line.get(..LENGTH.len()).is_some_and(|name| name.eq_ignore_ascii_case(LENGTH));
            if is_length {
                length = Some(number(&line[LENGTH.len()..]));
            }
        }
        Ok(Some(Err(format!("a header has at most {MAX_LINES} lines"))))
    }

    /// Reads a line without its end; `None` if it is too long.
    fn line(&mut self) -> io::Result<Option<Vec<u8>>> {
        let mut line = Vec::new();
        (&mut *self.input).take(MAX_LINE as u64).read_until(b'\n', &mut line)?;
        if line.len() == MAX_LINE && !line.ends_with(b"\n") {
            return Ok(None);
        }
        Ok(Some(line.trim_ascii_end().to_vec()))
    }

    /// Skips to behind the next name of the length. Returns whether there is one before the end of the stream. That
    /// there is none for as long as a message may be is an error.
    fn skip_to_length(&mut self) -> io::Result<bool> {
        let (mut matched, mut skipped) = (0, 0);
        while skipped <= MAX_LENGTH {
            let buffer = self.input.fill_buf()?;
            if buffer.is_empty() {
                return Ok(false);
            }
            let mut used = 0;
            // Only its first byte is a capital C, so that a match that fails begins anew at this byte or later.
            for byte in buffer {
                used += 1;
                matched = match () {
                    () if *byte == LENGTH[matched] => matched + 1,
                    () => usize::from(*byte == LENGTH[0]),
                };
                if matched == LENGTH.len() {
                    break;
                }
            }
            self.input.consume(used);
            skipped += used as u64;
            if matched == LENGTH.len() {
                return Ok(true);
            }
        }
        Err(io::Error::new(ErrorKind::InvalidData, format!("there is no message in the last {MAX_LENGTH} bytes")))
    }
}

/// Returns the number in a header.
fn number(text: &[u8]) -> Result<u64, String> {
    let text = String::from_utf8_lossy(text.trim_ascii()).into_owned();
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let number = if is_number { text.parse().ok() } else { None };
    number.ok_or_else(|| "the Content-Length of the header is not a length".to_string())
}

fn too_long() -> String {
    format!("a line of a header has at most {MAX_LINE} bytes")
}

fn cut_off() -> io::Error {
    io::Error::new(ErrorKind::UnexpectedEof, "the stream ends inside of a message")
}

/// Writes a message.
pub(crate) fn write(output: &mut dyn Write, message: &Value) -> io::Result<()> {
    let text = message.to_string();
    write!(output, "Content-Length: {}\r\n\r\n{text}", text.len())?;
    output.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns what is read from a stream: messages, `!` for those that cannot be read, and the error at its end.
    fn read(stream: &[u8]) -> Vec<String> {
        let mut input = stream;
        let mut frames = Frames::new(&mut input);
        let mut found = Vec::new();
        loop {
            match frames.next() {
                Ok(None) => return found,
                Ok(Some(frame)) => found.push(frame.map_or_else(|_| "!".to_string(), |value| value.to_string())),
                Err(error) => {
                    found.push(error.to_string());
                    return found;
                }
            }
        }
    }

    const NEXT: &str = "Content-Length: 1\r\n\r\n7";

    #[test]
    fn a_message_that_cannot_be_read_is_reported_and_the_next_is_read() {
        let long = format!("X: {}\r\nContent-Length: 1\r\n\r\n1", "x".repeat(5000));
        let many = format!("{}Content-Length: 1\r\n\r\n1", "X: y\r\n".repeat(40));
        let broken = [
            "Content-Length: -4\r\n\r\nnull",
            "Content-Length: four\r\n\r\nnull",
            "Content-Length: 99999999999999999999999\r\n\r\nnull",
            "Content-Length:\r\n\r\nnull",
            "X: y\r\n\r\nnull CoContent-Lengt Content",
            "Content-Length: 4\r\n\r\nnul!",
            "Content-Length: 2\r\n\r\n\u{E4}",
            "Content-Length: 0\r\n\r\n",
            "\r\n",
        ];
        for text in broken {
            assert_eq!(read(format!("{text}{NEXT}").as_bytes()), ["!", "7"], "{text:?}");
        }
        // Behind a header that cannot be read its own message is the next that can.
        for text in [long, many] {
            let found = read(format!("{text}{NEXT}").as_bytes());
            assert_eq!((found.first().map(String::as_str), found.last().map(String::as_str)), (Some("!"), Some("7")));
        }
        assert_eq!(read(format!("Content-Length: 200\r\n\r\n{}{NEXT}", "[".repeat(200)).as_bytes()), ["!", "7"]);
    }

    #[test]
    fn a_long_message_is_skipped_without_being_kept() {
        let stream = format!("Content-Length: {}\r\n\r\n", MAX_LENGTH + 1).into_bytes();
        let body = std::iter::repeat_n(b' ', MAX_LENGTH as usize + 1);
        let stream: Vec<u8> = stream.into_iter().chain(body).chain(NEXT.bytes()).collect();
        assert_eq!(read(&stream), ["!", "7"]);
    }

    #[test]
    fn a_stream_without_messages_is_not_read_for_ever() {
        let mut input = io::BufReader::new(io::repeat(0));
        let mut frames = Frames::new(&mut input);
        assert!(matches!(frames.next(), Ok(Some(Err(_)))));
        let error = frames.next().expect_err("it has no message");
        assert_eq!(error.to_string(), format!("there is no message in the last {MAX_LENGTH} bytes"));
    }

    #[test]
    fn the_name_of_a_header_has_letters_of_any_case_and_others_are_passed_over() {
        assert_eq!(read(b"Content-Type: x\r\ncontent-LENGTH:2\r\n\r\n77"), ["77"]);
    }

    #[test]
    fn an_end_inside_of_a_message_is_an_error() {
        for text in
            ["Content-Length: 9\r\n\r\nnull", "Content-Length: 9\r\n", "Content-Length: 99999999999999\r\n\r\nx"]
        {
            let found = read(text.as_bytes());
            assert_eq!(found.last().map(String::as_str), Some("the stream ends inside of a message"), "{text:?}");
        }
        assert_eq!(read(b""), Vec::<String>::new());
    }
}
