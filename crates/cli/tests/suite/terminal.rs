//! `selvedge debug` and `simulate --interactive` in a terminal: the program runs in a pseudo-terminal, keys go in as a
//! terminal sends them, and an emulator keeps what a person would see.

use std::io::{Read as _, Write};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, native_pty_system};

const PROGRAM: &str = env!("CARGO_BIN_EXE_selvedge");
/// Long enough for a machine that does other things as well.
const PATIENCE: Duration = Duration::from_secs(60);

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the folder of the project is there")
}

/// A terminal with the program in it.
struct Terminal {
    emulator: vt100::Parser,
    /// All that the program wrote.
    written: Vec<u8>,
    output: Receiver<Vec<u8>>,
    input: Box<dyn Write + Send>,
    child: Box<dyn Child + Send + Sync>,
    // It closes the terminal when it goes.
    _master: Box<dyn MasterPty + Send>,
}

impl Terminal {
    fn open(columns: u16, rows: u16, arguments: &[&str]) -> Terminal {
        let size = PtySize { rows, cols: columns, pixel_width: 0, pixel_height: 0 };
        let pair = native_pty_system().openpty(size).expect("there are pseudo-terminals");
        let mut command = CommandBuilder::new(PROGRAM);
        command.args(arguments);
        command.cwd(root());
        command.env("TERM", "xterm-256color");
        let child = pair.slave.spawn_command(command).expect("the program was built");
        let mut reader = pair.master.try_clone_reader().expect("the terminal can be read");
        let (sender, output) = channel();
        std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(length @ 1..) = reader.read(&mut bytes) {
                if sender.send(bytes[..length].to_vec()).is_err() {
                    break;
                }
            }
        });
        let input = pair.master.take_writer().expect("the terminal can be written to");
        let emulator = vt100::Parser::new(rows, columns, 0);
        Terminal { emulator, written: Vec::new(), output, input, child, _master: pair.master }
    }

    fn press(&mut self, keys: &str) {
        self.input.write_all(keys.as_bytes()).expect("the program reads its keys");
        self.input.flush().expect("the program reads its keys");
    }

    fn screen(&self) -> String {
        let rows = self.emulator.screen().contents();
        rows.lines().map(|row| format!("{}\n", row.trim_end())).collect()
    }

    /// Returns whether the last screen was drawn to its end: the program says where each begins and ends.
    fn is_whole(&self) -> bool {
        let count = |mark: &[u8]| self.written.windows(mark.len()).filter(|part| *part == mark).count();
        count(b"\x1b[?2026h") == count(b"\x1b[?2026l")
    }

    fn take(&mut self, bytes: &[u8]) {
        self.emulator.process(bytes);
        self.written.extend(bytes);
    }

    /// Returns the screen as soon as this text is on it.
    fn wait_for(&mut self, text: &str) -> String {
        let begin = Instant::now();
        while !(self.is_whole() && self.screen().contains(text)) {
            assert!(begin.elapsed() < PATIENCE, "`{text}` does not come:\n{}", self.screen());
            if let Ok(bytes) = self.output.recv_timeout(Duration::from_millis(200)) {
                self.take(&bytes);
            }
        }
        self.screen()
    }

    /// The exit code, when the program has ended, and what is left on the screen.
    fn end(mut self) -> (u32, String) {
        let status = self.child.wait().expect("the program ends");
        while let Ok(bytes) = self.output.recv_timeout(Duration::from_millis(300)) {
            self.take(&bytes);
        }
        (status.exit_code(), self.screen())
    }
}

/// A saved execution, the same each time.
fn trace() -> String {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("terminal.trace").display().to_string();
    let mut command = Command::new(PROGRAM);
    let args = ["check", "--quiet", "--jobs", "1", "--threads", "3", "--trace-out", &path, "examples/lock.bp"];
    assert_eq!(command.args(args).current_dir(root()).output().expect("it runs").status.code(), Some(10));
    path
}

#[test]
fn a_session_in_a_terminal_of_80_by_24() {
    let trace = trace();
    let mut terminal = Terminal::open(80, 24, &["debug", "--threads", "3", "--trace", &trace, "examples/lock.bp"]);
    let mut record = format!("start\n{}", terminal.wait_for("step 0 of"));
    let mut look = |terminal: &mut Terminal, keys: &str, name: &str, text: &str| {
        terminal.press(keys);
        record.push_str(&format!("\n{name}\n{}", terminal.wait_for(text)));
    };
    look(&mut terminal, "\x1b[C\x1b[C", "→ →", "step 2 of");
    look(&mut terminal, "wlock\r", "w lock Enter", "lock is 0");
    look(&mut terminal, "b14\r", "b 14 Enter", "stop at line 14");
    look(&mut terminal, "r", "r", "step 5 of");
    look(&mut terminal, "\x1b[F", "End", "error: worker");
    look(&mut terminal, "?", "?", "close these lines");
    terminal.press("?q");
    let (code, left) = terminal.end();
    assert_eq!(code, 10, "the program is unsafe");
    assert_eq!(left.trim(), "", "the screen is given back as it was");
    insta::assert_snapshot!("session", record);
}

#[test]
fn a_session_about_c_goes_from_statement_to_statement() {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("terminal-c.trace").display().to_string();
    let args = ["check", "--quiet", "--jobs", "1", "--trace-out", &path, "examples/c/once_broken.c"];
    let saved = Command::new(PROGRAM).args(args).current_dir(root()).output().expect("it runs");
    assert_eq!(saved.status.code(), Some(10));
    let mut terminal = Terminal::open(140, 40, &["debug", "--trace", &path, "examples/c/once_broken.c"]);
    terminal.wait_for("step 0 of 13");
    terminal.press("r");
    let end = terminal.wait_for("step 13 of 13");
    assert!(end.contains("settings.limit = 0") && end.contains("held by client#"), "{end}");
    assert!(!end.contains('$') && !end.contains(" thread_"), "{end}");
    terminal.press("\x1b[D\x1b[D");
    terminal.wait_for("step 11 of 13");
    terminal.press("\x1b[C\x1b[Cq");
    assert_eq!(terminal.end().0, 10);
}

#[test]
fn steps_by_hand_in_a_terminal_of_120_by_40() {
    let arguments = ["simulate", "--interactive", "--seed", "1", "--threads", "3", "examples/lock.bp"];
    let mut terminal = Terminal::open(120, 40, &arguments);
    let mut record = format!("start\n{}", terminal.wait_for("next steps"));
    for number in 1..=3 {
        terminal.press("\r");
        terminal.wait_for(&format!("step {number} of {number}"));
    }
    record.push_str(&format!("\nEnter Enter Enter\n{}", terminal.screen()));
    terminal.press("\x1b[B");
    record.push_str(&format!("\n↓\n{}", terminal.wait_for("next steps: 2 of")));
    terminal.press("uu");
    terminal.wait_for("step 1 of 1");
    terminal.press("q");
    let (code, left) = terminal.end();
    assert_eq!(code, 5, "one step meets no error");
    assert!(left.contains("run by hand"), "the run is told in the end:\n{left}");
    insta::assert_snapshot!("by_hand", record);
}

#[test]
fn control_c_leaves_the_terminal_as_it_was() {
    let trace = trace();
    let mut terminal = Terminal::open(80, 24, &["debug", "--threads", "3", "--trace", &trace, "examples/lock.bp"]);
    terminal.wait_for("step 0 of");
    terminal.press("\x03");
    let (code, left) = terminal.end();
    assert_eq!((code, left.trim()), (10, ""));
}
