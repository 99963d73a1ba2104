//! What is asked about a C program, by the names of options and in the files of verification competitions.

/// A property that every execution must have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Property {
    /// No assertion fails, and no function or label that says so is reached.
    Assertions,
    /// No two threads are about to access the same object, one of them for writing, unless both are atomic.
    NoDataRace,
    /// No signed arithmetic overflows, no shift is too far, nothing is divided by zero.
    NoOverflow,
    /// No null pointer is followed, and no pointer or index leaves its object.
    Memory,
    /// Some thread can always move, until the program has ended.
    Deadlock,
    /// Locks are released by the thread that holds them, threads are waited for once.
    Misuse,
}

impl Property {
    /// All properties.
    pub const ALL: &[Property] = &[
        Property::Assertions,
        Property::NoDataRace,
        Property::NoOverflow,
        Property::Memory,
        Property::Deadlock,
        Property::Misuse,
    ];

    /// Returns its name, as options write it.
    pub fn name(self) -> &'static str {
        match self {
            Property::Assertions => "assertions",
            Property::NoDataRace => "no-data-race",
            Property::NoOverflow => "no-overflow",
            Property::Memory => "memory",
            Property::Deadlock => "deadlock",
            Property::Misuse => "misuse",
        }
    }

    /// Returns the property with this name.
    pub fn named(name: &str) -> Option<Property> {
        Property::ALL.iter().copied().find(|property| property.name() == name)
    }
}

/// A set of properties.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Properties {
    /// One bit for each property.
    bits: u8,
}

impl Default for Properties {
    /// Returns the question that is asked without options: the assertions.
    fn default() -> Properties {
        Properties::of([Property::Assertions])
    }
}

impl Properties {
    /// Returns the set of some properties.
    pub fn of(properties: impl IntoIterator<Item = Property>) -> Properties {
        Properties { bits: properties.into_iter().fold(0, |bits, property| bits | 1 << property as u8) }
    }

    /// Returns whether a property is asked about.
    pub fn has(self, property: Property) -> bool {
        self.bits & 1 << property as u8 != 0
    }

    /// Returns the properties in their order.
    pub fn iter(self) -> impl Iterator<Item = Property> {
        Property::ALL.iter().copied().filter(move |property| self.has(*property))
    }

    /// Returns the names of the properties.
    pub fn names(self) -> Vec<&'static str> {
        self.iter().map(Property::name).collect()
    }
}

/// The formulas of property files that are understood, without white space.
const FORMULAS: &[(&str, Property)] = &[
    ("G!call(reach_error())", Property::Assertions),
    ("G!call(__VERIFIER_error())", Property::Assertions),
    ("G!overflow", Property::NoOverflow),
    ("G!data-race", Property::NoDataRace),
    ("Gvalid-deref", Property::Memory),
    ("Gvalid-free", Property::Memory),
];

/// Reads a property file: lines such as `CHECK( init(main()), LTL(G ! call(reach_error())) )`. Fails with a sentence.
pub fn read_property_file(text: &str) -> Result<Vec<Property>, String> {
    let dense: String = text.chars().filter(|c| !c.is_whitespace()).collect();
    let mut found = Vec::new();
    let mut rest = dense.as_str();
    while !rest.is_empty() {
        let (formula, behind) = next_formula(rest).ok_or_else(|| {
            format!("`{}` is not of the form CHECK( init(main()), LTL(..) )", rest.chars().take(60).collect::<String>())
        })?;
        let known = FORMULAS.iter().find(|(known, _)| *known == formula);
        let (_, property) = known.ok_or_else(|| {
            let names: Vec<_> = FORMULAS.iter().map(|(formula, _)| format!("LTL({formula})")).collect();
            format!("there is no check for LTL({formula}); there are {}", names.join(", "))
        })?;
        found.push(*property);
        rest = behind;
    }
    if found.is_empty() { Err("the file names no property".to_owned()) } else { Ok(found) }
}

/// Returns the formula of the first check of a text without white space, and the text behind the check.
fn next_formula(text: &str) -> Option<(&str, &str)> {
    let formula = text.strip_prefix("CHECK(init(main()),LTL(")?;
    let mut depth = 1;
    for (at, c) in formula.char_indices() {
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some((&formula[..at], formula[at + 1..].strip_prefix(')')?));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn property_files_are_read() {
        let text = "CHECK( init(main()), LTL(G ! call(reach_error())) )\n\nCHECK( init(main()), LTL(G valid-deref) )\n";
        assert_eq!(read_property_file(text), Ok(vec![Property::Assertions, Property::Memory]));
        let unknown = read_property_file("CHECK( init(main()), LTL(F end) )").expect_err("it is not known");
        assert!(unknown.contains("LTL(Fend)") && unknown.contains("LTL(G!overflow)"), "{unknown}");
        assert!(read_property_file("").is_err());
        assert!(read_property_file("CHECK( init(main()), LTL(G ! overflow)").is_err());
    }

    #[test]
    fn names_are_those_of_options() {
        for property in Property::ALL {
            assert_eq!(Property::named(property.name()), Some(*property));
        }
        assert_eq!(Properties::default().names(), ["assertions"]);
    }
}
