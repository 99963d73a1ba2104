//! The syntax tree of a Boolean program, with positions and without name resolution.
//!
//! Spelling variants are normalised where the language makes no difference (`&&` is `&`, `thread_end` is `end_thread`,
//! `?` is `*`, `choose` is `schoose`, `x'` is `'x`) and redundant parentheses are removed. Comments are not part of the
//! tree: the parser returns them separately, with their positions. [`crate::bp::dump`] prints a tree without its
//! positions, so two trees are the same program if and only if their dumps are equal.

pub use selvedge_ir::span::Span;

/// A name, interned in the [`Names`] of its file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Symbol(pub(crate) u32);

impl Symbol {
    /// Returns the position in the table of names, which has no gaps.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// The texts of all names of a file, in one buffer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Names {
    buffer: String,
    ends: Vec<u32>,
}

impl Names {
    /// Returns the text of a name.
    pub fn text(&self, symbol: Symbol) -> &str {
        let index = symbol.index();
        let start = if index == 0 { 0 } else { self.ends[index - 1] as usize };
        &self.buffer[start..self.ends[index] as usize]
    }

    /// Returns all names in the order of their first mention.
    pub fn iter(&self) -> impl Iterator<Item = Symbol> + use<> {
        (0..self.ends.len() as u32).map(Symbol)
    }

    /// Adds a text that is not in the table; the parser keeps the map for interning.
    pub(crate) fn push(&mut self, text: &str) -> Symbol {
        self.buffer.push_str(text);
        self.ends.push(u32::try_from(self.buffer.len()).expect("the texts are parts of a file below 4 GiB"));
        Symbol(self.ends.len() as u32 - 1)
    }
}

/// An occurrence of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Name {
    pub symbol: Symbol,
    pub span: Span,
}

/// A whole file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct File {
    pub names: Names,
    pub items: Vec<Item>,
}

/// A top-level item of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Item {
    Decl(Decl),
    Proc(Proc),
    Process(Process),
    Init(Init),
}

/// `decl x, y := e;`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decl {
    /// From the first word to the last variable, without the `;`.
    pub span: Span,
    pub kind: DeclKind,
    pub vars: Vec<DeclVar>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeclKind {
    /// `decl x;`
    Plain,
    /// `shared decl x;`
    Shared,
    /// `decl thread_local x;`
    ThreadLocal,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeclVar {
    pub name: Name,
    /// `[n]`: the number of elements of an array.
    pub length: Option<Length>,
    /// `: lo..hi`: the values of a number; without it, a truth value.
    pub range: Option<Range>,
    /// The initial value; of an array, that of each element.
    pub init: Option<Expr>,
}

/// The length of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Length {
    pub count: u32,
    pub span: Span,
}

/// The values of a number: `lo..hi`, both included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    pub lo: u32,
    pub hi: u32,
    pub span: Span,
}

/// A parameter of a procedure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Param {
    pub name: Name,
    /// `: lo..hi`, for numbers.
    pub range: Option<Range>,
}

/// A procedure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proc {
    /// From the result type to `end`, without a `;` after it.
    pub span: Span,
    /// From the result type to the closing parenthesis.
    pub header: Span,
    pub results: Results,
    pub name: Name,
    pub params: Vec<Param>,
    pub body: Body,
}

/// The number of values that a procedure returns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Results {
    /// `void f()`
    Void,
    /// `bool f()`
    Bool,
    /// `bool<n> f()`
    Bools(u32),
    /// `bool<a, b> f()`: only the number of names matters.
    Named(Vec<Name>),
}

impl Results {
    /// Returns the number of values.
    pub fn count(&self) -> usize {
        match self {
            Results::Void => 0,
            Results::Bool => 1,
            Results::Bools(count) => *count as usize,
            Results::Named(names) => names.len(),
        }
    }
}

/// The body of a procedure, with the declarations before `begin`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Body {
    /// Declarations between the header and `begin`.
    pub outer: Vec<Decl>,
    /// The word `begin`.
    pub begin: Span,
    /// The statements, including declarations and `enforce`.
    pub stmts: Block,
    /// The word `end`; empty, at the place where it should be, if it is missing.
    pub end: Span,
}

/// `init begin .. end`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Init {
    /// From `init` to `end`.
    pub span: Span,
    /// The word `init`.
    pub word: Span,
    pub body: Body,
}

/// `process NAME begin .. end`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Process {
    /// From `process` to `end`.
    pub span: Span,
    /// From `process` to the name or the number of threads.
    pub header: Span,
    pub name: Name,
    pub copies: Copies,
    pub begin: Span,
    pub items: Vec<ProcessItem>,
    /// The word `end`; empty, at the place where it should be, if it is missing.
    pub end: Span,
}

/// The number of threads of a process at the start of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Copies {
    /// Any number.
    Any,
    /// `once`: at most one.
    Once,
    /// `[n]`: exactly this many.
    Exactly(u32),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProcessItem {
    Decl(Decl),
    Proc(Proc),
}

/// A sequence of statements.
pub type Block = Vec<Stmt>;

