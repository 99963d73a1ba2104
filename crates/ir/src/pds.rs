//! Pushdown systems as data: of one thread ([`Pds`]), and of several with a shared state ([`Threads`]).
//!
//! A configuration is a control state and a stack; a rule `<p, g> --> <q, w>` replaces the state `p` by `q` and the
//! topmost symbol `g` by the word `w`, whose first symbol is the new top.

pub mod program;
pub mod turns;

use std::fmt;

index_vec::define_index_type! {
    /// A control state.
    pub struct StateId = u32;
}
index_vec::define_index_type! {
    /// A stack symbol.
    pub struct SymbolId = u32;
}
index_vec::define_index_type! {
    /// A rule.
    pub struct RuleId = u32;
}

/// A pushdown system with the question about it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pds {
    /// The names of the control states.
    pub states: index_vec::IndexVec<StateId, String>,
    /// The names of the stack symbols.
    pub symbols: index_vec::IndexVec<SymbolId, String>,
    /// The rules.
    pub rules: index_vec::IndexVec<RuleId, Rule>,
    /// The configurations in which a run may start.
    pub initial: Vec<Config>,
    /// The targets: is a configuration with one of these heads reachable?
    pub targets: Vec<Head>,
}

/// `<from, top> --> <to, push>`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Rule {
    /// The state before.
    pub from: StateId,
    /// The symbol that is popped.
    pub top: SymbolId,
    /// The state after.
    pub to: StateId,
    /// The symbols that are pushed, at most two, the new top first.
    pub push: Vec<SymbolId>,
}

/// A configuration.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Config {
    /// The control state.
    pub state: StateId,
    /// The stack, its top first.
    pub stack: Vec<SymbolId>,
}

/// A set of configurations: those with this state, and this symbol on top of any stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Head {
    /// The control state.
    pub state: StateId,
    /// The topmost symbol; `None`: any stack, the empty one included.
    pub top: Option<SymbolId>,
}

/// A run of a pushdown system: the initial configuration and the rules.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PdsTrace {
    /// The number of the initial configuration.
    pub start: usize,
    /// The rules in order.
    pub rules: Vec<RuleId>,
}

/// The reason why a list of rules is not a run to a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoRun {
    /// There is no such initial configuration.
    Start,
    /// The step with this number does not apply.
    Step(usize),
    /// The run ends outside the target.
    End,
}

impl Head {
    /// Returns whether the configuration is in the set.
    pub fn holds(self, config: &Config) -> bool {
        self.state == config.state && (self.top.is_none() || self.top == config.stack.first().copied())
    }
}

impl Pds {
    /// Applies a rule to a configuration; `None` if it does not apply.
    pub fn apply(&self, rule: RuleId, config: &Config) -> Option<Config> {
        let rule = self.rules.get(rule)?;
        let (top, rest) = config.stack.split_first()?;
        let applies = rule.from == config.state && rule.top == *top;
        applies.then(|| Config { state: rule.to, stack: rule.push.iter().chain(rest).copied().collect() })
    }

    /// Executes a run that must end in a target, and returns its configurations, the first one included.
    pub fn replay(&self, trace: &PdsTrace) -> Result<Vec<Config>, NoRun> {
        let mut configs = vec![self.initial.get(trace.start).ok_or(NoRun::Start)?.clone()];
        for (number, rule) in trace.rules.iter().enumerate() {
            let next = configs.last().and_then(|config| self.apply(*rule, config)).ok_or(NoRun::Step(number))?;
            configs.push(next);
        }
        let arrives = configs.last().is_some_and(|last| self.targets.iter().any(|head| head.holds(last)));
        if arrives { Ok(configs) } else { Err(NoRun::End) }
    }

    /// Returns a configuration as text: `<p, g h>`.
    pub fn show(&self, config: &Config) -> String {
        self.angled(config.state, &config.stack)
    }

    /// Returns a rule as text: `<p, g> --> <q, g h>`.
    pub fn show_rule(&self, rule: &Rule) -> String {
        format!("{} --> {}", self.angled(rule.from, &[rule.top]), self.angled(rule.to, &rule.push))
    }

    /// Returns a head as text: `<p, g>`, or `<p, *>` for any stack.
    pub fn show_head(&self, head: Head) -> String {
        match head.top {
            Some(top) => self.angled(head.state, &[top]),
            None => format!("<{}, *>", self.states[head.state]),
        }
    }

    fn angled(&self, state: StateId, word: &[SymbolId]) -> String {
        let names: Vec<&str> = word.iter().map(|symbol| self.symbols[*symbol].as_str()).collect();
        let word = if names.is_empty() { "-".to_string() } else { names.join(" ") };
        format!("<{}, {word}>", self.states[state])
    }
}

/// Several pushdown systems with a shared control state, as in the format of the tool CUBA. Shared states and stack
/// symbols are numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Threads {
    /// The number of shared states, which are numbered from 0.
    pub n_shared: u32,
    /// The threads in order.
    pub threads: Vec<Thread>,
    /// The initial configuration, if it is known.
    pub initial: Option<View>,
    /// The target, if it is known.
    pub target: Option<View>,
}

