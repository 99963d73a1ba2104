//! The variables of the diagrams, and the ones that each procedure uses.
//!
//! A variable of the program has three: its value at the entry of the running procedure, its value now, and its value
//! after a step, next to each other in this order. Locals of different procedures share theirs. A shared variable may
//! have further copies, which are above its three in the order. The returned values and the choices of an edge are
//! below all others.

use fixedbitset::FixedBitSet;
use index_vec::IndexVec;
use selvedge_ir::callgraph::CallGraph;
use selvedge_ir::dataflow::Arrows;
use selvedge_ir::mod_ref::ModRef;
use selvedge_ir::slots::Slots;
use selvedge_ir::{Expr, Op, ProcId, Program, Scope, VarId};
use selvedge_logic::bdd::{Limits, Manager, Var};
use selvedge_logic::order::{force, force_again};

use crate::step::diagram::relation::{self, Layout};
use crate::step::vars::n_choices;

/// The moment at which a variable of the program is seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    Entry,
    Now,
    Next,
}

/// The variables of the diagrams.
pub struct PathLayout {
    pub manager: Manager,
    slots: Slots,
    /// The three variables of each slot.
    triples: Vec<[Var; 3]>,
    /// The further copies of each slot.
    copies: Vec<Vec<Var>>,
    /// The variables above all others.
    pub above: Vec<Var>,
    pub results: Vec<Var>,
    pub choices: Vec<Var>,
    pub scopes: IndexVec<ProcId, ProcScope>,
}

/// The variables of a program that concern a procedure.
pub struct ProcScope {
    /// The shared and per-thread variables that it or its callees touch.
    pub globals: Vec<VarId>,
    /// The variables among `globals` that may be modified.
    pub modified: Vec<VarId>,
    /// The parameters that it modifies: like modified globals, they have an entry copy.
    pub modified_params: Vec<VarId>,
}

impl ProcScope {
    /// Returns the variables whose value at the entry is kept beside their value now. The others do not change.
    pub fn with_entry_copy(&self) -> impl Iterator<Item = VarId> {
        self.modified.iter().chain(&self.modified_params).copied()
    }
}

/// The arrangement of further copies of shared variables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Copies {
    /// This number of copies, each next to the variable that it is a copy of.
    ByVariable(usize),
    /// A number of blocks with a number of copies each, above all other variables. Each block lists the variables in
    /// their order, with the block's copies of a variable next to each other.
    InBlocks(usize, usize),
    /// No copies, but this number of variables above all others.
    Above(usize),
}

/// An order of the variables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// The order that is tried first.
    First,
    /// Another order, for programs that run out of nodes with the first.
    Rescue,
    /// The locals, then the other variables in the order of their declaration.
    Declared,
}

impl PathLayout {
    pub fn new(program: &Program, calls: &CallGraph, order: Order, limits: Limits) -> PathLayout {
        PathLayout::with_copies(program, calls, order, limits, Copies::ByVariable(0))
    }

    /// Creates the variables of a program with further copies of the shared ones.
    pub fn with_copies(
        program: &Program,
        calls: &CallGraph,
        order: Order,
        limits: Limits,
        arrangement: Copies,
    ) -> PathLayout {
        let slots = Slots::new(program);
        let arrows = Arrows::new(program, calls);
        let effects = ModRef::new(program, &slots, calls, &arrows);
        let n_slots = program.procs.indices().map(|proc| slots.visible(proc)).max().unwrap_or(0);
        let n_results = program.procs.iter().map(|proc| proc.results.len()).max().unwrap_or(0);
        let n_choices = n_choices(program);
        let is_shared =
            |slot: usize| slots.globals().get(slot).is_some_and(|var| program.vars[*var].scope == Scope::Shared);
        let (n_copies, n_above) = match arrangement {
            Copies::ByVariable(count) => (count, 0),
            Copies::InBlocks(blocks, size) => (blocks * size, 0),
            Copies::Above(count) => (0, count),
        };
        let further = |slot: usize| if is_shared(slot) { n_copies } else { 0 };
        let manager = Manager::new(limits);
        let n_vars = n_above + (0..n_slots).map(|slot| 3 + further(slot)).sum::<usize>() + n_results + n_choices;
        let mut vars = manager.add_vars(n_vars).into_iter();
        let order = ordered(program, &slots, n_slots, order);
        // From the top down: the variables above all others, blocks of copies, then each slot with its own copies.
        let mut triples = vec![[None; 3]; n_slots];
        let mut copies: Vec<Vec<Var>> = vec![Vec::new(); n_slots];
        let above = vars.by_ref().take(n_above).collect();
        if let Copies::InBlocks(blocks, size) = arrangement {
            for slot in (0..blocks).flat_map(|_| order.iter()).filter(|slot| is_shared(**slot)) {
                copies[*slot].extend(vars.by_ref().take(size));
            }
        }
        for slot in order {
            if let Copies::ByVariable(_) = arrangement {
                copies[slot].extend(vars.by_ref().take(further(slot)));
            }
            triples[slot] = [(); 3].map(|()| vars.next());
        }
        let triples =
            triples.into_iter().map(|triple| triple.map(|var| var.expect("every slot has a place"))).collect();
        let scope = |proc: ProcId| scope(program, &slots, &effects, proc);
        PathLayout {
            triples,
            copies,
            above,
            results: vars.by_ref().take(n_results).collect(),
            choices: vars.collect(),
            scopes: program.procs.indices().map(scope).collect(),
            manager,
            slots,
        }
    }

