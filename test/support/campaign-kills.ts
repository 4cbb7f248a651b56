/** A campaign whose gateway is killed repeatedly. Each recipient gets the text once, or has the state that the outcome is unknown. */
import assert from 'node:assert/strict';
import { setTimeout as wait } from 'node:timers/promises';
import { Scene } from './scene.ts';
import { until } from './until.ts';

type Json = Readonly<Record<string, unknown>>;

export interface Kills {
  readonly recipients: number;
  readonly kills: number;
  /** The time-out of the campaign. In milliseconds. */
  readonly patience: number;
  readonly random: () => number;
}

export interface KillsSeen {
  readonly sent: number;
  readonly unknown: number;
  /** The number of texts with an unknown outcome that arrived. */
  readonly arrived: number;
}

const env = { LOOKUP_EVERY_MS: '1', LOOKUPS_AT_ONCE: '10000', CAMPAIGN_DAILY_CAP: '0' };

export const killCampaign = async ({ recipients, kills, patience, random }: Kills): Promise<KillsSeen> => {
  const scene = await Scene.open(env);
  try {
    const account = await scene.paired();
    const numbers = Array.from({ length: recipients }, (_, at) => `55117${String(at).padStart(8, '0')}`);
    const { sandbox } = scene.platform;
    const made = await account.call('POST', '/sender/advanced', {
      delayMin: 0,
      delayMax: 0,
      messages: numbers.map((number) => ({ number, type: 'text', text: `for ${number}` })),
    });
    assert.equal(made.status, 200, JSON.stringify(made.body));
    const id = String(made.body['folder_id']);
    const folder = async (): Promise<Json> => {
      const { body } = await account.call('GET', '/sender/listfolders');
      return (body as unknown as readonly Json[])[0] ?? {};
    };
    const ended = ({ log_sucess, log_failed }: Json): number => Number(log_sucess) + Number(log_failed);
    for (let kill = 1; kill <= kills; kill++) {
      // The kills are spread over the campaign and happen at random times.
      const share = Math.floor((recipients * kill) / (kills + 1));
      await until(async () => ended(await folder()) >= share, `${share} recipients have ended`, patience);
      await wait(random() * 30);
      await scene.gateway.end('SIGKILL');
      await scene.gateway.start();
    }
    const done = await until(
      async () => {
        const seen = await folder();
        return seen['status'] === 'done' && seen;
      },
      'the campaign ends',
      patience,
    );
    const messages: Json[] = [];
    while (messages.length < recipients) {
      const { body } = await account.call('POST', '/sender/listmessages', { folder_id: id, limit: 1_000, offset: messages.length });
      messages.push(...(body['messages'] as readonly Json[]));
    }
    const copies = (at: number): number => sandbox.received(numbers[at] ?? '').length;
    const unknown = messages.flatMap(({ status }, at) => (status === 'Unknown' ? [at] : []));
    const wrong = messages.flatMap(({ status, error }, at) => {
      const isKnown = status !== 'Unknown';
      const isRight = isKnown ? copies(at) === 1 && /^(Sent|Delivered|Read)$/.test(String(status)) : copies(at) <= 1;
      return isRight ? [] : [`${numbers[at]} is ${String(status)} (${String(error)}) and has ${copies(at)} texts`];
    });
    assert.deepEqual(wrong, []);
    assert.ok(unknown.length <= kills, `${unknown.length} of ${recipients} are unknown after ${kills} kills`);
    assert.deepEqual([done['log_sucess'], done['log_unknown']], [recipients - unknown.length, unknown.length]);
    return { sent: recipients - unknown.length, unknown: unknown.length, arrived: unknown.filter((at) => copies(at) === 1).length };
  } finally {
    await scene.close();
  }
};
