// Validates an action and a workflow by their schemas: node workflows.mjs MODULES ACTION WORKFLOW.

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

const [modules, action, workflow] = process.argv.slice(2);
const { validateAction, validateWorkflow } = createRequire(`${modules}/`)('@action-validator/core');
for (const [validate, file] of [[validateAction, action], [validateWorkflow, workflow]]) {
  const { errors } = validate(readFileSync(file, 'utf8'));
  if (errors.length > 0) throw new Error(`${file}: ${JSON.stringify(errors, null, 1)}`);
}
