/** Tests telephone numbers in the format of the API. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { phoneOf } from '#src/contract/views.ts';

const numbers: readonly (readonly [chatId: string, phone: string])[] = [
  ['5511999999999@s.whatsapp.net', '+55 11 99999 9999'],
  ['551133334444@s.whatsapp.net', '+55 11 3333 4444'],
  ['12025550123@s.whatsapp.net', '+1 202 555 0123'],
  ['491711234567@s.whatsapp.net', '+49 171 1234567'],
  ['447911123456@s.whatsapp.net', '+44 7911 123456'],
  ['999999999999999@s.whatsapp.net', '+999999999999999'],
  ['12@s.whatsapp.net', '+12'],
  ['1000000001@lid', ''],
  ['120363041234567890@g.us', ''],
];
for (const [chatId, phone] of numbers) test(`phoneOf: ${chatId} is shown as '${phone}'`, () => assert.equal(phoneOf(chatId), phone));
