// The world behind the pages: a simulated GitHub, pulls of it, and `highwater ui`, each a process of its own.

import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { once } from 'node:events';
import { atTheEnd } from './runner.mjs';

const PROGRAM = needed('HIGHWATER_PROGRAM');
const SIMULATOR = needed('HIGHWATER_SIMULATOR');
export const ALL = 'repositories,discussions,issues,pull-requests,comments';

export function needed(name) {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is not set: \`./check\` sets it`);
  return value;
}

/** A folder that is gone at the end. */
export async function folder() {
  const path = await mkdtemp(join(tmpdir(), 'highwater-browser-'));
  atTheEnd(() => rm(path, { recursive: true, force: true }));
  return path;
}

/** The demo's workspace, pulled once for all who only read it. */
export const demo = onlyOnce(async () => {
  const home = await folder();
  await highwater(['demo', '--once', '-m', home]);
  return serve(home, 'harbourworks');
});

/** `highwater ui` over a home, whatever it holds. */
export async function serve(home, organization = 'acme', port = '0') {
  const child = start(PROGRAM, ['ui', '-p', port, '-m', home, '-o', organization]);
  const url = new URL(await firstMatch(child, child.stderr, /highwater ui: (http:\S+)/));
  const again = () => serve(home, organization, url.port);
  return { url: url.origin, stop: () => stop(child), again };
}

/** A simulated GitHub that can be told what happens in it, and a home for what is pulled of it. */
export class House {
  static async open(world, seed = 1) {
    const child = start(SIMULATOR, [world, String(seed)]);
    const house = new House();
    house.home = await folder();
    house.lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    house.stdin = child.stdin;
    house.url = JSON.parse((await house.lines.next()).value).url;
    house.organization = world === 'demo' ? 'harbourworks' : 'acme';
    return house;
  }

  /** Lets something happen in the world. */
  async tell(order) {
    this.stdin.write(`${JSON.stringify(order)}\n`);
    const { value } = await this.lines.next();
    const answer = JSON.parse(value);
    if (answer.error) throw new Error(answer.error);
    return answer;
  }

  /** `highwater pull`, a process of its own; whether it has to succeed is the caller's to say. */
  pull({ mayFail = false } = {}) {
    const args = ['pull', '--api-url', this.url, '-o', this.organization, '-m', this.home, '-i', ALL];
    return highwater(args, mayFail);
  }

  async served() {
    await this.pull();
    return serve(this.home, this.organization);
  }
}

/** Runs the program to its end. */
async function highwater(args, mayFail = false) {
  const child = start(PROGRAM, args);
  let said = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (said += chunk));
  const [code] = await once(child, 'close');
  if (code !== 0 && !mayFail) throw new Error(`highwater ${args.join(' ')} ended with ${code}:\n${said}`);
  return { code, said };
}

function start(program, args) {
  const { PATH, HOME } = process.env;
  const child = spawn(program, args, { env: { PATH, HOME, GITHUB_TOKEN: 'simulated' } });
  child.on('error', (error) => child.stderr.destroy(error));
  atTheEnd(() => stop(child));
  return child;
}

async function stop(child) {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return;
  const gone = once(child, 'exit');
  child.kill('SIGTERM');
  const hard = setTimeout(() => child.kill('SIGKILL'), 10_000);
  await gone;
  clearTimeout(hard);
}

async function firstMatch(child, stream, pattern) {
  let said = '';
  for await (const line of createInterface({ input: stream })) {
    const found = line.match(pattern);
    if (found) {
      stream.resume();
      return found[1];
    }
    said += `${line}\n`;
  }
  throw new Error(`${child.spawnargs.join(' ')} ended early and said:\n${said}`);
}

export function onlyOnce(make) {
  let made;
  return () => (made ??= make());
}
