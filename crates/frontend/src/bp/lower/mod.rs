//! Lowering of syntax trees to the representation.
//!
//! Order of work: [`resolve`](super::resolve) collects declarations; [`entries`] chooses the procedures that the
//! initial threads run; [`initial`] turns initial values into one parallel assignment; [`body`] and [`stmt`] lower each
//! procedure, one location per statement; [`unused`] warns of unused names. What only the dialect of Getafix has is in
//! [`relation`] and [`sections`]. All of this works on any tree, so that all errors are reported; the program is only
//! returned if there are none.

mod body;
mod calls;
mod enforce;
mod entries;
mod expr;
mod initial;
mod number;
mod relation;
mod sections;
mod stmt;
mod traps;
mod unused;

use index_vec::IndexVec;
use rustc_hash::{FxHashMap, FxHashSet};
use selvedge_ir::span::Span;
use selvedge_ir::{ProcId, Scope, VarId};

use super::ast::{File, Symbol};
use super::resolve::{Output, Tables, VarTable, collect};
use super::{Dialect, LoadOptions};
use crate::diagnostic::{Code, Diagnostic};
use crate::load::Loaded;
use crate::suggest::nearest;
pub(super) use number::Shape;

/// Limit on the number of suggestions for misspelled names; each search is linear in the number of names.
const MAX_SUGGESTIONS: u32 = 100;

/// Limit on the number of choices of a step: half of what the representation allows, since `enforce` may double it.
const MAX_CHOICES: u32 = 1 << 19;

/// Lowers a file, about which the parser has reported these findings. If some are errors, nothing is reported as
/// unused, and the `skipped` names are not reported as unknown.
pub(super) fn lower(
    (file, source): (&File, &str),
    parsed: Vec<Diagnostic>,
    skipped: FxHashSet<Symbol>,
    options: &LoadOptions,
) -> Loaded {
    let is_whole = !parsed.iter().any(Diagnostic::is_error);
    let mut found = Output { diagnostics: parsed, ..Output::default() };
    let tables = collect(file, &mut found);
    let used = IndexVec::from_vec(vec![false; found.program.vars.len()]);
    let mut lowering = Lowering {
        tables,
        found,
        used,
        symbols: None,
        label_owners: None,
        suggestions_left: MAX_SUGGESTIONS,
        skipped,
        unknown: FxHashSet::default(),
        is_whole,
        unused_labels: Vec::new(),
        enforced_nodes: 0,
        entry_procs: FxHashSet::default(),
        dialect: Dialect::Selvedge,
        source,
        sections: None,
        n_updated: 0,
    };
    lowering.dialect = options.dialect.unwrap_or_else(|| lowering.recognised_dialect());
    lowering.choose_entries(options);
    lowering.initial_values();
    lowering.find_sections();
    for proc in lowering.tables.units.indices() {
        lowering.body(proc, options);
    }
    if !lowering.found.diagnostics.iter().any(Diagnostic::is_error) {
        lowering.warn_of_unused();
        lowering.warn_of_traps();
    }
    let Output { program, map, diagnostics, .. } = lowering.found;
    Loaded::of_program(program, map, diagnostics)
}

struct Lowering<'a> {
    tables: Tables<'a>,
    found: Output,
    /// For each variable, whether it is used.
    used: IndexVec<VarId, bool>,
    /// All names by their text, computed when a passive copy first occurs.
    symbols: Option<FxHashMap<&'a str, Symbol>>,
    /// The procedure of each label, computed when an unknown label first occurs.
    label_owners: Option<FxHashMap<Symbol, ProcId>>,
    suggestions_left: u32,
    /// Names in parts of the text that could not be parsed.
    skipped: FxHashSet<Symbol>,
    /// Unknown names that have been reported: once per procedure, or only once if declarations may have been skipped.
    unknown: FxHashSet<(NameKind, Symbol)>,
    is_whole: bool,
    unused_labels: Vec<Diagnostic>,
    /// The size of all copies of `enforce` clauses so far.
    enforced_nodes: usize,
    /// The procedures that initial threads run.
    entry_procs: FxHashSet<ProcId>,
    dialect: Dialect,
    /// The text of the file.
    source: &'a str,
    /// The atomic sections that a variable marks, in the dialect of Getafix.
    sections: Option<sections::Sections>,
    /// The number of variables in all relational updates so far.
    n_updated: usize,
}

/// The kind of thing that an unknown name should refer to.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum NameKind {
    Variable,
    Procedure,
    Label,
}

/// The position from which names are looked up.
#[derive(Default)]
struct View {
    locals: VarTable,
    process: Option<usize>,
    /// True if the names are in the procedure that runs before there are threads.
    is_prelude: bool,
}

/// The meaning of a name in an expression or on a left-hand side.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Meaning {
    Active(VarId),
    Passive(VarId),
}

impl<'a> Lowering<'a> {
    fn report(&mut self, diagnostic: Diagnostic) {
        self.found.diagnostics.push(diagnostic);
    }

