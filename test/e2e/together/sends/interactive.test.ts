/** Tests messages with buttons and lists: every way to request one, with the fields of all sends, and their display on the phone. */
import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, test } from 'node:test';
import sharp from 'sharp';
import type { ReceivedMessage } from '#src/sandbox/interface.ts';
import type { Account } from '#test/support/account.ts';
import { type Json, picked } from '#test/support/operation-rows.ts';
import { contact, Scene } from '#test/support/scene.ts';
import { until } from '#test/support/until.ts';

interface Row {
  readonly title: string;
  readonly path: string;
  /** The body without the number and the common fields. Its texts have the placeholder for the contact's name. */
  readonly body: Json;
  /** The expected fields of the answer. */
  readonly answer: Json;
  /** The texts that the phone shows, with those of buttons, rows and cards. */
  readonly shows: { readonly text: string; readonly taps: readonly string[]; readonly cards?: readonly string[] };
  /** The platform's field that holds the content. */
  readonly kind?: string;
}

let scene: Scene;
let account: Account;
let group = '';
const name = 'Bea';

before(async () => {
  scene = await Scene.open();
  account = await scene.paired();
  const { sandbox } = scene.platform;
  await sandbox.putPerson({ number: contact, name });
  group = (await sandbox.createGroup({ subject: 'Shop', creator: account.number, participants: [contact] })).jid;
});
after(() => scene.close());

const pix = { pixType: 'CPF', pixKey: '529.982.247-25', pixName: 'Shop' };
const rows: readonly Row[] = [
  {
    title: 'reply buttons',
    path: '/send/menu',
    body: { type: 'button', text: 'Hi {{wa_name}}', footerText: 'below', choices: ['Yes {{wa_name}}|yes', 'No', 'Later|reply:l'] },
    answer: { messageType: 'NativeFlowMessage', text: `Hi ${name}`, convertOptions: `Yes ${name}|No|Later` },
    shows: { text: `Hi ${name}`, taps: [`Yes ${name}=yes`, 'No=No', 'Later=l'] },
  },
  {
    title: 'link buttons',
    path: '/send/menu',
    body: { type: 'button', text: 'Hi {{wa_name}}', choices: ['Shop|https://shop.example/?a=b|c', 'Call|call:+55 11 99999-0000'] },
    answer: { messageType: 'NativeFlowMessage', convertOptions: 'Shop|Call' },
    shows: { text: `Hi ${name}`, taps: ['Shop>https://shop.example/?a=b|c', 'Call>+5511999990000'] },
  },
  {
    title: 'a button that copies a code',
    path: '/send/menu',
    body: { type: 'button', text: 'Hi {{wa_name}}', choices: ['Copy|copy:CODE-7'] },
    answer: { messageType: 'NativeFlowMessage', convertOptions: 'Copy' },
    shows: { text: `Hi ${name}`, taps: ['Copy>CODE-7'] },
  },
  {
    title: 'link and reply buttons, replies first',
    path: '/send/menu',
    body: {
      type: 'button',
      text: 'Hi {{wa_name}}',
      choices: ['Shop|https://shop.example', 'Copy|copy:CODE', 'Call|call:+5511999990000', 'Yes|1', 'No|2', 'Later|3', 'Never|4'],
    },
    answer: {
      messageType: 'NativeFlowMessage',
      convertOptions: 'Yes|No|Later|Never|Shop|Copy|Call',
      warning: 'some WhatsApp apps do not show replies beside buttons that open a link, call or copy',
    },
    shows: {
      text: `Hi ${name}`,
      taps: ['Yes=1', 'No=2', 'Later=3', 'Never=4', 'Shop>https://shop.example', 'Copy>CODE', 'Call>+5511999990000'],
    },
  },
  {
    title: 'a list',
    path: '/send/menu',
    body: {
      type: 'list',
      text: 'Hi {{wa_name}}',
      listButton: 'Open',
      choices: ['[For {{wa_name}}]', 'One|1|first', '[More]', 'Two|2', 'Three'],
    },
    answer: { messageType: 'NativeFlowMessage', text: `Hi ${name}`, convertOptions: 'One|Two|Three' },
    shows: { text: `Hi ${name}`, taps: [`For ${name}/One=1`, 'More/Two=2', 'More/Three=Three'] },
  },
  {
    title: 'cards by choices',
    path: '/send/menu',
    body: {
      type: 'carousel',
      text: 'Hi {{wa_name}}',
      choices: ['[Card of {{wa_name}}]', 'Take|t1', 'See|https://shop.example', '[Second]', 'Take|t2'],
    },
    answer: { messageType: 'CarouselMessage', text: `Hi ${name}`, convertOptions: 'Take|See|Take' },
    shows: { text: `Hi ${name}`, cards: [`Card of ${name}`, 'Second'], taps: ['Take=t1', 'See>https://shop.example', 'Take=t2'] },
  },
  {
    title: 'cards by fields',
    path: '/send/carousel',
    body: {
      text: 'Hi {{wa_name}}',
      carousel: [
        { text: 'One', buttons: [{ id: 't1', text: 'Take {{wa_name}}', type: 'REPLY' }] },
        { text: 'Two', buttons: [{ id: '5511999990000', text: 'Call', type: 'CALL' }] },
      ],
    },
    answer: { messageType: 'CarouselMessage', convertOptions: `Take ${name}|Call` },
    shows: { text: `Hi ${name}`, cards: ['One', 'Two'], taps: [`Take ${name}=t1`, 'Call>+5511999990000'] },
  },
  {
    title: 'one card',
    path: '/send/carousel',
    body: { text: 'Hi {{wa_name}}', carousel: [{ text: 'One', buttons: [{ id: 't1', text: 'Take' }] }] },
    answer: { messageType: 'NativeFlowMessage', convertOptions: 'Take' },
    shows: { text: `Hi ${name}\n\nOne`, taps: ['Take=t1'] },
  },
  {
    title: 'a request for the place',
    path: '/send/location-button',
    body: { text: 'Where, {{wa_name}}?' },
    answer: { messageType: 'NativeFlowMessage', text: `Where, ${name}?` },
    shows: { text: `Where, ${name}?`, taps: ['Send location>undefined'] },
  },
  {
    title: 'a payment',
    path: '/send/request-payment',
    body: {
      text: 'For {{wa_name}}',
      title: 'Order',
      itemName: 'Plan',
      invoiceNumber: 'P-1',
      amount: 199.9,
      ...pix,
      paymentLink: 'https://pay.example/1',
    },
    answer: { messageType: 'NativeFlowMessage', text: `For ${name}` },
    shows: { text: `For ${name}`, taps: ['Review and pay>P-1 BRL 19990 pix_static_code,payment_link,cards'] },
  },
  {
    title: 'a PIX key',
    path: '/send/pix-button',
    body: pix,
    answer: { messageType: 'NativeFlowMessage', text: '' },
    shows: { text: '', taps: ['Copy the PIX key>52998224725 CPF Shop'] },
  },
  {
    title: 'a poll',
    path: '/send/menu',
    body: { type: 'poll', text: 'When, {{wa_name}}?', choices: ['Now', 'Later'] },
    answer: { messageType: 'PollCreationMessageV3', text: `When, ${name}?`, convertOptions: 'Now|Later' },
    shows: { text: `When, ${name}?`, taps: [] },
    kind: 'pollCreationMessageV3',
  },
];

