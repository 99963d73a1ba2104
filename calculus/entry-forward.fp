// Reachability in a program with one thread, with summaries for reached entries only.
// Path(g, h, p, q, e, l): the frame that was entered as e, in g and p, is reachable and is now l, in h and q.

rel Path(g, h: Shared, p, q: Own, e, l: Frame) :=
    (exists t: Template. Initial(g) & Begin(t, g, p, e) & g = h & p = q & e = l)
  | (exists g1: Shared, p1: Own, m: Frame. Path(g, g1, p, p1, e, m) & Step(g1, p1, m, h, q, l))
  | (exists g1: Shared, p1: Own, d, c: Frame. Path(g1, g, p1, p, d, c) & Call(g, p, c, e) & g = h & p = q & e = l)
  | (exists g1, g2: Shared, p1, p2: Own, c, b, x: Frame.
       Path(g, g1, p, p1, e, c) & Call(g1, p1, c, b) & Path(g1, g2, p1, p2, b, x) & Return(c, g2, p2, x, h, q, l));

rel Error() := exists g, h: Shared, p, q: Own, e, l: Frame. Path(g, h, p, q, e, l) & Target(h, q, l);
