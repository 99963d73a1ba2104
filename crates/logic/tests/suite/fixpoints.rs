//! Fixed points against naive iteration over sets of tuples.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use selvedge_logic::bdd::OutOfNodes;
use selvedge_logic::fixpoint::{Change, IllFormed, Order, System, Term, Unwatched, Watch};
use selvedge_logic::relation::{Column, Plan, Space};

use crate::numbers::Numbers;
use crate::relations::{SMALL, relation, tuples};

type Pairs = BTreeSet<Vec<usize>>;

const ORDERS: [Order; 2] = [Order::Priority, Order::Rounds];

fn space(width: usize) -> (Space, [Column; 3]) {
    let mut plan = Plan::new();
    let columns = plan.group(width, ["x", "y", "z"]);
    (plan.build(SMALL), columns)
}

fn random_graph(numbers: &mut Numbers, nodes: usize) -> Pairs {
    (0..nodes + numbers.below(nodes)).map(|_| vec![numbers.below(nodes), numbers.below(nodes)]).collect()
}

fn composed(a: &Pairs, b: &Pairs) -> Pairs {
    a.iter().flat_map(|s| b.iter().filter(|t| s[1] == t[0]).map(|t| vec![s[0], t[1]])).collect()
}

/// Iterates a monotone function on sets from the empty set.
fn naive(step: impl Fn(&Pairs) -> Pairs) -> Pairs {
    let mut value = Pairs::new();
    loop {
        let next = &value | &step(&value);
        if next == value {
            return value;
        }
        value = next;
    }
}

#[test]
fn transitive_closure_linear_and_not_agrees_with_sets() {
    let (space, [x, y, z]) = space(4);
    let mut numbers = Numbers::seeded(3);
    for _ in 0..30 {
        let edges = random_graph(&mut numbers, 16);
        let edge = relation(&space, &[x, y], &edges);
        let closure = naive(|path| &edges | &composed(path, &edges));
        for order in ORDERS {
            let mut system = System::new(&space);
            let (linear, square) = (system.relation("linear", &[x, y]), system.relation("square", &[x, y]));
            let step = edge.rename(&[(x, y), (y, z)]).unwrap();
            let extended = Term::from(linear).join(step).project(&[x, z]).rename(&[(z, y)]);
            system.equation(linear, Term::from(&edge).union(extended)).unwrap();
            system.equation(square, &edge).unwrap();
            let second = Term::from(square).rename(&[(x, y), (y, z)]);
            system.equation(square, Term::from(square).join(second).project(&[x, z]).rename(&[(z, y)])).unwrap();
            let solution = system.solve(order, &mut Unwatched).unwrap();
            assert!(solution.is_complete());
            assert_eq!(tuples(solution.value(linear)), closure);
            assert_eq!(solution.value(square), solution.value(linear));
        }
    }
}

#[test]
fn same_generation_agrees_with_sets() {
    let mut numbers = Numbers::seeded(11);
    for _ in 0..30 {
        let parents = random_graph(&mut numbers, 8);
        let same = naive(|same| {
            let siblings =
                parents.iter().flat_map(|p| parents.iter().filter(|q| p[1] == q[1]).map(|q| vec![p[0], q[0]]));
            let above = same.iter().flat_map(|s| {
                let left = parents.iter().filter(|p| p[1] == s[0]).map(|p| p[0]);
                left.flat_map(|l| parents.iter().filter(|q| q[1] == s[1]).map(move |q| vec![l, q[0]]))
            });
            siblings.chain(above).collect()
        });
        for order in ORDERS {
            assert_eq!(same_generation(&parents, order), same);
        }
    }
}

fn same_generation(parents: &Pairs, order: Order) -> Pairs {
    let mut plan = Plan::new();
    let [x, y, u, v] = plan.group(3, ["x", "y", "u", "v"]);
    let space = plan.build(SMALL);
    let left = relation(&space, &[x, u], parents);
    let right = left.rename(&[(x, y), (u, v)]).unwrap();
    let mut system = System::new(&space);
    let same = system.relation("same", &[x, y]);
    let sibling = left.join_project(&right.rename(&[(v, u)]).unwrap(), &[x, y]).unwrap();
    let above = Term::from(same).rename(&[(x, u), (y, v)]).join(&left).join(&right).project(&[x, y]);
    system.equation(same, above.union(sibling)).unwrap();
    tuples(system.solve(order, &mut Unwatched).unwrap().value(same))
}

