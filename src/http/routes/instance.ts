/** Instances: make, connect, watch, pause, end. */
import type { Gateway, InstanceId, InstanceView, Result } from '#actors/gateway.ts';
import { instanceView } from '#src/contract/views.ts';
import { answering, done, refuse } from '../outcome.ts';
import { type Route, route } from '../route.ts';
import * as shape from '../schemas/instance.ts';

const common = { credential: 'instance', tag: 'instance' } as const;

const jidOf = ({ record }: InstanceView): string | null => record.jid || null;

const sessionOf = (view: InstanceView) => ({ connected: view.connected, loggedIn: view.loggedIn, jid: jidOf(view) });

/** Digits of a number however it is punctuated; null when they cannot be an international number. */
const phoneOf = (phone: string | number): string | null => {
  const digits = String(phone).replaceAll(/\D/g, '');
  return /^\d{10,15}$/.test(digits) ? digits : null;
};

type Connect = Parameters<Gateway['connect']>[1];

const connectOptions = (body: { phone?: string | number; browser?: string; systemName?: string }): Result<Connect> => {
  const { phone = '', browser, systemName } = body;
  const digits = String(phone).trim() === '' ? undefined : phoneOf(phone);
  if (digits === null) return refuse('invalid', 'phone must be 10 to 15 digits, with the country code');
  return done({
    ...(digits === undefined ? {} : { phone: digits }),
    ...(browser === undefined ? {} : { browser }),
    ...(systemName ? { systemName } : {}),
  });
};

const sessionRoutes = (gateway: Gateway, now: () => number): readonly Route[] => {
  const shown = (view: InstanceView) => instanceView(view, now());
  const closed = (response: string, info: string) => answering((view: InstanceView) => ({ instance: shown(view), response, info }));

  return [
    route({
      on: ['POST /instance/connect'],
      ...common,
      summary: 'Connect, or pair by QR code or pairing code; joins what is under way',
      body: shape.ConnectBody,
      answer: shape.ConnectAnswer,
      run: async ({ id, body }) => {
        const options = connectOptions(body);
        if (!options.ok) return options;
        return answering((view: InstanceView) => ({ ...sessionOf(view), instance: shown(view) }))(await gateway.connect(id, options.value));
      },
    }),
    route({
      on: ['GET /instance/status'],
      ...common,
      summary: 'State of the instance, with the current QR code or pairing code',
      answer: shape.StatusAnswer,
      run: ({ id }) => answering((view: InstanceView) => ({ instance: shown(view), status: sessionOf(view) }))(viewOf(gateway, id)),
    }),
    route({
      on: ['POST /instance/disconnect'],
      ...common,
      summary: 'Log out; a new pairing is needed afterwards',
      answer: shape.ClosedAnswer,
      run: async ({ id }) =>
        closed('Disconnected', 'The session was logged out. Connect again to get a new QR code.')(await gateway.disconnect(id)),
    }),
    route({
      on: ['POST /instance/hibernate'],
      ...common,
      summary: 'Close the connection and keep the credentials',
      answer: shape.ClosedAnswer,
      run: async ({ id }) =>
        closed('Hibernated', 'The session is paused. It wakes for a connect or a call that needs it.')(await gateway.hibernate(id)),
    }),
    route({
      on: ['POST /instance/reset'],
      ...common,
      summary: 'Restart the running session with the same credentials',
      answer: shape.ResetAnswer,
      run: async ({ id }) =>
        answering(() => ({ response: 'Instance reset started', resetting: true, instanceId: id }))(await gateway.reset(id)),
    }),
    route({
      on: ['POST /instance/presence'],
      ...common,
      summary: 'Show the account as available or unavailable',
      body: shape.PresenceBody,
      answer: shape.PresenceAnswer,
      run: async ({ id, body }) =>
        answering(() => ({ response: 'Presence updated successfully' }))(await gateway.presence(id, body.presence)),
    }),
  ];
};

const viewOf = (gateway: Gateway, id: InstanceId): Result<InstanceView> => {
  const view = gateway.view(id);
  return view === null ? refuse('notFound', 'instance not found') : done(view);
};

const recordRoutes = (gateway: Gateway, now: () => number): readonly Route[] => {
  const shown = (view: InstanceView) => instanceView(view, now());

  return [
    route({
      on: ['DELETE /instance'],
      ...common,
      summary: 'Delete the instance with everything that belongs to it',
      answer: shape.DeletedAnswer,
      run: async ({ id }) =>
        answering(() => ({ response: 'Instance Deleted', info: 'The session was closed and its data was deleted.' }))(
          await gateway.remove(id),
        ),
    }),
    route({
      on: ['POST /instance/updateInstanceName'],
      ...common,
      summary: 'Rename the instance',
      body: shape.NameBody,
      answer: shape.InstanceAnswer,
      run: async ({ id, body }) => answering(shown)(await gateway.update(id, { name: body.name })),
    }),
    route({
      on: ['POST /instance/token/rotate'],
      ...common,
      summary: 'Replace the token of the instance; the old one is void at once',
      answer: shape.TokenAnswer,
      run: async ({ id }) =>
        answering((view: InstanceView) => ({
          success: true,
          message: 'Instance token rotated successfully',
          token: view.record.token,
          instance: shown(view),
          timestamp: now(),
        }))(await gateway.rotateToken(id)),
    }),
  ];
};

export const instanceRoutes = (gateway: Gateway, now: () => number): readonly Route[] => [
  ...sessionRoutes(gateway, now),
  ...recordRoutes(gateway, now),
];
