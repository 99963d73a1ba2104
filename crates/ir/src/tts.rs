//! Thread-transition systems as data: any number of threads with finitely many states each and one shared state.
//!
//! A configuration is a shared state and a bag of threads' local states. A rule lets one thread move: it takes a thread
//! in its local state away, changes the shared state, and puts threads in its place. It may also *transfer* other
//! threads: all threads that are in certain states go elsewhere in the same step. No rule requires the absence of a
//! thread: whatever some threads can do, more threads can do.

index_vec::define_index_type! {
    /// A shared state.
    pub struct SharedId = u32;
}
index_vec::define_index_type! {
    /// A state of one thread.
    pub struct LocalId = u32;
}
index_vec::define_index_type! {
    /// A rule.
    pub struct RuleId = u32;
}

/// A thread-transition system with the question about it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tts {
    /// The number of shared states.
    pub n_shared: u32,
    /// The number of states of a thread.
    pub n_local: u32,
    /// The steps of threads.
    pub rules: index_vec::IndexVec<RuleId, Rule>,
    /// The initial configurations.
    pub starts: Vec<Start>,
    /// The targets: is a configuration reachable that covers one of these?
    pub targets: Vec<Cover>,
}

/// A step of one thread.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Rule {
    /// The shared state before.
    pub shared: SharedId,
    /// The thread's state before.
    pub local: LocalId,
    /// The shared state after.
    pub shared_after: SharedId,
    /// The threads that replace the one that moved: none if it ends. The first is the one that moved, if it goes on;
    /// the others are new.
    pub after: Vec<LocalId>,
    /// True if the thread that moved goes on; false if it ends.
    pub goes_on: bool,
    /// For some local states, in ascending order, the states to one of which each *other* thread there goes in the same
    /// step: at least one, in ascending order. Threads choose independently of each other; those in states that are not
    /// listed stay where they are, and new threads are not transferred.
    pub transfers: Vec<(LocalId, Vec<LocalId>)>,
}

/// Configurations in which a run may start: the shared state, these threads, and any number of threads in any of the
/// states of `any`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Start {
    /// The shared state.
    pub shared: SharedId,
    /// The threads that are always there, in ascending order.
    pub threads: Vec<LocalId>,
    /// States of further threads, in ascending order, each once.
    pub any: Vec<LocalId>,
}

/// All configurations with this shared state and at least these threads.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Cover {
    /// The shared state.
    pub shared: SharedId,
    /// The threads, in ascending order.
    pub threads: Vec<LocalId>,
}

/// A run of a thread-transition system. Threads are numbered in the order of their creation, those of the start first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TtsRun {
    /// The number of the start.
    pub start: usize,
    /// All threads of the first configuration: those of the start, then others.
    pub threads: Vec<LocalId>,
    /// The steps in order.
    pub steps: Vec<TtsStep>,
}

/// A step of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TtsStep {
    /// The thread that moves.
    pub thread: usize,
    /// The rule that it takes.
    pub rule: RuleId,
    /// The new states of the other threads that the rule transfers, in the order of their numbers.
    pub transferred: Vec<LocalId>,
}

/// The reason why a list of steps is not a run to a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoRun {
    /// The first configuration is not an initial one.
    Start,
    /// The step with this number does not apply.
    Step(usize),
    /// The run ends outside the target.
    End,
}

impl Cover {
    /// Returns whether a configuration is among these. The threads may come in any order.
    pub fn holds(&self, shared: SharedId, threads: &[LocalId]) -> bool {
        let count = |local: LocalId| threads.iter().filter(|thread| **thread == local).count();
        let enough = |group: &[LocalId]| count(group[0]) >= group.len();
        self.shared == shared && self.threads.chunk_by(|one, other| one == other).all(enough)
    }
}

impl Start {
    /// Returns whether a run may start with these threads: those of the start first, in their order.
    pub fn allows(&self, threads: &[LocalId]) -> bool {
        let more = threads.strip_prefix(self.threads.as_slice());
        more.is_some_and(|more| more.iter().all(|thread| self.any.contains(thread)))
    }
}

impl Tts {
    /// Executes a run, or says why it is not a run to a target.
    pub fn replay(&self, run: &TtsRun) -> Result<(), NoRun> {
        let start = self.starts.get(run.start).filter(|start| start.allows(&run.threads)).ok_or(NoRun::Start)?;
        let mut shared = start.shared;
        let mut threads: Vec<Option<LocalId>> = run.threads.iter().copied().map(Some).collect();
        for (number, step) in run.steps.iter().enumerate() {
            let rule = self.rules.get(step.rule).filter(|rule| rule.shared == shared).ok_or(NoRun::Step(number))?;
            rule.apply(&mut threads, step).ok_or(NoRun::Step(number))?;
            shared = rule.shared_after;
        }
        let living: Vec<LocalId> = threads.into_iter().flatten().collect();
        if self.targets.iter().any(|target| target.holds(shared, &living)) { Ok(()) } else { Err(NoRun::End) }
    }
}

