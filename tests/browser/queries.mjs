// Any text is a valid query.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { waitForAnswer, box, focused, hits, searchPath, visit } from './browser.mjs';
import { GitHubFixture, demo, memoize } from './fixture.mjs';
import { test } from './runner.mjs';

const listed = JSON.parse(readFileSync(new URL('../nasty.json', import.meta.url), 'utf8'));
/** Queries that occur in a text of the world and must find it. */
const FINDABLE = listed.found;
const NASTY = [...FINDABLE, ...listed.empty, 'author:', 'repo:""', 'type:nothing', 'a'.repeat(300), '\uFFFD'];

const padded = (number) => String(number).padStart(3, '0');

const world = memoize(async () => {
  const fixture = await GitHubFixture.open('small');
  for (const [number, text] of FINDABLE.entries()) {
    const body = `case${padded(number)} ${text} after`;
    await fixture.send({ issue: { repository: 'pump', title: `Case ${padded(number)}`, body } });
  }
  return fixture.pullAndServe();
});

test('queries: every nasty query can be typed without an error', async () => {
  await visit(await demo(), '/', async (page) => {
    for (const query of NASTY) {
      await box(page).fill(query);
      await box(page).press('Enter');
      await waitForAnswer(page, query);
      await isAnswer(page, query);
      assert.equal(await box(page).inputValue(), query);
      assert.equal(await focused(page), 'q');
    }
  });
});

test('queries: every nasty query is a link and finds its text', async () => {
  const server = await world();
  await visit(server, '/', async (page) => {
    for (const query of NASTY) {
      await page.goto(server.url + searchPath(query));
      await isAnswer(page, query);
    }
    for (const [number, query] of FINDABLE.entries()) {
      // the first page of many may show others, so a word before the query makes it unique
      await page.goto(server.url + searchPath(`case${padded(number)} ${query}`));
      const titles = await hits(page).allTextContents();
      assert.ok(titles.includes(`Case ${padded(number)}`), `${query} finds ${titles}`);
    }
  });
});

test('queries: ten kilobytes of text and hundreds of random texts are answered', async () => {
  const server = await world();
  await visit(server, searchPath('long text '.repeat(1000)), async (page) => {
    await isAnswer(page, '10 kB');
    const random = seeded(1);
    for (let round = 0; round < 40; round += 1) {
      const query = randomText(random);
      await box(page).fill(query);
      await box(page).press('Enter');
      // the search box drops line ends, so they are not part of the query
      await waitForAnswer(page, await box(page).inputValue());
      await isAnswer(page, JSON.stringify(query));
    }
    const answers = await page.evaluate(async (queries) => {
      const ask = async (query) => (await fetch(`/search?q=${encodeURIComponent(query)}`)).status;
      return Promise.all(queries.map(ask));
    }, Array.from({ length: 300 }, () => randomText(random)));
    assert.deepEqual([...new Set(answers)], [200]);
  });
});

test('queries: the beginning of a paste that is too long for a URL is answered', async () => {
  await visit(await demo(), searchPath('pump'), async (page) => {
    for (const long of ['zzyzx '.repeat(14_000), '検'.repeat(12_000)]) {
      const response = page.waitForResponse((received) => received.url().includes('/search?'));
      await box(page).fill(long);
      assert.equal((await response).status(), 200);
      await page.locator('#no-result').waitFor();
      await isAnswer(page, 'a long paste');
    }
  });
});

/** Checks that the page shows results or a designed empty state, and no error. */
async function isAnswer(page, query) {
  assert.equal(await page.locator('#hits, #no-result, #no-query').count(), 1, `for ${query}`);
  assert.equal(await page.locator('#trouble').innerText(), '', `for ${query}`);
}

function seeded(seed) {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

function randomText(random) {
  const pieces = ['a', 'pump', '"', "'", ' ', ':', '*', '-', '(', ')', 'AND', 'OR', 'NOT', 'NEAR', '^', '+', 'type:', 'label:', '<', '>', '&', '%', '\\', '\t', 'é', '港', '👩‍👩‍👧', '\u202e', '\u200b', '\u0001'];
  let text = '';
  for (let count = 1 + random(12); count > 0; count -= 1) {
    text += random(4) ? pieces[random(pieces.length)] : String.fromCodePoint(32 + random(0xd000));
  }
  return text;
}
