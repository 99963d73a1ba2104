//! Thread-transition systems and nets of other people, which are not part of the project.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use selvedge_check::{Initial, Question, Subject, Task, ThreadScope, Verdict};
use selvedge_engines::{EngineKind, EngineOptions, build};
use selvedge_frontend::{spec, tts};
use selvedge_replay::certificate::verify;
use selvedge_replay::replay;
use selvedge_testkit::oracle::{Budget, within};

/// The engines, and how long each may take for a file.
const ENGINES: [EngineKind; 4] =
    [EngineKind::ViewsExplicit, EngineKind::Backward, EngineKind::KarpMillerExplicit, EngineKind::Directed];
const PATIENCE: Duration = Duration::from_secs(5);

/// Prints what each engine says about each file of a folder, and after how many seconds; executions are replayed and
/// certificates are checked. A line `name initial ..` of a file `index` in the folder says how many threads start:
/// `any` or 1.
#[test]
#[ignore = "needs systems that are not part of the project: SELVEDGE_TTS_FOLDER names their folder"]
#[expect(clippy::print_stdout, reason = "the table is what the test is for")]
fn systems_of_a_folder_are_decided() {
    let folder = PathBuf::from(std::env::var_os("SELVEDGE_TTS_FOLDER").expect("SELVEDGE_TTS_FOLDER names a folder"));
    let index = fs::read_to_string(folder.join("index")).unwrap_or_default();
    let any: Vec<&str> = index.lines().filter_map(|line| line.split_once(" any").map(|(name, _)| name)).collect();
    let mut paths: Vec<PathBuf> =
        fs::read_dir(&folder).expect("the folder can be read").flatten().map(|entry| entry.path()).collect();
    paths.sort_unstable();
    for path in paths {
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        if let Some(line) = decided(&path, any.contains(&name.as_str())) {
            println!("{name}: {line}");
        }
    }
}

/// Returns what the engines say about a file; `None` if it is neither a system nor a net.
fn decided(path: &Path, any: bool) -> Option<String> {
    let mut text = String::from_utf8_lossy(&fs::read(path).expect("files of the folder can be read")).into_owned();
    if let Ok(target) = fs::read_to_string(path.with_extension("prop")) {
        text = format!("{text}\n{target}");
    }
    let loaded = match path.extension()?.to_str()? {
        "tts" => tts::load(&text),
        "spec" => spec::load(&text),
        _ => return None,
    };
    let Some(program) = &loaded.program else {
        let first = loaded.diagnostics.first().map(|diagnostic| diagnostic.message.clone());
        return Some(format!("refused: {}", first.unwrap_or_default()));
    };
    let transfers = if loaded.tts().is_some_and(|system| system.has_transfers()) { "with transfers" } else { "" };
    let question = Question { initial: any.then_some(Initial::Any), ..Question::default() };
    let subject = Subject { program, map: &loaded.source_map, text: &text };
    let (program, target, _) = question.pose(subject).expect("the question fits");
    let task = Task { program: &program, target: &target, threads: ThreadScope::Unbounded };
    let words = ENGINES.map(|kind| format!("{}: {}", kind.name(), answer(kind, &task)));
    Some(format!("{transfers} {}", words.join("; ")))
}

fn answer(kind: EngineKind, task: &Task<'_>) -> String {
    let engine = build(kind, &EngineOptions::default());
    if engine.supports(task).is_err() {
        return "not supported".to_string();
    }
    let begin = Instant::now();
    let budget = Budget { patience: Some(PATIENCE), ..Budget::states(usize::MAX) };
    let (verdict, searched) = (within(budget, |run| engine.check(task, run)), begin.elapsed());
    let judged = within(budget, |run| match verdict {
        Err(stop) => stop.to_string(),
        Ok(Verdict::Unsafe(trace)) => {
            let replayed = replay::replay(task, &trace);
            format!("unsafe ({} steps{})", trace.length(), replayed.map_or(", not replayed", |_| ""))
        }
        Ok(Verdict::Safe(None)) => "safe (uncertified)".to_string(),
        Ok(Verdict::Safe(Some(certificate))) => match verify(task, &certificate, run) {
            Ok(_) => "safe".to_string(),
            Err(refused) => format!("safe ({refused:?})"),
        },
    });
    format!("{judged} {:.2} + {:.2} s", searched.as_secs_f64(), begin.elapsed().as_secs_f64() - searched.as_secs_f64())
}
