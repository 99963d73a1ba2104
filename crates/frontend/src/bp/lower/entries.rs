//! The procedures that the initial threads run.

use selvedge_ir::span::Span;
use selvedge_ir::{Count, Entry, EntryId, ProcId};

use super::Lowering;
use crate::bp::ast::Copies;
use crate::bp::{Dialect, LoadOptions};
use crate::diagnostic::{Code, Diagnostic};
use crate::suggest::nearest;

impl Lowering<'_> {
    /// Fills the program's entries, without their variables, and its prelude. If the parser has reported errors, a
    /// missing procedure may be one that could not be parsed.
    pub(super) fn choose_entries(&mut self, options: &LoadOptions) {
        self.found.program.prelude = self.tables.init;
        if !self.tables.processes.is_empty() {
            return self.entries_of_processes(options);
        }
        if let Some(name) = &options.entry {
            if let Some(procedure) = self.top_procedure(name) {
                self.add_entry(name, procedure, Count::Exactly(1));
            } else if self.is_whole {
                self.unknown_entry(name);
            }
            return;
        }
        if let Some(main) = self.top_procedure("main") {
            self.add_entry("main", main, Count::Exactly(1));
            return;
        }
        self.numbered_threads();
        if self.found.program.entries.is_empty() && self.is_whole {
            let message = "there is no procedure `main`, so nothing would run";
            let help = "define `main`, or `thread0`, `thread1`, .., or choose another procedure with `--entry`";
            let place = self.tables.units.first().map_or(Span::default(), |unit| unit.header);
            self.report(Diagnostic::new(Code::NoEntry, message, place).help(help));
        }
    }

    fn entries_of_processes(&mut self, options: &LoadOptions) {
        if let Some(main) = self.top_procedure("main") {
            let message = "`main` outside the processes would never run";
            let diagnostic = Diagnostic::new(Code::MainBesideProcesses, message, self.tables.units[main].header)
                .also(self.tables.processes[0].header, "a program with processes starts with these")
                .help("move it into a process, or give it another name");
            self.report(diagnostic);
        }
        if let Some(name) = &options.entry {
            let message = format!("`{name}` cannot be the entry: the threads of this program start with its processes");
            self.report(Diagnostic::new(Code::NoEntry, message, self.tables.processes[0].header));
        }
        for process in 0..self.tables.processes.len() {
            self.entry_of_process(process);
        }
    }

    fn entry_of_process(&mut self, id: usize) {
        let process = &self.tables.processes[id];
        let (name, header) = (self.tables.text(process.name.symbol), process.header);
        let count = match process.copies {
            Copies::Any => Count::Any,
            Copies::Once => Count::AtMost(1),
            Copies::Exactly(count) => Count::Exactly(count),
        };
        let mut mains =
            process.procs.values().copied().filter(|procedure| self.tables.units[*procedure].name == "main");
        match mains.next() {
            Some(main) => {
                let entry = self.add_entry(name, main, count);
                self.tables.processes[id].entry = Some(entry);
            }
            None => {
                let message = format!("the process `{name}` has no procedure `main`");
                let help = "its threads start with a procedure `main` inside the process";
                self.report(Diagnostic::new(Code::ProcessWithoutMain, message, header).help(help));
            }
        }
    }

    /// Adds entries for `thread0`, `thread1`, .. in the order of their numbers, with `init` before them.
    fn numbered_threads(&mut self) {
        let threads = self.numbered();
        for (_, procedure) in &threads {
            let name = self.tables.units[*procedure].name;
            self.add_entry(name, *procedure, Count::Exactly(1));
        }
        if !threads.is_empty() && self.found.program.prelude.is_none() {
            self.found.program.prelude = self.top_procedure("init");
        }
    }

    /// Returns the procedures `thread0`, `thread1`, .. in the order of their numbers.
    fn numbered(&self) -> Vec<(u64, ProcId)> {
        let number = |name: &str| -> Option<u64> {
            let digits = name.strip_prefix("thread")?;
            digits.parse().ok().filter(|_| digits.bytes().all(|digit| digit.is_ascii_digit()))
        };
        let units = self.tables.units.iter_enumerated();
        let mut threads: Vec<(u64, ProcId)> = units.filter_map(|(id, unit)| Some((number(unit.name)?, id))).collect();
        threads.sort_unstable();
        threads
    }

    /// Returns the dialect that the shape of the file tells: programs for Getafix have a procedure `init` beside
    /// `thread0`, `thread1`, .. and neither `main` nor processes.
    pub(super) fn recognised_dialect(&self) -> Dialect {
        let has_other_starts = !self.tables.processes.is_empty() || self.top_procedure("main").is_some();
        let has_shape = self.top_procedure("init").is_some() && !self.numbered().is_empty();
        if has_shape && !has_other_starts { Dialect::Getafix } else { Dialect::Selvedge }
    }

    fn top_procedure(&self, name: &str) -> Option<ProcId> {
        self.tables.units.indices().find(|id| {
            let unit = &self.tables.units[*id];
            unit.process.is_none() && unit.name == name && self.tables.init != Some(*id)
        })
    }

    fn add_entry(&mut self, name: &str, proc: ProcId, count: Count) -> EntryId {
        self.entry_procs.insert(proc);
        let entry = Entry { name: name.to_owned(), proc, count, thread_vars: Vec::new(), init: Vec::new() };
        self.found.program.entries.push(entry)
    }

    fn unknown_entry(&mut self, name: &str) {
        let message = format!("there is no procedure `{name}` to start with");
        let place = self.tables.units.first().map_or(Span::default(), |unit| unit.header);
        let near = nearest(name, self.tables.units.iter().map(|unit| unit.name));
        self.report(Diagnostic::new(Code::NoEntry, message, place).did_you_mean(near));
    }
}
