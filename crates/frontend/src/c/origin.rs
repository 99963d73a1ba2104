//! The places of a program in the files that the user has.
//!
//! The reader numbers the characters of all files that it reads, headers of ours among them. Reports have one text: the
//! main file, and behind it the user's headers. Where another preprocessor was run, its line markers name the user's
//! files and lines; places are whole lines then.

use std::path::Path;

use selvedge_ir::span::{Site, SourceMap, Span};

use super::files::{FileId, Files};
use crate::diagnostic::Diagnostic;
use crate::source::Source;

/// The way from the offsets of the reader to those of a text for reports.
pub(super) struct Origin<'u> {
    files: &'u Files,
    source: Source,
    /// For each file of the reader, where its text begins in that of the reports.
    starts: Vec<Option<usize>>,
    /// If line markers count: the files that are in the text by their names, and where they begin.
    named: Option<Vec<(String, Option<usize>)>>,
}

impl<'u> Origin<'u> {
    /// Returns the origin of a unit whose headers the reader has read.
    pub(super) fn of_files(files: &'u Files, path: &str) -> Origin<'u> {
        let mut source = Source::default();
        let mut starts = Vec::new();
        for (number, file) in files.iter().enumerate() {
            let is_ours = file.source.path.starts_with('<') && file.source.path != path;
            starts.push((number == 0 || !is_ours).then_some(0));
            if number == 0 {
                source = Source::new(path, file.source.text());
            } else if !is_ours {
                source = source.append(file.source.clone());
                starts[number] = Some(source.last_start());
            }
        }
        Origin { files, source, starts, named: None }
    }

    /// Returns the origin of a unit that another preprocessor has made from a text.
    pub(super) fn of_markers(files: &'u Files, path: &str, text: &str) -> Origin<'u> {
        let named = Some(vec![(path.to_owned(), Some(0))]);
        Origin { files, source: Source::new(path, text), starts: Vec::new(), named }
    }

    /// Moves the positions of a program and of findings. Returns the text that they are in.
    pub(super) fn apply(mut self, map: &mut SourceMap, diagnostics: &mut [Diagnostic]) -> Source {
        map.edges.iter_mut().for_each(|edge| edge.span = self.moved(edge.span).unwrap_or_default());
        map.vars.iter_mut().for_each(|span| *span = self.moved(*span).unwrap_or_default());
        map.procs.iter_mut().for_each(|span| *span = self.moved(*span).unwrap_or_default());
        map.sites.retain(|_, site| self.is_exact(site));
        for diagnostic in diagnostics {
            diagnostic.primary.span = self.moved(diagnostic.primary.span).unwrap_or_default();
            // Places in our headers are not in the text: remarks about them are left out.
            let secondary = std::mem::take(&mut diagnostic.secondary);
            for mut remark in secondary {
                if let Some(span) = self.moved(remark.span) {
                    remark.span = span;
                    diagnostic.secondary.push(remark);
                }
            }
        }
        self.source
    }

    /// Returns whether a site is in the main file as the user has it.
    fn is_exact(&self, site: &Site) -> bool {
        let span = match site {
            Site::Before(span) | Site::After(span) | Site::Waking(span) => span,
            Site::Between(update) => &update.whole,
        };
        self.named.is_none() && self.files.of(span.start) == FileId::new(0)
    }

    fn moved(&mut self, span: Span) -> Option<Span> {
        if self.named.is_some() {
            return self.lines(span);
        }
        let id = self.files.of(span.start);
        let (start, base) = (self.starts[id.index()]?, self.files.get(id).base);
        let end = span.end.max(span.start);
        Some(Span::new(start + (span.start - base) as usize, start + (end - base) as usize))
    }

    /// Returns the lines that a span is from, by the line markers before it.
    fn lines(&mut self, span: Span) -> Option<Span> {
        if self.files.of(span.start) != FileId::new(0) {
            return None;
        }
        let (first, last) = (self.files.place(span.start), self.files.place(span.end.max(span.start + 1) - 1));
        let start = self.begin(&first.file)?;
        let before = self.source.line(start) - 1;
        let last = if last.file == first.file { last.line.max(first.line) } else { first.line };
        let range = self.source.lines(before + first.line..before + last + 1);
        let text = self.source.text().get(range.clone())?;
        let (blank, trimmed) = (text.len() - text.trim_start().len(), text.trim_end().len());
        Some(Span::new(range.start + blank.min(trimmed), range.start + trimmed))
    }

    /// Returns where the text of a file begins, which is read if it is the first time that it is named.
    fn begin(&mut self, name: &str) -> Option<usize> {
        let named = self.named.as_mut()?;
        if let Some((_, start)) = named.iter().find(|(known, _)| known == name) {
            return *start;
        }
        let bytes = super::read_from_disk(Path::new(name));
        let start = bytes.map(|bytes| {
            self.source = std::mem::take(&mut self.source).append(Source::from_bytes(name, bytes));
            self.source.last_start()
        });
        named.push((name.to_owned(), start));
        start
    }
}
