// Reachability in a program with one thread, with plain summaries: from every entry of every procedure in every state,
// reachable or not, to all states that follow in the same frame.

rel Summary(g, h: Shared, p, q: Own, e, l: Frame) :=
    (Entry(e) & g = h & p = q & e = l)
  | (exists g1: Shared, p1: Own, m: Frame. Summary(g, g1, p, p1, e, m) & Step(g1, p1, m, h, q, l))
  | (exists g1, g2: Shared, p1, p2: Own, c, b, x: Frame.
       Summary(g, g1, p, p1, e, c) & Call(g1, p1, c, b) & Summary(g1, g2, p1, p2, b, x) & Return(c, g2, p2, x, h, q, l));

// The reachable states: a call enters its procedure, or is skipped with a summary.
rel Reach(g: Shared, p: Own, l: Frame) :=
    (exists t: Template. Initial(g) & Begin(t, g, p, l))
  | (exists h: Shared, q: Own, m: Frame. Reach(h, q, m) & Step(h, q, m, g, p, l))
  | (exists c: Frame. Reach(g, p, c) & Call(g, p, c, l))
  | (exists g1, g2: Shared, p1, p2: Own, c, b, x: Frame.
       Reach(g1, p1, c) & Call(g1, p1, c, b) & Summary(g1, g2, p1, p2, b, x) & Return(c, g2, p2, x, g, p, l));

rel Error() := exists g: Shared, p: Own, l: Frame. Reach(g, p, l) & Target(g, p, l);
