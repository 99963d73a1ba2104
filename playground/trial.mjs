// Runs the program of the playground, as the page does, on all programs of some folders that say their verdict in their
// first lines: node playground/trial.mjs FOLDER.. Verdicts must be those, and evidence must be accepted again; it is
// counted how many are not decided in five seconds. `playground/build` makes the program.

import { existsSync, readFileSync, readdirSync } from 'node:fs';

const here = new URL('.', import.meta.url);
const places = ['../target/playground/cargo/', '../target/'].map((target) =>
  new URL(`${target}wasm32-wasip1/release/selvedge-playground.wasm`, here));
const place = places.find(existsSync);
if (!place) throw new Error('there is no program: playground/build makes it');
const run = new Function(`${readFileSync(new URL('page/program.js', here), 'utf8')}; return run;`)();
const module = await WebAssembly.compile(readFileSync(place));
const ask = (request) => run(module, JSON.stringify({ ...request, seconds: 5 }));

const files = process.argv.slice(2).flatMap((folder) =>
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
console.log(JSON.stringify(counts));
process.exitCode = counts.wrong > 0 ? 1 : 0;
