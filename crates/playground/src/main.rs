//! Selvedge for the page of the playground: reads a request from standard input, as JSON, and writes the reply to
//! standard output. The page starts the program anew for each request.
//!
//! Both requests have the program's `name`, whose extension tells the language, its `text`, and what is asked about it:
//! `threads`, `deadlock`, `label` and `properties`, each of which may be missing; `seconds` is a limit.
//!
//! - `{"do": "check", "engine": ..}` returns the verdict, what the command line would print, the page of the report,
//!   and the certificate or the execution.
//! - `{"do": "verify", "evidence": ..}` returns what the judge says about a certificate or an execution.
//!
//! A reply has either `problem`, a text, or the other fields.

use std::io::{Read as _, Write as _};
use std::time::Duration;

use selvedge::{
    Certificate, Diagnostic, Error, Language, Limits, Program, Property, Question, Reader, Trace, Verified,
};
use serde_json::{Value, json};

fn main() -> std::io::Result<()> {
    let mut request = String::new();
    std::io::stdin().read_to_string(&mut request)?;
    std::io::stdout().write_all(reply(&request).to_string().as_bytes())
}

fn reply(request: &str) -> Value {
    let request: Value = match serde_json::from_str(request) {
        Ok(request) => request,
        Err(error) => return json!({ "problem": format!("this is no request: {error}") }),
    };
    let done = match request["do"].as_str() {
        Some("check") => check(&request),
        Some("verify") => verify(&request),
        _ => return json!({ "problem": "this is no request: `do` must be `check` or `verify`" }),
    };
    done.unwrap_or_else(|error| problem(&error))
}

fn problem(error: &Error) -> Value {
    let found = match error {
        Error::Program(found) | Error::Unsupported(found) => found.as_slice(),
        _ => &[],
    };
    json!({ "problem": error.to_string(), "diagnostics": diagnostics(found) })
}

fn diagnostics(found: &[Diagnostic]) -> Vec<Value> {
    found.iter().map(|one| json!({ "line": one.line, "text": one.to_string() })).collect()
}

fn check(request: &Value) -> Result<Value, Error> {
    let program = program(request)?;
    let answer = selvedge::check(&program, &question(request)?, &limits(request))?;
    let evidence = match (answer.trace(), answer.certificate()) {
        (Some(trace), _) => Some(("execution", trace.to_json())),
        (None, Some(certificate)) => Some(("certificate", certificate.to_json())),
        (None, None) => None,
    };
    Ok(json!({
        "verdict": answer.verdict().to_string(),
        "headline": answer.headline(),
        "engine": answer.engine(),
        "seconds": answer.time().as_secs_f64(),
        "text": answer.to_text(),
        "html": answer.to_html(),
        "kind": evidence.as_ref().map(|(kind, _)| kind),
        "evidence": evidence.as_ref().map(|(_, text)| text),
        "diagnostics": diagnostics(program.warnings()),
    }))
}

/// Judges evidence, a certificate or an execution. The question is that of the request and of the program's text, as
/// for `selvedge verify`.
fn verify(request: &Value) -> Result<Value, Error> {
    let (program, question, limits) = (program(request)?, question(request)?, limits(request));
    let evidence = request["evidence"].as_str().unwrap_or_default();
    let words = match Certificate::from_json(evidence) {
        Ok(certificate) => match certificate.verify(&program, &question, &limits)? {
            Verified::Certified => "The certificate was accepted: no error can be reached.".to_string(),
            Verified::ByOneSolver(solver) => format!("The certificate was accepted, if {solver} is right."),
            _ => "The certificate was accepted.".to_string(),
        },
        Err(error) => match Trace::from_json(evidence, &program, &question, &limits) {
            Ok(trace) => {
                trace.verify(&program, &question, &limits)?;
                "The execution was replayed: the error can be reached.".to_string()
            }
            // A file that is neither has the message about what it says to be.
            Err(other) => return Err(if evidence.contains("\"steps\"") { other } else { error }),
        },
    };
    Ok(json!({ "accepted": words }))
}

fn program(request: &Value) -> Result<Program, Error> {
    let name = request["name"].as_str().unwrap_or("program.bp");
    let language = Language::of_path(name).unwrap_or(Language::Bp);
    Reader::new().language(language).name(name).read_str(request["text"].as_str().unwrap_or_default())
}

