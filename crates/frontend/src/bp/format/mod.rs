//! The formatter of Boolean programs.
//!
//! The tree is printed statement by statement; the comments, which are not in the tree, are merged in by position.
//! `gaps` places comments and blank lines between statements, `pieces` cuts a statement into pieces and places comments
//! inside it, `expr` chooses parentheses, and `layout` breaks lines.
//!
//! Formatting is idempotent: the layout depends only on the tree, on the order of comments and names, on which comments
//! have their own line, and on the positions of blank lines; and the output agrees with the input in these.
//!
//! Every comment is printed when the printer first reaches something after it, so none is lost and their order is kept.
//! White space is inspected a bounded number of times, so the time is linear.

mod expr;
mod gaps;
mod layout;
mod pieces;

use super::ast::{
    Assign, Block, Body, Call, Copies, Decl, DeclKind, Expr, File, If, Item, Name, Proc, Process, ProcessItem, Range,
    Results, Span, StartThread, Stmt, StmtKind, Target,
};
use crate::diagnostic::Diagnostic;
use crate::tokens::Comment;
use expr::Clarity;
use layout::{Between, Piece};

/// Formats a text. If it has syntax errors, these are returned instead.
pub fn format(text: &str) -> Result<String, Vec<Diagnostic>> {
    let parsed = super::parse(text);
    if parsed.diagnostics.iter().any(Diagnostic::is_error) {
        return Err(parsed.diagnostics);
    }
    let mut printer = Printer {
        text,
        file: &parsed.file,
        comments: &parsed.comments,
        next: 0,
        out: String::with_capacity(text.len()),
        depth: 0,
        pieces: Vec::new(),
        opened: true,
        blank: false,
        ends_in_line_comment: false,
    };
    printer.items();
    Ok(printer.finish())
}

/// Indentation per level.
const INDENT: usize = 2;
/// Additional indentation of the lines that continue a statement.
const CONTINUATION: usize = 4;

struct Printer<'t> {
    text: &'t str,
    file: &'t File,
    comments: &'t [Comment],
    /// The first comment that has not been printed.
    next: usize,
    /// The output; its last line is not complete.
    out: String,
    /// The number of open blocks.
    depth: usize,
    /// The statement that is being cut into pieces.
    pieces: Vec<Piece<'t>>,
    /// True if nothing has been printed in the current block.
    opened: bool,
    /// True if a blank line must be printed before the next line.
    blank: bool,
    /// True if the last line ends in a line comment.
    ends_in_line_comment: bool,
}

impl<'t> Printer<'t> {
    fn items(&mut self) {
        let file = self.file;
        for item in &file.items {
            match item {
                Item::Decl(decl) => self.decl_line(decl),
                Item::Proc(procedure) => self.procedure(procedure),
                Item::Process(process) => self.process(process),
                Item::Init(init) => {
                    self.begin_item(init.span);
                    self.word("init");
                    self.body(&init.body);
                    self.blank = true;
                }
            }
        }
    }

    /// Begins an item, which is surrounded by blank lines.
    fn begin_item(&mut self, span: Span) {
        self.blank = true;
        self.begin_line(span.start);
    }

    fn decl_line(&mut self, decl: &'t Decl) {
        self.begin_line(decl.span.start);
        self.open(CONTINUATION);
        self.decl(decl);
        self.close();
        self.end_line(";");
    }

    fn decl(&mut self, decl: &'t Decl) {
        self.word(match decl.kind {
            DeclKind::Plain => "decl",
            DeclKind::Shared => "shared decl",
            DeclKind::ThreadLocal => "decl thread_local",
        });
        self.space();
        self.list(&decl.vars, |printer, var| {
            printer.name(&var.name);
            if let Some(length) = &var.length {
                printer.owned(format!("[{}]", length.count));
            }
            printer.range(var.range);
            if let Some(init) = &var.init {
                printer.space();
                printer.word(":=");
                printer.space();
                printer.expr(init, Clarity::of(init, printer.depth));
            }
        });
    }

    fn range(&mut self, range: Option<Range>) {
        if let Some(Range { lo, hi, .. }) = range {
            self.owned(format!(" : {lo}..{hi}"));
        }
    }

