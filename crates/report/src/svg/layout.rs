//! Places for the nodes of a directed graph: in layers, so that edges lead down except those that close a cycle.
//!
//! The order of work: a depth-first search finds the edges that close cycles; the others give each node a layer, its
//! longest distance from a root; an edge over several layers gets a bend in each one between; some sweeps put nodes
//! near the middle of their neighbours; then, in more sweeps, every layer is laid out from left to right, each node as
//! near to the middle of its neighbours as the others in the layer allow. All of it is deterministic, and linear but
//! for the sorting in the sweeps.
//!
//! Nothing overlaps: the nodes of a layer keep their distance, an edge passes the layers between its ends upright,
//! where there is room for it, and changes its place between layers, where there are no nodes.

/// The height of a node with one line of text.
pub(super) const NODE: f64 = 22.0;
/// The distance of the texts of two loops at a node.
const LOOP: f64 = 18.0;
/// The width of a loop.
const LOOP_WIDTH: f64 = 24.0;
/// The least distance of two nodes in a layer, and of an edge that passes and its neighbours.
const GAP: f64 = 26.0;
const EDGE_GAP: f64 = 16.0;
/// The number of times that nodes are moved towards their neighbours.
const SWEEPS: usize = 6;

/// The nodes and edges to place.
pub(super) struct Graph {
    /// The width of each node.
    pub(super) widths: Vec<f64>,
    /// The height of each node.
    pub(super) heights: Vec<f64>,
    /// The least room between two layers.
    pub(super) room: f64,
    pub(super) edges: Vec<(usize, usize)>,
    /// The width of the text at each edge.
    pub(super) labels: Vec<f64>,
    /// The node to begin with.
    pub(super) root: usize,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Point {
    pub(super) x: f64,
    pub(super) y: f64,
}

pub(super) struct Placed {
    /// The middle of each node.
    pub(super) nodes: Vec<Point>,
    pub(super) widths: Vec<f64>,
    /// The points that each edge passes, in its direction.
    pub(super) paths: Vec<Vec<Point>>,
    pub(super) width: f64,
    pub(super) height: f64,
}

pub(super) fn place(graph: &Graph) -> Placed {
    let (layers, backward) = layers(graph);
    let mut rows = Rows::new(graph, &layers, &backward);
    for sweep in 0..SWEEPS {
        rows.sweep(sweep % 2 == 0);
    }
    let (xs, width) = rows.columns();
    let loops = loop_numbers(graph);
    let bands = Bands::new(graph, &layers, &loops);
    let node = |cell: usize| Point { x: xs[cell], y: bands.middle(rows.layer[cell]) };
    let nodes: Vec<Point> = (0..graph.widths.len()).map(node).collect();
    let paths = graph.edges.iter().enumerate().map(|(number, (from, to))| {
        if from == to {
            return self_loop(nodes[*from], graph.widths[*from], loops[number]);
        }
        let chain = &rows.chains[number];
        let (upper, lower) = (chain[0], chain[chain.len() - 1]);
        let end = |cell: usize, sign: f64| Point { y: nodes[cell].y + sign * graph.heights[cell] / 2.0, ..nodes[cell] };
        let mut path = vec![end(upper, 1.0)];
        for bend in &chain[1..chain.len() - 1] {
            let (x, (top, bottom)) = (xs[*bend], bands.of(rows.layer[*bend]));
            path.extend([Point { x, y: top }, Point { x, y: bottom }]);
        }
        path.push(end(lower, -1.0));
        if backward[number] {
            path.reverse();
        }
        path
    });
    Placed { paths: paths.collect(), widths: graph.widths.clone(), width, height: bands.end, nodes }
}

/// For each edge that leads from a node to itself, how many such edges of the node come before it.
fn loop_numbers(graph: &Graph) -> Vec<usize> {
    let mut counts = vec![0; graph.widths.len()];
    let number = |(from, to): &(usize, usize)| {
        let number = counts[*from];
        counts[*from] += usize::from(from == to);
        number
    };
    graph.edges.iter().map(number).collect()
}

/// The parts of the height that are taken by nodes.
struct Bands {
    /// The top and the height of the nodes of each layer.
    layers: Vec<(f64, f64)>,
    end: f64,
}

impl Bands {
    /// Computes where each layer lies. There is more room below one where many loops need it.
    fn new(graph: &Graph, layers: &[usize], loops: &[usize]) -> Bands {
        let n_layers = layers.iter().max().map_or(0, |layer| layer + 1);
        let (mut heights, mut rooms) = (vec![0.0f64; n_layers], vec![graph.room; n_layers]);
        for (layer, height) in layers.iter().zip(&graph.heights) {
            heights[*layer] = heights[*layer].max(*height);
        }
        for ((from, to), number) in graph.edges.iter().zip(loops) {
            if from == to {
                let room = &mut rooms[layers[*from]];
                *room = room.max(graph.room + *number as f64 * LOOP);
            }
        }
        let mut end = 4.0;
        let mut bands = Vec::with_capacity(n_layers);
        for (height, room) in heights.into_iter().zip(rooms) {
            bands.push((end, height));
            end += height + room;
        }
        Bands { layers: bands, end }
    }

