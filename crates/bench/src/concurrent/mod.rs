//! Families of programs with threads, in the number of threads or of local variables.

mod bluetooth;
mod device;
mod locks;
pub(super) mod number;
mod numbered;
mod pools;

pub(super) use numbered::peterson;

use selvedge_check::{Initial, Question};
use selvedge_testkit::corpus::Expected;

/// Programs with threads that grow with a number. Each has a safe and an unsafe twin that differ in a line or two.
pub struct Concurrent {
    /// The name.
    pub name: &'static str,
    /// A description in a line.
    pub about: &'static str,
    /// The numbers of threads, ascending. Either here or in `locals` there is more than one.
    pub threads: &'static [u32],
    /// The numbers of local variables that a thread works with, ascending.
    pub locals: &'static [usize],
    /// A function that generates the program of a size.
    pub make: fn(Size, Twin) -> String,
    /// The threads with which a run begins.
    pub begins: Begins,
    /// The least number of threads of the unsafe twin that reach an error.
    pub error_from: u32,
}

/// The size of an instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// The bound on the number of threads.
    pub threads: u32,
    /// The number of local variables that a thread works with.
    pub locals: usize,
}

/// The threads with which a run begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Begins {
    /// All of them, in `main`.
    Full,
    /// As the program says.
    AsWritten,
}

/// The correct or the incorrect one of two similar programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Twin {
    /// The correct one.
    Safe,
    /// The one with a mistake.
    Unsafe,
}

impl Twin {
    /// Both twins.
    pub const BOTH: [Twin; 2] = [Twin::Safe, Twin::Unsafe];

    /// Returns the end of its name.
    pub fn suffix(self) -> &'static str {
        match self {
            Twin::Safe => "safe",
            Twin::Unsafe => "unsafe",
        }
    }
}

impl Concurrent {
    /// Returns the sizes of a full run, ascending.
    pub fn sizes(&self) -> Vec<Size> {
        let mut sizes = Vec::new();
        for locals in self.locals.iter().copied() {
            sizes.extend(self.threads.iter().copied().map(|threads| Size { threads, locals }));
        }
        sizes
    }

    /// Returns the number that the family grows with.
    pub fn number(&self, size: Size) -> usize {
        if self.threads.len() > 1 { size.threads as usize } else { size.locals }
    }

    /// Returns the question about an instance.
    pub fn question(&self, size: Size) -> Question {
        let initial = (self.begins == Begins::Full).then_some(Initial::Exactly(size.threads));
        Question { threads: Some(size.threads), initial, ..Question::default() }
    }

    /// Returns the correct verdict of an instance.
    pub fn expected(&self, size: Size, twin: Twin) -> Expected {
        if twin == Twin::Unsafe && size.threads >= self.error_from { Expected::Unsafe } else { Expected::Safe }
    }
}

/// All families.
pub const CONCURRENT: &[Concurrent] = &[
    Concurrent {
        name: "bluetooth",
        about: "n threads that add requests to a driver or stop it; two stoppers are one too many",
        threads: &[2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12],
        locals: &[0],
        make: bluetooth::driver,
        begins: Begins::Full,
        error_from: 3,
    },
    Concurrent {
        name: "workers",
        about: "a listener that starts workers and hands them connections; a worker does not look again when it wakes",
        threads: &[2, 3, 4, 5, 6, 7, 8],
        locals: &[1],
        make: pools::workers,
        begins: Begins::AsWritten,
        error_from: 2,
    },
    Concurrent {
        name: "ticket",
        about: "a ticket lock; the ticket is read in one step and passed on in the next",
        threads: &[2, 3, 4, 5, 6, 7, 8],
        locals: &[1],
        make: locks::ticket,
        begins: Begins::Full,
        error_from: 2,
    },
    Concurrent {
        name: "tas",
        about: "a test-and-set lock; it is tested in one step and set in the next",
        threads: &[2, 3, 4, 6, 8, 12, 16, 24, 32],
        locals: &[2],
        make: locks::test_and_set,
        begins: Begins::Full,
        error_from: 2,
    },
    Concurrent {
        name: "tas-locals",
        about: "the same for 3 threads that shift a value through n local variables",
        threads: &[3],
        locals: &[1, 2, 4, 8, 12, 16, 20, 24],
        make: locks::test_and_set,
        begins: Begins::Full,
        error_from: 2,
    },
    Concurrent {
        name: "rwlock",
        about: "many readers or one writer, which looks for readers in one step and enters in the next",
        threads: &[2, 3, 4, 6, 8, 12, 16],
        locals: &[1],
        make: locks::reader_writer,
        begins: Begins::Full,
        error_from: 2,
    },
    Concurrent {
        name: "buffer",
        about: "producers and consumers of a buffer with two places; the room is looked for before the lock is taken",
        threads: &[2, 3, 4, 6, 8, 12, 16],
        locals: &[1],
        make: pools::buffer,
        begins: Begins::Full,
        error_from: 2,
    },
    Concurrent {
        name: "buffer-locals",
        about: "the same for 3 threads that shift a value through n local variables",
        threads: &[3],
        locals: &[1, 2, 4, 8, 12, 16, 20],
        make: pools::buffer,
        begins: Begins::Full,
        error_from: 2,
    },
    Concurrent {
        name: "peterson",
        about: "Peterson's algorithm for n different threads; a thread says that it came before it climbs",
        threads: &[2, 3, 4, 5],
        locals: &[0],
        make: numbered::peterson,
        begins: Begins::AsWritten,
        error_from: 2,
    },
    Concurrent {
        name: "szymanski",
        about: "Szymanski's algorithm for n different threads; no thread waits for smaller numbers",
        threads: &[2, 3, 4, 5, 6],
        locals: &[0],
        make: numbered::szymanski,
        begins: Begins::AsWritten,
        error_from: 2,
    },
    Concurrent {
        name: "device",
        about: "a driver's abstraction: 120 locations, 20 local and 12 shared predicates; a function skips the lock",
        threads: &[2, 3, 4, 5, 6],
        locals: &[20],
        make: device::driver,
        begins: Begins::AsWritten,
        error_from: 3,
    },
    Concurrent {
        name: "device-locals",
        about: "the same for 3 threads with n local predicates",
        threads: &[3],
        locals: &[2, 4, 8, 12, 16, 20, 24, 32],
        make: device::driver,
        begins: Begins::AsWritten,
        error_from: 3,
    },
];
