//! Numbers in several variables, for programs that count.

/// A number in binary, the lowest bit first.
pub(crate) struct Number {
    bits: Vec<String>,
}

impl Number {
    /// Makes a number from zero to `max`, in variables whose names begin with this prefix.
    pub(crate) fn up_to(prefix: &str, max: usize) -> Number {
        let n_bits = (usize::BITS - max.leading_zeros()).max(1) as usize;
        Number { bits: (0..n_bits).map(|bit| format!("{prefix}{bit}")).collect() }
    }

    /// Returns the variables, separated by commas.
    pub(crate) fn list(&self) -> String {
        self.bits.join(", ")
    }

    /// Returns the variables with their initial values.
    pub(crate) fn declared(&self, value: usize) -> String {
        let declare = |(bit, name): (usize, &String)| format!("{name} := {}", value >> bit & 1);
        self.bits.iter().enumerate().map(declare).collect::<Vec<_>>().join(", ")
    }

    /// Returns a constant as a list of values.
    pub(crate) fn constant(&self, value: usize) -> String {
        (0..self.bits.len()).map(|bit| (value >> bit & 1).to_string()).collect::<Vec<_>>().join(", ")
    }

    /// Returns the condition that the number has this value.
    pub(crate) fn is(&self, value: usize) -> String {
        let literal =
            |(bit, name): (usize, &String)| if value >> bit & 1 == 1 { name.clone() } else { format!("!{name}") };
        format!("({})", self.bits.iter().enumerate().map(literal).collect::<Vec<_>>().join(" & "))
    }

    /// Returns the condition that two numbers of the same width are equal.
    pub(crate) fn equals(&self, other: &Number) -> String {
        let same = self.bits.iter().zip(&other.bits).map(|(left, right)| format!("({left} = {right})"));
        format!("({})", same.collect::<Vec<_>>().join(" & "))
    }

    /// Returns the condition that the number is less than another one of the same width.
    pub(crate) fn less(&self, other: &Number) -> String {
        let pairs = self.bits.iter().zip(&other.bits);
        pairs.fold("0".to_string(), |below, (left, right)| {
            format!("((!{left} & {right}) | (({left} = {right}) & {below}))")
        })
    }

    /// Returns the number plus one, which overflows to zero, as a list of values.
    pub(crate) fn plus_one(&self) -> String {
        self.flipped(" & ", "")
    }

    /// Returns the number minus one, where it is not zero, as a list of values.
    pub(crate) fn minus_one(&self) -> String {
        self.flipped(" | ", "!")
    }

    /// Returns the number minus one, or zero, as a list of values.
    pub(crate) fn minus_one_or_zero(&self) -> String {
        let values = self.minus_one();
        let positive = format!("({})", self.bits.join(" | "));
        values.split(", ").map(|value| format!("{positive} & ({value})")).collect::<Vec<_>>().join(", ")
    }

    /// Returns the bits, each flipped depending on all lower ones.
    fn flipped(&self, connective: &str, negation: &str) -> String {
        let bit = |(bit, name): (usize, &String)| match bit {
            0 => format!("!{name}"),
            bit => format!("{name} ^ {negation}({})", self.bits[..bit].join(connective)),
        };
        self.bits.iter().enumerate().map(bit).collect::<Vec<_>>().join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_the_bits_they_need() {
        assert_eq!(Number::up_to("p", 3).list(), "p0, p1");
        assert_eq!(Number::up_to("p", 4).list(), "p0, p1, p2");
        assert_eq!(Number::up_to("p", 4).constant(5), "1, 0, 1");
        assert_eq!(Number::up_to("p", 4).is(5), "(p0 & !p1 & p2)");
    }

    #[test]
    fn neighbours_differ_in_the_bits_below_the_carry() {
        let number = Number::up_to("p", 4);
        assert_eq!(number.plus_one(), "!p0, p1 ^ (p0), p2 ^ (p0 & p1)");
        assert_eq!(number.minus_one(), "!p0, p1 ^ !(p0), p2 ^ !(p0 | p1)");
        assert_eq!(Number::up_to("p", 1).minus_one_or_zero(), "(p0) & (!p0)");
    }
}
