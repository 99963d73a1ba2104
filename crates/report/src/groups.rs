//! Steps of one statement as one, for languages whose statements have several, and what the first ones read.
//!
//! Steps are put together that one thread makes in a row and that belong to one statement. Steps of procedures that the
//! source does not have are part of what is shown before them: nobody can see what they do.

use selvedge_ir::eval::eval;
use selvedge_ir::span::{Role, SystemMap};
use selvedge_ir::trace::{Step, ThreadId};
use selvedge_ir::{Assign, EdgeId, Expr, Op, Scope, Value, VarId};
use selvedge_replay::State;

use crate::annotated_trace::{AnnotatedStep, AnnotatedTrace, Annotator, Binding, Context, Event, Execution, Operand};
use crate::system_vars::is_inside;
use crate::views::{Holders, is_hidden};

impl AnnotatedTrace {
    /// Tells an execution in statements.
    pub fn by_statements(context: Context<'_>, execution: Execution<'_>) -> AnnotatedTrace {
        let mut annotated = AnnotatedTrace::new(context, execution);
        if let Some(system) = &context.map.system {
            annotated.steps = by_rules(system, execution, std::mem::take(&mut annotated.steps));
        } else if context.map.several_steps {
            let annotator = Annotator::new(context);
            annotated.steps = grouped(&annotator, std::mem::take(&mut annotated.steps));
        } else {
            let is_assertion = |edge: EdgeId| matches!(context.program.edges[edge].op, Op::Assert(_));
            annotated.steps.retain(|step| step.role != Role::Violation || is_assertion(step.edge));
        }
        annotated
    }
}

/// Puts the steps of a rule of a system together, and leaves out those that notice that a target is covered. In a net,
/// different threads make the steps of a rule: its tokens.
fn by_rules(system: &SystemMap, execution: Execution<'_>, steps: Vec<AnnotatedStep>) -> Vec<AnnotatedStep> {
    let mut groups: Vec<AnnotatedStep> = Vec::new();
    let mut is_open = false;
    for mut step in steps.into_iter().filter(|step| !system.aside.contains(&step.edge)) {
        if system.net.is_some() {
            step.events.clear();
        }
        let (number, thread) = (step.last, step.thread);
        match groups.last_mut().filter(|_| is_open) {
            Some(group) => {
                (group.thread, group.name) = (step.thread, step.name.clone());
                absorb(group, step);
            }
            None => groups.push(step),
        }
        is_open = execution.states.get(number).is_some_and(|state| is_inside(system, state, thread));
    }
    groups.iter_mut().for_each(|group| group.atomic = false);
    groups
}

/// Puts the steps of a statement together.
fn grouped(annotator: &Annotator<'_>, steps: Vec<AnnotatedStep>) -> Vec<AnnotatedStep> {
    let mut groups: Vec<AnnotatedStep> = Vec::new();
    // The edges of the last group: an edge that comes again begins the next one.
    let mut edges = Vec::new();
    for step in steps {
        let is_unseen = annotator.is_unseen(step.edge);
        match groups.last_mut() {
            Some(group) if is_unseen => group.last = step.last,
            Some(group) if belongs(annotator, group, &step) && !edges.contains(&step.edge) => {
                edges.push(step.edge);
                absorb(group, step);
            }
            _ => {
                edges = vec![step.edge];
                groups.push(step);
            }
        }
    }
    groups.iter_mut().for_each(tidy);
    without_beginnings(annotator, groups)
}

/// Leaves out the beginnings of statements that go on later and have done nothing yet, and declarations that change
/// nothing.
fn without_beginnings(annotator: &Annotator<'_>, groups: Vec<AnnotatedStep>) -> Vec<AnnotatedStep> {
    let mut kept: Vec<AnnotatedStep> = Vec::new();
    let mut rest = groups.into_iter();
    while let Some(group) = rest.next() {
        let next = rest.as_slice().iter().find(|other| other.thread == group.thread);
        let goes_on = next.is_some_and(|next| belongs(annotator, &group, next) && next.edge != group.edge);
        let is_idle = group.events.is_empty() && group.changes.is_empty();
        let declares = annotator.declares(&group);
        match kept.last_mut() {
            Some(before) if is_idle && (goes_on || declares) => before.last = group.last,
            None if is_idle && declares => {}
            _ => kept.push(group),
        }
    }
    kept
}

