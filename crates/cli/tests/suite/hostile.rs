//! Certificates and traces as hostile input: large numbers, deep nesting, sizes that multiply. Each is refused at once.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::harness::{run, scratch};

const LOCK: &str = "../../../../examples/lock_fixed.bp";
const MUTEX_TTS: &str = "../../../../examples/mutex.tts";
const MUTEX: &str = "../../../../examples/mutex.gcl";

/// The certificate of a check, as JSON.
fn certificate_of(args: &str, name: &str) -> Value {
    let path = scratch(name);
    let ran = run(&format!("check --quiet --certificate {path} {args}"));
    assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{args}");
    serde_json::from_str(&std::fs::read_to_string(&path).expect("it was written")).expect("it is JSON")
}

/// Verifies a certificate, which must be refused without a crash, and soon.
#[track_caller]
fn refused(certificate: &Value, args: &str, message: &str) {
    let path = scratch("hostile.json").replace(".json", &format!("-{}.json", name()));
    std::fs::write(&path, certificate.to_string()).expect("it can be written");
    let start = Instant::now();
    let command = args.replace("FILE", &path);
    let ran = run(&command);
    assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{command}: {}", ran.err);
    assert!(ran.err.contains(message), "{command}: {}", ran.err);
    assert!(start.elapsed() < Duration::from_secs(20), "{command} takes {:?}", start.elapsed());
    drop(std::fs::remove_file(path));
}

/// The name of the test, for its files.
fn name() -> String {
    std::thread::current().name().unwrap_or("test").replace("::", "-")
}

const TOO_MANY: &str = "it speaks of too many threads, steps or rounds";

#[test]
fn numbers_of_threads_steps_and_rounds_are_bounded() {
    let proofs = [
        ("--no-file-options --engine views-explicit", LOCK, "views-k.json", "/proof/claim/k"),
        ("--no-file-options --engine backward", LOCK, "basis-k.json", "/proof/claim/within/k"),
        ("--no-file-options --engine views", LOCK, "shapes-k.json", "/proof/k"),
        ("--engine induction", "safe.bp", "induction-k.json", "/proof/k"),
        ("--engine cutoff", MUTEX_TTS, "tts-k.json", "/proof/claim/k"),
        ("--rounds 1..4 --engine rounds", "locked.bp", "rounds-k.json", "/proof/claim/k"),
    ];
    for (engine, program, file, place) in proofs {
        let mut certificate = certificate_of(&format!("{engine} {program}"), file);
        for number in [1_000_000_u32, 1 << 31, u32::MAX] {
            *certificate.pointer_mut(place).expect("the number is there") = json!(number);
            refused(&certificate, &format!("verify --no-file-options FILE {program}"), TOO_MANY);
        }
    }
}

#[test]
fn numbers_of_threads_in_vectors_cannot_be_counted_beyond_their_range() {
    let mut certificate = certificate_of(&format!("--engine karp-miller {MUTEX_TTS}"), "vectors.json");
    for vector in certificate["proof"]["claim"]["vectors"].as_array_mut().expect("a list") {
        for count in vector[1].as_array_mut().expect("a list").iter_mut().filter(|count| count[1].is_null()) {
            count[1] = json!(u32::MAX);
        }
    }
    refused(&certificate, &format!("verify FILE {MUTEX_TTS}"), "flawed");
}

#[test]
fn threads_that_have_ended_are_counted_only_where_that_matters() {
    let mut certificate = certificate_of("--engine threads --threads 2 atomic.bp", "ended.json");
    for shape in certificate["proof"]["shapes"].as_array_mut().expect("a list") {
        shape["ended"] = json!(u32::MAX);
    }
    refused(&certificate, "verify --threads 2 FILE atomic.bp", "flawed");
}

#[test]
fn formulas_that_nest_deeply_or_are_long_do_not_exhaust_the_stack() {
    let certificate = certificate_of(&format!("--engine ase {MUTEX}"), "deep.json");
    let deep = format!("{}true{}", "(not ".repeat(300_000), ")".repeat(300_000));
    let long = format!("(and {} false)", "true ".repeat(300_000));
    let range = "(= |b| (- -9223372036854775808))".to_string();
    for (formula, message) in [(deep, "nested too deeply"), (long, "flawed"), (range, "range of 64 bits")] {
        let mut changed = certificate.clone();
        changed["proof"]["points"][0]["formula"] = json!(formula);
        refused(&changed, &format!("verify FILE {MUTEX}"), message);
    }
    let mut chain = certificate_of("--engine summaries safe.bp", "chain.json");
    let formulas = chain["proof"]["formulas"].as_array_mut().expect("a list");
    let first = formulas.len();
    formulas.push(json!(["true"]));
    formulas.extend((first..first + 300_000).map(|number| json!(["not", number])));
    let last = formulas.len() - 1;
    chain["proof"]["locations"].as_array_mut().expect("a list").iter_mut().for_each(|pair| pair[1] = json!(last));
    refused(&chain, "verify FILE safe.bp", "flawed");
}

