// What `--format sarif` writes, against the schema of SARIF 2.1.0, and what code scanning asks for beside it.
// Arguments: the program selvedge, the folder of packages, the folder of the project.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { createRequire } from 'node:module';

const [selvedge, modules, root] = process.argv.slice(2);
const require = createRequire(`${modules}/@microsoft/jest-sarif/`);
const Ajv = require('ajv');
const ajv = new Ajv({ schemaId: 'auto', meta: false, allErrors: true, unknownFormats: 'ignore', logger: false });
ajv.addMetaSchema(require('ajv/lib/refs/json-schema-draft-04.json'));
const schema = JSON.parse(readFileSync(`${modules}/@microsoft/jest-sarif/lib/schemas/sarif-2.1.0-rtm.5.json`, 'utf8'));
const fits = ajv.compile(schema);

const programs = 'crates/cli/tests/programs';
const runs = [
  ['--threads', '3', 'examples/bluetooth.bp'],
  ['examples/recursion.bp'],
  ['examples/lock_fixed.bp'],
  ['examples/bakery_wrap.gcl'],
  ['--threads', '2', `${programs}/unsafe.bp`, `${programs}/warnings.bp`],
  [`${programs}/broken.bp`],
];
for (const run of runs) {
  const { stdout } = spawnSync(selvedge, ['check', '--format', 'sarif', ...run], { cwd: root, encoding: 'utf8' });
  const log = JSON.parse(stdout);
  assert.ok(fits(log), `${run}: ${JSON.stringify(fits.errors)}`);
  for (const { tool, results } of log.runs) {
    const rules = new Set(tool.driver.rules.map((rule) => rule.id));
    for (const result of results) {
      assert.ok(rules.has(result.ruleId), result.ruleId);
      assert.ok(result.message.text.length > 0);
      assert.equal(tool.driver.rules[result.ruleIndex].id, result.ruleId);
      const [{ physicalLocation }] = result.locations;
      assert.ok(!/^([a-z]+:|\/)/.test(physicalLocation.artifactLocation.uri), 'addresses are relative');
      assert.ok(physicalLocation.region.startLine > 0);
      for (const flow of result.codeFlows ?? []) {
        assert.ok(flow.threadFlows.every(({ locations }) => locations.length > 0));
      }
    }
  }
}

// Rules explain themselves; the run says how it was started and how it ended.
const sarif = (...run) => {
  const { stdout } = spawnSync(selvedge, ['check', '--format', 'sarif', ...run], { cwd: root, encoding: 'utf8' });
  const log = JSON.parse(stdout);
  assert.ok(fits(log), `${run}: ${JSON.stringify(fits.errors)}`);
  return log.runs[0];
};
const both = sarif('--threads', '2', `${programs}/unsafe.bp`, `${programs}/warnings.bp`, `${programs}/broken.bp`);
for (const rule of both.tool.driver.rules) {
  assert.ok(rule.shortDescription.text.length > 10 && rule.fullDescription.text.length > 20, rule.id);
  assert.ok(rule.help.text.length > 100 && rule.help.markdown.length > 100, `${rule.id} has help`);
  assert.ok(['error', 'warning', 'recommendation'].includes(rule.properties['problem.severity']));
}
const unknown = both.tool.driver.rules.find(({ id }) => id === 'SV0012');
assert.match(unknown.help.text, /Incorrect:[^]*Correct:/, 'the help is the explanation');
const [invocation] = both.invocations;
assert.equal(invocation.exitCode, 2);
assert.equal(invocation.executionSuccessful, false, 'one file has errors');
assert.deepEqual(invocation.arguments.slice(0, 5), ['check', '--format', 'sarif', '--threads', '2']);
assert.match(invocation.toolExecutionNotifications[0].locations[0].physicalLocation.artifactLocation.uri, /broken/);
assert.equal(sarif('examples/lock_fixed.bp').invocations[0].executionSuccessful, true);
assert.deepEqual(sarif('examples/lock_fixed.bp').results, []);

// Edits that mend: the replaced region holds the misspelled name.
const mended = both.results.filter((result) => result.fixes);
assert.ok(mended.length > 0);
for (const { fixes: [{ artifactChanges: [{ artifactLocation, replacements: [{ deletedRegion, insertedContent }] }] }], message } of mended) {
  const line = readFileSync(`${root}/${artifactLocation.uri}`, 'utf8').split('\n')[deletedRegion.startLine - 1];
  const old = line.slice(deletedRegion.startColumn - 1, deletedRegion.endColumn - 1);
  assert.ok(old === '' || message.text.includes(`\`${old}\``), `${old}: ${message.text}`);
  assert.ok(insertedContent.text.length > 0);
}

// A fingerprint stays when lines are added above, differs for each finding, and changes with its line.
const folder = mkdtempSync(`${tmpdir()}/selvedge-`);
const prints = (text) => {
  writeFileSync(`${folder}/p.bp`, text);
  const { stdout } = spawnSync(selvedge, ['check', '--format', 'sarif', '--all', 'p.bp'], { cwd: folder, encoding: 'utf8' });
  return JSON.parse(stdout).runs[0].results.map((result) => result.partialFingerprints['selvedgeLine/v1']);
};
const text = 'decl x, y;\nvoid main() begin\n  assert(x);\n  assert(y);\n  x := *;\n  assert(x);\nend\n';
const before = prints(text);
assert.equal(before.length, 3, 'two of them about equal lines');
assert.equal(new Set(before).size, before.length, 'each finding has its own');
assert.deepEqual(prints(`// a comment\n\n${text}`), before);
assert.notDeepEqual(prints(text.replace('assert(y)', 'assert(!y)')), before);
rmSync(folder, { recursive: true });

const wrong = { version: '2.1.0', runs: [{ tool: {} }] };
assert.ok(!fits(wrong), 'the schema refuses what is not SARIF');
