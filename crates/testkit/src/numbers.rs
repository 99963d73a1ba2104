//! Boolean programs with numbers, arrays and locks: random ones, and the comparison of all engines on them with a
//! search that knows nothing of the front end and the representation.
//!
//! A program is a list of commands for each of one or two threads. It is printed as text, and searched as it is: a
//! state is a list of numbers, an expression is computed with numbers of 64 bits, and what the language calls an error
//! ends the search.

use std::collections::{BTreeSet, VecDeque};

use selvedge_check::{Task, ThreadScope};
use selvedge_frontend::bp;
use selvedge_frontend::bp::dump::dump;
use selvedge_frontend::diagnostic::{Code, Diagnostic};
use selvedge_ir::Target;

use crate::harness::{COMPARISONS, Campaign, Fault, Tally, fault};
use crate::machine::compare_task;
use crate::oracle::{Answer, Budget};
use crate::rng::Rng;

/// The comparison of all engines on generated programs with numbers.
pub struct Numbers {
    /// The limits of the exhaustive engine and of the others.
    pub budget: Budget,
}

impl Default for Numbers {
    fn default() -> Numbers {
        Numbers { budget: Budget::states(3_000).tight() }
    }
}

/// The limit on the states of the search.
const MAX_STATES: usize = 20_000;

/// A variable: its name, the number of its elements, its range, and the initial value of all elements.
#[derive(Clone, Debug)]
struct Var {
    name: String,
    length: Option<usize>,
    /// `None` for truth values.
    range: Option<(i64, i64)>,
    first: Option<i64>,
    /// The position of the first element in a state.
    at: usize,
}

impl Var {
    fn values(&self) -> std::ops::RangeInclusive<i64> {
        let (lo, hi) = self.range.unwrap_or((0, 1));
        lo..=hi
    }
}

/// A variable or an element.
#[derive(Clone, Debug)]
struct Place {
    var: usize,
    index: Option<Box<Expr>>,
}

#[derive(Clone, Debug)]
enum Expr {
    Number(i64),
    Truth(bool),
    /// The parameter of the thread.
    Param,
    Read(Place),
    /// The value after the step, of a variable that is no array.
    New(usize),
    Add(Box<Expr>, Box<Expr>),
    Sub(Box<Expr>, Box<Expr>),
    Mod(Box<Expr>, i64),
    Compare(&'static str, Box<Expr>, Box<Expr>),
    Not(Box<Expr>),
    And(Box<Expr>, Box<Expr>),
    Or(Box<Expr>, Box<Expr>),
    Implies(Box<Expr>, Box<Expr>),
    If(Box<Expr>, Box<Expr>, Box<Expr>),
}

impl Expr {
    fn reads_new_values(&self) -> bool {
        match self {
            Expr::New(_) => true,
            Expr::Number(_) | Expr::Truth(_) | Expr::Param => false,
            Expr::Read(place) => place.index.as_ref().is_some_and(|index| index.reads_new_values()),
            Expr::Mod(operand, _) | Expr::Not(operand) => operand.reads_new_values(),
            Expr::Add(left, right)
            | Expr::Sub(left, right)
            | Expr::Compare(_, left, right)
            | Expr::And(left, right)
            | Expr::Or(left, right)
            | Expr::Implies(left, right) => left.reads_new_values() || right.reads_new_values(),
            Expr::If(condition, then, otherwise) => {
                condition.reads_new_values() || then.reads_new_values() || otherwise.reads_new_values()
            }
        }
    }
}

/// A right-hand side.
#[derive(Clone, Debug)]
enum Value {
    /// `*`
    Any,
    Expr(Expr),
}

#[derive(Clone, Debug)]
enum Command {
    Assign {
        targets: Vec<(Place, Value)>,
        constrain: Option<Expr>,
    },
    Assert(Expr),
    Assume(Expr),
    /// `if e then goto Ln; fi`
    Jump(Expr, usize),
    Lock(Place),
    Unlock(Place),
    Skip,
}

/// A program.
#[derive(Clone, Debug)]
pub struct Program {
    vars: Vec<Var>,
    threads: Vec<Vec<Command>>,
}

impl Campaign for Numbers {
    type Subject = Program;

