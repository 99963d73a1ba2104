//! The meaning of steps, on small programs in the textual form of the representation.

use selvedge_check::ThreadScope;
use selvedge_ir::text::parse;
use selvedge_ir::trace::{Start, StartThread, Step, ThreadId};
use selvedge_ir::validate::validate;
use selvedge_ir::{BinaryOp, EdgeId, EntryId, Expr, Op, Program, Ty, UnaryOp, Value, VarId, eval};
use selvedge_replay::canonical::canonical;
use selvedge_replay::enumerate::least_threads;
use selvedge_replay::interpreter::Illegal;
use selvedge_replay::{Interpreter, Outcome, State};

const T: Value = Value::Bool(true);
const F: Value = Value::Bool(false);

fn program(text: &str) -> Program {
    let program = parse(text).expect("the program is well-formed");
    validate(&program).expect("the program is valid");
    program
}

fn plain_start(n_threads: usize) -> Start {
    let thread = StartThread { entry: EntryId::new(0), choices: Vec::new(), fresh: Vec::new() };
    Start { choices: Vec::new(), fresh: Vec::new(), threads: vec![thread; n_threads] }
}

fn step(thread: u32, edge: usize) -> Step {
    let edge = EdgeId::new(edge);
    Step { thread: ThreadId(thread), edge, choices: Vec::new(), passive: Vec::new(), fresh: Vec::new(), body: None }
}

/// Runs steps from the plain start; the last outcome.
fn run(program: &Program, n_threads: usize, threads: ThreadScope, steps: &[Step]) -> Result<Outcome, Illegal> {
    let interpreter = Interpreter::new(program, threads);
    let mut state = interpreter.start(&plain_start(n_threads))?;
    for (number, step) in steps.iter().enumerate() {
        match interpreter.step(&state, step)? {
            Outcome::Next(next) => state = next,
            other => {
                assert_eq!(number + 1, steps.len(), "only the last step may end the run");
                return Ok(other);
            }
        }
    }
    Ok(Outcome::Next(state))
}

fn state(outcome: Result<Outcome, Illegal>) -> State {
    match outcome {
        Ok(Outcome::Next(state)) => state,
        other => panic!("no state, but {other:?}"),
    }
}

/// All states that one step along an edge leads to, as the shared valuations.
fn shared_after(program: &Program, n_threads: usize, edge: usize) -> Vec<Vec<Value>> {
    let interpreter = Interpreter::new(program, ThreadScope::Unbounded);
    let state = interpreter.start(&plain_start(n_threads)).unwrap();
    let outcomes = interpreter.steps(&state, 0, EdgeId::new(edge)).map(|step| interpreter.step(&state, &step).unwrap());
    let mut shared: Vec<_> = outcomes
        .filter_map(|outcome| match outcome {
            Outcome::Next(state) => Some(state.shared),
            Outcome::Blocked | Outcome::Failed => None,
        })
        .collect();
    shared.sort();
    shared.dedup();
    shared
}

#[test]
fn right_hand_sides_are_read_in_the_old_state() {
    let program = program(
        "shared x: bool, y: bool\ninit x := T, y := F\nproc main() from L0 to L2\ne0 L0 -> L1: x := y, y := x\n\
         e1 L1 -> L2: return\nstart main",
    );
    assert_eq!(shared_after(&program, 1, 0), vec![vec![F, T]]);
}

#[test]
fn a_constraint_relates_old_and_new_values() {
    let program = program(
        "shared x: bool, y: bool\ninit x := T, y := F\nproc main() from L0 to L2\n\
         e0 L0 -> L1: x := ?0, y := ?1 constrain x' = y' & (x => y')\ne1 L1 -> L2: return\nstart main",
    );
    assert_eq!(shared_after(&program, 1, 0), vec![vec![T, T]]);
}

#[test]
fn the_same_choice_twice_is_the_same_value() {
    let program = program(
        "shared x: bool, y: bool\ninit x := F, y := F\nproc main() from L0 to L2\ne0 L0 -> L1: x := ?0, y := ?0\n\
         e1 L1 -> L2: return\nstart main",
    );
    assert_eq!(shared_after(&program, 1, 0), vec![vec![F, F], vec![T, T]]);
}

