//! Certificates about programs with machine integers: a program over bits that can do whatever the program can, and a
//! certificate about that one.
//!
//! A state over bits *stands for* a state of the program if their threads are at the same locations, and each variable
//! that may be read later has the value that its bits make: its lowest bits are variables of the program over bits, the
//! others constants or copies of the highest of those. Besides, the certificate gives such variables ranges, locals one
//! at each location, to which their values belong. The questions, each of which must have no solution:
//!
//! 1. a start of the program for which no start over bits stands;
//! 2. for each edge: a step of the program with certain choices, and bits that stand for the state before, so that the
//!    step over bits with the choices that make these is blocked, or leads to bits that do not stand for the state
//!    after, or the step leaves the ranges, or fails an assertion where it does not over bits, or the other way round;
//! 3. for each return: a value that is not what its lowest bits make, as many as the certificate says; for each call,
//!    such a value that the variable's bits do not make.
//!
//! By induction over the length of an execution, there is one over bits whose states stand for its states, so that an
//! error of the program is one over bits. The converse is not needed. A local that starts with any value must have all
//! bits, unless it is not read before it is assigned.

use std::collections::{BTreeMap, BTreeSet};

use index_vec::IndexVec;
use selvedge_check::{BitProof, Run};
use selvedge_ir::bits::{BitChoice, BitMap, Code, Range, RangeMap, Rest, Width};
use selvedge_ir::{Call, Edge, EdgeId, Entry, Expr, LocId, Op, ProcId, Program, Scope, Ty, Var, VarId};

use super::bits::{Bits, Circuits};
use super::sat::{Lit, Sat};
use super::{Flaw, Refused, Unjudged};
use crate::program::{choice_types, concerns_others, exprs, is_boolean, leaves};
use crate::semantics::{Meaning, Scene, Writes};

const MALFORMED: Flaw = Flaw::Malformed(None);
const OTHERS: Unjudged =
    Unjudged::Beyond("threads read or assign variables of each other, and there are machine integers");
const ENSURES: Unjudged = Unjudged::Beyond("steps ensure conditions, and there are machine integers");

/// Checks that the program over bits can do whatever the program can.
pub(super) fn verify(program: &Program, proof: &BitProof, run: &Run<'_>) -> Result<(), Refused> {
    if program.edges.iter().any(|edge| concerns_others(&edge.op)) {
        return Err(OTHERS.into());
    }
    if program.edges.iter().chain(&proof.program.edges).any(|edge| edge.ensures != Expr::TRUE) {
        return Err(ENSURES.into());
    }
    let checker = Checker { old: program, new: &proof.program, map: &proof.map, live: live(program), run };
    let fits = is_boolean(checker.new).is_ok() && checker.vars_fit() && checker.procs_fit() && checker.edges_fit();
    if !fits || !checker.starts_fit() || !checker.ranges_fit() {
        return Err(MALFORMED.into());
    }
    checker.start()?;
    program.edges.indices().try_for_each(|edge| checker.edge(edge))
}

/// The locals that may be read from each location on before they are assigned.
fn live(program: &Program) -> IndexVec<LocId, BTreeSet<VarId>> {
    let mut live: IndexVec<LocId, BTreeSet<VarId>> = program.locs.iter().map(|_| BTreeSet::new()).collect();
    let mut changed = true;
    while changed {
        changed = false;
        for edge in &program.edges {
            let mut before = live[edge.to].clone();
            if let Op::Fork(loc) = edge.op {
                before.extend(&live[loc]);
            }
            let assigned = match &edge.op {
                Op::Assign(assign) => assign.active.iter().map(|(var, _)| *var).collect(),
                Op::Call(call) => call.results.iter().copied().flatten().collect(),
                _ => Vec::new(),
            };
            before.retain(|var| !assigned.contains(var));
            // A new value that the step does not assign is the old one.
            before.extend(exprs(&edge.op).into_iter().flat_map(leaves).filter_map(|leaf| match leaf {
                Expr::Var(var) => Some(*var),
                Expr::Next(var) if !assigned.contains(var) => Some(*var),
                _ => None,
            }));
            let n_before = live[edge.from].len();
            live[edge.from].extend(before);
            changed |= live[edge.from].len() > n_before;
        }
    }
    live
}

