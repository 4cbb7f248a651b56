/** Commands on quick replies. Texts of business accounts are stored on the phone, all others in the gateway. */
import type { Gateway, QuickReplyEdit } from '../views.ts';
import { createKeyedMutex } from '../keyed-mutex.ts';
import { done, refuse, withoutTimes, unknownInstance, type InstanceId, type Kept, type QuickReply, type Result } from '../model.ts';
import type { Cell } from '../session/cell.ts';
import { performIn } from '../session/perform.ts';
import type { Supervisor } from '../supervisor.ts';
import { isWebAddress } from '../web-address.ts';
import { whileLive } from './perform.ts';

type QuickReplyCommands = Pick<Gateway, 'quickReplies' | 'editQuickReply'>;
type Replies = Result<readonly Kept<'quickReply'>[]>;

const unknownReply = refuse('notFound', 'Quick reply not found');

/** Returns the problem of a quick reply after an edit; null if the quick reply is valid. */
const problemOf = (reply: QuickReply, others: readonly QuickReply[], isBusiness: boolean, most: number): Result<never> | null => {
  if (reply.shortcut === '') return refuse('invalid', 'shortCut is required');
  if (reply.onPhone && reply.type !== 'text') return refuse('invalid', 'the phone keeps quick replies of type text alone');
  if (reply.onPhone && !isBusiness) return refuse('notSupported', 'quick replies on the phone are a feature of business accounts');
  if (reply.type === 'text' && reply.text === '') return refuse('invalid', 'text is required');
  if (reply.type !== 'text' && !isWebAddress(reply.file))
    return refuse('invalid', 'file must be an address that begins with http:// or https://');
  if (others.some(({ shortcut }) => shortcut.toLowerCase() === reply.shortcut.toLowerCase()))
    return refuse('conflict', `there is a quick reply ${reply.shortcut} already`);
  const kept = others.filter(({ onPhone }) => !onPhone).length;
  return !reply.onPhone && kept >= most ? refuse('limited', `an instance has at most ${most} quick replies of its own`) : null;
};

/** Returns the id of a new quick reply on the phone. Phones use the second of its creation as the id. */
const phoneId = (known: readonly QuickReply[], now: number): string => {
  let second = Math.floor(now / 1000);
  while (known.some(({ id }) => id === String(second))) second += 1;
  return String(second);
};

export function quickReplyCommands(supervisor: Supervisor): QuickReplyCommands {
  const { ports, policy } = supervisor;
  const { definitions, chance, time } = ports;
  const turns = createKeyedMutex();

  /** Writes a quick reply to the phone or to storage. */
  const write = async (cell: Cell, reply: QuickReply, deleted: boolean): Promise<Result<null>> => {
    if (reply.onPhone)
      return whileLive(supervisor, cell.record.id, (live, signal) => performIn(live, signal, 'quickReply.define', { reply, deleted }));
    const definition = { of: 'quickReply', value: reply } as const;
    await cell.recorder.append(deleted ? { kind: 'definitionGone', definition } : { kind: 'definition', definition });
    return done(null);
  };

  const wantedOf = (cell: Cell, known: readonly QuickReply[], edit: QuickReplyEdit): Result<QuickReply> => {
    const old = known.find(({ id }) => id === edit.id);
    if (edit.id !== '' && !old) return unknownReply;
    if (old && edit.delete) return done(old);
    const { isBusiness } = cell.record;
    const onPhone = edit.onPhone ?? old?.onPhone ?? (edit.type === 'text' && isBusiness);
    if (old && onPhone !== old.onPhone)
      return refuse('invalid', 'a quick reply cannot be moved to the phone or from it: delete it and make another one');
    const id = old?.id ?? (onPhone ? phoneId(known, time.now()) : `r${chance.hex(7)}`);
    const { shortcut, type, text, file, docName } = edit;
    const { keywords = [], count = 0 } = old ?? {};
    const reply = { id, onPhone, shortcut, type, text, file: type === 'text' ? '' : file, docName, keywords, count };
    const others = known.filter((one) => one !== old);
    return problemOf(reply, others, isBusiness, policy.definitionsPerInstance) ?? done(reply);
  };

  const editIn = async (cell: Cell, edit: QuickReplyEdit): Promise<Replies> => {
    const { id } = cell.record;
    if (edit.delete && edit.id === '') return unknownReply;
    const known = (await definitions.all(id, 'quickReply')).map(withoutTimes);
    const wanted = wantedOf(cell, known, edit);
    if (!wanted.ok) return wanted;
    const written = await write(cell, wanted.value, edit.delete);
    return written.ok ? done(await definitions.all(id, 'quickReply')) : written;
  };

  return {
    quickReplies: (id: InstanceId) => definitions.all(id, 'quickReply'),
    editQuickReply: (id, edit) =>
      turns.run(id, async () => {
        const cell = supervisor.cell(id);
        return cell ? editIn(cell, edit) : unknownInstance;
      }),
  };
}