    fn subject(&self, seed: u64, number: u64) -> Program {
        Maker { rng: &mut Rng::for_item(seed, number), vars: Vec::new() }.program()
    }

    fn compare(&self, program: &Program, _: u64, tally: &mut Tally) -> Result<(), Fault> {
        compare(program, self.budget, tally)
    }

    /// Puts `skip` in the place of commands.
    fn shrink(&self, program: Program, fails: &mut dyn FnMut(&Program) -> bool) -> Program {
        let mut small = program;
        for thread in 0..small.threads.len() {
            for at in 0..small.threads[thread].len() {
                let mut smaller = small.clone();
                smaller.threads[thread][at] = Command::Skip;
                if !matches!(small.threads[thread][at], Command::Skip) && fails(&smaller) {
                    small = smaller;
                }
            }
        }
        small
    }

    fn show(&self, program: &Program) -> String {
        program.text()
    }
}

fn compare(program: &Program, budget: Budget, tally: &mut Tally) -> Result<(), Fault> {
    let text = program.text();
    check_format(&text)?;
    let loaded = bp::load(&text, &bp::LoadOptions::default());
    // A value that leaves its range in any case is an error in the text.
    let is_static = |found: &Diagnostic| matches!(found.code, Code::NumberOutOfRange | Code::AssignedTwice);
    if loaded.diagnostics.iter().filter(|found| found.is_error()).all(is_static) && loaded.has_errors() {
        tally.count("refused");
        return Ok(());
    }
    let Some(lowered) = &loaded.program else {
        let first = loaded.diagnostics.iter().find(|found| found.is_error());
        return fault("load", first.map_or(String::new(), |found| found.message.clone()));
    };
    let target = Target::all_asserts(lowered);
    let n_threads = program.threads.len() as u32;
    let task = Task { program: lowered, target: &target, threads: ThreadScope::AtMost(n_threads) };
    let known = compare_task(&task, n_threads, budget, tally)?;
    let Some(fails) = program.search() else {
        tally.count("not searched");
        return Ok(());
    };
    tally.count(COMPARISONS);
    tally.count(if fails { "search: unsafe" } else { "search: safe" });
    match (&known, fails) {
        (Answer::Safe, true) => fault("search", "the search finds an error, and the engines none"),
        (Answer::Unsafe(_), false) => fault("search", "the engines find an error, and the search none"),
        _ => Ok(()),
    }
}

/// Checks that formatting keeps the tree and changes nothing the second time.
fn check_format(text: &str) -> Result<(), Fault> {
    let Ok(formatted) = bp::format(text) else { return Ok(()) };
    if dump(&bp::parse(text).file) != dump(&bp::parse(&formatted).file) {
        return fault("format", format!("formatting changes the tree:\n{formatted}"));
    }
    match bp::format(&formatted) {
        Ok(again) if again == formatted => Ok(()),
        _ => fault("format", format!("formatting changes the text a second time:\n{formatted}")),
    }
}

impl Program {
    /// Returns the program as a text. The first thread is `main`, which starts the second one.
    fn text(&self) -> String {
        let mut text = String::new();
        for var in &self.vars {
            let length = var.length.map_or(String::new(), |length| format!("[{length}]"));
            let range = var.range.map_or(String::new(), |(lo, hi)| format!(" : {lo}..{hi}"));
            let first = var.first.map_or(String::new(), |first| format!(" := {first}"));
            text.push_str(&format!("decl {}{length}{range}{first};\n", var.name));
        }
        for (number, commands) in self.threads.iter().enumerate() {
            text.push_str(&format!("void thread_{number}(i : 0..1) begin\n"));
            for (at, command) in commands.iter().enumerate() {
                text.push_str(&format!("L{at}: {};\n", self.command(command)));
            }
            text.push_str(&format!("L{}: skip;\nend\n", commands.len()));
        }
        let starts = if self.threads.len() > 1 { "start_thread thread_1(1);\n" } else { "" };
        text + &format!("void main() begin\n{starts}thread_0(0);\nend\n")
    }

