//! Line breaks in a statement.
//!
//! A statement is a list of pieces. Lines are filled: at each possible break, the line breaks if the text up to the
//! next possible break of the same or an outer group does not fit. So a group that fits on its own line is moved there
//! before it is broken up. After an element of a list that was broken up, the line always breaks. The lookahead ends
//! after one line's width, so the time is linear.

use std::borrow::Cow;

/// The maximum width of a line, unless it cannot be broken.
const WIDTH: usize = 100;
/// Deep nesting does not indent beyond this column.
const MAX_INDENT: usize = 60;

/// A part of a statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Piece<'t> {
    Word(Cow<'t, str>),
    /// A space that stays.
    Space,
    /// A space or the end of a line.
    Break(Between),
    /// The end of a line.
    Line,
    /// Begins a group, whose lines are indented by this much more than those of the group around it.
    Open(usize),
    Close,
}

/// The parts that a possible line break separates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Between {
    /// Operands of an operator.
    Operands,
    /// Elements of a list or parts of a statement: it breaks after one that takes several lines.
    Parts,
}

/// A group that has begun and not ended.
struct Group {
    indent: usize,
    /// True if a line broke in it.
    broke: bool,
    /// True if a line broke in an inner group since the last possible break of its own.
    torn: bool,
}

impl Group {
    fn new(indent: usize) -> Group {
        Group { indent, broke: false, torn: false }
    }
}

/// Appends the pieces to the open line at the end of `out`, whose statement is indented by `indent`.
pub(super) fn fill(pieces: &[Piece<'_>], indent: usize, out: &mut String) {
    let mut outer = Vec::new();
    let mut group = Group::new(indent);
    let mut column = out.chars().rev().take_while(|letter| *letter != '\n').count();
    for (index, piece) in pieces.iter().enumerate() {
        let stays = match piece {
            Piece::Word(word) => {
                out.push_str(word);
                column = column_after(column, word);
                continue;
            }
            Piece::Open(more) => {
                let indent = (group.indent + more).min(MAX_INDENT.max(group.indent));
                outer.push(std::mem::replace(&mut group, Group::new(indent)));
                continue;
            }
            Piece::Close => {
                let broke = group.broke;
                group = outer.pop().unwrap_or(group);
                group.broke |= broke;
                group.torn |= broke;
                continue;
            }
            Piece::Space => true,
            Piece::Break(Between::Parts) if group.torn => false,
            Piece::Break(_) => fits(&pieces[index + 1..], (WIDTH - 1).saturating_sub(column)),
            Piece::Line => false,
        };
        if stays {
            out.push(' ');
            column += 1;
        } else {
            out.push('\n');
            out.extend(std::iter::repeat_n(' ', group.indent));
            column = group.indent;
            group.broke = true;
        }
        group.torn &= *piece == Piece::Space;
    }
}

fn column_after(column: usize, word: &str) -> usize {
    match word.rfind('\n') {
        Some(end) => word[end + 1..].chars().count(),
        None => column + word.chars().count(),
    }
}

/// Returns whether the pieces up to the next place where a line can break take no more than `room` columns.
fn fits(pieces: &[Piece<'_>], mut room: usize) -> bool {
    let mut depth = 0i32;
    for piece in pieces {
        let width = match piece {
            Piece::Word(word) => word.chars().take(WIDTH + 1).count(),
            Piece::Break(_) if depth > 0 => 1,
            Piece::Break(_) | Piece::Line => return true,
            Piece::Space => 1,
            Piece::Open(_) => {
                depth += 1;
                0
            }
            Piece::Close => {
                depth -= 1;
                0
            }
        };
        if width > room {
            return false;
        }
        room -= width;
    }
    true
}
