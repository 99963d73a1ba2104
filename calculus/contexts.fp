// Two threads without calls that take turns in the order of their declaration, with two contexts each, like `selvedge
// check --contexts 2`. A1 is the first context of the first thread, B1 that of the second, then A2 and B2.

rel Move(g, h: Shared, p, q: Own, l, m: Frame) := Step(g, p, l, h, q, m) | (g = h & End(g, p, l, q, m));

rel A1(g: Shared, p, q: Own, l, m: Frame) :=
    (exists s, t: Template. First(s) & Next(s, t) & Initial(g) & Begin(s, g, p, l) & Begin(t, g, q, m))
  | (exists h: Shared, p1: Own, l1: Frame. A1(h, p1, q, l1, m) & Move(h, g, p1, p, l1, l));

rel B1(g: Shared, p, q: Own, l, m: Frame) :=
    (A1(g, p, q, l, m) & Free(p))
  | (exists h: Shared, q1: Own, m1: Frame. B1(h, p, q1, l, m1) & Move(h, g, q1, q, m1, m));

rel A2(g: Shared, p, q: Own, l, m: Frame) :=
    (B1(g, p, q, l, m) & Free(q))
  | (exists h: Shared, p1: Own, l1: Frame. A2(h, p1, q, l1, m) & Move(h, g, p1, p, l1, l));

rel B2(g: Shared, p, q: Own, l, m: Frame) :=
    (A2(g, p, q, l, m) & Free(p))
  | (exists h: Shared, q1: Own, m1: Frame. B2(h, p, q1, l, m1) & Move(h, g, q1, q, m1, m));

rel Error() :=
    (exists g: Shared, p, q: Own, l, m: Frame. A1(g, p, q, l, m) & Target(g, p, l))
  | (exists g: Shared, p, q: Own, l, m: Frame. B1(g, p, q, l, m) & Target(g, q, m))
  | (exists g: Shared, p, q: Own, l, m: Frame. A2(g, p, q, l, m) & Target(g, p, l))
  | (exists g: Shared, p, q: Own, l, m: Frame. B2(g, p, q, l, m) & Target(g, q, m));
