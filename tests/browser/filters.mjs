// Filters are buttons, and the query's text follows them.

import assert from 'node:assert/strict';
import { answered, ask, box, hits, sameLoad, searched, visit } from './browser.mjs';
import { demo } from './house.mjs';
import { promise } from './runner.mjs';

const kinds = (page) => page.locator('#hits .kind').allTextContents();
const states = (page) => page.locator('#hits .state').allTextContents();
const pressed = (page, id) => page.locator(`#${id}`).getAttribute('aria-pressed');

promise('a chip narrows, the query follows, and pressing it again undoes it', async () => {
  await visit(await demo(), '/', async (page) => {
    await ask(page, 'pump');
    const stays = await sameLoad(page);
    await page.locator('#chip-type-pull_request').click();
    await answered(page, 'pump type:pull_request');
    assert.equal(await box(page).inputValue(), 'pump type:pull_request');
    assert.equal(await pressed(page, 'chip-type-pull_request'), 'true');
    assert.deepEqual([...new Set(await kinds(page))], ['pull request']);

    await page.locator('#chip-state-merged').click();
    await answered(page, 'pump type:pull_request state:merged');
    assert.deepEqual([...new Set(await states(page))], ['merged']);

    await page.locator('#chip-type-pull_request').click();
    await answered(page, 'pump state:merged');
    assert.equal(await pressed(page, 'chip-type-pull_request'), 'false');
    assert.equal(await pressed(page, 'chip-state-merged'), 'true');
    await stays();
  });
});

promise('a chip takes the place of another of its kind', async () => {
  await visit(await demo(), searched('pump type:issue'), async (page) => {
    await page.locator('#chip-type-discussion').click();
    await answered(page, 'pump type:discussion');
    assert.equal(await pressed(page, 'chip-type-issue'), 'false');
    assert.deepEqual([...new Set(await kinds(page))], ['discussion']);
  });
});

promise('an author and a repository of a result narrow to it', async () => {
  await visit(await demo(), searched('pump'), async (page) => {
    const author = page.locator('#hits .facet[id$="-author"]').first();
    const name = await author.textContent();
    await author.click();
    await answered(page, `pump author:${name}`);
    const texts = await page.locator('#hits article').allInnerTexts();
    assert.ok(texts.length > 0 && texts.every((text) => text.includes(name)), `by ${name}: ${texts.join(' | ')}`);
    await page.locator('#chip-also-0').click();
    await answered(page, 'pump');
    assert.equal(await hits(page).count(), 10);
  });
});

promise('a filter that leaves nothing can be dropped from where it says so', async () => {
  await visit(await demo(), searched('pump author:nobody-of-that-name'), async (page) => {
    await page.locator('#no-result').waitFor();
    await page.locator('#drop-1').click();
    await answered(page, 'pump');
    await hits(page).first().waitFor();
  });
});
