// Chromium, and pages that notice whatever must never happen in them.

import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { needed, onlyOnce } from './house.mjs';
import { atTheEnd } from './runner.mjs';

const tools = createRequire(join(needed('HIGHWATER_BROWSER_TOOLS'), 'package.json'));
const { chromium } = tools('playwright-core');
export const AXE = tools('axe-core').source;

export const NARROW = { width: 360, height: 740 };
export const WIDE = { width: 1280, height: 800 };

/** What htmx logs when a newer question takes the place of one that is not answered yet. */
const GIVEN_UP = /^htmx:(sendAbort|afterRequest),/;
/** What htmx and Chromium log when nobody answers, or with a page that says what went wrong. */
const NOBODY_ANSWERS = /^htmx:|^Failed to load resource|^\[object Event\]$/;

const launched = onlyOnce(async () => {
  const args = process.getuid() === 0 ? ['--no-sandbox'] : [];
  const executablePath = process.env.HIGHWATER_CHROMIUM ?? '/usr/bin/chromium';
  const browser = await chromium.launch({ executablePath, args });
  atTheEnd(() => browser.close());
  return browser;
});

/**
 * Opens a page of a server for as long as `look` takes.
 *
 * Whatever a page must never do is a failure: ask anybody else, raise a dialog, log an error, throw, break its policy.
 * `silent: true` lets it complain about requests that fail, for those who stop the server.
 */
export async function visit(server, path, look, { silent = false, viewport = WIDE, ...options } = {}) {
  const context = await (await launched()).newContext({ viewport, ...options });
  const wrongs = [];
  try {
    await context.addInitScript(() => {
      document.addEventListener('securitypolicyviolation', (event) => {
        console.error(`policy: ${event.violatedDirective} ${event.blockedURI}`);
      });
    });
    const page = await context.newPage();
    page.setDefaultTimeout(30_000);
    watch(page, server.url, wrongs, silent);
    await page.goto(server.url + path);
    await look(page, context);
    if (options.javaScriptEnabled !== false) await page.evaluate(() => new Promise(requestAnimationFrame));
  } finally {
    await context.close();
  }
  assert.deepEqual(wrongs, []);
}

function watch(page, url, wrongs, silent) {
  page.on('request', (request) => {
    if (!request.url().startsWith(`${url}/`)) wrongs.push(`asked ${request.url()}`);
  });
  page.on('dialog', (dialog) => {
    wrongs.push(`dialog: ${dialog.message()}`);
    dialog.dismiss();
  });
  page.on('console', (message) => {
    if (message.type() !== 'error' && message.type() !== 'warning') return;
    if ((silent ? NOBODY_ANSWERS : GIVEN_UP).test(message.text())) return;
    wrongs.push(`console: ${message.text()}`);
  });
  page.on('pageerror', (error) => wrongs.push(`threw: ${error}`));
}

/** Marks this load of the page, so that another one is noticed. */
export async function sameLoad(page) {
  await page.evaluate(() => (window.sameLoad = true));
  return async () => assert.ok(await page.evaluate(() => window.sameLoad), 'the page was loaded again');
}

export const box = (page) => page.locator('#q');
export const hits = (page) => page.locator('#hits .hit-link');
/** The addresses of the results, in order. */
export const addresses = (page) => hits(page).evaluateAll((all) => all.map((link) => link.getAttribute('href')));
export const focused = (page) => page.evaluate(() => document.activeElement.id);
export const searched = (query) => `/?q=${encodeURIComponent(query)}`;

/** Types a query into the box and waits for its results, or for what is told instead of them. */
export async function ask(page, query) {
  await box(page).fill('');
  await box(page).pressSequentially(query);
  await answered(page, query);
}

/** Waits until what is shown is the answer to this query. */
export async function answered(page, query) {
  await page.waitForURL((url) => (url.searchParams.get('q') ?? '') === query);
  await page.waitForFunction(() => !document.querySelector('.htmx-request'));
}
