/** Performs operations on a live connection: finds the handler, limits its time, and turns every end into an outcome. */
import type { Entry } from '#actors/model.ts';
import type { AnswerOf, InputOf, Operation, OperationControl, OperationName, Operations, Outcome } from '#actors/ports.ts';
import type { LiveConnection } from '../outbound/live-connection.ts';
import { lateAnswer, lostAnswer, notKnown, notSent, outcomeOfError } from '../wire/outcomes.ts';
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

/** Operations that change nothing: cut off, they are `notSent`. */
const silent: ReadonlySet<OperationName> = new Set([
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

/** Operations with an end of their own. The acknowledgement or the end of the connection settles a message, and a download has its own limits. */
const selfTimed: ReadonlySet<OperationName> = new Set(['message.transmit', 'message.download']);

/** Operations whose composing uploads a file. Uploads have a time limit of their own, which follows from the speed of a network. */
const uploads = ({ name, input }: Operation): boolean => name === 'message.compose' && hasUpload((input as InputOf<typeof name>).send);

interface Bounds {
  readonly control: OperationControl;
  /** Cut off, it is `unknown` and not `notSent`. */
  readonly writes: boolean;
  /** Unix milliseconds. */
  readonly now: number;
  /** Gets the entries of an answer after the deadline. */
  readonly late: (entries: readonly Entry[]) => void;
}

/** The outcome of work that is cut off by the session's end or by its deadline. The work itself goes on, and its entries are still recorded. */
const bounded = <T>(work: Promise<Outcome<T>>, { control: { signal, deadline }, writes, now, late }: Bounds): Promise<Outcome<T>> =>
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
    const timer = deadline === Infinity ? undefined : setTimeout(() => end(lateAnswer), Math.max(0, deadline - now));
    signal.addEventListener('abort', cut);
    work.then(end, (error: unknown) => {
      clearTimeout(timer);
      signal.removeEventListener('abort', cut);
      reject(error as Error);
    });
  });

/** Rejects only with unexpected errors and with `StorageFailure`. */
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
      // A send that follows at once finds the group and the timer as they are now.
      if (outcome.ok && outcome.entries) connection.apply(outcome.entries);
      return inWords(name, outcome);
    });
    if (selfTimed.has(name)) return await work;
    const deadline = uploads(operation as Operation) ? Infinity : control.deadline;
    const late = (entries: readonly Entry[]): void => connection.record(entries);
    return await bounded(work, { control: { ...control, deadline }, writes: !silent.has(name), now: connection.directory.now(), late });
  } catch (error) {
    const outcome = outcomeOfError(error, connection.sock.ws.isOpen);
    if (outcome === null) throw error;
    return silent.has(name) && outcome.refusal.connectionLost ? notSent : inWords(name, outcome);
  }
};
