/**
 * A test server in place of Chatwoot: HTTP with contacts, conversations and messages. It checks every request against the OpenAPI document of Chatwoot and
 * posts events to the webhook of the inbox as Chatwoot does. It can be slow, refuse, and lose its answers.
 */
import assert from 'node:assert/strict';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { setTimeout as wait } from 'node:timers/promises';
import type { Account } from '../account.ts';
import { type Came, wrongWith } from './requests.ts';
import { type Attached, ChatwootWorld, type Contact, type Conversation, isRefused, type Message, type Refused } from './world.ts';

export const accessToken = 'chatwoot-token-of-the-test';
export const [accountId, inboxId] = [3, 5];

interface Reply {
  readonly status: number;
  readonly body: unknown;
}

const ok = (body: unknown): Reply => ({ status: 200, body });
const no = ({ status, message }: Refused): Reply => ({ status, body: status === 404 ? { error: message } : { message, attributes: [] } });
const orNo = <T extends object | string>(value: T | Refused, view: (value: T) => unknown): Reply =>
  isRefused(value) ? no(value) : ok(view(value as T));

const inboxView = { id: inboxId, name: 'WhatsApp', channel_type: 'Channel::Api' };
const contactView = ({ id, name, identifier, phone_number, avatar_url, sources }: Contact) => ({
  id,
  name,
  identifier: identifier || null,
  phone_number: phone_number || null,
  thumbnail: avatar_url,
  contact_inboxes: [...sources].map(([inbox, source_id]) => ({ source_id, inbox: { ...inboxView, id: inbox } })),
});
const conversationView = ({ id, inboxId: inbox_id, status, sourceId }: Conversation) => ({
  id,
  inbox_id,
  status,
  contact_inbox: { source_id: sourceId },
});

const fieldOf = (name: string, text: string): unknown =>
  name === 'private' ? text === 'true' : name === 'content_attributes' ? JSON.parse(text) : text;

/** Reads the files and fields of a form. */
const readForm = async (
  bytes: Buffer,
  type: string,
): Promise<{ readonly body: Record<string, unknown>; readonly files: readonly File[] }> => {
  const form = await new Response(new Uint8Array(bytes), { headers: { 'content-type': type } }).formData();
  const files = form.getAll('attachments[]').filter((value) => typeof value !== 'string');
  const body = Object.fromEntries([...form].flatMap(([name, value]) => (typeof value === 'string' ? [[name, fieldOf(name, value)]] : [])));
  return { body: files.length === 0 ? body : { ...body, 'attachments[]': files.map(({ name }) => name) }, files };
};

export class ChatwootStandIn {
  readonly world = new ChatwootWorld(inboxId);
  /** Faults of requests that the document does not describe. A test asserts that there are none. */
  readonly wrong: string[] = [];
  /** Requests such as `POST /contacts`, in order. */
  readonly asked: string[] = [];
  /** The delay of each answer. 0 also ends the delays of earlier requests. In milliseconds. */
  delayMs = 0;
  /** The number of requests that wait for the delay. */
  waiting = 0;
  channelType = 'Channel::Api';
  /** Statuses that answer the next requests. */
  readonly refusals: number[] = [];
  /** Returns true if a request gets 500. Null if no request does. */
  refusesAll: (() => boolean) | null = null;
  /** The largest accepted form, like the limit of a proxy in front of Chatwoot. In bytes. */
  formBytes = Infinity;
  /** Selects requests that are executed without an answer, by method and end of the path. */
  loses: ((request: string) => boolean) | null = null;
  /** Names of fetched files, in the order of the requests. */
  readonly fetched: string[] = [];
  /** Selects files whose requests get no answer, by name. */
  holds: ((file: string) => boolean) | null = null;
  /** The webhook address of the inbox. Empty without a webhook. */
  hookUrl = '';
  /** The posts to the webhook, with the statuses of its answers. */
  readonly hooked: { readonly event: string; readonly id: number; readonly status: number }[] = [];
  readonly #server = createServer((request, response) => void this.#serve(request, response).catch(() => response.destroy()));
  readonly #hooks = new Set<Promise<void>>();