    fn procedure(&mut self, procedure: &'t Proc) {
        self.begin_item(procedure.span);
        self.open(CONTINUATION);
        match &procedure.results {
            Results::Void => self.word("void"),
            Results::Bool => self.word("bool"),
            Results::Bools(count) => self.owned(format!("bool<{count}>")),
            Results::Named(names) => {
                self.word("bool<");
                self.names(names);
                self.word(">");
            }
        }
        self.space();
        self.name(&procedure.name);
        self.word("(");
        self.list(&procedure.params, |printer, param| {
            printer.name(&param.name);
            printer.range(param.range);
        });
        self.word(")");
        self.close();
        self.body(&procedure.body);
        self.blank = true;
    }

    /// Prints declarations before `begin`, statements and `end`, after a header whose pieces are ready.
    fn body(&mut self, body: &'t Body) {
        if body.outer.is_empty() {
            self.space();
            self.end_line("begin");
        } else {
            self.end_line("");
            self.indented(|printer| {
                body.outer.iter().for_each(|decl| printer.decl_line(decl));
                printer.gap(body.begin.start);
            });
            self.plain_line("begin");
        }
        self.block(&body.stmts, body.end);
        self.plain_line("end");
    }

    fn process(&mut self, process: &'t Process) {
        self.begin_item(process.span);
        self.word("process");
        self.space();
        self.name(&process.name);
        match process.copies {
            Copies::Any => {}
            Copies::Once => {
                self.space();
                self.word("once");
            }
            Copies::Exactly(count) => {
                self.space();
                self.owned(format!("[{count}]"));
            }
        }
        self.space();
        self.end_line("begin");
        self.indented(|printer| {
            for item in &process.items {
                match item {
                    ProcessItem::Decl(decl) => printer.decl_line(decl),
                    ProcessItem::Proc(procedure) => printer.procedure(procedure),
                }
            }
            printer.gap(process.end.start);
        });
        self.plain_line("end");
        self.blank = true;
    }

    /// Prints the statements of a block and the comments up to its closing word.
    fn block(&mut self, block: &'t Block, closer: Span) {
        self.indented(|printer| {
            block.iter().for_each(|stmt| printer.stmt(stmt));
            printer.gap(closer.start);
        });
    }

    fn indented(&mut self, inner: impl FnOnce(&mut Self)) {
        self.depth += 1;
        self.opened = true;
        inner(self);
        self.depth -= 1;
        self.blank = false;
    }

    fn stmt(&mut self, stmt: &'t Stmt) {
        let start = stmt.labels.first().map_or(stmt.span, |label| label.span);
        self.begin_line(start.start);
        self.open(CONTINUATION);
        for (index, label) in stmt.labels.iter().enumerate() {
            if index > 0 {
                self.soft_break(Between::Parts);
            }
            self.name(label);
            self.word(":");
        }
        if !stmt.labels.is_empty() {
            self.space();
            self.comments_before(stmt.span.start);
        }
        self.stmt_kind(stmt);
    }

    /// Prints a statement up to the end of the line.
    fn stmt_kind(&mut self, stmt: &'t Stmt) {
        match &stmt.kind {
            StmtKind::Skip => self.word("skip"),
            StmtKind::Goto(labels) => self.keyword_names("goto", labels),
            StmtKind::Return(values) => self.return_values(values),
            StmtKind::Assign(assign) => self.assign(assign),
            StmtKind::Call(call) => self.call(call),
            StmtKind::If(branches) => return self.if_stmt(branches),
            StmtKind::While(repeated) => {
                self.condition("while", &repeated.condition, "do");
                self.block(&repeated.body, repeated.end);
                return self.plain_line("od;");
            }
            StmtKind::Assert(expr) => self.operand("assert", expr),
            StmtKind::Assume(expr) => self.operand("assume", expr),
            StmtKind::Constrain(expr) => self.operand("constrain", expr),
            StmtKind::Abortif(expr) => self.operand("abortif", expr),
            StmtKind::Enforce(expr) => {
                self.word("enforce");
                self.space();
                self.expr(expr, Clarity::of(expr, self.depth));
            }
            StmtKind::Dead(names) => self.keyword_names("dead", names),
            StmtKind::Print(exprs) => {
                self.word("print");
                self.arguments(exprs);
            }
            StmtKind::StartThread(start) => self.start_thread(start),
            StmtKind::EndThread => self.word("end_thread"),
            StmtKind::AtomicBegin => self.word("atomic_begin"),
            StmtKind::AtomicEnd => self.word("atomic_end"),
            StmtKind::Decl(decl) => self.decl(decl),
            StmtKind::Sync | StmtKind::Error => self.tokens(stmt.span),
        }
        self.close();
        self.end_line(";");
    }

