/** Changes of a chat that the account's owner makes. The changes reach the phone and the other linked devices. */
import { type Static, type TObject, Type } from 'typebox';
import type { Chat as Stored, ChatChange, ChatRemoval, Gateway, InstanceId, Result } from '#actors/gateway.ts';
import { chatView } from '#src/contract/views.ts';
import { done, mapResult, performs, platformRefusals, refuse, type Route, route } from '../route.ts';
import {
  BlockAnswer,
  BlockBody,
  BlocklistAnswer,
  chatBody,
  EditedNoteAnswer,
  EditNoteBody,
  MuteBody,
  NoteAnswer,
  number,
  ReloadNotesBody,
  RemoveChatAnswer,
  RemoveChatBody,
  TimerAnswer,
  TimerBody,
} from '../schemas/chat.ts';
import { Flag } from '../schemas/common.ts';

const tag = 'chat';
const hour = 3_600_000;

/** The refusal while the phone has not yet sent the keys that encrypt the shared state. A chat cannot be changed without these keys. */
const tooEarly = { example: 'history sync still in progress, try again in a moment' } as const;
const chatRefusals = { ...platformRefusals, notSent: tooEarly, notFound: { example: 'chat not found' } } as const;
const numberRefusals = {
  ...platformRefusals,
  limited: {},
  notFound: { example: 'the number 5511999999999@s.whatsapp.net is not on WhatsApp' },
} as const;

interface Change<Body extends typeof number> {
  readonly on: `POST /chat/${string}`;
  readonly operationId: string;
  readonly summary: string;
  readonly body: TObject<Body>;
  /** An example of the sentence of a 400, for the documents. */
  readonly invalid?: string;
  readonly says: (body: Static<TObject<Body>>) => string;
  /** Makes the change. `now` is in Unix milliseconds. */
  readonly change: (body: Static<TObject<Body>>, now: number) => ChatChange;
}

/** Makes a route that changes one property of a chat, and answers with a sentence about the change. */
const changeRow = <Body extends typeof number>({ on, says, change, ...row }: Change<Body>): Route =>
  route({
    on: [on],
    credential: 'instance',
    tag,
    answer: Type.Object({ response: Type.String({ examples: ['Chat updated successfully'] }) }),
    refusals: { ...chatRefusals, invalid: { example: row.invalid ?? 'number is required' } },
    ...row,
    run: async ({ gateway, id, body, now }) => {
      const { number: chat } = body as Static<TObject<typeof number>>;
      return mapResult(await gateway.changeChat(id, String(chat), change(body, now)), () => ({ response: says(body) }));
    },
  });

const changes: readonly Route[] = [
  changeRow({
    on: 'POST /chat/read',
    operationId: 'markChatRead',
    summary: 'Mark a chat as read, with receipts for its unread messages, or as unread',
    body: chatBody({ read: Flag('False: as unread') }),
    says: () => 'Chat read status updated successfully',
    change: ({ read }) => ({ kind: 'read', on: read }),
  }),
  changeRow({
    on: 'POST /chat/archive',
    operationId: 'archiveChat',
    summary: 'Put a chat into the archive, which ends its pin, or bring it back',
    invalid: 'Invalid phone number format',
    body: chatBody({ archive: Flag('False brings it back') }),
    says: () => 'Chat updated successfully',
    change: ({ archive }) => ({ kind: 'archive', on: archive }),
  }),
  changeRow({
    on: 'POST /chat/pin',
    operationId: 'pinChat',
    summary: 'Pin a chat above the others, or take the pin away',
    invalid: 'Could not parse phone',
    body: chatBody({ pin: Flag('False takes the pin away') }),
    says: ({ pin }) => (pin ? 'Chat pinned' : 'Chat unpinned'),
    change: ({ pin }) => ({ kind: 'pin', on: pin }),
  }),
  changeRow({
    on: 'POST /chat/mute',
    operationId: 'muteChat',
    summary: 'Mute a chat for 8 hours, for a week or for ever, or end that',
    body: MuteBody,
    says: () => 'Chat mute settings updated successfully',
    change: ({ muteEndTime: hours }, now) => ({ kind: 'mute', until: hours > 0 ? now + hours * hour : hours }),
  }),
];

/** The durations of the timer of disappearing messages, in seconds, with their names. */
const timers: readonly (readonly [seconds: number, label: string])[] = [
  [0, 'off'],
  [86_400, '1d'],
  [604_800, '7d'],
  [7_776_000, '90d'],
];

const badTimer = 'invalid duration. Allowed values: 0, off, 1d, 7d, 90d';

const timerOf = (duration: string | number): Result<(typeof timers)[number]> => {
  const wanted = String(duration).trim().toLowerCase();
  const timer = timers.find(([seconds, label]) => wanted === label || wanted === String(seconds));
  return timer ? done(timer) : refuse('invalid', badTimer);
};

const ownerOf = (gateway: Gateway, id: InstanceId): string => gateway.view(id)?.record.owner ?? '';

const noted = (gateway: Gateway, id: InstanceId, source: string) => (chat: Stored) => ({
  chat: chatView(chat, ownerOf(gateway, id)),
  wa_notes: chat.notes,
  source,
});

