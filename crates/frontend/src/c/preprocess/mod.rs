//! The preprocessor: directives, macros and headers, from a file to the tokens of the translation unit.
//!
//! Tokens flow through three layers. `next_raw` returns the tokens of the files in order, executing the directives
//! between them. `next` returns the tokens of the macros that are being replaced before those of the files.
//! `next_expanded` replaces macros until a token is left that is not a macro.
//!
//! Invariant: a macro is `busy` while some of the tokens of its replacement have not been read. A name that is read
//! while its macro is busy is never replaced again, therefore replacement ends. Its size can still be exponential;
//! every token that is read or made counts as a step, and the number of steps is bounded.

mod condition;
mod directive;
mod expand;
mod include;
mod substitute;

use std::cell::Cell;
use std::path::PathBuf;
use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};
use selvedge_ir::span::Span;

use super::Options;
use super::annotations::UNREAD;
use super::files::{Expansions, FileId, Files, Loc};
use super::lexer::{Kind, Token, lex};
use super::names::{Names, Symbol};
use crate::diagnostic::{Code, Diagnostic};
use crate::source::Source;

/// Limit on the tokens that are read and made, also on the way.
const MAX_STEPS: usize = 6_000_000;
/// Limit on files that include each other.
const MAX_INCLUDES: usize = 64;
/// Limit on nested `#if`s, and on macros whose arguments are macros.
const MAX_NESTING: usize = 200;
/// Limit on errors; further ones are not reported.
pub(super) const MAX_ERRORS: usize = 20;

/// The result of the preprocessor. The last token is [`Kind::Eof`]; reserved words have their kinds.
#[derive(Debug)]
pub struct Preprocessed {
    pub tokens: Vec<Token>,
    pub files: Files,
    pub names: Names,
    pub expansions: Expansions,
    pub diagnostics: Vec<Diagnostic>,
}

/// A macro.
#[derive(Debug)]
struct Macro {
    /// The parameters of a macro that is used like a function.
    params: Option<Vec<Symbol>>,
    /// True if the last parameter takes all further arguments.
    variadic: bool,
    body: Vec<Token>,
    /// Where its name is defined.
    defined: Span,
    kind: MacroKind,
    /// True while its replacement is being read.
    busy: Cell<bool>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum MacroKind {
    User,
    Line,
    File,
    Counter,
}

/// A file that is being read.
struct Frame {
    file: FileId,
    tokens: Rc<[Token]>,
    next: usize,
    /// The `#if`s that are open in it.
    conditions: Vec<Condition>,
    /// The folder of the file, for headers in quotes.
    folder: PathBuf,
}

/// An open `#if`.
struct Condition {
    loc: Loc,
    /// True if one of its groups has been read, or none may be.
    is_done: bool,
    /// True behind `#else`.
    has_else: bool,
}

/// Tokens to be read before those of the files.
struct Replacement {
    tokens: Rc<[Token]>,
    next: usize,
    /// The macro that becomes free when all are read.
    of: Option<Rc<Macro>>,
    /// True if reading stops behind them: they are an argument or a line on its own.
    is_barrier: bool,
}

struct Preprocessor<'o> {
    options: &'o Options,
    files: Files,
    names: Names,
    expansions: Expansions,
    diagnostics: Vec<Diagnostic>,
    n_errors: usize,
    macros: FxHashMap<Symbol, Rc<Macro>>,
    frames: Vec<Frame>,
    replacements: Vec<Replacement>,
    /// The tokens of the files read so far, and the files by name.
    lexed: FxHashMap<FileId, Rc<[Token]>>,
    known: FxHashMap<PathBuf, FileId>,
    /// The files with `#pragma once`.
    once: FxHashSet<FileId>,
    steps: usize,
    nesting: usize,
    counter: u64,
    words: Words,
}

/// The names that mean something to the preprocessor.
struct Words {
    defined: Symbol,
    has_include: Symbol,
    va_args: Symbol,
    pragma: Symbol,
    comma: Symbol,
}

/// Preprocesses the main file of a translation unit.
pub fn preprocess(source: Source, options: &Options) -> Preprocessed {
    let mut preprocessor = Preprocessor::new(options);
    let folder = PathBuf::from(&source.path).parent().map(PathBuf::from).unwrap_or_default();
    match preprocessor.files.add(source) {
        Some(main) => preprocessor.run(main, folder),
        None => preprocessor.refuse_length(),
    }
}