    fn of(&self, layer: usize) -> (f64, f64) {
        let (top, height) = self.layers[layer];
        (top, top + height)
    }

    fn middle(&self, layer: usize) -> f64 {
        let (top, bottom) = self.of(layer);
        f64::midpoint(top, bottom)
    }
}

/// The layer of each node, and which edges close a cycle.
fn layers(graph: &Graph) -> (Vec<usize>, Vec<bool>) {
    let mut out: Vec<Vec<usize>> = vec![Vec::new(); graph.widths.len()];
    for (number, (from, _)) in graph.edges.iter().enumerate() {
        out[*from].push(number);
    }
    let mut backward = vec![false; graph.edges.len()];
    let mut is_open = vec![false; out.len()];
    let mut is_seen = vec![false; out.len()];
    let mut finished = Vec::with_capacity(out.len());
    for root in std::iter::once(graph.root).chain(0..out.len()) {
        if is_seen[root] {
            continue;
        }
        is_seen[root] = true;
        is_open[root] = true;
        let mut stack = vec![(root, 0)];
        while let Some((node, next)) = stack.last_mut() {
            let Some(edge) = out[*node].get(*next).copied() else {
                is_open[*node] = false;
                finished.push(*node);
                stack.pop();
                continue;
            };
            *next += 1;
            let to = graph.edges[edge].1;
            backward[edge] = is_open[to];
            if !is_seen[to] {
                is_seen[to] = true;
                is_open[to] = true;
                stack.push((to, 0));
            }
        }
    }
    // The reverse order of finishing is a topological order of the edges that close no cycle.
    let mut layers = vec![0; out.len()];
    for node in finished.into_iter().rev() {
        for edge in out[node].iter().filter(|edge| !backward[**edge]) {
            let to = graph.edges[*edge].1;
            layers[to] = layers[to].max(layers[node] + 1);
        }
    }
    (layers, backward)
}

/// The nodes and bends of all layers. Cells are numbered: first the nodes, then the bends.
struct Rows {
    rows: Vec<Vec<usize>>,
    layer: Vec<usize>,
    widths: Vec<f64>,
    /// The cells of each edge from its upper to its lower end.
    chains: Vec<Vec<usize>>,
    above: Vec<Vec<usize>>,
    below: Vec<Vec<usize>>,
}

impl Rows {
    fn new(graph: &Graph, layers: &[usize], backward: &[bool]) -> Rows {
        let n_rows = layers.iter().max().map_or(0, |layer| layer + 1);
        let n_nodes = graph.widths.len();
        let mut rows = Rows {
            rows: vec![Vec::new(); n_rows],
            layer: layers.to_vec(),
            widths: graph.widths.clone(),
            chains: Vec::with_capacity(graph.edges.len()),
            above: vec![Vec::new(); n_nodes],
            below: vec![Vec::new(); n_nodes],
        };
        for (node, layer) in layers.iter().enumerate() {
            rows.rows[*layer].push(node);
        }
        for (number, (from, to)) in graph.edges.iter().enumerate() {
            let (upper, lower) = if backward[number] { (*to, *from) } else { (*from, *to) };
            rows.chain(upper, lower, graph.labels[number]);
        }
        rows
    }

