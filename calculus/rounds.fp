// Any number of threads without calls, of templates without a limit on their threads, in two rounds: the system S of
// La Torre, Madhusudan and Parlato (2010), section 4, like `selvedge check --rounds 2`. T1 and T2 are thread linear
// interfaces of one and two rounds, R1 right linear interfaces, W2 the wanted blocks.

rel Move(g, h: Shared, p, q: Own, l, m: Frame) := Step(g, p, l, h, q, m) | (g = h & End(g, p, l, q, m));

rel T1(u, v: Shared, p: Own, l: Frame) :=
    (exists t: Template. Begin(t, u, p, l) & u = v & Initial(u))
  | (exists t: Template, w: Shared, q: Own, m: Frame. T1(w, u, q, m) & Free(q) & Begin(t, u, p, l) & u = v)
  | (exists h: Shared, q: Own, m: Frame. T1(u, h, q, m) & Move(h, v, q, p, m, l));

rel R1(u, v: Shared) :=
    (exists q: Own, m: Frame. T1(u, v, q, m) & Free(q))
  | (exists w: Shared, q: Own, m: Frame. T1(u, w, q, m) & Free(q) & R1(w, v));

rel T2(u1, u2, v1, v2: Shared, p: Own, l: Frame) :=
    (T1(u1, v1, p, l) & Free(p) & u2 = v2 & Initial(u1) & R1(v1, u2))
  | (exists w: Shared. T1(u1, v1, p, l) & Free(p) & u2 = v2 & R1(v1, w) & W2(u1, u2, w))
  | (exists h: Shared, q: Own, m: Frame. T2(u1, u2, v1, h, q, m) & Move(h, v2, q, p, m, l));

rel W2(u1, u2, w: Shared) :=
    (exists x1, x2: Shared, q: Own, m: Frame. T2(x1, x2, u1, u2, q, m) & Free(q) & R1(u1, w) & W2(x1, x2, w))
  | (exists x1: Shared, q: Own, m: Frame. T2(x1, w, u1, u2, q, m) & Free(q) & R1(u1, w) & Initial(x1));

rel Error() :=
    (exists u, v: Shared, p: Own, l: Frame. T1(u, v, p, l) & Target(v, p, l))
  | (exists u1, u2, v1, v2: Shared, p: Own, l: Frame. T2(u1, u2, v1, v2, p, l) & Target(v2, p, l));