/// Every value of a listed variable must be listed, too, so that few listed states allow few variables.
#[test]
fn variables_with_any_value_do_not_multiply() {
    let program = scratch("forty.bp");
    let names: Vec<String> = (0..40).map(|number| format!("x{number}")).collect();
    let all = names.join(", ");
    let text = format!("decl {all};\nvoid main() begin\n  decl {};\n  assert(x0 | !x0);\nend\n", all.replace('x', "y"));
    std::fs::write(&program, text).expect("it can be written");
    let mut certificate = certificate_of(&format!("--engine karp-miller {program}"), "forty.json");
    let zeros = "0".repeat(40);
    let proof = &mut certificate["proof"];
    let mut variables: Vec<u32> = (0..40).collect();
    for _ in 0..2 {
        proof["shared_variables"] = json!(variables);
        let width = variables.len();
        proof["shared_states"].as_array_mut().expect("a list").truncate(1);
        proof["shared_states"][0][1] = json!(zeros[..width]);
        refused(
            &json!({ "format": "selvedge-certificate", "version": 1, "program": certificate_head(),
            "question": no_question(), "proof": proof.clone() }),
            &format!("verify FILE {program}"),
            "flawed",
        );
        variables.clear();
        for place in proof["places"].as_array_mut().expect("a list") {
            place["variables"] = json!((40..80).map(|var| (0, var)).collect::<Vec<_>>());
        }
        for state in proof["thread_states"].as_array_mut().expect("a list") {
            state[1] = json!(zeros);
        }
    }
}

fn certificate_head() -> Value {
    json!({ "file": "p.bp", "digest": "", "edges": 0, "variables": 0 })
}

fn no_question() -> Value {
    json!({ "threads": null, "initial": null, "label": null, "assertion": null, "entry": null })
}

#[test]
fn a_long_chain_of_states_that_read_nothing_is_too_large() {
    let mut certificate = certificate_of("numbered.pds", "chain-pds.json");
    let proof = &mut certificate["proof"];
    let first = proof["states"].as_u64().expect("a number");
    let last = first + 30_000;
    proof["states"] = json!(last);
    let transitions = proof["transitions"].as_array_mut().expect("a list");
    transitions.extend((first..last - 1).map(|node| json!([node, null, node + 1])));
    refused(&certificate, "verify FILE numbered.pds", TOO_MANY);
}

/// A body calls the one before it. In the representation, `down` branches by edges 0 and 1, calls itself by edge 2 and
/// returns by edge 3; `main` calls it by edge 4, and edge 5 is the assertion.
#[test]
fn bodies_that_nest_deeply_are_refused() {
    let program = scratch("nest.bp");
    let text =
        "void down() begin\n  if * then\n    down();\n  fi\nend\nvoid main() begin\n  down();\n  assert(F);\nend\n";
    std::fs::write(&program, text).expect("it can be written");
    let step = |edge: u32| json!({ "thread": 0, "edge": edge, "line": 1, "text": "" });
    let branch =
        |edge: u32, taken: bool| json!({ "thread": 0, "edge": edge, "line": 1, "text": "", "choices": [taken] });
    let call = |edge: u32, body: u32| json!({ "thread": 0, "edge": edge, "line": 1, "text": "", "body": body });
    let trace = |n_bodies: u32| {
        let body = |number: u32| match number {
            0 => json!([branch(1, false), step(3)]),
            _ => json!([branch(0, true), call(2, number - 1), step(3)]),
        };
        json!({ "format": "selvedge-trace", "version": 1, "program": certificate_head(), "question": no_question(),
            "start": { "threads": [{ "entry": "main", "number": 0 }] },
            "steps": [call(4, n_bodies - 1), step(5)], "bodies": (0..n_bodies).map(body).collect::<Vec<_>>() })
    };
    let path = scratch("nest.json");
    std::fs::write(&path, trace(1_000).to_string()).expect("it can be written");
    let ran = run(&format!("replay --quiet {path} {program}"));
    assert_eq!(ran.code, 10, "{}", ran.err);
    refused(&trace(300_000), &format!("replay FILE {program}"), "nested too deeply");
}
