//! Prints a model: declarations, the process of a thread, and the process that starts the others.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use selvedge_ir::{LocId, Scope, VarId};

use super::Model;
use super::held::Held;
use super::moves::{Begin, End, Flag, Move, moves};
use super::words::{expr, select, sequence};

/// Prints a model.
pub(super) fn write(model: &Model<'_>) -> Result<String, String> {
    let mut writer = Writer::new(model)?;
    let threads = writer.process();
    let start = writer.init();
    Ok(writer.declarations() + &threads + &start)
}

/// The information that is computed before printing.
pub(super) struct Writer<'m, 'a> {
    pub(super) model: &'m Model<'a>,
    /// The moves of each location at which a thread can be between moves.
    threads: BTreeMap<LocId, Vec<Move>>,
    /// The moves of the prelude.
    pub(super) prelude: BTreeMap<LocId, Vec<Move>>,
    /// The first locations of initial threads, and then of others. The kind of such a location is its index plus one.
    begins: Vec<LocId>,
    /// The number of them that belong to initial threads.
    n_initial: usize,
    /// The first locations of threads that are started later.
    started: BTreeSet<LocId>,
    /// True if threads are started later.
    pub(super) spawns: bool,
    /// True if the model has the atomic flag.
    holder: bool,
    /// The number of temporary variables.
    pub(super) n_temps: usize,
}

impl<'m, 'a> Writer<'m, 'a> {
    fn new(model: &'m Model<'a>) -> Result<Writer<'m, 'a>, String> {
        let program = model.program;
        let entries = program.entries.iter().map(|entry| program.procs[entry.proc].entry);
        let mut begins: Vec<LocId> = Vec::new();
        entries.for_each(|loc| add(&mut begins, model, loc));
        let n_initial = begins.len();
        let threads = explore(model, &mut begins)?;
        let started = threads.values().flatten().filter_map(|found| found.end.begin(model)).collect();
        let prelude = match program.prelude {
            Some(prelude) => explore(model, &mut vec![program.procs[prelude].entry])?,
            None => BTreeMap::new(),
        };
        let spawns = threads.values().flatten().any(|found| matches!(found.end, End::Start(..)));
        let holder = threads.values().flatten().any(|found| found.flag == Flag::Take);
        Ok(Writer { model, threads, prelude, begins, n_initial, started, spawns, holder, n_temps: 0 })
    }

    /// Returns the kind of a first location.
    pub(super) fn kind(&self, loc: LocId) -> Option<usize> {
        self.begins.iter().position(|begin| *begin == loc).map(|place| place + 1)
    }

    /// Returns whether the process has a parameter for its kind.
    pub(super) fn has_kinds(&self) -> bool {
        self.spawns || self.begins.len() > 1
    }

    /// Returns the names of the thread variables that matter at some of these locations, in order.
    fn names(&self, locs: impl IntoIterator<Item = LocId>) -> BTreeSet<(char, usize)> {
        let model = self.model;
        let live = |loc: LocId| {
            let own = model.own(model.program.locs[loc].proc);
            own.filter(move |var| model.liveness.is_live(loc, *var)).map(|var| self.key(var))
        };
        locs.into_iter().flat_map(live).collect()
    }

    fn key(&self, var: VarId) -> (char, usize) {
        let letter = if self.model.program.vars[var].scope == Scope::Thread { 't' } else { 'l' };
        (letter, self.model.slot[var])
    }

    /// Returns the variables that are passed to a new thread.
    pub(super) fn handed(&self) -> BTreeSet<(char, usize)> {
        self.names(self.begins.iter().copied())
    }

    /// Returns the variable of a thread that begins at a location, by its name; `None` if it does not matter there.
    pub(super) fn var_at(&self, loc: LocId, key: (char, usize)) -> Option<VarId> {
        let mut own = self.model.own(self.model.program.locs[loc].proc);
        own.find(|var| self.key(*var) == key && self.model.liveness.is_live(loc, *var))
    }

    fn declarations(&self) -> String {
        let program = self.model.program;
        let mut text = String::new();
        for (id, var) in program.vars.iter_enumerated() {
            let owner = match var.scope {
                Scope::Shared => "shared".to_string(),
                Scope::Thread => "per thread".to_string(),
                Scope::Local(proc) => format!("of {}", program.procs[proc].name),
            };
            let _ = writeln!(text, "/* {}: {}, {owner} */", self.model.name(id), var.name.replace("*/", "* /"));
        }
        let shared = program.vars.iter_enumerated().filter(|(_, var)| var.scope == Scope::Shared);
        shared.for_each(|(id, _)| text.push_str(&format!("bit {};\n", self.model.name(id))));
        if self.holder {
            text.push_str("byte holder; /* the process in an atomic section */\n");
        }
        (0..self.n_temps).for_each(|number| text.push_str(&format!("hidden byte h{number};\n")));
        if self.spawns {
            let places: Vec<u32> = (1..=self.model.n_places).collect();
            let is_free: Vec<String> = places.iter().map(|place| format!("spare[{place}]")).collect();
            let (last, others) = places.split_last().expect("a question has at least one thread");
            let first = others
                .iter()
                .rev()
                .fold(last.to_string(), |rest, place| format!("(spare[{place}] -> {place} : {rest})"));
            let fields = ", bit".repeat(self.handed().len());
            let size = self.model.n_places + 1;
            let _ = writeln!(text, "bit spare[{size}];\nhidden byte slot;");
            let _ = writeln!(text, "chan launch[{size}] = [0] of {{ byte{fields} }};");
            let _ = writeln!(text, "#define ROOM ({})\n#define FIRST {first}", is_free.join(" || "));
        }
        text
    }

