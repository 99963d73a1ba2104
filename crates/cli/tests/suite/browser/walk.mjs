// Drives pages in a real browser. Reads a list of tasks from standard input, writes their results as JSON.
// Arguments: the browser's program, and the folder with the package puppeteer-core.

import { createRequire } from 'node:module';
import { readFileSync } from 'node:fs';

const [browserPath, modules] = process.argv.slice(2);
const puppeteer = createRequire(`${modules}/`)('puppeteer-core');
const tasks = JSON.parse(readFileSync(0, 'utf8'));

const browser = await puppeteer.launch({
  executablePath: browserPath,
  args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'],
});

const values = (page) => page.evaluate(() =>
  Object.fromEntries([...document.querySelectorAll('#state tr')].map((row) => [row.dataset.key, row.dataset.value])));
const facts = (page) => page.evaluate(() => ({
  said: document.getElementById('said').textContent,
  at: Number(document.getElementById('goto').value),
  line: [...document.querySelectorAll('#lines li.now')].map((line) => Number(line.id.slice(1))),
  rows: document.querySelectorAll('.row').length,
  now: document.querySelector('.row.now')?.dataset.at,
  theme: document.documentElement.dataset.theme,
  ending: document.getElementById('ending').hidden ? null : document.getElementById('ending').textContent,
}));

// A position after each key, with the values that the page shows there.
async function walk(page, keys) {
  const seen = [];
  for (const key of keys) {
    await page.keyboard.press(key);
    seen.push({ ...(await facts(page)), values: await values(page) });
  }
  return seen;
}

// Milliseconds that the page works for so many steps and is laid out after each. Other programs do not count.
async function race(page, count) {
  const session = await page.createCDPSession();
  await session.send('Performance.enable', { timeDomain: 'threadTicks' });
  const measured = async () => Object.fromEntries((await session.send('Performance.getMetrics')).metrics.map(({ name, value }) => [name, value]));
  const begin = await measured();
  await page.evaluate((steps) => {
    for (let step = 0; step < steps; step++) {
      document.body.dispatchEvent(new KeyboardEvent('keydown', { key: 'ArrowRight', bubbles: true }));
      document.querySelector('#list').getBoundingClientRect();
    }
  }, count);
  const end = await measured();
  return { milliseconds: 1000 * (end.TaskDuration - begin.TaskDuration), layouts: end.LayoutCount - begin.LayoutCount };
}

const results = [];
for (const task of tasks) {
  const page = await browser.newPage();
  const problems = [];
  page.on('pageerror', (error) => problems.push(String(error)));
  page.on('request', (request) => { if (!request.url().startsWith('file:')) problems.push(`asks for ${request.url()}`); });
  await page.setViewport({ width: task.width ?? 1500, height: task.height ?? 950 });
  await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: task.scheme ?? 'light' }]);
  const begin = Date.now();
  await page.goto(`file://${task.page}${task.hash ?? ''}`);
  const result = { opened: Date.now() - begin, first: await facts(page), values: await values(page) };
  if (task.keys) result.walk = await walk(page, task.keys);
  if (task.race) result.race = await race(page, task.race);
  if (task.query) result.query = await page.evaluate(task.query);
  if (task.screenshot) await page.screenshot({ path: task.screenshot, fullPage: task.full ?? false });
  if (task.pdf) result.pdf = (await page.pdf({ format: 'A4' })).length;
  result.problems = problems;
  results.push(result);
  await page.close();
}
await browser.close();
process.stdout.write(JSON.stringify(results));
