// Runs tests one after the other and prints `ok NAME`, or `not ok NAME` and the error.

import { writeSync } from 'node:fs';

const tests = [];
const cleanups = [];

/** Far longer than any test takes: a test that reaches it hangs. */
const TIMEOUT_MS = 120_000;

export function test(name, check) {
  tests.push({ name, check });
}

/** Registers a cleanup for the end of the run, even if a test fails; the last one registered runs first. */
export function onEnd(cleanup) {
  cleanups.unshift(cleanup);
}

/** Runs the tests whose names contain all words; returns whether all of them passed. */
export async function run(words) {
  const chosen = tests.filter(({ name }) => words.every((word) => name.includes(word)));
  let passed = chosen.length > 0;
  if (!passed) say('not ok: no test has such a name');
  for (const one of chosen) passed = (await runTest(one)) && passed;
  return passed;
}

export async function end() {
  for (const cleanup of cleanups.splice(0)) await cleanup().catch((error) => say(`# cleanup failed: ${error}`));
}

async function runTest({ name, check }) {
  const start = Date.now();
  let timer;
  const timeout = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no result after ${TIMEOUT_MS / 1000} s`)), TIMEOUT_MS);
  });
  try {
    await Promise.race([check(), timeout]);
    say(`ok ${name} (${Date.now() - start} ms)`);
    return true;
  } catch (error) {
    say(`not ok ${name}`);
    say(String(error.stack ?? error).replace(/^/gm, '#   '));
    return false;
  } finally {
    clearTimeout(timer);
  }
}

// written at once, so that an interrupted run has printed its results
export const say = (line) => writeSync(1, `${line}\n`);
