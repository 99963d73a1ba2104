//! Why an assertion fails: the values of all parts of its condition.

use selvedge_ir::eval::eval;
use selvedge_ir::{EdgeId, Expr, Op, Value};

use super::Session;
use crate::annotated_trace::{Operand, ReachedError};
use crate::condition::condition;
use crate::names::shown;

/// The most parts that are listed.
const MAX_PARTS: usize = 40;

impl Session<'_> {
    /// The parts of the assertion that the last step fails, each once with its value, wholes before parts.
    ///
    /// A condition of C is in pieces: for it, the variables are listed that it reads.
    pub fn parts(&self, edge: EdgeId) -> Vec<(String, String)> {
        if let (true, Some(ReachedError::Assertion { operands, .. })) =
            (self.context.map.several_steps, self.ending.as_ref().map(|ending| &ending.error))
        {
            let part = |one: &Operand| (one.name.clone(), shown(one.value, one.word.as_ref()));
            return operands.iter().map(part).collect();
        }
        let (Op::Assert(asserted), Some(step)) = (&self.context.program.edges[edge].op, self.steps.last()) else {
            return Vec::new();
        };
        let state = self.state(self.len());
        let Some(thread) = state.thread(step.thread) else { return Vec::new() };
        let visible = self.annotator.visible(state, thread);
        let leaf = |leaf: &Expr| match leaf {
            Expr::Choice(number, _) => step.choices.get(*number as usize).copied(),
            Expr::Var(var) => visible.iter().find(|binding| binding.var == *var).map(|binding| binding.value),
            _ => None,
        };
        let mut parts: Vec<(String, String)> = Vec::new();
        let mut open = vec![asserted];
        while let Some(part) = open.pop() {
            let found = eval(part, &|one| leaf(one).unwrap_or(Value::Bool(false)));
            let text = condition(self.context, part);
            let is_constant = matches!(part, Expr::Bool(_) | Expr::Int(_));
            if let Ok(found) = found
                && !is_constant
                && parts.iter().all(|(known, _)| *known != text)
            {
                let word = match part {
                    Expr::Var(var) => visible.iter().find(|binding| binding.var == *var),
                    _ => None,
                };
                parts.push((text, shown(found, word.and_then(|binding| binding.word.as_ref()))));
            }
            let operands: Vec<&Expr> = part.operands().collect();
            open.extend(operands.into_iter().rev());
            if parts.len() >= MAX_PARTS {
                break;
            }
        }
        parts
    }
}