    fn command(&self, command: &Command) -> String {
        match command {
            Command::Assign { targets, constrain } => {
                let places: Vec<String> = targets.iter().map(|(place, _)| self.place(place)).collect();
                let value = |value: &Value| match value {
                    Value::Any => "*".to_string(),
                    Value::Expr(expr) => self.expr(expr),
                };
                let values: Vec<String> = targets.iter().map(|(_, given)| value(given)).collect();
                let constrain = constrain.as_ref().map(|expr| format!(" constrain {}", self.expr(expr)));
                format!("{} := {}{}", places.join(", "), values.join(", "), constrain.unwrap_or_default())
            }
            Command::Assert(expr) => format!("assert({})", self.expr(expr)),
            Command::Assume(expr) => format!("assume({})", self.expr(expr)),
            Command::Jump(expr, to) => format!("if {} then goto L{to}; fi", self.expr(expr)),
            Command::Lock(place) => format!("lock({})", self.place(place)),
            Command::Unlock(place) => format!("unlock({})", self.place(place)),
            Command::Skip => "skip".to_string(),
        }
    }

    fn place(&self, place: &Place) -> String {
        let name = &self.vars[place.var].name;
        place.index.as_ref().map_or(name.clone(), |index| format!("{name}[{}]", self.expr(index)))
    }

    fn expr(&self, expr: &Expr) -> String {
        let two = |left: &Expr, op: &str, right: &Expr| format!("({} {op} {})", self.expr(left), self.expr(right));
        match expr {
            Expr::Number(number) => number.to_string(),
            Expr::Truth(value) => if *value { "T" } else { "F" }.to_string(),
            Expr::Param => "i".to_string(),
            Expr::Read(place) => self.place(place),
            Expr::New(var) => format!("'{}", self.vars[*var].name),
            Expr::Add(left, right) => two(left, "+", right),
            Expr::Sub(left, right) => two(left, "-", right),
            Expr::Mod(operand, divisor) => format!("({} % {divisor})", self.expr(operand)),
            Expr::Compare(op, left, right) => two(left, op, right),
            Expr::Not(operand) => format!("!({})", self.expr(operand)),
            Expr::And(left, right) => two(left, "&", right),
            Expr::Or(left, right) => two(left, "|", right),
            Expr::Implies(left, right) => two(left, "=>", right),
            Expr::If(condition, then, otherwise) => {
                format!("({} ? {} : {})", self.expr(condition), self.expr(then), self.expr(otherwise))
            }
        }
    }
}

/// The values of all elements, and for each thread the number of its next command; `None` if it has not begun or has
/// ended.
type State = (Vec<i64>, Vec<Option<usize>>);

/// What happens in a step: an error, or some states.
struct Failed;

/// The surroundings of an expression.
struct Env<'s> {
    program: &'s Program,
    values: &'s [i64],
    /// The values after the step, where they are known.
    new: Option<&'s [i64]>,
    param: i64,
}

impl Program {
    /// Returns whether an error can be reached, unless there are too many states. The second thread begins at any time,
    /// since the first step of `main` starts it.
    fn search(&self) -> Option<bool> {
        let mut firsts: Vec<Vec<i64>> = vec![Vec::new()];
        for var in &self.vars {
            for _ in 0..var.length.unwrap_or(1) {
                let values: Vec<i64> = var.first.map_or(var.values().collect(), |first| vec![first]);
                let longer = |state: &Vec<i64>| {
                    let with = |value: &i64| state.iter().copied().chain([*value]).collect();
                    values.iter().map(with).collect::<Vec<Vec<i64>>>()
                };
                firsts = firsts.iter().flat_map(longer).collect();
                if firsts.len() > MAX_STATES {
                    return None;
                }
            }
        }
        let starts = vec![Some(0); self.threads.len()];
        let mut queue: VecDeque<State> = firsts.into_iter().map(|values| (values, starts.clone())).collect();
        let mut seen: BTreeSet<State> = queue.iter().cloned().collect();
        while let Some(state) = queue.pop_front() {
            if seen.len() > MAX_STATES {
                return None;
            }
            for thread in 0..self.threads.len() {
                let Ok(next) = self.step(&state, thread) else { return Some(true) };
                for state in next {
                    if seen.insert(state.clone()) {
                        queue.push_back(state);
                    }
                }
            }
        }
        Some(false)
    }

