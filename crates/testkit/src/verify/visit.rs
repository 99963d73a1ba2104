//! A search of all states with the stepper, which shares no code with the judge and the engines.
//!
//! The order of work: all starts, then all states after a step of each state that was found. States that differ in the
//! numbers of threads only are one. It ends at a budget of states, and where there is too much to choose. Every value
//! of every choice, and of every variable that starts with any value, is tried, so that an error that can be reached
//! within the budget is found, and without the budget in the way there is none otherwise.

use std::collections::BTreeSet;

use selvedge_check::{Task, ThreadScope};
use selvedge_ir::trace::{Fresh, Start, StartThread, Step, ThreadId};
use selvedge_ir::visit::choice_types;
use selvedge_ir::{Count, Edge, EdgeId, EntryId, Expr, Op, ProcId, Program, Scope, Ty, Value, VarId};

use super::Truth;
use super::stepper::{Made, Thread, Values, World, of_scope};

/// The limits of a search.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reach {
    /// The most states.
    pub(super) states: usize,
    /// The most frames of a stack.
    pub(super) frames: usize,
    /// The most starts, and the most steps of one state along one edge.
    pub(super) ways: usize,
    /// The most steps, which may all lead to states that are known.
    pub(super) steps: usize,
}

/// Something that must be chosen: nothing is decided if there are too many ways.
struct TooMany;

type Listed<T> = Result<Vec<T>, TooMany>;

/// A state without the numbers of its threads: the shared variables, the prelude's thread and the holder of the flag
/// apart from the others, and what else decides the future.
type Key = (Values, Vec<(bool, bool, Thread)>, Option<Vec<StartThread>>, u32);

/// Searches the states of a program for an error, or shows that there is none.
pub(super) fn search(task: &Task<'_>, reach: Reach) -> Truth {
    let (known, waiting) = (BTreeSet::new(), Vec::new());
    let mut search = Search { task, reach, known, waiting, n_steps: 0, is_complete: true };
    let Some(most) = most_threads(task) else { return Truth::Open };
    let Ok(starts) = starts(task.program, most, reach.ways) else { return Truth::Open };
    for start in starts {
        match World::start(task, &start) {
            Ok(world) => search.add(world),
            Err(_) => return Truth::Open,
        }
    }
    while let Some(world) = search.waiting.pop() {
        if search.n_steps > reach.steps {
            return Truth::Open;
        }
        match search.is_error(&world) {
            Ok(true) => return Truth::Unsafe,
            Ok(false) => {}
            Err(TooMany) => search.is_complete = false,
        }
    }
    if search.is_complete { Truth::Safe } else { Truth::Open }
}

/// Returns the greatest number of initial threads; `None` if there is none.
fn most_threads(task: &Task<'_>) -> Option<usize> {
    if let ThreadScope::AtMost(bound) | ThreadScope::Created(bound) = task.threads {
        return Some(bound as usize);
    }
    let most = |count: Count| match count {
        Count::Exactly(count) | Count::AtMost(count) => Some(count as usize),
        Count::Any => None,
    };
    task.program.entries.iter().map(|entry| most(entry.count)).sum()
}

struct Search<'t> {
    task: &'t Task<'t>,
    reach: Reach,
    known: BTreeSet<Key>,
    waiting: Vec<World<'t>>,
    /// The steps that were tried.
    n_steps: usize,
    /// No state was left out.
    is_complete: bool,
}

impl<'t> Search<'t> {
    fn add(&mut self, mut world: World<'t>) {
        let key = self.renumbered(&mut world);
        if self.known.contains(&key) {
            return;
        }
        let is_deep = world.threads.iter().any(|thread| thread.stack.len() > self.reach.frames);
        if is_deep || self.known.len() >= self.reach.states {
            self.is_complete = false;
            return;
        }
        self.known.insert(key);
        self.waiting.push(world);
    }

