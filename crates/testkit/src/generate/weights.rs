//! The frequencies of the generator.

/// The size of programs, their statements, and the frequency of each feature.
#[derive(Clone, Debug)]
pub struct Weights {
    /// The least and the greatest number of shared variables.
    pub globals: (usize, usize),
    /// The least and the greatest number of variables of a procedure, parameters not counted.
    pub locals: (usize, usize),
    /// The least and the greatest number of procedures.
    pub procs: (usize, usize),
    /// The least and the greatest number of statements of a procedure, those inside others included.
    pub statements: (usize, usize),
    /// The least and the greatest bound on threads; `(0, 0)` for none.
    pub threads: (u32, u32),
    /// The relative frequency of each statement.
    pub templates: Vec<(Template, u32)>,
    /// Probabilities in percent.
    pub chances: Chances,
}

/// Probabilities in percent.
#[derive(Clone, Copy, Debug, Default)]
pub struct Chances {
    /// A call may go to any procedure, itself included, not only to later ones. For the whole program.
    pub recursion: u32,
    /// A jump goes upwards.
    pub back_edge: u32,
    /// A leaf of an expression is `*`.
    pub choice: u32,
    /// A leaf of an expression is a constant.
    pub constant: u32,
    /// An inner node of an expression is `schoose`.
    pub choose: u32,
    /// A condition mentions passive copies, where some are in scope.
    pub passive: u32,
    /// A procedure has an `enforce` clause.
    pub enforce: u32,
    /// A declared variable has an initial value.
    pub initialiser: u32,
    /// A variable outside procedures is `thread_local`.
    pub thread_local: u32,
    /// A procedure returns values.
    pub results: u32,
    /// A procedure has parameters.
    pub params: u32,
    /// A statement is labelled `ERROR` or `SLIC_ERROR`. For the whole program.
    pub error_label: u32,
    /// The question is about a label. For the whole program.
    pub ask_label: u32,
    /// The program starts with more than one thread of `main`. For the whole program.
    pub initial: u32,
    /// The initial threads are `thread0`, `thread1`, .. For the whole program.
    pub classic: u32,
    /// Then there is only one of them, behind an `init`. For the whole program.
    pub alone: u32,
    /// The initial threads are given by `process` templates. For the whole program.
    pub processes: u32,
    /// An assertion is weakened by one more disjunct, which makes programs safer.
    pub weak_assert: u32,
    /// An initial thread begins by starting another one.
    pub first_start: u32,
    /// A procedure ends in an assertion.
    pub last_assert: u32,
}

/// A statement, or a few that belong together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Template {
    /// `skip`
    Skip,
    /// `x := e`
    Assign,
    /// `x, y := e, f`
    Parallel,
    /// `x, y := e, f constrain c`
    Constrained,
    /// An assignment to passive copies.
    Broadcast,
    /// `assume(e)`
    Assume,
    /// `assume(e)` that reads only the thread's own variables.
    LocalAssume,
    /// `assume(F)`
    Blocked,
    /// `constrain(e)`
    ConstrainStmt,
    /// `abortif(e)`
    AbortIf,
    /// `assert(e)`
    Assert,
    /// `goto l, m`
    Goto,
    /// `if e then goto l; fi`
    IfGoto,
    /// `if .. elsif .. else .. fi`
    If,
    /// `while .. do .. od`
    While,
    /// A call.
    Call,
    /// `return`
    Return,
    /// `dead x`
    Dead,
    /// `print(e)`
    Print,
    /// `start_thread goto l`
    StartGoto,
    /// `start_thread l`
    StartLabel,
    /// `start_thread f(e)`
    StartCall,
    /// `ASYNC_1: f(e)`
    Async,
    /// `end_thread`
    EndThread,
    /// `atomic_begin; ..; atomic_end`
    Atomic,
    /// `atomic_begin` or `atomic_end` on its own.
    StrayAtomic,
}

