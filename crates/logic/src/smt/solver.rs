//! The façade: a stack of assertions and questions about them.
//!
//! All commands are also stored here. Commands without an answer are buffered until the next question; a solver that
//! dies during a question is restarted once, gets all commands again, and the question is repeated. Requests for a
//! model are not repeated, since another process might have another model.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::process::Process;
use super::read::{read_term, read_value, shortened};
use super::sexp::Sexp;
use super::term::{Node, Symbol, Term};
use super::{Dialect, Interrupted, Program, SmtError, SmtValue};

/// A solver with a stack of assertions.
pub struct Smt {
    program: Program,
    process: Option<Process>,
    /// The commands so far, one list for each level of the stack.
    levels: Vec<Vec<String>>,
    /// The commands that have not been sent yet.
    pending: String,
    labels: usize,
    questions: usize,
    /// A second process for the elimination of quantifiers, which considers all assertions.
    eliminator: Option<Process>,
}

/// The policy for repeating a question.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Again {
    Once,
    Never,
}

impl Smt {
    /// Returns a solver without assertions. The process is started with the first question.
    pub fn new(program: Program) -> Smt {
        let mut smt = Smt {
            program,
            process: None,
            levels: vec![Vec::new()],
            pending: String::new(),
            labels: 0,
            questions: 0,
            eliminator: None,
        };
        match smt.program.dialect {
            Dialect::Z3 => smt.tell("(set-option :produce-unsat-assumptions true)".to_string()),
            Dialect::Cvc5 => smt.tell("(set-logic ALL)".to_string()),
        }
        smt
    }

    /// Returns the number of questions so far.
    pub fn questions(&self) -> usize {
        self.questions
    }

    /// Adds a command without an answer.
    pub fn tell(&mut self, command: String) {
        self.pending.push_str(&command);
        self.pending.push('\n');
        self.levels.last_mut().expect("the lowest level is never left").push(command);
    }

    /// Declares a symbol. It is known until its level is left.
    pub fn declare(&mut self, symbol: &Symbol) {
        self.tell(format!("(declare-const {symbol} {})", symbol.sort));
    }

    /// Asserts a term on the current level.
    pub fn assert(&mut self, term: &Term) {
        self.tell(format!("(assert {term})"));
    }

    /// Opens a level.
    pub fn push(&mut self) {
        self.pending.push_str("(push 1)\n");
        self.levels.push(Vec::new());
    }

    /// Leaves a level and drops its commands.
    ///
    /// # Panics
    ///
    /// If none is open.
    pub fn pop(&mut self) {
        assert!(self.levels.len() > 1, "no level is open");
        self.pending.push_str("(pop 1)\n");
        self.levels.pop();
    }

    /// Returns a fresh symbol that is equivalent to the term, on the current level. Such symbols can be assumptions.
    pub fn label(&mut self, term: &Term) -> Symbol {
        let label = Symbol::new(&format!("label!{}", self.labels), super::Sort::Bool);
        self.labels += 1;
        self.declare(&label);
        self.tell(format!("(assert (= {label} {term}))"));
        label
    }

    /// Returns whether all assertions and assumptions can hold together. Assumptions are symbols or negations of
    /// symbols.
    ///
    /// # Panics
    ///
    /// If an assumption is something else.
    pub fn is_sat<E>(
        &mut self,
        assumptions: &[Term],
        mut proceed: impl FnMut() -> Result<(), E>,
    ) -> Result<bool, Interrupted<E>> {
        let command = if assumptions.is_empty() {
            "(check-sat)".to_string()
        } else {
            assert!(assumptions.iter().all(is_literal), "assumptions are symbols or negations of symbols");
            let words: Vec<String> = assumptions.iter().map(Term::to_string).collect();
            format!("(check-sat-assuming ({}))", words.join(" "))
        };
        self.questions += 1;
        let answer = self.question(&command, Again::Once, &mut proceed)?;
        let answer = match answer.atom() {
            Some("sat") => Some(true),
            Some("unsat") => Some(false),
            Some("unknown" | "timeout") => None,
            _ => return Err(self.strange(&answer)),
        };
        if let Some(limit) = self.program.work
            && self.is_exhausted(answer, limit, &mut proceed)?
        {
            return Err(SmtError::Exhausted.into());
        }
        answer.ok_or(SmtError::Undecided.into())
    }