const RECURSIVE: &str = "shared g: bool\ninit g := F\nproc main() from L0 to L3\nlocal l: bool\n\
    e0 L0 -> L1: l := T\ne1 L1 -> L2: g := call id(!l)\ne2 L2 -> L3: return\n\
    proc id(p: bool) returns bool from L4 to L6\ne3 L4 -> L5: p := !p\ne4 L5 -> L6: return p\nstart main";

#[test]
fn a_return_writes_into_the_caller_and_the_callers_locals_survive() {
    let program = program(RECURSIVE);
    let steps = [step(0, 0), step(0, 1), step(0, 3), step(0, 4)];
    let state = state(run(&program, 1, ThreadScope::Unbounded, &steps));
    assert_eq!(state.shared, vec![T]);
    assert_eq!(state.threads[0].stack.len(), 1);
    assert_eq!(state.threads[0].top().locals, vec![T]);
    assert_eq!(state.threads[0].loc().index(), 2);
}

#[test]
fn a_return_from_the_first_procedure_ends_the_thread() {
    let program = program(RECURSIVE);
    let steps = [step(0, 0), step(0, 1), step(0, 3), step(0, 4), step(0, 2)];
    assert!(state(run(&program, 1, ThreadScope::Unbounded, &steps)).threads.is_empty());
}

#[test]
fn an_edge_from_elsewhere_is_illegal() {
    let program = program(RECURSIVE);
    let outcome = run(&program, 1, ThreadScope::Unbounded, &[step(0, 1)]);
    assert_eq!(outcome, Err(Illegal::WrongPlace(EdgeId::new(1))));
}

#[test]
fn a_thread_that_does_not_exist_cannot_move() {
    let program = program(RECURSIVE);
    assert_eq!(run(&program, 1, ThreadScope::Unbounded, &[step(1, 0)]), Err(Illegal::NoSuchThread(ThreadId(1))));
}

#[test]
fn choices_and_fresh_values_must_be_those_of_the_edge() {
    let program = program(RECURSIVE);
    let one_choice = Step { choices: vec![T], ..step(0, 0) };
    assert_eq!(run(&program, 1, ThreadScope::Unbounded, &[one_choice]), Err(Illegal::WrongChoices));
    let fresh = Step { fresh: vec![(VarId::new(0), T)], ..step(0, 0) };
    assert_eq!(run(&program, 1, ThreadScope::Unbounded, &[fresh]), Err(Illegal::WrongFresh(VarId::new(0))));
    let passive = Step { passive: vec![vec![]], ..step(0, 0) };
    assert_eq!(run(&program, 1, ThreadScope::Unbounded, &[passive]), Err(Illegal::WrongChoices));
}

fn atomic() -> Program {
    program(
        "proc main() from L0 to L4\ne0 L0 -> L1: atomic_begin\ne1 L1 -> L2: atomic_begin\n\
         e2 L2 -> L3: atomic_end\ne3 L3 -> L4: end\ne4 L0 -> L4: end\nstart main: main any",
    )
}

#[test]
fn only_the_holder_of_the_atomic_flag_moves() {
    let outcome = run(&atomic(), 2, ThreadScope::Unbounded, &[step(0, 0), step(1, 0)]);
    assert_eq!(outcome, Err(Illegal::AtomicElsewhere(ThreadId(0))));
}

#[test]
fn one_end_releases_a_flag_taken_twice() {
    let steps = [step(0, 0), step(0, 1), step(0, 2), step(1, 0)];
    assert_eq!(state(run(&atomic(), 2, ThreadScope::Unbounded, &steps)).holder, Some(ThreadId(1)));
}

/// Errata: the thesis removes the last thread instead of the one that ends.
#[test]
fn end_thread_index() {
    let state = state(run(&atomic(), 3, ThreadScope::Unbounded, &[step(1, 4)]));
    let left: Vec<u32> = state.threads.iter().map(|thread| thread.id.0).collect();
    assert_eq!(left, vec![0, 2]);
}

#[test]
fn a_holder_that_ends_releases_the_flag() {
    let program =
        program("proc main() from L0 to L2\ne0 L0 -> L1: atomic_begin\ne1 L1 -> L2: end\nstart main: main any");
    let state = state(run(&program, 2, ThreadScope::Unbounded, &[step(0, 0), step(0, 1), step(1, 0)]));
    assert_eq!(state.holder, Some(ThreadId(1)));
}

