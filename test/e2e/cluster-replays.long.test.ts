/** Tests replays on NATS: a command that an attacker records and sends again, unchanged or changed, runs once. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { connect, createInbox, headers, type NatsConnection } from '@nats-io/transport-node';
import { Signing } from '#src/bus/signing.ts';
import type { Account } from '#test/support/account.ts';
import type { GatewayProcess } from '#test/support/gateway.ts';
import { NatsServer, withNats } from '#test/support/nats.ts';
import { Nodes } from '#test/support/nodes.ts';
import { contact } from '#test/support/scene.ts';
import { patience, until } from '#test/support/until.ts';

interface Frame {
  readonly subject: string;
  readonly reply: string;
  readonly piece: string;
  readonly signature: string;
  readonly data: Uint8Array;
}

let nats: NatsServer;
let nodes: Nodes;
let second: GatewayProcess;
let account: Account;
let other: Account;
let stranger: NatsConnection;
const recorded: Frame[] = [];
/** Answers to replayed commands, on whichever subject they arrive. */
const answers: string[] = [];
const inbox = createInbox();

before(async () => {
  if (withNats.skip !== undefined) return;
  nats = await NatsServer.open();
  nodes = await Nodes.open({ NATS_URL: nats.url });
  second = await nodes.another('second').start();
  account = await nodes.scene.paired();
  other = await nodes.scene.create();
  stranger = await connect({ servers: nats.url });
  stranger.subscribe('dormouse.instance.*', {
    callback: (_, { subject, reply = '', headers: given, data }) =>
      void recorded.push({
        subject,
        reply,
        piece: given?.get('Piece') ?? '',
        signature: given?.get('Signature') ?? '',
        data: data.slice(),
      }),
  });
});
after(async () => {
  await stranger?.close();
  await nodes?.close();
  await nats?.stop();
});

/** Returns the owner of the session, and the account through the other node. */
const placed = async () => {
  const [name] = await nodes.settled([account]);
  const [owner, asked] = name === 'second' ? [second, nodes.first] : [nodes.first, second];
  return { owner, next: asked === second ? 'second' : 'first', nextNode: asked, through: nodes.at(asked, account) };
};

/** Returns how many times the contact received the text. */
const received = (text: string): number => nodes.scene.platform.sandbox.received(contact).filter((one) => one.text === text).length;

const sends = async (through: Account, text: string): Promise<void> => {
  const sent = await through.call('POST', '/send/text', { number: contact, text });
  assert.equal(sent.status, 200, JSON.stringify(sent.body));
  await until(() => received(text) > 0, text);
};

/** Records the frame by which a node asks the owner to send the text. */
const recording = async (through: Account, text: string): Promise<Frame> => {
  await sends(through, text);
  return until(() => recorded.find(({ data }) => Buffer.from(data).includes(text)), 'the frame of the command');
};

/** Replays a frame and listens for answers. Returns a function that ends the subscription. */
const plays = async ({ subject, reply, piece, signature, data }: Frame): Promise<() => void> => {
  const listening = stranger.subscribe(reply, { callback: (_, { data: answer }) => void answers.push(Buffer.from(answer).toString()) });
  const made = headers();
  made.set('Piece', piece);
  made.set('Signature', signature);
  stranger.publish(subject, data, { headers: made, reply });
  await stranger.flush();
  return () => listening.unsubscribe();
};

/** Signs with the key of the nodes (see `Nodes`), with a time that is half a minute old. */
const late = new Signing({ keys: [Buffer.alloc(32, 0xab)], now: () => Date.now() - 31_000, takesUnsigned: () => false });

const attacks: readonly (readonly [string, (frame: Frame, subjectOfOther: string) => Frame])[] = [
  ['as it was', (frame) => frame],
  ['to another instance', (frame, subject) => ({ ...frame, subject })],
  ['with another reply', (frame) => ({ ...frame, reply: inbox })],
  ['as another piece', (frame) => ({ ...frame, piece: `${frame.piece.split(' ')[0]} 1 2` })],
  ['with a signature of half a minute ago', (frame) => ({ ...frame, signature: late.sign(frame, frame.data) })],
];
for (const [title, change] of attacks)
  test(`replay: a recorded command that is sent again ${title} runs no second time`, withNats, async () => {
    const { through } = await placed();
    const text = `recorded, ${title}`;
    const frame = await recording(through, text);
    const end = await plays(change(frame, `dormouse.instance.${(await other.seen()).id}`));
    // Messages to one chat leave in order, and the server delivered the replayed command first.
    await sends(through, `behind the replay, ${title}`);
    assert.equal(received(text), 1);
    await stranger.flush();
    end();
    assert.deepEqual(answers, []);
  });

test('replay: a recorded command runs no second time on the next owner of the session', withNats, async () => {
  const { owner, next, nextNode, through } = await placed();
  const text = 'recorded before the move';
  const frame = await recording(through, text);
  const at = Date.now();
  // The clocks of two nodes may differ by three seconds.
  await until(() => Date.now() - at > 4_000, 'more than the clocks of two nodes may differ');
  const ending = owner.end('SIGTERM');
  await nodes.ownedBy(next, [account], patience);
  await through.reaches('connected', patience);
  const end = await plays(frame);
  await sends(through, 'behind the replay after the move');
  end();
  assert.deepEqual([received(text), answers], [1, []]);
  await nextNode.prints(/a message was refused: too old/);
  assert.equal(await ending, 0, owner.printed);
});
