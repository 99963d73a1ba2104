//! Fixed points against naive iteration over sets of tuples.

use std::collections::BTreeSet;

use selvedge_logic::bdd::OutOfNodes;
use selvedge_logic::fixpoint::{Change, Order, RelId, System, Term, Watch};
use selvedge_logic::relation::{Column, Plan, Relation, Space};

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
            system.equation(linear, Term::from(&edge).union(extended));
            system.equation(square, &edge);
            let second = Term::from(square).rename(&[(x, y), (y, z)]);
            system.equation(square, Term::from(square).join(second).project(&[x, z]).rename(&[(z, y)]));
            let solution = solved(&system, order);
            assert_eq!(tuples(&space, &solution[linear.index()]), closure);
            assert_eq!(solution[square.index()], solution[linear.index()]);
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
    system.equation(same, above.union(sibling));
    tuples(&space, &solved(&system, order)[same.index()])
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
            system.equation(reach, Term::from(relation(&space, &[x], &[vec![0]].into())).union(forward));
            system.next_layer();
            let avoid = system.relation("avoid", &[x]);
            let fresh = Term::from(&edge).join(Term::not(reach)).join(Term::not(reach).rename(&[(x, y)]));
            let from = Term::from(avoid).union(relation(&space, &[x], &[vec![15]].into()));
            system.equation(avoid, from.join(fresh).project(&[y]).rename(&[(y, x)]));
            let solution = solved(&system, order);
            assert_eq!(tuples(&space, &solution[reach.index()]), reached);
            assert_eq!(tuples(&space, &solution[avoid.index()]), avoiding);
        }
    }
}

/// The relations `a` and `b` of a layer, and `c` of the next.
fn layered(equation: impl Fn(&mut System, [RelId; 3])) {
    let (space, [x, ..]) = space(1);
    let mut system = System::new(&space);
    let (a, b) = (system.relation("a", &[x]), system.relation("b", &[x]));
    system.next_layer();
    let c = system.relation("c", &[x]);
    equation(&mut system, [a, b, c]);
}

#[test]
#[should_panic(expected = "the equation for a needs b, which is not solved before")]
fn negation_within_a_layer_is_a_bug() {
    layered(|system, [a, b, _]| system.equation(a, Term::not(b)));
}

#[test]
#[should_panic(expected = "the equation for a needs a, which is not solved before")]
fn negation_of_itself_is_a_bug() {
    layered(|system, [a, b, _]| system.equation(a, Term::not(a).join(b)));
}

#[test]
#[should_panic(expected = "the equation for b needs c, which is not solved before")]
fn use_before_solution_is_a_bug() {
    layered(|system, [_, b, c]| system.equation(b, c));
}

#[test]
fn negation_of_an_earlier_layer_is_allowed() {
    layered(|system, [a, b, c]| system.equation(c, Term::not(a).join(b)));
}

#[test]
#[should_panic(expected = "the inclusion of relations with different columns: (y) and (x)")]
fn an_equation_between_different_columns_is_a_bug() {
    let (space, [x, y, _]) = space(1);
    let mut system = System::new(&space);
    let (a, b) = (system.relation("a", &[x]), system.relation("b", &[y]));
    system.equation(a, b);
    solved(&system, Order::Priority);
}

/// Notes the sizes of relations and stops where it is told to.
#[derive(Default)]
struct Log {
    sizes: Vec<(usize, u128)>,
    ticks: usize,
    patience: Option<usize>,
}

fn solved(system: &System, order: Order) -> Vec<Relation> {
    system.solve(order, &mut Log::default()).unwrap()
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
        if self.patience.is_some_and(|most| self.ticks > most) { Err(Halt::Impatient) } else { Ok(()) }
    }

    fn grown(&mut self, change: &Change<'_>) {
        self.sizes.push((change.step, change.value.count().unwrap()));
    }
}

/// Reachability from 0 on a line of 16 nodes that doubles back.
fn line(space: &Space, [x, y, _]: [Column; 3]) -> (System, RelId) {
    let edges: Pairs = (0..15).map(|n| vec![n, n + 1]).chain([vec![15, 0]]).collect();
    let mut system = System::new(space);
    let reach = system.relation("reach", &[x]);
    let forward = Term::from(reach).join(relation(space, &[x, y], &edges)).project(&[y]).rename(&[(y, x)]);
    system.equation(reach, forward.union(relation(space, &[x], &[vec![0]].into())));
    (system, reach)
}

#[test]
fn rounds_show_each_tuple_in_the_round_of_its_shortest_derivation() {
    let (space, columns) = space(4);
    let (system, reach) = line(&space, columns);
    let mut log = Log::default();
    let solution = system.solve(Order::Rounds, &mut log).unwrap();
    assert_eq!(log.sizes, (0..16).map(|step| (step, step as u128 + 1)).collect::<Vec<_>>());
    assert_eq!(solution[reach.index()].count(), Some(16));
}

#[test]
fn the_watcher_can_give_up() {
    let (space, columns) = space(4);
    let (system, _) = line(&space, columns);
    for order in ORDERS {
        let mut log = Log { patience: Some(7), ..Log::default() };
        assert_eq!(system.solve(order, &mut log).unwrap_err(), Halt::Impatient);
    }
}
