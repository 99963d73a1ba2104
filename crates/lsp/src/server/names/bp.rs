//! The names of a Boolean program: where each is declared, and where it is used.
//!
//! A name means the nearest declaration, as in the resolver of the front end: a local of the procedure, then a variable
//! of the process, then one of the file; labels belong to one procedure. The walk is over the tree alone, so that it
//! works in programs with errors as well.

use std::collections::BTreeMap;

use selvedge_frontend::bp::ast::{
    Block, Body, Decl, DeclKind, Element, Expr, ExprKind, File, Item, Name, Proc, ProcessItem, Span, StartThread,
    StmtKind, Symbol, Target,
};

use super::{Entity, Kind, Use};

/// All declarations of a file.
pub(super) fn entities(file: &File, whole: Span) -> Vec<Entity> {
    let mut walk = Walk { file, entities: Vec::new(), scopes: vec![Scope::new(whole)] };
    walk.file();
    walk.entities
}

struct Scope {
    /// The part of the text in which its names are known.
    span: Span,
    vars: BTreeMap<Symbol, usize>,
    procs: BTreeMap<Symbol, usize>,
    labels: BTreeMap<Symbol, usize>,
}

impl Scope {
    fn new(span: Span) -> Scope {
        Scope { span, vars: BTreeMap::new(), procs: BTreeMap::new(), labels: BTreeMap::new() }
    }
}

struct Walk<'f> {
    file: &'f File,
    entities: Vec<Entity>,
    scopes: Vec<Scope>,
}

/// Which table of a scope.
type Table = fn(&mut Scope) -> &mut BTreeMap<Symbol, usize>;

impl<'f> Walk<'f> {
    /// Declarations of the file come first, since they may be used before.
    fn file(&mut self) {
        for item in &self.file.items {
            match item {
                Item::Decl(decl) => self.decl(decl, Kind::Shared),
                Item::Proc(proc) => self.declare(proc.name, Kind::Procedure, proc.span, |scope| &mut scope.procs),
                Item::Process(process) => {
                    self.declare(process.name, Kind::Process, process.span, |scope| &mut scope.procs)
                }
                Item::Init(_) => {}
            }
        }
        for item in &self.file.items {
            match item {
                Item::Decl(_) => {}
                Item::Proc(proc) => self.proc(proc),
                Item::Init(init) => self.body(&init.body, &[], init.span),
                Item::Process(process) => self.process(&process.items, process.span),
            }
        }
    }

    fn process(&mut self, items: &'f [ProcessItem], span: Span) {
        self.scopes.push(Scope::new(span));
        for item in items {
            match item {
                ProcessItem::Decl(decl) => self.decl(decl, Kind::PerThread),
                ProcessItem::Proc(proc) => {
                    self.declare(proc.name, Kind::Procedure, proc.span, |scope| &mut scope.procs);
                }
            }
        }
        for item in items {
            if let ProcessItem::Proc(proc) = item {
                self.proc(proc);
            }
        }
        self.scopes.pop();
    }

    fn declare(&mut self, name: Name, kind: Kind, whole: Span, table: Table) {
        let text = self.file.names.text(name.symbol).to_string();
        let number = self.entities.len();
        let scope = self.scopes.last_mut().expect("the scope of the file is never left");
        let (declared, known) = (name.span, scope.span);
        self.entities.push(Entity { name: text, kind, declared, whole, scope: known, uses: Vec::new() });
        table(scope).entry(name.symbol).or_insert(number);
    }

    fn decl(&mut self, decl: &'f Decl, kind: Kind) {
        let kind = if decl.kind == DeclKind::ThreadLocal { Kind::PerThread } else { kind };
        for var in &decl.vars {
            if let Some(init) = &var.init {
                self.expr(init);
            }
            self.declare(var.name, kind, decl.span, |scope| &mut scope.vars);
        }
    }

    fn used(&mut self, symbol: Symbol, span: Span, table: Table) {
        self.add_use(symbol, Use { span, is_write: false }, table);
    }

    fn add_use(&mut self, symbol: Symbol, found: Use, table: Table) {
        let number = self.scopes.iter_mut().rev().find_map(|scope| table(scope).get(&symbol).copied());
        if let Some(number) = number {
            self.entities[number].uses.push(found);
        }
    }

    /// A variable that gets a value.
    fn written(&mut self, name: Name) {
        self.add_use(name.symbol, Use { span: name.span, is_write: true }, |scope| &mut scope.vars);
    }

    fn proc(&mut self, proc: &'f Proc) {
        let params: Vec<Name> = proc.params.iter().map(|param| param.name).collect();
        self.body(&proc.body, &params, proc.span);
    }

    fn body(&mut self, body: &'f Body, params: &[Name], span: Span) {
        self.scopes.push(Scope::new(span));
        for param in params {
            self.declare(*param, Kind::Parameter, param.span, |scope| &mut scope.vars);
        }
        for decl in &body.outer {
            self.decl(decl, Kind::Local);
        }
        self.labels(&body.stmts);
        self.block(&body.stmts);
        self.scopes.pop();
    }