/// One thread of several.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Thread {
    /// The least stack symbol.
    pub first: u32,
    /// The greatest stack symbol.
    pub last: u32,
    /// The rules.
    pub rules: Vec<ThreadRule>,
}

/// A rule of a thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ThreadRule {
    /// The shared state before.
    pub from: u32,
    /// The symbol that is popped; `None`: the stack is empty.
    pub top: Option<u32>,
    /// The shared state after.
    pub to: u32,
    /// The symbols that are pushed, at most two, the new top first.
    pub push: Vec<u32>,
}

/// The visible part of a configuration: the shared state and the topmost symbol of each thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct View {
    /// The shared state.
    pub shared: u32,
    /// The topmost symbol of each thread; `None`: an empty stack, or in a target any stack.
    pub tops: Vec<Option<u32>>,
}

/// A configuration of several threads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stacks {
    /// The shared state.
    pub shared: u32,
    /// The stack of each thread, its top first.
    pub stacks: Vec<Vec<u32>>,
}

impl Stacks {
    /// Returns whether the configuration is in a target.
    pub fn is_seen_as(&self, target: &View) -> bool {
        let holds = |(stack, top): (&Vec<u32>, &Option<u32>)| top.is_none_or(|top| stack.first() == Some(&top));
        self.shared == target.shared && self.stacks.iter().zip(&target.tops).all(holds)
    }
}

impl fmt::Display for Stacks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let stacks: Vec<String> = self.stacks.iter().map(|stack| word(stack)).collect();
        write!(f, "{}|{}", self.shared, stacks.join(","))
    }
}

impl fmt::Display for View {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tops: Vec<String> = self.tops.iter().map(|top| word(top.as_slice())).collect();
        write!(f, "{}|{}", self.shared, tops.join(","))
    }
}

impl fmt::Display for ThreadRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} -> {} {}", self.from, word(self.top.as_slice()), self.to, word(&self.push))
    }
}

/// Symbols as text, `-` if there are none.
fn word(symbols: &[u32]) -> String {
    match symbols {
        [] => "-".to_string(),
        _ => symbols.iter().map(u32::to_string).collect::<Vec<_>>().join(" "),
    }
}

/// The reason why several threads are not one pushdown system.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotSingle {
    /// There is no thread.
    #[error("the system has no thread")]
    NoThread,
    /// There are several threads.
    #[error("several threads: give --contexts K, the number of turns of each")]
    Several,
    /// The initial configuration is not known.
    #[error("the initial configuration is not known")]
    NoInitial,
}

impl Threads {
    /// Executes rules, each given by its thread and its place among the rules of that thread, and returns all
    /// configurations; the last one must be in the target.
    pub fn replay(&self, rules: &[(usize, usize)]) -> Result<Vec<Stacks>, NoRun> {
        let initial = self.initial.as_ref().ok_or(NoRun::Start)?;
        let stack = |number: usize| initial.tops.get(number).copied().flatten().into_iter().collect();
        let mut all = vec![Stacks { shared: initial.shared, stacks: (0..self.threads.len()).map(stack).collect() }];
        for (number, rule) in rules.iter().enumerate() {
            let next = all.last().and_then(|last| self.apply(*rule, last)).ok_or(NoRun::Step(number))?;
            all.push(next);
        }
        let arrives = |target: &View| all.last().is_some_and(|last| last.is_seen_as(target));
        if self.target.as_ref().is_some_and(arrives) { Ok(all) } else { Err(NoRun::End) }
    }

    fn apply(&self, (number, place): (usize, usize), before: &Stacks) -> Option<Stacks> {
        let rule = self.threads.get(number)?.rules.get(place)?;
        let stack = &before.stacks[number];
        if rule.from != before.shared || rule.top != stack.first().copied() {
            return None;
        }
        let mut after = Stacks { shared: rule.to, stacks: before.stacks.clone() };
        after.stacks[number] = rule.push.iter().chain(stack.iter().skip(1)).copied().collect();
        Some(after)
    }

