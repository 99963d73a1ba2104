//! Automata about small random pushdown systems: the judge accepts exactly those that are closed, as the definition
//! says word for word. The automata are saturated ones, damaged in one place.

use std::collections::BTreeSet;

use selvedge_check::Run;
use selvedge_check::system::{Closure, SystemProof, Transition};
use selvedge_ir::pds::{Config, Head, Pds, Rule, StateId, SymbolId};
use selvedge_replay::certificate::{Flaw, Refused, verify_system};

use crate::random::Random;

const STATES: usize = 2;
const SYMBOLS: usize = 2;

fn names<I: index_vec::Idx>(n: usize) -> index_vec::IndexVec<I, String> {
    (0..n).map(|number| format!("n{number}")).collect()
}

fn system(random: &mut Random) -> Pds {
    let word = |random: &mut Random, most: usize| -> Vec<SymbolId> {
        (0..random.below(most + 1)).map(|_| random.below(SYMBOLS).into()).collect()
    };
    let rule = |random: &mut Random| Rule {
        from: random.below(STATES).into(),
        top: random.below(SYMBOLS).into(),
        to: random.below(STATES).into(),
        push: word(random, 2),
    };
    Pds {
        states: names(STATES),
        symbols: names(SYMBOLS),
        rules: (0..1 + random.below(4)).map(|_| rule(random)).collect(),
        initial: (0..1 + random.below(2))
            .map(|_| Config { state: random.below(STATES).into(), stack: word(random, 3) })
            .collect(),
        targets: (0..1 + random.below(2))
            .map(|_| Head {
                state: random.below(STATES).into(),
                top: (random.below(3) > 0).then(|| random.below(SYMBOLS).into()),
            })
            .collect(),
    }
}

/// The nodes that a node leads to without reading, or reading a symbol.
fn silently(proof: &SystemProof, mut nodes: BTreeSet<u32>) -> BTreeSet<u32> {
    loop {
        let more = proof.transitions.iter().filter(|step| step.read.is_none() && nodes.contains(&step.from));
        let more: Vec<u32> = more.map(|step| step.to).filter(|to| !nodes.contains(to)).collect();
        if more.is_empty() {
            return nodes;
        }
        nodes.extend(more);
    }
}

fn reads(proof: &SystemProof, from: u32, word: &[SymbolId]) -> BTreeSet<u32> {
    let mut nodes = silently(proof, BTreeSet::from([from]));
    for symbol in word {
        let steps = proof.transitions.iter().filter(|step| step.read == Some(*symbol) && nodes.contains(&step.from));
        nodes = silently(proof, steps.map(|step| step.to).collect());
    }
    nodes
}

/// The nodes of which a final one can be reached; and the greatest set of final nodes that read every symbol into it.
fn decisive(proof: &SystemProof) -> BTreeSet<u32> {
    let reach = |from: u32| {
        let mut nodes = BTreeSet::from([from]);
        for _ in 0..proof.n_nodes {
            let steps = proof.transitions.iter().filter(|step| nodes.contains(&step.from));
            let more: Vec<u32> = steps.map(|step| step.to).collect();
            nodes.extend(more);
        }
        nodes
    };
    let finals: BTreeSet<u32> = proof.finals.iter().copied().collect();
    if proof.closure == Closure::Successors {
        return (0..proof.n_nodes).filter(|node| !reach(*node).is_disjoint(&finals)).collect();
    }
    let mut all = finals;
    for _ in 0..proof.n_nodes {
        let stays =
            |node: &u32| (0..SYMBOLS).all(|symbol| !reads(proof, *node, &[SymbolId::from(symbol)]).is_disjoint(&all));
        all = all.iter().copied().filter(stays).collect();
    }
    all
}

