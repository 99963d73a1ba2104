//! What a generated program has declared so far, and names of places in it.

use super::types::Ty;
use crate::rng::Rng;

/// A place with a name: a variable, a member or a union's.
#[derive(Clone, Debug)]
pub(super) struct Named {
    /// The expression.
    pub(super) text: String,
    /// The name that it begins with, which an inner declaration may hide.
    pub(super) root: String,
    pub(super) ty: Ty,
    /// Set for counters of loops, which nothing else changes.
    pub(super) is_counter: bool,
    /// Set if its address can be taken.
    pub(super) has_address: bool,
}

/// A pointer variable. It points to objects that live as long as itself: those that were declared before it.
#[derive(Clone, Debug)]
pub(super) struct Pointer {
    pub(super) name: String,
    pub(super) of: Target,
    pub(super) reach: Reach,
}

/// How many scalars, arrays and pointers, of those that are in scope, may be pointed to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reach {
    named: usize,
    arrays: usize,
    pointers: usize,
}

/// What a pointer points to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Target {
    Scalar(Ty),
    /// A pointer to a scalar.
    Pointer(Ty),
    /// The struct with a number.
    Struct(usize),
}

#[derive(Clone, Debug)]
pub(super) struct Array {
    pub(super) name: String,
    pub(super) ty: Ty,
    /// The lengths of its dimensions.
    pub(super) lengths: Vec<usize>,
    pub(super) has_address: bool,
}

/// A struct: its scalar parts, as they are written behind an object of it.
#[derive(Clone, Debug, Default)]
pub(super) struct Struct {
    pub(super) parts: Vec<(String, Ty)>,
    /// The parts whose addresses can be taken.
    pub(super) with_address: Vec<(String, Ty)>,
}

#[derive(Clone, Debug)]
pub(super) struct Function {
    pub(super) name: String,
    pub(super) params: Vec<Param>,
    pub(super) result: Option<Ty>,
    /// Set if the first parameter bounds the depth of its recursion.
    pub(super) recurses: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Param {
    Scalar(Ty),
    Pointer(Ty),
}

impl Param {
    /// Returns its type, or what it points to.
    pub(super) fn ty(self) -> Ty {
        match self {
            Param::Scalar(ty) | Param::Pointer(ty) => ty,
        }
    }
}

/// Constructs that the lowering refuses, or refused when this was written: few programs have one of them.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Rare {
    pub(super) bit_fields: bool,
    pub(super) struct_values: bool,
    pub(super) differences: bool,
    pub(super) wide_shifts: bool,
    pub(super) elvis: bool,
}

/// A program while it is made.
pub(super) struct Maker<'r> {
    pub(super) rng: &'r mut Rng,
    pub(super) rare: Rare,
    pub(super) lines: Vec<String>,
    pub(super) indent: usize,
    /// The scalars that are in scope, inner ones last.
    pub(super) named: Vec<Named>,
    pub(super) pointers: Vec<Pointer>,
    pub(super) arrays: Vec<Array>,
    pub(super) structs: Vec<Struct>,
    /// Objects of structs: their names and the numbers of their structs.
    pub(super) records: Vec<(String, usize)>,
    /// The functions that may be called here.
    pub(super) functions: Vec<Function>,
    /// Names of pointers to functions and of arrays of them, and the type of the functions.
    pub(super) function_pointers: Vec<String>,
    pub(super) pointed: Option<Function>,
    /// The function whose body is made, if it calls itself.
    pub(super) current: Option<Function>,
    /// The type of its result.
    pub(super) result: Option<Ty>,
    /// The names that it has declared, with the depths of their blocks.
    pub(super) declared: Vec<String>,
    pub(super) is_main: bool,
    /// The number of loops, and of loops and switches, around the statement.
    pub(super) loops: usize,
    pub(super) breakable: usize,
    pub(super) n_observed: usize,
    pub(super) next: usize,
}

