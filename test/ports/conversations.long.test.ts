/** Runs the suites of the ports for conversations, on PostgreSQL and on the fakes of the actors' tests. */
import { campaignSuite } from './campaigns.ts';
import { chatStoreSuite } from './chats.ts';
import { contactStoreSuite } from './contacts.ts';
import { definitionSuite } from './definitions.ts';
import { now, type Open } from './entries.ts';
import { journalSuite } from './journal.ts';
import { messageStoreSuite } from './messages.ts';
import { FakeCampaigns, FakeOptOuts } from '#test/fakes/campaigns.ts';
import { FakeChats, FakeMessages } from '#test/fakes/conversations.ts';
import { FakeJournal } from '#test/fakes/journal.ts';
import { FakeContacts } from '#test/fakes/contacts.ts';
import { FakeDatabase, FakeDefinitions, FakeInstances, FakeOutbox, FakeSendKeys, FakeWebhooks } from '#test/fakes/storage.ts';
import { FakeChance, FakeTime } from '#test/fakes/time.ts';
import { testDatabase } from '#test/support/database.ts';

const database = await testDatabase();

const kinds: readonly (readonly [kind: string, open: Open])[] = [
  ['PostgreSQL', () => database.storage({ now: () => now })],
  [
    'in memory',
    async () => {
      const db = new FakeDatabase();
      return {
        journal: new FakeJournal(db, new FakeTime(now), new FakeChance()),
        messages: new FakeMessages(db),
        chats: new FakeChats(db),
        contacts: new FakeContacts(db),
        campaigns: new FakeCampaigns(db),
        optOuts: new FakeOptOuts(db),
        sendKeys: new FakeSendKeys(db),
        definitions: new FakeDefinitions(db),
        instances: new FakeInstances(db, () => now),
        webhooks: new FakeWebhooks(db),
        outbox: new FakeOutbox(db),
      };
    },
  ],
];

for (const [kind, open] of kinds) {
  journalSuite(kind, open);
  messageStoreSuite(kind, open);
  chatStoreSuite(kind, open);
  contactStoreSuite(kind, open);
  definitionSuite(kind, open);
  campaignSuite(kind, open);
}
