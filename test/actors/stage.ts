/** A gateway over a simulated world with live sessions, and shortcuts that its tests share. */
import type { RunningGateway, SendOptions, Status, Send } from '#actors/gateway.ts';
import type { InstanceRecord, MediaContent } from '#actors/model.ts';
import type { Policy } from '#actors/policy/policy.ts';
import { identity, type FakeLink } from '#test/fakes/platform.ts';
import { settle, World } from '#test/fakes/world.ts';

export const paired = { wanted: 'online', jid: identity.jid, owner: identity.owner } as const;

export const text = (number = '551', body = 'hello'): Send => ({
  number,
  content: { kind: 'text', text: body, preview: null },
  replyTo: '',
  mentions: [],
  forward: false,
});

/** A document in the request itself. */
export const media: MediaContent = {
  kind: 'media',
  as: 'document',
  file: { source: 'UERG', as: 'document', thumbnail: '', mimetype: 'application/pdf', filename: 'a.pdf' },
  caption: '',
  viewOnce: false,
};

export const options: SendOptions = {
  delay: 0,
  readChat: false,
  readMessages: false,
  trackSource: '',
  trackId: '',
  async: false,
  label: '/send/text',
  payload: { number: '1' },
};

export const refusalOf = (result: { readonly ok: boolean; readonly refusal?: { readonly reason: string } }): string =>
  result.ok ? '' : (result.refusal?.reason ?? '');

export class Stage {
  readonly world: World;
  readonly gateway: RunningGateway;

  constructor(world: World, gateway: RunningGateway) {
    this.world = world;
    this.gateway = gateway;
  }

  link(id = 'r1'): FakeLink {
    return this.world.platform.of(id);
  }

  /** Returns the number of times that the instance's link was opened; 0 for an instance that rests. */
  opens(id = 'r1'): number {
    return this.world.platform.links.get(id)?.opens.length ?? 0;
  }

  status(id = 'r1'): Status | undefined {
    return this.gateway.view(id)?.status;
  }

  /** Returns the wanted state of the instance as it is stored. */
  wanted(id = 'r1'): string | undefined {
    return this.world.db.instances.get(id)?.wanted;
  }

  numbers(id = 'r1') {
    const numbers = this.gateway.numbers().instances.find((one) => one.id === id);
    if (!numbers) throw new Error(`no numbers of ${id}`);
    return numbers;
  }

  /** Logs in every session that is opened from now on. */
  letIn(): void {
    this.world.platform.onOpen = (link) => queueMicrotask(() => link.state === 'open' && link.login());
  }

  /** Returns the statuses of the committed `connection` events of an instance. */
  get news(): readonly unknown[] {
    return this.world.journal.groups
      .flat()
      .flatMap((entry) => (entry.kind === 'news' && entry.news.type === 'connection' ? [entry.news.connection.status] : []));
  }
}

/** Starts a gateway. Every instance that is wanted online is live. */
export async function staged(
  ids: readonly (string | (Partial<InstanceRecord> & { readonly id: string }))[] = ['r1'],
  policy: Partial<Policy> = {},
  prepare: (world: World) => void = () => undefined,
): Promise<Stage> {
  const world = new World();
  const lastActiveAt = world.time.now();
  for (const one of ids) world.register({ ...paired, lastActiveAt, ...(typeof one === 'string' ? { id: one } : one) });
  prepare(world);
  const gateway = await world.start(policy);
  const stage = new Stage(world, gateway);
  stage.letIn();
  await gateway.restore();
  await world.time.pass(Math.ceil(ids.length / 5) * 1000);
  world.platform.onOpen = () => undefined;
  await settle();
  return stage;
}
