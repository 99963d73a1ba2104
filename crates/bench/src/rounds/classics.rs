//! Well-known programs for any number of threads, correct and broken: the Bluetooth driver, a ticket lock, and readers
//! with writers.

/// Returns each program with its name, first the correct ones.
pub(super) fn all() -> Vec<(&'static str, String)> {
    let made = |right| [("bluetooth", bluetooth(right)), ("ticket", ticket(right)), ("readers", readers(right))];
    [true, false].into_iter().flat_map(made).collect()
}

/// Generates the Bluetooth driver: requests count themselves in, up to three of them; the stopper waits until all have
/// counted themselves out. The broken one checks whether the driver is being stopped before it counts itself in.
fn bluetooth(right: bool) -> String {
    let enter = if right {
        "atomic_begin; assume(!(p0 & p1)); p0, p1 := !p0, p1 ^ p0; atomic_end;\n    allowed := !stopping;"
    } else {
        "allowed := !stopping;\n    atomic_begin; assume(!(p0 & p1)); p0, p1 := !p0, p1 ^ p0; atomic_end;"
    };
    format!(
        "shared decl stopping := 0, event := 0, stopped := 0, p0 := 1, p1 := 0;
process stopper once begin
  void main() begin
    stopping := 1;
    atomic_begin; p0, p1 := !p0, p1 ^ !p0; if !p0 & !p1 then event := 1; fi; atomic_end;
    assume(event);
    stopped := 1;
  end
end
process request begin
  void main() begin
    decl allowed;
    {enter}
    if allowed then assert(!stopped); fi;
    atomic_begin; p0, p1 := !p0, p1 ^ !p0; if !p0 & !p1 then event := 1; fi; atomic_end;
  end
end
"
    )
}

/// Generates a ticket lock with tickets modulo four, of which at most three are out. The broken lock hands out four.
fn ticket(right: bool) -> String {
    let room = if right { "!((n0 = (s0 != 1)) & (n1 = (s1 ^ !s0)))" } else { "1" };
    format!(
        "shared decl n0 := 0, n1 := 0, s0 := 0, s1 := 0, inside := 0;
process client begin
  void main() begin
    decl t0, t1;
    atomic_begin; assume({room}); t0, t1 := n0, n1; n0, n1 := !n0, n1 ^ n0; atomic_end;
    assume((t0 = s0) & (t1 = s1));
    assert(!inside);
    inside := 1;
    inside := 0;
    s0, s1 := !s0, s1 ^ s0;
  end
end
"
    )
}

/// Generates a lock for up to three readers or one writer. The broken writer does not check the second bit of the
/// readers.
fn readers(right: bool) -> String {
    let calm = if right { "!w & !r0 & !r1" } else { "!w & !r0" };
    format!(
        "shared decl w := 0, r0 := 0, r1 := 0;
process reader begin
  void main() begin
    atomic_begin; assume(!w & !(r0 & r1)); r0, r1 := !r0, r1 ^ r0; atomic_end;
    assert(!w);
    atomic_begin; r0, r1 := !r0, r1 ^ !r0; atomic_end;
  end
end
process writer begin
  void main() begin
    atomic_begin; assume({calm}); w := 1; atomic_end;
    assert(!r0 & !r1);
    w := 0;
  end
end
"
    )
}
