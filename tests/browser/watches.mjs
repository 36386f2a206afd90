// The page of watches: what is watched, narrow and wide, by keyboard, and while it changes.

import assert from 'node:assert/strict';
import { NARROW, expectSameLoad, focused, visit } from './browser.mjs';
import { GitHubFixture } from './fixture.mjs';
import { checkAccessibility } from './access.mjs';
import { test } from './runner.mjs';

test('watches: a new watch appears in an open page', async () => {
  const fixture = await GitHubFixture.open('small');
  const server = await fixture.pullAndServe();
  for (const viewport of [{ width: 1280, height: 800 }, NARROW]) {
    await visit(server, '/watches', async (page) => {
      await page.locator('#live[data-state="on"]').waitFor();
      const assertSameLoad = await expectSameLoad(page);
      const before = await page.locator('[aria-labelledby="watches-title"] tbody').count();
      await fixture.run('watch', 'add', `acme/pump#${before + 1}`);
      await page.locator('[aria-labelledby="watches-title"] tbody').nth(before).waitFor();
      assert.match(await page.locator('#no-service').innerText(), /No service is running/);
      await assertSameLoad();
      await checkAccessibility(page, `watches, ${viewport.width} px`);
    }, { viewport });
  }
});

test('watches: filters are reached by keyboard and keep the focus during an update', async () => {
  const fixture = await GitHubFixture.open('small');
  const server = await fixture.pullAndServe();
  await fixture.run('watch', 'add', 'acme/pump#1');
  await visit(server, '/watches', async (page) => {
    await page.locator('#live[data-state="on"]').waitFor();
    await page.locator('#class-own').focus();
    await page.keyboard.press('Tab');
    assert.equal(await focused(page), 'class-ignored');
    await fixture.run('watch', 'add', 'acme/pump#2');
    await page.locator('[aria-labelledby="watches-title"] tbody').nth(1).waitFor();
    assert.equal(await focused(page), 'class-ignored');
    await page.keyboard.press('Enter');
    await page.waitForURL(/class=ignored/);
    assert.equal(await page.locator('.filters a[aria-current]').innerText(), 'ignored');
  });
});
