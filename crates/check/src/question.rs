//! A question in the user's words, and its meaning for a program.

use selvedge_ir::span::{Role, SourceMap};
use selvedge_ir::{Count, EdgeId, Expr, LocId, Op, Program, Scope, Target, Ty, VarId};

use crate::ThreadScope;

/// A question in the user's words.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Question {
    /// At most this many live threads; `None`: any number.
    pub threads: Option<u32>,
    /// At most this many threads in a whole run, ended ones included, as BOOM counts; `None`: see
    /// [`Question::threads`].
    pub created: Option<u32>,
    /// The number of threads that run `main` at first; `None`: as the program says.
    pub initial: Option<Initial>,
    /// Ask for this label instead of the assertions.
    pub label: Option<String>,
    /// Ask for this assertion only: a label before it, or its line.
    pub assertion: Option<String>,
    /// Ask whether different threads can be at these labels at once, instead of the assertions; empty: do not.
    pub together: Vec<String>,
    /// Ask for deadlocks instead of the assertions.
    pub deadlock: bool,
    /// Ask about those executions only in which these shared variables, which can start with any value, start with
    /// these.
    pub starts: Vec<(String, bool)>,
}

/// A program as the user wrote it, with its source positions.
#[derive(Clone, Copy)]
pub struct Subject<'s> {
    /// The program.
    pub program: &'s Program,
    /// The positions of its parts.
    pub map: &'s SourceMap,
    /// The text that it was read from.
    pub text: &'s str,
}

/// The number of threads that run `main` at first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Initial {
    /// This many.
    Exactly(u32),
    /// Any number.
    Any,
}

/// A question that does not fit the program: a sentence for the user, and what to do.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct InvalidQuestion {
    /// The problem, without a full stop.
    pub message: String,
    /// A suggestion for the user.
    pub help: Option<String>,
}

/// The labels that count as errors where the program has them.
const ERROR_LABELS: [&str; 2] = ["SLIC_ERROR", "ERROR"];

/// Returns whether the number of initial threads can be given, since the program does not say it.
pub fn takes_initial(program: &Program) -> bool {
    program.entries.len() == 1
        && program.prelude.is_none()
        && program.entries.iter().all(|entry| entry.name == program.procs[entry.proc].name)
}

impl Question {
    /// The program with its initial threads, the errors, and the bound on threads of the question.
    pub fn pose(&self, subject: Subject<'_>) -> Result<(Program, Target, ThreadScope), InvalidQuestion> {
        let target = self.target(subject)?;
        let mut program = subject.program.clone();
        if let Some(initial) = self.initial {
            set_initial(&mut program, initial)?;
        }
        fix_starts(&mut program, &self.starts)?;
        let least = least_threads(&program);
        let (scope, bound, option) = match (self.created, self.threads) {
            (Some(created), _) => (ThreadScope::Created(created), created, "--threadbound"),
            (None, Some(threads)) => (ThreadScope::AtMost(threads), threads, "--threads"),
            (None, None) => (ThreadScope::Unbounded, u32::MAX, ""),
        };
        if least > bound {
            return Err(InvalidQuestion {
                message: format!("the program starts with {least} threads, more than {option} {bound} allows"),
                help: Some(format!("raise {option} to {least} or more")),
            });
        }
        Ok((program, target, scope))
    }

    /// The errors of the question: those of one label, one assertion, or all assertions and error labels.
    fn target(&self, subject: Subject<'_>) -> Result<Target, InvalidQuestion> {
        if self.deadlock {
            return deadlock_target(subject);
        }
        if !self.together.is_empty() {
            return together_target(subject.program, &self.together);
        }
        if let Some(label) = &self.label {
            return Ok(Target::new(Vec::new(), locations(subject.program, label)?));
        }
        if let Some(assertion) = &self.assertion {
            return assertion_target(subject, assertion);
        }
        let labels = subject.program.labels.iter();
        let errors = labels.filter(|label| ERROR_LABELS.contains(&label.name.as_str())).map(|label| label.loc);
        Ok(Target::new(Target::all_asserts(subject.program).asserts, errors.collect()))
    }
}

/// Deadlocks. Guarded commands have a property for it, an assertion that some command is enabled. Where one statement
/// has become several steps, a thread could wait between them although the statement is one: programs with a variable
/// `atomic` are refused.
fn deadlock_target(subject: Subject<'_>) -> Result<Target, InvalidQuestion> {
    if let Some((edge, _)) = subject.map.edges.iter_enumerated().find(|(_, origin)| origin.role == Role::Section) {
        let line = subject.line(edge);
        return Err(InvalidQuestion {
            message: format!("line {line}: --deadlock is not for programs with a variable `atomic`"),
            help: Some("use `atomic_begin` and `atomic_end` instead".to_string()),
        });
    }
    if subject.map.commands.is_empty() {
        return Ok(Target::default().with_deadlock(true));
    }
    let is_property = |edge: &EdgeId| subject.map.commands.get(edge).is_some_and(|name| name == "deadlock_free");
    let all = Target::all_asserts(subject.program).asserts;
    let asserts: Vec<EdgeId> = all.into_iter().filter(is_property).collect();
    if asserts.is_empty() {
        return Err(InvalidQuestion {
            message: "the program does not say `deadlock_free;`, which is how guarded commands ask for deadlocks"
                .into(),
            help: Some("add the line `deadlock_free;` after the declarations".to_string()),
        });
    }
    Ok(Target::new(asserts, Vec::new()))
}