impl Maker<'_> {
    pub(super) fn line(&mut self, text: impl AsRef<str>) {
        let indent = "    ".repeat(self.indent);
        self.lines.push(format!("{indent}{}", text.as_ref()));
    }

    /// Returns a number that was not used before.
    pub(super) fn fresh(&mut self) -> usize {
        self.next += 1;
        self.next
    }

    /// Returns whether an inner declaration hides a name that was declared earlier.
    fn is_hidden(&self, place: usize) -> bool {
        self.named[place + 1..].iter().any(|later| later.text == self.named[place].root)
    }

    pub(super) fn visible(&self, wanted: impl Fn(&Named) -> bool) -> Vec<Named> {
        let all = self.named.iter().enumerate();
        all.filter(|(number, named)| wanted(named) && !self.is_hidden(*number))
            .map(|(_, named)| named.clone())
            .collect()
    }

    /// Returns whether a global name is hidden by a local one.
    fn is_covered(&self, name: &str) -> bool {
        self.named.iter().any(|named| named.text == name)
    }

    /// Returns a scalar place that may be assigned to.
    pub(super) fn place(&mut self) -> (String, Ty) {
        match self.rng.below(10) {
            0 | 1 if !self.arrays.is_empty() => self.element(),
            2 if !self.pointers.is_empty() => self.target(),
            3 if !self.records.is_empty() => self.part(),
            _ => self.variable(),
        }
    }

    /// Returns a place with a name.
    pub(super) fn variable(&mut self) -> (String, Ty) {
        let found = self.visible(|named| !named.is_counter);
        let named = &found[self.rng.below(found.len())];
        (named.text.clone(), named.ty)
    }

    /// Returns whether the address of an element of an array can be taken here.
    pub(super) fn can_point_to(&self, array: &Array) -> bool {
        array.has_address && !self.is_covered(&array.name)
    }

    /// Returns a scalar place that may be read.
    pub(super) fn readable(&mut self) -> (String, Ty) {
        let counters = self.visible(|named| named.is_counter);
        match self.rng.pick(&counters) {
            Some(counter) if self.rng.percent(15) => (counter.text.clone(), counter.ty),
            _ => self.place(),
        }
    }

    fn element(&mut self) -> (String, Ty) {
        let array = self.arrays[self.rng.below(self.arrays.len())].clone();
        if self.is_covered(&array.name) {
            return ("$g0".to_owned(), super::types::INT);
        }
        (self.element_of(&array), array.ty)
    }

    fn element_of(&mut self, array: &Array) -> String {
        let indices: String = array.lengths.iter().map(|length| format!("[{}]", self.index(*length))).collect();
        format!("{}{indices}", array.name)
    }

    /// Returns an index within a length.
    pub(super) fn index(&mut self, length: usize) -> String {
        if self.rng.percent(50) {
            return self.rng.below(length).to_string();
        }
        let found = self.visible(|_| true);
        let by = &found[self.rng.below(found.len())].text;
        match length.is_power_of_two() && self.rng.coin() {
            true => format!("{by} & {}", length - 1),
            false => format!("(unsigned){by} % {length}"),
        }
    }

    /// Returns what a pointer points to.
    fn target(&mut self) -> (String, Ty) {
        let pointer = self.pointers[self.rng.below(self.pointers.len())].clone();
        let name = &pointer.name;
        match pointer.of {
            Target::Scalar(ty) if self.rng.percent(20) => (format!("{name}[0]"), ty),
            Target::Scalar(ty) => (format!("(*{name})"), ty),
            Target::Pointer(ty) => (format!("(**{name})"), ty),
            Target::Struct(number) => {
                let parts = self.structs[number].parts.clone();
                let (part, ty) = parts[self.rng.below(parts.len())].clone();
                (if self.rng.coin() { format!("{name}->{part}") } else { format!("(*{name}).{part}") }, ty)
            }
        }
    }

    /// Returns a part of an object that is a struct.
    fn part(&mut self) -> (String, Ty) {
        let (record, number) = self.records[self.rng.below(self.records.len())].clone();
        let parts = self.structs[number].parts.clone();
        let (part, ty) = parts[self.rng.below(parts.len())].clone();
        (format!("{record}.{part}"), ty)
    }

    /// Returns what a pointer that is declared here may point to.
    pub(super) fn reach(&self) -> Reach {
        Reach { named: self.named.len(), arrays: self.arrays.len(), pointers: self.pointers.len() }
    }

    /// Returns the address of an object of a type, among those in reach; `None` if there is none.
    pub(super) fn address(&mut self, of: Target, reach: Reach) -> Option<String> {
        let mut found: Vec<String> = Vec::new();
        match of {
            Target::Scalar(ty) => {
                let named =
                    (0..reach.named).filter(|number| !self.is_hidden(*number)).map(|number| &self.named[number]);
                let named = named.filter(|named| named.ty == ty && named.has_address);
                found.extend(named.map(|named| format!("&{}", named.text)));
                for array in self.arrays[..reach.arrays].to_vec().iter().filter(|array| array.ty == ty) {
                    if self.can_point_to(array) {
                        found.push(format!("&{}", self.element_of(array)));
                    }
                }
                for (record, number) in self.records.iter().filter(|(record, _)| record.starts_with('$')) {
                    let parts = self.structs[*number].with_address.iter().filter(|(_, other)| *other == ty);
                    found.extend(parts.map(|(part, _)| format!("&{record}.{part}")));
                }
                let others = self.pointers[..reach.pointers].iter().filter(|pointer| pointer.of == of);
                found.extend(others.map(|pointer| pointer.name.clone()));
            }
            Target::Pointer(ty) => {
                let pointers = self.pointers.iter().filter(|pointer| pointer.of == Target::Scalar(ty));
                found.extend(
                    pointers.filter(|found| found.name.starts_with('$')).map(|found| format!("&{}", found.name)),
                );
            }
            Target::Struct(number) => {
                let records = self.records.iter().filter(|(name, other)| *other == number && name.starts_with('$'));
                found.extend(records.map(|(record, _)| format!("&{record}")));
            }
        }
        self.rng.pick(&found).cloned()
    }
}