struct Checker<'a> {
    old: &'a Program,
    new: &'a Program,
    map: &'a BitMap,
    live: IndexVec<LocId, BTreeSet<VarId>>,
    run: &'a Run<'a>,
}

fn full_width(ty: Ty) -> usize {
    if let Ty::Machine(ty) = ty { usize::from(ty.bits) } else { 1 }
}

/// Returns whether this many bits and the rest make values of a type.
fn is_width(ty: Ty, n_bits: usize, rest: Rest) -> bool {
    match ty {
        Ty::Bool => n_bits == 1,
        Ty::Machine(_) => n_bits <= full_width(ty) && (n_bits > 0 || rest != Rest::Sign),
        Ty::Int => false,
    }
}

/// The bits of a choice must be those of its type.
fn choices_fit(choices: &[BitChoice], types: &[Ty]) -> bool {
    let fits = |(choice, ty): (&BitChoice, &Ty)| choice.ty == *ty && choice.bits.len() == full_width(*ty);
    choices.len() == types.len() && choices.iter().zip(types).all(fits)
}

impl Checker<'_> {
    fn vars_fit(&self) -> bool {
        let fits = |(code, var): (&Code, &Var)| {
            let same_scope = |bit: &VarId| self.new.vars.get(*bit).is_some_and(|bit| bit.scope == var.scope);
            code.ty == var.ty && is_width(code.ty, code.bits.len(), code.rest) && code.bits.iter().all(same_scope)
        };
        let mut bits: Vec<VarId> = self.map.vars.iter().flat_map(|code| code.bits.iter().copied()).collect();
        bits.sort_unstable();
        self.map.vars.len() == self.old.vars.len()
            && bits.iter().copied().eq(self.new.vars.indices())
            && self.map.vars.iter().zip(&self.old.vars).all(fits)
    }

    /// The variables over bits for some variables.
    fn expanded(&self, vars: &[VarId]) -> Vec<VarId> {
        vars.iter().flat_map(|var| self.map.vars[*var].bits.iter().copied()).collect()
    }

    fn procs_fit(&self) -> bool {
        let fits = |id: ProcId| {
            let (old, new, widths) = (&self.old.procs[id], &self.new.procs[id], &self.map.results[id]);
            let is_result = |(width, ty): (&Width, &Ty)| {
                let n_bits = width.n_bits as usize;
                width.ty == *ty && is_width(*ty, n_bits, width.rest) && width.returned as usize <= full_width(*ty)
            };
            (old.entry, old.exit) == (new.entry, new.exit)
                && new.params == self.expanded(&old.params)
                && new.locals == self.expanded(&old.locals)
                && widths.len() == old.results.len()
                && widths.iter().zip(&old.results).all(is_result)
                && new.results.len() == widths.iter().map(|width| width.returned as usize).sum::<usize>()
        };
        let n_procs = self.old.procs.len();
        self.old.locs == self.new.locs
            && (self.new.procs.len(), self.map.results.len()) == (n_procs, n_procs)
            && self.old.procs.indices().all(fits)
    }

    fn edges_fit(&self) -> bool {
        let same = |old: &Edge, new: &Edge| {
            let same_op = match (&old.op, &new.op) {
                (Op::Call(old), Op::Call(new)) => old.callee == new.callee,
                (Op::Spawn(old), Op::Spawn(new)) => old.callee == new.callee,
                (Op::Fork(old), Op::Fork(new)) => old == new,
                (old, new) => std::mem::discriminant(old) == std::mem::discriminant(new),
            };
            let owner = Scope::Local(self.old.locs[old.from].proc);
            let is_own = |var: VarId| {
                let scope = self.new.vars.get(var).map(|var| var.scope);
                scope.is_some_and(|scope| scope == owner || !matches!(scope, Scope::Local(_)))
            };
            let writes_own = match &new.op {
                Op::Assign(assign) => assign.active.iter().all(|(var, _)| is_own(*var)),
                Op::Call(call) => call.results.iter().flatten().all(|var| is_own(*var)),
                _ => true,
            };
            same_op && writes_own && (old.from, old.to) == (new.from, new.to) && !concerns_others(&new.op)
        };
        let choices = |id: EdgeId| choices_fit(&self.map.edges[id], &choice_types(exprs(&self.old.edges[id].op)));
        let n_edges = self.old.edges.len();
        (self.new.edges.len(), self.map.edges.len()) == (n_edges, n_edges)
            && self.old.edges.iter().zip(&self.new.edges).all(|(old, new)| same(old, new))
            && self.old.edges.indices().all(choices)
    }

    fn starts_fit(&self) -> bool {
        let types = |init: &[(VarId, Expr)]| choice_types(init.iter().map(|(_, rhs)| rhs));
        let n_entries = self.old.entries.len();
        let fits = |((old, new), choices): ((&Entry, &Entry), &Vec<BitChoice>)| {
            (old.proc, old.count) == (new.proc, new.count)
                && new.thread_vars == self.expanded(&old.thread_vars)
                && choices_fit(choices, &types(&old.init))
        };
        self.old.prelude == self.new.prelude
            && choices_fit(&self.map.init, &types(&self.old.init))
            && (self.new.entries.len(), self.map.entries.len()) == (n_entries, n_entries)
            && self.old.entries.iter().zip(&self.new.entries).zip(&self.map.entries).all(fits)
    }

    fn ranges_fit(&self) -> bool {
        let RangeMap { vars, locs, results } = &self.map.ranges;
        let known = |(var, _): &(VarId, Range)| *var < self.old.vars.len_idx();
        (vars.len(), locs.len()) == (self.old.vars.len(), self.old.locs.len())
            && locs.iter().flatten().all(|ranges| ranges.iter().all(known))
            && results.iter().map(Vec::len).eq(self.old.procs.iter().map(|proc| proc.results.len()))
    }

    /// A question about a step or a start.
    fn question<'q>(&'q self, choices: &'q [BitChoice], before: Before) -> Question<'q> {
        let both = Both { map: self.map, bits: BTreeMap::new(), choices, made: BTreeMap::new() };
        Question { checker: self, sat: Sat::new(self.run), both, before, bad: Vec::new() }
    }

    /// The ranges of the locals at a location; `None` if it is never reached.
    fn ranges(&self, at: LocId) -> Option<&[(VarId, Range)]> {
        self.map.ranges.locs[at].as_deref()
    }

    /// The range of a variable, where a thread is at a location.
    fn range(&self, var: VarId, at: Option<LocId>) -> Option<&Range> {
        match self.old.vars[var].scope {
            Scope::Local(_) => {
                let mut known = at.and_then(|at| self.ranges(at)).unwrap_or_default().iter();
                known.find(|(known, _)| *known == var).map(|(_, range)| range)
            }
            Scope::Shared | Scope::Thread => Some(&self.map.ranges.vars[var]),
        }
    }

    /// Every start of the program has one over bits.
    fn start(&self) -> Result<(), Refused> {
        let first = |proc: ProcId| self.old.procs[proc].entry;
        let mut question = self.question(&self.map.init, Before::Nothing);
        let shared = question.run(|old| old.start_shared(), |new| new.start_shared())?;
        question.stands_for(shared, None, None)?;
        question.answer(MALFORMED)?;
        for (id, entry) in self.old.entries.iter_enumerated() {
            let mut question = self.question(&self.map.entries[id], Before::Shared);
            let begun = question.run(|old| old.start_thread(id), |new| new.start_thread(id))?;
            question.stands_for(begun, Some(first(entry.proc)), None)?;
            question.answer(Flaw::Start(first(entry.proc)))?;
        }
        if let Some(prelude) = self.old.prelude {
            let mut question = self.question(&[], Before::Nothing);
            let begun = question.run(|old| old.begin(prelude), |new| new.begin(prelude))?;
            question.stands_for(begun, Some(first(prelude)), None)?;
            question.answer(Flaw::Start(first(prelude)))?;
        }
        Ok(())
    }

    /// Every step along an edge has one over bits.
    fn edge(&self, id: EdgeId) -> Result<(), Refused> {
        self.run.check_limits()?;
        let (old, new) = (&self.old.edges[id], &self.new.edges[id]);
        if self.ranges(old.from).is_none() {
            return Ok(());
        }
        let mut question = self.question(&self.map.edges[id], Before::Thread(old.from));
        match (&old.op, &new.op) {
            (Op::Return(values), Op::Return(bits)) => {
                let returned = question.run(|meaning| meaning.values(values), |meaning| meaning.values(bits))?;
                question.returned(returned, self.old.locs[old.from].proc)?;
            }
            (Op::Call(call), Op::Call(over_bits)) => {
                let (effect, bits) = question.run(|step| step.effect(old, None), |step| step.effect(new, None))?;
                question.stands_for((effect.writes, bits.writes), Some(self.old.procs[call.callee].entry), None)?;
                question.taken(call, over_bits, old.to)?;
            }
            (Op::Spawn(spawn), _) => {
                let (effect, bits) = question.run(|step| step.effect(old, None), |step| step.effect(new, None))?;
                question.stands_for((effect.child, bits.child), Some(self.old.procs[spawn.callee].entry), None)?;
                question.stands_for((Vec::new(), Vec::new()), Some(old.to), None)?;
            }
            (Op::Fork(loc), _) => {
                question.stands_for((Vec::new(), Vec::new()), Some(*loc), None)?;
                question.stands_for((Vec::new(), Vec::new()), Some(old.to), None)?;
            }
            (Op::End, _) => {}
            _ => {
                let (effect, bits) = question.run(|step| step.effect(old, None), |step| step.effect(new, None))?;
                let mut guard = question.guard(&effect.conditions);
                for condition in bits.conditions {
                    question.bad(guard, condition);
                }
                if let (Some(asserted), Some(over_bits)) = (effect.asserted, bits.asserted) {
                    let same = question.sat.equal(asserted[0], over_bits);
                    question.bad(guard, same);
                    guard = asserted[0];
                }
                question.stands_for((effect.writes, bits.writes), Some(old.to), Some(guard))?;
            }
        }
        question.answer(Flaw::NotClosed(id))
    }

    /// Returns whether a variable may be read later, where a thread is at a location.
    fn matters(&self, var: VarId, at: Option<LocId>) -> bool {
        !matches!(self.old.vars[var].scope, Scope::Local(_)) || at.is_some_and(|loc| self.live[loc].contains(&var))
    }
}

