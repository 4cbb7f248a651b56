/** The API of Chatwoot and its rows in memory, reduced to the calls that tests of other parts need. */
import { done, type ChatwootChat, type ChatwootMessage, type Claim, type Result } from '#actors/model.ts';
import type { ChatwootAnswer, ChatwootApi, ChatwootStore } from '#actors/ports.ts';

const away: ChatwootAnswer<never> = { ok: false, error: 'Chatwoot could not be reached: connection refused' };
const none = async (): Promise<ChatwootAnswer<never>> => away;

/** The API of Chatwoot without a server. Every request fails. */
export const noChatwoot: ChatwootApi = {
  objection: () => null,
  read: () => null,
  check: none,
  searchContacts: none,
  createContact: none,
  updateContact: none,
  addToInbox: none,
  conversations: none,
  conversation: none,
  createConversation: none,
  post: none,
  listed: none,
  setStatus: none,
};

export class FakeChatwootRows implements ChatwootStore {
  readonly chats = new Map<string, ChatwootChat>();
  readonly rows = new Map<string, ChatwootMessage>();

  chat = async (instance: string, inbox: string, chatId: string) => this.chats.get(`${instance} ${inbox} ${chatId}`) ?? null;

  async chatOf(instance: string, inbox: string, conversationId: number) {
    const found = [...this.chats].find(([key, row]) => key.startsWith(`${instance} ${inbox} `) && row.conversationId === conversationId);
    return found?.[1].chatId ?? null;
  }

  async saveChat({ instanceId }: Claim, inbox: string, chat: ChatwootChat) {
    this.chats.set(`${instanceId} ${inbox} ${chat.chatId}`, chat);
  }

  async messages(instance: string, inbox: string, keys: readonly string[]) {
    return keys.flatMap((key) => this.rows.get(`${instance} ${inbox} ${key}`) ?? []).map((row) => ({ ...row, at: 0 }));
  }

  async messagesOf(instance: string, inbox: string, id: number) {
    return [...this.rows].flatMap(([key, row]) => (key.startsWith(`${instance} ${inbox} `) && row.id === id ? [row] : []));
  }

  async saveMessage({ instanceId }: Claim, inbox: string, message: ChatwootMessage) {
    this.rows.set(`${instanceId} ${inbox} ${message.key}`, message);
  }

  addReply = async () => true;
  replies = async () => [];
  replying = async () => [];
  beginReply = async () => true;
  postponeReply = async () => undefined;
  failReplies = async () => undefined;
  removeReply = async () => undefined;
  expire = async () => 0;
}

/** Returns the commands on Chatwoot. They accept all input and store nothing. */
export const chatwootCommands = (attempt: <T>(act: () => Result<T>) => Promise<Result<T>>) => ({
  chatwoot: () => null,
  chatwootPosted: () => attempt(() => done(null)),
  saveChatwoot: () => attempt(() => done({ hookUrl: 'https://api.example.com/chatwoot/webhook/secret' })),
  testChatwoot: () => attempt(() => done({ error: '', ms: 12 })),
});
