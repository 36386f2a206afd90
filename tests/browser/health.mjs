// The health page, and the warning on every page.

import assert from 'node:assert/strict';
import { hits, expectSameLoad, searchPath, visit } from './browser.mjs';
import { failing } from './failing_list.mjs';
import { GitHubFixture, demo } from './fixture.mjs';
import { test } from './runner.mjs';

test('health: the page shows every list and its status', async () => {
  await visit(await demo(), '/health', async (page) => {
    assert.ok((await page.locator('.lane-table tbody tr').count()) > 20);
    assert.deepEqual([...new Set(await page.locator('.lane-table .status').allTextContents())].length, 1);
    assert.equal(await page.locator('#missing').count(), 0);
    assert.match(await page.locator('#fresh').innerText(), /Fresh through \d{4}-\d\d-\d\d/);
    await page.locator('#show-problems').click();
    await page.locator('#no-lanes').waitFor();
  });
});

test('health: every page warns about a failed list until it is read again', async () => {
  const { fixture, server, thread } = await failing();
  for (const path of ['/', searchPath('narwhal'), searchPath('zzyzx'), thread, '/health']) {
    await visit(server, path, async (page) => {
      assert.match(await page.locator('#missing').innerText(), /pump/, `on ${path}`);
    });
  }
  await visit(server, '/health?only=problems', async (page) => {
    assert.ok((await page.locator('.lane-failing').count()) > 0);
    const assertSameLoad = await expectSameLoad(page);
    await fixture.send({ mend: {} });
    await fixture.pull();
    await page.locator('#missing').waitFor({ state: 'detached' });
    await page.locator('#no-lanes').waitFor();
    await assertSameLoad();
    await page.goto(server.url + searchPath('nobody'));
    assert.equal(await hits(page).count(), 1);
  });
});

test('health: every page warns after a refused pull', async () => {
  const fixture = await GitHubFixture.open('small');
  const { number } = await fixture.send({ issue: { repository: 'pump', title: 'The narwhal valve', body: 'It sticks.' } });
  const server = await fixture.pullAndServe();
  await visit(server, searchPath('narwhal'), async (page) => {
    assert.equal(await page.locator('#missing').count(), 0);
    await fixture.send({ refuse: {} });
    await fixture.pull({ mayFail: true });
    await page.locator('#missing').waitFor();
    assert.equal(await hits(page).count(), 1, 'stored results are still shown');
    for (const path of ['/', searchPath('zzyzx'), `/threads/acme/pump/${number}`, '/health']) {
      await page.goto(server.url + path);
      assert.match(await page.locator('#missing').innerText(), /fail/i, `on ${path}`);
    }
  });
});
