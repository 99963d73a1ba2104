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
const refreshed = [];
for (const method of ['workspace/codeLens/refresh', 'workspace/inlayHint/refresh']) {
  server.onRequest(method, () => { refreshed.push(method); return null; });
}
server.listen();
const until = async (done) => { while (!done()) await new Promise((resolve) => { wake = resolve; setTimeout(resolve, 50); }); };

const able = { workspace: { codeLens: { refreshSupport: true }, inlayHint: { refreshSupport: true } } };
const { capabilities, serverInfo } = await server.sendRequest(protocol.InitializeRequest.type, {
  processId: null, rootUri: null, capabilities: able, initializationOptions: { checkOnSave: true, timeLimit: 60 },
  workspaceFolders: [{ uri: String(pathToFileURL(`${root}/examples`)), name: 'examples' }],
});
assert.equal(serverInfo.name, 'selvedge');

// The table of capabilities is what the server announces.
const rows = readFileSync(`${root}/docs/editors.md`, 'utf8').split('## The debug adapter')[0].split('\n');
const listed = rows.map((row) => row.split('|').map((cell) => cell.trim())).filter((row) => /^`\w+(Provider|Sync)`$/.test(row[2]));
const announced = Object.keys(capabilities).filter((name) => /(Provider|Sync)$/.test(name));
assert.deepEqual(listed.filter((row) => row[3] !== 'no').map((row) => row[2].slice(1, -1)).sort(), announced.sort());
assert.equal(capabilities.definitionProvider, true);
await server.sendNotification(protocol.InitializedNotification.type, {});

// Open: no errors.
const uri = String(pathToFileURL(`${root}/examples/bluetooth.bp`));
const text = readFileSync(`${root}/examples/bluetooth.bp`, 'utf8');
const types = require('vscode-languageserver-types');
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
const actions = await server.sendRequest(protocol.CodeActionRequest.type, { textDocument, range: wrong.range, context: { diagnostics: [wrong] } });
assert.deepEqual(actions.map((action) => action.title), ['Replace `stoped` with `stopped`']);
assert.ok(types.CodeAction.is(actions[0]));
assert.deepEqual(actions[0].edit.changes[uri], [{ range: wrong.range, newText: 'stopped' }]);
const none = { start: { line: 0, character: 0 }, end: { line: 0, character: 0 } };
assert.deepEqual(await server.sendRequest(protocol.CodeActionRequest.type, { textDocument, range: none, context: { diagnostics: [] } }), []);
const line = text.split('\n').findIndex((one) => one.includes('stopped := 1'));
assert.equal(wrong.range.start.line, line);
await edit(3, text);
await until(() => published.length === 3);
assert.deepEqual(published[2].diagnostics.filter((found) => found.severity === 1), []);

// A change of a part of the text.
const at = text.split('\n').findIndex((one) => one.includes('stopped := 1'));
const span = (from, to) => ({ start: { line: at, character: from }, end: { line: at, character: to } });
const column = text.split('\n')[at].indexOf('stopped');
const partly = (version, ...contentChanges) => server.sendNotification(protocol.DidChangeTextDocumentNotification.type, { textDocument: { uri, version }, contentChanges });
await partly(31, { range: span(column, column + 7), text: 'x' }, { range: span(column + 1, column + 1), text: 'y' });
await until(() => published.length === 4);
assert.match(published[3].diagnostics.find((one) => one.severity === 1).message, /`xy`/);
await partly(32, { range: span(column, column + 2), text: 'stopped' });
await until(() => published.length === 5);
assert.deepEqual(published[4].diagnostics.filter((one) => one.severity === 1), []);

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
const hoverUse = await server.sendRequest(protocol.HoverRequest.type, { textDocument, position });
assert.deepEqual(hoverUse.range, { start: { line: use, character: 7 }, end: { line: use, character: 15 } }, 'of the use, not of the declaration');
const call = text.split('\n').findIndex((one) => one.trim() === 'increment();');
const callee = await server.sendRequest(protocol.DefinitionRequest.type, { textDocument, position: { line: call, character: 6 } });
assert.equal(callee.range.start.line, text.split('\n').findIndex((one) => one.startsWith('void increment')));
const symbols = await server.sendRequest(protocol.DocumentSymbolRequest.type, { textDocument });
assert.deepEqual(symbols.filter((one) => one.kind === 5).map((one) => [one.name, one.children.map((child) => child.name)]), [['adder', ['main']], ['stopper', ['main']]]);