    /// Prints the process of a thread. A variable may matter inside of a move only, and is then declared as well.
    fn process(&mut self) -> String {
        let handed = self.handed();
        let mut own = self.names(self.threads.keys().copied());
        let kind = self.has_kinds().then(|| "byte kind".to_string());
        let params: Vec<String> = kind.into_iter().chain(handed.iter().map(declared)).collect();
        let mut body = String::new();
        match (self.has_kinds(), self.begins.first()) {
            (true, _) => self.idle(&mut body),
            (false, Some(only)) => body.push_str(&format!("  goto L{};\n", only.index())),
            (false, None) => {}
        }
        let threads = std::mem::take(&mut self.threads);
        for (loc, found) in &threads {
            self.location(*loc, found, &mut body);
        }
        self.threads = threads;
        let words: BTreeSet<&str> = body.split(|letter: char| !letter.is_ascii_alphanumeric()).collect();
        let vars = self.model.program.vars.iter_enumerated().filter(|(_, var)| var.scope != Scope::Shared);
        own.extend(vars.map(|(var, _)| self.key(var)).filter(|key| words.contains(named(key).as_str())));
        let mut text = format!("\nproctype thread({}) {{\n", params.join("; "));
        own.difference(&handed).for_each(|key| text.push_str(&format!("  {};\n", declared(key))));
        text + &body + "gone:\n  (0)\n}\n"
    }

    /// Prints the part of a process without a thread.
    fn idle(&self, text: &mut String) {
        text.push_str("idle:\n");
        if self.begins.is_empty() {
            text.push_str("  (0);\n");
            return;
        }
        text.push_str("  if\n");
        let fields: String = self.handed().iter().map(|key| format!(",{}", named(key))).collect();
        for (number, begin) in self.begins.iter().enumerate() {
            let (kind, loc) = (number + 1, begin.index());
            if number < self.n_initial {
                let _ = writeln!(text, "  :: d_step {{ (kind == {kind}); kind = 0 }}; goto L{loc}");
            }
            if self.started.contains(begin) {
                let _ = writeln!(text, "  :: launch[_pid]?{kind}{fields}; goto L{loc}");
            }
        }
        text.push_str("  fi;\n");
    }

    /// Prints the moves from a location, of a thread or of the prelude.
    pub(super) fn location(&mut self, loc: LocId, found: &[Move], text: &mut String) {
        let _ = writeln!(text, "L{}:", loc.index());
        if found.is_empty() {
            text.push_str("  (0);\n");
            return;
        }
        text.push_str("  if\n");
        for found in found {
            let guard = self.guard(loc, found);
            match &found.end {
                End::Start(begin, to) => self.start(found, begin, *to, &guard, text),
                _ => self.plain(loc, found, &guard, text),
            }
        }
        text.push_str("  fi;\n");
    }

    fn is_prelude(&self, loc: LocId) -> bool {
        Some(self.model.program.locs[loc].proc) == self.model.program.prelude
    }

    fn guard(&self, loc: LocId, found: &Move) -> Vec<String> {
        let flag = match self.model.held[loc] {
            _ if !self.holder || self.is_prelude(loc) => None,
            Held::No => Some("!holder".to_string()),
            Held::Maybe => Some("(!holder || holder == _pid)".to_string()),
            Held::Yes => None,
        };
        let condition = (found.guard != selvedge_ir::Expr::TRUE).then(|| self.expr(&found.guard));
        flag.into_iter().chain(condition).collect()
    }

    pub(super) fn expr(&self, whole: &selvedge_ir::Expr) -> String {
        expr(whole, &|var| self.model.name(var))
    }

    /// Returns the assignments of a move, including the flag.
    fn effects(&mut self, found: &Move) -> Vec<String> {
        let mut lines = Vec::new();
        for (number, (_, can_fail, can_hold)) in found.open.iter().enumerate() {
            let (fails, holds) = (self.expr(can_fail), self.expr(can_hold));
            lines.push(format!("if :: {fails}; h{number} = 0 :: {holds}; h{number} = 1 fi"));
        }
        let (updates, n_saved) = sequence(&found.updates, &|var| self.model.name(var), found.open.len());
        lines.extend(updates);
        for (number, (var, ..)) in found.open.iter().enumerate() {
            lines.push(format!("{} = h{number}", self.model.name(*var)));
        }
        self.n_temps = self.n_temps.max(found.open.len() + n_saved);
        match found.flag {
            Flag::Take if self.holder => lines.push("holder = _pid".to_string()),
            Flag::Release if self.holder => lines.push("holder = 0".to_string()),
            _ => {}
        }
        lines
    }

