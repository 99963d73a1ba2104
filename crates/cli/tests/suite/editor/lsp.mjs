// A session with the language server, by the protocol's own client library.
// Arguments: the program selvedge, the folder of packages, the folder of the project.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

const [selvedge, modules, root] = process.argv.slice(2);
const require = createRequire(`${modules}/`);
const rpc = require('vscode-jsonrpc/node');
const protocol = require('vscode-languageserver-protocol/node');

const child = spawn(selvedge, ['lsp'], { cwd: root, stdio: ['pipe', 'pipe', 'inherit'] });
const server = rpc.createMessageConnection(new rpc.StreamMessageReader(child.stdout), new rpc.StreamMessageWriter(child.stdin));
const published = [];
let wake = () => {};
server.onNotification(protocol.PublishDiagnosticsNotification.type, (params) => { published.push(params); wake(); });
const progress = [];
server.onNotification('$/progress', (params) => { progress.push(params.value.kind); wake(); });
server.listen();
const until = async (done) => { while (!done()) await new Promise((resolve) => { wake = resolve; setTimeout(resolve, 50); }); };

const { capabilities } = await server.sendRequest(protocol.InitializeRequest.type, { processId: null, rootUri: null, capabilities: {} });
assert.equal(capabilities.definitionProvider, true);
await server.sendNotification(protocol.InitializedNotification.type, {});

// Open: no errors.
const uri = String(pathToFileURL(`${root}/examples/bluetooth.bp`));
const text = readFileSync(`${root}/examples/bluetooth.bp`, 'utf8');
const textDocument = { uri };
await server.sendNotification(protocol.DidOpenTextDocumentNotification.type, { textDocument: { uri, languageId: 'bp', version: 1, text } });
await until(() => published.length === 1);
assert.deepEqual(published[0].diagnostics.filter((found) => found.severity === 1), []);

// Edit with an error: it is shown at its place; then it goes away again.
const edit = (version, changed) => server.sendNotification(protocol.DidChangeTextDocumentNotification.type, { textDocument: { uri, version }, contentChanges: [{ text: changed }] });
await edit(2, text.replace('stopped := 1', 'stoped := 1'));
await until(() => published.length === 2);
const [wrong] = published[1].diagnostics.filter((found) => found.severity === 1);
assert.match(wrong.message, /stoped/);
assert.match(wrong.code, /^SV\d+$/);
const line = text.split('\n').findIndex((one) => one.includes('stopped := 1'));
assert.equal(wrong.range.start.line, line);
await edit(3, text);
await until(() => published.length === 3);
assert.deepEqual(published[2].diagnostics.filter((found) => found.severity === 1), []);

// Format: what is out of shape comes back in shape, what is in shape stays.
const options = { tabSize: 2, insertSpaces: true };
assert.deepEqual(await server.sendRequest(protocol.DocumentFormattingRequest.type, { textDocument, options }), []);
await edit(4, text.replace('    stopped := 1;', 'stopped   :=   1;'));
const [formatted] = await server.sendRequest(protocol.DocumentFormattingRequest.type, { textDocument, options });
assert.equal(formatted.newText, text);
await edit(5, text);

