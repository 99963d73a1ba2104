//! The store: limits, garbage, prepared cubes.

use selvedge_logic::bdd::{Bdd, Limits, Manager, OutOfNodes, Var};

fn parity(manager: &Manager, vars: &[Var]) -> Result<Bdd, OutOfNodes> {
    let mut f = manager.bottom();
    for &v in vars {
        f = f.xor(&manager.var(v)?)?;
    }
    Ok(f)
}

/// Exponential in the order in which the variables were added.
fn far_pairs(manager: &Manager, vars: &[Var]) -> Result<Bdd, OutOfNodes> {
    let (left, right) = vars.split_at(vars.len() / 2);
    let mut f = manager.bottom();
    for (&a, &b) in left.iter().zip(right) {
        f = f.or(&manager.var(a)?.and(&manager.var(b)?)?)?;
    }
    Ok(f)
}

#[test]
fn a_diagram_larger_than_the_limit_is_an_error_and_the_manager_lives_on() {
    let manager = Manager::new(Limits { nodes: 2000, cache: 1 << 10 });
    let vars = manager.add_vars(40);
    assert_eq!(far_pairs(&manager, &vars), Err(OutOfNodes { limit: 2000 }));
    assert_eq!(parity(&manager, &vars).unwrap().node_count(), 2 * 40 - 1);
}

#[test]
fn garbage_does_not_count_against_the_limit() {
    let manager = Manager::new(Limits { nodes: 4000, cache: 1 << 10 });
    let vars = manager.add_vars(20);
    for _ in 0..20 {
        // Each round makes some thousand nodes and keeps none.
        for skip in 0..vars.len() {
            let some: Vec<Var> = vars.iter().copied().filter(|v| v.level() != skip).collect();
            assert!(far_pairs(&manager, &some[..18]).unwrap().node_count() > 500);
        }
        assert_eq!(parity(&manager, &vars).unwrap().count(&vars), Some(1 << 19));
    }
}

#[test]
fn tidying_collects_only_when_the_store_is_nearly_full() {
    let manager = Manager::new(Limits { nodes: 4000, cache: 1 << 10 });
    let vars = manager.add_vars(18);
    let kept = far_pairs(&manager, &vars).unwrap();
    drop(far_pairs(&manager, &vars[2..]).unwrap());
    let before = manager.node_count();
    manager.tidy();
    assert_eq!(manager.node_count(), before, "far from full");
    for cut in 3..8 {
        drop(far_pairs(&manager, &vars[cut..]).unwrap().or(&parity(&manager, &vars[..cut]).unwrap()).unwrap());
        drop(far_pairs(&manager, &vars[..18 - cut]).unwrap());
        drop(parity(&manager, &vars).unwrap().and(&far_pairs(&manager, &vars[cut..]).unwrap()).unwrap());
        manager.tidy();
        assert!(manager.node_count() < 4000);
    }
    assert_eq!(kept, far_pairs(&manager, &vars).unwrap());
}

#[test]
fn memory_limits_translate_to_sizes_that_fit() {
    for bytes in [1u64 << 16, 1 << 24, 1 << 30, 1 << 40] {
        let limits = Limits::memory(bytes);
        assert!(limits.cache.is_power_of_two() && limits.cache <= Limits::default().cache);
        assert!(limits.nodes >= 1 << 10 && limits.nodes < u32::MAX as usize);
        if bytes >= 1 << 24 {
            assert!((limits.nodes as u64) * 20 + (limits.cache as u64) * 20 <= bytes);
        }
    }
}

#[test]
fn equality_of_interleaved_vectors_is_linear() {
    let manager = Manager::new(Limits { nodes: 1 << 16, cache: 1 << 10 });
    let vars = manager.add_vars(200);
    let pairs: Vec<(Var, Var)> = vars.chunks(2).map(|p| (p[0], p[1])).collect();
    let equal = manager.equal(&pairs).unwrap();
    assert_eq!(equal.node_count(), 300);
    assert_eq!(equal.count(&vars), Some(1 << 100));
    assert_eq!(manager.top().count(&vars), None, "two to the two hundred does not fit");
}

#[test]
fn a_diagram_can_be_read_off_by_its_decisions() {
    let manager = Manager::new(Limits { nodes: 1 << 10, cache: 1 << 10 });
    let vars = manager.add_vars(2);
    let f = manager.cube(&[(vars[1], false), (vars[0], true)]).unwrap();
    let (top, high, low) = f.decision().unwrap();
    assert_eq!((top, low.as_constant()), (vars[0], Some(false)));
    let (next, high, low) = high.decision().unwrap();
    assert_eq!((next, high.as_constant(), low.as_constant()), (vars[1], Some(false), Some(true)));
}

/// Without threads nobody can leave an operation behind.
#[cfg(feature = "plain")]
#[test]
fn an_operation_gives_up_when_the_time_is_over() {
    use std::time::{Duration, Instant};

    let manager = Manager::new(Limits { nodes: 1 << 25, cache: 1 << 16 });
    let vars = manager.add_vars(60);
    let start = Instant::now();
    selvedge_logic::bdd::set_deadline(Some(start + Duration::from_millis(50)));
    assert_eq!(far_pairs(&manager, &vars), Err(OutOfNodes { limit: 1 << 25 }));
    selvedge_logic::bdd::set_deadline(None);
    assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
    assert_eq!(parity(&manager, &vars).unwrap().node_count(), 2 * 60 - 1);
}
