//! The C compiler of the machine: generated programs are compiled and run by it.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::harness::{Fault, fault};

/// The compiler.
#[derive(Clone, Debug)]
pub struct Compiler {
    program: PathBuf,
}

impl Compiler {
    /// Finds `cc` in the path; `None` if it is not there or compiles nothing.
    pub fn find() -> Option<Compiler> {
        let compiler = Compiler { program: PathBuf::from("cc") };
        let built = compiler.compile("int main(void) { return 0; }", &["-fsanitize=undefined", "-pthread"]);
        built.is_ok().then_some(compiler)
    }

    /// Compiles a program.
    pub(super) fn compile(&self, text: &str, options: &[&str]) -> Result<Compiled, Fault> {
        let compiled = Compiled { folder: scratch() };
        let source = compiled.folder.join("program.c");
        let written = fs::create_dir_all(&compiled.folder).and_then(|()| fs::write(&source, text));
        let written = written.and_then(|()| {
            let mut command = Command::new(&self.program);
            command.args(["-std=gnu11", "-O0", "-w"]).args(options).arg("-o").arg(compiled.program()).arg(&source);
            command.stdin(Stdio::null()).output()
        });
        match written {
            Ok(output) if output.status.success() => Ok(compiled),
            Ok(output) => fault("cc", String::from_utf8_lossy(&output.stderr).into_owned()),
            Err(error) => fault("cc", error.to_string()),
        }
    }
}

/// A program that was compiled; its files are removed with it.
pub(super) struct Compiled {
    folder: PathBuf,
}

impl Compiled {
    fn program(&self) -> PathBuf {
        self.folder.join("program")
    }

    /// Runs the program and returns what it prints.
    pub(super) fn run(&self, arguments: &[&str]) -> io::Result<String> {
        let output =
            Command::new(self.program()).args(arguments).stdin(Stdio::null()).stderr(Stdio::null()).output()?;
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }
}

impl Drop for Compiled {
    fn drop(&mut self) {
        // What cannot be removed stays in the folder for temporary files.
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// Returns a new folder for each call.
fn scratch() -> PathBuf {
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    Path::new(&std::env::temp_dir()).join(format!("selvedge-cc-{}-{number}", std::process::id()))
}
