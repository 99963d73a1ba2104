//! Trials: runs of the program in a world that fails, interrupts, or has little of everything.
//!
//! A trial is one process with a folder of its own. What it promises is checked from outside: the exit code, the
//! verdict, the files that it leaves, the processes that it leaves, the time and the memory that it takes.
//! [`faults`] makes each operation fail in turn, [`interrupts`] strikes at random moments, and [`limits`] measures how
//! well limits hold.

pub mod faults;
pub mod files;
pub mod heavy;
pub mod interrupts;
pub mod limits;
pub mod process;
pub mod tasks;

use std::path::PathBuf;

use selvedge_check::Solvers;
use selvedge_driver::external::find_solvers;

/// The program, and what it needs to know about this machine.
#[derive(Clone, Debug)]
pub struct Setting {
    /// The program.
    pub program: PathBuf,
    /// The variables that name the solvers: its folder is not one from which it would find them.
    pub solvers: Vec<(String, String)>,
}

impl Setting {
    /// Returns the setting of a program, with the solvers of this machine.
    pub fn new(program: PathBuf) -> Setting {
        let Solvers { z3, cvc5 } = find_solvers(&Solvers::default());
        let named = [("SELVEDGE_Z3", z3), ("SELVEDGE_CVC5", cvc5)].into_iter();
        let absolute = |path: &std::path::Path| path.canonicalize().ok().map(|path| path.display().to_string());
        let solvers = named.filter_map(|(name, path)| Some((name.to_string(), absolute(&path?)?)));
        Setting { program, solvers: solvers.collect() }
    }

    /// Returns the program of a profile beside the one that runs: `release` or `debug`.
    pub fn beside(profile: &str) -> Result<Setting, String> {
        let this = std::env::current_exe().map_err(|error| error.to_string())?;
        let target = this.ancestors().nth(2).ok_or("this program is in no folder of cargo")?;
        let program = target.join(profile).join(format!("selvedge{}", std::env::consts::EXE_SUFFIX));
        if program.is_file() {
            return Ok(Setting::new(program));
        }
        let flag = if profile == "release" { " --release" } else { "" };
        Err(format!("{} is missing: run `cargo build{flag} -p selvedge-cli` first", program.display()))
    }
}
