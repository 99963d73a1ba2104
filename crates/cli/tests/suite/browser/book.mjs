// Opens the book with the playground in a real browser, follows a link to an example and checks it; writes what it saw as
// JSON. Arguments: the browser's program, the folder with the package puppeteer-core, the book, and a folder for
// screenshots.

import { existsSync, readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

const [browserPath, modules, book, shots] = process.argv.slice(2);
const puppeteer = createRequire(`${modules}/`)('puppeteer-core');
const browser = await puppeteer.launch({
  executablePath: browserPath,
  args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--allow-file-access-from-files'],
});
const PATIENCE = { timeout: 120_000, polling: 50 };
const problems = [];
const page = await browser.newPage();
page.on('pageerror', (error) => problems.push(String(error)));
page.on('request', (request) => { if (!/^(file|blob|data|about):/.test(request.url())) problems.push(`asks for ${request.url()}`); });
await page.setViewport({ width: 1400, height: 900 });
const seen = { links: 0, dead: [] };

const toExamples = 'a[href*="try.html#example="]';
for (const name of readdirSync(`${book}/guide`).filter((name) => name.endsWith('.html'))) {
  await page.goto(pathToFileURL(`${book}/guide/${name}`).href);
  const targets = await page.$$eval(toExamples, (links) => links.map((link) => link.href));
  seen.links += targets.length;
  seen.dead.push(...targets.filter((target) => !existsSync(new URL(target))));
}

await page.goto(pathToFileURL(`${book}/index.html`).href);
await page.screenshot({ path: `${shots}/book-index.png` });
await page.goto(pathToFileURL(`${book}/guide/first-steps.html`).href);
await page.$eval(toExamples, (link) => link.scrollIntoView({ block: 'center' }));
await page.screenshot({ path: `${shots}/book.png` });
await Promise.all([page.waitForNavigation(), page.$eval('a[href$="#example=lock.bp"]', (link) => link.click())]);
await page.waitForFunction('times.ready !== null', PATIENCE);
seen.opened = await page.$eval('#text', (area) => area.value);
await page.click('#check');
await page.waitForFunction('settle === null && !/\\.\\.$/.test(el("said").textContent)', PATIENCE);
seen.said = await page.$eval('#said', (element) => element.textContent);
await page.screenshot({ path: `${shots}/book-playground.png` });
seen.problems = problems;
console.log(JSON.stringify(seen));
await browser.close();
