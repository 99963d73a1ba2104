// The extension: starts the language server, tells the editor how to start the debug adapter, and shows reports.

const vscode = require('vscode');
const { LanguageClient, TransportKind } = require('vscode-languageclient/node');

let client;

const program = () => vscode.workspace.getConfiguration('selvedge').get('path', 'selvedge');

// The lens and the command both end here: the server checks, the answer is shown as its page.
async function check(argument) {
  const editor = vscode.window.activeTextEditor;
  const wanted = argument ?? { uri: editor?.document.uri.toString() };
  const options = { location: vscode.ProgressLocation.Notification, title: 'Selvedge', cancellable: true };
  await vscode.window.withProgress(options, async (progress, cancel) => {
    try {
      const answer = await client.sendRequest('workspace/executeCommand', { command: 'selvedge.check', arguments: [wanted] }, cancel);
      const panel = vscode.window.createWebviewPanel('selvedge', `Selvedge: ${answer.verdict}`, vscode.ViewColumn.Beside, { enableScripts: true });
      panel.webview.html = answer.html;
    } catch (error) {
      if (!cancel.isCancellationRequested) vscode.window.showErrorMessage(`Selvedge: ${error.message}`);
    }
  });
}

function debug(argument) {
  const file = argument?.program ?? vscode.window.activeTextEditor?.document.fileName;
  return vscode.debug.startDebugging(undefined, { type: 'selvedge', request: 'launch', name: 'Selvedge', program: file, ...argument });
}

exports.activate = async (context) => {
  const server = { command: program(), args: ['lsp'], transport: TransportKind.stdio };
  const documents = ['bp', 'gcl'].map((language) => ({ scheme: 'file', language }));
  client = new LanguageClient('selvedge', 'Selvedge', server, {
    documentSelector: documents,
    middleware: {
      // The command of the lens is run here, so that its answer can be shown.
      executeCommand: (command, args, next) => (command === 'selvedge.check' ? check(args[0]) : next(command, args)),
    },
  });
  context.subscriptions.push(
    vscode.commands.registerCommand('selvedge.debug', debug),
    vscode.commands.registerCommand('selvedge.report', () => check()),
    vscode.debug.registerDebugAdapterDescriptorFactory('selvedge', {
      createDebugAdapterDescriptor: () => new vscode.DebugAdapterExecutable(program(), ['dap']),
    }),
  );
  await client.start();
};

exports.deactivate = () => client?.stop();
