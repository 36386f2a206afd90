// Health, and the honest word on every page.

import assert from 'node:assert/strict';
import { hits, sameLoad, searched, visit } from './browser.mjs';
import { failing } from './failing.mjs';
import { House, demo } from './house.mjs';
import { promise } from './runner.mjs';

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

promise('after a pull that was refused as a whole every page says so', async () => {
  const house = await House.open('small');
  const { number } = await house.tell({ issue: { repository: 'pump', title: 'The narwhal valve', body: 'It sticks.' } });
  const server = await house.served();
  await visit(server, searched('narwhal'), async (page) => {
    assert.equal(await page.locator('#missing').count(), 0);
    await house.tell({ refuse: {} });
    await house.pull({ mayFail: true });
    await page.locator('#missing').waitFor();
    assert.equal(await hits(page).count(), 1, 'and shows what it holds');
    for (const path of ['/', searched('zzyzx'), `/threads/acme/pump/${number}`, '/health']) {
      await page.goto(server.url + path);
      assert.match(await page.locator('#missing').innerText(), /fail/i, `on ${path}`);
    }
  });
});
