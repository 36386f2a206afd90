// Search as you type.

import assert from 'node:assert/strict';
import { addresses, waitForAnswer, ask, box, focused, hits, expectSameLoad, searchPath, visit } from './browser.mjs';
import { demo } from './fixture.mjs';
import { test } from './runner.mjs';

test('search: up to ten results appear while typing, with matches marked', async () => {
  await visit(await demo(), '/', async (page) => {
    const assertSameLoad = await expectSameLoad(page);
    assert.equal(await focused(page), 'q', 'the search box has the focus at first');
    await ask(page, 'pump');
    await hits(page).first().waitFor();
    assert.equal(await hits(page).count(), 10);
    const articles = page.locator('#hits article');
    for (const article of await articles.all()) {
      const marks = await article.locator('mark').allTextContents();
      assert.ok(marks.length > 0 && marks.every((mark) => /^pump/i.test(mark)), `marked: ${marks}`);
    }
    await assertSameLoad();
  });
});

test('search: an unfinished word matches as a prefix', async () => {
  await visit(await demo(), '/', async (page) => {
    await ask(page, 'contro');
    await hits(page).first().waitFor();
    const marks = await page.locator('#hits mark').allTextContents();
    assert.ok(marks.some((mark) => mark === 'controller'), `marked: ${marks}`);
    const found = await addresses(page);
    await page.reload();
    assert.deepEqual(await addresses(page), found, 'the same after a reload');
  });
});

test('search: a query is a link that shows the same results elsewhere', async () => {
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
  await visit(server, searchPath('"tide gauge" state:open'), async (page) => {
    assert.deepEqual(await addresses(page), first);
  });
});

test('search: back returns to the same query and results', async () => {
  await visit(await demo(), '/', async (page) => {
    await ask(page, 'sluice');
    await hits(page).first().waitFor();
    const before = await addresses(page);
    await hits(page).nth(2).click();
    await page.locator('#thread h1').waitFor();
    await page.goBack();
    await waitForAnswer(page, 'sluice');
    assert.equal(await box(page).inputValue(), 'sluice');
    assert.deepEqual(await addresses(page), before);
  });
});

test('search: back and forward show each query with its results', async () => {
  await visit(await demo(), '/', async (page) => {
    const seen = {};
    const expectResults = async (query) => {
      await waitForAnswer(page, query);
      assert.equal(await box(page).inputValue(), query);
      assert.deepEqual(await addresses(page), seen[query]);
    };
    await ask(page, 'beacon');
    seen.beacon = await addresses(page);
    await page.locator('#chip-state-closed').click();
    await waitForAnswer(page, 'beacon state:closed');
    seen['beacon state:closed'] = await addresses(page);
    assert.notDeepEqual(seen['beacon state:closed'], seen.beacon);
    await page.goBack();
    await expectResults('beacon');
    await page.goForward();
    await expectResults('beacon state:closed');
    await page.goBack();
    await expectResults('beacon');
    await page.goBack();
    await page.locator('#no-query').waitFor();
  });
});

test('search: a query submitted with Enter stays in the history', async () => {
  await visit(await demo(), '/', async (page) => {
    await ask(page, 'beacon');
    await box(page).press('Enter');
    await waitForAnswer(page, 'beacon');
    await box(page).press('End');
    await box(page).pressSequentially(' feed');
    await waitForAnswer(page, 'beacon feed');
    await page.goBack();
    await waitForAnswer(page, 'beacon');
    assert.equal(await box(page).inputValue(), 'beacon');
    await page.goBack();
    await page.locator('#no-query').waitFor();
  });
});

test('search: the form, the filters and the links work without JavaScript', async () => {
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
