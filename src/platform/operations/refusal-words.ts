/**
 * Describes the platform's refusals in words. The platform names most refusals only by a code, whose meaning depends on the request. Handlers translate
 * the codes that change the outcome. These tables describe all others.
 */
import { type Refusal, refuse, type Result } from '#actors/model.ts';
import type { OperationName, Outcome } from '#actors/ports.ts';
import type { LiveConnection } from '../outbound/live-connection.ts';
import { answerOf } from '../wire/outcomes.ts';

/** Phrases for each operation. They complete the sentence "the platform refused to …". */
export const wishes: Readonly<Record<OperationName, string>> = {
  'account.presence': 'change the presence of the account',
  'account.limits': 'tell the limits of the account',
  'account.privacy': 'tell the privacy settings',
  'account.changePrivacy': 'change the privacy settings',
  'account.picture': 'change the picture of the account',
  'account.rename': 'change the name of the account',
  'business.profile': 'tell the business profile',
  'business.categories': 'list the categories of businesses',
  'business.changeProfile': 'change the business profile',
  'catalog.list': 'list the catalog',
  'catalog.get': 'tell the product',
  'catalog.save': 'save the product',
  'catalog.hide': 'change the visibility of the product',
  'catalog.delete': 'delete the product',
  'collection.list': 'list the collections',
  'collection.create': 'create the collection',
  'collection.change': 'change the collection',
  'collection.delete': 'delete the collection',
  'call.reject': 'reject the call',
  'call.make': 'place the call',
  'channel.create': 'create the channel',
  'channel.refresh': 'list the channels',
  'channel.look': 'tell about the channel',
  'channel.follow': 'follow or leave the channel',
  'channel.mute': 'mute or unmute the channel',
  'channel.change': 'change the channel',
  'channel.delete': 'delete the channel',
  'channel.find': 'search for channels',
  'channel.inviteAdmin': 'invite the admin of the channel',
  'channel.acceptAdmin': 'accept the invitation to be an admin of the channel',
  'channel.dropAdmin': 'withdraw the right or the invitation of the admin',
  'channel.transfer': 'hand the channel over',
  'chat.typing': 'show the typing',
  'chat.markRead': 'mark the chat as read',
  'chat.markMessagesRead': 'mark the messages as read',
  'chat.change': 'change the settings of the chat',
  'chat.block': 'block or unblock the person',
  'chat.blocked': 'list the blocked people',
  'chat.timer': 'change the timer of the chat',
  'chat.reloadNotes': 'list the notes of chats',
  'chat.resolve': 'find the chat',
  'chat.lookUp': 'look the numbers up',
  'chat.identify': 'find the chats',
  'community.create': 'create the community',
  'community.edit': 'change the groups of the community',
  'contact.save': 'save the contact',
  'contact.remove': 'remove the contact',
  'label.define': 'change the label',
  'label.mark': 'change the labels of the chat',
  'label.reload': 'list the labels',
  'quickReply.define': 'change the quick reply',
  'group.create': 'create the group',
  'group.get': 'tell about the group',
  'group.refresh': 'list the groups',
  'group.preview': 'tell about the group of the link',
  'group.join': 'let the account join the group',
  'group.leave': 'let the account leave the group',
  'group.link': 'tell the invite link of the group',
  'group.change': 'change the group',
  'group.picture': 'change the picture of the group',
  'group.members': 'change the members of the group',
  'message.compose': 'prepare the message',
  'message.transmit': 'send the message',
  'message.react': 'send the reaction',
  'message.edit': 'edit the message',
  'message.pin': 'pin or unpin the message',
  'message.star': 'star or unstar the message',
  'message.history': 'ask the phone for older messages',
  'message.delete': 'delete the message',
  'message.download': 'hand out the file of the message',
  'picture.look': 'tell the address of the picture',
  'post.list': 'list the posts of the channel',
  'post.updates': 'list the changes of posts of the channel',
  'post.view': 'count the views of the posts',
  'post.react': 'send the reaction to the post',
  'post.edit': 'edit the post',
  'post.delete': 'delete the post',
  'post.follow': 'report the changes of the posts of the channel',
};

type Reasons = Readonly<Record<number, string>>;

