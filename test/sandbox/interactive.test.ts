/** Tests messages with buttons and lists: stanzas that the platform refuses, messages that phones do not show, and the answers to a tap. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, test } from 'node:test';
import type { BinaryNode, proto } from '@whiskeysockets/baileys';
import { eventually, type Client, openSandbox, pair, type TestSandbox } from './client.ts';

let sandbox: TestSandbox;
let cleanUp: () => Promise<void>;
let client: Client;
const own = '5511900000961';
const friend = '5511900000962';
const friendJid = `${friend}@s.whatsapp.net`;
let group = '';

before(async () => {
  ({ sandbox, cleanUp } = await openSandbox());
  client = await pair(sandbox, { number: own });
  group = (await client.sock.groupCreate('Buttons', [friendJid])).id;
});
after(() => cleanUp());

const node = (tag: string, attrs: Record<string, string> = {}, content: BinaryNode[] = []): BinaryNode => ({ tag, attrs, content });
const flow = (name: string, v: string): BinaryNode[] => [
  node('biz', {}, [node('interactive', { type: 'native_flow', v: '1' }, [node('native_flow', { v, name })])]),
];
const mixed = flow('mixed', '9');
const list = [node('biz', {}, [node('list', { type: 'product_list', v: '2' })])];

const buttons = (...all: readonly (readonly [name: string, params: unknown])[]): proto.IMessage => ({
  interactiveMessage: {
    body: { text: 'Choose' },
    nativeFlowMessage: { buttons: all.map(([name, params]) => ({ name, buttonParamsJson: JSON.stringify(params) })), messageVersion: 1 },
  },
});
const yes = ['quick_reply', { display_text: 'Yes', id: 'y1' }] as const;
const reply = buttons(yes);
const rows = [{ id: 'r1', title: 'Row', description: 'first', header: '' }];
const select = buttons(['single_select', { title: 'Open', sections: [{ title: 'All', rows }] }]);
const oldButtons: proto.IMessage = {
  buttonsMessage: { contentText: 'Choose', headerType: 1, buttons: [{ buttonId: 'y1', buttonText: { displayText: 'Yes' }, type: 1 }] },
};
const oldList: proto.IMessage = {
  listMessage: {
    title: 'T',
    description: 'Choose',
    buttonText: 'Open',
    listType: 1,
    sections: [{ title: 'All', rows: [{ rowId: 'r1', title: 'Row', description: 'first' }] }],
  },
};
const cards = (count: number): proto.IMessage => ({
  interactiveMessage: {
    body: { text: 'Look' },
    carouselMessage: { messageVersion: 1, cards: Array.from({ length: count }, () => reply.interactiveMessage ?? {}) },
  },
});

interface Row {
  readonly title: string;
  readonly content: proto.IMessage;
  readonly nodes: readonly BinaryNode[];
  readonly to?: () => string;
  /** The outcome. A code: the message is refused with it. A pattern: the message is accepted and hidden for this reason. */
  readonly outcome: 'shown' | RegExp | string;
}

const table: readonly Row[] = [
  { title: 'a button with the whole note', content: reply, nodes: mixed, outcome: 'shown' },
  { title: 'a button in a group', content: reply, nodes: mixed, to: () => group, outcome: 'shown' },
  { title: 'a button without a note', content: reply, nodes: [], outcome: /without the <biz>/ },
  { title: 'a button with an empty note', content: reply, nodes: [node('biz', {}, [node('interactive')])], outcome: '479' },
  { title: 'a button with a note of another version', content: reply, nodes: flow('mixed', '1'), outcome: '479' },
  { title: 'a flow of business customers by name', content: reply, nodes: flow('cta_url', '9'), outcome: '473' },
  { title: 'a payment by name', content: reply, nodes: flow('payment_info', '9'), outcome: '473' },
  { title: 'a web view by name', content: reply, nodes: flow('open_webview', '9'), outcome: '405' },
  { title: 'a flow of no known name', content: reply, nodes: flow('anything', '9'), outcome: '479' },
  {
    title: 'a payment under another name',
    content: reply,
    nodes: [node('biz', { native_flow_name: 'order_details' })],
    outcome: /without the <biz>/,
  },
  { title: 'a bot in a group', content: reply, nodes: [...mixed, node('bot', { biz_bot: '1' })], to: () => group, outcome: '479' },
  { title: 'a button without a label', content: buttons(['quick_reply', { id: 'y1' }]), nodes: mixed, outcome: /make no sense/ },
  { title: 'a list behind a button', content: select, nodes: mixed, outcome: 'shown' },
  { title: 'a carousel', content: cards(2), nodes: mixed, outcome: 'shown' },
  { title: 'a carousel of eleven cards', content: cards(11), nodes: mixed, outcome: /make no sense/ },
  { title: 'old buttons', content: oldButtons, nodes: [node('biz', {}, [node('buttons')])], outcome: '405' },
  { title: 'old buttons without a note', content: oldButtons, nodes: [], outcome: /without <biz>/ },
  { title: 'an old list', content: oldList, nodes: list, outcome: 'shown' },
  { title: 'an old list without a note', content: oldList, nodes: [], outcome: '405' },
  { title: 'an old list in a group', content: oldList, nodes: list, to: () => group, outcome: '479' },
];

