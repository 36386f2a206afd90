// A pull in another process, seen from a page that is open.

import assert from 'node:assert/strict';
import { addresses, box, focused, hits, sameLoad, searched, visit } from './browser.mjs';
import { House } from './house.mjs';
import { promise } from './runner.mjs';

const issue = (title, body = 'Said while somebody looks.') => ({ issue: { repository: 'pump', title, body } });
const isLive = (page) => page.locator('#live[data-state="on"]').waitFor();

promise('what another process pulls appears in an open search, and disturbs nobody who types', async () => {
  const house = await House.open('small');
  await house.tell(issue('The narwhal valve sticks'));
  const server = await house.served();
  await visit(server, searched('narwhal'), async (page) => {
    await isLive(page);
    const stays = await sameLoad(page);
    await box(page).focus();
    await page.keyboard.press('Home');
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('ArrowRight');
    await house.tell(issue('A second narwhal valve sticks'));
    await house.pull();
    await hits(page).nth(1).waitFor();
    assert.equal(await focused(page), 'q');
    assert.deepEqual(await box(page).evaluate((it) => [it.selectionStart, it.selectionEnd]), [2, 2]);
    assert.equal(await box(page).inputValue(), 'narwhal');
    await stays();
  });
});

promise('whoever walked to a result stays on it, where it was', async () => {
  const house = await House.open('small');
  for (let number = 1; number <= 5; number += 1) await house.tell(issue(`Narwhal ${number} sticks`));
  const server = await house.served();
  await visit(server, searched('narwhal'), async (page) => {
    await isLive(page);
    await box(page).focus();
    for (let step = 0; step < 4; step += 1) await page.keyboard.press('ArrowDown');
    const stood = await focused(page);
    assert.match(stood, /^hit-/);
    const scrolled = await page.evaluate(() => scrollY);
    await house.tell(issue('Narwhal 6 sticks'));
    await house.pull();
    await hits(page).nth(5).waitFor();
    assert.equal(await focused(page), stood);
    assert.equal(await page.evaluate(() => scrollY), scrolled, 'nothing scrolls under the reader');
    const at = (await addresses(page)).indexOf(await page.evaluate(() => document.activeElement.getAttribute('href')));
    await page.keyboard.press('ArrowUp');
    assert.equal(await focused(page), await hits(page).nth(at - 1).getAttribute('id'), 'and walks on from there');
  });
});

promise('results never vanish and never repeat while another process pulls', async () => {
  const house = await House.open('small');
  await house.tell(issue('Narwhal 0 sticks'));
  const server = await house.served();
  // half a word, as while somebody types
  await visit(server, searched('narwh'), async (page) => {
    await isLive(page);
    await page.evaluate(watchResults);
    for (let number = 1; number <= 8; number += 1) {
      const { id } = await house.tell(issue(`Narwhal ${number} sticks`));
      await house.tell({ comment: { issue: id, body: 'The narwhal again.' } });
      await house.pull();
      // every other pull starts while the page may still be showing the one before
      if (number % 2 === 0) await hits(page).nth(number).waitFor();
    }
    const seen = await page.evaluate(() => window.seen);
    assert.ok(seen.looks > 20, `looked ${seen.looks} times`);
    assert.deepEqual(seen.wrongs, []);
    assert.ok(seen.counts.length > 3, `results came in several steps: ${seen.counts}`);
  });
});

/** In the page: looks at the results at every change of theirs, and all the time in between. */
function watchResults() {
  const seen = (window.seen = { looks: 0, wrongs: [], counts: [] });
  let least = 0;
  const look = () => {
    const links = [...document.querySelectorAll('#hits .hit-link')].map((it) => it.getAttribute('href').split('#')[0]);
    seen.looks += 1;
    if (links.length < least) seen.wrongs.push(`${least} results became ${links.length}`);
    if (new Set(links).size !== links.length) seen.wrongs.push(`twice: ${links}`);
    if (links.length !== least) seen.counts.push(links.length);
    least = links.length;
  };
  new MutationObserver(look).observe(document.getElementById('results'), { childList: true, subtree: true });
  setInterval(look, 5);
  look();
}

promise('a marked text stays marked while the page follows, and the page catches up afterwards', async () => {
  const house = await House.open('small');
  await house.tell(issue('The narwhal valve sticks'));
  const server = await house.served();
  await visit(server, searched('narwhal'), async (page) => {
    await isLive(page);
    await hits(page).first().evaluate((link) => getSelection().selectAllChildren(link));
    const marked = await page.evaluate(() => getSelection().toString());
    const asked = page.waitForResponse((response) => response.url().includes('live=true'));
    await house.tell(issue('A second narwhal valve sticks'));
    await house.pull();
    await asked;
    assert.equal(await page.evaluate(() => getSelection().toString()), marked);
    await page.evaluate(() => getSelection().removeAllRanges());
    await hits(page).nth(1).waitFor();
  });
});

promise('a comment appears in an open thread', async () => {
  const house = await House.open('small');
  const { id, number } = await house.tell(issue('The narwhal valve sticks'));
  const server = await house.served();
  await visit(server, `/threads/acme/pump/${number}`, async (page) => {
    await isLive(page);
    const stays = await sameLoad(page);
    assert.equal(await page.locator('.said').count(), 0);
    await house.tell({ comment: { issue: id, body: 'It sticks **here**, too.' } });
    await house.pull();
    await page.locator('.said .prose strong').waitFor();
    await stays();
  });
});

promise('a page that lost its server follows it again when it is back', async () => {
  const house = await House.open('small');
  const server = await house.served();
  await visit(server, searched('narwhal'), async (page) => {
    await isLive(page);
    await page.locator('#no-result').waitFor();
    await server.stop();
    await page.locator('#live[data-state="off"]').waitFor();
    await house.tell(issue('The narwhal valve sticks'));
    await house.pull();
    await server.again();
    await hits(page).first().waitFor({ timeout: 90_000 });
    await isLive(page);
  }, { silent: true });
});
