//! Programs with machine integers: random ones, in the text form of the representation, and the comparison of all
//! engines on them, over bits but for those that take machine integers, with the exhaustive engine, which computes with
//! the integers themselves.
//!
//! The passes keep the answer of the exhaustive engine. The evidence over bits is judged, and so is what it is lifted
//! to: executions of the program with machine integers, and certificates about it. Every value that the exhaustive
//! engine observes where it matters belongs to the range that the analysis of ranges gives its variable.

use selvedge_check::{Task, ThreadScope};
use selvedge_driver::{Pass, Simplified, simplify};
use selvedge_engines::exhaustive::{Exhaustive, Options};
use selvedge_engines::{EngineKind, EngineOptions};
use selvedge_ir::ranges::Ranges;
use selvedge_ir::validate::validate;
use selvedge_ir::{MachineOp, MachineTy, Op, Program, Target, text};
use selvedge_replay::Interpreter;

use crate::contender::Contender;
use crate::engines::values_of;
use crate::harness::{COMPARISONS, Campaign, Fault, Tally, fault};
use crate::oracle::{Answer, Budget, ask, within};
use crate::rng::Rng;

/// The greatest width whose values are chosen: wider ones only get values that are computed.
const MAX_CHOSEN: u8 = 3;

/// The greatest width whose values are multiplied, divided and shifted without restriction.
const MAX_FACTOR: u8 = 8;

/// The comparison of all engines on generated programs with machine integers.
pub struct Machine {
    /// The limits of the oracle and the engines.
    pub budget: Budget,
}

impl Default for Machine {
    fn default() -> Machine {
        Machine { budget: Budget::states(3_000).tight() }
    }
}

impl Campaign for Machine {
    type Subject = String;

    fn subject(&self, seed: u64, number: u64) -> String {
        program(&mut Rng::for_item(seed, number))
    }

    fn compare(&self, text: &String, _: u64, tally: &mut Tally) -> Result<(), Fault> {
        compare(text, self.budget, tally)
    }

    fn shrink(&self, text: String, fails: &mut dyn FnMut(&String) -> bool) -> String {
        smaller(text, fails)
    }

    fn show(&self, text: &String) -> String {
        text.clone()
    }
}

/// Puts steps that do nothing in the place of steps, from the last one on, as long as the program still fails.
pub(crate) fn smaller(text: String, fails: &mut dyn FnMut(&String) -> bool) -> String {
    let mut small = text;
    for number in (0..read(&small).map_or(0, |program| program.edges.len())).rev() {
        let Ok(mut program) = read(&small) else { return small };
        let edge = &mut program.edges[number];
        if matches!(edge.op, Op::Return(_) | Op::End) || edge.op == Op::skip() {
            continue;
        }
        edge.op = Op::skip();
        let smaller = text::print(&program);
        if fails(&smaller) {
            small = smaller;
        }
    }
    small
}

