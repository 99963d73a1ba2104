//! The schedule of a harness: turns of threads, and where each turn ends.

use std::collections::{BTreeMap, BTreeSet};

use selvedge_frontend::Context;
use selvedge_ir::flow::Flow;
use selvedge_ir::span::{Site, Span, View};
use selvedge_ir::trace::{Step, Trace};
use selvedge_ir::visit::for_each_old_read;
use selvedge_ir::{EdgeId, Expr, LocId, Op, ProcId, Program, Scope, VarId};

/// The end of a turn: a thread arrives at a site, having been there `count` times before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stop {
    pub(super) thread: u32,
    pub(super) site: usize,
    pub(super) count: usize,
}

/// A schedule, and the execution in its order.
pub(super) struct Schedule {
    pub(super) trace: Trace,
    /// The threads that run, one after the other.
    pub(super) turns: Vec<u32>,
    pub(super) stops: Vec<Stop>,
    /// The sites of stops.
    pub(super) sites: Vec<Site>,
    /// What functions without a body return, by thread.
    pub(super) inputs: Vec<(u32, i128)>,
}

/// A local without an initial value, and its values in the order in which threads declare it.
pub(super) struct Local<'m> {
    pub(super) name: &'m Span,
    pub(super) values: Vec<(u32, i128)>,
}

impl Schedule {
    pub(super) fn new(context: Context<'_>, trace: &Trace) -> Result<Schedule, String> {
        if let Some(fork) = trace.steps.iter().find(|step| matches!(context.program.edges[step.edge].op, Op::Fork(_))) {
            let line = context.source.line(context.map.edges[fork.edge].span.start as usize);
            return Err(format!("the thread of line {line} is not created by `pthread_create`: there is no harness"));
        }
        let (order, begins) = in_chunks(context, trace);
        let trace = Trace { steps: order.iter().map(|number| trace.steps[*number].clone()).collect(), ..trace.clone() };
        let mut schedule = Schedule {
            inputs: inputs(context, &trace),
            trace,
            turns: Vec::new(),
            stops: Vec::new(),
            sites: Vec::new(),
        };
        schedule.find_stops(context, &begins);
        Ok(schedule)
    }

    /// Finds the turns and where they end: before the next step of the thread, or, if it has none, before whatever it
    /// could do next that others notice.
    fn find_stops(&mut self, context: Context<'_>, begins: &BTreeSet<usize>) {
        let steps = self.trace.steps.clone();
        let switches = (1..steps.len()).filter(|number| steps[*number].thread != steps[number - 1].thread);
        self.turns = steps.first().map(|step| step.thread.0).into_iter().collect();
        for switch in switches.collect::<Vec<_>>() {
            self.turns.push(steps[switch].thread.0);
            let thread = steps[switch - 1].thread;
            let next = (switch..steps.len()).find(|number| steps[*number].thread == thread);
            let sites: BTreeMap<usize, Site> = match next {
                Some(next) if begins.contains(&next) => {
                    context.map.sites.get(&steps[next].edge).map(|site| (0, *site)).into_iter().collect()
                }
                Some(_) => BTreeMap::new(),
                None => next_sites(context, &steps, thread.0).into_iter().enumerate().collect(),
            };
            let end = next.unwrap_or(steps.len());
            for site in sites.into_values() {
                let is_there = |step: &&Step| {
                    step.thread == thread
                        && context.map.sites.get(&step.edge).is_some_and(|other| is_same(*other, site))
                };
                let count = steps[..end].iter().filter(is_there).count();
                let site = self.number(site);
                self.stops.push(Stop { thread: thread.0, site, count });
            }
        }
    }

    fn number(&mut self, site: Site) -> usize {
        let known = self.sites.iter().position(|known| is_same(*known, site));
        known.unwrap_or_else(|| {
            self.sites.push(site);
            self.sites.len() - 1
        })
    }

    /// Returns the locals without initial values that the execution reads before it writes them.
    pub(super) fn locals<'m>(&self, context: Context<'m>) -> Vec<Local<'m>> {
        let program = context.program;
        let mut found: BTreeMap<VarId, Vec<(u32, i128)>> = BTreeMap::new();
        let mut needed = BTreeSet::new();
        let mut written: BTreeSet<(u32, VarId)> = BTreeSet::new();
        let mut add = |var: VarId, thread: u32, value: i128| found.entry(var).or_default().push((thread, value));
        for (number, start) in self.trace.start.threads.iter().enumerate() {
            let proc = program.entries[start.entry].proc;
            frame_values(context, proc, &start.fresh).for_each(|(var, value)| add(var, number as u32, value));
        }
        for step in &self.trace.steps {
            let (edge, thread) = (&program.edges[step.edge], step.thread.0);
            for_each_old_read(edge, |var| {
                needed.extend((!written.contains(&(thread, var))).then_some(var));
            });
            match &edge.op {
                Op::Call(call) => {
                    written.retain(|(of, var)| *of != thread || program.vars[*var].scope != Scope::Local(call.callee));
                    written.extend(program.procs[call.callee].params.iter().map(|var| (thread, *var)));
                    frame_values(context, call.callee, &step.fresh).for_each(|(var, value)| add(var, thread, value));
                    written.extend(call.results.iter().flatten().map(|var| (thread, *var)));
                }
                Op::Assign(assign) => {
                    for (var, rhs) in &assign.active {
                        match rhs {
                            Expr::Choice(choice, _) if is_declared(context, step.edge, *var) => {
                                written.remove(&(thread, *var));
                                add(*var, thread, step.choices.get(*choice as usize).map_or(0, |value| value.number()));
                            }
                            _ => {
                                written.insert((thread, *var));
                            }
                        }
                    }
                }
                _ => {}
            }
        }
        let shown = found.into_iter().filter(|(var, _)| needed.contains(var));
        shown.map(|(var, values)| Local { name: &context.map.vars[var], values }).collect()
    }
}