const removals: readonly (readonly [
  flag: 'deleteChatWhatsApp' | 'clearChatWhatsApp' | 'deleteMessagesDB' | 'deleteChatDB',
  part: keyof ChatRemoval,
  done: string,
])[] = [
  ['clearChatWhatsApp', 'clearOnPhone', 'Chat cleared on WhatsApp'],
  ['deleteChatWhatsApp', 'deleteOnPhone', 'Chat deleted from WhatsApp'],
  ['deleteMessagesDB', 'messages', 'Messages deleted from the database'],
  ['deleteChatDB', 'chat', 'Chat deleted from the database'],
];

const doneText = (part: keyof ChatRemoval): string => removals.find(([, of]) => of === part)?.[2] ?? part;

const missingNumber = { 'number:required': 'number is required', 'number:minLength': 'number is required' } as const;

const notes: readonly Route[] = [
  route({
    on: ['POST /chat/notes'],
    operationId: 'showChatNote',
    credential: 'instance',
    tag,
    summary: 'Show the note about a chat, as it is stored here',
    body: Type.Object(number),
    answer: NoteAnswer,
    invalidTexts: missingNumber,
    refusals: { notFound: { example: 'chat not found' } },
    failure: { text: 'failed to load chat notes from local database' },
    run: async ({ gateway, id, body }) => mapResult(await gateway.chat(id, String(body.number)), noted(gateway, id, 'local')),
  }),
  route({
    on: ['POST /chat/notes/refresh'],
    operationId: 'reloadChatNotes',
    credential: 'instance',
    tag,
    summary: 'Read the notes about chats anew from the platform',
    body: ReloadNotesBody,
    answer: NoteAnswer,
    invalidTexts: missingNumber,
    refusals: chatRefusals,
    run: async ({ gateway, id, body }) =>
      mapResult(await gateway.reloadNotes(id, String(body.number)), noted(gateway, id, 'appstate_reload')),
  }),
  route({
    on: ['POST /chat/notes/edit'],
    operationId: 'editChatNote',
    credential: 'instance',
    tag,
    summary: 'Write the note about a chat; accounts of businesses only',
    body: EditNoteBody,
    answer: EditedNoteAnswer,
    invalidTexts: { ...missingNumber, 'notes:required': 'notes is required' },
    refusals: { ...chatRefusals, invalid: { example: 'notes is required' } },
    run: async ({ gateway, id, body }) =>
      mapResult(await gateway.changeChat(id, String(body.number), { kind: 'note', text: body.notes }), (chat) => ({
        response: 'Chat notes updated',
        ...noted(gateway, id, 'api')(chat),
      })),
  }),
];

export const chatSettingRoutes: readonly Route[] = [
  ...changes,
  ...notes,
  route({
    on: ['POST /chat/delete'],
    operationId: 'removeChat',
    credential: 'instance',
    tag,
    summary: 'Delete or clear a chat on the phone, and remove its stored data. Each part has its own outcome',
    body: RemoveChatBody,
    examples: { body: { number: '5511999999999', deleteMessagesDB: true } },
    answer: RemoveChatAnswer,
    invalidTexts: { 'number:required': 'Missing number in payload', 'number:minLength': 'Missing number in payload' },
    refusals: { notFound: { example: 'chat not found' } },
    run: async ({ gateway, id, body }) => {
      const wanted = { chat: false, messages: false, deleteOnPhone: false, clearOnPhone: false };
      for (const [flag, part] of removals) wanted[part] = body[flag] === true;
      if (!Object.values(wanted).includes(true))
        return refuse('invalid', `one of ${removals.map(([flag]) => flag).join(', ')} is required`);
      return mapResult(await gateway.removeChat(id, String(body.number), wanted), (steps) => ({
        response: 'Chat deletion process completed',
        actions: steps.filter(({ error }) => error === '').map(({ of }) => doneText(of)),
        errors: steps.filter(({ error }) => error !== '').map(({ of, error }) => `${doneText(of)}: ${error}`),
      }));
    },
  }),
  route({
    on: ['POST /chat/ephemeral'],
    operationId: 'setChatTimer',
    credential: 'instance',
    tag,
    summary: 'Set after how long new messages of a chat disappear',
    body: TimerBody,
    answer: TimerAnswer,
    refusals: { ...numberRefusals, invalid: { example: badTimer } },
    run: async ({ gateway, id, body }) => {
      const timer = timerOf(body.duration);
      if (!timer.ok) return timer;
      const [seconds, label] = timer.value;
      return mapResult(await gateway.setChatTimer(id, String(body.number), seconds), (chat) => ({
        response: 'Ephemeral timer updated successfully',
        chat: chatView(chat, ownerOf(gateway, id)),
        ephemeral: { enabled: seconds > 0, seconds, label },
      }));
    },
  }),
  route({
    on: ['POST /chat/block'],
    operationId: 'blockContact',
    credential: 'instance',
    tag,
    summary: 'Block or unblock a person. The answer lists all blocked people',
    body: BlockBody,
    answer: BlockAnswer,
    refusals: numberRefusals,
    run: async ({ gateway, id, body }) =>
      mapResult(await gateway.block(id, String(body.number), body.block), (blockList) => ({
        response: body.block ? 'Blocked successfully' : 'Unblocked successfully',
        blockList,
      })),
  }),
  performs({
    on: ['GET /chat/blocklist'],
    operationId: 'listBlocked',
    tag,
    summary: 'List the people that the account blocks',
    answer: BlocklistAnswer,
    operation: 'chat.blocked',
    input: () => null,
    shown: (blockList) => ({ blockList }),
  }),
];