fn question(request: &Value) -> Result<Question, Error> {
    let mut question = Question::new();
    if let Some(threads) = request["threads"].as_u64().and_then(|threads| u32::try_from(threads).ok()) {
        question = question.threads(threads);
    }
    if let Some(label) = request["label"].as_str() {
        question = question.label(label);
    }
    if request["deadlock"] == true {
        question = question.deadlock();
    }
    for name in request["properties"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        question = question.property(property(name)?);
    }
    Ok(question)
}

fn property(name: &str) -> Result<Property, Error> {
    let unknown = || Error::Question { message: format!("there is no property `{name}`"), help: None };
    Property::named(name).ok_or_else(unknown)
}

/// Returns the limits: one engine at a time, for there are no threads in a page.
fn limits(request: &Value) -> Limits {
    let limits = Limits::default().jobs(1).time(Duration::from_secs_f64(seconds(request)));
    match request["engine"].as_str() {
        Some(engine) => limits.engine(engine),
        None => limits,
    }
}

fn seconds(request: &Value) -> f64 {
    request["seconds"].as_f64().filter(|seconds| (0.0..1e6).contains(seconds)).unwrap_or(30.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOCK: &str = "decl lock := 0; decl inside := 0;
void worker() begin
    while lock do skip; od; lock := 1;
    assert(!inside); inside := 1; inside := 0; lock := 0;
end
void main() begin start_thread worker(); start_thread worker(); end";

    fn ask(request: &Value) -> Value {
        reply(&request.to_string())
    }

    fn mended() -> String {
        LOCK.replace("while lock do skip; od; lock := 1;", "lock := 1 constrain !lock;")
    }

    #[test]
    fn a_check_returns_the_page_and_evidence_that_is_accepted_again() {
        for (text, verdict, kind, words) in
            [(LOCK, "unsafe", "execution", "replayed"), (&mended(), "safe", "certificate", "accepted")]
        {
            let checked = ask(&json!({ "do": "check", "name": "lock.bp", "text": text, "threads": 3 }));
            assert_eq!((&checked["verdict"], &checked["kind"]), (&json!(verdict), &json!(kind)), "{checked}");
            assert!(checked["html"].as_str().unwrap().to_lowercase().starts_with("<!doctype html>"));
            let evidence = &checked["evidence"];
            let request =
                json!({ "do": "verify", "name": "lock.bp", "text": text, "threads": 3, "evidence": evidence });
            let judged = ask(&request);
            assert!(judged["accepted"].as_str().is_some_and(|text| text.contains(words)), "{judged}");
        }
    }

    #[test]
    fn evidence_about_another_program_is_rejected() {
        let checked = ask(&json!({ "do": "check", "name": "lock.bp", "text": mended(), "threads": 3 }));
        let evidence = &checked["evidence"];
        let judged =
            ask(&json!({ "do": "verify", "name": "lock.bp", "text": LOCK, "threads": 3, "evidence": evidence }));
        let problem = judged["problem"].as_str().expect("it is rejected");
        assert!(problem.contains("made from another text"), "{problem}");
        let nonsense = ask(&json!({ "do": "verify", "name": "lock.bp", "text": LOCK, "evidence": "{}" }));
        assert!(nonsense["problem"].is_string(), "{nonsense}");
    }

    #[test]
    fn what_is_asked_counts() {
        let text = "decl a := 0; void main() begin a := 1 constrain a; end";
        let asked = json!({ "do": "check", "name": "stuck.bp", "text": text, "deadlock": true });
        assert_eq!(ask(&asked)["verdict"], "unsafe");
        assert_eq!(ask(&json!({ "do": "check", "name": "stuck.bp", "text": text }))["verdict"], "safe");
        let properties = json!(["no-overflow"]);
        let text = "int main(void) { int x = 2147483647; x = x + 1; return x; }";
        let asked = json!({ "do": "check", "name": "sum.c", "text": text, "properties": properties });
        assert_eq!(ask(&asked)["verdict"], "unsafe");
        let asked = json!({ "do": "check", "name": "sum.c", "text": text, "properties": ["speed"] });
        assert_eq!(ask(&asked)["problem"], "there is no property `speed`");
    }

    #[test]
    fn mistakes_have_their_lines() {
        let wrong = ask(&json!({ "do": "check", "name": "wrong.bp", "text": "void main() begin\n  x := 1;\nend" }));
        assert_eq!(wrong["diagnostics"][0]["line"], 2, "{wrong}");
        for request in
            ["", "[]", "{\"do\": 7}", "{\"do\": \"check\", \"text\": 1, \"seconds\": -1e300, \"threads\": 0}"]
        {
            assert!(reply(request)["problem"].is_string(), "{request}");
        }
    }
}
