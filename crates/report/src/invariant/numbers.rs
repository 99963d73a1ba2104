//! A function of the bits of numbers as a formula about the numbers.
//!
//! The order of work: other variables whose value is known; equations between two numbers, one of which is then
//! replaced by the other; for each number the values that it may have; what remains becomes a list of cases, by the
//! values of the numbers that have few. The result is equivalent to the function, unless it ends in [`MORE`]: every
//! part is implied by it, and what is removed follows from the parts written. Ends, since each case fixes a number.

use std::cell::Cell;

use selvedge_ir::bits::Rest;
use selvedge_ir::{MachineTy, Value};
use selvedge_logic::bdd::{Bdd, Manager, OutOfNodes, Var};

use super::words;

/// Stands for a part that is too long to be written.
pub(super) const MORE: &str = "..";

/// The most values of a number that are listed, or are cases.
const MAX_VALUES: usize = 64;

/// The most groups of consecutive values that are written.
const MAX_RUNS: usize = 8;

/// The most cases that are looked at for a formula.
pub(super) const MAX_LOOKS: usize = 2000;

/// The longest text of cases.
const MAX_CASES: usize = 1500;

/// A number, which some bits stand for.
pub(super) struct Number<'a> {
    pub name: String,
    /// The bits that are there, the lowest first.
    pub bits: Vec<Var>,
    /// The bits above them, and the type.
    pub rest: Rest,
    pub ty: MachineTy,
    /// The words for some of its values.
    pub word: Box<dyn Fn(Value) -> Option<String> + 'a>,
}

impl Number<'_> {
    /// Returns the value for which the bits stand.
    fn value(&self, raw: u64) -> Value {
        let high = u64::MAX.checked_shl(self.bits.len() as u32).unwrap_or(0);
        let is_negative = self.bits.len().checked_sub(1).is_some_and(|top| raw >> top & 1 == 1);
        let above = match self.rest {
            Rest::Constant(bits) => bits & high,
            Rest::Sign if is_negative => high,
            Rest::Sign => 0,
        };
        Value::Machine(self.ty, (raw | above) & u64::MAX >> (64 - u32::from(self.ty.bits)))
    }

    /// Returns the values in a set of bits, in ascending order; `None` if they are too many.
    fn values(&self, set: &Bdd) -> Option<Vec<Value>> {
        set.count(&self.bits).filter(|count| *count <= MAX_VALUES as u128)?;
        let raw = |bits: Vec<bool>| bits.iter().rev().fold(0, |raw, bit| raw << 1 | u64::from(*bit));
        let mut values: Vec<Value> = set.assignments(&self.bits).map(|bits| self.value(raw(bits))).collect();
        values.sort_by_key(|value| value.number());
        Some(values)
    }

    /// Returns what a set of bits says about the number; `None` if that is too long.
    fn says(&self, manager: &Manager, set: &Bdd) -> Result<Option<String>, OutOfNodes> {
        if let Some(values) = self.values(set) {
            return Ok(self.one_of(&values));
        }
        if let Some(others) = self.values(&set.not()?).filter(|others| others.len() <= MAX_RUNS) {
            let parts: Vec<String> = others.iter().map(|one| format!("{} != {}", self.name, self.text(*one))).collect();
            return Ok(Some(parts.join(" & ")));
        }
        let [least, most] = [self.end(manager, set, false)?, self.end(manager, set, true)?].map(Value::number);
        let is_interval = set.count(&self.bits) == Some((most - least) as u128 + 1);
        Ok(is_interval.then(|| format!("{least} <= {} <= {most}", self.name)))
    }

    /// Returns the least or the greatest value in a set of bits that is not empty, if the set is an interval.
    fn end(&self, manager: &Manager, set: &Bdd, is_most: bool) -> Result<Value, OutOfNodes> {
        let has_sign = self.rest == Rest::Sign || self.ty.signed && self.bits.len() == usize::from(self.ty.bits);
        let mut rest = set.clone();
        let mut raw = 0;
        for (place, var) in self.bits.iter().enumerate().rev() {
            let wanted = is_most != (has_sign && place + 1 == self.bits.len());
            let is_possible = !rest.is_disjoint(&manager.literal(*var, wanted)?);
            let is_set = if is_possible { wanted } else { !wanted };
            rest = rest.and(&manager.literal(*var, is_set)?)?;
            raw |= u64::from(is_set) << place;
        }
        Ok(self.value(raw))
    }

    fn text(&self, value: Value) -> String {
        (self.word)(value).unwrap_or_else(|| value.number().to_string())
    }

    /// Writes that the number is one of some values in ascending order: `n = 1`, `0 <= n <= 3`, `n in {0, 4..7}`.
    fn one_of(&self, values: &[Value]) -> Option<String> {
        let has_words = values.iter().any(|value| (self.word)(*value).is_some());
        let follows = |one: &Value, next: &Value| !has_words && one.number() + 1 == next.number();
        let runs: Vec<&[Value]> = values.chunk_by(follows).collect();
        let name = &self.name;
        match runs.as_slice() {
            [[one]] => Some(format!("{name} = {}", self.text(*one))),
            [[first, .., last]] => Some(format!("{} <= {name} <= {}", first.number(), last.number())),
            runs if runs.len() <= MAX_RUNS => {
                let run = |run: &&[Value]| match run {
                    [first, _, .., last] => format!("{}..{}", self.text(*first), self.text(*last)),
                    run => run.iter().map(|one| self.text(*one)).collect::<Vec<_>>().join(", "),
                };
                Some(format!("{name} in {{{}}}", runs.iter().map(run).collect::<Vec<_>>().join(", ")))
            }
            _ => None,
        }
    }
}