fn belongs(annotator: &Annotator<'_>, group: &AnnotatedStep, step: &AnnotatedStep) -> bool {
    let map = annotator.context().map;
    let is_same = map.edges[group.edge].span == map.edges[step.edge].span;
    is_same && (group.thread, group.depth, &group.proc) == (step.thread, step.depth, &step.proc)
}

/// Adds a step to a group. A variable that gets its old value again has not changed.
fn absorb(group: &mut AnnotatedStep, step: AnnotatedStep) {
    for change in step.changes {
        let known = group.changes.iter_mut().find(|known| (known.var, &known.of) == (change.var, &change.of));
        match known {
            Some(known) => {
                (known.after, known.free) = (change.after, change.free);
                known.words[1].clone_from(&change.words[1]);
            }
            None => group.changes.push(change),
        }
    }
    group.changes.retain(|change| change.before != Some(change.after));
    group.events.extend(step.events);
    group.atomic |= step.atomic;
    group.idle &= step.idle;
    (group.edge, group.role, group.last) = (step.edge, step.role, step.last);
}

/// Leaves out what was read, unless nothing else happened, and all conditions but the one of the whole statement.
fn tidy(group: &mut AnnotatedStep) {
    let is_condition = |event: &Event| matches!(event, Event::Condition(_));
    let last = group.events.iter().rposition(is_condition).filter(|_| matches!(group.role, Role::Holds | Role::Fails));
    let mut number = 0;
    group.events.retain(|event| {
        number += 1;
        !is_condition(event) || last == Some(number - 1)
    });
    let is_read = |event: &Event| matches!(event, Event::Reads(_));
    if !group.changes.is_empty() || !group.events.iter().all(is_read) {
        group.events.retain(|event| !is_read(event));
    }
}

