//! Prints a model as the text of a Boolean program, with its question as a header that the corpus reader reads.
//!
//! Operands other than leaves are put in parentheses, so no precedence is relied on (the reader's own tests cover it).

use selvedge_check::{Initial, Question};
use std::fmt::{self, Display, Write};

use crate::model::{Assign, BinOp, Copies, Decl, Expr, Invocation, Kind, Model, Place, Procedure, Shape, Stmt, Style};

impl Display for Model {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut printer = Printer { out: String::new(), style: self.style, indent: 0, n_async: 0 };
        printer.model(self);
        f.write_str(&printer.out)
    }
}

/// Returns the options of a question as on the command line.
pub fn options(question: &Question) -> String {
    let mut options = Vec::new();
    options.extend(question.threads.map(|n| format!("--threads {n}")));
    options.extend(question.initial.map(|initial| match initial {
        Initial::Exactly(n) => format!("--initial {n}"),
        Initial::Any => "--initial any".to_string(),
    }));
    options.extend(question.label.as_ref().map(|label| format!("--label {label}")));
    options.extend(question.assertion.as_ref().map(|assertion| format!("--assertion {assertion}")));
    options.join(" ")
}

struct Printer {
    out: String,
    style: Style,
    indent: usize,
    /// The number of printed `ASYNC_n`: each is a label, so no two may be the same.
    n_async: usize,
}

impl Printer {
    fn line(&mut self, text: &str) {
        for _ in 0..self.indent {
            self.out.push_str("  ");
        }
        self.out.push_str(text);
        self.out.push('\n');
    }

    fn model(&mut self, model: &Model) {
        let options = options(&model.question);
        if !options.is_empty() {
            self.line(&format!("// options: {options}"));
        }
        let keyword = if model.shape == Shape::Processes { "shared decl" } else { "decl" };
        for decl in &model.globals {
            self.decl(if decl.thread_local { "decl" } else { keyword }, decl);
        }
        for procedure in &model.procs {
            match procedure.initial {
                Some(copies) if model.shape == Shape::Processes => self.process(model, procedure, copies),
                None if model.shape == Shape::Processes => {}
                _ => self.procedure(procedure, &procedure.name),
            }
        }
    }

    fn process(&mut self, model: &Model, main: &Procedure, copies: Copies) {
        let copies = match copies {
            Copies::Exactly(n) => format!(" [{n}]"),
            Copies::Once => " once".to_string(),
            Copies::Any => String::new(),
        };
        self.line(&format!("process {}{copies} begin", main.name));
        self.indent += 1;
        self.procedure(main, "main");
        for helper in model.procs.iter().filter(|procedure| procedure.initial.is_none()) {
            self.procedure(helper, &helper.name);
        }
        self.indent -= 1;
        self.line("end");
    }

    fn decl(&mut self, keyword: &str, decl: &Decl) {
        let scope = if decl.thread_local { "thread_local " } else { "" };
        let init = decl.init.as_ref().map(|init| format!(" := {}", self.expr(init))).unwrap_or_default();
        self.line(&format!("{keyword} {scope}{}{init};", decl.name));
    }

    fn procedure(&mut self, procedure: &Procedure, name: &str) {
        let kind = match procedure.results {
            0 => "void".to_string(),
            1 => "bool".to_string(),
            n => format!("bool<{n}>"),
        };
        self.line(&format!("{kind} {name}({}) begin", procedure.params.join(", ")));
        self.indent += 1;
        for decl in &procedure.locals {
            self.decl("decl", decl);
        }
        if let Some(condition) = &procedure.enforce {
            let condition = self.expr(condition);
            self.line(&format!("enforce {condition};"));
        }
        self.statements(&procedure.body);
        self.indent -= 1;
        self.line("end");
    }

    fn block(&mut self, body: &[Stmt]) {
        self.indent += 1;
        self.statements(body);
        self.indent -= 1;
    }

    fn statements(&mut self, body: &[Stmt]) {
        for stmt in body {
            self.statement(stmt);
        }
    }