#[test]
fn a_fork_copies_the_whole_stack() {
    let program = program(
        "proc main() from L0 to L2\nlocal l: bool\ne0 L0 -> L1: call f(l)\ne1 L1 -> L2: return\n\
         proc f(p: bool) from L3 to L5\ne2 L3 -> L4: fork L4\ne3 L4 -> L5: return\nstart main",
    );
    let state = state(run(&program, 1, ThreadScope::AtMost(2), &[step(0, 0), step(0, 2), step(1, 3)]));
    let places: Vec<(u32, usize)> = state.threads.iter().map(|thread| (thread.id.0, thread.loc().index())).collect();
    assert_eq!(places, vec![(0, 4), (1, 1)]);
}

#[test]
fn a_spawn_at_the_bound_is_a_skip_and_takes_no_fresh_values() {
    let program = program(
        "proc main() from L0 to L2\ne0 L0 -> L1: spawn f()\ne1 L1 -> L2: return\n\
         proc f() from L3 to L4\nlocal l: bool\ne2 L3 -> L4: return\nstart main",
    );
    let with_fresh = Step { fresh: vec![(VarId::new(0), T)], ..step(0, 0) };
    assert_eq!(
        run(&program, 1, ThreadScope::AtMost(1), std::slice::from_ref(&with_fresh)),
        Err(Illegal::WrongFresh(VarId::new(0)))
    );
    assert_eq!(state(run(&program, 1, ThreadScope::AtMost(1), &[step(0, 0)])).threads.len(), 1);
    let spawned = state(run(&program, 1, ThreadScope::AtMost(2), &[with_fresh]));
    assert_eq!(spawned.threads[1].top().locals, vec![T]);
}

const PASSIVE: &str = "proc main() from L0 to L2\nlocal l: bool\n\
    e0 L0 -> L1: l := T, l$ := !l$ & ?0\ne1 L0 -> L1: assume l$\ne2 L1 -> L2: return\nstart main: main any";

#[test]
fn a_passive_assignment_chooses_afresh_for_each_other_thread() {
    let program = program(PASSIVE);
    let interpreter = Interpreter::new(&program, ThreadScope::Unbounded);
    let state = interpreter.start(&plain_start(3)).unwrap();
    let outcomes = interpreter.steps(&state, 1, EdgeId::new(0)).map(|step| interpreter.step(&state, &step).unwrap());
    let mut locals: Vec<Vec<Value>> = outcomes
        .map(|outcome| match outcome {
            Outcome::Next(state) => state.threads.iter().map(|thread| thread.top().locals[0]).collect(),
            other => panic!("{other:?}"),
        })
        .collect();
    locals.sort();
    assert_eq!(locals, vec![vec![F, T, F], vec![F, T, T], vec![T, T, F], vec![T, T, T]]);
}

#[test]
fn a_passive_condition_must_hold_for_every_other_thread_and_holds_without_one() {
    let program = program(PASSIVE);
    let interpreter = Interpreter::new(&program, ThreadScope::Unbounded);
    let blocked = |values: &[Value]| {
        let local = VarId::new(0);
        let threads = values.iter().map(|value| StartThread {
            entry: EntryId::new(0),
            choices: Vec::new(),
            fresh: vec![(local, *value)],
        });
        let state = interpreter.start(&Start { threads: threads.collect(), ..Start::default() }).unwrap();
        let step = Step { passive: vec![Vec::new(); values.len() - 1], ..step(0, 1) };
        interpreter.step(&state, &step).unwrap() == Outcome::Blocked
    };
    assert!(!blocked(&[F]));
    assert!(!blocked(&[F, T, T]));
    assert!(blocked(&[T, T, F]));
}

/// The locals of all threads after the first of two threads has made the first step.
fn locals_after_the_first(text: &str, choices: &[Value], passive: &[Value]) -> Vec<Vec<Value>> {
    let program = program(text);
    let step = Step { choices: choices.to_vec(), passive: vec![passive.to_vec()], ..step(0, 0) };
    let after = state(run(&program, 2, ThreadScope::Unbounded, &[step]));
    after.threads.iter().map(|thread| thread.top().locals.clone()).collect()
}

#[test]
fn a_choice_that_the_mover_makes_too_is_made_once() {
    let text = "proc main() from L0 to L1\nlocal l: bool, m: bool\ne0 L0 -> L2: l := ?0, l$ := ?0, m$ := ?1\n\
        e1 L0 -> L1: return\nstart main: main any";
    let after = locals_after_the_first(text, &[T, F], &[F, T]);
    assert_eq!(after, [[T, F], [T, T]], "the second choice is made for the other thread");
}

