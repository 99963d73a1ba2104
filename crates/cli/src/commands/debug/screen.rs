//! A grid of characters with styles: what a terminal shows, and what tests keep.

use std::fmt::Write as _;

/// How a character looks. Threads have colours by their numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Look {
    pub(crate) strong: bool,
    pub(crate) colour: Option<Colour>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Colour {
    Thread(u32),
    Change,
    Bad,
    Dim,
}

impl Look {
    pub(crate) const PLAIN: Look = Look { strong: false, colour: None };
    pub(crate) const STRONG: Look = Look { strong: true, colour: None };

    pub(crate) fn of(colour: Colour) -> Look {
        Look { strong: false, colour: Some(colour) }
    }

    /// The sequence that switches to it.
    fn code(self) -> String {
        let colour = match self.colour {
            None => String::new(),
            Some(Colour::Thread(thread)) => format!(";{}", [36, 35, 34, 32, 33][thread as usize % 5]),
            Some(Colour::Change) => ";33".to_string(),
            Some(Colour::Bad) => ";31".to_string(),
            Some(Colour::Dim) => ";90".to_string(),
        };
        format!("\x1b[0{}{colour}m", if self.strong { ";1" } else { "" })
    }
}

/// A rectangle of the screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Area {
    pub(crate) x: usize,
    pub(crate) y: usize,
    pub(crate) width: usize,
    pub(crate) height: usize,
}

pub(crate) struct Screen {
    width: usize,
    cells: Vec<(char, Look)>,
}

impl Screen {
    pub(crate) fn new(width: usize, height: usize) -> Screen {
        Screen { width, cells: vec![(' ', Look::PLAIN); width * height] }
    }

    /// Writes a text from a place on, up to a column; what is longer is cut.
    pub(crate) fn text(&mut self, x: usize, y: usize, end: usize, text: &str, look: Look) -> usize {
        let mut column = x;
        for char in text.chars() {
            if column >= end.min(self.width) || (y + 1) * self.width > self.cells.len() {
                break;
            }
            self.cells[y * self.width + column] = (if char.is_control() { ' ' } else { char }, look);
            column += 1;
        }
        column
    }

    /// A frame with a title; the area inside.
    pub(crate) fn frame(&mut self, area: Area, title: &str) -> Area {
        let Area { x, y, width, height } = area;
        if width < 2 || height < 2 {
            return Area { width: 0, height: 0, ..area };
        }
        let bar = "─".repeat(width - 2);
        let end = x + width;
        self.text(x, y, end, &format!("┌{bar}┐"), Look::of(Colour::Dim));
        self.text(x, y + height - 1, end, &format!("└{bar}┘"), Look::of(Colour::Dim));
        for row in y + 1..y + height - 1 {
            self.text(x, row, end, "│", Look::of(Colour::Dim));
            self.text(end - 1, row, end, "│", Look::of(Colour::Dim));
        }
        self.text(x + 2, y, end - 1, title, Look::PLAIN);
        Area { x: x + 1, y: y + 1, width: width - 2, height: height - 2 }
    }

    /// A line of parts with their looks, inside of an area.
    pub(crate) fn line(&mut self, area: Area, row: usize, parts: &[(String, Look)]) {
        if row >= area.height {
            return;
        }
        let mut x = area.x;
        for (text, look) in parts {
            x = self.text(x, area.y + row, area.x + area.width, text, *look);
        }
    }

    fn rows(&self) -> impl Iterator<Item = &[(char, Look)]> {
        self.cells.chunks(self.width.max(1))
    }

    /// The characters alone, without blanks at the ends of lines.
    #[cfg(test)]
    pub(crate) fn plain(&self) -> String {
        let row = |row: &[(char, Look)]| row.iter().map(|(char, _)| *char).collect::<String>().trim_end().to_string();
        self.rows().map(row).collect::<Vec<_>>().join("\n") + "\n"
    }

    /// What draws the screen in a terminal, from its upper left corner on.
    pub(crate) fn sequence(&self) -> String {
        let mut out = String::from("\x1b[H");
        for (number, row) in self.rows().enumerate() {
            let mut look = None;
            let _ = write!(out, "\x1b[{};1H", number + 1);
            for (char, wanted) in row {
                if look != Some(*wanted) {
                    out.push_str(&wanted.code());
                    look = Some(*wanted);
                }
                out.push(*char);
            }
        }
        out + "\x1b[0m"
    }
}
