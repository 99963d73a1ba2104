//! The values of numbers, characters and strings.

/// The prefix of a character or string, which tells the type of its elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Prefix {
    Plain,
    Utf8,
    Utf16,
    Utf32,
    Wide,
}

/// A number.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Number {
    Integer(Integer),
    Float(Float),
}

/// An integer as it is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Integer {
    pub(super) value: u128,
    /// True if it is decimal: then its type is never unsigned by itself.
    pub(super) decimal: bool,
    /// True with the suffix `u`.
    pub(super) unsigned: bool,
    /// The number of `l`s in the suffix.
    pub(super) longs: usize,
}

/// A number with a fraction or an exponent.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Float {
    pub(super) value: f64,
    pub(super) suffix: FloatSuffix,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FloatSuffix {
    Float,
    Double,
    LongDouble,
    Quad,
}

/// A character with its value in the type that its prefix gives it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Character {
    pub(super) value: i32,
    pub(super) prefix: Prefix,
}

/// Reads a number; fails with a message.
pub(super) fn number(text: &str) -> Result<Number, String> {
    let lower = text.to_ascii_lowercase();
    let is_hex = lower.starts_with("0x");
    let is_float = lower.contains('.') || if is_hex { lower.contains('p') } else { lower.contains('e') };
    if is_float && !lower.starts_with("0b") { float(&lower, is_hex).map(Number::Float) } else { integer(&lower) }
}

fn integer(lower: &str) -> Result<Number, String> {
    let (base, digits) = match lower.as_bytes() {
        [b'0', b'x', ..] => (16, &lower[2..]),
        [b'0', b'b', ..] => (2, &lower[2..]),
        [b'0', _, ..] => (8, &lower[1..]),
        _ => (10, lower),
    };
    let end = digits.find(|char: char| !char.is_digit(base)).unwrap_or(digits.len());
    let (digits, suffix) = digits.split_at(end);
    let Some((unsigned, longs)) = integer_suffix(suffix) else {
        return Err(format!("`{lower}` is not a number: `{suffix}` is not a suffix"));
    };
    // `0u` has the base 8 and no digit left.
    let digits = if digits.is_empty() && base == 8 { "0" } else { digits };
    if digits.is_empty() {
        return Err(format!("`{lower}` has no digits"));
    }
    let value = u128::from_str_radix(digits, base).map_err(|_| format!("`{lower}` is too large"))?;
    Ok(Number::Integer(Integer { value, decimal: base == 10, unsigned, longs }))
}

fn integer_suffix(suffix: &str) -> Option<(bool, usize)> {
    Some(match suffix {
        "" => (false, 0),
        "u" => (true, 0),
        "l" => (false, 1),
        "ul" | "lu" => (true, 1),
        "ll" => (false, 2),
        "ull" | "llu" => (true, 2),
        _ => return None,
    })
}

fn float(lower: &str, is_hex: bool) -> Result<Float, String> {
    let (digits, suffix) = match lower.as_bytes().last() {
        Some(b'f') if !is_hex || lower.contains('p') => (&lower[..lower.len() - 1], FloatSuffix::Float),
        Some(b'l') => (&lower[..lower.len() - 1], FloatSuffix::LongDouble),
        Some(b'q') => (&lower[..lower.len() - 1], FloatSuffix::Quad),
        _ => (lower, FloatSuffix::Double),
    };
    let value = if is_hex { hex_float(&digits[2..]) } else { digits.parse().ok() };
    let value = value.filter(|_| digits.bytes().any(|byte| byte.is_ascii_digit()));
    value.map(|value| Float { value, suffix }).ok_or_else(|| format!("`{lower}` is not a number"))
}

/// Reads the digits and the binary exponent of a hexadecimal number.
fn hex_float(digits: &str) -> Option<f64> {
    let (mantissa, exponent) = digits.split_once('p')?;
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let mut value = 0.0;
    for digit in whole.chars().chain(fraction.chars()) {
        value = value * 16.0 + f64::from(digit.to_digit(16)?);
    }
    let exponent: i32 = exponent.parse().ok()?;
    let places = i32::try_from(fraction.len()).ok()?.checked_mul(4)?;
    Some(value * 2f64.powi(exponent.checked_sub(places)?))
}

