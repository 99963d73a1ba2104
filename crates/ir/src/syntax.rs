//! The types of the representation, and no code.
//!
//! A program is a set of procedures; a procedure is a graph of locations; an edge carries the operation of one
//! indivisible step. A thread is a stack of frames, each at a location with a valuation of its procedure's variables.
//! Source positions are not here: [`crate::span::SourceMap`] accompanies a program as the user wrote it.

use index_vec::IndexVec;

index_vec::define_index_type! {
    /// A variable of any scope.
    pub struct VarId = u32;
}
index_vec::define_index_type! {
    /// A procedure.
    pub struct ProcId = u32;
}
index_vec::define_index_type! {
    /// A control location. Locations are numbered across the whole program.
    pub struct LocId = u32;
}
index_vec::define_index_type! {
    /// An edge. Edges are numbered across the whole program.
    pub struct EdgeId = u32;
}
index_vec::define_index_type! {
    /// A kind of initial thread.
    pub struct EntryId = u32;
}

/// A whole program. [`crate::validate`] lists the conditions on its parts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Program {
    /// All variables: shared ones, per-thread ones, and the locals of all procedures.
    pub vars: IndexVec<VarId, Var>,
    /// All procedures.
    pub procs: IndexVec<ProcId, Proc>,
    /// All locations.
    pub locs: IndexVec<LocId, Loc>,
    /// All edges.
    pub edges: IndexVec<EdgeId, Edge>,
    /// The source's labels. Several may name one location.
    pub labels: Vec<Label>,
    /// Initial values of shared variables, assigned all at once before the first step. The right-hand sides read no
    /// variable but may contain choices, numbered through the list. Shared variables without an entry start with any
    /// value.
    pub init: Vec<(VarId, Expr)>,
    /// A procedure that runs alone, before the initial threads are created at its end.
    pub prelude: Option<ProcId>,
    /// The kinds of initial threads.
    pub entries: IndexVec<EntryId, Entry>,
}

/// A variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Var {
    /// The name in the source. Not unique: locals of two procedures may share one.
    pub name: String,
    /// Its visibility.
    pub scope: Scope,
    /// Its type.
    pub ty: Ty,
}

/// The visibility of a variable, which determines how many copies of it exist.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Scope {
    /// One copy for all threads.
    Shared,
    /// One copy per thread, visible in all procedures that the thread runs.
    Thread,
    /// One copy per frame of this procedure.
    Local(ProcId),
}

/// The type of a variable or expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Ty {
    /// A truth value.
    Bool,
    /// A mathematical integer (the interpreter refuses to compute beyond 64 bits).
    Int,
    /// An integer of a fixed width.
    Machine(MachineTy),
}

/// The type of machine integers: numbers of a fixed width, in two's complement if they have a sign.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct MachineTy {
    /// The width: 1 to 64 bits.
    pub bits: u8,
    /// Whether the highest bit is a sign.
    pub signed: bool,
}

/// The value of a variable or expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Value {
    /// A truth value.
    Bool(bool),
    /// An integer.
    Int(i64),
    /// A machine integer, by its bits; those above the width are zero.
    Machine(MachineTy, u64),
}

/// A procedure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proc {
    /// The name in the source, qualified by the process that it belongs to, if any (`kernel.main`).
    pub name: String,
    /// The parameters, in order: a subset of [`Proc::locals`].
    pub params: Vec<VarId>,
    /// All variables of a frame, parameters included. Those that are not parameters start with any value.
    pub locals: Vec<VarId>,
    /// The types of the returned values.
    pub results: Vec<Ty>,
    /// The location at which a call begins.
    pub entry: LocId,
    /// The location to which returns lead. No thread is ever at it: the step that leads there pops the frame.
    pub exit: LocId,
}

/// A control location.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Loc {
    /// The procedure that it belongs to.
    pub proc: ProcId,
}

/// One indivisible step of a thread at `from`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edge {
    /// The location before the step.
    pub from: LocId,
    /// The location after it; for a call, after the call has returned; for [`Op::Return`] and [`Op::End`] the
    /// procedure's exit.
    pub to: LocId,
    /// The operation.
    pub op: Op,
    /// The condition under which the thread may arrive at `to`, in the state after the step; for a call, after the
    /// results of the return are assigned, in the caller's frame. Where it does not hold there is no such step, and no
    /// failure of an assertion. It makes no choices and reads variables of the thread and shared ones.
    ///
    /// Assignments have a condition of their own; for them, [`Op::Return`] and [`Op::End`] this one is true. The
    /// exception are assignments with a condition on other threads, which holds if the thread is alone: what must hold
    /// in any case is here, over the values before the step.
    pub ensures: Expr,
}

/// The operation of a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Op {
    /// A guarded parallel assignment; `skip` and `assume` are assignments to nothing.
    Assign(Assign),
    /// Fails where the condition is false, passes where it is true. A condition with choices can do both.
    Assert(Expr),
    /// Pushes a frame of the callee; its return pops it, assigns the results and goes to the edge's end.
    Call(Call),
    /// Pops the frame and hands the values to the caller; ends the thread if the frame is its first.
    Return(Vec<Expr>),
    /// Starts a thread that runs a procedure. At the thread bound it does nothing.
    Spawn(Spawn),
    /// Starts a thread as a copy of this one, including the whole stack, at the given location of this procedure. At
    /// the thread bound it does nothing.
    Fork(LocId),
    /// Ends the thread, however deep its stack.
    End,
    /// Takes the atomic flag: until it is released, only this thread runs. Does nothing if the thread already holds it.
    AtomicBegin,
    /// Releases the atomic flag. Does nothing if the thread does not hold it.
    AtomicEnd,
}

