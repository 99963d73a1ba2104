//! One run of one tool in a child process: verdict, wall-clock time, peak memory.

use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use crate::Record;

/// The interval at which the child is observed.
const PAUSE: Duration = Duration::from_millis(1);

/// A function that reads the verdict from a tool's output and exit code.
pub type Reader<'r> = &'r dyn Fn(&str, Option<i32>) -> String;

/// Runs a command and reads its verdict. The process is killed when it exceeds the limit by a second. The record does
/// not say of which tool and instance it is.
pub fn measure(command: &mut Command, limit: Duration, read: Reader<'_>) -> std::io::Result<Record> {
    let out = tempfile(command)?;
    let start = Instant::now();
    let mut child = command.spawn()?;
    let (mut peak_bytes, mut processor_seconds, mut killed) = (None, None, false);
    let status = loop {
        peak_bytes = peak_bytes.max(resident(child.id()));
        processor_seconds = processor(child.id()).or(processor_seconds);
        if let Some(status) = child.try_wait()? {
            break status;
        }
        if start.elapsed() > limit + Duration::from_secs(1) && !killed {
            child.kill()?;
            killed = true;
        }
        std::thread::sleep(PAUSE);
    };
    let seconds = start.elapsed().as_secs_f64();
    let text = String::from_utf8_lossy(&std::fs::read(&out)?).into_owned();
    std::fs::remove_file(&out)?;
    let verdict = if killed { "time limit".to_string() } else { read(&text, status.code()) };
    Ok(Record { verdict, seconds, peak_bytes, processor_seconds, ..Record::default() })
}

/// Redirects the output to a file, so that it need not be read while the process runs.
fn tempfile(command: &mut Command) -> std::io::Result<std::path::PathBuf> {
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    let path = std::env::temp_dir().join(format!("selvedge-bench-{}-{number}.out", std::process::id()));
    let file = std::fs::File::create(&path)?;
    command.stdin(Stdio::null()).stdout(file).stderr(Stdio::null());
    Ok(path)
}

/// Returns the high-water mark of a process's resident memory.
fn resident(pid: u32) -> Option<u64> {
    let status = std::fs::read_to_string(Path::new("/proc").join(pid.to_string()).join("status")).ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    let kilobytes: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kilobytes * 1024)
}

/// Returns the processor time of a process.
pub(super) fn processor(pid: u32) -> Option<f64> {
    processor_times(&pid.to_string()).map(|[user, system, ..]| user + system)
}

/// Returns the seconds of processor time of a process in user and kernel mode, and the same of its finished children.
/// The system counts them in hundredths of a second; the numbers follow the name, which is in parentheses.
pub(super) fn processor_times(pid: &str) -> Option<[f64; 4]> {
    let stat = std::fs::read_to_string(Path::new("/proc").join(pid).join("stat")).ok()?;
    let words: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    let ticks: Vec<f64> = words.get(11..15)?.iter().filter_map(|word| word.parse().ok()).collect();
    Some(<[f64; 4]>::try_from(ticks).ok()?.map(|ticks| ticks / 100.0))
}

/// Returns the verdict in the output of Selvedge or z3.
pub fn verdict(text: &str, code: Option<i32>) -> String {
    let last = text.lines().last().unwrap_or("").trim();
    let word = match (last, code) {
        ("sat" | "VERIFICATION SUCCESSFUL", _) => "safe",
        ("unsat" | "VERIFICATION FAILED", _) => "unsafe",
        ("timeout", _) | (_, Some(11)) => "time limit",
        (_, Some(12)) => "memory limit",
        (_, Some(5)) => "unknown",
        (_, Some(0)) => "done",
        _ => "failed",
    };
    word.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verdicts_are_read_off_the_last_line() {
        assert_eq!(verdict("x\nsat\n", Some(0)), "safe");
        assert_eq!(verdict("unsat\n", Some(0)), "unsafe");
        assert_eq!(verdict("timeout\n", Some(0)), "time limit");
        assert_eq!(verdict("VERIFICATION UNKNOWN (time limit of 1 s reached)\n", Some(11)), "time limit");
        assert_eq!(verdict("", None), "failed");
    }

    #[test]
    fn a_run_has_a_verdict_a_time_and_a_peak() {
        let mut command = Command::new("sh");
        command.args(["-c", "sleep 0.05; echo VERIFICATION FAILED; exit 10"]);
        let measured = measure(&mut command, Duration::from_secs(60), &verdict).expect("a shell is there");
        assert_eq!(measured.verdict, "unsafe");
        assert!(measured.seconds > 0.0);
        assert!(measured.peak_bytes.is_some() || !cfg!(target_os = "linux"));
    }

    #[test]
    fn a_run_beyond_the_limit_is_ended() {
        let mut command = Command::new("sleep");
        command.arg("600");
        let measured = measure(&mut command, Duration::ZERO, &verdict).expect("sleep is there");
        assert_eq!(measured.verdict, "time limit");
    }
}
