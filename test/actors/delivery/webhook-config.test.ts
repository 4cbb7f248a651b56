/** Tests the rules of POST /webhook as a table. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { changeOf } from '#actors/delivery/webhook-config.ts';
import type { WebhookInput } from '#actors/views.ts';
import { eventTypes, type Webhook } from '#actors/model.ts';
import { webhook } from '#test/fakes/records.ts';

const managed = { ...webhook, id: 'managed', events: ['messages'], excludeMessages: ['isGroupYes'], addUrlEvents: true };
const other = { ...webhook, id: 'other', url: 'http://other.test', managed: false };
const situation = { instanceId: webhook.instanceId, current: [managed, other], newId: 'new', now: 7 };

const change = (input: Partial<WebhookInput>, current: readonly Webhook[] = situation.current) =>
  changeOf({ ...situation, current }, { action: '', id: '', url: '', ...input });

function saved(input: Partial<WebhookInput>, current?: readonly Webhook[]): Webhook {
  const result = change(input, current);
  assert.ok(result.ok && 'save' in result.value, JSON.stringify(result));
  return result.value.save;
}

test('webhook-config: simple mode creates the managed webhook if there is none', () => {
  assert.deepEqual(saved({ url: 'http://a.test', enabled: true, events: ['messages'] }, [other]), {
    id: 'new',
    instanceId: webhook.instanceId,
    enabled: true,
    url: 'http://a.test',
    events: ['messages'],
    excludeMessages: [],
    addUrlEvents: false,
    addUrlTypesMessages: false,
    managed: true,
    secret: '',
    headers: {},
    created: 7,
  });
});

test('webhook-config: simple mode changes the managed webhook, whose other fields take their defaults', () => {
  const url = 'http://b.test';
  assert.deepEqual(saved({ url, enabled: false, events: ['All'], addUrlTypesMessages: true }), {
    ...managed,
    url,
    enabled: false,
    events: ['All'],
    excludeMessages: [],
    addUrlEvents: false,
    addUrlTypesMessages: true,
  });
});

test('webhook-config: enabled is false by default, and a change without the field keeps it', () => {
  assert.equal(saved({ url: 'http://a.test', events: ['messages'] }, []).enabled, false);
  assert.equal(saved({ url: 'http://a.test', events: ['messages'] }).enabled, true);
});

test('webhook-config: add creates a further webhook, which simple mode does not manage', () => {
  const after = saved({ action: 'add', url: 'http://c.test', events: ['call'] });
  assert.deepEqual([after.id, after.managed], ['new', false]);
});

test('webhook-config: a request with an id changes that webhook, with or without action update', () => {
  for (const action of ['update', ''] as const) {
    const after = saved({ action, id: 'other', url: 'http://d.test', events: ['call'] });
    assert.deepEqual([after.id, after.url, after.managed], ['other', 'http://d.test', false]);
  }
});

test('webhook-config: unknown event names are kept as sent, beside known ones', () => {
  assert.deepEqual(saved({ url: 'http://a.test', events: ['messages', 'leads'] }).events, ['messages', 'leads']);
});

for (const [title, input, removed] of [
  ['by id', { id: 'other' }, ['other']],
  ['by address', { url: 'http://other.test' }, ['other']],
  ['by id, whatever the address is', { id: 'managed', url: 'http://other.test' }, ['managed']],
  ['with an unknown id, which is no error', { id: 'gone' }, []],
] as const) {
  test(`webhook-config: delete ${title}`, () => {
    assert.deepEqual(change({ action: 'delete', ...input }), { ok: true, value: { remove: removed } });
  });
}

const url = 'http://a.test';
for (const [title, input, reason, message] of [
  ['add with an id', { action: 'add', id: 'x', url, events: ['All'] }, 'invalid', 'id must not be sent when a webhook is added'],
  ['add without an address', { action: 'add', events: ['All'] }, 'invalid', 'url is required'],
  ['add without events', { action: 'add', url, enabled: true }, 'invalid', 'events is required'],
  [
    'only unknown events',
    { url, events: ['leads'] },
    'invalid',
    `events contains no known event type; known types: all, ${eventTypes.join(', ')}`,
  ],
  ['update of an unknown id', { action: 'update', id: 'x', url }, 'notFound', 'Webhook not found'],
  ['update without an id', { action: 'update', url }, 'notFound', 'Webhook not found'],
  ['delete of nothing', { action: 'delete' }, 'invalid', 'id is required'],
  ['an action that does not exist', { action: 'upsert' as 'add', url }, 'invalid', 'Invalid action'],
  ['an action that every object has', { action: 'toString' as 'add', url }, 'invalid', 'Invalid action'],
] as const) {
  test(`webhook-config: ${title} is refused: ${message}`, () => {
    assert.deepEqual(change(input), { ok: false, refusal: { reason, message } });
  });
}
