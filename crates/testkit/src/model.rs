//! Boolean programs as a small tree, which the generator makes, the shrinker shrinks and the printer prints.
//!
//! Independent of the reader on purpose: a mistake in the reader's own tree must not be hidden by sharing it. Every
//! name is written out, so that a rewrite is a rewrite of names.

use selvedge_check::Question;
/// A program together with the question about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Model {
    /// The options under which it is checked.
    pub question: Question,
    /// The form in which the program declares its initial threads.
    pub shape: Shape,
    /// The spelling.
    pub style: Style,
    /// The variables outside procedures.
    pub globals: Vec<Decl>,
    /// The procedures. The first one is `main`, or the first of the initial threads.
    pub procs: Vec<Procedure>,
}

/// The form in which a program declares its initial threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// A procedure `main`.
    Main,
    /// Procedures `thread0`, `thread1`, .., one thread each, perhaps with a procedure `init` that runs before them.
    Classic,
    /// Templates `process NAME begin .. end`, one for each initial procedure, each with its own copy of the others.
    Processes,
}

/// The number of initial threads of a `process` template. The other shapes do not print it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Copies {
    /// `[n]`
    Exactly(u32),
    /// `once`: none or one.
    Once,
    /// Any number.
    Any,
}

/// Spellings between which the language does not distinguish.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Style {
    /// `1` and `0` instead of `T` and `F`.
    pub digits: bool,
    /// `&&` and `||` instead of `&` and `|`.
    pub doubled: bool,
    /// `x'` instead of `'x`.
    pub prime_behind: bool,
    /// `assert e` instead of `assert(e)`.
    pub bare_conditions: bool,
    /// `start_thread f` instead of `start_thread f()`.
    pub bare_starts: bool,
}

/// A declared variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decl {
    /// Its name.
    pub name: String,
    /// Each thread has its own; only outside procedures.
    pub thread_local: bool,
    /// Its initial value.
    pub init: Option<Expr>,
}

/// A procedure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Procedure {
    /// Its name.
    pub name: String,
    /// The number of initial threads that start here; a procedure named `init` runs before them.
    pub initial: Option<Copies>,
    /// The names of its parameters.
    pub params: Vec<String>,
    /// The number of values that it returns.
    pub results: usize,
    /// Its variables.
    pub locals: Vec<Decl>,
    /// The condition of its `enforce` clause.
    pub enforce: Option<Expr>,
    /// Its statements.
    pub body: Vec<Stmt>,
}

/// A statement with the labels before it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stmt {
    /// The labels.
    pub labels: Vec<String>,
    /// The statement.
    pub kind: Kind,
}

/// A statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `skip`
    Skip,
    /// `x, y := e, f constrain c`
    Assign(Assign),
    /// `assert(e)`
    Assert(Expr),
    /// `assume(e)`
    Assume(Expr),
    /// `constrain(e)` as a statement
    Constrain(Expr),
    /// `abortif(e)`
    AbortIf(Expr),
    /// `goto l, m`
    Goto(Vec<String>),
    /// `if e then .. elsif .. else .. fi`
    If(Vec<(Expr, Vec<Stmt>)>, Option<Vec<Stmt>>),
    /// `while e do .. od`
    While(Expr, Vec<Stmt>),
    /// `x, _ := f(e)`
    Call(Vec<Option<String>>, Invocation),
    /// `return e, f`
    Return(Vec<Expr>),
    /// `dead x, y`
    Dead(Vec<String>),
    /// `start_thread goto l`
    StartGoto(String),
    /// `start_thread l`
    StartLabel(String),
    /// `start_thread f(e)`
    StartCall(Invocation),
    /// `ASYNC_n: f(e)`
    Async(Invocation),
    /// `end_thread`
    EndThread,
    /// `atomic_begin`
    AtomicBegin,
    /// `atomic_end`
    AtomicEnd,
    /// `print(e)`
    Print(Vec<Expr>),
}

/// A parallel assignment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assign {
    /// The left-hand sides, no variable twice.
    pub places: Vec<Place>,
    /// As many right-hand sides.
    pub values: Vec<Expr>,
    /// The condition on old and new values.
    pub constrain: Option<Expr>,
}

/// The left-hand side of an assignment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// A variable.
    Var(String),
    /// A variable of every other thread.
    Passive(String),
    /// `_`
    Discard,
}

/// A procedure that is called or started, with arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Invocation {
    /// The procedure.
    pub callee: String,
    /// The arguments.
    pub args: Vec<Expr>,
}

/// An expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expr {
    /// `T` or `F`
    Const(bool),
    /// `x`
    Var(String),
    /// `'x`
    Next(String),
    /// `x$`
    Passive(String),
    /// `'x$`
    PassiveNext(String),
    /// `*`
    Choice,
    /// `schoose[e, f]`
    Choose(Box<(Expr, Expr)>),
    /// `!e`
    Not(Box<Expr>),
    /// `e op f`
    Binary(BinOp, Box<(Expr, Expr)>),
    /// `e ? f : g`
    Ite(Box<(Expr, Expr, Expr)>),
}

/// An operator with two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BinOp {
    /// `&`
    And,
    /// `|`
    Or,
    /// `^`
    Xor,
    /// `=`
    Eq,
    /// `!=`
    Ne,
    /// `=>`
    Implies,
}

impl Expr {
    /// Makes a read of a variable.
    pub fn var(name: &str) -> Expr {
        Expr::Var(name.to_string())
    }

    /// Makes the negation.
    #[expect(clippy::should_implement_trait, reason = "builds a tree, like the others beside it")]
    pub fn not(expr: Expr) -> Expr {
        Expr::Not(Box::new(expr))
    }

    /// Makes an operator with its operands.
    pub fn binary(op: BinOp, left: Expr, right: Expr) -> Expr {
        Expr::Binary(op, Box::new((left, right)))
    }
}

impl Stmt {
    /// Makes a statement without labels.
    pub fn new(kind: Kind) -> Stmt {
        Stmt { labels: Vec::new(), kind }
    }
}