#[test]
fn a_condition_sees_what_the_step_writes_to_another_thread() {
    let text = "proc main() from L0 to L1\nlocal l: bool, m: bool, n: bool\n\
        e0 L0 -> L2: l$ := T, m$ := F constrain l$' & !m$' & !n$'\ne1 L0 -> L1: return\nstart main: main any";
    assert_eq!(locals_after_the_first(text, &[], &[]), [[F, F, F], [T, F, F]]);
}

#[test]
fn the_initial_threads_live_when_the_prelude_ends() {
    let program = program(
        "shared x: bool\nthread t: bool\nproc setup() from L0 to L2\ne0 L0 -> L1: x := T\ne1 L1 -> L2: return\n\
         proc main() from L3 to L4\ne2 L3 -> L4: return\nprelude setup\nstart main: main exactly 1 with t init t := x",
    );
    let interpreter = Interpreter::new(&program, ThreadScope::AtMost(1));
    let start = interpreter.start(&plain_start(1)).unwrap();
    assert_eq!(start.threads.len(), 1);
    let Ok(Outcome::Next(inside)) = interpreter.step(&start, &step(0, 0)) else { panic!("the prelude runs") };
    let Ok(Outcome::Next(after)) = interpreter.step(&inside, &step(0, 1)) else { panic!("the prelude ends") };
    assert_eq!(after.threads.len(), 1);
    assert_eq!((after.threads[0].id, after.threads[0].vars.clone()), (ThreadId(1), vec![T]));
    assert_eq!(after.prelude, None);
}

#[test]
fn starts_list_every_crew_within_the_bound() {
    let program = program(
        "proc a() from L0 to L1\ne0 L0 -> L1: return\nproc b() from L2 to L3\ne1 L2 -> L3: return\n\
         start a: a at most 1\nstart b: b any",
    );
    let interpreter = Interpreter::new(&program, ThreadScope::AtMost(2));
    let crews: Vec<Vec<usize>> =
        interpreter.starts(2).map(|start| start.threads.iter().map(|thread| thread.entry.index()).collect()).collect();
    assert_eq!(crews, vec![vec![], vec![1], vec![0], vec![1, 1], vec![0, 1]]);
}

#[test]
fn too_many_initial_threads_are_illegal() {
    let program = program(RECURSIVE);
    let interpreter = Interpreter::new(&program, ThreadScope::Unbounded);
    assert_eq!(interpreter.start(&plain_start(2)), Err(Illegal::WrongThreads));
}

const INTEGERS: &str = "shared n: int, m: int\ninit n := 40, m := 0\nproc main() from L0 to L3\n\
    e0 L0 -> L1: n := n + 2, m := ?0:int constrain m' < n' & divisible(7, n')\ne1 L1 -> L2: assert n * 2 <= 84 - m\n\
    e2 L2 -> L2: n := n * n\ne3 L2 -> L3: return\nstart main";

#[test]
fn integers_are_computed_and_chosen() {
    let program = program(INTEGERS);
    let chosen = |value: i64| Step { choices: vec![Value::Int(value)], ..step(0, 0) };
    let ok = state(run(&program, 1, ThreadScope::Unbounded, &[chosen(-1), step(0, 1)]));
    assert_eq!(ok.shared, vec![Value::Int(42), Value::Int(-1)]);
    assert_eq!(run(&program, 1, ThreadScope::Unbounded, &[chosen(42)]), Ok(Outcome::Blocked));
    assert_eq!(run(&program, 1, ThreadScope::Unbounded, &[chosen(5), step(0, 1)]), Ok(Outcome::Failed));
    let boolean = Step { choices: vec![T], ..step(0, 0) };
    assert_eq!(run(&program, 1, ThreadScope::Unbounded, &[boolean]), Err(Illegal::WrongChoices));
}

#[test]
fn an_integer_beyond_64_bits_is_refused_not_wrapped() {
    let program = program(INTEGERS);
    let first = Step { choices: vec![Value::Int(0)], ..step(0, 0) };
    let mut steps = vec![first, step(0, 1)];
    steps.extend(std::iter::repeat_n(step(0, 2), 4));
    assert_eq!(run(&program, 1, ThreadScope::Unbounded, &steps), Err(Illegal::Overflow));
}

