//! The library as a stranger uses it.

mod api;
mod packages;
mod session;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use selvedge::{
    CancelToken, Certificate, Error, Language, Limits, Program, Property, Question, Reader, Trace, Value, Verdict,
    check,
};

pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn example(name: &str) -> Program {
    Program::from_path(root().join("examples").join(name)).expect("the examples can be read")
}

fn verdict(program: &Program, question: &Question) -> Verdict {
    check(program, question, &Limits::default()).expect("the question fits").verdict()
}

#[test]
fn programs_of_all_languages_have_their_verdicts_and_evidence_that_holds() {
    let files =
        ["lock.bp", "lock_fixed.bp", "recursion.bp", "mutex.tts", "mutex_broken.tts", "bakery.gcl", "c/lost_update.c"];
    let files = files.into_iter().filter(|name| root().join("examples").join(name).exists());
    let mut seen = 0;
    for name in files {
        let text = std::fs::read_to_string(root().join("examples").join(name)).unwrap();
        let program = example(name);
        let answer = check(&program, &Question::new(), &Limits::default()).unwrap();
        if let Some(expected) = text.lines().find_map(|line| line.split("verdict: ").nth(1)) {
            assert_eq!(answer.verdict().to_string(), expected.split_whitespace().next().unwrap_or_default(), "{name}");
        }
        if answer.verdict() == Verdict::Unsafe || answer.is_certified() {
            answer.verify(&Limits::default()).unwrap_or_else(|error| panic!("{name}: {error}"));
            seen += 1;
        }
        assert!(answer.to_text().contains("VERIFICATION"), "{name}");
        assert!(answer.to_html().contains(answer.headline()), "{name}");
    }
    assert!(seen >= 5, "{seen}");
}

#[test]
fn a_trace_tells_who_did_what_and_is_read_back() {
    let program = example("lock.bp");
    let answer = check(&program, &Question::new(), &Limits::default()).unwrap();
    let trace = answer.trace().unwrap();
    assert_eq!(trace.failure().statement, "assert(!inside)");
    assert!(trace.failure().thread.starts_with("worker"), "{:?}", trace.failure());
    let raised = trace.steps().iter().flat_map(|step| &step.changes).filter(|change| change.variable == "inside");
    assert_eq!(raised.map(|change| change.after).collect::<Vec<_>>(), [Value::Bool(true)]);
    let asked = Question::new();
    for saved in [trace.to_json(), answer.to_json()] {
        let read = Trace::from_json(&saved, &program, &asked, &Limits::default()).unwrap();
        assert_eq!(read.steps(), trace.steps());
    }
    let other = Question::new().threads(4);
    let error = Trace::from_json(&trace.to_json(), &program, &other, &Limits::default()).unwrap_err();
    assert!(error.to_string().contains("another question: --threads 3 instead of --threads 4"), "{error}");
    let error = trace.verify(&example("lock_fixed.bp"), &asked, &Limits::default()).unwrap_err();
    assert!(matches!(&error, Error::Rejected(message) if message.contains("another text")), "{error:?}");
}

#[test]
fn a_certificate_of_another_program_is_rejected() {
    let (fixed, broken) = (example("lock_fixed.bp"), example("lock.bp"));
    let answer = check(&fixed, &Question::new(), &Limits::default()).unwrap();
    let text = answer.certificate().unwrap().to_json();
    let certificate = Certificate::from_json(&text).unwrap();
    certificate.verify(&fixed, &Question::new(), &Limits::default()).unwrap();
    let error = certificate.verify(&broken, &Question::new(), &Limits::default()).unwrap_err();
    assert!(matches!(error, Error::Rejected(_)), "{error:?}");
    assert!(matches!(Certificate::from_json("{}"), Err(Error::Rejected(_))));
    // The same formulas claimed of a weaker program.
    let forged = text.replacen("\"kind\":\"", "\"kind\":\"x", 1);
    assert!(Certificate::from_json(&forged).is_err());
}

#[test]
fn mistakes_have_their_places_and_questions_that_do_not_fit_say_so() {
    let Err(Error::Program(found)) = "decl x;\nvoid main() begin y := 1; end".parse::<Program>() else { panic!() };
    assert_eq!((found[0].line, found[0].file.as_str()), (2, "<text>"));
    assert!(Error::Program(found).to_string().starts_with("<text>:2:"));
    let c = Reader::new().language(Language::C).read_str("int main(void) { double d = 0; d += 1; return d > 0; }");
    assert!(matches!(c, Err(Error::Unsupported(_))), "{c:?}");
    assert!(matches!(Program::from_path("no/such/file.bp"), Err(Error::Read { .. })));
    let program: Program = "void main() begin A: assert(1); end".parse().unwrap();
    let wrong = [
        Question::new().label("B"),
        Question::new().label("A").deadlock(),
        Question::new().threads(0),
        Question::new().property(Property::Memory),
        Question::new().property(Property::Deadlock).property(Property::Memory),
        Question::new().label("A").property(Property::Memory),
        Question::new().initial(3).threads(2),
    ];
    for question in wrong {
        let error = check(&program, &question, &Limits::default()).unwrap_err();
        assert!(matches!(error, Error::Question { .. }), "{question:?}: {error:?}");
    }
    let error = check(&program, &Question::new(), &Limits::default().engine("magic")).unwrap_err();
    assert!(error.to_string().contains("the engines are auto, "), "{error}");
    let unsupported = check(&example("bakery.gcl"), &Question::new(), &Limits::default().engine("sat")).unwrap();
    assert_eq!(unsupported.verdict(), Verdict::Unknown);
    assert!(unsupported.reason().is_some());
    assert!(matches!(unsupported.verify(&Limits::default()), Err(Error::NoEvidence)));
}