    fn step(&self, (values, at): &State, thread: usize) -> Result<Vec<State>, Failed> {
        let Some(number) = at[thread] else { return Ok(Vec::new()) };
        let go = |values: Vec<i64>, to: usize| {
            let mut at = at.clone();
            at[thread] = Some(to);
            (values, at)
        };
        let Some(command) = self.threads[thread].get(number) else {
            let mut at = at.clone();
            at[thread] = None;
            return Ok(vec![(values.clone(), at)]);
        };
        let env = Env { program: self, values, new: None, param: thread as i64 };
        let stay = |holds: bool| if holds { vec![go(values.clone(), number + 1)] } else { Vec::new() };
        Ok(match command {
            Command::Skip => stay(true),
            Command::Assert(expr) => match env.eval(expr)? {
                0 => return Err(Failed),
                _ => stay(true),
            },
            Command::Assume(expr) => stay(env.eval(expr)? != 0),
            Command::Jump(expr, to) => vec![go(values.clone(), if env.eval(expr)? != 0 { *to } else { number + 1 })],
            Command::Lock(place) => {
                let at = env.position(place)?;
                let mut next = values.clone();
                next[at] = 1;
                if values[at] == 0 { vec![go(next, number + 1)] } else { Vec::new() }
            }
            Command::Unlock(place) => {
                let at = env.position(place)?;
                let mut next = values.clone();
                next[at] = 0;
                if values[at] == 0 {
                    return Err(Failed);
                }
                vec![go(next, number + 1)]
            }
            Command::Assign { targets, constrain } => {
                let next = self.assigned(&env, targets, constrain.as_ref())?;
                next.into_iter().map(|values| go(values, number + 1)).collect()
            }
        })
    }

    /// Returns the values after an assignment. What its constraint excludes is no error.
    fn assigned(
        &self,
        env: &Env<'_>,
        targets: &[(Place, Value)],
        constrain: Option<&Expr>,
    ) -> Result<Vec<Vec<i64>>, Failed> {
        // Each right-hand side has a list of values, or an error.
        let mut results: Vec<(Vec<i64>, bool)> = vec![(env.values.to_vec(), false)];
        let reads_new_values = constrain.is_some_and(Expr::reads_new_values);
        for (place, value) in targets {
            let at = env.position(place);
            let range = self.vars[place.var].values();
            let values = match value {
                Value::Any => Ok(range.clone().collect()),
                Value::Expr(expr) => env.eval(expr).map(|value| vec![value]),
            };
            let mut longer = Vec::new();
            for (state, fails) in results {
                match (&at, &values) {
                    (Ok(at), Ok(values)) => {
                        for value in values {
                            let mut state = state.clone();
                            state[*at] = *value;
                            longer.push((state, fails || !range.contains(value)));
                        }
                    }
                    // There is no new value that the constraint could be about.
                    _ if reads_new_values => return Err(Failed),
                    _ => longer.push((state, true)),
                }
            }
            results = longer;
        }
        let mut next = Vec::new();
        for (state, fails) in results {
            let holds = match constrain {
                None => true,
                Some(expr) => Env { new: Some(&state), ..*env }.eval(expr)? != 0,
            };
            match (holds, fails) {
                (true, true) => return Err(Failed),
                (true, false) => next.push(state),
                (false, _) => {}
            }
        }
        Ok(next)
    }
}

