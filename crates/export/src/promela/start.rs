//! The process that gives shared variables their first values, runs the prelude, and starts the others.

use std::fmt::Write as _;

use selvedge_ir::visit::{choice_types, reads};
use selvedge_ir::{Count, Entry, Expr, LocId, Scope, VarId};

use super::words::select;
use super::write::Writer;

impl Writer<'_, '_> {
    /// Writes the process `init`.
    pub(super) fn init(&mut self) -> String {
        let mut text = String::from("\ninit {\n");
        let prelude = self.model.program.prelude;
        for var in prelude.into_iter().flat_map(|prelude| self.model.own(prelude)) {
            let _ = writeln!(text, "  bit {};", self.model.name(var));
        }
        text.push_str("  atomic {\n");
        self.shared(&mut text);
        if let Some(prelude) = prelude {
            let entry = self.model.program.procs[prelude].entry;
            let locals = &self.model.program.procs[prelude].locals;
            for var in locals.iter().filter(|var| self.model.liveness.is_live(entry, **var)) {
                let name = self.model.name(*var);
                let _ = writeln!(text, "    if :: {name} = 0 :: {name} = 1 fi;");
            }
            text.push_str("    skip\n  };\n");
            if self.model.target.has_loc(entry) {
                text.push_str("  assert(false);\n");
            }
            let moves = std::mem::take(&mut self.prelude);
            // Locations are written in the order of their numbers, of which the entry need not have the lowest.
            if moves.keys().next() != Some(&entry) {
                let _ = writeln!(text, "  goto L{};", entry.index());
            }
            moves.iter().for_each(|(loc, found)| self.location(*loc, found, &mut text));
            self.prelude = moves;
            text.push_str("gone:\n  (0);\nover:\n  atomic {\n");
        }
        self.threads(&mut text);
        text.push_str("    skip\n  }\n}\n");
        text
    }

    /// Writes the initial values of shared variables. Those that are not live stay 0.
    fn shared(&mut self, text: &mut String) {
        let program = self.model.program;
        let firsts: Vec<LocId> = match program.prelude {
            Some(prelude) => vec![program.procs[prelude].entry],
            None => program.entries.iter().map(|entry| program.procs[entry.proc].entry).collect(),
        };
        let given = |var: VarId| program.init.iter().any(|(other, _)| *other == var);
        let initial = program.entries.iter().flat_map(|entry| entry.init.iter().flat_map(|(_, rhs)| reads(rhs)));
        let initial: Vec<VarId> = initial.collect();
        let is_read =
            |var: VarId| initial.contains(&var) || firsts.iter().any(|loc| self.model.liveness.is_live(*loc, var));
        for (id, var) in program.vars.iter_enumerated() {
            if var.scope == Scope::Shared && !given(id) && is_read(id) {
                let name = self.model.name(id);
                let _ = writeln!(text, "    if :: {name} = 0 :: {name} = 1 fi;");
            }
        }
        text.push_str(&self.choose(choice_types(program.init.iter().map(|(_, rhs)| rhs)).len()));
        for (var, rhs) in program.init.iter().filter(|(_, rhs)| *rhs != Expr::FALSE) {
            let _ = writeln!(text, "    {} = {};", self.model.name(*var), self.expr(rhs));
        }
    }

    /// Writes the choice of values for a number of temporary variables.
    fn choose(&mut self, number: usize) -> String {
        self.n_temps = self.n_temps.max(number);
        if number == 0 { String::new() } else { format!("    {}\n", select(0, number)) }
    }

    /// Writes the start of an initial thread: first the choices of its initial values, then those of variables that
    /// have none.
    fn thread(&mut self, entry: &Entry) -> String {
        let at = self.model.program.procs[entry.proc].entry;
        let Some(kind) = self.kind(at) else { return "    assert(false);\n".to_string() };
        let mut number = choice_types(entry.init.iter().map(|(_, rhs)| rhs)).len();
        let mut fields = if self.has_kinds() { vec![kind.to_string()] } else { Vec::new() };
        for key in self.handed() {
            let var = self.var_at(at, key);
            let given = entry.init.iter().find(|(other, _)| Some(*other) == var);
            let is_absent = |var: VarId| key.0 == 't' && !entry.thread_vars.contains(&var);
            fields.push(match (var, given) {
                (_, Some((_, rhs))) => self.expr(rhs),
                (None, None) => "0".to_string(),
                (Some(var), None) if is_absent(var) => "0".to_string(),
                (Some(_), None) => {
                    number += 1;
                    format!("h{}", number - 1)
                }
            });
        }
        format!("{}    run thread({});\n", self.choose(number), fields.join(", "))
    }

    /// Writes the starts of the initial threads, and of a process for each free slot.
    fn threads(&mut self, text: &mut String) {
        let model = self.model;
        let entries = &model.program.entries;
        let n_exact: u32 = entries.iter().map(|entry| least(entry.count)).sum();
        let is_open = entries.iter().any(|entry| !matches!(entry.count, Count::Exactly(_)));
        let (mut n_left, n_places) = (n_exact, self.model.n_places);
        for entry in entries {
            for _ in 0..least(entry.count) {
                text.push_str(&self.thread(entry));
                n_left -= 1;
            }
            let n_optional = match entry.count {
                Count::Exactly(_) => 0,
                Count::AtMost(count) => count.min(n_places),
                Count::Any => n_places,
            };
            for _ in 0..n_optional {
                let thread = self.thread(entry);
                let room = n_places - n_left;
                let _ = writeln!(text, "    if :: (_nr_pr <= {room});\n{thread}    :: skip fi;");
            }
        }
        let idle = format!("run thread({})", vec!["0"; self.handed().len() + 1].join(", "));
        if self.spawns && is_open {
            let _ = writeln!(text, "    do :: (_nr_pr <= {n_places}); spare[_nr_pr] = 1; {idle} :: else; break od;");
        } else if self.spawns {
            for place in n_exact + 1..=n_places {
                let _ = writeln!(text, "    spare[{place}] = 1; {idle};");
            }
        }
    }
}

fn least(count: Count) -> u32 {
    match count {
        Count::Exactly(count) => count,
        Count::AtMost(_) | Count::Any => 0,
    }
}
