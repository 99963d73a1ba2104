//! The edges of a program, indexed by location.

use std::collections::BTreeSet;

use index_vec::IndexVec;

use crate::syntax::{EdgeId, LocId, Program};

/// Edges by the location they leave and by the location they reach, in ascending order of their numbers.
#[derive(Clone, Debug)]
pub struct Flow {
    out: Index,
    into: Index,
}

impl Flow {
    /// Indexes the edges of a program, in linear time.
    pub fn new(program: &Program) -> Flow {
        Flow {
            out: Index::new(program, |edge| program.edges[edge].from),
            into: Index::new(program, |edge| program.edges[edge].to),
        }
    }

    /// Returns the edges that leave a location.
    pub fn out(&self, loc: LocId) -> &[EdgeId] {
        self.out.get(loc)
    }

    /// Returns the edges that reach a location.
    pub fn into(&self, loc: LocId) -> &[EdgeId] {
        self.into.get(loc)
    }

    /// Returns the locations that can be reached inside a procedure, each after those that it leads to, back edges
    /// aside.
    ///
    /// A depth-first search without recursion: `path` holds the locations that are entered and not left, each with the
    /// number of its edges already taken. It ends because each location is entered once.
    pub fn postorder(&self, program: &Program, entry: LocId) -> Vec<LocId> {
        let mut order = Vec::new();
        let mut seen = BTreeSet::from([entry]);
        let mut path = vec![(entry, 0)];
        while let Some((loc, next)) = path.last_mut() {
            match self.out(*loc).get(*next) {
                Some(edge) => {
                    *next += 1;
                    let to = program.edges[*edge].to;
                    if seen.insert(to) {
                        path.push((to, 0));
                    }
                }
                None => {
                    order.push(*loc);
                    path.pop();
                }
            }
        }
        order
    }
}

/// All edges sorted by one of their locations, and the index at which the part of each location begins.
#[derive(Clone, Debug)]
struct Index {
    begin: IndexVec<LocId, u32>,
    edges: Vec<EdgeId>,
}

impl Index {
    /// Sorts the edges by counting: `begin[loc]` first is a count, then the end of the part of `loc`, and then, after
    /// the edges are placed from the last to the first, its beginning.
    fn new(program: &Program, key: impl Fn(EdgeId) -> LocId) -> Index {
        let mut begin: IndexVec<LocId, u32> = IndexVec::from_vec(vec![0; program.locs.len() + 1]);
        for edge in program.edges.indices() {
            begin[key(edge)] += 1;
        }
        let mut sum = 0;
        for count in begin.iter_mut() {
            sum += *count;
            *count = sum;
        }
        let mut edges = vec![EdgeId::new(0); program.edges.len()];
        for edge in program.edges.indices().rev() {
            let place = &mut begin[key(edge)];
            *place -= 1;
            edges[*place as usize] = edge;
        }
        Index { begin, edges }
    }

    fn get(&self, loc: LocId) -> &[EdgeId] {
        &self.edges[self.begin[loc] as usize..self.begin[loc + 1] as usize]
    }
}
