//! Writes witnesses.
//!
//! An execution is written as what a validator needs to find it again: what functions without a body return, which way
//! branches go, where threads are created, and, at each switch of contexts, where the next thread goes on. A data race
//! ends with one segment for both accesses: that of the thread that stays about to make it, and the one that fails.

use std::collections::BTreeMap;

use selvedge_frontend::Context;
use selvedge_ir::Op;
use selvedge_ir::span::{Role, Span};
use selvedge_ir::trace::{Step, Trace};
use sha2::{Digest, Sha256};

use super::Witness;
use super::view::{
    ConstraintView, EntryView, ItemView, LocationView, MetadataView, ProducerView, StepView, TaskView, WaypointView,
};

/// What a witness says about its making.
pub struct Head<'a> {
    /// The bytes of the program.
    pub program: &'a [u8],
    /// The property, as in the files of competitions.
    pub specification: &'a str,
    /// `ILP32` or `LP64`.
    pub data_model: &'a str,
    /// The time, as `2026-01-31T12:00:00Z`.
    pub time: &'a str,
}

impl Head<'_> {
    fn metadata(&self, name: &str, version: &str) -> MetadataView {
        let hash = hash(self.program);
        MetadataView {
            format_version: version.to_owned(),
            uuid: uuid(&format!("{hash} {} {}", self.specification, self.time)),
            creation_time: self.time.to_owned(),
            producer: ProducerView { name: "Selvedge".to_owned(), version: env!("CARGO_PKG_VERSION").to_owned() },
            task: TaskView {
                input_files: vec![name.to_owned()],
                input_file_hashes: BTreeMap::from([(name.to_owned(), hash)]),
                specification: self.specification.to_owned(),
                data_model: self.data_model.to_owned(),
                language: "C".to_owned(),
            },
        }
    }
}

/// Returns the SHA-256 hash in hexadecimal digits.
fn hash(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Returns whether a witness is about the program with these bytes, as far as it says.
pub fn is_about(witness: &Witness, program: &[u8]) -> bool {
    witness.hashes.is_empty() || witness.hashes.contains(&hash(program))
}

/// Returns a UUID of version 8 that depends on a text only.
fn uuid(text: &str) -> String {
    let digits = hash(text.as_bytes());
    format!("{}-{}-8{}-a{}-{}", &digits[..8], &digits[8..12], &digits[13..16], &digits[17..20], &digits[20..32])
}

/// Returns the witness of an execution to an error: format 2.2 if there are several threads, else 2.0.
pub fn violation(context: Context<'_>, trace: &Trace, head: &Head<'_>) -> Result<String, String> {
    let trace = trace.written_out();
    let (Some(last), false) = (trace.steps.last(), trace.steps.is_empty()) else {
        return Err("the program begins with the error".to_owned());
    };
    let threads = trace.steps.iter().any(|step| step.thread != last.thread)
        || trace.steps.iter().any(|step| context.program.edges[step.edge].op.starts_thread());
    let writer = Writer { context, threads };
    let assigned = |step: &Step| context.program.edges[step.edge].op.assigned();
    let stays = |step: &&Step| assigned(step).any(|var| Some(var) == context.map.race);
    let other = trace.steps.iter().rfind(stays);
    let mut waypoints = Vec::new();
    let mut at = trace.steps[0].thread;
    let before = trace.steps[..trace.steps.len() - 1].iter().filter(|step| other != Some(*step));
    for step in before {
        let waypoint = writer.waypoint(step);
        let switches = step.thread != at && writer.is_of_text(step);
        let switch = switches.then(|| writer.plain(step, "assumption", Some("1")));
        if let Some(waypoint) = waypoint.or(switch) {
            at = step.thread;
            waypoints.push(waypoint);
        }
    }
    let segment = |steps: Vec<WaypointView>| {
        let steps = steps.into_iter().map(|waypoint| StepView { waypoint }).collect();
        ItemView { segment: Some(steps), invariant: None }
    };
    let targets = other.into_iter().chain([last]).map(|step| writer.plain(step, "target", None)).collect();
    let content = waypoints.into_iter().map(|waypoint| vec![waypoint]).chain([targets]).map(segment).collect();
    let version = if threads { "2.2" } else { "2.0" };
    file("violation_sequence", head.metadata(&context.source.name, version), content)
}

/// Returns the witness of a proof, without invariants: certificates have them in a form of their own.
pub fn correctness(context: Context<'_>, head: &Head<'_>) -> Result<String, String> {
    file("invariant_set", head.metadata(&context.source.name, "2.0"), Vec::new())
}

fn file(entry_type: &str, metadata: MetadataView, content: Vec<ItemView>) -> Result<String, String> {
    let entry = EntryView { entry_type: entry_type.to_owned(), metadata, content };
    serde_norway::to_string(&[entry]).map_err(|error| format!("the witness cannot be written: {error}"))
}

struct Writer<'a> {
    context: Context<'a>,
    /// Whether there are several threads.
    threads: bool,
}

