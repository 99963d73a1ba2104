// Runs the program of the playground, as the page does, on all programs of some folders that say their verdict in their
// first lines: node playground/trial.mjs PAGE SECONDS FOLDER.. Verdicts must be those, and evidence must be accepted
// again; it is counted how many are not decided within the limit, and the longest time beyond it is told.

import { readFileSync, readdirSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';

import { programOf, read } from './sources.mjs';

const [page, limit, ...folders] = process.argv.slice(2);
const seconds = Number(limit);
const run = new Function(`${read('playground/page/program.js')}; return run;`)();
const module = await WebAssembly.compile(gunzipSync(programOf(page)));
const late = { seconds: 0, name: '' };
function ask(request) {
  const start = performance.now();
  const reply = run(module, JSON.stringify({ ...request, seconds }));
  const over = (performance.now() - start) / 1000 - seconds;
  if (over > late.seconds) Object.assign(late, { seconds: Number(over.toFixed(2)), name: `${request.do} ${request.name}` });
  return reply;
}

const files = folders.flatMap((folder) =>
  readdirSync(folder, { recursive: true }).filter((name) => /\.(bp|c|gcl|tts|spec)$/.test(name)).sort().map((name) => `${folder}/${name}`));
const counts = { right: 0, wrong: 0, undecided: 0, stopped: 0, uncertified: 0 };
for (const name of files) {
  const text = readFileSync(name, 'utf8');
  const expected = /^(?:\/\/|#|--) verdict: (safe|unsafe)$/m.exec(text)?.[1];
  if (!expected) continue;
  const reply = ask({ do: 'check', name, text });
  if (reply.stopped) {
    counts.stopped++;
    console.log(`${name}: stopped: ${reply.stopped.split('\n')[0]}`);
  } else if (reply.problem || reply.verdict === 'unknown') {
    counts.undecided++;
    if (reply.problem) console.log(`${name}: ${reply.problem.split('\n')[0]}`);
  } else if (reply.verdict !== expected) {
    counts.wrong++;
    console.log(`${name}: WRONG: expected ${expected}, but it is ${reply.verdict}`);
  } else {
    counts.right++;
    const judged = reply.kind ? ask({ do: 'verify', name, text, evidence: reply.evidence }) : null;
    if (!judged) counts.uncertified++;
    else if (!judged.accepted) {
      counts.wrong++;
      console.log(`${name}: WRONG: its evidence is not accepted again: ${judged.problem ?? judged.stopped}`);
    }
  }
}
console.log(JSON.stringify({ ...counts, late }));
process.exitCode = counts.wrong > 0 ? 1 : 0;
