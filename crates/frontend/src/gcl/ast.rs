//! The syntax tree of a program of guarded commands, with positions.

pub use selvedge_ir::span::Span;

/// A whole text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct File {
    pub items: Vec<Item>,
}

/// An item outside processes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Item {
    Vars(Vars),
    Init(Init),
    Command(Command),
    Process(Process),
    Safe(Safe),
    /// `deadlock_free;`
    DeadlockFree(Span),
}

/// A name and its position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Name {
    pub text: String,
    pub span: Span,
}

/// `var x, y: int = 0;`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Vars {
    pub names: Vec<Name>,
    pub ty: Type,
    pub ty_span: Span,
    /// The initial value of each of them, if given.
    pub value: Option<Expr>,
    pub span: Span,
}

/// The type of a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type {
    Int,
    Bool,
    /// The integers from the first to the second.
    Range(i64, i64),
    /// A type that could not be parsed.
    Error,
}

/// `init e;`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Init {
    pub condition: Expr,
    pub span: Span,
}

/// `safe name: e;`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Safe {
    pub name: Option<Name>,
    pub condition: Expr,
    pub span: Span,
}

/// `name: guard -> x := e, y := nondet;`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Command {
    pub name: Option<Name>,
    /// The guard; without one the command is always enabled.
    pub guard: Option<Expr>,
    pub updates: Vec<Update>,
    pub span: Span,
}

/// One of the simultaneous updates of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Update {
    /// `x := e`
    Assign(Name, Expr),
    /// `goto l`
    Goto(Name, Span),
    /// `skip`
    Skip,
}

/// `process p { .. }`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Process {
    pub name: Name,
    pub items: Vec<ProcessItem>,
    pub span: Span,
}

/// An item of a process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProcessItem {
    Vars(Vars),
    Start(Start),
    /// `at l;`, `at l, m: name: guard -> ..;`
    At(Vec<Name>, Option<Command>),
}

/// The initial locations of a process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Start {
    /// `start any;`
    Any(Span),
    /// `start l, m;`
    Locations(Vec<Name>, Span),
}

/// An expression and its position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expr {
    pub span: Span,
    pub kind: ExprKind,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ExprKind {
    Bool(bool),
    Int(i64),
    Var(String),
    /// `p at l`
    At(Name, Name),
    Nondet,
    Not(Box<Expr>),
    Neg(Box<Expr>),
    /// Two or more operands of one operator.
    Chain(ChainOp, Vec<Expr>),
    /// The first term, and the terms that are added or subtracted.
    Sum(Box<Expr>, Vec<(Sign, Expr)>),
    Binary(BinaryOp, Box<(Expr, Expr)>),
    Conditional(Box<(Expr, Expr, Expr)>),
    /// An expression that could not be parsed; it has been reported.
    Error,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChainOp {
    And,
    Or,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sign {
    Plus,
    Minus,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BinaryOp {
    Implies,
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    /// `n divides e`
    Divides,
    Times,
    /// `/`, which is always reported.
    Over,
    Modulo,
}
