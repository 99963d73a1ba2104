//! The numbers of a program that was written over bits.
//!
//! The pass `blast` calls the bits of a number `x.0`, `x.1` and so on. Here they become a number again. A wrong guess
//! only makes facts that do not hold.

use std::collections::BTreeMap;

use index_vec::IndexVec;
use selvedge_ir::{Expr, Op, Program, Scope, VarId};

/// The bits of a number, the lowest first.
pub(super) type Bits = Vec<VarId>;

/// The numbers of a program, and which of them have to do with each other.
pub(super) struct Numbers {
    pub(super) all: Vec<Bits>,
    /// The class of each number. Numbers that are compared or assigned to each other are of one class.
    pub(super) class: Vec<usize>,
    /// The values that are assigned to numbers of each class, with the width of the number.
    pub(super) constants: BTreeMap<usize, Vec<(u64, usize)>>,
}

/// The most values of a class that facts compare with.
const MOST_CONSTANTS: usize = 12;

impl Numbers {
    /// Finds the numbers of a program.
    pub(super) fn new(program: &Program) -> Numbers {
        let all = bits(program);
        let mut number: IndexVec<VarId, usize> = program.vars.iter().map(|_| 0).collect();
        for (index, bits) in all.iter().enumerate() {
            bits.iter().for_each(|bit| number[*bit] = index);
        }
        let mut groups = Groups::new(all.len());
        let wide = |var: VarId| all[number[var]].len() > 1;
        for_each_group(program, &mut |vars| {
            let wide: Vec<usize> = vars.iter().filter(|var| wide(**var)).map(|var| number[*var]).collect();
            wide.windows(2).for_each(|pair| groups.join(pair[0], pair[1]));
        });
        let class: Vec<usize> = (0..all.len()).map(|index| groups.name(index)).collect();
        let constants = constants(program, &all, &class);
        Numbers { all, class, constants }
    }
}

/// Groups the variables by their names. Copies of a procedure have variables of one name: the one that comes first has
/// the first of each bit, and so on.
fn bits(program: &Program) -> Vec<Bits> {
    let mut numbers: Vec<Bits> = Vec::new();
    let mut known: BTreeMap<(Scope, &str, usize), usize> = BTreeMap::new();
    let mut met: BTreeMap<(Scope, &str), usize> = BTreeMap::new();
    for (id, var) in program.vars.iter_enumerated() {
        let split = var.name.rsplit_once('.').and_then(|(stem, bit)| Some((stem, bit.parse::<usize>().ok()?)));
        let Some((stem, bit)) = split.filter(|(_, bit)| *bit < 64) else {
            numbers.push(vec![id]);
            continue;
        };
        let nth = met.entry((var.scope, &var.name)).or_default();
        let key = (var.scope, stem, *nth);
        *nth += 1;
        match known.get(&key) {
            Some(number) if numbers[*number].len() == bit => numbers[*number].push(id),
            _ => {
                known.insert(key, numbers.len());
                numbers.push(vec![id]);
            }
        }
    }
    numbers
}

/// Calls a function with the variables that occur together: on both sides of an assignment, or in a condition.
fn for_each_group(program: &Program, group: &mut dyn FnMut(&[VarId])) {
    let leaves = |expr: &Expr| {
        let mut vars = Vec::new();
        expr.for_each_leaf(|leaf| vars.extend(leaf.var()));
        vars
    };
    let mut assigned = |var: VarId, rhs: &Expr| {
        let mut vars = leaves(rhs);
        vars.push(var);
        group(&vars);
    };
    for edge in &program.edges {
        match &edge.op {
            Op::Assign(assign) => assign.active.iter().for_each(|(var, rhs)| assigned(*var, rhs)),
            Op::Spawn(spawn) => {
                let params = &program.procs[spawn.callee].params;
                params.iter().zip(&spawn.args).for_each(|(param, arg)| assigned(*param, arg));
            }
            _ => {}
        }
    }
    for condition in conditions(program) {
        group(&leaves(condition));
    }
}

/// Returns the conditions of a program, in parts that all must hold.
pub(super) fn conditions(program: &Program) -> impl Iterator<Item = &Expr> {
    program.edges.iter().flat_map(|edge| {
        let own = match &edge.op {
            Op::Assign(assign) => Some(&assign.constrain),
            Op::Assert(condition) => Some(condition),
            _ => None,
        };
        own.into_iter().chain([&edge.ensures]).flat_map(|condition| condition.conjuncts())
    })
}

/// Returns the constants that are assigned to numbers, by class.
fn constants(program: &Program, all: &[Bits], class: &[usize]) -> BTreeMap<usize, Vec<(u64, usize)>> {
    let mut constants: BTreeMap<usize, Vec<(u64, usize)>> = BTreeMap::new();
    let starts = program.entries.iter().map(|entry| entry.init.as_slice()).chain([program.init.as_slice()]);
    let steps = program.edges.iter().filter_map(|edge| match &edge.op {
        Op::Assign(assign) => Some(assign.active.as_slice()),
        _ => None,
    });
    for assigned in starts.chain(steps) {
        let value = |bit: &VarId| assigned.iter().find(|(var, _)| var == bit).map(|(_, rhs)| rhs.clone());
        for (number, bits) in all.iter().enumerate().filter(|(_, bits)| bits.len() > 1) {
            let values: Option<Vec<bool>> = bits
                .iter()
                .map(|bit| match value(bit)? {
                    Expr::Bool(value) => Some(value),
                    _ => None,
                })
                .collect();
            let Some(values) = values else { continue };
            let constant = values.iter().rev().fold(0, |bits, bit| bits << 1 | u64::from(*bit));
            let known = constants.entry(class[number]).or_default();
            if known.len() < MOST_CONSTANTS && !known.contains(&(constant, bits.len())) {
                known.push((constant, bits.len()));
            }
        }
    }
    constants
}

/// Sets that are joined.
struct Groups(Vec<usize>);

impl Groups {
    fn new(count: usize) -> Groups {
        Groups((0..count).collect())
    }

    /// Returns the least member that names a set. Each step leads to a smaller number.
    fn name(&self, mut member: usize) -> usize {
        while self.0[member] != member {
            member = self.0[member];
        }
        member
    }

    fn join(&mut self, one: usize, other: usize) {
        let (one, other) = (self.name(one), self.name(other));
        self.0[one.max(other)] = one.min(other);
    }
}
