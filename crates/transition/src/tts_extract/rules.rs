//! The rules of a system, indexed by their sources and by the shared states they lead to.

use selvedge_ir::tts::{LocalId, Rule, RuleId, SharedId, Tts, TtsRun, TtsStep};

/// A configuration whose threads have numbers; a thread that has ended has no state.
#[derive(Clone)]
pub struct Configuration {
    pub shared: SharedId,
    pub threads: Vec<Option<LocalId>>,
}

impl Configuration {
    /// Returns the configuration with which a run starts.
    pub fn start(tts: &Tts, start: usize, threads: &[LocalId]) -> Configuration {
        Configuration { shared: tts.starts[start].shared, threads: threads.iter().copied().map(Some).collect() }
    }

    /// Makes a step of a run.
    pub fn step(&mut self, tts: &Tts, step: &TtsStep) {
        let rule = &tts.rules[step.rule];
        rule.apply(&mut self.threads, step).expect("the run was followed before");
        self.shared = rule.shared_after;
    }
}

/// Returns the configurations of a run, before each step and at the end.
pub fn configurations<'r>(tts: &'r Tts, run: &'r TtsRun) -> impl Iterator<Item = Configuration> + 'r {
    let mut steps = run.steps.iter();
    std::iter::successors(Some(Configuration::start(tts, run.start, &run.threads)), move |now| {
        let mut next = now.clone();
        next.step(tts, steps.next()?);
        Some(next)
    })
}

/// A system with indices of its rules.
pub struct Rules<'t> {
    /// The system.
    pub tts: &'t Tts,
    /// For each pair of a shared and a local state the index in `by_source` at which its rules begin.
    first: Vec<u32>,
    by_source: Vec<RuleId>,
    /// For each shared state the rules that lead there.
    into: Vec<Vec<RuleId>>,
    /// For each shared state the indices of the targets with it.
    targets: Vec<Vec<usize>>,
}

impl<'t> Rules<'t> {
    /// Builds the indices of a system.
    pub fn new(tts: &'t Tts) -> Rules<'t> {
        let source = |rule: &Rule| rule.shared.index() * tts.n_local as usize + rule.local.index();
        let mut by_source: Vec<RuleId> = tts.rules.indices().collect();
        by_source.sort_by_key(|rule| source(&tts.rules[*rule]));
        let mut first = vec![0; tts.n_shared as usize * tts.n_local as usize + 1];
        tts.rules.iter().for_each(|rule| first[source(rule) + 1] += 1);
        for place in 1..first.len() {
            first[place] += first[place - 1];
        }
        let mut into = vec![Vec::new(); tts.n_shared as usize];
        tts.rules.iter_enumerated().for_each(|(id, rule)| into[rule.shared_after.index()].push(id));
        let mut targets = vec![Vec::new(); tts.n_shared as usize];
        tts.targets.iter().enumerate().for_each(|(number, target)| targets[target.shared.index()].push(number));
        Rules { tts, first, by_source, into, targets }
    }

    /// Returns the rules of a thread in a local state.
    pub fn of(&self, shared: SharedId, local: LocalId) -> &[RuleId] {
        let place = shared.index() * self.tts.n_local as usize + local.index();
        &self.by_source[self.first[place] as usize..self.first[place + 1] as usize]
    }

    /// Returns the rules that lead to a shared state.
    pub fn into(&self, shared: SharedId) -> &[RuleId] {
        &self.into[shared.index()]
    }

    /// Returns the rule with a number.
    pub fn rule(&self, id: RuleId) -> &'t Rule {
        &self.tts.rules[id]
    }

    /// Returns whether a configuration covers a target.
    pub fn is_target(&self, shared: SharedId, threads: &[LocalId]) -> bool {
        self.targets[shared.index()].iter().any(|number| self.tts.targets[*number].holds(shared, threads))
    }
}
