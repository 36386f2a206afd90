// Filter chips, and the query text that follows them.

import assert from 'node:assert/strict';
import { waitForAnswer, ask, box, hits, expectSameLoad, searchPath, visit } from './browser.mjs';
import { demo } from './fixture.mjs';
import { test } from './runner.mjs';

const kinds = (page) => page.locator('#hits .kind').allTextContents();
const states = (page) => page.locator('#hits .state').allTextContents();
const pressed = (page, id) => page.locator(`#${id}`).getAttribute('aria-pressed');

test('filters: a chip narrows the results and the query, and a second click undoes it', async () => {
  await visit(await demo(), '/', async (page) => {
    await ask(page, 'pump');
    const assertSameLoad = await expectSameLoad(page);
    await page.locator('#chip-type-pull_request').click();
    await waitForAnswer(page, 'pump type:pull_request');
    assert.equal(await box(page).inputValue(), 'pump type:pull_request');
    assert.equal(await pressed(page, 'chip-type-pull_request'), 'true');
    assert.deepEqual([...new Set(await kinds(page))], ['pull request']);

    await page.locator('#chip-state-merged').click();
    await waitForAnswer(page, 'pump type:pull_request state:merged');
    assert.deepEqual([...new Set(await states(page))], ['merged']);

    await page.locator('#chip-type-pull_request').click();
    await waitForAnswer(page, 'pump state:merged');
    assert.equal(await pressed(page, 'chip-type-pull_request'), 'false');
    assert.equal(await pressed(page, 'chip-state-merged'), 'true');
    await assertSameLoad();
  });
});

test('filters: a chip replaces another of its kind', async () => {
  await visit(await demo(), searchPath('pump type:issue'), async (page) => {
    await page.locator('#chip-type-discussion').click();
    await waitForAnswer(page, 'pump type:discussion');
    assert.equal(await pressed(page, 'chip-type-issue'), 'false');
    assert.deepEqual([...new Set(await kinds(page))], ['discussion']);
  });
});

test('filters: the author of a result narrows to it', async () => {
  await visit(await demo(), searchPath('pump'), async (page) => {
    const author = page.locator('#hits .facet[id$="-author"]').first();
    const name = await author.textContent();
    await author.click();
    await waitForAnswer(page, `pump author:${name}`);
    const texts = await page.locator('#hits article').allInnerTexts();
    assert.ok(texts.length > 0 && texts.every((text) => text.includes(name)), `by ${name}: ${texts.join(' | ')}`);
    await page.locator('#chip-also-0').click();
    await waitForAnswer(page, 'pump');
    assert.equal(await hits(page).count(), 10);
  });
});

test('filters: a filter without results can be removed from the message', async () => {
  await visit(await demo(), searchPath('pump author:nobody-of-that-name'), async (page) => {
    await page.locator('#no-result').waitFor();
    await page.locator('#drop-1').click();
    await waitForAnswer(page, 'pump');
    await hits(page).first().waitFor();
  });
});