  static async open(port = 0): Promise<ChatwootStandIn> {
    const standIn = new ChatwootStandIn();
    standIn.world.changed = (event, message) => standIn.#tell(event, message);
    await new Promise<void>((resolve) => standIn.#server.listen(port, '127.0.0.1', resolve));
    return standIn;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** Returns the settings of an instance for this server. */
  get settings() {
    return { enabled: true, url: this.url, access_token: accessToken, account_id: accountId, inbox_id: inboxId };
  }

  /** Connects an instance with the inbox. The webhook address is set here, because the base URL of the gateway lacks its port. */
  async connect(account: Account, more: object = {}): Promise<void> {
    const { status, body } = await account.call('PUT', '/chatwoot/config', { ...this.settings, ...more });
    assert.equal(status, 200, JSON.stringify(body));
    this.hookUrl = account.gateway.address + new URL(String(body['chatwoot_inbox_webhook_url'])).pathname;
  }

  /** Returns the messages of all conversations, without notes of the platform, in order. */
  texts(conversationId?: number): readonly string[] {
    return this.world.messages
      .filter((one) => conversationId === undefined || one.conversationId === conversationId)
      .map(({ content }) => content);
  }

  /** Writes a message as an agent. */
  write(conversationId: number, content: string, more: Partial<Message> = {}): Message {
    const made = this.world.addMessage(conversationId, { content, type: 'outgoing', sender: 'Bia Souza', ...more });
    assert.ok(!isRefused(made), 'the conversation exists');
    return made;
  }

  /** Waits until all posts to the webhook have ended. */
  async told(): Promise<void> {
    while (this.#hooks.size > 0) await Promise.all(this.#hooks);
  }

  async close(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#server.close(() => resolve());
      this.#server.closeAllConnections();
    });
    await this.told();
    assert.deepEqual(this.wrong, [], 'every request is one of the document');
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '', this.url);
    const bytes = await buffer(request);
    if (url.pathname.startsWith('/rails/')) return this.#file(url.pathname, response);
    const path = url.pathname.replace(new RegExp(`^/api/v1/accounts/${accountId}`), '');
    const name = `${request.method} ${path}`;
    this.asked.push(name);
    if (this.delayMs > 0) {
      this.waiting += 1;
      for (const until = Date.now() + this.delayMs; this.delayMs > 0 && Date.now() < until;) await wait(Math.min(this.delayMs, 10));
      this.waiting -= 1;
    }
    const refused = this.refusesAll?.() ? 500 : this.refusals.shift();
    const { status, body } =
      refused === undefined ? await this.#answer(request, url, path, bytes) : { status: refused, body: { error: 'no' } };
    if (this.loses?.(name)) return void response.destroy();
    response.writeHead(status, { 'content-type': 'application/json; charset=utf-8' }).end(JSON.stringify(body));
  }

