// A thread: what people wrote, as text, whatever they wrote.

import assert from 'node:assert/strict';
import { addresses, visit } from './browser.mjs';
import { House, demo, onlyOnce } from './house.mjs';
import { promise } from './runner.mjs';

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

const hostile = onlyOnce(async () => {
  const house = await House.open('hostile', 3);
  const body = NASTY.join('\n\n');
  const title = '</title><script>alert("title")</script><img src=x onerror=alert(0)> narwhal';
  const { id, number } = await house.tell({ issue: { repository: 'pump', title, body } });
  for (const text of NASTY) await house.tell({ comment: { issue: id, body: text } });
  return { server: await house.served(), path: `/threads/acme/pump/${number}`, title };
});

promise('hostile Markdown and HTML are text: no dialog, no request, no error, no broken policy', async () => {
  const { server, path, title } = await hostile();
  await visit(server, path, async (page) => {
    await page.locator('.said').last().scrollIntoViewIfNeeded();
    assert.equal(await page.locator('#thread h1').innerText(), title);
    assert.equal(await page.locator('.said').count(), NASTY.length);
    const alive = await page.locator('.prose').evaluateAll((all) => all.flatMap((prose) => [
      ...prose.querySelectorAll('script, img, iframe, object, embed, form, input, style, link, meta, base, svg, math, video, audio, template'),
      ...[...prose.querySelectorAll('*')].filter((it) => [...it.attributes].some(({ name }) => /^(on|hx-|data-hx|id$|style$)/.test(name))),
      ...[...prose.querySelectorAll('a[href]')].filter((it) => !/^https?:$/.test(it.protocol)),
    ]).map((it) => it.outerHTML));
    assert.deepEqual(alive, []);
    assert.equal(await page.locator('#q').count(), 0, 'no box came with a comment');
    assert.ok(await page.locator('.bar').isVisible());
  });
});

promise('a link to elsewhere tells nobody where it was clicked', async () => {
  const { server, path } = await hostile();
  await visit(server, path, async (page) => {
    const outside = await page.locator('main a').evaluateAll((all) =>
      all.filter((it) => it.origin !== location.origin).map((it) => [it.getAttribute('href'), it.rel]));
    assert.ok(outside.length > 0);
    for (const [href, rel] of outside) assert.match(rel, /noopener.*noreferrer|noreferrer.*noopener/, href);
  });
});

promise('a world of hostile texts can be searched and read from one end to the other', async () => {
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

promise('a result in a comment leads to that comment', async () => {
  await visit(await demo(), '/?q=type%3Acomment+milestone', async (page) => {
    const path = (await addresses(page))[0];
    assert.match(path, /#/);
    await page.locator('#hits .hit-link').first().click();
    await page.waitForURL(`**${path}`);
    const target = page.locator('.said:target');
    assert.match(await target.innerText(), /milestone/);
    await page.waitForFunction(() => {
      const { top, bottom } = document.querySelector('.said:target').getBoundingClientRect();
      return top < innerHeight && bottom > 0;
    });
  });
});

promise('a comment of a later page is found by its result, by links, and by its address as at GitHub', async () => {
  const house = await House.open('small', 5);
  const { id, number } = await house.tell({ issue: { repository: 'pump', title: 'A long talk', body: 'It begins.' } });
  for (let count = 1; count < 120; count += 1) await house.tell({ comment: { issue: id, body: `said ${count}` } });
  await house.tell({ comment: { issue: id, body: 'a narwhal, at last' } });
  const server = await house.served();
  await visit(server, '/?q=narwhal', async (page) => {
    await page.locator('#hits .hit-link').first().click();
    assert.match(await page.locator('.said:target').innerText(), /narwhal/);
    const anchor = new URL(page.url()).hash;
    await page.locator('.pager a[rel=prev]').first().click();
    await page.locator('#body').waitFor();
    assert.equal(await page.locator('.said').count(), 100);
    await page.locator('.pager a[rel=next]').last().click();
    await page.waitForURL('**page=2**');
    assert.equal(await page.locator('.said').count(), 20);
    await page.goto(`${server.url}/threads/acme/pump/${number}${anchor}`);
    await page.locator('.said:target').waitFor();
    assert.match(await page.locator('.said:target').innerText(), /narwhal/);
  });
});
