/** Turns entries into rows. It reads the stored rows, lets the ledger apply the rules, and writes messages, chats and the outbox in one statement. */
import { KeyedMutex } from '#actors/waiting.ts';
import type { Delivery, Entry } from '#actors/model.ts';
import type { Committed, Journal, RenamedMessage } from '#actors/ports.ts';
import { writeArchived } from './archived-rows.ts';
import { campaignRows, countedCampaigns, optOutRows, recipientRows } from './campaigns.ts';
import type { ChatCounts } from './chat-counts.ts';
import {
  chatChangeRows,
  columnOf,
  composedColumns,
  makeRowSet,
  messageRows,
  newChatRows,
  receiptRows,
  revisedColumns,
  type RowForm,
  sendKeyRows,
} from './columns.ts';
import { contactRows, goneContactRows, goneGroupRows, groupListRows, groupRows, unlistedGroupRows } from './people.ts';
import { definitionRows, goneDefinitionRows, rowOfDefinition } from './definitions.ts';
import { checkGone, exists, owned, ownedIf, type Owned } from '../ownership.ts';
import type { Database, Runner, Statement } from '../postgres/database.ts';
import { isDuplicate, isOrphan } from '../postgres/failures.ts';
import { TableGrowth } from '../postgres/statistics.ts';
import { tallied } from './tallies.ts';
import { reduceEntries } from './ledger.ts';
import { type Known, type Outcome, render, type Rendered } from './outcome.ts';
import { JournalCache, knownStatements, readKnown } from './known-rows.ts';
import { changedInPieces, mergeRows, mergeStatements, pieceStatements, withPresentPeople } from './pieces.ts';
import { IdsTaken, noneTaken, ShortIds, shortIdStatements } from './short-ids.ts';

interface JournalChance {
  /** Returns a new short id of a chat: `r` and 14 hex digits. */
  chatId(): string;
  eventId(): string;
  /** Returns a new short id of a message: `r` and 7 hex digits. */
  messageId(): string;
}

/** The instance whose entries are committed, and its epoch. */
type Writer = Parameters<Journal['commit']>[0];

const outboxRows = (first: number, form: RowForm) => {
  const rows = makeRowSet(
    { webhookId: 'text', eventId: 'text', type: 'text', messageType: 'text', lane: 'text', body: 'text', size: 'bigint', at: 'bigint' },
    first,
    form,
  );
  // The join leaves out deliveries of webhooks that were removed meanwhile.
  const sql = `insert into outbox (instance_id, attempts, not_before, ${rows.columns})
    select $1, 0, 0, ${rows.values} from ${rows.from}
    join webhook on webhook.id = any(${rows.array('webhookId')}) and webhook.id = fresh.webhook_id and not webhook.removed order by position
    returning seq, webhook_id, event_id, size`;
  return { ...rows, sql };
};

/** Returns SQL that clears the queue data of a message unless its status is `Queued`. */
const stillQueued = (status: string): string => `queued_send = case when ${status} = 'Queued' then message.queued_send end`;

const isSameMessage = (messageIds: string): string =>
  `message.instance_id = $1 and message.message_id = any(${messageIds}) and message.message_id = fresh.message_id and message.chat_id = fresh.chat_id`;

const changeRows = (first: number, form: RowForm) => {
  const rows = makeRowSet({ messageId: 'text', chatId: 'text', status: 'text', error: 'text' }, first, form);
  const sql = `update message set status = ${rows.value('status')}, error = ${rows.value('error')}, ${stillQueued(rows.value('status'))}
    from ${rows.from} where ${isSameMessage(rows.array('messageId'))}`;
  return { ...rows, sql };
};

/** Updates the visible fields of messages. The encoded form of a message stays, unless the message is deleted. */
const revisedRows = (first: number) => {
  const rows = makeRowSet({ messageId: 'text', chatId: 'text', ...revisedColumns }, first);
  const changes = Object.keys(revisedColumns).map((field) => `${columnOf(field)} = ${rows.value(field)}`);
  const sql = `update message set ${changes.join(', ')}, ${stillQueued(rows.value('status'))},
      raw = case when ${rows.value('deletedAt')} = 0 then message.raw end
    from ${rows.from} where ${isSameMessage(rows.array('messageId'))}`;
  return { ...rows, sql };
};