/// A state of the program and the bits that stand for it, and the choices of a step of both.
struct Both<'q> {
    map: &'q BitMap,
    bits: BTreeMap<VarId, Lit>,
    choices: &'q [BitChoice],
    /// The bits of the choices that the program makes.
    made: BTreeMap<(u32, usize), Lit>,
}

impl Both<'_> {
    fn bit(&mut self, sat: &mut Sat<'_>, var: VarId) -> Lit {
        *self.bits.entry(var).or_insert_with(|| sat.fresh())
    }
}

impl Scene<Circuits<'_, '_>> for Both<'_> {
    fn read(&mut self, circuits: &mut Circuits<'_, '_>, var: VarId) -> Result<Bits, Refused> {
        let code = &self.map.vars[var];
        let bits = code.bits.iter().map(|bit| self.bit(circuits.0, *bit)).collect();
        Ok(value(circuits, code.ty, bits, code.rest))
    }

    fn choice(&mut self, circuits: &mut Circuits<'_, '_>, number: u32) -> Result<Bits, Refused> {
        let bits = 0..self.choices[number as usize].bits.len();
        Ok(bits.map(|bit| *self.made.entry((number, bit)).or_insert_with(|| circuits.0.fresh())).collect())
    }
}

impl<'r> Scene<Sat<'r>> for Both<'_> {
    fn read(&mut self, sat: &mut Sat<'r>, var: VarId) -> Result<Lit, Refused> {
        Ok(self.bit(sat, var))
    }

    /// The bit of the program's choice that this choice makes; false if it makes none.
    fn choice(&mut self, sat: &mut Sat<'r>, number: u32) -> Result<Lit, Refused> {
        let mut all = self.choices.iter().zip(0..);
        let found = all.find_map(|(choice, old)| Some((old, choice.bits.iter().position(|bit| *bit == Some(number))?)));
        Ok(match found {
            Some(place) => *self.made.entry(place).or_insert_with(|| sat.fresh()),
            None => sat.constant(false),
        })
    }
}

