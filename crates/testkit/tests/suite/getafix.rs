//! The dialect of Getafix against its definition: small random programs are executed here directly, over all values and
//! schedules, and the oracle and some engines must say the same about what the front end makes of their text.
//!
//! The rule of schedules is that of the definition: while `atomic` is true, only the thread that made the last step
//! goes on. A relational update is the set of all pairs of valuations that satisfy its condition.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use selvedge_check::{Outcome, Question, Run, Subject};
use selvedge_driver::{Options, check};
use selvedge_engines::EngineKind;
use selvedge_frontend::bp::{Dialect, LoadOptions, load};
use selvedge_testkit::rng::Rng;

/// The shared variables; the first one marks atomic sections.
const VARS: [&str; 3] = ["atomic", "x", "y"];

type Values = [bool; 3];

#[derive(Clone, Debug)]
enum Expr {
    Const(bool),
    Old(usize),
    New(usize),
    Not(Box<Expr>),
    Binary(&'static str, Box<(Expr, Expr)>),
}

impl Expr {
    fn random(rng: &mut Rng, depth: usize, with_new: bool) -> Expr {
        let operand = |rng: &mut Rng| Box::new(Expr::random(rng, depth - 1, with_new));
        match rng.below(if depth == 0 { 4 } else { 9 }) {
            0 if rng.percent(30) => Expr::Const(rng.coin()),
            1 | 2 if with_new => Expr::New(rng.below(VARS.len())),
            0..=3 => Expr::Old(rng.below(VARS.len())),
            4 => Expr::Not(operand(rng)),
            _ => {
                let op = ["&", "|", "=", "!=", "=>"][rng.below(5)];
                Expr::Binary(op, Box::new((*operand(rng), *operand(rng))))
            }
        }
    }

    /// Returns a condition on new values that often keeps variables, as generated programs do.
    fn relation(rng: &mut Rng) -> Expr {
        let mut relation = Expr::Binary("=", Box::new((Expr::New(rng.below(3)), Expr::random(rng, 1, false))));
        for var in 0..VARS.len() {
            if rng.percent(60) {
                let kept = Expr::Binary("=", Box::new((Expr::New(var), Expr::Old(var))));
                relation = Expr::Binary("&", Box::new((relation, kept)));
            }
        }
        if rng.percent(50) {
            relation = Expr::Binary("&", Box::new((Expr::random(rng, 2, true), relation)));
        }
        relation
    }

    fn holds(&self, old: Values, new: Values) -> bool {
        match self {
            Expr::Const(value) => *value,
            Expr::Old(var) => old[*var],
            Expr::New(var) => new[*var],
            Expr::Not(operand) => !operand.holds(old, new),
            Expr::Binary(op, pair) => {
                let (left, right) = (pair.0.holds(old, new), pair.1.holds(old, new));
                match *op {
                    "&" => left && right,
                    "|" => left || right,
                    "=" => left == right,
                    "!=" => left != right,
                    _ => !left || right,
                }
            }
        }
    }

    fn text(&self) -> String {
        match self {
            Expr::Const(value) => if *value { "T" } else { "F" }.to_string(),
            Expr::Old(var) => VARS[*var].to_string(),
            Expr::New(var) => format!("'{}", VARS[*var]),
            Expr::Not(operand) => format!("!({})", operand.text()),
            Expr::Binary(op, pair) => format!("({} {op} {})", pair.0.text(), pair.1.text()),
        }
    }
}

#[derive(Clone, Debug)]
enum Stmt {
    /// `x := e constrain c`; without a value `x := *`.
    Assign(usize, Option<Expr>, Option<Expr>),
    /// `constrain(e);` with new values.
    Relation(Expr),
    Assume(Expr),
    /// `x := f();` where `f` returns a value of the shared variables.
    Call(usize, Expr),
    /// An error if the condition holds.
    Check(Expr),
}

impl Stmt {
    fn random(rng: &mut Rng) -> Stmt {
        let var = if rng.percent(50) { 0 } else { rng.below(VARS.len()) };
        match rng.below(10) {
            0..=3 => {
                let value = rng.percent(80).then(|| match rng.percent(60) {
                    true => Expr::Const(rng.coin()),
                    false => Expr::random(rng, 1, false),
                });
                Stmt::Assign(var, value, rng.percent(30).then(|| Expr::random(rng, 2, true)))
            }
            4 | 5 => Stmt::Relation(Expr::relation(rng)),
            6 => Stmt::Assume(Expr::random(rng, 1, false)),
            7 => Stmt::Call(var, Expr::random(rng, 1, false)),
            _ => Stmt::Check(Expr::random(rng, 2, false)),
        }
    }