impl Weights {
    /// Returns weights for one thread, calls without recursion.
    pub fn sequential() -> Weights {
        use Template::*;
        let templates = vec![
            (Skip, 3),
            (Assign, 30),
            (Parallel, 8),
            (Constrained, 6),
            (Assume, 5),
            (LocalAssume, 3),
            (Blocked, 1),
            (ConstrainStmt, 2),
            (AbortIf, 1),
            (Assert, 4),
            (Goto, 6),
            (IfGoto, 4),
            (If, 10),
            (While, 4),
            (Call, 9),
            (Return, 2),
            (Dead, 1),
            (Print, 1),
            (StrayAtomic, 1),
            (EndThread, 1),
            (Broadcast, 1),
        ];
        let (globals, locals, procs, statements) = ((1, 3), (0, 2), (1, 3), (2, 12));
        let chances = Chances { classic: 15, alone: 100, passive: 8, thread_local: 10, ..Chances::base() };
        Weights { globals, locals, procs, statements, threads: (0, 0), templates, chances }
    }

    /// Returns weights for one thread, calls with recursion.
    pub fn recursive() -> Weights {
        let base = Weights::sequential().with(&[(Template::Call, 14), (Template::If, 14)]);
        let chances = Chances { recursion: 80, ..base.chances };
        Weights { globals: (1, 2), locals: (0, 1), procs: (1, 2), statements: (2, 8), chances, ..base }
    }

    /// Returns weights for two or three threads, small and without recursion.
    pub fn threads() -> Weights {
        use Template::*;
        let base = Weights::sequential().with(&[(StartGoto, 4), (StartLabel, 3), (StartCall, 8), (Async, 3)]);
        let base = base.with(&[(EndThread, 2), (Atomic, 5), (StrayAtomic, 2), (Call, 3)]);
        let base = base.without(Broadcast);
        let starts = Chances { first_start: 60, initial: 15, classic: 8, thread_local: 12, ..base.chances };
        let chances = Chances { alone: 0, passive: 0, enforce: 12, ..starts };
        let chances = Chances { last_assert: 30, weak_assert: 75, initialiser: 85, choice: 5, ..chances };
        let (globals, locals, procs, statements, threads) = ((1, 2), (0, 1), (1, 2), (2, 7), (2, 3));
        Weights { globals, locals, procs, statements, threads, chances, ..base }
    }

    /// Returns weights with all features, each of them rare.
    pub fn everything() -> Weights {
        let base = Weights::threads().with(&[(Template::Broadcast, 2), (Template::Call, 5)]);
        let rare = Chances { recursion: 15, passive: 8, enforce: 12, ..base.chances };
        Weights { procs: (1, 3), chances: Chances { thread_local: 20, processes: 10, ..rare }, ..base }
    }

