// Thread pages: whatever people wrote is shown as text.

import assert from 'node:assert/strict';
import { addresses, visit } from './browser.mjs';
import { GitHubFixture, demo, memoize } from './fixture.mjs';
import { test } from './runner.mjs';

const NASTY = [
  '<script>alert(1)</script><img src=x onerror=alert(2)>',
  '![a picture](https://pictures.example/p.png) and ![another](//pictures.example/q.png)',
  '[a link](javascript:alert(3)) [data](data:text/html,<script>alert(4)</script>) [file](file:///etc/passwd)',
  '<a href="jav&#x09;ascript:alert(5)">x</a> <a href="//elsewhere.example" onclick="alert(6)">y</a>',
  '<style>body{display:none}</style><link rel=stylesheet href=https://styles.example/s.css>',
  '<form action=https://forms.example/><input name=q id=q><button name=q>go</button></form>',
  '<div hx-get="/health" hx-trigger="load" id="trouble" hx-target="body" data-hx-get="/">htmx</div>',
  '<div id="main" class="skip note-bad" style="position:fixed;inset:0">cover</div>',
  '<iframe src=https://frames.example/></iframe><object data=x></object><embed src=x>',
  '<svg onload=alert(7)><script>alert(8)</script></svg><math><mi xlink:href="javascript:alert(9)">z</mi></math>',
  '<meta http-equiv=refresh content="0;url=https://elsewhere.example/"><base href=https://elsewhere.example/>',
  '<video autoplay src=https://media.example/v.mp4></video><audio src=https://media.example/a.mp3></audio>',
  '{{7*7}} ${7*7} {% include "x" %} <template><img src=x onerror=alert(10)></template>',
  '</template></main></body></html><script>alert(11)</script>',
  `${'> '.repeat(200)}deep`,
  '\u202egnp.exe\u202c zero\u200bwidth \u0000 \u001b[31mred',
];

const hostile = memoize(async () => {
  const fixture = await GitHubFixture.open('hostile', 3);
  const body = NASTY.join('\n\n');
  const title = '</title><script>alert("title")</script><img src=x onerror=alert(0)> narwhal';
  const { id, number } = await fixture.send({ issue: { repository: 'pump', title, body } });
  for (const text of NASTY) await fixture.send({ comment: { issue: id, body: text } });
  return { server: await fixture.pullAndServe(), path: `/threads/acme/pump/${number}`, title };
});

test('threads: hostile Markdown and HTML stay text without dialogs, requests or errors', async () => {
  const { server, path, title } = await hostile();
  await visit(server, path, async (page) => {
    await page.locator('.comment').last().scrollIntoViewIfNeeded();
    assert.equal(await page.locator('#thread h1').innerText(), title);
    assert.equal(await page.locator('.comment').count(), NASTY.length);
    const active = await page.locator('.prose').evaluateAll((all) => all.flatMap((prose) => [
      ...prose.querySelectorAll('script, img, iframe, object, embed, form, input, style, link, meta, base, svg, math, video, audio, template'),
      ...[...prose.querySelectorAll('*')].filter((element) => [...element.attributes].some(({ name }) => /^(on|hx-|data-hx|id$|style$)/.test(name))),
      ...[...prose.querySelectorAll('a[href]')].filter((link) => !/^https?:$/.test(link.protocol)),
    ]).map((element) => element.outerHTML));
    assert.deepEqual(active, []);
    assert.equal(await page.locator('#q').count(), 0, 'no search box came from a comment');
    assert.ok(await page.locator('.bar').isVisible());
  });
});

test('threads: external links send no referrer', async () => {
  const { server, path } = await hostile();
  await visit(server, path, async (page) => {
    const outside = await page.locator('main a').evaluateAll((all) =>
      all.filter((link) => link.origin !== location.origin).map((link) => [link.getAttribute('href'), link.rel]));
    assert.ok(outside.length > 0);
    for (const [href, rel] of outside) assert.match(rel, /noopener.*noreferrer|noreferrer.*noopener/, href);
  });
});

test('threads: a world of hostile texts can be searched and read completely', async () => {
  const { server } = await hostile();
  const paths = new Set();
  await visit(server, '/', async (page) => {
    for (const query of ['created:>=2000-01-01 type:issue', 'type:pull_request', 'type:discussion', 'narwhal', 'script', 'alert']) {
      await page.goto(`${server.url}/?q=${encodeURIComponent(query)}`);
      for (const path of await addresses(page)) paths.add(path.split('#')[0]);
    }
    assert.ok(paths.size >= 15, `only ${paths.size} threads`);
    for (const path of paths) {
      await page.goto(server.url + path);
      await page.locator('#thread h1').waitFor();
    }
  });
});

test('threads: a result in a comment leads to that comment', async () => {
  await visit(await demo(), '/?q=type%3Acomment+milestone', async (page) => {
    const path = (await addresses(page))[0];
    assert.match(path, /#/);
    await page.locator('#hits .hit-link').first().click();
    await page.waitForURL(`**${path}`);
    const target = page.locator('.comment:target');
    assert.match(await target.innerText(), /milestone/);
    await page.waitForFunction(() => {
      const { top, bottom } = document.querySelector('.comment:target').getBoundingClientRect();
      return top < innerHeight && bottom > 0;
    });
  });
});

test('threads: a comment on a later page is reached by its result, the pager and its GitHub anchor', async () => {
  const fixture = await GitHubFixture.open('small', 5);
  const { id, number } = await fixture.send({ issue: { repository: 'pump', title: 'A long thread', body: 'It begins.' } });
  for (let count = 1; count < 120; count += 1) await fixture.send({ comment: { issue: id, body: `comment ${count}` } });
  await fixture.send({ comment: { issue: id, body: 'a narwhal, at last' } });
  const server = await fixture.pullAndServe();
  await visit(server, '/?q=narwhal', async (page) => {
    await page.locator('#hits .hit-link').first().click();
    assert.match(await page.locator('.comment:target').innerText(), /narwhal/);
    const anchor = new URL(page.url()).hash;
    await page.locator('.pager a[rel=prev]').first().click();
    await page.locator('#body').waitFor();
    assert.equal(await page.locator('.comment').count(), 100);
    await page.locator('.pager a[rel=next]').last().click();
    await page.waitForURL('**page=2**');
    assert.equal(await page.locator('.comment').count(), 20);
    await page.goto(`${server.url}/threads/acme/pump/${number}${anchor}`);
    await page.locator('.comment:target').waitFor();
    assert.match(await page.locator('.comment:target').innerText(), /narwhal/);
  });
});
