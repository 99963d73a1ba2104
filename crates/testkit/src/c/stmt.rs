//! Generated statements, each on a line of its own, so that lines can be taken away.
//!
//! Every loop ends: it has a counter that nothing else changes, and jumps backwards use up the fuel of the program.

use super::maker::{Array, Maker, Named, Pointer, Target};
use super::types::{INT, Ty};

impl Maker<'_> {
    /// Adds some statements.
    pub(super) fn stmts(&mut self, count: usize, depth: usize) {
        for _ in 0..count {
            self.stmt(depth);
        }
    }

    /// Adds statements between braces, whose declarations end there.
    pub(super) fn block(&mut self, head: &str, depth: usize) {
        let sizes = (self.named.len(), self.pointers.len(), self.arrays.len(), self.records.len());
        self.line(format!("{head} {{"));
        self.indent += 1;
        if ["while", "do", "for"].iter().any(|word| head.starts_with(word)) {
            self.line("$work++;");
        }
        let count = self.rng.between(1, 3);
        self.stmts(count, depth);
        self.indent -= 1;
        self.line("}");
        self.named.truncate(sizes.0);
        self.pointers.truncate(sizes.1);
        self.arrays.truncate(sizes.2);
        self.records.truncate(sizes.3);
    }

    fn stmt(&mut self, depth: usize) {
        if depth == 0 {
            return self.simple();
        }
        let below = depth - 1;
        match self.rng.below(24) {
            0..7 => self.simple(),
            7..10 => self.declare(),
            10 | 11 => self.if_(below),
            12..15 => self.loop_(below),
            15 => self.switch(below),
            16 => self.jump_forward(below),
            17 => self.jump_back(below),
            18 => self.jump_inside(),
            19 => self.block("", below),
            20 => self.leave(),
            21 => self.duff(),
            22 => self.walk(),
            _ => self.observe(),
        }
    }

    fn simple(&mut self) {
        if self.rng.percent(12) && self.point() {
            return;
        }
        if self.rng.percent(10) {
            return self.observe();
        }
        if self.rare.struct_values && self.rng.percent(30) && self.copy() {
            return;
        }
        let (effect, _) = self.effect(2);
        self.line(format!("{effect};"));
    }

    /// Adds to what is compared in the end. Effects come first, since a call may observe at the same place.
    fn observe(&mut self) {
        let ((value, _), (effect, _)) = (self.pure(2), self.effect(2));
        if self.rng.percent(30) {
            self.line(format!("$effect = {effect};"));
            return self.observe_value("$effect");
        }
        self.observe_value(&value);
    }

    pub(super) fn observe_value(&mut self, value: &str) {
        let number = self.n_observed;
        self.n_observed += 1;
        self.line(format!("$o{number} = $o{number} * 31 + (unsigned long long)({value});"));
    }

    /// Lets a pointer point to another object. Returns whether there is one.
    fn point(&mut self) -> bool {
        if let (Some(name), true) = (self.function_pointers.first().cloned(), self.rng.percent(30)) {
            let function = ["$h0", "$h1", "&$h0", "&$h1"][self.rng.below(4)];
            self.line(format!("{name} = {function};"));
            return true;
        }
        let Some(pointer) = self.rng.pick(&self.pointers).cloned() else { return false };
        let Some(address) = self.address(pointer.of, pointer.reach) else { return false };
        self.line(format!("{} = {address};", pointer.name));
        true
    }

    fn copy(&mut self) -> bool {
        let Some((one, kind)) = self.rng.pick(&self.records).cloned() else { return false };
        let others: Vec<String> =
            self.records.iter().filter(|(_, other)| *other == kind).map(|(name, _)| name.clone()).collect();
        let other = &others[self.rng.below(others.len())];
        self.line(format!("{one} = {other};"));
        true
    }

    /// Declares a local: a scalar, which may hide another one, an array, a pointer, or one that keeps its value.
    fn declare(&mut self) {
        match self.rng.below(10) {
            0 => self.declare_array(),
            1 => self.declare_pointer(),
            2 => {
                let (name, ty) = (format!("kept{}", self.fresh()), Ty::random(self.rng));
                let constant = self.rng.between(0, 9);
                self.line(format!("static {} {name} = {constant};", ty.name));
                self.add_named(name, ty, true);
            }
            3 if self.is_main && !self.structs.is_empty() => {
                let (name, number) = (format!("ls{}", self.fresh()), self.rng.below(self.structs.len()));
                let (value, _) = self.pure(1);
                self.line(format!("struct $S{number} {name} = {{ {value} }};"));
                self.records.push((name, number));
            }
            _ => {
                let name = match self.rng.below(8) {
                    0 => "$g1".to_owned(),
                    number => format!("v{number}"),
                };
                if self.is_in_this_block(&name) {
                    return self.simple();
                }
                let ty = Ty::random(self.rng);
                let (mut value, _) = if self.rng.percent(80) { self.pure(2) } else { self.effect(2) };
                if value.contains(&name) {
                    value = ty.constant(self.rng);
                }
                self.declare_scalar(&name, ty, &value);
            }
        }
    }

    /// Declares a scalar: with its value, or without and an assignment behind it.
    fn declare_scalar(&mut self, name: &str, ty: Ty, value: &str) {
        let qualifier = ["", "", "", "volatile ", "register "][self.rng.below(5)];
        let has_address = self.is_main && qualifier.is_empty();
        if self.rng.percent(85) {
            self.line(format!("{qualifier}{} {name} = {value};", ty.name));
        } else {
            self.line(format!("{qualifier}{} {name}; {name} = {value};", ty.name));
        }
        self.add_named(name.to_owned(), ty, has_address);
    }

    pub(super) fn add_named(&mut self, name: String, ty: Ty, has_address: bool) {
        self.named.push(Named { root: name.clone(), text: name, ty, is_counter: false, has_address });
    }

    /// Returns whether a name may be declared in this block already: names of one function are declared once each in
    /// blocks of the same depth, which is more than needed.
    fn is_in_this_block(&mut self, name: &str) -> bool {
        let mark = format!("{}{name}", self.indent);
        let is_used = self.declared.contains(&mark);
        self.declared.push(mark);
        is_used
    }

    fn declare_array(&mut self) {
        let (ty, length) = (Ty::random(self.rng), self.rng.between(1, 4));
        let name = format!("la{}", self.fresh());
        let values: Vec<String> = (0..self.rng.between(1, length)).map(|_| self.pure(1).0).collect();
        self.line(format!("{} {name}[{length}] = {{ {} }};", ty.name, values.join(", ")));
        self.arrays.push(Array { name, ty, lengths: vec![length], has_address: self.is_main });
    }

    fn declare_pointer(&mut self) {
        let ty = self.variable().1;
        let reach = self.reach();
        let Some(address) = self.address(Target::Scalar(ty), reach) else { return self.simple() };
        let name = format!("lp{}", self.fresh());
        self.line(format!("{} *{name} = {address};", ty.name));
        self.pointers.push(Pointer { name, of: Target::Scalar(ty), reach });
    }

    fn condition(&mut self) -> String {
        if self.rng.percent(75) { self.pure(2).0 } else { self.effect(2).0 }
    }

    fn if_(&mut self, below: usize) {
        let condition = self.condition();
        self.block(&format!("if ({condition})"), below);
        if self.rng.coin() {
            let condition = self.condition();
            let head = if self.rng.coin() { "else".to_owned() } else { format!("else if ({condition})") };
            self.block(&head, below);
        }
    }

    /// Adds a loop with a new counter.
    fn loop_(&mut self, below: usize) {
        let counter = format!("k{}", self.fresh());
        let ty = [INT, Ty::random(self.rng)][self.rng.below(2)];
        let ty = if ty == super::types::BOOL { INT } else { ty };
        let (rounds, extra) = (self.rng.between(1, 3), self.condition());
        let extra = if self.rng.percent(30) { format!(" && ({extra})") } else { String::new() };
        let outside = self.named.len();
        self.named.push(Named {
            text: counter.clone(),
            root: counter.clone(),
            ty,
            is_counter: true,
            has_address: false,
        });
        self.loops += 1;
        self.breakable += 1;
        match self.rng.below(4) {
            0 => {
                self.line(format!("{} {counter} = 0;", ty.name));
                self.block(&format!("while ({counter}++ < {rounds}{extra})"), below);
            }
            1 => {
                self.line(format!("{} {counter} = {rounds};", ty.name));
                self.block("do", below);
                self.line(format!("while ({counter}-- > 0{extra});"));
            }
            2 => {
                self.line(format!("{} {counter} = 0;", ty.name));
                self.block("for (;;)", below);
                // The last line of the block is its end: what ends the loop comes at its beginning.
                self.end_loop(&counter, rounds);
            }
            _ => {
                let (name, step) = (ty.name, ["++", "--"][self.rng.below(2)]);
                let head = if step == "++" {
                    format!("for ({name} {counter} = 0; {counter} < {rounds}{extra}; {counter}++)")
                } else {
                    format!("for ({name} {counter} = {rounds}; {counter} != 0{extra}; --{counter})")
                };
                self.block(&head, below);
            }
        }
        self.loops -= 1;
        self.breakable -= 1;
        self.named.truncate(outside);
    }

    /// Puts the end of an endless loop at the beginning of the block that was made last.
    fn end_loop(&mut self, counter: &str, rounds: usize) {
        let indent = "    ".repeat(self.indent);
        let head = format!("{indent}for (;;) {{");
        if let Some(at) = self.lines.iter().rposition(|line| *line == head) {
            self.lines.insert(at + 1, format!("{indent}    if ({counter}++ >= {rounds}) break;"));
        }
    }

    fn switch(&mut self, below: usize) {
        let value = self.condition();
        let value = if self.rng.percent(80) { format!("({value}) & 7") } else { value };
        self.line(format!("switch ({value}) {{"));
        self.breakable += 1;
        let (mut next, default) = (0, self.rng.below(6));
        for number in 0..self.rng.between(1, 4) {
            let last = next + if self.rng.percent(15) { 1 } else { 0 };
            let label = if last > next { format!("case {next} ... {last}:") } else { format!("case {next}:") };
            next = last + self.rng.between(1, 2);
            self.line(label);
            if number == default {
                self.line("default:");
            }
            self.block("", below);
            if self.rng.percent(60) {
                self.line("break;");
            }
        }
        self.breakable -= 1;
        self.line("}");
    }

    /// Adds a loop whose cases lie inside of it.
    fn duff(&mut self) {
        let (counter, value, rounds) = (format!("k{}", self.fresh()), self.condition(), self.rng.between(0, 2));
        self.line(format!("int {counter} = 0;"));
        self.line(format!("switch (({value}) & 3) {{"));
        self.line("case 0: do {");
        self.indent += 1;
        self.simple();
        self.line("case 1: ;");
        self.simple();
        self.line("case 2: ;");
        self.simple();
        self.indent -= 1;
        self.line(format!("}} while ({counter}++ < {rounds});"));
        self.line("}");
    }

    fn jump_forward(&mut self, below: usize) {
        let (label, condition) = (format!("L{}", self.fresh()), self.condition());
        self.line(format!("if ({condition}) goto {label};"));
        self.block("", below);
        self.line(format!("{label}: ;"));
    }

    fn jump_back(&mut self, below: usize) {
        let (label, condition) = (format!("L{}", self.fresh()), self.condition());
        self.line(format!("{label}: ;"));
        self.block("", below);
        self.line(format!("if ($fuel > 0 && ($fuel--, {condition})) goto {label};"));
    }

    /// Jumps into a block, in which nothing is declared.
    fn jump_inside(&mut self) {
        let (label, one, two) = (format!("L{}", self.fresh()), self.condition(), self.condition());
        self.line(format!("if ({one}) goto {label};"));
        self.line(format!("if ({two}) {{"));
        self.indent += 1;
        self.simple();
        self.line(format!("{label}: ;"));
        self.simple();
        self.indent -= 1;
        self.line("}");
    }

    /// Leaves a loop, a switch or the function, on a condition.
    fn leave(&mut self) {
        let condition = self.condition();
        let word = match self.rng.below(3) {
            0 if self.loops > 0 => "continue;".to_owned(),
            1 if self.breakable > 0 => "break;".to_owned(),
            _ => match self.result {
                Some(_) => format!("return {};", self.pure(2).0),
                None => "return;".to_owned(),
            },
        };
        self.line(format!("if ({condition}) {word}"));
    }

    /// Walks over an array by a pointer.
    fn walk(&mut self) {
        let arrays: Vec<Array> = self.arrays.iter().filter(|array| array.lengths.len() == 1).cloned().collect();
        let Some(array) = self.rng.pick(&arrays).cloned().filter(|array| self.can_point_to(array)) else {
            return self.simple();
        };
        let (name, length, pointer) = (&array.name, array.lengths[0], format!("q{}", self.fresh()));
        let end = if self.rng.coin() { format!("{name} + {length}") } else { format!("&{name}[{length}]") };
        let test = ["<", "!="][self.rng.below(2)];
        let step = [format!("{pointer}++"), format!("{pointer} += 1"), format!("{pointer} = 1 + {pointer}")];
        let step = &step[self.rng.below(3)];
        self.line(format!("for ({} *{pointer} = {name}; {pointer} {test} {end}; {step}) {{", array.ty.name));
        self.indent += 1;
        // The pointer only reads and writes here: nothing lets it point elsewhere.
        let (value, _) = self.pure(2);
        let effect = match self.rng.below(4) {
            0 => format!("*{pointer} ^= {value};"),
            1 => format!("*{pointer} = {value};"),
            2 => format!("$chain = $chain * 3 + (unsigned)*{pointer};"),
            _ => format!("{pointer}[0] |= ({value} & 1);"),
        };
        self.line(effect);
        self.indent -= 1;
        self.line("}");
    }
}