interface Payment {
  readonly reference_id: string;
  readonly currency: string;
  readonly total_amount: { readonly value: number };
  readonly payment_settings: readonly {
    readonly type: string;
    readonly pix_static_code?: { key: string; key_type: string; merchant_name: string };
  }[];
}

const openedBy = (button: string, opens: unknown): unknown => {
  if (typeof opens !== 'object' || opens === null) return opens;
  const { reference_id, currency, total_amount, payment_settings } = opens as Payment;
  const key = payment_settings[0]?.pix_static_code;
  if (button === 'payment_info') return `${key?.key} ${key?.key_type} ${key?.merchant_name}`;
  return `${reference_id} ${currency} ${total_amount.value} ${payment_settings.map(({ type }) => type).join()}`;
};

/** Returns the choices as short texts: `label=answer`, `label>target` or `section/row=answer`. */
const tapsOf = ({ interactive }: ReceivedMessage): string[] =>
  [interactive, ...(interactive?.cards ?? [])].flatMap((card) =>
    (card?.buttons ?? []).flatMap(({ name: button, text, id, rows: all, opens }) =>
      all
        ? all.map((row) => `${row.section}/${row.title}=${row.id}`)
        : [id === undefined ? `${text}>${String(openedBy(button, opens))}` : `${text}=${id}`],
    ),
  );

const receivedAs = (id: unknown): Promise<ReceivedMessage> =>
  until(
    () => scene.platform.sandbox.received(contact).find((one) => one.id === id && one.error === undefined),
    `the arrival of ${String(id)}`,
  );

