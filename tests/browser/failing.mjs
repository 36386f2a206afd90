// A repository whose lists cannot be read, full of texts that do not fit.

import { House, onlyOnce } from './house.mjs';

const WIDE_TEXTS = [
  `| a | b |\n|---|---|\n| ${'x'.repeat(300)} | ${'y '.repeat(99)} |`,
  `\`\`\`\n${'long line '.repeat(60)}\n\`\`\``,
  `# A\n\n### B\n\n- [ ] task\n- [x] done\n\nhttps://example.com/${'z'.repeat(200)}`,
  'q'.repeat(500),
];

/**
 * A workspace in which the lists of one repository could not be read the last time.
 *
 * The pull tries for more than a minute before it gives up, so it starts early, while others look at other worlds.
 */
export const failing = onlyOnce(async () => {
  const house = await House.open('small');
  const issue = (title, body) => house.tell({ issue: { repository: 'pump', title, body } });
  const { id, number } = await issue(`${'w'.repeat(120)} narwhal`, WIDE_TEXTS.join('\n\n'));
  for (const body of WIDE_TEXTS) await house.tell({ comment: { issue: id, body } });
  const server = await house.served();
  await house.tell({ break: { repository: 'pump' } });
  await issue('Nobody can read this', 'Yet.');
  await house.pull({ mayFail: true });
  return { house, server, thread: `/threads/acme/pump/${number}` };
});
// whoever waits for it is told
failing().catch(() => {});
