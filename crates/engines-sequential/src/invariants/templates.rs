//! The conditions that may hold at a cut: comparisons of variables with each other and with constants of the program,
//! conditions of the program, truth values; and, if these are not enough, disjunctions of two of the simplest.

use std::collections::BTreeSet;

use rustc_hash::FxHashSet;
use selvedge_ir::eval::holds;
use selvedge_ir::ranges::Ranges;
use selvedge_ir::{BinaryOp, Expr, MachineOp, MachineTy, Op, Program, Ty, UnaryOp, Value, VarId};

use super::affine::{Equation, Hull};

/// The most numbers that are compared with each other, and with constants.
const MOST_COMPARED: usize = 24;

/// The most constants of one type, and the most conditions of the program.
const MOST_CONSTANTS: usize = 48;
const MOST_CONDITIONS: usize = 64;

/// The most conditions that are put into disjunctions.
const MOST_SIMPLE: usize = 40;

/// What is taken from the text of a program.
pub(super) struct Vocabulary {
    /// The constants, and the numbers beside them.
    constants: BTreeSet<(MachineTy, i128)>,
    /// The conditions of steps and assertions over the values before the step, without choices.
    conditions: Vec<Expr>,
}

impl Vocabulary {
    pub(super) fn new(program: &Program) -> Vocabulary {
        let mut all = Vocabulary { constants: BTreeSet::new(), conditions: Vec::new() };
        for edge in &program.edges {
            match &edge.op {
                Op::Assign(assign) => all.condition(&assign.constrain),
                Op::Assert(condition) => all.condition(condition),
                _ => {}
            }
        }
        program.exprs().for_each(|expr| all.constants(expr));
        let ranges = Ranges::of(program);
        for (var, variable) in program.vars.iter_enumerated() {
            if let (Ty::Machine(ty), Some((least, greatest))) = (variable.ty, ranges.get(var).bounds()) {
                all.constants.extend([(ty, least), (ty, greatest)]);
            }
        }
        all
    }

    /// Collects the parts of a condition that are neither negations, conjunctions nor disjunctions.
    fn condition(&mut self, condition: &Expr) {
        match condition {
            Expr::Binary(BinaryOp::And | BinaryOp::Or | BinaryOp::Implies, pair) => {
                self.condition(&pair.0);
                self.condition(&pair.1);
            }
            Expr::Unary(UnaryOp::Not, operand) => self.condition(operand),
            Expr::Bool(_) => {}
            _ => {
                let is_plain = |leaf: &Expr| matches!(leaf, Expr::Var(_) | Expr::Machine(..) | Expr::Bool(_));
                let is_plain =
                    !condition.any(|part| matches!(part, Expr::Let(_))) && !condition.any_leaf(|leaf| !is_plain(leaf));
                if is_plain && self.conditions.len() < MOST_CONDITIONS && !self.conditions.contains(condition) {
                    self.conditions.push(condition.clone());
                }
            }
        }
    }

    fn constants(&mut self, expr: &Expr) {
        expr.for_each_leaf(|leaf| {
            if let Expr::Machine(ty, bits) = leaf {
                let (least, greatest) = ty.bounds();
                let number = ty.read(*bits);
                self.constants
                    .extend([number - 1, number, number + 1].map(|number| (*ty, number.clamp(least, greatest))));
            }
        });
    }
}

/// The conditions that hold in all states that were seen at a cut.
pub(super) struct Facts {
    vars: Vec<(VarId, Ty)>,
    /// Those without equations.
    others: Vec<Expr>,
    /// For each width, the places of the numbers of it among the variables, and their hull.
    hulls: Vec<(Vec<usize>, Hull)>,
    /// All of them.
    pub(super) all: Vec<Expr>,
}

fn eval(vars: &[(VarId, Ty)], state: &[Value], condition: &Expr) -> bool {
    let value = |leaf: &Expr| {
        let place = vars.iter().position(|(var, _)| *leaf == Expr::Var(*var));
        place.map_or(Value::Bool(false), |place| state[place])
    };
    holds(condition, &value) == Ok(true)
}

