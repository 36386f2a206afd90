// The processes behind the pages: a simulated GitHub, pulls from it, and `highwater ui`.

import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { once } from 'node:events';
import { onEnd } from './runner.mjs';

const PROGRAM = requireEnv('HIGHWATER_PROGRAM');
const SIMULATOR = requireEnv('HIGHWATER_SIMULATOR');
export const ALL = 'repositories,discussions,issues,pull-requests,comments';

export function requireEnv(name) {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is not set: \`./check\` sets it`);
  return value;
}

/** Creates a folder that is removed at the end. */
export async function folder() {
  const path = await mkdtemp(join(tmpdir(), 'highwater-browser-'));
  onEnd(() => rm(path, { recursive: true, force: true }));
  return path;
}

/** Serves the demo's workspace, pulled once for all tests that only read it. */
export const demo = memoize(async () => {
  const home = await folder();
  await highwater(['demo', '--once', '-m', home]);
  return serve(home, 'harborworks');
});

/** Runs `highwater ui` over a home. */
export async function serve(home, organization = 'acme', port = '0') {
  const child = start(PROGRAM, ['ui', '-p', port, '-m', home, '-o', organization]);
  const url = new URL(await firstMatch(child, child.stderr, /highwater ui: (http:\S+)/));
  const restart = () => serve(home, organization, url.port);
  return { url: url.origin, stop: () => stop(child), restart };
}

/** A simulated GitHub that accepts commands, and a home for what is pulled from it. */
export class GitHubFixture {
  static async open(world, seed = 1) {
    const child = start(SIMULATOR, [world, String(seed)]);
    const fixture = new GitHubFixture();
    fixture.home = await folder();
    fixture.lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    fixture.stdin = child.stdin;
    fixture.url = JSON.parse((await fixture.lines.next()).value).url;
    fixture.organization = world === 'demo' ? 'harborworks' : 'acme';
    return fixture;
  }

  /** Sends a command to the simulator and returns its answer. */
  async send(command) {
    this.stdin.write(`${JSON.stringify(command)}\n`);
    const { value } = await this.lines.next();
    const answer = JSON.parse(value);
    if (answer.error) throw new Error(answer.error);
    return answer;
  }

  /** Runs `highwater pull`. It must succeed unless `mayFail` is set. */
  pull({ mayFail = false } = {}) {
    const args = ['pull', '--api-url', this.url, '-o', this.organization, '-m', this.home, '-i', ALL];
    return highwater(args, mayFail);
  }

  /** Runs a command in the home of the fixture. It must succeed. */
  run(...args) {
    return highwater([...args, '-m', this.home, '-o', this.organization]);
  }

  async pullAndServe() {
    await this.pull();
    return serve(this.home, this.organization);
  }
}

/** Runs the program to its end and returns its exit code and output. */
async function highwater(args, mayFail = false) {
  const child = start(PROGRAM, args);
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk));
  const [code] = await once(child, 'close');
  if (code !== 0 && !mayFail) throw new Error(`highwater ${args.join(' ')} ended with ${code}:\n${output}`);
  return { code, output };
}

function start(program, args) {
  const { PATH, HOME } = process.env;
  const child = spawn(program, args, { env: { PATH, HOME, GITHUB_TOKEN: 'simulated' } });
  child.on('error', (error) => child.stderr.destroy(error));
  onEnd(() => stop(child));
  return child;
}

async function stop(child) {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return;
  const exited = once(child, 'exit');
  child.kill('SIGTERM');
  const killTimer = setTimeout(() => child.kill('SIGKILL'), 10_000);
  await exited;
  clearTimeout(killTimer);
}

async function firstMatch(child, stream, pattern) {
  let output = '';
  for await (const line of createInterface({ input: stream })) {
    const found = line.match(pattern);
    if (found) {
      stream.resume();
      return found[1];
    }
    output += `${line}\n`;
  }
  throw new Error(`${child.spawnargs.join(' ')} ended early; its output:\n${output}`);
}

/** Calls `make` at most once and shares its result. */
export function memoize(make) {
  let value;
  return () => (value ??= make());
}
