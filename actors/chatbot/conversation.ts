/**
 * The chart of one conversation. A conversation begins with a text, and ends a minute after its answer.
 *
 * Texts that arrive together form one question. A text that arrives while the model works restarts the question, at most twice, and not after tools were used.
 * Otherwise the text becomes the next question. A message of the owner, or the stop keyword, ends the conversation at once. The chart stores nothing. The
 * memory of the agent is read from the stored messages. The idempotency key of an answer follows from its question, so that the answer is sent once.
 */
import { assign, fromPromise, setup } from 'xstate';
import { addTime } from '../policy/pacing.ts';
import type { ChatbotPolicy } from '../policy/policy.ts';
import { StorageFailure, type Time } from '../ports.ts';
import { storageRetryMs } from '../waiting.ts';
import type { Answer, Plan } from './answering.ts';

/**
 * The effects of a conversation. After a `StorageFailure` the step is retried while the question is fresh. Any other rejection crashes this conversation alone.
 */
interface ConversationHost {
  readonly time: Pick<Time, 'monotonic'>;
  readonly policy: ChatbotPolicy;
  /**
   * Plans an answer to the messages with these ids, or to all unanswered messages if there are no ids. `held`: the delay of the
   * trigger. A question may be older than `ChatbotPolicy.fresh` by this time. In milliseconds.
   */
  decide(asked: readonly string[], held: number): Promise<Plan | null>;
  think(plan: Plan, signal: AbortSignal): Promise<Answer | null>;
  send(plan: Plan, answer: Answer, signal: AbortSignal): Promise<void>;
  /** Discards the answer and ends the typing. */
  drop(): void;
  crashed(error: unknown): void;
  /**
   * Reports that the conversation would answer too often. `perMinute`: the number of its answers within the last minute. `inARow`: the number of its answers
   * since it began.
   */
  limited(perMinute: number, inARow: number): void;
}

type ConversationEvent =
  /** Reports a text of the contact. `messageId` is the id on the platform, or '' for all unanswered messages. */
  | { readonly type: 'text.came'; readonly messageId: string }
  /** Reports that the owner wrote from a phone, or that a person sent the stop keyword. */
  | { readonly type: 'conversation.silenced' };

interface Context {
  readonly host: ConversationHost;
  /** Ids of the texts of the current question (`asked`), and of texts that arrived too late for this question (`later`). */
  readonly asked: readonly string[];
  readonly later: readonly string[];
  /** The time of the first text of the question. By the monotonic clock. */
  readonly since: number;
  readonly plan: Plan | null;
  readonly answer: Answer | null;
  /** True if the answer may be sent without another decision. */
  readonly isChecked: boolean;
  readonly restarts: number;
  /** Times of the answers within the last minute. */
  readonly answered: readonly number[];
  /** The number of answers since the conversation began. A minute of silence ends a conversation. */
  readonly inARow: number;
}

const noAnswer = { plan: null, answer: null, isChecked: false, restarts: 0 } as const;
const restartsMost = 2;
const minuteMs = 60_000;

const noted = (ids: readonly string[], messageId: string, most: number): readonly string[] =>
  messageId === '' ? ids : [...ids, messageId].slice(-most);

