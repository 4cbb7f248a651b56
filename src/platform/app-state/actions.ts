/** The records of the shared state. Each action belongs to one collection and has one version there. */
import { proto, type WAPatchName } from '@whiskeysockets/baileys';
import type { Directory } from '../wire/directory.ts';
import { isPerson } from '../wire/jid.ts';

/** Collection and version of each action that is written. The library has some of them wrong, and others not at all. */
const places = {
  archive: ['regular_low', 3],
  pin_v1: ['regular_low', 5],
  markChatAsRead: ['regular_low', 3],
  note_edit: ['regular_low', 7],
  mute: ['regular_high', 2],
  star: ['regular_high', 2],
  clearChat: ['regular_high', 6],
  deleteChat: ['regular_high', 6],
  label_edit: ['regular', 3],
  label_jid: ['regular', 3],
  quick_reply: ['regular', 2],
  contact: ['critical_unblock_low', 2],
  setting_pushName: ['critical_block', 1],
} as const satisfies Readonly<Record<string, readonly [WAPatchName, number]>>;

export type ActionName = keyof typeof places;

export const { SET, REMOVE } = proto.SyncdMutation.SyncdOperation;

/** A change of one record, before it is encrypted. */
export interface Mutation {
  readonly collection: WAPatchName;
  readonly version: number;
  readonly operation: proto.SyncdMutation.SyncdOperation;
  /** The name of the action, and what it is about. */
  readonly index: readonly [ActionName, ...string[]];
  readonly value: proto.ISyncActionValue;
}

const mutation = (
  operation: Mutation['operation'],
  name: ActionName,
  about: readonly string[],
  value: proto.ISyncActionValue,
): Mutation => {
  const [collection, version] = places[name];
  return { collection, version, operation, index: [name, ...about], value };
};

/** Writes a record; one with the same index is replaced. `about`: the index without the action's name. The time of the change is added when it is sent. */
export const setAction = (name: ActionName, about: readonly string[], value: proto.ISyncActionValue): Mutation =>
  mutation(SET, name, about, value);

/** Takes a record away. Phones do this with contacts alone: everything else that goes is written with a mark that it is deleted. */
export const removeAction = (name: ActionName, about: readonly string[], value: proto.ISyncActionValue): Mutation =>
  mutation(REMOVE, name, about, value);

/** Under which id phones index a chat: a person by LID where it is known. `directory` must have learnt it before. */
export const indexOfChat = (directory: Directory, chatId: string): string => (isPerson(chatId) && directory.lid(chatId)) || chatId;
