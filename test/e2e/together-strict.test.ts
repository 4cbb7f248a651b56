/** Operations of chats, groups and communities, with a strict listener to stanzas: the files of one folder share a gateway. */
import { runTogether } from '#test/support/together.ts';

runTogether('test/e2e/together/strict');