    /// Returns the valuations after the statement, for a call after its return; `None` stands for an error.
    fn run(&self, old: Values) -> Vec<Option<Values>> {
        let all = (0..8u8).map(|bits| [bits & 1 != 0, bits & 2 != 0, bits & 4 != 0]);
        match self {
            Stmt::Assign(var, value, constrain) => {
                let fits = |new: &Values| {
                    let others = (0..VARS.len()).all(|other| other == *var || new[other] == old[other]);
                    others
                        && value.as_ref().is_none_or(|value| new[*var] == value.holds(old, old))
                        && constrain.as_ref().is_none_or(|constrain| constrain.holds(old, *new))
                };
                all.filter(fits).map(Some).collect()
            }
            Stmt::Relation(relation) => all.filter(|new| relation.holds(old, *new)).map(Some).collect(),
            Stmt::Assume(condition) => condition.holds(old, old).then_some(Some(old)).into_iter().collect(),
            Stmt::Call(var, value) => {
                let mut new = old;
                new[*var] = value.holds(old, old);
                vec![Some(new)]
            }
            Stmt::Check(condition) => vec![(!condition.holds(old, old)).then_some(old)],
        }
    }
}

/// The statements of `init`, if there is one, and of the threads.
struct Model {
    init: Option<Vec<Stmt>>,
    threads: Vec<Vec<Stmt>>,
}

/// A position in a list of statements: inside a call, or not.
type Place = (usize, bool);

impl Model {
    fn random(rng: &mut Rng) -> Model {
        let list = |rng: &mut Rng| (0..rng.between(1, 4)).map(|_| Stmt::random(rng)).collect::<Vec<_>>();
        let init = rng.percent(70).then(|| list(rng));
        let mut threads: Vec<Vec<Stmt>> = (0..2).map(|_| list(rng)).collect();
        threads[1].push(Stmt::Check(Expr::random(rng, 1, false)));
        Model { init, threads }
    }

    fn text(&self) -> String {
        let mut procs = String::new();
        let mut text = format!("decl {};\n", VARS.join(", "));
        let mut n_called = 0;
        let threads = self.threads.iter().enumerate().map(|(number, list)| (format!("thread{number}"), list));
        let init = self.init.iter().map(|list| ("init".to_string(), list));
        for (name, list) in init.chain(threads) {
            let _ = writeln!(text, "void {name}() begin");
            for stmt in list {
                let line = match stmt {
                    Stmt::Assign(var, value, constrain) => {
                        let value = value.as_ref().map_or("*".to_string(), Expr::text);
                        let constrain =
                            constrain.as_ref().map_or(String::new(), |it| format!(" constrain {}", it.text()));
                        format!("{} := {value}{constrain};", VARS[*var])
                    }
                    Stmt::Relation(relation) => format!("constrain({});", relation.text()),
                    Stmt::Assume(condition) => format!("assume({});", condition.text()),
                    Stmt::Call(var, value) => {
                        let _ = writeln!(procs, "bool get{n_called}() begin return {}; end", value.text());
                        n_called += 1;
                        format!("{} := get{}();", VARS[*var], n_called - 1)
                    }
                    Stmt::Check(condition) => format!("if ({}) then goto bad; fi;", condition.text()),
                };
                let _ = writeln!(text, "  {line}");
            }
            let _ = writeln!(text, "  goto over;\nbad: SLIC_ERROR: skip;\nover: skip;\nend");
        }
        text + &procs
    }

