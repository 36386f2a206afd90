// Accessibility of every page and state, narrow and wide: no axe violation, no horizontal scrolling.

import assert from 'node:assert/strict';
import { readFile, readdir } from 'node:fs/promises';
import { AXE, NARROW, WIDE, box, searchPath, visit } from './browser.mjs';
import { failing } from './failing_list.mjs';
import { GitHubFixture, demo, folder, serve } from './fixture.mjs';
import { test } from './runner.mjs';

/** WCAG 2 A and AA, and best practice. */
const OPTIONS = {
  runOnly: { type: 'tag', values: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'] },
};

/** Each page and state: a name, a server, a path, and an action on the page. */
const STATES = [
  ['start page', demo, '/'],
  ['results', demo, searchPath('pump')],
  ['results with filters', demo, searchPath('pump type:issue state:open repo:pump')],
  ['selected result', demo, searchPath('pump'), async (page) => {
    await box(page).focus();
    await page.keyboard.press('ArrowDown');
  }],
  ['no result', demo, searchPath('zzyzx author:nobody')],
  ['thread', demo, searchPath('type:pull_request state:merged pump'), async (page) => {
    await page.locator('.hit-link').first().click();
    await page.locator('#thread h1').waitFor();
  }],
  ['posts', demo, '/posts'],
  ['trending', demo, '/trending'],
  ['watches, none', demo, '/watches'],
  ['health', demo, '/health'],
  ['page not found', demo, '/nowhere'],
  ['no workspace', async () => serve(await folder()), '/'],
  ['server stopped', async () => (await GitHubFixture.open('small')).pullAndServe(), searchPath('pump'), async (page, server) => {
    await page.locator('#live[data-state="on"]').waitFor();
    await server.stop();
    await box(page).pressSequentially('s');
    await page.locator('#trouble .note-bad').waitFor();
  }],
];

for (const [name, server, path, act] of STATES) {
  test(`accessibility: ${name}`, async () => {
    for (const viewport of [NARROW, WIDE]) {
      const running = await server();
      await visit(running, path, async (page) => {
        await act?.(page, running);
        await checkAccessibility(page, `${name}, ${viewport.width} px`);
      }, { viewport, silent: true });
    }
  });
}

test('accessibility: wide texts and a failed list', async () => {
  const { server, thread } = await failing();
  for (const path of ['/', '/health', '/health?only=problems', thread, searchPath('narwhal')]) {
    for (const viewport of [NARROW, WIDE]) {
      await visit(server, path, async (page) => {
        await page.locator('#missing').waitFor();
        await checkAccessibility(page, `${path}, ${viewport.width} px`);
      }, { viewport });
    }
  }
});

test('accessibility: samples of Markdown', async () => {
  const fixture = await GitHubFixture.open('small', 7);
  const shapes = new URL('../../crates/hw-web/tests/markdown_samples/', import.meta.url);
  const names = (await readdir(shapes)).sort();
  const { id, number } = await fixture.send({ issue: { repository: 'pump', title: 'Shapes of `Markdown`', body: 'Below.' } });
  for (const name of names) {
    const body = await readFile(new URL(name, shapes), 'utf8');
    await fixture.send({ comment: { issue: id, body: `**${name}**\n\n${body}` } });
  }
  const server = await fixture.pullAndServe();
  for (const viewport of [NARROW, WIDE]) {
    await visit(server, `/threads/acme/pump/${number}`, async (page) => {
      assert.equal(await page.locator('.comment').count(), names.length);
      await page.evaluate(() => {
        // axe and screenshots leave out what is folded or not scrolled into view
        for (const fold of document.querySelectorAll('details')) fold.open = true;
        for (const comment of document.querySelectorAll('.comment')) comment.style.setProperty('content-visibility', 'visible');
      });
      const pictures = process.env.HIGHWATER_SHAPES_PICTURES;
      if (pictures) await page.screenshot({ path: `${pictures}/shapes-${viewport.width}.png`, fullPage: true });
      await checkAccessibility(page, `shapes, ${viewport.width} px`);
    }, { viewport });
  }
});

test('accessibility: reduced motion is respected', async () => {
  await visit(await demo(), searchPath('pump'), async (page) => {
    const moving = await page.evaluate(() => [...document.querySelectorAll('*')].filter((element) => {
      const { transitionDuration, animationName, scrollBehavior } = getComputedStyle(element);
      return transitionDuration.split(', ').some((each) => parseFloat(each) > 0) || animationName !== 'none' || scrollBehavior === 'smooth';
    }).length);
    assert.equal(moving, 0);
  }, { reducedMotion: 'reduce' });
});

test('accessibility: text at 200 % fits a narrow window', async () => {
  await visit(await demo(), searchPath('pump'), async (page) => {
    await page.setViewportSize({ width: 320, height: 740 });
    await fits(page, '320 px');
    await page.setViewportSize(NARROW);
    await page.evaluate(() => document.documentElement.style.setProperty('font-size', '200%'));
    await fits(page, 'twice as large');
  }, { viewport: NARROW });
});

export async function checkAccessibility(page, where) {
  await fits(page, where);
  await page.evaluate(AXE);
  const { violations, passes } = await page.evaluate((options) => window.axe.run(document, options), OPTIONS);
  assert.ok(passes.length > 10, 'axe checked something');
  const found = violations.map(({ id, nodes }) => `${id}: ${nodes.slice(0, 3).map((node) => node.html.slice(0, 160)).join(' | ')}`);
  assert.deepEqual(found, [], where);
}

async function fits(page, where) {
  const [wide, window] = await page.evaluate(() => [document.documentElement.scrollWidth, document.documentElement.clientWidth]);
  if (wide <= window) return;
  const over = await page.evaluate(() => [...document.querySelectorAll('main *, .bar *')]
    .filter((element) => element.getBoundingClientRect().right > document.documentElement.clientWidth + 1)
    .slice(0, 5).map((element) => element.outerHTML.slice(0, 120)));
  assert.fail(`${where}: ${wide} px in ${window} px: ${over.join(' | ')}`);
}
