//! Reading programs: first all declarations, so that names may be used before them, then everything that uses names.

use std::collections::BTreeMap;

use index_vec::IndexVec;

use super::lex::{Token, lex};
use super::parse_expr::{Line, Meaning, Read, Table};
use crate::syntax::{
    Count, Edge, EdgeId, Entry, Expr, Label, Loc, LocId, Proc, ProcId, Program, Scope, Ty, Var, VarId,
};
use crate::target::Target;

/// The reason why a text is not a program.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {message}")]
pub struct ParseError {
    /// The line, counted from one.
    pub line: usize,
    /// The message, without a full stop.
    pub message: String,
}

/// Reads a program. All numbers and names in the result exist; [`crate::validate`] checks the rest.
pub fn parse(text: &str) -> Result<Program, ParseError> {
    let (program, target) = read(text)?;
    match target {
        None => Ok(program),
        Some((line, _)) => Err(ParseError { line, message: "a target is not part of a program".to_owned() }),
    }
}

/// Reads a program and a target, which is empty if the text has none.
pub fn parse_with_target(text: &str) -> Result<(Program, Target), ParseError> {
    let (program, target) = read(text)?;
    Ok((program, target.map(|(_, target)| target).unwrap_or_default()))
}

/// Reads an expression over the variables of a program, which was written with [`super::Names::unique`], or says why it
/// is none. The types of its parts need not fit.
pub fn parse_expr(program: &Program, text: &str) -> Result<Expr, String> {
    let mut table = Table::default();
    for (var, variable) in program.vars.iter_enumerated() {
        let number = u32::try_from(var.index()).map_err(|_| "there are too many variables".to_owned())?;
        Meaning::add(&mut table.anywhere, variable.name.clone(), number);
        table.vars.insert(number, variable.name.clone());
    }
    let tokens = lex(text)?;
    let mut line = Line::new(&tokens, &table, None);
    let expr = line.expr()?;
    line.finish().map(|()| expr)
}

/// A line whose names are read after all declarations.
struct Later {
    number: usize,
    tokens: Vec<Token>,
    proc: Option<ProcId>,
}

/// A procedure's head, whose parameters may be declared below it.
struct Head {
    proc: Proc,
    params: Vec<(String, Option<u32>)>,
}

#[derive(Default)]
struct Parser {
    table: Table,
    vars: BTreeMap<u32, Var>,
    heads: Vec<Head>,
    edges: BTreeMap<u32, Edge>,
    labels: Vec<Label>,
    init: Vec<(VarId, crate::syntax::Expr)>,
    prelude: Option<ProcId>,
    entries: IndexVec<crate::syntax::EntryId, Entry>,
    target: Option<(usize, Target)>,
}

fn read(text: &str) -> Result<(Program, Option<(usize, Target)>), ParseError> {
    let mut parser = Parser::default();
    let mut later = Vec::new();
    let mut proc = None;
    let mut last = 0;
    for (idx, line) in text.lines().enumerate() {
        last = idx + 1;
        let located = |message| ParseError { line: idx + 1, message };
        let tokens = lex(line).map_err(located)?;
        if tokens.is_empty() || parser.declaration(&tokens, &mut proc).map_err(located)? {
            continue;
        }
        later.push(Later { number: idx + 1, tokens, proc });
    }
    for line in &later {
        parser.use_line(line).map_err(|message| ParseError { line: line.number, message })?;
    }
    parser.finish().map_err(|message| ParseError { line: last, message })
}

impl Parser {
    /// Reads a line if it is a declaration. Also notes the locations of edges.
    fn declaration(&mut self, tokens: &[Token], proc: &mut Option<ProcId>) -> Read<bool> {
        let table = Table::default();
        let mut line = Line::new(tokens, &table, *proc);
        if line.eat("proc") {
            *proc = Some(self.head(&mut line)?);
        } else if line.eat("shared") {
            self.declare_all(&mut line, Scope::Shared)?;
        } else if line.eat("thread") {
            self.declare_all(&mut line, Scope::Thread)?;
        } else if line.eat("local") {
            self.declare_all(&mut line, Scope::Local(inside(*proc)?))?;
        } else if line.eat("loc") {
            let number = line.loc_number()?;
            self.place(number, inside(*proc)?)?;
        } else {
            line.indexed('e');
            if let Some(from) = line.indexed('L') {
                self.place(from, inside(*proc)?)?;
                line.expect("->")?;
                let to = line.loc_number()?;
                self.place(to, inside(*proc)?)?;
            }
            return Ok(false);
        }
        line.finish()?;
        Ok(true)
    }