/// Returns the prefix of a quoted text, and what is between its quotes.
fn split(text: &str) -> (Prefix, &str) {
    let start = text.find(['"', '\'']).unwrap_or(0);
    let prefix = match &text[..start] {
        "u8" => Prefix::Utf8,
        "u" => Prefix::Utf16,
        "U" => Prefix::Utf32,
        "L" => Prefix::Wide,
        _ => Prefix::Plain,
    };
    (prefix, text.get(start + 1..text.len().saturating_sub(1)).unwrap_or_default())
}

/// Reads a character; fails with a message. Several characters in one make a number as GCC makes it.
pub(super) fn character(text: &str) -> Result<Character, String> {
    let (prefix, inner) = split(text);
    let units = units(inner, prefix)?;
    let value = match (prefix, units.as_slice()) {
        (_, []) => return Err("there is no character between the quotes".to_owned()),
        (Prefix::Plain, [one]) => i32::from(u8::try_from(*one).unwrap_or(u8::MAX).cast_signed()),
        (Prefix::Plain, many) if many.len() <= 4 => many.iter().fold(0u32, |all, one| all << 8 | one).cast_signed(),
        (Prefix::Plain, _) => return Err("there are more than four characters between the quotes".to_owned()),
        (_, [one]) => one.cast_signed(),
        _ => return Err("there are several characters between the quotes".to_owned()),
    };
    Ok(Character { value, prefix })
}

/// Returns the prefix of a string.
pub(super) fn string_prefix(text: &str) -> Prefix {
    split(text).0
}

/// Returns the elements of a string without the zero at its end, as a string with this prefix has them.
pub(super) fn string(text: &str, prefix: Prefix) -> Result<Vec<u32>, String> {
    units(split(text).1, prefix)
}

fn units(inner: &str, prefix: Prefix) -> Result<Vec<u32>, String> {
    let mut units = Vec::new();
    let mut chars = inner.chars().peekable();
    while let Some(char) = chars.next() {
        if char == crate::source::REPLACEMENT {
            return Err("this byte is not UTF-8: write it as an escape like `\\xff`".to_owned());
        }
        if char == '\\' {
            match escape(&mut chars, prefix)? {
                Escape::Unit(unit) => units.push(unit),
                Escape::Char(char) => push(&mut units, char, prefix),
            }
        } else {
            push(&mut units, char, prefix);
        }
    }
    Ok(units)
}

/// Adds a character as the elements that encode it.
fn push(units: &mut Vec<u32>, char: char, prefix: Prefix) {
    match prefix {
        Prefix::Plain | Prefix::Utf8 => units.extend(char.encode_utf8(&mut [0; 4]).bytes().map(u32::from)),
        Prefix::Utf16 => units.extend(char.encode_utf16(&mut [0; 2]).iter().map(|unit| u32::from(*unit))),
        Prefix::Utf32 | Prefix::Wide => units.push(u32::from(char)),
    }
}

/// What an escape means: one element, or a character to encode.
enum Escape {
    Unit(u32),
    Char(char),
}

fn escape(chars: &mut std::iter::Peekable<std::str::Chars<'_>>, prefix: Prefix) -> Result<Escape, String> {
    let limit = match prefix {
        Prefix::Plain | Prefix::Utf8 => 0xFF,
        Prefix::Utf16 => 0xFFFF,
        Prefix::Utf32 | Prefix::Wide => u32::MAX,
    };
    let unit = match chars.next() {
        Some('n') => 10,
        Some('t') => 9,
        Some('r') => 13,
        Some('a') => 7,
        Some('b') => 8,
        Some('f') => 12,
        Some('v') => 11,
        Some('e' | 'E') => 27,
        Some(char @ ('\\' | '\'' | '"' | '?')) => u32::from(char),
        Some(char @ '0'..='7') => digits(chars, 8, 2, char.to_digit(8))?,
        Some('x') => digits(chars, 16, usize::MAX, None)?,
        Some('u') => return universal(chars, 4),
        Some('U') => return universal(chars, 8),
        Some(other) => return Err(format!("`\\{other}` is not an escape sequence")),
        None => return Err("a backslash is at the end".to_owned()),
    };
    if unit > limit { Err("this escape is too large for the type".to_owned()) } else { Ok(Escape::Unit(unit)) }
}

