'use strict';
// Shows an execution. The data holds the first state and, for each step, the operations that make the next one (data.rs
// lists them). A state is [shared values, holder, threads], a thread [id, kind, values, frames], a frame [procedure,
// location, values]. States are never changed in place: a new one shares all that stayed the same.

const data = JSON.parse(document.getElementById('data').textContent);
const $ = (id) => document.getElementById(id);
const { program } = data;
const EVERY = 64;   // a state is kept after this many steps
const ROW = 24;     // the height of a row in pixels
const LINE = 20;    // the height of a line of the program
const MAX_LANES = 24;

/* ---- states ---- */

function apply(state, operations) {
  let [shared, holder, threads] = state;
  let owned = false;
  const own = () => { if (!owned) { threads = threads.slice(); owned = true; } };
  const edit = (id, change) => {
    own();
    const at = threads.findIndex((thread) => thread[0] === id);
    threads[at] = change(threads[at]);
  };
  const put = (list, at, value) => { const copy = list.slice(); copy[at] = value; return copy; };
  for (const op of operations) {
    switch (op[0]) {
      case 0: shared = put(shared, op[1], op[2]); break;
      case 1: holder = op[1]; break;
      case 2: edit(op[1], ([id, kind, vars, frames]) => [id, kind, put(vars, op[2], op[3]), frames]); break;
      case 3: edit(op[1], ([id, kind, vars, frames]) => [id, kind, vars, frames.slice(0, frames.length - op[2])]); break;
      case 4: edit(op[1], ([id, kind, vars, frames]) => [id, kind, vars, frames.concat([op[2]])]); break;
      case 5: edit(op[1], ([id, kind, vars, frames]) => {
        const [proc, , locals] = frames[op[2]];
        return [id, kind, vars, put(frames, op[2], [proc, op[3], locals])];
      }); break;
      case 6: edit(op[1], ([id, kind, vars, frames]) => {
        const [proc, loc, locals] = frames[op[2]];
        return [id, kind, vars, put(frames, op[2], [proc, loc, put(locals, op[3], op[4])])];
      }); break;
      case 7: own(); threads.push(op[1]); break;
      case 8: own(); threads = threads.filter((thread) => thread[0] !== op[1]); break;
    }
  }
  return [shared, holder, threads];
}

class Execution {
  constructor(trace) {
    this.trace = trace;
    this.steps = trace.steps;
    this.kept = [trace.start];
    this.recent = new Map();
    this.ids = [];
    let state = trace.start;
    const seen = new Map();
    const meet = (at) => {
      for (const [id] of state[2]) if (!seen.has(id)) { seen.set(id, [at, Infinity]); this.ids.push(id); }
      for (const [id, life] of seen) {
        if (life[1] === Infinity && !state[2].some((thread) => thread[0] === id)) life[1] = at;
      }
    };
    meet(0);
    this.steps.forEach((step, number) => {
      state = apply(state, step[4]);
      if (step[4].some((op) => op[0] >= 7)) meet(number + 1);
      if ((number + 1) % EVERY === 0) this.kept.push(state);
    });
    // Processes are lanes, and live from the beginning to the end. The last lane is that of all other steps.
    if (trace.lanes) {
      seen.clear();
      this.ids = [...trace.lanes.keys()];
      for (const id of this.ids) seen.set(id, [-1, Infinity]);
    }
    this.lives = seen;
    this.ids.sort((one, other) => one - other);
  }
  get length() { return this.steps.length; }
  /* From the nearest state that is known: one of the last ones, or one that was kept. */
  state(at) {
    const known = this.recent.get(at);
    if (known) return known;
    let from = at - 1;
    let state = this.recent.get(from);
    if (!state) { from = Math.floor(at / EVERY) * EVERY; state = this.kept[from / EVERY]; }
    while (from < at) state = apply(state, this.steps[from++][4]);
    if (this.recent.size > 4 * EVERY) this.recent.clear();
    this.recent.set(at, state);
    return state;
  }
  name(thread) {
    if (this.trace.lanes) return this.trace.lanes[thread] ?? '';
    return this.trace.names[thread] ?? `thread ${thread}`;
  }
  /* Whether the lanes of steps are worth telling. */
  get hasLanes() { return !program.guarded || this.trace.lanes !== null; }
  thread(at) { return at > 0 ? this.steps[at - 1][0] : -1; }
  /* What a step changed: [name, old, new, whose], read off the states around it. */
  changes(at) {
    const [mover, , , , operations] = this.steps[at - 1];
    if (!operations.some((op) => op[0] === 0 || op[0] === 2 || op[0] === 6)) return [];
    const before = this.state(at - 1);
    const found = [];
    const of = (id) => before[2].find((thread) => thread[0] === id);
    const add = (variable, ...values) => { if (!unseenVars.has(variable)) found.push(change(variable, ...values)); };
    for (const op of operations) {
      if (op[0] === 0) add(program.shared[op[1]], before[0][op[1]], op[2], mover);
      if (op[0] === 2) add(program.thread[op[2]], of(op[1])[2][op[2]], op[3], op[1]);
      if (op[0] === 6) {
        const [proc, , locals] = of(op[1])[3][op[2]];
        add(program.procs[proc].locals[op[3]], locals[op[3]], op[4], op[1]);
      }
    }
    return found;
  }
}

const name = (variable) => program.vars[variable][0];
const [unseenVars, unseenProcs] = program.unseen.map((numbers) => new Set(numbers));
const word = (variable, value) => program.words[variable]?.[value] ?? value;
const change = (variable, before, after, whose) => [name(variable), word(variable, before), word(variable, after), whose];
const colour = (thread) => `var(--t${thread % 6})`;
// Characters that change how other text is displayed are written as escapes, as in text output.
const unseen = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/g;
const shownText = (text) => String(text).replace(unseen, (c) => `\\u{${c.charCodeAt(0).toString(16)}}`);
const escape = (text) => shownText(text).replace(/[&<>"]/g, (c) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' })[c]);

