// A repository whose lists cannot be read, full of very wide texts.

import { GitHubFixture, memoize } from './fixture.mjs';

const WIDE_TEXTS = [
  `| a | b |\n|---|---|\n| ${'x'.repeat(300)} | ${'y '.repeat(99)} |`,
  `\`\`\`\n${'long line '.repeat(60)}\n\`\`\``,
  `# A\n\n### B\n\n- [ ] task\n- [x] done\n\nhttps://example.com/${'z'.repeat(200)}`,
  'q'.repeat(500),
];

/**
 * A workspace in which the last pull could not read the lists of one repository.
 *
 * The pull retries for more than a minute before it gives up, so it starts early, while other tests run.
 */
export const failing = memoize(async () => {
  const fixture = await GitHubFixture.open('small');
  const issue = (title, body) => fixture.send({ issue: { repository: 'pump', title, body } });
  const { id, number } = await issue(`${'w'.repeat(120)} narwhal`, WIDE_TEXTS.join('\n\n'));
  for (const body of WIDE_TEXTS) await fixture.send({ comment: { issue: id, body } });
  const server = await fixture.pullAndServe();
  await fixture.send({ break: { repository: 'pump' } });
  await issue('Nobody can read this', 'Yet.');
  await fixture.pull({ mayFail: true });
  return { fixture, server, thread: `/threads/acme/pump/${number}` };
});
// the tests that await it report the error
failing().catch(() => {});