    /// Returns whether the work for all questions, of which this is the last answer, exceeds a limit, or this question
    /// exceeded it alone and has no answer.
    fn is_exhausted<E>(
        &mut self,
        answer: Option<bool>,
        limit: u64,
        proceed: &mut dyn FnMut() -> Result<(), E>,
    ) -> Result<bool, Interrupted<E>> {
        if self.program.dialect != Dialect::Z3 {
            return Ok(false);
        }
        let word = if answer.is_none() { ":reason-unknown" } else { ":rlimit" };
        let info = self.question(&format!("(get-info {word})"), Again::Never, proceed)?;
        match (answer, info.list()) {
            (None, Some([_, reason])) => Ok(reason.atom().is_some_and(is_about_work)),
            (Some(_), _) if units(&info).is_some() => Ok(units(&info) > Some(limit)),
            _ => Err(self.strange(&info)),
        }
    }

    /// Returns the values of terms in the solution found. Only right after the answer that there is
    /// one.
    pub fn values<E>(
        &mut self,
        terms: &[Term],
        mut proceed: impl FnMut() -> Result<(), E>,
    ) -> Result<Vec<SmtValue>, Interrupted<E>> {
        if terms.is_empty() {
            return Ok(Vec::new());
        }
        let words: Vec<String> = terms.iter().map(Term::to_string).collect();
        let answer = self.question(&format!("(get-value ({}))", words.join(" ")), Again::Never, &mut proceed)?;
        let pairs = answer.list().filter(|pairs| pairs.len() == terms.len());
        let Some(pairs) = pairs else { return Err(self.strange(&answer)) };
        let value = |pair: &Sexp| match pair.list() {
            Some([_, value]) => read_value(value),
            _ => Err(SmtError::Strange(shortened(pair))),
        };
        pairs.iter().map(value).collect::<Result<_, _>>().map_err(Interrupted::Solver)
    }

    /// Returns assumptions that cannot hold together with the assertions. Only right after this answer of
    /// [`Smt::is_sat`] to these assumptions.
    pub fn core<E>(
        &mut self,
        assumptions: &[Term],
        mut proceed: impl FnMut() -> Result<(), E>,
    ) -> Result<Vec<Term>, Interrupted<E>> {
        let answer = self.question("(get-unsat-assumptions)", Again::Never, &mut proceed)?;
        let Some(words) = answer.list() else { return Err(self.strange(&answer)) };
        let known = |word: &Sexp| assumptions.iter().find(|assumption| is_written(word, assumption)).cloned();
        match words.iter().map(known).collect::<Option<Vec<Term>>>() {
            Some(core) => Ok(core),
            None => Err(self.strange(&answer)),
        }
    }

    /// Returns all truth values that the predicates can have together in solutions of the assertions, in ascending
    /// order. The stack is unchanged afterwards.
    pub fn all_solutions<E>(
        &mut self,
        predicates: &[Term],
        mut proceed: impl FnMut() -> Result<(), E>,
    ) -> Result<Vec<Vec<bool>>, Interrupted<E>> {
        self.push();
        let all = self.enumerate(predicates, &mut proceed);
        self.pop();
        all
    }