    fn plain(&mut self, loc: LocId, found: &Move, guard: &[String], text: &mut String) {
        let mut lines: Vec<String> = self.effects(found);
        if self.is_prelude(loc) {
            lines.retain(|line| !line.starts_with("holder"));
        }
        let to = match &found.end {
            End::Goto(to) => format!("L{}", to.index()),
            End::Fail => {
                lines.push("assert(false)".to_string());
                "gone".to_string()
            }
            _ if self.is_prelude(loc) => "over".to_string(),
            _ if self.spawns && self.model.reuses => {
                lines.push("spare[_pid] = 1".to_string());
                "idle".to_string()
            }
            _ => "gone".to_string(),
        };
        let _ = writeln!(text, "  :: {}; goto {to}", step(guard, &lines, found));
    }

    /// Prints the start of a thread if a slot is free; otherwise the step does nothing else.
    fn start(&mut self, found: &Move, begin: &Begin, to: LocId, guard: &[String], text: &mut String) {
        let lines = self.effects(found);
        let without = [guard, &["!ROOM".to_string()]].concat();
        let _ = writeln!(text, "  :: {}; goto L{}", step(&without, &lines, found), to.index());
        let condition = [guard, &["ROOM".to_string()]].concat().join(" && ");
        let at = begin.at(self.model);
        let Some(kind) = self.kind(at) else {
            let _ = writeln!(text, "  :: d_step {{ ({condition}); assert(false) }}; goto gone");
            return;
        };
        let (fields, n_fresh) = self.fields(begin, at);
        self.n_temps = self.n_temps.max(n_fresh);
        let effects: String = lines.iter().map(|line| format!("{line}; ")).collect();
        let choose = select(0, n_fresh);
        let _ = writeln!(
            text,
            "  :: atomic {{ ({condition}); {effects}{choose}slot = FIRST; spare[slot] = 0; \
             launch[slot]!{kind}{fields} }}; \
             goto L{}",
            to.index()
        );
    }

    /// Returns the values that are passed to a new thread, and the number of temporary variables to choose for it.
    fn fields(&self, begin: &Begin, at: LocId) -> (String, usize) {
        let mut n_fresh = 0;
        let mut text = String::new();
        for key in self.handed() {
            let field = match (self.var_at(at, key), begin) {
                (None, _) => "0".to_string(),
                (Some(var), Begin::Fork(_)) => self.model.name(var),
                (Some(var), Begin::Proc(callee, args)) => {
                    let params = &self.model.program.procs[*callee].params;
                    match params.iter().position(|param| *param == var) {
                        Some(number) => self.expr(&args[number]),
                        None if key.0 == 't' => self.model.name(var),
                        None => {
                            n_fresh += 1;
                            format!("h{}", n_fresh - 1)
                        }
                    }
                }
            };
            let _ = write!(text, ",{field}");
        }
        (text, n_fresh)
    }
}

/// Returns one transition: a guard and assignments.
fn step(guard: &[String], lines: &[String], found: &Move) -> String {
    let guard = (!guard.is_empty()).then(|| format!("({})", guard.join(" && ")));
    let parts: Vec<String> = guard.into_iter().chain(lines.iter().cloned()).collect();
    match parts.as_slice() {
        [] => "(1)".to_string(),
        [only] if found.open.is_empty() => only.clone(),
        parts if found.open.is_empty() => format!("d_step {{ {} }}", parts.join("; ")),
        parts => format!("atomic {{ {} }}", parts.join("; ")),
    }
}

fn named(key: &(char, usize)) -> String {
    format!("{}{}", key.0, key.1)
}

fn declared(key: &(char, usize)) -> String {
    format!("bit {}", named(key))
}

/// Returns the moves of all locations at which threads can be between moves, from their first locations on. The first
/// locations of started threads are added.
fn explore(model: &Model<'_>, begins: &mut Vec<LocId>) -> Result<BTreeMap<LocId, Vec<Move>>, String> {
    let mut known = BTreeMap::new();
    let mut waiting = begins.clone();
    while let Some(loc) = waiting.pop() {
        if known.contains_key(&loc) {
            continue;
        }
        let found = moves(model, loc)?;
        for end in found.iter().map(|found| &found.end) {
            if let End::Goto(to) | End::Start(_, to) = end {
                waiting.push(*to);
            }
            if let Some(at) = end.begin(model).filter(|at| !model.target.has_loc(*at)) {
                add(begins, model, at);
                waiting.push(at);
            }
        }
        known.insert(loc, found);
    }
    Ok(known)
}

/// Adds a first location, unless it is an error or already there.
fn add(begins: &mut Vec<LocId>, model: &Model<'_>, loc: LocId) {
    if !model.target.has_loc(loc) && !begins.contains(&loc) {
        begins.push(loc);
    }
}
