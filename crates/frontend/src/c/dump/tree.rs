//! The typed tree as text: one line for each declaration and statement; expressions as `(operator operands : type)`.

use std::fmt::Write;

use crate::c::tree::{
    Callee, CastKind, Expr, ExprKind, Function, FunctionId, Init, Item, Linkage, Object, ObjectId, PathStep, Stmt,
    StmtKind, Storage, UnaryOp, Unit,
};
use crate::c::types::{Bits, QualType};

/// Returns the declarations of a translation unit with all types. What only headers declare and nothing uses is left
/// out.
pub fn types(unit: &Unit) -> String {
    let mut dump = Dump { unit, text: String::new(), depth: 0 };
    let is_ours = |loc: crate::c::files::Loc| {
        let file = unit.files.get(unit.files.of(loc.span.start));
        !file.source.path.starts_with('<')
    };
    for item in &unit.items {
        match *item {
            Item::Object(id) if is_ours(unit.objects[id].loc) => dump.object(id),
            Item::Function(id) if is_ours(unit.functions[id].loc) => dump.function(id),
            Item::Object(_) | Item::Function(_) => {}
        }
    }
    dump.text
}

/// Returns an expression with all types.
pub fn expression(unit: &Unit, expr: &Expr) -> String {
    let mut dump = Dump { unit, text: String::new(), depth: 0 };
    dump.expr(expr);
    dump.text
}

struct Dump<'u> {
    unit: &'u Unit,
    text: String,
    depth: usize,
}

