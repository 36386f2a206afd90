// Screenshots for the documentation: written with HIGHWATER_UPDATE_DOCS=1, checked always.

import assert from 'node:assert/strict';
import { mkdir, readFile, readdir, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { NARROW, WIDE, hits, searchPath, visit } from './browser.mjs';
import { demo } from './fixture.mjs';
import { test } from './runner.mjs';

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '../..');
const SCREENS = join(ROOT, 'docs/screens');
const LARGEST = 150_000;

const PICTURES = {
  start: ['/'],
  search: [searchPath('tide gauge')],
  thread: [searchPath('type:pull_request state:merged tide gauge'), async (page) => {
    await hits(page).first().click();
    await page.locator('#thread h1').waitFor();
  }],
  health: ['/health'],
  nothing: [searchPath('kraken state:open')],
};
const names = Object.keys(PICTURES).flatMap((name) => [NARROW, WIDE].map(({ width }) => `${name}-${width}.png`));

if (process.env.HIGHWATER_UPDATE_DOCS === '1') {
  for (const [name, [path, act]] of Object.entries(PICTURES)) {
    test(`pictures: ${name} is written`, async () => {
      await mkdir(SCREENS, { recursive: true });
      for (const viewport of [NARROW, WIDE]) {
        await visit(await demo(), path, async (page) => {
          await page.locator('#live[data-state="on"]').waitFor();
          await act?.(page);
          await page.locator('#live[data-state="on"]').waitFor();
          await page.screenshot({ path: join(SCREENS, `${name}-${viewport.width}.png`), caret: 'hide' });
        }, { viewport });
      }
    });
  }
}

test('pictures: every picture exists, is small enough, and is used in a document', async () => {
  assert.deepEqual((await readdir(SCREENS)).sort(), [...names].sort());
  const shown = (await Promise.all(['README.md', 'docs/web.md'].map((path) => readFile(join(ROOT, path), 'utf8')))).join('\n');
  for (const name of names) {
    assert.ok(shown.includes(`screens/${name}`), `${name} is used nowhere`);
    assert.ok((await stat(join(SCREENS, name))).size < LARGEST, `${name} is larger than ${LARGEST} bytes`);
  }
});

test('pictures: the README shows pictures that exist', async () => {
  const named = [...(await readFile(join(ROOT, 'README.md'), 'utf8')).matchAll(/docs\/screens\/[\w-]+\.png/g)];
  assert.ok(named.length > 0);
  for (const [path] of named) await stat(join(ROOT, path));
});
