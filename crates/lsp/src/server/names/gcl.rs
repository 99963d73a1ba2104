//! The names of guarded commands. A name in a process means the variable of the process, if it has one of this name;
//! `p.x` means the variable of that process anywhere. A location is declared where `at` first names it.

use std::collections::BTreeMap;

use selvedge_frontend::gcl::ast::{
    Command, Expr, ExprKind, File, Item, Name, Process, ProcessItem, Span, Start, Update, Vars,
};

use super::{Entity, Kind, Use};

/// All declarations of a file.
pub(super) fn entities(file: &File, whole: Span) -> Vec<Entity> {
    let mut walk = Walk { scope: whole, ..Walk::default() };
    walk.declare_all(file);
    file.items.iter().for_each(|item| walk.item(item));
    walk.entities
}

#[derive(Default)]
struct Walk<'f> {
    entities: Vec<Entity>,
    /// Variables by their names as seen from outside of processes.
    vars: BTreeMap<String, usize>,
    processes: BTreeMap<&'f str, usize>,
    /// Locations by process and name.
    locations: BTreeMap<(&'f str, &'f str), usize>,
    /// The process that the walk is in.
    process: Option<&'f str>,
    /// The part of the text in which the names are known that are declared now.
    scope: Span,
}

impl<'f> Walk<'f> {
    fn entity(&mut self, name: &Name, kind: Kind, whole: Span) -> usize {
        let (declared, scope) = (name.span, self.scope);
        self.entities.push(Entity { name: name.text.clone(), kind, declared, whole, scope, uses: Vec::new() });
        self.entities.len() - 1
    }

    /// Declarations come first, since they may be used before.
    fn declare_all(&mut self, file: &'f File) {
        for item in &file.items {
            match item {
                Item::Vars(vars) => self.declare_vars(vars, None),
                Item::Process(process) => self.declare_process(process),
                Item::Command(command) => self.declare_command(command),
                Item::Safe(safe) => {
                    if let Some(name) = &safe.name {
                        self.entity(name, Kind::Safe, safe.span);
                    }
                }
                Item::Init(_) | Item::DeadlockFree(_) => {}
            }
        }
    }

    fn declare_vars(&mut self, vars: &Vars, process: Option<&str>) {
        for name in &vars.names {
            let number = self.entity(name, Kind::Variable, vars.span);
            let outside = process.map_or(name.text.clone(), |process| format!("{process}.{}", name.text));
            self.vars.entry(outside).or_insert(number);
        }
    }

    fn declare_command(&mut self, command: &Command) {
        if let Some(name) = &command.name {
            self.entity(name, Kind::Command, command.span);
        }
    }

    fn declare_process(&mut self, process: &'f Process) {
        let number = self.entity(&process.name, Kind::Process, process.span);
        self.processes.entry(&process.name.text).or_insert(number);
        let outside = std::mem::replace(&mut self.scope, process.span);
        for item in &process.items {
            match item {
                ProcessItem::Vars(vars) => self.declare_vars(vars, Some(&process.name.text)),
                ProcessItem::At(names, command) => {
                    for name in names {
                        let key = (process.name.text.as_str(), name.text.as_str());
                        if !self.locations.contains_key(&key) {
                            let number = self.entity(name, Kind::Location, name.span);
                            self.locations.insert(key, number);
                        }
                    }
                    command.iter().for_each(|command| self.declare_command(command));
                }
                ProcessItem::Start(_) => {}
            }
        }
        self.scope = outside;
    }

    fn item(&mut self, item: &'f Item) {
        match item {
            Item::Vars(vars) => vars.value.iter().for_each(|value| self.expr(value)),
            Item::Init(init) => self.expr(&init.condition),
            Item::Command(command) => self.command(command),
            Item::Process(process) => {
                self.process = Some(&process.name.text);
                process.items.iter().for_each(|item| self.process_item(item));
                self.process = None;
            }
            Item::Safe(safe) => self.expr(&safe.condition),
            Item::DeadlockFree(_) => {}
        }
    }

    fn process_item(&mut self, item: &'f ProcessItem) {
        match item {
            ProcessItem::Vars(vars) => vars.value.iter().for_each(|value| self.expr(value)),
            ProcessItem::Start(Start::Any(_)) => {}
            ProcessItem::Start(Start::Locations(names, _)) => names.iter().for_each(|name| self.own_location(name)),
            ProcessItem::At(names, command) => {
                names.iter().for_each(|name| self.own_location(name));
                command.iter().for_each(|command| self.command(command));
            }
        }
    }

