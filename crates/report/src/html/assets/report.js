/* ---- what is shown ---- */

let run = null;        // the execution
let at = 0;            // the position: the number of steps made
let visible = [];      // the positions in the list
let hidden = new Set();
let chosen = '';
let variables = [];    // those that change
let drawn = new Map(); // rows in the page by their place in the list
let height = 400;
let scrolled = 0;      // how far the list is scrolled: reading it from the page would lay the page out each time
const source = { scrolled: 0, height: 400 };
let folded = new Set();  // the steps whose calls are folded
let calls = new Map();   // for each step that calls something, the last step of the call
const search = { wanted: '', found: new Set(), texts: null };
let marked = null;    // the row of the position

/* Whether a step changes the chosen variable, or the value of the chosen expression. */
function changed(position, wanted) {
  if (position === 0) return false;
  if (!wanted.startsWith('watch ')) return run.changes(position).some(([found]) => found === wanted);
  const watch = watches[+wanted.slice(6)];
  return watch !== undefined && watched(position, watch).value !== watched(position - 1, watch).value;
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
  switch: (way = 1) => seek(at, way, (p) => isListed(p) && run.thread(p) !== run.thread(at)),
  same: (way = 1) => seek(at, way, (p) => isListed(p) && run.thread(p) === run.thread(at)),
  change: (way = 1) => (chosen ? seek(at, way, (p) => isListed(p) && changed(p, chosen)) : at),
};

const isListed = (position) => visible[placeOf(position)] === position;

/* A step to the next position that is in the list. */
function next(way) {
  const place = placeOf(at);
  if (way < 0) return visible[visible[place] < at ? place : Math.max(0, place - 1)];
  return visible[Math.min(visible.length - 1, place + 1)];
}

function go(position, quiet) {
  unhide(Math.min(run.length, Math.max(0, position)));
  at = Math.min(run.length, Math.max(0, position));
  showRow();
  showSource();
  showState();
  showWatches();
  showMatches();
  showGraph();
  showStatus();
  if (!quiet) remember();
}

let late = 0;
/* The address follows with a delay: browsers refuse to rewrite it hundreds of times a second. */
function remember() {
  clearTimeout(late);
  // A page inside of another one has no address of its own.
  if (location.protocol !== 'about:') late = setTimeout(() => history.replaceState(null, '', `#step=${at}`), 150);
}

/* ---- the list of steps ---- */

/* The last step of each call: the steps of the same thread that are deeper follow it, however others interleave. */
function findCalls() {
  calls = new Map();
  const open = new Map();
  run.steps.forEach(([thread, , , depth], index) => {
    if (!open.has(thread)) open.set(thread, []);
    const stack = open.get(thread);
    while (stack.length && stack[stack.length - 1][1] >= depth) stack.pop();
    for (const [position] of stack) calls.set(position, index + 1);
    stack.push([index + 1, depth]);
  });
}

/* The steps of a folded call that are not in the list. The one that fails, and the last one, always are. */
function foldedAway() {
  const away = new Set();
  for (const position of folded) {
    const [thread, , , depth] = run.steps[position - 1];
    for (let inner = position + 1; inner <= calls.get(position); inner++) {
      const step = run.steps[inner - 1];
      if (step[0] === thread && step[3] > depth && !matters(inner)) away.add(inner);
    }
  }
  return away;
}

const matters = (position) => position === run.length || (run.steps[position - 1][2] & 4) !== 0;

function list() {
  visible = [];
  const away = foldedAway();
  for (let position = 0; position <= run.length; position++) {
    if (position === 0 || matters(position) || (!hidden.has(run.thread(position)) && !away.has(position))) visible.push(position);
  }
  $('rows').style.height = `${visible.length * ROW}px`;
  $('time').style.setProperty('--rows', visible.length);
  $('list').setAttribute('aria-rowcount', visible.length);
  redraw();
}

function redraw() {
  for (const row of drawn.values()) row.remove();
  drawn.clear();
  draw();
}

/* Folds a call, or unfolds it; without a step all calls, unless all are folded. */
function fold(position) {
  if (position === undefined) folded = new Set(folded.size < calls.size ? calls.keys() : []);
  else if (!folded.delete(position)) folded.add(position);
  list();
  go(visible[placeOf(at)]);
  showFolds();
}

function showFolds() {
  $('fold').hidden = calls.size === 0;
  $('fold').textContent = folded.size < calls.size ? 'fold calls' : 'unfold calls';
}

