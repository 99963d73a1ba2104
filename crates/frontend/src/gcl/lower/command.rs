//! Lowering of commands to one step each.

use std::collections::BTreeMap;

use selvedge_ir::span::Span;
use selvedge_ir::{Assign, BinaryOp, Expr, Op, VarId};

use super::declare::is_at;
use super::expr::ExprCx;
use super::{HEAD, Lowering};
use crate::diagnostic::{Code, Diagnostic};
use crate::gcl::ast::{self, Command, Item, Name, Process, ProcessItem, Update};

impl Lowering {
    /// Lowers all commands in order.
    pub(super) fn commands(&mut self, file: &ast::File) {
        let mut names = BTreeMap::new();
        for item in &file.items {
            match item {
                Item::Command(command) => {
                    if let Some(name) = &command.name {
                        self.once(&mut names, name, "command");
                    }
                    self.command(command, None, &[]);
                }
                Item::Process(process) => self.process_commands(process),
                _ => {}
            }
        }
    }

    fn process_commands(&mut self, process: &Process) {
        let mut names = BTreeMap::new();
        for item in &process.items {
            if let ProcessItem::At(locations, Some(command)) = item {
                if let Some(name) = &command.name {
                    self.once(&mut names, name, "command");
                }
                self.command(command, Some(&process.name.text), locations);
            }
        }
    }

    /// Lowers a command, which may belong to some locations of a process.
    fn command(&mut self, command: &Command, process: Option<&str>, locations: &[Name]) {
        let place = process.and_then(|process| self.place(process, locations));
        let guard = match &command.guard {
            Some(guard) => self.condition(guard, process),
            None => Expr::TRUE,
        };
        let guard = Expr::and(place.unwrap_or(Expr::TRUE), guard);
        self.guards.push(guard.clone());
        let active = self.updates(&command.updates, process);
        let name = match (process, &command.name) {
            (Some(process), Some(name)) => Some(format!("{process}.{}", name.text)),
            (Some(process), None) => Some(process.to_owned()),
            (None, name) => name.as_ref().map(|name| name.text.clone()),
        };
        let assign = Assign { active, passive: Vec::new(), constrain: guard };
        self.edge(HEAD, Op::Assign(assign), command.span, name);
    }

    fn place(&mut self, process: &str, locations: &[Name]) -> Option<Expr> {
        let counter = self.counters.get(process)?;
        let number = |name: &Name| counter.locations.iter().position(|location| location.name.text == name.text);
        let places = locations.iter().filter_map(number).map(|location| is_at(counter.pc, location));
        Expr::balanced(BinaryOp::Or, places.collect())
    }

    fn updates(&mut self, updates: &[Update], process: Option<&str>) -> Vec<(VarId, Expr)> {
        let mut cx = ExprCx { process, n_choices: Some(0) };
        let mut active: Vec<(VarId, Expr)> = Vec::new();
        let mut places: Vec<(VarId, Span)> = Vec::new();
        for update in updates {
            let assigned = match update {
                Update::Assign(name, value) => self.assign(&mut cx, name, value),
                Update::Goto(name, span) => self.goto(name, *span, process),
                Update::Skip => None,
            };
            let Some((var, value)) = assigned else { continue };
            let span = super::declare::target(update).map_or(Span::default(), |name| name.span);
            if let Some((_, first)) = places.iter().find(|(other, _)| *other == var) {
                let message = match update {
                    Update::Goto(..) => "a command can only go to one location".to_owned(),
                    _ => format!("`{}` is assigned twice", self.program.vars[var].name),
                };
                let diagnostic = Diagnostic::new(Code::AssignedTwice, message, span);
                self.report(diagnostic.also(*first, "first here"));
                continue;
            }
            places.push((var, span));
            active.push((var, value));
        }
        active
    }

    fn assign(&mut self, cx: &mut ExprCx<'_>, name: &Name, value: &ast::Expr) -> Option<(VarId, Expr)> {
        let var = self.resolve(&name.text, cx.process, name.span)?;
        let errors = self.diagnostics.len();
        let rhs = self.expr_of(cx, value, self.program.vars[var].ty);
        if self.diagnostics.len() == errors {
            self.check_range(var, &rhs, value.span);
        }
        Some((var, rhs))
    }

    fn goto(&mut self, name: &Name, span: Span, process: Option<&str>) -> Option<(VarId, Expr)> {
        let Some(process) = process else {
            let message = "`goto` outside a process";
            self.report(Diagnostic::new(Code::MisplacedGoto, message, span));
            return None;
        };
        let location = self.location(process, name)?;
        let pc = self.counters.get(process)?.pc;
        Some((pc, Expr::Int(i64::try_from(location).ok()?)))
    }
}