/// Writes functions of numbers and other variables.
pub(super) struct Writer<'a> {
    pub manager: &'a Manager,
    pub numbers: &'a [Number<'a>],
    pub name: &'a dyn Fn(Var) -> String,
    /// The number of cases that may still be looked at.
    pub left: Cell<usize>,
}

impl<'a> Writer<'a> {
    /// Returns the formula; `None` if it would be too long.
    pub(super) fn words(&self, f: &Bdd) -> Result<Option<String>, OutOfNodes> {
        if let Some(value) = f.as_constant() {
            return Ok(Some(value.to_string()));
        }
        let mut f = f.clone();
        let mut parts = self.take_literals(&mut f)?;
        parts.extend(self.take_equations(&mut f)?);
        let mut ranges = Vec::new();
        let mut known = self.manager.top();
        for number in self.live(&f) {
            let set = self.only(&f, number)?;
            if let Some(text) = if set.is_true() { None } else { number.says(self.manager, &set)? } {
                known = known.and(&set)?;
                ranges.push((number, set, text));
            }
        }
        // Numbers on which the cases depend are left to the cases.
        let rest = self.live(&f.restrict(&known)?);
        let in_cases = |number: &Number<'_>| rest.iter().any(|other| other.name == number.name);
        let mut given = self.manager.top();
        for (_, set, _) in ranges.iter().filter(|(number, ..)| !in_cases(number)) {
            given = given.and(set)?;
        }
        match self.cases(&f, &given)? {
            Some(text) => {
                parts.extend(ranges.into_iter().filter(|(number, ..)| !in_cases(number)).map(|(.., text)| text));
                let text = if parts.is_empty() { text } else { grouped(text) };
                parts.extend((text != "true").then_some(text));
            }
            None => {
                parts.extend(ranges.into_iter().map(|(.., text)| text));
                if parts.is_empty() {
                    return Ok(None);
                }
                parts.push(MORE.to_owned());
            }
        }
        Ok(Some(if parts.is_empty() { "true".to_owned() } else { parts.join(" & ") }))
    }

    /// Lists the numbers that a function depends on.
    fn live(&self, f: &Bdd) -> Vec<&'a Number<'a>> {
        let support = f.support();
        self.numbers.iter().filter(|number| number.bits.iter().any(|bit| support.contains(bit))).collect()
    }

    /// Returns the values of a number for which some values of all other variables satisfy a function.
    fn only(&self, f: &Bdd, number: &Number<'_>) -> Result<Bdd, OutOfNodes> {
        let mut others = f.support();
        others.retain(|var| !number.bits.contains(var));
        f.exists(&self.manager.var_set(&others)?)
    }

    /// Removes other variables whose value the function implies from it, and returns them as literals.
    fn take_literals(&self, f: &mut Bdd) -> Result<Vec<String>, OutOfNodes> {
        let is_bit = |var: &Var| self.numbers.iter().any(|number| number.bits.contains(var));
        let mut taken = Vec::new();
        for var in f.support().into_iter().filter(|var| !is_bit(var)) {
            for (sign, not) in [(true, ""), (false, "!")] {
                if f.is_subset(&self.manager.literal(var, sign)?) {
                    taken.push(format!("{not}{}", (self.name)(var)));
                    *f = f.exists(&self.manager.var_set(&[var])?)?;
                }
            }
        }
        Ok(taken)
    }