/// A program whose states are too many to visit.
fn endless() -> Program {
    let names: Vec<String> = (0..60).map(|number| format!("v{number}")).collect();
    let steps: String = names.iter().map(|name| format!("if * then {name} := !{name}; fi; ")).collect();
    let vars: String = names.iter().map(|name| format!("decl {name} := 0;\n")).collect();
    let text = format!("{vars}void main() begin while 1 do {steps} assert(!({})); od; end", names.join(" & "));
    text.parse().unwrap()
}

#[test]
fn limits_and_the_switch_stop_a_check_and_listeners_hear_of_it() {
    let program = endless();
    let phases = Arc::new(Mutex::new(Vec::new()));
    let heard = Arc::clone(&phases);
    let limits = Limits::default().engine("exhaustive").time(Duration::from_millis(300));
    let limits = limits.progress(move |progress| heard.lock().unwrap().extend(progress.phase));
    let start = Instant::now();
    let answer = check(&program, &Question::new(), &limits).unwrap();
    assert_eq!(answer.verdict(), Verdict::Unknown);
    assert!(answer.reason().unwrap().contains("time limit"), "{answer:?}");
    assert!(start.elapsed() < Duration::from_secs(20));
    assert!(!phases.lock().unwrap().is_empty());
    let cancel = CancelToken::default();
    let (switch, events) = (cancel.clone(), AtomicUsize::new(0));
    let limits = Limits::default().engine("exhaustive").cancel(&cancel).progress(move |_| {
        if events.fetch_add(1, Ordering::Relaxed) > 2 {
            switch.cancel();
        }
    });
    assert_eq!(check(&program, &Question::new(), &limits).unwrap().verdict(), Verdict::Unknown);
    let limits = Limits::default().engine("exhaustive").memory(1);
    match check(&program, &Question::new(), &limits) {
        Ok(answer) => assert!(answer.reason().unwrap().contains("memory limit"), "{answer:?}"),
        Err(error) if cfg!(target_os = "linux") => panic!("{error}"),
        Err(_) => {}
    }
}

#[test]
fn a_cancelled_check_ends_soon() {
    let program = endless();
    for engine in ["auto", "exhaustive", "summaries", "sat", "bmc", "threads", "views"] {
        let cancel = CancelToken::default();
        let limits = Limits::default().engine(engine).cancel(&cancel);
        let question = Question::new().threads(2);
        let cancelled = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(300));
            cancel.cancel();
            Instant::now()
        });
        let answer = check(&program, &question, &limits).unwrap();
        let (ended, cancelled) = (Instant::now(), cancelled.join().unwrap());
        // Engines that find the error, or do not support the program, end before.
        assert!(engine != "exhaustive" || answer.verdict() == Verdict::Unknown, "{answer:?}");
        let late = ended.saturating_duration_since(cancelled);
        // It is a second, and more on a machine that is busy with other tests.
        assert!(late < Duration::from_secs(5), "{engine}: {late:?}");
    }
}

#[test]
fn errors_can_be_sent_and_boxed() {
    fn fits<T: std::error::Error + Send + Sync + 'static>() {}
    fits::<Error>();
    fn is_shared<T: Send + Sync>() {}
    is_shared::<Program>();
    is_shared::<selvedge::Answer>();
    is_shared::<Limits>();
}

#[test]
fn options_of_the_text_count_unless_they_are_left_out() {
    let text = "// options: --label L\nvoid main() begin L: skip; end";
    assert_eq!(verdict(&text.parse().unwrap(), &Question::new()), Verdict::Unsafe);
    let bare = Reader::new().ignore_file_options().read_str(text).unwrap();
    assert_eq!(verdict(&bare, &Question::new()), Verdict::Safe);
    let entry: Program = "void main() begin assert(1); end void other() begin assert(0); end".parse().unwrap();
    assert_eq!(verdict(&entry, &Question::new()), Verdict::Safe);
    assert_eq!(verdict(&entry, &Question::new().entry("other")), Verdict::Unsafe);
    let c = "int main(void) { int x = N; __VERIFIER_assert(x == 3); return 0; }";
    let c = format!("void __VERIFIER_assert(int);\n{c}");
    let read = |body: &str| Reader::new().language(Language::C).define("N", body).read_str(&c).unwrap();
    assert_eq!(verdict(&read("3"), &Question::new()), Verdict::Safe);
    assert_eq!(verdict(&read("4"), &Question::new()), Verdict::Unsafe);
}