    fn return_values(&mut self, values: &'t [Expr]) {
        self.word("return");
        if !values.is_empty() {
            self.space();
            self.exprs(values);
        }
    }

    fn assign(&mut self, assign: &'t Assign) {
        self.targets(&assign.targets);
        self.soft_break(Between::Parts);
        self.open(0);
        self.exprs(&assign.values);
        self.close();
        if let Some(constrain) = &assign.constrain {
            self.soft_break(Between::Parts);
            self.comments_before(constrain.span.start);
            self.word("constrain");
            self.space();
            self.open(INDENT);
            self.expr(constrain, Clarity::of(constrain, self.depth));
            self.close();
        }
    }

    fn call(&mut self, call: &'t Call) {
        if !call.targets.is_empty() {
            self.targets(&call.targets);
            self.space();
        }
        self.name(&call.callee);
        self.arguments(&call.args);
    }

    fn start_thread(&mut self, start: &'t StartThread) {
        self.word("start_thread");
        self.space();
        match start {
            StartThread::Goto(label) => {
                self.word("goto");
                self.space();
                self.name(label);
            }
            StartThread::Name(name) => self.name(name),
            StartThread::Call { callee, args } => {
                self.name(callee);
                self.arguments(args);
            }
        }
    }

    fn if_stmt(&mut self, branches: &'t If) {
        let mut followers = branches.arms.iter().skip(1).map(|arm| arm.keyword);
        let otherwise = branches.otherwise.as_ref();
        for (index, arm) in branches.arms.iter().enumerate() {
            if index > 0 {
                self.begin_plain_line();
                self.open(CONTINUATION);
            }
            self.condition(if index == 0 { "if" } else { "elsif" }, &arm.condition, "then");
            let next = followers.next().or(otherwise.map(|otherwise| otherwise.keyword));
            self.block(&arm.body, next.unwrap_or(branches.end));
        }
        if let Some(otherwise) = otherwise {
            self.plain_line("else");
            self.block(&otherwise.body, branches.end);
        }
        self.plain_line("fi;");
    }

    /// Prints `if e then` or `while e do`, up to the end of the line. Closes the group of the statement.
    fn condition(&mut self, keyword: &'static str, condition: &'t Expr, end: &'static str) {
        self.word(keyword);
        self.space();
        self.expr(condition, Clarity::of(condition, self.depth));
        self.close();
        self.space();
        self.end_line(end);
    }

    /// Prints `assert(e)` and similar statements. At the parser's limit of nesting, the parentheses are omitted.
    fn operand(&mut self, keyword: &'static str, expr: &'t Expr) {
        self.word(keyword);
        self.comments_before(expr.span.start);
        if Clarity::of(expr, self.depth + 1) == Clarity::Full {
            self.word("(");
            self.expr(expr, Clarity::Full);
            self.word(")");
        } else {
            self.space();
            self.expr(expr, Clarity::Least);
        }
    }

    fn targets(&mut self, targets: &'t [Target]) {
        self.list(targets, |printer, target| match target {
            Target::Var(name) => printer.name(name),
            Target::Element(element) => printer.element(element),
            Target::Discard(span) => {
                printer.comments_before(span.start);
                printer.word("_");
            }
        });
        self.space();
        self.word(":=");
    }

    fn arguments(&mut self, args: &'t [Expr]) {
        self.word("(");
        self.exprs(args);
        self.word(")");
    }

    fn exprs(&mut self, exprs: &'t [Expr]) {
        self.list(exprs, |printer, expr| printer.expr(expr, Clarity::of(expr, printer.depth)));
    }

    fn keyword_names(&mut self, keyword: &'static str, names: &'t [Name]) {
        self.word(keyword);
        self.space();
        self.names(names);
    }

    fn names(&mut self, names: &'t [Name]) {
        self.list(names, Self::name);
    }
}
