//! The choices that callers name. The crates inside have the same, which change with them; these only grow.

use std::path::Path;

use selvedge_frontend::{self as inside, c};

/// Declares an enumeration whose members are some of one inside.
macro_rules! choices {
    ($(#[$about:meta])* $name:ident of $inner:path { $($(#[$doc:meta])* $member:ident,)* }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum $name {
            $($(#[$doc])* $member,)*
        }

        impl From<$name> for $inner {
            fn from(choice: $name) -> $inner {
                match choice {
                    $($name::$member => <$inner>::$member,)*
                }
            }
        }

        impl $name {
            /// All of them.
            const ALL: &[$name] = &[$($name::$member,)*];

            /// Returns the one that is this one inside, if there is one.
            fn of(inner: $inner) -> Option<$name> {
                $name::ALL.iter().copied().find(|choice| <$inner>::from(*choice) == inner)
            }
        }
    };
}

choices! {
    /// An input language.
    Language of inside::Language {
        /// Boolean programs.
        Bp,
        /// C with threads.
        C,
        /// Guarded commands over integers.
        Gcl,
        /// Thread-transition systems.
        Tts,
        /// Petri nets in the format of MIST.
        Spec,
    }
}

choices! {
    /// A property that every execution of a C program must have.
    Property of c::Property {
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
}

choices! {
    /// The reading of those parts of a Boolean program that mean different things in different tools.
    Dialect of inside::Dialect {
        /// As the documentation of the language says.
        Selvedge,
        /// With the relational updates and the variable `atomic` of Getafix.
        Getafix,
    }
}

choices! {
    /// What functions of C without a body do that are not known.
    Extern of inside::Extern {
        /// They are not supported.
        Refuse,
        /// They change nothing and return any value.
        Havoc,
        /// They change nothing and return 0.
        Skip,
    }
}

choices! {
    /// The sizes of the types of C.
    DataModel of c::DataModel {
        /// `long` and pointers have 64 bits, as on x86-64.
        Lp64,
        /// `long` and pointers have 32 bits, as on i386.
        Ilp32,
    }
}

impl Language {
    /// Returns the language of a file by its extension. Other extensions, and none, mean a Boolean program. Pushdown
    /// systems (`.pds`) are not programs.
    pub fn of_path(path: impl AsRef<Path>) -> Option<Language> {
        Language::of(inside::Language::of_path(path.as_ref()))
    }
}

impl Property {
    /// Returns the property with a name of the command line: `no-data-race`.
    pub fn named(name: &str) -> Option<Property> {
        Property::of(c::Property::named(name)?)
    }
}

impl Dialect {
    /// Returns the dialect with a name of the command line.
    pub fn named(name: &str) -> Option<Dialect> {
        Dialect::of(inside::Dialect::named(name)?)
    }
}

impl Extern {
    /// Returns the meaning with a name of the command line: `havoc`.
    pub fn named(name: &str) -> Option<Extern> {
        Extern::of(inside::Extern::named(name)?)
    }
}

impl DataModel {
    /// Returns the data model with a name of the command line: `lp64`.
    pub fn named(name: &str) -> Option<DataModel> {
        DataModel::of(c::DataModel::named(name)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_choice_inside_is_offered() {
        assert!(c::Property::ALL.iter().all(|inner| Property::of(*inner).is_some()));
        assert!(inside::Dialect::ALL.iter().all(|inner| Dialect::of(*inner).is_some()));
        assert!(c::DataModel::ALL.iter().all(|inner| DataModel::of(*inner).is_some()));
        assert_eq!((Extern::named("havoc"), Extern::named("hope")), (Some(Extern::Havoc), None));
        assert_eq!((Language::of_path("a.i"), Language::of_path("a.pds")), (Some(Language::C), None));
    }
}
