/** Routes of an instance's session and of its record. */
import type { Gateway, InstanceId, InstanceView, Result } from '#actors/gateway.ts';
import { passkeyNotice } from '#src/contract/instance.ts';
import { instanceView, limitsView } from '#src/contract/views.ts';
import {
  connectRefusals,
  done,
  instanceRefusals,
  mapResult,
  performs,
  platformRefusals,
  type RefusalAnswer,
  refuse,
  type Route,
  route,
  unknownInstance,
} from '../route.ts';
import * as shape from '../schemas/instance.ts';
import { type RegionBody, regionOf } from '../schemas/proxy.ts';
import { LimitsAnswer } from '../schemas/account.ts';

const common = { credential: 'instance', tag: 'instance', refusals: instanceRefusals } as const;

const notReset = (id: InstanceId) => ({ resetting: false, instanceId: id, queuedRecoveryAttempted: false });

const resetRefused: RefusalAnswer = { fields: shape.resetFields, details: (_refusal, { id }) => notReset(id) };

const sessionView = ({ connected, loggedIn, record }: InstanceView) => ({ connected, loggedIn, jid: record.jid || null });

const passkeyOf = ({ passkey }: InstanceView) => (passkey ? { passkey: passkeyNotice(passkey) } : {});

const closedView = (view: InstanceView, now: number, response: string, info: string) => ({
  instance: instanceView(view, now),
  response,
  info,
});

const loggedOut = 'The session was logged out. Connect again to get a new QR code.';
const notUnlinked = (reason: string): string => `The platform was not told (${reason}): unlink the device on the phone.`;
const deleted = 'The session was closed and its data was deleted.';

/** Returns the digits of a phone number in any punctuation; null if they are not an international number. */
const phoneOf = (phone: string | number): string | null => {
  const digits = String(phone).replaceAll(/\D/g, '');
  return /^\d{10,15}$/.test(digits) ? digits : null;
};

type Connect = Parameters<Gateway['connect']>[1];

interface ConnectBody extends RegionBody {
  readonly phone?: string | number;
  readonly browser?: string;
  readonly system?: string;
  readonly systemName?: string;
  readonly allowAccountChange?: boolean;
}

const connectOptions = (body: ConnectBody): Result<Connect> => {
  const { phone = '', browser, system, systemName, allowAccountChange } = body;
  const digits = String(phone).trim() === '' ? undefined : phoneOf(phone);
  if (digits === null) return refuse('invalid', 'phone must be 10 to 15 digits, with the country code');
  const region = regionOf(body);
  return done({
    ...(digits === undefined ? {} : { phone: digits }),
    ...(browser === undefined ? {} : { browser: browser === 'auto' ? '' : browser }),
    ...(system === undefined ? {} : { system }),
    ...(systemName?.trim() ? { systemName: systemName.trim() } : {}),
    ...(region === undefined ? {} : { region }),
    ...(allowAccountChange === true ? { allowAccountChange } : {}),
  });
};

