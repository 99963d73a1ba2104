//! Reading the parts of a line: names, expressions and operations.

use rustc_hash::FxHashMap;

use super::lex::Token;
use super::{OPERATORS, is_keyword};
use crate::syntax::{
    Assign, BinaryOp, Call, Expr, Let, LocId, MachineOp, MachineTy, Op, ProcId, Spawn, Ty, UnaryOp, VarId,
};

/// Limit on the nesting of parentheses and prefix operators, so that no input exhausts the stack.
const MAX_DEPTH: u32 = 500;

/// Limit on the number of binary operators of a line: a chain of them is as deep as it is long.
const MAX_OPERATORS: u32 = 5000;

/// The meaning of names.
#[derive(Default)]
pub(super) struct Table {
    /// Variables by name in a procedure (`Some`), outside of procedures (`None`).
    pub(super) scoped: FxHashMap<(Option<ProcId>, String), Meaning>,
    /// Variables by name, wherever they are declared.
    pub(super) anywhere: FxHashMap<String, Meaning>,
    /// The names of variables by number.
    pub(super) vars: FxHashMap<u32, String>,
    /// Procedures by name.
    pub(super) procs: FxHashMap<String, Meaning>,
    /// The names of procedures by number.
    pub(super) proc_names: Vec<String>,
    /// The procedure of each location.
    pub(super) locs: FxHashMap<u32, ProcId>,
}

/// The meaning of a name without a number.
#[derive(Clone, Copy)]
pub(super) enum Meaning {
    /// The one thing of this number.
    One(u32),
    /// Several things have the name.
    Several,
}

impl Meaning {
    pub(super) fn add<K: std::hash::Hash + Eq>(map: &mut FxHashMap<K, Meaning>, key: K, number: u32) {
        map.entry(key).and_modify(|meaning| *meaning = Meaning::Several).or_insert(Meaning::One(number));
    }
}

/// The words of a line, and how far they have been read.
pub(super) struct Line<'a> {
    pub(super) tokens: &'a [Token],
    pub(super) table: &'a Table,
    /// The procedure whose block contains the line.
    pub(super) proc: Option<ProcId>,
    at: usize,
    depth: u32,
    operators: u32,
}

/// A message about the line.
pub(super) type Read<T> = Result<T, String>;

/// A name, and its number if it carries one.
pub(super) type Name = (String, Option<u32>);