/// Returns whether a step is the declaration of a local without an initial value.
fn is_declared(context: Context<'_>, edge: EdgeId, var: VarId) -> bool {
    !context.map.inputs.contains_key(&edge) && context.map.views.get(&var) != Some(&View::Hidden)
}

/// Returns the values of the locals of a new frame, as far as no declaration gives them another one.
fn frame_values<'a>(
    context: Context<'a>,
    proc: ProcId,
    fresh: &'a [(VarId, selvedge_ir::Value)],
) -> impl Iterator<Item = (VarId, i128)> + 'a {
    let program = context.program;
    let is_redone = move |var: VarId| {
        let declares = |op: &Op| match op {
            Op::Assign(assign) => assign.active.iter().any(|(of, rhs)| *of == var && matches!(rhs, Expr::Choice(..))),
            _ => false,
        };
        program.edges.iter().any(|edge| declares(&edge.op))
    };
    let locals = program.procs[proc].locals.iter().copied();
    let plain = locals.filter(move |var| {
        let is_param = program.procs[proc].params.contains(var);
        !is_param && context.map.views.get(var) != Some(&View::Hidden) && !is_redone(*var)
    });
    plain.map(move |var| {
        let value = fresh.iter().find(|(of, _)| *of == var).map_or(0, |(_, value)| value.number());
        (var, value)
    })
}

/// Returns whether two sites are one for a harness: it knows threads that wake up only as such.
fn is_same(one: Site, other: Site) -> bool {
    one == other || matches!((one, other), (Site::Waking(_), Site::Waking(_)))
}

/// Brings the steps of a thread from one site to the next together, in the order of the sites. Returns the numbers of
/// the steps, and the places in that order at which steps with sites stand.
fn in_chunks(context: Context<'_>, trace: &Trace) -> (Vec<usize>, BTreeSet<usize>) {
    let mut chunks: Vec<Vec<usize>> = Vec::new();
    let mut last: BTreeMap<u32, usize> = BTreeMap::new();
    for (number, step) in trace.steps.iter().enumerate() {
        let chunk = last.get(&step.thread.0).copied().filter(|_| !context.map.sites.contains_key(&step.edge));
        match chunk {
            Some(chunk) => chunks[chunk].push(number),
            None => {
                last.insert(step.thread.0, chunks.len());
                chunks.push(vec![number]);
            }
        }
    }
    let error = trace.steps.len().saturating_sub(1);
    let mut order: Vec<usize> = chunks.concat();
    let end = order.iter().position(|number| *number == error).map_or(order.len(), |place| place + 1);
    order.truncate(end);
    let has_site = |place: &usize| context.map.sites.contains_key(&trace.steps[order[*place]].edge);
    let begins = (0..order.len()).filter(has_site).collect();
    (order, begins)
}

/// Lists what functions without a body return.
fn inputs(context: Context<'_>, trace: &Trace) -> Vec<(u32, i128)> {
    let steps = trace.steps.iter().filter(|step| context.map.inputs.contains_key(&step.edge));
    steps.map(|step| (step.thread.0, step.choices.first().map_or(0, |value| value.number()))).collect()
}

/// Returns the sites that a thread may come to first after its last step, through steps that others do not notice.
fn next_sites(context: Context<'_>, steps: &[Step], thread: u32) -> Vec<Site> {
    let program = context.program;
    let mut stack: Vec<LocId> = Vec::new();
    let mut at = None;
    for step in steps.iter().filter(|step| step.thread.0 == thread) {
        let edge = &program.edges[step.edge];
        at = match &edge.op {
            Op::Call(call) => {
                stack.push(edge.to);
                Some(program.procs[call.callee].entry)
            }
            Op::Return(_) => stack.pop(),
            Op::End => None,
            _ => Some(edge.to),
        };
    }
    let Some(at) = at else { return Vec::new() };
    walk(program, &context.map.sites, at, stack)
}

/// Follows edges without sites, into calls and back, and collects the first sites.
fn walk(program: &Program, sites: &BTreeMap<EdgeId, Site>, at: LocId, stack: Vec<LocId>) -> Vec<Site> {
    /// The longest stack that is followed.
    const MAX_DEPTH: usize = 50;
    let flow = Flow::new(program);
    let mut seen = BTreeSet::new();
    let mut open = vec![(at, stack)];
    let mut found: Vec<Site> = Vec::new();
    while let Some((at, stack)) = open.pop() {
        if stack.len() > MAX_DEPTH || !seen.insert((at, stack.len())) {
            continue;
        }
        for id in flow.out(at) {
            let edge = &program.edges[*id];
            match (sites.get(id), &edge.op) {
                (Some(site), _) => found.extend((!found.contains(site)).then_some(*site)),
                (None, Op::Call(call)) => {
                    let deeper = stack.iter().copied().chain([edge.to]).collect();
                    open.push((program.procs[call.callee].entry, deeper));
                }
                (None, Op::Return(_)) => {
                    let mut rest = stack.clone();
                    open.extend(rest.pop().map(|to| (to, rest)));
                }
                (None, Op::End) => {}
                (None, _) => open.push((edge.to, stack.clone())),
            }
        }
    }
    found
}
