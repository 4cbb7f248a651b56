/** Tests the Signal sessions of the gateway with the library of Signal. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { boundSessionChains, quietConsole, repairSenderKeys, repairSessionTrials } from '#src/platform/link/library-patches.ts';
import { checkSignatures } from '#src/platform/wire/signatures.ts';
import { createFakeVault, type FakeVault } from '#test/fakes/vault.ts';
import { type Gateway, startGateway } from '#test/platform/parties.ts';
import { quietLog } from '#test/platform/setup.ts';
import { randomOf } from '#test/support/random.ts';
import { cross, exchange, type OwnEnd, testConversations } from './conversations.ts';
import { SignalPeer } from './ends.ts';
import { testGroups } from './group-conversations.ts';
import { type GroupEnd, SignalGroupPeer } from './group-peer.ts';

quietConsole();
checkSignatures({ onWrong: 'refuse', log: quietLog, now: Date.now });
repairSessionTrials();
boundSessionChains();
repairSenderKeys();

/** Returns the gateway's end of a conversation with one contact. */
const endOf = ({ repository, bundle }: Gateway, jid: string): OwnEnd => ({
  bundle,
  meet: (session) => repository.injectE2ESession({ jid, session }),
  write: (text) => repository.encryptMessage({ jid, data: Buffer.from(text) }),
  read: async ({ type, ciphertext }) => Buffer.from(await repository.decryptMessage({ jid, type, ciphertext })).toString(),
  loseSessions: () => repository.deleteSession([jid]),
});

const gateway = await startGateway(createFakeVault());
let contacts = 0;

testConversations({
  name: 'gateway',
  make: async () => endOf(gateway, `${(contacts += 1)}@lid`),
  linkAnew: async () => endOf(await startGateway(createFakeVault()), '2002@lid'),
});

const author = '2002@lid';

/** Returns the gateway's end in a group with one other member. */
const groupEndOf = ({ repository, auth, jid: meId }: Gateway, group: string): GroupEnd => ({
  distribution: () => repository.getSenderKeyDistributionMessage({ group, meId }),
  learn: (axolotlSenderKeyDistributionMessage) =>
    repository.processSenderKeyDistributionMessage({ authorJid: author, item: { groupId: group, axolotlSenderKeyDistributionMessage } }),
  write: async (text) => (await repository.encryptGroupMessage({ group, meId, data: Buffer.from(text) })).ciphertext,
  read: async (msg) => Buffer.from(await repository.decryptGroupMessage({ group, authorJid: author, msg })).toString(),
  renew: async () =>
    auth.state.keys.set({ 'sender-key': { [`${group}::${repository.jidToSignalProtocolAddress(meId).replace('.', '::')}`]: null } }),
});

testGroups('gateway', async () => groupEndOf(gateway, `${(contacts += 1)}@g.us`));

test('gateway: a session of 400 turns stays small, and late messages are read as far back as by the library of Signal', async () => {
  const jid = `${(contacts += 1)}@lid`;
  const [own, peer] = [endOf(gateway, jid), new SignalPeer()];
  await cross(own, peer);
  const pass = async (from: OwnEnd | SignalPeer, to: OwnEnd | SignalPeer, text: string): Promise<void> =>
    assert.equal(await to.read(await from.write(text)), text);
  for (let turn = 0; turn < 400; turn += 1) {
    await pass(peer, own, `peer ${turn}`);
    await pass(own, peer, `own ${turn}`);
  }
  const address = gateway.repository.jidToSignalProtocolAddress(jid);
  const { [address]: session } = await gateway.auth.state.keys.get('session', [address]);
  const bytes = JSON.stringify(session).length;
  assert.ok(bytes < 6_000, `${bytes} bytes`);

  const late: Record<'own' | 'peer', Awaited<ReturnType<OwnEnd['write']>>[]> = { own: [], peer: [] };
  for (let turn = 0; turn < 8; turn += 1) {
    late.peer.push(await peer.write('late'));
    await pass(peer, own, `peer ${turn}`);
    late.own.push(await own.write('late'));
    await pass(own, peer, `own ${turn}`);
  }
  const readable = (by: OwnEnd | SignalPeer, messages: typeof late.own): Promise<readonly boolean[]> =>
    Promise.all(
      messages.map((message) =>
        by
          .read(message)
          .then((text) => text === 'late')
          .catch(() => false),
      ),
    );
  const read = await readable(own, late.peer);
  assert.deepEqual(read, await readable(peer, late.own));
  assert.deepEqual(read, [false, false, false, true, true, true, true, true]);
  await exchange(own, peer, randomOf(11));
});

