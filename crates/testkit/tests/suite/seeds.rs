//! The program of a seed and a number never changes: findings are reproduced by them.

use selvedge_testkit::rng::Rng;
use selvedge_testkit::{calculus, contexts, coverability, differ, engines, integers, rounds, spin, systems, threads};

/// Computes FNV-1a over the texts of the first programs.
fn fingerprint(text: impl Fn(u64) -> String) -> u64 {
    let all: String = (0..48).map(text).collect();
    all.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
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
        ("tts", fingerprint(|number| format!("{:?}", coverability::random(&mut Rng::for_item(1, number))))),
        ("pds", fingerprint(|number| format!("{:?}", systems::random(&mut Rng::for_item(1, number))))),
    ];
    let kept = [
        ("passes", 5905225989058158842),
        ("engines", 3909518180496314403),
        ("threads", 8164902990533782540),
        ("contexts", 14903213655466699229),
        ("rounds", 3856386161001551825),
        ("calculus", 14625015161508560248),
        ("spin", 3397526867397156585),
        ("integers", 1586514088674865235),
        ("tts", 4037627104038114751),
        ("pds", 12869855624290519834),
    ];
    assert_eq!(found, kept);
}
