//! Proofs about several threads as JSON and back, and as a line of text.

use selvedge_check::formula::{Atom, Formulas, Node};
use selvedge_check::{Certificate, Place, Role, Seen, Shape, ShapeProof};
use selvedge_ir::span::SourceMap;
use selvedge_ir::text::parse_with_target;
use selvedge_ir::{EdgeId, EntryId, LocId, Program, VarId};
use selvedge_report::json::{CertificateFile, QuestionView, read_certificate};
use selvedge_report::text::certificate_text;
use selvedge_report::{Context, Source};

/// Two threads, each of which calls `f`.
const CALLS: &str = "shared x: bool\ninit x := F\n\
    proc main() from L0 to L2\ne0 L0 -> L1: call f()\ne1 L1 -> L2: return\n\
    proc f() from L3 to L5\nlocal b: bool\ne2 L3 -> L4: x := b\ne3 L4 -> L5: return\n\
    start main: main exactly 2\ntarget L1";

fn program() -> Program {
    parse_with_target(CALLS).expect("the program is well-formed").0
}

/// A proof that uses everything that there is; it need not prove anything.
fn proof() -> ShapeProof {
    let mut formulas = Formulas::default();
    let now = formulas.add(Node::Atom(Atom::Now(VarId::new(0)))).expect("it has no parts");
    let of = formulas.add(Node::Atom(Atom::Of { thread: 1, var: 0 })).expect("it has no parts");
    let both = formulas.add(Node::And(now, of)).expect("the parts are there");
    let entry = EntryId::new(0);
    let place = |role: Role, calls: &[usize], loc: usize, vars: &[(u32, usize)]| Place {
        role,
        calls: calls.iter().copied().map(EdgeId::new).collect(),
        loc: LocId::new(loc),
        vars: vars.iter().map(|(frame, var)| (*frame, VarId::new(*var))).collect(),
    };
    ShapeProof {
        seen: Seen::All,
        formulas,
        places: vec![
            place(Role::Prelude, &[], 0, &[]),
            place(Role::Holder(entry), &[], 0, &[]),
            place(Role::Free(entry), &[0], 4, &[(1, 1)]),
        ],
        shapes: vec![
            Shape::of_all(vec![0], 0, now),
            Shape::of_all(vec![0], 2, now),
            Shape::of_all(vec![1, 2], 0, both),
        ],
    }
}

fn written(program: &Program) -> CertificateFile {
    written_as(program, proof())
}

fn written_as(program: &Program, proof: ShapeProof) -> CertificateFile {
    let (source, map) = (Source::new("p.bp", "text\n"), SourceMap::default());
    let context = Context { program, map: &map, source: &source };
    CertificateFile::new(context, QuestionView::default(), &Certificate::Shapes(proof))
}

#[test]
fn a_proof_about_threads_survives_json() {
    let program = program();
    let file = read_certificate(&written(&program).text()).expect("it was just written");
    assert_eq!(file.certificate(&program), Ok(Certificate::Shapes(proof())));
}

#[test]
fn a_proof_that_names_the_first_states_only_survives_json() {
    let (program, first) = (program(), ShapeProof { seen: Seen::Reached, ..proof() });
    let text = written_as(&program, first.clone()).text();
    assert!(text.contains("\"first_only\":true") && !written(&program).text().contains("first_only"), "{text}");
    let file = read_certificate(&text).expect("it was just written");
    assert_eq!(file.certificate(&program), Ok(Certificate::Shapes(first.clone())));
    let text = certificate_text(&Certificate::Shapes(first));
    assert_eq!(text, "all states that can be reached, found again one by one, over 3 places");
}

#[test]
fn numbers_that_the_program_does_not_have_are_told() {
    let program = program();
    let text = written(&program).text();
    let damages = [
        ("\"location\":4", "\"location\":9", "the program has no location 9"),
        ("\"calls\":[0]", "\"calls\":[9]", "the program has no edge 9"),
        ("\"variables\":[[1,1]]", "\"variables\":[[1,9]]", "the program has no variable 9"),
        ("\"role\":\"holder\",\"entry\":0", "\"role\":\"holder\",\"entry\":9", "the program has no kind 9 of threads"),
        ("\"role\":\"free\",\"entry\":0", "\"role\":\"free\",\"entry\":null", "its thread has no kind"),
        (
            "\"role\":\"prelude\",\"entry\":null",
            "\"role\":\"prelude\",\"entry\":0",
            "the prelude has a kind of threads",
        ),
        ("\"formula\":2", "\"formula\":3", "there is no formula 3"),
    ];
    for (from, to, expected) in damages {
        assert!(text.contains(from), "{from} in {text}");
        let damaged = read_certificate(&text.replace(from, to)).expect("the form is the same");
        let error = damaged.certificate(&program).expect_err("the number is wrong").to_string();
        assert!(error.contains(expected), "{error}");
    }
}

#[test]
fn the_text_counts_shapes_and_places() {
    let text = certificate_text(&Certificate::Shapes(proof()));
    assert_eq!(text, "a closed set of 3 shapes of threads over 3 places");
}

/// The same for any number of threads.
fn views() -> ShapeProof {
    let ShapeProof { formulas, places, shapes, .. } = proof();
    let view = |held: bool| Shape::of_some(vec![2], held, shapes[0].formula);
    let pair = Shape::of_some(shapes[2].threads.clone(), false, shapes[2].formula);
    ShapeProof { seen: Seen::Any(2), formulas, places, shapes: vec![pair, view(false), view(true)] }
}

#[test]
fn a_proof_about_any_number_of_threads_survives_json() {
    let program = program();
    let (source, map) = (Source::new("p.bp", "text\n"), SourceMap::default());
    let context = Context { program: &program, map: &map, source: &source };
    let text = CertificateFile::new(context, QuestionView::default(), &Certificate::Shapes(views())).text();
    let file = read_certificate(&text).expect("it was just written");
    assert_eq!(file.certificate(&program), Ok(Certificate::Shapes(views())));
    let damaged = read_certificate(&text.replace("\"held\":true,\"formula\":0", "\"held\":true,\"formula\":7"));
    let error = damaged.expect("the form is the same").certificate(&program).expect_err("there is no such formula");
    assert!(error.to_string().contains("there is no formula 7"), "{error}");
    assert_eq!(certificate_text(&Certificate::Shapes(views())), "a closed table of 3 views of 2 threads over 3 places");
}
