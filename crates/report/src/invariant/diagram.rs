//! A small manager of decision diagrams, for formulas that are made readable.
//!
//! Certificates hold formulas as large as engines make them. To write one down shortly, it must be known which literals
//! and equations it implies; diagrams answer that. The manager gives up at a number of nodes, and then the formula is
//! not shown: nobody reads a page of it anyway.

use std::collections::HashMap;

/// A function, by its number.
pub(super) type Diagram = u32;

pub(super) const FALSE: Diagram = 0;
pub(super) const TRUE: Diagram = 1;

/// The number of nodes was reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TooLarge;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Node {
    var: u32,
    low: Diagram,
    high: Diagram,
}

/// Diagrams that share their nodes. Variables are numbered from the top.
pub(super) struct Diagrams {
    /// The first two are the constants.
    nodes: Vec<Node>,
    unique: HashMap<Node, Diagram>,
    choices: HashMap<[Diagram; 3], Diagram>,
    limit: usize,
}

impl Diagrams {
    pub(super) fn new(limit: usize) -> Diagrams {
        let constant = Node { var: u32::MAX, low: FALSE, high: FALSE };
        Diagrams { nodes: vec![constant; 2], unique: HashMap::new(), choices: HashMap::new(), limit }
    }

    pub(super) fn var(&mut self, var: u32) -> Result<Diagram, TooLarge> {
        self.node(Node { var, low: FALSE, high: TRUE })
    }

    fn node(&mut self, node: Node) -> Result<Diagram, TooLarge> {
        if node.low == node.high {
            return Ok(node.low);
        }
        if let Some(known) = self.unique.get(&node) {
            return Ok(*known);
        }
        if self.nodes.len() >= self.limit {
            return Err(TooLarge);
        }
        self.nodes.push(node);
        let id = (self.nodes.len() - 1) as Diagram;
        self.unique.insert(node, id);
        Ok(id)
    }

    /// The topmost variable of a function; the constants have the greatest number there is.
    pub(super) fn top(&self, f: Diagram) -> u32 {
        self.nodes[f as usize].var
    }

    /// The function where a variable that is not below its top is false, and where it is true.
    pub(super) fn split(&self, f: Diagram, var: u32) -> (Diagram, Diagram) {
        let node = self.nodes[f as usize];
        if node.var == var { (node.low, node.high) } else { (f, f) }
    }

    /// `if f then g else h`. Ends, since each call looks at a lower variable.
    pub(super) fn ite(&mut self, f: Diagram, g: Diagram, h: Diagram) -> Result<Diagram, TooLarge> {
        match (f, g, h) {
            (TRUE, _, _) => return Ok(g),
            (FALSE, _, _) => return Ok(h),
            (_, TRUE, FALSE) => return Ok(f),
            _ if g == h => return Ok(g),
            _ => {}
        }
        if let Some(known) = self.choices.get(&[f, g, h]) {
            return Ok(*known);
        }
        let var = self.top(f).min(self.top(g)).min(self.top(h));
        let [(f0, f1), (g0, g1), (h0, h1)] = [f, g, h].map(|part| self.split(part, var));
        let low = self.ite(f0, g0, h0)?;
        let high = self.ite(f1, g1, h1)?;
        let result = self.node(Node { var, low, high })?;
        self.choices.insert([f, g, h], result);
        Ok(result)
    }

    pub(super) fn not(&mut self, f: Diagram) -> Result<Diagram, TooLarge> {
        self.ite(f, FALSE, TRUE)
    }

    pub(super) fn and(&mut self, f: Diagram, g: Diagram) -> Result<Diagram, TooLarge> {
        self.ite(f, g, FALSE)
    }

    pub(super) fn or(&mut self, f: Diagram, g: Diagram) -> Result<Diagram, TooLarge> {
        self.ite(f, TRUE, g)
    }

    pub(super) fn implies(&mut self, f: Diagram, g: Diagram) -> Result<bool, TooLarge> {
        Ok(self.ite(f, g, TRUE)? == TRUE)
    }

    /// The function with a variable replaced by a function.
    pub(super) fn replace(&mut self, f: Diagram, var: u32, by: Diagram) -> Result<Diagram, TooLarge> {
        let (low, high) = (self.fix(f, var, false)?, self.fix(f, var, true)?);
        self.ite(by, high, low)
    }

    /// The function where some value of a variable makes it true.
    pub(super) fn exists(&mut self, f: Diagram, var: u32) -> Result<Diagram, TooLarge> {
        let (low, high) = (self.fix(f, var, false)?, self.fix(f, var, true)?);
        self.or(low, high)
    }

    /// The function where a variable has a value.
    fn fix(&mut self, f: Diagram, var: u32, value: bool) -> Result<Diagram, TooLarge> {
        let mut known = HashMap::new();
        self.fix_in(f, var, value, &mut known)
    }

    fn fix_in(
        &mut self,
        f: Diagram,
        var: u32,
        value: bool,
        known: &mut HashMap<Diagram, Diagram>,
    ) -> Result<Diagram, TooLarge> {
        let node = self.nodes[f as usize];
        if node.var > var {
            return Ok(f);
        }
        if node.var == var {
            return Ok(if value { node.high } else { node.low });
        }
        if let Some(fixed) = known.get(&f) {
            return Ok(*fixed);
        }
        let low = self.fix_in(node.low, var, value, known)?;
        let high = self.fix_in(node.high, var, value, known)?;
        let fixed = self.node(Node { var: node.var, low, high })?;
        known.insert(f, fixed);
        Ok(fixed)
    }

    /// The variables that a function depends on, in ascending order.
    pub(super) fn support(&self, f: Diagram) -> Vec<u32> {
        let (mut open, mut seen) = (vec![f], std::collections::BTreeSet::new());
        let mut vars = std::collections::BTreeSet::new();
        while let Some(f) = open.pop() {
            if f > TRUE && seen.insert(f) {
                let node = self.nodes[f as usize];
                vars.insert(node.var);
                open.extend([node.low, node.high]);
            }
        }
        vars.into_iter().collect()
    }
}
