/* ---- watch expressions ---- */

// From the loosest operators to the tightest, as in Boolean programs and C. `=` and `==` are the same.
const LEVELS = [
  ['->', '=>'], ['||', '|'], ['^'], ['&&', '&'], ['==', '=', '!=', '<=', '>=', '<', '>'], ['+', '-'], ['*', '/', '%'],
];
const SIGNS = ['->', '=>', '||', '&&', '==', '!=', '<=', '>=', ...'|^&=<>+-*/%!()?:'];

const truth = (value) => value !== 0 && value !== '0' && value !== false;
const number = (value) => {
  if (typeof value === 'number') return value;
  if (/^-?\d+$/.test(value)) return Number(value);
  throw new Error(`\`${value}\` is not a number`);
};
const whole0 = (value) => { if (!Number.isFinite(value)) throw new Error('division by zero'); return Math.trunc(value); };
const OPERATORS = {
  '->': (a, b) => +(!truth(a) || truth(b)), '||': (a, b) => +(truth(a) || truth(b)), '^': (a, b) => +(truth(a) !== truth(b)),
  '&&': (a, b) => +(truth(a) && truth(b)), '==': (a, b) => +(String(a) === String(b)), '!=': (a, b) => +(String(a) !== String(b)),
  '<=': (a, b) => +(number(a) <= number(b)), '>=': (a, b) => +(number(a) >= number(b)), '<': (a, b) => +(number(a) < number(b)),
  '>': (a, b) => +(number(a) > number(b)), '+': (a, b) => number(a) + number(b), '-': (a, b) => number(a) - number(b),
  '*': (a, b) => number(a) * number(b), '/': (a, b) => whole0(number(a) / number(b)), '%': (a, b) => whole0(number(a) % number(b)),
};
OPERATORS['=>'] = OPERATORS['->']; OPERATORS['|'] = OPERATORS['||']; OPERATORS['&'] = OPERATORS['&&']; OPERATORS['='] = OPERATORS['=='];

/* The words and signs of an expression. A name may have an index and the name of a thread before it: `worker#2:i`. */
function tokens(text) {
  const found = [];
  let rest = text.trimStart();
  while (rest) {
    const word = /^[A-Za-z_][\w$.]*(#\d+)?(:(?=[A-Za-z_])[A-Za-z_][\w$.]*)?(\[\d+\])*/.exec(rest)?.[0] ?? /^\d+/.exec(rest)?.[0];
    const sign = word ? null : SIGNS.find((one) => rest.startsWith(one));
    if (!word && !sign) throw new Error(`\`${rest[0]}\` is not part of an expression`);
    found.push(word ?? sign);
    rest = rest.slice((word ?? sign).length).trimStart();
  }
  return found;
}

/* Reads an expression: a function from a reader of names to its value. */
function parseExpression(text) {
  const words = tokens(text);
  let place = 0;
  const take = (word) => { if (words[place] !== word) throw new Error(`\`${word}\` expected ${words[place] ? `before \`${words[place]}\`` : 'at the end'}`); place++; };
  const level = (depth) => {
    if (depth === LEVELS.length) return unary();
    let left = level(depth + 1);
    while (LEVELS[depth].includes(words[place])) {
      const sign = words[place++];
      const [first, second] = [left, level(depth + 1)];
      left = (read) => OPERATORS[sign](first(read), second(read));
    }
    return left;
  };
  const choice = () => {
    const condition = level(0);
    if (words[place] !== '?') return condition;
    take('?');
    const first = choice();
    take(':');
    const second = choice();
    return (read) => (truth(condition(read)) ? first(read) : second(read));
  };
  const unary = () => {
    const word = words[place++];
    if (word === undefined) throw new Error('the expression is not complete');
    if (word === '!') { const inner = unary(); return (read) => +!truth(inner(read)); }
    if (word === '-') { const inner = unary(); return (read) => -number(inner(read)); }
    if (word === '(') { const inner = choice(); take(')'); return inner; }
    if (/^\d/.test(word)) return () => Number(word);
    if (word === 'T' || word === 'true') return () => 1;
    if (word === 'F' || word === 'false') return () => 0;
    if (/^\w/.test(word)) return (read) => read(word);
    throw new Error(`\`${word}\` is not a value`);
  };
  const whole = choice();
  if (place < words.length) throw new Error(`\`${words[place]}\` is not expected here`);
  return whole;
}

/* Returns a reader of names in a state: variables of the thread that moves, of the thread before a colon, or shared
   ones. */
function reader(position) {
  const state = run.state(position);
  const value = (variables, values, wanted) => {
    const slot = variables.findIndex((variable) => name(variable) === wanted && !unseenVars.has(variable));
    return slot < 0 ? undefined : word(variables[slot], values[slot]);
  };
  const inThread = (thread, wanted) => {
    if (!thread) return undefined;
    const [, , vars, frames] = thread;
    const [proc, , locals] = frames[frames.length - 1] ?? [];
    return (proc === undefined ? undefined : value(program.procs[proc].locals, locals, wanted)) ?? value(program.thread, vars, wanted);
  };
  return (text) => {
    const [owner, own] = text.includes(':') ? text.split(':') : [null, text];
    const who = (thread) => (owner === null ? thread[0] === run.thread(position) : run.name(thread[0]) === owner);
    const found = inThread(state[2].find(who), own) ?? (owner === null ? value(program.shared, state[0], own) : undefined);
    if (found === undefined) throw new Error(`there is no \`${text}\` here`);
    return found;
  };
}

const watches = []; // text and function, or text and what is wrong with it

function watched(position, { read, problem }) {
  if (problem) return { problem };
  try { return { value: String(read(reader(position))) }; } catch (error) { return { problem: error.message }; }
}

function addWatch(text) {
  if (!text.trim()) return;
  try { watches.push({ text, read: parseExpression(text) }); } catch (error) { watches.push({ text, problem: error.message }); }
  showWatches();
  listChoices();
}

function showWatches() {
  if (watches.length === 0 && $('watches').childElementCount === 0) return;
  const rows = watches.map((watch, index) => {
    const [now, before] = [watched(at, watch), at > 0 ? watched(at - 1, watch) : {}];
    const isNew = now.value !== undefined && before.value !== undefined && now.value !== before.value;
    const value = now.problem ? `<span class="problem">${escape(now.problem)}</span>` : `${isNew ? `<span class="was">${escape(before.value)} → </span>` : ''}${escape(now.value)}`;
    return `<li${isNew ? ' class="new"' : ''}><code>${escape(watch.text)}</code> <span class="value">${value}</span><button type="button" data-drop="${index}" aria-label="Stop watching ${escape(watch.text)}" title="Stop watching">×</button></li>`;
  });
  $('watches').innerHTML = rows.join('');
}
