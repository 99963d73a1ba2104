//! The parser of equations, which also resolves names and checks sorts. An equation that cannot be parsed is omitted
//! and reported. The heads of all equations are parsed first, since equations may use each other.

use selvedge_ir::fp::{Base, Equation, Fixpoint, Formula, Param, Sort, Symbol};
use selvedge_ir::span::Span;

use crate::diagnostic::{Code, Diagnostic};
use crate::tokens::MAX_DEPTH;
use crate::words::{Parse, Word, WordCursor, run, unexpected, words, wrong};

const SIGNS: [&str; 12] = [":=", "!=", "(", ")", ",", ";", ":", "&", "|", "!", "=", "."];

/// Splits a text into names and signs; comments also extend from `//` to the end of the line.
fn lex(text: &str) -> (Vec<Word<'_>>, Vec<Diagnostic>) {
    let in_name = |c: char| c.is_alphanumeric() || c == '_' || c == '\'';
    let (mut words, diagnostics) = words(text, |rest, _| match rest {
        _ if rest.starts_with("//") => run(rest, |c| c != '\n'),
        _ if begins_name(rest) => run(rest, in_name),
        _ => SIGNS.iter().find(|sign| rest.starts_with(**sign)).map_or(0, |sign| sign.len()),
    });
    words.retain(|word| !word.text.starts_with("//"));
    (words, diagnostics)
}

fn begins_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_alphabetic() || c == '_')
}

/// Parses a text.
pub(super) fn parse(text: &str) -> (Fixpoint, Vec<Diagnostic>) {
    let (words, mut diagnostics) = lex(text);
    let mut parser = Parser { words: WordCursor::new(text, words), heads: Vec::new(), scope: Vec::new(), depth: 0 };
    let items = parser.items(&mut diagnostics);
    let mut fixpoint = Fixpoint::default();
    for Item { head, start } in items {
        parser.words.position = start;
        let body = parser.body(head).unwrap_or_else(|diagnostic| {
            diagnostics.push(*diagnostic);
            Formula::False
        });
        let Head { name, params, layer, span } = parser.heads[head].clone();
        fixpoint.equations.push(Equation { name, params, body, layer, span });
    }
    match parser.heads.iter().position(|head| head.name == "Error") {
        Some(answer) if parser.heads[answer].params.is_empty() => fixpoint.answer = Some(answer),
        Some(answer) => {
            let message = "`Error` is the answer and takes no arguments";
            diagnostics.push(Diagnostic::new(Code::WrongArgumentCount, message, parser.heads[answer].span));
        }
        None => {
            let message = "there is no relation `Error()` for the answer";
            diagnostics.push(Diagnostic::new(Code::NoEntry, message, Span::new(text.len(), text.len())));
        }
    }
    (fixpoint, diagnostics)
}

/// The left-hand side of an equation.
#[derive(Clone)]
struct Head {
    name: String,
    params: Vec<Param>,
    layer: usize,
    span: Span,
}

/// An equation whose body begins at a token.
struct Item {
    head: usize,
    start: usize,
}

struct Parser<'t> {
    words: WordCursor<'t>,
    heads: Vec<Head>,
    /// The variables that are bound, the innermost last.
    scope: Vec<Param>,
    /// The current depth of nested parentheses and quantifiers.
    depth: u32,
}

