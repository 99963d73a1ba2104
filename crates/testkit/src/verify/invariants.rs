//! Invariants over machine integers: loops over small numbers, whose states are few.

use std::time::Duration;

use selvedge_check::{Certificate, Engine as _, Question, ThreadScope, Verdict};
use selvedge_engines::invariants::Invariants;
use selvedge_frontend::{Context, Source};
use selvedge_ir::span::SourceMap;
use selvedge_ir::validate::validate;
use selvedge_ir::{Target, text};
use selvedge_replay::certificate::verify;
use selvedge_report::json::{CertificateFile, QuestionView};
use serde::Deserialize;
use serde_json::Value;

use super::forge::Piece;
use super::programs::patient;
use super::tamper::{Asked, Extent};
use super::{Court, Effort, Ruling, Trial, Truth};
use crate::harness::{Fault, Tally, fault};
use crate::oracle::{Budget, within};
use crate::rng::Rng;

/// The budget of the engine.
const BUDGET: Budget = Budget { patience: Some(Duration::from_secs(1)), ..Budget::states(1_500) };

const EFFORT: Effort = Effort { edits: 8, forgeries: [12, 6] };

/// The number of proofs with forged formulas that are judged with each program.
const MISSTATED: usize = 12;

pub(super) struct InvariantCourt;

/// Returns a program with two loops, in which a procedure may be called.
pub(super) fn program(rng: &mut Rng) -> String {
    let ty = ["u2", "u3", "i2", "i3", "u4"][rng.below(5)];
    let mut steps = Vec::new();
    for head in 0..2 {
        for _ in 0..rng.between(1, 2) {
            let step = step(rng, ty);
            steps.push(format!("L{head} -> L{head}: {step}"));
        }
        let condition = condition(rng, ty);
        let leave = ["skip".to_string(), format!("assume {condition}"), format!("assert {condition}")];
        steps.push(format!("L{head} -> L{}: {}", head + 1, rng.pick(&leave).map_or("skip", String::as_str)));
    }
    let condition = condition(rng, ty);
    let value = sum(rng, ty, "p");
    format!(
        "shared x: {ty}, y: {ty}, z: {ty}, b: bool\ninit x := {}, y := {}, b := F\nproc main() from L0 to L4\n{}\n\
         L2 -> L3: assert {condition}\nL3 -> L4: return\nproc f(p: {ty}) returns {ty} from L5 to L7\n\
         L5 -> L6: y := {}\nL6 -> L7: return {value}\nstart main\n",
        constant(rng, ty),
        constant(rng, ty),
        steps.join("\n"),
        sum(rng, ty, "y"),
    )
}

fn constant(rng: &mut Rng, ty: &str) -> String {
    format!("{}:{ty}", rng.below(2))
}

fn variable(rng: &mut Rng) -> &'static str {
    ["x", "y", "z"][rng.below(3)]
}

fn sum(rng: &mut Rng, ty: &str, first: &str) -> String {
    let second = if rng.coin() { constant(rng, ty) } else { variable(rng).to_string() };
    format!("{ty}.{}({first}, {second})", ["add", "add", "sub", "mul"][rng.below(4)])
}

fn condition(rng: &mut Rng, ty: &str) -> String {
    let (left, right) = (variable(rng), if rng.coin() { constant(rng, ty) } else { variable(rng).to_string() });
    let plain = match rng.below(4) {
        0 => format!("{left} != {right}"),
        1 => format!("{left} = {right}"),
        2 => format!("{ty}.lt({left}, {right})"),
        _ => format!("{ty}.le({left}, {right})"),
    };
    if rng.percent(25) { format!("b | {plain}") } else { plain }
}

fn step(rng: &mut Rng, ty: &str) -> String {
    let guard = if rng.coin() { format!(" constrain {}", condition(rng, ty)) } else { String::new() };
    let variable = variable(rng);
    match rng.below(5) {
        0 => format!("{variable} := call f({})", sum(rng, ty, variable)),
        1 => format!("b := !b, {variable} := {}{guard}", sum(rng, ty, variable)),
        2 => format!("x := {}, y := {}{guard}", sum(rng, ty, "x"), sum(rng, ty, "y")),
        _ => format!("{variable} := {}{guard}", sum(rng, ty, variable)),
    }
}

impl InvariantCourt {
    pub(super) fn try_proofs(
        &self,
        kind: &'static str,
        text: &str,
        rng: &mut Rng,
        tally: &mut Tally,
    ) -> Result<(), Fault> {
        let program = text::parse(text).or_else(|error| fault("read", error.to_string()))?;
        if let Err(invalid) = validate(&program) {
            return fault("valid", invalid.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "));
        }
        let target = Target::all_asserts(&program);
        let asked = Asked { program, target, threads: ThreadScope::Unbounded };
        let found = within(BUDGET, |run| Invariants.check(&asked.task(), run));
        let Ok(Verdict::Safe(Some(certificate))) = found else { return Ok(()) };
        let piece = written(&asked, text, &certificate);
        let donors = (0..MISSTATED).filter_map(|_| misstated(rng, &piece)).collect();
        Trial { kind, court: self, effort: EFFORT, donors }.run(&asked, &piece, rng, tally)
    }
}

fn written(asked: &Asked, text: &str, certificate: &Certificate) -> Piece {
    let source = Source::new("program.ir", text.to_string());
    let context = Context { program: &asked.program, map: &SourceMap::default(), source: &source };
    let file = CertificateFile::new(context, QuestionView::new(&Question::default(), None), certificate);
    Piece::new(serde_json::to_value(file).expect("certificates are JSON"))
}

/// Returns a proof in which one formula is another one: a part of it, a constant, its negation, with another operator
/// or number, or one that is stated or left out at a place.
fn misstated(rng: &mut Rng, piece: &Piece) -> Option<Piece> {
    let mut value = piece.value.clone();
    let places = value.pointer_mut("/proof/places")?.as_array_mut()?;
    let at = rng.below(places.len().max(1));
    let stated = places.get(at)?["formula"].as_str().map(str::to_string);
    let exchanges = [("add", "sub"), ("le", "lt"), ("lt", "le"), (" = ", " != "), (" & ", " | "), ("1:", "0:")];
    places[at]["formula"] = match (stated, rng.below(6)) {
        (None, 0..3) | (Some(_), 0) => "T".into(),
        (None, _) | (Some(_), 1) => "F".into(),
        (Some(formula), 2) => format!("!({formula})").into(),
        (Some(_), 3) => Value::Null,
        (Some(formula), 4) => {
            let parts: Vec<&str> = formula.split(" & ").collect();
            (*rng.pick(&parts)?).into()
        }
        (Some(formula), _) => {
            let (old, new) = rng.pick(&exchanges)?;
            formula.replacen(old, new, 1).into()
        }
    };
    Some(Piece::new(value))
}

impl Court for InvariantCourt {
    type Asked = Asked;

    fn edited(&self, rng: &mut Rng, asked: &Asked) -> Option<Asked> {
        asked.edited(rng, Extent::All)
    }

    fn search(&self, asked: &Asked) -> Truth {
        asked.search()
    }

    fn rule(&self, asked: &Asked, file: &Value) -> Result<Ruling, Fault> {
        let read = CertificateFile::deserialize(file).ok().and_then(|file| file.certificate(&asked.program).ok());
        let Some(certificate) = read else { return Ok(Ruling::Unreadable) };
        Ok(Ruling::of(&verify(&asked.task(), &certificate, &patient())))
    }

    fn show(&self, asked: &Asked) -> String {
        asked.show()
    }
}