    /// Labels may be used before they are defined.
    fn labels(&mut self, block: &'f Block) {
        for stmt in block {
            for label in &stmt.labels {
                let is_new = !self.scopes.last().is_some_and(|scope| scope.labels.contains_key(&label.symbol));
                if is_new {
                    self.declare(*label, Kind::Label, label.span, |scope| &mut scope.labels);
                }
            }
            match &stmt.kind {
                StmtKind::If(choice) => {
                    choice.arms.iter().for_each(|arm| self.labels(&arm.body));
                    choice.otherwise.iter().for_each(|otherwise| self.labels(&otherwise.body));
                }
                StmtKind::While(repeat) => self.labels(&repeat.body),
                _ => {}
            }
        }
    }

    fn block(&mut self, block: &'f Block) {
        block.iter().for_each(|stmt| self.stmt(&stmt.kind));
    }

    fn stmt(&mut self, kind: &'f StmtKind) {
        match kind {
            StmtKind::Goto(labels) => labels.iter().for_each(|label| self.label(*label)),
            StmtKind::Return(values) | StmtKind::Print(values) => self.exprs(values),
            StmtKind::Assign(assign) => {
                self.targets(&assign.targets);
                self.exprs(&assign.values);
                assign.constrain.iter().for_each(|constrain| self.expr(constrain));
            }
            StmtKind::Call(call) => {
                self.targets(&call.targets);
                self.used(call.callee.symbol, call.callee.span, |scope| &mut scope.procs);
                self.exprs(&call.args);
            }
            StmtKind::If(choice) => {
                for arm in &choice.arms {
                    self.expr(&arm.condition);
                    self.block(&arm.body);
                }
                choice.otherwise.iter().for_each(|otherwise| self.block(&otherwise.body));
            }
            StmtKind::While(repeat) => {
                self.expr(&repeat.condition);
                self.block(&repeat.body);
            }
            StmtKind::Assert(expr)
            | StmtKind::Assume(expr)
            | StmtKind::Constrain(expr)
            | StmtKind::Abortif(expr)
            | StmtKind::Enforce(expr) => self.expr(expr),
            StmtKind::Dead(names) => names.iter().for_each(|name| self.written(*name)),
            StmtKind::StartThread(start) => self.start(start),
            StmtKind::Decl(decl) => self.decl(decl, Kind::Local),
            StmtKind::Skip
            | StmtKind::Sync
            | StmtKind::EndThread
            | StmtKind::AtomicBegin
            | StmtKind::AtomicEnd
            | StmtKind::Error => {}
        }
    }

    fn start(&mut self, start: &'f StartThread) {
        match start {
            StartThread::Goto(label) => self.label(*label),
            StartThread::Name(name) => {
                let is_label = self.scopes.last().is_some_and(|scope| scope.labels.contains_key(&name.symbol));
                if is_label {
                    self.label(*name);
                } else {
                    self.used(name.symbol, name.span, |scope| &mut scope.procs);
                }
            }
            StartThread::Call { callee, args } => {
                self.used(callee.symbol, callee.span, |scope| &mut scope.procs);
                self.exprs(args);
            }
        }
    }

    fn label(&mut self, name: Name) {
        self.used(name.symbol, name.span, |scope| &mut scope.labels);
    }

    fn targets(&mut self, targets: &'f [Target]) {
        for target in targets {
            match target {
                Target::Var(name) => self.written(*name),
                Target::Element(element) => {
                    self.written(element.array);
                    self.expr(&element.index);
                }
                Target::Discard(_) => {}
            }
        }
    }

    fn element(&mut self, element: &'f Element) {
        self.used(element.array.symbol, element.array.span, |scope| &mut scope.vars);
        self.expr(&element.index);
    }

    fn exprs(&mut self, exprs: &'f [Expr]) {
        exprs.iter().for_each(|expr| self.expr(expr));
    }

    fn expr(&mut self, expr: &'f Expr) {
        match &expr.kind {
            ExprKind::Var(symbol) | ExprKind::Primed(symbol) => self.used(*symbol, expr.span, |scope| &mut scope.vars),
            ExprKind::Element(element) => self.element(element),
            ExprKind::Not(operand) | ExprKind::Remainder(operand, _) => self.expr(operand),
            ExprKind::Sum(first, others) => {
                self.expr(first);
                others.iter().for_each(|(_, operand)| self.expr(operand));
            }
            ExprKind::Chain(_, operands) => self.exprs(operands),
            ExprKind::Compare(_, pair) | ExprKind::Order(_, pair) | ExprKind::Schoose(pair) => {
                self.expr(&pair.0);
                self.expr(&pair.1);
            }
            ExprKind::Conditional(parts) => {
                self.expr(&parts.0);
                self.expr(&parts.1);
                self.expr(&parts.2);
            }
            ExprKind::Const(_) | ExprKind::Number(_) | ExprKind::Choice | ExprKind::Error => {}
        }
    }
}