impl Writer<'_> {
    /// Returns whether a step is one of a function of the program.
    fn is_of_text(&self, step: &Step) -> bool {
        let Context { program, map, .. } = self.context;
        !map.wrappers.contains_key(&program.locs[program.edges[step.edge].from].proc)
    }

    /// Returns the waypoint of a step that has one: an input, the creation of a thread, a branch.
    fn waypoint(&self, step: &Step) -> Option<WaypointView> {
        let Context { program, map, source } = self.context;
        let span = map.edges[step.edge].span;
        if map.inputs.contains_key(&step.edge) {
            let value = format!("\\result == {}", step.choices.first().map_or(0, |value| value.number()));
            let waypoint = self.view(step, "function_return", Some(&value), self.call_end(step, span));
            // The name of these expressions has changed with format 2.1.
            let format = Some(if self.threads { "ext_c_expression" } else { "acsl_expression" }.to_owned());
            let constraint = waypoint.constraint.map(|view| ConstraintView { format, ..view });
            return Some(WaypointView { constraint, ..waypoint });
        }
        if matches!(program.edges[step.edge].op, Op::Spawn(_)) {
            return Some(self.view(step, "function_enter", None, self.call_end(step, span)));
        }
        let is_branch = ["if", "while", "for"].iter().any(|word| span.of(source.text()).starts_with(word));
        match map.edges[step.edge].role {
            Role::Holds if is_branch => Some(self.plain(step, "branching", Some("true"))),
            Role::Fails if is_branch => Some(self.plain(step, "branching", Some("false"))),
            _ => None,
        }
    }

    /// Returns the byte of the closing parenthesis of a call: that of the function without a body, or of the first one
    /// whose name has `create`; else the first byte of the statement.
    fn call_end(&self, step: &Step, span: Span) -> usize {
        let text = span.of(self.context.source.text());
        let name = self.context.map.inputs.get(&step.edge).map_or("create", String::as_str);
        let end = text.find(name).and_then(|at| closing(text, at));
        span.start as usize + end.unwrap_or(0)
    }

    /// Returns a waypoint at the beginning of the statement of a step.
    fn plain(&self, step: &Step, kind: &str, value: Option<&str>) -> WaypointView {
        self.view(step, kind, value, self.context.map.edges[step.edge].span.start as usize)
    }

    fn view(&self, step: &Step, kind: &str, value: Option<&str>, at: usize) -> WaypointView {
        let Context { program, source, .. } = self.context;
        let position = source.position_in_file(at);
        let format = (kind == "assumption").then(|| "c_expression".to_owned());
        let proc = &program.procs[program.locs[program.edges[step.edge].from].proc].name;
        WaypointView {
            kind: kind.to_owned(),
            action: "follow".to_owned(),
            thread_id: self.threads.then_some(step.thread.0),
            constraint: value.map(|value| ConstraintView { value: value.to_owned(), format }),
            location: LocationView {
                file_name: source.part(at).0.name.clone(),
                line: position.line,
                column: Some(position.column),
                function: Some(proc.clone()),
            },
        }
    }
}

/// Returns the byte of the parenthesis that closes the first one behind a byte.
fn closing(text: &str, from: usize) -> Option<usize> {
    let mut depth = 0;
    for (at, byte) in text.bytes().enumerate().skip(from) {
        match byte {
            b'(' => depth += 1,
            b')' if depth == 1 => return Some(at),
            b')' => depth -= 1,
            _ => {}
        }
    }
    None
}