// Definition, references, hover, outline.
const use = text.split('\n').findIndex((one) => one.includes('if stopping then'));
const position = { line: use, character: '    if sto'.length };
const definition = await server.sendRequest(protocol.DefinitionRequest.type, { textDocument, position });
const declared = text.split('\n').findIndex((one) => one.startsWith('shared decl stopping'));
assert.equal(definition.range.start.line, declared);
const references = await server.sendRequest(protocol.ReferencesRequest.type, { textDocument, position, context: { includeDeclaration: true } });
assert.equal(references.length, text.split('\n').filter((one) => /\bstopping\b/.test(one) && !one.startsWith('//')).length);
const count = text.split('\n').findIndex((one) => one.startsWith('shared decl p2'));
const hover = await server.sendRequest(protocol.HoverRequest.type, { textDocument, position: { line: count, character: 'shared decl p'.length } });
assert.match(hover.contents.value, /shared variable/);
assert.match(hover.contents.value, /The count/, 'the comment of the declaration is shown');
const call = text.split('\n').findIndex((one) => one.trim() === 'increment();');
const callee = await server.sendRequest(protocol.DefinitionRequest.type, { textDocument, position: { line: call, character: 6 } });
assert.equal(callee.range.start.line, text.split('\n').findIndex((one) => one.startsWith('void increment')));
const symbols = await server.sendRequest(protocol.DocumentSymbolRequest.type, { textDocument });
assert.deepEqual(symbols.filter((one) => one.kind === 5).map((one) => [one.name, one.children.map((child) => child.name)]), [['adder', ['main']], ['stopper', ['main']]]);

// The lens is run: the program is unsafe, and there is progress.
const lenses = await server.sendRequest(protocol.CodeLensRequest.type, { textDocument });
assert.deepEqual(lenses.map((lens) => lens.command.title), ['Check', 'Debug', 'Check this', 'Debug this']);
const asserted = text.split('\n').findIndex((one) => one.includes('assert('));
assert.deepEqual(lenses[3].command.arguments, [{ program: `${root}/examples/bluetooth.bp`, assertion: String(asserted + 1) }]);
const run = (lens, token, cancel) => server.sendRequest(protocol.ExecuteCommandRequest.type, { ...lens.command, workDoneToken: token }, cancel);
const answer = await run(lenses[0], 'first');
assert.equal(answer.verdict, 'unsafe');
assert.match(answer.text, /counterexample/);
assert.match(answer.html, /^<!doctype html>/);
assert.equal(progress[0], 'begin');
assert.equal(progress.at(-1), 'end');

// A check that would run for very long is cancelled, and the server goes on.
const names = Array.from({ length: 14 }, (_, number) => `x${number}`);
const hard = `decl ${names.join(', ')};\nvoid main() begin\n  while * do\n    start_thread work;\n  od;\n  end_thread;\nwork:\n` +
  names.map((name, number) => `  ${name} := ${names[(number + 1) % 14]} ^ ${names[(number * 5 + 3) % 14]} ^ *;\n`).join('') +
  `  if ${names.join(' & ')} then\n    goto work;\n  fi;\n  assert(1);\nend\n`;
const other = String(pathToFileURL('/hard.bp'));
await server.sendNotification(protocol.DidOpenTextDocumentNotification.type, { textDocument: { uri: other, languageId: 'bp', version: 1, text: hard } });
const cancel = new rpc.CancellationTokenSource();
const pending = run({ command: { command: 'selvedge.check', arguments: [{ uri: other }] } }, 'second', cancel.token);
await until(() => progress.lastIndexOf('begin') > 0);
cancel.cancel();
await pending.then(
  (done) => assert.ok(['safe', 'unsafe', 'unknown'].includes(done.verdict), 'it was faster than the cancellation'),
  (error) => assert.equal(error.code, protocol.LSPErrorCodes.RequestCancelled),
);
assert.equal((await server.sendRequest(protocol.CodeLensRequest.type, { textDocument })).length, 4);

