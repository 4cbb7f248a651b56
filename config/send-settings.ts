/** Settings of sends and of campaigns. */
import { age, fixed, group, hours, integer, milliseconds, phrases, timeZone } from './kinds.ts';

// Settings of what all sends have in common.

const sends = group('Sends');

export const sendSettings = {
  idempotencyKeyMs: sends(
    age(60_000),
    86_400_000,
    'How long an `Idempotency-Key` counts at least: until its row is removed, some minutes later, the same key gives the first answer and sends nothing. A day, as integrators know it from other services; a key costs the database 2 KB.',
  ),
  lookupsAtOnce: sends(
    integer(1, 10_000),
    100,
    'Numbers that one session may look up at once. Only strangers are looked up, before the first message and by `POST /chat/check`; beyond this they are answered 429, and wait in the asynchronous queue. A hundred new contacts at once are a busy shop.',
  ),
  lookupEveryMs: sends(
    milliseconds(1),
    2_000,
    'Time until a session may look up one number more. The platform restricts accounts that look up numbers in bulk; one in 2 s is 1,800 new contacts an hour, more than an account survives to write to.',
  ),
  lookupKeepMs: sends(
    age(0),
    604_800_000,
    'How long a number that was found is not looked up again. A week, for those who never answered; who has got a message or written one is never looked up again.',
  ),
  lookupKeepAbsentMs: fixed(
    21_600_000,
    'How long a number without an account is refused without looking it up again. 6 h: lists are often sent again on the same day, and somebody who joins is reached on that day too.',
  ),
} as const;

// Settings of campaigns.

const campaigns = group('Campaigns');

export const campaignSettings = {
  campaignRecipients: campaigns(
    integer(1, 1_000_000),
    100_000,
    'Recipients of one campaign at most. They are stored at once, 50,000 in under 2 s, and take no memory while they wait; a list that is longer takes months at a pace that an account survives.',
  ),
  campaignsAtOnce: campaigns(
    integer(1, 10_000),
    100,
    'Campaigns of one instance that may wait or be under way; one more is refused with 429. Those whose time has come take turns, so that a hundred are a hundredth of the pace each.',
  ),
  campaignDailyCap: campaigns(
    integer(0, 1_000_000),
    1_000,
    'Messages of campaigns that one instance sends within 24 hours; the rest waits. 0 is no limit. A thousand are more than most accounts can send to people who did not write first without being restricted.',
  ),
  campaignQuietHours: campaigns(
    hours,
    null,
    'When campaigns rest, such as `21:00-08:00`. `none`, since the server does not know where the recipients live.',
  ),
  campaignTimeZone: campaigns(timeZone, '', 'Time zone of CAMPAIGN_QUIET_HOURS, such as `America/Sao_Paulo`. Absent, that of the server.'),
  campaignRefusals: campaigns(
    integer(1, 1_000),
    5,
    'Messages in a row that the platform refuses, after which the campaigns of the instance stop by themselves. Five are no accident, and each further one counts against the account. A time-lock for new chats stops them at once.',
  ),
  campaignStopWords: campaigns(
    phrases,
    ['stop', 'unsubscribe', 'sair', 'parar', 'descadastrar'],
    'A contact who writes one of these as a whole message gets no campaigns any more, and is listed by `GET /sender/optout`; `none` listens for nothing. Words that mean nothing else: a contact who is left out by mistake costs one message, one who is asked again reports the account.',
  ),
  campaignsKeepDays: campaigns(
    integer(0, 36_500),
    30,
    'Days after its end for which a campaign is listed; 0 is for ever. Its messages stay in their chats. A month is what reports are written for.',
  ),
  campaignsPausedKeepDays: campaigns(
    integer(0, 36_500),
    180,
    'Days after which a campaign that nobody continued is removed with its recipients; 0 is for ever. Half a year: whoever comes back later has a list of recipients that is as old.',
  ),
} as const;
