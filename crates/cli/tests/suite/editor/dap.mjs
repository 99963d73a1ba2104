// A session with the debug adapter, by the client that the protocol's makers publish for tests.
// Arguments: the program selvedge, the folder of packages, the folder of the project.

import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { createRequire } from 'node:module';

const [selvedge, modules, root] = process.argv.slice(2);
const { DebugClient } = createRequire(`${modules}/`)('@vscode/debugadapter-testsupport');
const program = `${root}/examples/bluetooth.bp`;

const client = new DebugClient(selvedge, 'dap', 'selvedge', { cwd: root });
await client.start();

const stopped = (request) => Promise.all([client.waitForEvent('stopped', 60000), request]).then(([event]) => event.body);
const top = async (threadId) => (await client.stackTraceRequest({ threadId })).body.stackFrames[0];
const evaluate = async (expression, frameId) => (await client.evaluateRequest({ expression, frameId })).body.result;

async function everything() {
  const all = {};
  for (const { id, name } of (await client.threadsRequest()).body.threads) {
    const { stackFrames } = (await client.stackTraceRequest({ threadId: id })).body;
    all[name] = [];
    for (const frame of stackFrames) {
      const scopes = (await client.scopesRequest({ frameId: frame.id })).body.scopes;
      const values = {};
      for (const scope of scopes) {
        const { variables } = (await client.variablesRequest({ variablesReference: scope.variablesReference })).body;
        values[scope.name] = variables.map(({ name, value }) => `${name}=${value}`);
      }
      all[name].push([frame.name, frame.line, values]);
    }
  }
  return all;
}

// Launch: the error is found, and the walk begins at the start.
const { body: able } = await client.initializeRequest();
assert.equal(able.supportsStepBack, true);

// The table of capabilities is what the adapter announces.
const rows = readFileSync(`${root}/docs/editors.md`, 'utf8').split('## The debug adapter')[1].split('\n');
const listed = rows.map((row) => row.split('|').map((cell) => cell.trim())).filter((row) => /^`supports\w+`$/.test(row[2]));
const announced = Object.keys(able).filter((name) => able[name] === true);
assert.deepEqual(listed.filter((row) => row[3] !== 'no').map((row) => row[2].slice(1, -1)).sort(), announced.sort());

await Promise.all([client.waitForEvent('initialized', 60000), client.launchRequest({ program, threads: 3 })]);
const set = await client.setBreakpointsRequest({ source: { path: program }, breakpoints: [{ line: 32, condition: 'stopped' }, { line: 1 }] });
assert.deepEqual(set.body.breakpoints.map((one) => one.verified), [true, false]);
const entry = await stopped(client.configurationDoneRequest());
assert.equal(entry.reason, 'entry');
const threadEvents = [];
client.on('thread', ({ body }) => threadEvents.push(body));
const outputs = [];
client.on('output', ({ body }) => outputs.push(body));

// Step and step back: everything is as it was.
const before = await everything();
await stopped(client.stepInRequest({ threadId: entry.threadId }));
const between = await everything();
assert.notDeepEqual(between, before);
const back = await stopped(client.stepBackRequest({ threadId: entry.threadId }));
assert.equal(back.reason, 'step');
assert.deepEqual(await everything(), before);

// A call is stepped into, over and out of.
const steps = async (request, threadId) => { const stop = await stopped(request({ threadId })); return top(stop.threadId); };
await client.setFunctionBreakpointsRequest({ breakpoints: [{ name: 'adder.main' }] });
const main = await stopped(client.continueRequest({ threadId: entry.threadId }));
assert.equal(main.reason, 'function breakpoint');
const adder = main.threadId;
assert.equal((await top(adder)).line, 28);
assert.equal((await steps((a) => client.stepInRequest(a), adder)).name, 'increment');
assert.equal((await steps((a) => client.stepOutRequest(a), adder)).name, 'adder.main');
assert.equal((await top(adder)).line, 29);
await steps((a) => client.stepBackRequest(a), adder);
await steps((a) => client.stepBackRequest(a), adder);
await steps((a) => client.stepBackRequest(a), adder);
assert.equal((await top(adder)).line, 28);
assert.equal((await steps((a) => client.nextRequest(a), adder)).line, 29);