// Highlights tell where a variable gets a value.
const marks = await server.sendRequest(protocol.DocumentHighlightRequest.type, { textDocument, position });
assert.equal(marks.length, references.length);
const writes = marks.filter((mark) => mark.kind === types.DocumentHighlightKind.Write).map((mark) => mark.range.start.line);
assert.deepEqual(writes, ['shared decl stopping', 'stopping, event, stopped :=', 'stopping := 1'].map((part) => text.split('\n').findIndex((one) => one.includes(part))));

// Rename: all uses change, the program stays the same; what would change its meaning is refused.
const applied = (source, edits) => {
  const lines = source.split('\n');
  for (const { range: { start, end }, newText } of [...edits].sort((a, b) => b.range.start.line - a.range.start.line || b.range.start.character - a.range.start.character)) {
    assert.equal(start.line, end.line);
    lines[start.line] = lines[start.line].slice(0, start.character) + newText + lines[start.line].slice(end.character);
  }
  return lines.join('\n');
};
const prepared = await server.sendRequest(protocol.PrepareRenameRequest.type, { textDocument, position });
assert.deepEqual(prepared, { range: hoverUse.range, placeholder: 'stopping' });
const rename = (newName, at = position) => server.sendRequest(protocol.RenameRequest.type, { textDocument, position: at, newName });
const renamed = applied(text, (await rename('ending')).changes[uri]);
assert.equal(renamed, text.replace(/(?<!\/\/.*)\bstopping\b/g, 'ending'));
for (const [wrong, why] of [['stopped', /meaning/], ['if', /not a name/], ['two words', /not a name/], ['', /not a name/], ['1st', /not a name/]]) {
  await assert.rejects(rename(wrong), why, wrong);
}
await assert.rejects(rename('anything', { line: 0, character: 0 }), /no name/);

// Completion: the names that are known there, words, and options of the file.
const complete = async (position) => {
  const items = await server.sendRequest(protocol.CompletionRequest.type, { textDocument, position });
  assert.ok(items.every(({ label, kind }) => label.length > 0 && Object.values(types.CompletionItemKind).includes(kind)));
  return items.map((item) => item.label);
};
const offered = await complete(position);
for (const wanted of ['stopping', 'stopped', 'increment', 'while', 'T', 'process']) assert.ok(offered.includes(wanted), wanted);
assert.ok(!offered.includes('zero'), 'a local of another procedure');
const optionLine = text.split('\n').findIndex((one) => one.startsWith('// options:'));
if (optionLine >= 0) assert.ok((await complete({ line: optionLine, character: 13 })).includes('--threads'));
assert.deepEqual(await complete({ line: declared, character: 'shared decl sto'.length }), [], 'a new name');

// Folding: processes, procedures, blocks and comments of several lines.
const folds = await server.sendRequest(protocol.FoldingRangeRequest.type, { textDocument });
assert.ok(folds.every(types.FoldingRange.is) && folds.every((fold) => fold.startLine < fold.endLine));
const startsAt = (part) => text.split('\n').findIndex((one) => one.includes(part));
for (const part of ['process adder', 'void increment', 'if stopping then']) assert.ok(folds.some((fold) => fold.startLine === startsAt(part)), part);
assert.ok(folds.some((fold) => fold.kind === 'comment' && fold.startLine === 0));

// Semantic tokens: decoded, each is the text of its kind.
const { legend } = capabilities.semanticTokensProvider;
const decoded = (source, data) => {
  const lines = source.split('\n');
  const found = [];
  for (let at = 0, line = 0, character = 0; at < data.length; at += 5) {
    character = data[at] === 0 ? character + data[at + 1] : data[at + 1];
    line += data[at];
    const modifiers = legend.tokenModifiers.filter((_, bit) => data[at + 4] & (1 << bit));
    found.push([lines[line].slice(character, character + data[at + 2]), legend.tokenTypes[data[at + 3]], ...modifiers].join(' '));
  }
  return found;
};
const { data } = await server.sendRequest(protocol.SemanticTokensRequest.type, { textDocument });
const coloured = decoded(text, data);
for (const token of ['stopping variable declaration static', 'stopping variable static', 'stopped variable modification static', 'increment function declaration', 'increment function', 'adder class declaration', 'if keyword', 'process keyword', ':= operator']) {
  assert.ok(coloured.includes(token), `${token}: ${coloured}`);
}
assert.ok(coloured[0].endsWith(' comment'));

// Symbols of the workspace, from files that are not open as well.
const found = await server.sendRequest(protocol.WorkspaceSymbolRequest.type, { query: 'increm' });
assert.ok(found.some((one) => one.name === 'increment' && one.location.uri === uri));
const bakeryP = await server.sendRequest(protocol.WorkspaceSymbolRequest.type, { query: 'choose' });
assert.ok(bakeryP.some((one) => one.name === 'choose' && one.containerName === 'p' && one.location.uri.endsWith('bakery_wrap.gcl')));
assert.deepEqual(await server.sendRequest(protocol.WorkspaceSymbolRequest.type, { query: 'no such name anywhere' }), []);