impl Facts {
    /// Returns the conditions that hold in a state.
    pub(super) fn of_state(vars: &[(VarId, Ty)], words: &Vocabulary, disjoin: bool, state: &[Value]) -> Facts {
        let mut others = candidates(vars, words);
        if disjoin {
            others.extend(disjunctions(vars, words));
        }
        others.retain(|condition| eval(vars, state, condition));
        let mut widths: Vec<u8> = numbers(vars).map(|(_, ty)| ty.bits).collect();
        widths.sort_unstable();
        widths.dedup();
        let hull = |bits: u8| {
            let of_width =
                vars.iter().enumerate().filter(|(_, (_, ty))| matches!(ty, Ty::Machine(ty) if ty.bits == bits));
            let places: Vec<usize> = of_width.map(|(place, _)| place).collect();
            let point = point(&places, state);
            (places, Hull::of_point(bits, point))
        };
        let hulls = widths.into_iter().map(hull).collect();
        let mut facts = Facts { vars: vars.to_vec(), others, hulls, all: Vec::new() };
        facts.list();
        facts
    }

    /// Keeps what also holds in another state. Returns whether that is less.
    pub(super) fn weaken(&mut self, state: &[Value]) -> bool {
        let before = self.all.clone();
        let vars = &self.vars;
        self.others.retain(|condition| eval(vars, state, condition));
        for (places, hull) in &mut self.hulls {
            hull.add(&point(places, state));
        }
        self.list();
        self.all != before
    }

    fn list(&mut self) {
        let equations = self
            .hulls
            .iter()
            .flat_map(|(places, hull)| hull.equations.iter().map(|equation| written(&self.vars, places, equation)));
        let mut known = FxHashSet::default();
        self.all = equations.chain(self.others.iter().cloned()).filter(|fact| known.insert(fact.clone())).collect();
    }
}

fn point(places: &[usize], state: &[Value]) -> Vec<u64> {
    let bits = |place: &usize| if let Value::Machine(_, bits) = state[*place] { bits } else { 0 };
    places.iter().map(bits).collect()
}

fn numbers(vars: &[(VarId, Ty)]) -> impl Iterator<Item = (VarId, MachineTy)> {
    vars.iter().filter_map(|(var, ty)| if let Ty::Machine(ty) = ty { Some((*var, *ty)) } else { None })
}

/// The conditions of the program that speak of variables at a cut only.
fn conditions<'w>(vars: &'w [(VarId, Ty)], words: &'w Vocabulary) -> impl Iterator<Item = &'w Expr> {
    let is_here = |leaf: &Expr| leaf.var().is_none_or(|var| vars.iter().any(|(here, _)| *here == var));
    words.conditions.iter().filter(move |condition| !condition.any_leaf(|leaf| !is_here(leaf)))
}

/// The conditions that may hold at a cut.
fn candidates(vars: &[(VarId, Ty)], words: &Vocabulary) -> Vec<Expr> {
    let mut all = Vec::new();
    for (var, _) in vars.iter().filter(|(_, ty)| *ty == Ty::Bool) {
        all.extend([Expr::Var(*var), Expr::negate(Expr::Var(*var))]);
    }
    for condition in conditions(vars, words) {
        all.extend([condition.clone(), Expr::negate(condition.clone())]);
    }
    let compared: Vec<(VarId, MachineTy)> = numbers(vars).take(MOST_COMPARED).collect();
    for (var, ty) in &compared {
        let (least, greatest) = ty.bounds();
        for (_, number) in words.constants.iter().filter(|(of, _)| of == ty).take(MOST_CONSTANTS) {
            let (var, constant) = (Expr::Var(*var), ty.constant(*number));
            if *number > least {
                all.push(ty.apply(MachineOp::Le, constant.clone(), var.clone()));
            }
            if *number < greatest {
                all.push(ty.apply(MachineOp::Le, var, constant));
            }
        }
        for (other, _) in compared.iter().filter(|(other, of)| of == ty && other != var) {
            let (left, right) = (Expr::Var(*var), Expr::Var(*other));
            all.push(ty.apply(MachineOp::Le, left.clone(), right.clone()));
            all.push(ty.apply(MachineOp::Lt, left, right));
        }
    }
    all
}

