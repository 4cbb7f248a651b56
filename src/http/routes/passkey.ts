/** Routes of linking an account that has a passkey. */
import type { Gateway, InstanceId, PasskeyView, Result } from '#actors/gateway.ts';
import { passkeyNotice } from '#src/contract/instance.ts';
import { timeText } from '#src/contract/formats.ts';
import { done, instanceRefusals, mapResult, type Route, route, wrongCodeText } from '../route.ts';
import type { HttpOptions } from '../options.ts';
import { CancelledAnswer, FollowedAnswer, PasskeyAnswer, PasskeyBody, PasskeyCodeAnswer, UsedCodeAnswer } from '../schemas/instance.ts';

const common = { credential: 'instance', tag: 'instance', refusals: { ...instanceRefusals, conflict: {} } } as const;

const none = { stage: 'none', code: '', expires: '', options: null } as const;

const answerOf = (found: Result<PasskeyView | null>) =>
  mapResult(found, (view) => (view === null ? none : { ...passkeyNotice(view), options: view.options }));

const linkRow = (baseUrl: string): Route =>
  route({
    on: ['POST /instance/passkey/link'],
    operationId: 'linkPasskey',
    ...common,
    summary: "Make a one-time code by which the browser of the account's owner signs, without the token of the instance",
    answer: PasskeyCodeAnswer,
    run: async ({ gateway, id }) =>
      mapResult(await gateway.linkPasskey(id), ({ code, expiresAt }) => ({
        code,
        link: `${baseUrl}#${code}`,
        expires: timeText(expiresAt),
      })),
  });

export const passkeyRoutes = ({ baseUrl }: Pick<HttpOptions, 'baseUrl'>): readonly Route[] => [
  linkRow(baseUrl),
  route({
    on: ['GET /instance/passkey'],
    operationId: 'getPasskey',
    ...common,
    summary: "Show how far linking with a passkey is, and what the browser of the account's owner has to sign",
    answer: PasskeyAnswer,
    run: async ({ gateway, id }) => answerOf(await gateway.passkey(id)),
  }),
  route({
    on: ['POST /instance/passkey'],
    operationId: 'answerPasskey',
    ...common,
    summary: 'Submit the assertion that the browser signed, in the form of `PublicKeyCredential.toJSON()`',
    body: PasskeyBody,
    answer: PasskeyAnswer,
    run: async ({ gateway, id, body: { id: credential, rawId, type, response } }) =>
      answerOf(await gateway.answerPasskey(id, { id: credential, rawId, type, response })),
  }),
  route({
    on: ['POST /instance/passkey/confirm'],
    operationId: 'confirmPasskey',
    ...common,
    summary: 'Confirm that the phone shows the same code',
    answer: PasskeyAnswer,
    run: async ({ gateway, id }) => answerOf(await gateway.confirmPasskey(id)),
  }),
  route({
    on: ['DELETE /instance/passkey'],
    relieves: true,
    operationId: 'cancelPasskey',
    ...common,
    summary: 'End linking while the platform asks for a passkey',
    answer: CancelledAnswer,
    run: async ({ gateway, id }) => mapResult(await gateway.cancelPasskey(id), () => ({ response: 'Linking was cancelled' })),
  }),
];

// Routes for the browser of an account's owner, which has a one-time code and no token. The routes show the stage of one link and accept its steps.

const byCode = { credential: 'passkeyCode', tag: 'instance', refusals: { ...instanceRefusals, conflict: {} } } as const;

/** Returns the view for the browser. After the last stage, the view contains only the outcome of the linking. */
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
    ...byCode,
    summary: 'Show a browser with a one-time code its challenge and the progress of linking',
    answer: FollowedAnswer,
    run: async ({ gateway, id }) => follow(gateway, id, await gateway.passkey(id)),
  }),
  route({
    on: ['POST /passkey'],
    operationId: 'answerPasskeyByCode',
    ...byCode,
    summary: 'Submit the assertion that the browser signed. The code is used up, unless the assertion was refused',
    body: PasskeyBody,
    answer: UsedCodeAnswer,
    refusals: { ...byCode.refusals, conflict: { example: wrongCodeText } },
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
    ...byCode,
    summary: 'Confirm in the browser that the phone shows the same code',
    answer: FollowedAnswer,
    run: async ({ gateway, id }) => follow(gateway, id, await gateway.confirmPasskey(id)),
  }),
];