    fn statement(&mut self, stmt: &Stmt) {
        let mut head = String::new();
        for label in &stmt.labels {
            let _ = write!(head, "{label}: ");
        }
        match &stmt.kind {
            Kind::If(arms, otherwise) => self.branches(&head, arms, otherwise.as_deref()),
            Kind::While(condition, body) => {
                let condition = self.expr(condition);
                self.line(&format!("{head}while {condition} do"));
                self.block(body);
                self.line("od;");
            }
            kind => {
                self.n_async += usize::from(matches!(kind, Kind::Async(_)));
                let text = self.simple(kind);
                self.line(&format!("{head}{text};"));
            }
        }
    }

    fn branches(&mut self, head: &str, arms: &[(Expr, Vec<Stmt>)], otherwise: Option<&[Stmt]>) {
        for (idx, (condition, body)) in arms.iter().enumerate() {
            let keyword = if idx == 0 { format!("{head}if") } else { "elsif".to_string() };
            let condition = self.expr(condition);
            self.line(&format!("{keyword} {condition} then"));
            self.block(body);
        }
        if let Some(body) = otherwise {
            self.line("else");
            self.block(body);
        }
        self.line("fi;");
    }

    /// Returns the text of a statement without statements inside.
    fn simple(&self, kind: &Kind) -> String {
        match kind {
            Kind::Skip => "skip".to_string(),
            Kind::Assign(assign) => self.assign(assign),
            Kind::Assert(condition) => self.conditional("assert", condition),
            Kind::Assume(condition) => self.conditional("assume", condition),
            Kind::Constrain(condition) => format!("constrain({})", self.expr(condition)),
            Kind::AbortIf(condition) => format!("abortif({})", self.expr(condition)),
            Kind::Goto(labels) => format!("goto {}", labels.join(", ")),
            Kind::Call(results, invocation) if results.is_empty() => self.invocation(invocation),
            Kind::Call(results, invocation) => {
                let places: Vec<&str> = results.iter().map(|place| place.as_deref().unwrap_or("_")).collect();
                format!("{} := {}", places.join(", "), self.invocation(invocation))
            }
            Kind::Return(values) if values.is_empty() => "return".to_string(),
            Kind::Return(values) => format!("return {}", self.exprs(values)),
            Kind::Dead(names) => format!("dead {}", names.join(", ")),
            Kind::StartGoto(label) => format!("start_thread goto {label}"),
            Kind::StartLabel(label) => format!("start_thread {label}"),
            Kind::StartCall(invocation) if self.style.bare_starts && invocation.args.is_empty() => {
                format!("start_thread {}", invocation.callee)
            }
            Kind::StartCall(invocation) => format!("start_thread {}", self.invocation(invocation)),
            Kind::Async(invocation) => format!("ASYNC_{}: {}", self.n_async, self.invocation(invocation)),
            Kind::EndThread => "end_thread".to_string(),
            Kind::AtomicBegin => "atomic_begin".to_string(),
            Kind::AtomicEnd => "atomic_end".to_string(),
            Kind::Print(values) => format!("print({})", self.exprs(values)),
            Kind::If(..) | Kind::While(..) => unreachable!("compound statements are printed by `statement`"),
        }
    }

    fn conditional(&self, keyword: &str, condition: &Expr) -> String {
        let condition = self.expr(condition);
        if self.style.bare_conditions { format!("{keyword} {condition}") } else { format!("{keyword}({condition})") }
    }

    fn assign(&self, assign: &Assign) -> String {
        let place = |place: &Place| match place {
            Place::Var(name) => name.clone(),
            Place::Passive(name) => format!("{name}$"),
            Place::Discard => "_".to_string(),
        };
        let places: Vec<String> = assign.places.iter().map(place).collect();
        let mut text = format!("{} := {}", places.join(", "), self.exprs(&assign.values));
        if let Some(condition) = &assign.constrain {
            let _ = write!(text, " constrain {}", self.operand(condition));
        }
        text
    }

    fn invocation(&self, invocation: &Invocation) -> String {
        format!("{}({})", invocation.callee, self.exprs(&invocation.args))
    }

    fn exprs(&self, exprs: &[Expr]) -> String {
        exprs.iter().map(|expr| self.expr(expr)).collect::<Vec<_>>().join(", ")
    }