// The lens is run: the program is unsafe, and there is progress.
const lenses = await server.sendRequest(protocol.CodeLensRequest.type, { textDocument });
assert.deepEqual(lenses.map((lens) => lens.command.title), ['Check', 'Debug', 'Check this', 'Debug this']);
const asserted = text.split('\n').findIndex((one) => one.includes('assert('));
assert.deepEqual(lenses[3].command.arguments, [{ program: `${root}/examples/bluetooth.bp`, assertion: String(asserted + 1) }]);
const run = (lens, token, cancel) => server.sendRequest(protocol.ExecuteCommandRequest.type, { ...lens.command, workDoneToken: token }, cancel);
const answer = await run(lenses[0], 'first');
assert.equal(answer.verdict, 'unsafe');
assert.match(answer.text, /counterexample/);

// What was found is in the program: a diagnostic at the assertion, verdicts on lenses, values beside lines.
const failing = (uri) => published.filter((one) => one.uri === uri).at(-1).diagnostics.filter((one) => one.code === 'assertion');
await until(() => failing(uri).length === 1 && refreshed.length >= 2);
const [failed] = failing(uri);
assert.ok(types.Diagnostic.is(failed) && failed.severity === 1);
assert.equal(failed.range.start.line, asserted);
assert.match(failed.message, /`assert\(!stopped\)` fails with stopped = 1, after \d+ steps/);
assert.match(failed.relatedInformation[0].message, /stopped := 1/);
assert.equal(failed.relatedInformation[0].location.range.start.line, line);
const judged = await server.sendRequest(protocol.CodeLensRequest.type, { textDocument });
assert.deepEqual(judged.map((lens) => lens.command.title), ['Check (unsafe)', 'Debug', 'Check this (unsafe)', 'Debug this']);
const everywhere = { start: { line: 0, character: 0 }, end: { line: 999, character: 0 } };
const hints = await server.sendRequest(protocol.InlayHintRequest.type, { textDocument, range: everywhere });
assert.ok(hints.every(types.InlayHint.is));
const besides = Object.fromEntries(hints.map((hint) => [hint.position.line, hint.label]));
assert.match(besides[line], /stopper.*stopped: 0 → 1/);
assert.match(besides[asserted], /adder.*stopped = 1/);
assert.deepEqual(hints.map((hint) => hint.position.character), hints.map((hint) => text.split('\n')[hint.position.line].length));
const part = { start: { line: asserted, character: 0 }, end: { line: asserted, character: 0 } };
assert.equal((await server.sendRequest(protocol.InlayHintRequest.type, { textDocument, range: part })).length, 1);
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

