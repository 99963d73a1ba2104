//! Tables of declarations, in which the lowering looks up names.
//!
//! A name means the nearest declaration: a local of the procedure, then a variable of the process, then one of the
//! file; a procedure of the process, then one of the file. Labels belong to one procedure and are collected by the
//! lowering.

use index_vec::IndexVec;
use rustc_hash::FxHashMap;
use selvedge_ir::span::{SourceMap, Span};
use selvedge_ir::{EntryId, LocId, Proc, ProcId, Program, Scope, Ty, Var, VarId};

use super::ast::{self, Body, Copies, Decl, DeclKind, File, Item, Length, Name, Param, ProcessItem, Range, Symbol};
use super::lower::Shape;
use crate::diagnostic::{Code, Diagnostic};

/// Variables by name.
pub(super) type VarTable = FxHashMap<Symbol, VarId>;

/// A procedure or `init` block whose body is to be lowered.
#[derive(Clone, Copy)]
pub(super) struct Unit<'a> {
    /// For an `init` block, that word.
    pub(super) name: &'a str,
    pub(super) params: &'a [Param],
    pub(super) n_results: usize,
    pub(super) header: Span,
    pub(super) body: &'a Body,
    /// The process that it belongs to.
    pub(super) process: Option<usize>,
}

/// A variable outside procedures, and its initial value.
#[derive(Clone, Copy)]
pub(super) struct Global<'a> {
    pub(super) var: VarId,
    pub(super) init: Option<&'a ast::Expr>,
}

/// The declarations of one process.
pub(super) struct Process<'a> {
    pub(super) name: Name,
    pub(super) header: Span,
    pub(super) copies: Copies,
    pub(super) vars: VarTable,
    pub(super) globals: Vec<Global<'a>>,
    pub(super) procs: FxHashMap<Symbol, ProcId>,
    /// The entry, set when the entries are chosen.
    pub(super) entry: Option<EntryId>,
}

/// All declarations of a file.
pub(super) struct Tables<'a> {
    pub(super) file: &'a File,
    pub(super) vars: VarTable,
    /// The variables outside procedures, shared and per-thread ones, in textual order.
    pub(super) globals: Vec<Global<'a>>,
    pub(super) procs: FxHashMap<Symbol, ProcId>,
    pub(super) units: IndexVec<ProcId, Unit<'a>>,
    pub(super) processes: Vec<Process<'a>>,
    process_names: FxHashMap<Symbol, usize>,
    /// The `init` block.
    pub(super) init: Option<ProcId>,
}

/// Collects the declarations; variables and procedures get their numbers in textual order.
pub(super) fn collect<'a>(file: &'a File, found: &mut Output) -> Tables<'a> {
    let mut tables = Tables {
        file,
        vars: VarTable::default(),
        globals: Vec::new(),
        procs: FxHashMap::default(),
        units: IndexVec::new(),
        processes: Vec::new(),
        process_names: FxHashMap::default(),
        init: None,
    };
    for item in &file.items {
        match item {
            Item::Decl(decl) => tables.globals.extend(found.globals(file, decl, None, &mut tables.vars)),
            Item::Proc(procedure) => tables.procedure(found, procedure, None),
            Item::Init(init) => tables.init_block(found, init),
            Item::Process(process) => tables.process(found, process),
        }
    }
    tables
}

