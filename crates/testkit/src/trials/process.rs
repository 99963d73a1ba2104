//! One run of the program, observed from outside.
//!
//! The process and all that it starts inherit a variable with the name of the trial; so what it leaves behind is found
//! by its environment, whatever group or parent it has.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use super::Setting;

/// The time between two looks at a process.
const LOOK: Duration = Duration::from_millis(2);

/// The time between two looks at the processes that it started, which take longer.
const LOOK_BELOW: Duration = Duration::from_millis(40);

/// The time that killed processes have to disappear.
const GRACE: Duration = Duration::from_millis(1000);

/// The variable with the name of the trial.
const VARIABLE: &str = "SELVEDGE_TRIAL";

/// The description of a run.
#[derive(Clone, Debug)]
pub struct Trial {
    /// The arguments.
    pub words: Vec<String>,
    /// The folder in which it runs.
    pub folder: PathBuf,
    /// Variables of its environment.
    pub variables: Vec<(String, String)>,
    /// What happens to it, and when.
    pub blow: Option<(Duration, Blow)>,
    /// The time after which it is killed.
    pub deadline: Duration,
    /// Set if memory is measured.
    pub measured: bool,
}

/// What happens to a running program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Blow {
    /// Somebody presses Ctrl-C.
    Interrupt,
    /// The system asks it to end.
    Terminate,
    /// Nobody reads its output any more.
    ClosePipe,
}

/// The end of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// It ended with a code.
    Code(i32),
    /// A signal ended it.
    Signal(i32),
    /// It did not end in time and was killed.
    Overdue,
}

impl std::fmt::Display for End {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            End::Code(code) => write!(f, "{code}"),
            End::Signal(signal) => write!(f, "signal {signal}"),
            End::Overdue => f.write_str("killed"),
        }
    }
}

/// What was observed.
#[derive(Clone, Debug)]
pub struct Ran {
    /// How it ended.
    pub end: End,
    /// Its standard output, unless that was closed.
    pub out: String,
    /// Its standard error.
    pub err: String,
    /// The time from its start to its end.
    pub time: Duration,
    /// The time from the blow to its end.
    pub after_blow: Option<Duration>,
    /// The processor time that it took, as far as that was seen.
    pub processor: f64,
    /// The greatest resident memory in bytes, with that of the processes that it started.
    pub peak: u64,
    /// The processes that it left behind.
    pub orphans: Vec<String>,
}

impl Ran {
    /// Returns the last line of standard output.
    pub fn last_line(&self) -> &str {
        self.out.lines().last().unwrap_or("")
    }
}

impl Trial {
    /// Returns a run without a blow.
    pub fn new(words: Vec<String>, folder: &Path) -> Trial {
        let folder = folder.to_path_buf();
        let deadline = Duration::from_secs(60);
        Trial { words, folder, variables: Vec::new(), blow: None, deadline, measured: false }
    }

    /// Runs it.
    pub fn run(&self, setting: &Setting) -> std::io::Result<Ran> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let name = format!("{}-{}", std::process::id(), NUMBER.fetch_add(1, Ordering::Relaxed));
        let texts = ["out", "err"].map(|end| std::env::temp_dir().join(format!("selvedge-trial-{name}.{end}")));
        let is_piped = matches!(self.blow, Some((_, Blow::ClosePipe)));
        let mut command = Command::new(&setting.program);
        command.args(&self.words).current_dir(&self.folder).env_remove("NO_COLOR").stdin(Stdio::null());
        command.env(VARIABLE, &name);
        command.envs(setting.solvers.iter().chain(&self.variables).map(|(name, value)| (name, value)));
        command.stdout(if is_piped { Stdio::piped() } else { fs::File::create(&texts[0])?.into() });
        command.stderr(fs::File::create(&texts[1])?);
        let mut ran = self.observe(command.spawn()?, &name)?;
        ran.orphans = orphans(&name);
        let read = |path: &PathBuf| String::from_utf8_lossy(&fs::read(path).unwrap_or_default()).into_owned();
        [ran.out, ran.err] = [read(&texts[0]), read(&texts[1])];
        texts.iter().for_each(|path| drop(fs::remove_file(path)));
        Ok(ran)
    }

    /// Watches the process until it ends.
    fn observe(&self, mut child: Child, name: &str) -> std::io::Result<Ran> {
        let start = Instant::now();
        let (mut peak, mut below, mut processor, mut struck) = (0, Below::default(), 0.0, None);
        let end = loop {
            if self.measured {
                peak = peak.max(high_water(child.id())).max(resident(child.id()) + below.resident(name, child.id()));
            }
            processor = processor_seconds(child.id()).unwrap_or(processor);
            if let Some(status) = child.try_wait()? {
                break end_of(status);
            }
            if let Some((moment, blow)) = self.blow
                && struck.is_none()
                && start.elapsed() >= moment
            {
                struck = Some(Instant::now());
                strike(&mut child, blow)?;
            }
            if start.elapsed() > self.deadline {
                child.kill()?;
                child.wait()?;
                break End::Overdue;
            }
            std::thread::sleep(self.pause(start));
        };
        let (time, after_blow) = (start.elapsed(), struck.map(|struck: Instant| struck.elapsed()));
        let (out, err, orphans) = (String::new(), String::new(), Vec::new());
        Ok(Ran { end, out, err, time, after_blow, processor, peak, orphans })
    }

    /// Returns the time to the next look: no longer than to the blow.
    fn pause(&self, start: Instant) -> Duration {
        let rest = self.blow.and_then(|(moment, _)| moment.checked_sub(start.elapsed()));
        rest.unwrap_or(LOOK).min(LOOK)
    }
}