  async #answer({ method = '', headers }: IncomingMessage, url: URL, path: string, bytes: Buffer): Promise<Reply> {
    if ((headers['api-access-token'] ?? headers['api_access_token']) !== accessToken)
      return { status: 401, body: { error: 'Invalid Access Token' } };
    if (path === url.pathname) return { status: 404, body: { error: 'Resource could not be found' } };
    const type = headers['content-type'] ?? '';
    const kind = bytes.length === 0 ? 'none' : type.startsWith('multipart/form-data') ? 'form' : 'json';
    if (kind === 'form' && bytes.length > this.formBytes) return { status: 413, body: {} };
    const form = kind === 'form' ? await readForm(bytes, type) : null;
    const body: unknown = form?.body ?? (kind === 'json' ? JSON.parse(bytes.toString()) : null);
    const came: Came = { method, path, query: url.searchParams, kind, body };
    const wrong = wrongWith(came);
    if (wrong.length > 0) {
      this.wrong.push(...wrong);
      return { status: 422, body: { error: wrong } };
    }
    const files = await Promise.all(
      (form?.files ?? []).map(async (file) => ({
        id: this.world.nextId(),
        name: file.name,
        mimetype: file.type,
        bytes: Buffer.from(await file.arrayBuffer()),
      })),
    );
    return this.#do(came, (body ?? {}) as Readonly<Record<string, never>>, files);
  }

  #do({ method, path, query }: Came, body: Readonly<Record<string, never>>, files: readonly Attached[]): Reply {
    const { world } = this;
    const [, resource = '', id = '', inner = '', innerId = ''] = path.split('/');
    switch (`${method} ${resource}${inner === '' ? '' : `/${inner}`}`) {
      case 'GET inboxes':
        return Number(id) === inboxId
          ? ok({ ...inboxView, channel_type: this.channelType })
          : no({ status: 404, message: 'Resource could not be found' });
      case 'GET contacts':
        return ok({ meta: {}, payload: world.search(query.get('q') ?? '').map(contactView) });
      case 'POST contacts': {
        const { inbox_id: inbox, ...fields } = body;
        return orNo(inbox === inboxId ? world.addContact(fields) : { status: 404, message: 'no inbox' }, (made: Contact) => ({
          payload: { contact: contactView(made), contact_inbox: { inbox: inboxView, source_id: made.sources.get(inboxId) } },
        }));
      }
      case 'PUT contacts':
        return orNo(world.changeContact(Number(id), body), (changed: Contact) => ({ payload: contactView(changed) }));
      case 'POST contacts/contact_inboxes':
        return orNo(world.addToInbox(Number(id)), (source_id: string) => ({ source_id, inbox: inboxView }));
      case 'GET contacts/conversations':
        if (!world.contacts.has(Number(id))) return no({ status: 404, message: 'Resource could not be found' });
        return ok({ payload: [...world.conversations.values()].filter(({ contactId }) => contactId === Number(id)).map(conversationView) });
      default:
        return this.#doInConversations(
          `${method} ${resource}${inner === '' ? '' : `/${inner}`}`,
          Number(id),
          Number(innerId),
          body,
          files,
          Number(query.get('before') ?? 0),
        );
    }
  }

  #doInConversations(
    name: string,
    id: number,
    messageId: number,
    body: Readonly<Record<string, never>>,
    files: readonly Attached[],
    before: number,
  ): Reply {
    const { world } = this;
    const known = world.conversations.get(id);
    if (name === 'POST conversations')
      return orNo(world.addConversation(body['contact_id'] ?? 0, body['source_id'] ?? '', body['status']), conversationView);
    if (!known) return no({ status: 404, message: 'Resource could not be found' });
    if (name === 'GET conversations') return ok(conversationView(known));
    if (name === 'GET conversations/messages') {
      const own = world.messages.filter((one) => one.conversationId === id && (before === 0 || one.id < before)).slice(-20);
      return ok({ meta: {}, payload: own.map((message) => this.#messageView(message)) });
    }
    if (name === 'PATCH conversations/messages')
      return orNo(world.setStatus(id, messageId, body['status'] ?? 'sent', body['external_error'] ?? ''), (message: Message) =>
        this.#messageView(message),
      );
    const given = {
      content: body['content'] ?? '',
      type: body['message_type'] ?? 'outgoing',
      private: body['private'] ?? false,
      sourceId: body['source_id'] ?? null,
      attributes: body['content_attributes'] ?? {},
      files,
      sender: body['message_type'] === 'incoming' ? '' : 'Owner of the token',
    } as const;
    return orNo(world.addMessage(id, given), (message: Message) => this.#messageView(message));
  }

  #fileViews({ id, files }: Message) {
    return files.map((file) => ({
      id: file.id,
      message_id: id,
      file_type: file.mimetype.split('/')[0],
      data_url: file.url ?? `${this.url}/rails/active_storage/blobs/redirect/${file.id}/${file.name}`,
      file_size: file.bytes.length,
    }));
  }

  /** Returns a message for an answer, in which the type is a number. In webhooks it is a word. */
  #messageView(message: Message) {
    return {
      id: message.id,
      content: message.content,
      conversation_id: message.conversationId,
      message_type: ['incoming', 'outgoing', 'activity', 'template'].indexOf(message.type),
      content_attributes: message.attributes,
      created_at: message.at,
      private: message.private,
      source_id: message.sourceId,
      status: message.status,
      ...(message.files.length === 0 ? {} : { attachments: this.#fileViews(message) }),
    };
  }

  /** Posts a message event once with a time-out of 5 s, and marks the message as failed if the post fails, as Chatwoot does. */
  #tell(event: string, message: Message): void {
    const conversation = this.world.conversations.get(message.conversationId);
    const contact = this.world.contacts.get(conversation?.contactId ?? 0);
    if (this.hookUrl === '' || !conversation || !contact) return;
    const { files, sender } = message;
    const body = {
      event,
      account: { id: accountId, name: 'Loja' },
      inbox: { id: inboxId, name: 'WhatsApp' },
      id: message.id,
      content: message.content,
      content_type: 'text',
      content_attributes: message.attributes,
      message_type: message.type,
      private: message.private,
      source_id: message.sourceId,
      created_at: new Date().toISOString(),
      sender: sender === '' ? { id: contact.id, name: contact.name, type: 'contact' } : { id: 1, name: sender, type: 'user' },
      conversation: {
        ...conversationView(conversation),
        meta: {
          sender: {
            id: contact.id,
            name: contact.name,
            identifier: contact.identifier || null,
            phone_number: contact.phone_number || null,
          },
        },
      },
      ...(files.length === 0 ? {} : { attachments: this.#fileViews(message) }),
    };
    const posted = this.#post(event, message, body).finally(() => this.#hooks.delete(posted));
    this.#hooks.add(posted);
  }

  async #post(event: string, message: Message, body: object): Promise<void> {
    const sent = {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(5_000),
    };
    const status = await fetch(this.hookUrl, sent).then(
      (answer) => answer.status,
      () => 0,
    );
    this.hooked.push({ event, id: message.id, status });
    if (status >= 300 || status === 0) message.status = 'failed';
  }

  /** Serves a file. The first address redirects to another one, as in Active Storage. */
  #file(path: string, response: ServerResponse): void {
    const [, , , , way, id = '', name = ''] = path.split('/');
    const file = this.world.messages.flatMap(({ files }) => files).find((one) => one.id === Number(id));
    if (!file) return void response.writeHead(404).end();
    if (way === 'redirect') return void response.writeHead(302, { location: `/rails/active_storage/blobs/proxy/${id}/${name}` }).end();
    this.fetched.push(file.name);
    if (this.holds?.(file.name)) return;
    response.writeHead(200, { 'content-type': file.mimetype, 'content-length': file.bytes.length }).end(file.bytes);
  }
}