/** Updates the columns of messages whose values are known only after composition. */
const composedRows = (first: number) => {
  const types = { messageId: 'text', chatId: 'text', ...composedColumns, status: 'text', error: 'text' } as const;
  const rows = makeRowSet(types, first);
  const changes = [...Object.keys(composedColumns), 'status', 'error'].map((field) => `${columnOf(field)} = ${rows.value(field)}`);
  const sql = `update message set ${changes.join(', ')} from ${rows.from} where ${isSameMessage(rows.array('messageId'))}`;
  return { ...rows, sql };
};

/** The row sets of a commit, in the order in which its statement contains them. Their parameters begin at $3. $1: the instance. $2: its epoch. */
const sets = {
  messages: messageRows,
  changes: changeRows,
  composed: composedRows,
  revised: revisedRows,
  newChats: newChatRows,
  chats: chatChangeRows,
  sendKeys: sendKeyRows,
  receipts: receiptRows,
  groups: groupRows,
  goneGroups: goneGroupRows,
  unlistedGroups: unlistedGroupRows,
  groupList: groupListRows,
  contacts: contactRows,
  goneContacts: goneContactRows,
  definitions: definitionRows,
  goneDefinitions: goneDefinitionRows,
  recipients: recipientRows,
  campaigns: campaignRows,
  optOuts: optOutRows,
  deliveries: outboxRows,
} as const;

type SetName = keyof typeof sets;
type Rows = Readonly<Record<SetName, readonly object[]>>;

const setNames = Object.keys(sets) as SetName[];

/** A commit has the row form `one` if it contains only these sets, each with one row. Nearly all commits of a quiet session are of this kind. */
const plainSets: ReadonlySet<SetName> = new Set(['messages', 'changes', 'newChats', 'chats', 'deliveries']);

const formOf = (names: readonly SetName[], rows: Rows): RowForm =>
  names.every((name) => plainSets.has(name) && rows[name].length === 1) ? 'one' : 'many';

/** Returns the name of a prepared statement. PostgreSQL truncates names after 63 characters, so sets are named by their index. */
const writeName = (names: readonly SetName[], form: RowForm): string =>
  `journal-${form === 'one' ? 'one' : 'write'}-${names.map((name) => setNames.indexOf(name)).join('-')}`;

/** Returns the common table expression that updates the counts of campaigns, if the statement changes recipients or campaigns. */
const campaignCounts = (names: readonly SetName[]): readonly string[] => {
  const among = (name: SetName) => (names.includes(name) ? { [name]: name } : {});
  return names.includes('recipients') || names.includes('campaigns')
    ? [countedCampaigns({ ...among('recipients'), ...among('campaigns') })]
    : [];
};

/**
 * Returns the statement for commits with these sets, and its parameters. The caller leaves out sets without rows, because such a set costs nearly as much as a
 * set with rows.
 */
const makeWrite = (names: readonly SetName[], form: RowForm) => {
  const parts: { readonly name: SetName; readonly sql: string; readonly parameters: (rows: readonly object[]) => readonly unknown[] }[] =
    [];
  let [next, condition] = [3, ''];
  for (const name of names) {
    const part = sets[name](next, form);
    next = part.next;
    if (name === 'messages') condition = noneTaken(part.array('id'));
    parts.push({ name, ...part });
  }
  const tally = names.includes('deliveries') ? [tallied.added('deliveries')] : [];
  const withs = [ownedIf(condition), ...parts.map(({ name, sql }) => `${name} as (${sql})`), ...tally, ...campaignCounts(names)].join(
    ',\n',
  );
  // The left join returns a row without deliveries as well. No row at all means another owner, or a taken short id.
  const written = names.includes('deliveries')
    ? `select seq::float8 as seq, webhook_id as "webhookId", event_id as "eventId" from owned left join deliveries on true`
    : `select null as seq from owned`;
  return {
    statement: { name: writeName(names, form), text: `with ${withs} ${written}` },
    values: ({ id, epoch }: Writer, rows: Rows) => [id, epoch, ...parts.flatMap(({ name, parameters }) => parameters(rows[name]))],
  };
};

/** Statements by their row sets and their row form. A statement is built when it is first needed. */
const writes = new Map<string, ReturnType<typeof makeWrite>>();

const writeOf = (names: readonly SetName[], form: RowForm): ReturnType<typeof makeWrite> => {
  const key = `${form} ${names.join()}`;
  const write = writes.get(key) ?? makeWrite(names, form);
  writes.set(key, write);
  return write;
};

/** Returns each set alone, all pairs of sets, and all sets together. */
const combined = (names: readonly SetName[]): readonly (readonly SetName[])[] => [
  names,
  ...names.flatMap((name, at) => [[name], ...names.slice(at + 1).map((other) => [name, other])]),
];

