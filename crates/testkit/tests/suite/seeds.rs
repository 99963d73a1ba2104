//! The program of a seed and a number never changes: findings are reproduced by them.

use selvedge_ir::tts::Tts;
use selvedge_testkit::rng::Rng;
use selvedge_testkit::{calculus, contexts, coverability, differ, engines, integers, rounds, spin, systems, threads};

/// Computes FNV-1a over the texts of the first programs.
fn fingerprint(text: impl Fn(u64) -> String) -> u64 {
    let all: String = (0..48).map(text).collect();
    all.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

/// Writes a system whose rules transfer no threads without saying so, as when rules had no transfers.
fn without_transfers(tts: &Tts) -> String {
    format!("{tts:?}").replace(", transfers: []", "")
}

#[test]
fn programs_of_seeds_do_not_move() {
    let found = [
        ("passes", fingerprint(|number| differ::item(1, number).to_string())),
        ("engines", fingerprint(|number| engines::item(1, number).to_string())),
        ("threads", fingerprint(|number| threads::item(1, number).to_string())),
        ("contexts", fingerprint(|number| contexts::item(1, number).to_string())),
        ("rounds", fingerprint(|number| rounds::item(1, number).to_string())),
        ("calculus", fingerprint(|number| calculus::item(1, number).to_string())),
        ("spin", fingerprint(|number| spin::item(1, number).to_string())),
        ("integers", fingerprint(|number| integers::generate::program(1, number))),
        ("tts", fingerprint(|number| without_transfers(&coverability::random(&mut Rng::for_item(1, number))))),
        (
            "transfers",
            fingerprint(|number| format!("{:?}", coverability::random_with_transfers(&mut Rng::for_item(1, number)))),
        ),
        ("pds", fingerprint(|number| format!("{:?}", systems::random(&mut Rng::for_item(1, number))))),
    ];
    let kept = [
        ("passes", 1046183308157661834),
        ("engines", 18159007585299814253),
        ("threads", 14003555721854196097),
        ("contexts", 14236679653347402831),
        ("rounds", 15305286606031230551),
        ("calculus", 14119146757036086994),
        ("spin", 2648372019193021623),
        ("integers", 1586514088674865235),
        ("tts", 4037627104038114751),
        ("transfers", 16844740386853902643),
        ("pds", 12869855624290519834),
    ];
    assert_eq!(found, kept);
}
