/** Runs the tests of Chatwoot, chatbot, MCP, inspector and webhook filters. The files of the folder share a process, and a gateway if their settings agree. */
import { Scene } from '#test/support/scene.ts';
import { runTogether } from '#test/support/together.ts';

Scene.keep({
  WEBHOOK_QUICK_RETRIES_MS: '0,50,100',
  WEBHOOK_SLOW_RETRIES_MS: '200,400,800,1600,3200',
  CHATBOT_PAUSE_MS: '1500',
  CHATBOT_LONGEST_PAUSE_MS: '10000',
  MCP_TOOLS: 'all',
});
runTogether('test/e2e/together/services');
