/** Commands on leads. The commands need no session, because the platform does not know leads. */
import type { Recorded } from '../session/perform.ts';
import type { LeadFace, LeadTagEdit } from '../views.ts';
import { createKeyedMutex } from '../waiting.ts';
import { done, refuse, withoutTimes, unknownInstance, type Kept, type LeadTag, type Result } from '../model.ts';
import type { ChatStore } from '../ports.ts';
import type { Cells, WithPolicy, WithPorts } from './host.ts';

/** The parts of the supervisor that these commands need. */
type Host = Cells & WithPorts<'chance' | 'chats' | 'definitions'> & WithPolicy<'definitionsPerInstance'>;

const sameName = (one: string, other: string): boolean => one.toLowerCase() === other.toLowerCase();

/** Returns the tag after the edit. */
const edited = (known: readonly LeadTag[], edit: LeadTagEdit, newId: () => string, most: number): Result<LeadTag> => {
  const old = known.find(({ id }) => id === edit.id);
  if (edit.id !== '' && !old) return refuse('notFound', 'Tag not found');
  const { name = old?.name ?? '', kanban = old?.kanban ?? false, kanbanOrder = old?.kanbanOrder ?? 0 } = edit;
  if (name === '') return refuse('invalid', 'name is required');
  if (known.some((tag) => tag !== old && sameName(tag.name, name))) return refuse('conflict', `there is a tag ${name} already`);
  if (!old && known.length >= most) return refuse('limited', `an instance has at most ${most} tags`);
  return done({ id: old?.id ?? newId(), name, kanban, kanbanOrder });
};

/** The number of chats that are changed together. */
const together = 500;

/** Renames the tag in all chats that have it. */
async function rename(chats: ChatStore, cell: Recorded, from: string, to: string): Promise<void> {
  for (let after: string | undefined = ''; after !== undefined;) {
    const found: readonly string[] = await chats.tagged(cell.record.id, from, after, together);
    await Promise.all(found.map((chatId) => cell.recorder.append({ kind: 'retagged', chatId, from, to })));
    after = found.length < together ? undefined : found.at(-1);
  }
}

const inBoardOrder = (a: LeadTag, b: LeadTag): number => Number(b.kanban) - Number(a.kanban) || a.kanbanOrder - b.kanbanOrder;

export function leadCommands(host: Host): LeadFace {
  const { ports, policy } = host;
  const { chats, definitions, chance } = ports;
  // The edits of one instance run one after the other, because a name is compared with the stored tags.
  const mutex = createKeyedMutex();
  const tagsOf = async (id: string): Promise<readonly Kept<'leadTag'>[]> => (await definitions.all(id, 'leadTag')).toSorted(inBoardOrder);

  return {
    chatStats: (id) => chats.stats(id),
    async editLead(id, name, fields) {
      const cell = host.cell(id);
      if (!cell) return unknownInstance;
      const chat = await chats.get(id, name);
      if (!chat) return refuse('notFound', 'Chat not found');
      await cell.recorder.append({ kind: 'chat', chat: { chatId: chat.chatId, extra: fields }, create: false, tell: 'chats' });
      return done((await chats.get(id, chat.chatId)) ?? chat);
    },
    leadTags: tagsOf,
    editLeadTag: (id, edit) =>
      mutex.run(id, async () => {
        const cell = host.cell(id);
        if (!cell) return unknownInstance;
        const known = (await definitions.all(id, 'leadTag')).map(withoutTimes);
        const gone = edit.delete ? known.find((tag) => tag.id === edit.id) : undefined;
        if (edit.delete && !gone) return refuse('notFound', 'Tag not found');
        if (gone) await cell.recorder.append({ kind: 'definitionGone', definition: { of: 'leadTag', value: gone } });
        if (gone) return done(await tagsOf(id));
        const tag = edited(known, edit, () => `r${chance.hex(7)}`, policy.definitionsPerInstance);
        if (!tag.ok) return tag;
        const old = known.find(({ id: one }) => one === tag.value.id)?.name ?? tag.value.name;
        // The chats are renamed first, so that a repeated call can complete an interrupted rename.
        if (old !== tag.value.name) await rename(chats, cell, old, tag.value.name);
        await cell.recorder.append({ kind: 'definition', definition: { of: 'leadTag', value: tag.value } });
        return done(await tagsOf(id));
      }),
  };
}
