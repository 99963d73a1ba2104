//! Prints programs with one thread as Boolean programs.
//!
//! Each location is a label; the edges that leave it are the targets of a `goto`. The statement that an edge was made
//! from is a comment before it. The text is formatted as by `selvedge fmt`.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use selvedge_frontend::bp::format;
use selvedge_frontend::bp::lexer::is_keyword;
use selvedge_ir::flow::Flow;
use selvedge_ir::{Assign, BinaryOp, Call, EdgeId, Expr, LocId, Op, ProcId, Program, Scope, Ty, UnaryOp, Var, VarId};

/// Comments on a program.
pub struct Notes<'n> {
    /// Lines at the top.
    pub head: Vec<String>,
    /// A line before a procedure.
    pub proc: &'n dyn Fn(ProcId) -> Option<String>,
    /// A line before an edge; it is not repeated for consecutive edges of one location.
    pub edge: &'n dyn Fn(EdgeId) -> Option<String>,
}

/// Returns the text of a program with one initial thread, which runs `main` and starts no other. Panics if it has
/// integers, or expressions with shared parts: Boolean programs have no words for these.
pub fn print(program: &Program, notes: &Notes<'_>) -> String {
    let (program, chosen) = with_chosen_starts(program);
    let printer = Printer { program: &program, notes, names: Names::new(&program), flow: Flow::new(&program), chosen };
    let text = printer.program();
    format(&text).unwrap_or(text)
}

struct Printer<'p> {
    program: &'p Program,
    notes: &'p Notes<'p>,
    names: Names,
    flow: Flow,
    /// Variables that hold choices shared by several initial values.
    chosen: Vec<VarId>,
}

