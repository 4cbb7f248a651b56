/**
 * Tests codes for linking, which the real gateway gets from the simulated platform. Operators get codes. Viewers get none, because they could link a phone of
 * their own.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Scene } from '#test/support/scene.ts';
import { until } from '#test/support/until.ts';

let scene: Scene;
before(async () => {
  scene = await Scene.open();
});
after(() => scene.close());
const password = 'a long enough secret';

interface Status {
  readonly instance: { readonly qrcode: string; readonly paircode: string; readonly token: string };
}

/** Creates a user, and returns a function that requests an instance as the page of this user does. */
const pageOf = async (role: string) => {
  assert.equal((await scene.gateway.call('POST', '/admin/users', { body: { name: role, role, password } })).status, 200);
  const signedIn = await scene.gateway.call('POST', '/admin/session/user', { body: { name: role, password } });
  assert.equal(signedIn.status, 200);
  const cookie = (signedIn.headers.get('set-cookie') ?? '').split(';', 1)[0] ?? '';
  return async (id: string): Promise<Status['instance']> => {
    const response = await fetch(`${scene.gateway.address}/instance/status`, {
      headers: { cookie, 'x-instance': id, 'sec-fetch-site': 'same-origin' },
    });
    assert.equal(response.status, 200);
    return ((await response.json()) as Status).instance;
  };
};

test('roles: a viewer gets no code for linking and no token, and an operator gets the code', async () => {
  const { body } = await scene.gateway.call('POST', '/instance/create', { body: { name: 'to link' } });
  const { token, instance } = body as unknown as { readonly token: string; readonly instance: { readonly id: string } };
  await scene.gateway.call('POST', '/instance/connect', { token, body: {} });
  const [asOperator, asViewer] = [await pageOf('operator'), await pageOf('viewer')];
  await until(async () => (await asOperator(instance.id)).qrcode !== '', 'the instance shows a QR code');
  const { qrcode, paircode, token: shown } = await asViewer(instance.id);
  assert.deepEqual([qrcode, paircode, shown], ['', '', '']);
  assert.match((await asOperator(instance.id)).qrcode, /^data:image\/png;base64,/);
  assert.equal((await asOperator(instance.id)).token, '');
});