impl Parser<'_> {
    fn expect(&mut self, sign: &str) -> Parse<()> {
        self.words.expect(sign, &format!("expected `{sign}`"))
    }

    fn name(&mut self) -> Parse<(String, Span)> {
        let span = self.words.here();
        match self.words.next().filter(|word| begins_name(word.text)) {
            Some(name) => Ok((name.text.to_string(), span)),
            None => unexpected("expected a name", span),
        }
    }

    /// Parses the heads of all equations; bodies are skipped.
    fn items(&mut self, diagnostics: &mut Vec<Diagnostic>) -> Vec<Item> {
        let (mut items, mut layer) = (Vec::new(), 0);
        while self.words.peek().is_some() {
            match self.item(&mut layer) {
                Ok(Some(item)) => items.push(item),
                Ok(None) => {}
                Err(diagnostic) => diagnostics.push(*diagnostic),
            }
            while self.words.peek().is_some() && !self.words.eat(";") {
                self.words.next();
            }
        }
        items
    }

    fn item(&mut self, layer: &mut usize) -> Parse<Option<Item>> {
        let (word, span) = self.name()?;
        match word.as_str() {
            "layer" => {
                *layer += 1;
                Ok(None)
            }
            "rel" => {
                let (name, span) = self.name()?;
                self.expect("(")?;
                let params = self.params()?;
                self.expect(")")?;
                self.expect(":=")?;
                if let Some(known) = self.symbol(&name) {
                    let message = match known {
                        Symbol::Base(_) => format!("the program already defines the relation `{name}`"),
                        Symbol::Equation(_) => format!("the relation `{name}` already has an equation"),
                    };
                    return wrong(Code::DuplicateProcedure, message, span);
                }
                self.heads.push(Head { name, params, layer: *layer, span });
                Ok(Some(Item { head: self.heads.len() - 1, start: self.words.position }))
            }
            _ => unexpected("expected `rel` or `layer`", span),
        }
    }

    /// Parses `g, h: Shared, l: Frame`; names before a sort share it.
    fn params(&mut self) -> Parse<Vec<Param>> {
        let mut params: Vec<Param> = Vec::new();
        if self.words.peek().is_some_and(|word| !begins_name(word.text)) {
            return Ok(params);
        }
        let mut open = Vec::new();
        loop {
            let (name, span) = self.name()?;
            if params.iter().chain(&open).any(|other: &Param| other.name == name) {
                return wrong(Code::DuplicateVariable, format!("`{name}` is bound twice"), span);
            }
            open.push(Param { name, sort: Sort::Shared, span });
            if self.words.eat(":") {
                let (name, span) = self.name()?;
                let Some(sort) = Sort::ALL.into_iter().find(|sort| sort.name() == name) else {
                    let sorts = Sort::ALL.map(|sort| format!("`{}`", sort.name())).join(", ");
                    let message = format!("`{name}` is not a sort: the sorts are {sorts}");
                    return wrong(Code::UnknownVariable, message, span);
                };
                params.extend(open.drain(..).map(|param| Param { sort, ..param }));
            }
            if !self.words.eat(",") {
                break;
            }
        }
        match open.first() {
            Some(param) => unexpected(format!("`{}` has no sort", param.name), param.span),
            None => Ok(params),
        }
    }

    fn body(&mut self, head: usize) -> Parse<Formula> {
        (self.scope, self.depth) = (self.heads[head].params.clone(), 0);
        let body = self.or(head)?;
        if !self.words.at(";") {
            return unexpected("expected `;`, `&` or `|`", self.words.here());
        }
        Ok(body)
    }

    fn or(&mut self, head: usize) -> Parse<Formula> {
        let mut parts = vec![self.and(head)?];
        while self.words.eat("|") {
            parts.push(self.and(head)?);
        }
        Ok(if parts.len() == 1 { parts.remove(0) } else { Formula::Or(parts) })
    }

    /// Parses a formula one level deeper, up to the limit.
    fn nested(&mut self, head: usize) -> Parse<Formula> {
        if self.depth == MAX_DEPTH {
            let message = format!("nested more than {MAX_DEPTH} levels deep");
            return wrong(Code::BeyondLimit, message, self.words.here());
        }
        self.depth += 1;
        let formula = self.or(head)?;
        self.depth -= 1;
        Ok(formula)
    }

    fn and(&mut self, head: usize) -> Parse<Formula> {
        let mut parts = vec![self.unary(head)?];
        while self.words.eat("&") {
            parts.push(self.unary(head)?);
        }
        Ok(if parts.len() == 1 { parts.remove(0) } else { Formula::And(parts) })
    }

    fn unary(&mut self, head: usize) -> Parse<Formula> {
        if self.words.eat("(") {
            let formula = self.nested(head)?;
            self.expect(")")?;
            return Ok(formula);
        }
        let negated = self.words.eat("!");
        let (name, span) = self.name()?;
        match name.as_str() {
            "true" => Ok(if negated { Formula::False } else { Formula::True }),
            "false" => Ok(if negated { Formula::True } else { Formula::False }),
            "exists" if !negated => self.exists(head),
            "forall" | "exists" => {
                let message = "this quantifier would negate an equation: put the negated relation in an earlier layer";
                wrong(Code::Unsupported, message, span)
            }
            _ if self.words.at("(") => self.atom(head, &name, span, negated),
            _ => self.equality(&name, span, negated),
        }
    }

    /// Parses `exists x: Shared. ...`, which extends as far to the right as possible.
    fn exists(&mut self, head: usize) -> Parse<Formula> {
        let params = self.params()?;
        self.expect(".")?;
        let first = self.scope.len();
        let sorts = params.iter().map(|param| param.sort).collect();
        self.scope.extend(params);
        let body = self.nested(head)?;
        self.scope.truncate(first);
        Ok(Formula::Exists { first, sorts, body: Box::new(body) })
    }

    fn equality(&mut self, left: &str, span: Span, negated: bool) -> Parse<Formula> {
        let left = self.variable(left, span)?;
        let unequal = self.words.eat("!=");
        if !unequal {
            self.expect("=")?;
        }
        let (name, span) = self.name()?;
        let right = self.variable(&name, span)?;
        self.check_sort(right, self.scope[left].sort, span)?;
        Ok(Formula::Equal { left, right, negated: negated != unequal })
    }

    fn atom(&mut self, head: usize, name: &str, span: Span, negated: bool) -> Parse<Formula> {
        let Some(symbol) = self.symbol(name) else {
            return wrong(Code::UnknownProcedure, format!("there is no relation `{name}`"), span);
        };
        let sorts: Vec<Sort> = match symbol {
            Symbol::Base(base) => base.sorts().to_vec(),
            Symbol::Equation(number) => self.heads[number].params.iter().map(|param| param.sort).collect(),
        };
        if let Symbol::Equation(number) = symbol {
            self.check_layer(head, number, span, negated)?;
        }
        self.expect("(")?;
        let mut args = Vec::new();
        while !self.words.at(")") {
            let (name, span) = self.name()?;
            let arg = self.variable(&name, span)?;
            if let Some(sort) = sorts.get(args.len()) {
                self.check_sort(arg, *sort, span)?;
            }
            args.push(arg);
            if !self.words.eat(",") {
                break;
            }
        }
        self.expect(")")?;
        if args.len() != sorts.len() {
            let message = format!("`{name}` takes {} arguments, not {}", sorts.len(), args.len());
            return wrong(Code::WrongArgumentCount, message, span);
        }
        Ok(Formula::Atom { symbol, args, negated })
    }

    /// Checks that an equation uses relations of its own layer and of earlier ones, negated only of earlier ones.
    fn check_layer(&self, head: usize, used: usize, span: Span, negated: bool) -> Parse<()> {
        let (own, other) = (self.heads[head].layer, self.heads[used].layer);
        let name = &self.heads[used].name;
        if other > own {
            return wrong(Code::Unsupported, format!("`{name}` is solved in a later layer"), span);
        }
        if negated && other == own {
            let message = format!("`{name}` is negated, but not solved yet: begin a `layer` after its equation");
            return wrong(Code::Unsupported, message, span);
        }
        Ok(())
    }

    fn variable(&self, name: &str, span: Span) -> Parse<usize> {
        match self.scope.iter().rposition(|param| param.name == name) {
            Some(variable) => Ok(variable),
            None => wrong(Code::UnknownVariable, format!("`{name}` is not bound"), span),
        }
    }

    fn check_sort(&self, variable: usize, sort: Sort, span: Span) -> Parse<()> {
        let Param { name, sort: found, .. } = &self.scope[variable];
        if *found == sort {
            return Ok(());
        }
        let message = format!("`{name}` is of sort `{}`, but `{}` is expected", found.name(), sort.name());
        wrong(Code::WrongArgumentCount, message, span)
    }

    fn symbol(&self, name: &str) -> Option<Symbol> {
        let base = Base::ALL.into_iter().find(|base| base.name() == name).map(Symbol::Base);
        base.or_else(|| self.heads.iter().position(|head| head.name == name).map(Symbol::Equation))
    }
}