/// Reads a program, which must be valid.
fn read(text: &str) -> Result<Program, Fault> {
    let program = text::parse(text).or_else(|error| fault("read", error.to_string()))?;
    match validate(&program) {
        Ok(()) => Ok(program),
        Err(invalid) => fault("valid", invalid.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")),
    }
}

fn compare(text: &str, budget: Budget, tally: &mut Tally) -> Result<(), Fault> {
    let program = read(text)?;
    if text::parse(&text::print(&program)).as_ref() != Ok(&program) {
        return fault("print", "the printed program is another one");
    }
    let target = Target::all_asserts(&program);
    for threads in [ThreadScope::AtMost(3), ThreadScope::Unbounded] {
        let task = Task { program: &program, target: &target, threads };
        compare_task(&task, 3, budget, tally)?;
    }
    Ok(())
}

/// Compares all engines over bits, and the passes, with the exhaustive engine for a few threads. Returns what they say.
pub(crate) fn compare_task(task: &Task<'_>, few: u32, budget: Budget, tally: &mut Tally) -> Result<Answer, Fault> {
    let few = Task { threads: ThreadScope::AtMost(few), ..*task };
    let mut known = ask(&few, budget);
    known.count(tally);
    if task.threads == few.threads {
        compare_ranges(task, budget, tally)?;
        for pass in Pass::ALL {
            let contender = Contender::new(EngineKind::Exhaustive, pass.name(), &EngineOptions::default());
            contender.compare(task, Some(&simplify(task, &[*pass])), &mut known, budget, tally)?;
        }
    }
    for kind in EngineKind::ALL.iter().copied().filter(|kind| *kind != EngineKind::Exhaustive) {
        let contender = Contender::new(kind, "", &EngineOptions::default());
        // Some engines compute with machine integers.
        if contender.compare(task, None, &mut known, budget, tally)? {
            continue;
        }
        let bits = Simplified::with_bits(task, kind.row().passes);
        if let Some(reason) = bits.refused() {
            return fault("bits", format!("`{}` has no program over bits: {reason}", kind.name()));
        }
        contender.compare(task, Some(&bits), &mut known, budget, tally)?;
    }
    Ok(known)
}

/// Checks that all values that the exhaustive engine observes, where they may be read later, belong to their ranges.
fn compare_ranges(task: &Task<'_>, budget: Budget, tally: &mut Tally) -> Result<(), Fault> {
    let ranges = Ranges::of(task.program);
    let oracle = Exhaustive { options: Options { frames: budget.frames } };
    if Interpreter::new(task.program, task.threads).enumerable().is_err() {
        return Ok(());
    }
    let Ok(seen) = within(budget, |run| oracle.explore(task, run)) else { return Ok(()) };
    tally.count("ranges");
    tally.count(COMPARISONS);
    for state in &seen.thread_states {
        for (var, value) in values_of(task.program, state) {
            let range = ranges.get(var);
            if ranges.matters(state.loc, var) && !range.contains(value.number()) {
                let name = &task.program.vars[var].name;
                return fault("ranges", format!("`{name}` is {} at {:?}, not in {range:?}", value.number(), state.loc));
            }
        }
    }
    Ok(())
}

/// Returns a random program.
pub(crate) fn program(rng: &mut Rng) -> String {
    Maker { rng, vars: Vec::new(), next: 0 }.program()
}

/// A type as it is written: `bool`, or that of a machine integer.
type Ty = Option<MachineTy>;

struct Maker<'r> {
    rng: &'r mut Rng,
    /// The variables that are visible.
    vars: Vec<(String, Ty)>,
    /// The number of the next location.
    next: usize,
}

fn name(ty: Ty) -> String {
    ty.map_or("bool".to_string(), |ty| ty.to_string())
}