    /// Enumerates the solutions. Each round excludes one of finitely many, so it ends.
    fn enumerate<E>(
        &mut self,
        predicates: &[Term],
        proceed: &mut dyn FnMut() -> Result<(), E>,
    ) -> Result<Vec<Vec<bool>>, Interrupted<E>> {
        let labels: Vec<Term> = predicates.iter().map(|predicate| self.label(predicate).into()).collect();
        let mut all = Vec::new();
        while self.is_sat(&[], &mut *proceed)? {
            let values = self.values(&labels, &mut *proceed)?;
            let solution: Vec<bool> = values.iter().map(|value| *value == SmtValue::Bool(true)).collect();
            let differs =
                labels.iter().zip(&solution).map(|(label, value)| if *value { label.not() } else { label.clone() });
            self.assert(&Term::or(differs));
            all.push(solution);
        }
        all.sort_unstable();
        Ok(all)
    }

    /// Returns a term without quantifiers that means that there are values of `bound` for which `body` holds. Only
    /// supported by Z3.
    pub fn eliminate<E>(
        &mut self,
        bound: &[Symbol],
        body: &Term,
        mut proceed: impl FnMut() -> Result<(), E>,
    ) -> Result<Term, Interrupted<E>> {
        let occurring = body.symbols();
        let bound: Vec<&Symbol> = bound.iter().filter(|symbol| occurring.contains(*symbol)).collect();
        if bound.is_empty() {
            return Ok(body.clone());
        }
        if self.program.dialect != Dialect::Z3 {
            return Err(SmtError::Incapable("elimination of quantifiers").into());
        }
        let free: BTreeMap<String, Symbol> = occurring
            .iter()
            .filter(|symbol| !bound.contains(symbol))
            .map(|symbol| (symbol.name.to_string(), symbol.clone()))
            .collect();
        let text = elimination(&bound, &free, body);
        self.questions += 1;
        let answer = self.ask_eliminator(&text, &mut proceed)?;
        read_goals(&answer, &free).map_err(Interrupted::Solver)
    }

    fn ask_eliminator<E>(
        &mut self,
        text: &str,
        proceed: &mut dyn FnMut() -> Result<(), E>,
    ) -> Result<Sexp, Interrupted<E>> {
        let process = match &mut self.eliminator {
            Some(process) => process,
            none => none.insert(Process::start(&self.program)?),
        };
        process.send(text.to_string());
        let mut answer = process.receive(proceed).and_then(refuse_errors);
        if let (Ok(_), Some(limit)) = (&answer, self.program.work) {
            // An elimination that was interrupted leaves quantifiers behind.
            process.send("(get-info :rlimit)\n".to_string());
            let spent = process.receive(proceed).and_then(refuse_errors)?;
            if units(&spent).is_none_or(|spent| spent > limit) {
                answer = Err(SmtError::Exhausted.into());
            }
        }
        if answer.is_err() {
            self.eliminator = None;
        }
        answer
    }

    /// Sends a command of the caller and returns its answer.
    pub fn ask<E>(
        &mut self,
        command: &str,
        mut proceed: impl FnMut() -> Result<(), E>,
    ) -> Result<Sexp, Interrupted<E>> {
        self.questions += 1;
        self.question(command, Again::Never, &mut proceed)
    }

    fn question<E>(
        &mut self,
        command: &str,
        again: Again,
        proceed: &mut dyn FnMut() -> Result<(), E>,
    ) -> Result<Sexp, Interrupted<E>> {
        proceed().map_err(Interrupted::Caller)?;
        match self.attempt(command, proceed) {
            Err(Interrupted::Solver(SmtError::Died)) if again == Again::Once => self.attempt(command, proceed),
            answer => answer,
        }
    }

    /// Runs an operation on the process. After a failure the process is dropped, and the next question starts another
    /// one.
    fn attempt<E>(
        &mut self,
        command: &str,
        proceed: &mut dyn FnMut() -> Result<(), E>,
    ) -> Result<Sexp, Interrupted<E>> {
        let mut text = std::mem::take(&mut self.pending);
        let process = match &mut self.process {
            Some(process) => process,
            none => {
                text = everything(&self.levels);
                none.insert(Process::start(&self.program)?)
            }
        };
        text.push_str(command);
        text.push('\n');
        process.send(text);
        let answer = process.receive(proceed).and_then(refuse_errors);
        if answer.is_err() {
            self.process = None;
        }
        answer
    }

