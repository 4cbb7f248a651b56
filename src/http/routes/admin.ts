/** What only the administrator may do with instances and with the server. */
import { Type } from 'typebox';
import type { Gateway, InstanceView, Refusal } from '#actors/gateway.ts';
import { instanceView } from '#src/contract/views.ts';
import { answering, done } from '../outcome.ts';
import { type Route, route } from '../route.ts';
import * as shape from '../schemas/instance.ts';
import { NumbersAnswer } from '../schemas/server.ts';

const common = { credential: 'admin', tag: 'admin' } as const;

const created = (now: () => number) => (view: InstanceView) => ({
  response: 'Instance created successfully',
  instance: instanceView(view, now()),
  connected: view.connected,
  loggedIn: view.loggedIn,
  name: view.record.name,
  token: view.record.token,
  info: 'Use the token to connect the instance: POST /instance/connect.',
});

/** A rotation that came too early says when the last one was and when the next one is allowed. */
const cooldown = ({ pause }: Refusal, now: number) =>
  pause === undefined ? {} : { last_rotated_at: pause.from, next_rotation_at: pause.to, retry_after_ms: Math.max(0, pause.to - now) };

export const adminRoutes = (gateway: Gateway, now: () => number): readonly Route[] => {
  const shown = (view: InstanceView) => instanceView(view, now());

  return [
    route({
      on: ['POST /instance/create', 'POST /instance/init'],
      ...common,
      summary: 'Create an instance; it is not paired yet',
      body: shape.CreateBody,
      answer: shape.CreateAnswer,
      run: async ({ body: { name, adminField01 = '', adminField02 = '' } }) =>
        answering(created(now))(await gateway.create({ name, adminField01, adminField02 })),
    }),
    route({
      on: ['GET /admin/numbers'],
      ...common,
      summary: 'Figures of quality: reconnects by cause, delays, ages, of every instance and in total',
      answer: NumbersAnswer,
      run: () => done(gateway.numbers()),
    }),
    route({
      on: ['GET /instance/all'],
      ...common,
      summary: 'All instances, with their tokens',
      answer: Type.Array(shape.InstanceAnswer),
      run: () => done(gateway.all().map(shown)),
    }),
    route({
      on: ['POST /instance/updateAdminFields'],
      ...common,
      summary: 'Set the free fields of an instance',
      body: shape.AdminFieldsBody,
      answer: shape.InstanceAnswer,
      run: async ({ body: { id, adminField01, adminField02 } }) =>
        answering(shown)(
          await gateway.update(id, {
            ...(adminField01 === undefined ? {} : { adminField01 }),
            ...(adminField02 === undefined ? {} : { adminField02 }),
          }),
        ),
    }),
    route({
      on: ['POST /admin/token/rotate'],
      ...common,
      summary: 'Replace the admin token; the old one is void at once',
      answer: shape.AdminTokenAnswer,
      details: (refusal) => cooldown(refusal, now()),
      surprise: 'Failed to persist admin token',
      run: async () =>
        answering((token: string) => ({
          success: true,
          message: 'Admin token rotated successfully',
          admin_token: token,
          license_sync_triggered: false,
          license_synced: false,
          timestamp: now(),
        }))(await gateway.rotateAdminToken()),
    }),
  ];
};
