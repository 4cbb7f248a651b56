/** Routes for the browser of an account's owner, which has a one-time code and no token. They give the stage of one link, and take its steps. */
import type { Gateway, InstanceId, PasskeyView, Result } from '#actors/gateway.ts';
import { passkeyNotice } from '#src/contract/passkey.ts';
import { wrongCodeText } from '../credentials.ts';
import { done, instanceRefusals, type Route, route } from '../route.ts';
import { FollowedAnswer, PasskeyBody, UsedCodeAnswer } from '../schemas/instance.ts';

const common = { credential: 'passkeyCode', tag: 'instance', refusals: { ...instanceRefusals, conflict: {} } } as const;

/** Returns the view for the browser. After the last stage it has only the outcome of the linking. */
const follow = async (gateway: Gateway, id: InstanceId, found: Result<PasskeyView | null>) => {
  if (!found.ok) return found;
  const view = found.value;
  if (view !== null) return done({ ...passkeyNotice(view), options: view.options });
  const now = await gateway.current(id);
  return done({ stage: now?.loggedIn === true ? ('linked' as const) : ('none' as const), code: '', expires: '', options: null });
};

export const passkeyLinkRoutes: readonly Route[] = [
  route({
    on: ['GET /passkey'],
    operationId: 'followPasskey',
    ...common,
    summary: 'Show a browser with a one-time code what it has to sign, and how far linking is',
    answer: FollowedAnswer,
    run: async ({ gateway, id }) => follow(gateway, id, await gateway.passkey(id)),
  }),
  route({
    on: ['POST /passkey'],
    operationId: 'answerPasskeyByCode',
    ...common,
    summary: 'Hand in what the browser signed. The code is used up, unless the signature was refused',
    body: PasskeyBody,
    answer: UsedCodeAnswer,
    refusals: { ...common.refusals, conflict: { example: wrongCodeText } },
    run: async ({ gateway, id, body: { id: credential, rawId, type, response }, request: { passkeyLink } }) => {
      if (passkeyLink === null || passkeyLink.used) return { ok: false, refusal: { reason: 'conflict', message: wrongCodeText } };
      const answered = await follow(gateway, id, await gateway.answerPasskey(id, { id: credential, rawId, type, response }));
      if (!answered.ok) return answered;
      const used = await gateway.usePasskeyLink(passkeyLink.code);
      return used.ok ? done({ ...answered.value, ticket: used.value }) : used;
    },
  }),
  route({
    on: ['POST /passkey/confirm'],
    operationId: 'confirmPasskeyByCode',
    ...common,
    summary: 'Confirm in the browser that the phone shows the same code',
    answer: FollowedAnswer,
    run: async ({ gateway, id }) => follow(gateway, id, await gateway.confirmPasskey(id)),
  }),
];
