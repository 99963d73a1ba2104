//! Interruptions at random moments: signals, limits, and a reader of the output that goes away.
//!
//! What is promised, whatever the moment: an interrupt or a termination signal ends the program within a second with
//! code 130, or with the code of its answer if that was given at the same moment; before `main` has installed the
//! handler, the signal itself ends it, which shells show as 130, too. Nothing else gives 130. A time limit holds to
//! within a second and gives 11 or a verdict; a memory limit holds to within 20 % and 50 MB and gives 12 or a verdict.
//! A closed pipe changes nothing. No process is left, and every file is the old one or whole.
//!
//! A run that takes too long or too much is repeated alone, twice, and counts only if it does so each time: this
//! machine may have been busy.

use std::sync::RwLock;
use std::time::Duration;

use super::Setting;
use super::files::{Scratch, problems};
use super::heavy::{self, Heavy};
use super::limits;
use super::process::{Blow, End, Ran, Trial};
use super::tasks;
use crate::harness::{Campaign, Fault, Tally, fault};
use crate::rng::Rng;
use crate::workers::Effort;

/// The time that the program has to end.
const NOTICE: Duration = Duration::from_millis(1000);

/// The time within which a signal may come before the handler.
const BEFORE_MAIN: Duration = Duration::from_millis(100);

/// The campaign.
pub struct Interrupts {
    setting: Setting,
    tasks: Vec<Interrupted>,
    /// Runs that are repeated are alone.
    alone: RwLock<()>,
}

/// A task that can be interrupted.
#[derive(Clone, Debug)]
struct Interrupted {
    task: Heavy,
    /// The code of its answer, if it ends by itself.
    code: Option<i32>,
}

/// What happens to which task.
#[derive(Clone, Debug)]
pub struct Strike {
    task: usize,
    what: What,
}

/// What happens.
#[derive(Clone, Copy, Debug)]
enum What {
    Blow(Duration, Blow),
    TimeLimit(Duration),
    /// Megabytes.
    MemoryLimit(u64),
}

impl Interrupts {
    /// Returns the campaign for a program.
    pub fn new(setting: Setting) -> Interrupts {
        let heavy = [heavy::of_engines(), heavy::of_engines(), limits::endless()].concat().into_iter();
        let heavy = heavy.map(|task| Interrupted { task, code: None });
        let small = tasks::all().into_iter().filter(|task| task.before.is_empty() && task.words[0] != "man");
        let small = small.map(|task| Interrupted {
            task: Heavy { name: task.line(), files: task.files(), words: task.words },
            code: Some(task.code),
        });
        Interrupts { setting, tasks: heavy.chain(small).collect(), alone: RwLock::new(()) }
    }

    /// Runs a task once.
    fn try_once(&self, strike: &Strike) -> Result<(Ran, Vec<String>), String> {
        let Interrupted { task, .. } = &self.tasks[strike.task];
        let scratch = Scratch::new().map_err(|error| error.to_string())?;
        scratch.reset(&task.files).map_err(|error| error.to_string())?;
        let mut trial = Trial::new(task.words.clone(), &scratch.path);
        (trial.measured, trial.deadline) = (true, Duration::from_secs(30));
        let mut limit =
            |option: &str, value: String| trial.words.splice(1..1, [option.to_string(), value]).for_each(drop);
        match strike.what {
            What::Blow(moment, blow) => {
                if blow == Blow::ClosePipe {
                    limit("--time-limit", format!("{}ms", (moment + NOTICE).as_millis()));
                }
                trial.blow = Some((moment, blow));
            }
            What::TimeLimit(time) => limit("--time-limit", format!("{}ms", time.as_millis())),
            What::MemoryLimit(megabytes) => {
                limit("--memory-limit", format!("{megabytes}MB"));
                limit("--time-limit", "4s".to_string());
            }
        }
        let ran = trial.run(&self.setting).map_err(|error| error.to_string())?;
        let wrong = problems(&task.files, &scratch.contents(), None);
        Ok((ran, wrong))
    }

