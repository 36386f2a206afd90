// The whole interface from the keyboard.

import assert from 'node:assert/strict';
import { addresses, answered, ask, box, focused, hits, searched, visit } from './browser.mjs';
import { demo } from './house.mjs';
import { promise } from './runner.mjs';

const press = async (page, ...keys) => {
  for (const key of keys) await page.keyboard.press(key);
};
/** Which result has the focus, from 0; -1 when none has. */
const walkedTo = (page) =>
  hits(page).evaluateAll((all) => all.findIndex((link) => link === document.activeElement));

promise('arrows, Home and End walk the results, and end at the box', async () => {
  await visit(await demo(), searched('pump'), async (page) => {
    await box(page).focus();
    const steps = [['ArrowDown', 0], ['ArrowDown', 1], ['ArrowUp', 0], ['End', 9], ['ArrowDown', 9], ['Home', 0]];
    for (const [key, at] of steps) {
      await press(page, key);
      assert.equal(await walkedTo(page), at, `after ${key}`);
      assert.ok(await isInView(page), `after ${key} the result can be seen`);
    }
    await press(page, 'ArrowUp');
    assert.equal(await focused(page), 'q');
  });
});

promise('a slash goes to the box and Escape returns to it', async () => {
  const server = await demo();
  await visit(server, searched('pump'), async (page) => {
    await box(page).focus();
    await press(page, 'ArrowDown', 'ArrowDown', '/');
    assert.equal(await focused(page), 'q');
    assert.equal(await box(page).inputValue(), 'pump', 'the slash is not typed');
    await press(page, 'ArrowDown', 'Escape');
    assert.equal(await focused(page), 'q');
    await press(page, '/');
    assert.equal(await box(page).inputValue(), 'pump/', 'in the box it is a letter');
  });
  await visit(server, '/health', async (page) => {
    await press(page, '/');
    await page.waitForURL(`${server.url}/`);
    assert.equal(await focused(page), 'q');
  });
});

promise('the slash can be switched off, and stays so', async () => {
  const server = await demo();
  await visit(server, searched('pump'), async (page) => {
    const slash = page.locator('#slash');
    await slash.click();
    assert.equal(await slash.getAttribute('aria-pressed'), 'false');
    await page.reload();
    assert.equal(await slash.getAttribute('aria-pressed'), 'false');
    await hits(page).first().focus();
    const stood = await focused(page);
    await press(page, '/');
    assert.equal(await focused(page), stood);
    await slash.click();
    await hits(page).first().focus();
    await press(page, '/');
    assert.equal(await focused(page), 'q');
  });
});

promise('the whole journey needs no mouse', async () => {
  await visit(await demo(), '/', async (page) => {
    await page.keyboard.type('berth');
    await answered(page, 'berth');
    const found = await addresses(page);
    await press(page, 'ArrowDown', 'ArrowDown');
    const chosen = await focused(page);
    await press(page, 'Enter');
    await page.waitForURL(`**${found[1]}`);
    await page.locator('#thread h1').waitFor();
    await page.goBack();
    await answered(page, 'berth');
    await page.waitForFunction((id) => document.activeElement?.id === id, chosen);
    await box(page).focus();
    await tabTo(page, 'chip-state-open');
    await press(page, 'Space');
    await answered(page, 'berth state:open');
    assert.equal(await focused(page), 'chip-state-open', 'the focus stays on the chip');
    await tabTo(page, 'source', 60, async () => {
      await hits(page).first().focus();
      await press(page, 'Enter');
      await page.locator('#thread h1').waitFor();
    });
  });
});

promise('the first Tab offers to skip to the content', async () => {
  await visit(await demo(), '/health', async (page) => {
    await press(page, 'Tab');
    const skip = page.locator('.skip');
    assert.ok(await skip.evaluate((it) => it === document.activeElement));
    assert.ok((await skip.boundingBox()).y >= 0, 'it can be seen');
    await press(page, 'Enter');
    assert.equal(await focused(page), 'main');
  });
});

promise('whatever has the focus from the keyboard shows it', async () => {
  await visit(await demo(), searched('pump'), async (page) => {
    await box(page).focus();
    for (let step = 0; step < 25; step += 1) {
      await press(page, 'Tab');
      const shown = await page.evaluate(() => {
        const { outlineStyle, outlineWidth } = getComputedStyle(document.activeElement);
        return document.activeElement === document.body || (outlineStyle !== 'none' && parseFloat(outlineWidth) >= 2);
      });
      assert.ok(shown, `step ${step}: ${await page.evaluate(() => document.activeElement.outerHTML.slice(0, 200))}`);
    }
  });
});

promise('keys with a modifier belong to the browser', async () => {
  await visit(await demo(), searched('pump'), async (page) => {
    // nothing is asked anew, so nothing is replaced under the keys
    await press(page, '/', 'ArrowDown', 'Control+ArrowDown');
    assert.equal(await walkedTo(page), 0);
  });
});

function isInView(page) {
  return page.evaluate(() => {
    const { top, bottom } = document.activeElement.getBoundingClientRect();
    return top >= 0 && bottom <= innerHeight;
  });
}

/** Presses Tab until something has the focus. */
async function tabTo(page, id, most = 30, before = async () => {}) {
  await before();
  for (let step = 0; step < most; step += 1) {
    if ((await focused(page)) === id) return;
    await press(page, 'Tab');
  }
  assert.fail(`${id} was not reached with ${most} tabs`);
}
