//! The nodes, and the recursions on them.
//!
//! *Invariant.* No two nodes have the same level and children, no node has two equal children, and children lie below
//! their node. So a function has one node, and equal functions have the same number. A result in the cache was computed
//! since the last collection. Collections happen between two operations only, so that no recursion holds a number that
//! is freed.

use std::time::Instant;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::bdd::{Limits, OutOfNodes};

/// The number of a node.
pub(super) type Id = u32;

pub(super) const FALSE: Id = 0;
pub(super) const TRUE: Id = 1;

/// The level of the constants: below everything.
pub(super) const BOTTOM: u32 = u32::MAX;

/// The level of a free place.
const FREE: u32 = u32::MAX - 1;

/// Entries of the cache that are claimed at once. It grows with the nodes.
const FIRST_CACHE: usize = 1 << 10;

/// The results that are computed between two looks at the clock.
const BETWEEN_LOOKS: u32 = 1 << 14;

/// A decision: what follows if the variable of the level is true, and if it is false.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Node {
    pub(super) level: u32,
    pub(super) high: Id,
    pub(super) low: Id,
}

impl Node {
    /// Returns the parts at a level that is not below this node.
    fn at(self, level: u32, id: Id) -> (Id, Id) {
        if self.level == level { (self.high, self.low) } else { (id, id) }
    }
}

/// An operation whose results are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Op {
    And,
    Or,
    Xor,
    Ite,
    Exists,
    AndExists,
    Restrict,
    /// The number of the renaming.
    Rename(u32),
}

/// An operation and its operands; those that it does not have are 0.
type Key = (Op, [Id; 3]);

/// The place of a key in a table of a power of two of places.
fn slot((op, operands): Key, size: usize) -> usize {
    let op = match op {
        Op::Rename(number) => u64::from(number) + 16,
        Op::And => 1,
        Op::Or => 2,
        Op::Xor => 3,
        Op::Ite => 4,
        Op::Exists => 5,
        Op::AndExists => 6,
        Op::Restrict => 7,
    };
    let mix = |sum: u64, part: u64| (sum.rotate_left(23) ^ part).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let hash = operands.iter().fold(mix(0, op), |sum, operand| mix(sum, u64::from(*operand)));
    (hash >> 32) as usize & (size - 1)
}

pub(super) type Result = std::result::Result<Id, OutOfNodes>;

/// All nodes over one order of variables.
pub(super) struct Nodes {
    nodes: Vec<Node>,
    /// By node, the handles on it.
    handles: Vec<u32>,
    free: Vec<Id>,
    unique: FxHashMap<Node, Id>,
    cache: Vec<Option<(Key, Id)>>,
    limits: Limits,
    /// The moment from which operations give up.
    pub(super) deadline: Option<Instant>,
    /// The results computed, to look at the clock now and then.
    computed: u32,
    pub(super) vars: u32,
}