    /// Removes equations between two numbers that the function implies from it, and returns them.
    fn take_equations(&self, f: &mut Bdd) -> Result<Vec<String>, OutOfNodes> {
        let live = self.live(f);
        let mut taken = Vec::new();
        for (place, left) in live.iter().enumerate() {
            for right in &live[place + 1..] {
                let support = f.support();
                let is_there = |number: &Number<'_>| number.bits.iter().any(|bit| support.contains(bit));
                let is_alike = (left.bits.len(), left.rest, left.ty) == (right.bits.len(), right.rest, right.ty);
                if is_alike && left.bits.len() > 1 && is_there(left) && is_there(right) && self.equal(f, left, right)? {
                    taken.push(format!("{} = {}", left.name, right.name));
                    *f = f.exists(&self.manager.var_set(&right.bits)?)?;
                }
            }
        }
        Ok(taken)
    }

    fn equal(&self, f: &Bdd, left: &Number<'_>, right: &Number<'_>) -> Result<bool, OutOfNodes> {
        for (one, other) in left.bits.iter().zip(&right.bits) {
            if !f.is_subset(&self.manager.equal(&[(*one, *other)])?) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Writes what a function says where another holds: by the values of a number, if it depends on some.
    fn cases(&self, f: &Bdd, known: &Bdd) -> Result<Option<String>, OutOfNodes> {
        let rest = f.restrict(known)?;
        let live = self.live(&rest);
        if live.is_empty() {
            return words::words(self.manager, &rest, self.name);
        }
        let mut fewest: Option<(&Number<'_>, Vec<Value>, Bdd)> = None;
        for number in live {
            let set = self.only(f, number)?;
            if let Some(values) = number.values(&set)
                && fewest.as_ref().is_none_or(|(_, least, _)| values.len() < least.len())
            {
                fewest = Some((number, values, set));
            }
        }
        let Some((number, _, set)) = fewest else { return Ok(None) };
        let bits = self.manager.var_set(&number.bits)?;
        let mut cases: Vec<(Vec<Value>, String)> = Vec::new();
        for assignment in set.assignments(&number.bits) {
            let raw = assignment.iter().rev().fold(0, |raw, bit| raw << 1 | u64::from(*bit));
            let Some(left) = self.left.get().checked_sub(1) else { return Ok(None) };
            self.left.set(left);
            let literals: Vec<(Var, bool)> = number.bits.iter().copied().zip(assignment).collect();
            let cube = self.manager.cube(&literals)?;
            let Some(text) = self.cases(&f.and_exists(&cube, &bits)?, &known.and_exists(&cube, &bits)?)? else {
                return Ok(None);
            };
            match cases.iter_mut().find(|(_, known)| *known == text) {
                Some((values, _)) => values.push(number.value(raw)),
                None => cases.push((vec![number.value(raw)], text)),
            }
            if cases.iter().map(|(_, text)| text.len()).sum::<usize>() > MAX_CASES {
                return Ok(None);
            }
        }
        let mut texts = Vec::new();
        for (mut values, text) in cases {
            values.sort_by_key(|value| value.number());
            let Some(here) = number.one_of(&values) else { return Ok(None) };
            texts.push(if text == "true" { here } else { format!("{here} & {}", grouped(text)) });
        }
        texts.sort_by_key(|text| text.len());
        Ok(Some(texts.join(" | ")))
    }
}

/// Puts a sum in parentheses.
fn grouped(text: String) -> String {
    if text.contains(" | ") { format!("({text})") } else { text }
}

#[cfg(test)]
mod tests {
    use selvedge_logic::bdd::Limits;

    use super::*;

    const SMALL: MachineTy = MachineTy { bits: 8, signed: true };

    /// The value of a written formula, in which `a` and `b` are numbers and `c` is a truth value.
    fn holds(text: &str, a: i128, b: i128, c: bool) -> bool {
        let text = text.trim();
        let mut depth = 0;
        for sign in ['|', '&'] {
            for (at, char) in text.char_indices() {
                depth += i32::from(char == '(') - i32::from(char == ')');
                if depth == 0 && char == sign {
                    let [left, right] = [&text[..at], &text[at + 1..]].map(|part| holds(part, a, b, c));
                    return if sign == '|' { left | right } else { left & right };
                }
            }
        }
        if let Some(inner) = text.strip_prefix('(').and_then(|rest| rest.strip_suffix(')')) {
            return holds(inner, a, b, c);
        }
        let number = |word: &str| match word {
            "a" => a,
            "b" => b,
            word => word.parse().unwrap(),
        };
        match text.split(' ').collect::<Vec<_>>().as_slice() {
            ["true"] => true,
            ["c"] => c,
            ["!c"] => !c,
            [left, "=", right] => number(left) == number(right),
            [left, "!=", right] => number(left) != number(right),
            [low, "<=", name, "<=", high] => number(low) <= number(name) && number(name) <= number(high),
            [name, "in", ..] => {
                let list = text.split_once('{').unwrap().1.trim_end_matches('}');
                list.split(", ").any(|part| match part.split_once("..") {
                    Some((low, high)) => (number(low)..=number(high)).contains(&number(name)),
                    None => number(part) == number(name),
                })
            }
            _ => panic!("{text}"),
        }
    }

    fn check(rest: Rest, seed: u64) {
        let manager = Manager::new(Limits { nodes: 100_000, cache: 1 << 10 });
        let vars = manager.add_vars(7);
        let number = |name: &str, first: usize| Number {
            name: name.to_owned(),
            bits: (0..3).map(|bit| vars[first + 2 * bit]).collect(),
            rest,
            ty: SMALL,
            word: Box::new(|_| None),
        };
        let numbers = [number("a", 0), number("b", 1)];
        let value = |row: u64, number: &Number<'_>| {
            let raw = number.bits.iter().rev().fold(0, |raw, bit| raw << 1 | row >> bit.level() & 1);
            number.value(raw).number()
        };
        let all = (0..128).map(|row| (value(row, &numbers[0]), value(row, &numbers[1]), row >> 6 & 1 == 1, row));
        // Relations of several kinds: equations, ranges, cases.
        let is_in = |a: i128, b: i128, c: bool| match seed % 6 {
            0 => a == b,
            1 => a == b && (a + seed as i128) % 3 == 0,
            2 => a > 1 && (b < 2 || c),
            3 => (a * 7 + b * 3 + seed as i128) % 4 == 0,
            4 => a != i128::from(seed as u32 % 3) && c,
            _ => a <= 2 || b == 1,
        };
        let rows: Vec<u64> = all.clone().filter(|(a, b, c, _)| is_in(*a, *b, *c)).map(|(.., row)| row).collect();
        let f = rows.iter().fold(manager.bottom(), |f, row| {
            let literals: Vec<(Var, bool)> = vars.iter().map(|var| (*var, row >> var.level() & 1 == 1)).collect();
            f.or(&manager.cube(&literals).unwrap()).unwrap()
        });
        let name = |_: Var| "c".to_owned();
        let writer = Writer { manager: &manager, numbers: &numbers, name: &name, left: Cell::new(MAX_LOOKS) };
        let text = writer.words(&f).unwrap().unwrap();
        if f.is_false() || text.ends_with(MORE) {
            return;
        }
        for (a, b, c, row) in all {
            assert_eq!(holds(&text, a, b, c), rows.contains(&row), "{text}, seed {seed}: {a}, {b}, {c}");
        }
    }

    #[test]
    fn relations_of_numbers_are_written_as_themselves() {
        for seed in 0..60 {
            for rest in [Rest::Constant(0), Rest::Sign, Rest::Constant(0xF8)] {
                check(rest, seed);
            }
        }
    }

    #[test]
    fn sets_are_short() {
        let manager = Manager::new(Limits { nodes: 100_000, cache: 1 << 10 });
        let bits = manager.add_vars(8);
        let unsigned = MachineTy { bits: 8, signed: false };
        let word = Box::new(|_: Value| None);
        let number = Number { name: "n".to_owned(), bits: bits.clone(), rest: Rest::Constant(0), ty: unsigned, word };
        let says = |is_in: fn(usize) -> bool| {
            let all = (0..256).filter(|value| is_in(*value)).map(|value| manager.number(&bits, value));
            number.says(&manager, &manager.any(all).unwrap()).unwrap()
        };
        assert_eq!(says(|n| n == 7).as_deref(), Some("n = 7"));
        assert_eq!(says(|n| n < 3).as_deref(), Some("0 <= n <= 2"));
        assert_eq!(says(|n| n == 0 || (4..8).contains(&n)).as_deref(), Some("n in {0, 4..7}"));
        assert_eq!(says(|n| n != 9).as_deref(), Some("n != 9"));
        assert_eq!(says(|n| (10..200).contains(&n)).as_deref(), Some("10 <= n <= 199"));
        assert_eq!(says(|n| n % 2 == 0), None);
    }
}
