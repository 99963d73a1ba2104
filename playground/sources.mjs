// What the page is made of: the examples in it, and all files on which it depends.

import { createHash } from 'node:crypto';
import { readFileSync, readdirSync } from 'node:fs';

const root = new URL('../', import.meta.url);
export const read = (path) => readFileSync(new URL(path, root), 'utf8');

// Returns the paths of the files below a folder, in a fixed order.
const below = (folder) => readdirSync(new URL(folder, root), { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile())
  .map((entry) => `${entry.parentPath ?? entry.path}/${entry.name}`.slice(root.pathname.length))
  .sort();

// Crates that are no part of the program.
const others = ['bench', 'cli', 'export', 'lsp', 'testkit'];

// Returns the paths of the examples in the folder of examples.
export function exampleNames() {
  const folders = ['', 'classics/', 'c/'];
  const isProgram = (name) => /\.(bp|gcl|c)$/.test(name);
  return folders.flatMap((folder) =>
    readdirSync(new URL(`examples/${folder}`, root)).filter(isProgram).sort().map((name) => folder + name));
}

// Returns a digest of the texts on which the page depends. A page with another one is older than they are.
export function digest() {
  const crates = readdirSync(new URL('crates/', root)).filter((name) => !others.includes(name)).sort();
  const files = [
    'Cargo.toml', 'Cargo.lock', 'playground/build', 'playground/assemble.mjs', ...below('playground/page/'),
    ...exampleNames().map((name) => `examples/${name}`),
    ...crates.flatMap((name) => [`crates/${name}/Cargo.toml`, ...below(`crates/${name}/src/`)]),
  ];
  const hash = createHash('sha256');
  for (const file of files) hash.update(`${file}\0${read(file)}\0`);
  return hash.digest('hex').slice(0, 16);
}

// Returns the digest of a page that was built.
const DIGEST = /<meta name="sources" content="(\w+)">/;
export const digestOf = (page) => DIGEST.exec(readFileSync(page, 'utf8'))?.[1];

// Returns the compressed program in a page.
export const programOf = (page) =>
  Buffer.from(/<script type="text\/plain" id="module">([^<]*)</.exec(readFileSync(page, 'utf8'))[1], 'base64');
