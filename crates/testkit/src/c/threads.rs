//! Generated C programs with threads: all engines agree about them over bits, with evidence, and what happens when the
//! compiled programs run is among what the exhaustive engine says is possible.
//!
//! The compiled programs run many times, with pauses of random lengths between their statements. A run ends in final
//! values of the shared variables, in a failed assertion, or is stopped. For final values the program gets the claim
//! that they do not occur, behind all threads: the exhaustive engine must refute it. For a failed assertion it must
//! say unsafe.
//!
//! C promises sequentially consistent executions to programs without races only. Plain accesses that race are
//! volatile here and compiled without optimisation: each is one access to memory, in the order of the program.
//! Processors of the family x86 can let reads overtake earlier writes of the same thread, and nothing else; a fence
//! in each pause forbids it, and between two pauses no read follows a plain write. On other processors nothing is
//! run.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;

use selvedge_check::{Target, Task, ThreadScope};
use selvedge_frontend::{LoadOptions, load};
use selvedge_ir::Program;
use selvedge_ir::validate::validate;

use super::compiler::Compiler;
use super::concurrent::{ATOMIC, PLAIN, program};
use super::sequential::shrink_lines;
use crate::harness::{COMPARISONS, Campaign, Fault, Tally, fault};
use crate::machine::compare_task;
use crate::oracle::{Answer, Budget, ask};
use crate::rng::Rng;
use crate::workers::Effort;

/// The number of programs that are compiled at once.
pub const BATCH: u64 = 10;

/// Headers that all programs include.
const HEADERS: &str = "#include <assert.h>\n#include <pthread.h>\n#include <semaphore.h>\n#include <stdatomic.h>\n";

/// What compiled programs need besides: pauses, inputs, atomic sections by a lock, and the runs themselves.
const RUNTIME: &str = r#"
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>
static pthread_mutex_t section = PTHREAD_MUTEX_INITIALIZER;
static unsigned seed;
static __thread unsigned state;
static unsigned any(void) {
    if (state == 0) state = seed * 2654435761u ^ (unsigned)(unsigned long)&state ^ 1;
    state ^= state << 13; state ^= state >> 17; state ^= state << 5;
    return state;
}
static void wait_somewhat(void) {
    __sync_synchronize();
    unsigned how = any() % 8;
    if (how < 2) sched_yield();
    if (how == 2) for (volatile unsigned i = any() % 2000; i > 0; i--);
    if (how == 3 && any() % 4 == 0) usleep(any() % 60);
    __sync_synchronize();
}
static void fail(int number) { printf("%d failed\n", number); fflush(stdout); _exit(0); }
_Bool __VERIFIER_nondet_bool(void) { return any() & 1; }
void __VERIFIER_assume(int holds) { if (!holds) _exit(2); }
void __VERIFIER_atomic_begin(void) { pthread_mutex_lock(&section); }
void __VERIFIER_atomic_end(void) { pthread_mutex_unlock(&section); }
static void repeat(void (*program)(void)) {
    int stopped = 0;
    for (unsigned run = 1; run <= RUNS && stopped < 2; run++) {
        if (fork() == 0) {
            struct itimerval limit = { { 0, 0 }, { 0, 300000 } };
            setitimer(ITIMER_REAL, &limit, 0);
            seed = run * 7919u + (unsigned)getpid();
            program();
            fflush(stdout);
            _exit(0);
        }
        int status;
        wait(&status);
        stopped += WIFSIGNALED(status);
    }
}
"#;

/// The comparison of programs with threads. A subject is a batch of programs.
pub struct Threads {
    /// The compiler of the machine.
    pub compiler: Compiler,
    /// The limits of the oracle and the engines.
    pub budget: Budget,
    /// How often each compiled program runs.
    pub runs: u32,
}

impl Threads {
    /// Returns the comparison with the usual limits.
    pub fn new(compiler: Compiler) -> Threads {
        let patience = Some(Duration::from_secs(3));
        Threads { compiler, budget: Budget { patience, ..Budget::states(20_000).tight() }, runs: 100 }
    }
}

impl Campaign for Threads {
    type Subject = Vec<String>;

    const EFFORT: Effort = Effort { stack: 4 << 20, patience: Duration::from_secs(900) };

    fn subject(&self, seed: u64, number: u64) -> Vec<String> {
        let numbers = number * BATCH..(number + 1) * BATCH;
        numbers.map(|number| program(&mut Rng::for_item(seed, number))).collect()
    }

    fn compare(&self, programs: &Vec<String>, _: u64, tally: &mut Tally) -> Result<(), Fault> {
        let outcomes = self.outcomes(programs)?;
        for (program, outcomes) in programs.iter().zip(&outcomes) {
            tally.count("programs");
            let answer = self.compare_engines(program, tally)?;
            self.compare_outcomes(program, &answer, outcomes, tally)?;
        }
        Ok(())
    }

    fn shrink(&self, programs: Vec<String>, fails: &mut dyn FnMut(&Vec<String>) -> bool) -> Vec<String> {
        let mut alone = programs.iter().map(|program| vec![program.clone()]);
        let Some(alone) = alone.find(|alone| fails(alone)) else { return programs };
        let lines: Vec<String> = alone.concat().lines().map(str::to_owned).collect();
        vec![shrink_lines(lines, |lines| fails(&vec![lines.join("\n")])).join("\n")]
    }