    /// The way of an edge, with a new bend in each layer between its ends. There is room for its text at the first.
    fn chain(&mut self, upper: usize, lower: usize, label: f64) {
        let mut chain = vec![upper];
        for layer in self.layer[upper] + 1..self.layer[lower] {
            let bend = self.layer.len();
            self.layer.push(layer);
            self.rows[layer].push(bend);
            self.widths.push(if chain.len() == 1 { label } else { 0.0 });
            self.above.push(Vec::new());
            self.below.push(Vec::new());
            chain.push(bend);
        }
        if upper == lower {
            // The text is to the right of the node, which stays in the middle of its space.
            self.widths[lower] = self.widths[lower].max(2.0 * (label + LOOP_WIDTH));
            self.chains.push(chain);
            return;
        }
        if chain.len() == 1 {
            self.widths[lower] = self.widths[lower].max(label);
        }
        chain.push(lower);
        for pair in chain.windows(2) {
            self.below[pair[0]].push(pair[1]);
            self.above[pair[1]].push(pair[0]);
        }
        self.chains.push(chain);
    }

    /// Sorts each layer by the middle of the neighbours in the layer before it, going down or up.
    fn sweep(&mut self, down: bool) {
        let mut place = vec![0.0; self.layer.len()];
        let order: Vec<usize> =
            if down { (0..self.rows.len()).collect() } else { (0..self.rows.len()).rev().collect() };
        for row in order {
            let neighbours = if down { &self.above } else { &self.below };
            let mut sorted: Vec<(f64, usize)> = self.rows[row]
                .iter()
                .enumerate()
                .map(|(at, cell)| (mean(&neighbours[*cell], &place).unwrap_or(at as f64), *cell))
                .collect();
            sorted.sort_by(|left, right| left.0.total_cmp(&right.0));
            let n_cells = sorted.len() as f64;
            self.rows[row] = sorted.into_iter().map(|(_, cell)| cell).collect();
            for (at, cell) in self.rows[row].iter().enumerate() {
                place[*cell] = at as f64 - n_cells / 2.0;
            }
        }
    }

    /// Returns the middle of each cell, and the width of the whole.
    fn columns(&self) -> (Vec<f64>, f64) {
        let mut xs = vec![0.0; self.layer.len()];
        for row in &self.rows {
            self.put(row, &mut xs, |_, xs, cell| xs[cell]);
        }
        for sweep in 0..2 * SWEEPS {
            let is_last = sweep + 1 == 2 * SWEEPS;
            let wanted = |rows: &Rows, xs: &[f64], cell: usize| {
                let (above, below) = (mean(&rows.above[cell], xs), mean(&rows.below[cell], xs));
                let (first, second) = if sweep % 2 == 0 { (above, below) } else { (below, above) };
                match (first, second) {
                    (Some(first), Some(second)) if is_last => f64::midpoint(first, second),
                    (first, second) => first.or(second).unwrap_or(xs[cell]),
                }
            };
            let order: Vec<usize> =
                if sweep % 2 == 0 { (0..self.rows.len()).collect() } else { (0..self.rows.len()).rev().collect() };
            for row in order {
                self.put(&self.rows[row], &mut xs, wanted);
            }
        }
        let cells = || (0..xs.len()).map(|cell| (xs[cell], self.room(cell) / 2.0));
        let left = cells().map(|(x, half)| x - half).fold(f64::INFINITY, f64::min);
        let right = cells().map(|(x, half)| x + half).fold(0.0, f64::max);
        (xs.iter().map(|x| x - left).collect(), (right - left).max(0.0))
    }

    /// Returns the room that a cell needs in its layer.
    fn room(&self, cell: usize) -> f64 {
        self.widths[cell] + if self.widths[cell] > 0.0 { GAP } else { EDGE_GAP }
    }