// The condition of a breakpoint is read in its frame.
const hit = await stopped(client.continueRequest({ threadId: adder }));
assert.equal(hit.reason, 'breakpoint');
assert.equal((await top(hit.threadId)).line, 32);
assert.equal(await evaluate('stopped & event & !(p2 | p1 | p0)'), '1');
await assert.rejects(evaluate('nonsense'), /nonsense/);

// The error is an exception that explains itself.
const error = await stopped(client.continueRequest({ threadId: adder }));
assert.equal(error.reason, 'exception');
const { body: info } = await client.exceptionInfoRequest({ threadId: error.threadId });
assert.equal(info.exceptionId, 'assertion');
assert.match(info.description, /stopped = 1/);

// Backwards to the write of a variable: the step that makes it is next.
const { body: data } = await client.dataBreakpointInfoRequest({ name: 'stopped' });
await client.setBreakpointsRequest({ source: { path: program }, breakpoints: [] });
await client.setFunctionBreakpointsRequest({ breakpoints: [] });
await client.setDataBreakpointsRequest({ breakpoints: [{ dataId: data.dataId }] });
const written = await stopped(client.reverseContinueRequest({ threadId: error.threadId }));
assert.equal(written.reason, 'data breakpoint');
assert.equal((await top(written.threadId)).line, 43);
assert.equal(await evaluate('stopped'), '0');
await stopped(client.stepInRequest({ threadId: written.threadId }));
assert.equal(await evaluate('stopped'), '1');

// Jump to a line.
const { body: { targets } } = await client.gotoTargetsRequest({ source: { path: program }, line: 40 });
assert.equal(targets.length, 2, 'two stoppers pass the line');
await stopped(client.gotoRequest({ threadId: 1, targetId: targets[0].id }));
assert.equal(await evaluate('stopping'), '0');
const start = await stopped(client.reverseContinueRequest({ threadId: 1 }));
assert.ok(start.reason === 'entry' || start.reason === 'data breakpoint');

// Hits have numbers in the whole execution, forwards and backwards.
const text = readFileSync(program, 'utf8').split('\n');
const lineOf = (part) => text.findIndex((one) => one.includes(part)) + 1;
const breakAt = async (part, more) => {
  const { body } = await client.setBreakpointsRequest({ source: { path: program }, breakpoints: [{ line: lineOf(part), ...more }] });
  return body.breakpoints[0];
};
await client.setDataBreakpointsRequest({ breakpoints: [] });
const backwards = () => stopped(client.reverseContinueRequest({ threadId: 1 }));
const rewind = async () => { while ((await backwards()).reason !== 'entry'); };
const forth = () => stopped(client.continueRequest({ threadId: 1 }));
const count = async (more) => {
  await breakAt('stopping := 1', more);
  await rewind();
  let hits = 0;
  while ((await forth()).reason === 'breakpoint') hits += 1;
  return hits;
};
assert.equal(await count({}), 2, 'two stoppers');
assert.equal(await count({ hitCondition: '2' }), 1);
assert.equal(await count({ hitCondition: '> 2' }), 0);
assert.equal(await count({ hitCondition: '% 2' }), 1);
assert.equal((await stopped(client.reverseContinueRequest({ threadId: 1 }))).reason, 'breakpoint', 'the second hit backwards, too');
assert.equal(await evaluate('stopping'), '1', 'the first stopper was there before');
const unknownHits = await breakAt('stopping := 1', { hitCondition: 'often' });
assert.equal(unknownHits.verified, false);
assert.match(unknownHits.message, /number of hits/);

// Conditions, messages and watches with unknown variables are refused, with a suggestion.
const misspelled = await breakAt('stopping := 1', { condition: 'stoping' });
assert.equal(misspelled.verified, false);
assert.match(misspelled.message, /no variable `stoping`: did you mean `stopping`\?/);
await assert.rejects(evaluate('stoping'), /did you mean `stopping`/);

