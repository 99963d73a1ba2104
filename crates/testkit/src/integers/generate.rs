//! Random programs of guarded commands: two or three integers, sometimes with a truth value, a range or a process,
//! linear terms with factors from -2 to 2, and at most one input. Every item is on a line of its own, so that a program
//! can be made smaller by leaving out lines.

use std::fmt::Write as _;

use selvedge_frontend::gcl;

use crate::rng::Rng;
use crate::shrink::{first_failing, without_one};

/// Generates the `number`-th program of a run.
pub fn program(seed: u64, number: u64) -> String {
    let mut rng = Rng::for_item(seed, number);
    let mut maker = Maker { n_vars: rng.between(2, 3), input: rng.percent(60), shape: Shape::of(&mut rng), rng };
    maker.program()
}

/// The declarations other than integers.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shape {
    Plain,
    Flag,
    Range,
    Process,
}

impl Shape {
    fn of(rng: &mut Rng) -> Shape {
        [Shape::Plain, Shape::Plain, Shape::Flag, Shape::Range, Shape::Process, Shape::Process][rng.below(6)]
    }
}

struct Maker {
    rng: Rng,
    n_vars: usize,
    /// An input may still be read.
    input: bool,
    shape: Shape,
}

impl Maker {
    fn program(&mut self) -> String {
        let mut text = String::new();
        for var in 0..self.n_vars {
            let _ = writeln!(text, "var {}: int;", name(var));
        }
        text.push_str(match self.shape {
            Shape::Flag => "var b: bool;\n",
            Shape::Range => "var s: 0..2;\n",
            Shape::Plain | Shape::Process => "",
        });
        self.inits(&mut text);
        let n_commands = self.rng.between(1, 4);
        if self.shape == Shape::Process {
            text.push_str("process p {\n");
            text.push_str("at l0;\nat l1;\n");
        }
        for command in 0..n_commands {
            let line = self.command(command);
            let _ = writeln!(text, "{line}");
        }
        if self.shape == Shape::Process {
            text.push_str("}\n");
        }
        let condition = self.property();
        let _ = writeln!(text, "safe {condition};");
        if self.rng.percent(10) {
            text.push_str("deadlock_free;\n");
        }
        text
    }

    fn inits(&mut self, text: &mut String) {
        for var in 0..self.n_vars {
            let number = self.small();
            let _ = match self.rng.below(10) {
                0..6 => writeln!(text, "init {} == {number};", name(var)),
                6 => writeln!(text, "init {} >= {number};", name(var)),
                7 => writeln!(text, "init {} == {};", name(var), name((var + 1) % self.n_vars)),
                _ => Ok(()),
            };
        }
        if self.shape == Shape::Flag && self.rng.coin() {
            text.push_str("init !b;\n");
        }
        if self.shape == Shape::Range && self.rng.coin() {
            text.push_str("init s == 0;\n");
        }
    }

    fn small(&mut self) -> i64 {
        self.rng.below(5) as i64 - 2
    }

    fn command(&mut self, number: usize) -> String {
        let place = if self.shape == Shape::Process { format!("at l{}: ", self.rng.below(2)) } else { String::new() };
        let guard = self.guard();
        let mut updates = Vec::new();
        let first = self.rng.below(self.n_vars);
        for offset in 0..self.rng.between(1, 2) {
            let var = (first + offset) % self.n_vars;
            updates.push(format!("{} := {}", name(var), self.value()));
        }
        match self.shape {
            Shape::Flag if self.rng.coin() => updates.push("b := !b".to_owned()),
            Shape::Range if self.rng.coin() => updates.push(format!("s := {}", self.rng.below(3))),
            Shape::Process if self.rng.percent(70) => updates.push(format!("goto l{}", self.rng.below(2))),
            _ => {}
        }
        format!("{place}c{number}: {guard} -> {};", updates.join(", "))
    }

    fn guard(&mut self) -> String {
        let mut parts: Vec<String> = (0..self.rng.below(3)).map(|_| self.atom()).collect();
        match self.shape {
            Shape::Flag if self.rng.coin() => parts.push(if self.rng.coin() { "b" } else { "!b" }.to_owned()),
            Shape::Range if self.rng.coin() => parts.push(format!("s == {}", self.rng.below(3))),
            _ => {}
        }
        if parts.is_empty() { "true".to_owned() } else { parts.join(" & ") }
    }

    fn property(&mut self) -> String {
        let mut parts: Vec<String> = (0..self.rng.between(1, 2)).map(|_| self.atom()).collect();
        match self.shape {
            Shape::Flag if self.rng.percent(30) => parts.push("b".to_owned()),
            Shape::Process if self.rng.percent(40) => parts.push("p at l0".to_owned()),
            Shape::Range if self.rng.percent(30) => parts.push("s != 2".to_owned()),
            _ => {}
        }
        parts.join(if self.rng.percent(70) { " | " } else { " & " })
    }

    fn atom(&mut self) -> String {
        let term = self.term();
        if self.rng.percent(8) {
            return format!("{} divides {term}", self.rng.between(2, 3));
        }
        let op = ["==", "!=", "<", "<=", ">", ">="][self.rng.below(6)];
        format!("{term} {op} {}", self.small())
    }

    fn value(&mut self) -> String {
        if self.input && self.rng.percent(40) {
            self.input = false;
            return if self.rng.percent(70) { "nondet".to_owned() } else { format!("{} + nondet", name(0)) };
        }
        match self.rng.below(4) {
            0 => self.small().to_string(),
            1 => {
                let var = self.rng.below(self.n_vars);
                let number = self.small();
                format!("{} + {number}", name(var))
            }
            _ => self.term(),
        }
    }

    /// Makes a sum of one or two variables with factors, and a constant.
    fn term(&mut self) -> String {
        let first = self.rng.below(self.n_vars);
        let mut parts = Vec::new();
        for offset in 0..self.rng.between(1, 2) {
            let factor = [1, 1, 1, -1, 2, -2][self.rng.below(6)];
            let var = name((first + offset) % self.n_vars);
            parts.push(match factor {
                1 => var.to_owned(),
                factor => format!("{factor} * {var}"),
            });
        }
        if self.rng.percent(30) {
            parts.push(self.small().to_string());
        }
        parts.join(" + ")
    }
}

fn name(var: usize) -> &'static str {
    ["x", "y", "z"][var]
}

/// Returns the program with as few lines as possible that is still read and still satisfies `shows`.
pub fn shrink(text: String, shows: &mut dyn FnMut(&String) -> bool) -> String {
    let without_a_line = |text: &String| {
        let fewer = without_one(&text.lines().collect::<Vec<_>>()).into_iter();
        fewer.map(|lines| lines.iter().map(|line| format!("{line}\n")).collect()).collect()
    };
    first_failing(text, without_a_line, &mut |text| gcl::load(text).program.is_some() && shows(text))
}
