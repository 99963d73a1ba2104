//! The judge against an oracle: what it accepts about a program must be true of that program.
//!
//! For each kind of evidence in turn: an engine finds a piece about a generated program; the program or the question is
//! edited in a few ways, the piece is forged in many, and the judge is asked about all combinations. Where it accepts a
//! certificate, a search over all states must find no error, and where the conditions of a proof have an oracle of
//! their own ([`crate::obligations`], [`crate::systems`]), that must agree. About executions `stepper`, which
//! comes to the error on its own, must say the same. Most forgeries are about programs with an error: there every
//! acceptance is a finding.

mod forge;
mod integers;
mod invariants;
pub mod pool;
mod programs;
mod rebit;
mod stepper;
mod systems;
mod tamper;
mod visit;

use std::collections::HashSet;
use std::fmt::Write as _;

use selvedge_check::Solvers;
use selvedge_ir::pds::Pds;
use selvedge_replay::certificate::{Accepted, Refused};
use serde_json::Value;

use crate::harness::{CERTIFICATES, COMPARISONS, Campaign, Fault, Tally, fault};
use crate::integers::generate;
use crate::machine;
use crate::model::Model;
use crate::rng::Rng;
use crate::shrink::shrink;
use forge::Piece;
use integers::{EFFORTS, IntegerCourt};
use invariants::InvariantCourt;
use pool::Pool;
use programs::{ProgramCourt, Proofs};
use systems::SystemCourt;

/// A kind of evidence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// An execution to an error.
    Trace,
    /// A certificate about a Boolean program.
    Program(Proofs),
    /// A certificate about a pushdown system.
    System,
    /// A certificate about a program with machine integers.
    OverBits,
    /// A certificate about a program with integers.
    Integers,
    /// Invariants over machine integers.
    Invariants,
}

/// All kinds with their names, in the order of their turns.
pub const KINDS: [(&str, Kind); 18] = [
    ("execution", Kind::Trace),
    ("control flow", Kind::Program(Proofs::ControlFlow)),
    ("summaries", Kind::Program(Proofs::Summaries)),
    ("k-induction", Kind::Program(Proofs::Induction)),
    ("threads", Kind::Program(Proofs::Threads)),
    ("views", Kind::Program(Proofs::Views)),
    ("cover: views", Kind::Program(Proofs::CoverViews)),
    ("cover: vectors", Kind::Program(Proofs::CoverVectors)),
    ("cover: basis", Kind::Program(Proofs::CoverBasis)),
    ("cover: adequacy", Kind::Program(Proofs::Adequacy)),
    ("pushdown system", Kind::System),
    ("integers", Kind::Integers),
    ("unwound", Kind::Program(Proofs::Unwound)),
    ("all states", Kind::Program(Proofs::AllStates)),
    ("over bits", Kind::OverBits),
    ("invariants", Kind::Invariants),
    ("first states", Kind::Program(Proofs::FirstStates)),
    ("facts", Kind::Program(Proofs::Facts)),
];

/// What the counts of a kind are called: the programs with evidence, and the answers of the judge.
const COLUMNS: [&str; 7] =
    ["programs", "judged", "accepted", "accepted, search open", "rejected", "rejected, search refutes", "not judged"];

/// What a search says about a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Truth {
    Safe,
    Unsafe,
    Open,
}

/// What the judge says about a piece of evidence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ruling {
    Accepted,
    Rejected,
    /// The judge cannot tell.
    NotJudged,
    /// It is not evidence about this program by its form.
    Unreadable,
}

impl Ruling {
    fn of(answer: &Result<Accepted, Refused>) -> Ruling {
        match answer {
            Ok(_) => Ruling::Accepted,
            Err(Refused::Flawed(_)) => Ruling::Rejected,
            Err(Refused::Unjudged(_)) => Ruling::NotJudged,
        }
    }
}

/// Where evidence of one kind is judged.
trait Court {
    /// A program with a question, or a system.
    type Asked;

    /// Returns the program or the question after an edit, if there is one.
    fn edited(&self, rng: &mut Rng, asked: &Self::Asked) -> Option<Self::Asked>;

    fn search(&self, asked: &Self::Asked) -> Truth;

    /// Asks the judge. An error is a disagreement with an oracle for this very piece.
    fn rule(&self, asked: &Self::Asked, file: &Value) -> Result<Ruling, Fault>;

    /// What the evidence claims.
    fn claim(&self) -> Truth {
        Truth::Safe
    }

    /// Returns whether the judge accepts everything that is true and within its limits.
    fn is_complete(&self) -> bool {
        false
    }

    fn show(&self, asked: &Self::Asked) -> String;
}

