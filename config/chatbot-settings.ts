/** Settings of the chatbot and of the connector to Chatwoot. */
import { fixed, group, integer, milliseconds } from './kinds.ts';

// Settings of the chatbot: its times, its retries, and the limits of its cost.

const chatbot = group('Chatbot');

export const chatbotSettings = {
  chatbotPauseMs: fixed(
    4_000,
    'The time that the chatbot waits for more texts. Texts that arrive within it are one question. People who write in pieces send the next one within 4 s.',
  ),
  chatbotLongestPauseMs: fixed(
    20_000,
    'The longest wait for the end of a question whose texts keep arriving. After 20 s people expect an answer.',
  ),
  chatbotFreshMs: fixed(
    300_000,
    'The age from which a message is no longer answered. Such messages are left after a late delivery or a restart of the gateway. After five minutes people do not expect an answer.',
  ),
  chatbotCallsAtOnce: chatbot(
    integer(1, 10_000),
    64,
    'The calls of models that all instances together may have open. Further calls wait. With answers of 10 s, 64 calls give six answers a second. Each call holds a socket.',
  ),
  chatbotCallsPerInstance: chatbot(
    integer(1, 1_000),
    8,
    'The calls of models that one instance may have open, so that no instance takes the place of others. Most accounts of providers allow 8.',
  ),
  chatbotTimeoutMs: chatbot(
    milliseconds(1_000, 600_000),
    60_000,
    'The time in which a model must answer. Most take 2 to 20 s, and reasoning models up to a minute.',
  ),
  chatbotRetries: fixed(
    2,
    'The number of retries after a failure that may pass, such as 429 or 503, with a growing back-off. Two retries bridge a short fault while the person still waits.',
  ),
  chatbotTokensPerDay: chatbot(
    integer(0, 1_000_000_000),
    1_000_000,
    'The tokens that all agents of one instance may use in a day of UTC. Beyond this number they are silent until midnight. 0 is no limit. The default, a million, is enough for about 500 conversations and bounds the cost of a fault or of abuse.',
  ),
  chatbotAnswerTokens: chatbot(
    integer(16, 1_000_000),
    2_048,
    'The largest number of tokens of one answer, whatever an agent asks for. 2,048 tokens are three pages. Tokens of reasoning count too.',
  ),
  chatbotToolRounds: fixed(
    4,
    'The number of times that a model gets results of its tools for one answer. With four it can look, act and report.',
  ),
  chatbotToolCalls: fixed(8, 'The uses of tools for one answer. Eight set the fields of a lead and send some files.'),
  chatbotPieces: fixed(
    10,
    'The largest number of messages of one answer, for agents that divide long ones. The last message holds the rest. A row of more than ten looks like spam.',
  ),
  chatbotAnswersPerMinute: fixed(
    6,
    'The answers in one conversation within a minute. Further answers are not given. People do not ask more often.',
  ),
  chatbotAnswersInARow: fixed(
    40,
    'The answers in one conversation without a minute of silence between them. Further answers wait for such a minute. The bound stops two bots that answer each other. People pause earlier.',
  ),
  chatbotAnswersPerDay: chatbot(
    integer(1, 100_000),
    200,
    'The answers in one chat within a day of UTC. Further answers wait for the next day. The bound stops two bots that answer each other once in some minutes. A person who talks with an agent for hours gets about 100 answers.',
  ),
  chatbotConversations: fixed(
    1_000,
    'The conversations of one instance that are open, or were open within the last minute. Each takes 6 KB. Texts of further conversations are not answered.',
  ),
} as const;

// Settings of the connector to Chatwoot. Its deliveries share slots, retries and bounds with those of webhooks.

const chatwoot = group('Chatwoot');

export const chatwootSettings = {
  chatwootTimeoutMs: fixed(
    20_000,
    'The time for one answer of a Chatwoot server. With a file, it is the time for each 10 MB. A busy installation takes seconds for a message with a file. A dead server holds only its own slots, for 20 s.',
  ),
  chatwootFileBytes: chatwoot(
    integer(0, 1_000_000_000),
    40_000_000,
    'The largest file that goes to Chatwoot. For a larger file Chatwoot gets its address at the gateway. Chatwoot itself takes 40 MB by default.',
  ),
  chatwootKeepDays: fixed(
    30,
    'The days for which message ids of both sides are kept, so that replies, edits, deletions and receipts find their message. A row takes 200 bytes.',
  ),
  chatwootReplyWaitMs: fixed(
    600_000,
    'The time that a message of an agent waits for an offline session before it is shown as failed. 10 min outlive a reconnect. The agent learns of a logged-out phone while the customer still waits.',
  ),
  chatwootSendsWaiting: fixed(
    2_000,
    'The messages of agents that may wait for one instance. A further one gets 429, and Chatwoot shows it as failed. 2,000 are an hour of ten busy agents, at 2 KB each in the database.',
  ),
  chatwootSendsAtOnce: fixed(
    32,
    'The messages of agents that are being sent at once, for all instances. One takes a fraction of a second, or as long as its file. 32 serve some hundred agents.',
  ),
  chatwootSendsPerInstance: fixed(
    4,
    'The messages of agents that one instance sends at once, in as many conversations. The bound is 4, so that files of one inbox do not delay other inboxes.',
  ),
} as const;
