//! Threads that take turns as one pushdown system: Lal and Reps (2009), section 4 and Fig. 4, for any number of
//! threads.
//!
//! A control state is the context of the running thread and a shared state for each context. A rule of a thread changes
//! the shared state of its context. The threads run one after the other; a thread that stops leaves its stack where it
//! is and the next one begins on top of it. The shared states of later contexts are guesses, which the symbol at the
//! bottom of the stack stores. When the last thread has stopped, the stacks are popped, which is the Checker: the
//! bottom is reached only if each context ended with the shared state with which the next one began.
//!
//! Each thread has a symbol below its stack, on which no rule for stacks applies: so it can empty its stack, and the
//! rules for the empty stack are rules for that symbol.

use std::collections::BTreeMap;

use super::{Config, Head, Pds, Rule, StateId, SymbolId, ThreadRule, Threads, View};

/// A pushdown system that simulates threads that take turns.
#[derive(Clone, Debug)]
pub struct InTurns {
    /// The system. Its targets are those of the threads, if they have one.
    pub pds: Pds,
    /// For each shared state the control state in which it is known to be reachable.
    pub confirmed: Vec<StateId>,
}

/// The reason why there is no such system.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoTurns {
    /// The initial configuration is not known.
    #[error("the initial configuration is not known")]
    NoInitial,
    /// It would have more rules than this.
    #[error("one pushdown system for all contexts would have more than {0} rules")]
    TooLarge(usize),
}

/// Limit on the number of rules of a system.
const MAX_RULES: usize = 2_000_000;

/// Returns the system of threads with a number of contexts each, at least one.
pub fn in_turns(threads: &Threads, contexts: u32) -> Result<InTurns, NoTurns> {
    let initial = threads.initial.as_ref().ok_or(NoTurns::NoInitial)?;
    let mut builder = Builder::new(threads, contexts.max(1) as usize)?;
    builder.begin(initial);
    builder.close();
    Ok(InTurns { pds: builder.pds, confirmed: builder.confirmed })
}

/// The meaning of a control state.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum State {
    /// The running thread is in this context, from 0; the shared states of all contexts.
    Running(usize, Vec<u32>),
    /// Between the two symbols that a thread puts on an empty stack: this one comes next; then as above.
    Pushing(usize, u32, usize, Vec<u32>),
    /// This thread begins; the shared states of all contexts.
    Beginning(usize, Vec<u32>),
    /// All threads have stopped; the shared states of all contexts.
    Stopped(Vec<u32>),
    /// The guesses were right, and this shared state is reachable.
    Confirmed(u32),
}

/// The meaning of a stack symbol.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Symbol {
    /// A symbol of a thread.
    Of(usize, u32),
    /// The symbol below the stack of a thread.
    Below(usize),
    /// The symbol at the bottom, with the guesses for the second context and later ones.
    Guesses(Vec<u32>),
}

struct Builder<'t> {
    threads: &'t Threads,
    contexts: usize,
    pds: Pds,
    states: BTreeMap<State, StateId>,
    /// The meanings of the control states, in the order of their numbers.
    meanings: Vec<State>,
    symbols: BTreeMap<Symbol, SymbolId>,
    confirmed: Vec<StateId>,
    /// For each thread the symbol that it must have on top when it stops, if the target gives one.
    wanted: Vec<Option<u32>>,
}