const conversationSetup = setup({
  types: { context: {} as Context, events: {} as ConversationEvent, input: {} as { readonly host: ConversationHost } },
  actors: {
    decide: fromPromise<Plan | null, { readonly host: ConversationHost; readonly asked: readonly string[]; readonly plan: Plan | null }>(
      ({ input }) => input.host.decide(input.asked, delayOf(input.plan)),
    ),
    think: fromPromise<Answer | null, { readonly host: ConversationHost; readonly plan: Plan }>(({ input, signal }) =>
      input.host.think(input.plan, signal),
    ),
    send: fromPromise<void, { readonly host: ConversationHost; readonly plan: Plan; readonly answer: Answer }>(({ input, signal }) =>
      input.host.send(input.plan, input.answer, signal),
    ),
  },
  guards: {
    isPlanned: (_, plan: Plan | null) => plan !== null,
    waitsLonger: ({ context }, plan: Plan | null) => plan !== null && holdOf(context, plan) > 0,
    answersTooOften: ({ context: { host, answered, inARow } }, plan: Plan | null) =>
      plan !== null &&
      (addTime(answered, host.time.monotonic(), minuteMs).length > host.policy.answersPerMinute || inARow >= host.policy.answersInARow),
    isAnswer: (_, answer: Answer | null) => answer !== null,
    mayBeginAnew: ({ context: { plan, restarts } }) => restarts < restartsMost && plan?.acted === false,
    cameMeanwhile: ({ context: { later } }) => later.length > 0,
    isAnswered: ({ context: { answer } }) => answer !== null,
    isChecked: ({ context: { isChecked } }) => isChecked,
    // An answer of the model is kept over a retry. A question whose tools were used, and that has no answer, does not begin again.
    mayRetry: ({ context: { host, since, plan, answer } }, error: unknown) =>
      error instanceof StorageFailure &&
      host.time.monotonic() - since < host.policy.fresh + delayOf(plan) &&
      (answer !== null || plan?.acted !== true),
    hasActed: ({ context: { plan } }, answer: Answer | null) => answer !== null && plan?.acted === true,
  },
  actions: {
    noteText: assign(({ context: { host, asked } }, messageId: string) => ({ asked: noted(asked, messageId, host.policy.burst) })),
    noteLater: assign(({ context: { host, later } }, messageId: string) => ({ later: noted(later, messageId, host.policy.burst) })),
    beginQuestion: assign(({ context }) => ({ since: context.host.time.monotonic() })),
    countRestart: assign(({ context }) => ({ restarts: context.restarts + 1 })),
    keepPlan: assign((_, plan: Plan | null) => ({ plan })),
    keepAnswer: assign((_, answer: Answer | null) => ({ answer })),
    noteChecked: assign({ isChecked: true }),
    noteAnswered: assign(({ context: { host, answered, inARow } }) => ({
      answered: addTime(answered, host.time.monotonic(), minuteMs),
      inARow: inARow + 1,
    })),
    endQuestion: assign({ asked: [], later: [], ...noAnswer }),
    askLater: assign(({ context: { later } }) => ({ asked: later, later: [], ...noAnswer })),
    reportCrash: ({ context }, error: unknown) => context.host.crashed(error),
    dropAnswer: ({ context }) => context.host.drop(),
    reportLimit: ({ context: { host, answered, inARow } }) => host.limited(answered.length, inARow),
  },
  delays: {
    pause: ({ context: { host, since } }) =>
      Math.max(0, Math.min(host.policy.pause, since + host.policy.longestPause - host.time.monotonic())),
    hold: ({ context }) => (context.plan ? holdOf(context, context.plan) : 0),
    rest: minuteMs,
    storage: storageRetryMs,
  },
});

/** Returns the delay of the trigger, or 0 without a plan. In milliseconds. */
function delayOf(plan: Plan | null): number {
  return (plan?.trigger.delaySeconds ?? 0) * 1000;
}

/** Returns the remaining delay of the trigger. In milliseconds. */
function holdOf({ host, since }: Context, plan: Plan): number {
  return Math.max(0, since + delayOf(plan) - host.time.monotonic());
}

type Came = { readonly event: { readonly messageId: string } };
type Failed = { readonly event: { readonly error: unknown } };
type Planned = { readonly event: { readonly output: Plan | null } };
type Answered = { readonly event: { readonly output: Answer | null } };

const noteText = { type: 'noteText' as const, params: ({ event }: Came) => event.messageId };
const noteLater = { type: 'noteLater' as const, params: ({ event }: Came) => event.messageId };
const planOf = ({ event }: Planned): Plan | null => event.output;
const answerOf = ({ event }: Answered): Answer | null => event.output;
const keepPlan = { type: 'keepPlan' as const, params: planOf };
const keepAnswer = { type: 'keepAnswer' as const, params: answerOf };
const errorOf = ({ event }: Failed): unknown => event.error;
const onError = [
  { guard: { type: 'mayRetry' as const, params: errorOf }, target: 'postponed' },
  { target: 'gone', actions: { type: 'reportCrash' as const, params: errorOf } },
];
/** The transition of a silenced conversation in the states in which the chat shows typing. The typing must be ended. */
const onSilenced = { 'conversation.silenced': { target: 'gone', actions: 'dropAnswer' as const } };
/** Continues the same question with another text. */
const gatherOn = { target: 'gathering', actions: noteText };

