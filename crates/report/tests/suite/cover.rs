//! Proofs about any number of threads over listed states as JSON and back, and as a line of text.

use selvedge_check::adequacy::{Block, Position, Turn, TurnState};
use selvedge_check::{
    AdequacyClaim, Certificate, CoverClaim, CoverProof, LocalState, OmegaVector, Place, Role, SharedState, ViewRow,
    ViewTable, Weighting,
};
use selvedge_ir::span::SourceMap;
use selvedge_ir::text::parse_with_target;
use selvedge_ir::tts::Cover;
use selvedge_ir::{EntryId, LocId, Program, VarId};
use selvedge_report::json::{CertificateFile, QuestionView, read_certificate};
use selvedge_report::text::certificate_text;
use selvedge_report::{Context, Source};

const FLIP: &str = "shared x: bool\ninit x := F\n\
    proc main() from L0 to L2\nlocal b: bool\ne0 L0 -> L1: x := b\ne1 L1 -> L2: return\n\
    start main: main any\ntarget L1";

fn program() -> Program {
    parse_with_target(FLIP).expect("the program is well-formed").0
}

fn table() -> ViewTable {
    let row = |shared: usize, threads: &[usize], last: &[usize]| ViewRow {
        shared: shared.into(),
        threads: threads.iter().map(|local| (*local).into()).collect(),
        last: last.iter().map(|local| (*local).into()).collect(),
    };
    ViewTable { k: 2, shareds: vec![0.into()], rows: vec![row(0, &[], &[0, 1]), row(0, &[0], &[1])] }
}

fn rounds() -> AdequacyClaim {
    let state =
        |local: Option<usize>, from: Option<u32>| TurnState { shared: 0.into(), local: local.map(Into::into), from };
    let turn = |before: Option<u32>| Turn {
        kind: 0,
        before: before.map(|before| (before, 0.into())),
        begun: 0.into(),
        states: vec![state(Some(1), None), state(None, Some(0))],
    };
    let block = |n: usize| Block { used: vec![1], begins: vec![0.into(); n], ends: vec![0.into(); n - 1] };
    AdequacyClaim {
        k: 1,
        turns: vec![turn(None), turn(Some(0))],
        left: vec![vec![block(1)], vec![block(2)]],
        right: vec![vec![]],
        positions: vec![Position {
            used: vec![1],
            eve: [vec![0.into(); 2], vec![0.into()]],
            adam: [vec![0.into()], Vec::new()],
        }],
    }
}

/// Proofs that use everything that there is; they need not prove anything.
fn proofs() -> Vec<CoverProof> {
    let claims = [
        CoverClaim::Views(table()),
        CoverClaim::Vectors(vec![OmegaVector {
            shared: 0.into(),
            counts: vec![(0.into(), None), (1.into(), Some(3))],
        }]),
        CoverClaim::Basis {
            within: table(),
            weights: vec![Weighting { shareds: vec![(0.into(), -1)], locals: vec![(1.into(), 2)], most: 3 }],
            forbidden: vec![Cover { shared: 0.into(), threads: vec![1.into(), 1.into()] }],
        },
        CoverClaim::Adequacy(rounds()),
    ];
    let proof = |claim: CoverClaim| CoverProof {
        shared_vars: vec![VarId::new(0)],
        shareds: [SharedState { values: vec![true], held: true }].into_iter().collect(),
        places: vec![Place {
            role: Role::Free(EntryId::new(0)),
            calls: Vec::new(),
            loc: LocId::new(0),
            vars: vec![(0, VarId::new(1))],
        }],
        locals: [false, true].map(|value| LocalState { place: 0, values: vec![value] }).into_iter().collect(),
        claim,
    };
    claims.map(proof).into()
}

fn written(program: &Program, proof: CoverProof) -> String {
    let (source, map) = (Source::new("p.bp", "text\n"), SourceMap::default());
    let context = Context { program, map: &map, source: &source };
    CertificateFile::new(context, QuestionView::default(), &Certificate::Cover(proof)).text()
}

#[test]
fn proofs_over_listed_states_survive_json() {
    let program = program();
    for proof in proofs() {
        let file = read_certificate(&written(&program, proof.clone())).expect("it was just written");
        assert_eq!(file.certificate(&program), Ok(Certificate::Cover(proof)));
    }
}

#[test]
fn values_are_zeros_and_ones() {
    let program = program();
    let text = written(&program, proofs().remove(0));
    assert!(text.contains("[true,\"1\"]"), "{text}");
    let damaged = read_certificate(&text.replace("[true,\"1\"]", "[true,\"x\"]")).expect("the form is the same");
    let error = damaged.certificate(&program).expect_err("the value is wrong").to_string();
    assert!(error.contains("`x` is not a value"), "{error}");
}

#[test]
fn the_text_tells_the_claim() {
    let texts: Vec<String> = proofs().into_iter().map(|proof| certificate_text(&Certificate::Cover(proof))).collect();
    let over = "over 1 shared state and 2 thread states";
    assert_eq!(texts[0], format!("a closed table of the views of 2 threads {over}"));
    assert_eq!(texts[1], format!("a closed set of 1 vector {over}"));
    assert_eq!(
        texts[2],
        format!("a closed table of the views of 2 threads and 1 weighting without 1 forbidden configuration {over}")
    );
    assert_eq!(texts[3], format!("nothing is new after 1 round: 2 turns and 1 position {over}"));
}