fn expected(pds: &Pds, proof: &SystemProof) -> Result<(), Flaw> {
    if proof.n_nodes as usize > STATES + 2 * proof.transitions.len() + proof.finals.len() {
        return Err(Flaw::Malformed(None));
    }
    let is_forward = proof.closure == Closure::Successors;
    let finals: BTreeSet<u32> = proof.finals.iter().copied().collect();
    let accepts = |config: &Config| !reads(proof, config.state.raw(), &config.stack).is_disjoint(&finals);
    if let Some(number) = pds.initial.iter().position(|config| accepts(config) != is_forward) {
        return Err(Flaw::Initial(number));
    }
    let is_open = |rule: &Rule| {
        let (before, after) = (reads(proof, rule.from.raw(), &[rule.top]), reads(proof, rule.to.raw(), &rule.push));
        if is_forward { !before.is_subset(&after) } else { !after.is_subset(&before) }
    };
    if let Some(number) = pds.rules.iter().position(is_open) {
        return Err(Flaw::Rule(number));
    }
    let decisive = decisive(proof);
    let is_wrong = |head: &Head| {
        let behind = reads(proof, head.state.raw(), head.top.as_slice());
        behind.is_disjoint(&decisive) != is_forward
    };
    pds.targets.iter().position(is_wrong).map_or(Ok(()), |number| Err(Flaw::Target(number)))
}

/// An automaton for what the initial configurations lead to, or for what leads to the targets.
fn saturated(pds: &Pds, closure: Closure) -> SystemProof {
    let mut proof = SystemProof { closure, n_nodes: STATES as u32, finals: Vec::new(), transitions: Vec::new() };
    let node = |proof: &mut SystemProof| {
        proof.n_nodes += 1;
        proof.n_nodes - 1
    };
    let end = node(&mut proof);
    proof.finals.push(end);
    let step = |from: u32, read: Option<SymbolId>, to: u32| Transition { from, read, to };
    let middles: Vec<u32> = pds.rules.iter().map(|_| node(&mut proof)).collect();
    // No more nodes are allowed than may be needed.
    proof.transitions.extend(middles.iter().map(|middle| step(*middle, None, *middle)));
    if closure == Closure::Successors {
        for config in &pds.initial {
            let mut at = config.state.raw();
            for symbol in &config.stack {
                let next = node(&mut proof);
                proof.transitions.push(step(at, Some(*symbol), next));
                at = next;
            }
            proof.transitions.push(step(at, None, end));
        }
    } else {
        let symbols = || (0..SYMBOLS).map(SymbolId::from);
        proof.transitions.extend(symbols().map(|symbol| step(end, Some(symbol), end)));
        proof.transitions.extend(pds.targets.iter().map(|head| step(head.state.raw(), head.top, end)));
    }
    loop {
        let n_before = proof.transitions.len();
        for (rule, middle) in pds.rules.iter().zip(&middles) {
            let (known, from, word, to) = match closure {
                Closure::Successors => (reads(&proof, rule.from.raw(), &[rule.top]), rule.to, &rule.push[..], *middle),
                Closure::Predecessors => (reads(&proof, rule.to.raw(), &rule.push), rule.from, &[rule.top][..], 0),
            };
            for behind in known {
                let new = match word {
                    [] => vec![step(from.raw(), None, behind)],
                    [one] => vec![step(from.raw(), Some(*one), behind)],
                    [one, other, ..] => vec![step(from.raw(), Some(*one), to), step(to, Some(*other), behind)],
                };
                for step in new {
                    if !proof.transitions.contains(&step) {
                        proof.transitions.push(step);
                    }
                }
            }
        }
        if proof.transitions.len() == n_before {
            return proof;
        }
    }
}

fn damage(proof: &mut SystemProof, random: &mut Random) {
    let n_steps = proof.transitions.len();
    let node = random.below(proof.n_nodes as usize) as u32;
    match random.below(6) {
        0 if n_steps > 0 => drop(proof.transitions.remove(random.below(n_steps))),
        1 if n_steps > 0 => proof.transitions[random.below(n_steps)].to = node,
        2 if n_steps > 0 => proof.transitions[random.below(n_steps)].read = None,
        3 => proof.finals[0] = node,
        4 => proof.finals.push(node),
        _ => {
            let read = (random.below(3) > 0).then(|| random.below(SYMBOLS).into());
            let to = random.below(proof.n_nodes as usize) as u32;
            proof.transitions.push(Transition { from: node, read, to });
        }
    }
}