export const conversation = conversationSetup.createMachine({
  id: 'conversation',
  context: ({ input: { host } }) => ({
    host,
    asked: [],
    later: [],
    since: host.time.monotonic(),
    ...noAnswer,
    answered: [],
    inARow: 0,
  }),
  initial: 'resting',
  on: { 'conversation.silenced': '.gone' },
  states: {
    gathering: {
      after: { pause: 'deciding' },
      on: { 'text.came': { target: 'gathering', reenter: true, actions: noteText } },
    },
    deciding: {
      invoke: {
        src: 'decide',
        input: ({ context: { host, asked, plan } }) => ({ host, asked, plan }),
        onDone: [
          { guard: { type: 'answersTooOften', params: planOf }, target: 'resting', actions: ['reportLimit', 'endQuestion'] },
          { guard: { type: 'waitsLonger', params: planOf }, target: 'holding', actions: keepPlan },
          { guard: { type: 'isPlanned', params: planOf }, target: 'thinking', actions: keepPlan },
          { target: 'resting', actions: 'endQuestion' },
        ],
        onError,
      },
      on: { 'text.came': gatherOn },
    },
    holding: {
      after: { hold: 'thinking' },
      on: { 'text.came': gatherOn },
    },
    thinking: {
      invoke: {
        src: 'think',
        input: ({ context: { host, plan } }) => ({ host, plan: plan! }),
        onDone: [
          // After a tool acted, for example with a hand-over to a person, the answer is sent without another decision.
          { guard: { type: 'hasActed', params: answerOf }, target: 'answering', actions: [keepAnswer, 'noteChecked'] },
          { guard: { type: 'isAnswer', params: answerOf }, target: 'checking', actions: keepAnswer },
          { guard: 'cameMeanwhile', target: 'gathering', actions: ['askLater', 'beginQuestion'] },
          { target: 'resting', actions: 'endQuestion' },
        ],
        onError,
      },
      on: {
        ...onSilenced,
        'text.came': [{ guard: 'mayBeginAnew', target: 'gathering', actions: [noteText, 'countRestart'] }, { actions: noteLater }],
      },
    },
    checking: {
      description: 'A command or a hand-over may have paused the chatbot meanwhile.',
      invoke: {
        src: 'decide',
        input: ({ context: { host, asked, later, plan } }) => ({ host, asked: asked.length === 0 ? [] : [...asked, ...later], plan }),
        onDone: [
          { guard: { type: 'isPlanned', params: planOf }, target: 'answering', actions: 'noteChecked' },
          { target: 'resting', actions: ['dropAnswer', 'endQuestion'] },
        ],
        onError,
      },
      on: { ...onSilenced, 'text.came': { actions: noteLater } },
    },
    answering: {
      invoke: {
        src: 'send',
        input: ({ context: { host, plan, answer } }) => ({ host, plan: plan!, answer: answer! }),
        onDone: [
          { guard: 'cameMeanwhile', target: 'gathering', actions: ['noteAnswered', 'askLater', 'beginQuestion'] },
          { target: 'resting', actions: ['noteAnswered', 'endQuestion'] },
        ],
        onError,
      },
      on: { ...onSilenced, 'text.came': { actions: noteLater } },
    },
    postponed: {
      description: 'Storage did not answer. The step is retried after a pause.',
      after: {
        storage: [{ guard: 'isChecked', target: 'answering' }, { guard: 'isAnswered', target: 'checking' }, { target: 'deciding' }],
      },
      on: { ...onSilenced, 'text.came': [{ guard: 'isAnswered', actions: noteLater }, gatherOn] },
    },
    resting: {
      after: { rest: 'gone' },
      on: { 'text.came': { target: 'gathering', actions: [noteText, 'beginQuestion'] } },
    },
    gone: { type: 'final' },
  },
});