impl Printer<'_> {
    fn program(&self) -> String {
        let mut text: String = self.notes.head.iter().map(|line| format!("// {line}\n")).collect();
        text.push('\n');
        let others = self.program.vars.indices().filter(|id| !self.chosen.contains(id));
        for id in self.chosen.iter().copied().chain(others) {
            if !matches!(self.program.vars[id].scope, Scope::Local(_)) {
                let init = self.program.init.iter().find(|(initialised, _)| *initialised == id);
                let init = init.map(|(_, rhs)| format!(" := {}", self.expr(rhs, &[]))).unwrap_or_default();
                let _ = writeln!(text, "decl {}{init};", self.names.vars[&id]);
            }
        }
        // The order of procedures does not matter; the initial one is printed first.
        let mut procs: Vec<ProcId> = self.program.entries.iter().map(|entry| entry.proc).collect();
        procs.extend(self.program.procs.indices().filter(|proc| !procs.contains(proc)).collect::<Vec<_>>());
        for proc in procs {
            self.proc(proc, &mut text);
        }
        text
    }

    fn proc(&self, id: ProcId, text: &mut String) {
        let proc = &self.program.procs[id];
        text.push('\n');
        if let Some(note) = (self.notes.proc)(id) {
            let _ = writeln!(text, "// {note}");
        }
        let results = match proc.results.len() {
            0 => "void".to_string(),
            1 => "bool".to_string(),
            n_results => format!("bool<{n_results}>"),
        };
        let params = self.vars(&proc.params);
        let _ = writeln!(text, "{results} {}({params}) begin", self.names.procs[&id]);
        let locals: Vec<VarId> = proc.locals.iter().filter(|local| !proc.params.contains(local)).copied().collect();
        if !locals.is_empty() {
            let _ = writeln!(text, "decl {};", self.vars(&locals));
        }
        let order = self.order(id);
        let temporaries =
            order.iter().flat_map(|loc| self.flow.out(*loc)).map(|edge| repeated(self.program.edges[*edge].op.exprs()));
        let n_temporaries = temporaries.map(|choices| choices.len()).max().unwrap_or(0);
        if n_temporaries > 0 {
            let names: Vec<String> = (0..n_temporaries).map(temporary).collect();
            let _ = writeln!(text, "decl {};", names.join(", "));
        }
        let jumps = self.jumps(&order);
        for (place, loc) in order.iter().enumerate() {
            self.loc(*loc, order.get(place + 1).copied(), &jumps, text);
        }
        text.push_str("end\n");
    }

    /// Returns the reachable locations of a procedure except its exit, in an order that needs few jumps.
    fn order(&self, proc: ProcId) -> Vec<LocId> {
        let (entry, exit) = (self.program.procs[proc].entry, self.program.procs[proc].exit);
        let mut order = self.flow.postorder(self.program, entry);
        order.reverse();
        order.retain(|loc| *loc != exit);
        order
    }

    /// Returns the locations that need a label: those that are not only reached from the previous location.
    fn jumps(&self, order: &[LocId]) -> BTreeSet<LocId> {
        let mut jumps = BTreeSet::new();
        for (place, loc) in order.iter().enumerate() {
            let edges = self.flow.out(*loc);
            let next = order.get(place + 1);
            for (number, edge) in edges.iter().enumerate() {
                let to = self.program.edges[*edge].to;
                if number + 1 < edges.len() || next != Some(&to) {
                    jumps.insert(to);
                }
            }
        }
        jumps
    }

    fn loc(&self, loc: LocId, next: Option<LocId>, jumps: &BTreeSet<LocId>, text: &mut String) {
        for label in self.program.labels.iter().filter(|label| label.loc == loc) {
            let _ = writeln!(text, "{}:", label.name);
        }
        if jumps.contains(&loc) {
            let _ = writeln!(text, "L{}:", loc.index());
        }
        let edges = self.flow.out(loc);
        if edges.is_empty() {
            text.push_str("assume(F);\n");
        }
        if let [_, _, ..] = edges {
            let targets: Vec<String> = (1..=edges.len()).map(|number| format!("L{}_{number}", loc.index())).collect();
            let _ = writeln!(text, "goto {};", targets.join(", "));
        }
        let mut said = None;
        for (number, edge) in edges.iter().enumerate() {
            let note = (self.notes.edge)(*edge);
            if let Some(note) = note.as_ref().filter(|note| said.as_ref() != Some(*note)) {
                let _ = writeln!(text, "// {note}");
            }
            said = note;
            if edges.len() > 1 {
                let _ = writeln!(text, "L{}_{}:", loc.index(), number + 1);
            }
            self.edge(*edge, next.filter(|_| number + 1 == edges.len()), text);
        }
    }

    fn edge(&self, id: EdgeId, next: Option<LocId>, text: &mut String) {
        let edge = &self.program.edges[id];
        let fixed = repeated(edge.op.exprs());
        if !fixed.is_empty() {
            let names: Vec<String> = (0..fixed.len()).map(temporary).collect();
            let stars = vec!["*"; fixed.len()];
            let _ = writeln!(text, "{} := {};", names.join(", "), stars.join(", "));
        }
        match (&edge.op, &edge.ensures) {
            (Op::Assign(_), ensures) if *ensures != Expr::TRUE => {
                let alone = Op::Assign(edge.as_assignment());
                let _ = writeln!(text, "{};", self.statement(&alone, &fixed));
            }
            (Op::Assert(condition), ensures) if *ensures != Expr::TRUE => {
                let asserted = Op::Assert(Expr::or(condition.clone(), Expr::negate(ensures.clone())));
                let _ = writeln!(text, "{};", self.statement(&asserted, &fixed));
            }
            (op, _) => drop(writeln!(text, "{};", self.statement(op, &fixed))),
        }
        // In one thread, what a step ensures may be assumed after it.
        if edge.ensures != Expr::TRUE && !matches!(edge.op, Op::Assign(_)) {
            let _ = writeln!(text, "assume({});", self.expr(&edge.ensures, &fixed));
        }
        if !matches!(edge.op, Op::Return(_) | Op::End) && next != Some(edge.to) {
            let _ = writeln!(text, "goto L{};", edge.to.index());
        }
    }

    fn statement(&self, op: &Op, fixed: &[u32]) -> String {
        let expr = |expr: &Expr| self.expr(expr, fixed);
        match op {
            Op::Assign(assign) if assign.active.is_empty() && assign.constrain == Expr::TRUE => "skip".to_string(),
            Op::Assign(assign) if assign.active.is_empty() => format!("assume({})", expr(&settled(assign))),
            Op::Assign(assign) => {
                let left: Vec<VarId> = assign.active.iter().map(|(var, _)| *var).collect();
                let right: Vec<String> = assign.active.iter().map(|(_, rhs)| expr(rhs)).collect();
                let constrain = match settled(assign) {
                    Expr::Bool(true) => String::new(),
                    condition => format!(" constrain {}", expr(&condition)),
                };
                format!("{} := {}{constrain}", self.vars(&left), right.join(", "))
            }
            Op::Assert(condition) => format!("assert({})", expr(condition)),
            Op::Call(call) => self.call(call, fixed),
            Op::Return(values) if values.is_empty() => "return".to_string(),
            Op::Return(values) => format!("return {}", values.iter().map(expr).collect::<Vec<_>>().join(", ")),
            Op::End => "end_thread".to_string(),
            Op::AtomicBegin => "atomic_begin".to_string(),
            Op::AtomicEnd => "atomic_end".to_string(),
            Op::Spawn(_) | Op::Fork(_) => unreachable!("the program has one thread"),
        }
    }

    fn call(&self, call: &Call, fixed: &[u32]) -> String {
        let name = |result: &Option<VarId>| result.map_or("_".to_string(), |var| self.names.vars[&var].clone());
        let results: Vec<String> = call.results.iter().map(name).collect();
        let args: Vec<String> = call.args.iter().map(|arg| self.expr(arg, fixed)).collect();
        let becomes = if results.is_empty() { String::new() } else { format!("{} := ", results.join(", ")) };
        format!("{becomes}{}({})", self.names.procs[&call.callee], args.join(", "))
    }

    fn vars(&self, vars: &[VarId]) -> String {
        vars.iter().map(|var| self.names.vars[var].as_str()).collect::<Vec<_>>().join(", ")
    }

    /// Prints an expression; the choices in `fixed` were made before.
    fn expr(&self, expr: &Expr, fixed: &[u32]) -> String {
        match expr {
            Expr::Bool(value) => if *value { "T" } else { "F" }.to_string(),
            Expr::Var(var) => self.names.vars[var].clone(),
            Expr::Next(var) => format!("'{}", self.names.vars[var]),
            Expr::Choice(number, _) => match fixed.iter().position(|fixed| fixed == number) {
                Some(place) => temporary(place),
                None => "*".to_string(),
            },
            Expr::Unary(UnaryOp::Not, operand) => format!("!{}", self.operand(operand, None, fixed)),
            Expr::Binary(op, pair) => {
                let side = |expr: &Expr| self.operand(expr, Some(*op), fixed);
                format!("{} {} {}", side(&pair.0), sign(*op), side(&pair.1))
            }
            Expr::Ite(parts) => {
                let part = |expr: &Expr| self.operand(expr, None, fixed);
                format!("({} ? {} : {})", part(&parts.0), part(&parts.1), part(&parts.2))
            }
            Expr::Int(_) | Expr::Machine(..) | Expr::Unary(..) => unreachable!("the program is Boolean"),
            Expr::Let(_) | Expr::Part(_) => unreachable!("the program has no shared parts"),
            Expr::Passive(_) | Expr::PassiveNext(_) => unreachable!("the program has one thread"),
        }
    }

    /// Prints an expression as a part of another one, in parentheses unless it is plain or of the same `&` or `|`.
    fn operand(&self, expr: &Expr, above: Option<BinaryOp>, fixed: &[u32]) -> String {
        let text = self.expr(expr, fixed);
        match expr {
            Expr::Binary(op, _) if Some(*op) != above || !matches!(op, BinaryOp::And | BinaryOp::Or) => {
                format!("({text})")
            }
            _ => text,
        }
    }
}