    /// Puts the cells of a layer as near as possible to where they are wanted, in their order and without overlaps:
    /// with the least sum of squares of the distances.
    ///
    /// Without the room to the left of each cell, the places only have to be ascending. Blocks of cells that want to
    /// pass each other get one place, the mean of what they want; each cell joins the blocks before it as long as these
    /// lie to its right.
    fn put(&self, row: &[usize], xs: &mut [f64], wanted: impl Fn(&Rows, &[f64], usize) -> f64) {
        let mut before = 0.0;
        // The sum of what the cells of a block want, their number, and the room before each of them.
        let mut blocks: Vec<(f64, Vec<f64>)> = Vec::new();
        for cell in row {
            let offset = before + self.room(*cell) / 2.0;
            before += self.room(*cell);
            let (mut sum, mut offsets) = (wanted(self, xs, *cell) - offset, vec![offset]);
            while let Some((other, first)) =
                blocks.pop_if(|(other, first)| *other / first.len() as f64 > sum / offsets.len() as f64)
            {
                sum += other;
                offsets = [first, offsets].concat();
            }
            blocks.push((sum, offsets));
        }
        let placed = blocks
            .iter()
            .flat_map(|(sum, offsets)| offsets.iter().map(move |offset| sum / offsets.len() as f64 + offset));
        for (cell, x) in row.iter().zip(placed) {
            xs[*cell] = x;
        }
    }
}

fn mean(cells: &[usize], place: &[f64]) -> Option<f64> {
    let sum: f64 = cells.iter().map(|cell| place[*cell]).sum();
    (!cells.is_empty()).then(|| sum / cells.len() as f64)
}

/// From the right side of a node back into it; each loop of a node reaches further down.
fn self_loop(node: Point, width: f64, number: usize) -> Vec<Point> {
    let right = node.x + width / 2.0;
    let at = |x: f64, y: f64| Point { x, y: node.y + y };
    vec![at(right, -5.0), at(right + 14.0, number as f64 * LOOP), at(right, 5.0)]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn graph(n_nodes: usize, edges: &[(usize, usize)]) -> Graph {
        let (widths, labels) = (vec![30.0; n_nodes], vec![40.0; edges.len()]);
        Graph { widths, heights: vec![NODE; n_nodes], room: 42.0, edges: edges.to_vec(), labels, root: 0 }
    }

    #[test]
    fn edges_lead_down_except_those_that_close_a_cycle() {
        let graph = graph(5, &[(0, 1), (1, 2), (2, 1), (0, 2), (2, 3), (3, 3), (4, 3)]);
        let (layers, backward) = layers(&graph);
        assert_eq!(backward, [false, false, true, false, false, true, false]);
        for ((from, to), backward) in graph.edges.iter().zip(backward) {
            assert!(backward || layers[*from] < layers[*to], "{from} -> {to} in {layers:?}");
        }
    }

    #[test]
    fn nodes_of_a_layer_do_not_overlap() {
        let graph = graph(6, &[(0, 1), (0, 2), (0, 3), (1, 4), (2, 4), (3, 4), (0, 4), (4, 0), (4, 5)]);
        let placed = place(&graph);
        for (a, left) in placed.nodes.iter().enumerate() {
            for right in &placed.nodes[a + 1..] {
                assert!(left.y != right.y || (left.x - right.x).abs() >= 30.0, "{left:?} {right:?}");
            }
        }
        for (ends, path) in graph.edges.iter().zip(&placed.paths) {
            for pair in path.windows(2).filter(|pair| pair[0].x == pair[1].x) {
                let ends = [ends.0, ends.1];
                let others = placed.nodes.iter().enumerate().filter(|(node, _)| !ends.contains(node));
                for (_, node) in others.filter(|(_, node)| (node.y - pair[0].y) * (node.y - pair[1].y) <= 0.0) {
                    assert!((node.x - pair[0].x).abs() > 15.0, "an edge runs through {node:?}: {path:?}");
                }
            }
        }
        assert!(placed.nodes.iter().all(|node| node.x > 0.0 && node.x < placed.width));
    }

    #[test]
    fn loops_at_a_node_reach_below_each_other_and_the_next_layer_keeps_away() {
        let placed = place(&graph(2, &[(0, 0), (0, 0), (0, 0), (0, 0), (0, 1)]));
        let deepest: Vec<f64> = placed.paths[..4].iter().map(|path| path[1].y).collect();
        assert!(deepest.windows(2).all(|pair| pair[0] + 10.0 < pair[1]), "{deepest:?}");
        assert!(placed.nodes[1].y > deepest[3], "{:?} {deepest:?}", placed.nodes);
    }

    #[test]
    fn a_path_runs_from_its_first_to_its_second_node() {
        let graph = graph(3, &[(0, 1), (1, 2), (2, 0)]);
        let placed = place(&graph);
        let back = &placed.paths[2];
        assert!(back[0].y > back[back.len() - 1].y, "the last edge leads up: {back:?}");
        assert_eq!(back.len(), 4, "upright beside the node between");
        assert_eq!(back[1].x, back[2].x);
    }
}