impl<'t> Builder<'t> {
    fn new(threads: &'t Threads, contexts: usize) -> Result<Builder<'t>, NoTurns> {
        let n_rules: usize = threads.threads.iter().map(|thread| thread.rules.len() + 4).sum();
        let n_tuples = (threads.n_shared as usize).checked_pow(contexts as u32);
        let size = n_tuples.and_then(|n_tuples| n_tuples.checked_mul(n_rules)?.checked_mul(contexts));
        if size.is_none_or(|size| size / threads.n_shared.max(1) as usize > MAX_RULES) {
            return Err(NoTurns::TooLarge(MAX_RULES));
        }
        let mut builder = Builder {
            threads,
            contexts,
            pds: Pds::default(),
            states: BTreeMap::new(),
            meanings: Vec::new(),
            symbols: BTreeMap::new(),
            confirmed: Vec::new(),
            wanted: vec![None; threads.threads.len()],
        };
        builder.confirmed = (0..threads.n_shared).map(|shared| builder.state(State::Confirmed(shared))).collect();
        if let Some(View { shared, tops }) = &threads.target {
            let state = builder.confirmed[*shared as usize];
            builder.pds.targets.push(Head { state, top: None });
            builder.wanted = tops.clone();
        }
        Ok(builder)
    }

    fn state(&mut self, meaning: State) -> StateId {
        if let Some(known) = self.states.get(&meaning) {
            return *known;
        }
        let list = |shared: &[u32]| shared.iter().map(u32::to_string).collect::<Vec<_>>().join("_");
        let name = match &meaning {
            State::Running(context, shared) => format!("c{}_{}", context + 1, list(shared)),
            State::Pushing(thread, symbol, context, shared) => {
                format!("p{}_t{thread}_{symbol}_{}", context + 1, list(shared))
            }
            State::Beginning(thread, shared) => format!("t{thread}_{}", list(shared)),
            State::Stopped(shared) => format!("stopped_{}", list(shared)),
            State::Confirmed(shared) => format!("reached_{shared}"),
        };
        let id = self.pds.states.push(name);
        self.meanings.push(meaning.clone());
        self.states.insert(meaning, id);
        id
    }

    fn symbol(&mut self, meaning: Symbol) -> SymbolId {
        if let Some(known) = self.symbols.get(&meaning) {
            return *known;
        }
        let name = match &meaning {
            Symbol::Of(thread, symbol) => format!("t{thread}_{symbol}"),
            Symbol::Below(thread) => format!("t{thread}_empty"),
            Symbol::Guesses(guesses) => {
                format!("guess_{}", guesses.iter().map(u32::to_string).collect::<Vec<_>>().join("_"))
            }
        };
        let id = self.pds.symbols.push(name);
        self.symbols.insert(meaning, id);
        id
    }

    fn rule(&mut self, from: StateId, top: SymbolId, to: StateId, push: Vec<SymbolId>) {
        self.pds.rules.push(Rule { from, top, to, push });
    }

    /// Returns the stack on which a thread begins, its top first.
    fn first_stack(&mut self, thread: usize) -> Vec<SymbolId> {
        let top = self.threads.initial.as_ref().and_then(|view| view.tops.get(thread).copied().flatten());
        let top = top.map(|top| self.symbol(Symbol::Of(thread, top)));
        let below = self.symbol(Symbol::Below(thread));
        top.into_iter().chain([below]).collect()
    }

    /// Adds an initial configuration for each list of guesses.
    fn begin(&mut self, initial: &View) {
        let mut guesses: Vec<Vec<u32>> = vec![Vec::new()];
        for _ in 1..self.contexts {
            let longer = |guess: &Vec<u32>| -> Vec<Vec<u32>> {
                (0..self.threads.n_shared).map(|next| guess.iter().copied().chain([next]).collect()).collect()
            };
            guesses = guesses.iter().flat_map(longer).collect();
        }
        for guess in guesses {
            let shared = [initial.shared].into_iter().chain(guess.iter().copied()).collect();
            let state = self.state(State::Running(0, shared));
            let bottom = self.symbol(Symbol::Guesses(guess));
            let stack = self.first_stack(0).into_iter().chain([bottom]).collect();
            self.pds.initial.push(Config { state, stack });
        }
    }

    /// Adds the rules of all control states. It ends because there are finitely many.
    fn close(&mut self) {
        let mut next = 0;
        while next < self.meanings.len() {
            let id = StateId::from_usize(next);
            match self.meanings[next].clone() {
                State::Running(context, shared) => self.run(id, context, &shared),
                State::Pushing(thread, symbol, context, shared) => {
                    let symbol = self.symbol(Symbol::Of(thread, symbol));
                    let to = self.state(State::Running(context, shared));
                    for lower in self.tops(thread) {
                        let lower = self.symbol(lower);
                        self.rule(id, lower, to, vec![symbol, lower]);
                    }
                }
                State::Beginning(thread, shared) => self.begin_thread(id, thread, shared),
                State::Stopped(shared) => self.take_down(id, &shared),
                State::Confirmed(_) => {}
            }
            next += 1;
        }
    }

    fn run(&mut self, id: StateId, context: usize, shared: &[u32]) {
        for thread in 0..self.threads.threads.len() {
            let rules = self.threads.threads[thread].rules.clone();
            for rule in rules.iter().filter(|rule| rule.from == shared[context]) {
                self.step(id, context, shared, thread, rule);
            }
            for top in self.tops(thread) {
                let symbol = self.symbol(top.clone());
                if context + 1 < self.contexts {
                    let later = self.state(State::Running(context + 1, shared.to_vec()));
                    self.rule(id, symbol, later, vec![symbol]);
                }
                self.stop(id, shared, thread, &top);
            }
        }
    }

    /// Adds a rule of a thread in its context.
    fn step(&mut self, id: StateId, context: usize, shared: &[u32], thread: usize, rule: &ThreadRule) {
        let mut after = shared.to_vec();
        after[context] = rule.to;
        let to = self.state(State::Running(context, after.clone()));
        let top = self.symbol(rule.top.map_or(Symbol::Below(thread), |top| Symbol::Of(thread, top)));
        let mut push: Vec<SymbolId> = rule.push.iter().map(|symbol| self.symbol(Symbol::Of(thread, *symbol))).collect();
        if rule.top.is_none() {
            push.push(top);
        }
        match push.as_slice() {
            // Pushing two symbols on an empty stack takes two steps.
            [_, lower, below] => {
                let (upper, lower, below) = (rule.push[0], *lower, *below);
                let between = self.state(State::Pushing(thread, upper, context, after));
                self.rule(id, top, between, vec![lower, below]);
            }
            _ => self.rule(id, top, to, push),
        }
    }

    /// Returns all symbols that a thread can have on top.
    fn tops(&self, thread: usize) -> Vec<Symbol> {
        let own = &self.threads.threads[thread];
        let pushed = own.rules.iter().flat_map(|rule| rule.push.iter().chain(&rule.top));
        let first = self.threads.initial.as_ref().and_then(|view| view.tops.get(thread)?.as_ref());
        let mut symbols: Vec<u32> = pushed.chain(first).copied().collect();
        symbols.sort_unstable();
        symbols.dedup();
        symbols.into_iter().map(|symbol| Symbol::Of(thread, symbol)).chain([Symbol::Below(thread)]).collect()
    }

    /// Adds the rules by which a thread stops and the next one begins on top of its stack.
    fn stop(&mut self, id: StateId, shared: &[u32], thread: usize, top: &Symbol) {
        let wanted = self.wanted.get(thread).copied().flatten();
        if wanted.is_some_and(|wanted| *top != Symbol::Of(thread, wanted)) {
            return;
        }
        let symbol = self.symbol(top.clone());
        if thread + 1 == self.threads.threads.len() {
            let stopped = self.state(State::Stopped(shared.to_vec()));
            return self.rule(id, symbol, stopped, Vec::new());
        }
        let below = self.symbol(Symbol::Below(thread + 1));
        let beginning = self.state(State::Beginning(thread + 1, shared.to_vec()));
        self.rule(id, symbol, beginning, vec![below, symbol]);
    }

    /// Adds the rules by which a thread begins with its first symbol.
    fn begin_thread(&mut self, id: StateId, thread: usize, shared: Vec<u32>) {
        let below = self.symbol(Symbol::Below(thread));
        let to = self.state(State::Running(0, shared));
        let stack = self.first_stack(thread);
        self.rule(id, below, to, stack);
    }

    /// Adds the rules that pop the stacks down to the guesses, which must equal the final states of the previous
    /// contexts.
    fn take_down(&mut self, id: StateId, shared: &[u32]) {
        for thread in 0..self.threads.threads.len() {
            for top in self.tops(thread) {
                let symbol = self.symbol(top);
                self.rule(id, symbol, id, Vec::new());
            }
        }
        let bottom = self.symbol(Symbol::Guesses(shared[..self.contexts - 1].to_vec()));
        let confirmed = self.confirmed[shared[self.contexts - 1] as usize];
        self.rule(id, bottom, confirmed, Vec::new());
    }
}
