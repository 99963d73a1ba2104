//! Generated sequential C programs: the values that they compute when the host's compiler has compiled them are those
//! that the interpreter computes on the lowered programs.
//!
//! A batch of programs is one file, since starting the compiler takes most of the time. Each program runs in a process
//! of its own: the sanitizer ends those with undefined behaviour, which are counted and not compared.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;

use selvedge_check::{Run, Target, Task, ThreadScope};
use selvedge_driver::{RunEnd, simulate};
use selvedge_frontend::{LoadOptions, load};
use selvedge_ir::validate::validate;
use selvedge_ir::{Program, Scope};

use super::compiler::Compiler;
use super::program::{Generated, program};
use crate::harness::{COMPARISONS, Campaign, Fault, Tally, fault};
use crate::rng::Rng;
use crate::workers::Effort;

/// The number of programs that are compiled at once.
pub const BATCH: u64 = 50;

/// The number of steps after which a run is too long.
const STEPS: usize = 20_000;

/// Headers that all programs include.
const HEADERS: &str = "#include <stdint.h>\n#include <stddef.h>\n";

/// The comparison of compiled programs with the interpreter. A subject is a batch of programs.
pub struct Sequential {
    /// The compiler of the machine.
    pub compiler: Compiler,
}

/// Some programs that are compiled at once.
#[derive(Debug)]
pub struct Programs(Vec<Generated>);

impl Campaign for Sequential {
    type Subject = Programs;

    const EFFORT: Effort = Effort { stack: 4 << 20, patience: Duration::from_secs(600) };

    fn subject(&self, seed: u64, number: u64) -> Programs {
        let numbers = number * BATCH..(number + 1) * BATCH;
        Programs(numbers.map(|number| program(&mut Rng::for_item(seed, number))).collect())
    }

    fn compare(&self, Programs(programs): &Programs, number: u64, tally: &mut Tally) -> Result<(), Fault> {
        let compiled = self.compiler.compile(&file(programs), &SANITIZED)?;
        let output = compiled.run(&[]).or_else(|error| fault("run", error.to_string()))?;
        let results = results(&output, programs.len());
        for (program, expected) in programs.iter().zip(&results) {
            tally.count("programs");
            match expected {
                Some(expected) => compare(program, expected, number, tally)?,
                None => tally.count("undefined"),
            }
        }
        Ok(())
    }

    fn shrink(&self, programs: Programs, fails: &mut dyn FnMut(&Programs) -> bool) -> Programs {
        let alone = programs.0.iter().map(|program| Programs(vec![program.clone()]));
        let Some(Programs(alone)) = alone.into_iter().find(|alone| fails(alone)) else { return programs };
        let Some(program) = alone.into_iter().next() else { return programs };
        let lines: Vec<String> = program.text.lines().map(str::to_owned).collect();
        let with = |lines: &[String]| Generated { text: lines.join("\n") + "\n", ..program.clone() };
        let small = shrink_lines(lines, |lines| fails(&Programs(vec![with(lines)])));
        Programs(vec![with(&small)])
    }

    fn show(&self, Programs(programs): &Programs) -> String {
        programs.iter().map(ours).collect::<Vec<_>>().join("\n")
    }
}

/// Signed numbers wrap around for us. Without the first option their overflow would be undefined, and the sanitizer
/// does not see all of it: the compiler takes `x + x != 0` for `x != 0`.
const SANITIZED: [&str; 3] = ["-fwrapv", "-fsanitize=undefined", "-fno-sanitize-recover=all"];

/// The number of calls and rounds of loops from which on a program may need more steps than [`STEPS`].
const MUCH_WORK: u64 = 100;

/// Takes away groups of lines, large ones first, while the rest still fails. It ends because there are fewer lines or
/// the groups get smaller.
pub(super) fn shrink_lines(lines: Vec<String>, mut fails: impl FnMut(&[String]) -> bool) -> Vec<String> {
    let mut best = lines;
    let mut length = best.len() / 2;
    while length > 0 {
        let before = best.len();
        let mut at = 0;
        while at < best.len() {
            let mut fewer = best.clone();
            fewer.drain(at..(at + length).min(best.len()));
            if fails(&fewer) { best = fewer } else { at += 1 }
        }
        if best.len() == before {
            length /= 2;
        }
    }
    best
}

/// Returns the text that we read.
pub(super) fn ours(program: &Generated) -> String {
    format!("{HEADERS}{}", program.text.replace("$main", "main").replace('$', "g_"))
}

/// Returns one file of C that runs all programs, each in a process of its own, and prints what they compute.
fn file(programs: &[Generated]) -> String {
    let mut text = format!("{HEADERS}#include <stdio.h>\n#include <unistd.h>\n#include <sys/wait.h>\n");
    let mut calls = String::new();
    for (number, program) in programs.iter().enumerate() {
        let prefix = format!("p{number}_");
        text += &program.text.replace('$', &prefix);
        let _ = writeln!(text, "static void {prefix}show(void) {{\n    {prefix}main();");
        for (place, name) in program.observed.iter().enumerate() {
            let name = name.replace('$', &prefix);
            let _ = writeln!(text, "    printf(\"{number} {place} %llu\\n\", (unsigned long long){name});");
        }
        let _ = writeln!(text, "    printf(\"{number} end 0\\n\");\n}}");
        let _ = writeln!(calls, "    run({prefix}show);");
    }
    text += "static void run(void (*program)(void)) {\n    if (fork() == 0) {\n        alarm(5);\n        program();\n";
    text += "        fflush(stdout);\n        _exit(0);\n    }\n    wait(0);\n}\n";
    text + &format!("int main(void) {{\n{calls}    return 0;\n}}\n")
}

