'use strict';
// Shows an execution. The data holds the first state and, for each step, the operations that make the next one (data.rs
// lists them). A state is [shared values, holder, threads], a thread [id, kind, values, frames], a frame [procedure,
// location, values]. States are never changed in place: a new one shares all that stayed the same.

const data = JSON.parse(document.getElementById('data').textContent);
const $ = (id) => document.getElementById(id);
const { program } = data;
const EVERY = 64;   // a state is kept for each so many steps
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
  name(thread) { return this.trace.names[thread] ?? `thread ${thread}`; }
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

/* ---- what is shown ---- */

let run = null;        // the execution
let at = 0;            // the position: the number of steps made
let visible = [];      // the positions in the list
let hidden = new Set();
let chosen = '';
let drawn = new Map(); // rows in the page by their place in the list
let height = 400;
let scrolled = 0;      // how far the list is scrolled: reading it from the page would lay the page out each time
const source = { scrolled: 0, height: 400 };
let marked = null;    // the row of the position

function changed(position, variable) {
  return position > 0 && run.changes(position).some(([found]) => found === variable);
}

function seek(from, way, wanted) {
  for (let position = from + way; position >= 0 && position <= run.length; position += way) {
    if (wanted(position)) return position;
  }
  return from;
}

const moves = {
  first: () => 0,
  last: () => run.length,
  step: () => next(1),
  back: () => next(-1),
  switch: (way = 1) => seek(at, way, (p) => run.thread(p) !== run.thread(at)),
  same: (way = 1) => seek(at, way, (p) => run.thread(p) === run.thread(at)),
  change: (way = 1) => (chosen ? seek(at, way, (p) => changed(p, chosen)) : at),
};

/* A step to the next position whose thread is shown. */
function next(way) {
  return hidden.size === 0 ? Math.min(run.length, Math.max(0, at + way)) : seek(at, way, (p) => p === 0 || !hidden.has(run.thread(p)));
}

function go(position, quiet) {
  at = Math.min(run.length, Math.max(0, position));
  showRow();
  showSource();
  showState();
  showGraph();
  showStatus();
  if (!quiet) remember();
}

let late = 0;
/* The address follows with a delay: browsers refuse to rewrite it hundreds of times a second. */
function remember() {
  clearTimeout(late);
  late = setTimeout(() => history.replaceState(null, '', `#step=${at}`), 150);
}

/* ---- the list of steps ---- */

function list() {
  visible = [];
  for (let position = 0; position <= run.length; position++) {
    if (position === 0 || !hidden.has(run.thread(position))) visible.push(position);
  }
  $('rows').style.height = `${visible.length * ROW}px`;
  $('list').setAttribute('aria-rowcount', visible.length);
  for (const row of drawn.values()) row.remove();
  drawn.clear();
  draw();
}

function draw() {
  const first = Math.max(0, Math.floor(scrolled / ROW) - 8);
  const last = Math.min(visible.length - 1, first + Math.ceil(height / ROW) + 16);
  for (const [place, row] of drawn) if (place < first || place > last) { row.remove(); drawn.delete(place); }
  for (let place = first; place <= last; place++) {
    if (!drawn.has(place)) {
      const row = makeRow(place);
      drawn.set(place, row);
      $('rows').append(row);
    }
  }
}