    /// Returns the places and valuations after a step of a list, and whether it can be an error.
    fn step(list: &[Stmt], (at, inside): Place, old: Values) -> (Vec<(Place, Values)>, bool) {
        match list.get(at) {
            None => (Vec::new(), false),
            Some(Stmt::Call(..)) if !inside => (vec![((at, true), old)], false),
            Some(stmt) => {
                let after = stmt.run(old);
                let fails = after.contains(&None);
                (after.into_iter().flatten().map(|new| ((at + 1, false), new)).collect(), fails)
            }
        }
    }

    /// Returns the valuations with which the threads start, and whether `init` can be at an error.
    fn starts(&self) -> (BTreeSet<Values>, bool) {
        let all = (0..8u8).map(|bits| [bits & 1 != 0, bits & 2 != 0, bits & 4 != 0]);
        let Some(init) = &self.init else { return (all.collect(), false) };
        let mut seen: BTreeSet<(Place, Values)> = all.map(|values| ((0, false), values)).collect();
        let mut waiting: Vec<(Place, Values)> = seen.iter().copied().collect();
        let mut fails = false;
        while let Some((place, values)) = waiting.pop() {
            let (after, error) = Model::step(init, place, values);
            fails |= error;
            waiting.extend(after.into_iter().filter(|state| seen.insert(*state)));
        }
        let ended = seen.into_iter().filter(|((at, _), values)| *at == init.len() && !values[0]);
        (ended.map(|(_, values)| values).collect(), fails)
    }

    /// Returns whether an error can be reached.
    fn is_unsafe(&self) -> bool {
        let (starts, mut fails) = self.starts();
        let first = |values| ([(0, false); 2], values, None::<usize>);
        let mut seen: BTreeSet<([Place; 2], Values, Option<usize>)> = starts.into_iter().map(first).collect();
        let mut waiting: Vec<_> = seen.iter().copied().collect();
        while let Some((places, values, last)) = waiting.pop() {
            for thread in 0..2 {
                if values[0] && last.is_some_and(|last| last != thread) {
                    continue;
                }
                let (after, error) = Model::step(&self.threads[thread], places[thread], values);
                fails |= error;
                for (place, new) in after {
                    let mut next = places;
                    next[thread] = place;
                    let state = (next, new, Some(thread));
                    if seen.insert(state) {
                        waiting.push(state);
                    }
                }
            }
        }
        fails
    }
}

/// Returns whether an engine, or the portfolio, finds an error. Its evidence is judged on the way.
fn verdict(text: &str, engine: Option<EngineKind>) -> bool {
    let options = LoadOptions { dialect: Some(Dialect::Getafix), ..LoadOptions::default() };
    let loaded = load(text, &options);
    let program = loaded.program.unwrap_or_else(|| panic!("{:#?} in:\n{text}", loaded.diagnostics));
    let subject = Subject { program: &program, map: &loaded.source_map, text };
    let options =
        Options { question: Question::default(), engine: engine.map(EngineKind::row), jobs: 1, ..Options::default() };
    let answer = check(subject, &options, &Run::unlimited()).unwrap_or_else(|error| panic!("{error} in:\n{text}"));
    match answer.outcome {
        Outcome::Unsafe(_) => true,
        Outcome::Safe(_) => false,
        Outcome::Unknown(reason) => panic!("{reason:?} in:\n{text}"),
    }
}

#[test]
fn random_programs_mean_what_the_dialect_defines() {
    let (mut n_unsafe, mut n_flags_matter) = (0, 0);
    for number in 0..600 {
        let model = Model::random(&mut Rng::for_item(20, number));
        let (text, expected) = (model.text(), model.is_unsafe());
        n_unsafe += u32::from(expected);
        for engine in [None, Some(EngineKind::Exhaustive), Some(EngineKind::Threads)] {
            assert_eq!(verdict(&text, engine), expected, "program {number}, {engine:?}:\n{text}");
        }
        let renamed = text.replace("atomic", "ordinary");
        n_flags_matter += u32::from(verdict(&renamed, Some(EngineKind::Exhaustive)) != expected);
    }
    assert!((150..450).contains(&n_unsafe), "{n_unsafe} of 600 programs are unsafe");
    assert!(n_flags_matter >= 5, "the variable decides only {n_flags_matter} of 600 verdicts");
}
