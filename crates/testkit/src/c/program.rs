//! Generated sequential programs: declarations, functions and `main`.
//!
//! In the text `$` stands for a prefix of all names that the program declares outside of functions, so that many
//! programs fit into one file. A program has one run: nothing is read before it is set, pointers point to objects
//! that live, indices lie inside of arrays, and no value depends on an order that C leaves open. Signed numbers wrap
//! around, as the compiler is told. What is left of undefined behaviour the sanitizer of the compiler finds.

use super::maker::{Array, Function, Maker, Named, Param, Pointer, Rare, Struct, Target};
use super::types::{INT, Ty, UNSIGNED};
use crate::rng::Rng;

/// A generated program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Generated {
    /// Its text, with `$` for the prefix.
    pub(super) text: String,
    /// The names of the numbers that are compared in the end. The last one counts calls and rounds of loops.
    pub(super) observed: Vec<String>,
    /// Set if it has constructs that may be refused.
    pub(super) is_rare: bool,
}

/// Returns a random program.
pub(super) fn program(rng: &mut Rng) -> Generated {
    let rare = rare(rng);
    let mut maker = Maker::new(rng, rare);
    maker.declarations();
    maker.function_table();
    for number in 0..maker.rng.between(1, 3) {
        maker.function(&format!("$f{number}"), None);
    }
    maker.main();
    maker.finish()
}

/// Lets few programs have constructs that may be refused.
fn rare(rng: &mut Rng) -> Rare {
    let mut rare = Rare::default();
    match rng.below(40) {
        0 => rare.bit_fields = true,
        1 => rare.struct_values = true,
        2 => rare.differences = true,
        3 => rare.wide_shifts = true,
        4 => rare.elvis = true,
        _ => {}
    }
    rare
}

