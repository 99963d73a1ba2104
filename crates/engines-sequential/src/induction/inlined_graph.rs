//! The control states of the thread, including its callers, and the moves between them.
//!
//! Without recursion there are finitely many places, and no procedure is on a stack twice, so that one valuation of all
//! variables holds the locals of all frames. The graph is that of the program with all calls inlined.

use indexmap::IndexSet;
use selvedge_check::{Certificate, InvariantPlace, InvariantProof, Task};
use selvedge_ir::flow::Flow;
use selvedge_ir::liveness::Liveness;
use selvedge_ir::{EdgeId, Expr, LocId, ProcId, Program, Scope, VarId};
use selvedge_logic::aig::{Aig, Lit};
use selvedge_transition::step::circuit::{self, Effect, Valuation};
use selvedge_transition::step::control::{Control, call_at, control};

use crate::bmc::Phase;

/// Limit on the number of places. The judge has the same limit.
const LIMIT: usize = 20_000;

/// The calls that have not returned, outermost first, and the location in the innermost callee.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct InlinedPlace {
    pub(crate) phase: Phase,
    pub(crate) calls: Vec<EdgeId>,
    pub(crate) loc: LocId,
}

/// A step from a place to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct InlinedMove {
    pub(crate) from: usize,
    pub(crate) edge: EdgeId,
    pub(crate) to: MoveTarget,
}

/// The end of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MoveTarget {
    /// A place that is not an error.
    Place(usize),
    /// A target location.
    Target,
    /// The failure of a target assertion.
    Failure,
}

/// All places that are not errors, by number, and the moves from them.
pub(crate) struct InlinedGraph {
    pub(crate) all: IndexSet<InlinedPlace>,
    pub(crate) moves: Vec<InlinedMove>,
}

