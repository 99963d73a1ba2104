//! Lowering of guarded commands to the representation.
//!
//! The program has one procedure, run by one thread, with the locations `start` and `head`. The step from the one to
//! the other assumes the condition on first states, with the bounds of ranges and program counters; every command is a
//! step from `head` to itself, whose constraint is its guard over old values; every condition that must hold is an
//! assertion at `head`. All variables are shared and start with any value. A program counter is an integer whose values
//! are the numbers of its locations, in the order in which they first occur after `at`; the variable has the name of
//! its process.
//!
//! First everything is declared, then everything is lowered, so that the order of declarations does not matter. Invalid
//! parts are reported and replaced by something of the right type, so that the rest is checked as well.

mod command;
mod declare;
mod expr;
mod range;

use std::collections::BTreeMap;

use index_vec::IndexVec;
use selvedge_ir::span::{Origin, Role, SourceMap, Span};
use selvedge_ir::{BinaryOp, Edge, Expr, Loc, LocId, Op, ProcId, Program, Ty, VarId};

use super::ast::{self, Item, Name, Type};
use crate::diagnostic::{Code, Diagnostic};
use crate::load::{Loaded, add_main};

const MAIN: ProcId = ProcId::from_raw_unchecked(0);
const START: LocId = LocId::from_raw_unchecked(0);
const HEAD: LocId = LocId::from_raw_unchecked(1);
const EXIT: LocId = LocId::from_raw_unchecked(2);

/// Lowers a tree, about which the parser has reported these findings. If some are errors, unknown names are not
/// reported: their declarations may have been skipped.
pub(super) fn lower(file: &ast::File, parsed: Vec<Diagnostic>) -> Loaded {
    let mut lowering = Lowering::new(parsed);
    lowering.declare(file);
    lowering.init(file);
    lowering.commands(file);
    lowering.conditions(file);
    lowering.warn_of_unused();
    Loaded::of_program(lowering.program, lowering.map, lowering.diagnostics)
}

/// Lowers predicates over the variables of a program without errors. If the parser has found errors in them, unknown
/// names are still reported: declarations are not skipped there.
pub(super) fn lower_predicates(
    file: &ast::File,
    predicates: &[ast::Expr],
    parsed: Vec<Diagnostic>,
) -> (Vec<Expr>, Vec<Diagnostic>) {
    let mut lowering = Lowering::new(Vec::new());
    lowering.declare(file);
    lowering.diagnostics = parsed;
    let conditions = predicates.iter().map(|predicate| lowering.condition(predicate, None)).collect();
    lowering.diagnostics.sort_by_key(|diagnostic| diagnostic.primary.span);
    (conditions, lowering.diagnostics)
}

/// Information about a variable.
struct Info {
    ty: Type,
    span: Span,
    is_used: bool,
    is_counter: bool,
}

/// A process: its program counter and its locations.
struct Counter {
    pc: VarId,
    locations: Vec<Location>,
}

struct Location {
    name: Name,
    is_used: bool,
}

struct Lowering {
    is_whole: bool,
    program: Program,
    map: SourceMap,
    diagnostics: Vec<Diagnostic>,
    infos: IndexVec<VarId, Info>,
    /// Variables by their full names.
    vars: BTreeMap<String, VarId>,
    /// Processes by their names.
    counters: BTreeMap<String, Counter>,
    /// The bounds of ranges and counters, and values in declarations.
    initial: Vec<Expr>,
    guards: Vec<Expr>,
}

impl Lowering {
    fn new(diagnostics: Vec<Diagnostic>) -> Lowering {
        let mut program = Program::default();
        for _ in [START, HEAD, EXIT] {
            program.locs.push(Loc { proc: MAIN });
        }
        add_main(&mut program, START, EXIT);
        let mut map = SourceMap::default();
        map.procs.push(Span::default());
        Lowering {
            is_whole: !diagnostics.iter().any(Diagnostic::is_error),
            program,
            map,
            diagnostics,
            infos: IndexVec::new(),
            vars: BTreeMap::new(),
            counters: BTreeMap::new(),
            initial: Vec::new(),
            guards: Vec::new(),
        }
    }

    fn report(&mut self, diagnostic: Diagnostic) {
        self.diagnostics.push(diagnostic);
    }

    fn edge(&mut self, from: LocId, op: Op, span: Span, name: Option<String>) {
        let edge = self.program.edges.push(Edge::new(from, HEAD, op));
        self.map.edges.push(Origin { span, role: Role::Statement });
        self.map.commands.extend(name.map(|name| (edge, name)));
    }

    /// Adds the step to the first states.
    fn init(&mut self, file: &ast::File) {
        let mut conditions = std::mem::take(&mut self.initial);
        let mut whole: Option<Span> = None;
        for item in &file.items {
            if let Item::Init(init) = item {
                conditions.push(self.condition(&init.condition, None));
                whole.get_or_insert(init.span);
            }
        }
        let condition = Expr::balanced(BinaryOp::And, conditions).unwrap_or(Expr::TRUE);
        self.edge(START, Op::assume(condition), whole.unwrap_or_default(), Some("init".to_owned()));
    }

    /// Adds the assertions.
    fn conditions(&mut self, file: &ast::File) {
        let mut names: BTreeMap<String, Span> = BTreeMap::new();
        for item in &file.items {
            match item {
                Item::Safe(safe) => {
                    let condition = self.condition(&safe.condition, None);
                    if let Some(name) = &safe.name {
                        self.once(&mut names, name, "condition");
                    }
                    let name = safe.name.as_ref().map(|name| name.text.clone());
                    self.edge(HEAD, Op::Assert(condition), safe.span, name);
                }
                Item::DeadlockFree(span) => {
                    let enabled = Expr::balanced(BinaryOp::Or, self.guards.clone()).unwrap_or(Expr::FALSE);
                    self.edge(HEAD, Op::Assert(enabled), *span, Some("deadlock_free".to_owned()));
                }
                _ => {}
            }
        }
    }

    /// Reports a second command or condition of one name.
    fn once(&mut self, names: &mut BTreeMap<String, Span>, name: &Name, what: &str) {
        match names.get(&name.text) {
            Some(first) => {
                let message = format!("two {what}s have the name `{}`", name.text);
                let diagnostic = Diagnostic::new(Code::DuplicateLabel, message, name.span);
                self.report(diagnostic.also(*first, "the first one"));
            }
            None => {
                names.insert(name.text.clone(), name.span);
            }
        }
    }

    /// Lowers a condition over the variables, without choices.
    fn condition(&mut self, condition: &ast::Expr, process: Option<&str>) -> Expr {
        let mut cx = expr::ExprCx { process, n_choices: None };
        self.expr_of(&mut cx, condition, Ty::Bool)
    }

    /// Warns of unused variables and of locations that no `goto` leads to.
    fn warn_of_unused(&mut self) {
        if !self.is_whole {
            return;
        }
        for (var, info) in self.infos.iter_enumerated() {
            let name = &self.program.vars[var].name;
            if !info.is_used && !info.is_counter && !name.starts_with('_') {
                let message = format!("`{name}` is never used");
                self.diagnostics.push(Diagnostic::new(Code::UnusedVariable, message, info.span));
            }
        }
        for location in self.counters.values().flat_map(|counter| &counter.locations) {
            if !location.is_used {
                let message = format!("no `goto` leads to `{}`", location.name.text);
                self.diagnostics.push(Diagnostic::new(Code::UnusedLabel, message, location.name.span));
            }
        }
    }
}