/* Takes a position into the list: calls around it are unfolded, and its thread is shown. */
function unhide(position) {
  if (isListed(position)) return;
  hidden.delete(run.thread(position));
  for (const call of [...folded]) if (call < position && position <= calls.get(call)) folded.delete(call);
  for (const box of document.querySelectorAll('#threads input')) box.checked = !hidden.has(+box.dataset.thread);
  list();
  showFolds();
}

/* ---- search over all steps ---- */

function textOf(position) {
  const [thread, edge] = run.steps[position - 1];
  const [line, , text] = program.edges[edge];
  return `${run.name(thread)} line ${line} ${text} ${spoken(position)}`.toLowerCase();
}

function searchFor(text) {
  search.wanted = text.trim().toLowerCase();
  search.texts ??= run.steps.map((_, index) => textOf(index + 1));
  search.found = new Set();
  if (search.wanted) search.texts.forEach((one, index) => { if (one.includes(search.wanted)) search.found.add(index + 1); });
  showMatches();
  redraw();
}

function showMatches() {
  const number = search.found.size;
  const place = search.found.has(at) ? [...search.found].indexOf(at) : -1;
  const text = !search.wanted ? '' : !number ? 'no step' : place < 0 ? `${number} ${number === 1 ? 'step' : 'steps'}` : `${place + 1} of ${number}`;
  if ($('hits').textContent !== text) $('hits').textContent = text;
}

function nextOf(wanted, way = 1) {
  const found = seek(at, way, (position) => position > 0 && wanted(position));
  // From the end the search goes on at the beginning.
  const again = found === at ? seek(way > 0 ? 0 : run.length + 1, way, (position) => position > 0 && wanted(position)) : found;
  if (again > 0 && again <= run.length) { unhide(again); go(again); }
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

/* The length of the longest text about what a step did, among the first and the last steps. */
function widest() {
  let most = 'Changes'.length;
  for (let position = 1; position <= run.length; position++) {
    if (position <= 1000 || position > run.length - 1000) most = Math.max(most, spoken(position).length);
  }
  return most;
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
    row.innerHTML = '<span class="n" role="gridcell">0</span><span class="lanes" role="gridcell"></span><span class="st" role="gridcell">start</span><span class="what" role="gridcell"></span>';
  } else {
    const [thread, edge, flags, depth] = run.steps[position - 1];
    const before = place > 0 ? run.thread(visible[place - 1]) : -1;
    if (before !== -1 && before !== thread) row.classList.add('cut');
    if (flags & 2) row.classList.add('idle');
    if (flags & 4) row.classList.add('fails');
    if (search.wanted && search.found.has(position)) row.classList.add('found');
    row.style.setProperty('--c', colour(thread));
    const lanes = run.ids.slice(0, MAX_LANES).map((id) => {
      const [born, gone] = run.lives.get(id);
      const kinds = ['lane'];
      if (born < position && position <= gone) kinds.push('live');
      if (id === thread) { kinds.push('here'); if (flags & 1) kinds.push('held'); }
      return `<i class="${kinds.join(' ')}" style="--c:${colour(id)}"></i>`;
    }).join('');
    const [line, , text] = program.edges[edge];
    const isFolded = folded.has(position);
    const button = calls.has(position) ? `<button type="button" class="fold" tabindex="-1" data-fold="${position}" aria-expanded="${!isFolded}" aria-label="${isFolded ? 'Unfold' : 'Fold'} the call">${isFolded ? '▸' : '▾'}</button>` : '';
    const inner = isFolded ? ` <span class="more">… ${inside(position)}</span>` : '';
    const title = `${!run.hasLanes || !run.name(thread) ? '' : `${run.name(thread)}, `}line ${line}: ${text}`;
    row.innerHTML = `<span class="n" role="gridcell">${position}</span><span class="lanes" role="gridcell" aria-label="${escape(run.name(thread))}${flags & 1 ? ', atomic' : ''}">${lanes}</span>` +
      `<span class="st" role="gridcell" title="${escape(title)}" style="--d:${Math.min(depth, 8)}">${button}${escape(text)}${inner}</span>` +
      `<span class="what" role="gridcell" title="${escape(spoken(position))}">${effects(position)}</span>`;
  }
  if (position === at) { row.classList.add('now'); row.setAttribute('aria-selected', 'true'); marked = row; }
  return row;
}

