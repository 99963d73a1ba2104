//! Warnings about conditions in atomic sections that only another thread could make true.
//!
//! While a thread is in an atomic section, no other thread runs. If it then waits for a condition that does not hold,
//! it waits forever, and with it all others: the section is not given up. Whoever writes `atomic_begin; assume(!l); l
//! := 1; atomic_end` means a lock, and gets a program in which most executions end here, so that errors behind it stay
//! hidden.
//!
//! A statement is reported if it waits for a condition on the old values of shared variables that the section has not
//! assigned before, and if it is not one of the alternatives of a `goto` or of `if *`, where the thread need not wait.

use std::collections::BTreeMap;

use rustc_hash::FxHashSet;
use selvedge_ir::flow::Flow;
use selvedge_ir::span::{Role, Span};
use selvedge_ir::{EdgeId, Expr, LocId, Op, Scope, VarId};

use super::Lowering;
use crate::diagnostic::{Code, Diagnostic};

impl Lowering<'_> {
    /// Reports statements in atomic sections that can stop all threads.
    pub(super) fn warn_of_traps(&mut self) {
        let program = &self.found.program;
        let is_begin = |edge: &EdgeId| {
            program.edges[*edge].op == Op::AtomicBegin && self.found.map.edges[*edge].role == Role::Statement
        };
        let begins: Vec<EdgeId> = program.edges.indices().filter(is_begin).collect();
        if begins.is_empty() {
            return;
        }
        let flow = Flow::new(program);
        let mut traps: BTreeMap<EdgeId, Span> = BTreeMap::new();
        for begin in begins {
            for trap in self.traps_of(begin, &flow) {
                traps.entry(trap).or_insert(self.found.map.edges[begin].span);
            }
        }
        for (edge, begin) in traps {
            let message = "if this does not hold, all threads wait forever";
            let help = "an atomic section is not given up; wait and act in one step, `lock(x)` or \
                        `x := 1 constrain !x`, or wait before the section";
            let diagnostic = Diagnostic::new(Code::TrapInSection, message, self.found.map.edges[edge].span)
                .label("no other thread can make it true")
                .also(begin, "the section begins here")
                .help(help);
            self.report(diagnostic);
        }
    }

    /// Returns the edges of a section that can stop all threads. Each location is visited once, so this ends; what was
    /// assigned before is what the section assigns anywhere on a shortest way to it.
    fn traps_of(&self, begin: EdgeId, flow: &Flow) -> Vec<EdgeId> {
        let program = &self.found.program;
        let mut traps = Vec::new();
        let mut seen: FxHashSet<LocId> = FxHashSet::default();
        let mut waiting = vec![(program.edges[begin].to, Vec::<VarId>::new(), false)];
        while let Some((loc, assigned, is_alternative)) = waiting.pop() {
            if !seen.insert(loc) {
                continue;
            }
            for id in flow.out(loc) {
                let edge = &program.edges[*id];
                let mut assigned = assigned.clone();
                match &edge.op {
                    Op::AtomicEnd | Op::Return(_) | Op::End => continue,
                    Op::Assign(assign) => {
                        let is_statement = self.found.map.edges[*id].role == Role::Statement;
                        // The condition of a step that may be an error is not one that the user wrote.
                        let is_checked = flow.out(loc).iter().any(|way| self.is_violation(*way));
                        let may_wait = is_statement && !is_alternative && !is_checked;
                        if may_wait && self.waits_for_others(&assign.constrain, &assigned) {
                            traps.push(*id);
                        }
                        assigned.extend(assign.active.iter().map(|(var, _)| *var));
                    }
                    _ => {}
                }
                waiting.push((edge.to, assigned, self.is_one_of_several(loc, flow)));
            }
        }
        traps
    }

    fn is_violation(&self, edge: EdgeId) -> bool {
        self.found.map.edges[edge].role == Role::Violation
    }

    /// Returns whether a thread at a location chooses one of several ways.
    fn is_one_of_several(&self, loc: LocId, flow: &Flow) -> bool {
        let program = &self.found.program;
        let ways = flow.out(loc).iter().filter(|edge| !self.is_violation(**edge));
        let chooses = |edge: &EdgeId| match (&program.edges[*edge].op, self.found.map.edges[*edge].role) {
            (Op::Assign(assign), Role::Holds | Role::Fails) => {
                assign.constrain.any_leaf(|leaf| matches!(leaf, Expr::Choice(..)))
            }
            _ => true,
        };
        ways.clone().count() > 1 && ways.copied().any(|edge| chooses(&edge))
    }

    /// Returns whether a condition is one on old values, among them those of shared variables that are not assigned.
    fn waits_for_others(&self, condition: &Expr, assigned: &[VarId]) -> bool {
        let is_of_others = |leaf: &Expr| match leaf {
            Expr::Var(var) => self.scope(*var) == Scope::Shared && !assigned.contains(var),
            _ => false,
        };
        let is_open = |leaf: &Expr| matches!(leaf, Expr::Next(_) | Expr::PassiveNext(_) | Expr::Choice(..));
        condition.any_leaf(is_of_others) && !condition.any_leaf(is_open)
    }
}