const assertShown = (received: ReceivedMessage, { shows, kind = 'interactiveMessage' }: Row): void => {
  assert.equal(received.hidden, undefined);
  assert.deepEqual([received.kind, received.text, tapsOf(received)], [kind, shows.text, shows.taps]);
  assert.deepEqual(received.interactive?.cards.map(({ text }) => text) ?? [], shows.cards ?? []);
};

interface Context {
  readonly stanzaId?: string;
  readonly mentionedJid?: readonly string[];
  readonly isForwarded?: boolean;
}

const contextOf = ({ content, kind }: ReceivedMessage): Context =>
  (content as Readonly<Record<string, { readonly contextInfo?: Context }>>)[kind]?.contextInfo ?? {};

const theirs = async (): Promise<string> => {
  const id = await scene.write(account, 'hello');
  await scene.stored(account, [id]);
  return id;
};

for (const row of rows) {
  test(`interactive: a contact sees ${row.title} by ${row.path}, with reply, mentions, forward mark and tracking`, async () => {
    const replyid = await theirs();
    const common = { number: contact, replyid, mentions: '5511988880077', forward: true, track_source: 'crm', track_id: row.title };
    const { status, body } = await account.call('POST', row.path, { ...row.body, ...common });
    assert.equal(status, 200, JSON.stringify(body));
    assert.deepEqual(picked(body, row.answer), row.answer);
    assert.deepEqual([body['quoted'], body['status'], body['track_id']], [replyid, 'Sent', row.title]);
    const received = await receivedAs(body['messageid']);
    assertShown(received, row);
    const { stanzaId, mentionedJid, isForwarded } = contextOf(received);
    assert.deepEqual([stanzaId, mentionedJid, isForwarded], [replyid, ['5511988880077@s.whatsapp.net'], true]);
  });

  test(`interactive: a group sees ${row.title} by ${row.path} through the asynchronous queue`, async () => {
    const text = row.body['text'] === undefined ? {} : { text: row.shows.text.split('\n')[0] };
    const plain = JSON.parse(JSON.stringify(row.body).replaceAll('{{wa_name}}', name)) as Json;
    const { status, body } = await account.call('POST', row.path, { ...plain, ...text, number: group, async: true });
    assert.equal(status, 200, JSON.stringify(body));
    assert.deepEqual([body['status'], body['messageType']], ['Queued', row.answer['messageType']]);
    const received = await receivedAs(body['messageid']);
    assert.equal(received.chat, group);
    assertShown(received, row);
  });
}

test('interactive: the phone opens pictures and documents above texts, from an address and from the body', async (t) => {
  const picture = await sharp({ create: { width: 300, height: 200, channels: 3, background: '#3366aa' } })
    .jpeg()
    .toBuffer();
  const pdf = Buffer.concat([Buffer.from('%PDF-1.4\n'), randomBytes(4_000)]);
  const files = createServer((request, response) => void response.end(request.url === '/slip.pdf' ? pdf : picture));
  t.after(() => files.close());
  await new Promise<void>((resolve) => files.listen(0, '127.0.0.1', resolve));
  const address = `http://127.0.0.1:${(files.address() as AddressInfo).port}`;
  const base64 = picture.toString('base64');
  const [image, document] = [picture, pdf].map((bytes) => createHash('sha256').update(bytes).digest('hex'));
  const cases: readonly (readonly [path: string, body: Json, heads: readonly unknown[], media: readonly unknown[]])[] = [
    ['/send/menu', { type: 'button', text: 'Hi', imageButton: `${address}/a.jpg`, choices: ['Yes'] }, [image], ['imageMessage']],
    ['/send/menu', { type: 'button', text: 'Hi', imageButton: base64, choices: ['Yes'], async: true }, [image], ['imageMessage']],
    [
      '/send/menu',
      { type: 'carousel', text: 'Hi', choices: ['[One]', `{${address}/a.jpg}`, 'Take', '[Two]', `{${base64}}`, 'Take'] },
      [image, image],
      [undefined, 'imageMessage', 'imageMessage'],
    ],
    [
      '/send/carousel',
      {
        text: 'Hi',
        carousel: [
          { text: 'One', image: base64, buttons: [{ text: 'Take' }] },
          { text: 'Two', document: `${address}/slip.pdf`, filename: 'slip.pdf', buttons: [{ text: 'Take' }] },
        ],
      },
      [image, document],
      [undefined, 'imageMessage', 'documentMessage'],
    ],
    ['/send/request-payment', { amount: 1, ...pix, fileUrl: `${address}/slip.pdf`, fileName: 'slip.pdf' }, [document], ['documentMessage']],
  ];
  for (const [path, asked, heads, media] of cases) {
    const { status, body } = await account.call('POST', path, { ...asked, number: contact });
    assert.equal(status, 200, JSON.stringify(body));
    assert.equal(JSON.stringify(body).includes(base64.slice(0, 200)), false, 'no file in the answer');
    const received = await receivedAs(body['messageid']);
    assert.equal(received.hidden, undefined);
    assert.deepEqual(received.heads, heads);
    const { interactive } = received;
    assert.deepEqual(
      [interactive, ...(interactive?.cards ?? [])].map((card) => card?.media),
      media,
    );
  }
  const refused = await account.call('POST', '/send/menu', { ...cases[0]?.[1], number: contact, imageButton: 'bm8gcGljdHVyZQ==' });
  assert.equal(refused.status, 415, JSON.stringify(refused.body));
});