#[test]
fn automata_are_accepted_exactly_if_they_are_closed() {
    let mut random = Random(5);
    let mut found = [0; 4];
    for number in 0..6000 {
        let pds = system(&mut random);
        let closure = if number % 2 == 0 { Closure::Successors } else { Closure::Predecessors };
        let mut proof = saturated(&pds, closure);
        for _ in 0..random.below(3) {
            damage(&mut proof, &mut random);
        }
        let expected = expected(&pds, &proof);
        let kind = match expected {
            Ok(()) => 0,
            Err(Flaw::Initial(_)) => 1,
            Err(Flaw::Rule(_)) => 2,
            Err(_) => 3,
        };
        found[kind] += 1;
        let answer = verify_system(&pds, &proof, &Run::unlimited());
        assert_eq!(answer, expected.map_err(Refused::from), "{pds:?} {proof:?}");
    }
    assert!(found.iter().all(|number| *number > 200), "{found:?}");
}

#[test]
fn automata_speak_of_states_and_symbols_that_there_are() {
    let pds = Pds { states: names(2), symbols: names(1), ..Pds::default() };
    let proof = |n_nodes: u32, finals: &[u32], steps: &[(u32, Option<usize>, u32)]| SystemProof {
        closure: Closure::Successors,
        n_nodes,
        finals: finals.to_vec(),
        transitions: steps
            .iter()
            .map(|(from, read, to)| Transition { from: *from, read: read.map(SymbolId::from), to: *to })
            .collect(),
    };
    let judged = |proof: SystemProof| verify_system(&pds, &proof, &Run::unlimited());
    for (n_nodes, finals, steps) in [
        (2, &[][..], &[][..]),
        (3, &[2], &[]),
        (2, &[1], &[(0, Some(0), 1)]),
        (4, &[], &[(2, None, 3)]),
        (4, &[], &[(0, None, 3)]),
        (5, &[4], &[(2, None, 3)]),
        (6, &[], &[(2, None, 3), (4, Some(0), 5)]),
    ] {
        assert_eq!(judged(proof(n_nodes, finals, steps)), Ok(()), "{n_nodes} {finals:?} {steps:?}");
    }
    for (n_nodes, finals, steps) in [
        (1, &[][..], &[][..]),
        (3, &[], &[]),
        (4, &[3], &[]),
        (5, &[], &[(2, None, 3)]),
        (6, &[4], &[(2, None, 3)]),
        (2, &[2], &[]),
        (2, &[], &[(0, None, 2)]),
        (2, &[], &[(2, None, 0)]),
        (2, &[], &[(0, Some(1), 1)]),
    ] {
        let refused = judged(proof(n_nodes, finals, steps));
        assert_eq!(refused, Err(Flaw::Malformed(None).into()), "{n_nodes} {finals:?} {steps:?}");
    }
}

/// The flaws in the names of the system.
#[test]
fn flaws_of_automata_are_shown_with_names() {
    let (one, other): (StateId, StateId) = (0.into(), 1.into());
    let pds = Pds {
        states: ["one", "other"].map(String::from).into_iter().collect(),
        symbols: ["a"].map(String::from).into_iter().collect(),
        rules: [Rule { from: one, top: 0.into(), to: other, push: Vec::new() }].into_iter().collect(),
        initial: vec![Config { state: one, stack: vec![0.into()] }],
        targets: vec![Head { state: other, top: None }],
    };
    let shown = [Flaw::Initial(0), Flaw::Rule(0), Flaw::Target(0), Flaw::Malformed(None), Flaw::Rule(9), Flaw::Step];
    let shown: Vec<String> = shown.iter().map(|flaw| flaw.show(&pds)).collect();
    let config = pds.show(&pds.initial[0]);
    let rule = pds.show_rule(&pds.rules[selvedge_ir::pds::RuleId::from(0_usize)]);
    let expected = [
        format!("the initial configuration {config} is on the wrong side"),
        format!("it is not closed under {rule}"),
        format!("the target {} is on the wrong side", pds.show_head(pds.targets[0])),
        "it speaks of states or symbols that are not there".to_string(),
        "it is not closed under rule 9".to_string(),
        "its induction step does not hold".to_string(),
    ];
    assert_eq!(shown, expected);
}