impl<'a> Line<'a> {
    pub(super) fn new(tokens: &'a [Token], table: &'a Table, proc: Option<ProcId>) -> Line<'a> {
        Line { tokens, table, proc, at: 0, depth: 0, operators: 0 }
    }

    fn peek(&self) -> Option<&'a Token> {
        self.tokens.get(self.at)
    }

    /// Returns whether the next word is this keyword or sign; if so, it is read.
    pub(super) fn eat(&mut self, text: &str) -> bool {
        let found = match self.peek() {
            Some(Token::Word(word)) => word == text,
            Some(Token::Sign(sign)) => *sign == text,
            _ => false,
        };
        self.at += usize::from(found);
        found
    }

    pub(super) fn expect(&mut self, text: &str) -> Read<()> {
        if self.eat(text) { Ok(()) } else { Err(format!("expected `{text}`, found {}", self.found())) }
    }

    fn found(&self) -> String {
        match self.peek() {
            None => "the end of the line".to_owned(),
            Some(Token::Word(word) | Token::Quoted(word)) => format!("`{word}`"),
            Some(Token::At(number)) => format!("`@{number}`"),
            Some(Token::Number(number)) => format!("`{number}`"),
            Some(Token::Sign(sign)) => format!("`{sign}`"),
        }
    }

    pub(super) fn finish(&self) -> Read<()> {
        if self.is_finished() { Ok(()) } else { Err(format!("unexpected {}", self.found())) }
    }

    fn is_finished(&self) -> bool {
        self.at == self.tokens.len()
    }

    pub(super) fn number(&mut self) -> Read<u32> {
        let Some(Token::Number(number)) = self.peek() else {
            return Err(format!("expected a number, found {}", self.found()));
        };
        self.at += 1;
        u32::try_from(*number).map_err(|_| format!("the number {number} is too large"))
    }

    /// Reads items between commas.
    pub(super) fn list<T>(&mut self, mut item: impl FnMut(&mut Self) -> Read<T>) -> Read<Vec<T>> {
        let mut items = vec![item(self)?];
        while self.eat(",") {
            items.push(item(self)?);
        }
        Ok(items)
    }

    pub(super) fn ty(&mut self) -> Read<Ty> {
        if self.eat("bool") {
            return Ok(Ty::Bool);
        }
        if self.eat("int") {
            return Ok(Ty::Int);
        }
        self.machine_ty().map(Ty::Machine).ok_or_else(|| format!("expected a type, found {}", self.found()))
    }

    fn machine_ty(&mut self) -> Option<MachineTy> {
        let Some(Token::Word(word)) = self.peek() else { return None };
        let ty = MachineTy::from_name(word)?;
        self.at += 1;
        Some(ty)
    }

    pub(super) fn name(&mut self) -> Read<Name> {
        let name = match self.peek() {
            Some(Token::Quoted(name)) => name,
            Some(Token::Word(word)) if !is_keyword(word) => word,
            _ => return Err(format!("expected a name, found {}", self.found())),
        };
        self.at += 1;
        let Some(Token::At(number)) = self.peek() else { return Ok((name.clone(), None)) };
        self.at += 1;
        Ok((name.clone(), Some(*number)))
    }

    /// Reads a word of this letter and a number.
    pub(super) fn indexed(&mut self, letter: char) -> Option<u32> {
        let Some(Token::Word(word)) = self.peek() else { return None };
        let number = word.strip_prefix(letter)?.parse().ok()?;
        self.at += 1;
        Some(number)
    }

    /// Reads the number of a location, known or not.
    pub(super) fn loc_number(&mut self) -> Read<u32> {
        self.indexed('L').ok_or_else(|| format!("expected a location, found {}", self.found()))
    }

    /// Reads a location that the program has.
    pub(super) fn loc(&mut self) -> Read<LocId> {
        let number = self.loc_number()?;
        if self.table.locs.contains_key(&number) {
            Ok(LocId::new(number as usize))
        } else {
            Err(format!("there is no location L{number}"))
        }
    }

    pub(super) fn proc_ref(&mut self) -> Read<ProcId> {
        let (name, number) = self.name()?;
        let number = match (number, self.table.procs.get(&name)) {
            (Some(number), _) if self.table.proc_names.get(number as usize) == Some(&name) => number,
            (None, Some(Meaning::One(number))) => *number,
            (None, Some(Meaning::Several)) => return Err(format!("several procedures are called `{name}`")),
            _ => return Err(format!("there is no procedure `{name}`")),
        };
        Ok(ProcId::new(number as usize))
    }

    pub(super) fn var(&mut self) -> Read<VarId> {
        let (name, number) = self.name()?;
        if let Some(number) = number {
            let known = self.table.vars.get(&number) == Some(&name);
            return if known { Ok(var_id(number)) } else { Err(format!("there is no variable `{name}@{number}`")) };
        }
        let scoped = |proc| self.table.scoped.get(&(proc, name.clone()));
        let local = self.proc.and_then(|proc| scoped(Some(proc)));
        match local.or_else(|| scoped(None)).or_else(|| self.table.anywhere.get(&name)) {
            Some(Meaning::One(number)) => Ok(var_id(*number)),
            Some(Meaning::Several) => Err(format!("several variables are called `{name}`")),
            None => Err(format!("there is no variable `{name}`")),
        }
    }

    /// Reads `x := e, y := e`.
    pub(super) fn assignments(&mut self) -> Read<Vec<(VarId, Expr)>> {
        self.list(|line| {
            let var = line.var()?;
            line.expect(":=")?;
            Ok((var, line.expr()?))
        })
    }

    pub(super) fn op(&mut self) -> Read<Op> {
        let (begin, end) = (("atomic_begin", Op::AtomicBegin), ("atomic_end", Op::AtomicEnd));
        for (keyword, op) in [("skip", Op::skip()), ("end", Op::End), begin, end] {
            if self.eat(keyword) {
                return Ok(op);
            }
        }
        if self.eat("assume") {
            return Ok(Op::assume(self.expr()?));
        }
        if self.eat("assert") {
            return Ok(Op::Assert(self.expr()?));
        }
        if self.eat("fork") {
            return Ok(Op::Fork(self.loc()?));
        }
        if self.eat("return") {
            let values = if self.is_finished() { Vec::new() } else { self.list(Self::expr)? };
            return Ok(Op::Return(values));
        }
        if self.eat("spawn") {
            let callee = self.proc_ref()?;
            return Ok(Op::Spawn(Spawn { callee, args: self.args()? }));
        }
        if self.eat("call") { self.call(Vec::new()) } else { self.assign_or_call() }
    }

    fn args(&mut self) -> Read<Vec<Expr>> {
        self.expect("(")?;
        if self.eat(")") {
            return Ok(Vec::new());
        }
        let args = self.list(Self::expr)?;
        self.expect(")")?;
        Ok(args)
    }

    fn call(&mut self, results: Vec<Option<VarId>>) -> Read<Op> {
        let callee = self.proc_ref()?;
        Ok(Op::Call(Call { results, callee, args: self.args()? }))
    }

    /// Reads an assignment or a call. Both begin with names; a call has all of them before `:=`, and may discard
    /// values.
    fn assign_or_call(&mut self) -> Read<Op> {
        let begin = self.at;
        let results = self.list(|line| if line.eat("_") { Ok(None) } else { line.var().map(Some) })?;
        if self.eat(":=") && self.eat("call") {
            return self.call(results);
        }
        self.at = begin;
        self.assign()
    }

    fn assign(&mut self) -> Read<Op> {
        let mut assign = Assign::skip();
        loop {
            let var = self.var()?;
            let side = if self.eat("$") { &mut assign.passive } else { &mut assign.active };
            self.expect(":=")?;
            side.push((var, self.expr()?));
            if !self.eat(",") {
                break;
            }
        }
        if self.eat("constrain") {
            assign.constrain = self.expr()?;
        }
        Ok(Op::Assign(assign))
    }

    pub(super) fn expr(&mut self) -> Read<Expr> {
        self.nested(|line| line.level(0))
    }

    fn nested(&mut self, read: impl FnOnce(&mut Self) -> Read<Expr>) -> Read<Expr> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(format!("the expression is nested deeper than {MAX_DEPTH} levels"));
        }
        let expr = read(self)?;
        self.depth -= 1;
        Ok(expr)
    }

    /// Reads operands and operators of at least this level, by precedence climbing: the left operand grows with each
    /// operator of the level or a higher one, whose right operand holds only operators of higher levels still.
    fn level(&mut self, lowest: u32) -> Read<Expr> {
        let mut left = self.prefix()?;
        while let Some((op, level)) = self.operator().filter(|(_, level)| *level >= lowest) {
            self.at += 1;
            self.operators += 1;
            if self.operators > MAX_OPERATORS {
                return Err(format!("the line has more than {MAX_OPERATORS} operators"));
            }
            left = Expr::binary(op, left, self.level(level + 1)?);
        }
        Ok(left)
    }

    fn operator(&self) -> Option<(BinaryOp, u32)> {
        let Some(Token::Sign(sign)) = self.peek() else { return None };
        OPERATORS.iter().find(|(_, known, _)| known == sign).map(|(op, _, level)| (*op, *level))
    }

    fn prefix(&mut self) -> Read<Expr> {
        if self.eat("!") {
            return Ok(Expr::negate(self.nested(Self::prefix)?));
        }
        if !self.eat("-") {
            return self.primary();
        }
        if let Some(Token::Number(number)) = self.peek() {
            self.at += 1;
            return self.constant(-i128::from(*number));
        }
        Ok(Expr::Unary(UnaryOp::Neg, Box::new(self.nested(Self::prefix)?)))
    }

    fn primary(&mut self) -> Read<Expr> {
        if self.eat("(") {
            let expr = self.expr()?;
            self.expect(")")?;
            return Ok(expr);
        }
        if self.eat("T") {
            return Ok(Expr::TRUE);
        }
        if self.eat("F") {
            return Ok(Expr::FALSE);
        }
        if self.eat("if") {
            return self.conditional();
        }
        if self.eat("divisible") {
            return self.divisible();
        }
        if self.eat("?") {
            let number = self.number()?;
            return Ok(Expr::Choice(number, if self.eat(":") { self.ty()? } else { Ty::Bool }));
        }
        if let Some(Token::Number(number)) = self.peek() {
            self.at += 1;
            return self.constant(i128::from(*number));
        }
        if self.eat("#") {
            return Ok(Expr::Part(self.number()?));
        }
        if matches!(self.tokens.get(self.at + 1), Some(Token::Sign("#"))) && self.eat("let") {
            return self.shared();
        }
        if let (Some(Token::Word(word)), Some(Token::Sign("("))) = (self.peek(), self.tokens.get(self.at + 1)) {
            return self.machine(word);
        }
        self.var_leaf()
    }

    /// Reads the type of a constant, if it has one.
    fn constant(&mut self, number: i128) -> Read<Expr> {
        if !self.eat(":") {
            let size = if number < 0 { "small" } else { "large" };
            return i64::try_from(number).map(Expr::Int).map_err(|_| format!("the number {number} is too {size}"));
        }
        let Ty::Machine(ty) = self.ty()? else { return Err("only constants of machine types have a type".to_owned()) };
        let (least, greatest) = ty.bounds();
        let fits = least <= number && number <= greatest;
        if fits { Ok(ty.constant(number)) } else { Err(format!("{number} is not a number of the type {ty}")) }
    }

    /// Reads definitions of parts, and the expression that uses them. A definition is no deeper for those before it.
    fn shared(&mut self) -> Read<Expr> {
        let (mut parts, outside) = (Vec::new(), self.operators);
        loop {
            self.expect("#")?;
            let number = self.number()?;
            self.expect("=")?;
            parts.push((number, self.expr()?));
            self.operators = outside;
            if !self.eat(";") {
                break;
            }
        }
        self.expect("in")?;
        Ok(Expr::Let(Box::new(Let { parts, body: self.expr()? })))
    }

    /// Reads `u8.add(x, y)`, or a cast: `u8.i32(x)`.
    fn machine(&mut self, word: &str) -> Read<Expr> {
        let unknown = || format!("there is no operator `{word}`");
        let (ty, name) = word.split_once('.').ok_or_else(unknown)?;
        let ty = MachineTy::from_name(ty).ok_or_else(unknown)?;
        self.at += 1;
        self.expect("(")?;
        let first = self.expr()?;
        let read = match MachineOp::ALL.iter().find(|(_, known)| *known == name) {
            Some((op, _)) => {
                self.expect(",")?;
                ty.apply(*op, first, self.expr()?)
            }
            None => Expr::Unary(UnaryOp::Cast(ty, MachineTy::from_name(name).ok_or_else(unknown)?), Box::new(first)),
        };
        self.expect(")")?;
        Ok(read)
    }

    fn conditional(&mut self) -> Read<Expr> {
        let condition = self.expr()?;
        self.expect("then")?;
        let then = self.expr()?;
        self.expect("else")?;
        Ok(Expr::Ite(Box::new((condition, then, self.expr()?))))
    }

    fn divisible(&mut self) -> Read<Expr> {
        self.expect("(")?;
        let divisor = self.number()?;
        self.expect(",")?;
        let operand = Box::new(self.expr()?);
        self.expect(")")?;
        Ok(Expr::Unary(UnaryOp::DivisibleBy(divisor), operand))
    }

    fn var_leaf(&mut self) -> Read<Expr> {
        let var = self.var()?;
        let passive = self.eat("$");
        let next = self.eat("'");
        Ok(match (passive, next) {
            (false, false) => Expr::Var(var),
            (false, true) => Expr::Next(var),
            (true, false) => Expr::Passive(var),
            (true, true) => Expr::PassiveNext(var),
        })
    }
}

fn var_id(number: u32) -> VarId {
    VarId::new(number as usize)
}