const errorOf = async (id: string): Promise<string | undefined> => {
  const updates = await client.wait('messages.update', (all) => all.some(({ key }) => key.id === id) && all);
  return updates.find(({ key }) => key.id === id)?.update.messageStubParameters?.[0] ?? undefined;
};

/** Sends a message. Returns its id, and the code if it was refused. */
const send = async (content: proto.IMessage, nodes: readonly BinaryNode[], to = friendJid) => {
  const messageId = `3EB0${randomBytes(9).toString('hex').toUpperCase()}`;
  await client.sock.relayMessage(to, content, { messageId, additionalNodes: [...nodes] });
  return { id: messageId, refused: () => errorOf(messageId) };
};

const receivedAs = (id: string) =>
  eventually(() => sandbox.sandbox.received(friend).find((one) => one.id === id && one.error === undefined), `message ${id}`);

for (const { title, content, nodes, to, outcome } of table) {
  test(`interactive: ${title}: ${String(outcome)}`, async () => {
    const { id, refused } = await send(content, nodes, to?.());
    if (typeof outcome === 'string' && outcome !== 'shown') return assert.equal(await refused(), outcome);
    const received = await receivedAs(id);
    if (outcome === 'shown') assert.ok(received.hidden === undefined && received.interactive);
    else assert.match(received.hidden ?? '', outcome as RegExp);
  });
}

const taps = [
  { form: undefined, content: reply, option: 'Yes', kind: 'interactiveResponseMessage', id: '"y1"' },
  { form: 'buttons', content: reply, option: 'y1', kind: 'buttonsResponseMessage', id: '"y1"' },
  { form: 'template', content: reply, option: 'y1', kind: 'templateButtonReplyMessage', id: '"y1"' },
  { form: undefined, content: select, option: 'Row', kind: 'interactiveResponseMessage', id: '"r1' },
  { form: undefined, content: oldList, option: 'r1', kind: 'listResponseMessage', id: '"r1"' },
] as const;

for (const { form, content, option, kind, id: wanted } of taps) {
  test(`interactive: a tap on ${option} answers with ${kind}`, async () => {
    const { id } = await send(content, content === oldList ? list : mixed);
    await receivedAs(id);
    const tap = await sandbox.sandbox.send(friend, own, { kind: 'tap', messageId: id, option, ...(form ? { form } : {}) });
    const answer = await client.wait('messages.upsert', ({ messages }) => messages.find(({ key }) => key.id === tap.id));
    assert.ok(answer.message && kind in answer.message);
    const json = JSON.stringify(answer.message).replaceAll('\\', '');
    assert.ok(json.includes(wanted) && json.includes(`"stanzaId":"${id}"`), json);
  });
}

test('interactive: a tap that opens an address or a call answers nothing, and a request for the place is answered with it', async () => {
  const link = await send(buttons(['cta_url', { display_text: 'Shop', url: 'https://shop.example' }]), mixed);
  const place = await send(buttons(['send_location', { display_text: 'Where?' }]), flow('send_location', '2'));
  await receivedAs(link.id);
  await receivedAs(place.id);
  const tap = (messageId: string, option: string) =>
    sandbox.sandbox.send(friend, own, { kind: 'tap', messageId, option, latitude: -23.5, longitude: -46.6 });
  await assert.rejects(tap(link.id, 'Shop'), /answers nothing/);
  await assert.rejects(tap(link.id, 'Nothing'), /nothing to tap is called/);
  const { id } = await tap(place.id, 'Where?');
  const answer = await client.wait('messages.upsert', ({ messages }) => messages.find(({ key }) => key.id === id));
  assert.equal(answer.message?.locationMessage?.degreesLatitude, -23.5);
});

test('interactive: strangers are refused while the fault for strangers is set', async () => {
  await sandbox.sandbox.fault({ kind: 'refuseStrangers', number: own, code: 475, times: 2 });
  const stranger = '5511900000963';
  const { refused } = await send({ conversation: 'hello' }, [], `${stranger}@s.whatsapp.net`);
  assert.equal(await refused(), '475');
  await sandbox.sandbox.send(stranger, own, { kind: 'text', text: 'hi' });
  const { id } = await send({ conversation: 'hello again' }, [], `${stranger}@s.whatsapp.net`);
  await eventually(() => sandbox.sandbox.received(stranger).some((one) => one.id === id), 'the text to one who wrote');
  await sandbox.sandbox.fault({ kind: 'refuseStrangers', number: own, times: 0 });
});
