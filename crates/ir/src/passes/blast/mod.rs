//! Writes a program with machine integers over bits, so that everything that is for Boolean programs applies to it.
//!
//! [`crate::ranges`] says which values a variable may have: it becomes as many Boolean variables as these need, and the
//! bits above them are constants or copies of the highest one. Choices become a choice for each bit. `vectors` has the
//! circuits of the operators, `gates` writes circuits as expressions that share parts. Locations, edges and procedures
//! stay, each step stays one step.
//!
//! *Correctness.* A state over bits stands for the state in which each variable has the value that its bits make. All
//! values that are read belong to the ranges, so that this is one to one but for values that are never read. Circuits
//! compute what the operators do, and what an assignment leaves out, because its variable has no such bit, is what the
//! bits above are anyway.
//!
//! A step in which other threads take part must not choose anything: whether a choice is made once or for each thread
//! depends on where it occurs, and a bit of it may occur in fewer places.

mod codes;
mod gates;
mod lift;
mod vectors;

use std::convert::Infallible;

use index_vec::IndexVec;
use rustc_hash::FxHashMap;

use codes::{Codes, width_of};
use gates::{Gates, Lit};
pub use lift::BitLift;
use vectors::Bits;

use super::edit::number_choices;
use crate::bits::{BitChoice, BitMap, Code, RangeMap, Rest, Width};
use crate::ranges::{Range, Ranges};
use crate::simplify::size;
use crate::syntax::{Assign, BinaryOp, Call, Edge, Entry, Expr, Op, Proc, ProcId, Program, Spawn, Ty, UnaryOp, VarId};
use crate::visit::{Parts, init_choices};

/// The most Boolean variables that a program may have.
pub const MAX_VARS: usize = 1 << 12;

/// The most leaves and operators that the expressions of a program may have in all.
pub const MAX_SIZE: usize = 1 << 21;

/// A program over bits. The target is the same.
#[derive(Clone, Debug)]
pub struct Blasted {
    /// The program.
    pub program: Program,
    /// The map from executions of it to executions of the program with machine integers.
    pub lift: BitLift,
}

/// Writes a program over bits, or says why that cannot be done.
pub fn run(program: &Program) -> Result<Blasted, String> {
    accepts(program)?;
    let ranges = Ranges::of(program);
    let mut blasted = with_ranges(program, &ranges)?;
    blasted.lift.map.ranges = ranges.map(program);
    Ok(blasted)
}

/// Writes a program over bits in which every number has all bits of its type, whatever values it may have.
pub fn run_wide(program: &Program) -> Result<Blasted, String> {
    accepts(program)?;
    with_ranges(program, &Ranges::any(program))
}

/// Says why [`run_wide`] does not write a program, unless the reason is the size of circuits.
pub fn accepts_wide(program: &Program) -> Result<(), String> {
    accepts(program)?;
    few_enough(program.vars.iter().map(|var| width(var.ty) as usize).sum())
}

fn few_enough(n_vars: usize) -> Result<(), String> {
    if n_vars <= MAX_VARS {
        return Ok(());
    }
    Err(format!("the machine integers need {n_vars} Boolean variables, and {MAX_VARS} are the most"))
}

/// Says why a program has no bits, if it has none.
fn accepts(program: &Program) -> Result<(), String> {
    let is_int = |leaf: &Expr| matches!(leaf, Expr::Int(_) | Expr::Choice(_, Ty::Int));
    if program.vars.iter().any(|var| var.ty == Ty::Int) || program.exprs().any(|expr| expr.any_leaf(is_int)) {
        return Err("there are mathematical integers, which have no bits".to_owned());
    }
    if program.edges.iter().any(|edge| edge.ensures != Expr::TRUE) {
        return Err("`enforce` clauses are not supported beside machine integers".to_owned());
    }
    Ok(())
}

fn with_ranges(program: &Program, ranges: &Ranges) -> Result<Blasted, String> {
    let codes = Codes::new(program, ranges);
    few_enough(codes.vars.len())?;
    let results = widths_of_results(program, ranges);
    Writer { program, codes, results, size: 0 }.program()
}

impl Blasted {
    /// Returns a condition on the variables of the program with machine integers over those that stand for them.
    pub fn condition(&self, condition: &Expr) -> Expr {
        self::condition(&self.lift.map.vars, condition)
    }
}

/// Returns a condition on variables over those that stand for them.
pub fn condition(codes: &IndexVec<VarId, Code>, condition: &Expr) -> Expr {
    Step::new(codes, &[]).condition(condition)
}