/// Returns what the interpreter makes of an operator on given operands; `None` beyond 64 bits.
fn computed(result: Ty, expr: Expr, operands: &[Value]) -> Option<Value> {
    let mut program = program(
        "shared b: bool, n: int\ninit b := F, n := 0\nproc main() from L0 to L2\ne0 L0 -> L1: skip\n\
         e1 L1 -> L2: return\nstart main",
    );
    let place = usize::from(result == Ty::Int);
    program.edges[EdgeId::new(0)].op = Op::set(vec![(VarId::new(place), expr)]);
    validate(&program).expect("the program is valid");
    let step = Step { choices: operands.to_vec(), ..step(0, 0) };
    match run(&program, 1, ThreadScope::Unbounded, &[step]) {
        Err(Illegal::Overflow) => None,
        outcome => Some(state(outcome).shared[place]),
    }
}

#[test]
fn operators_have_the_values_of_their_definition() {
    use BinaryOp::{Add, And, Eq, Implies, Le, Lt, Mul, Ne, Or, Sub, Xor};
    let truths = [F, T];
    let numbers = [i64::MIN, -3, -1, 0, 1, 2, 3, i64::MAX].map(Value::Int);
    let logical = [And, Or, Xor, Implies, Eq, Ne].map(|op| (op, Ty::Bool, Ty::Bool));
    let compared = [Eq, Ne, Lt, Le].map(|op| (op, Ty::Int, Ty::Bool));
    let numeric = [Add, Sub, Mul].map(|op| (op, Ty::Int, Ty::Int));
    for (op, ty, result) in logical.into_iter().chain(compared).chain(numeric) {
        let values: &[Value] = if ty == Ty::Bool { &truths } else { &numbers };
        for (left, right) in values.iter().flat_map(|left| values.iter().map(move |right| (*left, *right))) {
            let expr = Expr::binary(op, Expr::Choice(0, ty), Expr::Choice(1, ty));
            let found = computed(result, expr, &[left, right]);
            assert_eq!(found, eval::binary(op, left, right).ok(), "{op:?} of {left:?} and {right:?}");
        }
    }
    let unary = [(UnaryOp::Neg, Ty::Int), (UnaryOp::DivisibleBy(2), Ty::Bool), (UnaryOp::DivisibleBy(3), Ty::Bool)];
    for (op, result) in unary {
        for value in numbers {
            let expr = Expr::Unary(op, Box::new(Expr::Choice(0, Ty::Int)));
            assert_eq!(computed(result, expr, &[value]), eval::unary(op, value).ok(), "{op:?} of {value:?}");
        }
    }
    for (condition, expected) in [(T, 1), (F, 2)] {
        let branches = [1, 2].map(Expr::Int);
        let [then, otherwise] = branches;
        let expr = Expr::Ite(Box::new((Expr::Choice(0, Ty::Bool), then, otherwise)));
        assert_eq!(computed(Ty::Int, expr, &[condition]), Some(Value::Int(expected)));
    }
    let beyond = Expr::binary(Add, Expr::Int(i64::MAX), Expr::Int(1));
    let expr = Expr::Ite(Box::new((Expr::Choice(0, Ty::Bool), Expr::Int(1), beyond)));
    assert_eq!(computed(Ty::Int, expr, &[T]), Some(Value::Int(1)), "the other branch has no part in the value");
}

/// A procedure that starts two threads, which end at once.
const STARTS: &str = "proc first() from L0 to L3\ne0 L0 -> L1: spawn main()\ne1 L1 -> L2: spawn main()\n\
    e2 L2 -> L3: return\nproc main() from L4 to L5\ne3 L4 -> L5: return\n";

/// The number of live threads after some steps of threads along edges.
fn n_live(text: &str, threads: ThreadScope, steps: &[(u32, usize)]) -> usize {
    let steps: Vec<Step> = steps.iter().map(|(thread, edge)| step(*thread, *edge)).collect();
    state(run(&program(text), 1, threads, &steps)).threads.len()
}

#[test]
fn a_bound_counts_live_threads_or_all_that_were_created() {
    let text = &format!("{STARTS}start first");
    let starts_and_ends = [(0, 0), (1, 3), (0, 1)];
    assert_eq!(n_live(text, ThreadScope::AtMost(2), &starts_and_ends), 2, "the first thread has ended");
    assert_eq!(n_live(text, ThreadScope::Created(2), &starts_and_ends), 1, "the first thread was created");
    assert_eq!(n_live(text, ThreadScope::Created(3), &starts_and_ends), 2);
    assert_eq!(n_live(text, ThreadScope::AtMost(2), &[(0, 0), (0, 1)]), 2);
    assert_eq!(n_live(text, ThreadScope::Created(1), &[(0, 0)]), 1);
}

