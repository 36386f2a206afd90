// The whole interface by keyboard.

import assert from 'node:assert/strict';
import { addresses, waitForAnswer, box, focused, hits, searchPath, visit } from './browser.mjs';
import { demo } from './fixture.mjs';
import { test } from './runner.mjs';

const press = async (page, ...keys) => {
  for (const key of keys) await page.keyboard.press(key);
};
/** The index of the focused result; -1 if none has the focus. */
const focusedHit = (page) =>
  hits(page).evaluateAll((all) => all.findIndex((link) => link === document.activeElement));

test('keys: arrows, Home and End move through the results and back to the search box', async () => {
  await visit(await demo(), searchPath('pump'), async (page) => {
    await box(page).focus();
    const steps = [['ArrowDown', 0], ['ArrowDown', 1], ['ArrowUp', 0], ['End', 9], ['ArrowDown', 9], ['Home', 0]];
    for (const [key, at] of steps) {
      await press(page, key);
      assert.equal(await focusedHit(page), at, `after ${key}`);
      assert.ok(await isInView(page), `after ${key} the result is in view`);
    }
    await press(page, 'ArrowUp');
    assert.equal(await focused(page), 'q');
  });
});

test('keys: a slash focuses the search box and Escape returns to it', async () => {
  const server = await demo();
  await visit(server, searchPath('pump'), async (page) => {
    await box(page).focus();
    await press(page, 'ArrowDown', 'ArrowDown', '/');
    assert.equal(await focused(page), 'q');
    assert.equal(await box(page).inputValue(), 'pump', 'the slash is not typed');
    await press(page, 'ArrowDown', 'Escape');
    assert.equal(await focused(page), 'q');
    await press(page, '/');
    assert.equal(await box(page).inputValue(), 'pump/', 'in the search box it is a character');
  });
  await visit(server, '/health', async (page) => {
    await press(page, '/');
    await page.waitForURL(`${server.url}/`);
    assert.equal(await focused(page), 'q');
  });
});

test('keys: the slash shortcut can be turned off and stays off', async () => {
  const server = await demo();
  await visit(server, searchPath('pump'), async (page) => {
    const slash = page.locator('#slash');
    await slash.click();
    assert.equal(await slash.getAttribute('aria-pressed'), 'false');
    await page.reload();
    assert.equal(await slash.getAttribute('aria-pressed'), 'false');
    await hits(page).first().focus();
    const before = await focused(page);
    await press(page, '/');
    assert.equal(await focused(page), before);
    await slash.click();
    await hits(page).first().focus();
    await press(page, '/');
    assert.equal(await focused(page), 'q');
  });
});

test('keys: searching, reading and filtering need no mouse', async () => {
  await visit(await demo(), '/', async (page) => {
    await page.keyboard.type('berth');
    await waitForAnswer(page, 'berth');
    const found = await addresses(page);
    await press(page, 'ArrowDown', 'ArrowDown');
    const chosen = await focused(page);
    await press(page, 'Enter');
    await page.waitForURL(`**${found[1]}`);
    await page.locator('#thread h1').waitFor();
    await page.goBack();
    await waitForAnswer(page, 'berth');
    await page.waitForFunction((id) => document.activeElement?.id === id, chosen);
    await box(page).focus();
    await tabTo(page, 'chip-state-open');
    await press(page, 'Space');
    await waitForAnswer(page, 'berth state:open');
    assert.equal(await focused(page), 'chip-state-open', 'the focus stays on the chip');
    await tabTo(page, 'source', 60, async () => {
      await hits(page).first().focus();
      await press(page, 'Enter');
      await page.locator('#thread h1').waitFor();
    });
  });
});

test('keys: the first Tab offers to skip to the content', async () => {
  await visit(await demo(), '/health', async (page) => {
    await press(page, 'Tab');
    const skip = page.locator('.skip');
    assert.ok(await skip.evaluate((link) => link === document.activeElement));
    assert.ok((await skip.boundingBox()).y >= 0, 'the link is visible');
    await press(page, 'Enter');
    assert.equal(await focused(page), 'main');
  });
});

test('keys: the focus is always visible', async () => {
  await visit(await demo(), searchPath('pump'), async (page) => {
    await box(page).focus();
    for (let step = 0; step < 25; step += 1) {
      await press(page, 'Tab');
      const isVisible = await page.evaluate(() => {
        const { outlineStyle, outlineWidth } = getComputedStyle(document.activeElement);
        return document.activeElement === document.body || (outlineStyle !== 'none' && parseFloat(outlineWidth) >= 2);
      });
      assert.ok(isVisible, `step ${step}: ${await page.evaluate(() => document.activeElement.outerHTML.slice(0, 200))}`);
    }
  });
});

test('keys: keys with a modifier are left to the browser', async () => {
  await visit(await demo(), searchPath('pump'), async (page) => {
    // no new request is sent, so the results are not replaced meanwhile
    await press(page, '/', 'ArrowDown', 'Control+ArrowDown');
    assert.equal(await focusedHit(page), 0);
  });
});

function isInView(page) {
  return page.evaluate(() => {
    const { top, bottom } = document.activeElement.getBoundingClientRect();
    return top >= 0 && bottom <= innerHeight;
  });
}

/** Presses Tab until this element has the focus. */
async function tabTo(page, id, most = 30, before = async () => {}) {
  await before();
  for (let step = 0; step < most; step += 1) {
    if ((await focused(page)) === id) return;
    await press(page, 'Tab');
  }
  assert.fail(`${id} was not reached with ${most} tabs`);
}
