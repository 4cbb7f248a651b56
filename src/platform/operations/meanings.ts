/** The meaning of the platform's refusals, by their code. */
import { refuse, type Result } from '#actors/model.ts';
import type { LiveConnection } from '../outbound/live-connection.ts';
import { answerOf } from '../wire/outcomes.ts';

/** A code that is not named is passed on as it came. */
export type Meanings = Readonly<Record<number, Result<never>>>;

const tooLong = refuse('invalid', 'The platform did not accept the text: it may be too long, since an emoji can count as two characters');

/** Refusals of requests that carry a name or a text. The platform counts their characters in its own way. */
export const notAccepted: Meanings = { 400: tooLong, 406: tooLong };

/** Refusals of the request for a new group or community. A 400 is about its form as often as about its name. */
export const notCreated: Meanings = {
  400: refuse('invalid', 'The platform did not accept the group: its name may be too long, or one of the people cannot be put into groups'),
  406: tooLong,
};

/** The answer, or what its refusal means; rejects with everything that is no refusal of the platform. */
export const meant = async <T>({ sock }: LiveConnection, work: Promise<T>, meanings: Meanings): Promise<Result<T>> => {
  const answer = await answerOf(work, () => sock.ws.isOpen);
  return answer.ok ? answer : (meanings[answer.refusal.code ?? 0] ?? answer);
};
