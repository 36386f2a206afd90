// Search while typing.

import assert from 'node:assert/strict';
import { addresses, answered, ask, box, focused, hits, sameLoad, searched, visit } from './browser.mjs';
import { demo } from './house.mjs';
import { promise } from './runner.mjs';

promise('results appear while one types, at most ten, with their words marked', async () => {
  await visit(await demo(), '/', async (page) => {
    const stays = await sameLoad(page);
    assert.equal(await focused(page), 'q', 'the box has the focus from the start');
    await ask(page, 'pump');
    await hits(page).first().waitFor();
    assert.equal(await hits(page).count(), 10);
    const articles = page.locator('#hits article');
    for (const article of await articles.all()) {
      const marks = await article.locator('mark').allTextContents();
      assert.ok(marks.length > 0 && marks.every((mark) => /^pump/i.test(mark)), `marked: ${marks}`);
    }
    await stays();
  });
});

promise('a word that is still being typed finds what begins so', async () => {
  await visit(await demo(), '/', async (page) => {
    await ask(page, 'contro');
    await hits(page).first().waitFor();
    const marks = await page.locator('#hits mark').allTextContents();
    assert.ok(marks.some((mark) => mark === 'controller'), `marked: ${marks}`);
    const found = await addresses(page);
    await page.reload();
    assert.deepEqual(await addresses(page), found, 'and still does when it is loaded anew');
  });
});

promise('a query is a link: a reload, and another browser, show the same', async () => {
  const server = await demo();
  let first;
  await visit(server, '/', async (page) => {
    await ask(page, '"tide gauge" state:open');
    await hits(page).first().waitFor();
    first = await addresses(page);
    await page.reload();
    assert.equal(await box(page).inputValue(), '"tide gauge" state:open');
    assert.deepEqual(await addresses(page), first);
  });
  await visit(server, searched('"tide gauge" state:open'), async (page) => {
    assert.deepEqual(await addresses(page), first);
  });
});

promise('back returns to the same query and the same results', async () => {
  await visit(await demo(), '/', async (page) => {
    await ask(page, 'sluice');
    await hits(page).first().waitFor();
    const before = await addresses(page);
    await hits(page).nth(2).click();
    await page.locator('#thread h1').waitFor();
    await page.goBack();
    await answered(page, 'sluice');
    assert.equal(await box(page).inputValue(), 'sluice');
    assert.deepEqual(await addresses(page), before);
  });
});

promise('back and forth between queries shows each one with its results', async () => {
  await visit(await demo(), '/', async (page) => {
    const seen = {};
    const shows = async (query) => {
      await answered(page, query);
      assert.equal(await box(page).inputValue(), query);
      assert.deepEqual(await addresses(page), seen[query]);
    };
    await ask(page, 'beacon');
    seen.beacon = await addresses(page);
    await page.locator('#chip-state-closed').click();
    await answered(page, 'beacon state:closed');
    seen['beacon state:closed'] = await addresses(page);
    assert.notDeepEqual(seen['beacon state:closed'], seen.beacon);
    await page.goBack();
    await shows('beacon');
    await page.goForward();
    await shows('beacon state:closed');
    await page.goBack();
    await shows('beacon');
    await page.goBack();
    await page.locator('#nothing-asked').waitFor();
  });
});

promise('a query that was finished with Enter keeps its place behind the back button', async () => {
  await visit(await demo(), '/', async (page) => {
    await ask(page, 'beacon');
    await box(page).press('Enter');
    await answered(page, 'beacon');
    await box(page).press('End');
    await box(page).pressSequentially(' feed');
    await answered(page, 'beacon feed');
    await page.goBack();
    await answered(page, 'beacon');
    assert.equal(await box(page).inputValue(), 'beacon');
    await page.goBack();
    await page.locator('#nothing-asked').waitFor();
  });
});

promise('without JavaScript the form, the filters and the links do the same', async () => {
  await visit(await demo(), '/', async (page) => {
    await box(page).fill('pump');
    await page.locator('.search-go').click();
    await page.waitForURL('**/?q=pump');
    assert.equal(await hits(page).count(), 10);
    assert.equal(await page.locator('#live').isVisible(), false, 'nothing is live without a script');
    await page.locator('#chip-type-issue').click();
    await page.waitForURL('**/?q=pump+type%3Aissue');
    assert.deepEqual([...new Set(await page.locator('#hits .kind').allTextContents())], ['issue']);
    await hits(page).first().click();
    await page.locator('#thread h1').waitFor();
    await page.locator('nav a[href="/health"]').click();
    await page.locator('.lane-table').waitFor();
  }, { javaScriptEnabled: false });
});