    /// Notes that a location belongs to a procedure.
    fn place(&mut self, loc: u32, proc: ProcId) -> Read<()> {
        let owner = *self.table.locs.entry(loc).or_insert(proc);
        let name = &self.table.proc_names[owner.index()];
        if owner == proc { Ok(()) } else { Err(format!("L{loc} belongs to the procedure `{name}`")) }
    }

    /// Reads `proc f(p: bool, q: int) returns bool from L0 to L1`. Parameters with types are declarations.
    fn head(&mut self, line: &mut Line<'_>) -> Read<ProcId> {
        let id = ProcId::new(self.heads.len());
        let (name, number) = line.name()?;
        if number.is_some_and(|number| number as usize != id.index()) {
            return Err(format!("this is procedure number {}", id.index()));
        }
        Meaning::add(&mut self.table.procs, name.clone(), id.index() as u32);
        self.table.proc_names.push(name.clone());
        let unknown = LocId::new(0);
        let proc =
            Proc { name, params: Vec::new(), locals: Vec::new(), results: Vec::new(), entry: unknown, exit: unknown };
        self.heads.push(Head { proc, params: Vec::new() });
        line.expect("(")?;
        if !line.eat(")") {
            self.heads[id.index()].params = self.declare_some(line, Scope::Local(id))?;
            line.expect(")")?;
        }
        let results = if line.eat("returns") { line.list(Line::ty)? } else { Vec::new() };
        line.expect("from")?;
        let entry = line.loc_number()?;
        line.expect("to")?;
        let exit = line.loc_number()?;
        self.place(entry, id)?;
        self.place(exit, id)?;
        let proc = &mut self.heads[id.index()].proc;
        (proc.results, proc.entry, proc.exit) = (results, LocId::new(entry as usize), LocId::new(exit as usize));
        Ok(id)
    }

    fn declare_all(&mut self, line: &mut Line<'_>, scope: Scope) -> Read<()> {
        let n_declared = self.vars.len();
        let named = self.declare_some(line, scope)?.len();
        let closed = self.vars.len() == n_declared + named;
        if closed { Ok(()) } else { Err("a variable without a type".to_owned()) }
    }

    /// Reads `x, y: bool, z: int`, where the last names may lack a type. Declares those that have one; returns all,
    /// with the numbers of the declared ones.
    fn declare_some(&mut self, line: &mut Line<'_>, scope: Scope) -> Read<Vec<(String, Option<u32>)>> {
        let mut names = Vec::new();
        let mut typed = 0;
        loop {
            names.push(line.name()?);
            if line.eat(":") {
                let ty = line.ty()?;
                for name in &mut names[typed..] {
                    name.1 = Some(self.declare(&name.0, name.1, scope, ty)?);
                }
                typed = names.len();
            }
            if !line.eat(",") {
                return Ok(names);
            }
        }
    }

    fn declare(&mut self, name: &str, number: Option<u32>, scope: Scope, ty: Ty) -> Read<u32> {
        let number = number.unwrap_or(self.vars.len() as u32);
        let var = Var { name: name.to_owned(), scope, ty };
        if self.vars.insert(number, var).is_some() {
            return Err(format!("the variable number {number} is declared twice"));
        }
        let owner = if let Scope::Local(proc) = scope { Some(proc) } else { None };
        Meaning::add(&mut self.table.scoped, (owner, name.to_owned()), number);
        Meaning::add(&mut self.table.anywhere, name.to_owned(), number);
        self.table.vars.insert(number, name.to_owned());
        if let Some(proc) = owner {
            self.heads[proc.index()].proc.locals.push(VarId::new(number as usize));
        }
        Ok(number)
    }

    fn use_line(&mut self, later: &Later) -> Read<()> {
        let table = std::mem::take(&mut self.table);
        let mut line = Line::new(&later.tokens, &table, later.proc);
        let used = self.use_names(&mut line, later.number);
        let used = used.and_then(|()| line.finish());
        self.table = table;
        used
    }

    fn use_names(&mut self, line: &mut Line<'_>, number: usize) -> Read<()> {
        if line.eat("init") {
            self.init.extend(line.assignments()?);
        } else if line.eat("label") {
            let (name, _) = line.name()?;
            line.expect(":")?;
            self.labels.push(Label { name, loc: line.loc()? });
        } else if line.eat("prelude") {
            self.prelude = Some(line.proc_ref()?);
        } else if line.eat("start") {
            self.entries.push(start(line)?);
        } else if line.eat("target") {
            self.target(line, number)?;
        } else {
            self.edge(line)?;
        }
        Ok(())
    }