/// The value that some lowest bits and the rest make.
fn value(circuits: &Circuits<'_, '_>, ty: Ty, mut bits: Bits, rest: Rest) -> Bits {
    let highest = bits.last().copied();
    for place in bits.len()..full_width(ty) {
        bits.push(match (rest, highest) {
            (Rest::Sign, Some(highest)) => highest,
            (Rest::Constant(rest), _) => circuits.0.constant(rest >> place & 1 == 1),
            (Rest::Sign, None) => circuits.0.constant(false),
        });
    }
    bits
}

/// The variables that have values before a step or a start, for which their bits stand.
#[derive(Clone, Copy)]
enum Before {
    /// None.
    Nothing,
    /// Shared ones: a thread begins.
    Shared,
    /// Those of a thread at this location.
    Thread(LocId),
}

impl Before {
    fn at(self) -> Option<LocId> {
        if let Before::Thread(at) = self { Some(at) } else { None }
    }
}

/// A question about one step, or one start.
struct Question<'q> {
    checker: &'q Checker<'q>,
    sat: Sat<'q>,
    both: Both<'q>,
    before: Before,
    /// What must not be.
    bad: Vec<Lit>,
}

impl<'q> Question<'q> {
    /// Computes something of the program, and over bits.
    fn run<A, B>(
        &mut self,
        of_old: impl FnOnce(&mut Meaning<'_, Circuits<'_, 'q>, Both<'q>>) -> Result<A, Refused>,
        of_new: impl FnOnce(&mut Meaning<'_, Sat<'q>, Both<'q>>) -> Result<B, Refused>,
    ) -> Result<(A, B), Refused> {
        let Checker { old, new, .. } = self.checker;
        let of_old = of_old(&mut Meaning::new(old, &mut Circuits(&mut self.sat), &mut self.both))?;
        Ok((of_old, of_new(&mut Meaning::new(new, &mut self.sat, &mut self.both))?))
    }

    fn guard(&mut self, conditions: &[Bits]) -> Lit {
        let truth = self.sat.constant(true);
        conditions.iter().fold(truth, |guard, condition| self.sat.and(guard, condition[0]))
    }

    /// Where the guard holds, this must hold.
    fn bad(&mut self, guard: Lit, must: Lit) {
        let bad = self.sat.and(guard, !must);
        self.bad.push(bad);
    }

    /// After writes of both, the bits stand for the state where a thread is at a location.
    fn stands_for(
        &mut self,
        (old, new): (Writes<Bits>, Writes<Lit>),
        at: Option<LocId>,
        guard: Option<Lit>,
    ) -> Result<(), Refused> {
        let guard = guard.unwrap_or(self.sat.constant(true));
        let new: BTreeMap<VarId, Option<Lit>> = new.into_iter().collect();
        let checker = self.checker;
        if at.is_some_and(|at| checker.ranges(at).is_none()) {
            let falsehood = self.sat.constant(false);
            self.bad(guard, falsehood);
        }
        for (var, code) in checker.map.vars.iter_enumerated().filter(|(var, _)| checker.matters(*var, at)) {
            let written = old.iter().find(|(written, _)| *written == var);
            let (before, range) = (checker.range(var, self.before.at()), checker.range(var, at));
            if written.is_none() && before == range && code.bits.iter().all(|bit| !new.contains_key(bit)) {
                continue;
            }
            let is_open = code.bits.iter().all(|bit| new.get(bit) == Some(&None));
            let after = match written {
                Some((_, None)) if is_open && code.bits.len() == full_width(code.ty) => {
                    code.bits.iter().map(|_| self.sat.fresh()).collect()
                }
                Some((_, None)) => return Err(MALFORMED.into()),
                Some((_, Some(after))) => {
                    self.same(code, after, &new, guard)?;
                    after.clone()
                }
                None => {
                    let before = self.both.read(&mut Circuits(&mut self.sat), var)?;
                    self.same(code, &before, &new, guard)?;
                    before
                }
            };
            let inside = self.belongs(range, code.ty, &after);
            self.bad(guard, inside);
        }
        Ok(())
    }

    /// A value belongs to a range, if there is one.
    fn belongs(&mut self, range: Option<&Range>, ty: Ty, value: &[Lit]) -> Lit {
        let mut circuits = Circuits(&mut self.sat);
        circuits.belongs(range, ty, value)
    }

    /// What the step reads belongs to the ranges before it.
    fn assume(&mut self) {
        let checker = self.checker;
        for (var, code) in checker.map.vars.iter_enumerated() {
            let bits: Option<Bits> = code.bits.iter().map(|bit| self.both.bits.get(bit).copied()).collect();
            let has_value = match self.before {
                Before::Nothing => false,
                Before::Shared => checker.old.vars[var].scope == Scope::Shared,
                Before::Thread(at) => checker.matters(var, Some(at)),
            };
            let Some(bits) = bits.filter(|_| has_value) else { continue };
            let before = value(&Circuits(&mut self.sat), code.ty, bits, code.rest);
            let inside = self.belongs(checker.range(var, self.before.at()), code.ty, &before);
            self.sat.require(inside);
        }
    }

    /// A variable's bits after writes make this value.
    fn same(
        &mut self,
        code: &Code,
        after: &[Lit],
        new: &BTreeMap<VarId, Option<Lit>>,
        guard: Lit,
    ) -> Result<(), Refused> {
        let mut bits = Vec::new();
        for bit in &code.bits {
            bits.push(match new.get(bit) {
                Some(Some(written)) => *written,
                Some(None) => return Err(MALFORMED.into()),
                None => self.both.bit(&mut self.sat, *bit),
            });
        }
        let mut circuits = Circuits(&mut self.sat);
        let made = value(&circuits, code.ty, bits, code.rest);
        let same = circuits.equal(&made, after);
        self.bad(guard, same);
        Ok(())
    }

    /// Returned values are what their lowest bits make, and these are returned over bits.
    fn returned(&mut self, (values, bits): (Vec<Bits>, Vec<Lit>), proc: ProcId) -> Result<(), Refused> {
        let (widths, ranges) = (&self.checker.map.results[proc], &self.checker.map.ranges.results[proc]);
        let truth = self.sat.constant(true);
        let mut rest = &bits[..];
        for ((value_of, width), range) in values.iter().zip(widths).zip(ranges) {
            let inside = self.belongs(Some(range), width.ty, value_of);
            self.bad(truth, inside);
            let n_returned = width.returned as usize;
            let (returned, others) = rest.split_at_checked(n_returned).ok_or(MALFORMED)?;
            rest = others;
            let mut circuits = Circuits(&mut self.sat);
            let made = value(&circuits, width.ty, value_of[..width.n_bits as usize].to_vec(), width.rest);
            let same = circuits.equal(&made, value_of);
            let handed_over = circuits.equal(returned, &value_of[..n_returned]);
            self.bad(truth, same);
            self.bad(truth, handed_over);
        }
        Ok(())
    }

    /// The variables that take what a call returns have the bits that make it, at the location behind the call.
    fn taken(&mut self, call: &Call, over_bits: &Call, to: LocId) -> Result<(), Refused> {
        let (mut old, mut new): (Writes<Bits>, Writes<Lit>) = (Vec::new(), Vec::new());
        let mut takers = over_bits.results.iter();
        let mut guard = self.sat.constant(true);
        let (widths, ranges) = (&self.checker.map.results[call.callee], &self.checker.map.ranges.results[call.callee]);
        for ((var, width), range) in call.results.iter().zip(widths).zip(ranges) {
            let bits = (0..width.n_bits).map(|_| self.sat.fresh()).collect();
            let made = value(&Circuits(&mut self.sat), width.ty, bits, width.rest);
            let inside = self.belongs(Some(range), width.ty, &made);
            guard = self.sat.and(guard, inside);
            for (bit, taker) in made[..width.returned as usize].iter().zip(takers.by_ref()) {
                new.extend(taker.map(|taker| (taker, Some(*bit))));
            }
            old.extend(var.map(|var| (var, Some(made))));
        }
        self.stands_for((old, new), Some(to), Some(guard))
    }

    /// Nothing of what must not be can be.
    fn answer(mut self, flaw: Flaw) -> Result<(), Refused> {
        self.assume();
        let falsehood = self.sat.constant(false);
        self.bad.retain(|bad| *bad != falsehood);
        if self.bad.is_empty() {
            return Ok(());
        }
        self.sat.clause(&self.bad);
        self.sat.refute(&[], flaw)
    }
}