impl Rule {
    /// Returns the new state of the thread that moved, if it goes on, and the new threads.
    pub fn parts(&self) -> (Option<LocalId>, &[LocalId]) {
        if self.goes_on { (self.after.first().copied(), &self.after[1..]) } else { (None, &self.after) }
    }

    /// Returns the states to one of which another thread in a state goes: that state alone if it is not transferred.
    pub fn ways<'r>(&'r self, local: &'r LocalId) -> &'r [LocalId] {
        let place = self.transfers.binary_search_by_key(local, |(from, _)| *from);
        place.map_or(std::slice::from_ref(local), |place| &self.transfers[place].1)
    }

    /// Returns whether other threads in a state are transferred.
    pub fn transfers(&self, local: LocalId) -> bool {
        self.transfers.binary_search_by_key(&local, |(from, _)| *from).is_ok()
    }

    /// Makes a step by this rule; `None` if the rule does not allow it. A thread that has ended has no state.
    pub fn apply(&self, threads: &mut Vec<Option<LocalId>>, step: &TtsStep) -> Option<()> {
        if *threads.get(step.thread)? != Some(self.local) {
            return None;
        }
        let mut transferred = step.transferred.iter();
        for (_, local) in threads.iter_mut().enumerate().filter(|(thread, _)| *thread != step.thread) {
            if let Some(from) = local.filter(|from| self.transfers(*from)) {
                *local = Some(*transferred.next().filter(|to| self.ways(&from).contains(to))?);
            }
        }
        let (own, new) = self.parts();
        threads[step.thread] = own;
        threads.extend(new.iter().copied().map(Some));
        transferred.next().is_none().then_some(())
    }
}

impl Tts {
    /// Returns whether some rule transfers other threads.
    pub fn has_transfers(&self) -> bool {
        self.rules.iter().any(|rule| !rule.transfers.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two threads are needed: one opens, another that was spawned goes through.
    fn gate() -> Tts {
        let rule = |shared: usize, local: usize, shared_after: usize, after: &[usize], goes_on| Rule {
            shared: shared.into(),
            local: local.into(),
            shared_after: shared_after.into(),
            after: after.iter().map(|local| LocalId::from(*local)).collect(),
            goes_on,
            transfers: Vec::new(),
        };
        Tts {
            n_shared: 2,
            n_local: 3,
            rules: [rule(0, 0, 0, &[0, 1], true), rule(0, 0, 1, &[], false), rule(1, 1, 1, &[2], true)]
                .into_iter()
                .collect(),
            starts: vec![Start { shared: 0.into(), threads: vec![0.into()], any: vec![] }],
            targets: vec![Cover { shared: 1.into(), threads: vec![1.into(), 2.into()] }],
        }
    }

    fn run(steps: &[(usize, usize)]) -> TtsRun {
        let step = |(thread, rule): &(usize, usize)| TtsStep {
            thread: *thread,
            rule: RuleId::from(*rule),
            transferred: Vec::new(),
        };
        let steps = steps.iter().map(step).collect();
        TtsRun { start: 0, threads: vec![0.into()], steps }
    }

    #[test]
    fn a_run_is_followed_to_its_target() {
        assert_eq!(gate().replay(&run(&[(0, 0), (0, 0), (0, 1), (2, 2)])), Ok(()));
        assert_eq!(gate().replay(&run(&[(0, 0), (0, 1), (1, 2)])), Err(NoRun::End));
        assert_eq!(gate().replay(&run(&[(0, 1), (0, 0)])), Err(NoRun::Step(1)));
        assert_eq!(gate().replay(&run(&[(0, 0), (2, 2)])), Err(NoRun::Step(1)));
    }

    #[test]
    fn a_start_allows_its_threads_and_any_number_of_some() {
        let start = Start { shared: 0.into(), threads: vec![0.into()], any: vec![1.into()] };
        assert!(start.allows(&[0.into()]) && start.allows(&[0.into(), 1.into(), 1.into()]));
        assert!(!start.allows(&[]) && !start.allows(&[0.into(), 0.into()]) && !start.allows(&[1.into(), 0.into()]));
    }

    #[test]
    fn transferred_threads_go_where_the_rule_says() {
        let mut tts = gate();
        tts.rules[RuleId::from(1usize)].transfers = vec![(1.into(), vec![0.into(), 2.into()])];
        let transferring = |transferred: &[usize]| {
            let mut run = run(&[(0, 0), (0, 0), (0, 1)]);
            run.steps[2].transferred = transferred.iter().map(|local| LocalId::from(*local)).collect();
            tts.replay(&run)
        };
        assert_eq!(transferring(&[0, 2]), Err(NoRun::End));
        for wrong in [&[0][..], &[0, 1], &[0, 2, 2], &[]] {
            assert_eq!(transferring(wrong), Err(NoRun::Step(2)), "{wrong:?}");
        }
        tts.targets = vec![Cover { shared: 1.into(), threads: vec![0.into(), 2.into()] }];
        let mut run = run(&[(0, 0), (0, 0), (0, 1)]);
        run.steps[2].transferred = vec![0.into(), 2.into()];
        assert_eq!(tts.replay(&run), Ok(()));
    }
}