/// Returns the condition of an assignment, with new values for assigned variables only: the others keep their values.
fn settled(assign: &Assign) -> Expr {
    let is_assigned = |var: &VarId| assign.active.iter().any(|(assigned, _)| assigned == var);
    assign.constrain.map_leaves(&mut |leaf| match leaf {
        Expr::Next(var) if !is_assigned(var) => Expr::Var(*var),
        leaf => leaf.clone(),
    })
}

fn sign(op: BinaryOp) -> &'static str {
    match op {
        BinaryOp::And => "&",
        BinaryOp::Or => "|",
        BinaryOp::Xor => "^",
        BinaryOp::Implies => "=>",
        BinaryOp::Eq => "=",
        BinaryOp::Ne => "!=",
        _ => unreachable!("the program is Boolean"),
    }
}

fn temporary(number: usize) -> String {
    format!("choice_{number}")
}

/// Adds a variable for each choice that several initial values share, because `*` would be a new choice each time.
/// These variables are declared first and start with any value.
fn with_chosen_starts(program: &Program) -> (Program, Vec<VarId>) {
    let mut program = program.clone();
    let shared = repeated(program.init.iter().map(|(_, rhs)| rhs));
    let chosen = shared.iter().enumerate().map(|(place, _)| {
        program.vars.push(Var { name: format!("start_{place}"), ty: Ty::Bool, scope: Scope::Shared })
    });
    let chosen: Vec<VarId> = chosen.collect();
    for (_, rhs) in &mut program.init {
        *rhs = rhs.map_leaves(&mut |leaf| match leaf {
            Expr::Choice(number, _) if shared.contains(number) => {
                let place = shared.iter().position(|choice| choice == number);
                Expr::Var(chosen[place.expect("it is one of them")])
            }
            leaf => leaf.clone(),
        });
    }
    (program, chosen)
}