const someWrites = (): Record<string, Statement> => ({
  ...Object.fromEntries(combined(setNames).map((names) => [`write ${names.join()}`, makeWrite(names, 'many').statement])),
  ...Object.fromEntries(combined([...plainSets]).map((names) => [`write one ${names.join()}`, makeWrite(names, 'one').statement])),
});

export const journalStatements = {
  ...knownStatements,
  /** $3: chats. */
  remove: {
    name: 'journal-remove',
    text: `with ${owned},
      gone as (delete from chat where instance_id = $1 and chat_id = any($3::text[]) and exists (select from owned))
      select count(*)::int as owned from owned`,
  },
  ...pieceStatements,
  ...mergeStatements,
  ...shortIdStatements,
  ...someWrites(),
} as const satisfies Readonly<Record<string, Statement>>;

type Written = Pick<Delivery, 'webhookId' | 'eventId'> & { readonly seq: number | null };

/** The result of a write for an instance that is removed or has another owner. */
const disowned = Symbol('disowned');

const takenAmong = async (runner: Runner, instance: string, { freshMessages }: Outcome): Promise<readonly string[]> => {
  const ids = freshMessages.map(({ id }) => id);
  return (await runner.rows<{ readonly id: string }>(shortIdStatements.taken, [instance, ids])).map(({ id }) => id);
};

/** Writes the outcome. Throws `IdsTaken` if a stored message of the instance has the short id of a new message. */
const writeOutcome = async (
  runner: Runner,
  writer: Writer,
  outcome: Outcome,
  { waiting, at }: { readonly waiting: Rendered['waiting']; readonly at: number },
): Promise<readonly Delivery[] | typeof disowned> => {
  if (!(await mergeRows(runner, writer, outcome.merged))) return disowned;
  if (outcome.removedChats.length > 0) {
    const [done] = await runner.rows<Owned>(journalStatements.remove, [writer.id, writer.epoch, outcome.removedChats]);
    if (done?.owned !== 1) return disowned;
  }
  const rows: Rows = {
    messages: outcome.freshMessages,
    changes: outcome.changedMessages,
    composed: outcome.composedMessages,
    revised: outcome.revisedMessages,
    newChats: outcome.chats.filter(({ before }) => before === null).map(({ after }) => after),
    chats: outcome.chats
      .filter(({ before }) => before !== null)
      .map(({ after, changes, unreadAdded }) => ({ ...changes, chatId: after.chatId, unreadAdded })),
    sendKeys: outcome.sendKeys,
    receipts: outcome.receipts,
    groups: outcome.groups,
    goneGroups: outcome.goneGroups.map((groupId) => ({ groupId })),
    unlistedGroups: outcome.groupList === null ? [] : [outcome.groupList],
    groupList: outcome.groupList === null ? [] : [outcome.groupList],
    contacts: outcome.contacts,
    goneContacts: outcome.goneContacts.map((contactId) => ({ contactId })),
    definitions: outcome.definitions.map((definition) => rowOfDefinition(definition, at)),
    goneDefinitions: outcome.goneDefinitions.map((definition) => rowOfDefinition(definition, at)),
    recipients: outcome.recipients.map(({ position: place, ...recipient }) => ({ ...recipient, place })),
    campaigns: outcome.campaigns,
    optOuts: outcome.optOuts,
    deliveries: waiting,
  };
  const names = setNames.filter((name) => rows[name].length > 0);
  if (names.length === 0) return [];
  const write = writeOf(names, formOf(names, rows));
  const written = await runner.rows<Written>(write.statement, write.values(writer, rows));
  if (written.length === 0) {
    const ids = rows.messages.length === 0 ? [] : await takenAmong(runner, writer.id, outcome);
    if (ids.length > 0) throw new IdsTaken(ids);
    return disowned;
  }
  const seqs = new Map(written.map(({ seq, webhookId, eventId }) => [`${eventId} ${webhookId}`, seq]));
  return waiting.flatMap((delivery) => {
    const seq = seqs.get(`${delivery.eventId} ${delivery.webhookId}`);
    return typeof seq !== 'number' ? [] : [{ ...delivery, seq }];
  });
};

const nothing: Committed = { events: [], deliveries: [] };

interface Reduced {
  readonly known: Known;
  readonly outcome: Outcome;
  readonly renamed: readonly RenamedMessage[];
}

