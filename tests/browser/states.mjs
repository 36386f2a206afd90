// Empty states: no query, no result, no workspace, no server.

import assert from 'node:assert/strict';
import { addresses, waitForAnswer, ask, box, hits, searchPath, visit } from './browser.mjs';
import { GitHubFixture, demo, folder, serve } from './fixture.mjs';
import { test } from './runner.mjs';

test('states: an empty search box shows help, and clearing it returns to the help', async () => {
  await visit(await demo(), '/', async (page) => {
    await page.locator('#no-query').waitFor();
    await ask(page, 'pump');
    await hits(page).first().waitFor();
    await box(page).fill('');
    await page.locator('#no-query').waitFor();
    assert.equal(await hits(page).count(), 0);
  });
});

test('states: a query without results is repeated in the message', async () => {
  await visit(await demo(), '/', async (page) => {
    await ask(page, 'zzyzx quux');
    assert.match(await page.locator('#no-result').innerText(), /No matches[^]*zzyzx quux/);
    await page.waitForFunction(() => document.getElementById('announcement').textContent === 'No matches');
  });
});

test('states: pages without a workspace show what to do and follow the first pull', async () => {
  const fixture = await GitHubFixture.open('small');
  const server = await serve(fixture.home);
  await visit(server, '/health', async (page) => {
    assert.match(await page.locator('#no-workspace').innerText(), /highwater pull -o NAME/);
  });
  await visit(server, searchPath('pump'), async (page) => {
    assert.match(await page.locator('#no-workspace').innerText(), /Nothing pulled yet[^]*highwater demo/);
    await fixture.pull();
    await hits(page).first().waitFor();
    assert.equal(await box(page).inputValue(), 'pump');
  });
});

test('states: a page reports a stopped server, keeps its results and continues afterwards', async () => {
  const fixture = await GitHubFixture.open('small');
  const server = await fixture.pullAndServe();
  await visit(server, searchPath('pump'), async (page) => {
    const before = await addresses(page);
    assert.ok(before.length > 0);
    await page.locator('#live[data-state="on"]').waitFor();
    await server.stop();
    await page.locator('#live[data-state="off"]').waitFor();
    await page.keyboard.press('/');
    await page.keyboard.press('End');
    await page.keyboard.type('s');
    await page.locator('#trouble .note-bad').waitFor();
    assert.match(await page.locator('#trouble').innerText(), /highwater is not responding/);
    assert.deepEqual(await addresses(page), before);
    assert.equal(await box(page).inputValue(), 'pumps');
    await server.restart();
    await page.locator('#live[data-state="on"]').waitFor({ timeout: 90_000 });
    assert.equal(await page.locator('#trouble').innerText(), '');
    await ask(page, 'pump type:issue');
    await hits(page).first().waitFor();
  }, { silent: true });
});

test('states: an unknown path has an error page with a link back', async () => {
  const server = await demo();
  for (const path of ['/nowhere', '/harborworks/pump/999999', '/%00', '/a/b/c/d/e']) {
    await visit(server, path, async (page) => {
      assert.ok(await page.locator('#problem').isVisible(), path);
      await page.locator('main a[href="/"]').click();
      await box(page).waitFor();
      await waitForAnswer(page, '');
    }, { silent: true });
  }
});

test('states: an empty folder shows the page without a workspace', async () => {
  const server = await serve(await folder());
  await visit(server, '/', async (page) => {
    await page.locator('#no-workspace').waitFor();
    await ask(page, 'anything');
    await page.locator('#no-workspace').waitFor();
  });
});
