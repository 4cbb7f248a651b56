/** Answers of the fake gateway about channels. */
import { type AnswerOf, done, type OperationName } from '#actors/gateway.ts';
import { channel } from '#test/contract/samples.ts';
import type { Attempt } from './definitions.ts';

export const channelAnswers: Readonly<Partial<{ [N in OperationName]: AnswerOf<N> }>> = {
  'channel.look': channel,
  'channel.follow': null,
  'channel.mute': null,
  'channel.change': null,
  'channel.delete': null,
  'channel.find': { channels: [channel], after: 'YXJyYXljb25uZWN0aW9uOjE5' },
  'channel.acceptAdmin': null,
  'channel.dropAdmin': null,
  'channel.transfer': null,
};

export const channelCommands = (attempt: Attempt) => ({
  listChannels: () => attempt(() => done([channel])),
  createChannel: () => attempt(() => done(channel)),
  setChannelPicture: () => attempt(() => done(null)),
  inviteChannelAdmin: () => attempt(() => done(null)),
});
