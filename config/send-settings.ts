/** Settings of sends and of campaigns. */
import { fixed, group, hours, integer, milliseconds, phrases, timeZone } from './kinds.ts';

// Settings of all sends.

const sends = group('Sends');

export const sendSettings = {
  idempotencyKeyMs: fixed(
    86_400_000,
    'The least time for which an `Idempotency-Key` counts. Its row is removed some minutes later. Until then the same key gives the first answer and sends nothing. The time is a day, as in other services. A key takes 2 KB in the database.',
  ),
  lookupsAtOnce: fixed(
    100,
    'The numbers that one session may look up at once. The gateway looks up strangers only, before the first message and for `POST /chat/check`. Further look-ups get 429, and wait in the asynchronous queue. 100 are the new contacts of a busy shop.',
  ),
  lookupEveryMs: sends(
    milliseconds(1),
    2_000,
    'The time until a session may look up one more number. The platform restricts accounts that look up numbers in bulk. One number in 2 s makes 1,800 new contacts an hour. The platform bans accounts that write to so many strangers.',
  ),
  lookupKeepMs: fixed(
    604_800_000,
    'The time for which a number that was found is not looked up again. The week is for numbers that never answered. A number that got or wrote a message is never looked up again.',
  ),
  lookupKeepAbsentMs: fixed(
    21_600_000,
    'The time for which a number without an account is refused without a new look-up. The time is 6 h, because lists are often sent again on the same day. A person who joins the platform can be reached on that day too.',
  ),
} as const;

// Settings of campaigns.

const campaigns = group('Campaigns');

export const campaignSettings = {
  campaignRecipients: fixed(
    100_000,
    'The largest number of recipients of one campaign. They are stored at once, 50,000 in less than 2 s, and take no memory while they wait. At a pace that the platform tolerates, a longer list takes months.',
  ),
  campaignsAtOnce: fixed(
    100,
    'The campaigns of one instance that may wait or run. A further one gets 429. Campaigns that are due take turns, so each of a hundred gets a hundredth of the pace.',
  ),
  campaignDailyCap: campaigns(
    integer(0, 1_000_000),
    1_000,
    'The campaign messages that one instance sends within 24 hours. The rest waits. 0 is no limit. Most accounts are restricted before they have written to 1,000 people who did not write first.',
  ),
  campaignQuietHours: campaigns(
    hours,
    null,
    'The hours in which campaigns rest, such as `21:00-08:00`. The default is `none`, because the server does not know where the recipients live.',
  ),
  campaignTimeZone: campaigns(
    timeZone,
    '',
    'The time zone of CAMPAIGN_QUIET_HOURS, such as `America/Sao_Paulo`. Without a value it is the time zone of the server.',
  ),
  campaignRefusals: fixed(
    5,
    'The number of consecutive refusals by the platform after which the campaigns of the instance stop. Five are no accident, and each further refusal counts against the account. A time-lock for new chats stops campaigns at once.',
  ),
  campaignStopWords: campaigns(
    phrases,
    ['stop', 'unsubscribe', 'sair', 'parar', 'descadastrar'],
    'The words that unsubscribe a contact from campaigns when a message has no other text. `GET /sender/optout` lists these contacts. `none` switches the check off. The default has words without another meaning. A contact left out by mistake costs one message, and a contact who is asked again reports the account.',
  ),
  campaignsKeepDays: campaigns(
    integer(0, 36_500),
    30,
    'The days after its end for which a campaign is listed. 0 is for ever. Its messages stay in their chats. The default is a month, which is the usual period of a report.',
  ),
  campaignsPausedKeepDays: campaigns(
    integer(0, 36_500),
    180,
    'The days after which a paused campaign is removed with its recipients. 0 is for ever. The default is half a year, because an older list of recipients is out of date.',
  ),
} as const;
