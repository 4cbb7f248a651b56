/** Performs operations on a live connection: finds the handler, limits its time, and converts its result or error into an outcome. */
import type { Entry } from '#actors/model.ts';
import type { AnswerOf, InputOf, Operation, OperationControl, OperationName, Operations, Outcome } from '#actors/ports.ts';
import type { LiveConnection } from '../outbound/live-connection.ts';
import { lateAnswer, lostAnswer, notComposed, notKnown, notSent, outcomeOfError } from '../wire/outcomes.ts';
import { hasUpload } from '../outbound/compose.ts';
import { accountHandlers, callHandlers, pictureHandlers } from './account.ts';
import { businessHandlers } from './business.ts';
import { channelHandlers } from './channel.ts';
import { chatHandlers, contactHandlers, definitionHandlers } from './chat.ts';
import { communityHandlers, groupHandlers } from './group.ts';
import type { Handlers } from './requests.ts';
import { messageHandlers } from './message.ts';
import { postHandlers } from './post.ts';
import { inWords } from './refusal-words.ts';

const handlers: Handlers<Operations> = {
  ...accountHandlers,
  ...businessHandlers,
  ...callHandlers,
  ...channelHandlers,
  ...chatHandlers,
  ...communityHandlers,
  ...contactHandlers,
  ...definitionHandlers,
  ...groupHandlers,
  ...messageHandlers,
  ...pictureHandlers,
  ...postHandlers,
};

/**
 * Operations that change no data of the account. If the connection ends during such an operation, its outcome is `notSent`. The composition of an event with a
 * call link creates the link. A repetition creates another one, and nobody sees the first.
 */
const readOnly: ReadonlySet<OperationName> = new Set([
  'message.compose',
  'chat.resolve',
  'chat.lookUp',
  'chat.identify',
  'chat.blocked',
  'chat.reloadNotes',
  'picture.look',
  'message.download',
  'account.limits',
  'account.privacy',
  'group.get',
  'group.refresh',
  'group.preview',
  'business.profile',
  'business.categories',
  'catalog.list',
  'catalog.get',
  'collection.list',
  'post.list',
  'post.updates',
  'post.follow',
  'channel.refresh',
  'channel.look',
  'channel.find',
]);

/** Returns the outcome of an operation that was not answered in time. The frame of a message leaves only after its composition. */
const lateOutcome = (name: OperationName) => (name === 'message.compose' ? notComposed : lateAnswer);

/** Operations without the deadline of their caller. A send waits for its acknowledgement, and a download for its file. Both have their own limits. */
const selfTimed: ReadonlySet<OperationName> = new Set(['message.transmit', 'message.download']);

/** Returns true for an operation that uploads a file. Uploads have their own time limit, which allows for a slow network. */
const uploads = ({ name, input }: Operation): boolean => name === 'message.compose' && hasUpload((input as InputOf<typeof name>).send);

interface Bounds {
  readonly control: OperationControl;
  /** True if the operation changes data of the account. If it is cut off, its outcome is then `unknown` and not `notSent`. */
  readonly writes: boolean;
  /** The outcome at the deadline. */
  readonly tooLate: ReturnType<typeof lateOutcome>;
  /** The present time in Unix milliseconds. */
  readonly now: number;
  /** Gets the entries of an outcome that comes after the end of the wait. */
  readonly late: (entries: readonly Entry[]) => void;
}

/** Waits for work until the session ends or the deadline is reached. Afterwards the work continues, and its entries are still recorded. */
const bounded = <T>(
  work: Promise<Outcome<T>>,
  { control: { signal, deadline }, writes, tooLate, now, late }: Bounds,
): Promise<Outcome<T>> =>
  new Promise((resolve, reject) => {
    let ended = false;
    const end = (outcome: Outcome<T>): void => {
      if (ended) return void (outcome.ok && outcome.entries && late(outcome.entries));
      ended = true;
      clearTimeout(timer);
      signal.removeEventListener('abort', cut);
      resolve(outcome);
    };
    const cut = (): void => end(writes ? lostAnswer : notSent);
    const timer = deadline === Infinity ? undefined : setTimeout(() => end(tooLate), Math.max(0, deadline - now));
    signal.addEventListener('abort', cut);
    work.then(end, (error: unknown) => {
      clearTimeout(timer);
      signal.removeEventListener('abort', cut);
      reject(error as Error);
    });
  });

/** Performs an operation. Rejects only with unexpected errors and with `StorageFailure`. */
export const performOn = async <N extends OperationName>(
  connection: LiveConnection,
  operation: Operation<N>,
  control: OperationControl,
): Promise<Outcome<AnswerOf<N>>> => {
  const { name, input } = operation;
  if (control.signal.aborted || !connection.sock.ws.isOpen) return notSent;
  // A node of a later version may request an operation that this version does not have.
  if (!Object.hasOwn(handlers, name)) return notKnown;
  const handler = handlers[name] as unknown as (
    connection: LiveConnection,
    input: unknown,
    control: OperationControl,
  ) => Promise<Outcome<AnswerOf<N>>>;
  try {
    const work = handler(connection, input, control).then((outcome) => {
      // The entries are applied at once, so that a following send uses the new group and the new timer.
      if (outcome.ok && outcome.entries) connection.apply(outcome.entries);
      return inWords(name, outcome);
    });
    if (selfTimed.has(name)) return await work;
    const deadline = uploads(operation as Operation) ? Infinity : control.deadline;
    const late = (entries: readonly Entry[]): void => connection.record(entries);
    const bounds = { control: { ...control, deadline }, writes: !readOnly.has(name), tooLate: lateOutcome(name), late };
    return await bounded(work, { ...bounds, now: connection.directory.now() });
  } catch (error) {
    const outcome = outcomeOfError(error, connection.sock.ws.isOpen);
    if (outcome === null) throw error;
    if (outcome === lateAnswer) return lateOutcome(name);
    return readOnly.has(name) && outcome.refusal.connectionLost ? notSent : inWords(name, outcome);
  }
};
