//! Headers: those of our own, which are part of the program, and the user's.

use std::path::{Path, PathBuf};

use super::{MAX_INCLUDES, Preprocessor};
use crate::c::files::{FileId, Loc};
use crate::c::headers::{EMBEDDED, embedded};
use crate::c::lexer::{Kind, Token};
use crate::diagnostic::{Code, Diagnostic, Fix};
use crate::source::Source;
use crate::suggest::nearest;

/// The name of a header as it is included.
struct Header {
    name: String,
    /// True if it is in quotes: the folder of the file comes first.
    is_quoted: bool,
}

impl Preprocessor<'_> {
    /// Reads a header of ours.
    pub(super) fn enter_embedded(&mut self, name: &str) {
        if let Some(file) = self.find_embedded(name) {
            self.enter(file, PathBuf::new());
        }
    }

    /// Defines what the options say.
    pub(super) fn enter_options(&mut self) {
        let mut text = String::new();
        for (name, value) in &self.options.defines {
            text += &format!("#define {name} {value}\n");
        }
        for name in &self.options.undefines {
            text += &format!("#undef {name}\n");
        }
        if let Some(file) = self.files.add(Source::new("<command line>", text)) {
            self.enter(file, PathBuf::new());
        }
    }

    /// Defines what the headers of ours ask for the data model.
    pub(super) fn enter_model(&mut self) {
        let model = format!("#define __SELVEDGE_{}__ 1\n", self.options.model.name().to_uppercase());
        if let Some(file) = self.files.add(Source::new("<built-in>", model)) {
            self.enter(file, PathBuf::new());
        }
    }

    pub(super) fn include(&mut self, loc: Loc, rest: &[Token]) {
        let Some(header) = self.header(rest) else {
            return self.error(Code::CDirective, "expected \"name\" or <name>", loc);
        };
        let written = rest.first().zip(rest.last());
        let written = written.map_or(loc, |(first, last)| self.files.join(first.loc, last.loc));
        let loc = self.files.join(loc, written);
        if self.frames.len() > MAX_INCLUDES {
            self.error(Code::BeyondLimit, format!("headers include each other more than {MAX_INCLUDES} times"), loc);
            self.steps = usize::MAX;
            return;
        }
        match self.find(&header) {
            Some((file, folder)) if !self.once.contains(&file) => self.enter(file, folder),
            Some(_) => {}
            None => self.report_missing(&header, loc, written),
        }
    }

    /// Reports a header that is not found, whose name is written at the second of the places.
    fn report_missing(&mut self, header: &Header, loc: Loc, written: Loc) {
        let message = format!("the header `{}` is not found", header.name);
        let diagnostic = self.expansions.diagnostic(Code::CInclude, message, loc);
        let near = nearest(&header.name, EMBEDDED.iter().map(|(name, _)| *name));
        let diagnostic = match near {
            Some(near) => {
                let fix = Fix { span: written.span, text: format!("<{near}>") };
                Diagnostic { fix: Some(fix), ..diagnostic.did_you_mean(Some(near)) }
            }
            None => diagnostic.help("name the folder of the header with `-I`"),
        };
        self.push(diagnostic);
    }

    /// Returns the header that a line names; macros may make the name.
    fn header(&mut self, rest: &[Token]) -> Option<Header> {
        let written = self.written_header(rest);
        if written.is_some() {
            return written;
        }
        let expanded = self.expand_all(rest.to_vec());
        match expanded.first()?.kind {
            Kind::Str => self.written_header(&expanded),
            Kind::Lt => {
                let end = expanded.iter().position(|token| token.kind == Kind::Gt)?;
                let name = expanded[1..end].iter().map(|token| self.text(token.text)).collect();
                Some(Header { name, is_quoted: false })
            }
            _ => None,
        }
    }

    fn written_header(&self, rest: &[Token]) -> Option<Header> {
        let first = rest.first()?;
        match first.kind {
            Kind::Str => {
                let text = self.text(first.text);
                let name = text.get(1..text.len() - 1)?.to_owned();
                Some(Header { name, is_quoted: true })
            }
            Kind::Lt => {
                let end = rest.last()?.loc.span.end;
                let line = self.files.text(selvedge_ir::span::Span { start: first.loc.span.end, end });
                let (name, _) = line.split_once('>')?;
                Some(Header { name: name.trim().to_owned(), is_quoted: false })
            }
            _ => None,
        }
    }

    /// Returns whether a header exists.
    pub(super) fn has_include(&mut self, rest: &[Token]) -> bool {
        self.written_header(rest).is_some_and(|header| self.find(&header).is_some())
    }

    /// Finds a header: one in quotes beside the file that includes it, then ours, then in the folders of the options.
    fn find(&mut self, header: &Header) -> Option<(FileId, PathBuf)> {
        if header.is_quoted {
            let beside = self.frames.last().map(|frame| frame.folder.clone()).unwrap_or_default();
            if let Some(found) = self.find_in(&beside, &header.name) {
                return Some(found);
            }
        }
        if let Some(file) = self.find_embedded(&header.name) {
            return Some((file, PathBuf::new()));
        }
        let folders = self.options.include.clone();
        folders.iter().find_map(|folder| self.find_in(folder, &header.name))
    }

    fn find_embedded(&mut self, name: &str) -> Option<FileId> {
        let path = PathBuf::from(format!("<{name}>"));
        if let Some(file) = self.known.get(&path) {
            return Some(*file);
        }
        let file = self.files.add(Source::new(format!("<{name}>"), embedded(name)?))?;
        self.known.insert(path, file);
        Some(file)
    }

    fn find_in(&mut self, folder: &Path, name: &str) -> Option<(FileId, PathBuf)> {
        let path = folder.join(name);
        let parent = path.parent().map(PathBuf::from).unwrap_or_default();
        if let Some(file) = self.known.get(&path) {
            return Some((*file, parent));
        }
        let bytes = (self.options.read)(&path)?;
        let file = self.files.add(Source::from_bytes(path.to_string_lossy(), bytes))?;
        self.known.insert(path, file);
        Some((file, parent))
    }
}
