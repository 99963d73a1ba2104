//! Evidence about pushdown systems.

use std::collections::{BTreeSet, VecDeque};

use selvedge_check::Run;
use selvedge_engines::pushdown::{Direction, SystemVerdict, check};
use selvedge_frontend::Source;
use selvedge_ir::pds::{Config, Head, Pds, Rule, StateId, SymbolId};
use selvedge_replay::certificate::{Accepted, verify_system};
use selvedge_report::json::SystemCertificateFile;
use serde::Deserialize;
use serde_json::Value;

use super::forge::Piece;
use super::{Court, Effort, Ruling, Trial, Truth};
use crate::harness::{Fault, Tally, fault};
use crate::rng::Rng;
use crate::systems::{Opinion, opinion};

/// The limits of the search.
const CONFIGS: usize = 1_000;
const HEIGHT: usize = 6;

/// The height of the stacks that the oracle for proofs tries.
const TRIED: usize = 2;

pub(super) struct SystemCourt;

impl Court for SystemCourt {
    type Asked = Pds;

    fn edited(&self, rng: &mut Rng, pds: &Pds) -> Option<Pds> {
        let mut edited = pds.clone();
        let state = StateId::new(rng.below(pds.states.len()));
        let n_pushed = rng.below(3);
        let push: Vec<SymbolId> = (0..n_pushed).map(|_| SymbolId::new(rng.below(pds.symbols.len()))).collect();
        let top = SymbolId::new(rng.below(pds.symbols.len()));
        let at = rng.below(pds.rules.len().max(1));
        match (rng.below(6), edited.rules.iter_mut().nth(at)) {
            (0, Some(rule)) => rule.to = state,
            (1, Some(rule)) => rule.push = push,
            (2, Some(rule)) => (rule.from, rule.top) = (state, top),
            (3, _) => edited.initial.push(Config { state, stack: push }),
            (4, _) => edited.targets.push(Head { state, top: rng.coin().then_some(top) }),
            _ => {
                let to = StateId::new(rng.below(pds.states.len()));
                edited.rules.push(Rule { from: state, top, to, push });
            }
        }
        (edited != *pds).then_some(edited)
    }

    /// Searches breadth-first, up to a height of stacks.
    fn search(&self, pds: &Pds) -> Truth {
        let mut seen: BTreeSet<Config> = pds.initial.iter().cloned().collect();
        let mut waiting: VecDeque<Config> = seen.iter().cloned().collect();
        let mut is_whole = true;
        while let Some(config) = waiting.pop_front() {
            if pds.targets.iter().any(|head| head.holds(&config)) {
                return Truth::Unsafe;
            }
            for next in pds.rules.indices().filter_map(|rule| pds.apply(rule, &config)) {
                if next.stack.len() > HEIGHT || seen.len() > CONFIGS {
                    is_whole = false;
                } else if seen.insert(next.clone()) {
                    waiting.push_back(next);
                }
            }
        }
        if is_whole { Truth::Safe } else { Truth::Open }
    }

    fn rule(&self, pds: &Pds, file: &Value) -> Result<Ruling, Fault> {
        let read = SystemCertificateFile::deserialize(file).ok().and_then(|file| file.proof(pds).ok());
        let Some(proof) = read else { return Ok(Ruling::Unreadable) };
        let answer = verify_system(pds, &proof, &Run::unlimited()).map(|()| Accepted::Certified);
        let ruling = Ruling::of(&answer);
        if ruling == Ruling::Accepted && opinion(pds, &proof, TRIED) != Opinion::Accepted {
            return fault("opinion", "accepted, but matrices over all pairs of states show a flaw");
        }
        Ok(ruling)
    }

    fn show(&self, pds: &Pds) -> String {
        format!("{pds:?}")
    }
}

impl SystemCourt {
    pub(super) fn try_proofs(
        &self,
        kind: &'static str,
        pds: &Pds,
        rng: &mut Rng,
        tally: &mut Tally,
    ) -> Result<(), Fault> {
        let source = Source::new("system.pds", String::new());
        let found = |pds: &Pds, rng: &mut Rng| {
            let direction = if rng.coin() { Direction::Forward } else { Direction::Backward };
            match check(pds, direction, &Run::unlimited()) {
                Ok(SystemVerdict::Unreachable(proof)) => {
                    let file = SystemCertificateFile::new(&source, pds, &proof);
                    Some(Piece::new(serde_json::to_value(file).expect("certificates are JSON")))
                }
                _ => None,
            }
        };
        let Some(piece) = found(pds, rng) else { return Ok(()) };
        let donor = self.edited(rng, pds).and_then(|edited| found(&edited, rng));
        let effort = Effort { edits: 12, forgeries: [60, 15] };
        Trial { kind, court: self, effort, donors: donor.into_iter().collect() }.run(pds, &piece, rng, tally)
    }
}