/// Returns the bits of the results of procedures: as many are returned as the variables need that take them.
fn widths_of_results(program: &Program, ranges: &Ranges) -> IndexVec<ProcId, Vec<Width>> {
    let mut taken: IndexVec<ProcId, Vec<Range>> =
        program.procs.iter().map(|proc| vec![Range::Never; proc.results.len()]).collect();
    for edge in &program.edges {
        if let Op::Call(call) = &edge.op {
            for (place, var) in call.results.iter().enumerate() {
                let range = &mut taken[call.callee][place];
                *range = var.map_or(range.clone(), |var| range.join(ranges.get(var)));
            }
        }
    }
    let of_proc = |(id, proc): (ProcId, &Proc)| -> Vec<Width> {
        let of_result = |(place, ty): (usize, &Ty)| {
            let range = ranges.result(id, place);
            let returned = width_of(*ty, &taken[id][place].join(range)).n_bits;
            Width { returned, ..width_of(*ty, range) }
        };
        proc.results.iter().enumerate().map(of_result).collect()
    };
    program.procs.iter_enumerated().map(of_proc).collect()
}

struct Writer<'p> {
    program: &'p Program,
    codes: Codes,
    results: IndexVec<ProcId, Vec<Width>>,
    /// The number of leaves and operators so far.
    size: usize,
}

/// The initial values of variables.
type InitialValues = Vec<(VarId, Expr)>;

/// An expression list over bits that is being written: one edge, or one list of initial values.
struct Step<'w> {
    codes: &'w IndexVec<VarId, Code>,
    gates: Gates,
    /// The first new number of each choice.
    choices: Vec<u32>,
    /// The new values of the machine integers that the step assigns. A value that the condition rejects may have more
    /// bits than the variable.
    next: FxHashMap<VarId, Bits>,
}

impl Writer<'_> {
    fn program(mut self) -> Result<Blasted, String> {
        let old = self.program;
        let mut edges = IndexVec::new();
        let mut of_edges = IndexVec::new();
        for edge in &old.edges {
            let (op, choices) = self.op(&edge.op, old.locs[edge.from].proc)?;
            edges.push(Edge { op, ..edge.clone() });
            of_edges.push(choices);
        }
        let (init, of_init) = self.init(&old.init)?;
        let mut entries = IndexVec::new();
        let mut of_entries = IndexVec::new();
        for entry in &old.entries {
            let (init, choices) = self.init(&entry.init)?;
            entries.push(Entry { thread_vars: self.codes.all(&entry.thread_vars), init, ..entry.clone() });
            of_entries.push(choices);
        }
        let procs = old.procs.iter_enumerated().map(|(id, proc)| self.proc(id, proc)).collect();
        let Codes { codes, vars, origin } = self.codes;
        let program = Program { vars, procs, edges, init, entries, ..old.clone() };
        let (vars, results) = (codes, self.results);
        let ranges = RangeMap::default();
        let map = BitMap { vars, results, edges: of_edges, init: of_init, entries: of_entries, ranges };
        Ok(Blasted { program, lift: BitLift { map, origin } })
    }

    fn proc(&self, id: ProcId, proc: &Proc) -> Proc {
        let n_results: u32 = self.results[id].iter().map(|width| width.returned).sum();
        Proc {
            params: self.codes.all(&proc.params),
            locals: self.codes.all(&proc.locals),
            results: vec![Ty::Bool; n_results as usize],
            ..proc.clone()
        }
    }

    /// Counts the leaves and operators of some expressions.
    fn count<'e>(&mut self, written: impl Iterator<Item = &'e Expr>) -> Result<(), String> {
        self.size += written.map(size).sum::<usize>();
        if self.size <= MAX_SIZE {
            return Ok(());
        }
        Err(format!("the arithmetic of machine integers needs more than {MAX_SIZE} operators on bits"))
    }

    fn op(&mut self, op: &Op, owner: ProcId) -> Result<(Op, Vec<BitChoice>), String> {
        let types = op.choices();
        let mut step = Step::new(&self.codes.codes, &types);
        let mut written = match op {
            Op::Assign(assign) => {
                if assign.is_passive() && !types.is_empty() && !assign.exprs().all(|expr| step.plain(expr).is_some()) {
                    return Err("a step in which other threads take part chooses machine integers".to_owned());
                }
                Op::Assign(Assign {
                    active: step.active(&assign.active),
                    passive: step.assignments(&assign.passive),
                    constrain: step.condition(&assign.constrain),
                })
            }
            Op::Assert(condition) => Op::Assert(step.condition(condition)),
            Op::Call(call) => Op::Call(Call {
                results: self.results(call),
                callee: call.callee,
                args: step.args(&self.program.procs[call.callee], &call.args),
            }),
            Op::Spawn(spawn) => Op::Spawn(Spawn {
                callee: spawn.callee,
                args: step.args(&self.program.procs[spawn.callee], &spawn.args),
            }),
            Op::Return(values) => {
                let values = values.iter().zip(&self.results[owner]);
                Op::Return(values.flat_map(|(value, width)| step.exprs_up_to(value, width.returned as usize)).collect())
            }
            Op::Fork(_) | Op::End | Op::AtomicBegin | Op::AtomicEnd => op.clone(),
        };
        let first = step.choices;
        self.count(written.exprs())?;
        let choices = bit_choices(&types, &first, written.exprs_mut());
        Ok((written, choices))
    }

    /// The variables for the bits of returned values; the bits above those of a variable are discarded.
    fn results(&self, call: &Call) -> Vec<Option<VarId>> {
        let bits = |(var, width): (&Option<VarId>, &Width)| -> Vec<Option<VarId>> {
            let bits = var.map_or(&[][..], |var| &self.codes.codes[var].bits);
            (0..width.returned as usize).map(|bit| bits.get(bit).copied()).collect()
        };
        call.results.iter().zip(&self.results[call.callee]).flat_map(bits).collect()
    }

    fn init(&mut self, init: &[(VarId, Expr)]) -> Result<(InitialValues, Vec<BitChoice>), String> {
        let types = init_choices(init);
        let mut step = Step::new(&self.codes.codes, &types);
        let mut written = step.assignments(init);
        let first = step.choices;
        self.count(written.iter().map(|(_, rhs)| rhs))?;
        let choices = bit_choices(&types, &first, written.iter_mut().map(|(_, rhs)| rhs).collect());
        Ok((written, choices))
    }
}

