// The packed extension against a stand-in for the editor: it starts the language server, runs the lens, shows the page
// of the report, and says how the debug adapter is started.
// Arguments: the program selvedge, the folder of packages, the folder of the project.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync, existsSync } from 'node:fs';
import Module, { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

const [selvedge, , root] = process.argv.slice(2);
execFileSync(`${root}/editors/vscode/pack`);
const staging = `${root}/target/vscode`;
const manifest = JSON.parse(readFileSync(`${staging}/package.json`, 'utf8'));

// Everything that the manifest names is in the package.
const { languages, grammars, commands, debuggers } = manifest.contributes;
const listed = [manifest.main, ...languages.map((one) => one.configuration), ...grammars.map((one) => one.path)];
for (const path of listed) assert.ok(existsSync(`${staging}/${path}`), path);
const packed = readFileSync(`${root}/target/selvedge.vsix`).toString('latin1');
for (const path of listed) assert.ok(packed.includes(`extension/${path.slice(2)}`), `${path} is packed`);
assert.ok(!packed.includes('extension/tests/'), 'tests are not packed');

// A stand-in for the editor. What it does not know is a class without behaviour, or nothing to be told about.
const registered = { commands: {}, factories: {}, configurations: {} };
const shown = [];
const started = [];
const file = `${root}/examples/bluetooth.bp`;
const document = {
  uri: { toString: () => String(pathToFileURL(file)), fsPath: file, scheme: 'file' }, fileName: file, languageId: 'bp', version: 1,
  getText: () => readFileSync(file, 'utf8'), isClosed: false, isDirty: false,
};
const disposable = () => ({ dispose() {} });
const never = { isCancellationRequested: false, onCancellationRequested: disposable };
const known = {
  version: '1.91.0',
  ColorThemeKind: { Light: 1, Dark: 2, HighContrast: 3, HighContrastLight: 4 },
  ProgressLocation: { Notification: 15, Window: 10 },
  ViewColumn: { Beside: -2 },
  env: { appName: 'stand-in', language: 'en' },
  l10n: { t: (text) => text },
  Uri: { parse: (text) => ({ toString: () => text }), file: (path) => ({ toString: () => String(pathToFileURL(path)), fsPath: path }) },
  commands: {
    registerCommand: (name, run) => { registered.commands[name] = run; return disposable(); },
  },
  debug: {
    registerDebugAdapterDescriptorFactory: (type, factory) => { registered.factories[type] = factory; return disposable(); },
    registerDebugConfigurationProvider: (type, provider) => { registered.configurations[type] = provider; return disposable(); },
    startDebugging: async (folder, configuration) => { started.push(configuration); return true; },
  },
  DebugAdapterExecutable: class { constructor(command, args) { Object.assign(this, { command, args }); } },
  window: {
    activeTextEditor: { document },
    activeColorTheme: { kind: 1 },
    withProgress: (options, run) => run({ report() {} }, never),
    createWebviewPanel: (type, title, column, options) => { const panel = { title, options, webview: {} }; shown.push(panel); return panel; },
    createOutputChannel: () => new Proxy({}, { get: () => disposable }),
    showErrorMessage: (message) => { throw new Error(message); },
    visibleTextEditors: [],
    tabGroups: { all: [], onDidChangeTabs: disposable },
  },
  workspace: {
    getConfiguration: () => ({ get: (name, otherwise) => (name === 'path' ? selvedge : otherwise), inspect: () => undefined }),
    textDocuments: [document],
    notebookDocuments: [],
    workspaceFolders: [],
    createFileSystemWatcher: () => new Proxy({}, { get: () => disposable }),
  },
  languages: { match: () => 1, createDiagnosticCollection: () => new Proxy({}, { get: () => () => undefined }) },
};
const enumerations = new Proxy({}, { get: (_, name) => name });
function fill(part) {
  return new Proxy(part, {
    get: (target, name) => {
      if (name in target || typeof name === 'symbol') return target[name];
      return /^(on|register)/.test(name) ? disposable : undefined;
    },
  });
}
for (const part of ['window', 'workspace', 'languages', 'debug', 'commands']) known[part] = fill(known[part]);
known.CancellationTokenSource = class { constructor() { this.token = never; } cancel() {} dispose() {} };
known.EventEmitter = class { constructor() { this.event = disposable; } fire() {} dispose() {} };
known.Disposable = class { constructor(run) { this.run = run; } static from() { return disposable(); } dispose() { this.run?.(); } };
const classes = new Map();
const stand = new Proxy(known, {
  get: (target, name) => {
    if (name in target || typeof name === 'symbol') return target[name];
    if (/Kind$|Severity$|Tag$|Scope$|Trigger/.test(name)) return enumerations;
    if (!classes.has(name)) classes.set(name, class {});
    return classes.get(name);
  },
});
const load = Module._load;
Module._load = (name, ...rest) => (name === 'vscode' ? stand : load(name, ...rest));

const extension = createRequire(`${staging}/`)(manifest.main);
const context = { subscriptions: [], asAbsolutePath: (path) => `${staging}/${path}` };
await extension.activate(context);

// All commands of the manifest are there, and those of the lenses.
for (const { command } of commands) assert.ok(registered.commands[command], command);
assert.ok(registered.commands['selvedge.check'] && registered.commands['selvedge.debug']);

// The report in a web view, in the theme of the editor.
const uri = document.uri.toString();
assert.equal(await registered.commands['selvedge.check']({ uri }), 'unsafe');
assert.equal(await registered.commands['selvedge.report'](), 'unsafe');
assert.equal(shown.length, 2);
assert.match(shown[0].title, /unsafe/);
assert.match(shown[0].webview.html, /^<!doctype html>\n<html lang="en" data-theme="light">/);
assert.equal(shown[0].options.enableScripts, true);

// The debugger: the lens starts it, F5 without a configuration too, and the adapter is `selvedge dap`.
await registered.commands['selvedge.debug']({ program: file });
await registered.commands['selvedge.walk']();
assert.deepEqual(started.map((one) => [one.type, one.request, one.program]), [['selvedge', 'launch', file], ['selvedge', 'launch', file]]);
const [{ type }] = debuggers;
const { command, args } = registered.factories[type].createDebugAdapterDescriptor();
assert.deepEqual([command, args], [selvedge, ['dap']]);
assert.equal(registered.configurations[type].resolveDebugConfiguration(undefined, {}).program, file);

// C is left to others: it is checked with the text that the editor has, and debugged.
const c = `${root}/examples/c/once_broken.c`;
assert.ok(!languages.some((one) => one.id === 'c'));
const inC = {
  ...document, uri: { toString: () => String(pathToFileURL(c)), fsPath: c, scheme: 'file' }, fileName: c, languageId: 'c',
  getText: () => readFileSync(c, 'utf8'),
};
known.window.activeTextEditor = { document: inC };
assert.equal(await registered.commands['selvedge.report'](), 'unsafe');
assert.match(shown[2].webview.html, /once_broken\.c/);
await registered.commands['selvedge.walk']();
assert.equal(started[2].program, c);
assert.ok(debuggers[0].languages.includes('c') && manifest.contributes.breakpoints.some((one) => one.language === 'c'));

await extension.deactivate();
process.exit(0);
