/* ---- the control-flow graph: zoom, pan, search, and the path ---- */

const graph = { edges: new Map(), locs: new Map(), edge: null, at: [], scale: 1, found: [], match: -1 };
for (const edge of document.querySelectorAll('[data-edge]')) graph.edges.set(+edge.dataset.edge, edge);
for (const loc of document.querySelectorAll('[data-loc]')) graph.locs.set(+loc.dataset.loc, loc);
const picture = document.querySelector('#canvas svg');

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
  if (graph.edge && $('follow').checked) bring(graph.edge);
}

/* The size of the picture as it is, and the box of a part of it, in its own units. */
const whole = () => picture.viewBox.baseVal;
function boxOf(part) {
  const shape = part.querySelector('rect') ?? part;
  const [box, frame] = [shape.getBoundingClientRect(), picture.getBoundingClientRect()];
  return { x: (box.left + box.width / 2 - frame.left) / graph.scale, y: (box.top + box.height / 2 - frame.top) / graph.scale };
}

function bring(part) {
  const { x, y } = boxOf(part);
  const canvas = $('canvas');
  canvas.scrollLeft = x * graph.scale - canvas.clientWidth / 2;
  canvas.scrollTop = y * graph.scale - canvas.clientHeight / 2;
}

/* Draws the picture larger or smaller; what is at a point of the canvas stays there. */
function zoom(scale, x = $('canvas').clientWidth / 2, y = $('canvas').clientHeight / 2) {
  const canvas = $('canvas');
  const wanted = Math.min(4, Math.max(0.05, scale));
  const ratio = wanted / graph.scale;
  const [left, top] = [(canvas.scrollLeft + x) * ratio - x, (canvas.scrollTop + y) * ratio - y];
  graph.scale = wanted;
  picture.setAttribute('width', whole().width * wanted);
  picture.setAttribute('height', whole().height * wanted);
  $('zoom').textContent = `${Math.round(100 * wanted)} %`;
  canvas.scrollLeft = left;
  canvas.scrollTop = top;
}

const fit = () => zoom(Math.min(1, $('canvas').clientWidth / whole().width, $('canvas').clientHeight / whole().height));

/* Marks the statements with a text, and brings the next one into view. */
function find(text, way) {
  const wanted = text.trim().toLowerCase();
  if (wanted !== graph.wanted) {
    for (const edge of graph.found) edge.classList.remove('found');
    graph.wanted = wanted;
    graph.match = -1;
    graph.found = wanted ? [...graph.edges.values()].filter((edge) => edge.querySelector('title').textContent.toLowerCase().includes(wanted)) : [];
    for (const edge of graph.found) edge.classList.add('found');
  }
  const number = graph.found.length;
  if (number) {
    graph.match = (graph.match + way + number) % number;
    bring(graph.found[graph.match]);
  }
  $('matches').textContent = !wanted ? '' : number ? `${graph.match + 1} of ${number}` : 'not found';
}

function drag(event) {
  if (event.button !== 0) return;
  const canvas = $('canvas');
  const [x, y, left, top] = [event.clientX, event.clientY, canvas.scrollLeft, canvas.scrollTop];
  const move = ({ clientX, clientY }) => { canvas.scrollLeft = left + x - clientX; canvas.scrollTop = top + y - clientY; };
  const stop = () => { canvas.classList.remove('held'); removeEventListener('pointermove', move); };
  canvas.classList.add('held');
  addEventListener('pointermove', move);
  addEventListener('pointerup', stop, { once: true });
}

if (picture) {
  $('graph-bar').hidden = false;
  $('canvas').addEventListener('pointerdown', drag);
  $('canvas').addEventListener('wheel', (event) => {
    if (!event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    const frame = $('canvas').getBoundingClientRect();
    zoom(graph.scale * (event.deltaY < 0 ? 1.15 : 1 / 1.15), event.clientX - frame.left, event.clientY - frame.top);
  }, { passive: false });
  $('larger').addEventListener('click', () => zoom(graph.scale * 1.25));
  $('smaller').addEventListener('click', () => zoom(graph.scale / 1.25));
  $('fit').addEventListener('click', fit);
  $('zoom').addEventListener('click', () => zoom(1));
  $('find').addEventListener('input', () => find($('find').value, 1));
  $('find').addEventListener('keydown', (event) => {
    if (event.key === 'Enter') { event.preventDefault(); find($('find').value, event.shiftKey ? -1 : 1); }
  });
  $('canvas').addEventListener('dblclick', (event) => {
    const edge = event.target.closest('[data-edge]');
    if (run && edge) nextOf((position) => run.steps[position - 1][1] === +edge.dataset.edge);
  });
  if (whole().width > $('canvas').clientWidth) zoom(Math.max(0.5, Math.min(1, $('canvas').clientWidth / whole().width)));
}
