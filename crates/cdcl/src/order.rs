//! The order in which variables are decided: a heap by activity.

/// A heap of variables, the most active one first.
#[derive(Debug)]
pub(crate) struct Order {
    heap: Vec<u32>,
    /// By variable, its place in the heap.
    places: Vec<Option<u32>>,
    activity: Vec<f64>,
    /// The activity that a conflict adds; it grows, so that old conflicts count less.
    increment: f64,
}

impl Default for Order {
    fn default() -> Order {
        Order { heap: Vec::new(), places: Vec::new(), activity: Vec::new(), increment: 1.0 }
    }
}

impl Order {
    const GROWTH: f64 = 1.0 / 0.95;
    const LARGEST: f64 = 1e100;

    /// Adds the next variable, without activity.
    pub(crate) fn add_var(&mut self) {
        let var = self.places.len() as u32;
        self.places.push(None);
        self.activity.push(0.0);
        self.insert(var);
    }

    /// Puts a variable into the heap unless it is there.
    pub(crate) fn insert(&mut self, var: u32) {
        if self.places[var as usize].is_none() {
            self.places[var as usize] = Some(self.heap.len() as u32);
            self.heap.push(var);
            self.rise(self.heap.len() - 1);
        }
    }

    /// Takes out the most active variable.
    pub(crate) fn pop(&mut self) -> Option<u32> {
        let first = *self.heap.first()?;
        let last = self.heap.pop().expect("the heap has a first element");
        self.places[first as usize] = None;
        if last != first {
            self.put(0, last);
            self.sink(0);
        }
        Some(first)
    }

    /// Makes a variable of a conflict more active.
    pub(crate) fn bump(&mut self, var: u32) {
        self.activity[var as usize] += self.increment;
        if self.activity[var as usize] > Order::LARGEST {
            self.activity.iter_mut().for_each(|activity| *activity /= Order::LARGEST);
            self.increment /= Order::LARGEST;
        }
        if let Some(place) = self.places[var as usize] {
            self.rise(place as usize);
        }
    }

    /// Ends a conflict.
    pub(crate) fn decay(&mut self) {
        self.increment *= Order::GROWTH;
    }

    fn is_before(&self, left: u32, right: u32) -> bool {
        self.activity[left as usize] > self.activity[right as usize]
    }

    fn put(&mut self, place: usize, var: u32) {
        self.heap[place] = var;
        self.places[var as usize] = Some(place as u32);
    }

    fn rise(&mut self, mut place: usize) {
        let var = self.heap[place];
        while place > 0 && self.is_before(var, self.heap[(place - 1) / 2]) {
            self.put(place, self.heap[(place - 1) / 2]);
            place = (place - 1) / 2;
        }
        self.put(place, var);
    }

    fn sink(&mut self, mut place: usize) {
        let var = self.heap[place];
        loop {
            let left = 2 * place + 1;
            let Some(&child) = self.heap.get(left) else { break };
            let (below, child) = match self.heap.get(left + 1) {
                Some(&right) if self.is_before(right, child) => (left + 1, right),
                _ => (left, child),
            };
            if !self.is_before(child, var) {
                break;
            }
            self.put(place, child);
            place = below;
        }
        self.put(place, var);
    }
}