test('interactive: a refusal of the platform is returned with its code, and the message is stored as Failed', async () => {
  const legacy = await account.call('POST', '/send/menu', { type: 'button_legacy', number: contact, text: 'Old', choices: ['Yes', 'No'] });
  assert.deepEqual([legacy.status, legacy.body['provider_code']], [500, 405]);
  const { body } = await account.call('POST', '/message/find', { chatid: `${contact}@s.whatsapp.net`, limit: 1 });
  const [last] = body['messages'] as readonly Json[];
  assert.deepEqual([last?.['messageType'], last?.['status'], last?.['convertOptions']], ['ButtonsMessage', 'Failed', 'Yes|No']);
});

const refusals: readonly (readonly [title: string, path: string, body: Json, error: RegExp])[] = [
  ['an unknown type', '/send/menu', { type: 'grid', text: 'x', choices: ['a'] }, /^Missing required fields or invalid menu type$/],
  ['no choices', '/send/menu', { type: 'button', text: 'x' }, /^Missing required fields or invalid menu type$/],
  ['an empty list of choices', '/send/menu', { type: 'button', text: 'x', choices: [] }, /^Missing required fields or invalid menu type$/],
  ['eleven buttons', '/send/menu', { type: 'button', text: 'x', choices: [...'abcdefghijk'] }, /at most 10 buttons/],
  ['a link in the old form', '/send/menu', { type: 'button_legacy', text: 'x', choices: ['b|https://b.example'] }, /replies only/],
  ['an invalid phone number', '/send/menu', { type: 'button', text: 'x', choices: ['a|call:abc'] }, /phone number/],
  ['a poll of one option', '/send/menu', { type: 'poll', text: 'x', choices: ['a'] }, /2 to 12/],
  ['a card without buttons', '/send/menu', { type: 'carousel', text: 'x', choices: ['[a]'] }, /1 to 3 buttons/],
  ['buttons before the first card', '/send/menu', { type: 'carousel', text: 'x', choices: ['a'] }, /in brackets/],
  ['no cards', '/send/carousel', { text: 'x' }, /^Missing required fields or invalid card format$/],
  [
    'an unknown kind of key',
    '/send/pix-button',
    { pixType: 'IBAN', pixKey: 'x' },
    /^Invalid keyType\. Allowed: CPF, CNPJ, PHONE, EMAIL, EVP$/,
  ],
  ['a key with a wrong check digit', '/send/pix-button', { pixType: 'CPF', pixKey: '529.982.247-24' }, /no valid CPF/],
  ['a payment without a key', '/send/request-payment', { amount: 1 }, /^Missing pixKey or pixCode$/],
  ['no amount', '/send/request-payment', pix, /amount or orderMessageId/],
  ['an order that is not stored', '/send/request-payment', { ...pix, orderMessageId: 'NOTHING' }, /no stored order/],
  ['a slip with too few digits', '/send/request-payment', { amount: 1, boletoCode: '1234' }, /digits of a bank slip/],
];

for (const [title, path, body, error] of refusals) {
  test(`interactive: ${title} is refused with its reason`, async () => {
    const answered = await account.call('POST', path, { number: contact, ...body });
    assert.equal(answered.status, 400, JSON.stringify(answered.body));
    assert.match(String(answered.body['error']), error);
  });
}

test('interactive: the gateway sends the platform no unknown request', () => assert.deepEqual(scene.platform.sandbox.stats().unknown, {}));