/// Numbers the new choices without gaps, and says which of them make the old ones.
fn bit_choices(types: &[Ty], first: &[u32], exprs: Vec<&mut Expr>) -> Vec<BitChoice> {
    let numbers = number_choices(exprs);
    let number = |old: u32| numbers.get(old as usize).copied().flatten();
    let choice = |(ty, first): (&Ty, &u32)| BitChoice {
        ty: *ty,
        bits: (0..width(*ty)).map(|bit| number(first + bit)).collect(),
    };
    types.iter().zip(first).map(choice).collect()
}

fn width(ty: Ty) -> u32 {
    if let Ty::Machine(ty) = ty { u32::from(ty.bits) } else { 1 }
}

impl<'w> Step<'w> {
    fn new(codes: &'w IndexVec<VarId, Code>, types: &[Ty]) -> Step<'w> {
        let starts = types.iter().scan(0, |next, ty| {
            let first = *next;
            *next += width(*ty);
            Some(first)
        });
        Step { codes, gates: Gates::new(), choices: starts.collect(), next: FxHashMap::default() }
    }

    /// Writes the assignments of the moving thread, and notes the new values for the condition.
    fn active(&mut self, assignments: &[(VarId, Expr)]) -> Vec<(VarId, Expr)> {
        for (var, rhs) in assignments {
            if self.codes[*var].ty != Ty::Bool {
                let bits = self.bits(&mut Parts::new(), rhs);
                self.next.insert(*var, bits);
            }
        }
        self.assignments(assignments)
    }

    /// Writes assignments: of a machine integer to each of its bits.
    fn assignments(&mut self, assignments: &[(VarId, Expr)]) -> Vec<(VarId, Expr)> {
        let mut written = Vec::new();
        for (var, rhs) in assignments {
            let code = &self.codes[*var];
            written.extend(code.bits.iter().copied().zip(self.exprs_up_to(rhs, code.bits.len())));
        }
        written
    }

    /// Writes arguments: the bits that the parameters have.
    fn args(&mut self, callee: &Proc, args: &[Expr]) -> Vec<Expr> {
        let pairs = callee.params.iter().zip(args);
        pairs.flat_map(|(param, arg)| self.exprs_up_to(arg, self.codes[*param].bits.len())).collect()
    }

    /// Writes the lowest bits of a value.
    fn exprs_up_to(&mut self, expr: &Expr, n_bits: usize) -> Vec<Expr> {
        if let Some(plain) = self.plain(expr) {
            return vec![plain];
        }
        let bits = self.bits(&mut Parts::new(), expr);
        bits[..n_bits].iter().map(|bit| self.gates.expr(*bit)).collect()
    }

    fn condition(&mut self, condition: &Expr) -> Expr {
        match self.plain(condition) {
            Some(plain) => plain,
            None => {
                let bit = self.bits(&mut Parts::new(), condition)[0];
                self.gates.expr(bit)
            }
        }
    }

    /// Returns an expression without machine integers as it is, with the new numbers of variables and choices.
    fn plain(&self, expr: &Expr) -> Option<Expr> {
        let is_machine = |part: &Expr| match part {
            Expr::Machine(..) | Expr::Unary(UnaryOp::Cast(..), _) | Expr::Binary(BinaryOp::Machine(..), _) => true,
            Expr::Choice(_, ty) => *ty != Ty::Bool,
            leaf => leaf.var().is_some_and(|var| self.codes[var].ty != Ty::Bool),
        };
        let renamed = |leaf: &Expr| match leaf {
            Expr::Choice(number, ty) => Expr::Choice(self.choices[*number as usize], *ty),
            leaf => self.leaf(leaf, 0).unwrap_or_else(|| leaf.clone()),
        };
        (!expr.any(is_machine)).then(|| expr.map_leaves(&mut |leaf| renamed(leaf)))
    }

    /// Returns a variable of a leaf's kind for a bit of the leaf's variable.
    fn leaf(&self, leaf: &Expr, bit: usize) -> Option<Expr> {
        let bit = *self.codes[leaf.var()?].bits.get(bit)?;
        Some(match leaf {
            Expr::Next(_) => Expr::Next(bit),
            Expr::Passive(_) => Expr::Passive(bit),
            Expr::PassiveNext(_) => Expr::PassiveNext(bit),
            _ => Expr::Var(bit),
        })
    }

    /// Returns the bits of an expression.
    fn bits(&mut self, parts: &mut Parts<Bits>, expr: &Expr) -> Bits {
        match expr {
            Expr::Bool(value) => vec![Lit::from(*value)],
            Expr::Machine(ty, bits) => Gates::constant(*ty, *bits),
            Expr::Choice(number, ty) => {
                let first = self.choices[*number as usize];
                (first..first + width(*ty)).map(|bit| self.gates.leaf(Expr::choice(bit))).collect()
            }
            Expr::Unary(op, operand) => {
                let operand = self.bits(parts, operand);
                match op {
                    UnaryOp::Cast(from, to) => Gates::cast(*from, *to, &operand),
                    UnaryOp::Not | UnaryOp::Neg | UnaryOp::DivisibleBy(_) => vec![!operand[0]],
                }
            }
            Expr::Binary(op, pair) => {
                let left = self.bits(parts, &pair.0);
                let right = self.bits(parts, &pair.1);
                self.binary(*op, &left, &right)
            }
            Expr::Ite(triple) => {
                let condition = self.bits(parts, &triple.0)[0];
                let then = self.bits(parts, &triple.1);
                let otherwise = self.bits(parts, &triple.2);
                self.gates.select(condition, &then, &otherwise)
            }
            Expr::Let(shared) => {
                let Ok(bits) = parts.scope(shared, |parts, expr| Ok::<_, Infallible>(self.bits(parts, expr)));
                bits
            }
            Expr::Part(number) => parts.get(*number).clone(),
            leaf => self.var_bits(leaf),
        }
    }

    /// Returns the bits of a variable, and those above them.
    fn var_bits(&mut self, leaf: &Expr) -> Bits {
        if let Expr::Next(var) = leaf
            && let Some(bits) = self.next.get(var)
        {
            return bits.clone();
        }
        let code = leaf.var().map(|var| &self.codes[var]).expect("programs with other integers are refused");
        let leaves: Vec<Expr> = (0..code.bits.len()).filter_map(|bit| self.leaf(leaf, bit)).collect();
        let mut bits: Bits = leaves.into_iter().map(|leaf| self.gates.leaf(leaf)).collect();
        let highest = bits.last().copied().unwrap_or(Lit::FALSE);
        bits.extend((bits.len() as u32..width(code.ty)).map(|place| match code.rest {
            Rest::Constant(rest) => Lit::from(rest >> place & 1 == 1),
            Rest::Sign => highest,
        }));
        bits
    }

    fn binary(&mut self, op: BinaryOp, left: &[Lit], right: &[Lit]) -> Bits {
        let gates = &mut self.gates;
        match op {
            BinaryOp::Machine(op, ty) => gates.machine(op, ty, left, right),
            BinaryOp::Eq => vec![gates.equal(left, right)],
            BinaryOp::Ne => vec![!gates.equal(left, right)],
            BinaryOp::And => vec![gates.and(left[0], right[0])],
            BinaryOp::Or => vec![gates.or(left[0], right[0])],
            BinaryOp::Implies => vec![gates.or(!left[0], right[0])],
            BinaryOp::Xor => vec![gates.xor(left[0], right[0])],
            BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Lt | BinaryOp::Le => {
                unreachable!("programs with other integers are refused")
            }
        }
    }
}

#[cfg(test)]
mod tests;
