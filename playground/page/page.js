// The page: an editor, a worker that runs the program, and the report of its answer. An address after `#` names an
// example (`#example=lock.bp`) or holds a program with its settings, compressed (`#program=..`).

const el = (id) => document.getElementById(id);
const examples = JSON.parse(el('examples').textContent);
const settings = ['name', 'threads', 'errors', 'seconds'];
// What the tests read: milliseconds from the start of the page until it is ready, and of the last request.
const times = { ready: null, request: null };

let worker = null;
let module = null;
let began = null;
// What was dropped to be verified: the name and the text.
let evidence = null;

// Returns the bytes of a text in base64.
const decoded = (text) => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));

async function streamed(bytes, stream) {
  return new Uint8Array(await new Response(new Blob([bytes]).stream().pipeThrough(stream)).arrayBuffer());
}

// Makes the worker. It is made anew after it was stopped.
function employ() {
  const script = new Blob([el('worker').textContent], { type: 'text/javascript' });
  const address = URL.createObjectURL(script);
  worker = new Worker(address);
  URL.revokeObjectURL(address);
}

// Sends a request to the worker. Returns the reply; null if it was stopped. An engine in the middle of something long
// does not notice its limit: it is stopped after a while.
const PATIENCE = 2000;
let settle = null;
function ask(request) {
  busy(true);
  began = performance.now();
  const late = { stopped: `the limit of ${request.seconds} s is reached` };
  const timer = setTimeout(() => stop(late), 1000 * request.seconds + PATIENCE);
  return new Promise((resolve) => {
    settle = resolve;
    worker.onmessage = ({ data }) => resolve(data);
    worker.onerror = (event) => resolve({ stopped: event.message });
    worker.postMessage({ module, request: JSON.stringify(request) });
  }).then((reply) => {
    settle = null;
    clearTimeout(timer);
    times.request = performance.now() - began;
    busy(false);
    return reply;
  });
}

function stop(reply) {
  if (!settle) return;
  worker.terminate();
  employ();
  settle(reply);
}

function busy(is) {
  el('check').disabled = is;
  el('stop').disabled = !is;
  el('verify').disabled = is || !evidence;
}

// Returns the request about the program in the editor.
function request(task) {
  const errors = el('errors').value;
  const asked = { do: task, name: el('name').value || 'program.bp', text: el('text').value, seconds: Number(el('seconds').value) || 30 };
  if (el('threads').value) asked.threads = Number(el('threads').value);
  const isC = /\.[ci]$/.test(asked.name);
  if (errors === 'deadlock' && !isC) asked.deadlock = true;
  else if (errors) asked.properties = [errors];
  return asked;
}

function say(text, tone) {
  el('said').textContent = text;
  el('said').className = tone ?? '';
}

// Shows what is wrong with the program, with its lines marked in the editor.
function showProblems(list) {
  el('problems').hidden = list.length === 0;
  el('problems').replaceChildren(...list.map(({ line, text }) => {
    const item = document.createElement('li');
    item.textContent = text;
    item.onclick = () => goTo(line);
    return item;
  }));
  number(new Set(list.map(({ line }) => line)));
}

function goTo(line) {
  const lines = el('text').value.split('\n');
  const start = lines.slice(0, line - 1).reduce((sum, text) => sum + text.length + 1, 0);
  el('text').focus();
  el('text').setSelectionRange(start, start + (lines[line - 1] ?? '').length);
}

// Numbers the lines.
function number(wrong = new Set()) {
  const count = el('text').value.split('\n').length;
  el('gutter').replaceChildren(...Array.from({ length: count }, (_, at) => {
    const line = document.createElement('b');
    line.textContent = at + 1;
    if (wrong.has(at + 1)) line.className = 'wrong';
    return line;
  }));
  el('gutter').scrollTop = el('text').scrollTop;
}

function showReport(html) {
  el('hints').hidden = true;
  el('report').hidden = !html;
  if (html) el('report').srcdoc = html;
}

// Offers texts to be saved, each with the name of its file.
let offered = [];
function offer(list) {
  offered.forEach(URL.revokeObjectURL);
  offered = [];
  el('saves').hidden = list.length === 0;
  el('saves').replaceChildren(...list.map(([words, name, type, text]) => {
    const link = document.createElement('a');
    link.textContent = words;
    link.download = name;
    link.href = URL.createObjectURL(new Blob([text], { type }));
    offered.push(link.href);
    return link;
  }));
}

// Returns the words about a request that has no answer; the list of problems has the details.
function failed(reply) {
  offer([]);
  if (reply === null) say('Stopped.', 'unknown');
  else if (reply.stopped) say(`Unknown: ${reply.stopped}.`, 'unknown');
  else return false;
  showProblems([]);
  showReport(null);
  return true;
}

async function check() {
  if (settle || !module) return;
  say('Checking ..');
  showProblems([]);
  const asked = request('check');
  const reply = await ask(asked);
  if (failed(reply)) return;
  if (reply.problem) return refuse(reply);
  showProblems(reply.diagnostics);
  say(`${reply.headline} (${reply.engine || 'no engine'}, ${(times.request / 1000).toFixed(2)} s)`, reply.verdict);
  showReport(reply.html);
  const base = asked.name.replace(/\.\w+$/, '');
  const saves = [['Save the report', `${base}.html`, 'text/html', reply.html]];
  if (reply.kind) {
    take(`${base}.${reply.kind}.json`, reply.evidence);
    saves.push([`Save the ${reply.kind}`, `${base}.${reply.kind}.json`, 'application/json', reply.evidence]);
  }
  offer(saves);
}

