//! Generated expressions.
//!
//! Expressions of the first kind ([`Maker::pure`]) have no effects; those of the second ([`Maker::effect`]) have
//! some. Where C leaves the order of evaluation open, at most one operand has effects and no other one can see them;
//! operands of `&&`, `||`, `?:` and `,` have an order, so both may.

use super::maker::{Function, Maker, Named, Param, Target};
use super::types::{INT, LONG, Ty, ULONG, UNSIGNED};

impl Maker<'_> {
    /// Returns an expression without effects.
    pub(super) fn pure(&mut self, depth: usize) -> (String, Ty) {
        if depth == 0 || self.rng.percent(12) {
            return self.leaf();
        }
        let below = depth - 1;
        match self.rng.below(20) {
            0..6 => self.arithmetic(below),
            6 | 7 => self.shift(below),
            8 | 9 => self.division(below),
            10..13 => self.comparison(below),
            13 => {
                let ((left, _), (right, _)) = (self.pure(below), self.pure(below));
                (format!("({left} {} {right})", ["&&", "||"][self.rng.below(2)]), INT)
            }
            14 => self.unary(below),
            15 | 16 => {
                let ty = Ty::random(self.rng);
                let (value, _) = self.pure(below);
                (format!("(({}){value})", ty.name), ty)
            }
            17 => {
                let ((test, _), (then, one), (other, two)) = (self.pure(below), self.pure(below), self.pure(below));
                (format!("({test} ? {then} : {other})"), one.common(two))
            }
            18 => {
                let ((left, _), (right, ty)) = (self.pure(below), self.pure(below));
                (format!("((void){left}, {right})"), ty)
            }
            _ => self.strange(below),
        }
    }

    fn leaf(&mut self) -> (String, Ty) {
        if self.rng.percent(65) {
            return self.readable();
        }
        if self.rng.percent(40) {
            return (self.rng.between(0, 12).to_string(), INT);
        }
        let ty = Ty::random(self.rng);
        (format!("(({}){})", ty.name, ty.constant(self.rng)), ty)
    }

    /// Returns the operand of an operation that could overflow in a signed type: mostly as an unsigned number.
    fn wrapped(&mut self, operand: String, ty: Ty) -> (String, Ty) {
        if ty.promoted().signed && self.rng.percent(25) {
            let unsigned = ty.unsigned();
            return (format!("({}){operand}", unsigned.name), unsigned);
        }
        (operand, ty)
    }

    fn arithmetic(&mut self, below: usize) -> (String, Ty) {
        let ((left, one), (right, two)) = (self.pure(below), self.pure(below));
        let op = ["+", "-", "*", "&", "|", "^", "+", "-"][self.rng.below(8)];
        let (left, one) = if "+-*".contains(op) { self.wrapped(left, one) } else { (left, one) };
        (format!("({left} {op} {right})"), one.common(two))
    }

    fn shift(&mut self, below: usize) -> (String, Ty) {
        let ((left, one), (right, two)) = (self.pure(below), self.pure(below));
        let (op, most) = (["<<", ">>"][self.rng.below(2)], if one.promoted().bits == 64 { 63 } else { 31 });
        let (left, one) = if op == "<<" { self.wrapped(left, one) } else { (left, one) };
        let is_wide = two.promoted().bits > one.promoted().bits && !self.rare.wide_shifts;
        let by = if is_wide { format!("((int){right} & {most})") } else { format!("({right} & {most})") };
        (format!("({left} {op} {by})"), one.promoted())
    }

    fn division(&mut self, below: usize) -> (String, Ty) {
        let ((left, one), (right, two)) = (self.pure(below), self.pure(below));
        let op = ["/", "%"][self.rng.below(2)];
        let by = match self.rng.below(3) {
            0 => format!("({right} | 1)"),
            1 => format!("(({right} & 15) + 1)"),
            _ => format!("({right} ? {right} : 3)"),
        };
        (format!("({left} {op} {by})"), one.common(two))
    }

    fn comparison(&mut self, below: usize) -> (String, Ty) {
        let op = ["<", "<=", ">", ">=", "==", "!="][self.rng.below(6)];
        if self.rng.percent(12)
            && let Some(text) = self.pointer_comparison()
        {
            return (text, INT);
        }
        let ((left, _), (right, _)) = (self.pure(below), self.pure(below));
        (format!("({left} {op} {right})"), INT)
    }

    /// Compares pointers: any for equality, those into one array also by their order.
    fn pointer_comparison(&mut self) -> Option<String> {
        if self.rng.coin()
            && let Some(array) = self.rng.pick(&self.arrays).cloned()
            && array.lengths.len() == 1
            && self.can_point_to(&array)
        {
            let (op, length) = (["<", "<=", ">", ">=", "==", "!="][self.rng.below(6)], array.lengths[0]);
            let (one, two) = (self.index(length), self.index(length));
            return Some(format!("(&{0}[{one}] {op} {0} + ({two}))", array.name));
        }
        let pointer = self.rng.pick(&self.pointers).cloned()?;
        let other = self.address(pointer.of, self.reach())?;
        Some(match self.rng.below(3) {
            0 => format!("({} != 0)", pointer.name),
            1 => format!("(!{})", pointer.name),
            _ => format!("({} {} {other})", pointer.name, ["==", "!="][self.rng.below(2)]),
        })
    }

    fn unary(&mut self, below: usize) -> (String, Ty) {
        let (value, ty) = self.pure(below);
        match self.rng.below(5) {
            0 => (format!("(!{value})"), INT),
            1 => (format!("(~{value})"), ty.promoted()),
            2 => (format!("(+{value})"), ty.promoted()),
            3 => (format!("(!!{value})"), INT),
            _ => {
                let (value, ty) = self.wrapped(value, ty);
                (format!("(- {value})"), ty.promoted())
            }
        }
    }

    /// Returns an expression of a less common kind.
    fn strange(&mut self, below: usize) -> (String, Ty) {
        match self.rng.below(8) {
            0 => (format!("sizeof({})", Ty::random(self.rng).name), ULONG),
            1 => (format!("sizeof {}", self.variable().0), ULONG),
            2 if !self.structs.is_empty() => {
                (format!("sizeof(struct $S{})", self.rng.below(self.structs.len())), ULONG)
            }
            3 if !self.arrays.is_empty() => {
                let name = &self.arrays[self.rng.below(self.arrays.len())].name;
                (format!("(sizeof {name} / sizeof {name}[0])"), ULONG)
            }
            4 => (format!("_Alignof({})", Ty::random(self.rng).name), ULONG),
            5 if self.rare.differences => {
                let array = self.arrays[0].clone();
                let (one, two) = (self.index(array.lengths[0]), self.index(array.lengths[0]));
                (format!("(&{0}[{one}] - &{0}[{two}])", array.name), LONG)
            }
            6 if self.rare.elvis => {
                let ((one, left), (two, right)) = (self.pure(below), self.pure(below));
                (format!("({one} ?: {two})"), left.common(right))
            }
            _ => {
                let (value, ty) = self.pure(below);
                (format!("({{ {} $t = {value}; $t ^ 1; }})", ty.promoted().name), ty.promoted())
            }
        }
    }

    /// Returns an expression with effects.
    pub(super) fn effect(&mut self, depth: usize) -> (String, Ty) {
        let below = depth.saturating_sub(1);
        if depth == 0 {
            return self.assignment(1);
        }
        match self.rng.below(12) {
            0..4 => self.assignment(below),
            4..7 => self.call(below).unwrap_or(("($fuel |= 0)".to_owned(), INT)),
            7 => {
                let ((left, _), (right, ty)) = (self.effect(below), self.effect(below));
                (format!("({left}, {right})"), ty)
            }
            8 => {
                let ((test, _), (then, one), (other, two)) = (self.effect(below), self.effect(below), self.pure(below));
                (format!("({test} ? {then} : {other})"), one.common(two))
            }
            9 => {
                let ((left, _), (right, _)) = (self.effect(below), self.effect(below));
                (format!("({left} {} {right})", ["&&", "||"][self.rng.below(2)]), INT)
            }
            10 => {
                let (value, ty) = self.effect(below);
                let (value, ty) = self.wrapped(value, ty);
                let op = ["+", "-", "^", "&", "==", "<", "!="][self.rng.below(7)];
                (
                    format!("({value} {op} {})", self.rng.between(0, 9)),
                    if op.contains(['=', '<']) { INT } else { ty.promoted() },
                )
            }
            _ => {
                let ty = Ty::random(self.rng);
                (format!("(({}){})", ty.name, self.effect(below).0), ty)
            }
        }
    }

    /// Returns an assignment, or an increment.
    fn assignment(&mut self, below: usize) -> (String, Ty) {
        let (place, ty) = self.place();
        if self.rng.percent(25) && (!ty.promoted().signed || ty.bits < 32 || self.rng.coin()) {
            let op = ["++", "--"][self.rng.below(2)];
            return (if self.rng.coin() { format!("{place}{op}") } else { format!("{op}{place}") }, ty);
        }
        let (value, by) = self.pure(below);
        match self.rng.below(14) {
            0 | 1 => (format!("({place} {} ({value} | 1))", ["/=", "%="][self.rng.below(2)]), ty),
            2 if !ty.promoted().signed => (format!("({place} <<= ((int){value} & 15))"), ty),
            3 => (format!("({place} >>= ((int){value} & 15))"), ty),
            4..6 => (format!("({place} {} {value})", ["&=", "|=", "^="][self.rng.below(3)]), ty),
            6 | 7 => {
                let (value, _) = self.wrapped(value, by);
                (format!("({place} {} {value})", ["+=", "-=", "*="][self.rng.below(3)]), ty)
            }
            8 => {
                let (other, _) = self.leaf_local(&place);
                (format!("({place} = {other} = {value})"), ty)
            }
            _ => (format!("({place} = {value})"), ty),
        }
    }

    /// Returns a plain variable that no other place of this program is a name for, and that is not this one.
    fn leaf_local(&mut self, not: &str) -> (String, Ty) {
        let is_plain = |named: &Named| !named.is_counter && !named.has_address && named.text == named.root;
        let found = self.visible(|named| is_plain(named) && !not.contains(&named.text));
        found.last().map_or(("$chain".to_owned(), UNSIGNED), |named| (named.text.clone(), named.ty))
    }

    /// Returns a call of one of the functions; `None` if there is none.
    pub(super) fn call(&mut self, below: usize) -> Option<(String, Ty)> {
        if self.rng.percent(25)
            && let (Some(name), Some(pointed)) = (self.rng.pick(&self.function_pointers).cloned(), self.pointed.clone())
        {
            let args = self.args(&pointed, below)?;
            let name = if name.ends_with(']') || self.rng.coin() { name } else { format!("(*{name})") };
            return Some((format!("{name}({args})"), pointed.result?));
        }
        let called = match self.current.clone() {
            Some(current) if self.rng.percent(20) => current,
            _ => self.rng.pick(&self.functions).cloned()?,
        };
        let args = self.args(&called, below)?;
        let call = format!("{}({args})", called.name);
        Some(match called.result {
            Some(ty) => (call, ty),
            None => (format!("({call}, {})", self.rng.below(4)), INT),
        })
    }

    fn args(&mut self, called: &Function, below: usize) -> Option<String> {
        let mut args = Vec::new();
        for (number, param) in called.params.iter().enumerate() {
            args.push(match param {
                Param::Scalar(_) if number == 0 && called.recurses => {
                    let is_current = self.current.as_ref().is_some_and(|current| current.name == called.name);
                    if is_current { "depth - 1".to_owned() } else { self.rng.between(0, 2).to_string() }
                }
                Param::Scalar(_) => self.pure(below).0,
                Param::Pointer(ty) => self.address(Target::Scalar(*ty), self.reach())?,
            });
        }
        Some(args.join(", "))
    }
}