test('gateway: keys without a valid signature begin no session, as in the library of Signal', async () => {
  const [own, peer, stranger] = [endOf(gateway, `${(contacts += 1)}@lid`), new SignalPeer(), new SignalPeer()];
  const { signedPreKey } = stranger.bundle();
  await own.meet({ ...peer.bundle(), signedPreKey });
  await assert.rejects(own.write('to nobody'));
  await assert.rejects(peer.meet({ ...own.bundle(), signedPreKey }));
  await own.meet(peer.bundle());
  assert.equal(await peer.read(await own.write('to the peer')), 'to the peer');
  await own.meet({ ...peer.bundle(), signedPreKey });
  assert.equal(await peer.read(await own.write('in the same session')), 'in the same session');
});

test('gateway: a group message without a valid signature is refused, as in the library of Signal', async () => {
  const [own, peer] = [groupEndOf(gateway, '4004@g.us'), new SignalGroupPeer()];
  for (const [from, to] of [
    [own, peer],
    [peer, own],
  ] as const) {
    await to.learn(await from.distribution());
    const forged = Uint8Array.from(await from.write('forged'));
    forged[forged.length - 40] = (forged[forged.length - 40] ?? 0) ^ 1;
    await assert.rejects(to.read(forged));
    assert.equal(await to.read(await from.write('signed')), 'signed');
  }
});

const copyOf = ({ stored }: FakeVault): FakeVault => {
  const copy = createFakeVault();
  for (const [key, value] of stored.keys) copy.stored.keys.set(key, value);
  copy.stored.credentials = stored.credentials;
  return copy;
};

test('gateway: after a kill between the send of messages and their storage, its next messages can be read', async () => {
  let vault = createFakeVault();
  const peer = new SignalPeer();
  let own = await startGateway(vault);
  const end = () => endOf(own, '2002@lid');
  await cross(end(), peer);
  for (let kill = 0; kill < 3; kill += 1) {
    await exchange(end(), peer, randomOf(kill));
    await own.auth.durable();
    vault.away = 'write';
    for (let n = 0; n < 20; n += 1) assert.equal(await peer.read(await end().write(`lost ${n}`)), `lost ${n}`);
    vault.away = false;
    vault = copyOf(vault);
    own = await startGateway(vault);
    assert.equal(await peer.read(await end().write('after the kill')), 'after the kill');
  }
  await exchange(end(), peer, randomOf(3));
});

test('gateway: after a kill between the send of group texts and their storage, its next texts can be read', async () => {
  const vault = createFakeVault();
  const own = await startGateway(vault);
  const [end, peer] = [groupEndOf(own, '3003@g.us'), new SignalGroupPeer()];
  await peer.learn(await end.distribution());
  assert.equal(await peer.read(await end.write('one')), 'one');
  await own.auth.durable();
  vault.away = 'write';
  for (let n = 0; n < 50; n += 1) assert.equal(await peer.read(await end.write(`lost ${n}`)), `lost ${n}`);
  vault.away = false;
  const next = groupEndOf(await startGateway(copyOf(vault)), '3003@g.us');
  for (const text of ['after the kill', 'and on']) assert.equal(await peer.read(await next.write(text)), text);
});
