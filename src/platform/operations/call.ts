/** Operations on calls. */
import { refuse } from '#actors/model.ts';
import type { CallOperations } from '#actors/ports.ts';
import { fromCall } from '../events/from-calls.ts';
import { bare, formsOf, isPerson, resolveTarget } from '../wire/jid.ts';
import { answered, refusedAs } from '../wire/outcomes.ts';
import type { Handlers } from './handlers.ts';

export const callHandlers: Handlers<CallOperations> = {
  'call.reject': async ({ sock, calls, directory, learn }, { number, id }) => {
    const target = number === '' ? null : resolveTarget(number);
    if (target?.ok === false) return refuse('invalid', target.message);
    if (target) await learn([target.jid]);
    // The caller may be known by LID, by number, or by both.
    const ids = target && (isPerson(target.jid) ? formsOf(target.jid) : [target.jid]);
    const callers = ids && new Set([...ids, ...ids.flatMap((one) => [directory.lid(one), directory.pn(one)])].filter((one) => one !== ''));
    const call = calls.find(
      (one) => (id === '' || one.id === id) && (callers === null || one.people.some((who) => callers.has(bare(who)))),
    );
    if (call === null) return refuse('notFound', 'no such call is ringing');
    const { from } = call.event;
    const answer = await sock.query({
      tag: 'call',
      attrs: { from: directory.me.pn, to: from, id: sock.generateMessageTag() },
      content: [{ tag: 'reject', attrs: { 'call-id': call.id, 'call-creator': from, count: '0' } }],
    });
    const code = (answer as { readonly attrs?: Readonly<Record<string, string>> } | undefined)?.attrs?.['error'];
    calls.end(call.id);
    if (code !== undefined) return refusedAs(Number(code), '');
    return answered(null, fromCall({ ...call.event, status: 'reject', date: new Date(directory.now()) }, directory));
  },

  'call.make': async (_connection, { number }) => {
    const target = resolveTarget(number);
    if (!target.ok) return refuse('invalid', target.message);
    return refuse(
      'notSupported',
      'calls cannot be placed: the platform takes them from clients with sound, and the client library has none',
    );
  },
};