    fn show(&self, programs: &Vec<String>) -> String {
        programs.iter().map(|program| ours(program, "assert", "")).collect::<Vec<_>>().join("\n")
    }
}

impl Threads {
    /// Compares all engines on a program. Returns what they say.
    fn compare_engines(&self, program: &str, tally: &mut Tally) -> Result<Answer, Fault> {
        let (program, n_threads) = lowered(&ours(program, "assert", ""))?;
        let (target, threads) = (Target::all_asserts(&program), ThreadScope::AtMost(n_threads));
        compare_task(&Task { program: &program, target: &target, threads }, n_threads, self.budget, tally)
    }

    /// Checks that everything that happened is possible.
    fn compare_outcomes(
        &self,
        program: &str,
        answer: &Answer,
        outcomes: &BTreeSet<String>,
        tally: &mut Tally,
    ) -> Result<(), Fault> {
        for outcome in outcomes {
            let found = match outcome.as_str() {
                "failed" => answer.clone(),
                values => self.claim(program, values)?,
            };
            match found {
                Answer::Unsafe(_) => tally.count("outcomes"),
                Answer::Safe => return fault("outcome", format!("`{outcome}` happens, but is not possible")),
                _ => tally.count("open outcomes"),
            }
            tally.count(COMPARISONS);
        }
        Ok(())
    }

    /// Asks whether some final values are possible.
    fn claim(&self, program: &str, values: &str) -> Result<Answer, Fault> {
        let names = PLAIN.iter().chain(&ATOMIC).zip(values.split(' '));
        let equalities: Vec<String> = names.map(|(name, value)| format!("{name} == {value}")).collect();
        let claim = format!("assert(!({}));", equalities.join(" && "));
        let (program, n_threads) = lowered(&ours(program, "(void)", &claim))?;
        let target = Target::all_asserts(&program);
        let task = Task { program: &program, target: &target, threads: ThreadScope::AtMost(n_threads) };
        Ok(ask(&task, Budget { patience: Some(Duration::from_secs(20)), ..Budget::states(500_000) }))
    }

    /// Runs the compiled programs and returns what happened: final values, or failed assertions.
    fn outcomes(&self, programs: &[String]) -> Result<Vec<BTreeSet<String>>, Fault> {
        let mut found = vec![BTreeSet::new(); programs.len()];
        let runs = format!("-DRUNS={}", self.runs);
        let compiled = self.compiler.compile(&file(programs), &["-pthread", &runs])?;
        if !cfg!(target_arch = "x86_64") {
            return Ok(found);
        }
        let output = compiled.run(&[]).or_else(|error| fault("run", error.to_string()))?;
        for line in output.lines() {
            if let Some((number, outcome)) = line.split_once(' ')
                && let Some(outcomes) = number.parse().ok().and_then(|number: usize| found.get_mut(number))
            {
                outcomes.insert(outcome.to_owned());
            }
        }
        Ok(found)
    }
}

/// Returns the text that we read, with a word for assertions and a claim behind all threads.
pub(super) fn ours(program: &str, check: &str, claim: &str) -> String {
    let text = program.replace("$check", check).replace("$claim", claim);
    let text = text.lines().filter(|line| !matches!(line.trim(), "$pause;" | "$lock;" | "$unlock;"));
    let text = text.map(|line| line.replace("$main", "main").replace('$', "g_")).collect::<Vec<_>>().join("\n");
    format!("{HEADERS}{text}\n")
}

/// Returns one file of C that runs all programs many times and prints what happens.
fn file(programs: &[String]) -> String {
    let mut text = format!("{HEADERS}{RUNTIME}");
    let mut calls = String::new();
    for (number, program) in programs.iter().enumerate() {
        let prefix = format!("p{number}_");
        let _ = writeln!(text, "#define {prefix}check(holds) ((holds) ? (void)0 : fail({number}))");
        let program = program.replace("$pause;", "wait_somewhat();").replace("$claim", "");
        let program = program.replace("$lock;", "__VERIFIER_atomic_begin();");
        text += &program.replace("$unlock;", "__VERIFIER_atomic_end();").replace('$', &prefix);
        let values: Vec<String> =
            PLAIN.iter().chain(&ATOMIC).map(|name| format!("(int){}", name.replace('$', &prefix))).collect();
        let _ = writeln!(
            text,
            "\nstatic void {prefix}show(void) {{ {prefix}main(); if ({prefix}done) printf(\"{number}{}\\n\", {}); }}",
            " %d".repeat(values.len()),
            values.join(", ")
        );
        let _ = writeln!(calls, "    repeat({prefix}show);");
    }
    text + &format!("int main(void) {{\n{calls}    return 0;\n}}\n")
}

/// Reads and lowers a program. Returns it with its number of threads.
fn lowered(text: &str) -> Result<(Program, u32), Fault> {
    let loaded = load(Path::new("program.c"), text, &LoadOptions::default());
    let threads = loaded.threads.unwrap_or(4);
    let Some(program) = loaded.program else {
        let error = loaded.diagnostics.iter().find(|found| found.is_error());
        return fault("refused", error.map_or("", |found| &found.message));
    };
    match validate(&program) {
        Ok(()) => Ok((program, threads)),
        Err(invalid) => fault("valid", invalid.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")),
    }
}