    /// Returns all presets with their names.
    pub fn presets() -> [(&'static str, Weights); 4] {
        [
            ("sequential", Weights::sequential()),
            ("recursive", Weights::recursive()),
            ("threads", Weights::threads()),
            ("everything", Weights::everything()),
        ]
    }

    /// Returns weights for up to three threads without recursion, of all kinds: mixed, with many sections, with many
    /// starts, with passive copies, with several kinds of threads.
    pub fn concurrent() -> [(&'static str, Weights); 5] {
        use Template::*;
        let base = Weights::threads();
        let mixed = Weights { threads: (1, 3), chances: Chances { initial: 20, ..base.chances }, ..base };
        let chances = mixed.chances;
        let sections = mixed.with(&[(Atomic, 14), (StrayAtomic, 5), (Assume, 9), (LocalAssume, 8)]);
        let starts = mixed.with(&[(StartGoto, 9), (StartLabel, 4), (EndThread, 6), (While, 8)]);
        let copies = Chances { passive: 35, thread_local: 20, ..chances };
        let passive = Weights { locals: (1, 2), chances: copies, ..mixed.with(&[(Broadcast, 7)]) };
        let kinds = Weights { chances: Chances { processes: 75, classic: 25, ..chances }, ..mixed.clone() };
        [("mixed", mixed), ("sections", sections), ("starts", starts), ("passive", passive), ("kinds", kinds)]
    }

    /// Returns weights for two or three threads with recursion: those that the program names, several of one kind,
    /// threads that are started, many sections, and the same without recursion.
    pub fn in_turns() -> [(&'static str, Weights); 5] {
        use Template::*;
        let base = Weights::sequential().with(&[(Call, 12), (Atomic, 4), (StrayAtomic, 1), (EndThread, 1)]);
        let base = base.without(Broadcast);
        let errors = Chances { last_assert: 40, weak_assert: 70, alone: 0, passive: 0, enforce: 12, ..base.chances };
        let chances = Chances { recursion: 75, classic: 100, initialiser: 85, choice: 5, thread_local: 10, ..errors };
        let (globals, locals, procs, statements, threads) = ((1, 2), (0, 1), (1, 2), (2, 6), (2, 3));
        let named = Weights { globals, locals, procs, statements, threads, chances, ..base };
        let chances = Chances { classic: 0, initial: 100, ..chances };
        let alike = Weights { procs: (2, 2), chances, ..named.clone() };
        let chances = Chances { initial: 20, first_start: 70, ..chances };
        let starting = alike.with(&[(StartCall, 8), (StartGoto, 3), (Async, 2), (EndThread, 3)]);
        let started = Weights { chances, ..starting };
        let sections = named.with(&[(Atomic, 12), (StrayAtomic, 4), (Assume, 8)]);
        let chances = Chances { recursion: 0, classic: 30, processes: 30, ..chances };
        let flat = Weights { chances, ..started.clone() };
        [("named", named), ("alike", alike), ("started", started), ("sections", sections), ("flat", flat)]
    }

    /// Returns weights for templates with any number of threads: with and without recursion, the same with many
    /// sections.
    pub fn in_rounds() -> [(&'static str, Weights); 4] {
        let [(_, named), .., (_, sections), _] = Weights::in_turns();
        let templates = |weights: &Weights, recursion| {
            let chances = Chances { recursion, classic: 0, processes: 100, ..weights.chances };
            Weights { threads: (0, 0), procs: (2, 2), chances, ..weights.clone() }
        };
        [
            ("recursive", templates(&named, 100)),
            ("flat", templates(&named, 0).with(&[(Template::Assume, 6)])),
            ("recursive-sections", templates(&sections, 100)),
            ("flat-sections", templates(&sections, 0)),
        ]
    }

    /// Returns the same weights without a statement.
    #[must_use]
    pub fn without(&self, template: Template) -> Weights {
        let mut weights = self.clone();
        weights.templates.retain(|(kept, _)| *kept != template);
        weights
    }

    /// Returns whether programs may start threads.
    pub fn starts_threads(&self) -> bool {
        use Template::{Async, StartCall, StartGoto, StartLabel};
        let starts = |template: &Template| matches!(template, StartGoto | StartLabel | StartCall | Async);
        self.chances.first_start > 0 || self.templates.iter().any(|(template, _)| starts(template))
    }

    /// Returns the same weights but for some statements.
    #[must_use]
    pub fn with(&self, templates: &[(Template, u32)]) -> Weights {
        let mut weights = self.clone();
        weights.templates.retain(|(kept, _)| !templates.iter().any(|(other, _)| other == kept));
        weights.templates.extend(templates);
        weights
    }
}

impl Chances {
    /// Returns the probabilities for one thread, calls without recursion.
    fn base() -> Chances {
        let exprs = Chances { choice: 7, constant: 8, choose: 4, ..Chances::default() };
        let decls = Chances { initialiser: 65, thread_local: 5, results: 50, params: 40, enforce: 5, ..exprs };
        let asserts = Chances { weak_assert: 60, last_assert: 50, ..decls };
        Chances { back_edge: 30, error_label: 8, ask_label: 4, ..asserts }
    }
}