/* How many steps a folded call has. */
function inside(position) {
  const [thread, , , depth] = run.steps[position - 1];
  let steps = 0;
  for (let inner = position + 1; inner <= calls.get(position); inner++) steps += run.steps[inner - 1][0] === thread && run.steps[inner - 1][3] > depth;
  return steps === 1 ? '1 step' : `${steps} steps`;
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

/* Lists the steps of a line of the program. */
function showLine(line) {
  const found = [];
  run.steps.forEach((step, index) => {
    const [first, last] = program.edges[step[1]];
    if (first <= line && line <= last) found.push(index + 1);
  });
  for (const old of document.querySelectorAll('#lines li.asked')) old.classList.remove('asked');
  lines[line - 1]?.classList.add('asked');
  const shownSteps = found.slice(0, 200).map((position) => `<button type="button" data-to="${position}" style="color:${colour(run.thread(position))}" title="${escape(run.name(run.thread(position)))}">${position}</button>`);
  const more = found.length > 200 ? ` and ${found.length - 200} more` : '';
  const what = found.length === 0 ? 'no step of this execution' : `${found.length === 1 ? 'step' : `${found.length} steps`}: ${shownSteps.join(' ')}${more}`;
  $('line').innerHTML = `<span>Line ${line}: ${what}</span><button type="button" id="line-close" aria-label="Close" title="Close">×</button>`;
  $('line').hidden = false;
}

function hideLine() {
  $('line').hidden = true;
  for (const old of document.querySelectorAll('#lines li.asked')) old.classList.remove('asked');
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

/* ---- the rest ---- */

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
  const who = !run.hasLanes || !run.name(thread) ? '' : `${switched}${run.name(thread)}, `;
  $('said').textContent = `Step ${at}: ${who}line ${line}: ${text}${what ? ` — ${what}` : ''}`;
  $('said').title = $('said').textContent;
}

/* The variables that change, and the expressions that are watched. */
function listChoices() {
  const options = variables.map((variable) => `<option>${escape(variable)}</option>`);
  const expressions = watches.map(({ text }, index) => `<option value="watch ${index}">${escape(text)}</option>`);
  $('chosen').innerHTML = options.concat(expressions).join('');
  if (chosen) $('chosen').value = chosen;
  chosen = $('chosen').value;
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
  $('time').style.setProperty('--lanes', `${16 * Math.min(run.ids.length, MAX_LANES)}px`);
  $('time').style.setProperty('--what', `${Math.ceil(7.9 * widest())}px`);
  variables = [...names].sort();
  chosen = '';
  listChoices();
  findCalls();
  folded = new Set();
  Object.assign(search, { wanted: '', found: new Set(), texts: null });
  $('search').value = '';
  hideLine();
  showFolds();
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
    $('ending').innerHTML = `<h2>${escape(ending.title)}</h2><p>${program.guarded ? '' : `${escape(run.name(ending.thread))}, `}<a href="#L${ending.line}">${escape(ending.place)}</a>: <code>${escape(ending.text)}</code></p>${rows ? `<table>${rows}</table>` : ''}`;
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
    if (event.key === '/') { event.preventDefault(); $('search').select(); return; }
    if (event.key === 'v') { event.preventDefault(); $('filter').select(); return; }
    if (event.key === 'w') { event.preventDefault(); $('watch').select(); return; }
    if (event.key === 'f') { event.preventDefault(); fold(); return; }
    if (event.key === 'n' || event.key === 'N') { nextOf((position) => search.found.has(position), event.key === 'n' ? 1 : -1); return; }
    if (event.key === 'l' && at > 0) { showLine(program.edges[run.steps[at - 1][1]][0]); return; }
    if (event.key === 'Escape') { hideLine(); return; }
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
    const button = event.target.closest('[data-fold]');
    if (button) { fold(+button.dataset.fold); return; }
    const row = event.target.closest('.row');
    if (row) go(+row.dataset.at);
  });
  $('fold').addEventListener('click', () => fold());
  $('search').addEventListener('input', () => searchFor($('search').value));
  $('search').addEventListener('keydown', (event) => {
    if (event.key === 'Enter') { event.preventDefault(); nextOf((position) => search.found.has(position), event.shiftKey ? -1 : 1); }
  });
  $('lines').addEventListener('click', (event) => {
    const line = event.target.closest('li');
    if (line && getSelection().isCollapsed) showLine(+line.id.slice(1));
  });
  $('line').addEventListener('click', (event) => {
    const button = event.target.closest('button');
    if (button?.dataset.to) go(+button.dataset.to); else if (button) hideLine();
  });
  $('watch').addEventListener('keydown', (event) => {
    if (event.key === 'Enter') { event.preventDefault(); addWatch($('watch').value); $('watch').value = ''; }
  });
  $('watches').addEventListener('click', (event) => {
    const button = event.target.closest('[data-drop]');
    if (!button) return;
    watches.splice(+button.dataset.drop, 1);
    chosen = '';
    showWatches();
    listChoices();
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
    // The last step that is still in the list: `go` would show the thread again.
    go(visible[placeOf(at)]);
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