/* What a step did: remarks, and variables that changed. */
function parts(position) {
  const step = run.steps[position - 1];
  const changes = run.changes(position).map(([variable, before, after, whose]) =>
    `${whose === step[0] ? '' : `${run.name(whose)}'s `}${variable}: ${before} → ${after}`);
  return [step[5].map((remark) => run.trace.remarks[remark]), changes];
}

const spoken = (position) => parts(position).flat().join(', ');

function effects(position) {
  const [remarks, changes] = parts(position);
  const words = remarks.map((text) => (text === 'fails' ? '<b class="bad">fails</b>' : escape(text)));
  return words.concat(changes.map((text) => `<b>${escape(text)}</b>`)).join(', ');
}

function makeRow(place) {
  const position = visible[place];
  const row = document.createElement('div');
  row.className = 'row';
  row.style.top = `${place * ROW}px`;
  row.dataset.at = position;
  row.setAttribute('role', 'row');
  row.setAttribute('aria-rowindex', place + 1);
  if (position === 0) {
    row.innerHTML = '<span class="n" role="gridcell">0</span><span class="st" role="gridcell">start</span>';
  } else {
    const [thread, edge, flags, depth] = run.steps[position - 1];
    const before = place > 0 ? run.thread(visible[place - 1]) : -1;
    if (before !== -1 && before !== thread) row.classList.add('cut');
    if (flags & 2) row.classList.add('idle');
    if (flags & 4) row.classList.add('fails');
    row.style.setProperty('--c', colour(thread));
    const lanes = run.ids.slice(0, MAX_LANES).map((id) => {
      const [born, gone] = run.lives.get(id);
      const kinds = ['lane'];
      if (born < position && position <= gone) kinds.push('live');
      if (id === thread) { kinds.push('here'); if (flags & 1) kinds.push('held'); }
      return `<i class="${kinds.join(' ')}" style="--c:${colour(id)}"></i>`;
    }).join('');
    const indent = '  '.repeat(Math.min(depth, 8));
    row.innerHTML = `<span class="n" role="gridcell">${position}</span><span class="lanes" role="gridcell" aria-label="${escape(run.name(thread))}${flags & 1 ? ', atomic' : ''}">${lanes}</span>` +
      `<span class="st" role="gridcell" title="${escape(run.name(thread))}, line ${program.edges[edge][0]}">${indent}${escape(program.edges[edge][2])}</span>` +
      `<span class="what" role="gridcell">${effects(position)}</span>`;
  }
  if (position === at) { row.classList.add('now'); row.setAttribute('aria-selected', 'true'); marked = row; }
  return row;
}

function placeOf(position) {
  let [low, high] = [0, visible.length - 1];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (visible[middle] <= position) low = middle; else high = middle - 1;
  }
  return low;
}

function showRow() {
  const place = placeOf(at);
  const top = place * ROW;
  if (top < scrolled + ROW || top > scrolled + height - 3 * ROW) {
    scrolled = Math.min(Math.max(0, top - height / 2), Math.max(0, visible.length * ROW - height));
    $('list').scrollTop = scrolled;
    draw();
  }
  if (marked) { marked.classList.remove('now'); marked.removeAttribute('aria-selected'); }
  marked = drawn.get(place) || null;
  if (marked && visible[place] === at) { marked.classList.add('now'); marked.setAttribute('aria-selected', 'true'); }
}

/* ---- the program ---- */

let lit = [];
let badges = [];
const lines = $('lines').children;
function showSource() {
  for (const line of lit) line.classList.remove('now');
  for (const badge of badges) badge.textContent = '';
  lit = [];
  badges = [];
  if (at > 0) {
    const [first, last] = program.edges[run.steps[at - 1][1]];
    for (let line = first; line <= last; line++) if (lines[line - 1]) lit.push(lines[line - 1]);
    for (const line of lit) line.classList.add('now');
  }
  for (const [id, , , frames] of run.state(at)[2]) {
    const line = lines[program.locs[frames[frames.length - 1][1]] - 1];
    if (!line) continue;
    const badge = line.firstElementChild;
    if (badge.childElementCount < 3) {
      const mark = document.createElement('span');
      mark.style.color = colour(id);
      mark.title = `${run.name(id)} is here`;
      mark.textContent = `${id}▸`;
      badge.append(mark);
    }
    badges.push(badge);
  }
  if (at > 0) reveal(program.edges[run.steps[at - 1][1]][0]);
}

function reveal(line) {
  const top = (line - 1) * LINE;
  if (top < source.scrolled + LINE || top > source.scrolled + source.height - 3 * LINE) {
    source.scrolled = Math.min(Math.max(0, top - source.height / 2), Math.max(0, lines.length * LINE + 8 - source.height));
    $('lines').scrollTop = source.scrolled;
  }
}

/* ---- the values ---- */

let shape = '';
let cells = [];   // the cells of values in their order, with what they show
let places = [];  // the lines of frames
let pattern = null;

function shown(variable) { return !pattern || pattern.test(variable); }

