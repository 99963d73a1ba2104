//! Lowering of variables, processes and their locations.

use selvedge_ir::span::Span;
use selvedge_ir::{BinaryOp, Expr, Scope, Ty, Var, VarId};

use super::{Counter, Info, Location, Lowering};
use crate::diagnostic::{Code, Diagnostic};
use crate::gcl::ast::{self, Item, Name, Process, ProcessItem, Start, Type, Update, Vars};

impl Lowering {
    /// Declares everything; initial values and initial locations of processes are recorded.
    pub(super) fn declare(&mut self, file: &ast::File) {
        for item in &file.items {
            match item {
                Item::Vars(vars) => self.variables(vars, None),
                Item::Process(process) => self.process(process),
                _ => {}
            }
        }
        for item in &file.items {
            match item {
                Item::Vars(vars) => self.values(vars, None),
                Item::Process(process) => self.first_state(process),
                _ => {}
            }
        }
    }

    fn variables(&mut self, vars: &Vars, process: Option<&str>) {
        for name in &vars.names {
            self.variable(name, vars.ty, process);
        }
    }

    fn variable(&mut self, name: &Name, ty: Type, process: Option<&str>) {
        if name.text.contains('.') {
            let message = format!("`{}` cannot be declared, because its name has a dot", name.text);
            let help = "declare it in the process named before the dot";
            self.report(Diagnostic::new(Code::UnexpectedToken, message, name.span).help(help));
            return;
        }
        let full = match process {
            Some(process) => format!("{process}.{}", name.text),
            None => name.text.clone(),
        };
        if let Some(known) = self.vars.get(&full).copied().or_else(|| self.declared(&name.text)) {
            let message = format!("`{}` is declared twice", name.text);
            let diagnostic = Diagnostic::new(Code::DuplicateVariable, message, name.span);
            let first = self.infos[known].span;
            return self.report(diagnostic.also(first, "the first one"));
        }
        let var = self.new_var(&full, ty, name.span, false);
        self.vars.insert(full, var);
        if let Type::Range(low, high) = ty {
            self.initial.push(within(var, low, high));
        }
    }

    /// Returns the variable of this name outside processes, or the program counter of the process of this name.
    fn declared(&self, name: &str) -> Option<VarId> {
        self.vars.get(name).copied().or_else(|| self.counters.get(name).map(|counter| counter.pc))
    }

    fn new_var(&mut self, name: &str, ty: Type, span: Span, is_counter: bool) -> VarId {
        let ir_ty = if ty == Type::Bool { Ty::Bool } else { Ty::Int };
        self.infos.push(Info { ty, span, is_used: false, is_counter });
        self.map.vars.push(span);
        self.program.vars.push(Var { name: name.to_owned(), scope: Scope::Shared, ty: ir_ty })
    }

    fn process(&mut self, process: &Process) {
        let name = &process.name;
        let known = self.declared(&name.text);
        if known.is_some() || name.text.contains('.') {
            let message = match known {
                Some(_) => format!("`{}` is declared twice", name.text),
                None => format!("`{}` cannot be the name of a process, because it has a dot", name.text),
            };
            let mut diagnostic = Diagnostic::new(Code::DuplicateProcedure, message, name.span);
            if let Some(known) = known {
                diagnostic = diagnostic.also(self.infos[known].span, "the first one");
            }
            return self.report(diagnostic);
        }
        let locations = locations(process);
        let last = i64::try_from(locations.len().max(1)).unwrap_or(i64::MAX) - 1;
        let pc = self.new_var(&name.text, Type::Range(0, last), name.span, true);
        self.initial.push(within(pc, 0, last));
        let names = locations.iter().map(|location| location.name.text.clone()).collect();
        self.map.values.insert(pc, names);
        self.counters.insert(name.text.clone(), Counter { pc, locations });
        for item in &process.items {
            if let ProcessItem::Vars(vars) = item {
                self.variables(vars, Some(&name.text));
            }
        }
    }

    fn values(&mut self, vars: &Vars, process: Option<&str>) {
        let Some(value) = &vars.value else { return };
        for name in &vars.names {
            let Some(var) = self.lookup(&name.text, process) else { continue };
            let ty = self.program.vars[var].ty;
            let mut cx = super::expr::ExprCx { process, n_choices: None };
            let value = self.expr_of(&mut cx, value, ty);
            self.initial.push(Expr::binary(BinaryOp::Eq, Expr::Var(var), value));
        }
    }