impl Env<'_> {
    fn position(&self, place: &Place) -> Result<usize, Failed> {
        let var = &self.program.vars[place.var];
        let Some(index) = &place.index else { return Ok(var.at) };
        let index = self.eval(index)?;
        match usize::try_from(index) {
            Ok(index) if index < var.length.unwrap_or(1) => Ok(var.at + index),
            _ => Err(Failed),
        }
    }

    fn eval(&self, expr: &Expr) -> Result<i64, Failed> {
        Ok(match expr {
            Expr::Number(number) => *number,
            Expr::Truth(value) => i64::from(*value),
            Expr::Param => self.param,
            Expr::Read(place) => self.values[self.position(place)?],
            Expr::New(var) => self.new.unwrap_or(self.values)[self.program.vars[*var].at],
            Expr::Add(left, right) => self.eval(left)? + self.eval(right)?,
            Expr::Sub(left, right) => self.eval(left)? - self.eval(right)?,
            Expr::Mod(operand, divisor) => self.eval(operand)?.rem_euclid(*divisor),
            Expr::Compare(op, left, right) => {
                let (left, right) = (self.eval(left)?, self.eval(right)?);
                i64::from(match *op {
                    "<" => left < right,
                    "<=" => left <= right,
                    ">" => left > right,
                    ">=" => left >= right,
                    "=" => left == right,
                    _ => left != right,
                })
            }
            Expr::Not(operand) => 1 - self.eval(operand)?,
            Expr::And(left, right) => {
                if self.eval(left)? == 0 {
                    0
                } else {
                    self.eval(right)?
                }
            }
            Expr::Or(left, right) => {
                if self.eval(left)? != 0 {
                    1
                } else {
                    self.eval(right)?
                }
            }
            Expr::Implies(left, right) => {
                if self.eval(left)? == 0 {
                    1
                } else {
                    self.eval(right)?
                }
            }
            Expr::If(condition, then, otherwise) => {
                self.eval(if self.eval(condition)? != 0 { then } else { otherwise })?
            }
        })
    }
}

struct Maker<'r> {
    rng: &'r mut Rng,
    vars: Vec<Var>,
}