    fn strange<E>(&mut self, answer: &Sexp) -> Interrupted<E> {
        self.process = None;
        SmtError::Strange(shortened(answer)).into()
    }
}

/// Returns all commands for a new process.
fn everything(levels: &[Vec<String>]) -> String {
    let mut text = String::new();
    for (number, level) in levels.iter().enumerate() {
        text.push_str(if number == 0 { "" } else { "(push 1)\n" });
        level.iter().for_each(|command| {
            text.push_str(command);
            text.push('\n');
        });
    }
    text
}

/// Rejects error messages. A message in place of an answer may be about an earlier command, so nothing after it can be
/// trusted.
fn refuse_errors<E>(answer: Sexp) -> Result<Sexp, Interrupted<E>> {
    match answer.error() {
        Some(message) if is_about_work(&message) => Err(SmtError::Exhausted.into()),
        Some(message) => Err(SmtError::Rejected(message).into()),
        None => Ok(answer),
    }
}

/// Returns whether Z3 reports that it reached its limit on work.
fn is_about_work(message: &str) -> bool {
    message.contains("resource limit") || message.contains("canceled")
}

/// Returns the units of work in `(:rlimit 1000)`.
fn units(info: &Sexp) -> Option<u64> {
    match info.list() {
        Some([_, units]) => units.atom()?.parse().ok(),
        _ => None,
    }
}

fn is_literal(term: &Term) -> bool {
    match term.head() {
        Node::Symbol(_) => true,
        Node::Not(part) => matches!(part.head(), Node::Symbol(_)),
        _ => false,
    }
}

/// Returns whether a word is this literal.
fn is_written(word: &Sexp, literal: &Term) -> bool {
    match (literal.head(), word) {
        (Node::Symbol(symbol), Sexp::Atom(word)) => *symbol.name == **word,
        (Node::Not(part), Sexp::List(parts)) => {
            matches!(parts.as_slice(), [Sexp::Atom(not), word] if not == "not" && is_written(word, part))
        }
        _ => false,
    }
}

fn elimination(bound: &[&Symbol], free: &BTreeMap<String, Symbol>, body: &Term) -> String {
    let mut text = "(push 1)\n".to_string();
    let written = "writing to a string succeeds";
    free.values().for_each(|symbol| writeln!(text, "(declare-const {symbol} {})", symbol.sort).expect(written));
    let names: Vec<String> = bound.iter().map(|symbol| format!("({symbol} {})", symbol.sort)).collect();
    writeln!(text, "(assert (exists ({}) {body}))\n(apply qe)\n(pop 1)", names.join(" ")).expect(written);
    text
}

/// Returns the conjunction of the one goal in `(goals (goal .. :precision precise :depth 1))`.
fn read_goals(answer: &Sexp, free: &BTreeMap<String, Symbol>) -> Result<Term, SmtError> {
    let strange = || SmtError::Strange(shortened(answer));
    let [Sexp::Atom(_), goal] = answer.list().ok_or_else(strange)? else { return Err(strange()) };
    let [Sexp::Atom(_), parts @ ..] = goal.list().ok_or_else(strange)? else { return Err(strange()) };
    let is_mark = |part: &Sexp| part.atom().is_some_and(|word| word.starts_with(':'));
    let marks = parts.iter().position(is_mark).ok_or_else(strange)?;
    let is_precise =
        parts[marks..].windows(2).any(|pair| pair[0].atom() == Some(":precision") && pair[1].atom() == Some("precise"));
    if !is_precise {
        return Err(strange());
    }
    let terms: Vec<Term> = parts[..marks].iter().map(|part| read_term(part, free)).collect::<Result<_, _>>()?;
    Ok(Term::and(terms))
}
