//! The files of a translation unit in one space of offsets, and places in them.
//!
//! The main file begins at offset 0, so that its positions are those of its own text. Each header that is read begins
//! behind the file before it. A [`Span`] therefore names a file and a place in it at once.

use selvedge_ir::span::Span;

use crate::diagnostic::{Code, Diagnostic};
use crate::source::Source;

index_vec::define_index_type! {
    /// One file.
    pub struct FileId = u32;
}

index_vec::define_index_type! {
    /// One use of a macro.
    pub struct ExpansionId = u32;
}

/// Where something is written. Behind macros there are two places: where the outermost macro is used, and where the
/// characters stand.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Loc {
    /// The place outside of all macros.
    pub span: Span,
    /// The place of the characters; the same as `span` for what is not in the body of a macro.
    pub written: Span,
    /// The use of the macro that it is from.
    pub expansion: Option<ExpansionId>,
}

impl Loc {
    /// Returns a place outside of macros.
    pub fn new(span: Span) -> Loc {
        Loc { span, written: span, expansion: None }
    }
}

/// A use of a macro.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expansion {
    /// The name of the macro.
    pub name: String,
    /// The place of the name in its `#define`.
    pub defined: Span,
    /// Where the macro is used, and the macro whose body uses it.
    pub used: Loc,
}

/// All uses of macros.
#[derive(Clone, Debug, Default)]
pub struct Expansions {
    uses: index_vec::IndexVec<ExpansionId, Expansion>,
}

/// The limit on the macros that a diagnostic names.
const MAX_TRAIL: usize = 6;

impl Expansions {
    pub(super) fn add(&mut self, expansion: Expansion) -> ExpansionId {
        self.uses.push(expansion)
    }

    /// Returns the uses of macros that a place is from, the innermost first.
    pub fn trail(&self, loc: Loc) -> impl Iterator<Item = &Expansion> {
        let of = |loc: Loc| loc.expansion.map(|id| &self.uses[id]);
        std::iter::successors(of(loc), move |expansion| of(expansion.used))
    }

    /// Returns a finding that says both where the outermost macro is used and where the text is written.
    pub fn diagnostic(&self, code: Code, message: impl Into<String>, loc: Loc) -> Diagnostic {
        let mut diagnostic = Diagnostic::new(code, message, loc.span);
        let mut written = loc.written;
        for expansion in self.trail(loc).take(MAX_TRAIL) {
            diagnostic = diagnostic.also(written, format!("in the body of the macro `{}`", expansion.name));
            written = expansion.used.written;
        }
        diagnostic
    }
}

/// A file of the translation unit.
#[derive(Clone, Debug)]
pub struct File {
    pub source: Source,
    /// The offset at which its text begins.
    pub base: u32,
    /// The parts of the file that `#line` and `# 1 "name"` say come from elsewhere, ordered by their offset.
    markers: Vec<Marker>,
}

/// The origin that the text behind a line marker claims.
#[derive(Clone, Debug)]
struct Marker {
    /// The offset in the file of the first line behind the marker.
    offset: u32,
    /// The number of that line.
    line: usize,
    /// The name of the file.
    name: String,
}

/// All files of a translation unit.
#[derive(Clone, Debug, Default)]
pub struct Files {
    files: index_vec::IndexVec<FileId, File>,
}

/// A place for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    pub file: String,
    /// From 1.
    pub line: usize,
    /// From 1, in characters.
    pub column: usize,
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.line, self.column)
    }
}

impl Files {
    /// Adds a file; `None` if the texts together would have 4 GiB or more.
    pub fn add(&mut self, source: Source) -> Option<FileId> {
        let base = self.files.last().map_or(0, |last| u64::from(last.base) + last.source.text().len() as u64 + 1);
        let end = base + source.text().len() as u64 + 1;
        u32::try_from(end).ok()?;
        Some(self.files.push(File { source, base: u32::try_from(base).ok()?, markers: Vec::new() }))
    }

    /// Returns the file that an offset belongs to.
    pub fn of(&self, offset: u32) -> FileId {
        let after = self.files.as_raw_slice().partition_point(|file| file.base <= offset);
        FileId::from_usize(after.saturating_sub(1))
    }

    pub fn get(&self, id: FileId) -> &File {
        &self.files[id]
    }

    /// Returns the files in the order in which they were first read, the main file first.
    pub fn iter(&self) -> impl Iterator<Item = &File> {
        self.files.iter()
    }

    /// Returns the characters of a span.
    pub fn text(&self, span: Span) -> &str {
        if self.files.is_empty() {
            return "";
        }
        let file = self.get(self.of(span.start));
        Span { start: span.start - file.base, end: span.end.saturating_sub(file.base) }.of(file.source.text())
    }

    /// Notes that the text from an offset on says that it is from another place.
    pub(super) fn mark(&mut self, offset: u32, line: usize, name: Option<String>) {
        let current = self.place(offset).file;
        let id = self.of(offset);
        let file = &mut self.files[id];
        let offset = offset - file.base;
        // A file that is read a second time has its markers already.
        if file.markers.last().is_none_or(|last| last.offset < offset) {
            file.markers.push(Marker { offset, line, name: name.unwrap_or(current) });
        }
    }

    /// Returns the place of an offset as line markers tell it.
    pub fn place(&self, offset: u32) -> Place {
        let file = self.get(self.of(offset));
        let offset = offset - file.base;
        let position = file.source.position(offset as usize);
        let before = file.markers.partition_point(|marker| marker.offset <= offset);
        match before.checked_sub(1).map(|last| &file.markers[last]) {
            Some(marker) => {
                let lines = position.line - file.source.line(marker.offset as usize);
                Place { file: marker.name.clone(), line: marker.line + lines, column: position.column }
            }
            None => Place { file: file.source.name.clone(), line: position.line, column: position.column },
        }
    }

    /// Returns the smallest place that holds both; the first one if they are in different files.
    pub fn join(&self, first: Loc, last: Loc) -> Loc {
        let both = |first: Span, last: Span| if self.is_one_file(first, last) { first.to(last) } else { first };
        let span = both(first.span, last.span);
        let is_same = first.expansion == last.expansion;
        let written = match first.expansion {
            None => span,
            Some(_) if is_same => both(first.written, last.written),
            Some(_) => first.written,
        };
        Loc { span, written, expansion: first.expansion }
    }

    fn is_one_file(&self, first: Span, last: Span) -> bool {
        self.of(first.start) == self.of(last.start)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_name_files_and_markers_name_lines() {
        let mut files = Files::default();
        let main = files.add(Source::new("a.i", "x\n# 7 \"b.c\"\ny\nz\n")).expect("it is small");
        let second = files.add(Source::new("c.h", "q")).expect("it is small");
        files.mark(12, 7, Some("b.c".to_owned()));
        assert_eq!(files.place(0).to_string(), "a.i:1:1");
        assert_eq!(files.place(14).to_string(), "b.c:8:1");
        let base = files.get(second).base;
        assert_eq!((files.of(base), files.place(base).to_string()), (second, "c.h:1:1".to_owned()));
        assert_eq!((files.of(3), files.text(Span::new(0, 1))), (main, "x"));
    }
}
