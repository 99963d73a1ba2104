//! Lowering of the typed tree of C to the representation (`docs/c.md` states the meaning).
//!
//! - `facts`, `syntax`: what the program as a whole does: which functions run and how often, whose addresses are taken.
//! - `objects`: objects are flattened into cells, one variable for each scalar part.
//! - `body`, `stmt`, `expr`, `assign`, `branch`, `arithmetic`, `place`: functions become procedures. A step reads or
//!   writes at most one shared cell.
//! - `points`, `targets`: what pointers may lead to, and the limit on everything else.
//! - `aggregate`: structs and unions as values.
//! - `calls`, `threads`, `sync`, `mutex`, `atomics`: the functions of the library and of the compiler.
//! - `lengths`: arrays of variable length.
//! - `input`: the arguments of `main`, streams and `scanf`.
//! - `heap`, `fresh`: objects that are allocated.
//! - `made`: objects that the text does not declare, such as those of string literals.
//! - `checks`: the errors that properties ask about.
//!
//! What is not supported is reported where it would be executed; functions that never run are not looked at.

mod aggregate;
mod arithmetic;
mod assign;
mod atomics;
mod body;
mod branch;
mod calls;
mod checks;
mod expr;
mod facts;
mod fresh;
mod heap;
mod input;
mod lengths;
mod made;
mod mutex;
mod objects;
mod place;
mod points;
mod sites;
mod stmt;
mod sync;
mod syntax;
mod targets;
mod threads;
mod views;

use std::collections::BTreeMap;

use index_vec::IndexVec;
use rustc_hash::FxHashMap;
use selvedge_ir::span::{Origin, Role, SourceMap, Span};
use selvedge_ir::{
    Count, Edge, EdgeId, Entry, Expr, Loc as Place, LocId, Op, Proc, ProcId, Program, Scope, Ty, Var, VarId,
};

use super::files::Loc;
use super::property::Properties;
use super::tree::{FunctionId, ObjectId, Unit};
use super::types::LengthId;
use crate::diagnostic::{Code, Diagnostic, Severity};
use crate::{Extern, Loaded};
use facts::Facts;
use lengths::{Computed, Lengths};
use objects::Cell;
use points::Points;
pub use targets::PointerUse;
use targets::Pointers;
use threads::Threads;

/// A construct that is not supported, and its place.
pub(super) struct Refused {
    what: String,
    loc: Loc,
}

type Lowered<T> = Result<T, Refused>;

/// Initial values of variables.
type Values = Vec<(VarId, Expr)>;

/// Returns the refusal of a construct; the words end in "is" or "are".
fn refuse<T>(what: impl Into<String>, loc: Loc) -> Lowered<T> {
    Err(Refused { what: what.into(), loc })
}

/// The limit on the number of constructs that are reported.
const MAX_REFUSED: usize = 20;

struct Lowering<'u> {
    unit: &'u Unit,
    facts: Facts,
    program: Program,
    map: SourceMap,
    diagnostics: Vec<Diagnostic>,
    remarks: Vec<Diagnostic>,
    /// For each location the one that it is the same as; itself at the end of the chain.
    same: IndexVec<LocId, LocId>,
    procs: FxHashMap<FunctionId, ProcId>,
    cells: FxHashMap<ObjectId, Vec<Cell>>,
    /// The states of locks and semaphores, by object and offset.
    sync: BTreeMap<(ObjectId, u64, sync::State), Cell>,
    /// The values of keys for data of each thread, by the place that creates the key.
    keys: Vec<(facts::Site, VarId)>,
    /// Shared truth values that are false at the start.
    flags: Vec<VarId>,
    addresses: objects::Addresses,
    threads: Threads,
    checks: checks::Checks,
    heap: heap::Heap,
    externs: Extern,
    points: Points<'u>,
    pointers: Pointers,
    lengths: &'u Lengths,
    computed: Vec<Computed>,
}

/// Lowers a unit without errors, with the checks for some properties. The program is `None` if something is not
/// supported.
pub(super) fn lower(unit: &mut Unit, options: &Options) -> (Loaded, Vec<PointerUse>) {
    let Some(main) = unit.function("main").filter(|main| unit.functions[*main].body.is_some()) else {
        let message = "there is no function `main`";
        let help = "a program starts at `main`, which must be defined in the file";
        let missing = Diagnostic::new(Code::CUnsupported, message, Span::default()).help(help);
        return (Loaded { diagnostics: vec![missing], ..Loaded::default() }, Vec::new());
    };
    let made = made::make(unit, options.malloc_bound);
    let mut lengths = Lengths::of(unit);
    loop {
        lengths.fix(unit);
        let (loaded, uses, found) = lowered(unit, main, &made, options, &lengths);
        if !lengths.grow(&found) {
            return (loaded, uses);
        }
    }
}