impl Nodes {
    pub(super) fn new(limits: Limits) -> Nodes {
        let constants = [FALSE, TRUE].map(|id| Node { level: BOTTOM, high: id, low: id });
        Nodes {
            nodes: constants.to_vec(),
            handles: vec![0; 2],
            free: Vec::new(),
            unique: FxHashMap::default(),
            cache: vec![None; FIRST_CACHE],
            limits,
            deadline: None,
            computed: 0,
            vars: 0,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.unique.len()
    }

    pub(super) fn limit(&self) -> usize {
        self.limits.nodes
    }

    pub(super) fn node(&self, id: Id) -> Node {
        self.nodes[id as usize]
    }

    fn level(&self, id: Id) -> u32 {
        self.node(id).level
    }

    pub(super) fn hold(&mut self, id: Id) {
        self.handles[id as usize] += 1;
    }

    pub(super) fn release(&mut self, id: Id) {
        self.handles[id as usize] -= 1;
    }

    /// Frees the nodes to which no handle leads. Returns their number.
    pub(super) fn collect(&mut self) -> usize {
        let mut reached = vec![false; self.nodes.len()];
        let mut open: Vec<Id> = (0..).zip(&self.handles).filter(|(_, n)| **n > 0).map(|(id, _)| id).collect();
        while let Some(id) = open.pop() {
            if !std::mem::replace(&mut reached[id as usize], true) {
                let Node { high, low, .. } = self.node(id);
                open.extend([high, low]);
            }
        }
        let before = self.len();
        for ((id, node), reached) in (0..).zip(&mut self.nodes).zip(reached).skip(2) {
            if !reached && node.level != FREE {
                self.unique.remove(node);
                *node = Node { level: FREE, high: FALSE, low: FALSE };
                self.free.push(id);
            }
        }
        self.cache.fill(None);
        before - self.len()
    }

    /// Returns the node of a decision between functions below the level.
    pub(super) fn decision(&mut self, level: u32, high: Id, low: Id) -> Result {
        let node = Node { level, high, low };
        if high == low {
            return Ok(high);
        }
        if let Some(known) = self.unique.get(&node) {
            return Ok(*known);
        }
        if self.len() >= self.limits.nodes {
            return Err(OutOfNodes { limit: self.limits.nodes });
        }
        let id = self.free.pop().unwrap_or_else(|| {
            self.nodes.push(node);
            self.handles.push(0);
            self.nodes.len() as Id - 1
        });
        self.nodes[id as usize] = node;
        self.unique.insert(node, id);
        let wanted = self.len().next_power_of_two().min(self.limits.cache.max(1).next_power_of_two());
        if wanted > self.cache.len() {
            self.cache = vec![None; wanted];
        }
        Ok(id)
    }

    /// Returns the kept result of an operation, or computes and keeps it.
    fn cached(&mut self, op: Op, operands: [Id; 3], compute: impl FnOnce(&mut Nodes) -> Result) -> Result {
        let key = (op, operands);
        if let Some((known, result)) = self.cache[slot(key, self.cache.len())]
            && known == key
        {
            return Ok(result);
        }
        self.computed = self.computed.wrapping_add(1);
        if self.computed.is_multiple_of(BETWEEN_LOOKS) && self.deadline.is_some_and(|end| Instant::now() >= end) {
            return Err(OutOfNodes { limit: self.limits.nodes });
        }
        let result = compute(self)?;
        let at = slot(key, self.cache.len());
        self.cache[at] = Some((key, result));
        Ok(result)
    }

    /// Returns the decision at the topmost level of two functions whose branches an operation computes.
    fn branch(&mut self, f: Id, g: Id, op: impl Fn(&mut Nodes, Id, Id) -> Result) -> Result {
        let (fv, gv) = (self.node(f), self.node(g));
        let level = fv.level.min(gv.level);
        let ((fh, fl), (gh, gl)) = (fv.at(level, f), gv.at(level, g));
        let high = op(self, fh, gh)?;
        let low = op(self, fl, gl)?;
        self.decision(level, high, low)
    }

    pub(super) fn not(&mut self, f: Id) -> Result {
        self.xor(f, TRUE)
    }

    pub(super) fn and(&mut self, f: Id, g: Id) -> Result {
        match (f.min(g), f.max(g)) {
            (FALSE, _) => Ok(FALSE),
            (TRUE, other) => Ok(other),
            (f, g) if f == g => Ok(f),
            (f, g) => self.cached(Op::And, [f, g, 0], |nodes| nodes.branch(f, g, Nodes::and)),
        }
    }

    pub(super) fn or(&mut self, f: Id, g: Id) -> Result {
        match (f.min(g), f.max(g)) {
            (FALSE, other) => Ok(other),
            (TRUE, _) => Ok(TRUE),
            (f, g) if f == g => Ok(f),
            (f, g) => self.cached(Op::Or, [f, g, 0], |nodes| nodes.branch(f, g, Nodes::or)),
        }
    }

    pub(super) fn xor(&mut self, f: Id, g: Id) -> Result {
        match (f.min(g), f.max(g)) {
            (f, g) if f == g => Ok(FALSE),
            (FALSE, other) => Ok(other),
            (f, g) => self.cached(Op::Xor, [f, g, 0], |nodes| nodes.branch(f, g, Nodes::xor)),
        }
    }

    pub(super) fn ite(&mut self, f: Id, g: Id, h: Id) -> Result {
        match (f, g, h) {
            (TRUE, ..) => return Ok(g),
            (FALSE, ..) => return Ok(h),
            (_, TRUE, FALSE) => return Ok(f),
            (_, g, h) if g == h => return Ok(g),
            _ => {}
        }
        self.cached(Op::Ite, [f, g, h], |nodes| {
            let views = [f, g, h].map(|id| nodes.node(id));
            let level = views.iter().map(|view| view.level).min().unwrap_or(BOTTOM);
            let [f, g, h] = [(0, f), (1, g), (2, h)].map(|(place, id): (usize, Id)| views[place].at(level, id));
            let high = nodes.ite(f.0, g.0, h.0)?;
            let low = nodes.ite(f.1, g.1, h.1)?;
            nodes.decision(level, high, low)
        })
    }

    /// Quantifies the variables of a cube of positive literals existentially.
    pub(super) fn exists(&mut self, f: Id, cube: Id) -> Result {
        let (level, cube) = (self.level(f), self.below(cube, self.level(f)));
        if level == BOTTOM || cube == TRUE {
            return Ok(f);
        }
        self.cached(Op::Exists, [f, cube, 0], |nodes| {
            let Node { high, low, .. } = nodes.node(f);
            let high = nodes.exists(high, cube)?;
            let low = nodes.exists(low, cube)?;
            nodes.join(level, cube, high, low)
        })
    }

    /// Quantifies the variables of a cube of positive literals in a conjunction.
    pub(super) fn and_exists(&mut self, f: Id, g: Id, cube: Id) -> Result {
        let (f, g) = (f.min(g), f.max(g));
        match (f, g) {
            (FALSE, _) => return Ok(FALSE),
            (TRUE, _) => return self.exists(g, cube),
            _ if f == g => return self.exists(f, cube),
            _ => {}
        }
        let level = self.level(f).min(self.level(g));
        let cube = self.below(cube, level);
        if cube == TRUE {
            return self.and(f, g);
        }
        self.cached(Op::AndExists, [f, g, cube], |nodes| {
            let ((fh, fl), (gh, gl)) = (nodes.node(f).at(level, f), nodes.node(g).at(level, g));
            let high = nodes.and_exists(fh, gh, cube)?;
            let low = nodes.and_exists(fl, gl, cube)?;
            nodes.join(level, cube, high, low)
        })
    }

    /// Returns the part of a cube from a level on.
    fn below(&self, mut cube: Id, level: u32) -> Id {
        while self.level(cube) < level {
            cube = self.node(cube).high;
        }
        cube
    }

    /// Returns the disjunction of two branches if their variable is in the cube, else the decision between them.
    fn join(&mut self, level: u32, cube: Id, high: Id, low: Id) -> Result {
        if self.level(cube) == level { self.or(high, low) } else { self.decision(level, high, low) }
    }

    /// Replaces the variable of each level below `targets.len()` by the one given there, all at once.
    ///
    /// The branches are renamed first. The new variable then decides between the two results, wherever it lies in them,
    /// so that nothing is renamed twice.
    pub(super) fn rename(&mut self, f: Id, targets: &[u32], number: u32) -> Result {
        let Node { level, high, low } = self.node(f);
        let Some(&target) = targets.get(level as usize) else { return Ok(f) };
        self.cached(Op::Rename(number), [f, 0, 0], |nodes| {
            let high = nodes.rename(high, targets, number)?;
            let low = nodes.rename(low, targets, number)?;
            let var = nodes.decision(target, TRUE, FALSE)?;
            nodes.ite(var, high, low)
        })
    }

    /// Restricts a function to a care set that is not empty (Coudert and Madre).
    ///
    /// *Why it is right.* Where one half of the care set is empty, only the other half of the function matters. A
    /// variable that the function does not test is quantified away in the care set, which enlarges it. So no care set
    /// on the way is empty, and each call goes down a level in one of the two.
    pub(super) fn restrict(&mut self, f: Id, care: Id) -> Result {
        let (fv, cv) = (self.node(f), self.node(care));
        if fv.level == BOTTOM || care == TRUE {
            return Ok(f);
        }
        self.cached(Op::Restrict, [f, care, 0], |nodes| {
            if cv.level < fv.level {
                let wider = nodes.or(cv.high, cv.low)?;
                return nodes.restrict(f, wider);
            }
            match cv.at(fv.level, care) {
                (FALSE, low) => nodes.restrict(fv.low, low),
                (high, FALSE) => nodes.restrict(fv.high, high),
                _ => nodes.branch(f, care, Nodes::restrict),
            }
        })
    }

    /// Returns whether some assignment makes the first function true and gives the second one the value. Creates no
    /// nodes.
    pub(super) fn meets(&self, f: Id, g: Id, value: bool) -> bool {
        let mut seen = FxHashSet::default();
        let mut open = vec![(f, g)];
        while let Some((f, g)) = open.pop() {
            if f == FALSE || g == Id::from(!value) || !seen.insert((f, g)) {
                continue;
            }
            let (fv, gv) = (self.node(f), self.node(g));
            let level = fv.level.min(gv.level);
            if level == BOTTOM {
                return true;
            }
            let ((fh, fl), (gh, gl)) = (fv.at(level, f), gv.at(level, g));
            open.extend([(fh, gh), (fl, gl)]);
        }
        false
    }

    /// Calls a function with the level of each node below a node and with its own, once for each. Returns their number.
    pub(super) fn visit(&self, f: Id, mut each: impl FnMut(u32)) -> usize {
        let mut seen = FxHashSet::default();
        let mut open = vec![f];
        while let Some(id) = open.pop() {
            let Node { level, high, low } = self.node(id);
            if level != BOTTOM && seen.insert(id) {
                each(level);
                open.extend([high, low]);
            }
        }
        seen.len()
    }

    /// Returns the distinct functions below a cut, except constant false, in the order of a traversal that takes the
    /// false branch first.
    pub(super) fn parts_below(&self, f: Id, cut: u32) -> Vec<Id> {
        let (mut seen, mut parts, mut open) = (FxHashSet::default(), Vec::new(), vec![f]);
        while let Some(id) = open.pop() {
            if id == FALSE || !seen.insert(id) {
                continue;
            }
            match self.node(id) {
                Node { level, high, low } if level < cut => open.extend([high, low]),
                _ => parts.push(id),
            }
        }
        parts
    }

    /// Returns the condition on the variables above a cut under which a function leads to a part.
    pub(super) fn leads_to(&mut self, f: Id, cut: u32, part: Id, memo: &mut FxHashMap<Id, Id>) -> Result {
        let Node { level, high, low } = self.node(f);
        if level >= cut {
            return Ok(if f == part { TRUE } else { FALSE });
        }
        if let Some(known) = memo.get(&f) {
            return Ok(*known);
        }
        let high = self.leads_to(high, cut, part, memo)?;
        let low = self.leads_to(low, cut, part, memo)?;
        let result = self.decision(level, high, low)?;
        memo.insert(f, result);
        Ok(result)
    }
}