    /// Says what took too long or too much.
    fn overrun(&self, what: What, ran: &Ran) -> Option<String> {
        let time = match what {
            What::Blow(moment, Blow::ClosePipe) => moment + NOTICE + NOTICE,
            What::Blow(moment, _) => moment + NOTICE,
            What::TimeLimit(time) => time + NOTICE,
            What::MemoryLimit(_) => Duration::from_secs(5),
        };
        let late = match (what, ran.after_blow) {
            (What::Blow(_, Blow::Interrupt | Blow::Terminate), Some(after)) => after > NOTICE,
            _ => ran.time > time,
        };
        if late || ran.end == End::Overdue {
            return Some(format!(
                "it ends after {:.2} s ({:.2} s of processor)",
                ran.time.as_secs_f64(),
                ran.processor
            ));
        }
        let What::MemoryLimit(megabytes) = what else { return None };
        let most = (megabytes * 12 / 10 + 50) * 1_000_000;
        (ran.peak > most).then(|| format!("it takes {} MB", ran.peak / 1_000_000))
    }

    /// Says what is wrong with the end of a run.
    fn wrong_end(&self, strike: &Strike, ran: &Ran) -> Option<String> {
        let code = self.tasks[strike.task].code;
        let own = code.into_iter();
        let (allowed, signal): (Vec<i32>, _) = match strike.what {
            What::Blow(moment, Blow::Interrupt) => (own.chain([130]).collect(), (moment < BEFORE_MAIN).then_some(2)),
            What::Blow(moment, Blow::Terminate) => (own.chain([130]).collect(), (moment < BEFORE_MAIN).then_some(15)),
            What::Blow(_, Blow::ClosePipe) | What::TimeLimit(_) => (own.chain([11]).collect(), None),
            What::MemoryLimit(_) => (own.chain([11, 12]).collect(), None),
        };
        let is_right = match ran.end {
            End::Code(code) => allowed.contains(&code),
            End::Signal(number) => signal == Some(number) && ran.out.is_empty(),
            End::Overdue => false,
        };
        (!is_right)
            .then(|| format!("it ends with {}, allowed are {allowed:?}: {}{}", ran.end, ran.last_line(), ran.err))
    }
}

impl Campaign for Interrupts {
    type Subject = Strike;

    const EFFORT: Effort = Effort { stack: 4 << 20, patience: Duration::from_secs(300) };

    fn subject(&self, seed: u64, number: u64) -> Strike {
        let mut rng = Rng::for_item(seed, number);
        let task = rng.below(self.tasks.len());
        let long = if self.tasks[task].code.is_some() { 300 } else { 1500 };
        let most = if rng.percent(40) { 20 } else { long };
        let moment = Duration::from_micros(rng.below(most * 1000) as u64);
        let what = match rng.below(8) {
            0..3 => What::Blow(moment, Blow::Interrupt),
            3 => What::Blow(moment, Blow::Terminate),
            4 => What::Blow(moment, Blow::ClosePipe),
            5..7 => What::TimeLimit(Duration::from_millis(moment.as_millis() as u64)),
            _ => What::MemoryLimit(rng.between(10, 150) as u64),
        };
        Strike { task, what }
    }

    fn compare(&self, strike: &Strike, _: u64, tally: &mut Tally) -> Result<(), Fault> {
        let kind = match strike.what {
            What::Blow(_, blow) => format!("{blow:?}"),
            What::TimeLimit(_) => "TimeLimit".to_string(),
            What::MemoryLimit(_) => "MemoryLimit".to_string(),
        };
        let broken = |message: String| Fault { stage: "trial".to_string(), message };
        let together = self.alone.read();
        let (mut ran, wrong) = self.try_once(strike).map_err(broken)?;
        drop(together);
        for _ in 0..2 {
            if self.overrun(strike.what, &ran).is_some() {
                tally.count("repeated alone");
                let _alone = self.alone.write();
                ran = self.try_once(strike).map_err(broken)?.0;
            }
        }
        tally.count(format!("{kind} {}", ran.end));
        if let Some(message) = self.overrun(strike.what, &ran).or_else(|| self.wrong_end(strike, &ran)) {
            return fault(kind, message);
        }
        if let Some(message) = wrong.first().or(ran.orphans.first()) {
            return fault(kind, message.clone());
        }
        Ok(())
    }

    fn show(&self, strike: &Strike) -> String {
        format!("{:?}: selvedge {}", strike.what, self.tasks[strike.task].task.words.join(" "))
    }
}