#[test]
fn the_thread_of_the_prelude_does_not_count() {
    let text = &format!("{STARTS}prelude first\nstart main: main at most 1");
    for threads in [ThreadScope::AtMost(1), ThreadScope::Created(1)] {
        assert_eq!(n_live(text, threads, &[(0, 0)]), 2, "{threads:?}");
        assert_eq!(n_live(text, threads, &[(0, 0), (0, 1)]), 2, "{threads:?}");
    }
}

#[test]
fn initial_threads_are_of_kinds_that_there_are_in_numbers_that_fit() {
    let program =
        program("proc main() from L0 to L1\ne0 L0 -> L1: return\nstart one: main exactly 1\nstart more: main any");
    let started = |threads: ThreadScope, kinds: &[usize]| {
        let thread = |kind: &usize| StartThread { entry: EntryId::new(*kind), choices: Vec::new(), fresh: Vec::new() };
        let start = Start { threads: kinds.iter().map(thread).collect(), ..Start::default() };
        Interpreter::new(&program, threads).start(&start).map(|state| state.threads.len())
    };
    assert_eq!(started(ThreadScope::AtMost(2), &[0, 1]), Ok(2));
    assert_eq!(started(ThreadScope::Unbounded, &[0, 1, 1, 1]), Ok(4));
    for (threads, kinds) in [
        (ThreadScope::Unbounded, [0, 2].as_slice()),
        (ThreadScope::Unbounded, &[1]),
        (ThreadScope::AtMost(2), &[0, 0]),
        (ThreadScope::AtMost(2), &[0, 1, 1]),
        (ThreadScope::Created(2), &[0, 1, 1]),
    ] {
        assert_eq!(started(threads, kinds), Err(Illegal::WrongThreads), "{threads:?}, {kinds:?}");
    }
}

/// Only threads that have all variables that are mentioned take part: here those of the kind with `t`.
#[test]
fn threads_without_a_variable_take_no_part() {
    let text = "thread t: bool\nproc main() from L0 to L2\nlocal l: bool\ne0 L0 -> L1: l$ := t$\n\
        e1 L0 -> L1: assume !t$\ne2 L0 -> L1: t$ := l\ne3 L1 -> L2: return\n\
        start own: main any with t init t := T\nstart other: main any";
    let program = program(text);
    let thread = |kind| StartThread { entry: EntryId::new(kind), choices: Vec::new(), fresh: Vec::new() };
    let interpreter = Interpreter::new(&program, ThreadScope::Unbounded);
    let after = |kinds: &[usize], edge: usize, n_others: usize| {
        let start = Start { threads: kinds.iter().map(|kind| thread(*kind)).collect(), ..Start::default() };
        let state = interpreter.start(&start).expect("these threads may start");
        interpreter.step(&state, &Step { passive: vec![Vec::new(); n_others], ..step(0, edge) })
    };
    let assigned = state(after(&[1, 0, 1], 0, 1));
    let locals: Vec<Value> = assigned.threads.iter().map(|thread| thread.top().locals[0]).collect();
    assert_eq!(locals, [F, T, F]);
    assert_eq!(after(&[1, 0, 1], 0, 2), Err(Illegal::WrongChoices));
    assert_eq!(after(&[1, 0, 1], 1, 1), Ok(Outcome::Blocked));
    assert!(matches!(after(&[1, 1, 1], 1, 0), Ok(Outcome::Next(_))), "nobody has `t`");
    let cleared = state(after(&[1, 0, 1], 2, 1));
    assert_eq!(cleared.threads.iter().map(|thread| thread.vars[0]).collect::<Vec<_>>(), [F, F, F]);
}