    fn command(&mut self, command: &'f Command) {
        command.guard.iter().for_each(|guard| self.expr(guard));
        for update in &command.updates {
            match update {
                Update::Assign(name, value) => {
                    self.var(&name.text, name.span, true);
                    self.expr(value);
                }
                Update::Goto(name, _) => self.own_location(name),
                Update::Skip => {}
            }
        }
    }

    fn own_location(&mut self, name: &Name) {
        if let Some(process) = self.process {
            self.location(process, name);
        }
    }

    fn location(&mut self, process: &str, name: &Name) {
        let found = self.locations.get(&(process, name.text.as_str())).copied();
        self.used(found, name.span, false);
    }

    /// A name of a variable; `p.x` is a use of the process `p` as well.
    fn var(&mut self, name: &str, span: Span, is_write: bool) {
        let own = self.process.and_then(|process| self.vars.get(&format!("{process}.{name}")));
        let found = own.or_else(|| self.vars.get(name)).copied();
        self.used(found, span, is_write);
        if let Some((process, _)) = name.split_once('.') {
            self.used(self.processes.get(process).copied(), span, false);
        }
    }

    /// Adds a use; the declaration is not one of them.
    fn used(&mut self, number: Option<usize>, span: Span, is_write: bool) {
        if let Some(entity) = number.map(|number| &mut self.entities[number])
            && entity.declared != span
        {
            entity.uses.push(Use { span, is_write });
        }
    }

    fn expr(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::Var(name) => self.var(name, expr.span, false),
            ExprKind::At(process, location) => {
                let found = self.processes.get(process.text.as_str()).copied();
                self.used(found, process.span, false);
                self.location(&process.text, location);
            }
            ExprKind::Not(operand) | ExprKind::Neg(operand) => self.expr(operand),
            ExprKind::Chain(_, operands) => operands.iter().for_each(|operand| self.expr(operand)),
            ExprKind::Sum(first, rest) => {
                self.expr(first);
                rest.iter().for_each(|(_, operand)| self.expr(operand));
            }
            ExprKind::Binary(_, pair) => {
                self.expr(&pair.0);
                self.expr(&pair.1);
            }
            ExprKind::Conditional(parts) => {
                self.expr(&parts.0);
                self.expr(&parts.1);
                self.expr(&parts.2);
            }
            ExprKind::Bool(_) | ExprKind::Int(_) | ExprKind::Nondet | ExprKind::Error => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Index, Kind};
    use selvedge_frontend::Language;

    const TEXT: &str = "\
var x: int = 0;
process p {
  var x: int;
  start idle;
  at idle: go: x > 0 -> x := x - 1, goto busy;
  at busy: p_done: true -> goto idle;
}
step: x < p.x -> x := x + 1;
safe never: !(p at busy) | x >= 0;
";

    fn at(line: usize, part: &str) -> u32 {
        let start: usize = TEXT.lines().take(line - 1).map(|line| line.len() + 1).sum();
        let column = TEXT.lines().nth(line - 1).and_then(|line| line.find(part)).expect("the part stands there");
        u32::try_from(start + column).expect("the text is short")
    }

    #[test]
    fn a_name_in_a_process_means_its_own_variable() {
        let index = Index::new(Language::Gcl, TEXT);
        let own = index.at(at(5, "x > 0")).expect("it is declared").0;
        assert_eq!((own.kind, own.declared.start, own.uses.len()), (Kind::Variable, at(3, "x"), 4));
        let outer = index.at(at(9, "x >= 0")).expect("it is declared").0;
        assert_eq!((outer.declared.start, outer.uses.len()), (at(1, "x"), 4));
        assert_eq!(index.at(at(8, "p.x") + 2).map(|(entity, _)| entity.declared), Some(own.declared));
    }

    #[test]
    fn a_location_is_declared_where_a_command_first_stands_there() {
        let index = Index::new(Language::Gcl, TEXT);
        let busy = index.at(at(9, "busy")).expect("it is declared").0;
        assert_eq!((busy.kind, busy.declared.start, busy.uses.len()), (Kind::Location, at(6, "busy"), 2));
        assert_eq!(index.at(at(4, "idle")).map(|(entity, _)| entity.declared.start), Some(at(5, "idle")));
        assert_eq!(index.at(at(9, "p at")).map(|(entity, _)| entity.kind), Some(Kind::Process));
        let process = index.at(at(8, "p.x")).expect("it is declared").0;
        assert_eq!((process.kind, process.uses.len()), (Kind::Process, 2));
    }
}
