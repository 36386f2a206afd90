// Runs promises one after the other and says of each whether it holds: `ok NAME` or `not ok NAME`, and why.

import { writeSync } from 'node:fs';

const promises = [];
const endings = [];

/** Far beyond what any of them needs: whoever gets here hangs. */
const LONGEST_MS = 120_000;

export function promise(name, check) {
  promises.push({ name, check });
}

/** What is left to do when all is over, however it went; the last one that was added goes first. */
export function atTheEnd(ending) {
  endings.unshift(ending);
}

/** Whether each that was asked for holds. */
export async function run(wanted) {
  const chosen = promises.filter(({ name }) => wanted.every((word) => name.includes(word)));
  let holds = chosen.length > 0;
  if (!holds) say('not ok: there is no such test');
  for (const one of chosen) holds = (await holdsOne(one)) && holds;
  return holds;
}

export async function end() {
  for (const ending of endings.splice(0)) await ending().catch((error) => say(`# at the end: ${error}`));
}

async function holdsOne({ name, check }) {
  const start = Date.now();
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no result after ${LONGEST_MS / 1000} s`)), LONGEST_MS);
  });
  try {
    await Promise.race([check(), late]);
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

// at once, so that whoever is ended in the middle has said what it knows
export const say = (line) => writeSync(1, `${line}\n`);
