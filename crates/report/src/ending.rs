//! The error at the end of an execution.

use selvedge_ir::span::{Role, Span};
use selvedge_ir::trace::{Step, ThreadId};
use selvedge_ir::{Expr, LocId, Op};
use selvedge_replay::{State, Violation};

use crate::annotated_trace::{Annotator, Binding, Ending, Execution, Operand, ReachedError, Stand};
use crate::leaves::read;
use crate::names::{count, shown};
use crate::thread_names::ThreadNames;
use crate::views::{Holders, depth, is_hidden};
use crate::waits::Wait;

impl Annotator<'_> {
    pub(crate) fn ending(&self, names: &ThreadNames, violation: &Violation, execution: Execution<'_>) -> Ending {
        let last = execution.states.last().unwrap_or(execution.start);
        let (thread, span, error) = match violation {
            &Violation::Assert { thread, edge } => {
                let mut operands = self.operands(execution, last);
                if operands.is_empty() && self.context().map.several_steps {
                    operands = self.read_last(execution);
                }
                (thread, self.context().map.edges[edge].span, ReachedError::Assertion { edge, operands })
            }
            &Violation::Location { thread, .. } if self.target(names, execution).is_some() => {
                let (span, states) = self.target(names, execution).expect("there is one");
                (thread, span, ReachedError::Target { states })
            }
            &Violation::Location { thread, loc } => {
                (thread, self.place(loc).unwrap_or_default(), ReachedError::Location { labels: self.labels(loc) })
            }
            Violation::Together(stands) => {
                let (thread, loc) = stands.first().copied().expect("a meeting has threads");
                let stands = stands.iter().map(|(thread, loc)| self.stand(names, *thread, *loc));
                (thread, self.place(loc).unwrap_or_default(), ReachedError::Together(stands.collect()))
            }
            Violation::Deadlock(waiting) => {
                let (thread, loc) = waiting.first().copied().expect("a thread of a deadlock is alive");
                let waits = waiting.iter().map(|(thread, loc)| self.wait(names, last, *thread, *loc));
                (thread, self.place(loc).unwrap_or_default(), ReachedError::Deadlock(waits.collect()))
            }
        };
        let calling = last.thread(thread).filter(|thread| thread.stack.len() > 1);
        let calling = calling.filter(|thread| depth(self.context().map, thread) > 0);
        Ending {
            thread,
            name: names.of(thread),
            callee: calling.map(|thread| self.proc_name(thread.top().proc).to_string()),
            position: self.context().source.position_in_file(span.start as usize),
            span,
            text: self.context().source.flat(span),
            note: self.failure(names, &error, execution),
            error,
        }
    }

    /// Returns what is wrong where a check fails; for data races with the access of the other thread.
    fn failure(&self, names: &ThreadNames, error: &ReachedError, execution: Execution<'_>) -> Option<String> {
        let ReachedError::Assertion { edge, .. } = error else { return None };
        let (map, edges) = (self.context().map, &self.context().program.edges);
        let note = map.notes.get(edge)?;
        let is_other =
            |step: &&Step| !matches!(edges[step.edge].op, Op::Assert(_)) && map.notes.contains_key(&step.edge);
        match execution.steps.iter().rev().find(is_other).filter(|_| note.starts_with("data race")) {
            Some(step) => {
                let start = map.edges[step.edge].span.start as usize;
                let line = self.context().source.position_in_file(start).line;
                Some(format!("{note}, while {} {} on line {line}", names.of(step.thread), map.notes[&step.edge]))
            }
            None => Some(note.clone()),
        }
    }

    /// Returns the target of a system that an execution covers in its last steps, with the states that it asks for.
    fn target(&self, names: &ThreadNames, execution: Execution<'_>) -> Option<(Span, Vec<Operand>)> {
        let system = self.context().map.system.as_ref()?;
        let is_aside = |step: &&Step| system.aside.contains(&step.edge);
        let n_aside = execution.steps.iter().rev().take_while(is_aside).count();
        let first = execution.steps.len() - n_aside;
        let span = self.context().map.edges[execution.steps.last().filter(is_aside)?.edge].span;
        let state = first.checked_sub(1).map_or(Some(execution.start), |last| execution.states.get(last))?;
        let operand = |name: String, binding: Binding| Operand { name, value: binding.value, word: binding.word };
        let shared = self.shared(&Holders::new(), state).into_iter();
        let shared = shared.filter(|binding| system.net.is_none() || binding.value.number() != 0);
        let mut states: Vec<Operand> = shared.map(|binding| operand(binding.name.clone(), binding)).collect();
        for thread in execution.steps[first..].iter().filter_map(|step| state.thread(step.thread)) {
            let locals = self.thread_vars(thread).into_iter();
            states.extend(locals.map(|local| operand(format!("{}'s {}", names.of(thread.id), local.name), local)));
        }
        Some((span, states))
    }

    fn labels(&self, loc: LocId) -> Vec<String> {
        let labels = self.context().program.labels.iter().filter(|label| label.loc == loc);
        let mut labels: Vec<String> = labels.map(|label| label.name.clone()).collect();
        labels.sort();
        labels.dedup();
        labels
    }

    fn stand(&self, names: &ThreadNames, thread: ThreadId, loc: LocId) -> Stand {
        let position = self.position(self.place(loc).unwrap_or_default());
        Stand { thread, name: names.of(thread), position, labels: self.labels(loc) }
    }

    /// Returns the condition that does not hold in the end, and the step that decided it. What is wrong with a value or
    /// an index is decided one step before the assertion that fails.
    fn failing_condition<'e>(&self, execution: Execution<'e>) -> Option<(&'e Step, &Expr)> {
        let program = self.context().program;
        let last = execution.steps.last()?;
        let Op::Assert(condition) = &program.edges[last.edge].op else { return None };
        if self.context().map.edges[last.edge].role != Role::Violation {
            return Some((last, condition));
        }
        let before = execution.steps.iter().rev().skip(1).find(|step| step.thread == last.thread)?;
        match &program.edges[before.edge].op {
            Op::Assign(assign) => Some((before, &assign.constrain)),
            _ => None,
        }
    }

    /// The values that made the last step fail: each variable of its condition once, and each choice.
    fn operands(&self, execution: Execution<'_>, last: &State) -> Vec<Operand> {
        let Some((step, condition)) = self.failing_condition(execution) else { return Vec::new() };
        let values = last.thread(step.thread).map_or(Vec::new(), |thread| self.visible(last, thread));
        let value = |leaf: &Expr| match leaf {
            Expr::Var(var) => values.iter().find(|binding| binding.var == *var).map(|binding| binding.value),
            Expr::Choice(number, _) => step.choices.get(*number as usize).copied(),
            _ => None,
        };
        let mut operands: Vec<Operand> = Vec::new();
        read(condition, &value).iter().for_each(|leaf| match leaf {
            Expr::Var(var) if is_hidden(self.context().map, *var) => {
                let found = self.came_from(execution, step.thread, *var).into_iter();
                operands.extend(found.filter(|operand| !operands.contains(operand)).collect::<Vec<_>>());
            }
            Expr::Var(var) => {
                let value = values.iter().find(|binding| binding.var == *var);
                let operand = value.map(|binding| Operand {
                    name: binding.name.clone(),
                    value: binding.value,
                    word: binding.word.clone(),
                });
                let new = operand.filter(|operand| !operands.contains(operand));
                operands.extend(new);
            }
            Expr::Choice(number, _) => {
                let value = step.choices.get(*number as usize).copied();
                operands.extend(value.map(|value| Operand { name: "*".to_string(), value, word: None }));
            }
            _ => {}
        });
        operands
    }
}