// Guarded commands: diagnostics, formatting, definition, references, hover, outline, lenses.
const guarded = String(pathToFileURL(`${root}/examples/bakery_wrap.gcl`));
const commands = readFileSync(`${root}/examples/bakery_wrap.gcl`, 'utf8');
const bakery = { textDocument: { uri: guarded } };
const openGuarded = (version, changed) => server.sendNotification(protocol.DidOpenTextDocumentNotification.type, { textDocument: { uri: guarded, languageId: 'gcl', version, text: changed } });
const told = () => published.filter((one) => one.uri === guarded);
await openGuarded(1, commands.replace('a := b + 1', 'a := c + 1'));
await until(() => told().length === 1);
assert.match(told()[0].diagnostics[0].message, /`c`/);
await openGuarded(2, commands.replace('  at critical: leave: a := 0', 'at critical:leave:a:=0'));
await until(() => told().length === 2);
assert.deepEqual(told()[1].diagnostics, []);
const [shaped] = await server.sendRequest(protocol.DocumentFormattingRequest.type, { ...bakery, options });
assert.equal(shaped.newText, commands);
await openGuarded(3, commands);
const place = (line, part) => ({ line: commands.split('\n').findIndex((one) => one.includes(line)), character: commands.split('\n').find((one) => one.includes(line)).indexOf(part) });
const lineOf = (line) => commands.split('\n').findIndex((one) => one.includes(line));
const jump = (position) => server.sendRequest(protocol.DefinitionRequest.type, { ...bakery, position });
assert.equal((await jump(place('at idle: choose: b < 5', 'b < 5'))).range.start.line, lineOf('var a, b'));
assert.equal((await jump(place('safe mutex', 'critical'))).range.start.line, lineOf('at critical: leave: a'));
const stands = await server.sendRequest(protocol.ReferencesRequest.type, { ...bakery, position: place('safe mutex', 'critical'), context: { includeDeclaration: true } });
assert.equal(stands.length, 3, 'of the first process alone');
const shownHover = await server.sendRequest(protocol.HoverRequest.type, { ...bakery, position: place('at idle: wrap: b', 'wrap') });
assert.match(shownHover.contents.value, /command/);
const outline = await server.sendRequest(protocol.DocumentSymbolRequest.type, bakery);
assert.deepEqual(outline.map((one) => one.name), ['a', 'b', 'p', 'q', 'mutex']);
assert.deepEqual(outline[2].children.map((one) => one.name), ['choose', 'wrap', 'enter', 'leave']);
const asked = await server.sendRequest(protocol.CodeLensRequest.type, bakery);
assert.deepEqual(asked.map((lens) => lens.command.title), ['Check', 'Debug', 'Check this', 'Debug this']);
assert.equal((await run(asked[0], 'third')).verdict, 'unsafe');

// C: diagnostics with our codes, lenses for assertions, and checks; also of a file that is not open, with its text.
const inC = String(pathToFileURL(`${root}/examples/c/ticket_lock_broken.c`));
const tickets = readFileSync(`${root}/examples/c/ticket_lock_broken.c`, 'utf8');
const aboutC = () => published.filter((one) => one.uri === inC);
const textual = { arguments: [{ uri: inC, text: tickets }], command: 'selvedge.check' };
assert.equal((await server.sendRequest('workspace/executeCommand', textual)).verdict, 'unsafe');
await server.sendNotification(protocol.DidOpenTextDocumentNotification.type, { textDocument: { uri: inC, languageId: 'c', version: 1, text: tickets.replace('inside--', 'insid--') } });
await until(() => aboutC().length === 1);
assert.match(aboutC()[0].diagnostics[0].message, /insid/);
assert.match(aboutC()[0].diagnostics[0].code, /^SV\d+$/);
await server.sendNotification(protocol.DidChangeTextDocumentNotification.type, { textDocument: { uri: inC, version: 2 }, contentChanges: [{ text: tickets }] });
await until(() => aboutC().length === 2);
assert.deepEqual(aboutC()[1].diagnostics, []);
const ofC = await server.sendRequest(protocol.CodeLensRequest.type, { textDocument: { uri: inC } });
assert.deepEqual(ofC.map((lens) => lens.command.title), ['Check', 'Debug', 'Check this', 'Debug this']);
assert.equal((await run(ofC[2], 'fourth')).verdict, 'unsafe');
await assert.rejects(server.sendRequest('textDocument/nonsense', {}), /not supported/);
await server.sendRequest(protocol.ShutdownRequest.type);
await server.sendNotification(protocol.ExitNotification.type);
const code = await new Promise((resolve) => child.on('exit', resolve));
assert.equal(code, 0);