/// Disjunctions of two simple conditions.
fn disjunctions(vars: &[(VarId, Ty)], words: &Vocabulary) -> Vec<Expr> {
    let mut simple: Vec<Expr> = vars.iter().filter(|(_, ty)| *ty == Ty::Bool).map(|(var, _)| Expr::Var(*var)).collect();
    simple.extend(conditions(vars, words).cloned());
    let numbers: Vec<(VarId, MachineTy)> = numbers(vars).take(MOST_COMPARED).collect();
    for (number, (var, ty)) in numbers.iter().enumerate() {
        for (other, _) in numbers[..number].iter().filter(|(_, of)| of == ty) {
            simple.push(Expr::binary(BinaryOp::Eq, Expr::Var(*var), Expr::Var(*other)));
        }
    }
    simple.truncate(MOST_SIMPLE);
    let literals: Vec<Expr> = simple.into_iter().flat_map(|part| [part.clone(), Expr::negate(part)]).collect();
    let pairs = (0..literals.len()).flat_map(|right| (0..right).map(move |left| (left, right)));
    let apart = pairs.filter(|(left, right)| left / 2 != right / 2);
    apart.map(|(left, right)| Expr::binary(BinaryOp::Or, literals[left].clone(), literals[right].clone())).collect()
}

/// Writes an equation with small factors of both signs: `s = 2 * i + 1`.
fn written(vars: &[(VarId, Ty)], places: &[usize], equation: &Equation) -> Expr {
    let taken = places.iter().zip(&equation.factors).filter(|(_, factor)| **factor != 0);
    let taken: Vec<(VarId, MachineTy, u64)> = taken
        .filter_map(|(place, factor)| match vars[*place] {
            (var, Ty::Machine(ty)) => Some((var, ty, *factor)),
            _ => None,
        })
        .collect();
    let Some((_, first, _)) = taken.first().copied() else { return Expr::TRUE };
    let ty = if taken.iter().all(|(_, ty, _)| *ty == first) { first } else { MachineTy { signed: false, ..first } };
    let part = MachineTy { bits: equation.bits, signed: true };
    let mut sides: [Vec<Expr>; 2] = [Vec::new(), Vec::new()];
    for (var, of, factor) in &taken {
        let plain =
            if *of == ty { Expr::Var(*var) } else { Expr::Unary(UnaryOp::Cast(*of, ty), Box::new(Expr::Var(*var))) };
        let factor = part.read(*factor);
        let term = match factor.unsigned_abs() {
            1 => plain,
            times => ty.apply(MachineOp::Mul, ty.constant(times as i128), plain),
        };
        sides[usize::from(factor < 0)].push(term);
    }
    let mut constant = part.read(equation.constant);
    if sides[0].is_empty() {
        sides.swap(0, 1);
        constant = -constant;
    }
    let [left, mut right] = sides;
    let sum = |parts: Vec<Expr>| Expr::balanced(BinaryOp::Machine(MachineOp::Add, ty), parts).unwrap_or(ty.constant(0));
    if equation.bits < first.bits {
        let mask = ty.constant((1 << equation.bits) - 1);
        let masked = |sum: Expr| ty.apply(MachineOp::And, sum, mask.clone());
        let rest = ty.constant(constant & ((1 << equation.bits) - 1));
        let difference = if right.is_empty() { sum(left) } else { ty.apply(MachineOp::Sub, sum(left), sum(right)) };
        return Expr::binary(BinaryOp::Eq, masked(difference), rest);
    }
    if constant != 0 || right.is_empty() {
        right.push(ty.constant(constant));
    }
    Expr::binary(BinaryOp::Eq, sum(left), sum(right))
}