interface JournalParts {
  readonly database: Database;
  readonly chance: JournalChance;
  readonly counts: ChatCounts;
  readonly recent: JournalCache;
  /** The growth of the table of messages. */
  readonly growth: TableGrowth;
  /** Invalidates the caches of the instance, or of all instances (null), because they may be out of date. */
  readonly doubt: (instance: string | null) => void;
  now(): number;
}

type Targets = Parameters<Journal['commit']>[2];

/** Tries once to write the outcome of the ledger. Throws `IdsTaken` if a short id is taken. */
const written = async (
  parts: JournalParts,
  instance: Writer,
  { known, outcome, renamed }: Reduced,
  targets: Targets,
): Promise<Committed> => {
  const { database, chance, counts, recent, growth, doubt, now } = parts;
  const at = now();
  const begun = counts.counted;
  const { events, waiting, unrendered } = render(outcome, { instanceId: instance.id, at, eventId: chance.eventId, targets });
  const write = (runner: Runner) => writeOutcome(runner, instance, outcome, { waiting, at });
  // A single statement needs no transaction. The rows that were read before are still valid, because an instance has one writer, which writes in
  // order.
  const isOurs = await changedInPieces(database, instance, outcome);
  const isLong = outcome.removedChats.length + outcome.merged.length > 0;
  const deliveries = !isOurs ? disowned : await (isLong ? database.transaction(write) : write(database));
  if (deliveries === disowned) {
    doubt(instance.id);
    await checkGone(database, [instance.id]);
    return nothing;
  }
  growth.add(outcome.freshMessages.length);
  recent.keep(instance, known, outcome);
  if (outcome.removedChats.length > 0) counts.forget(instance.id);
  counts.note(instance.id, outcome.chats, begun);
  // Statements in batches have changed rows that were not read, so the caches are out of date.
  if (outcome.goneLabels.length + outcome.erasures.length + outcome.merged.length > 0) doubt(instance.id);
  return { events, deliveries, ...(unrendered.length > 0 ? { unrendered } : {}), ...(renamed.length > 0 ? { renamed } : {}) };
};

/** Applies the entries and writes the outcome. While a short id is taken, draws another one and retries. */
const attempt = async (
  parts: JournalParts,
  instance: Writer & { readonly owner: string },
  given: readonly Entry[],
  targets: Targets,
  again: boolean,
): Promise<Committed> => {
  const { database, chance, recent } = parts;
  const entries = await withPresentPeople(database, instance.id, given);
  if (entries.length === 0) return nothing;
  const known = (again ? null : recent.known(instance, entries)) ?? (await readKnown(database, instance.id, entries));
  const ids = new ShortIds(chance.messageId);
  for (;;) {
    const outcome = reduceEntries(known, instance.owner, ids.applied(entries), chance.chatId, again);
    if (ids.part(outcome.freshMessages)) continue;
    try {
      return await written(parts, instance, { known, outcome, renamed: ids.renamed(outcome.freshMessages) }, targets);
    } catch (error) {
      if (!(error instanceof IdsTaken)) throw error;
      ids.redraw(outcome.freshMessages, error.ids);
    }
  }
};

export const createJournal = (database: Database, chance: JournalChance, now: () => number, counts: ChatCounts): Journal => {
  // The entries of an instance are committed in order. No lock between processes is needed, because one process owns the instance.
  const mutex = new KeyedMutex();
  const recent = new JournalCache(now);
  const growth = new TableGrowth(database, 'message', ['instance_id', 'message_id', 'chat_id']);
  const doubt = (instance: string | null): void => {
    recent.forget(instance);
    counts.forget(instance);
  };
  const parts: JournalParts = { database, chance, counts, recent, growth, doubt, now };
  return {
    forget: doubt,
    addArchived: (claim, rows) =>
      mutex.run(claim.instanceId, async () => {
        try {
          const added = await writeArchived(database, claim, rows, chance.messageId);
          if (rows.of === 'messages') growth.add(added);
          return added;
        } finally {
          doubt(claim.instanceId);
        }
      }),
    commit: (instance, entries, targets, again = false) =>
      mutex.run(instance.id, async () => {
        if (entries.length === 0) return nothing;
        try {
          return await attempt(parts, instance, entries, targets, again);
        } catch (error) {
          doubt(instance.id);
          if (!isDuplicate(error) && !isOrphan(error)) throw error;
        }
        try {
          return await attempt(parts, instance, entries, targets, again);
        } catch (error) {
          doubt(instance.id);
          // The instance was removed, so its entries are dropped.
          if (isOrphan(error) && !(await exists(database, instance.id))) return nothing;
          throw error;
        }
      }),
  };
};