// A message is written where it is passed, and nothing stops.
assert.equal((await breakAt('stopped := 1', { logMessage: 'counts \\{{p2}{p1}{p0}} when event={event & !stopped}' })).verified, true);
await rewind();
outputs.length = 0;
assert.equal((await forth()).reason, 'exception');
assert.deepEqual(outputs.map((one) => [one.category, one.output, one.line]), [['console', 'counts {000} when event=1\n', lineOf('stopped := 1')]]);
assert.match((await breakAt('stopped := 1', { logMessage: '{nonsense}' })).message, /nonsense/);
assert.match((await breakAt('stopped := 1', { logMessage: 'open {p0' })).message, /no `}`/);

// Breakpoints belong to their file.
const elsewhere = await client.setBreakpointsRequest({ source: { path: `${root}/examples/lock.bp` }, breakpoints: [{ line: lineOf('stopping := 1') }] });
assert.equal(elsewhere.body.breakpoints[0].verified, false);
await breakAt('stopping := 1', {});
await client.setBreakpointsRequest({ source: { path: `${root}/examples/lock.bp` }, breakpoints: [] });
await rewind();
assert.equal((await forth()).reason, 'breakpoint', 'those of another file are replaced alone');

// Completion of variables, where they are typed.
const completed = async (text, column = text.length + 1) => (await client.customRequest('completions', { text, column })).body.targets;
assert.deepEqual((await completed('!sto')).map(({ label, start, length }) => [label, start, length]), [['stopped', 1, 3], ['stopping', 1, 3]]);
assert.deepEqual((await completed('sto & p', 8)).map(({ label }) => label), ['p0', 'p1', 'p2']);
assert.deepEqual(await completed('nothing'), []);

// Restart: a new execution for the same question, with the same breakpoints.
threadEvents.length = 0;
const [again] = await Promise.all([client.waitForEvent('stopped', 60000), client.customRequest('restart', {})]);
assert.equal(again.body.reason, 'entry');
const alive = (await client.threadsRequest()).body.threads;
assert.deepEqual(threadEvents, alive.map(({ id }) => ({ reason: 'started', threadId: id })));
assert.deepEqual(await everything(), before);
assert.equal((await forth()).reason, 'breakpoint');
assert.equal((await top(1 + 1)).line > 0, true);
await client.disconnectRequest();

// Threads that are created and end are told of in both directions; lines may be counted from 0.
const spawning = new DebugClient(selvedge, 'dap', 'selvedge', { cwd: root });
await spawning.start();
const lives = [];
spawning.on('thread', ({ body }) => lives.push(`${body.reason} ${body.threadId}`));
await spawning.initializeRequest({ adapterID: 'selvedge', linesStartAt1: false, columnsStartAt1: false, pathFormat: 'path' });
const created = `${root}/examples/c/once_broken.c`;
await assert.rejects(spawning.launchRequest({ program: created, engine: 'nonsense' }), /no engine `nonsense`/);
await assert.rejects(spawning.launchRequest({ program: created, contexts: 0 }), /`contexts` must be a number/);
await assert.rejects(spawning.launchRequest({ program: created, property: 'races' }), /no property `races`/);
await Promise.all([spawning.waitForEvent('initialized', 60000), spawning.launchRequest({ program: created, timeLimit: 60 })]);
const goes = (request) => Promise.all([spawning.waitForEvent('stopped', 60000), request]).then(([event]) => event.body);
await goes(spawning.configurationDoneRequest());
assert.deepEqual(lives, ['started 1']);
const mainFrames = (await spawning.stackTraceRequest({ threadId: 1 })).body.stackFrames;
const inMain = readFileSync(created, 'utf8').split('\n').findIndex((one) => one.includes('pthread_t one'));
assert.equal(mainFrames[0].line, inMain, 'from 0');
await goes(spawning.continueRequest({ threadId: 1 }));
assert.deepEqual(lives, ['started 1', 'started 2', 'started 3']);
await goes(spawning.reverseContinueRequest({ threadId: 1 }));
assert.deepEqual(lives.slice(3).sort(), ['exited 2', 'exited 3']);
await spawning.disconnectRequest();

