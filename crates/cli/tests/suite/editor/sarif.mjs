// What `--format sarif` writes, against the schema of SARIF 2.1.0, and what code scanning asks for beside it.
// Arguments: the program selvedge, the folder of packages, the folder of the project.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
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
      const [{ physicalLocation }] = result.locations;
      assert.ok(!/^([a-z]+:|\/)/.test(physicalLocation.artifactLocation.uri), 'addresses are relative');
      assert.ok(physicalLocation.region.startLine > 0);
      for (const flow of result.codeFlows ?? []) {
        assert.ok(flow.threadFlows.every(({ locations }) => locations.length > 0));
      }
    }
  }
}
const wrong = { version: '2.1.0', runs: [{ tool: {} }] };
assert.ok(!fits(wrong), 'the schema refuses what is none');
