/** Routes of linking an account that has a passkey. */
import type { PasskeyView, Result } from '#actors/gateway.ts';
import { passkeyNotice } from '#src/contract/passkey.ts';
import { timeText } from '#src/contract/time.ts';
import { instanceRefusals, mapResult, type Route, route } from '../route.ts';
import type { HttpOptions } from '../options.ts';
import { CancelledAnswer, PasskeyAnswer, PasskeyBody, PasskeyCodeAnswer } from '../schemas/instance.ts';

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
    summary: 'Hand in what the browser signed, as `PublicKeyCredential.toJSON()` gives it',
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