impl Dump<'_> {
    fn line(&mut self, text: &str) {
        self.indent();
        self.text.push_str(text);
        self.text.push('\n');
    }

    fn indent(&mut self) {
        for _ in 0..self.depth {
            self.text.push_str("  ");
        }
    }

    fn ty(&self, ty: QualType) -> String {
        self.unit.show_type(ty)
    }

    fn name(&self, id: ObjectId) -> String {
        let object = &self.unit.objects[id];
        match self.unit.name(object.name) {
            "" => format!("<{}>", id.index()),
            name => name.to_owned(),
        }
    }

    fn object(&mut self, id: ObjectId) {
        let Object { ty, storage, linkage, .. } = self.unit.objects[id];
        let storage = match storage {
            Storage::Static => "static",
            Storage::Thread => "thread",
            Storage::Auto => "auto",
            Storage::Param => "param",
        };
        let linkage = match linkage {
            Linkage::External => " external",
            Linkage::Internal => " internal",
            Linkage::None => "",
        };
        let declared = self.unit.types.declare(ty, self.name(id), &self.unit.names);
        let definition = format!("{:?}", self.unit.objects[id].definition).to_lowercase();
        self.line(&format!("{storage}{linkage} {definition} {declared}"));
        if let Some(init) = &self.unit.objects[id].init {
            self.init(init);
        }
    }

    fn init(&mut self, init: &Init) {
        self.depth += 1;
        for item in &init.items {
            let mut path = String::new();
            for step in &item.path {
                // A string takes everything that is written to it.
                let _ = match step {
                    PathStep::Field(number) => write!(path, ".{number}"),
                    PathStep::Index(number) => write!(path, "[{number}]"),
                };
            }
            self.indent();
            let bits = item.bits.map(|Bits { shift, width }| format!(":{shift}+{width}")).unwrap_or_default();
            let _ = write!(self.text, "@{}{bits} {path} = ", item.offset);
            self.expr(&item.value);
            self.text.push('\n');
        }
        self.depth -= 1;
    }

    fn function(&mut self, id: FunctionId) {
        let function: &Function = &self.unit.functions[id];
        let declared = self.unit.types.declare(function.ty, self.unit.name(function.name).to_owned(), &self.unit.names);
        let linkage = if function.linkage == Linkage::Internal { "internal " } else { "" };
        let implicit = if function.is_implicit { "implicit " } else { "" };
        let noreturn = if function.is_noreturn { "noreturn " } else { "" };
        self.line(&format!("{linkage}{implicit}{noreturn}function {declared}"));
        let Some(body) = &function.body else { return };
        self.depth += 1;
        for param in &body.params {
            self.object(*param);
        }
        self.stmt(&body.block);
        self.depth -= 1;
    }

    /// Writes a line of a word and an expression.
    fn with(&mut self, word: &str, expr: Option<&Expr>) {
        self.indent();
        self.text.push_str(word);
        if let Some(expr) = expr {
            self.text.push(' ');
            self.expr(expr);
        }
        self.text.push('\n');
    }

    fn inner(&mut self, stmt: &Stmt) {
        self.depth += 1;
        self.stmt(stmt);
        self.depth -= 1;
    }

    fn stmt(&mut self, stmt: &Stmt) {
        match &stmt.kind {
            StmtKind::Empty => self.line("empty"),
            StmtKind::Expr(expr) => self.with("do", Some(expr)),
            StmtKind::Declare(id) => self.object(*id),
            StmtKind::Block(stmts) => {
                self.line("block");
                self.depth += 1;
                stmts.iter().for_each(|stmt| self.stmt(stmt));
                self.depth -= 1;
            }
            StmtKind::If { condition, then, otherwise } => {
                self.with("if", Some(condition));
                self.inner(then);
                if let Some(otherwise) = otherwise {
                    self.line("else");
                    self.inner(otherwise);
                }
            }
            StmtKind::While { condition, body } => {
                self.with("while", Some(condition));
                self.inner(body);
            }
            StmtKind::DoWhile { body, condition } => {
                self.line("repeat");
                self.inner(body);
                self.with("while", Some(condition));
            }
            StmtKind::For { first, condition, step, body } => {
                self.line("for");
                self.depth += 1;
                first.iter().for_each(|stmt| self.stmt(stmt));
                self.with("condition", condition.as_ref());
                self.with("step", step.as_ref());
                self.stmt(body);
                self.depth -= 1;
            }
            StmtKind::Switch { value, cases, body } => {
                self.with("switch", Some(value));
                for (number, case) in cases.iter().enumerate() {
                    match case.range {
                        Some((first, last)) => self.line(&format!("  case {number}: {first} .. {last}")),
                        None => self.line(&format!("  case {number}: default")),
                    }
                }
                self.inner(body);
            }
            StmtKind::CaseLabel(number) => self.line(&format!("at case {number}")),
            StmtKind::Label(id) => self.line(&format!("label {}", id.index())),
            StmtKind::Goto(id) => self.line(&format!("goto {}", id.index())),
            StmtKind::Break => self.line("break"),
            StmtKind::Continue => self.line("continue"),
            StmtKind::Return(value) => self.with("return", value.as_ref()),
            StmtKind::Annotation(condition) => self.with("assert", Some(condition)),
            StmtKind::Asm => self.line("asm"),
        }
    }

    fn expr(&mut self, expr: &Expr) {
        let ty = self.ty(expr.ty);
        match &expr.kind {
            ExprKind::Object(id) => self.text += &self.name(*id),
            ExprKind::Function(id) => self.text += self.unit.name(self.unit.functions[*id].name),
            ExprKind::String(id) => {
                let units = &self.unit.strings[*id].units;
                let chars: String = units[..units.len() - 1].iter().filter_map(|unit| char::from_u32(*unit)).collect();
                let _ = write!(self.text, "{chars:?}");
            }
            ExprKind::Integer(value) => {
                let _ = write!(self.text, "{value}:{ty}");
            }
            ExprKind::Float(value) => {
                let _ = write!(self.text, "{value:?}:{ty}");
            }
            ExprKind::Statements(block) => {
                self.text.push_str("({\n");
                self.inner(block);
                self.indent();
                let _ = write!(self.text, "}} : {ty})");
            }
            kind => {
                let operator = self.operator(kind);
                let _ = write!(self.text, "({operator}");
                for operand in kind.operands() {
                    self.text.push(' ');
                    self.expr(operand);
                }
                let _ = write!(self.text, " : {ty})");
            }
        }
    }

    fn operator(&self, kind: &ExprKind) -> String {
        let sign = |is_negative: bool| if is_negative { "-" } else { "+" };
        match kind {
            ExprKind::Deref(_) => "deref".to_owned(),
            ExprKind::Member(_, number) => format!("member {number}"),
            ExprKind::CompoundLiteral(id) => format!("literal {}", self.name(*id)),
            ExprKind::Load(_) => "load".to_owned(),
            ExprKind::Decay(_) => "decay".to_owned(),
            ExprKind::AddressOf(_) => "address".to_owned(),
            ExprKind::Unary(UnaryOp::Minus, _) => "minus".to_owned(),
            ExprKind::Unary(UnaryOp::Complement, _) => "~".to_owned(),
            ExprKind::Unary(UnaryOp::Not, _) => "!".to_owned(),
            ExprKind::Binary(op, ..) => op.text().to_owned(),
            ExprKind::Offset { is_negative, .. } => format!("pointer{}", sign(*is_negative)),
            ExprKind::Difference(..) => "difference".to_owned(),
            ExprKind::Logical { is_and, .. } => if *is_and { "&&" } else { "||" }.to_owned(),
            ExprKind::Conditional { .. } => "?".to_owned(),
            ExprKind::Comma(..) => ",".to_owned(),
            ExprKind::Assign { .. } => "=".to_owned(),
            ExprKind::AssignOp { op, type_of_operation, .. } => {
                format!("{}= {}", op.text(), self.ty(*type_of_operation))
            }
            ExprKind::AssignOffset { is_negative, .. } => format!("pointer{}=", sign(*is_negative)),
            ExprKind::Increment { is_decrement, is_postfix, .. } => {
                let sign = if *is_decrement { "--" } else { "++" };
                if *is_postfix { format!("post{sign}") } else { format!("pre{sign}") }
            }
            ExprKind::Cast { kind, is_implicit, .. } => {
                let word = if *is_implicit { "implicit" } else { "cast" };
                format!("{word} {}", cast_name(*kind))
            }
            ExprKind::Call { callee: Callee::Direct(id), .. } => {
                format!("call {}", self.unit.name(self.unit.functions[*id].name))
            }
            ExprKind::Call { .. } => "call".to_owned(),
            ExprKind::Builtin(builtin, _) => format!("builtin {builtin:?}"),
            ExprKind::SizeOf(ty) => format!("sizeof {}", self.ty(*ty)),
            ExprKind::VaArg(_) => "va_arg".to_owned(),
            _ => "error".to_owned(),
        }
    }
}

fn cast_name(kind: CastKind) -> &'static str {
    match kind {
        CastKind::Integer => "integer",
        CastKind::Bool => "bool",
        CastKind::IntegerToPointer => "integer-to-pointer",
        CastKind::PointerToInteger => "pointer-to-integer",
        CastKind::Pointer => "pointer",
        CastKind::Void => "void",
        CastKind::IntegerToFloat => "integer-to-float",
        CastKind::FloatToInteger => "float-to-integer",
        CastKind::Float => "float",
        CastKind::Same => "same",
    }
}
