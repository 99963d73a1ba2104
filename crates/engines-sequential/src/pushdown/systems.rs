//! Decides reachability in pushdown systems that the user writes. An automaton that was saturated without a target is
//! its own proof: it has all consequences of its transitions, so it is closed under all rules.

use rustc_hash::{FxHashMap, FxHashSet};
use selvedge_check::system::{Closure, SystemProof, Transition};
use selvedge_check::{Run, Stop};
use selvedge_ir::pds::{Config, Head, Pds, PdsTrace, RuleId, StateId, SymbolId};

use super::post::{
    Control, Ordered, PostNode, RuleMove, RuleSystem, Saturation, StackSymbol, TransitionStart, Until, Word,
};
use super::pre::BackwardSaturation;

/// The direction of saturation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Direction {
    /// From the initial configurations.
    #[default]
    Forward,
    /// From the targets.
    Backward,
}

/// The answer about a pushdown system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SystemVerdict {
    /// No target is reachable, as this automaton proves.
    Unreachable(SystemProof),
    /// This run ends in a target.
    Reachable(PdsTrace),
}

/// Decides whether a target of the system is reachable.
pub fn check(pds: &Pds, direction: Direction, run: &Run<'_>) -> Result<SystemVerdict, Stop> {
    match direction {
        Direction::Forward => forward(pds, run),
        Direction::Backward => {
            let mut automaton = BackwardSaturation::new(pds, run);
            let trace = automaton.check()?;
            Ok(trace.map_or_else(|| SystemVerdict::Unreachable(automaton.proof()), SystemVerdict::Reachable))
        }
    }
}

fn forward(pds: &Pds, run: &Run<'_>) -> Result<SystemVerdict, Stop> {
    let raw = |config: &Config| -> (Control, Vec<StackSymbol>) {
        (config.state.raw(), config.stack.iter().map(|symbol| symbol.raw()).collect())
    };
    let initial: Vec<_> = pds.initial.iter().map(raw).collect();
    let mut automaton = Saturation::new(Explicit::new(pds), &initial, run);
    let Some(hit) = automaton.run(Until::Target)? else {
        return Ok(SystemVerdict::Unreachable(proof(pds, &automaton)));
    };
    let (rules, reading) = automaton.run_to(hit)?;
    let word: Vec<StackSymbol> = reading.iter().rev().filter_map(|number| automaton.transition(*number).read).collect();
    let first = reading.last().map(|number| automaton.transition(*number).from);
    let is_start = |(control, stack): &(Control, Vec<StackSymbol>)| {
        first == Some(TransitionStart::Control(*control)) && *stack == word
    };
    let start = initial.iter().position(is_start).expect("runs begin with initial configurations");
    Ok(SystemVerdict::Reachable(PdsTrace { start, rules }))
}

/// Returns the automaton of all reachable configurations. Control states come first, then the other states in the order
/// in which they occur.
fn proof(pds: &Pds, automaton: &Saturation<'_, Explicit<'_>>) -> SystemProof {
    let mut nodes: Ordered<PostNode, ()> = Ordered::default();
    let mut number = |node: PostNode| (pds.states.len() + nodes.insert_full(node, ()).0) as u32;
    let finals = vec![number(PostNode::End)];
    let mut transition = |step: &super::post::PostTransition| Transition {
        from: match step.from {
            TransitionStart::Control(control) => control,
            TransitionStart::Node(node) => number(node),
        },
        read: step.read.map(SymbolId::from_raw),
        to: number(step.to),
    };
    let transitions = automaton.transitions.keys().map(&mut transition).collect();
    let n_nodes = (pds.states.len() + nodes.len()) as u32;
    SystemProof { closure: Closure::Successors, n_nodes, finals, transitions }
}

/// A system whose rules are listed.
struct Explicit<'p> {
    pds: &'p Pds,
    by_head: FxHashMap<(Control, StackSymbol), Vec<RuleId>>,
    targets: FxHashSet<Head>,
}

impl<'p> Explicit<'p> {
    fn new(pds: &'p Pds) -> Explicit<'p> {
        let mut by_head: FxHashMap<_, Vec<RuleId>> = FxHashMap::default();
        for (id, rule) in pds.rules.iter_enumerated() {
            by_head.entry((rule.from.raw(), rule.top.raw())).or_default().push(id);
        }
        Explicit { pds, by_head, targets: pds.targets.iter().copied().collect() }
    }
}

impl RuleSystem for Explicit<'_> {
    type Label = RuleId;

    fn moves(&mut self, control: Control, top: StackSymbol) -> Result<Vec<RuleMove<RuleId>>, Stop> {
        let step = |id: &RuleId| {
            let rule = &self.pds.rules[*id];
            let push = match rule.push[..] {
                [] => Word::Pop,
                [top] => Word::Replace(top.raw()),
                [top, below, ..] => Word::Push(top.raw(), below.raw()),
            };
            RuleMove { to: rule.to.raw(), push, label: *id }
        };
        Ok(self.by_head.get(&(control, top)).into_iter().flatten().map(step).collect())
    }

    fn is_target(&self, control: Control, top: Option<StackSymbol>) -> bool {
        self.targets.contains(&Head { state: StateId::from_raw(control), top: top.map(SymbolId::from_raw) })
    }
}
