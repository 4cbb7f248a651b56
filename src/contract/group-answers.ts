/** Answers about groups beside the group itself: people whom the platform refused, who asked to join, the timer of messages. */
import type { Group, Person } from '#actors/model.ts';
import { groupView, type MemberRefusal, refusalView } from './group.ts';

interface Outcome extends MemberRefusal {
  readonly person: Person;
}

/** The meaning of the platform's codes for a person who was to be added. */
const reasons: Readonly<Record<number, string>> = {
  400: 'the platform cannot read the request',
  401: 'the person has blocked the account',
  402: 'the account of the person is banned',
  403: 'the privacy settings of the person allow it only by an invitation',
  404: 'there is no account for this number',
  406: 'the platform does not allow it',
  408: 'the person left the group lately and has to be invited',
  409: 'the person is a member already',
  417: 'the platform does not allow it',
  419: 'the group is full',
  421: 'an admin has to approve first',
  500: 'the platform failed',
};

const personView = ({ id, pn, lid }: Person) => ({ JID: id || pn || lid, PhoneNumber: pn, LID: lid });

/** The outcome for each person of a request. `Error` is 0 on success. */
export const memberOutcomeView = ({ person, ...refusal }: Outcome) => ({ ...personView(person), ...refusalView(refusal) });

export const failedView = (outcome: Outcome) => ({
  ...memberOutcomeView(outcome),
  Reason: reasons[outcome.error] ?? `the platform refused with ${outcome.error}`,
});

/** A group with those who asked to join, as one text. */
export const groupInfoView = (group: Group, requests: readonly Person[] | null, me: Person | null) => ({
  ...groupView(group, { me }),
  ...(requests === null ? {} : { request_participants: requests.map(({ id, pn }) => pn || id).join(',') }),
});

const timers = { off: 0, '1d': 86_400, '7d': 604_800, '90d': 7_776_000 } as const;

/** The timer of disappearing messages that a client asks for; null when there is none such. */
export const timerOf = (duration: string | number): { readonly label: string; readonly seconds: number } | null => {
  const written = String(duration).trim().toLowerCase();
  const found = Object.entries(timers).find(([label, seconds]) => label === written || String(seconds) === written);
  return found ? { label: found[0], seconds: found[1] } : null;
};

/** The code of a link, out of the link or by itself; '' when it is none. */
export const inviteCodeOf = (written: string): string =>
  /^(?:(?:https?:\/\/)?chat\.whatsapp\.com\/(?:invite\/)?)?([\w-]{10,50})\/?(?:[?#].*)?$/.exec(written.trim())?.[1] ?? '';