/// A guarded parallel assignment.
///
/// All right-hand sides are read in the old state. The step exists only where `constrain` holds, in which
/// [`Expr::Var`] is the old and [`Expr::Next`] the new value (of an unassigned variable: its old value). If
/// `constrain` mentions a passive copy, it must hold once for every other thread that has the passive variables.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assign {
    /// The stepping thread's variables and shared ones, each at most once.
    pub active: Vec<(VarId, Expr)>,
    /// Variables of every other thread that has them, each at most once. In the right-hand sides plain variables are
    /// the stepping thread's, passive ones the assigned thread's; choices are made afresh for each thread.
    pub passive: Vec<(VarId, Expr)>,
    /// The condition on old and new values.
    pub constrain: Expr,
}

/// A call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// The variables for the returned values; `None` discards one. Assigned all at once in the caller.
    pub results: Vec<Option<VarId>>,
    /// The procedure that is called.
    pub callee: ProcId,
    /// The arguments, by value, one per parameter.
    pub args: Vec<Expr>,
}

/// The start of a thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spawn {
    /// The procedure that the thread runs.
    pub callee: ProcId,
    /// The arguments, evaluated in the spawning thread.
    pub args: Vec<Expr>,
}

/// An expression. Choices are numbered per edge: the same number twice is the same value twice.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Expr {
    /// A truth constant.
    Bool(bool),
    /// An integer constant.
    Int(i64),
    /// A constant of a machine type, by its bits; those above the width are zero.
    Machine(MachineTy, u64),
    /// The value before the step.
    Var(VarId),
    /// The value after the step. Only in constraints.
    Next(VarId),
    /// The value before the step in another thread. Only in constraints and in passive assignments.
    Passive(VarId),
    /// The value after the step in another thread. Only in constraints.
    PassiveNext(VarId),
    /// A nondeterministic value.
    Choice(u32, Ty),
    /// An operator with one operand.
    Unary(UnaryOp, Box<Expr>),
    /// An operator with two operands.
    Binary(BinaryOp, Box<(Expr, Expr)>),
    /// `if .0 then .1 else .2`.
    Ite(Box<(Expr, Expr, Expr)>),
    /// An expression with parts that are computed once and used several times.
    Let(Box<Let>),
    /// The value of the innermost part with this number. Only below the [`Expr::Let`] that defines it: expressions that
    /// stand on their own, and those that are put in the place of leaves, are closed, so that no number is captured.
    Part(u32),
}

/// Definitions of parts, and an expression that uses them. Each definition sees those before it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Let {
    /// The parts, by number, in the order in which they are computed.
    pub parts: Vec<(u32, Expr)>,
    /// The value of the whole.
    pub body: Expr,
}

/// Operators with one operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UnaryOp {
    /// Negation of a truth value.
    Not,
    /// Negation of an integer.
    Neg,
    /// Divisibility by this positive constant.
    DivisibleBy(u32),
    /// The number of the first machine type as one of the second: what does not fit is cut off at the top.
    Cast(MachineTy, MachineTy),
}

/// Operators with two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BinaryOp {
    /// Conjunction.
    And,
    /// Disjunction.
    Or,
    /// Exclusive disjunction.
    Xor,
    /// Implication.
    Implies,
    /// Equality of two values of one type.
    Eq,
    /// Inequality of two values of one type.
    Ne,
    /// Addition.
    Add,
    /// Subtraction.
    Sub,
    /// Multiplication.
    Mul,
    /// Less than.
    Lt,
    /// Less than or equal.
    Le,
    /// An operator on two numbers of this machine type.
    Machine(MachineOp, MachineTy),
}

/// Operators on two numbers of one machine type. All are total, and as in SMT-LIB where C leaves the result open.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MachineOp {
    /// Addition; what does not fit is cut off, as below.
    Add,
    /// Subtraction.
    Sub,
    /// Multiplication.
    Mul,
    /// Division, rounded towards zero. Division by zero gives -1, that is, all bits; but 1 for a negative dividend.
    /// The least number divided by -1 is itself.
    Div,
    /// The remainder of the division, with the sign of the dividend; by zero, the dividend.
    Rem,
    /// Conjunction, bit by bit.
    And,
    /// Disjunction, bit by bit.
    Or,
    /// Exclusive disjunction, bit by bit.
    Xor,
    /// Shift to the left. The bits of the right operand are read without sign; from the width on, all are lost.
    Shl,
    /// Shift to the right, in which signed numbers keep their sign. All is lost as in a shift to the left, but the
    /// sign.
    Shr,
    /// Less than, as numbers.
    Lt,
    /// Less than or equal, as numbers.
    Le,
}

/// A label of the source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// Its name.
    pub name: String,
    /// The location before the labelled statement.
    pub loc: LocId,
}

/// A kind of initial thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The name of the process template, or of the procedure.
    pub name: String,
    /// The procedure that the thread runs. Its parameters start with any value.
    pub proc: ProcId,
    /// The number of threads of this kind at the start of a run.
    pub count: Count,
    /// The per-thread variables of this kind and of all threads that it spawns. Other per-thread variables are
    /// not used by them and have the default value.
    pub thread_vars: Vec<VarId>,
    /// Initial values of [`Entry::thread_vars`], assigned all at once when the thread is created; the right-hand sides
    /// read shared variables only. Those without an entry start with any value.
    pub init: Vec<(VarId, Expr)>,
}

/// The number of initial threads of one kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Count {
    /// This many in every run.
    Exactly(u32),
    /// Up to this many.
    AtMost(u32),
    /// Any number, zero included.
    Any,
}
