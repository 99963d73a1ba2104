// Uses the playground in a real browser, as a visitor would, and writes what it saw as JSON.
// Arguments: the browser's program, the folder with the package puppeteer-core, the page, and a folder for screenshots.

import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

const [browserPath, modules, file, shots] = process.argv.slice(2);
const puppeteer = createRequire(`${modules}/`)('puppeteer-core');
const browser = await puppeteer.launch({
  executablePath: browserPath,
  args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'],
});
const address = pathToFileURL(file).href;
const problems = [];
const PATIENCE = { timeout: 60_000, polling: 50 };

async function open(hash) {
  const page = await browser.newPage();
  page.on('pageerror', (error) => problems.push(String(error)));
  page.on('request', (request) => { if (!/^(file|blob|data|about):/.test(request.url())) problems.push(`asks for ${request.url()}`); });
  await page.setViewport({ width: 1500, height: 950 });
  await page.goto(address + hash);
  await page.waitForFunction('times.ready !== null', PATIENCE);
  return page;
}

const said = (page) => page.$eval('#said', (element) => element.textContent);

// Presses a button and waits for what the page says in the end.
async function press(page, id) {
  await page.click(`#${id}`);
  await page.waitForFunction('settle === null && !/\\.\\.$/.test(el("said").textContent)', PATIENCE);
  return said(page);
}

const report = async (page) => (await page.waitForSelector('#report:not([hidden])')).contentFrame();
const shoot = (page, name) => page.screenshot({ path: `${shots}/${name}.png` });
const seen = {};

const page = await open('#example=lock.bp');
seen.ready = await page.evaluate('times.ready');
seen.broken = await press(page, 'check');
seen.first = await page.evaluate('times.request');
const frame = await report(page);
await frame.waitForSelector('#goto');
const at = () => frame.$eval('#goto', (input) => Number(input.value));
await frame.focus('#list');
seen.steps = [];
for (const key of ['Home', 'ArrowRight', 'ArrowRight', 'ArrowLeft']) {
  await page.keyboard.press(key);
  seen.steps.push(await at());
}
await shoot(page, 'broken');
seen.replayed = await press(page, 'verify');

await page.select('#example', 'lock_fixed.bp');
await page.waitForFunction('el("name").value === "lock_fixed.bp"');
seen.right = await press(page, 'check');
seen.second = await page.evaluate('times.request');
await report(page);
await shoot(page, 'right');
seen.judged = await press(page, 'verify');
await shoot(page, 'verified');

// The certificate of the right program is no proof about another one.
await page.$eval('#text', (area) => { area.value = area.value.replace('constrain !lock', ''); });
seen.forged = await press(page, 'verify');

await page.$eval('#text', (area) => { area.value = 'void main() begin\n  x := 1;\nend\n'; });
seen.mistake = await press(page, 'check');
seen.list = await page.$$eval('#problems li', (items) => items.map((item) => item.textContent));
seen.marked = await page.$$eval('#gutter .wrong', (lines) => lines.map((line) => Number(line.textContent)));
await shoot(page, 'mistake');

const mine = '// shared: ✓ <b>\nvoid main() begin decl x; x := 1; assert(x); end\n';
await page.$eval('#text', (area, text) => { area.value = text; }, mine);
await page.$eval('#name', (input) => { input.value = 'mine.bp'; });
await page.click('#share');
await page.waitForFunction('location.hash.startsWith("#program=")');
const hash = await page.evaluate('location.hash');
const other = await open(hash);
seen.shared = await other.$eval('#text', (area) => area.value) === mine && await other.$eval('#name', (input) => input.value);
seen.there = await press(other, 'check');

// A long search is stopped, and the next one works.
await other.$eval('#text', (area) => { area.value = `decl ${Array.from({ length: 40 }, (_, n) => `x${n}`).join(', ')};
void worker() begin ${Array.from({ length: 40 }, (_, n) => `x${n} := !x${n}; x${n} := *;`).join(' ')} end
void main() begin while * do start_thread worker(); od; assert(${Array.from({ length: 40 }, (_, n) => `(x${n} | !x${(n + 7) % 40})`).join(' & ')} | x0); end`; });
await other.select('#errors', '');
await other.click('#check');
await new Promise((resolve) => setTimeout(resolve, 300));
seen.stopped = await other.evaluate('(() => { const was = settle !== null; el("stop").click(); return was; })()');
await other.waitForFunction('settle === null');
await other.$eval('#text', (area, text) => { area.value = text; }, mine);
seen.again = await press(other, 'check');

// A limit of time holds, whatever the program does; a page that was opened with an example has its name.
const late = await open('#example=c/queue.c');
await late.$eval('#seconds', (input) => { input.value = '1'; });
const before = Date.now();
seen.late = await press(late, 'check');
seen.lateness = Date.now() - before;

// A file is chosen; those that are dropped go the same way.
const input = await page.$('#file');
await input.uploadFile(process.argv[6]);
await page.waitForFunction('evidence?.name.endsWith(".json")', PATIENCE);
seen.chosen = await page.evaluate('evidence.name');

seen.problems = problems;
console.log(JSON.stringify(seen));
await browser.close();
