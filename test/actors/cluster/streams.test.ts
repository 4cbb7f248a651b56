/** Tests the events that an owner sends and the stream that a reader builds from them, on simulated time. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { GatewayEvent } from '#actors/model.ts';
import { Follower, linked, type Sent, StreamSender } from '#actors/cluster/stream-chain.ts';
import { sampleEvent } from '#test/fakes/gateway.ts';
import { FakeTime } from '#test/fakes/time.ts';

const event = (id: string): GatewayEvent => ({ ...sampleEvent, id });

/** `b<a` is event b after a, `<a` the mark after a, `b<` event b after an unknown event, `<` the mark of a pause. */
const sent = (text: string): readonly Sent[] =>
  text
    .split(' ')
    .filter((one) => one !== '')
    .map((one) => {
      const [id = '', after = ''] = one.split('<');
      return { after: after === '' ? null : after, ...(id === '' ? {} : { event: event(id) }) };
    });

const spelled = (all: readonly Sent[]): string => all.map(({ after, event: one }) => `${one?.id ?? ''}<${after ?? ''}`).join(' ');

const pasts: readonly [string, string, string][] = [
  ['nothing', '', ': '],
  ['events in a row', 'b<a c<b d<c', 'a: b c d'],
  ['the first that an owner ever had', 'a< b<a', ': a b'],
  ['a mark names the last event', '<a', 'a: '],
  ['a mark between events changes nothing', 'b<a <b c<b', 'a: b c'],
  ['events before a missing event do not belong to the events after it', 'b<a d<c e<d', 'c: d e'],
  ['a pause ends the stream before it', 'b<a <', ': '],
  ['after a pause the stream begins anew', 'b<a < <d e<d', 'd: e'],
  ['a new owner that missed the last event of the former owner', 'b<a c<b d<b', 'a: b c d'],
  ['an owner without knowledge of earlier events', 'b<a c<', ': c'],
];

for (const [title, text, expected] of pasts)
  test(`streams: events that belong together: ${title}`, () => {
    const { anchor, events } = linked(sent(text));
    assert.equal(`${anchor ?? ''}: ${events.map(({ id }) => id).join(' ')}`, expected);
  });

const sentFor = 60_000;

const owner = async (before: Promise<Sent | null> = Promise.resolve(null)) => {
  const time = new FakeTime();
  const all: Sent[] = [];
  const here: Sent[] = [];
  const sender = new StreamSender({
    time,
    epoch: () => 1,
    sentFor,
    before: () => before,
    send: (one) => void all.push(one),
    here: (one) => void here.push(one),
    isOwner: () => true,
    announce: () => undefined,
  });
  const take = (ids: string): void => {
    for (const id of ids) sender.take(event(id));
  };
  return { time, sender, take, all: () => spelled(all), here: () => spelled(here) };
};

test('streams: an instance without listeners sends one mark, because the bus may hold a message that the owner could not read', async () => {
  const { time, take, all } = await owner();
  await time.pass(0);
  assert.equal(all(), '');
  take('abc');
  assert.equal(all(), '<');
});

test('streams: events are sent while there are listeners and a while longer, and then a mark says that there are more', async () => {
  const { time, sender, take, all } = await owner();
  await time.pass(0);
  take('a');
  assert.equal(await sender.want(), 'a');
  take('bc');
  await time.pass(sentFor - 1);
  take('d');
  await time.pass(1);
  take('ef');
  assert.equal(all(), '< <a b<a c<b d<c <');
  assert.equal(await sender.want(), 'f');
  take('g');
  assert.equal(all(), '< <a b<a c<b d<c < <f g<f');
});

test('streams: the last event is named again before the bus drops its name', async () => {
  const { time, sender, take, all } = await owner();
  await time.pass(0);
  await sender.want();
  take('a');
  for (let asked = 0; asked < 8; asked += 1) {
    await time.pass(10_000);
    await sender.want();
  }
  assert.equal(all(), 'a< <a <a');
});

const heirs: readonly [string, string, string, string | null][] = [
  ['continues after the last event of the former owner', 'b<a', 'c<b d<c', 'd'],
  ['continues after the last event that the former owner named', '<a', 'c<a d<c', 'd'],
  ['sends nothing if the former owner sent a pause', '<', '', 'd'],
  ['sends one mark where the last message is unknown', '', '<', 'd'],
];

for (const [title, before, expected, last] of heirs)
  test(`streams: a new owner ${title}`, async () => {
    const looked = Promise.withResolvers<Sent | null>();
    const { time, sender, take, all } = await owner(looked.promise);
    // Events that arrive before the last sent message is known wait for it.
    take('c');
    looked.resolve(sent(before)[0] ?? null);
    await time.pass(0);
    take('d');
    assert.equal(all(), expected);
    assert.equal(await sender.want(), last);
  });

for (const [title, before, expected] of [
  ['name the event before them, which the last owner sent', 'b<a', 'c<b d<c'],
  ['say that the event before them is unknown', '', 'c< d<c'],
] as const)
  test(`streams: the first events at a new owner ${title}, also to listeners of its own node`, async () => {
    const { time, take, here } = await owner(Promise.resolve(sent(before)[0] ?? null));
    await time.pass(0);
    take('cd');
    assert.equal(here(), expected);
  });

const listening = () => {
  const got: string[] = [];
  let hear: (one: Sent) => void = () => undefined;
  const follower = new Follower(
    {
      time: new FakeTime(),
      isCurrent: () => true,
      want: () => undefined,
      hear: (take) => {
        hear = take;
        return () => undefined;
      },
      owner: () => () => undefined,
    },
    { onEvent: ({ id }) => void got.push(id), onEnd: () => void got.push('end'), onGap: () => void got.push('gap') },
  );
  follower.start();
  return { got, follower, hear: (one: Sent) => hear(one) };
};

const under = (epoch: number, text: string): readonly Sent[] => sent(text).map((one) => ({ ...one, epoch }));

test('streams: a late message of an earlier owner is a gap, and never an event after later ones', () => {
  const { got, follower, hear } = listening();
  for (const one of [...under(1, 'a<'), ...under(2, 'd<a'), ...under(1, 'b<a c<b'), ...under(2, 'e<d')]) hear(one);
  assert.deepEqual(got, ['a', 'd', 'gap', 'gap', 'e']);
  follower.end();
});

test('streams: a returning reader does not get older events across a late message of an earlier owner', () => {
  const past = linked([...under(1, 'a<'), ...under(2, 'd<a'), ...under(1, 'b<a'), ...under(2, 'e<d f<e')]);
  assert.deepEqual([past.anchor, past.events.map(({ id }) => id)], [null, ['e', 'f']]);
});

test('streams: a listener learns that an event was lost on its way, and gets no event twice', async () => {
  const { got, follower, hear } = listening();
  for (const one of sent('b<a c<b <c <')) hear(one);
  assert.deepEqual(got, ['b', 'c']);
  for (const one of sent('e<d f<e')) hear(one);
  assert.deepEqual(got, ['b', 'c', 'gap', 'e', 'f']);
  for (const one of sent('g<f')) follower.received(one);
  for (const one of sent('h<g')) hear(one);
  assert.deepEqual(got.slice(5), ['g', 'h']);
  follower.end();
  for (const one of sent('i<h')) hear(one);
  assert.deepEqual(got.slice(7), ['end']);
});
