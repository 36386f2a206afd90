// Every page and state, narrow and wide: usable by everybody, and nothing to scroll sideways.

import assert from 'node:assert/strict';
import { readFile, readdir } from 'node:fs/promises';
import { AXE, NARROW, WIDE, box, searched, visit } from './browser.mjs';
import { failing } from './failing.mjs';
import { House, demo, folder, serve } from './house.mjs';
import { promise } from './runner.mjs';

/** WCAG 2 A and AA, and good practice. */
const OPTIONS = {
  runOnly: { type: 'tag', values: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'] },
};

/** Each page and state: a name, a server, an address, and what is done there. */
const STATES = [
  ['the start', demo, '/'],
  ['results', demo, searched('pump')],
  ['results with filters', demo, searched('pump type:issue state:open repo:pump')],
  ['a walked-to result', demo, searched('pump'), async (page) => {
    await box(page).focus();
    await page.keyboard.press('ArrowDown');
  }],
  ['no result', demo, searched('zzyzx author:nobody')],
  ['a thread', demo, searched('type:pull_request state:merged pump'), async (page) => {
    await page.locator('.hit-link').first().click();
    await page.locator('#thread h1').waitFor();
  }],
  ['health', demo, '/health'],
  ['a page that is not there', demo, '/nowhere'],
  ['no workspace', async () => serve(await folder()), '/'],
  ['nobody answers', async () => (await House.open('small')).served(), searched('pump'), async (page, server) => {
    await page.locator('#live[data-state="on"]').waitFor();
    await server.stop();
    await box(page).pressSequentially('s');
    await page.locator('#trouble .note-bad').waitFor();
  }],
];

for (const [name, server, path, act] of STATES) {
  promise(`axe finds nothing wrong, and nothing scrolls sideways: ${name}`, async () => {
    for (const viewport of [NARROW, WIDE]) {
      const here = await server();
      await visit(here, path, async (page) => {
        await act?.(page, here);
        await isAccessible(page, `${name}, ${viewport.width} px`);
      }, { viewport, silent: true });
    }
  });
}

promise('axe finds nothing wrong, and nothing scrolls sideways: wide texts and a failed list', async () => {
  const { server, thread } = await failing();
  for (const path of ['/', '/health', '/health?only=problems', thread, searched('narwhal')]) {
    for (const viewport of [NARROW, WIDE]) {
      await visit(server, path, async (page) => {
        await page.locator('#missing').waitFor();
        await isAccessible(page, `${path}, ${viewport.width} px`);
      }, { viewport });
    }
  }
});

promise('axe finds nothing wrong, and nothing scrolls sideways: real-world shapes of Markdown', async () => {
  const house = await House.open('small', 7);
  const shapes = new URL('../../crates/hw-web/tests/shapes/', import.meta.url);
  const names = (await readdir(shapes)).sort();
  const { id, number } = await house.tell({ issue: { repository: 'pump', title: 'Shapes of `Markdown`', body: 'Below.' } });
  for (const name of names) {
    const body = await readFile(new URL(name, shapes), 'utf8');
    await house.tell({ comment: { issue: id, body: `**${name}**\n\n${body}` } });
  }
  const server = await house.served();
  for (const viewport of [NARROW, WIDE]) {
    await visit(server, `/threads/acme/pump/${number}`, async (page) => {
      assert.equal(await page.locator('.said').count(), names.length);
      await page.evaluate(() => {
        // axe and pictures leave out what is folded, or not scrolled to
        for (const fold of document.querySelectorAll('details')) fold.open = true;
        for (const said of document.querySelectorAll('.said')) said.style.setProperty('content-visibility', 'visible');
      });
      const pictures = process.env.HIGHWATER_SHAPES_PICTURES;
      if (pictures) await page.screenshot({ path: `${pictures}/shapes-${viewport.width}.png`, fullPage: true });
      await isAccessible(page, `shapes, ${viewport.width} px`);
    }, { viewport });
  }
});

promise('whoever wants less motion gets none', async () => {
  await visit(await demo(), searched('pump'), async (page) => {
    const moving = await page.evaluate(() => [...document.querySelectorAll('*')].filter((it) => {
      const { transitionDuration, animationName, scrollBehavior } = getComputedStyle(it);
      return transitionDuration.split(', ').some((each) => parseFloat(each) > 0) || animationName !== 'none' || scrollBehavior === 'smooth';
    }).length);
    assert.equal(moving, 0);
  }, { reducedMotion: 'reduce' });
});

promise('text twice as large still fits a narrow window', async () => {
  await visit(await demo(), searched('pump'), async (page) => {
    await page.setViewportSize({ width: 320, height: 740 });
    await fits(page, '320 px');
    await page.setViewportSize(NARROW);
    await page.evaluate(() => document.documentElement.style.setProperty('font-size', '200%'));
    await fits(page, 'twice as large');
  }, { viewport: NARROW });
});

async function isAccessible(page, where) {
  await fits(page, where);
  await page.evaluate(AXE);
  const { violations, passes } = await page.evaluate((options) => window.axe.run(document, options), OPTIONS);
  assert.ok(passes.length > 10, 'axe looked at something');
  const told = violations.map(({ id, nodes }) => `${id}: ${nodes.slice(0, 3).map((it) => it.html.slice(0, 160)).join(' | ')}`);
  assert.deepEqual(told, [], where);
}

async function fits(page, where) {
  const [wide, window] = await page.evaluate(() => [document.documentElement.scrollWidth, document.documentElement.clientWidth]);
  if (wide <= window) return;
  const over = await page.evaluate(() => [...document.querySelectorAll('main *, .bar *')]
    .filter((it) => it.getBoundingClientRect().right > document.documentElement.clientWidth + 1)
    .slice(0, 5).map((it) => it.outerHTML.slice(0, 120)));
  assert.fail(`${where}: ${wide} px in ${window} px: ${over.join(' | ')}`);
}
