//! Reduces nets to thread-transition systems (thesis, §8.3): each place is a local state, and a token on it a thread
//! there.
//!
//! An additional thread, the *driver*, creates new tokens. The shared state records the progress of a rule: first its
//! tokens are taken, one by one, and then the others are put, one by one. A token that is moved waits in between, so
//! that a rule cannot take tokens that it has just put. A rule without enough tokens stops half-way, and then nothing
//! can move; the targets require the shared state between rules, so nothing is covered by this. All tokens of a place
//! are moved or removed in a step of the driver that transfers them.

use std::collections::BTreeMap;

use selvedge_ir::span::{NetMap, Span};
use selvedge_ir::tts::{Cover, LocalId, Rule, SharedId, Start, Tts};

use super::parse::Places;
use super::{Change, Net, Tokens};
use crate::tts::Spans;

/// The local state of the driver.
const DRIVER: usize = 0;

/// Returns the system of a net, with the positions of its parts in the text, and how it represents the net.
pub(super) fn reduce(net: &Net, places: &Places) -> (Tts, Spans, NetMap) {
    let n_places = net.places.len();
    let tts = Tts {
        n_shared: 1,
        // The driver, the places, waiting tokens, removed tokens.
        n_local: n_places as u32 + 3,
        starts: vec![Start { shared: 0.into(), threads: vec![DRIVER.into()], any: Vec::new() }],
        ..Tts::default()
    };
    let spans = Spans { head: places.head, rules: Vec::new(), targets: places.targets.clone() };
    let (waits, gone) = (LocalId::from(n_places + 1), LocalId::from(n_places + 2));
    let mut reduction = Reduction { tts, spans, waits, gone, span: places.init };
    let ready = reduction.initial(&net.initial);
    for (rule, span) in net.rules.iter().zip(&places.rules) {
        reduction.span = *span;
        reduction.rule(rule, ready);
    }
    for target in &net.targets {
        let mut threads: Vec<LocalId> = tokens(target);
        if threads.is_empty() {
            threads.push(DRIVER.into());
        }
        threads.sort_unstable();
        reduction.tts.targets.push(Cover { shared: ready, threads });
    }
    let net = NetMap { places: net.places.clone(), ready: ready.raw() };
    (reduction.tts, reduction.spans, net)
}

/// Returns the local state of a place.
fn local(place: usize) -> LocalId {
    LocalId::from(place + 1)
}

/// Returns some tokens, one by one.
fn tokens(list: &[(usize, u32)]) -> Vec<LocalId> {
    list.iter().flat_map(|(place, number)| (0..*number).map(|_| local(*place))).collect()
}

struct Reduction {
    tts: Tts,
    spans: Spans,
    waits: LocalId,
    gone: LocalId,
    /// The position of the rule that is being reduced.
    span: Span,
}

impl Reduction {
    fn new_shared(&mut self) -> SharedId {
        self.tts.n_shared += 1;
        SharedId::from_raw(self.tts.n_shared - 1)
    }

    fn moves(&mut self, shared: SharedId, local: LocalId, shared_after: SharedId, to: LocalId) {
        if (shared, local) != (shared_after, to) {
            self.tts.rules.push(Rule {
                shared,
                local,
                shared_after,
                after: vec![to],
                goes_on: true,
                transfers: Vec::new(),
            });
            self.spans.rules.push(self.span);
        }
    }

    fn starts(&mut self, shared: SharedId, local: LocalId, shared_after: SharedId, new: LocalId) {
        self.tts.rules.push(Rule {
            shared,
            local,
            shared_after,
            after: vec![local, new],
            goes_on: true,
            transfers: Vec::new(),
        });
        self.spans.rules.push(self.span);
    }

    /// Puts the first tokens, and returns the shared state in which they are all there.
    fn initial(&mut self, initial: &[Tokens]) -> SharedId {
        let number = |tokens: &Tokens| match tokens {
            Tokens::Exactly(number) | Tokens::AtLeast(number) => *number,
        };
        let fixed: Vec<(usize, u32)> = initial.iter().map(number).enumerate().collect();
        let mut now = SharedId::from(0usize);
        for token in tokens(&fixed) {
            let after = self.new_shared();
            self.starts(now, DRIVER.into(), after, token);
            now = after;
        }
        let open = |(_, tokens): &(usize, &Tokens)| matches!(tokens, Tokens::AtLeast(_));
        let open: Vec<LocalId> = initial.iter().enumerate().filter(open).map(|(place, _)| local(place)).collect();
        if open.is_empty() {
            return now;
        }
        open.iter().for_each(|token| self.starts(now, DRIVER.into(), now, *token));
        let ready = self.new_shared();
        self.moves(now, DRIVER.into(), ready, DRIVER.into());
        ready
    }