impl Maker<'_> {
    fn program(mut self) -> Program {
        let mut at = 0;
        for number in 0..self.rng.between(2, 5) {
            let range = self.rng.percent(65).then(|| {
                let lo = self.rng.below(3) as i64;
                (lo, lo + self.rng.below(5) as i64)
            });
            let length = self.rng.percent(35).then(|| self.rng.between(1, 3));
            let (lo, hi) = range.unwrap_or((0, 1));
            let first = self.rng.percent(75).then(|| lo + self.rng.below((hi - lo + 1) as usize) as i64);
            self.vars.push(Var { name: format!("v{number}"), length, range, first, at });
            at += length.unwrap_or(1);
        }
        let n_threads = self.rng.between(1, 2);
        let threads = (0..n_threads).map(|_| self.commands()).collect();
        Program { vars: self.vars, threads }
    }

    fn commands(&mut self) -> Vec<Command> {
        let length = self.rng.between(2, 6);
        (0..length).map(|at| self.command(at, length)).collect()
    }

    fn command(&mut self, at: usize, length: usize) -> Command {
        match self.rng.below(12) {
            0 => Command::Assert(self.truth(2, false)),
            1 => Command::Assume(self.truth(2, false)),
            2 => Command::Jump(self.truth(2, false), if self.rng.coin() { self.rng.below(at + 1) } else { length }),
            3 => self.place(false).map_or(Command::Skip, Command::Lock),
            4 => self.place(false).map_or(Command::Skip, Command::Unlock),
            _ => {
                let n_targets = self.rng.between(1, 2);
                let mut targets: Vec<(Place, Value)> = Vec::new();
                for _ in 0..n_targets {
                    let is_number = self.rng.percent(70);
                    let Some(place) = self.place(is_number) else { continue };
                    if targets.iter().any(|(other, _)| other.var == place.var) {
                        continue;
                    }
                    let value = match is_number {
                        _ if self.rng.percent(15) => Value::Any,
                        true => Value::Expr(self.number(2, false)),
                        false => Value::Expr(self.truth(2, false)),
                    };
                    targets.push((place, value));
                }
                if targets.is_empty() {
                    return Command::Skip;
                }
                let constrain = self.rng.percent(35).then(|| self.truth(2, true));
                Command::Assign { targets, constrain }
            }
        }
    }

    /// Returns a random variable or element of a type, if there is one.
    fn place(&mut self, is_number: bool) -> Option<Place> {
        let fitting: Vec<usize> =
            (0..self.vars.len()).filter(|var| self.vars[*var].range.is_some() == is_number).collect();
        let var = *self.rng.pick(&fitting)?;
        let index = self.vars[var].length.is_some().then(|| Box::new(self.number(1, false)));
        Some(Place { var, index })
    }

    /// A random number; new values are those of variables that are no arrays.
    fn number(&mut self, depth: u32, is_new: bool) -> Expr {
        if depth == 0 || self.rng.percent(35) {
            let is_read = self.rng.percent(70);
            let place = if is_read { self.simple_place() } else { None };
            return match place {
                Some(var) if is_new && self.rng.coin() => Expr::New(var),
                Some(var) => Expr::Read(Place { var, index: None }),
                None if self.rng.percent(30) => Expr::Param,
                None => Expr::Number(self.rng.below(6) as i64),
            };
        }
        let below = depth - 1;
        match self.rng.below(8) {
            0..3 => Expr::Add(Box::new(self.number(below, is_new)), Box::new(self.number(below, is_new))),
            3 | 4 => Expr::Sub(Box::new(self.number(below, is_new)), Box::new(self.number(below, is_new))),
            5 => Expr::Mod(Box::new(self.number(below, is_new)), self.rng.between(1, 4) as i64),
            6 if !is_new => match self.place(true) {
                Some(place) => Expr::Read(place),
                None => Expr::Number(1),
            },
            _ => {
                let condition = self.truth(below, is_new);
                let then = self.number(below, is_new);
                Expr::If(Box::new(condition), Box::new(then), Box::new(self.number(below, is_new)))
            }
        }
    }

    fn simple_place(&mut self) -> Option<usize> {
        let is_simple = |var: &usize| self.vars[*var].range.is_some() && self.vars[*var].length.is_none();
        let simple: Vec<usize> = (0..self.vars.len()).filter(is_simple).collect();
        self.rng.pick(&simple).copied()
    }

    /// A random truth value. One with new values reads no arrays, whose checks do not say which error comes first.
    fn truth(&mut self, depth: u32, is_new: bool) -> Expr {
        if depth == 0 || self.rng.percent(20) {
            let place = if is_new { None } else { self.place(false) };
            return match place {
                Some(place) if self.rng.percent(80) => Expr::Read(place),
                _ => Expr::Truth(self.rng.coin()),
            };
        }
        let below = depth - 1;
        let two = |maker: &mut Self| (Box::new(maker.truth(below, is_new)), Box::new(maker.truth(below, is_new)));
        match self.rng.below(9) {
            0 => Expr::Not(Box::new(self.truth(below, is_new))),
            1 => {
                let (left, right) = two(self);
                Expr::And(left, right)
            }
            2 => {
                let (left, right) = two(self);
                Expr::Or(left, right)
            }
            3 => {
                let (left, right) = two(self);
                Expr::Implies(left, right)
            }
            number => {
                let op = ["<", "<=", ">", ">=", "=", "!="][(number + self.rng.below(6)) % 6];
                // With a part that is a number in any case, the text is one about numbers.
                let left = Expr::Add(Box::new(self.number(below, is_new)), Box::new(Expr::Number(0)));
                Expr::Compare(op, Box::new(left), Box::new(self.number(below, is_new)))
            }
        }
    }
}
