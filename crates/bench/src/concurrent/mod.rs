//! Families of programs with threads, in the number of threads or of local variables.

mod beem;
mod bluetooth;
mod device;
mod locks;
pub(super) mod number;
mod numbered;
mod pools;

pub(super) use beem::{anderson, bakery, msmie};
pub(super) use numbered::peterson;

pub use crate::families::Twin;
use Begins::{AsWritten, Full};
use selvedge_check::{Initial, Question};
use selvedge_testkit::corpus::Expected;

/// Programs with threads that grow with a number. Each has a safe and an unsafe twin that differ in a line or two.
pub struct Concurrent {
    /// The name.
    pub name: &'static str,
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

impl Concurrent {
    /// Returns the sizes of a full run, ascending.
    pub fn sizes(&self) -> Vec<Size> {
        let with_locals = |locals: usize| self.threads.iter().map(move |threads| Size { threads: *threads, locals });
        self.locals.iter().flat_map(|locals| with_locals(*locals)).collect()
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

const fn family(
    name: &'static str,
    threads: &'static [u32],
    locals: &'static [usize],
    make: fn(Size, Twin) -> String,
    begins: Begins,
    error_from: u32,
) -> Concurrent {
    Concurrent { name, threads, locals, make, begins, error_from }
}

/// All families: names, numbers of threads and of local variables.
pub const CONCURRENT: &[Concurrent] = &[
    // Each of n threads adds requests to a driver or stops it; two stoppers are one too many.
    family("bluetooth", &[2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12], &[0], bluetooth::driver, Full, 3),
    // A listener that starts workers and hands them connections; a worker does not look again when it wakes.
    family("workers", &[2, 3, 4, 5, 6, 7, 8], &[1], pools::workers, AsWritten, 2),
    // A ticket lock; the ticket is read in one step and passed on in the next.
    family("ticket", &[2, 3, 4, 5, 6, 7, 8], &[1], locks::ticket, Full, 2),
    // A test-and-set lock; it is tested in one step and set in the next.
    family("tas", &[2, 3, 4, 6, 8, 12, 16, 24, 32], &[2], locks::test_and_set, Full, 2),
    // The same for 3 threads that shift a value through n local variables.
    family("tas-locals", &[3], &[1, 2, 4, 8, 12, 16, 20, 24], locks::test_and_set, Full, 2),
    // Many readers or one writer, which looks for readers in one step and enters in the next.
    family("rwlock", &[2, 3, 4, 6, 8, 12, 16], &[1], locks::reader_writer, Full, 2),
    // Producers and consumers of a buffer with two places; the room is looked for before the lock is taken.
    family("buffer", &[2, 3, 4, 6, 8, 12, 16], &[1], pools::buffer, Full, 2),
    // The same for 3 threads that shift a value through n local variables.
    family("buffer-locals", &[3], &[1, 2, 4, 8, 12, 16, 20], pools::buffer, Full, 2),
    // Peterson's algorithm for n different threads; a thread says that it came before it climbs.
    family("peterson", &[2, 3, 4, 5], &[0], numbered::peterson, AsWritten, 2),
    // Szymanski's algorithm for n different threads; no thread waits for smaller numbers.
    family("szymanski", &[2, 3, 4, 5, 6], &[0], numbered::szymanski, AsWritten, 2),
    // A queue lock for n threads, which is drawn from in one step or in two.
    family("anderson", &[2, 3, 4, 5, 6, 7, 8], &[0], beem::anderson, AsWritten, 2),
    // Lamport's bakery for n different threads; equal tickets are not told apart.
    family("bakery", &[2, 3, 4], &[0], beem::bakery, AsWritten, 2),
    // Writers and as many readers of buffers; the last reader but one gives a buffer back.
    family("msmie", &[2, 4, 6, 8, 12, 16, 20], &[0], beem::msmie, AsWritten, 4),
    // A driver's abstraction: 120 locations, 20 local and 12 shared predicates; a function skips the lock.
    family("device", &[2, 3, 4, 5, 6], &[20], device::driver, AsWritten, 3),
    // The same for 3 threads with n local predicates.
    family("device-locals", &[3], &[2, 4, 8, 12, 16, 20, 24, 32], device::driver, AsWritten, 3),
];