impl<'r> Maker<'r> {
    fn new(rng: &'r mut Rng, rare: Rare) -> Maker<'r> {
        Maker {
            rng,
            rare,
            lines: Vec::new(),
            indent: 0,
            named: Vec::new(),
            pointers: Vec::new(),
            arrays: Vec::new(),
            structs: Vec::new(),
            records: Vec::new(),
            functions: Vec::new(),
            function_pointers: Vec::new(),
            pointed: None,
            current: None,
            result: None,
            declared: Vec::new(),
            is_main: false,
            loops: 0,
            breakable: 0,
            n_observed: 0,
            next: 0,
        }
    }

    fn declarations(&mut self) {
        self.line("enum $E { $E0, $E1 = 5, $E2 };");
        self.line("enum $F { $F0 = -3, $F1, $F2 = 100 };");
        self.line("typedef unsigned short $word;");
        self.line("int $fuel = 6; unsigned $chain, $work; unsigned long long $effect; int $done;");
        for number in 0..self.rng.between(3, 6) {
            let ty = if number == 0 { INT } else { Ty::random(self.rng) };
            let value = if self.rng.percent(70) { format!(" = {}", ty.constant(self.rng)) } else { String::new() };
            let qualifier = ["", "", "volatile ", "static "][self.rng.below(4)];
            self.line(format!("{qualifier}{} $g{number}{value};", ty.name));
            self.add_named(format!("$g{number}"), ty, qualifier != "volatile ");
        }
        for number in 0..self.rng.between(1, 2) {
            self.array(number);
        }
        for number in 0..self.rng.between(0, 2) {
            self.record(number);
        }
        if self.rng.percent(40) {
            self.line("union $U { int i; unsigned u; enum $F f; } $u = { 7 };");
            for (member, ty) in [("i", INT), ("u", UNSIGNED)] {
                let (text, root) = (format!("$u.{member}"), "$u".to_owned());
                self.named.push(Named { text, root, ty, is_counter: false, has_address: false });
            }
        }
        self.global_pointers();
    }

    fn array(&mut self, number: usize) {
        let (ty, name) = (Ty::random(self.rng), format!("$a{number}"));
        let n_dimensions = if self.rng.percent(75) { 1 } else { 2 };
        let lengths: Vec<usize> = (0..n_dimensions).map(|_| self.rng.between(1, 4)).collect();
        let last = lengths.last().map_or(1, |length| length - 1);
        let init = match self.rng.below(4) {
            0 => String::new(),
            1 if n_dimensions == 1 => format!(" = {{ [{last}] = {} }}", self.rng.below(9)),
            2 if n_dimensions == 2 => format!(" = {{ {{ {} }} }}", self.rng.below(9)),
            _ => format!(" = {{ {} }}", self.rng.below(9)),
        };
        let sizes: String = lengths.iter().map(|length| format!("[{length}]")).collect();
        self.line(format!("{} {name}{sizes}{init};", ty.name));
        self.arrays.push(Array { name, ty, lengths, has_address: true });
    }

    /// Declares a struct and objects of it; later ones may contain earlier ones.
    fn record(&mut self, number: usize) {
        let mut record = Struct::default();
        let mut members = Vec::new();
        for field in 0..self.rng.between(1, 3) {
            let ty = Ty::random(self.rng);
            if self.rare.bit_fields && self.rng.coin() {
                let width = self.rng.between(1, ty.bits as usize);
                members.push(format!("{} f{field} : {width};", ty.name));
                record.parts.push((format!("f{field}"), ty));
            } else if self.rng.percent(25) {
                members.push(format!("{} f{field}[2];", ty.name));
                record.with_address.extend((0..2).map(|at| (format!("f{field}[{at}]"), ty)));
            } else {
                members.push(format!("{} f{field};", ty.name));
                record.with_address.push((format!("f{field}"), ty));
            }
        }
        if number > 0 {
            members.push("struct $S0 inner;".to_owned());
            let inner = |parts: &[(String, Ty)]| -> Vec<(String, Ty)> {
                parts.iter().map(|(part, ty)| (format!("inner.{part}"), *ty)).collect()
            };
            record.parts.extend(inner(&self.structs[0].parts));
            record.with_address.extend(inner(&self.structs[0].with_address));
        }
        for part in &record.with_address {
            if !record.parts.contains(part) {
                record.parts.push(part.clone());
            }
        }
        self.line(format!("struct $S{number} {{ {} }};", members.join(" ")));
        self.structs.push(record);
        for object in 0..self.rng.between(1, 2) {
            let name = format!("$s{number}{object}");
            let init = if self.rng.coin() { format!(" = {{ {} }}", self.rng.below(9)) } else { String::new() };
            self.line(format!("struct $S{number} {name}{init};"));
            self.records.push((name, number));
        }
    }

    fn global_pointers(&mut self) {
        for number in 0..self.rng.between(0, 2) {
            let (_, ty) = self.variable();
            let Some(named) = self.named.iter().find(|named| named.ty == ty && named.has_address) else { continue };
            let line = format!("{} *$p{number} = &{};", ty.name, named.text);
            self.line(line);
            self.pointers.push(Pointer { name: format!("$p{number}"), of: Target::Scalar(ty), reach: self.reach() });
        }
        if let Some(Target::Scalar(ty)) = self.pointers.first().map(|pointer| pointer.of) {
            let first = self.pointers[0].name.clone();
            self.line(format!("{} **$pp = &{first};", ty.name));
            self.pointers.push(Pointer { name: "$pp".to_owned(), of: Target::Pointer(ty), reach: self.reach() });
        }
        if let Some((name, number)) = self.records.first().cloned() {
            self.line(format!("struct $S{number} *$ps = &{name};"));
            self.pointers.push(Pointer { name: "$ps".to_owned(), of: Target::Struct(number), reach: self.reach() });
        }
    }

    /// Adds functions of one type, a pointer to them and an array of pointers.
    fn function_table(&mut self) {
        if self.rng.percent(50) {
            return;
        }
        let params = (0..self.rng.between(1, 2)).map(|_| Param::Scalar(Ty::random(self.rng))).collect();
        let (name, result) = (String::new(), Some(Ty::random(self.rng)));
        let shape = Function { name, params, result, recurses: false };
        for number in 0..2 {
            self.function(&format!("$h{number}"), Some(&shape));
        }
        let types: Vec<&str> = shape.params.iter().map(|param| param.ty().name).collect();
        let (result, types) = (shape.result.map_or("void", |ty| ty.name), types.join(", "));
        self.line(format!("{result} (*$fp)({types}) = $h0;"));
        self.line(format!("{result} (*$ft[2])({types}) = {{ $h0, &$h1 }};"));
        self.function_pointers = vec!["$fp".to_owned(), "$ft[0]".to_owned(), "$ft[$fuel & 1]".to_owned()];
        self.pointed = Some(shape);
    }

    /// Adds a function, of a given shape or of any.
    fn function(&mut self, name: &str, shape: Option<&Function>) {
        let mut function = shape.cloned().unwrap_or_else(|| self.shape());
        function.name = name.to_owned();
        let (n_named, n_pointers, n_arrays) = (self.named.len(), self.pointers.len(), self.arrays.len());
        let mut params = Vec::new();
        for (number, param) in function.params.iter().enumerate() {
            params.push(self.param(*param, if function.recurses && number == 0 { None } else { Some(number) }));
        }
        let params = if params.is_empty() { "void".to_owned() } else { params.join(", ") };
        let result = function.result.map_or("void", |ty| ty.name);
        self.line(format!("{result} {name}({params}) {{"));
        self.indent = 1;
        self.result = function.result;
        self.declared.clear();
        self.line("$work++;");
        if function.recurses {
            let value = function.result.map_or(String::new(), |_| self.pure(1).0);
            self.line(format!("if (depth <= 0) return {value};"));
            self.current = Some(function.clone());
        }
        let count = self.rng.between(1, 4);
        self.stmts(count, 2);
        if function.result.is_some() {
            let (value, _) = if self.rng.coin() { self.pure(2) } else { self.effect(2) };
            self.line(format!("return {value};"));
        }
        self.indent = 0;
        self.line("}");
        self.named.truncate(n_named);
        self.pointers.truncate(n_pointers);
        self.arrays.truncate(n_arrays);
        self.current = None;
        self.functions.push(function);
    }

    fn shape(&mut self) -> Function {
        let recurses = self.rng.percent(30);
        let mut params = if recurses { vec![Param::Scalar(INT)] } else { Vec::new() };
        for _ in 0..self.rng.between(0, 2) {
            let (_, ty) = self.variable();
            let can_point = self.address(Target::Scalar(ty), self.reach()).is_some() && self.rng.percent(30);
            params.push(if can_point { Param::Pointer(ty) } else { Param::Scalar(Ty::random(self.rng)) });
        }
        let result = if self.rng.percent(85) { Some(Ty::random(self.rng)) } else { None };
        Function { name: String::new(), params, result, recurses }
    }

    /// Declares a parameter; the one that bounds recursion has no number.
    fn param(&mut self, param: Param, number: Option<usize>) -> String {
        let Some(number) = number else {
            let text = "depth".to_owned();
            self.named.push(Named { root: text.clone(), text, ty: INT, is_counter: true, has_address: false });
            return "int depth".to_owned();
        };
        match param {
            Param::Scalar(ty) => {
                self.add_named(format!("x{number}"), ty, false);
                format!("{} x{number}", ty.name)
            }
            Param::Pointer(ty) => {
                let (name, of) = (format!("x{number}"), Target::Scalar(ty));
                self.pointers.push(Pointer { name, of, reach: self.reach() });
                format!("{} *x{number}", ty.name)
            }
        }
    }

    fn main(&mut self) {
        self.line("int $main(void) {");
        self.indent = 1;
        (self.is_main, self.result) = (true, Some(INT));
        self.declared.clear();
        let globals = (self.named.clone(), self.arrays.clone(), self.records.clone());
        let count = self.rng.between(4, 10);
        self.line("{");
        self.stmts(count, 3);
        self.line("}");
        (self.named, self.arrays, self.records) = globals;
        self.observe_objects();
        self.line("$done = 1;");
        self.line("return 0;");
        self.indent = 0;
        self.line("}");
    }

    /// Adds all global objects to what is compared.
    fn observe_objects(&mut self) {
        let mut places: Vec<String> = self.named.iter().map(|named| named.text.clone()).collect();
        for array in self.arrays.clone() {
            let mut elements = vec![array.name];
            for length in array.lengths {
                elements =
                    elements.iter().flat_map(|name| (0..length).map(move |at| format!("{name}[{at}]"))).collect();
            }
            places.extend(elements);
        }
        for (record, number) in self.records.clone() {
            places.extend(self.structs[number].parts.iter().map(|(part, _)| format!("{record}.{part}")));
        }
        places.iter().for_each(|place| self.observe_value(place));
        self.observe_value("$chain");
    }

    fn finish(self) -> Generated {
        let Rare { bit_fields, struct_values, differences, wide_shifts, elvis } = self.rare;
        let is_rare = bit_fields || struct_values || differences || wide_shifts || elvis;
        let observed: Vec<String> = (0..self.n_observed).map(|number| format!("$o{number}")).collect();
        let mut lines = vec![format!("unsigned long long {};", observed.join(", "))];
        lines.extend(self.lines);
        let observed = observed.into_iter().chain(["$done".to_owned(), "$work".to_owned()]).collect();
        Generated { text: lines.join("\n") + "\n", observed, is_rare }
    }
}