/// Reads at most `most` digits behind those that were read.
fn digits(
    chars: &mut std::iter::Peekable<std::str::Chars<'_>>,
    base: u32,
    most: usize,
    first: Option<u32>,
) -> Result<u32, String> {
    let mut value = first;
    let mut n_read = 0;
    while n_read < most
        && let Some(digit) = chars.peek().and_then(|char| char.to_digit(base))
    {
        chars.next();
        n_read += 1;
        let next = value.unwrap_or(0).checked_mul(base).and_then(|value| value.checked_add(digit));
        value = Some(next.ok_or("this escape is too large for the type")?);
    }
    value.ok_or_else(|| "expected digits after `\\x`".to_owned())
}

fn universal(chars: &mut std::iter::Peekable<std::str::Chars<'_>>, length: usize) -> Result<Escape, String> {
    let value = digits(chars, 16, length, None)?;
    char::from_u32(value).map(Escape::Char).ok_or_else(|| "this is not a Unicode character".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str) -> (u128, bool, bool, usize) {
        match number(text) {
            Ok(Number::Integer(found)) => (found.value, found.decimal, found.unsigned, found.longs),
            other => panic!("{text}: {other:?}"),
        }
    }

    #[test]
    fn integers_have_bases_and_suffixes() {
        assert_eq!(value("0"), (0, true, false, 0));
        assert_eq!(value("0u"), (0, false, true, 0));
        assert_eq!(value("017L"), (15, false, false, 1));
        assert_eq!(value("0xFFull"), (255, false, true, 2));
        assert_eq!(value("0b101"), (5, false, false, 0));
        assert!(number("08").is_err() && number("1x").is_err() && number("0x").is_err());
    }

    #[test]
    fn floats_are_told_from_integers() {
        for (text, expected) in [("1.5", 1.5), ("1e3f", 1000.0), ("0x1p-1", 0.5), (".5L", 0.5), ("0x1.8p1", 3.0)] {
            assert!(matches!(number(text), Ok(Number::Float(found)) if found.value == expected), "{text}");
        }
        assert!(number("1.5x").is_err() && number("1e").is_err());
    }

    #[test]
    fn characters_are_signed_and_may_be_several() {
        let value = |text| character(text).map(|found| found.value);
        assert_eq!(value("'a'"), Ok(97));
        assert_eq!(value(r"'\xff'"), Ok(-1));
        assert_eq!(value(r"L'\xff'"), Ok(255));
        assert_eq!(value(r"'\377'"), Ok(-1));
        assert_eq!(value("'ab'"), Ok(0x6162));
        assert!(value("''").is_err() && value(r"'\q'").is_err() && value(r"'\x100'").is_err());
    }

    #[test]
    fn strings_are_encoded_for_their_elements() {
        assert_eq!(string("\"a\\0b\"", Prefix::Plain), Ok(vec![97, 0, 98]));
        assert_eq!(string("u8\"é\"", Prefix::Utf8), Ok(vec![0xC3, 0xA9]));
        assert_eq!(string("L\"é\"", Prefix::Wide), Ok(vec![0xE9]));
        assert_eq!(string("u\"😀\"", Prefix::Utf16), Ok(vec![0xD83D, 0xDE00]));
        assert_eq!(string(r#""\1234""#, Prefix::Plain), Ok(vec![83, 52]));
    }
}