/// How often things are tried with one piece of evidence.
#[derive(Clone, Copy)]
struct Effort {
    /// Edits of the program and the question.
    edits: usize,
    /// Forgeries for an edit after which the claim is wrong, and for each other program.
    forgeries: [usize; 2],
}

/// A piece of evidence with all that is tried with it.
struct Trial<'c, C: Court> {
    kind: &'static str,
    court: &'c C,
    effort: Effort,
    /// Evidence about other programs.
    donors: Vec<Piece>,
}

impl<C: Court> Trial<'_, C> {
    fn run(&self, asked: &C::Asked, piece: &Piece, rng: &mut Rng, tally: &mut Tally) -> Result<(), Fault> {
        tally.count(format!("{}: programs", self.kind));
        if self.court.rule(asked, &piece.value)? != Ruling::Accepted {
            return Ok(());
        }
        self.forge(asked, piece, rng, tally)?;
        for _ in 0..self.effort.edits {
            if let Some(edited) = self.court.edited(rng, asked) {
                self.forge(&edited, piece, rng, tally)?;
            }
        }
        Ok(())
    }

    /// Judges the piece itself and forgeries of it about one program, none of them twice.
    fn forge(&self, asked: &C::Asked, piece: &Piece, rng: &mut Rng, tally: &mut Tally) -> Result<(), Fault> {
        let truth = self.court.search(asked);
        let is_wrong = truth != Truth::Open && truth != self.court.claim();
        let mut known = HashSet::new();
        for genuine in [piece].into_iter().chain(&self.donors) {
            if known.insert(genuine.value.to_string()) {
                self.judge(asked, truth, &genuine.value, tally)?;
            }
        }
        for _ in 0..self.effort.forgeries[usize::from(!is_wrong)] {
            let Some(forged) = piece.forged(rng, &self.donors) else { continue };
            if known.insert(forged.to_string()) {
                self.judge(asked, truth, &forged, tally)?;
            }
        }
        Ok(())
    }

    fn judge(&self, asked: &C::Asked, truth: Truth, file: &Value, tally: &mut Tally) -> Result<(), Fault> {
        let ruling = match self.court.rule(asked, file) {
            Ok(ruling) => ruling,
            Err(Fault { stage, message }) => {
                return fault(
                    format!("{}: {stage}", self.kind),
                    format!("{message}\n{}\n{file}", self.court.show(asked)),
                );
            }
        };
        let is_wrong = truth != Truth::Open && truth != self.court.claim();
        let words: &[&str] = match ruling {
            Ruling::Accepted if is_wrong => {
                let message = format!("accepted, but {truth:?}:\n{}\n{file}", self.court.show(asked));
                return fault(format!("{}: accepted", self.kind), message);
            }
            Ruling::Rejected if truth == self.court.claim() && self.court.is_complete() => {
                let message = format!("rejected, but {truth:?}:\n{}\n{file}", self.court.show(asked));
                return fault(format!("{}: rejected", self.kind), message);
            }
            Ruling::Accepted if truth == Truth::Open => &["judged", "accepted", "accepted, search open"],
            Ruling::Accepted => &["judged", "accepted"],
            Ruling::Rejected if is_wrong => &["judged", "rejected", "rejected, search refutes"],
            Ruling::Rejected => &["judged", "rejected"],
            Ruling::NotJudged => &["not judged"],
            Ruling::Unreadable => &[],
        };
        words.iter().for_each(|word| tally.count(format!("{}: {word}", self.kind)));
        if words.contains(&"judged") {
            tally.count(COMPARISONS);
        }
        if ruling == Ruling::Accepted {
            tally.count(CERTIFICATES);
        }
        Ok(())
    }
}

/// The comparison of the judge with searches.
pub struct Judge {
    /// The solvers that proofs about integers need.
    pub solvers: Solvers,
    /// The same for the judge, if they are shared.
    pub pool: Option<Pool>,
    /// The kinds that are tried, by their names in [`KINDS`]; all if there are none.
    pub only: Vec<String>,
}

/// What a piece of evidence is about.
#[derive(Debug)]
pub enum Subject {
    /// A Boolean program.
    Program(Model),
    /// A pushdown system.
    System(Pds),
    /// A program of guarded commands.
    Integers(String),
    /// A program with machine integers, in the text form of the representation.
    Machine(String),
    /// Loops over machine integers.
    Loops(String),
}

impl Judge {
    /// Returns the kind that has its turn with a number.
    fn kind(&self, number: u64) -> (&'static str, Kind) {
        let is_tried = |name: &str| self.only.is_empty() || self.only.iter().any(|only| only == name);
        let tried: Vec<(&str, Kind)> = KINDS.into_iter().filter(|(name, _)| is_tried(name)).collect();
        tried[number as usize % tried.len()]
    }
}

impl Campaign for Judge {
    type Subject = Subject;