/// Reads what the programs print; `None` for those that did not come to their end.
fn results(output: &str, n_programs: usize) -> Vec<Option<Vec<u64>>> {
    let mut values: BTreeMap<usize, Vec<u64>> = BTreeMap::new();
    let mut ended = vec![false; n_programs];
    for line in output.lines() {
        let words: Vec<&str> = line.split(' ').collect();
        let [program, place, value] = words.as_slice() else { continue };
        let Ok(program) = program.parse::<usize>() else { continue };
        match (*place, value.parse()) {
            ("end", _) if program < n_programs => ended[program] = true,
            (_, Ok(value)) => values.entry(program).or_default().push(value),
            _ => {}
        }
    }
    (0..n_programs).map(|program| values.remove(&program).filter(|_| ended[program])).collect()
}

/// Compares the values of a compiled program with those of the interpreter.
fn compare(program: &Generated, expected: &[u64], number: u64, tally: &mut Tally) -> Result<(), Fault> {
    let loaded = load(Path::new("program.c"), &ours(program), &LoadOptions::default());
    let Some(lowered) = &loaded.program else {
        let why = loaded.diagnostics.iter().find(|found| found.is_error()).map_or("", |found| &found.message);
        if program.is_rare {
            tally.count("refused");
            return Ok(());
        }
        return fault("refused", why);
    };
    if let Err(invalid) = validate(lowered) {
        return fault("valid", invalid.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "));
    }
    let Some(found) = interpret(lowered, &program.observed, number)? else {
        if expected.last().is_some_and(|work| *work < MUCH_WORK) {
            return fault("long", format!("{expected:?} for the compiler, and more than {STEPS} steps for us"));
        }
        tally.count("long");
        return Ok(());
    };
    tally.count(COMPARISONS);
    for (name, (expected, found)) in program.observed.iter().zip(expected.iter().zip(&found)) {
        if expected != found {
            return fault(
                "values",
                format!("{} is {expected:#x} for the compiler, {found:#x} for us", ours_name(name)),
            );
        }
    }
    Ok(())
}

fn ours_name(name: &str) -> String {
    name.replace('$', "g_")
}

/// Runs a lowered program, which has one run, and returns the last values of some of its variables; `None` if the run
/// is too long. A variable that the lowered program does not have is never assigned to: it is zero.
fn interpret(program: &Program, observed: &[String], seed: u64) -> Result<Option<Vec<u64>>, Fault> {
    let target = Target::all_asserts(program);
    let task = Task { program, target: &target, threads: ThreadScope::AtMost(1) };
    let Ok(run) = simulate(&task, seed, STEPS, &Run::unlimited()) else { return fault("run", "it has no limits") };
    match run.end {
        RunEnd::StepLimit => return Ok(None),
        RunEnd::Over | RunEnd::Deadlock => {}
        end => return fault("end", format!("the run ends by {end:?}")),
    }
    let last = run.states.last().unwrap_or(&run.start);
    let shared = program.vars.iter().filter(|var| var.scope == Scope::Shared).map(|var| var.name.as_str());
    let values: BTreeMap<&str, u64> =
        shared.zip(&last.shared).map(|(name, value)| (name, value.number() as u64)).collect();
    Ok(Some(observed.iter().map(|name| values.get(ours_name(name).as_str()).copied().unwrap_or(0)).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn generated(text: &str) -> Generated {
        let observed = vec!["$x".to_owned(), "$done".to_owned()];
        Generated { text: format!("int $x, $done;\n{text}\n"), observed, is_rare: false }
    }

    #[test]
    fn other_values_and_refusals_are_faults() {
        let program = generated("int $main(void) { $x = 3; $x <<= 2; $done = 1; return 0; }");
        let stage = |program: &Generated, values: &[u64]| {
            compare(program, values, 1, &mut Tally::default()).map_err(|fault| fault.stage)
        };
        assert_eq!(stage(&program, &[12, 1]), Ok(()));
        assert_eq!(stage(&program, &[13, 1]), Err("values".to_owned()));
        assert_eq!(stage(&program, &[12, 0]), Err("values".to_owned()));
        let refused = generated("int $main(void) { double d = 1; $x = d; $done = 1; return 0; }");
        assert_eq!(stage(&refused, &[1, 1]), Err("refused".to_owned()));
        let endless = generated("int $main(void) { while (1) $x++; }");
        assert_eq!((stage(&endless, &[1, 1]), stage(&endless, &[1, MUCH_WORK])), (Err("long".to_owned()), Ok(())));
    }

    #[test]
    fn programs_that_do_not_end_have_no_result() {
        let output = "0 0 7\n0 1 1\n0 end 0\n1 0 5\n2 0 9\n2 end 0\n";
        assert_eq!(results(output, 4), [Some(vec![7, 1]), None, Some(vec![9]), None]);
    }

    #[test]
    fn lines_are_taken_away_while_it_fails() {
        let lines = (0..20).map(|number| number.to_string()).collect();
        let small =
            shrink_lines(lines, |lines| ["3", "11", "12"].iter().all(|line| lines.iter().any(|has| has == line)));
        assert_eq!(small, ["3", "11", "12"]);
    }
}
