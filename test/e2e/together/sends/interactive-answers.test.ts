/** Tests answers to messages with choices: a tap on the phone, and texts that choose an option of a message from the contact. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Content, ReceivedMessage } from '#src/sandbox/interface.ts';
import type { Account } from '#test/support/account.ts';
import { type Json, picked } from '#test/support/operation-rows.ts';
import { contact, Scene } from '#test/support/scene.ts';
import { until } from '#test/support/until.ts';

let scene: Scene;
let account: Account;

before(async () => {
  scene = await Scene.open();
  account = await scene.paired();
});
after(() => scene.close());

const receivedAs = (id: unknown): Promise<ReceivedMessage> =>
  until(
    () => scene.platform.sandbox.received(contact).find((one) => one.id === id && one.error === undefined),
    `the arrival of ${String(id)}`,
  );

const nativeButton = (flow: string, params: unknown): Json => ({ name: flow, buttonParamsJson: JSON.stringify(params) });
const asMessage = (interactive: Json): Content => ({
  kind: 'message',
  message: { interactiveMessage: { body: { text: 'Well?' }, ...interactive } },
});

interface Answer {
  readonly title: string;
  readonly asked: Json;
  readonly tap: Omit<Extract<Content, { kind: 'tap' }>, 'kind' | 'messageId'>;
  readonly event: Json;
}

const buttons = { type: 'button', text: 'Well?', choices: ['Yes|y1', 'No|n1'] };
const list = { type: 'list', text: 'Which?', listButton: 'Open', choices: ['[All]', 'One|r1|first', 'Two|r2'] };
const answers: readonly Answer[] = [
  {
    title: 'a button',
    asked: buttons,
    tap: { option: 'Yes' },
    event: { messageType: 'InteractiveResponseMessage', mediaType: 'native_flow_response', buttonOrListid: 'y1', vote: 'Yes' },
  },
  {
    title: 'a button, in the form of older phones',
    asked: buttons,
    tap: { option: 'n1', form: 'buttons' },
    event: { messageType: 'ButtonsResponseMessage', mediaType: 'buttons_response', buttonOrListid: 'n1', vote: 'No' },
  },
  {
    title: 'a button, in the form of templates',
    asked: buttons,
    tap: { option: 'n1', form: 'template' },
    event: { messageType: 'TemplateButtonReplyMessage', mediaType: 'buttons_response', buttonOrListid: 'n1', vote: 'No' },
  },
  {
    title: 'a row',
    asked: list,
    tap: { option: 'Two' },
    event: { messageType: 'InteractiveResponseMessage', mediaType: 'native_flow_response', buttonOrListid: 'r2', vote: 'Two' },
  },
  {
    title: 'a row, in the form of older phones',
    asked: list,
    tap: { option: 'r1', form: 'list' },
    event: { messageType: 'ListResponseMessage', mediaType: 'list_response', buttonOrListid: 'r1', vote: 'One' },
  },
];

for (const { title, asked, tap, event } of answers) {
  test(`answers: a tap on ${title} becomes a message that names it`, async () => {
    const { body } = await account.call('POST', '/send/menu', { ...asked, number: contact });
    const asking = String(body['messageid']);
    await receivedAs(asking);
    const { id } = await scene.platform.sandbox.send(contact, account.number, { kind: 'tap', messageId: asking, ...tap });
    await scene.told([id]);
    const told = scene.receiver.posted.map((posted) => posted.body['message'] as Json | undefined).find((one) => one?.['messageid'] === id);
    assert.ok(told);
    assert.deepEqual(picked(told, event), event);
    assert.equal(told['quoted'], asking);
    if (tap.form !== 'buttons') return;
    const content = told['content'] as { readonly Response: Json; readonly selectedButtonID: string };
    assert.deepEqual([content.Response, content.selectedButtonID], [{ SelectedDisplayText: event['vote'] }, event['buttonOrListid']]);
  });
}

const asks: readonly (readonly [title: string, content: Content, text: string, kind: string, shown: string, answer: Json])[] = [
  [
    'an option of a poll',
    { kind: 'poll', name: 'When?', options: ['Now', 'Later'] },
    '> later',
    'pollUpdateMessage',
    'Later',
    { messageType: 'PollUpdateMessage', vote: 'Later' },
  ],
  [
    'several options of a poll',
    { kind: 'poll', name: 'When?', options: ['Now', 'Later', 'Never'], selectable: 0 },
    '>Now\n>Never',
    'pollUpdateMessage',
    'Now, Never',
    { messageType: 'PollUpdateMessage', vote: 'Now|Never' },
  ],
  [
    'a button, by its id',
    asMessage({ nativeFlowMessage: { buttons: [nativeButton('quick_reply', { display_text: 'Yes', id: 'y1' })] } }),
    '>y1',
    'interactiveResponseMessage',
    'Yes',
    { messageType: 'InteractiveResponseMessage', vote: 'Yes', buttonOrListid: 'y1' },
  ],
  [
    'a row, by its label',
    asMessage({
      nativeFlowMessage: {
        buttons: [nativeButton('single_select', { title: 'Open', sections: [{ rows: [{ id: 'r1', title: 'One' }] }] })],
      },
    }),
    '>One',
    'interactiveResponseMessage',
    'One',
    { messageType: 'InteractiveResponseMessage', vote: 'One', buttonOrListid: 'r1' },
  ],
  [
    'an old button',
    {
      kind: 'message',
      message: {
        buttonsMessage: { contentText: 'Well?', headerType: 1, buttons: [{ buttonId: 'b1', buttonText: { displayText: 'Yes' }, type: 1 }] },
      },
    },
    '>yes',
    'buttonsResponseMessage',
    'Yes',
    { messageType: 'ButtonsResponseMessage', vote: 'Yes', buttonOrListid: 'b1' },
  ],
  [
    'a text, which has no options',
    { kind: 'text', text: 'hello' },
    '> quoted',
    'extendedTextMessage',
    '> quoted',
    { messageType: 'ExtendedTextMessage' },
  ],
];

for (const [title, content, text, kind, shown, answer] of asks) {
  test(`answers: a text that begins with > answers ${title}`, async () => {
    const { id } = await scene.platform.sandbox.send(contact, account.number, content);
    await scene.stored(account, [id]);
    const { status, body } = await account.call('POST', '/send/text', { number: contact, text, replyid: id });
    assert.equal(status, 200, JSON.stringify(body));
    assert.deepEqual(picked(body, answer), answer);
    assert.equal(body['quoted'], id);
    const received = await receivedAs(body['messageid']);
    assert.deepEqual([received.kind, received.text, received.hidden], [kind, shown, undefined]);
    if (content.kind === 'text') return;
    const wrong = await account.call('POST', '/send/text', { number: contact, text: '>Nothing', replyid: id });
    assert.equal(wrong.status, 400, JSON.stringify(wrong.body));
    assert.match(String(wrong.body['error']), /^Nothing is no option of the message: /);
  });
}

test('answers: a shared place arrives as a location that quotes the request', async () => {
  const { body } = await account.call('POST', '/send/location-button', { number: contact, text: 'Where?' });
  const asking = String(body['messageid']);
  await receivedAs(asking);
  const tap = { kind: 'tap', messageId: asking, option: 'Send location', latitude: -23.5, longitude: -46.6 } as const;
  const { id } = await scene.platform.sandbox.send(contact, account.number, tap);
  await scene.told([id]);
  const told = scene.receiver.posted.map((posted) => posted.body['message'] as Json | undefined).find((one) => one?.['messageid'] === id);
  assert.deepEqual([told?.['messageType'], told?.['quoted']], ['LocationMessage', asking]);
});