/* Groups of variables: title, colour, frames and rows. The order of rows is the same as long as the shape is. */
function groups(state) {
  const list = [];
  const rows = (variables, values, key) => variables.map((variable, slot) => [name(variable), values[slot], `${key}.${slot}`, variable]).filter(([variable, , , number]) => shown(variable) && !unseenVars.has(number));
  list.push({ title: program.guarded ? 'variables' : 'shared', rows: rows(program.shared, state[0], 's') });
  for (const [id, kind, vars, frames] of state[2]) {
    if (hidden.has(id) || program.guarded) continue;
    const used = kind < 0 ? [] : program.entries[kind][1];
    const title = `${run.name(id)}${state[1] === id ? ' — atomic' : ''}`;
    const own = rows(program.thread, vars, `t${id}`).filter(([, , key]) => used.includes(program.thread[+key.split('.')[1]]));
    list.push({ title, thread: id, rows: own });
    for (let number = frames.length - 1; number >= 0; number--) {
      const [proc, loc, locals] = frames[number];
      if (unseenProcs.has(proc)) continue;
      const line = program.locs[loc];
      list.push({ frame: program.procs[proc].name, line: line ? `, line ${line}` : '', top: number === frames.length - 1, thread: id,
        rows: rows(program.procs[proc].locals, locals, `l${id}.${number}`) });
    }
  }
  return list;
}

function showState() {
  const list = groups(run.state(at));
  const sketch = list.map((group) => `${group.title || ''}|${group.frame || ''}|${group.rows.map(([n, , k]) => n + k).join()}`).join('/');
  const before = new Map();
  if (at > 0) for (const group of groups(run.state(at - 1))) for (const [, value, key] of group.rows) before.set(key, value);
  if (sketch !== shape) build(list, sketch);
  let cell = 0;
  let frame = 0;
  for (const group of list) {
    if (group.frame !== undefined) {
      const text = places[frame++];
      if (text.textContent !== group.line) text.textContent = group.line;
    }
    for (const [, value, key, variable] of group.rows) {
      const target = cells[cell++];
      const old = before.get(key);
      const now = word(variable, value);
      const text = old !== undefined && old !== value ? `${word(variable, old)} → ${now}` : String(now);
      if (target.text !== text) {
        target.text = text;
        const isNew = text.includes('→');
        target.row.className = isNew ? 'new' : '';
        if (isNew) target.cell.innerHTML = `<span class="was">${escape(word(variable, old))} → </span>${escape(now)}`; else target.cell.textContent = text;
      }
      if (target.value !== value) { target.value = value; target.row.dataset.value = value; }
    }
  }
}

function build(list, sketch) {
  shape = sketch;
  let html = '';
  for (const group of list) {
    if (group.title !== undefined) html += `<h3${group.thread === undefined ? '' : ` style="--c:${colour(group.thread)}"`}>${escape(group.title)}</h3>`;
    if (group.frame !== undefined) html += `<p class="frame${group.top ? ' top' : ''}">${group.top ? '▸ ' : '· '}${escape(group.frame)}<span></span></p>`;
    if (group.rows.length) {
      html += '<table>' + group.rows.map(([variable, , key]) =>
        `<tr data-key="${key}" data-name="${escape(variable)}"><th scope="row"><button type="button" class="name" aria-pressed="${variable === chosen}">${escape(variable)}</button></th><td></td></tr>`).join('') + '</table>';
    }
  }
  $('state').innerHTML = html;
  places = [...$('state').querySelectorAll('.frame span')];
  cells = [...$('state').querySelectorAll('tr')].map((row) => ({ row, cell: row.lastElementChild, text: null }));
}

/* ---- the graph and the rest ---- */

const graph = { edges: new Map(), locs: new Map(), edge: null, at: [] };
for (const edge of document.querySelectorAll('[data-edge]')) graph.edges.set(+edge.dataset.edge, edge);
for (const loc of document.querySelectorAll('[data-loc]')) graph.locs.set(+loc.dataset.loc, loc);

let waiting = false;
/* The graph follows with the next frame: to draw it anew for each of many steps would take longer than the steps. */
function showGraph() {
  if (waiting) return;
  waiting = true;
  requestAnimationFrame(() => { waiting = false; drawGraph(); });
}

