//! A reader for the output of `selvedge boom`, written from the rules that SatAbs's own reader follows, and a replay of
//! the execution.
//!
//! The order of work: [`read`] parses the lines and checks what the form demands; [`Execution::replay`] walks along the
//! lines with the set of possible places of the threads, and checks for each line that the statement there leads from
//! its values to those of the next line. It shares the representation with the checker, but neither interpreter nor
//! traces: a step is right if each assigned variable can have got its new value, the condition can hold between old and
//! new values, and nothing else has changed.

use std::collections::{BTreeMap, BTreeSet};

use selvedge_ir::eval::eval;
use selvedge_ir::flow::Flow;
use selvedge_ir::span::{Role, SourceMap};
use selvedge_ir::{Assign, Edge, EdgeId, Expr, LocId, Op, Program, Scope, Value, VarId};

/// A parsed output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Execution {
    /// The bound on created threads.
    pub bound: usize,
    /// The executed statements; none for a safe program.
    pub lines: Vec<Line>,
    /// An assertion fails.
    pub failed: bool,
}

/// An executed statement, with the values before it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Line {
    /// The thread that moves.
    pub thread: usize,
    /// The labels.
    pub labels: Vec<String>,
    /// The values of variables without a procedure.
    pub plain: Vec<(String, bool)>,
    /// The values of variables with a procedure, which is cut off: the nth occurrence of a name belongs to the nth
    /// thread.
    pub locals: Vec<BTreeMap<String, bool>>,
    /// The branch is taken.
    pub taken: bool,
}

/// Parses an output. An error is a sentence.
pub fn read(output: &str) -> Result<Execution, String> {
    let mut bound = None;
    let mut lines = Vec::new();
    let mut verdicts = Vec::new();
    for text in output.lines() {
        if text.starts_with('=') {
            return Err(format!("a line that begins a table: `{text}`"));
        } else if let Some(number) = text.strip_prefix("threadbound=") {
            let number = number.parse().map_err(|_| format!("`{text}`"))?;
            if bound.replace(number).is_some() || !lines.is_empty() {
                return Err("the bound comes twice, or after the trace".to_string());
            }
        } else if let Some(rest) = text.strip_prefix("TRACE ") {
            lines.push(line(rest)?);
        } else if text == "VERIFICATION FAILED" || text == "VERIFICATION SUCCESSFUL" {
            verdicts.push(text == "VERIFICATION FAILED");
        }
    }
    match verdicts[..] {
        [failed] if failed != lines.is_empty() => Ok(Execution { bound: bound.ok_or("no bound")?, lines, failed }),
        [_] => Err("a trace without failure, or the other way round".to_string()),
        _ => Err(format!("{} verdicts", verdicts.len())),
    }
}

fn line(text: &str) -> Result<Line, String> {
    let mut line = Line { taken: true, ..Line::default() };
    let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
    let mut has_thread = false;
    for word in text.split(' ').filter(|word| !word.is_empty()) {
        let Some((name, value)) = word.split_once('=') else {
            line.labels.push(word.to_string());
            continue;
        };
        let bit = || match value {
            "0" => Ok(false),
            "1" => Ok(true),
            _ => Err(format!("the value in `{word}`")),
        };
        match (name, name.split_once("::")) {
            ("t", _) => {
                has_thread = true;
                line.thread = value.parse().map_err(|_| format!("the thread in `{word}`"))?;
            }
            ("TAKEN", _) => line.taken = bit()?,
            (_, Some((_, local))) => {
                let thread = seen.entry(local).or_default();
                if line.locals.len() <= *thread {
                    line.locals.push(BTreeMap::new());
                }
                line.locals[*thread].insert(local.to_string(), bit()?);
                *thread += 1;
            }
            (plain, None) => line.plain.push((plain.to_string(), bit()?)),
        }
    }
    let n_pcs = line.labels.iter().filter(|label| label.starts_with("PC")).count();
    if has_thread && n_pcs <= 1 { Ok(line) } else { Err(format!("no thread or several instructions: `{text}`")) }
}

/// The places of the threads after some lines, `None` for one that has ended, and the holder of the atomic flag.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Places {
    threads: Vec<Option<LocId>>,
    holder: Option<usize>,
}

impl Execution {
    /// Checks that the lines are an execution of a program in which one thread runs one procedure and starts copies of
    /// itself, as SatAbs writes them; the last one fails its assertion. An error names the line.
    pub fn replay(&self, program: &Program, map: &SourceMap) -> Result<(), String> {
        let [entry] = program.entries.as_raw_slice() else { return Err("several kinds of threads".to_string()) };
        let replayer = Replayer { program, map, flow: Flow::new(program), bound: self.bound };
        let start = Places { threads: vec![Some(replayer.first(program.procs[entry.proc].entry))], holder: None };
        let mut places = BTreeSet::from([start]);
        for (number, line) in self.lines.iter().enumerate() {
            let at = |message: String| format!("line {}: {message}: {line:?}", number + 1);
            replayer.form(line).map_err(at)?;
            let next = self.lines.get(number + 1);
            places = places.iter().flat_map(|places| replayer.step(places, line, next)).collect();
            if places.is_empty() {
                return Err(at(format!("no step leads to the next line, {next:?}")));
            }
        }
        self.same_values_between_assignments(&replayer)
    }

