// Nothing asked, nothing found, nothing pulled, nobody there.

import assert from 'node:assert/strict';
import { addresses, answered, ask, box, hits, searched, visit } from './browser.mjs';
import { House, demo, folder, serve } from './house.mjs';
import { promise } from './runner.mjs';

promise('an empty box says what can be asked, and asking nothing returns to it', async () => {
  await visit(await demo(), '/', async (page) => {
    await page.locator('#nothing-asked').waitFor();
    await ask(page, 'pump');
    await hits(page).first().waitFor();
    await box(page).fill('');
    await page.locator('#nothing-asked').waitFor();
    assert.equal(await hits(page).count(), 0);
  });
});

promise('a query without a result says so and repeats it', async () => {
  await visit(await demo(), '/', async (page) => {
    await ask(page, 'zzyzx quux');
    assert.match(await page.locator('#no-result').innerText(), /Nothing matches[^]*zzyzx quux/);
    await page.waitForFunction(() => document.getElementById('said').textContent === 'Nothing matches');
  });
});

promise('without a workspace every page says what to do, and follows the first pull by itself', async () => {
  const house = await House.open('small');
  const server = await serve(house.home);
  await visit(server, '/health', async (page) => {
    assert.match(await page.locator('#no-workspace').innerText(), /highwater pull -o ORGANISATION/);
  });
  await visit(server, searched('pump'), async (page) => {
    assert.match(await page.locator('#no-workspace').innerText(), /Nothing was pulled yet[^]*highwater demo/);
    await house.pull();
    await hits(page).first().waitFor();
    assert.equal(await box(page).inputValue(), 'pump');
  });
});

promise('while nobody answers the page says so, keeps what it shows, and goes on afterwards', async () => {
  const house = await House.open('small');
  const server = await house.served();
  await visit(server, searched('pump'), async (page) => {
    const before = await addresses(page);
    assert.ok(before.length > 0);
    await page.locator('#live[data-state="on"]').waitFor();
    await server.stop();
    await page.locator('#live[data-state="off"]').waitFor();
    await page.keyboard.press('/');
    await page.keyboard.press('End');
    await page.keyboard.type('s');
    await page.locator('#trouble .note-bad').waitFor();
    assert.match(await page.locator('#trouble').innerText(), /highwater does not answer/);
    assert.deepEqual(await addresses(page), before);
    assert.equal(await box(page).inputValue(), 'pumps');
    await server.again();
    await page.locator('#live[data-state="on"]').waitFor({ timeout: 90_000 });
    assert.equal(await page.locator('#trouble').innerText(), '');
    await ask(page, 'pump type:issue');
    await hits(page).first().waitFor();
  }, { silent: true });
});

promise('an address that leads nowhere has a page with a way out', async () => {
  const server = await demo();
  for (const path of ['/nowhere', '/harbourworks/pump/999999', '/%00', '/a/b/c/d/e']) {
    await visit(server, path, async (page) => {
      assert.ok(await page.locator('#problem').isVisible(), path);
      await page.locator('main a[href="/"]').click();
      await box(page).waitFor();
      await answered(page, '');
    }, { silent: true });
  }
});

promise('a page over an empty folder has no database to lose', async () => {
  const server = await serve(await folder());
  await visit(server, '/', async (page) => {
    await page.locator('#no-workspace').waitFor();
    await ask(page, 'anything');
    await page.locator('#no-workspace').waitFor();
  });
});