/// A statement with its labels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stmt {
    /// All labels in order, including repetitions. Declarations and `enforce` have none.
    pub labels: Vec<Name>,
    /// The statement without its labels and without the `;`.
    pub span: Span,
    pub kind: StmtKind,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StmtKind {
    /// `skip`; also an empty statement between a label and `;` or `end`.
    Skip,
    Goto(Vec<Name>),
    Return(Vec<Expr>),
    Assign(Box<Assign>),
    Call(Box<Call>),
    If(Box<If>),
    While(Box<While>),
    Assert(Expr),
    Assume(Expr),
    /// `constrain(e);` as a statement.
    Constrain(Expr),
    Abortif(Expr),
    Dead(Vec<Name>),
    Print(Vec<Expr>),
    Sync,
    StartThread(Box<StartThread>),
    EndThread,
    AtomicBegin,
    AtomicEnd,
    /// Only directly in a body.
    Decl(Box<Decl>),
    /// Only directly in a body.
    Enforce(Expr),
    /// A statement that could not be read; a diagnostic says why.
    Error,
}

/// `x, _ := e1, e2 constrain e`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assign {
    pub targets: Vec<Target>,
    pub values: Vec<Expr>,
    pub constrain: Option<Expr>,
}

/// The destination of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    Var(Name),
    /// `a[e]`
    Element(Box<Element>),
    /// `_`
    Discard(Span),
}

impl Target {
    /// Returns its position.
    pub fn span(&self) -> Span {
        match self {
            Target::Var(name) => name.span,
            Target::Element(element) => element.span,
            Target::Discard(span) => *span,
        }
    }
}

/// `x, y := f(e)`, or `f(e)` without targets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    pub targets: Vec<Target>,
    pub callee: Name,
    pub args: Vec<Expr>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct If {
    /// `if` and all `elsif`, at least one.
    pub arms: Vec<Arm>,
    pub otherwise: Option<Else>,
    /// The word `fi`; empty, at the place where it should be, if it is missing.
    pub end: Span,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arm {
    /// The word `if` or `elsif`.
    pub keyword: Span,
    pub condition: Expr,
    pub body: Block,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Else {
    /// The word `else`.
    pub keyword: Span,
    pub body: Block,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct While {
    /// The word `while`.
    pub keyword: Span,
    pub condition: Expr,
    pub body: Block,
    /// The word `od`; empty, at the place where it should be, if it is missing.
    pub end: Span,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StartThread {
    /// `start_thread goto l`
    Goto(Name),
    /// `start_thread l`, where `l` is a label or a procedure.
    Name(Name),
    /// `start_thread f(e)`
    Call { callee: Name, args: Vec<Expr> },
}

/// An element of an array: `a[e]`, or `'a[e]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Element {
    /// From the name to the closing bracket.
    pub span: Span,
    pub array: Name,
    pub index: Expr,
    /// Whether it is the value after the step.
    pub is_primed: bool,
}

/// An expression. The span of a parenthesised one includes its parentheses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expr {
    pub span: Span,
    pub kind: ExprKind,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ExprKind {
    Const(Const),
    /// A number other than 0 and 1, which are constants of both kinds.
    Number(u32),
    /// `*`
    Choice,
    /// `x`
    Var(Symbol),
    /// `'x`
    Primed(Symbol),
    /// `a[e]`
    Element(Box<Element>),
    /// `!e`
    Not(Box<Expr>),
    /// `e1 + e2 - e3 ..`, at least two operands.
    Sum(Box<Expr>, Vec<(Sign, Expr)>),
    /// `e % n`
    Remainder(Box<Expr>, u32),
    /// `e1 < e2`
    Order(OrderOp, Box<(Expr, Expr)>),
    /// `e1 & .. & ek`, at least two operands. A parenthesised operand is a separate chain: `(a & b) & c` has two.
    Chain(ChainOp, Vec<Expr>),
    /// `e1 = e2`
    Compare(CompareOp, Box<(Expr, Expr)>),
    /// `e1 ? e2 : e3`
    Conditional(Box<(Expr, Expr, Expr)>),
    /// `schoose[p, n]`
    Schoose(Box<(Expr, Expr)>),
    /// An expression that could not be read; a diagnostic says why.
    Error,
}

/// A constant as written in the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Const {
    T,
    F,
    One,
    Zero,
}

impl Const {
    /// Returns its truth value.
    pub fn value(self) -> bool {
        matches!(self, Const::T | Const::One)
    }

    /// Returns its text.
    pub fn text(self) -> &'static str {
        match self {
            Const::T => "T",
            Const::F => "F",
            Const::One => "1",
            Const::Zero => "0",
        }
    }
}

/// Whether a part of a sum is added or subtracted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sign {
    Plus,
    Minus,
}

impl Sign {
    /// Returns its text.
    pub fn text(self) -> &'static str {
        match self {
            Sign::Plus => "+",
            Sign::Minus => "-",
        }
    }
}

/// The operators that compare numbers by their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OrderOp {
    Lt,
    Le,
    Gt,
    Ge,
}

impl OrderOp {
    /// Returns its text.
    pub fn text(self) -> &'static str {
        match self {
            OrderOp::Lt => "<",
            OrderOp::Le => "<=",
            OrderOp::Gt => ">",
            OrderOp::Ge => ">=",
        }
    }
}

/// The associative operators, tightest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ChainOp {
    And,
    Or,
    Xor,
}

impl ChainOp {
    /// Returns its text.
    pub fn text(self) -> &'static str {
        match self {
            ChainOp::And => "&",
            ChainOp::Or => "|",
            ChainOp::Xor => "^",
        }
    }
}

/// The right-associative operators, all of one level, looser than [`ChainOp`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CompareOp {
    Eq,
    Ne,
    Implies,
}

impl CompareOp {
    /// Returns its text.
    pub fn text(self) -> &'static str {
        match self {
            CompareOp::Eq => "=",
            CompareOp::Ne => "!=",
            CompareOp::Implies => "=>",
        }
    }
}
