// Puts the page together: node assemble.mjs PROGRAM PAGE. The program is compressed, and written in base64, since a page
// that is opened as a file may not read other files.

import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';

const [program, page] = process.argv.slice(2);
const here = new URL('.', import.meta.url);
const read = (path) => readFileSync(new URL(path, here), 'utf8');

// The examples in one file each, by their paths in the folder.
const folders = ['', 'classics/', 'c/'];
const isProgram = (name) => /\.(bp|gcl|c)$/.test(name);
const names = folders.flatMap((folder) =>
  readdirSync(new URL(`../examples/${folder}`, here)).filter(isProgram).sort().map((name) => folder + name));
const examples = Object.fromEntries(names.map((name) => [name, read(`../examples/${name}`)]));

const code = readFileSync(program);
const packed = gzipSync(code, { level: 9 });
const parts = {
  style: read('page/page.css').trim(),
  worker: read('page/program.js').trim(),
  script: read('page/page.js').trim(),
  // No text in a script element may close it.
  examples: JSON.stringify(examples).replaceAll('<', '\\u003c'),
  module: packed.toString('base64'),
};
const text = read('page/page.html').replace(/{{(\w+)}}/g, (_, name) => parts[name]);
writeFileSync(page, text);
const size = (bytes) => `${(bytes / 1e6).toFixed(2)} MB`;
console.log(`${page}: ${size(text.length)}, of which the program is ${size(packed.length)} compressed (${size(code.length)})`);