function refuse({ problem, diagnostics }) {
  const list = diagnostics ?? [];
  say(list.length === 0 ? problem : list.length === 1 ? 'The program has a mistake.' : 'The program has mistakes.', 'unsafe');
  showProblems(list);
  showReport(null);
}

async function verify() {
  if (settle || !module || !evidence) return;
  say('Judging ..');
  showProblems([]);
  const reply = await ask({ ...request('verify'), evidence: evidence.text });
  if (failed(reply)) return;
  showReport(null);
  if (reply.accepted) say(`${reply.accepted} (${evidence.name}, ${(times.request / 1000).toFixed(2)} s)`, 'safe');
  else if (reply.diagnostics?.length) refuse(reply);
  else say(`Rejected: ${reply.problem}`, 'unsafe');
}

// Takes a piece of evidence to be verified.
function take(name, text) {
  evidence = { name, text };
  el('evidence').textContent = name;
  el('verify').disabled = Boolean(settle);
}

// Takes files: what is JSON is evidence, everything else a program.
async function takeFiles(files) {
  for (const file of files) {
    const text = await file.text();
    if (/^\s*\{/.test(text) && isJson(text)) take(file.name, text);
    else open({ name: file.name, text });
  }
}

function isJson(text) {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

// Opens a program with its settings.
function open(program) {
  for (const id of settings) el(id).value = program[id] ?? (id === 'seconds' ? 30 : '');
  el('text').value = program.text;
  el('text').scrollTop = 0;
  const same = Object.entries(examples).find(([, text]) => text === program.text);
  el('example').value = same?.[0] ?? '';
  showProblems([]);
}

async function share() {
  const program = Object.fromEntries(settings.map((id) => [id, el(id).value]));
  const bytes = new TextEncoder().encode(JSON.stringify({ ...program, text: el('text').value }));
  const packed = await streamed(bytes, new CompressionStream('deflate-raw'));
  const letters = Array.from(packed, (byte) => String.fromCharCode(byte)).join('');
  location.hash = `program=${btoa(letters).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')}`;
  const copied = await navigator.clipboard?.writeText(location.href).then(() => true, () => false);
  say(copied ? 'The address of this page, which is copied, has the program.' : 'The address of this page has the program.');
}

// Opens what the address names.
async function openAddress() {
  const [, kind, value] = /^#(\w+)=(.*)$/.exec(location.hash) ?? [];
  const example = decodeURIComponent(value ?? '');
  if (kind === 'example' && Object.hasOwn(examples, example)) return openExample(example);
  if (kind === 'program') {
    try {
      const packed = decoded(value.replaceAll('-', '+').replaceAll('_', '/'));
      const bytes = await streamed(packed, new DecompressionStream('deflate-raw'));
      return open(JSON.parse(new TextDecoder().decode(bytes)));
    } catch {
      say('The address has no program: it is damaged or cut off.', 'unknown');
    }
  }
  openExample('lock.bp');
}

function openExample(name) {
  open({ name: name.split('/').pop(), text: examples[name] });
}

function listen() {
  el('check').onclick = check;
  el('stop').onclick = () => stop(null);
  el('share').onclick = share;
  el('verify').onclick = verify;
  el('example').onchange = () => { if (el('example').value) location.hash = `example=${el('example').value}`; };
  el('file').onchange = () => takeFiles(el('file').files);
  el('theme').onclick = () => {
    const root = document.documentElement;
    root.dataset.theme = root.dataset.theme === 'dark' ? 'light' : 'dark';
  };
  el('text').oninput = () => {
    el('example').value = '';
    number();
  };
  el('text').onscroll = () => { el('gutter').scrollTop = el('text').scrollTop; };
  onhashchange = openAddress;
  onkeydown = (event) => {
    if ((event.ctrlKey || event.metaKey) && event.key === 'Enter') check();
  };
  ondragover = (event) => {
    event.preventDefault();
    document.body.classList.add('over');
  };
  ondragleave = () => document.body.classList.remove('over');
  ondrop = (event) => {
    event.preventDefault();
    document.body.classList.remove('over');
    takeFiles(event.dataTransfer.files);
  };
}

async function start() {
  if (matchMedia('(prefers-color-scheme: dark)').matches) document.documentElement.dataset.theme = 'dark';
  el('example').append(new Option('your own', '', true), ...Object.keys(examples).map((name) => new Option(name, name)));
  listen();
  await openAddress();
  busy(true);
  el('stop').disabled = true;
  try {
    module = await WebAssembly.compile(await streamed(decoded(el('module').textContent.trim()), new DecompressionStream('gzip')));
  } catch (error) {
    return say(`This browser cannot run the program: ${error.message}`, 'unknown');
  }
  employ();
  busy(false);
  times.ready = performance.now();
  if (el('said').textContent.startsWith('Loading')) say('Ready.');
}

start();
