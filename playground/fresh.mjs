// Tells whether a page is of the present sources: node fresh.mjs PAGE ends with 0 if it is, 1 if it is older, and 3 if it is
// not there.

import { existsSync } from 'node:fs';

import { digest, digestOf } from './sources.mjs';

const page = process.argv[2];
if (existsSync(page)) process.exitCode = digestOf(page) === digest() ? 0 : 1;
else process.exitCode = 3;
