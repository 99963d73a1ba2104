//! Systems of equations between relations on the states of a program: the fixed-point calculus, as data.

use crate::span::Span;

/// The set that a variable ranges over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Sort {
    /// Valuations of the shared variables.
    Shared,
    /// Valuations of the variables that belong to a thread, in all its procedures.
    Own,
    /// A control location with the locals of its procedure.
    Frame,
    /// A kind of initial thread.
    Template,
    /// For each kind of thread whose number is limited, the number of such threads in a block.
    Used,
}

impl Sort {
    /// All sorts.
    pub const ALL: [Sort; 5] = [Sort::Shared, Sort::Own, Sort::Frame, Sort::Template, Sort::Used];

    /// Returns the name in source text, which is that of the variant.
    pub fn name(self) -> String {
        format!("{self:?}")
    }
}

/// A relation that is defined by the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Base {
    /// `Initial(g)`: the threads are created in this shared state, after `init`.
    Initial,
    /// `Begin(t, g, p, l)`: a thread of kind `t` begins with `p` and `l` if the threads are created in `g`, or in a
    /// state with the same values of the variables that initial values read.
    Begin,
    /// `Step(g, p, l, g', p', l')`: an indivisible step of a thread that neither calls nor returns.
    Step,
    /// `Call(g, p, l, l')`: a call from `l` enters `l'`.
    Call,
    /// `Return(l, g, p, x, g', p', l')`: the call made in `l` returns from `x`, and the caller goes on with `l'`.
    Return,
    /// `Entry(l)`: a procedure begins here.
    Entry,
    /// `Exit(l)`: a return begins here.
    Exit,
    /// `End(g, p, l, p', l')`: a procedure returns here, or the thread ends; `p'` is `p` without the atomic flag, and
    /// `l'` is at no location.
    End,
    /// `Free(p)`: a thread with these variables does not hold the atomic flag.
    Free,
    /// `Target(g, p, l)`: this is an error, or the next step can be one.
    Target,
    /// `First(t)`: the first kind of thread in the order of the text.
    First,
    /// `Next(t, t')`: the kind after `t`.
    Next,
    /// `Last(t)`: the last kind.
    Last,
    /// `Halt(l)`: the thread ends here, whatever calls are open.
    Halt,
    /// `Nobody(c)`: a block without threads.
    Nobody,
    /// `More(t, c, c')`: `c'` has one thread of kind `t` more than `c`, and not more than a run may have.
    More,
    /// `Fit(c, c')`: both blocks fit into one run.
    Fit,
}

impl Base {
    /// All relations.
    pub const ALL: [Base; 17] = [
        Base::Initial,
        Base::Begin,
        Base::Step,
        Base::Call,
        Base::Return,
        Base::Entry,
        Base::Exit,
        Base::End,
        Base::Free,
        Base::Target,
        Base::First,
        Base::Next,
        Base::Last,
        Base::Halt,
        Base::Nobody,
        Base::More,
        Base::Fit,
    ];

    /// Returns the name in source text, which is that of the variant.
    pub fn name(self) -> String {
        format!("{self:?}")
    }

    /// Returns the sorts of its arguments.
    pub fn sorts(self) -> &'static [Sort] {
        use Sort::{Frame, Own, Shared, Template, Used};
        match self {
            Base::Initial => &[Shared],
            Base::Begin => &[Template, Shared, Own, Frame],
            Base::Step => &[Shared, Own, Frame, Shared, Own, Frame],
            Base::Call => &[Shared, Own, Frame, Frame],
            Base::Return => &[Frame, Shared, Own, Frame, Shared, Own, Frame],
            Base::Entry | Base::Exit | Base::Halt => &[Frame],
            Base::End => &[Shared, Own, Frame, Own, Frame],
            Base::Free => &[Own],
            Base::Target => &[Shared, Own, Frame],
            Base::First | Base::Last => &[Template],
            Base::Next => &[Template, Template],
            Base::Nobody => &[Used],
            Base::More => &[Template, Used, Used],
            Base::Fit => &[Used, Used],
        }
    }
}

/// A variable with its sort.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Param {
    /// Its name.
    pub name: String,
    /// The set that it ranges over.
    pub sort: Sort,
    /// The position of its binder.
    pub span: Span,
}

/// A relation that is defined by an equation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Equation {
    /// The relation.
    pub name: String,
    /// Its parameters.
    pub params: Vec<Param>,
    /// The right-hand side; the relation is the least solution.
    pub body: Formula,
    /// The layer, from 0.
    pub layer: usize,
    /// The position of the name.
    pub span: Span,
}

/// The relation of an atom.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Symbol {
    /// A relation that is defined by the program.
    Base(Base),
    /// The equation with this number.
    Equation(usize),
}

/// A formula. Variables are numbered from the outside in: first the parameters of the equation, then what quantifiers
/// bind, in the order of their binders.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Formula {
    /// Holds.
    True,
    /// Does not hold.
    False,
    /// A relation holds, or, if negated, does not.
    Atom {
        /// The relation.
        symbol: Symbol,
        /// The arguments, by the numbers of the variables.
        args: Vec<usize>,
        /// True if the atom is negated.
        negated: bool,
    },
    /// Two variables are equal, or, if negated, are not.
    Equal {
        /// One variable.
        left: usize,
        /// The other.
        right: usize,
        /// True if they differ.
        negated: bool,
    },
    /// All of them hold.
    And(Vec<Formula>),
    /// One of them holds.
    Or(Vec<Formula>),
    /// There are values with which the body holds.
    Exists {
        /// The number of the first bound variable.
        first: usize,
        /// The sorts of the bound variables.
        sorts: Vec<Sort>,
        /// The body.
        body: Box<Formula>,
    },
}

/// A system of equations.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fixpoint {
    /// The equations, layer by layer.
    pub equations: Vec<Equation>,
    /// The equation whose relation is the answer: it has no parameters, and holds if there is an error.
    pub answer: Option<usize>,
}
