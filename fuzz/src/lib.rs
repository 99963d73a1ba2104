//! What all targets share: a body of `selvedge_testkit::fuzz_targets` and a mutator become a program of libFuzzer.

pub use libfuzzer_sys;
use selvedge_testkit::fuzz_targets::mutators::Mutator;
use selvedge_testkit::rng::Rng;

/// Makes the program of a target: `target!(body, mutator)`.
#[macro_export]
macro_rules! target {
    ($body:expr, $mutator:expr) => {
        $crate::libfuzzer_sys::fuzz_target!(|data: &[u8]| {
            if let Err(fault) = $body(data) {
                panic!("{fault}");
            }
        });

        $crate::libfuzzer_sys::fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
            $crate::mutate(data, size, max_size, seed, $mutator)
        });
    };
}

/// Changes an input in place and returns its new length: by the mutator, or by libFuzzer, which knows the dictionary
/// and what the program compares its input with.
pub fn mutate(data: &mut [u8], size: usize, max_size: usize, seed: u32, mutator: Mutator) -> usize {
    let mut rng = Rng::new(u64::from(seed));
    if rng.coin() {
        return libfuzzer_sys::fuzzer_mutate(data, size, max_size);
    }
    let changed = mutator(&data[..size], &mut rng);
    let length = changed.len().min(max_size);
    data[..length].copy_from_slice(&changed[..length]);
    length
}
