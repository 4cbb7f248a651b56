/** Joins the commands of the gateway in memory from their areas. */
import { alertCalls } from './alerts.ts';
import { campaignCommands } from './campaign-commands.ts';
import { chatbotCommands } from './chatbot.ts';
import { chatwootCommands } from './chatwoot.ts';
import type { Attempt } from './definitions.ts';
import { peopleCommands } from './people.ts';
import { userCalls } from './users.ts';

export const areaCommands = (attempt: Attempt) => ({
  ...peopleCommands(attempt),
  ...userCalls(),
  ...alertCalls(attempt),
  ...campaignCommands(attempt),
  ...chatbotCommands(attempt),
  ...chatwootCommands(attempt),
});