/// All locations with this label.
fn locations(program: &Program, name: &str) -> Result<Vec<LocId>, InvalidQuestion> {
    let locs: Vec<_> = program.labels.iter().filter(|label| label.name == name).map(|label| label.loc).collect();
    if locs.is_empty() {
        let message = format!("the program has no label `{name}`");
        let known = program.labels.iter().map(|label| label.name.as_str());
        return Err(InvalidQuestion { message, help: known_names(["label", "labels"], known) });
    }
    Ok(locs)
}

/// Different threads at locations with these labels, one thread for each.
fn together_target(program: &Program, labels: &[String]) -> Result<Target, InvalidQuestion> {
    let places: Vec<Vec<LocId>> = labels.iter().map(|label| locations(program, label)).collect::<Result<_, _>>()?;
    let meetings = places.iter().fold(vec![Vec::new()], |partial: Vec<Vec<LocId>>, places| {
        let longer = |meeting: &Vec<LocId>| -> Vec<Vec<LocId>> {
            places.iter().map(|place| meeting.iter().copied().chain([*place]).collect()).collect()
        };
        partial.iter().flat_map(longer).collect()
    });
    Ok(Target::default().with_together(meetings))
}

/// The assertions on the line or with the label that `wanted` names.
fn assertion_target(subject: Subject<'_>, wanted: &str) -> Result<Target, InvalidQuestion> {
    let program = subject.program;
    let is_labelled =
        |edge: EdgeId| program.labels.iter().any(|label| label.name == wanted && label.loc == program.edges[edge].from);
    let all = Target::all_asserts(program).asserts;
    let named: Vec<EdgeId> = all.iter().copied().filter(|edge| is_labelled(*edge)).collect();
    let line: Option<usize> = wanted.parse().ok();
    let on_line = all.iter().copied().filter(|edge| Some(assertion_line(subject, *edge)) == line).collect();
    let asserts = if named.is_empty() { on_line } else { named };
    if asserts.is_empty() {
        let message = format!("no assertion has the label `{wanted}` or is on that line");
        let lines: Vec<String> = all.iter().map(|edge| assertion_line(subject, *edge).to_string()).collect();
        return Err(InvalidQuestion {
            message,
            help: known_names(["assertion on line", "assertions on lines"], lines.iter().map(String::as_str)),
        });
    }
    Ok(Target::new(asserts, Vec::new()))
}

/// Returns the line, from 1, on which an assertion begins.
fn assertion_line(subject: Subject<'_>, edge: EdgeId) -> usize {
    debug_assert!(matches!(subject.program.edges[edge].op, Op::Assert(_)));
    subject.line(edge)
}

impl Subject<'_> {
    /// Returns the line, from 1, on which a step begins.
    pub fn line(&self, edge: EdgeId) -> usize {
        let start = self.map.edges[edge].span.start as usize;
        self.text.as_bytes()[..start].iter().filter(|byte| **byte == b'\n').count() + 1
    }
}

/// Returns the number of initial threads that every run has.
fn least_threads(program: &Program) -> u32 {
    let least = |count: Count| if let Count::Exactly(count) = count { count } else { 0 };
    program.entries.iter().map(|entry| least(entry.count)).sum()
}

/// Lists the names that there are instead, if they are few enough to read. `kind` says what they are: one, and several.
fn known_names<'n>([one, several]: [&str; 2], names: impl Iterator<Item = &'n str>) -> Option<String> {
    let mut names: Vec<&str> = names.collect();
    names.sort_unstable_by_key(|name| (name.parse().unwrap_or(0_usize), *name));
    names.dedup();
    match names.len() {
        0 => Some(format!("it has no {}", several.trim_end_matches(" on lines"))),
        1 => Some(format!("it has the {one} {}", names[0])),
        2..=20 => Some(format!("it has the {several} {}", names.join(", "))),
        n_names => Some(format!("it has {n_names} {several}, among them {}", names[..20].join(", "))),
    }
}

/// Only programs that start in one procedure leave open how many threads start.
fn set_initial(program: &mut Program, initial: Initial) -> Result<(), InvalidQuestion> {
    if !takes_initial(program) {
        return Err(InvalidQuestion {
            message: "--initial cannot be used here: the program itself says which threads it starts with".to_string(),
            help: Some("leave --initial out".to_string()),
        });
    }
    for entry in &mut program.entries {
        entry.count = match initial {
            Initial::Exactly(count) => Count::Exactly(count),
            Initial::Any => Count::Any,
        };
    }
    Ok(())
}

/// Returns the shared variables whose value at the start can be fixed: truth values that can be either.
pub fn open_starts(program: &Program) -> Vec<VarId> {
    let is_open = |id: &VarId| {
        let var = &program.vars[*id];
        var.scope == Scope::Shared && var.ty == Ty::Bool && !program.init.iter().any(|(given, _)| given == id)
    };
    program.vars.indices().filter(is_open).collect()
}

/// Gives shared variables a value to start with. The executions that are left are those of the program in which the
/// variables start with these values, since each of them can start with any value.
fn fix_starts(program: &mut Program, starts: &[(String, bool)]) -> Result<(), InvalidQuestion> {
    for (name, value) in starts {
        let open = open_starts(program);
        let mut named = open.iter().filter(|id| program.vars[**id].name == *name);
        let (Some(var), None) = (named.next(), named.next()) else {
            let message = format!("no shared variable `{name}` can start with either truth value");
            let names = open.iter().map(|id| program.vars[*id].name.as_str());
            return Err(InvalidQuestion {
                message,
                help: known_names(["undetermined variable", "undetermined variables"], names),
            });
        };
        program.init.push((*var, Expr::Bool(*value)));
    }
    Ok(())
}
