/** Settings of the chatbot and of the connector to Chatwoot. */
import { age, fixed, group, integer, milliseconds } from './kinds.ts';

// Settings of the chatbot: when it answers, and what it may cost.

const chatbot = group('Chatbot');

export const chatbotSettings = {
  chatbotPauseMs: chatbot(
    milliseconds(0, 120_000),
    4_000,
    'How long the chatbot waits for more texts: those that come within it are one question. People who write in pieces send the next one within 4 s.',
  ),
  chatbotLongestPauseMs: chatbot(
    milliseconds(0, 600_000),
    20_000,
    'The longest wait for the end of a question whose texts keep coming. After 20 s somebody expects an answer.',
  ),
  chatbotFreshMs: chatbot(
    age(1_000),
    300_000,
    'Age from which a message is not answered any more: one that was delivered late, or that a restart of the gateway left unanswered. After five minutes an answer surprises.',
  ),
  chatbotCallsAtOnce: chatbot(
    integer(1, 10_000),
    64,
    'Calls of models under way at once, of all instances; further ones wait. 64 answers of 10 s are six a second, and cost as many sockets.',
  ),
  chatbotCallsPerInstance: chatbot(
    integer(1, 1_000),
    8,
    'The same for one instance, so that none takes the place of the others; also what most accounts of providers allow.',
  ),
  chatbotTimeoutMs: chatbot(
    milliseconds(1_000, 600_000),
    60_000,
    'How long a model may take for one answer. Most take 2 to 20 s, those that think a minute.',
  ),
  chatbotRetries: chatbot(
    integer(0, 10),
    2,
    'How often a call is tried again after a failure that may pass, such as 429 or 503, with growing pauses. Two bridge a short fault while the person who asked still waits.',
  ),
  chatbotTokensPerDay: chatbot(
    integer(0, 1_000_000_000),
    1_000_000,
    'Tokens of all agents of one instance on a day (in UTC); beyond it they are silent until midnight. 0 is no limit. A million are some 500 conversations, and a bound on what a fault or an abuse can cost.',
  ),
  chatbotAnswerTokens: chatbot(
    integer(16, 1_000_000),
    2_048,
    'Tokens of one answer at most, whatever an agent asks for. 2,048 are three pages; thinking counts too.',
  ),
  chatbotToolRounds: fixed(
    4,
    'How often a model is asked again with what its tools led to, for one answer. Four let it look, act and tell.',
  ),
  chatbotToolCalls: fixed(8, 'Uses of tools for one answer. Eight set the fields of a lead and send some files.'),
  chatbotPieces: chatbot(
    integer(1, 100),
    10,
    'Messages of one answer at most, for agents that divide long ones; the rest is in the last one. Nobody reads more than ten, and a row of them looks like spam.',
  ),
  chatbotAnswersPerMinute: chatbot(
    integer(1, 60),
    6,
    'Answers in one conversation within a minute; more are not given. People do not ask more often.',
  ),
  chatbotAnswersInARow: chatbot(
    integer(1, 1_000),
    40,
    'Answers in one conversation without a minute of silence between them; more are not given until there was one. Two bots that answer each other stop here; people pause before.',
  ),
  chatbotAnswersPerDay: chatbot(
    integer(1, 100_000),
    200,
    'Answers in one chat within a day of UTC; more are not given until the next one. Two bots that answer each other once in some minutes are under every other bound, and would go on for ever; a person who talks with an agent for hours gets some 100 answers.',
  ),
  chatbotConversations: chatbot(
    integer(1, 100_000),
    1_000,
    'Conversations of one instance that are under way, or were within the last minute. Each takes 6 KB; texts beyond it are not answered.',
  ),
} as const;

// Settings of the connector to Chatwoot. Its deliveries share places, retries and bounds with those of webhooks.

const chatwoot = group('Chatwoot');

export const chatwootSettings = {
  chatwootTimeoutMs: chatwoot(
    milliseconds(100, 600_000),
    20_000,
    'Time for one answer of a Chatwoot server; with a file, for each 10 MB of it. A busy installation takes seconds for a message with a file; 20 s forgive that, and a dead one holds its own places only.',
  ),
  chatwootFileBytes: chatwoot(
    integer(0, 1_000_000_000),
    40_000_000,
    'Largest file that goes to Chatwoot; of a larger one its address here does. Chatwoot itself takes 40 MB unless its operator says otherwise.',
  ),
  chatwootKeepDays: chatwoot(
    integer(1, 3_650),
    30,
    'How long it is known which messages stand on both sides, so that replies, edits, deletions and receipts find them. 30 days; a row takes 200 bytes.',
  ),
  chatwootReplyWaitMs: chatwoot(
    age(0),
    600_000,
    'How long what an agent wrote waits for a session that is away; then it is shown as failed. 10 min outlive a reconnect, and an agent learns of a logged out phone while the customer still waits.',
  ),
  chatwootSendsWaiting: chatwoot(
    integer(1, 1_000_000),
    2_000,
    'Messages of agents that may wait for one instance; one more answers 429, and Chatwoot shows it as failed. 2,000 are an hour of ten busy agents, at 2 KB each in the database.',
  ),
  chatwootSendsAtOnce: chatwoot(
    integer(1, 10_000),
    32,
    'Messages of agents that are being sent at once, of all instances. One takes a fraction of a second, or as long as its file; 32 are those of some hundred agents.',
  ),
  chatwootSendsPerInstance: fixed(
    4,
    'Messages of agents that one instance sends at once, in as many conversations. 4, so that files of one inbox hold up no other.',
  ),
} as const;
