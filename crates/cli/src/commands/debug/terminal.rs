//! The terminal: one key at a time goes in, whole screens come out.
//!
//! `stty` switches a Unix terminal to single keys and back; whatever happens in between, the switch back is made.

use std::io::{self, IsTerminal as _, Read as _, Write as _};
use std::process::{Command, Stdio};

use super::app::Key;
use super::screen::Screen;

pub(super) struct Terminal {
    /// How the terminal was set before.
    before: String,
}

impl Terminal {
    /// Takes the terminal over, or says why not.
    pub(super) fn open() -> Result<Terminal, String> {
        if !(io::stdin().is_terminal() && io::stdout().is_terminal()) {
            return Err("the debugger needs a terminal; `selvedge check --html` writes a page instead".to_string());
        }
        let before = stty(&["-g"]).map_err(|error| format!("cannot ask the terminal for its settings: {error}"))?;
        stty(&["-icanon", "-echo", "min", "1", "time", "0"])
            .map_err(|error| format!("cannot set the terminal: {error}"))?;
        let terminal = Terminal { before: before.trim().to_string() };
        // The other screen, without cursor, so that what stood there comes back in the end.
        terminal.write("\x1b[?1049h\x1b[?25l").map_err(|error| error.to_string())?;
        Ok(terminal)
    }

    /// Columns and rows.
    pub(super) fn size(&self) -> (usize, usize) {
        let size = stty(&["size"]).unwrap_or_default();
        let mut numbers = size.split_whitespace().filter_map(|number| number.parse::<usize>().ok());
        let (rows, columns) = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0));
        if rows == 0 || columns == 0 { (80, 24) } else { (columns, rows) }
    }

    pub(super) fn show(&self, screen: &Screen) -> io::Result<()> {
        self.write(&screen.sequence())
    }

    fn write(&self, text: &str) -> io::Result<()> {
        let mut out = io::stdout().lock();
        out.write_all(text.as_bytes())?;
        out.flush()
    }

    /// Waits for a key; `None` at the end of the input. Keys that mean nothing are passed over.
    pub(super) fn key(&self) -> io::Result<Option<Key>> {
        loop {
            let mut bytes = [0; 16];
            match io::stdin().lock().read(&mut bytes)? {
                0 => return Ok(None),
                length => {
                    if let Some(key) = key_of(&bytes[..length]) {
                        return Ok(Some(key));
                    }
                }
            }
        }
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // There is nobody left to tell if this fails.
        let _ = self.write("\x1b[?25h\x1b[?1049l");
        let _ = stty(&[&self.before]);
    }
}

/// The key that a terminal sends these bytes for.
pub(super) fn key_of(bytes: &[u8]) -> Option<Key> {
    Some(match bytes {
        b"\x1b[A" | b"\x1bOA" => Key::Up,
        b"\x1b[B" | b"\x1bOB" => Key::Down,
        b"\x1b[C" | b"\x1bOC" => Key::Right,
        b"\x1b[D" | b"\x1bOD" => Key::Left,
        b"\x1b[H" | b"\x1bOH" | b"\x1b[1~" | b"\x1b[7~" => Key::Home,
        b"\x1b[F" | b"\x1bOF" | b"\x1b[4~" | b"\x1b[8~" => Key::End,
        b"\x1b" => Key::Escape,
        b"\r" | b"\n" => Key::Enter,
        b"\x7f" | b"\x08" => Key::Backspace,
        bytes => {
            let char = std::str::from_utf8(bytes).ok()?.chars().next()?;
            (!char.is_control()).then_some(Key::Char(char))?
        }
    })
}

fn stty(arguments: &[&str]) -> io::Result<String> {
    let output = Command::new("stty").args(arguments).stdin(Stdio::inherit()).output()?;
    if output.status.success() {
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    } else {
        Err(io::Error::other(String::from_utf8_lossy(&output.stderr).trim().to_string()))
    }
}