/// Lowers a unit with some numbers of elements for arrays of variable length. Returns the greatest lengths as well.
fn lowered(
    unit: &Unit,
    main: FunctionId,
    made: &made::Made,
    options: &Options,
    lengths: &Lengths,
) -> (Loaded, Vec<PointerUse>, Vec<(LengthId, i128)>) {
    let mut low = Lowering::new(unit, main, made, options, lengths);
    low.declare_procs();
    low.declare_threads();
    low.declare_heap();
    low.declare_taken();
    low.declare_outside();
    low.prepare_race();
    low.prepare_memory();
    for function in low.facts.running.clone() {
        low.function(function, main);
    }
    low.add_wrappers();
    let threads = low.facts.threads();
    let (loaded, uses, lengths) = low.finish(main);
    (Loaded { threads, ..loaded }, uses, lengths)
}

/// Options of the lowering.
#[derive(Clone, Copy, Debug)]
pub(super) struct Options {
    /// How many objects each place may allocate.
    pub(super) malloc_bound: u32,
    /// What functions without a body do that are not known.
    pub(super) externs: Extern,
    /// What is asked about the program.
    pub(super) asked: Properties,
    /// Whether uses of pointers are noted, and nothing rests on what the analysis says about them.
    pub(super) observes: bool,
}