impl Operand {
    /// Returns the name with the value: `x = 1`.
    pub fn text(&self) -> String {
        format!("{} = {}", self.name, self.value_text())
    }

    /// Returns the value, by its name if it has one.
    pub fn value_text(&self) -> String {
        shown(self.value, self.word.as_ref())
    }
}

impl Ending {
    /// Returns the kind of error: the rule that it breaks.
    pub fn rule(&self) -> &'static str {
        match &self.error {
            ReachedError::Assertion { .. } => "assertion",
            ReachedError::Location { .. } | ReachedError::Target { .. } => "label",
            ReachedError::Together(_) => "meeting",
            ReachedError::Deadlock(_) => "deadlock",
        }
    }

    /// Returns a sentence about the error, which an execution of so many statements ends in.
    pub fn sentence(&self, n_steps: usize) -> String {
        match &self.error {
            ReachedError::Assertion { operands, .. } => {
                let values: Vec<String> = operands.iter().map(Operand::text).collect();
                let with = if values.is_empty() { String::new() } else { format!(" with {}", values.join(", ")) };
                let what = self.note.as_ref().map_or("fails".to_string(), |note| format!("fails: {note}"));
                format!("`{}` {what}{with}, after {}.", self.text, count(n_steps, "step"))
            }
            ReachedError::Location { labels } => format!("Label {} is reached.", labels.join(", ")),
            ReachedError::Target { .. } => format!("The target `{}` is covered.", self.text),
            ReachedError::Together(stands) => format!("{} threads meet.", stands.len()),
            ReachedError::Deadlock(waits) => {
                let waits: Vec<String> = waits.iter().map(Wait::sentence).collect();
                format!("No thread can move: {}.", waits.join("; "))
            }
        }
    }
}
