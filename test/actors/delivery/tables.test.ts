/** Tests the pure parts of delivery: filters, addresses, envelopes, placeholders. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { enveloped, finalUrl } from '#actors/delivery/webhook-request.ts';
import { envelopeView, placeholderText } from '#src/contract/views.ts';
import { isExcluded, listensTo, wants } from '#actors/delivery/webhook-config.ts';
import { messageFilters, type GatewayEvent } from '#actors/model.ts';
import { fillPlaceholders, hasPlaceholders } from '#actors/text.ts';
import { chat } from '#test/contract/samples.ts';
import { webhook } from '#test/fakes/records.ts';

const facts = { fromMe: false, isGroup: false, wasSentByApi: false };
const matching = {
  wasSentByApi: { ...facts, fromMe: true, wasSentByApi: true },
  wasNotSentByApi: { ...facts, fromMe: true },
  fromMeYes: { ...facts, fromMe: true },
  fromMeNo: facts,
  isGroupYes: { ...facts, isGroup: true },
  isGroupNo: facts,
} as const;

for (const filter of messageFilters) {
  test(`filter: ${filter} excludes the messages that it names and no others`, () => {
    const { wasSentByApi, fromMe, isGroup } = matching[filter];
    assert.equal(isExcluded([filter], matching[filter]), true);
    assert.equal(isExcluded([filter], { wasSentByApi: !wasSentByApi, fromMe: !fromMe, isGroup: !isGroup }), false);
    assert.equal(isExcluded([filter], null), false, 'receipts are never suppressed');
  });
}

test('filter: a message that the account writes on its phone is fromMe, but not of the API', () => {
  assert.equal(isExcluded(['wasSentByApi'], { ...facts, fromMe: true }), false);
  assert.equal(isExcluded(['fromMeYes'], { ...facts, fromMe: true }), true);
});

test('filter: unknown filter names never match', () => {
  assert.equal(isExcluded(['retired', 'toString', ''], facts), false);
});

test('filter: All and all mean every event, and other unknown names mean none', () => {
  assert.ok(listensTo(['All'], 'call') && listensTo(['all'], 'call') && listensTo(['call'], 'call'));
  assert.ok(!listensTo(['ALL', 'calls', ''], 'call') && !listensTo([], 'call'));
});

test('filter: posts of channels go only to webhooks that name them', () => {
  assert.ok(listensTo(['newsletter_messages'], 'newsletter_messages') && listensTo(['All', 'newsletter_messages'], 'newsletter_messages'));
  assert.ok(!listensTo(['All'], 'newsletter_messages') && !listensTo(['all', 'messages'], 'newsletter_messages'));
});

test('filter: a webhook that is disabled, or excludes the message, does not get it', () => {
  const event = { type: 'messages', message: facts } as GatewayEvent;
  assert.equal(wants(webhook, event), true);
  assert.equal(wants({ ...webhook, enabled: false }, event), false);
  assert.equal(wants({ ...webhook, excludeMessages: ['fromMeNo'] }, event), false);
});

const both = { addUrlEvents: true, addUrlTypesMessages: true };
const event = { type: 'messages', messageType: 'ImageMessage' } as const;

for (const [title, url, change, expected] of [
  ['as it is', 'http://a.test/hook', {}, 'http://a.test/hook'],
  ['with the event', 'http://a.test/hook', { addUrlEvents: true }, 'http://a.test/hook/messages'],
  ['with the message type', 'http://a.test/hook', { addUrlTypesMessages: true }, 'http://a.test/hook/ImageMessage'],
  ['with both', 'http://a.test/hook', both, 'http://a.test/hook/messages/ImageMessage'],
  ['with a slash at the end', 'http://a.test/hook/', both, 'http://a.test/hook/messages/ImageMessage'],
  ['with no path', 'http://a.test', both, 'http://a.test/messages/ImageMessage'],
  ['before the query', 'http://a.test/hook?key=a/b?c', both, 'http://a.test/hook/messages/ImageMessage?key=a/b?c'],
  ['before the fragment', 'http://a.test/#x', both, 'http://a.test/messages/ImageMessage#x'],
  ['with a query and nothing to add', 'http://a.test/?key=1', {}, 'http://a.test/?key=1'],
] as const) {
  test(`finalUrl: ${title}`, () => assert.equal(finalUrl({ ...webhook, url, ...change }, event), expected));
}

test('finalUrl: an event without a message has no type segment', () => {
  const address = finalUrl({ ...webhook, url: 'http://a.test', ...both }, { type: 'connection', messageType: '' });
  assert.equal(address, 'http://a.test/connection');
});

test('envelope: it wraps the keys of the event without changing them', () => {
  const sender = { owner: '55', token: 't"1', name: 'shop', baseUrl: 'http://gateway.test' };
  const root = { BaseUrl: 'http://gateway.test', EventType: 'call', owner: '55', token: 't"1', instanceName: 'shop' };
  assert.deepEqual(JSON.parse(enveloped(envelopeView, sender, { type: 'call', body: '{"event":{"a":[1]}}' })), {
    ...root,
    event: { a: [1] },
  });
  assert.deepEqual(JSON.parse(enveloped(envelopeView, sender, { type: 'call', body: '{}' })), root);
});

const content = (text: string) => ({ kind: 'text', text, preview: null }) as const;
const extra = { lead_name: 'Lead', lead_score: 7, lead_tags: ['a'] };
const lead = { ...chat, name: 'Ana Maria Lima', pushName: 'ana', contactName: 'Ana L.', extra };

for (const [text, filled] of [
  ['Hi {{name}}!', 'Hi Ana Maria Lima!'],
  ['{{ first_name }}', 'Ana'],
  ['{{wa_name}} {{wa_contactName}}', 'ana Ana L.'],
  ['{{lead_name}} {{lead_score}}', 'Lead 7'],
  ['[{{lead_tags}}{{lead_unknown}}]', '[]'],
  ['{{unknown}} {{constructor}} {name} {{}}', '{{unknown}} {{constructor}} {name} {{}}'],
] as const) {
  test(`placeholders: ${text}`, () => assert.deepEqual(fillPlaceholders(content(text), lead, placeholderText), content(filled)));
}

test('placeholders: a phone number in place of a name is not used as a name', () => {
  const stranger = { ...lead, name: '+55 11 95555 4444', phone: '+55 11 95555 4444', pushName: '', contactName: '' };
  assert.deepEqual(fillPlaceholders(content('Hi {{name}}{{first_name}}!'), stranger, placeholderText), content('Hi !'));
});

test('placeholders: in an unknown chat they are replaced by an empty text', () => {
  assert.deepEqual(fillPlaceholders(content('Hi {{name}}{{first_name}}{{lead_name}}.'), null, placeholderText), content('Hi .'));
  assert.equal(hasPlaceholders(content('no {braces}')), false);
});