    /// Gives the threads of a state new numbers: the prelude's has 0, the others follow in the order of what they are.
    fn renumbered(&self, world: &mut World<'t>) -> Key {
        let (holder, in_prelude) = (world.holder, world.waiting.is_some());
        let mut threads: Vec<(bool, bool, Thread)> = std::mem::take(&mut world.threads)
            .into_iter()
            .map(|thread| {
                let (number, is_prelude) = (thread.number, in_prelude && thread.number == 0);
                (!is_prelude, holder == Some(number), Thread { number: 0, ..thread })
            })
            .collect();
        threads.sort();
        let first = u32::from(self.task.program.prelude.is_some() && !in_prelude);
        let numbered = threads.iter().zip(first..);
        world.holder = numbered.clone().find(|((_, holds, _), _)| *holds).map(|(_, number)| number);
        world.threads = numbered.map(|((_, _, thread), number)| Thread { number, ..thread.clone() }).collect();
        if !matches!(self.task.threads, ThreadScope::Created(_)) {
            world.n_created = first + world.threads.len() as u32;
        }
        (world.shared.clone(), threads, world.waiting.clone(), world.n_created)
    }

    /// Returns whether a state is an error, or a step of it; and adds the states after its steps.
    fn is_error(&mut self, world: &World<'t>) -> Result<bool, TooMany> {
        if world.has_error() {
            return Ok(true);
        }
        let mut has_step = false;
        for step in self.steps(world)? {
            self.n_steps += 1;
            let mut next = world.clone();
            match next.step(&step) {
                Ok(Made::Failure) => return Ok(true),
                Ok(Made::End) => has_step = true,
                Ok(Made::State) => {
                    has_step = true;
                    self.add(next);
                }
                Err(_) => {}
            }
        }
        Ok(self.task.target.deadlock && !has_step && !world.threads.is_empty())
    }

    /// Lists all steps of a state, those that are blocked included.
    fn steps(&self, world: &World<'t>) -> Listed<Step> {
        let mut steps = Vec::new();
        for (position, thread) in world.threads.iter().enumerate() {
            let here = thread.stack[thread.stack.len() - 1].loc;
            if world.holder.is_some_and(|holder| holder != thread.number) {
                continue;
            }
            for (id, edge) in self.task.program.edges.iter_enumerated().filter(|(_, edge)| edge.from == here) {
                steps.extend(self.along(world, position, id, edge)?);
            }
        }
        Ok(steps)
    }

    /// Lists the steps of a thread along an edge.
    fn along(&self, world: &World<'t>, position: usize, id: EdgeId, edge: &Edge) -> Listed<Step> {
        let (program, most) = (self.task.program, self.reach.ways);
        let starts = match &edge.op {
            Op::Call(call) => Some(call.callee),
            Op::Spawn(spawn) if world.has_room() => Some(spawn.callee),
            _ => None,
        };
        let fresh = starts.map_or(Vec::new(), |proc| free_locals(program, proc));
        let choices = all_values(&edge.op.choices(), most)?;
        let fresh = all_fresh(program, &fresh, most)?;
        let n_others = if let Op::Assign(assign) = &edge.op { world.participants(position, assign).len() } else { 0 };
        let mut passive = vec![Vec::new()];
        for _ in 0..n_others {
            passive = product(&passive, &choices, most)?;
        }
        let mut steps = Vec::new();
        for choices in &choices {
            for passive in &passive {
                for fresh in &fresh {
                    let thread = ThreadId(world.threads[position].number);
                    let (choices, passive, fresh) = (choices.clone(), passive.clone(), fresh.clone());
                    steps.push(Step { thread, edge: id, choices, passive, fresh, body: None });
                }
            }
        }
        if steps.len() <= most { Ok(steps) } else { Err(TooMany) }
    }
}

/// The locals of a procedure that start with any value.
fn free_locals(program: &Program, proc: ProcId) -> Vec<VarId> {
    let proc = &program.procs[proc];
    proc.locals.iter().copied().filter(|local| !proc.params.contains(local)).collect()
}

