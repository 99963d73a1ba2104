//! The integer types of C, as far as generated programs use them.

use crate::rng::Rng;

/// An integer type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Ty {
    /// Its name; `$` stands for the prefix of the program.
    pub(super) name: &'static str,
    pub(super) bits: u32,
    pub(super) signed: bool,
    /// The rank of its conversions: those of `int` have rank 3.
    rank: u8,
}

const fn ty(name: &'static str, bits: u32, signed: bool, rank: u8) -> Ty {
    Ty { name, bits, signed, rank }
}

pub(super) const INT: Ty = ty("int", 32, true, 3);
pub(super) const UNSIGNED: Ty = ty("unsigned", 32, false, 3);
pub(super) const LONG: Ty = ty("long", 64, true, 4);
pub(super) const ULONG: Ty = ty("unsigned long", 64, false, 4);
pub(super) const LLONG: Ty = ty("long long", 64, true, 5);
pub(super) const ULLONG: Ty = ty("unsigned long long", 64, false, 5);
pub(super) const BOOL: Ty = ty("_Bool", 1, false, 0);

/// The types of objects. The enumeration `$F` has a negative constant, `$E` has none.
const TYPES: [Ty; 23] = [
    INT,
    UNSIGNED,
    LONG,
    ULONG,
    LLONG,
    ULLONG,
    BOOL,
    ty("char", 8, true, 1),
    ty("signed char", 8, true, 1),
    ty("unsigned char", 8, false, 1),
    ty("short", 16, true, 2),
    ty("unsigned short", 16, false, 2),
    ty("enum $E", 32, false, 3),
    ty("enum $F", 32, true, 3),
    ty("int8_t", 8, true, 1),
    ty("uint8_t", 8, false, 1),
    ty("int16_t", 16, true, 2),
    ty("uint16_t", 16, false, 2),
    ty("int32_t", 32, true, 3),
    ty("uint32_t", 32, false, 3),
    ty("int64_t", 64, true, 4),
    ty("uint64_t", 64, false, 4),
    ty("size_t", 64, false, 4),
];

impl Ty {
    pub(super) fn random(rng: &mut Rng) -> Ty {
        if rng.percent(35) { INT } else { TYPES[rng.below(TYPES.len())] }
    }

    /// Returns the type after the integer promotions.
    pub(super) fn promoted(self) -> Ty {
        if self.rank < INT.rank { INT } else { self }
    }

    /// Returns the common type of two operands.
    pub(super) fn common(self, other: Ty) -> Ty {
        let (one, other) = (self.promoted(), other.promoted());
        let (low, high) = if one.rank < other.rank { (one, other) } else { (other, one) };
        match (low.signed, high.signed) {
            (false, true) if low.bits >= high.bits => high.unsigned(),
            (false, true) => high,
            (true, false) => high,
            _ if low.rank == high.rank && !low.signed => low,
            _ => high,
        }
    }

    /// Returns the unsigned type of the promoted type.
    pub(super) fn unsigned(self) -> Ty {
        match self.promoted().rank {
            3 => UNSIGNED,
            4 => ULONG,
            _ => ULLONG,
        }
    }

    /// Returns a constant as it is written; most are small.
    pub(super) fn constant(self, rng: &mut Rng) -> String {
        if self.name.starts_with("enum") && rng.percent(70) {
            let names = if self.signed { ["$F0", "$F1", "$F2"] } else { ["$E0", "$E1", "$E2"] };
            return names[rng.below(3)].to_owned();
        }
        match rng.below(12) {
            0 => "0".to_owned(),
            1 => "1".to_owned(),
            2 if self.signed => format!("(-{})", rng.between(1, 9)),
            3 => format!("{}u", rng.between(0, 300)),
            4 => format!("{}L", rng.between(0, 70_000)),
            5 => ["127", "255", "0x7fff", "0x8000", "65535", "0x80", "0377"][rng.below(7)].to_owned(),
            6 => extreme(rng).to_owned(),
            7 => ["'a'", "'\\n'", "'\\377'", "L'x'", "'\\0'"][rng.below(5)].to_owned(),
            _ => rng.between(0, 12).to_string(),
        }
    }
}

fn extreme(rng: &mut Rng) -> &'static str {
    const EXTREMES: [&str; 10] = [
        "0x7fffffff",
        "0xffffffff",
        "2147483648",
        "4294967295u",
        "0x80000000",
        "0xffffffffffffffffull",
        "9223372036854775807LL",
        "(-2147483647 - 1)",
        "0x8000000000000000u",
        "(1ull << 40)",
    ];
    EXTREMES[rng.below(EXTREMES.len())]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn common_types_are_those_of_c() {
        let short = ty("short", 16, true, 2);
        for (one, other, expected) in [
            (short, BOOL, INT),
            (INT, UNSIGNED, UNSIGNED),
            (UNSIGNED, LONG, LONG),
            (ULONG, LLONG, ULLONG),
            (LONG, INT, LONG),
            (ULONG, LONG, ULONG),
        ] {
            assert_eq!((one.common(other), other.common(one)), (expected, expected), "{one:?}, {other:?}");
        }
    }
}
