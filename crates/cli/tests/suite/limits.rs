//! Limits, interrupts and closed pipes.

use std::io::{BufRead as _, BufReader, Read as _};
use std::process::Command;

use crate::harness::{command, run};

#[test]
fn the_time_limit_is_its_own_exit_code() {
    let ran = run("check --engine exhaustive --passes none --time-limit 50ms crowd.bp");
    assert_eq!((ran.code, ran.last_line()), (11, "VERIFICATION UNKNOWN (time limit of 0.05 s reached)"));
}

#[test]
fn the_memory_limit_is_its_own_exit_code_and_no_abort() {
    let ran = run("check --engine exhaustive --passes none --memory-limit 8MB crowd.bp");
    assert_eq!((ran.code, ran.last_line()), (12, "VERIFICATION UNKNOWN (memory limit of 8 MB reached)"));
}

#[test]
fn limits_are_looked_at_before_the_engine_runs() {
    let ran = run("check --memory-limit 1B noerror.bp");
    assert_eq!(ran.code, 12, "{}{}", ran.out, ran.err);
    assert!(ran.last_line().starts_with("VERIFICATION UNKNOWN (memory limit"), "{}", ran.out);
    assert_eq!(run("check --time-limit 0s noerror.bp").code, 11);
}

#[test]
fn a_limit_on_one_file_leaves_the_others_alone() {
    let ran = run("check --engine exhaustive --passes none --memory-limit 8MB crowd.bp safe.bp");
    assert_eq!(ran.code, 12);
    assert!(ran.out.contains("1 unknown, 1 safe"), "{}", ran.out);
}

/// Starts a long check and waits until it searches.
#[cfg(unix)]
fn searching() -> (std::process::Child, BufReader<std::process::ChildStderr>) {
    let args = "check --engine exhaustive --passes none --progress always crowd.bp safe.bp";
    let mut child = command(args).spawn().expect("the program was built");
    let mut err = BufReader::new(child.stderr.take().expect("it was piped"));
    let mut line = String::new();
    while !line.starts_with("searching") {
        line.clear();
        assert_ne!(err.read_line(&mut line).expect("it is text"), 0, "the program ended before it searched");
    }
    (child, err)
}

#[cfg(unix)]
#[test]
fn an_interrupt_ends_all_files_in_order() {
    let (mut child, mut err) = searching();
    let killed = Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("`kill` is there");
    assert!(killed.success());
    let mut out = String::new();
    child.stdout.take().expect("it was piped").read_to_string(&mut out).expect("it is text");
    let mut rest = String::new();
    err.read_to_string(&mut rest).expect("it is text");
    assert_eq!(child.wait().expect("it ends").code(), Some(130), "{out}{rest}");
    assert!(out.lines().last().is_some_and(|line| line == "VERIFICATION UNKNOWN (crowd.bp: interrupted)"), "{out}");
    assert!(out.contains("2 unknown"), "the second file is not begun: {out}");
}

#[test]
fn nothing_is_said_about_progress_when_piped() {
    assert_eq!(run("check --engine exhaustive safe.bp").err, "");
    assert!(run("check --engine exhaustive --progress always safe.bp").err.contains("searching"));
}

#[test]
fn a_closed_pipe_is_no_failure() {
    let mut child = command("check --engine exhaustive --full unsafe.bp").spawn().expect("the program was built");
    drop(child.stdout.take());
    let mut err = String::new();
    child.stderr.take().expect("it was piped").read_to_string(&mut err).expect("it is text");
    assert_eq!((child.wait().expect("it ends").code(), err.as_str()), (Some(10), ""));
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_reported() {
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").expect("Linux has it");
    let output = command("check --engine exhaustive safe.bp").stdout(full).output().expect("the program was built");
    assert_eq!(output.status.code(), Some(2));
    let err = String::from_utf8(output.stderr).expect("it is text");
    assert!(err.contains("cannot write to standard output"), "{err}");
    for words in ["--help", "--version", "check --help"] {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").expect("Linux has it");
        assert_eq!(command(words).stdout(full).status().expect("the program was built").code(), Some(2), "{words}");
    }
}

/// A pipe without a writer, which is never read to its end.
#[cfg(unix)]
fn silent_pipe(name: &str) -> std::path::PathBuf {
    let path = std::env::temp_dir().join(format!("selvedge-{name}-{}.bp", std::process::id()));
    let made = Command::new("mkfifo").arg(&path).status().expect("`mkfifo` is there");
    assert!(made.success());
    path
}

#[cfg(unix)]
#[test]
fn limits_and_interrupts_hold_while_an_input_is_read() {
    let path = silent_pipe("silent");
    let pipe = path.display();
    for words in ["check", "boom", "verify x.json", "show ir", "simulate", "abstract", "fmt", "convert --to horn"] {
        let start = std::time::Instant::now();
        let ran = run(&format!("{words} --time-limit 100ms {pipe}").replace("x.json", &pipe.to_string()));
        assert_eq!(ran.code, 11, "{words}: {}{}", ran.out, ran.err);
        assert!(start.elapsed() < std::time::Duration::from_secs(5), "{words}: {:?}", start.elapsed());
    }
    let mut child = command(&format!("check {pipe}")).spawn().expect("the program was built");
    std::thread::sleep(std::time::Duration::from_millis(500));
    let killed = Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("`kill` is there");
    assert!(killed.success());
    assert_eq!(child.wait().expect("it ends").code(), Some(130));
    let mut out = String::new();
    child.stdout.take().expect("it was piped").read_to_string(&mut out).expect("it is text");
    assert!(out.ends_with("VERIFICATION UNKNOWN (interrupted)\n"), "{out}");
    drop(std::fs::remove_file(path));
}

#[cfg(target_os = "linux")]
#[test]
fn an_input_without_end_is_refused_or_stopped() {
    let ran = run("check --memory-limit 50MB /dev/zero");
    assert_eq!((ran.code, ran.last_line()), (12, "VERIFICATION UNKNOWN (memory limit of 50 MB reached)"));
}