impl Annotator<'_> {
    /// Returns whether a step is a declaration: its text is the name of the variable that it sets.
    fn declares(&self, step: &AnnotatedStep) -> bool {
        let Op::Assign(Assign { active, .. }) = self.op(step.edge) else { return false };
        let is_declared = |var: VarId| {
            let name = &self.context().program.vars[var].name;
            name.strip_prefix(step.text.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with(['[', '.']))
        };
        active.first().is_some_and(|(var, _)| is_declared(*var))
    }

    /// Returns what a function without a body returned in a step.
    pub(crate) fn input(&self, step: &Step) -> Option<Event> {
        let function = self.context().map.inputs.get(&step.edge)?.clone();
        let value = step.choices.first().copied()?;
        Some(Event::Input { function, value, free: false })
    }

    /// Returns the shared variables whose values a step keeps for later.
    pub(crate) fn reads(&self, step: &Step, before: &State) -> Option<Event> {
        let Op::Assign(Assign { active, .. }) = self.op(step.edge) else { return None };
        let kept = active.iter().filter(|(var, _)| is_hidden(self.context().map, *var));
        let read: Vec<Binding> = kept.flat_map(|(_, rhs)| self.read_by(rhs, step, before)).collect();
        (!read.is_empty()).then_some(Event::Reads(read))
    }

    /// Returns the variables of the source that a step writes without changing them: for a reader, that is news.
    pub(crate) fn keeps(&self, step: &Step, before: &State) -> Option<Event> {
        let Op::Assign(Assign { active, .. }) = self.op(step.edge) else { return None };
        if !self.context().map.several_steps {
            return None;
        }
        let leaf = self.leaf(step, before)?;
        let mut kept = Vec::new();
        for (var, rhs) in active.iter().filter(|(var, _)| self.is_shown(*var)) {
            let mut written = rhs;
            while let Expr::Ite(parts) = written {
                let holds = eval(&parts.0, &leaf).ok()? == Value::Bool(true);
                written = if holds { &parts.1 } else { &parts.2 };
            }
            let old = leaf(&Expr::Var(*var));
            if *written != Expr::Var(*var) && eval(written, &leaf).ok()? == old {
                kept.push(self.binding(&Holders::new(), *var, old));
            }
        }
        (!kept.is_empty()).then_some(Event::Keeps(kept))
    }

    /// Returns whether a variable is a shared one of the source.
    fn is_shown(&self, var: VarId) -> bool {
        self.context().program.vars[var].scope == Scope::Shared && !is_hidden(self.context().map, var)
    }

    /// Returns the values of variables and choices before a step.
    fn leaf(&self, step: &Step, before: &State) -> Option<impl Fn(&Expr) -> Value> {
        let visible = self.visible(before, before.thread(step.thread)?);
        let choices = step.choices.clone();
        let value = move |leaf: &Expr| match leaf {
            Expr::Var(var) => visible.iter().find(|binding| binding.var == *var).map(|binding| binding.value),
            Expr::Choice(number, _) => choices.get(*number as usize).copied(),
            _ => None,
        };
        Some(move |leaf: &Expr| value(leaf).unwrap_or(Value::Bool(false)))
    }

    /// Returns the shared variables that the value of an expression comes from.
    fn read_by(&self, expr: &Expr, step: &Step, before: &State) -> Vec<Binding> {
        let Some(leaf) = self.leaf(step, before) else { return Vec::new() };
        let (mut open, mut found) = (vec![expr], Vec::new());
        while let Some(part) = open.pop() {
            match part {
                Expr::Ite(parts) => match eval(&parts.0, &leaf) {
                    Ok(Value::Bool(holds)) => open.push(if holds { &parts.1 } else { &parts.2 }),
                    _ => return Vec::new(),
                },
                Expr::Var(var) => found.push(*var),
                part => open.extend(part.operands()),
            }
        }
        let shown = found.into_iter().filter(|var| self.is_shown(*var));
        shown.map(|var| self.binding(&Holders::new(), var, leaf(&Expr::Var(var)))).collect()
    }

    /// Returns the shared variables that the last statement has read.
    pub(crate) fn read_last(&self, execution: Execution<'_>) -> Vec<Operand> {
        let Some(last) = execution.steps.last() else { return Vec::new() };
        let span = |step: &Step| self.context().map.edges[step.edge].span;
        let befores = std::iter::once(execution.start).chain(execution.states);
        let steps = execution.steps.iter().zip(befores).collect::<Vec<_>>();
        let is_part = |(step, _): &&(&Step, &State)| step.thread == last.thread && span(step) == span(last);
        let mut operands: Vec<Operand> = Vec::new();
        for (step, before) in steps.iter().rev().take_while(is_part) {
            let read = match self.op(step.edge) {
                Op::Assign(assign) => {
                    assign.active.iter().flat_map(|(_, rhs)| self.read_by(rhs, step, before)).collect()
                }
                _ => Vec::new(),
            };
            for Binding { name, value, word, .. } in read {
                let operand = Operand { name, value, word };
                operands.extend((!operands.contains(&operand)).then_some(operand));
            }
        }
        operands.reverse();
        operands
    }

    /// Returns what a variable that the source does not have was last read from by a thread.
    pub(crate) fn came_from(&self, execution: Execution<'_>, thread: ThreadId, var: VarId) -> Vec<Operand> {
        let befores = std::iter::once(execution.start).chain(execution.states);
        let steps = execution.steps.iter().zip(befores).collect::<Vec<_>>();
        let assigns = |step: &Step| match self.op(step.edge) {
            Op::Assign(assign) => assign.active.iter().find(|(assigned, _)| *assigned == var).map(|(_, rhs)| rhs),
            _ => None,
        };
        for (step, before) in steps.into_iter().rev().filter(|(step, _)| step.thread == thread) {
            if let Some(rhs) = assigns(step) {
                let operand =
                    |binding: Binding| Operand { name: binding.name, value: binding.value, word: binding.word };
                return self.read_by(rhs, step, before).into_iter().map(operand).collect();
            }
        }
        Vec::new()
    }
}
