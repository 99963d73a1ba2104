//! The steps that an error can involve, compared with a search forwards and backwards over all states.

use std::collections::BTreeSet;

use indexmap::IndexSet;
use selvedge_check::{ContextBound, Involved, Projection, Question, Run, Task, ThreadId, ThreadScope};
use selvedge_driver::{Ask, Options, check};
use selvedge_ir::{EdgeId, Op};
use selvedge_replay::Thread;
use selvedge_replay::{Interpreter, Outcome, State};
use selvedge_testkit::contexts::{item, posed};
use selvedge_testkit::differ::{Posed, pose};
use selvedge_testkit::oracle::Budget;

/// The schedules: all of them, or the threads in turns, each a number of times.
#[derive(Clone, Copy)]
enum Order {
    Any,
    Turns(u32),
}

/// The state graph: states in turns, and the steps between them.
struct Graph {
    nodes: IndexSet<(u32, State)>,
    /// The source, the target (`None` for an error), and the edge if it is a step.
    arcs: Vec<(usize, Option<usize>, Option<EdgeId>)>,
    errors: Vec<usize>,
}

/// Explores all states; `None` if there are too many.
fn explore(task: &Task<'_>, order: Order, budget: Budget) -> Option<Graph> {
    let interpreter = Interpreter::new(task.program, task.threads);
    let most = match task.threads {
        ThreadScope::AtMost(most) | ThreadScope::Created(most) => most,
        ThreadScope::Unbounded => 3,
    };
    let starts = interpreter.starts(most).map(|start| interpreter.start(&start).expect("a legal start"));
    let nodes = starts.map(|state| (0, state)).collect();
    let mut graph = Graph { nodes, arcs: Vec::new(), errors: Vec::new() };
    let mut next = 0;
    while next < graph.nodes.len() {
        let (turn, state) = graph.nodes[next].clone();
        graph.look(task, order, next, turn, &state);
        graph.expand(task, &interpreter, order, next, turn, &state);
        next += 1;
        let is_deep = |thread: &Thread| thread.stack.len() > budget.frames as usize;
        if graph.nodes.len() > budget.states || state.threads.iter().any(is_deep) {
            return None;
        }
    }
    Some(graph)
}

impl Graph {
    /// Records the errors of threads that are at an error location in their turn.
    fn look(&mut self, task: &Task<'_>, order: Order, node: usize, turn: u32, state: &State) {
        let n_threads = task.program.entries.len() as u32;
        let moves = |id: ThreadId| matches!(order, Order::Any) || id == ThreadId(turn % n_threads);
        let fails =
            |thread: &Thread| task.target.has_loc(thread.loc()) && state.may_move(thread.id) && moves(thread.id);
        if state.threads.iter().any(fails) {
            self.errors.push(node);
        }
    }

    fn expand(
        &mut self,
        task: &Task<'_>,
        interpreter: &Interpreter<'_>,
        order: Order,
        from: usize,
        turn: u32,
        state: &State,
    ) {
        let n_threads = task.program.entries.len() as u32;
        for position in 0..state.threads.len() {
            if matches!(order, Order::Turns(_)) && state.threads[position].id != ThreadId(turn % n_threads) {
                continue;
            }
            let edges = interpreter.edges(state, &state.threads[position]).to_vec();
            for step in edges.iter().flat_map(|edge| interpreter.steps(state, position, *edge)) {
                match interpreter.step(state, &step).expect("a legal step") {
                    Outcome::Next(after) => self.arc(from, (turn, after), Some(step.edge)),
                    Outcome::Failed if task.target.has_assert(step.edge) => {
                        self.arcs.push((from, None, Some(step.edge)));
                    }
                    Outcome::Failed | Outcome::Blocked => {}
                }
            }
        }
        if let Order::Turns(contexts) = order
            && state.holder.is_none()
            && turn + 1 < contexts * n_threads
        {
            self.arc(from, (turn + 1, state.clone()), None);
        }
    }

