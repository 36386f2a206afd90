// Health, and the honest word on every page.

import assert from 'node:assert/strict';
import { hits, sameLoad, searched, visit } from './browser.mjs';
import { House, demo, onlyOnce } from './house.mjs';
import { promise } from './runner.mjs';

/** A workspace in which the lists of one repository could not be read the last time. */
export const failing = onlyOnce(async () => {
  const house = await House.open('small');
  const { number } = await house.tell({ issue: { repository: 'pump', title: 'The narwhal valve', body: 'It sticks.' } });
  const server = await house.served();
  await house.tell({ break: { repository: 'pump' } });
  await house.tell({ issue: { repository: 'pump', title: 'Nobody can read this', body: 'Yet.' } });
  await house.pull({ mayFail: true });
  return { house, server, thread: `/threads/acme/pump/${number}` };
});

promise('the health page shows every lane, and that all is well', async () => {
  await visit(await demo(), '/health', async (page) => {
    assert.ok((await page.locator('.lane-table tbody tr').count()) > 20);
    assert.deepEqual([...new Set(await page.locator('.lane-table .verdict').allTextContents())].length, 1);
    assert.equal(await page.locator('#missing').count(), 0);
    assert.match(await page.locator('#fresh').innerText(), /Fresh through \d{4}-\d\d-\d\d/);
    await page.locator('#show-problems').click();
    await page.locator('#no-lanes').waitFor();
  });
});

promise('with a list that failed every page says so, until it is well again', async () => {
  const { house, server, thread } = await failing();
  for (const path of ['/', searched('narwhal'), searched('zzyzx'), thread, '/health']) {
    await visit(server, path, async (page) => {
      assert.match(await page.locator('#missing').innerText(), /pump/, `on ${path}`);
    });
  }
  await visit(server, '/health?only=problems', async (page) => {
    assert.ok((await page.locator('.lane-failing').count()) > 0);
    const stays = await sameLoad(page);
    await house.tell({ mend: {} });
    await house.pull();
    await page.locator('#missing').waitFor({ state: 'detached' });
    await page.locator('#no-lanes').waitFor();
    await stays();
    await page.goto(server.url + searched('nobody'));
    assert.equal(await hits(page).count(), 1);
  });
});