    /// Returns the system of a single thread. Rules for the empty stack are rules for a symbol `bottom` below all
    /// others.
    pub fn single(&self) -> Result<Pds, NotSingle> {
        let thread = match self.threads.as_slice() {
            [thread] => thread,
            [] => return Err(NotSingle::NoThread),
            _ => return Err(NotSingle::Several),
        };
        let initial = self.initial.as_ref().ok_or(NotSingle::NoInitial)?;
        let tops =
            [Some(initial), self.target.as_ref()].into_iter().flatten().flat_map(|view| view.tops.iter().flatten());
        let first = tops.clone().copied().min().map_or(thread.first, |top| top.min(thread.first));
        let last = tops.copied().max().map_or(thread.last, |top| top.max(thread.last));
        let mut pds = Pds {
            states: (0..self.n_shared).map(|state| state.to_string()).collect(),
            symbols: (first..=last).map(|symbol| symbol.to_string()).collect(),
            ..Pds::default()
        };
        let symbol = |number: u32| SymbolId::from_raw(number.saturating_sub(first));
        let has_bottom = thread.rules.iter().any(|rule| rule.top.is_none());
        let bottom = has_bottom.then(|| pds.symbols.push("bottom".to_string()));
        for rule in &thread.rules {
            let below = bottom.filter(|_| rule.top.is_none());
            let top = rule.top.map(symbol).or(below).expect("rules for the empty stack make a bottom");
            let push = rule.push.iter().map(|pushed| symbol(*pushed)).chain(below).collect();
            let (from, to) = (StateId::from_raw(rule.from), StateId::from_raw(rule.to));
            pds.rules.push(Rule { from, top, to, push });
        }
        let top = |view: &View| view.tops.first().copied().flatten().map(symbol);
        let stack = top(initial).into_iter().chain(bottom).collect();
        pds.initial.push(Config { state: StateId::from_raw(initial.shared), stack });
        let heads = self.target.iter().map(|view| Head { state: StateId::from_raw(view.shared), top: top(view) });
        pds.targets.extend(heads);
        Ok(pds)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(state: u32, stack: &[u32]) -> Config {
        Config { state: StateId::from_raw(state), stack: stack.iter().map(|raw| SymbolId::from_raw(*raw)).collect() }
    }

    fn one_thread(rules: Vec<ThreadRule>, initial: Option<u32>) -> Threads {
        Threads {
            n_shared: 2,
            threads: vec![Thread { first: 3, last: 4, rules }],
            initial: Some(View { shared: 0, tops: vec![initial] }),
            target: Some(View { shared: 1, tops: vec![Some(4)] }),
        }
    }

    #[test]
    fn a_run_that_arrives_replays_and_others_do_not() {
        let rule = ThreadRule { from: 0, top: Some(3), to: 1, push: vec![4, 3] };
        let pds = one_thread(vec![rule], Some(3)).single().unwrap();
        let good = PdsTrace { start: 0, rules: vec![RuleId::from_raw(0)] };
        assert_eq!(pds.replay(&good).unwrap(), [config(0, &[0]), config(1, &[1, 0])]);
        assert_eq!(pds.replay(&PdsTrace { start: 1, rules: Vec::new() }), Err(NoRun::Start));
        assert_eq!(pds.replay(&PdsTrace { start: 0, rules: Vec::new() }), Err(NoRun::End));
        assert_eq!(pds.replay(&PdsTrace { start: 0, rules: vec![RuleId::from_raw(0); 2] }), Err(NoRun::Step(1)));
    }

    #[test]
    fn rules_for_the_empty_stack_stand_on_a_bottom() {
        let rule = ThreadRule { from: 0, top: None, to: 1, push: vec![4] };
        let pds = one_thread(vec![rule], None).single().unwrap();
        assert_eq!(pds.initial, [config(0, &[2])]);
        assert_eq!(pds.show_rule(&pds.rules[RuleId::from_raw(0)]), "<0, bottom> --> <1, 4 bottom>");
        assert!(pds.replay(&PdsTrace { start: 0, rules: vec![RuleId::from_raw(0)] }).is_ok());
    }

    #[test]
    fn threads_move_only_by_their_own_rules_and_must_arrive() {
        let thread = |rule: ThreadRule| Thread { first: 3, last: 4, rules: vec![rule] };
        let threads = Threads {
            n_shared: 3,
            threads: vec![
                thread(ThreadRule { from: 0, top: Some(3), to: 1, push: vec![4, 3] }),
                thread(ThreadRule { from: 1, top: None, to: 2, push: vec![3] }),
            ],
            initial: Some(View { shared: 0, tops: vec![Some(3), None] }),
            target: Some(View { shared: 2, tops: vec![Some(4), Some(3)] }),
        };
        let configs = threads.replay(&[(0, 0), (1, 0)]).unwrap();
        assert_eq!(configs.iter().map(Stacks::to_string).collect::<Vec<_>>(), ["0|3,-", "1|4 3,-", "2|4 3,3"]);
        assert_eq!(threads.replay(&[(0, 0)]), Err(NoRun::End));
        assert_eq!(threads.replay(&[(1, 0)]), Err(NoRun::Step(0)));
        assert_eq!(threads.replay(&[(0, 0), (0, 0)]), Err(NoRun::Step(1)));
        assert_eq!(threads.replay(&[(0, 1)]), Err(NoRun::Step(0)));
        assert_eq!(threads.replay(&[(2, 0)]), Err(NoRun::Step(0)));
        let unknown = Threads { initial: None, ..threads };
        assert_eq!(unknown.replay(&[]), Err(NoRun::Start));
    }

    #[test]
    fn several_threads_are_not_one() {
        let threads = Threads { n_shared: 1, threads: vec![Thread::default(); 2], initial: None, target: None };
        assert_eq!(threads.single(), Err(NotSingle::Several));
    }
}
