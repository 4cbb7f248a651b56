/** Commands on labels and quick replies. */
import type { HistoryRequests } from '../session/history-requests.ts';
import { KeyedMutex } from '../waiting.ts';
import {
  done,
  type InstanceId,
  type Kept,
  type Label,
  type QuickReply,
  refuse,
  type Result,
  unknownInstance,
  withoutTimes,
} from '../model.ts';
import { performIn, storedChat, type Operable } from '../session/requests.ts';
import type { WithCells, WithPolicy, WithPorts } from './host.ts';
import type { DefinitionMethods, LabelChange, LabelDraft, LabelsChanged, QuickReplyEdit } from '../views.ts';
import { isWebAddress } from '../policy/content-rules.ts';

/** The parts of the supervisor that these commands need. */
type Host = WithCells & WithPorts<'log' | 'chance' | 'chats' | 'definitions' | 'time'> & WithPolicy<'definitionsPerInstance'>;

// Commands on labels: the definitions, the labels of chats, and the reload from the phone.

type LabelCommands = Pick<DefinitionMethods, 'labels' | 'editLabel' | 'labelChat' | 'reloadLabels'>;

const noBusiness = refuse('notSupported', 'labels are a feature of business accounts, and this account was not one when it was paired');

/** The largest label id, which has nine digits. */
const highestId = 999_999_999;

/** Returns the id of a new label. The phone counts ids and never reuses one. After the largest id, the lowest unused id is next. */
const nextId = (known: readonly Label[]): string => {
  const used = new Set(known.flatMap(({ id }) => (/^\d{1,9}$/.test(id) ? [Number(id)] : [])));
  let next = [...used].reduce((most, id) => Math.max(most, id), 0) + 1;
  if (next > highestId) for (next = 1; used.has(next);) next += 1;
  return String(next);
};

/** Returns the label after the edit. */
const edited = (known: readonly Label[], edit: LabelDraft): Result<{ readonly label: Label; readonly made: boolean }> => {
  const old = known.find(({ id, deleted }) => id === edit.labelId && !deleted);
  if (edit.delete) return old ? done({ label: { ...old, deleted: true }, made: false }) : refuse('notFound', 'Label not found');
  const { name = old?.name ?? '', color = old?.color ?? 0 } = edit;
  if (name === '') return refuse('invalid', 'name is required');
  const id = edit.labelId || nextId(known);
  return done({ label: { id, name, color, deleted: false }, made: !old });
};

/** Returns the labels to add and to remove. */
const changesOf = (current: readonly string[], { kind, labelIds }: LabelChange): LabelsChanged => {
  const wanted = [...new Set(labelIds)];
  const missing = wanted.filter((id) => !current.includes(id));
  if (kind === 'add') return { added: missing, removed: [] };
  if (kind === 'remove') return { added: [], removed: wanted.filter((id) => current.includes(id)) };
  return { added: missing, removed: current.filter((id) => !wanted.includes(id)) };
};

/** Returns true while the phone transfers its history, which includes the labels. */
const isBeginning = ({ histories }: { readonly histories: HistoryRequests }): boolean => {
  const { progress } = histories.view.initial;
  return progress !== null && progress < 100;
};

const labelsOf = async ({ definitions }: Host['ports'], id: InstanceId): Promise<readonly Label[]> =>
  (await definitions.all(id, 'label')).map(withoutTimes);

const changeChat = async (
  ports: Host['ports'],
  cell: Operable,
  signal: AbortSignal,
  number: string,
  wanted: LabelChange,
): Promise<Result<LabelsChanged>> => {
  const { id, owner } = cell.record;
  const chat = await storedChat(cell, ports.chats, number);
  if (!chat) return refuse('notFound', 'Chat not found');
  const own = `${owner}:`;
  const current = chat.labels.flatMap((name) => (name.startsWith(own) ? [name.slice(own.length)] : []));
  const changes = changesOf(current, wanted);
  const known = new Set((await labelsOf(ports, id)).flatMap((label) => (label.deleted ? [] : [label.id])));
  const unknown = changes.added.find((label) => !known.has(label));
  if (unknown !== undefined) return refuse('invalid', `there is no label ${unknown}`);
  const marked = await performIn(cell, signal, 'label.mark', { chatId: chat.chatId, add: changes.added, remove: changes.removed });
  return marked.ok ? done(changes) : marked;
};

