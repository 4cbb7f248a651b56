/**
 * Plans are kept until the server has new statistics of a table, about a minute later. A plan that was made for a small table is still used after a phone has
 * transferred 50,000 messages. It must therefore search by the requested ids.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { journalStatements } from '#src/storage/journal/journal.ts';
import { mergeStatements } from '#src/storage/journal/pieces.ts';
import { instance, message } from '#test/contract/samples.ts';
import { testDatabase } from '#test/support/database.ts';
import { planOf } from '#test/support/plans.ts';
import { until } from '#test/support/until.ts';

/** The chats with labels and the blocked chats have indexes of their own, which contain only them. */
const ofSomeChats: readonly unknown[] = [journalStatements.unlabel, journalStatements.blocked];
const statements = Object.values(journalStatements).filter((one) => !ofSomeChats.includes(one));
const merges: ReadonlySet<unknown> = new Set(Object.values(mergeStatements));

/**
 * Returns the expected condition. A message is found by its id, its short id or its post. Unread messages and those of a cleared chat are found by their
 * chat, from the end of the last piece.
 */
const askedOf = (statement: unknown, table: string): RegExp => {
  if (statement === journalStatements.erase) return /message_id|chat_id.*ROW/;
  // For a merge of two chats of one person, messages are found by their chat, in pieces.
  if (merges.has(statement)) return /chat_id|message_id/;
  return table === 'chat' || statement === journalStatements.read ? /chat_id/ : /message_id|serverId|\bid = (?:ANY|drawn\.id)/;
};

// One instance has all messages, or many instances have few. Averages over instances say nothing in either case.
for (const [instances, each] of [
  [1, 1_000],
  [40, 25],
] as const)
  test(`plans: soon after ${each} messages were stored in each of ${instances} instances, the journal searches by the requested ids`, async () => {
    const database = await testDatabase();
    const storage = await database.storage();
    for (let at = 0; at < instances; at++) {
      await storage.instances.insert({ ...instance.record, id: `r${at}`, token: `t${at}` });
      const entries = Array.from({ length: each }, (_, n) => ({
        kind: 'message' as const,
        message: { ...message, messageId: `m${n}`, chatId: `c${n % 20}`, timestamp: n },
        chat: { chatId: `c${n % 20}` },
        unread: false,
      }));
      await storage.journal.commit({ id: `r${at}`, owner: '', epoch: 1 }, entries, () => []);
    }
    const counted = { name: '', text: `select from pg_stats where tablename = 'message' and attname = 'message_id'` };
    await until(async () => (await database.admin.rows(counted, [])).length === 1, 'the server has statistics');
    for (const statement of statements)
      for (const node of await planOf(database.admin, statement)) {
        const table = node['Relation Name'] ?? '';
        // A row that another part of the statement has found is read by its tuple id.
        if (!/^(message|chat)$/.test(table) || !node['Node Type'].includes('Scan') || node['Node Type'] === 'Tid Scan') continue;
        const condition = node['Index Cond'] ?? node['Recheck Cond'] ?? 'nothing';
        assert.match(condition, askedOf(statement, table), `${statement.name}: ${node['Node Type']} of ${table} by ${condition}`);
      }
  });
