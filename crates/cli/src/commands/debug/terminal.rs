//! The terminal: one key at a time goes in, whole screens come out. Whatever happens in between, the terminal is given
//! back as it was.

use std::io::{self, IsTerminal as _};

use ratatui::DefaultTerminal;
use ratatui::crossterm::event::{self, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use ratatui::crossterm::execute;
use ratatui::crossterm::terminal::{BeginSynchronizedUpdate, EndSynchronizedUpdate};

use super::app::{App, Key};
use super::draw::draw;

pub(super) struct Terminal {
    inner: DefaultTerminal,
}

impl Terminal {
    /// Takes the terminal over, or says why not.
    pub(super) fn open() -> Result<Terminal, String> {
        if !(io::stdin().is_terminal() && io::stdout().is_terminal()) {
            return Err("the debugger needs a terminal; `selvedge check --html` writes a page instead".to_string());
        }
        let inner = ratatui::try_init().map_err(|error| format!("cannot set the terminal: {error}"))?;
        Ok(Terminal { inner })
    }

    /// Draws everything. Terminals that know how show it all at once.
    pub(super) fn show(&mut self, app: &App<'_, '_>) -> io::Result<()> {
        execute!(io::stdout(), BeginSynchronizedUpdate)?;
        self.inner.draw(|frame| draw(app, frame))?;
        execute!(io::stdout(), EndSynchronizedUpdate)
    }

    /// Waits for a key, or for another size of the screen. Keys that mean nothing are passed over.
    pub(super) fn key(&self) -> io::Result<Option<Key>> {
        loop {
            match event::read()? {
                Event::Key(event) if event.kind != KeyEventKind::Release => {
                    if let Some(key) = key_of(event) {
                        return Ok(Some(key));
                    }
                }
                Event::Resize(..) => return Ok(None),
                _ => {}
            }
        }
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // A failure here cannot be reported.
        let _ = ratatui::try_restore();
    }
}

/// Returns what a key means here. `Ctrl-C` quits as it would in any other program.
pub(super) fn key_of(event: KeyEvent) -> Option<Key> {
    if event.modifiers.contains(KeyModifiers::CONTROL) {
        return matches!(event.code, KeyCode::Char('c' | 'd')).then_some(Key::Interrupt);
    }
    Some(match event.code {
        KeyCode::Up => Key::Up,
        KeyCode::Down => Key::Down,
        KeyCode::Right => Key::Right,
        KeyCode::Left => Key::Left,
        KeyCode::Home => Key::Home,
        KeyCode::End => Key::End,
        KeyCode::PageUp => Key::PageUp,
        KeyCode::PageDown => Key::PageDown,
        KeyCode::Enter => Key::Enter,
        KeyCode::Esc => Key::Escape,
        KeyCode::Backspace => Key::Backspace,
        KeyCode::Char(char) => Key::Char(char),
        _ => return None,
    })
}