/** Reloads the labels and logs a failure. Never rejects. */
const reload = async ({ log }: Host['ports'], cell: Operable, whole: boolean): Promise<void> => {
  const instance = cell.record.id;
  try {
    const outcome = await cell.request((signal) => performIn(cell, signal, 'label.reload', { whole }));
    if (outcome?.ok === false) log.warn({ instance, reason: outcome.refusal.reason }, 'labels.notReloaded');
  } catch (error) {
    log.error({ instance, error }, 'labels.notReloaded');
  }
};

/** The reloads under way, at most one for each instance. */
class Reloads {
  readonly #underWay = new Set<InstanceId>();

  /** Starts a reload, which must not reject. Returns false if a reload of the instance is already under way. */
  start(id: InstanceId, work: () => Promise<void>): boolean {
    if (this.#underWay.has(id)) return false;
    this.#underWay.add(id);
    void work().finally(() => this.#underWay.delete(id));
    return true;
  }
}

export function labelCommands(host: Host): LabelCommands {
  const { ports } = host;
  // The changes of one instance run one after the other. New ids depend on the stored labels, and changes of a chat depend on its labels.
  const mutex = new KeyedMutex();
  const reloads = new Reloads();

  return {
    labels: async (id) => (await ports.definitions.all(id, 'label')).filter(({ deleted }) => !deleted),
    editLabel: (id, edit) =>
      mutex.run(id, () =>
        host.cells.live(id, async (cell, signal) => {
          if (!cell.record.isBusiness) return noBusiness;
          const wanted = edited(await labelsOf(ports, id), edit);
          if (!wanted.ok) return wanted;
          const defined = await performIn(cell, signal, 'label.define', { label: wanted.value.label });
          return defined.ok ? wanted : defined;
        }),
      ),
    labelChat: (id, number, wanted) =>
      mutex.run(id, () =>
        host.cells.live(id, async (cell, signal) =>
          cell.record.isBusiness ? changeChat(ports, cell, signal, number, wanted) : noBusiness,
        ),
      ),
    reloadLabels: (id, whole) =>
      host.cells.live(id, async (cell) => {
        if (!cell.record.isBusiness) return noBusiness;
        if (isBeginning(cell)) return refuse('conflict', 'history sync still in progress, try again in a moment');
        return done(reloads.start(id, () => reload(ports, cell, whole)) ? 'started' : 'underWay');
      }),
  };
}

// Commands on quick replies. By default, text replies of business accounts are stored on the phone. All other quick replies are stored in the gateway.

type QuickReplyCommands = Pick<DefinitionMethods, 'quickReplies' | 'editQuickReply'>;
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

/** Returns the id of a new quick reply on the phone. Phones use the time of the creation in Unix seconds as the id. */
const phoneId = (known: readonly QuickReply[], now: number): string => {
  let second = Math.floor(now / 1000);
  while (known.some(({ id }) => id === String(second))) second += 1;
  return String(second);
};

export function quickReplyCommands(host: Host): QuickReplyCommands {
  const { ports, policy } = host;
  const { definitions, chance, time } = ports;
  const mutex = new KeyedMutex();

  /** Writes a quick reply to the phone or to storage. */
  const write = async (cell: Operable, reply: QuickReply, deleted: boolean): Promise<Result<null>> => {
    if (reply.onPhone)
      return host.cells.live(cell.record.id, (live, signal) => performIn(live, signal, 'quickReply.define', { reply, deleted }));
    const definition = { of: 'quickReply', value: reply } as const;
    await cell.recorder.append(deleted ? { kind: 'definitionGone', definition } : { kind: 'definition', definition });
    return done(null);
  };

  const wantedOf = (cell: Operable, known: readonly QuickReply[], edit: QuickReplyEdit): Result<QuickReply> => {
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

  const editIn = async (cell: Operable, edit: QuickReplyEdit): Promise<Replies> => {
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
      mutex.run(id, async () => {
        const cell = host.cells.get(id);
        return cell ? editIn(cell, edit) : unknownInstance;
      }),
  };
}