#[test]
fn a_layer_may_negate_what_an_earlier_one_solved() {
    let (space, [x, y, _]) = space(4);
    let mut numbers = Numbers::seeded(5);
    for _ in 0..30 {
        let edges = random_graph(&mut numbers, 16);
        let edge = relation(&space, &[x, y], &edges);
        let reached = naive(|r| {
            let next = edges.iter().filter(|e| r.contains(&vec![e[0]])).map(|e| vec![e[1]]);
            next.chain([vec![0]]).collect()
        });
        // From outside of what is reached: where one can get without touching it.
        let avoiding = naive(|a| {
            let fresh = |e: &&Vec<usize>| !reached.contains(&vec![e[0]]) && !reached.contains(&vec![e[1]]);
            let more = edges.iter().filter(fresh).filter(|e| e[0] == 15 || a.contains(&vec![e[0]]));
            more.map(|e| vec![e[1]]).collect()
        });
        for order in ORDERS {
            let mut system = System::new(&space);
            let reach = system.relation("reach", &[x]);
            let forward = Term::from(reach).join(&edge).project(&[y]).rename(&[(y, x)]);
            system.equation(reach, Term::from(space.value(x, &[false; 4]).unwrap()).union(forward)).unwrap();
            system.next_layer();
            let avoid = system.relation("avoid", &[x]);
            let fresh = Term::from(&edge).join(Term::not(reach)).join(Term::not(reach).rename(&[(x, y)]));
            let from = Term::from(avoid).union(space.value(x, &[true; 4]).unwrap());
            system.equation(avoid, from.join(fresh).project(&[y]).rename(&[(y, x)])).unwrap();
            let solution = system.solve(order, &mut Unwatched).unwrap();
            assert_eq!(tuples(solution.value(reach)), reached);
            assert_eq!(tuples(solution.value(avoid)), avoiding);
        }
    }
}

#[test]
fn negation_within_a_layer_and_use_before_solution_are_refused() {
    let (space, [x, ..]) = space(1);
    let mut system = System::new(&space);
    let (a, b) = (system.relation("a", &[x]), system.relation("b", &[x]));
    system.next_layer();
    let c = system.relation("c", &[x]);
    let named = |r: &str, h: &str| (r.to_owned(), h.to_owned());
    let (relation, head) = named("b", "a");
    assert_eq!(system.equation(a, Term::not(b)), Err(IllFormed::Negated { relation, head }));
    let (relation, head) = named("a", "a");
    assert_eq!(system.equation(a, Term::not(a).join(b)), Err(IllFormed::Negated { relation, head }));
    let (relation, head) = named("c", "b");
    assert_eq!(system.equation(b, c), Err(IllFormed::Later { relation, head }));
    assert_eq!(system.equation(c, Term::not(a).join(b)), Ok(()));
}

#[test]
#[should_panic(expected = "the equation for a has other columns than it")]
fn an_equation_between_different_columns_is_a_bug() {
    let (space, [x, y, _]) = space(1);
    let mut system = System::new(&space);
    let (a, b) = (system.relation("a", &[x]), system.relation("b", &[y]));
    let _ = system.equation(a, b);
}

/// Notes the sizes of differences and stops where it is told to.
struct Log {
    sizes: Vec<(usize, u128)>,
    ticks: usize,
    content_at: u128,
    patience: usize,
}

#[derive(Debug, PartialEq)]
enum Halt {
    Nodes,
    Impatient,
}

impl From<OutOfNodes> for Halt {
    fn from(_: OutOfNodes) -> Halt {
        Halt::Nodes
    }
}

impl Watch for Log {
    type Stop = Halt;

    fn tick(&mut self) -> Result<(), Halt> {
        self.ticks += 1;
        if self.ticks > self.patience { Err(Halt::Impatient) } else { Ok(()) }
    }

    fn grown(&mut self, change: &Change<'_>) -> Result<ControlFlow<()>, Halt> {
        self.sizes.push((change.step, change.delta.count().unwrap()));
        let content = change.value.count().unwrap() >= self.content_at;
        Ok(if content { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
    }
}

/// Reachability from 0 on a line of 16 nodes that doubles back.
fn line(space: &Space, [x, y, _]: [Column; 3]) -> (System, selvedge_logic::fixpoint::RelId) {
    let edges: Pairs = (0..15).map(|n| vec![n, n + 1]).chain([vec![15, 0]]).collect();
    let mut system = System::new(space);
    let reach = system.relation("reach", &[x]);
    let forward = Term::from(reach).join(relation(space, &[x, y], &edges)).project(&[y]).rename(&[(y, x)]);
    system.equation(reach, forward.union(space.value(x, &[false; 4]).unwrap())).unwrap();
    (system, reach)
}

#[test]
fn rounds_show_each_tuple_in_the_round_of_its_shortest_derivation() {
    let (space, columns) = space(4);
    let (system, reach) = line(&space, columns);
    let mut log = Log { sizes: Vec::new(), ticks: 0, content_at: u128::MAX, patience: usize::MAX };
    let solution = system.solve(Order::Rounds, &mut log).unwrap();
    assert_eq!(log.sizes, (0..16).map(|step| (step, 1)).collect::<Vec<_>>());
    assert_eq!((solution.value(reach).count(), solution.steps()), (Some(16), 16));
}

#[test]
fn the_watcher_can_end_the_search_early_or_give_up() {
    let (space, columns) = space(4);
    let (system, reach) = line(&space, columns);
    for order in ORDERS {
        let mut log = Log { sizes: Vec::new(), ticks: 0, content_at: 5, patience: usize::MAX };
        let solution = system.solve(order, &mut log).unwrap();
        assert!(!solution.is_complete());
        assert_eq!(solution.value(reach).count(), Some(5));
        let mut log = Log { sizes: Vec::new(), ticks: 0, content_at: u128::MAX, patience: 7 };
        assert_eq!(system.solve(order, &mut log).unwrap_err(), Halt::Impatient);
    }
}
