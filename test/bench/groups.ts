/** Measures accounts in a thousand groups. Compares their login with that of an account without groups, and texts to a large group with bare Baileys. */
import { request } from 'undici';
import { numberOf, scaled, type Bench, type Setting } from './bench.ts';
import { startBare, startGateway, type Client, type GatewayClient } from './clients.ts';
import { median } from './report.ts';
import { counted, postJson, startSandbox, type BenchSandbox } from './sandbox.ts';
import { eventually, pause } from './workshop.ts';

const [groupCount, smallGroup, largeGroup] = [1_000, 30, 500];
const [logins, warmUp] = [40, 10];
/** The number of rounds on each side, of texts per round, and of simultaneous requests. */
const [rounds, textsPerRound, concurrency] = [8, 100, 20];
const [bareNumber, crowded, lonely] = [numberOf(1, 0), numberOf(2, 0), numberOf(2, 1)];

const createGroup = ({ control }: BenchSandbox, subject: string, creator: string, participants: readonly string[]) =>
  postJson<{ readonly jid: string }>(`${control}/groups`, { subject, creator, participants });

const members = (count: number): readonly string[] => Array.from({ length: count }, (_, n) => numberOf(8, n));

const statusOf = async ({ address }: GatewayClient, token: string): Promise<string> => {
  const { body } = await request(`${address}/instance/status`, { headers: { token } });
  return ((await body.json()) as { instance: { status: string } }).instance.status;
};

/** Returns the time from a request that wakes a hibernated session to its status `connected`. In milliseconds. */
const loginOf = async (gateway: GatewayClient, token: string): Promise<number> => {
  await postJson(`${gateway.address}/instance/hibernate`, {}, { token });
  await pause(250);
  const start = performance.now();
  await postJson(`${gateway.address}/instance/connect`, {}, { token });
  while ((await statusOf(gateway, token)) !== 'connected') await pause(1);
  const ms = performance.now() - start;
  await pause(250);
  return ms;
};

const compareLogins = async (setting: Setting, gateway: GatewayClient, tokens: { readonly many: string; readonly none: string }) => {
  const [many, none]: [number[], number[]] = [[], []];
  for (let round = 1 - warmUp; round <= scaled(logins, setting); round += 1) {
    const [without, withGroups] = [await loginOf(gateway, tokens.none), await loginOf(gateway, tokens.many)];
    if (round < 1) continue;
    none.push(without);
    many.push(withGroups);
  }
  return { many, none };
};

/** Returns the number of texts per second, from the first request to the last acknowledgement of the platform. */
const gatewayRate = async ({ address }: GatewayClient, token: string, number: string, count: number): Promise<number> => {
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < count) await postJson(`${address}/send/text`, { number, text: `text number ${next++} of the bench` }, { token });
  };
  const start = performance.now();
  await Promise.all(Array.from({ length: concurrency }, worker));
  return (count * 1000) / (performance.now() - start);
};

const bareRate = async (bare: Client, group: string, count: number): Promise<number> => {
  const { acknowledged } = await bare.ask<{ acknowledged: number }>('send', { from: bareNumber, to: [group], count, concurrency });
  return (count * 1000) / acknowledged;
};

const joinGroups = async (setting: Setting, sandbox: BenchSandbox, gateway: GatewayClient, token: string): Promise<void> => {
  const others = members(smallGroup - 1);
  for (let n = 0; n < scaled(groupCount, setting); n += 1) await createGroup(sandbox, `Group ${n}`, crowded, others);
  const listed = async (): Promise<true | null> => {
    const answer = await postJson<{ pagination: { totalRecords: number } }>(`${gateway.address}/group/list`, { limit: 1 }, { token });
    return answer.pagination.totalRecords >= scaled(groupCount, setting) ? true : null;
  };
  await eventually(listed, 'all groups are stored');
};

export const groups: Bench = {
  name: 'groups',
  about: 'logins of an account in 1,000 groups, and texts to a group of 500 members against bare Baileys',
  async run(setting) {
    const sandbox = await startSandbox(setting.workshop);
    const [gateway, bare] = await Promise.all([startGateway(setting.workshop, sandbox), startBare(setting.workshop, sandbox)]);
    await bare.pair(bareNumber);
    const tokens = { many: await gateway.pair(crowded), none: await gateway.pair(lonely) };
    await joinGroups(setting, sandbox, gateway, tokens.many);
    setting.say(`${scaled(groupCount, setting)} groups are joined`);
    const { many, none } = await compareLogins(setting, gateway, tokens);
    const others = members(largeGroup - 1);
    const [theirs, ours] = [await createGroup(sandbox, 'Theirs', bareNumber, others), await createGroup(sandbox, 'Ours', lonely, others)];
    await pause(1_000);
    await bare.ask('keepGroup', { from: bareNumber, group: theirs.jid });
    const count = scaled(textsPerRound, setting);
    const rates: { our: number[]; their: number[] } = { our: [], their: [] };
    for (let round = -1; round <= rounds; round += 1) {
      const [their, our] = [await bareRate(bare, theirs.jid, count), await gatewayRate(gateway, tokens.none, ours.jid, count)];
      if (round < 1) continue;
      rates.our.push(our);
      rates.their.push(their);
    }
    const { fromClients } = await counted(sandbox);
    return [
      {
        name: 'login of an account in 1,000 groups, against one in none',
        unit: 'ms',
        ours: median(many),
        baseline: median(none),
        judged: 'ratio',
        bound: { most: 1.1 },
        details: { rounds: many.length, bestRatio: Math.min(...many) / Math.min(...none) },
      },
      {
        name: 'texts to a group of 500 members',
        unit: 'messages/s',
        ours: median(rates.our),
        baseline: median(rates.their),
        judged: 'ratio',
        bound: { least: 0.8 },
        details: { rounds, fromClients, bestRatio: Math.max(...rates.our) / Math.max(...rates.their) },
      },
    ];
  },
};