/** Reasons by the platform's code, for every operation. */
const general: Reasons = {
  400: 'it does not accept the request in this form, or one of its values',
  401: 'the account has no right to it',
  403: 'the account has no right to it',
  404: 'it does not find what the request names',
  405: 'it does not allow it',
  406: 'it does not accept one of the values, such as a text that is too long',
  409: 'something else changed at the same time, so repeat the request',
  410: 'it has ended or was removed',
  429: 'there were too many requests, so wait some minutes before the next one',
  475: 'the account is temporarily restricted',
  500: 'it has a fault of its own, so repeat the request later',
  501: 'it does not know the request',
  503: 'it has a fault of its own, so repeat the request later',
};

const noPicture = 'it does not accept the picture, which must be a JPEG and not too large';
const groupAdmins = 'only admins of the group may do it, and the account is none';
const noGroup = 'the group does not exist, or the account is not a member of it';

/** Reasons by the platform's code, for single operations. They replace those of `general`. */
const particular: Readonly<Partial<Record<OperationName, Reasons>>> = {
  'account.changePrivacy': { 400: 'it does not know this value of the setting', 406: 'it does not know this value of the setting' },
  'account.picture': { 400: noPicture, 406: noPicture },
  'call.reject': { 404: 'the call has ended' },
  'chat.block': { 400: 'it does not know the person under this id', 404: 'it does not know the person under this id' },
  'chat.lookUp': { 400: 'one of the numbers is not a full number with its country code' },
  'chat.timer': { 400: 'it does not offer a timer of this length', 401: groupAdmins, 403: groupAdmins, 404: noGroup },
  'group.members': {
    400: 'one of the people has no account, or cannot be put into groups',
    401: groupAdmins,
    403: groupAdmins,
    404: noGroup,
  },
  'group.picture': { 400: noPicture, 406: noPicture },
};

/** Returns the reason of a refusal with its code and the platform's own text. `detail`: '' if the platform gave none. */
export const reasonOf = (name: OperationName, code: number, detail: string): string => {
  const reason = particular[name]?.[code] ?? general[code];
  const told = detail === '' ? String(code) : `${code} ${detail}`;
  return reason === undefined ? `it answered with error ${told}` : `${reason} (${told})`;
};

/** Operations that change something by sending a message. Their refusals have the text of a refused message. */
const revisions: ReadonlySet<OperationName> = new Set([
  'chat.timer',
  'message.react',
  'message.edit',
  'message.pin',
  'message.delete',
  'post.react',
  'post.edit',
  'post.delete',
]);

/** Returns true for a complete sentence, to which no phrase is added. */
const isSentence = (message: string): boolean => message.startsWith('the platform refuse');

/** Describes a refusal in words, if its text comes from the platform (`detail`). Keeps the texts of handlers. */
const worded = (name: OperationName, refusal: Refusal): Refusal => {
  const { code, detail, message } = refusal;
  const lead = `the platform refused to ${wishes[name]}`;
  if (code === undefined || (detail === undefined && !revisions.has(name)) || isSentence(message)) return refusal;
  return { ...refusal, message: `${lead}: ${detail === undefined ? `${message} (${code})` : reasonOf(name, code, detail)}` };
};

export const inWords = <T>(name: OperationName, outcome: Outcome<T>): Outcome<T> =>
  outcome.ok || outcome.refusal.reason !== 'refused' ? outcome : { ok: false, refusal: worded(name, outcome.refusal) };

// The meanings of refusals that handlers share.

/** Refusals by the platform's code. A refusal with any other code is passed on unchanged. */
export type Meanings = Readonly<Record<number, Result<never>>>;

const tooLong = refuse('invalid', 'The platform did not accept the text: it may be too long, since an emoji can count as two characters');

/** Refusals of requests with a name or a text. The platform counts characters in its own way. */
export const notAccepted: Meanings = { 400: tooLong, 406: tooLong };

/** Refusals of the request for a new group or community. A 400 may concern the name or the people. */
export const notCreated: Meanings = {
  400: refuse('invalid', 'The platform did not accept the group: its name may be too long, or one of the people cannot be put into groups'),
  406: tooLong,
};

/** Returns the answer, or the refusal with its meaning. Rejects with every error that is not a refusal of the platform. */
export const meant = async <T>({ sock }: LiveConnection, work: Promise<T>, meanings: Meanings): Promise<Result<T>> => {
  const answer = await answerOf(work, () => sock.ws.isOpen);
  return answer.ok ? answer : (meanings[answer.refusal.code ?? 0] ?? answer);
};