impl<'a> Tables<'a> {
    pub(super) fn text(&self, symbol: Symbol) -> &'a str {
        self.file.names.text(symbol)
    }

    fn procedure(&mut self, found: &mut Output, procedure: &'a ast::Proc, process: Option<usize>) {
        let unit = Unit {
            name: self.text(procedure.name.symbol),
            params: &procedure.params,
            n_results: procedure.results.count(),
            header: procedure.header,
            body: &procedure.body,
            process,
        };
        let id = self.unit(found, unit);
        let procs = match process {
            Some(process) => &mut self.processes[process].procs,
            None => &mut self.procs,
        };
        if unit.name.is_empty() {
            return;
        }
        if let Some(first) = procs.get(&procedure.name.symbol) {
            let message = format!("the procedure `{}` is defined twice", unit.name);
            let diagnostic = Diagnostic::new(Code::DuplicateProcedure, message, procedure.name.span)
                .also(self.units[*first].header, "the first one");
            found.diagnostics.push(diagnostic);
        } else {
            procs.insert(procedure.name.symbol, id);
        }
    }

    fn unit(&mut self, found: &mut Output, unit: Unit<'a>) -> ProcId {
        let name = match unit.process {
            Some(process) => format!("{}.{}", self.text(self.processes[process].name.symbol), unit.name),
            None => unit.name.to_owned(),
        };
        let results = vec![Ty::Bool; unit.n_results];
        let nowhere = LocId::new(0);
        let procedure = Proc { name, params: Vec::new(), locals: Vec::new(), results, entry: nowhere, exit: nowhere };
        found.program.procs.push(procedure);
        found.map.procs.push(unit.header);
        self.units.push(unit)
    }

    fn init_block(&mut self, found: &mut Output, init: &'a ast::Init) {
        let unit = Unit { name: "init", params: &[], n_results: 0, header: init.word, body: &init.body, process: None };
        let id = self.unit(found, unit);
        if let Some(first) = self.init {
            let diagnostic = Diagnostic::new(Code::DuplicateProcedure, "there is a second `init` block", init.word)
                .also(self.units[first].header, "the first one");
            found.diagnostics.push(diagnostic);
        } else {
            self.init = Some(id);
        }
    }

    fn process(&mut self, found: &mut Output, process: &'a ast::Process) {
        let id = self.processes.len();
        if let Some(first) = self.process_names.insert(process.name.symbol, id) {
            let message = format!("the process `{}` is defined twice", self.text(process.name.symbol));
            let diagnostic = Diagnostic::new(Code::DuplicateProcedure, message, process.name.span)
                .also(self.processes[first].header, "the first one");
            found.diagnostics.push(diagnostic);
        }
        self.processes.push(Process {
            name: process.name,
            header: process.header,
            copies: process.copies,
            vars: VarTable::default(),
            globals: Vec::new(),
            procs: FxHashMap::default(),
            entry: None,
        });
        for item in &process.items {
            match item {
                ProcessItem::Decl(decl) => {
                    let mut vars = std::mem::take(&mut self.processes[id].vars);
                    let globals = found.globals(self.file, decl, Some(id), &mut vars);
                    self.processes[id].vars = vars;
                    self.processes[id].globals.extend(globals);
                }
                ProcessItem::Proc(procedure) => self.procedure(found, procedure, Some(id)),
            }
        }
    }
}

/// The result so far: the program, its positions and the diagnostics.
#[derive(Default)]
pub(super) struct Output {
    pub(super) program: Program,
    /// What each variable is in the source.
    pub(super) shapes: IndexVec<VarId, Shape>,
    pub(super) map: SourceMap,
    pub(super) diagnostics: Vec<Diagnostic>,
}

impl Output {
    fn globals<'a>(
        &mut self,
        file: &File,
        decl: &'a Decl,
        process: Option<usize>,
        table: &mut VarTable,
    ) -> Vec<Global<'a>> {
        let is_shared = process.is_none() && decl.kind != DeclKind::ThreadLocal;
        let scope = if is_shared { Scope::Shared } else { Scope::Thread };
        let mut globals = Vec::with_capacity(decl.vars.len());
        for declared in &decl.vars {
            let shape = (declared.range, declared.length);
            let first = self.declare(file, declared.name, shape, scope, table);
            let init = declared.init.as_ref();
            globals.extend(self.cells(first).map(|var| Global { var, init }));
        }
        globals
    }

    /// Returns the elements of an array, whose first one is given; otherwise the variable itself.
    pub(super) fn cells(&self, first: VarId) -> impl Iterator<Item = VarId> + use<> {
        let length = self.shapes[first].length.unwrap_or(1) as usize;
        (first.index()..first.index() + length).map(VarId::new)
    }

    /// Adds a variable, or the elements of an array, and returns the first; the first of several with one name in one
    /// table keeps the name.
    pub(super) fn declare(
        &mut self,
        file: &File,
        name: Name,
        (range, length): (Option<Range>, Option<Length>),
        scope: Scope,
        table: &mut VarTable,
    ) -> VarId {
        let text = file.names.text(name.symbol);
        let var = self.program.vars.next_idx();
        let length = length.map(|length| length.count);
        for number in 0..length.unwrap_or(1) {
            let name_of_cell = if length.is_some() { format!("{text}[{number}]") } else { text.to_owned() };
            let range = range.map(|range| (range.lo, range.hi));
            let is_element = number > 0;
            let shape = Shape { range, length: length.filter(|_| !is_element), is_element };
            self.program.vars.push(Var { name: name_of_cell, scope, ty: shape.ty() });
            self.map.vars.push(name.span);
            self.shapes.push(shape);
        }
        if let Some(first) = table.get(&name.symbol) {
            let diagnostic = Diagnostic::new(Code::DuplicateVariable, format!("`{text}` is declared twice"), name.span)
                .label("declared again")
                .also(self.map.vars[*first], "first declared here");
            self.diagnostics.push(diagnostic);
        } else {
            table.insert(name.symbol, var);
        }
        var
    }
}