impl Preprocessor<'_> {
    fn new(options: &Options) -> Preprocessor<'_> {
        let mut names = Names::default();
        let words = Words {
            defined: names.intern("defined"),
            has_include: names.intern("__has_include"),
            va_args: names.intern("__VA_ARGS__"),
            pragma: names.intern("_Pragma"),
            comma: names.intern(","),
        };
        Preprocessor {
            options,
            files: Files::default(),
            names,
            expansions: Expansions::default(),
            diagnostics: Vec::new(),
            n_errors: 0,
            macros: FxHashMap::default(),
            frames: Vec::new(),
            replacements: Vec::new(),
            lexed: FxHashMap::default(),
            known: FxHashMap::default(),
            once: FxHashSet::default(),
            steps: 0,
            nesting: 0,
            counter: 0,
            words,
        }
    }

    fn run(mut self, main: FileId, folder: PathBuf) -> Preprocessed {
        for (name, kind) in
            [("__LINE__", MacroKind::Line), ("__FILE__", MacroKind::File), ("__COUNTER__", MacroKind::Counter)]
        {
            let name = self.names.intern(name);
            self.macros.insert(name, Rc::new(Macro::built_in(kind)));
        }
        // The last one that is entered is read first.
        self.enter(main, folder);
        self.enter_options();
        self.enter_embedded("predefined.h");
        self.enter_model();
        let mut tokens = Vec::new();
        while let Some(token) = self.next_expanded() {
            tokens.push(token);
        }
        self.finish(tokens, main)
    }

    /// Ends without tokens because the text is too long for positions of 32 bits.
    fn refuse_length(mut self) -> Preprocessed {
        self.error(Code::BeyondLimit, "texts of 4 GiB or more are not supported", Loc::default());
        let main = self.files.add(Source::default()).expect("an empty text is short");
        self.finish(Vec::new(), main)
    }

    /// Makes the parser's tokens from the preprocessor's.
    fn finish(mut self, tokens: Vec<Token>, main: FileId) -> Preprocessed {
        let reserved: FxHashMap<Symbol, Kind> =
            Kind::WORDS.iter().map(|(text, kind)| (self.names.intern(text), *kind)).collect();
        let mut parsed = Vec::with_capacity(tokens.len() + 1);
        let mut tokens = tokens.into_iter().peekable();
        while let Some(mut token) = tokens.next() {
            if token.kind == Kind::Name && token.text == self.words.pragma {
                skip_pragma(&mut tokens);
                continue;
            }
            if token.kind == Kind::Stray {
                self.report_stray(token);
                continue;
            }
            if token.kind == Kind::Annotation && self.names.text(token.text) == UNREAD {
                self.report_annotation(token);
                continue;
            }
            if token.kind == Kind::Name {
                token.kind = reserved.get(&token.text).copied().unwrap_or(Kind::Name);
            }
            parsed.push(token);
        }
        let end = self.files.get(main).source.text().len();
        let (text, loc) = (self.names.intern(""), Loc::new(Span::new(end, end)));
        parsed.push(Token { kind: Kind::Eof, text, loc, space: false, first: true, fixed: true });
        let Preprocessor { files, names, expansions, diagnostics, .. } = self;
        Preprocessed { tokens: parsed, files, names, expansions, diagnostics }
    }

    /// Says once that annotations are not read.
    fn report_annotation(&mut self, token: Token) {
        if self.diagnostics.iter().all(|known| known.code != Code::CAnnotation) {
            let message = "annotations other than `assert E;` are not read";
            self.error(Code::CAnnotation, message, token.loc);
        }
    }

    fn report_stray(&mut self, token: Token) {
        let text = self.names.text(token.text).to_owned();
        if text.starts_with("/*") {
            let opener = Span { start: token.loc.span.start, end: token.loc.span.start + 2 };
            self.error(Code::UnterminatedComment, "this comment is not closed", Loc::new(opener));
        } else if text.ends_with(['"', '\'']) {
            self.error(Code::CLiteral, "this quote is not closed on its line", token.loc);
        } else {
            let mut diagnostic = crate::tokens::stray(&text, token.loc.span);
            diagnostic.secondary = self.expansions.diagnostic(Code::StrayCharacter, "", token.loc).secondary;
            self.push(diagnostic);
        }
    }

    fn error(&mut self, code: Code, message: impl Into<String>, loc: Loc) {
        let diagnostic = self.expansions.diagnostic(code, message, loc);
        self.push(diagnostic);
    }

    fn push(&mut self, diagnostic: Diagnostic) {
        if diagnostic.is_error() {
            self.n_errors += 1;
        }
        if self.n_errors <= MAX_ERRORS {
            self.diagnostics.push(diagnostic);
        }
    }

    /// Counts tokens; behind the limit everything ends.
    fn count(&mut self, n_tokens: usize) {
        let before = self.steps;
        self.steps = self.steps.saturating_add(n_tokens);
        if before <= MAX_STEPS && self.steps > MAX_STEPS {
            let loc = self.here();
            let message = format!("macros and headers expand to more than {MAX_STEPS} tokens");
            self.error(Code::BeyondLimit, message, loc);
        }
    }

    fn is_over(&self) -> bool {
        self.steps > MAX_STEPS
    }

    /// Returns the place of the token that the files are at.
    fn here(&self) -> Loc {
        let last = self.frames.last().and_then(|frame| frame.tokens.get(frame.next.saturating_sub(1)));
        last.map_or_else(Loc::default, |token| token.loc)
    }

    /// Returns the tokens of a file.
    fn tokens_of(&mut self, file: FileId) -> Rc<[Token]> {
        if let Some(tokens) = self.lexed.get(&file) {
            return Rc::clone(tokens);
        }
        let File { text, base } = File::of(&self.files, file);
        let tokens: Rc<[Token]> = lex(&text, base, &mut self.names).into();
        self.lexed.insert(file, Rc::clone(&tokens));
        tokens
    }

    /// Begins to read a file.
    fn enter(&mut self, file: FileId, folder: PathBuf) {
        let tokens = self.tokens_of(file);
        self.frames.push(Frame { file, tokens, next: 0, conditions: Vec::new(), folder });
    }
}

/// The text of a file with the offset at which it begins.
struct File {
    text: String,
    base: u32,
}

impl File {
    fn of(files: &Files, id: FileId) -> File {
        let file = files.get(id);
        File { text: file.source.text().to_owned(), base: file.base }
    }
}

impl Macro {
    fn built_in(kind: MacroKind) -> Macro {
        let (body, defined, busy) = (Vec::new(), Span::default(), Cell::new(false));
        Macro { params: None, variadic: false, body, defined, kind, busy }
    }
}

/// Skips the operand of `_Pragma`.
fn skip_pragma(tokens: &mut std::iter::Peekable<std::vec::IntoIter<Token>>) {
    for kind in [Kind::LParen, Kind::Str, Kind::RParen] {
        if tokens.next_if(|token| token.kind == kind).is_none() {
            return;
        }
    }
}
