// The extension: starts the language server, tells the editor how to start the debug adapter, and shows reports.

const vscode = require('vscode');
const { LanguageClient } = require('vscode-languageclient/node');

let client;

// The languages that this extension looks after. C has its own extensions: here it has checks and the debugger only.
const ours = ['bp', 'gcl'];

const program = () => vscode.workspace.getConfiguration('selvedge').get('path', 'selvedge');

// The report in the theme of the editor. Everything is in the page; it needs its script and nothing else.
function show(answer) {
  const { Light, HighContrastLight } = vscode.ColorThemeKind;
  const theme = [Light, HighContrastLight].includes(vscode.window.activeColorTheme.kind) ? 'light' : 'dark';
  const options = { enableScripts: true, retainContextWhenHidden: true, enableFindWidget: true, localResourceRoots: [] };
  const panel = vscode.window.createWebviewPanel('selvedge', `Selvedge: ${answer.verdict}`, vscode.ViewColumn.Beside, options);
  panel.webview.html = answer.html.replace('<html lang="en">', `<html lang="en" data-theme="${theme}">`);
  return answer.verdict;
}

// The lens and the command both end here: the server checks, the answer is shown as its page.
function check(argument) {
  const open = vscode.window.activeTextEditor?.document;
  const wanted = argument ?? { uri: open?.uri.toString() };
  // The server of C is another one: ours gets the text with the question.
  if (open && !ours.includes(open.languageId) && wanted.uri === open.uri.toString()) wanted.text = open.getText();
  const options = { location: vscode.ProgressLocation.Notification, title: 'Selvedge', cancellable: true };
  return vscode.window.withProgress(options, async (progress, cancel) => {
    try {
      const request = { command: 'selvedge.check', arguments: [wanted] };
      return show(await client.sendRequest('workspace/executeCommand', request, cancel));
    } catch (error) {
      if (!cancel.isCancellationRequested) vscode.window.showErrorMessage(`Selvedge: ${error.message}`);
      return undefined;
    }
  });
}

function debug(argument) {
  const file = vscode.window.activeTextEditor?.document.fileName;
  const launch = { type: 'selvedge', request: 'launch', name: 'Selvedge', program: file, ...argument };
  return vscode.debug.startDebugging(undefined, launch);
}

exports.activate = async (context) => {
  const server = { command: program(), args: ['lsp'] };
  const setting = (name, otherwise) => vscode.workspace.getConfiguration('selvedge').get(name, otherwise);
  client = new LanguageClient('selvedge', 'Selvedge', server, {
    documentSelector: ours.map((language) => ({ scheme: 'file', language })),
    initializationOptions: { checkOnSave: setting('checkOnSave', false), timeLimit: setting('timeLimit', 10) },
    middleware: {
      // The command of the lens is run here, so that its answer can be shown.
      executeCommand: (command, args, next) => (command === 'selvedge.check' ? check(args[0]) : next(command, args)),
    },
  });
  context.subscriptions.push(
    vscode.commands.registerCommand('selvedge.debug', debug),
    vscode.commands.registerCommand('selvedge.walk', () => debug()),
    vscode.commands.registerCommand('selvedge.report', () => check()),
    vscode.debug.registerDebugAdapterDescriptorFactory('selvedge', {
      createDebugAdapterDescriptor: () => new vscode.DebugAdapterExecutable(program(), ['dap']),
    }),
    // F5 without a launch.json walks through the open program.
    vscode.debug.registerDebugConfigurationProvider('selvedge', {
      resolveDebugConfiguration: (folder, config) => (config.type ? config : {
        type: 'selvedge', request: 'launch', name: 'Selvedge', program: vscode.window.activeTextEditor?.document.fileName,
      }),
    }),
  );
  await client.start();
};

exports.deactivate = () => client?.stop();
