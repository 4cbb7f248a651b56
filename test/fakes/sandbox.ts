/** A world in memory behind the interface of the simulated platform, with bookkeeping only and a record of every call. */
import {
  type ChannelView,
  type BusinessView,
  type CollectionView,
  type Content,
  type Fault,
  type GroupView,
  type PersonView,
  type PostView,
  type ProductView,
  type ReceivedMessage,
  type Sandbox,
  SandboxError,
  type SettingsView,
  type Stats,
  type VersionRules,
  type WorldEvent,
} from '#src/sandbox/interface.ts';

const stats: Stats = {
  connections: { open: 1, total: 3 },
  addresses: {},
  handshakes: 3,
  pairings: 1,
  logins: {
    total: 2,
    failed: 0,
    double: 0,
    perSecondMax: 1,
    byNumber: { 5511900000001: 2 },
    times: { 5511900000001: { loggedIn: 2, closed: 1 } },
  },
  messages: { fromClients: 0, toClients: 0, acknowledged: 0, decrypted: 0, undecryptable: 0, retryReceipts: 0 },
  signatures: { verified: 4, rejected: 0 },
  lookups: { requests: 0, numbers: 0 },
  groups: { metadata: 0, lists: 0 },
  channels: { metadata: 0, lists: 0, posts: 0 },
  pictures: 0,
  media: { begun: 0, uploads: 0, resumed: 0, uploadsByHost: {}, downloads: 0 },
  settings: { patches: 0, conflicts: 0, refused: {} },
  unknown: {},
};

const post: PostView = {
  serverId: 100,
  id: 'POST',
  author: '5511900000001',
  at: 1_700_000_000_000,
  edited: false,
  deleted: false,
  kind: 'conversation',
  text: 'News',
  content: { conversation: 'News' },
  views: 2,
  reactions: { '👍': 1 },
};

type Input<
  M extends
    | 'scan'
    | 'enterCode'
    | 'receipt'
    | 'presence'
    | 'createGroup'
    | 'putPerson'
    | 'change'
    | 'call'
    | 'post'
    | 'changePost'
    | 'createChannel'
    | 'inject',
> = Parameters<Sandbox[M]>;

export class FakeSandbox implements Sandbox {
  /** Calls that change data: the name of the method and its input. */
  readonly calls: (readonly [string, ...unknown[]])[] = [];
  readonly #people = new Map<string, PersonView>();
  readonly #groups = new Map<string, GroupView>();
  readonly #channels = new Map<string, ChannelView>();
  readonly #inboxes = new Map<string, ReceivedMessage[]>();
  readonly #listeners = new Set<(event: WorldEvent) => void>();
  #serial = 0;