#[test]
fn readers_of_states_are_told_what_there_is() {
    let program = program(
        "shared x: bool, y: bool\nthread t: bool\nproc a() from L0 to L1\nlocal l: bool\ne0 L0 -> L1: return\n\
         proc b() from L2 to L3\nlocal m: bool\ne1 L2 -> L3: return\nstart a: a exactly 2\nstart b: b exactly 3\n\
         start more: b any\nstart few: b at most 4",
    );
    let var = |name: &str| VarId::new(program.vars.iter().position(|var| var.name == name).expect("it is there"));
    let interpreter = Interpreter::new(&program, ThreadScope::Unbounded);
    assert!(std::ptr::eq(interpreter.program(), &program));
    assert_eq!(interpreter.shared_vars(), [var("x"), var("y")]);
    assert_eq!(interpreter.thread_vars(), [var("t")]);
    let seen =
        |proc: usize| ["x", "t", "l", "m"].map(|name| interpreter.sees(selvedge_ir::ProcId::new(proc), var(name)));
    assert_eq!((seen(0), seen(1)), ([true, true, true, false], [true, true, false, true]));
    assert_eq!(least_threads(&program), 5);
    let thread = |entry| StartThread { entry: EntryId::new(entry), choices: Vec::new(), fresh: Vec::new() };
    let with = |fresh| StartThread { fresh, ..thread(0) };
    let threads = vec![with(vec![(var("l"), T)]), with(Vec::new()), thread(1), thread(1), thread(1)];
    let start = Start { choices: Vec::new(), fresh: vec![(var("y"), T)], threads };
    let state = interpreter.start(&start).expect("it may start so");
    let read = |position: usize, name: &str| interpreter.read(&state, position, var(name));
    assert_eq!([read(0, "x"), read(0, "y"), read(0, "l"), read(1, "l"), read(2, "m")], [F, T, T, F, F]);
}

/// Variables that are settled start with the default value in all starts and steps.
#[test]
fn settled_variables_do_not_start_with_any_value() {
    let program = program(
        "shared x: bool\nproc a() from L0 to L4\nlocal l: bool\ne0 L0 -> L1: call b()\ne1 L1 -> L4: return\n\
         proc b() from L2 to L3\nlocal m: bool\ne2 L2 -> L3: return\nstart a",
    );
    let count = |settled: &[usize]| {
        let settled = settled.iter().map(|var| VarId::new(*var)).collect();
        let interpreter = Interpreter::new(&program, ThreadScope::Unbounded).settling(settled);
        let state = interpreter.start(&plain_start(1)).expect("it may start so");
        (interpreter.starts(1).count(), interpreter.steps(&state, 0, EdgeId::new(0)).count())
    };
    assert_eq!(count(&[]), (4, 2));
    assert_eq!(count(&[0]), (2, 2));
    assert_eq!(count(&[0, 1]), (1, 2));
    assert_eq!(count(&[1, 2]), (2, 1));
}

/// States that differ in the numbers of their threads only are one state.
#[test]
fn canonical_states_do_not_tell_threads_apart() {
    let program = program(
        "thread t: bool\nproc main() from L0 to L2\ne0 L0 -> L1: atomic_begin\ne1 L1 -> L2: return\n\
         start main: main any with t init t := ?0",
    );
    let interpreter = Interpreter::new(&program, ThreadScope::Unbounded);
    let started = |values: &[Value]| {
        let thread = |value: &Value| StartThread { entry: EntryId::new(0), choices: vec![*value], fresh: Vec::new() };
        interpreter.start(&Start { threads: values.iter().map(thread).collect(), ..Start::default() }).expect("it may")
    };
    let same = |one: &State, other: &State, threads: ThreadScope| {
        canonical(one.clone(), threads) == canonical(other.clone(), threads)
    };
    let (one, other) = (started(&[T, F, F]), started(&[F, F, T]));
    assert!(same(&one, &other, ThreadScope::Unbounded));
    assert!(!same(&one, &started(&[F, T, T]), ThreadScope::Unbounded));
    let held = |state: &State, thread: u32| match interpreter.step(state, &step(thread, 0)) {
        Ok(Outcome::Next(next)) => next,
        outcome => panic!("no state, but {outcome:?}"),
    };
    assert!(same(&held(&one, 0), &held(&other, 2), ThreadScope::Unbounded));
    assert!(same(&held(&one, 1), &held(&other, 0), ThreadScope::Unbounded));
    assert!(!same(&held(&one, 0), &held(&other, 0), ThreadScope::Unbounded));
    assert!(!same(&held(&one, 0), &State { holder: None, ..held(&one, 0) }, ThreadScope::Unbounded));
    // The number of threads that were created matters only where it is bounded.
    let more = State { next_thread: 7, ..one.clone() };
    assert!(same(&one, &more, ThreadScope::AtMost(9)) && !same(&one, &more, ThreadScope::Created(9)));
}