function drawGraph() {
  if (graph.edge) graph.edge.classList.remove('now');
  for (const loc of graph.at) loc.classList.remove('at');
  graph.edge = at > 0 ? graph.edges.get(run.steps[at - 1][1]) : null;
  if (graph.edge) graph.edge.classList.add('now');
  graph.at = run.state(at)[2].map(([, , , frames]) => graph.locs.get(frames[frames.length - 1][1])).filter(Boolean);
  for (const loc of graph.at) loc.classList.add('at');
}

const toStart = document.querySelectorAll('[data-do=first], [data-do=back]');
const toEnd = document.querySelectorAll('[data-do=step], [data-do=last]');
function showStatus() {
  $('goto').value = at;
  for (const button of toStart) if (button.disabled !== (at === 0)) button.disabled = at === 0;
  for (const button of toEnd) if (button.disabled !== (at === run.length)) button.disabled = at === run.length;
  if (at === 0) { $('said').textContent = 'Start.'; return; }
  const [thread, edge] = run.steps[at - 1];
  const [line, , text] = program.edges[edge];
  const what = spoken(at);
  const switched = at > 1 && run.thread(at - 1) !== thread ? 'switch to ' : '';
  const who = program.guarded ? '' : `${switched}${run.name(thread)}, `;
  $('said').textContent = `Step ${at}: ${who}line ${line}: ${text}${what ? ` — ${what}` : ''}`;
  $('said').title = $('said').textContent;
}

function choose(variable) {
  chosen = variable;
  $('chosen').value = variable;
  for (const button of document.querySelectorAll('#state button.name')) {
    button.setAttribute('aria-pressed', String(button.textContent === variable));
  }
}

function open(trace) {
  run = new Execution(trace);
  hidden = new Set();
  shape = '';
  $('total').textContent = `of ${run.length}`;
  $('goto').max = run.length;
  const kinds = new Map();
  for (const [id, kind] of run.kept[0][2]) kinds.set(id, kind);
  $('threads').innerHTML = run.ids.length < 2 ? '' : run.ids.map((id) =>
    `<label style="color:${colour(id)}"><input type="checkbox" checked data-thread="${id}"> ${escape(run.name(id))}</label>`).join('');
  const names = new Set();
  for (let position = 1; position <= run.length; position++) {
    const step = run.steps[position - 1];
    if (step[4].some((op) => [0, 2, 6].includes(op[0]))) for (const [variable] of run.changes(position)) names.add(variable);
  }
  $('chosen').innerHTML = [...names].sort().map((variable) => `<option>${escape(variable)}</option>`).join('');
  chosen = $('chosen').value;
  for (const line of lines) line.classList.remove('hit', 'bad');
  for (const edge of graph.edges.values()) edge.classList.remove('path');
  for (const step of run.steps) {
    const line = lines[program.edges[step[1]][0] - 1];
    if (line) line.classList.add('hit');
    const edge = graph.edges.get(step[1]);
    if (edge) edge.classList.add('path');
  }
  const { ending } = trace;
  $('ending').hidden = !ending;
  if (ending) {
    const rows = ending.parts.map(([part, value]) => `<tr><td><code>${escape(part)}</code></td><td><code>${escape(value)}</code></td></tr>`).join('');
    $('ending').innerHTML = `<h2>${escape(ending.title)}</h2><p>${program.guarded ? '' : `${escape(run.name(ending.thread))}, `}<a href="#L${ending.line}">line ${ending.line}</a>: <code>${escape(ending.text)}</code></p>${rows ? `<table>${rows}</table>` : ''}`;
    if (lines[ending.line - 1]) lines[ending.line - 1].classList.add('bad');
  }
  list();
}

function fromAddress() {
  const found = /^#step=(\d+)$/.exec(location.hash);
  return found ? +found[1] : null;
}

/* On paper the steps are a table. */
function print() {
  const rows = [];
  for (let position = 1; position <= Math.min(run.length, 2000); position++) {
    const [thread, edge] = run.steps[position - 1];
    rows.push(`<tr><td>${position}</td><td>${escape(run.name(thread))}</td><td>${program.edges[edge][0]}</td><td><code>${escape(program.edges[edge][2])}</code></td><td>${effects(position)}</td></tr>`);
  }
  const more = run.length > 2000 ? `<p>${run.length - 2000} more steps are not printed.</p>` : '';
  $('paper').innerHTML = `<section><h2>Steps</h2><table class="grid"><thead><tr><th>Step</th><th>Thread</th><th>Line</th><th>Statement</th><th>Effect</th></tr></thead><tbody>${rows.join('')}</tbody></table>${more}</section>`;
}