    fn edge(&mut self, line: &mut Line<'_>) -> Read<()> {
        let number = line.indexed('e').unwrap_or(self.edges.len() as u32);
        let from = line.loc()?;
        line.expect("->")?;
        let to = line.loc()?;
        line.expect(":")?;
        let op = line.op()?;
        let ensures = if line.eat("ensures") { line.expr()? } else { Expr::TRUE };
        let replaced = self.edges.insert(number, Edge { from, to, op, ensures });
        if replaced.is_none() { Ok(()) } else { Err(format!("there are two edges of number {number}")) }
    }

    fn target(&mut self, line: &mut Line<'_>, number: usize) -> Read<()> {
        let (_, so_far) = self.target.take().unwrap_or_default();
        let Target { mut asserts, locs, together, mut deadlock } = so_far;
        let mut meetings: Vec<Vec<LocId>> = locs.into_iter().map(|loc| vec![loc]).chain(together).collect();
        line.list(|line| {
            match line.indexed('e') {
                Some(edge) => asserts.push(EdgeId::new(edge as usize)),
                None if line.eat("deadlock") => deadlock = true,
                None => {
                    let mut meeting = vec![line.loc()?];
                    while line.eat("+") {
                        meeting.push(line.loc()?);
                    }
                    meetings.push(meeting);
                }
            }
            Ok(())
        })?;
        let target = Target::new(asserts, Vec::new()).with_together(meetings).with_deadlock(deadlock);
        self.target = Some((number, target));
        Ok(())
    }

    fn finish(mut self) -> Read<(Program, Option<(usize, Target)>)> {
        let locs: BTreeMap<u32, Loc> = self.table.locs.iter().map(|(loc, proc)| (*loc, Loc { proc: *proc })).collect();
        let mut procs = IndexVec::new();
        for (idx, head) in std::mem::take(&mut self.heads).into_iter().enumerate() {
            procs.push(self.with_params(head, ProcId::new(idx))?);
        }
        let program = Program {
            vars: IndexVec::from_vec(dense(self.vars, "variable")?),
            procs,
            locs: IndexVec::from_vec(dense(locs, "location")?),
            edges: IndexVec::from_vec(dense(self.edges, "edge")?),
            labels: self.labels,
            init: self.init,
            prelude: self.prelude,
            entries: self.entries,
        };
        let asserts = self.target.iter().flat_map(|(_, target)| &target.asserts);
        match asserts.max().filter(|edge| edge.index() >= program.edges.len()) {
            Some(edge) => Err(format!("there is no edge e{}", edge.index())),
            None => Ok((program, self.target)),
        }
    }

    fn with_params(&self, head: Head, id: ProcId) -> Read<Proc> {
        let Head { mut proc, params } = head;
        for (name, number) in params {
            let token = [Token::Quoted(name)].into_iter().chain(number.map(Token::At)).collect::<Vec<_>>();
            proc.params.push(Line::new(&token, &self.table, Some(id)).var()?);
        }
        Ok(proc)
    }
}

fn inside(proc: Option<ProcId>) -> Read<ProcId> {
    proc.ok_or_else(|| "this line belongs below a procedure".to_owned())
}

/// Returns the items, if their numbers have no gaps.
fn dense<T>(items: BTreeMap<u32, T>, what: &str) -> Read<Vec<T>> {
    let missing = items.keys().enumerate().find(|(idx, number)| *idx != **number as usize);
    match missing {
        Some((idx, _)) => Err(format!("the {what} number {idx} is missing")),
        None => Ok(items.into_values().collect()),
    }
}

/// Reads `main`, or `kernel: main at most 1 with t, u init t := F`.
fn start(line: &mut Line<'_>) -> Read<Entry> {
    let named = matches!(line.tokens.get(2), Some(Token::Sign(":")));
    let name = if named { Some(line.name()?.0) } else { None };
    if named {
        line.expect(":")?;
    }
    let proc = line.proc_ref()?;
    let count = count(line)?;
    let thread_vars = if line.eat("with") { line.list(Line::var)? } else { Vec::new() };
    let init = if line.eat("init") { line.assignments()? } else { Vec::new() };
    let name = name.unwrap_or_else(|| line.table.proc_names[proc.index()].clone());
    Ok(Entry { name, proc, count, thread_vars, init })
}

fn count(line: &mut Line<'_>) -> Read<Count> {
    if line.eat("exactly") {
        return Ok(Count::Exactly(line.number()?));
    }
    if line.eat("at") {
        line.expect("most")?;
        return Ok(Count::AtMost(line.number()?));
    }
    Ok(if line.eat("any") { Count::Any } else { Count::Exactly(1) })
}