    /// Returns the variable of the diagrams for a variable of the program.
    pub fn var(&self, var: VarId, when: When) -> Var {
        self.triples[self.slots.get(var)][when as usize]
    }

    /// Returns a further copy of a shared variable.
    pub fn copy(&self, var: VarId, number: usize) -> Var {
        self.copies[self.slots.get(var)][number]
    }

    /// Returns the variables of the diagrams for several variables of the program.
    pub fn vars(&self, vars: impl IntoIterator<Item = VarId>, when: When) -> Vec<Var> {
        vars.into_iter().map(|var| self.var(var, when)).collect()
    }

    /// Returns the variables that the path edges of a procedure have now.
    pub fn visible(&self, program: &Program, proc: ProcId) -> Vec<VarId> {
        self.scopes[proc].globals.iter().chain(&program.procs[proc].locals).copied().collect()
    }
}

/// Returns the slots in an order, from the top down.
fn ordered(program: &Program, slots: &Slots, n_slots: usize, order: Order) -> Vec<usize> {
    match order {
        Order::First => force(n_slots, &together(program, slots)),
        Order::Rescue => force_again(n_slots, &together(program, slots)),
        Order::Declared => {
            let n_globals = slots.globals().len();
            (n_globals..n_slots).chain(0..n_globals).collect()
        }
    }
}

impl Layout for PathLayout {
    type Agent = ();

    fn manager(&self) -> &Manager {
        &self.manager
    }

    fn choices(&self) -> &[Var] {
        &self.choices
    }

    fn position(&self, var: VarId, (): (), when: relation::When) -> Var {
        self.var(var, if when == relation::When::Now { When::Now } else { When::Next })
    }
}

/// Returns groups of slots that belong near each other in the order: those of each assigned variable with its value, of
/// each conjunct of a condition, and of each argument with its parameter.
fn together(program: &Program, slots: &Slots) -> Vec<Vec<usize>> {
    let mut sets: Vec<Vec<usize>> = Vec::new();
    let mut add = |var: Option<VarId>, expr: &Expr| {
        let mut set: Vec<usize> = var.map(|var| slots.get(var)).into_iter().collect();
        expr.for_each_leaf(|leaf| {
            if let Expr::Var(var) | Expr::Next(var) = leaf {
                set.push(slots.get(*var));
            }
        });
        set.sort_unstable();
        set.dedup();
        if set.len() >= 2 {
            sets.push(set);
        }
    };
    for edge in &program.edges {
        edge.ensures.conjuncts().into_iter().for_each(|conjunct| add(None, conjunct));
        match &edge.op {
            Op::Assign(assign) => {
                assign.active.iter().for_each(|(var, rhs)| add(Some(*var), rhs));
                assign.constrain.conjuncts().into_iter().for_each(|conjunct| add(None, conjunct));
            }
            Op::Assert(condition) => condition.conjuncts().into_iter().for_each(|conjunct| add(None, conjunct)),
            Op::Call(call) => {
                let params = &program.procs[call.callee].params;
                params.iter().zip(&call.args).for_each(|(param, arg)| add(Some(*param), arg));
            }
            Op::Return(values) => values.iter().for_each(|value| add(None, value)),
            _ => {}
        }
    }
    sets
}

fn scope(program: &Program, slots: &Slots, effects: &ModRef, proc: ProcId) -> ProcScope {
    let effects = effects.of(proc);
    let touched: FixedBitSet = effects.refs.union(&effects.mods).collect();
    let mut assigned = FixedBitSet::with_capacity(program.vars.len());
    for edge in program.edges.iter().filter(|edge| program.locs[edge.from].proc == proc) {
        edge.op.assigned().for_each(|var| assigned.insert(var.index()));
    }
    let is_assigned = |param: &VarId| assigned.contains(param.index());
    ProcScope {
        globals: touched.ones().map(|slot| slots.globals()[slot]).collect(),
        modified: effects.mods.ones().map(|slot| slots.globals()[slot]).collect(),
        modified_params: program.procs[proc].params.iter().copied().filter(is_assigned).collect(),
    }
}