    fn rule(&mut self, rule: &Change, ready: SharedId) {
        if !rule.transfers.is_empty() {
            self.transfer(rule, ready);
            return;
        }
        let taken = tokens(&rule.needs);
        let mut put: Vec<LocalId> = Vec::new();
        for (place, needed) in &rule.needs {
            let change = rule.puts.iter().find(|(other, _)| other == place).map_or(0, |(_, change)| *change);
            put.extend((0..i64::from(*needed) + change).map(|_| local(*place)));
        }
        let only_put = rule.puts.iter().filter(|(place, _)| rule.needs.iter().all(|(other, _)| other != place));
        put.extend(only_put.flat_map(|(place, change)| (0..*change).map(|_| local(*place))));
        self.exchange(ready, &taken, put);
    }

    /// A rule with transfers: takes the tokens that it needs, transfers the others, takes those that are to be taken
    /// after the transfers, and puts as many as there are to be then. Those that it took go with the others of their
    /// place.
    fn transfer(&mut self, rule: &Change, ready: SharedId) {
        let place_after = |place: usize| {
            let found = rule.transfers.iter().find(|(from, _)| *from == place);
            found.map_or(Some(place), |(_, to)| *to)
        };
        let mut change: BTreeMap<usize, i64> = rule.puts.iter().copied().collect();
        for (place, needed) in &rule.needs {
            if let Some(to) = place_after(*place) {
                *change.entry(to).or_default() += i64::from(*needed);
            }
        }
        let copies = |(place, number): (&usize, i64)| (0..number).map(|_| local(*place)).collect::<Vec<_>>();
        let taken = tokens(&rule.needs);
        let taken_later: Vec<LocalId> = change.iter().flat_map(|(place, number)| copies((place, -number))).collect();
        let mut put: Vec<LocalId> = change.iter().flat_map(|(place, number)| copies((place, *number))).collect();
        let n_steps = taken.len() + 1 + taken_later.len() + put.len();
        let mut steps = Steps { now: ready, ready, left: n_steps };
        // This many of the tokens are put again; the rest is removed.
        let n_kept = put.len().min(taken.len() + taken_later.len());
        let mut n_left = n_kept;
        let mut take = |reduction: &mut Reduction, steps: &mut Steps, token: LocalId| {
            let to = if n_left > 0 { reduction.waits } else { reduction.gone };
            n_left = n_left.saturating_sub(1);
            let (now, after) = steps.next(reduction);
            reduction.moves(now, token, after, to);
        };
        taken.iter().for_each(|token| take(self, &mut steps, *token));
        let (now, after) = steps.next(self);
        let transfers = rule.transfers.iter();
        let transfers = transfers.map(|(from, to)| (local(*from), vec![to.map_or(self.gone, local)])).collect();
        let (shared_after, goes_on) = (after, true);
        let driver = DRIVER.into();
        self.tts.rules.push(Rule { shared: now, local: driver, shared_after, after: vec![driver], goes_on, transfers });
        self.spans.rules.push(self.span);
        taken_later.iter().for_each(|token| take(self, &mut steps, *token));
        for token in put.drain(..n_kept) {
            let (now, after) = steps.next(self);
            self.moves(now, self.waits, after, token);
        }
        for token in put {
            let (now, after) = steps.next(self);
            self.starts(now, DRIVER.into(), after, token);
        }
    }

    /// Takes some tokens and puts others.
    fn exchange(&mut self, ready: SharedId, taken: &[LocalId], mut put: Vec<LocalId>) {
        if let [token] = taken
            && let Some(at) = put.iter().position(|other| other == token)
            && put.len() == 2
        {
            put.remove(at);
            self.starts(ready, *token, ready, put[0]);
            return;
        }
        let n_steps = taken.len() + put.len().saturating_sub(usize::from(!taken.is_empty()));
        let mut steps = Steps { now: ready, ready, left: n_steps };
        if let Some((last, others)) = taken.split_last() {
            // This many of the tokens are put again; the rest is removed.
            let n_kept = put.len().min(taken.len()).saturating_sub(1);
            for (number, token) in others.iter().enumerate() {
                let to = if number < others.len() - n_kept { self.gone } else { self.waits };
                let (now, after) = steps.next(self);
                self.moves(now, *token, after, to);
            }
            let to = put.pop().unwrap_or(self.gone);
            let (now, after) = steps.next(self);
            self.moves(now, *last, after, to);
            for _ in 0..n_kept {
                let to = put.pop().expect("as many are put");
                let (now, after) = steps.next(self);
                self.moves(now, self.waits, after, to);
            }
        }
        for token in put {
            let (now, after) = steps.next(self);
            self.starts(now, DRIVER.into(), after, token);
        }
    }
}

/// The shared states of the steps of a rule.
struct Steps {
    now: SharedId,
    ready: SharedId,
    left: usize,
}

impl Steps {
    /// Returns the shared states before and after the next step.
    fn next(&mut self, reduction: &mut Reduction) -> (SharedId, SharedId) {
        self.left -= 1;
        let after = if self.left == 0 { self.ready } else { reduction.new_shared() };
        (std::mem::replace(&mut self.now, after), after)
    }
}
