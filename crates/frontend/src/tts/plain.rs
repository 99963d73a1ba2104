//! Any system in the form that the text can express: one start, with one thread in local state 0 and shared state 0;
//! rules in which a thread moves, or stays and starts one; at most one target.
//!
//! Other rules are split into parts with additional states. Between the parts, the shared state occurs in no other
//! rule, so no other thread can move: the covers of old states stay the same.

use rustc_hash::FxHashMap;
use selvedge_ir::tts::{Cover, LocalId, Rule, SharedId, Start, Tts};

/// Returns whether the text can express a system: its start, its rules, and its targets, possibly on several lines.
pub fn is_plain(tts: &Tts) -> bool {
    let first = Start { shared: 0.into(), threads: vec![0.into()], any: Vec::new() };
    tts.starts == [first]
        && tts.rules.iter().all(is_plain_rule)
        && tts.targets.iter().all(|target| !target.threads.is_empty())
}

fn is_plain_rule(rule: &Rule) -> bool {
    match rule.after.as_slice() {
        [_] => rule.goes_on,
        [own, _] => rule.goes_on && *own == rule.local && rule.transfers.is_empty(),
        _ => false,
    }
}

/// A system in plain form. Its states are the old ones, with new ones after them, except that the first shared state
/// and the first local state are exchanged with those numbered 0.
#[derive(Clone, Debug)]
pub struct Plain {
    /// The system, with one target if there was one.
    pub tts: Tts,
    exchanged: (SharedId, LocalId),
}

impl Plain {
    /// Returns the new number of an old shared state.
    pub fn shared(&self, shared: SharedId) -> SharedId {
        exchange(shared, self.exchanged.0, 0.into())
    }

    /// Returns the new number of an old local state.
    pub fn local(&self, local: LocalId) -> LocalId {
        exchange(local, self.exchanged.1, 0.into())
    }
}

/// Returns the same question in plain form.
pub fn plain(tts: &Tts) -> Plain {
    let mut making = Making {
        made: Tts { n_shared: tts.n_shared, n_local: tts.n_local, ..Tts::default() },
        exchanged: (0.into(), 0.into()),
        over: None,
        starting: FxHashMap::default(),
    };
    tts.rules.iter().for_each(|rule| making.rule(rule));
    making.start(&tts.starts);
    making.target(&with_threads(tts));
    Plain { tts: making.made, exchanged: making.exchanged }
}

/// Returns the targets of a system; a target without threads becomes one for each local state.
fn with_threads(tts: &Tts) -> Vec<Cover> {
    let of = |target: &Cover| match target.threads.is_empty() {
        false => vec![target.clone()],
        true => {
            let any = (0..tts.n_local).map(LocalId::from_raw);
            any.map(|local| Cover { shared: target.shared, threads: vec![local] }).collect()
        }
    };
    tts.targets.iter().flat_map(of).collect()
}

struct Making {
    made: Tts,
    /// A local state from which nothing happens.
    over: Option<LocalId>,
    /// The states that were exchanged with those numbered 0.
    exchanged: (SharedId, LocalId),
    /// The shared states in which threads are still to be started before the shared state changes.
    starting: FxHashMap<(LocalId, Vec<LocalId>, SharedId), SharedId>,
}

impl Making {
    fn new_shared(&mut self) -> SharedId {
        self.made.n_shared += 1;
        SharedId::from_raw(self.made.n_shared - 1)
    }

    fn new_local(&mut self) -> LocalId {
        self.made.n_local += 1;
        LocalId::from_raw(self.made.n_local - 1)
    }

    fn over(&mut self) -> LocalId {
        let over = self.over.unwrap_or_else(|| self.new_local());
        self.over = Some(over);
        over
    }

    fn moves(&mut self, from: (SharedId, LocalId), to: (SharedId, LocalId)) {
        let (shared, local) = from;
        self.made.rules.push(Rule {
            shared,
            local,
            shared_after: to.0,
            after: vec![to.1],
            goes_on: true,
            transfers: Vec::new(),
        });
    }

    fn starts(&mut self, from: (SharedId, LocalId), to: (SharedId, LocalId)) {
        let (shared, local) = from;
        self.made.rules.push(Rule {
            shared,
            local,
            shared_after: to.0,
            after: vec![local, to.1],
            goes_on: true,
            transfers: Vec::new(),
        });
    }