// Saving checks; an edit forgets what was found. The assertion of C fails at its place, with values beside lines.
const lastC = () => aboutC().at(-1).diagnostics;
await server.sendNotification(protocol.DidSaveTextDocumentNotification.type, { textDocument: { uri: inC } });
await until(() => lastC().some((one) => one.code === 'assertion'));
const assertedC = tickets.split('\n').findIndex((one) => /assert\(/.test(one));
assert.equal(lastC().find((one) => one.code === 'assertion').range.start.line, assertedC);
const besideC = await server.sendRequest(protocol.InlayHintRequest.type, { textDocument: { uri: inC }, range: everywhere });
assert.ok(besideC.some((hint) => hint.position.line === assertedC && /inside = /.test(hint.label)), JSON.stringify(besideC));
let lensesOfC = ofC;
while (lensesOfC[0].command.title === 'Check') lensesOfC = await server.sendRequest(protocol.CodeLensRequest.type, { textDocument: { uri: inC } });
assert.equal(lensesOfC[0].command.title, 'Check (unsafe)');
await server.sendNotification(protocol.DidChangeTextDocumentNotification.type, { textDocument: { uri: inC, version: 3 }, contentChanges: [{ text: `${tickets}\n` }] });
await until(() => lastC().length === 0);
assert.deepEqual(await server.sendRequest(protocol.InlayHintRequest.type, { textDocument: { uri: inC }, range: everywhere }), []);
await server.sendNotification(protocol.DidChangeTextDocumentNotification.type, { textDocument: { uri: inC, version: 4 }, contentChanges: [{ text: tickets.replace('<assert.h>', '<asert.h>') }] });
await until(() => lastC().length > 0);
const header = lastC().find((one) => /asert\.h/.test(one.message));
const [include] = await server.sendRequest(protocol.CodeActionRequest.type, { textDocument: { uri: inC }, range: header.range, context: { diagnostics: [header] } });
assert.equal(include.title, 'Replace `<asert.h>` with `<assert.h>`');

// A safe program: every lens says so.
const safe = String(pathToFileURL(`${root}/examples/lock_fixed.bp`));
await server.sendNotification(protocol.DidOpenTextDocumentNotification.type, { textDocument: { uri: safe, languageId: 'bp', version: 1, text: readFileSync(`${root}/examples/lock_fixed.bp`, 'utf8') } });
assert.equal((await run({ command: { command: 'selvedge.check', arguments: [{ uri: safe }] } }, 'fifth')).verdict, 'safe');
const proved = await server.sendRequest(protocol.CodeLensRequest.type, { textDocument: { uri: safe } });
assert.deepEqual([proved[0].command.title, proved[2].command.title], ['Check (safe)', 'Check this (safe)']);

// Calls, arrays, primes, processes: help with arguments, and renaming in all forms of a name.
const small = 'file:///small.bp';
const source = `decl flag, other;
bool both(a, b) begin
  return a & (b) & (flag);
end
void main() begin
  decl r;
  r := both(flag, other);
  flag, other := r, flag constrain 'flag = flag;
again:
  if * then goto again; fi;
  assert(!r);
end
`;
await server.sendNotification(protocol.DidOpenTextDocumentNotification.type, { textDocument: { uri: small, languageId: 'bp', version: 1, text: source } });
const spot = (line, part, offset = 0) => ({ line, character: source.split('\n')[line].indexOf(part) + offset });
const helpAt = (position) => server.sendRequest(protocol.SignatureHelpRequest.type, { textDocument: { uri: small }, position });
const outer = await helpAt(spot(6, 'both', 5));
assert.deepEqual([outer.signatures[0].label, outer.activeParameter], ['bool both(a, b)', 0]);
assert.deepEqual(outer.signatures[0].parameters, [{ label: 'a' }, { label: 'b' }]);
assert.equal((await helpAt(spot(6, 'other'))).activeParameter, 1);
assert.equal(await helpAt(spot(10, 'assert')), null);
const typing = 'file:///typing.bp';
const half = source.replace('both(flag, other);', 'both(other & (flag), ');
await server.sendNotification(protocol.DidOpenTextDocumentNotification.type, { textDocument: { uri: typing, languageId: 'bp', version: 1, text: half } });
const inside = { line: 6, character: half.split('\n')[6].length };
const halfway = await server.sendRequest(protocol.SignatureHelpRequest.type, { textDocument: { uri: typing }, position: inside });
assert.equal(halfway.activeParameter, 1, 'in a statement that is not complete');
await assert.rejects(server.sendRequest(protocol.RenameRequest.type, { textDocument: { uri: typing }, position: spot(0, 'flag'), newName: 'f' }), /errors/);
const edits = (await server.sendRequest(protocol.RenameRequest.type, { textDocument: { uri: small }, position: spot(0, 'flag'), newName: 'f' })).changes[small];
assert.equal(applied(source, edits), source.replace(/flag/g, 'f'));
await assert.rejects(server.sendRequest(protocol.RenameRequest.type, { textDocument: { uri: small }, position: spot(0, 'flag'), newName: 'a' }), /meaning/, 'a parameter would hide it');
const labels = await server.sendRequest(protocol.CompletionRequest.type, { textDocument: { uri: small }, position: spot(9, 'again', 2) });
assert.deepEqual(labels.map((one) => one.label), ['again']);

// Guarded commands: renaming a process and a location, completing locations.
const gclRename = async (position, newName) => applied(commands, (await server.sendRequest(protocol.RenameRequest.type, { ...bakery, position, newName })).changes[guarded]);
const process1 = await gclRename(place('safe mutex', 'p at'), 'first');
assert.equal(process1, commands.replace('process p ', 'process first ').replace(/\bp at /g, 'first at '));
const located = await server.sendRequest(protocol.CompletionRequest.type, { ...bakery, position: place('safe mutex', 'critical') });
assert.deepEqual(located.map((one) => one.label).sort(), [...new Set(located.map((one) => one.label))].sort());
assert.ok(located.some((one) => one.label === 'critical') && !located.some((one) => one.label === 'a'));
await assert.rejects(server.sendRequest('textDocument/nonsense', {}), /not supported/);
await server.sendRequest(protocol.ShutdownRequest.type);
await server.sendNotification(protocol.ExitNotification.type);
const code = await new Promise((resolve) => child.on('exit', resolve));
assert.equal(code, 0);
