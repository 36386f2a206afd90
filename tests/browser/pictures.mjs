// The pictures of the documents: made anew with HIGHWATER_UPDATE_DOCS=1, and there in any case.

import assert from 'node:assert/strict';
import { mkdir, readFile, readdir, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { NARROW, WIDE, hits, searched, visit } from './browser.mjs';
import { demo } from './house.mjs';
import { promise } from './runner.mjs';

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '../..');
const SCREENS = join(ROOT, 'docs/screens');
const LARGEST = 150_000;

const PICTURES = {
  start: ['/'],
  search: [searched('tide gauge')],
  thread: [searched('type:pull_request state:merged tide gauge'), async (page) => {
    await hits(page).first().click();
    await page.locator('#thread h1').waitFor();
  }],
  health: ['/health'],
  nothing: [searched('kraken state:open')],
};
const names = Object.keys(PICTURES).flatMap((name) => [NARROW, WIDE].map(({ width }) => `${name}-${width}.png`));

if (process.env.HIGHWATER_UPDATE_DOCS === '1') {
  for (const [name, [path, act]] of Object.entries(PICTURES)) {
    promise(`the picture is made: ${name}`, async () => {
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

promise('every picture is there, is not too large, and is shown in a document', async () => {
  assert.deepEqual((await readdir(SCREENS)).sort(), [...names].sort());
  const shown = (await Promise.all(['README.md', 'docs/web.md'].map((it) => readFile(join(ROOT, it), 'utf8')))).join('\n');
  for (const name of names) {
    assert.ok(shown.includes(`screens/${name}`), `${name} is shown nowhere`);
    assert.ok((await stat(join(SCREENS, name))).size < LARGEST, `${name} is larger than ${LARGEST} bytes`);
  }
});

promise('the README shows a picture that exists', async () => {
  const named = [...(await readFile(join(ROOT, 'README.md'), 'utf8')).matchAll(/docs\/screens\/[\w-]+\.png/g)];
  assert.ok(named.length > 0);
  for (const [path] of named) await stat(join(ROOT, path));
});