    fn text(&self, symbol: Symbol) -> &'a str {
        self.tables.text(symbol)
    }

    fn scope(&self, var: VarId) -> Scope {
        self.found.program.vars[var].scope
    }

    fn lookup(&self, view: &View, symbol: Symbol) -> Option<VarId> {
        let of_process = || view.process.and_then(|process| self.tables.processes[process].vars.get(&symbol));
        let var = view.locals.get(&symbol).or_else(of_process).or_else(|| self.tables.vars.get(&symbol));
        var.copied()
    }

    /// Resolves a name; reports it and returns `None` if it has no meaning.
    fn resolve(&mut self, view: &View, symbol: Symbol, span: Span) -> Option<Meaning> {
        let meaning = match self.lookup(view, symbol) {
            Some(var) => Meaning::Active(var),
            None => self.resolve_passive(view, symbol, span)?,
        };
        let (Meaning::Active(var) | Meaning::Passive(var)) = meaning;
        self.found.cells(var).for_each(|cell| self.used[cell] = true);
        if view.is_prelude && self.scope(var) == Scope::Thread {
            let message =
                format!("`{}` is a per-thread variable, but `init` runs before there are threads", self.text(symbol));
            let diagnostic = Diagnostic::new(Code::ThreadVariableInInit, message, span)
                .also(self.found.map.vars[var], "one copy per thread")
                .help("give it an initial value in its declaration");
            self.report(diagnostic);
            return None;
        }
        Some(meaning)
    }

    /// Resolves `x$` as the passive copy of `x`, if no variable has exactly that name.
    fn resolve_passive(&mut self, view: &View, symbol: Symbol, span: Span) -> Option<Meaning> {
        let text = self.text(symbol);
        let stem = text.strip_suffix('$').filter(|stem| !stem.is_empty());
        let stem = stem.and_then(|stem| self.symbol(stem));
        let Some(var) = stem.and_then(|stem| self.lookup(view, stem)) else {
            self.unknown_variable(view, symbol, span);
            return None;
        };
        if self.scope(var) == Scope::Shared {
            let message = format!("`{text}` would be a passive copy, but `{}` is shared", text.trim_end_matches('$'));
            let diagnostic = Diagnostic::new(Code::PassiveShared, message, span)
                .also(self.found.map.vars[var], "there is only one copy of it")
                .help("use the variable itself");
            self.used[var] = true;
            self.report(diagnostic);
            return None;
        }
        Some(Meaning::Passive(var))
    }

    fn symbol(&mut self, text: &str) -> Option<Symbol> {
        let names = &self.tables.file.names;
        let symbols =
            self.symbols.get_or_insert_with(|| names.iter().map(|symbol| (names.text(symbol), symbol)).collect());
        symbols.get(text).copied()
    }

    /// Returns whether an unknown name has not been reported yet.
    fn is_news(&mut self, kind: NameKind, symbol: Symbol) -> bool {
        !self.skipped.contains(&symbol) && self.unknown.insert((kind, symbol))
    }

    fn unknown_variable(&mut self, view: &View, symbol: Symbol, span: Span) {
        if !self.is_news(NameKind::Variable, symbol) {
            return;
        }
        let text = self.text(symbol);
        let mut diagnostic = Diagnostic::new(Code::UnknownVariable, format!("there is no variable `{text}`"), span);
        if self.may_suggest() {
            let of_process = view.process.map(|process| &self.tables.processes[process].vars);
            let tables = [Some(&view.locals), of_process, Some(&self.tables.vars)];
            let mut vars: Vec<VarId> = tables.into_iter().flatten().flat_map(|table| table.values().copied()).collect();
            vars.sort_unstable();
            let near = nearest(text, vars.iter().map(|var| self.found.program.vars[*var].name.as_str()));
            diagnostic = match near {
                _ if matches!(text, "true" | "True" | "TRUE") => {
                    diagnostic.help("the constant is written `T`, or `1`").replace_by("T")
                }
                _ if matches!(text, "false" | "False" | "FALSE") => {
                    diagnostic.help("the constant is written `F`, or `0`").replace_by("F")
                }
                _ if self.tables.procs.contains_key(&symbol) => {
                    diagnostic.help(format!("`{text}` is a procedure; a call is written `{text}(..)`"))
                }
                near => diagnostic.did_you_mean(near),
            };
        }
        self.report(diagnostic.label("not declared"));
    }

    /// Returns the procedure with this name; reports the name and returns `None` if there is none.
    fn procedure(&mut self, view: &View, symbol: Symbol, span: Span) -> Option<ProcId> {
        let procedure = self.find_procedure(view, symbol);
        if procedure.is_none() && self.is_news(NameKind::Procedure, symbol) {
            let text = self.text(symbol);
            let message = format!("there is no procedure `{text}`");
            let diagnostic = Diagnostic::new(Code::UnknownProcedure, message, span).label("not defined");
            let is_statement = matches!(text, "skip" | "atomic_begin" | "atomic_end" | "end_thread" | "thread_end");
            let diagnostic = match is_statement {
                true => diagnostic.help(format!("the statement is written without parentheses: `{text};`")),
                false => diagnostic.did_you_mean(self.near_procedure(view, text)),
            };
            self.report(diagnostic);
        }
        procedure
    }

    fn find_procedure(&self, view: &View, symbol: Symbol) -> Option<ProcId> {
        let of_process = view.process.and_then(|process| self.tables.processes[process].procs.get(&symbol));
        of_process.or_else(|| self.tables.procs.get(&symbol)).copied()
    }

    fn near_procedure(&mut self, view: &View, text: &str) -> Option<&'a str> {
        if !self.may_suggest() {
            return None;
        }
        let visible = self.tables.units.iter().filter(|unit| unit.process.is_none() || unit.process == view.process);
        nearest(text, visible.map(|unit| unit.name))
    }

    fn check_choices(&mut self, n_choices: u32, span: Span) {
        if n_choices > MAX_CHOICES {
            let message = format!("more than {MAX_CHOICES} choices in one step");
            self.report(Diagnostic::new(Code::BeyondLimit, message, span));
        }
    }

    fn may_suggest(&mut self) -> bool {
        self.suggestions_left = self.suggestions_left.saturating_sub(1);
        self.suggestions_left > 0
    }
}