impl<'u> Lowering<'u> {
    fn new(
        unit: &'u Unit,
        main: FunctionId,
        made: &'u made::Made,
        options: &Options,
        lengths: &'u Lengths,
    ) -> Lowering<'u> {
        let (facts, points) = Facts::new(unit, main, made, lengths);
        let threads = Threads::new(&facts);
        Lowering {
            unit,
            facts,
            program: Program::default(),
            map: SourceMap { several_steps: true, ..SourceMap::default() },
            diagnostics: Vec::new(),
            remarks: Vec::new(),
            same: IndexVec::new(),
            procs: FxHashMap::default(),
            cells: FxHashMap::default(),
            sync: BTreeMap::new(),
            keys: Vec::new(),
            flags: Vec::new(),
            addresses: objects::Addresses::default(),
            threads,
            checks: checks::Checks::new(options.asked),
            heap: heap::Heap::default(),
            externs: options.externs,
            points,
            pointers: Pointers::new(options.observes),
            lengths,
            computed: Vec::new(),
        }
    }

    fn report(&mut self, refused: Refused) {
        if self.diagnostics.len() < MAX_REFUSED {
            let message = format!("{} not supported", refused.what);
            self.diagnostics.push(self.unit.expansions.diagnostic(Code::CUnsupported, message, refused.loc));
        }
    }

    /// Adds a warning; the same one is given once.
    fn remark(&mut self, message: String, loc: Loc) {
        let remark = self.unit.expansions.diagnostic(Code::CUnsupported, message, loc);
        if self.remarks.iter().all(|known| known.message != remark.message) {
            self.remarks.push(Diagnostic { severity: Severity::Warning, ..remark });
        }
    }

    fn declare_procs(&mut self) {
        for function in self.facts.running.clone() {
            let declared = &self.unit.functions[function];
            let name = self.unit.name(declared.name).to_owned();
            let proc = self.new_proc(name, declared.loc.span);
            self.procs.insert(function, proc);
        }
    }

    fn new_proc(&mut self, name: String, span: Span) -> ProcId {
        let (params, locals, results, none) = (Vec::new(), Vec::new(), Vec::new(), LocId::new(0));
        let proc = self.program.procs.push(Proc { name, params, locals, results, entry: none, exit: none });
        self.map.procs.push(span);
        let (entry, exit) = (self.new_loc(proc), self.new_loc(proc));
        self.program.procs[proc].entry = entry;
        self.program.procs[proc].exit = exit;
        proc
    }

    fn new_loc(&mut self, proc: ProcId) -> LocId {
        let loc = self.program.locs.push(Place { proc });
        self.same.push(loc);
        loc
    }

    fn new_var(&mut self, name: String, scope: Scope, ty: Ty, span: Span) -> VarId {
        let var = self.program.vars.push(Var { name, scope, ty });
        self.map.vars.push(span);
        if let Scope::Local(proc) = scope {
            self.program.procs[proc].locals.push(var);
        }
        var
    }

    fn edge(&mut self, from: LocId, to: LocId, op: Op, span: Span, role: Role) -> EdgeId {
        self.map.edges.push(Origin { span, role });
        self.program.edges.push(Edge::new(from, to, op))
    }

    fn is_shared(&self, var: VarId) -> bool {
        self.program.vars[var].scope == Scope::Shared
    }

    /// Returns the representative of the locations that are the same as this one.
    fn find(&self, mut loc: LocId) -> LocId {
        while self.same[loc] != loc {
            loc = self.same[loc];
        }
        loc
    }

    /// Makes two locations one.
    fn join(&mut self, one: LocId, other: LocId) {
        let (one, other) = (self.find(one), self.find(other));
        self.same[one] = other;
    }

    /// Adds the initial thread, merges locations that are the same and numbers the others anew.
    fn finish(mut self, main: FunctionId) -> (Loaded, Vec<PointerUse>, Vec<(LengthId, i128)>) {
        let proc = self.procs[&main];
        let (shared, of_threads) = self.initial_values();
        self.program.init = shared;
        let thread_vars = of_threads.iter().map(|(var, _)| *var).collect();
        let (name, count) = ("main".to_owned(), Count::Exactly(1));
        self.program.entries.push(Entry { name, proc, count, thread_vars, init: of_threads });
        self.diagnostics.append(&mut self.remarks);
        self.number_locs();
        let is_whole = !self.diagnostics.iter().any(Diagnostic::is_error);
        let lengths = if is_whole { self.greatest_lengths() } else { Vec::new() };
        let has_errors = self.diagnostics.iter().any(Diagnostic::is_error);
        if !has_errors {
            self.drop_limits();
            self.number_locs();
        }
        self.name_addresses();
        self.map.notes = std::mem::take(&mut self.checks.notes);
        self.map.properties = self.checks.asked.names().into_iter().map(str::to_owned).collect();
        let program = (!has_errors).then_some(self.program);
        let loaded = Loaded { program, source_map: self.map, diagnostics: self.diagnostics, ..Loaded::default() };
        (loaded, self.pointers.uses, lengths)
    }

    /// Merges locations that are the same and numbers the others anew.
    fn number_locs(&mut self) {
        let mut numbers: IndexVec<LocId, Option<LocId>> = self.program.locs.iter().map(|_| None).collect();
        let mut locs = IndexVec::new();
        for loc in self.program.locs.indices().filter(|loc| self.same[*loc] == *loc) {
            numbers[loc] = Some(locs.push(self.program.locs[loc]));
        }
        let moved: IndexVec<LocId, LocId> =
            self.program.locs.indices().map(|loc| numbers[self.find(loc)].unwrap_or(loc)).collect();
        for edge in &mut self.program.edges {
            (edge.from, edge.to) = (moved[edge.from], moved[edge.to]);
            if let Op::Fork(begin) = &mut edge.op {
                *begin = moved[*begin];
            }
        }
        for proc in &mut self.program.procs {
            (proc.entry, proc.exit) = (moved[proc.entry], moved[proc.exit]);
        }
        for label in &mut self.program.labels {
            label.loc = moved[label.loc];
        }
        self.pointers.moved(&moved);
        self.same = locs.indices().collect();
        self.program.locs = locs;
    }

    /// Returns the initial values of shared variables and of those of threads.
    fn initial_values(&mut self) -> (Values, Values) {
        let mut values = self.object_values();
        values.extend(self.threads.initial_values(self.pointer_ty()));
        values.extend(self.sync_values());
        values.extend(self.checks.initial_values());
        values.extend(self.heap.initial_values());
        values.extend(self.keys.iter().map(|(_, var)| (*var, self.pointer_ty().constant(0))));
        values.extend(self.flags.iter().map(|var| (*var, Expr::FALSE)));
        values.sort_by_key(|(var, _)| *var);
        let scope = |var: VarId| self.program.vars[var].scope;
        let of =
            |wanted: Scope| -> Values { values.iter().filter(|(var, _)| scope(*var) == wanted).cloned().collect() };
        (of(Scope::Shared), of(Scope::Thread))
    }
}