fn strike(child: &mut Child, blow: Blow) -> std::io::Result<()> {
    let signal = match blow {
        Blow::Interrupt => "-INT",
        Blow::Terminate => "-TERM",
        Blow::ClosePipe => {
            drop(child.stdout.take());
            return Ok(());
        }
    };
    // It has not been waited for, so that the number is still its own.
    Command::new("kill").args([signal, &child.id().to_string()]).stderr(Stdio::null()).status().map(drop)
}

#[cfg(unix)]
fn end_of(status: std::process::ExitStatus) -> End {
    use std::os::unix::process::ExitStatusExt as _;
    match (status.code(), status.signal()) {
        (Some(code), _) => End::Code(code),
        (None, signal) => End::Signal(signal.unwrap_or(0)),
    }
}

#[cfg(not(unix))]
fn end_of(status: std::process::ExitStatus) -> End {
    End::Code(status.code().unwrap_or(-1))
}

/// The processes that the program started, as of the last look.
#[derive(Default)]
struct Below {
    next: Option<Instant>,
    pids: Vec<u32>,
}

impl Below {
    /// Returns their resident memory, without the pages of files, which they share.
    fn resident(&mut self, name: &str, above: u32) -> u64 {
        if self.next.is_none_or(|next| Instant::now() >= next) {
            self.pids = of_trial(name);
            self.pids.retain(|pid| *pid != above);
            self.next = Some(Instant::now() + LOOK_BELOW);
        }
        self.pids.iter().map(|pid| status(*pid, "RssAnon:")).sum()
    }
}

/// Lists the processes of a trial that are left, after those that were killed have had time to disappear, and ends
/// them.
fn orphans(name: &str) -> Vec<String> {
    let start = Instant::now();
    let mut left = of_trial(name);
    while !left.is_empty() && start.elapsed() < GRACE {
        std::thread::sleep(Duration::from_millis(20));
        left = of_trial(name);
    }
    let shown = left.iter().map(|pid| {
        let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        let _ = Command::new("kill").args(["-KILL", &pid.to_string()]).stderr(Stdio::null()).status();
        String::from_utf8_lossy(&line).replace('\0', " ").trim().to_string()
    });
    shown.collect()
}

/// Lists the processes that have inherited the name of a trial.
fn of_trial(name: &str) -> Vec<u32> {
    let entry = format!("{VARIABLE}={name}");
    let has_it = |pid: &u32| {
        let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        environment.split(|byte| *byte == 0).any(|variable| variable == entry.as_bytes())
    };
    let pids = fs::read_dir("/proc").into_iter().flatten().flatten();
    pids.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).filter(has_it).collect()
}

/// Returns the resident memory of a process in bytes; 0 if it has ended.
fn resident(pid: u32) -> u64 {
    status(pid, "VmRSS:")
}

/// Returns the greatest resident memory of a process so far.
fn high_water(pid: u32) -> u64 {
    status(pid, "VmHWM:")
}

fn status(pid: u32, field: &str) -> u64 {
    let text = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix(field));
    line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok()).map_or(0, |kilobytes| kilobytes * 1024)
}

/// Returns the processor time of a process, which the system counts in hundredths of a second.
pub(crate) fn processor_seconds(pid: u32) -> Option<f64> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let words: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    let ticks = words.get(11..13)?.iter().filter_map(|word| word.parse::<f64>().ok());
    Some(ticks.sum::<f64>() / 100.0)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    /// Runs a shell.
    fn shell(script: &str, blow: Option<(Duration, Blow)>) -> Ran {
        let setting = Setting { program: PathBuf::from("/bin/sh"), solvers: Vec::new() };
        let words = vec!["-c".to_string(), script.to_string()];
        let deadline = Duration::from_secs(1);
        let trial = Trial { blow, deadline, measured: true, ..Trial::new(words, &std::env::temp_dir()) };
        trial.run(&setting).expect("a shell is there")
    }

    #[test]
    fn codes_signals_and_texts_are_observed() {
        let ran = shell("echo one; echo two; echo three >&2; sleep 0.05; exit 7", None);
        assert_eq!((ran.end, ran.last_line(), ran.err.as_str()), (End::Code(7), "two", "three\n"));
        assert!(ran.peak > 0 && ran.orphans.is_empty(), "{ran:?}");
        let ran = shell("sleep 30 & wait", Some((Duration::from_millis(50), Blow::Terminate)));
        assert_eq!(ran.end, End::Signal(15));
        assert_eq!(ran.orphans, ["sleep 30"]);
    }

    #[test]
    fn what_does_not_end_is_killed() {
        let ran = shell("exec sleep 60", None);
        assert_eq!(ran.end, End::Overdue);
    }
}
