//! The threads of a deadlock: where each waits, and for what.

use selvedge_ir::trace::ThreadId;
use selvedge_ir::{Expr, LocId, Op, VarId};
use selvedge_replay::State;

use crate::Position;
use crate::annotated_trace::{Annotator, Operand};
use crate::leaves::read;
use crate::thread_names::ThreadNames;
use crate::views::Holders;

/// A thread that waits.
#[derive(Clone, Debug)]
pub struct Wait {
    pub thread: ThreadId,
    pub name: String,
    /// The position of the first statement that it cannot make; `None` where no statement follows.
    pub position: Option<Position>,
    /// The statements that it cannot make.
    pub text: String,
    /// The variables in the conditions of these statements, with their values.
    pub operands: Vec<Operand>,
    /// The other thread that holds the atomic flag, if one does: then the conditions do not matter.
    pub holder: Option<String>,
}

impl Wait {
    /// `line 12: assume(!fork1), with fork1 = 1`.
    pub fn what(&self) -> String {
        let line = self.position.map(|at| format!("line {}: ", at.line)).unwrap_or_default();
        let values: Vec<String> = self.operands.iter().map(Operand::text).collect();
        match (&self.holder, values.is_empty()) {
            (Some(holder), _) => format!("{line}{}, while {holder} holds the atomic flag", self.text),
            (None, true) => format!("{line}{}", self.text),
            (None, false) => format!("{line}{}, with {}", self.text, values.join(", ")),
        }
    }

    /// `philosopher#2 waits at line 12: assume(!fork1), with fork1 = 1`.
    pub fn sentence(&self) -> String {
        let at = if self.position.is_some() { " at" } else { ":" };
        format!("{} waits{at} {}", self.name, self.what())
    }
}

impl Annotator<'_> {
    /// Tells what a thread of a deadlock waits for.
    pub(crate) fn wait(&self, names: &ThreadNames, state: &State, thread: ThreadId, loc: LocId) -> Wait {
        let mut texts: Vec<String> = Vec::new();
        for edge in self.leaving(loc) {
            let text = self.text(*edge);
            texts.extend(Some(text).filter(|text| !texts.contains(text)));
        }
        let is_last = texts.is_empty();
        let holder = state.holder.filter(|holder| *holder != thread).map(|holder| names.of(holder));
        Wait {
            thread,
            name: names.of(thread),
            position: self.place(loc).map(|span| self.position(span)),
            text: if is_last { "no statement follows".to_string() } else { texts.join(" or ") },
            operands: if holder.is_some() { Vec::new() } else { self.blocking(state, thread, loc) },
            holder,
        }
    }

    /// Lists the variables in the conditions of the steps of a thread, each once, with their values.
    fn blocking(&self, state: &State, thread: ThreadId, loc: LocId) -> Vec<Operand> {
        if let Some(system) = &self.context().map.system {
            let shared = self.shared(&Holders::new(), state).into_iter().filter(|_| system.net.is_none());
            return shared.map(|of| Operand { name: of.name, value: of.value, word: of.word }).collect();
        }
        let visible = state.thread(thread).map_or(Vec::new(), |thread| self.visible(state, thread));
        let mut operands: Vec<Operand> = Vec::new();
        for edge in self.leaving(loc) {
            let Op::Assign(assign) = self.op(*edge) else { continue };
            let binding = |var: VarId| visible.iter().find(|binding| binding.var == var);
            let is_assigned = |var: VarId| assign.active.iter().any(|(assigned, _)| *assigned == var);
            let value = |leaf: &Expr| match leaf {
                Expr::Var(var) => binding(*var).map(|binding| binding.value),
                Expr::Next(var) if !is_assigned(*var) => binding(*var).map(|binding| binding.value),
                _ => None,
            };
            for leaf in read(&assign.constrain, &value) {
                let var = match leaf {
                    Expr::Var(var) => var,
                    Expr::Next(var) if !is_assigned(var) => var,
                    _ => continue,
                };
                let operand =
                    binding(var).map(|of| Operand { name: of.name.clone(), value: of.value, word: of.word.clone() });
                operands.extend(operand.filter(|operand| !operands.contains(operand)));
            }
        }
        operands
    }
}
