// Any text is a query.

import assert from 'node:assert/strict';
import { answered, box, focused, hits, searched, visit } from './browser.mjs';
import { House, demo, onlyOnce } from './house.mjs';
import { promise } from './runner.mjs';

const NASTY = [
  'foo-bar', 'node.js', 'C++', '#123', '@user', "it's", '"unbalanced', 'a AND', 'OR', 'NEAR(', '*', ':', 'title:', 'é',
  '港の水位計', '泵控制器', '항만', '👩‍👩‍👧‍👦', '✨', 'x', ' ', '', "'; drop table issues; --", '<script>alert(1)</script>', '"><img src=x onerror=alert(1)>',
  '\\', '%', '%00', '&q=2', '#', '?', '+', '/health', '../..', '{{7*7}}', 'author:', 'repo:""', 'created:>=nonsense', 'type:nothing',
  '-', '"" "" "', '(((((', 'a'.repeat(300), '\u202etxt\u202c', 'zero\u200bwidth', '\uFFFD', 'SELECT * FROM x WHERE "a" = \'b\'',
];
/** What is in one of the world's texts, literally, and has to be found by it. */
const FINDABLE = ['foo-bar', 'node.js', 'C++', '#123', '@user', "it's", '"unbalanced', 'a AND', 'é', '港の水位計', '泵控制器', '항만', 'NEAR('];

const world = onlyOnce(async () => {
  const house = await House.open('small');
  for (const text of FINDABLE) {
    await house.tell({ issue: { repository: 'pump', title: `About ${text} today`, body: `All of ${text} here.` } });
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
    for (const query of FINDABLE) {
      await page.goto(server.url + searched(query));
      const titles = await hits(page).allTextContents();
      assert.ok(titles.includes(`About ${query} today`), `${query} finds ${titles}`);
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
