// Chromium, and pages that fail a test when they do something a page must never do.

import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { requireEnv, memoize } from './fixture.mjs';
import { onEnd } from './runner.mjs';

const tools = createRequire(join(requireEnv('HIGHWATER_BROWSER_TOOLS'), 'package.json'));
const { chromium } = tools('playwright-core');
export const AXE = tools('axe-core').source;

export const NARROW = { width: 360, height: 740 };
export const WIDE = { width: 1280, height: 800 };

/** What htmx logs when a newer request replaces one that is not answered yet. */
const ABORTED = /^htmx:(sendAbort|afterRequest),/;
/** What htmx and Chromium log when the server is down, or answers with an error page. */
const SERVER_DOWN = /^htmx:|^Failed to load resource|^\[object Event\]$/;

const launched = memoize(async () => {
  const args = process.getuid() === 0 ? ['--no-sandbox'] : [];
  const executablePath = process.env.HIGHWATER_CHROMIUM ?? '/usr/bin/chromium';
  const browser = await chromium.launch({ executablePath, args });
  onEnd(() => browser.close());
  return browser;
});

/**
 * Opens a page of a server while `action` runs.
 *
 * A page must not send requests elsewhere, open a dialog, log an error, throw, or violate its policy: each is a failure.
 * `silent: true` allows logs about failed requests, for tests that stop the server.
 */
export async function visit(server, path, action, { silent = false, viewport = WIDE, ...options } = {}) {
  const context = await (await launched()).newContext({ viewport, ...options });
  const failures = [];
  try {
    await context.addInitScript(() => {
      document.addEventListener('securitypolicyviolation', (event) => {
        console.error(`policy: ${event.violatedDirective} ${event.blockedURI}`);
      });
    });
    const page = await context.newPage();
    page.setDefaultTimeout(30_000);
    watch(page, server.url, failures, silent);
    await page.goto(server.url + path);
    await action(page, context);
    if (options.javaScriptEnabled !== false) await page.evaluate(() => new Promise(requestAnimationFrame));
  } finally {
    await context.close();
  }
  assert.deepEqual(failures, []);
}

function watch(page, url, failures, silent) {
  page.on('request', (request) => {
    if (!request.url().startsWith(`${url}/`)) failures.push(`requested ${request.url()}`);
  });
  page.on('dialog', (dialog) => {
    failures.push(`dialog: ${dialog.message()}`);
    dialog.dismiss();
  });
  page.on('console', (message) => {
    if (message.type() !== 'error' && message.type() !== 'warning') return;
    if ((silent ? SERVER_DOWN : ABORTED).test(message.text())) return;
    failures.push(`console: ${message.text()}`);
  });
  page.on('pageerror', (error) => failures.push(`threw: ${error}`));
}

/** Marks this load of the page, and returns a check that the page was not loaded again. */
export async function expectSameLoad(page) {
  await page.evaluate(() => (window.sameLoad = true));
  return async () => assert.ok(await page.evaluate(() => window.sameLoad), 'the page was loaded again');
}

export const box = (page) => page.locator('#q');
export const hits = (page) => page.locator('#hits .hit-link');
/** The paths of the results, in order. */
export const addresses = (page) => hits(page).evaluateAll((all) => all.map((link) => link.getAttribute('href')));
export const focused = (page) => page.evaluate(() => document.activeElement.id);
export const searchPath = (query) => `/?q=${encodeURIComponent(query)}`;

/** Types a query into the search box and waits for the answer. */
export async function ask(page, query) {
  await box(page).fill('');
  await box(page).pressSequentially(query);
  await waitForAnswer(page, query);
}

/** Waits until the page shows the answer to this query. */
export async function waitForAnswer(page, query) {
  await page.waitForURL((url) => (url.searchParams.get('q') ?? '') === query);
  await page.waitForFunction(() => !document.querySelector('.htmx-request'));
}