impl Maker<'_> {
    fn ty(&mut self) -> Ty {
        let bits = match self.rng.below(20) {
            0..4 => return None,
            4 => [32, 64, 33][self.rng.below(3)],
            5 => self.rng.between(5, 8),
            _ => self.rng.between(1, 4),
        };
        Some(MachineTy { bits: bits as u8, signed: self.rng.coin() })
    }

    fn program(&mut self) -> String {
        let mut lines = Vec::new();
        let n_shared = self.rng.between(1, 3);
        for number in 0..n_shared {
            let ty = self.ty();
            self.vars.push((format!("s{number}"), ty));
            lines.push(format!("shared s{number}: {}", name(ty)));
        }
        let mut inits = Vec::new();
        for (var, ty) in self.vars.clone() {
            let is_narrow = ty.is_none_or(|ty| ty.bits <= MAX_CHOSEN);
            if !is_narrow || self.rng.percent(80) {
                inits.push(format!("{var} := {}", self.constant(ty)));
            }
        }
        if !inits.is_empty() {
            lines.push(format!("init {}", inits.join(", ")));
        }
        let (result, param) = (self.ty(), self.ty());
        let has_helper = self.rng.percent(50);
        let helper = has_helper.then_some((param, result));
        let n_procs = self.rng.between(1, 2);
        for number in 0..n_procs {
            self.proc(&mut lines, number, helper);
        }
        if has_helper {
            self.helper(&mut lines, param, result);
        }
        for number in 0..n_procs {
            let count = if n_procs == 1 && self.rng.percent(60) { self.rng.between(1, 2) } else { 1 };
            lines.push(format!("start f{number} exactly {count}"));
        }
        lines.join("\n") + "\n"
    }

    /// A procedure whose locals may start with any value if they are narrow.
    fn proc(&mut self, lines: &mut Vec<String>, number: usize, helper: Option<(Ty, Ty)>) {
        let first = self.next;
        let n_steps = self.rng.between(2, 6);
        let (n_visible, head) = (self.vars.len(), lines.len());
        for local in 0..self.rng.between(0, 2) {
            let ty = self.ty();
            self.vars.push((format!("l{local}"), ty));
            lines.push(format!("local l{local}: {}", name(ty)));
        }
        let wide: Vec<(String, Ty)> = self.vars[n_visible..].to_vec();
        let mut at = first;
        for (var, ty) in wide.into_iter().filter(|(_, ty)| ty.is_some_and(|ty| ty.bits > MAX_CHOSEN)) {
            lines.push(format!("L{at} -> L{}: {var} := {}", at + 1, self.constant(ty)));
            at += 1;
        }
        for _ in 0..n_steps {
            let op = self.op(helper);
            lines.push(format!("L{at} -> L{}: {op}", at + 1));
            if self.rng.percent(25) {
                let condition = self.expr(None, 2, true);
                let back = first + self.rng.below(at - first + 1);
                lines.push(format!("L{at} -> L{back}: assume {condition}"));
            }
            at += 1;
        }
        lines.push(format!("L{at} -> L{}: return", at + 1));
        lines.insert(head, format!("proc f{number}() from L{first} to L{}", at + 1));
        self.next = at + 2;
        self.vars.truncate(n_visible);
    }

    fn helper(&mut self, lines: &mut Vec<String>, param: Ty, result: Ty) {
        let first = self.next;
        lines.push(format!("proc g(p: {}) returns {} from L{first} to L{}", name(param), name(result), first + 2));
        self.vars.push(("p".to_string(), param));
        let op = self.assignment();
        lines.push(format!("L{first} -> L{}: {op}", first + 1));
        let value = self.expr(result, 2, true);
        lines.push(format!("L{} -> L{}: return {value}", first + 1, first + 2));
        self.vars.pop();
    }

    fn op(&mut self, helper: Option<(Ty, Ty)>) -> String {
        match (self.rng.below(12), helper) {
            (0 | 1, _) => format!("assert {}", self.expr(None, 2, false)),
            (2, _) => format!("assume {}", self.expr(None, 2, true)),
            (3, _) => "atomic_begin".to_string(),
            (4, _) => "atomic_end".to_string(),
            (5 | 6, Some((param, result))) => {
                let arg = self.expr(param, 2, true);
                let takers: Vec<String> =
                    self.vars.iter().filter(|(_, ty)| *ty == result).map(|(var, _)| var.clone()).collect();
                let taker = self.rng.pick(&takers).cloned().unwrap_or("_".to_string());
                format!("{taker} := call g({arg})")
            }
            _ => self.assignment(),
        }
    }

    fn assignment(&mut self) -> String {
        let n_assigned = self.rng.between(1, 2);
        let vars = self.vars.clone();
        let assigned = self.rng.subset(&vars, n_assigned);
        let sides: Vec<String> =
            assigned.iter().map(|(var, ty)| format!("{var} := {}", self.expr(*ty, 2, true))).collect();
        if !self.rng.percent(30) {
            return sides.join(", ");
        }
        let condition = self.expr(None, 2, true);
        let condition = match self.rng.pick(&assigned) {
            Some((var, ty)) if self.rng.coin() => match ty {
                Some(ty) => format!("({condition}) | {ty}.le({var}', {})", self.constant(Some(*ty))),
                None => format!("({condition}) | {var}'"),
            },
            _ => condition,
        };
        format!("{} constrain {condition}", sides.join(", "))
    }

    fn constant(&mut self, ty: Ty) -> String {
        let Some(ty) = ty else { return if self.rng.coin() { "T" } else { "F" }.to_string() };
        let (least, greatest) = ty.bounds();
        let number = match self.rng.below(6) {
            0 => least,
            1 => greatest,
            2 => 1.min(greatest),
            3 => i128::from(self.rng.next_u64() & ty.mask()) + least,
            _ => (self.rng.below(5) as i128).min(greatest),
        };
        format!("{number}:{ty}")
    }

    /// A random expression of a type, with choices or without.
    fn expr(&mut self, ty: Ty, depth: u32, chooses: bool) -> String {
        if depth == 0 || self.rng.percent(15) {
            return self.leaf(ty, chooses);
        }
        let below = depth - 1;
        if self.rng.percent(10) {
            let condition = self.expr(None, below, chooses);
            let then = self.expr(ty, below, chooses);
            return format!("(if {condition} then {then} else {})", self.expr(ty, below, chooses));
        }
        if self.rng.percent(8) {
            let shared = self.ty();
            let part = self.expr(shared, below, chooses);
            let number = self.rng.below(2);
            let condition = self.expr(shared, below, chooses);
            let body = self.expr(ty, below, chooses);
            return format!("(let #{number} = {part} in if #{number} = {condition} then {body} else {body})");
        }
        match ty {
            None => self.condition(below, chooses),
            Some(ty) if self.rng.percent(15) => {
                let from = self.ty().unwrap_or(ty);
                format!("{from}.{ty}({})", self.expr(Some(from), below, chooses))
            }
            Some(ty) => {
                let arithmetic: Vec<(MachineOp, &str)> =
                    MachineOp::ALL.into_iter().filter(|(op, _)| !op.compares()).collect();
                let (op, word) = arithmetic[self.rng.below(arithmetic.len())];
                use MachineOp::{Div, Mul, Rem, Shl, Shr};
                let is_large = matches!(op, Mul | Div | Rem | Shl | Shr) && ty.bits > MAX_FACTOR;
                let operand = |maker: &mut Self| match is_large {
                    true => maker.small(ty, below, chooses),
                    false => maker.expr(Some(ty), below, chooses),
                };
                let left = operand(self);
                format!("{ty}.{word}({left}, {})", operand(self))
            }
        }
    }

    /// A wide expression with few values. Circuits of products, quotients and shifts grow faster than the width: up to
    /// 20,000 operators for 64 bits, which the judge evaluates for every state. The unit tests of `blast` compare them
    /// with the operators.
    fn small(&mut self, ty: MachineTy, below: u32, chooses: bool) -> String {
        let from = MachineTy { bits: self.rng.between(1, 4) as u8, signed: ty.signed };
        format!("{from}.{ty}({})", self.expr(Some(from), below, chooses))
    }

    fn condition(&mut self, below: u32, chooses: bool) -> String {
        let compared = self.vars[self.rng.below(self.vars.len())].1;
        match (self.rng.below(6), compared) {
            (0, _) => format!("!({})", self.expr(None, below, chooses)),
            (1, _) => {
                let op = ["&", "|", "^", "=>"][self.rng.below(4)];
                let left = self.expr(None, below, chooses);
                format!("(({left}) {op} ({}))", self.expr(None, below, chooses))
            }
            (2 | 3, Some(ty)) => {
                let op = ["lt", "le"][self.rng.below(2)];
                let left = self.expr(compared, below, chooses);
                format!("{ty}.{op}({left}, {})", self.expr(compared, below, chooses))
            }
            _ => {
                let op = ["=", "!="][self.rng.below(2)];
                let left = self.expr(compared, below, chooses);
                format!("(({left}) {op} ({}))", self.expr(compared, below, chooses))
            }
        }
    }

    fn leaf(&mut self, ty: Ty, chooses: bool) -> String {
        let fitting: Vec<String> = self.vars.iter().filter(|(_, of)| *of == ty).map(|(var, _)| var.clone()).collect();
        let is_narrow = ty.is_none_or(|ty| ty.bits <= MAX_CHOSEN);
        if chooses && is_narrow && self.rng.percent(12) {
            // A choice has one type in a step, so its number says which.
            let number = ty.map_or(0, |ty| 2 * u32::from(ty.bits) + u32::from(ty.signed));
            return format!("?{number}:{}", name(ty));
        }
        match self.rng.pick(&fitting) {
            Some(var) if self.rng.percent(75) => var.clone(),
            _ => self.constant(ty),
        }
    }
}