function act(what, way) {
  if (what === 'help') { $('keys').hidden = !$('keys').hidden; return; }
  go(moves[what](way));
}

const KEYS = {
  ArrowRight: ['step'], j: ['step'], ArrowLeft: ['back'], k: ['back'], Home: ['first'], End: ['last'],
  s: ['switch', 1], S: ['switch', -1], t: ['same', 1], T: ['same', -1], c: ['change', 1], C: ['change', -1], '?': ['help'],
};

function listen() {
  document.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const inField = /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName);
    if (inField) { if (event.key === 'Escape') event.target.blur(); return; }
    if (event.key === 'g') { event.preventDefault(); $('goto').select(); return; }
    if (event.key === '/') { event.preventDefault(); $('filter').focus(); return; }
    if (event.target.id === 'list' && (event.key === 'ArrowDown' || event.key === 'ArrowUp')) {
      event.preventDefault();
      act(event.key === 'ArrowDown' ? 'step' : 'back');
      return;
    }
    const known = KEYS[event.key];
    if (known) { event.preventDefault(); act(...known); }
  });
  document.querySelector('#bar').addEventListener('click', (event) => {
    const button = event.target.closest('[data-do]');
    if (button) act(button.dataset.do, event.shiftKey ? -1 : 1);
  });
  $('list').addEventListener('scroll', () => { scrolled = $('list').scrollTop; draw(); }, { passive: true });
  $('lines').addEventListener('scroll', () => { source.scrolled = $('lines').scrollTop; }, { passive: true });
  $('rows').addEventListener('click', (event) => {
    const row = event.target.closest('.row');
    if (row) go(+row.dataset.at);
  });
  $('goto').addEventListener('change', () => go(Number($('goto').value) || 0));
  $('chosen').addEventListener('change', () => choose($('chosen').value));
  $('state').addEventListener('click', (event) => { if (event.target.matches('button.name')) choose(event.target.textContent); });
  $('filter').addEventListener('input', () => {
    const words = $('filter').value.split(/[\s,]+/).filter(Boolean);
    const quote = (word) => word.replace(/[.+?^${}()|[\]\\]/g, '\\$&').replace(/\*/g, '.*');
    pattern = words.length ? new RegExp(`^(${words.map((word) => (word.includes('*') ? quote(word) : `.*${quote(word)}.*`)).join('|')})$`, 'i') : null;
    showState();
  });
  $('threads').addEventListener('change', (event) => {
    const id = +event.target.dataset.thread;
    if (event.target.checked) hidden.delete(id); else hidden.add(id);
    list();
    go(at);
  });
  $('which').addEventListener('change', () => { open(data.traces[$('which').selectedIndex]); go(run.length); });
  addEventListener('hashchange', () => { const position = fromAddress(); if (position !== null) go(position, true); });
  addEventListener('beforeprint', print);
  new ResizeObserver(() => { height = $('list').clientHeight; draw(); }).observe($('list'));
  new ResizeObserver(() => { source.height = $('lines').clientHeight; }).observe($('lines'));
}

function dress(theme) { document.documentElement.dataset.theme = theme; }
const dark = matchMedia('(prefers-color-scheme: dark)');
/* An editor that shows the page says in which theme; otherwise the system's is followed. */
if (!document.documentElement.dataset.theme) {
  dress(dark.matches ? 'dark' : 'light');
  dark.addEventListener('change', () => dress(dark.matches ? 'dark' : 'light'));
}
const turn = () => dress(document.documentElement.dataset.theme === 'dark' ? 'light' : 'dark');
$('theme').addEventListener('click', turn);
document.addEventListener('keydown', (event) => {
  if (event.key === 'd' && !event.ctrlKey && !event.metaKey && !/^(INPUT|SELECT)$/.test(event.target.tagName)) turn();
});

if (data.traces.length) {
  $('which').hidden = data.traces.length < 2;
  $('which').innerHTML = data.traces.map((trace) => `<option>${escape(trace.title)}</option>`).join('');
  height = $('list').clientHeight;
  open(data.traces[0]);
  listen();
  go(fromAddress() ?? run.length, true);
}
