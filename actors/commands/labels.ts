/** Commands on labels: the definitions, the labels of chats, and the reload from the phone. */
import type { Gateway, LabelChange, LabelDraft, LabelsChanged } from '../views.ts';
import { createKeyedMutex } from '../keyed-mutex.ts';
import { done, refuse, withoutTimes, type InstanceId, type Label, type Result } from '../model.ts';
import type { Cell } from '../session/cell.ts';
import type { Ports } from '../ports.ts';
import { performIn } from '../session/perform.ts';
import { storedChat } from '../session/stored-chat.ts';
import type { Supervisor } from '../supervisor.ts';
import { whileLive } from './perform.ts';

type LabelCommands = Pick<Gateway, 'labels' | 'editLabel' | 'labelChat' | 'reloadLabels'>;

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
const isBeginning = ({ histories }: Cell): boolean => {
  const { progress } = histories.view.initial;
  return progress !== null && progress < 100;
};

const labelsOf = async ({ definitions }: Ports, id: InstanceId): Promise<readonly Label[]> =>
  (await definitions.all(id, 'label')).map(withoutTimes);

const changeChat = async (
  ports: Ports,
  cell: Cell,
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
const reload = async ({ log }: Ports, cell: Cell, whole: boolean): Promise<void> => {
  const instance = cell.record.id;
  try {
    const outcome = await cell.request((signal) => performIn(cell, signal, 'label.reload', { whole }));
    if (outcome?.ok === false) log.warn({ instance, reason: outcome.refusal.reason }, 'labels.notReloaded');
  } catch (error) {
    log.error({ instance, error }, 'labels.notReloaded');
  }
};

export function labelCommands(supervisor: Supervisor): LabelCommands {
  const { ports } = supervisor;
  // The changes of one instance run one after the other. New ids depend on the stored labels, and changes of a chat depend on its labels.
  const turns = createKeyedMutex();
  const reloading = new Set<InstanceId>();

  return {
    labels: async (id) => (await ports.definitions.all(id, 'label')).filter(({ deleted }) => !deleted),
    editLabel: (id, edit) =>
      turns.run(id, () =>
        whileLive(supervisor, id, async (cell, signal) => {
          if (!cell.record.isBusiness) return noBusiness;
          const wanted = edited(await labelsOf(ports, id), edit);
          if (!wanted.ok) return wanted;
          const defined = await performIn(cell, signal, 'label.define', { label: wanted.value.label });
          return defined.ok ? wanted : defined;
        }),
      ),
    labelChat: (id, number, wanted) =>
      turns.run(id, () =>
        whileLive(supervisor, id, async (cell, signal) =>
          cell.record.isBusiness ? changeChat(ports, cell, signal, number, wanted) : noBusiness,
        ),
      ),
    reloadLabels: (id, whole) =>
      whileLive(supervisor, id, async (cell) => {
        if (!cell.record.isBusiness) return noBusiness;
        if (isBeginning(cell)) return refuse('conflict', 'history sync still in progress, try again in a moment');
        if (reloading.has(id)) return done('underWay');
        reloading.add(id);
        void reload(ports, cell, whole).finally(() => reloading.delete(id));
        return done('started');
      }),
  };
}
