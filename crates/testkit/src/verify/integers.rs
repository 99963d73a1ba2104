//! Evidence about programs with integers. The judge asks solvers, so that these trials are few.

use std::time::Duration;

use selvedge_check::{CancelToken, Certificate, Engine, Limits, Question, Run, Solvers, ThreadScope, Verdict};
use selvedge_engines::{EngineKind, EngineOptions, build};
use selvedge_frontend::{Context, Source, gcl};
use selvedge_ir::Target;
use selvedge_replay::certificate::verify;
use selvedge_report::json::{CertificateFile, QuestionView};
use serde::Deserialize;
use serde_json::Value;

use super::forge::Piece;
use super::tamper::{Asked, Extent};
use super::{Court, Effort, Ruling, Trial, Truth};
use crate::harness::{Fault, Tally};
use crate::integers::boxed::{Bounds, Found, search};
use crate::rng::Rng;

/// The limits of the search.
const BOX: Bounds = Bounds { size: 12, inputs: 3, states: 2_000 };

pub(super) struct IntegerCourt<'s> {
    pub(super) solvers: &'s Solvers,
    /// The solvers that the judge asks.
    pub(super) judging: &'s Solvers,
    pub(super) effort: Effort,
}

/// The effort where each judgement starts solvers, and where they are shared. Then finding a proof takes most of the
/// time, so that much is tried with each.
pub(super) const EFFORTS: [Effort; 2] =
    [Effort { edits: 5, forgeries: [10, 5] }, Effort { edits: 30, forgeries: [120, 40] }];

impl IntegerCourt<'_> {
    fn run(solvers: &Solvers) -> Run<'static> {
        let limits = Limits { time: Some(Duration::from_secs(3)), ..Limits::default() };
        Run::new(CancelToken::default(), limits, &()).with_solvers(solvers.clone())
    }

    pub(super) fn try_proofs(
        &self,
        kind: &'static str,
        text: &str,
        rng: &mut Rng,
        tally: &mut Tally,
    ) -> Result<(), Fault> {
        let loaded = gcl::load(text);
        let Some(program) = loaded.program else { return Ok(()) };
        let target = Target::all_asserts(&program);
        let asked = Asked { program, target, threads: ThreadScope::Unbounded };
        let engine: Box<dyn Engine> =
            build([EngineKind::Ase, EngineKind::Cegar][rng.below(2)], &EngineOptions::default());
        let task = asked.task();
        if engine.supports(&task).is_err() {
            return Ok(());
        }
        let Ok(Verdict::Safe(Some(certificate))) = engine.check(&task, &Self::run(self.solvers)) else { return Ok(()) };
        if !matches!(certificate, Certificate::Integers(_)) {
            return Ok(());
        }
        let source = Source::new("program.gcl", text.to_string());
        let context = Context { program: &asked.program, map: &loaded.source_map, source: &source };
        let file = CertificateFile::new(context, QuestionView::new(&Question::default(), None), &certificate);
        let piece = Piece::new(serde_json::to_value(file).expect("certificates are JSON"));
        Trial { kind, court: self, effort: self.effort, donors: Vec::new() }.run(&asked, &piece, rng, tally)
    }
}

impl Court for IntegerCourt<'_> {
    type Asked = Asked;

    fn edited(&self, rng: &mut Rng, asked: &Asked) -> Option<Asked> {
        asked.edited(rng, Extent::Values)
    }

    fn search(&self, asked: &Asked) -> Truth {
        match search(&asked.program, &asked.target, BOX) {
            Found::Error(_) => Truth::Unsafe,
            Found::None { complete: true } => Truth::Safe,
            Found::None { complete: false } => Truth::Open,
        }
    }

    fn rule(&self, asked: &Asked, file: &Value) -> Result<Ruling, Fault> {
        let read = CertificateFile::deserialize(file).ok().and_then(|file| file.certificate(&asked.program).ok());
        let Some(certificate) = read else { return Ok(Ruling::Unreadable) };
        Ok(Ruling::of(&verify(&asked.task(), &certificate, &Self::run(self.judging))))
    }

    fn show(&self, asked: &Asked) -> String {
        asked.show()
    }
}
