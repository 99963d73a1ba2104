// Puts the page together: node assemble.mjs PROGRAM PAGE. The program is compressed, and written in base64, since a page
// that is opened as a file may not read other files.

import { readFileSync, writeFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';

import { digest, exampleNames, read } from './sources.mjs';

const [program, page] = process.argv.slice(2);
const examples = Object.fromEntries(exampleNames().map((name) => [name, read(`examples/${name}`)]));
const code = readFileSync(program);
const packed = gzipSync(code, { level: 9 });
const parts = {
  sources: digest(),
  style: read('playground/page/page.css').trim(),
  worker: read('playground/page/program.js').trim(),
  script: read('playground/page/page.js').trim(),
  // No text in a script element may close it.
  examples: JSON.stringify(examples).replaceAll('<', '\\u003c'),
  module: packed.toString('base64'),
};
const text = read('playground/page/page.html').replace(/{{(\w+)}}/g, (_, name) => parts[name]);
writeFileSync(page, text);
const size = (bytes) => `${(bytes / 1e6).toFixed(2)} MB`;
console.log(`${page}: ${size(text.length)}, of which the program is ${size(packed.length)} compressed (${size(code.length)})`);