    fn expr(&self, expr: &Expr) -> String {
        match expr {
            Expr::Const(value) => self.constant(*value).to_string(),
            Expr::Var(name) => name.clone(),
            Expr::Next(name) if self.style.prime_behind => format!("{name}'"),
            Expr::Next(name) => format!("'{name}"),
            Expr::Passive(name) => format!("{name}$"),
            Expr::PassiveNext(name) => format!("'{name}$"),
            Expr::Choice => "*".to_string(),
            Expr::Choose(pair) => format!("schoose[{}, {}]", self.expr(&pair.0), self.expr(&pair.1)),
            Expr::Not(operand) => format!("!{}", self.operand(operand)),
            Expr::Binary(op, pair) => {
                format!("{} {} {}", self.operand(&pair.0), self.operator(*op), self.operand(&pair.1))
            }
            Expr::Ite(triple) => {
                let [condition, then, otherwise] = [&triple.0, &triple.1, &triple.2].map(|part| self.operand(part));
                format!("{condition} ? {then} : {otherwise}")
            }
        }
    }

    /// Returns the expression, in parentheses unless it is a leaf.
    fn operand(&self, expr: &Expr) -> String {
        match expr {
            Expr::Choice | Expr::Binary(..) | Expr::Ite(_) => format!("({})", self.expr(expr)),
            _ => self.expr(expr),
        }
    }

    fn constant(&self, value: bool) -> &'static str {
        match (value, self.style.digits) {
            (true, false) => "T",
            (false, false) => "F",
            (true, true) => "1",
            (false, true) => "0",
        }
    }

    fn operator(&self, op: BinOp) -> &'static str {
        match op {
            BinOp::And if self.style.doubled => "&&",
            BinOp::Or if self.style.doubled => "||",
            BinOp::And => "&",
            BinOp::Or => "|",
            BinOp::Xor => "^",
            BinOp::Eq => "=",
            BinOp::Ne => "!=",
            BinOp::Implies => "=>",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Model {
        let x = || Expr::var("x");
        let assign = Assign {
            places: vec![Place::Var("x".into()), Place::Passive("t".into()), Place::Discard],
            values: vec![Expr::Choice, Expr::Const(true), x()],
            constrain: Some(Expr::binary(BinOp::Eq, Expr::Next("x".into()), x())),
        };
        let arm = (Expr::not(Expr::Choice), vec![Stmt::new(Kind::Goto(vec!["L".into(), "M".into()]))]);
        let body = vec![
            Stmt { labels: vec!["L".into(), "M".into()], kind: Kind::Assign(assign) },
            Stmt::new(Kind::If(vec![arm.clone(), arm], Some(Vec::new()))),
            Stmt::new(Kind::Return(vec![x(), Expr::Const(false)])),
        ];
        let main = Procedure {
            name: "main".into(),
            initial: Some(Copies::Exactly(1)),
            params: vec!["p".into()],
            results: 2,
            locals: Vec::new(),
            enforce: Some(x()),
            body,
        };
        Model {
            question: Question {
                threads: Some(2),
                initial: Some(Initial::Any),
                label: Some("L".into()),
                assertion: None,
                ..Question::default()
            },
            shape: Shape::Main,
            style: Style::default(),
            globals: vec![Decl { name: "x".into(), thread_local: false, init: Some(Expr::Choice) }],
            procs: vec![main],
        }
    }

    #[test]
    fn a_model_prints_as_source_text() {
        let expected = "\
// options: --threads 2 --initial any --label L
decl x := *;
bool<2> main(p) begin
  enforce x;
  L: M: x, t$, _ := *, T, x constrain ('x = x);
  if !(*) then
    goto L, M;
  elsif !(*) then
    goto L, M;
  else
  fi;
  return x, F;
end
";
        assert_eq!(sample().to_string(), expected);
    }

    #[test]
    fn style_changes_the_spelling_only() {
        let mut model = sample();
        model.style =
            Style { digits: true, doubled: true, prime_behind: true, bare_conditions: true, bare_starts: true };
        let text = model.to_string();
        assert!(text.contains("constrain (x' = x)") && text.contains("return x, 0"), "{text}");
    }
}