impl InlinedGraph {
    /// Lists the places that control flow can reach, each visited once; or says why they cannot be listed.
    pub(crate) fn new(task: &Task<'_>) -> Result<InlinedGraph, &'static str> {
        let flow = Flow::new(task.program);
        let mut places = InlinedGraph { all: IndexSet::new(), moves: Vec::new() };
        let program = task.program;
        let (phase, proc) = match program.prelude {
            Some(prelude) => (Phase::Prelude, prelude),
            None => (Phase::Thread, program.entries[0].proc),
        };
        places.number(task, InlinedPlace { phase, calls: Vec::new(), loc: program.procs[proc].entry });
        let mut from = 0;
        while let Some(place) = places.all.get_index(from).cloned() {
            for edge in flow.out(place.loc) {
                places.follow(task, from, &place, *edge)?;
            }
            if places.all.len() > LIMIT {
                return Err("only supports programs whose calls can be nested in few ways");
            }
            from += 1;
        }
        Ok(places)
    }

    fn number(&mut self, task: &Task<'_>, place: InlinedPlace) -> MoveTarget {
        if task.target.has_loc(place.loc) {
            MoveTarget::Target
        } else {
            MoveTarget::Place(self.all.insert_full(place).0)
        }
    }

    /// Adds the moves from a place along an edge.
    fn follow(&mut self, task: &Task<'_>, from: usize, place: &InlinedPlace, id: EdgeId) -> Result<(), &'static str> {
        let program = task.program;
        let edge = &program.edges[id];
        let next = match control(program, edge) {
            Control::Next => InlinedPlace { loc: edge.to, ..place.clone() },
            Control::Call(call) if place.procs(program).contains(&call.callee) => {
                return Err("only supports programs without recursion");
            }
            Control::Call(call) => InlinedPlace {
                calls: [place.calls.as_slice(), &[id]].concat(),
                loc: program.procs[call.callee].entry,
                ..*place
            },
            Control::Return if !place.calls.is_empty() => {
                let (call, calls) = place.calls.split_last().expect("it is not empty");
                InlinedPlace { calls: calls.to_vec(), loc: program.edges[*call].to, ..*place }
            }
            Control::Return | Control::End if place.phase == Phase::Prelude => {
                let loc = program.procs[program.entries[0].proc].entry;
                InlinedPlace { phase: Phase::Thread, calls: Vec::new(), loc }
            }
            Control::Return | Control::End => return Ok(()),
            Control::Start(_) => unreachable!("the engine only supports programs with one thread"),
        };
        let to = self.number(task, next);
        self.moves.push(InlinedMove { from, edge: id, to });
        if task.target.has_assert(id) {
            self.moves.push(InlinedMove { from, edge: id, to: MoveTarget::Failure });
        }
        Ok(())
    }
}

impl InlinedGraph {
    /// Returns the moves from each place.
    pub(crate) fn moves_by_place(&self) -> Vec<Vec<InlinedMove>> {
        let mut moves: Vec<Vec<InlinedMove>> = self.all.iter().map(|_| Vec::new()).collect();
        self.moves.iter().for_each(|step| moves[step.from].push(*step));
        moves
    }

    /// Returns the variables that matter at a place.
    pub(crate) fn live(&self, program: &Program, place: usize, liveness: &Liveness) -> Vec<VarId> {
        let place = self.all.get_index(place).expect("the place is listed");
        let visible = |owner| {
            let scopes = [Scope::Shared, Scope::Thread, Scope::Local(owner)];
            program.vars.iter_enumerated().filter(move |(_, var)| scopes.contains(&var.scope)).map(|(id, _)| id)
        };
        let owner = program.locs[place.loc].proc;
        let mut vars: Vec<VarId> = visible(owner).filter(|var| liveness.is_live(place.loc, *var)).collect();
        for id in &place.calls {
            let (edge, call) = (&program.edges[*id], call_at(program, *id));
            let owner = program.locs[edge.from].proc;
            let kept =
                |var: &VarId| program.vars[*var].scope == Scope::Local(owner) && !call.results.contains(&Some(*var));
            vars.extend(visible(owner).filter(|var| kept(var) && liveness.is_live(edge.to, *var)));
        }
        vars.sort_unstable();
        vars.dedup();
        vars
    }

    /// Returns the certificate with the places in this order, of which some have formulas.
    pub(crate) fn certificate(&self, order: &[usize], formula: impl Fn(usize) -> Option<Expr>) -> Certificate {
        let place = |number: &usize| {
            let place = self.all.get_index(*number).expect("the place is listed");
            InvariantPlace { calls: place.calls.clone(), loc: place.loc, formula: formula(*number) }
        };
        Certificate::Invariants(InvariantProof { places: order.iter().map(place).collect() })
    }
}

/// Returns the places in an order in which moves lead back to cuts only, and the cuts.
pub(crate) fn cut(moves: &[Vec<InlinedMove>]) -> (Vec<usize>, Vec<usize>) {
    #[derive(Clone, Copy, PartialEq, Eq)]
    enum Mark {
        New,
        Open,
        Finished,
    }
    let mut marks = vec![Mark::New; moves.len()];
    let (mut finished, mut cuts) = (Vec::new(), Vec::new());
    // The places that are not finished, each with its next move.
    let mut open = vec![(0, 0)];
    marks[0] = Mark::Open;
    while let Some((place, next)) = open.last_mut() {
        let (place, number) = (*place, *next);
        *next += 1;
        match moves[place].get(number).map(|step| step.to) {
            None => {
                marks[place] = Mark::Finished;
                finished.push(place);
                open.pop();
            }
            Some(MoveTarget::Place(to)) => match marks[to] {
                Mark::New => {
                    marks[to] = Mark::Open;
                    open.push((to, 0));
                }
                Mark::Open => cuts.push(to),
                Mark::Finished => {}
            },
            Some(MoveTarget::Target | MoveTarget::Failure) => {}
        }
    }
    finished.reverse();
    cuts.sort_unstable();
    cuts.dedup();
    (finished, cuts)
}

/// The condition of a move, and the values after it.
pub(crate) struct MoveEffect {
    pub(crate) condition: Lit,
    pub(crate) after: Valuation,
}

impl InlinedGraph {
    /// Returns the condition and the effect of a move. Locals of procedures that are not on the stack have any value:
    /// they are never read.
    pub(crate) fn effect(&self, aig: &mut Aig, program: &Program, step: &InlinedMove, now: &Valuation) -> MoveEffect {
        let place = self.all.get_index(step.from).expect("moves begin at places");
        let (effect, _) = circuit::step(aig, program, step.edge, now);
        let mut after = now.clone();
        let mut condition = Lit::TRUE;
        match effect {
            Effect::Next(passes, values) => (condition, after) = (passes, values),
            Effect::Assert(needs, holds) => {
                let outcome = if step.to == MoveTarget::Failure { !holds } else { holds };
                condition = aig.and(needs, outcome);
            }
            Effect::Call(call, mut entry) => {
                circuit::add_locals(aig, program, call.callee, &mut entry);
                after.update(&entry);
            }
            Effect::Return(results) if !place.calls.is_empty() => {
                let call = place.calls.last().expect("it is not empty");
                after = circuit::resume(program, call_at(program, *call), now, now, &results);
                condition = circuit::ensured(aig, program, *call, &after);
            }
            // The end of the prelude; the thread's own end is not a move.
            Effect::Return(_) | Effect::End => {
                after.update(&circuit::begin_thread(aig, program, now).valuation);
            }
        }
        MoveEffect { condition, after }
    }
}

impl InlinedPlace {
    /// Returns the procedures on the stack, the running one last.
    pub(crate) fn procs(&self, program: &Program) -> Vec<ProcId> {
        let first = match self.phase {
            Phase::Prelude => program.prelude,
            Phase::Thread => program.entries.first().map(|entry| entry.proc),
        };
        first.into_iter().chain(self.calls.iter().map(|call| call_at(program, *call).callee)).collect()
    }
}
