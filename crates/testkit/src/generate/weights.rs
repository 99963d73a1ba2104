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
#[derive(Clone, Debug)]
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
            (ConstrainStmt, 1),
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
        ];
        Weights {
            globals: (1, 3),
            locals: (0, 2),
            procs: (1, 3),
            statements: (2, 12),
            threads: (0, 0),
            templates,
            chances: Chances::base(),
        }
    }

    /// Returns weights for one thread, calls with recursion.
    pub fn recursive() -> Weights {
        let mut weights = Weights::sequential().with(Template::Call, 14).with(Template::If, 14);
        weights.procs = (1, 2);
        weights.globals = (1, 2);
        weights.locals = (0, 1);
        weights.statements = (2, 8);
        weights.chances.recursion = 80;
        weights
    }

    /// Returns weights for two or three threads, small and without recursion.
    pub fn threads() -> Weights {
        use Template::*;
        let mut weights = Weights::sequential()
            .with(StartGoto, 4)
            .with(StartLabel, 3)
            .with(StartCall, 8)
            .with(Async, 3)
            .with(EndThread, 2)
            .with(Atomic, 5)
            .with(StrayAtomic, 2)
            .with(Call, 3);
        weights.globals = (1, 2);
        weights.locals = (0, 1);
        weights.procs = (1, 2);
        weights.statements = (2, 7);
        weights.threads = (2, 3);
        weights.chances.first_start = 60;
        weights.chances.last_assert = 30;
        weights.chances.weak_assert = 75;
        weights.chances.initialiser = 85;
        weights.chances.choice = 5;
        weights.chances.initial = 15;
        weights.chances.classic = 8;
        weights.chances.thread_local = 12;
        weights
    }

    /// Returns weights with all features, each of them rare.
    pub fn everything() -> Weights {
        let mut weights = Weights::threads().with(Template::Broadcast, 2).with(Template::Call, 5);
        weights.procs = (1, 3);
        weights.chances.recursion = 15;
        weights.chances.passive = 8;
        weights.chances.enforce = 12;
        weights.chances.thread_local = 20;
        weights.chances.processes = 10;
        weights
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
        let mut mixed = Weights::threads();
        mixed.threads = (1, 3);
        mixed.chances.initial = 20;
        let sections = mixed.clone().with(Atomic, 14).with(StrayAtomic, 5).with(Assume, 9).with(LocalAssume, 8);
        let starts = mixed.clone().with(StartGoto, 9).with(StartLabel, 4).with(EndThread, 6).with(While, 8);
        let mut passive = mixed.clone().with(Broadcast, 7);
        passive.locals = (1, 2);
        passive.chances.passive = 35;
        passive.chances.thread_local = 20;
        let mut kinds = mixed.clone();
        kinds.chances.processes = 75;
        kinds.chances.classic = 25;
        [("mixed", mixed), ("sections", sections), ("starts", starts), ("passive", passive), ("kinds", kinds)]
    }

    /// Returns weights for two or three threads with recursion: those that the program names, several of one kind,
    /// threads that are started, many sections, and the same without recursion.
    pub fn in_turns() -> [(&'static str, Weights); 5] {
        use Template::*;
        let mut named = Weights::sequential().with(Call, 12).with(Atomic, 4).with(StrayAtomic, 1).with(EndThread, 1);
        named.globals = (1, 2);
        named.locals = (0, 1);
        named.procs = (1, 2);
        named.statements = (2, 6);
        named.threads = (2, 3);
        named.chances = Chances {
            recursion: 75,
            classic: 100,
            initialiser: 85,
            choice: 5,
            thread_local: 10,
            last_assert: 40,
            weak_assert: 70,
            ..Chances::base()
        };
        let mut alike = named.clone();
        alike.chances.classic = 0;
        alike.chances.initial = 100;
        alike.procs = (2, 2);
        let mut started = alike.clone().with(StartCall, 8).with(StartGoto, 3).with(Async, 2).with(EndThread, 3);
        started.chances.initial = 20;
        started.chances.first_start = 70;
        let sections = named.clone().with(Atomic, 12).with(StrayAtomic, 4).with(Assume, 8);
        let mut flat = started.clone();
        flat.chances = Chances { recursion: 0, classic: 30, processes: 30, ..started.chances.clone() };
        [("named", named), ("alike", alike), ("started", started), ("sections", sections), ("flat", flat)]
    }

    /// Returns weights for templates with any number of threads: with and without recursion, the same with many
    /// sections.
    pub fn in_rounds() -> [(&'static str, Weights); 4] {
        use Template::*;
        let [(_, named), .., (_, sections), _] = Weights::in_turns();
        let templates = |mut weights: Weights, recursion| {
            weights.threads = (0, 0);
            weights.chances = Chances { recursion, classic: 0, processes: 100, ..weights.chances };
            weights.procs = (2, 2);
            weights
        };
        let flat = templates(named.clone(), 0).with(Assume, 6);
        [
            ("recursive", templates(named, 100)),
            ("flat", flat),
            ("recursive-sections", templates(sections.clone(), 100)),
            ("flat-sections", templates(sections, 0)),
        ]
    }

    /// Returns the same weights but for one statement.
    pub fn with(mut self, template: Template, weight: u32) -> Weights {
        self.templates.retain(|(other, _)| *other != template);
        self.templates.push((template, weight));
        self
    }
}

impl Chances {
    fn base() -> Chances {
        Chances {
            recursion: 0,
            back_edge: 30,
            choice: 7,
            constant: 8,
            choose: 4,
            passive: 0,
            enforce: 5,
            initialiser: 65,
            thread_local: 5,
            results: 50,
            params: 40,
            error_label: 8,
            ask_label: 4,
            initial: 0,
            classic: 0,
            processes: 0,
            weak_assert: 60,
            first_start: 0,
            last_assert: 50,
        }
    }
}
