// Live updates of an open page while another process pulls.

import assert from 'node:assert/strict';
import { addresses, box, focused, hits, expectSameLoad, searchPath, visit } from './browser.mjs';
import { GitHubFixture } from './fixture.mjs';
import { test } from './runner.mjs';

const issue = (title, body = 'Written while a page is open.') => ({ issue: { repository: 'pump', title, body } });
const isLive = (page) => page.locator('#live[data-state="on"]').waitFor();

test('live: new results appear in an open search without disturbing typing', async () => {
  const fixture = await GitHubFixture.open('small');
  await fixture.send(issue('The narwhal valve sticks'));
  const server = await fixture.pullAndServe();
  await visit(server, searchPath('narwhal'), async (page) => {
    await isLive(page);
    const assertSameLoad = await expectSameLoad(page);
    await box(page).focus();
    await page.keyboard.press('Home');
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('ArrowRight');
    await fixture.send(issue('A second narwhal valve sticks'));
    await fixture.pull();
    await hits(page).nth(1).waitFor();
    assert.equal(await focused(page), 'q');
    assert.deepEqual(await box(page).evaluate((input) => [input.selectionStart, input.selectionEnd]), [2, 2]);
    assert.equal(await box(page).inputValue(), 'narwhal');
    await assertSameLoad();
  });
});

test('live: a focused result keeps the focus and its position', async () => {
  const fixture = await GitHubFixture.open('small');
  for (let number = 1; number <= 5; number += 1) await fixture.send(issue(`Narwhal ${number} sticks`));
  const server = await fixture.pullAndServe();
  await visit(server, searchPath('narwhal'), async (page) => {
    await isLive(page);
    await box(page).focus();
    for (let step = 0; step < 4; step += 1) await page.keyboard.press('ArrowDown');
    const before = await focused(page);
    assert.match(before, /^hit-/);
    const scrolled = await page.evaluate(() => scrollY);
    await fixture.send(issue('Narwhal 6 sticks'));
    await fixture.pull();
    await hits(page).nth(5).waitFor();
    assert.equal(await focused(page), before);
    assert.equal(await page.evaluate(() => scrollY), scrolled, 'nothing scrolls under the reader');
    const at = (await addresses(page)).indexOf(await page.evaluate(() => document.activeElement.getAttribute('href')));
    await page.keyboard.press('ArrowUp');
    assert.equal(await focused(page), await hits(page).nth(at - 1).getAttribute('id'), 'the arrows continue from there');
  });
});

test('live: results never vanish and never repeat while another process pulls', async () => {
  const fixture = await GitHubFixture.open('small');
  await fixture.send(issue('Narwhal 0 sticks'));
  const server = await fixture.pullAndServe();
  // half a word, as while typing
  await visit(server, searchPath('narwh'), async (page) => {
    await isLive(page);
    await page.evaluate(watchResults);
    for (let number = 1; number <= 8; number += 1) {
      const { id } = await fixture.send(issue(`Narwhal ${number} sticks`));
      await fixture.send({ comment: { issue: id, body: 'The narwhal again.' } });
      await fixture.pull();
      // every other pull starts while the page may still be showing the one before
      if (number % 2 === 0) await hits(page).nth(number).waitFor();
    }
    const seen = await page.evaluate(() => window.seen);
    assert.ok(seen.checks > 20, `checked ${seen.checks} times`);
    assert.deepEqual(seen.errors, []);
    assert.ok(seen.counts.length > 3, `results came in several steps: ${seen.counts}`);
  });
});

/** Runs in the page: checks the results at every change, and every few milliseconds in between. */
function watchResults() {
  const seen = (window.seen = { checks: 0, errors: [], counts: [] });
  let least = 0;
  const checkResults = () => {
    const links = [...document.querySelectorAll('#hits .hit-link')].map((link) => link.getAttribute('href').split('#')[0]);
    seen.checks += 1;
    if (links.length < least) seen.errors.push(`${least} results became ${links.length}`);
    if (new Set(links).size !== links.length) seen.errors.push(`twice: ${links}`);
    if (links.length !== least) seen.counts.push(links.length);
    least = links.length;
  };
  new MutationObserver(checkResults).observe(document.getElementById('results'), { childList: true, subtree: true });
  setInterval(checkResults, 5);
  checkResults();
}

test('live: a selection survives an update, and the page catches up afterwards', async () => {
  const fixture = await GitHubFixture.open('small');
  await fixture.send(issue('The narwhal valve sticks'));
  const server = await fixture.pullAndServe();
  await visit(server, searchPath('narwhal'), async (page) => {
    await isLive(page);
    await hits(page).first().evaluate((link) => getSelection().selectAllChildren(link));
    const selected = await page.evaluate(() => getSelection().toString());
    const response = page.waitForResponse((response) => response.url().includes('live=true'));
    await fixture.send(issue('A second narwhal valve sticks'));
    await fixture.pull();
    await response;
    assert.equal(await page.evaluate(() => getSelection().toString()), selected);
    await page.evaluate(() => getSelection().removeAllRanges());
    await hits(page).nth(1).waitFor();
  });
});

test('live: a new comment appears in an open thread', async () => {
  const fixture = await GitHubFixture.open('small');
  const { id, number } = await fixture.send(issue('The narwhal valve sticks'));
  const server = await fixture.pullAndServe();
  await visit(server, `/threads/acme/pump/${number}`, async (page) => {
    await isLive(page);
    const assertSameLoad = await expectSameLoad(page);
    assert.equal(await page.locator('.comment').count(), 0);
    await fixture.send({ comment: { issue: id, body: 'It sticks **here**, too.' } });
    await fixture.pull();
    await page.locator('.comment .prose strong').waitFor();
    await assertSameLoad();
  });
});

test('live: a page reconnects when its server is back', async () => {
  const fixture = await GitHubFixture.open('small');
  const server = await fixture.pullAndServe();
  await visit(server, searchPath('narwhal'), async (page) => {
    await isLive(page);
    await page.locator('#no-result').waitFor();
    await server.stop();
    await page.locator('#live[data-state="off"]').waitFor();
    await fixture.send(issue('The narwhal valve sticks'));
    await fixture.pull();
    await server.restart();
    await hits(page).first().waitFor({ timeout: 90_000 });
    await isLive(page);
  }, { silent: true });
});