const sessionRoutes: readonly Route[] = [
  route({
    on: ['POST /instance/connect'],
    operationId: 'connectInstance',
    ...common,
    summary: 'Connect the instance. If it is not paired, it gets a QR code, or with a phone number a pairing code',
    body: shape.ConnectBody,
    answer: shape.ConnectAnswer,
    refusals: { ...instanceRefusals, conflict: {}, capped: {}, ...connectRefusals },
    run: async ({ gateway, now, id, body }) => {
      const options = connectOptions(body);
      if (!options.ok) return options;
      return mapResult(await gateway.connect(id, options.value), (view) => ({ ...sessionView(view), instance: instanceView(view, now) }));
    },
  }),
  route({
    on: ['GET /instance/status'],
    operationId: 'getInstanceStatus',
    ...common,
    summary: 'Show the status of the instance with the current QR code or pairing code',
    answer: shape.StatusAnswer,
    run: async ({ gateway, now, id }) => {
      const view = await gateway.current(id);
      return view === null
        ? unknownInstance
        : done({ instance: instanceView(view, now), status: { ...sessionView(view), ...passkeyOf(view) } });
    },
  }),
  route({
    on: ['POST /instance/disconnect'],
    relieves: true,
    operationId: 'disconnectInstance',
    ...common,
    summary: 'Log out of the platform. The instance must then be paired again',
    answer: shape.DisconnectedAnswer,
    run: async ({ gateway, now, id }) =>
      mapResult(await gateway.disconnect(id), ({ stillLinked, ...view }) => ({
        ...closedView(view, now, 'Disconnected', stillLinked === '' ? loggedOut : `${loggedOut} ${notUnlinked(stillLinked)}`),
        stillLinked: stillLinked !== '',
      })),
  }),
  route({
    on: ['POST /instance/hibernate'],
    relieves: true,
    operationId: 'hibernateInstance',
    ...common,
    summary: 'Close the connection and keep the credentials; a connect, or a call that needs the session, wakes it',
    answer: shape.ClosedAnswer,
    refusals: { ...instanceRefusals, notSent: {} },
    run: async ({ gateway, now, id }) =>
      mapResult(await gateway.hibernate(id), (view) =>
        closedView(view, now, 'Hibernated', 'The session is paused. It wakes for a connect or a call that needs it.'),
      ),
  }),
  route({
    on: ['POST /instance/reset'],
    operationId: 'resetInstance',
    ...common,
    summary: 'Restart the running session with the same credentials',
    answer: shape.ResetAnswer,
    invalidTexts: { '*': 'invalid payload' },
    refusals: { notFound: resetRefused, conflict: resetRefused, limited: { ...resetRefused, ...connectRefusals.limited } },
    failure: { text: 'server not available', fields: shape.resetFields, details: notReset },
    run: async ({ gateway, id }) => {
      const reset = await gateway.reset(id);
      if (!reset.ok) return reset;
      const { pending } = await gateway.queue(id);
      return done({ response: 'Instance reset started', resetting: true, instanceId: id, queuedRecoveryAttempted: pending > 0 });
    },
  }),
  performs({
    on: ['GET /instance/wa_messages_limits'],
    operationId: 'getMessageLimits',
    tag: common.tag,
    summary: 'Ask the platform how it restricts the account from beginning new chats',
    answer: LimitsAnswer,
    refusals: instanceRefusals,
    operation: 'account.limits',
    input: () => null,
    shown: limitsView,
  }),
  route({
    on: ['POST /instance/presence'],
    operationId: 'setPresence',
    ...common,
    summary: 'Show the account as available or unavailable',
    body: shape.PresenceBody,
    answer: shape.PresenceAnswer,
    refusals: { ...instanceRefusals, ...platformRefusals },
    run: async ({ gateway, id, body }) =>
      mapResult(await gateway.presence(id, body.presence), () => ({ response: 'Presence updated successfully' })),
  }),
];

const recordRoutes: readonly Route[] = [
  route({
    on: ['DELETE /instance'],
    relieves: true,
    operationId: 'deleteInstance',
    ...common,
    summary: 'Delete the instance with everything that belongs to it',
    answer: shape.DeletedAnswer,
    run: async ({ gateway, id }) =>
      mapResult(await gateway.remove(id), ({ stillLinked }) => ({
        response: 'Instance Deleted',
        info: stillLinked === '' ? deleted : `${deleted} ${notUnlinked(stillLinked)}`,
        stillLinked: stillLinked !== '',
      })),
  }),
  route({
    on: ['POST /instance/updateInstanceName'],
    operationId: 'renameInstance',
    ...common,
    summary: 'Rename the instance',
    body: shape.NameBody,
    answer: shape.InstanceAnswer,
    run: async ({ gateway, now, id, body }) =>
      mapResult(await gateway.update(id, { name: body.name.trim() }), (view) => instanceView(view, now)),
  }),
  route({
    on: ['POST /instance/updateDelaySettings'],
    operationId: 'updateDelaySettings',
    ...common,
    summary: 'Set the pace of the asynchronous queue: the least and the largest number of seconds between two messages',
    body: shape.DelayBody,
    answer: shape.DelayAnswer,
    invalidTexts: { '*': 'Invalid request payload' },
    failure: { text: 'Failed to update delay settings' },
    run: async ({ gateway, now, id, body }) => {
      if (body.msg_delay_min > body.msg_delay_max) return refuse('invalid', 'msg_delay_min must not be greater than msg_delay_max');
      const patch = { msgDelayMin: body.msg_delay_min, msgDelayMax: body.msg_delay_max };
      return mapResult(await gateway.update(id, patch), (view) => ({ instance: instanceView(view, now) }));
    },
  }),
  route({
    on: ['POST /instance/token/rotate'],
    operationId: 'rotateInstanceToken',
    ...common,
    givesToken: true,
    summary: 'Replace the token of the instance; the old one stops working and its streams end at once',
    answer: shape.TokenAnswer,
    refusals: { ...instanceRefusals, conflict: { example: 'another request has just replaced the token' } },
    run: async ({ gateway, now, id, request }) =>
      mapResult(await gateway.rotateToken(id, request.instanceToken), (view) => ({
        success: true,
        message: 'Instance token rotated successfully',
        token: view.record.token,
        instance: instanceView(view, now),
        timestamp: now,
      })),
  }),
];

export const instanceRoutes: readonly Route[] = [...sessionRoutes, ...recordRoutes];