// A check that takes long is ended by the client, and says so.
const slow = new DebugClient(selvedge, 'dap', 'selvedge', { cwd: root });
await slow.start();
await slow.initializeRequest();
const names = Array.from({ length: 14 }, (_, number) => `x${number}`);
const folder = mkdtempSync(`${tmpdir()}/selvedge-`);
writeFileSync(`${folder}/hard.bp`, `decl ${names.join(', ')};\nvoid main() begin\n  while * do\n    start_thread work;\n  od;\n  end_thread;\nwork:\n` +
  names.map((name, number) => `  ${name} := ${names[(number + 1) % 14]} ^ ${names[(number * 5 + 3) % 14]} ^ *;\n`).join('') +
  `  if ${names.join(' & ')} then\n    goto work;\n  fi;\n  assert(1);\nend\n`);
const launching = slow.launchRequest({ program: `${folder}/hard.bp` }).then(() => 'decided', (error) => error.message);
await slow.customRequest('cancel', {});
assert.match(await launching, /cancelled|decided/);
const limited = slow.launchRequest({ program: `${folder}/hard.bp`, timeLimit: 0.2 });
await Promise.all([slow.waitForEvent('terminated', 60000), limited]);
await slow.disconnectRequest();
rmSync(folder, { recursive: true });

// A safe program has nothing to walk through; one that is not there is an error.
const second = new DebugClient(selvedge, 'dap', 'selvedge', { cwd: root });
await second.start();
await second.initializeRequest();
await assert.rejects(second.launchRequest({ program: `${root}/examples/none.bp` }), /cannot read/);
await Promise.all([second.waitForEvent('terminated', 60000), second.launchRequest({ program: `${root}/examples/lock_fixed.bp` })]);
await second.disconnectRequest();

// A program in C: statements forwards and backwards, with values and locks as in the source.
const third = new DebugClient(selvedge, 'dap', 'selvedge', { cwd: root });
await third.start();
await third.initializeRequest();
const inC = `${root}/examples/c/once_broken.c`;
await Promise.all([third.waitForEvent('initialized', 60000), third.launchRequest({ program: inC })]);
const halted = (request) => Promise.all([third.waitForEvent('stopped', 60000), request]).then(([event]) => event.body);
const early = readFileSync(inC, 'utf8').split('\n').findIndex((line) => line.includes('// too early')) + 1;
await third.setBreakpointsRequest({ source: { path: inC }, breakpoints: [{ line: early }] });
const first = await halted(third.configurationDoneRequest());
const shared = async (threadId) => {
  const { stackFrames } = (await third.stackTraceRequest({ threadId })).body;
  const { scopes } = (await third.scopesRequest({ frameId: stackFrames[0].id })).body;
  const { variablesReference } = scopes.find((scope) => scope.name === 'Shared');
  const { variables } = (await third.variablesRequest({ variablesReference })).body;
  return [stackFrames.map((frame) => `${frame.name}:${frame.line}`), Object.fromEntries(variables.map((one) => [one.name, one.value]))];
};
const begun = await shared(first.threadId);
assert.deepEqual(begun[1], { 'settings.port': '0', 'settings.limit': '0', ready: '0', lock: 'free' });
const held = await halted(third.continueRequest({ threadId: first.threadId }));
assert.equal(held.reason, 'breakpoint');
const [frames, values] = await shared(held.threadId);
assert.equal(frames[0], `get_settings:${early}`);
assert.match(frames[1], /^client:/);
assert.equal(frames.length, 2, 'the procedure around the thread is not shown');
const { threads } = (await third.threadsRequest()).body;
assert.deepEqual(threads.map((one) => one.name), ['main', 'client#1', 'client#2']);
const owner = threads.find((one) => one.id === held.threadId).name;
assert.deepEqual(values, { 'settings.port': '8080', 'settings.limit': '0', ready: '0', lock: `held by ${owner}` });
await halted(third.stepInRequest({ threadId: held.threadId }));
assert.equal((await shared(held.threadId))[1].ready, '1');
await halted(third.stepBackRequest({ threadId: held.threadId }));
assert.deepEqual(await shared(held.threadId), [frames, values]);
const failed = await halted(third.continueRequest({ threadId: held.threadId }));
assert.equal(failed.reason, 'exception');
const begin = await halted(third.reverseContinueRequest({ threadId: failed.threadId }));
assert.equal(begin.reason, 'breakpoint');
await halted(third.reverseContinueRequest({ threadId: failed.threadId }));
assert.deepEqual(await shared(1), begun);
await third.disconnectRequest();
process.exit(0);