    /// Adds the condition on the initial location of a process: the first one, unless it has a `start`.
    fn first_state(&mut self, process: &Process) {
        let name = process.name.text.as_str();
        if self.counters.get(name).is_none_or(|counter| self.infos[counter.pc].span != process.name.span) {
            return;
        }
        let mut start: Option<(&Start, Span)> = None;
        for item in &process.items {
            match item {
                ProcessItem::Vars(vars) => self.values(vars, Some(name)),
                ProcessItem::Start(this) => {
                    let span = match this {
                        Start::Any(span) | Start::Locations(_, span) => *span,
                    };
                    match start {
                        Some((_, first)) => {
                            let message = format!("`{name}` has two `start` items");
                            let diagnostic = Diagnostic::new(Code::DuplicateLabel, message, span);
                            self.report(diagnostic.also(first, "first here"));
                        }
                        None => start = Some((this, span)),
                    }
                }
                ProcessItem::At(..) => {}
            }
        }
        self.begin(name, start.map(|(start, _)| start));
    }

    fn begin(&mut self, process: &str, start: Option<&Start>) {
        let Some(counter) = self.counters.get_mut(process) else { return };
        let pc = counter.pc;
        match start {
            None => {
                if let Some(first) = counter.locations.first_mut() {
                    first.is_used = true;
                }
                self.initial.push(is_at(pc, 0));
            }
            Some(Start::Any(_)) => counter.locations.iter_mut().for_each(|location| location.is_used = true),
            Some(Start::Locations(names, _)) => {
                let places: Vec<Expr> = names
                    .iter()
                    .filter_map(|name| self.location(process, name))
                    .map(|location| is_at(pc, location))
                    .collect();
                self.initial.extend(Expr::balanced(BinaryOp::Or, places));
            }
        }
    }

    /// Returns the number of the target of a `goto` or `start`.
    pub(super) fn location(&mut self, process: &str, name: &Name) -> Option<usize> {
        let found = self.find_location(process, name)?;
        self.counters.get_mut(process)?.locations[found].is_used = true;
        Some(found)
    }

    /// Returns the number of a location of a process; one that does not exist is reported.
    pub(super) fn find_location(&mut self, process: &str, name: &Name) -> Option<usize> {
        let counter = self.counters.get(process)?;
        let found = counter.locations.iter().position(|location| location.name.text == name.text);
        if found.is_some() {
            return found;
        }
        let known: Vec<&str> = counter.locations.iter().map(|location| location.name.text.as_str()).collect();
        let message = format!("`{process}` has no location `{}`", name.text);
        let diagnostic = Diagnostic::new(Code::UnknownLabel, message, name.span);
        let diagnostic = match crate::suggest::nearest(&name.text, known.iter().copied()) {
            None => diagnostic.help(format!("to declare a location without commands, write `at {};`", name.text)),
            near => diagnostic.did_you_mean(near),
        };
        if self.is_whole {
            self.report(diagnostic);
        }
        None
    }
}

/// Returns the locations in the order in which they first occur after `at`.
fn locations(process: &Process) -> Vec<Location> {
    let mut locations: Vec<Location> = Vec::new();
    let mut known = std::collections::BTreeSet::new();
    for item in &process.items {
        let ProcessItem::At(names, _) = item else { continue };
        for name in names {
            if known.insert(name.text.as_str()) {
                locations.push(Location { name: name.clone(), is_used: false });
            }
        }
    }
    locations
}

/// Returns the condition that a program counter is at a location.
pub(super) fn is_at(pc: VarId, location: usize) -> Expr {
    let number = i64::try_from(location).unwrap_or(i64::MAX);
    Expr::binary(BinaryOp::Eq, Expr::Var(pc), Expr::Int(number))
}

fn within(var: VarId, low: i64, high: i64) -> Expr {
    let above = Expr::binary(BinaryOp::Le, Expr::Int(low), Expr::Var(var));
    Expr::and(above, Expr::binary(BinaryOp::Le, Expr::Var(var), Expr::Int(high)))
}

/// Returns the names that a command assigns, for messages.
pub(super) fn target(update: &Update) -> Option<&Name> {
    match update {
        Update::Assign(name, _) | Update::Goto(name, _) => Some(name),
        Update::Skip => None,
    }
}
