/** Tests queries that the platform does not answer in time. The library resolves them with nothing, which must not count as an empty answer. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { WASocket } from '@whiskeysockets/baileys';
import { rejectUnanswered } from '#src/platform/link/socket-guards.ts';
import { GroupUnknown, groupUnknown, lateAnswer, notSent, outcomeOfError } from '#src/platform/wire/outcomes.ts';

const socketWith = (answer: unknown): Pick<WASocket, 'query'> => {
  const sock: Pick<WASocket, 'query'> = { query: async () => answer };
  rejectUnanswered(sock);
  return sock;
};

test('unanswered: a query without an answer rejects, and its operation ends as not known', async () => {
  const { query } = socketWith(undefined);
  const error = await query({ tag: 'iq', attrs: {} }).then(
    () => assert.fail('it is answered'),
    (reason: unknown) => reason,
  );
  assert.deepEqual(outcomeOfError(error, true), lateAnswer);
});

test('unanswered: an answer is returned as it is', async () => {
  const answer = { tag: 'iq', attrs: { id: '1' } };
  assert.equal(await socketWith(answer).query({ tag: 'iq', attrs: {} }), answer);
});

test('unanswered: a send that needs a group without an answer ends as notSent, so that a retry is safe', () => {
  assert.deepEqual([outcomeOfError(new GroupUnknown(), true), outcomeOfError(new GroupUnknown(), false)], [groupUnknown, notSent]);
  assert.equal(groupUnknown.refusal.connectionLost, undefined, 'the queue tries again on the same connection');
});
