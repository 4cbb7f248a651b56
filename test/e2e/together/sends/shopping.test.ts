/** Tests customers on simulated phones. Their orders and questions arrive as messages of their kind, with a readable text, and can be answered. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Content } from '#src/sandbox/interface.ts';
import type { Account } from '#test/support/account.ts';
import { picked, type Json } from '#test/support/operation-rows.ts';
import { contact, Scene } from '#test/support/scene.ts';
import { until } from '#test/support/until.ts';

let scene: Scene;
let account: Account;
const ids: Record<string, string> = {};

before(async () => {
  scene = await Scene.open();
  account = await scene.paired();
  const { sandbox } = scene.platform;
  await sandbox.changeBusiness(account.number, { description: 'Mugs' });
  for (const [name, product] of Object.entries({
    mug: { name: 'Mug', description: 'Holds tea', price: '19900', currency: 'BRL', retailerId: 'mug-1' },
    cup: { name: 'Cup', price: '10000', salePrice: '7505', currency: 'BRL' },
    voucher: { name: 'Voucher' },
  }))
    ids[name] = (await sandbox.putProduct(account.number, { status: 'APPROVED', ...product })).id;
});
after(() => scene.close());

/** Sends content of the contact. Returns the stored message and the message of its event. */
const arrived = async (content: Content): Promise<readonly [stored: Json, told: Json]> => {
  const { id } = await scene.platform.sandbox.send(contact, account.number, content);
  const stored = await until(async () => {
    const { body } = await account.call('POST', '/message/find', { id });
    return (body['messages'] as readonly Json[])[0];
  }, 'the message is stored');
  const posted = await until(
    () => scene.receiver.posted.find(({ body }) => (body['message'] as Json | undefined)?.['messageid'] === id),
    'the event of the message',
  );
  return [stored, posted.body['message'] as Json];
};

interface Row {
  readonly title: string;
  readonly content: () => Content;
  readonly fields: Json;
  readonly inside: Json;
}

const rows: readonly Row[] = [
  {
    title: 'a question about a product',
    content: () => ({ kind: 'product', owner: account.number, productId: ids['mug']!, text: 'Is it blue?' }),
    fields: { messageType: 'ProductMessage', text: 'Is it blue?\nMug\n19.90 BRL' },
    inside: { title: 'Mug', retailerID: 'mug-1', currencyCode: 'BRL', priceAmount1000: 19_900 },
  },
  {
    title: 'a product on offer, without a text',
    content: () => ({ kind: 'product', owner: account.number, productId: ids['cup']! }),
    fields: { messageType: 'ProductMessage', text: 'Cup\n7.505 BRL' },
    inside: { title: 'Cup', priceAmount1000: 10_000, salePriceAmount1000: 7505 },
  },
  {
    title: 'a product without a price',
    content: () => ({ kind: 'product', owner: account.number, productId: ids['voucher']! }),
    fields: { messageType: 'ProductMessage', text: 'Voucher' },
    inside: { title: 'Voucher' },
  },
  {
    title: 'an order of several products',
    content: () => ({
      kind: 'order',
      owner: account.number,
      items: [
        { productId: ids['mug']!, quantity: 2 },
        { productId: ids['cup']!, quantity: 1 },
      ],
      text: 'For Friday',
    }),
    fields: { messageType: 'OrderMessage', text: 'For Friday\nMug\n3 items, 47.305 BRL' },
    inside: { itemCount: 3, totalAmount1000: 47_305, totalCurrencyCode: 'BRL' },
  },
  {
    title: 'an order of one product without a price',
    content: () => ({ kind: 'order', owner: account.number, items: [{ productId: ids['voucher']!, quantity: 1 }] }),
    fields: { messageType: 'OrderMessage', text: 'Voucher\n1 item' },
    inside: { itemCount: 1 },
  },
];

/** Returns the product in the content, or the content itself. */
const insideOf = ({ content }: Json): Json => {
  const whole = content as Json;
  return (whole['product'] as Json | undefined) ?? whole;
};

for (const { title, content, fields, inside } of rows)
  test(`shopping: ${title} is stored and reported with its kind, its content and a readable text`, async () => {
    const [stored, told] = await arrived(content());
    for (const message of [stored, told]) {
      assert.deepEqual(picked(message, fields), fields);
      assert.deepEqual(picked(insideOf(message), inside), inside);
    }
    const mediaType = fields['messageType'] === 'OrderMessage' ? 'order' : 'product';
    assert.deepEqual(picked(told, { type: '', mediaType: '' }), { type: 'media', mediaType });
    const chat = await account.chatOf(`${contact}@s.whatsapp.net`);
    assert.deepEqual([chat?.['wa_lastMessageTextVote'], chat?.['wa_lastMessageType']], [fields['text'], fields['messageType']]);
  });

test('shopping: an order is answered with a request for its total', async () => {
  const [order] = await arrived({ kind: 'order', owner: account.number, items: [{ productId: ids['mug']!, quantity: 3 }] });
  const asked = await account.call('POST', '/send/request-payment', {
    number: contact,
    orderMessageId: order['messageid'],
    pixType: 'EMAIL',
    pixKey: 'shop@example.com',
    pixName: 'Shop',
  });
  assert.equal(asked.status, 200, JSON.stringify(asked.body));
  const got = await until(
    () => scene.platform.sandbox.received(contact).find(({ id }) => id === asked.body['messageid']),
    'the request for the payment',
  );
  assert.match(JSON.stringify(got.content), /5970/);
});

test('shopping: customers can order only products that they see', async () => {
  const { sandbox } = scene.platform;
  await sandbox.putProduct(account.number, { id: ids['mug']!, isHidden: true });
  const order: Content = { kind: 'order', owner: account.number, items: [{ productId: ids['mug']!, quantity: 1 }] };
  await assert.rejects(sandbox.send(contact, account.number, order), /customers do not see/);
});

test('shopping: the gateway sends the platform no unknown request', () => assert.deepEqual(scene.platform.sandbox.stats().unknown, {}));