    fn arc(&mut self, from: usize, to: (u32, State), edge: Option<EdgeId>) {
        let (to, _) = self.nodes.insert_full(to);
        self.arcs.push((from, Some(to), edge));
    }

    /// Returns the edges on paths to an error.
    fn involved(&self) -> BTreeSet<EdgeId> {
        let mut leads = vec![false; self.nodes.len()];
        self.errors.iter().for_each(|error| leads[*error] = true);
        loop {
            let mut grows = false;
            for (from, to, _) in &self.arcs {
                if !leads[*from] && to.is_none_or(|to| leads[to]) {
                    leads[*from] = true;
                    grows = true;
                }
            }
            if !grows {
                let on_way = self.arcs.iter().filter(|(_, to, _)| to.is_none_or(|to| leads[to]));
                return on_way.filter_map(|(_, _, edge)| *edge).collect();
            }
        }
    }
}

fn project(posed: &Posed, question: Question, contexts: Option<u32>) -> Projection {
    let mut options = Options { question, ask: Ask::Projection, jobs: 1, ..Options::default() };
    options.engine_options.contexts.bound = contexts.map(ContextBound::exactly);
    let report = check(posed.subject(), &options, &Run::unlimited())
        .unwrap_or_else(|failure| panic!("{failure:?}\n{}", posed.text));
    report.projection.expect("it was asked for")
}

fn yes(projection: &Projection) -> BTreeSet<EdgeId> {
    let steps = projection.steps.iter_enumerated();
    steps.filter(|(_, involved)| **involved == Involved::Yes).map(|(edge, _)| edge).collect()
}

fn starts_threads(posed: &Posed) -> bool {
    posed.asked.prelude.is_some() || posed.asked.edges.iter().any(|edge| matches!(edge.op, Op::Spawn(_) | Op::Fork(_)))
}

#[test]
fn generated_programs_have_the_steps_that_a_search_of_all_states_finds() {
    let budget = Budget { states: 3_000, frames: 4, ..Budget::default() };
    let [mut with_errors, mut partly] = [0; 2];
    for number in 0..150 {
        let model = item(5, number);
        let Ok(posed) = pose(&model) else { panic!("the program reads") };
        let plain = posed.asked.entries.iter().all(|entry| entry.count == selvedge_ir::Count::Exactly(1));
        let in_turns = plain && !starts_threads(&posed) && number % 2 == 0;
        let order = if in_turns { Order::Turns(2) } else { Order::Any };
        let Some(graph) = explore(&posed.task(), order, budget) else { continue };
        let expected = graph.involved();
        let projection = project(&posed, model.question.clone(), in_turns.then_some(2));
        let open = projection.steps.iter().filter(|involved| **involved == Involved::Open).count();
        assert_eq!((yes(&projection), open), (expected.clone(), 0), "program {number}\n{}", posed.text);
        with_errors += usize::from(!expected.is_empty());
        partly += usize::from(!expected.is_empty() && expected.len() < posed.asked.edges.len());
    }
    assert!(with_errors > 20 && partly > 10, "{with_errors} with errors, {partly} with other steps, too");
}

#[test]
fn statements_behind_the_error_and_beside_it_are_not_involved() {
    let posed = posed(
        "decl x := F;
        void thread0() begin
          if (*) then x := T; else skip; fi;
          assert(!x);
          x := F;
        end
        void thread1() begin
          x := F;
        end",
        None,
    );
    let involved = yes(&project(&posed, Question::default(), Some(1)));
    let text = |edge: EdgeId| posed.map.edges[edge].span.of(&posed.text).to_string();
    let texts: BTreeSet<String> = involved.iter().map(|edge| text(*edge)).collect();
    assert!(texts.contains("x := T") && texts.contains("assert(!x)") && !texts.contains("skip"), "{texts:?}");
    assert!(!texts.contains("x := F"), "both come too late: {texts:?}");
    let later = yes(&project(&posed, Question::default(), Some(2)));
    let texts: Vec<String> = later.iter().map(|edge| text(*edge)).collect();
    assert!(texts.contains(&"x := F".to_string()), "the second thread may clear x before: {texts:?}");
}