    fn subject(&self, seed: u64, number: u64) -> Subject {
        let mut rng = Rng::for_item(seed, number);
        match self.kind(number).1 {
            Kind::Trace => Subject::Program(programs::with_execution(&mut rng)),
            Kind::Program(proofs) => Subject::Program(proofs.program(&mut rng)),
            Kind::System => Subject::System(crate::systems::random(&mut rng)),
            Kind::Integers => Subject::Integers(generate::program(seed, number)),
            Kind::OverBits => Subject::Machine(machine::program(&mut rng)),
            Kind::Invariants => Subject::Loops(invariants::program(&mut rng)),
        }
    }

    fn compare(&self, subject: &Subject, number: u64, tally: &mut Tally) -> Result<(), Fault> {
        let (name, kind) = self.kind(number);
        let rng = &mut Rng::new(number);
        match (kind, subject) {
            (Kind::Trace, Subject::Program(model)) => programs::try_executions(name, model, rng, tally),
            (Kind::Program(proofs), Subject::Program(model)) => {
                ProgramCourt { proofs }.try_proofs(name, model, rng, tally)
            }
            (Kind::OverBits, Subject::Machine(text)) => {
                ProgramCourt { proofs: Proofs::OverBits }.try_over_bits(name, text, rng, tally)
            }
            (Kind::System, Subject::System(pds)) => SystemCourt.try_proofs(name, pds, rng, tally),
            (Kind::Integers, Subject::Integers(text)) => {
                let judging = self.pool.as_ref().map_or(&self.solvers, |pool| &pool.solvers);
                let effort = EFFORTS[usize::from(self.pool.is_some())];
                IntegerCourt { solvers: &self.solvers, judging, effort }.try_proofs(name, text, rng, tally)
            }
            (Kind::Invariants, Subject::Loops(text)) => InvariantCourt.try_proofs(name, text, rng, tally),
            _ => fault("subject", "it is of another kind"),
        }
    }

    fn shrink(&self, subject: Subject, fails: &mut dyn FnMut(&Subject) -> bool) -> Subject {
        match subject {
            Subject::Program(model) => {
                let smaller = shrink(&model, 1_000, |model| fails(&Subject::Program(model.clone())));
                Subject::Program(smaller.model)
            }
            Subject::Integers(text) => {
                Subject::Integers(generate::shrink(text, &mut |text| fails(&Subject::Integers(text.clone()))))
            }
            Subject::Machine(text) => {
                Subject::Machine(machine::smaller(text, &mut |text| fails(&Subject::Machine(text.clone()))))
            }
            Subject::System(pds) => Subject::System(pds),
            Subject::Loops(text) => Subject::Loops(text),
        }
    }

    fn show(&self, subject: &Subject) -> String {
        match subject {
            Subject::Program(model) => model.to_string(),
            Subject::System(pds) => format!("{pds:?}"),
            Subject::Integers(text) | Subject::Machine(text) | Subject::Loops(text) => text.clone(),
        }
    }

    fn summarize(tally: &Tally) -> String {
        let mut table = format!("\n\n| evidence | {} |\n|---|{}\n", COLUMNS.join(" | "), "---:|".repeat(COLUMNS.len()));
        for (name, _) in KINDS {
            let counts = COLUMNS.map(|column| tally[&*format!("{name}: {column}")].to_string());
            let _ = writeln!(table, "| {name} | {} |", counts.join(" | "));
        }
        table
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A judge that accepts every list of numbers; the claim is wrong after each edit.
    struct Gullible;

    impl Court for Gullible {
        type Asked = Truth;

        fn edited(&self, _: &mut Rng, _: &Truth) -> Option<Truth> {
            Some(Truth::Unsafe)
        }

        fn search(&self, asked: &Truth) -> Truth {
            *asked
        }

        fn rule(&self, _: &Truth, _: &Value) -> Result<Ruling, Fault> {
            Ok(Ruling::Accepted)
        }

        fn show(&self, asked: &Truth) -> String {
            format!("{asked:?}")
        }
    }

    #[test]
    fn a_judge_that_accepts_too_much_is_found() {
        let piece = Piece::new(serde_json::json!({ "proof": [1, 2, 3] }));
        let run = |edits| {
            let effort = Effort { edits, forgeries: [5, 5] };
            let mut tally = Tally::default();
            let trial = Trial { kind: "numbers", court: &Gullible, effort, donors: Vec::new() };
            trial.run(&Truth::Safe, &piece, &mut Rng::new(1), &mut tally).map(|()| tally)
        };
        assert_eq!(run(0).map(|tally| tally["numbers: accepted"] > 3), Ok(true));
        assert_eq!(run(1).map_err(|found| found.stage), Err("numbers: accepted".to_string()));
    }
}