/// Returns the choices that occur more than once in some expressions.
fn repeated<'e>(exprs: impl Iterator<Item = &'e Expr>) -> Vec<u32> {
    let mut seen: BTreeMap<u32, usize> = BTreeMap::new();
    for expr in exprs {
        expr.for_each_leaf(|leaf| {
            if let Expr::Choice(number, _) = leaf {
                *seen.entry(*number).or_default() += 1;
            }
        });
    }
    seen.into_iter().filter(|(_, count)| *count > 1).map(|(number, _)| number).collect()
}

/// Names that the parser accepts, each unique in its scope.
struct Names {
    vars: BTreeMap<VarId, String>,
    procs: BTreeMap<ProcId, String>,
}

impl Names {
    fn new(program: &Program) -> Names {
        let mut taken: BTreeSet<String> = (0..8).map(temporary).collect();
        let mut procs: BTreeMap<ProcId, String> = BTreeMap::new();
        for entry in &program.entries {
            procs.insert(entry.proc, unique("main", &mut taken));
        }
        let mut vars = BTreeMap::new();
        let is_local = |id: VarId| matches!(program.vars[id].scope, Scope::Local(_));
        for id in program.vars.indices().filter(|id| !is_local(*id)) {
            vars.insert(id, unique(&program.vars[id].name, &mut taken));
        }
        for (id, proc) in program.procs.iter_enumerated() {
            procs.entry(id).or_insert_with(|| unique(&proc.name, &mut taken));
        }
        for proc in &program.procs {
            let mut own = taken.clone();
            vars.extend(proc.locals.iter().map(|local| (*local, unique(&program.vars[*local].name, &mut own))));
        }
        Names { vars, procs }
    }
}

/// Words that are not keywords but have a special meaning in place of a name.
const MEANT: &[&str] = &["T", "F", "_", "init", "shared", "process", "thread_local"];

/// Returns a name like this one that is not taken.
fn unique(name: &str, taken: &mut BTreeSet<String>) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '_' || c == '$' { c } else { '_' };
    let mut base: String = name.chars().map(plain).collect();
    if base.is_empty() || base.starts_with(|c: char| c.is_ascii_digit()) {
        base.insert(0, '_');
    }
    let is_reserved = |name: &str| is_keyword(name) || MEANT.contains(&name);
    let is_free = |name: &String| !is_reserved(name) && !name.ends_with('$') && !taken.contains(name);
    let numbered = (2..).map(|number| format!("{base}_{number}"));
    let found = std::iter::once(base.clone()).chain(numbered).find(is_free).expect("there are many numbers");
    taken.insert(found.clone());
    found
}
