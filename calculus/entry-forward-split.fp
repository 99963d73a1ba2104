// Like entry-forward.fp, but with the return of a call split into two relations: the effect of a callee from its entry to
// its exits (Effect), and the calls that have not returned yet (Waiting). Neither carries what only the other needs.

rel Path(g, h: Shared, p, q: Own, e, l: Frame) :=
    (exists t: Template. Initial(g) & Begin(t, g, p, e) & g = h & p = q & e = l)
  | (exists g1: Shared, p1: Own, m: Frame. Path(g, g1, p, p1, e, m) & Step(g1, p1, m, h, q, l))
  | (exists g1: Shared, p1: Own, d, c: Frame. Waiting(g1, g, p1, p, d, c, e) & g = h & p = q & e = l)
  | (exists g1, g2: Shared, p1, p2: Own, c, b, x: Frame.
       Waiting(g, g1, p, p1, e, c, b) & Effect(g1, g2, p1, p2, b, x) & Return(c, g2, p2, x, h, q, l));

rel Waiting(g, h: Shared, p, q: Own, e, c, b: Frame) := Path(g, h, p, q, e, c) & Call(h, q, c, b);

rel Effect(g, h: Shared, p, q: Own, b, x: Frame) := Path(g, h, p, q, b, x) & Exit(x);

rel Error() := exists g, h: Shared, p, q: Own, e, l: Frame. Path(g, h, p, q, e, l) & Target(h, q, l);