    fn rule(&mut self, rule: &Rule) {
        let from = (rule.shared, rule.local);
        match rule.after.as_slice() {
            [] => {
                let over = self.over();
                self.moves(from, (rule.shared_after, over));
            }
            [to] => self.moves(from, (rule.shared_after, *to)),
            [own, new @ ..] if *own == rule.local && rule.transfers.is_empty() => {
                let after = self.starting(*own, &new[1..], rule.shared_after);
                self.starts(from, (after, new[0]));
            }
            [own, new @ ..] => {
                let after = self.starting(*own, new, rule.shared_after);
                self.moves(from, (after, *own));
            }
        }
        // The first part comes last; new threads begin behind it.
        if let Some(first) = self.made.rules.last_mut().filter(|_| !rule.transfers.is_empty()) {
            first.transfers.clone_from(&rule.transfers);
        }
    }

    /// Returns the shared state in which a thread in `own` is to start these, and only that can happen.
    fn starting(&mut self, own: LocalId, new: &[LocalId], then: SharedId) -> SharedId {
        let Some((first, rest)) = new.split_first() else { return then };
        let key = (own, new.to_vec(), then);
        if let Some(known) = self.starting.get(&key) {
            return *known;
        }
        let here = self.new_shared();
        self.starting.insert(key, here);
        let after = self.starting(own, rest, then);
        self.starts((here, own), (after, *first));
        here
    }

    /// Adds the rules by which one thread starts all the others and becomes the last of them.
    fn start(&mut self, starts: &[Start]) {
        if let [Start { shared, threads, any }] = starts
            && let ([thread], true) = (threads.as_slice(), any.is_empty())
        {
            self.renumber((*shared, *thread));
            return;
        }
        let first = (self.new_shared(), self.new_local());
        for start in starts {
            let mut now = first.0;
            if !start.any.is_empty() {
                let here = self.new_shared();
                self.moves((now, first.1), (here, first.1));
                start.any.iter().for_each(|local| self.starts((here, first.1), (here, *local)));
                now = here;
            }
            let (last, others) = match start.threads.split_last() {
                Some((last, others)) => (*last, others),
                None => (self.over(), &[][..]),
            };
            for local in others {
                let after = self.new_shared();
                self.starts((now, first.1), (after, *local));
                now = after;
            }
            self.moves((now, first.1), (start.shared, last));
        }
        self.renumber(first);
    }

    /// Makes this the first configuration: exchanges its states with those numbered 0.
    fn renumber(&mut self, (shared, local): (SharedId, LocalId)) {
        let shared_of = |other: SharedId| exchange(other, shared, 0.into());
        let local_of = |other: LocalId| exchange(other, local, 0.into());
        for rule in &mut self.made.rules {
            (rule.shared, rule.local, rule.shared_after) =
                (shared_of(rule.shared), local_of(rule.local), shared_of(rule.shared_after));
            rule.after.iter_mut().for_each(|local| *local = local_of(*local));
            for (from, to) in &mut rule.transfers {
                *from = local_of(*from);
                to.iter_mut().for_each(|local| *local = local_of(*local));
                to.sort_unstable();
            }
            rule.transfers.sort_unstable();
        }
        self.made.starts = vec![Start { shared: 0.into(), threads: vec![0.into()], any: Vec::new() }];
        self.exchanged = (shared, local);
        self.over = self.over.map(local_of);
    }

    /// Adds the target, with the current numbers of states. If there are several, each leads to a common one.
    fn target(&mut self, targets: &[Cover]) {
        let (shared, local) = self.exchanged;
        let renumbered = |target: &Cover| {
            let mut threads: Vec<LocalId> =
                target.threads.iter().map(|thread| exchange(*thread, local, 0.into())).collect();
            threads.sort_unstable();
            Cover { shared: exchange(target.shared, shared, 0.into()), threads }
        };
        let targets: Vec<Cover> = targets.iter().map(renumbered).collect();
        if targets.len() < 2 {
            self.made.targets = targets;
            return;
        }
        let common = (self.new_shared(), self.new_local());
        for target in &targets {
            let mut now = target.shared;
            for (at, local) in target.threads.iter().enumerate() {
                let after = if at + 1 == target.threads.len() { common.0 } else { self.new_shared() };
                self.moves((now, *local), (after, common.1));
                now = after;
            }
        }
        self.made.targets = vec![Cover { shared: common.0, threads: vec![common.1] }];
    }
}

fn exchange<T: PartialEq>(this: T, one: T, other: T) -> T {
    if this == one {
        other
    } else if this == other {
        one
    } else {
        this
    }
}