    /// Checks an assertion of SatAbs: between two instructions of its own only assignments change values.
    fn same_values_between_assignments(&self, replayer: &Replayer<'_>) -> Result<(), String> {
        let lines: Vec<&Line> = self.lines.iter().filter(|line| line.pc().is_some()).collect();
        for pair in lines.windows(2) {
            let op = replayer.op_of(pair[0].pc().unwrap_or_default());
            let assigns =
                matches!(op, Some(Op::Assign(assign)) if !(assign.active.is_empty() && assign.passive.is_empty()));
            let starts = matches!(op, Some(Op::Fork(_)));
            let n_common = pair[0].locals.len();
            let grown = pair[1].locals.len() <= n_common + usize::from(starts);
            let same = pair[0].plain == pair[1].plain && pair[1].locals.get(..n_common) == Some(&pair[0].locals[..]);
            if !(assigns || same && grown) {
                return Err(format!("{:?} is no assignment, but the values after it are others", pair[0]));
            }
        }
        Ok(())
    }
}

impl Line {
    fn pc(&self) -> Option<&str> {
        self.labels.iter().rfind(|label| label.starts_with("PC")).map(String::as_str)
    }

    fn plain(&self, name: &str) -> Option<bool> {
        self.plain.iter().find(|(other, _)| other == name).map(|(_, value)| *value)
    }
}

struct Replayer<'p> {
    program: &'p Program,
    map: &'p SourceMap,
    flow: Flow,
    bound: usize,
}

