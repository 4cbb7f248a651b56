/** The answers of the inspector, and the sentence for a step of an instance. Neither the answers nor the sentence contain secrets or personal data. */
import type { ActorChanges, ActorDetail, Origin, Part, Step, StepCause } from '#actors/views.ts';
import { eventDescriptions } from '#actors/gateway.ts';

const follow = {
  reopen: 'it is opened again at once',
  backOff: 'the session tries again after a pause',
  contest: 'the session tries once more, later',
  gate: 'one session tries for all',
  stop: 'nothing more is tried',
  loggedOut: 'the credentials are set aside',
  suspend: 'the session returns when the time is over',
  refuse: 'nothing is tried until somebody connects it',
} as const;

const who: Readonly<Record<Origin, string>> = {
  api: 'A client',
  admin: 'An administrator',
  schedule: 'The schedule',
  call: 'A call that needs the session',
  stop: 'The gateway',
};

const wishes: Readonly<Record<string, string>> = {
  'instance.connect': 'asked for a connection',
  'instance.disconnect': 'asked to log out',
  'instance.reset': 'asked to open the connection anew',
  'instance.hibernate': 'asked the session to sleep',
  'instance.rest': 'exported the session',
  'instance.stop': 'stops',
};

const closeSentence = ({ code, sentence, reaction }: Extract<StepCause, { kind: 'close' }>): string =>
  `${code === null ? 'The connection was closed' : 'The platform closed the connection'} (${sentence}); ${follow[reaction]}.`;

/** Returns the reason of a step as a sentence for operators. */
export const whyText = ({ event, cause }: Pick<Step, 'event' | 'cause'>): string => {
  if (cause.kind === 'close') return closeSentence(cause);
  if (cause.kind === 'command') return `${who[cause.by]} ${wishes[event] ?? 'asked for it'}.`;
  if (cause.kind === 'crash') return `The session crashed (${cause.error}).`;
  return eventDescriptions[event] ?? '';
};

/**
 * Makes one batch of the stream of the list. A change has the id, the state, the time of the state, the reason and the status. Two flags follow:
 * the instance needs an operator, and the instance is linked. The state is '' if the instance is deleted.
 */
export const changesView = ({ rows, counts }: ActorChanges) => ({
  changes: rows.map(([id, row]) =>
    row === null ? [id, '', 0, '', '', false, false] : [id, row.state, row.since, row.reason, row.status, row.needsPerson, row.linked],
  ),
  counts,
});

export const stepView = (step: Step) => ({ ...step, why: whyText(step) });

/** Makes the view of a part. The courier is left out if the part has none. */
const partView = ({ courier, ...part }: Part) => (courier === undefined ? part : { ...part, courier });

export const actorView = ({ steps, parts, ...actor }: ActorDetail) => ({
  ...actor,
  parts: parts.map(partView),
  steps: steps.map(stepView),
});
