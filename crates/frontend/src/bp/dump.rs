//! Syntax trees as indented text without positions, for inspection and comparison.

use std::fmt::{self, Display, Write};

use super::ast::{
    Block, Body, Decl, DeclKind, Element, Expr, ExprKind, File, Item, Name, Names, Param, Proc, ProcessItem, Range,
    Sign, StartThread, Stmt, StmtKind, Symbol, Target,
};

/// Returns the tree of a file as text. Equal texts mean equal trees up to positions.
pub fn dump(file: &File) -> String {
    let mut out = String::new();
    let mut dump = Dump { names: &file.names, out: &mut out, indent: 0 };
    for item in &file.items {
        dump.item(item).expect("writing to a string does not fail");
    }
    out
}

struct Dump<'d> {
    names: &'d Names,
    out: &'d mut String,
    indent: usize,
}

impl Dump<'_> {
    fn line(&mut self, text: impl Display) -> fmt::Result {
        writeln!(self.out, "{:1$}{text}", "", self.indent)
    }

    fn nested(&mut self, inner: impl FnOnce(&mut Self) -> fmt::Result) -> fmt::Result {
        self.indent += 2;
        inner(self)?;
        self.indent -= 2;
        Ok(())
    }

    fn name(&self, name: &Name) -> String {
        self.names.text(name.symbol).to_owned()
    }

    fn list(&self, names: &[Name]) -> String {
        names.iter().map(|name| self.name(name)).collect::<Vec<_>>().join(" ")
    }

    fn item(&mut self, item: &Item) -> fmt::Result {
        match item {
            Item::Decl(decl) => self.decl(decl),
            Item::Proc(procedure) => self.procedure(procedure),
            Item::Init(init) => {
                self.line("init")?;
                self.body(&init.body)
            }
            Item::Process(process) => {
                self.line(format_args!("process {} {:?}", self.name(&process.name), process.copies))?;
                self.nested(|dump| {
                    process.items.iter().try_for_each(|item| match item {
                        ProcessItem::Decl(decl) => dump.decl(decl),
                        ProcessItem::Proc(procedure) => dump.procedure(procedure),
                    })
                })
            }
        }
    }

    fn decl(&mut self, decl: &Decl) -> fmt::Result {
        let kind = match decl.kind {
            DeclKind::Plain => "decl",
            DeclKind::Shared => "shared decl",
            DeclKind::ThreadLocal => "decl thread_local",
        };
        self.line(kind)?;
        self.nested(|dump| {
            decl.vars.iter().try_for_each(|var| {
                let length = var.length.map_or(String::new(), |length| format!("[{}]", length.count));
                let declared = format!("{}{length}{}", dump.name(&var.name), range(var.range));
                match &var.init {
                    None => dump.line(declared),
                    Some(init) => dump.line(format_args!("{declared} := {}", dump.expr(init))),
                }
            })
        })
    }

    fn procedure(&mut self, procedure: &Proc) -> fmt::Result {
        let results = match &procedure.results {
            super::ast::Results::Named(names) => format!("Named {}", self.list(names)),
            other => format!("{other:?}"),
        };
        let param = |param: &Param| format!("{}{}", self.name(&param.name), range(param.range));
        let params = procedure.params.iter().map(param).collect::<Vec<_>>().join(" ");
        let name = self.name(&procedure.name);
        self.line(format_args!("procedure {name} ({params}) {results}"))?;
        self.body(&procedure.body)
    }

    fn body(&mut self, body: &Body) -> fmt::Result {
        self.nested(|dump| {
            body.outer.iter().try_for_each(|decl| dump.decl(decl))?;
            dump.line("begin")?;
            dump.block(&body.stmts)
        })
    }

    fn block(&mut self, block: &Block) -> fmt::Result {
        self.nested(|dump| block.iter().try_for_each(|stmt| dump.stmt(stmt)))
    }

    /// Writes a statement: one arm for each kind, and parts of a statement indented below it.
    fn stmt(&mut self, stmt: &Stmt) -> fmt::Result {
        if !stmt.labels.is_empty() {
            self.line(format_args!("labels {}", self.list(&stmt.labels)))?;
        }
        match &stmt.kind {
            StmtKind::Skip => self.line("skip"),
            StmtKind::Goto(labels) => self.line(format_args!("goto {}", self.list(labels))),
            StmtKind::Return(values) => self.with_exprs("return", values),
            StmtKind::Assign(assign) => {
                self.line(format_args!("assign {}", self.targets(&assign.targets)))?;
                self.nested(|dump| {
                    assign.values.iter().try_for_each(|value| dump.line(dump.expr(value)))?;
                    assign.constrain.iter().try_for_each(|expr| dump.with_expr("constrain", expr))
                })
            }
            StmtKind::Call(call) => {
                let (targets, callee) = (self.targets(&call.targets), self.name(&call.callee));
                self.with_exprs(&format!("call {callee} to {targets}"), &call.args)
            }
            StmtKind::If(branches) => {
                for arm in &branches.arms {
                    self.with_expr("if", &arm.condition)?;
                    self.block(&arm.body)?;
                }
                branches.otherwise.iter().try_for_each(|otherwise| {
                    self.line("else")?;
                    self.block(&otherwise.body)
                })
            }
            StmtKind::While(repeated) => {
                self.with_expr("while", &repeated.condition)?;
                self.block(&repeated.body)
            }
            StmtKind::Assert(expr) => self.with_expr("assert", expr),
            StmtKind::Assume(expr) => self.with_expr("assume", expr),
            StmtKind::Constrain(expr) => self.with_expr("constrain statement", expr),
            StmtKind::Abortif(expr) => self.with_expr("abortif", expr),
            StmtKind::Enforce(expr) => self.with_expr("enforce", expr),
            StmtKind::Dead(names) => self.line(format_args!("dead {}", self.list(names))),
            StmtKind::Print(exprs) => self.with_exprs("print", exprs),
            StmtKind::Sync => self.line("sync"),
            StmtKind::StartThread(start) => self.start_thread(start),
            StmtKind::EndThread => self.line("end_thread"),
            StmtKind::AtomicBegin => self.line("atomic_begin"),
            StmtKind::AtomicEnd => self.line("atomic_end"),
            StmtKind::Decl(decl) => self.decl(decl),
            StmtKind::Error => self.line("error"),
        }
    }

    fn start_thread(&mut self, start: &StartThread) -> fmt::Result {
        match start {
            StartThread::Goto(label) => self.line(format_args!("start_thread goto {}", self.name(label))),
            StartThread::Name(name) => self.line(format_args!("start_thread {}", self.name(name))),
            StartThread::Call { callee, args } => {
                self.with_exprs(&format!("start_thread call {}", self.name(callee)), args)
            }
        }
    }

    fn targets(&self, targets: &[Target]) -> String {
        let text = |target: &Target| match target {
            Target::Var(name) => self.name(name),
            Target::Element(element) => self.element(element),
            Target::Discard(_) => "_".to_owned(),
        };
        targets.iter().map(text).collect::<Vec<_>>().join(" ")
    }

    fn with_expr(&mut self, head: &str, expr: &Expr) -> fmt::Result {
        self.line(format_args!("{head} {}", self.expr(expr)))
    }

    fn with_exprs(&mut self, head: &str, exprs: &[Expr]) -> fmt::Result {
        self.line(head)?;
        self.nested(|dump| exprs.iter().try_for_each(|expr| dump.line(dump.expr(expr))))
    }

    /// Returns an expression in prefix notation.
    fn expr(&self, expr: &Expr) -> String {
        let text = |symbol: &Symbol| self.names.text(*symbol);
        match &expr.kind {
            ExprKind::Const(constant) => constant.text().to_owned(),
            ExprKind::Number(number) => number.to_string(),
            ExprKind::Element(element) => self.element(element),
            ExprKind::Sum(first, others) => {
                let add = |sum: String, (sign, operand): &(Sign, Expr)| {
                    format!("({} {sum} {})", sign.text(), self.expr(operand))
                };
                others.iter().fold(self.expr(first), add)
            }
            ExprKind::Remainder(operand, divisor) => format!("(% {} {divisor})", self.expr(operand)),
            ExprKind::Order(op, pair) => self.apply(op.text(), [&pair.0, &pair.1]),
            ExprKind::Choice => "*".to_owned(),
            ExprKind::Var(symbol) => text(symbol).to_owned(),
            ExprKind::Primed(symbol) => format!("'{}", text(symbol)),
            ExprKind::Not(operand) => format!("(! {})", self.expr(operand)),
            ExprKind::Chain(op, operands) => self.apply(op.text(), operands),
            ExprKind::Compare(op, pair) => self.apply(op.text(), [&pair.0, &pair.1]),
            ExprKind::Conditional(triple) => self.apply("?", [&triple.0, &triple.1, &triple.2]),
            ExprKind::Schoose(pair) => self.apply("schoose", [&pair.0, &pair.1]),
            ExprKind::Error => "error".to_owned(),
        }
    }

    fn element(&self, element: &Element) -> String {
        let prime = if element.is_primed { "'" } else { "" };
        format!("{prime}{}[{}]", self.name(&element.array), self.expr(&element.index))
    }

    fn apply<'e>(&self, operator: &str, operands: impl IntoIterator<Item = &'e Expr>) -> String {
        let operands: Vec<String> = operands.into_iter().map(|operand| self.expr(operand)).collect();
        format!("({operator} {})", operands.join(" "))
    }
}

fn range(range: Option<Range>) -> String {
    range.map_or(String::new(), |range| format!(" : {}..{}", range.lo, range.hi))
}
