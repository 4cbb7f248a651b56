/** Shapes of what the owner of an account does with a chat. */
import { type TProperties, Type } from 'typebox';
import { Flag, like, NumberText, optional, ref, Text } from './common.ts';
import { Chat } from './chat.ts';

export const number = { number: NumberText('The chat: its number, or its id') };

export const ofChat = <T extends TProperties>(fields: T) => Type.Object({ ...number, ...fields });

/** Hours; −1 is for ever, 0 ends it. */
export const muteHours = [0, 8, 168, -1] as const;

export const MuteBody = ofChat({
  muteEndTime: Type.Unsafe<(typeof muteHours)[number]>({
    type: 'integer',
    enum: [...muteHours],
    description: 'Hours: 8, 168 (a week), -1 for ever, 0 to end it',
  }),
});

export const RemoveChatBody = ofChat({
  deleteChatDB: optional(Flag('Remove the chat here')),
  deleteMessagesDB: optional(Flag('Remove the stored messages of the chat here')),
  deleteChatWhatsApp: optional(Flag('Delete the chat on the phone and its other devices')),
  clearChatWhatsApp: optional(Flag('Empty the chat on the phone and its other devices')),
});

export const RemoveChatAnswer = Type.Object({
  response: Type.String({ examples: ['Chat deletion process completed'] }),
  actions: Type.Array(Type.String(), { description: 'What was done' }),
  errors: Type.Array(Type.String(), { description: 'What was not done, and why' }),
});

export const TimerBody = ofChat({
  duration: Type.Unsafe<string | number>({
    type: ['string', 'integer'],
    maxLength: 20,
    description: 'off, 1d, 7d or 90d; or the same in seconds',
    examples: ['7d'],
  }),
});

export const TimerAnswer = Type.Object({
  response: Type.String({ examples: ['Ephemeral timer updated successfully'] }),
  chat: ref(Chat),
  ephemeral: Type.Object({ enabled: Type.Boolean(), seconds: Type.Integer(), label: Type.String({ examples: ['7d'] }) }),
});

const noteFields = { chat: ref(Chat), wa_notes: Type.String(), source: Type.String({ examples: ['local'] }) };

export const NoteAnswer = Type.Object(noteFields);
export const EditedNoteAnswer = Type.Object({ response: Type.String(), ...noteFields });
export const ReloadNotesBody = ofChat({ force: optional(Flag('Ignored: the notes are always read anew')) });
export const EditNoteBody = ofChat({ notes: like(Text(5_000, 'The note; an empty text removes it'), 'Calls back on Monday') });

const blockList = Type.Array(Type.String(), { description: 'Ids of all blocked people', examples: [['5511999999999@s.whatsapp.net']] });

export const BlockBody = ofChat({ block: Flag('False ends it') });
export const BlockAnswer = Type.Object({ response: Type.String({ examples: ['Blocked successfully'] }), blockList });
export const BlocklistAnswer = Type.Object({ blockList });