/// Lists longer lists: each of some with each of some items behind it.
fn product<T: Clone>(lists: &[Vec<T>], items: &[T], most: usize) -> Listed<Vec<T>> {
    if lists.len().saturating_mul(items.len()) > most {
        return Err(TooMany);
    }
    let with = |list: &Vec<T>, item: &T| list.iter().chain([item]).cloned().collect();
    Ok(lists.iter().flat_map(|list| items.iter().map(move |item| with(list, item))).collect())
}

/// Lists the values of a type.
fn values(ty: Ty, most: usize) -> Listed<Value> {
    match ty {
        Ty::Bool => Ok(vec![Value::Bool(false), Value::Bool(true)]),
        Ty::Machine(ty) if ty.bits < 12 && 1 << ty.bits <= most => {
            Ok((0..1 << ty.bits).map(|bits| Value::Machine(ty, bits)).collect())
        }
        Ty::Machine(_) | Ty::Int => Err(TooMany),
    }
}

/// Lists all values of several types.
fn all_values(types: &[Ty], most: usize) -> Listed<Vec<Value>> {
    types.iter().try_fold(vec![Vec::new()], |lists, ty| product(&lists, &values(*ty, most)?, most))
}

/// Lists all values of variables.
fn all_fresh(program: &Program, vars: &[VarId], most: usize) -> Listed<Fresh> {
    let types: Vec<Ty> = vars.iter().map(|var| program.vars[*var].ty).collect();
    let all = all_values(&types, most)?;
    Ok(all.into_iter().map(|values| vars.iter().copied().zip(values).collect()).collect())
}

/// Lists the values of all choices and of all variables without one of these initial values.
fn open(
    program: &Program,
    init: &[(VarId, Expr)],
    vars: impl Iterator<Item = VarId>,
    more: &[VarId],
    most: usize,
) -> Listed<(Vec<Value>, Fresh)> {
    let choices = all_values(&choice_types(init.iter().map(|(_, rhs)| rhs)), most)?;
    let is_given = |var: &VarId| init.iter().any(|(other, _)| other == var);
    let vars: Vec<VarId> = vars.filter(|var| !is_given(var)).chain(more.iter().copied()).collect();
    let fresh = all_fresh(program, &vars, most)?;
    let pair = |choices: &Vec<Value>| fresh.iter().map(|fresh| (choices.clone(), fresh.clone())).collect::<Vec<_>>();
    Ok(choices.iter().flat_map(pair).collect())
}

/// Lists all starts with at most this many initial threads.
fn starts(program: &Program, most_threads: usize, most: usize) -> Listed<Start> {
    let mut crews: Vec<Vec<StartThread>> = vec![Vec::new()];
    for (kind, entry) in program.entries.iter_enumerated() {
        let threads = threads_of(program, kind, most)?;
        let (mut complete, mut partial) = (Vec::new(), crews);
        for count in 0..=most_threads {
            if entry.count.allows(count) {
                complete.extend(partial.iter().cloned());
            }
            partial.retain(|crew| crew.len() < most_threads);
            partial = product(&partial, &threads, most)?;
        }
        crews = complete;
    }
    let locals = program.prelude.map_or(Vec::new(), |prelude| program.procs[prelude].locals.clone());
    let shared = open(program, &program.init, of_scope(program, Scope::Shared).into_iter(), &locals, most)?;
    if crews.len().saturating_mul(shared.len()) > most {
        return Err(TooMany);
    }
    let start = |threads: &Vec<StartThread>, (choices, fresh): &(Vec<Value>, Fresh)| Start {
        choices: choices.clone(),
        fresh: fresh.clone(),
        threads: threads.clone(),
    };
    Ok(crews.iter().flat_map(|crew| shared.iter().map(move |shared| start(crew, shared))).collect())
}

/// Lists the initial threads of a kind.
fn threads_of(program: &Program, kind: EntryId, most: usize) -> Listed<StartThread> {
    let entry = &program.entries[kind];
    let locals = &program.procs[entry.proc].locals;
    let all = open(program, &entry.init, entry.thread_vars.iter().copied(), locals, most)?;
    Ok(all.into_iter().map(|(choices, fresh)| StartThread { entry: kind, choices, fresh }).collect())
}