  emit(event: WorldEvent): void {
    for (const listener of this.#listeners) listener(event);
  }

  /** Delivers a message to a contact, as if a client had sent it. */
  deliver(to: string, message: ReceivedMessage): void {
    this.#inboxes.set(to, [...this.received(to), message]);
    this.emit({ type: 'message', to, message });
  }

  async scan(...[input]: Input<'scan'>) {
    this.calls.push(['scan', input]);
    if (!input.qr.includes(',')) throw new SandboxError(404, 'no client waits with this QR code');
    return this.#link(input.number ?? `55119${String(++this.#serial).padStart(8, '0')}`, input.name);
  }

  async enterCode(...[input]: Input<'enterCode'>) {
    this.calls.push(['enterCode', input]);
    return this.#link(input.number, input.name);
  }

  async passkeyOptions() {
    return { challenge: 'AAAA' };
  }

  async givePasskey(...input: Parameters<Sandbox['givePasskey']>) {
    this.calls.push(['givePasskey', ...input]);
    return this.passkey();
  }

  passkey() {
    return { id: 'AAAA', stage: null, code: '', handedOff: false };
  }

  async takePasskey(...input: Parameters<Sandbox['takePasskey']>) {
    this.calls.push(['takePasskey', ...input]);
  }

  async signWithPasskey(...input: Parameters<Sandbox['signWithPasskey']>) {
    this.calls.push(['signWithPasskey', ...input]);
    const response = { clientDataJSON: 'e30', authenticatorData: 'AA', signature: 'AA', userHandle: null };
    return { id: 'AAAA', rawId: 'AAAA', type: 'public-key' as const, response };
  }

  async logout(number: string) {
    this.calls.push(['logout', number]);
    if (!this.#people.has(number)) throw new SandboxError(404, `no person ${number}`);
    this.#put(number, { devices: [] });
  }

  async send(from: string, to: string, content: Content, options: object = {}) {
    this.calls.push(['send', from, to, content, options]);
    return { id: `3EB0${String(++this.#serial).padStart(8, '0')}` };
  }

  received(number: string): readonly ReceivedMessage[] {
    return this.#inboxes.get(number) ?? [];
  }

  shown(number: string) {
    const plain = { edited: false, deleted: false, reactions: {}, pinnedUntil: 0, kept: false, read: false };
    return this.received(number).map(({ id, from, text }) => ({ id, from, text, ...plain }));
  }

  async askAgain(...input: Parameters<Sandbox['askAgain']>) {
    this.calls.push(['askAgain', ...input]);
  }

  async receipt(...input: Input<'receipt'>) {
    this.calls.push(['receipt', ...input]);
  }

  async presence(...input: Input<'presence'>) {
    this.calls.push(['presence', ...input]);
  }

  async createGroup(...[input]: Input<'createGroup'>) {
    this.calls.push(['createGroup', input]);
    const { subject, creator, participants } = input;
    const jid = `12036300000000${String(++this.#serial).padStart(4, '0')}@g.us`;
    const members = participants.map((number) => ({ number, admin: null }));
    const group: GroupView = {
      jid,
      subject,
      description: '',
      creator,
      announce: false,
      locked: false,
      approval: false,
      adminAdd: false,
      ephemeral: 0,
      invite: 'AbCdEfGhIjKlMnOp',
      requests: [],
      invited: [],
      participants: [{ number: creator, admin: 'superadmin' }, ...members],
    };
    this.#groups.set(jid, group);
    this.emit({ type: 'group', group });
    return group;
  }

  async updateGroup(jid: string, ...input: readonly unknown[]) {
    this.calls.push(['updateGroup', jid, ...input]);
    const group = this.#groups.get(jid);
    if (group === undefined) throw new SandboxError(404, `no group ${jid}`);
    return group;
  }

  async createCommunity(input: Parameters<Sandbox['createCommunity']>[0]) {
    this.calls.push(['createCommunity', input]);
    return { ...(await this.createGroup({ ...input, participants: [] })), isCommunity: true };
  }

  async editCommunity(...input: Parameters<Sandbox['editCommunity']>) {
    this.calls.push(['editCommunity', ...input]);
    return input[2].groups.map((jid) => ({ jid }));
  }

  async changeBusiness(...input: Parameters<Sandbox['changeBusiness']>) {
    this.calls.push(['changeBusiness', ...input]);
    return this.business(input[0]);
  }

  business(number: string): BusinessView {
    return { number, profile: { description: '', address: '', email: '', websites: [], categories: [] }, products: [], collections: [] };
  }

  storefront(number: string): BusinessView {
    return this.business(number);
  }

  async putProduct(...input: Parameters<Sandbox['putProduct']>): Promise<ProductView> {
    this.calls.push(['putProduct', ...input]);
    const texts = { name: '', description: '', price: '', currency: '', salePrice: '', retailerId: '', url: '', complianceCategory: '' };
    return { id: '1', ...texts, isHidden: false, status: 'PENDING', images: [], videos: [], compliance: {} };
  }

  async dropProduct(...input: Parameters<Sandbox['dropProduct']>) {
    this.calls.push(['dropProduct', ...input]);
  }

  async putCollection(...input: Parameters<Sandbox['putCollection']>): Promise<CollectionView> {
    this.calls.push(['putCollection', ...input]);
    return { id: '1', name: '', status: 'APPROVED', products: [] };
  }

  async joinGroup(number: string, code: string) {
    this.calls.push(['joinGroup', number, code]);
    return { jid: '120363000000000001@g.us', joined: true };
  }

  async createChannel(...[input]: Input<'createChannel'>) {
    this.calls.push(['createChannel', input]);
    const { name, owner, description = '' } = input;
    const jid = `12036300000000${String(++this.#serial).padStart(4, '0')}@newsletter`;
    const channel: ChannelView = {
      jid,
      name,
      description,
      invite: '0029VaAbCdEfGhIjKlMn',
      handle: null,
      reactions: 'ALL',
      state: 'ACTIVE',
      verified: false,
      country: '',
      createdAt: 1_700_000_000_000,
      followers: [{ number: owner, role: 'OWNER', muted: false, followersMuted: false, since: 1_700_000_000_000 }],
      invitations: [],
    };
    this.#channels.set(jid, channel);
    this.emit({ type: 'channel', channel });
    return channel;
  }

  async changeChannel(jid: string, ...input: readonly unknown[]) {
    this.calls.push(['changeChannel', jid, ...input]);
    return this.channel(jid);
  }

  async setChannelFacts(jid: string, facts: object) {
    this.calls.push(['setChannelFacts', jid, facts]);
    return this.channel(jid);
  }

  channels(): readonly ChannelView[] {
    return [...this.#channels.values()];
  }

  channel(jid: string): ChannelView {
    const channel = this.#channels.get(jid);
    if (channel === undefined) throw new SandboxError(404, `no channel ${jid}`);
    return channel;
  }

  callLog() {
    return [];
  }

  account() {
    return { about: '', privacy: {}, blocked: [], disappearing: 0, online: false, subscriptions: [] };
  }

  async changeAccount(...input: Parameters<Sandbox['changeAccount']>) {
    this.calls.push(['changeAccount', ...input]);
    return this.account();
  }

  settings(): SettingsView {
    return { chats: [], messages: [], labels: [], contacts: [], quickReplies: [], mutedStatuses: [], ignored: [], versions: {} };
  }

  async change(...input: Input<'change'>) {
    this.calls.push(['change', ...input]);
  }

  async call(...input: Input<'call'>) {
    this.calls.push(['call', ...input]);
    return { id: 'CALL' };
  }

  async post(...input: Input<'post'>) {
    this.calls.push(['post', ...input]);
    return { id: 'POST', serverId: 100 };
  }

  async changePost(...input: Input<'changePost'>) {
    this.calls.push(['changePost', ...input]);
    return post;
  }

  async posts() {
    return [post];
  }

  async putPerson(...[input]: Input<'putPerson'>) {
    this.calls.push(['putPerson', input]);
    return this.#put(input.number, input.name === undefined ? {} : { name: input.name });
  }

  async restrict(...input: Parameters<Sandbox['restrict']>) {
    this.calls.push(['restrict', ...input]);
  }

  people(): readonly PersonView[] {
    return [...this.#people.values()];
  }

  groups(): readonly GroupView[] {
    return [...this.#groups.values()];
  }

  async inject(...input: Input<'inject'>) {
    this.calls.push(['inject', ...input]);
  }

  async fault(fault: Fault) {
    this.calls.push(['fault', fault]);
    return { hit: 1 };
  }

  requireVersion(rules: VersionRules) {
    this.calls.push(['requireVersion', rules]);
  }

  currentVersion() {
    return null;
  }

  stats(): Stats {
    return stats;
  }

  trust() {
    return { noiseRoot: '00'.repeat(32), mediaAuthority: '-----BEGIN CERTIFICATE-----' };
  }

  subscribe(listener: (event: WorldEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #put(number: string, change: Partial<PersonView>): PersonView {
    const person = { number, lid: `1${number.padStart(14, '0')}`, name: number, devices: [], ...this.#people.get(number), ...change };
    this.#people.set(number, person);
    this.emit({ type: 'person', person });
    return person;
  }

  #link(number: string, name: string | undefined): PersonView {
    const device = { device: 1, linkedAt: 1_700_000_000_000, connected: true, pushName: name ?? '', queued: 0 };
    return this.#put(number, { ...(name === undefined ? {} : { name }), devices: [device] });
  }
}