impl Replayer<'_> {
    /// Returns the location of the first line: initial values of locals have none, so that it shows them already.
    fn first(&self, entry: LocId) -> LocId {
        match self.flow.out(entry) {
            [edge] if self.map.edges[*edge].role == Role::Initialise => self.program.edges[*edge].to,
            _ => entry,
        }
    }

    /// Checks that each shared variable occurs once.
    fn form(&self, line: &Line) -> Result<(), String> {
        let shared = self.program.vars.iter().filter(|var| var.scope == Scope::Shared).map(|var| var.name.as_str());
        let printed = line.plain.iter().map(|(name, _)| name.as_str());
        if shared.eq(printed) { Ok(()) } else { Err("the shared variables are not those of the program".to_string()) }
    }

    fn op_of(&self, label: &str) -> Option<&Op> {
        let loc = self.program.labels.iter().find(|other| other.name == label)?.loc;
        self.flow.out(loc).first().map(|edge| &self.program.edges[*edge].op)
    }

    /// Returns the possible places of the threads after the statement of a line, if its values can lead to those of the
    /// next.
    fn step(&self, places: &Places, line: &Line, next: Option<&Line>) -> Vec<Places> {
        let has_locals = self.program.vars.iter().any(|var| var.scope != Scope::Shared);
        if has_locals && line.locals.len() != places.threads.len() {
            return Vec::new();
        }
        let free = places.holder.is_none_or(|holder| holder == line.thread);
        let Some(Some(loc)) = places.threads.get(line.thread).copied().filter(|_| free) else { return Vec::new() };
        let named = self.program.labels.iter().filter(|label| label.loc == loc).map(|label| &label.name);
        let pcs = named.rev().find(|name| name.starts_with("PC")).map(String::as_str);
        if pcs != line.pc() {
            return Vec::new();
        }
        let edges = self.flow.out(loc).iter();
        edges.filter_map(|edge| self.along(places, *edge, line, next)).collect()
    }

    fn along(&self, places: &Places, id: EdgeId, line: &Line, next: Option<&Line>) -> Option<Places> {
        let role = match self.map.edges[id].role {
            Role::Statement => line.taken,
            Role::Holds => line.taken,
            Role::Fails => !line.taken,
            Role::Initialise | Role::Enforce | Role::FallOff | Role::Section | Role::Violation => false,
        };
        let edge = &self.program.edges[id];
        let mut after = places.clone();
        after.threads[line.thread] = Some(edge.to);
        let Some(next) = next else { return self.fails(edge, line).then_some(after) };
        let unchanged = || line.plain == next.plain && next.locals.starts_with(&line.locals);
        let possible = match &edge.op {
            Op::Assign(assign) => self.assigns(places, assign, line, next),
            Op::Assert(condition) => unchanged() && self.can_be(condition, true, line, None),
            Op::Fork(at) => {
                let room = places.threads.len() < self.bound;
                after.threads.extend(room.then_some(Some(*at)));
                let copied = next.locals.get(line.locals.len()) == line.locals.get(line.thread);
                unchanged() && (!room || copied)
            }
            Op::End | Op::Return(_) => {
                after.threads[line.thread] = None;
                after.holder = None;
                unchanged()
            }
            Op::AtomicBegin => {
                after.holder = Some(line.thread);
                unchanged()
            }
            Op::AtomicEnd => {
                after.holder = None;
                unchanged()
            }
            Op::Call(_) | Op::Spawn(_) => false,
        };
        (role && possible && self.can_be(edge.needs(), true, line, None)).then_some(after)
    }

    fn fails(&self, edge: &Edge, line: &Line) -> bool {
        edge.failure().is_some_and(|failure| self.can_be(&failure, true, line, None))
    }

    /// Returns whether a condition or right-hand side can have a value, for some choices in it.
    fn can_be(&self, expr: &Expr, wanted: bool, line: &Line, pair: Option<(&Line, usize)>) -> bool {
        let mut choices: BTreeSet<u32> = BTreeSet::new();
        expr.for_each_leaf(|leaf| {
            if let Expr::Choice(number, _) = leaf {
                choices.insert(*number);
            }
        });
        let choices: Vec<u32> = choices.into_iter().collect();
        (0..1_u64 << choices.len()).any(|bits| {
            let leaf = |leaf: &Expr| {
                let value = match leaf {
                    Expr::Choice(number, _) => {
                        let place = choices.iter().position(|other| other == number).expect("it was collected");
                        bits >> place & 1 == 1
                    }
                    Expr::Var(var) => self.value(*var, line, line.thread),
                    Expr::Passive(var) => pair.is_some_and(|(_, other)| self.value(*var, line, other)),
                    Expr::Next(var) => pair.is_some_and(|(next, _)| self.value(*var, next, line.thread)),
                    Expr::PassiveNext(var) => pair.is_some_and(|(next, other)| self.value(*var, next, other)),
                    _ => unreachable!("other expressions are no leaves of Boolean programs"),
                };
                Value::Bool(value)
            };
            eval(expr, &leaf) == Ok(Value::Bool(wanted))
        })
    }

    fn value(&self, var: VarId, line: &Line, thread: usize) -> bool {
        let name = &self.program.vars[var].name;
        let value = match self.program.vars[var].scope {
            Scope::Shared => line.plain(name),
            Scope::Thread | Scope::Local(_) => line.locals.get(thread).and_then(|locals| locals.get(name)).copied(),
        };
        value.unwrap_or_default()
    }

    /// Returns whether an assignment leads from one line to the next. A thread at the end of its procedure may or may
    /// not have ended, which no line shows: a condition on it need not hold.
    fn assigns(&self, places: &Places, assign: &Assign, line: &Line, next: &Line) -> bool {
        let others = |ended: bool| {
            let threads = places.threads.iter().enumerate().filter(move |(thread, _)| *thread != line.thread);
            threads.filter(move |(_, loc)| self.may_have_ended(**loc) == ended).map(|(thread, _)| thread)
        };
        let active = |(var, rhs): &(VarId, Expr)| self.can_be(rhs, self.value(*var, next, line.thread), line, None);
        let passive = |other: usize| {
            let each =
                |(var, rhs): &(VarId, Expr)| self.can_be(rhs, self.value(*var, next, other), line, Some((next, other)));
            assign.passive.iter().all(each)
                && (!assign.constrain.is_passive() || self.can_be(&assign.constrain, true, line, Some((next, other))))
        };
        let unchanged = |other: usize| line.locals.get(other) == next.locals.get(other);
        let alone =
            assign.constrain.is_passive() || self.can_be(&assign.constrain, true, line, Some((next, line.thread)));
        assign.active.iter().all(active)
            && others(false).all(passive)
            && others(true).all(|other| unchanged(other) || (places.threads[other].is_some() && passive(other)))
            && alone
            && self.rest_unchanged(assign, line, next)
    }

    fn may_have_ended(&self, loc: Option<LocId>) -> bool {
        loc.is_none_or(|loc| self.flow.out(loc).iter().all(|edge| self.map.edges[*edge].role == Role::FallOff))
    }

    /// Returns whether all variables that the assignment does not mention are unchanged.
    fn rest_unchanged(&self, assign: &Assign, line: &Line, next: &Line) -> bool {
        let is = |list: &[(VarId, Expr)], shared: bool, name: &str| {
            list.iter().any(|(var, _)| {
                let var = &self.program.vars[*var];
                (var.scope == Scope::Shared) == shared && var.name == name
            })
        };
        let plain = line.plain.iter().zip(&next.plain);
        let plain = plain.into_iter().all(|(old, new)| old == new || is(&assign.active, true, &old.0));
        let locals = line.locals.iter().zip(&next.locals).enumerate().all(|(thread, (old, new))| {
            let list = if thread == line.thread { &assign.active } else { &assign.passive };
            old.iter().zip(new).all(|(old, new)| old == new || (old.0 == new.0 && is(list, false, old.0)))
        });
        plain && locals && line.locals.len() == next.locals.len()
    }
}