/// The prelude's thread stays what it is, beside another one that it has started.
#[test]
fn canonical_states_know_the_thread_of_the_prelude() {
    let program = program(&format!("{STARTS}prelude first\nstart main: main at most 2"));
    let interpreter = Interpreter::new(&program, ThreadScope::Unbounded);
    let start = interpreter.start(&plain_start(2)).expect("it may start so");
    let after = state(interpreter.step(&start, &step(0, 0)));
    let mut turned = after.clone();
    turned.threads.reverse();
    turned.threads.iter_mut().for_each(|thread| thread.id = ThreadId(1 - thread.id.0));
    turned.prelude.as_mut().expect("it runs").thread = ThreadId(1);
    let [one, other] = [after, turned].map(|state| canonical(state, ThreadScope::Unbounded));
    assert_eq!(one, other);
    let running = one.prelude.expect("it runs").thread;
    let proc = one.threads.iter().find(|thread| thread.id == running).map(|thread| thread.top().proc);
    assert_eq!(proc, Some(selvedge_ir::ProcId::new(0)));
}

/// What a call ensures holds behind its return, not before the call.
#[test]
fn a_call_ensures_its_condition_by_the_return() {
    let program = program(
        "shared x: bool\ninit x := F\nproc main() from L0 to L2\nlocal l: bool\n\
         e0 L0 -> L1: l := call f() ensures x & l\ne1 L1 -> L2: return\nproc f() returns bool from L3 to L5\n\
         e2 L3 -> L4: x := ?0\ne3 L4 -> L5: return ?0\nstart main",
    );
    let with = |edge: usize, value: Value| Step { choices: vec![value], ..step(0, edge) };
    let after = |x: Value, l: Value| run(&program, 1, ThreadScope::Unbounded, &[step(0, 0), with(2, x), with(3, l)]);
    assert!(matches!(after(T, T), Ok(Outcome::Next(_))));
    for (x, l) in [(T, F), (F, T), (F, F)] {
        assert_eq!(after(x, l), Ok(Outcome::Blocked), "{x:?} {l:?}");
    }
}

/// What other steps ensure is a condition on what they lead to.
#[test]
fn steps_that_do_not_lead_to_what_they_ensure_are_blocked() {
    for (operation, holds) in [("assert T ensures x", true), ("assert T ensures !x", false)] {
        let program = program(&format!(
            "shared x: bool\ninit x := T\nproc main() from L0 to L2\ne0 L0 -> L1: {operation}\ne1 L1 -> L2: return\n\
             start main"
        ));
        let found = run(&program, 1, ThreadScope::Unbounded, &[step(0, 0)]);
        assert_eq!(matches!(found, Ok(Outcome::Next(_))), holds, "{operation}: {found:?}");
        assert_eq!(found == Ok(Outcome::Blocked), !holds, "{operation}: {found:?}");
    }
}

/// The caller's variables, also where it runs the same procedure.
#[test]
fn a_call_ensures_something_of_the_callers_frame() {
    let text = "proc main() from L0 to L3\nlocal l: bool\ne0 L0 -> L1: l := VALUE\n\
        e1 L1 -> L2: call f(VALUE) ensures l\n\
        e2 L2 -> L3: return\nproc f(p: bool) from L4 to L6\ne3 L4 -> L5: call f(!p) ensures p\ne4 L4 -> L6: return\n\
        e5 L5 -> L6: return\nstart main";
    let after = |value: &str, edges: &[usize]| {
        let steps: Vec<Step> = edges.iter().map(|edge| step(0, *edge)).collect();
        run(&program(&text.replace("VALUE", value)), 1, ThreadScope::Unbounded, &steps)
    };
    assert!(matches!(after("T", &[0, 1, 4]), Ok(Outcome::Next(_))));
    assert_eq!(after("F", &[0, 1, 4]), Ok(Outcome::Blocked));
    assert!(matches!(after("T", &[0, 1, 3, 4, 5]), Ok(Outcome::Next(_))));
    assert_eq!(after("F", &[0, 1, 3, 4]), Ok(Outcome::Blocked));
    // Three deep the second one has the other value.
    assert_eq!(after("T", &[0, 1, 3, 3, 4]), Ok(Outcome::Blocked));
    assert!(matches!(after("F", &[0, 1, 3, 3, 4]), Ok(Outcome::Next(_))));
}
