// Any text is a query.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { answered, box, focused, hits, searched, visit } from './browser.mjs';
import { House, demo, onlyOnce } from './house.mjs';
import { promise } from './runner.mjs';

const listed = JSON.parse(readFileSync(new URL('../nasty.json', import.meta.url), 'utf8'));
/** What is in one of the world's texts, and has to be found by it. */
const FINDABLE = listed.found;
const NASTY = [...FINDABLE, ...listed.empty, 'author:', 'repo:""', 'type:nothing', 'a'.repeat(300), '\uFFFD'];

const named = (number) => String(number).padStart(3, '0');

const world = onlyOnce(async () => {
  const house = await House.open('small');
  for (const [number, text] of FINDABLE.entries()) {
    const body = `case${named(number)} ${text} after`;
    await house.tell({ issue: { repository: 'pump', title: `Case ${named(number)}`, body } });
  }
  return house.served();
});

promise('every query of the nasty list is typed without an error', async () => {
  await visit(await demo(), '/', async (page) => {
    for (const query of NASTY) {
      await box(page).fill(query);
      await box(page).press('Enter');
      await answered(page, query);
      await isAnswer(page, query);
      assert.equal(await box(page).inputValue(), query);
      assert.equal(await focused(page), 'q');
    }
  });
});

promise('every query of the nasty list is a link, and finds what contains it', async () => {
  const server = await world();
  await visit(server, '/', async (page) => {
    for (const query of NASTY) {
      await page.goto(server.url + searched(query));
      await isAnswer(page, query);
    }
    for (const [number, query] of FINDABLE.entries()) {
      // the first page of many may show others, so it is told apart by a word before it
      await page.goto(server.url + searched(`case${named(number)} ${query}`));
      const titles = await hits(page).allTextContents();
      assert.ok(titles.includes(`Case ${named(number)}`), `${query} finds ${titles}`);
    }
  });
});

promise('ten kilobytes of text, and hundreds of random ones, are queries like any other', async () => {
  const server = await world();
  await visit(server, searched('long text '.repeat(1000)), async (page) => {
    await isAnswer(page, '10 kB');
    const dice = seeded(1);
    for (let round = 0; round < 40; round += 1) {
      const query = randomText(dice);
      await box(page).fill(query);
      await box(page).press('Enter');
      // what the box cannot hold, as line ends, is not asked either
      await answered(page, await box(page).inputValue());
      await isAnswer(page, JSON.stringify(query));
    }
    const answers = await page.evaluate(async (queries) => {
      const ask = async (query) => (await fetch(`/search?q=${encodeURIComponent(query)}`)).status;
      return Promise.all(queries.map(ask));
    }, Array.from({ length: 300 }, () => randomText(dice)));
    assert.deepEqual([...new Set(answers)], [200]);
  });
});

promise('a paste that no address can hold is answered by its beginning', async () => {
  await visit(await demo(), searched('pump'), async (page) => {
    for (const long of ['zzyzx '.repeat(14_000), '検'.repeat(12_000)]) {
      const asked = page.waitForResponse((response) => response.url().includes('/search?'));
      await box(page).fill(long);
      assert.equal((await asked).status(), 200);
      await page.locator('#no-result').waitFor();
      await isAnswer(page, 'a long paste');
    }
  });
});

/** Results, or one of the designed states instead, and no trouble. */
async function isAnswer(page, query) {
  assert.equal(await page.locator('#hits, #no-result, #nothing-asked').count(), 1, `for ${query}`);
  assert.equal(await page.locator('#trouble').innerText(), '', `for ${query}`);
}

function seeded(seed) {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

function randomText(dice) {
  const pieces = ['a', 'pump', '"', "'", ' ', ':', '*', '-', '(', ')', 'AND', 'OR', 'NOT', 'NEAR', '^', '+', 'type:', 'label:', '<', '>', '&', '%', '\\', '\t', 'é', '港', '👩‍👩‍👧', '\u202e', '\u200b', '\u0001'];
  let text = '';
  for (let count = 1 + dice(12); count > 0; count -= 1) {
    text += dice(4) ? pieces[dice(pieces.length)] : String.fromCodePoint(32 + dice(0xd000));
  }
  return text;
}
