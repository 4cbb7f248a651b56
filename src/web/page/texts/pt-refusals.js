/**
 * Portuguese for the refusals of the API that a page of the dashboard can provoke. `test/web/refusals.test.ts` compares them with the sources. The
 * sentences contain the field names of the API. `field-labels.js` replaces these by the labels of the page.
 */

/** @type {import('./said.js').Phrases} */
const calls = [
  ['The server does not answer.', 'O servidor não responde.'],
  ['The server answered {1}.', 'O servidor respondeu {1}.'],
  ['Internal server error', 'Erro interno do servidor'],
  ['Rate limit exceeded', 'Tentativas demais: espere um pouco'],
  ['the server is stopping', 'o servidor está parando'],
  ['the server is overloaded: try again later', 'o servidor está sobrecarregado: tente mais tarde'],
  ['the database is not available now', 'o banco de dados não está disponível agora'],
  ['the database took too long to answer', 'o banco de dados demorou demais para responder'],
  ['the database takes no more work now', 'o banco de dados não aceita mais trabalho agora'],
  ['the disk of the database is full', 'o disco do banco de dados está cheio'],
  ['the database does not work now', 'o banco de dados não funciona agora'],
  ['the store of files is not available now', 'o armazenamento de arquivos não está disponível agora'],
  ['another gateway has taken over the database', 'outro gateway assumiu o banco de dados'],
  ['the body is too large: at most {1} bytes (see {2})', 'os dados são grandes demais: no máximo {1} bytes (veja {2})'],
  ['the body is too large: at most {1} bytes', 'os dados são grandes demais: no máximo {1} bytes'],
  [
    'This is a public demo server. This endpoint has been disabled.',
    'Este é um servidor público de demonstração. Esta ação está desativada.',
  ],
  ['the session counts for requests of the dashboard only', 'a sessão vale somente para pedidos do painel'],
  ['the role {1} does not allow this: it needs the role {2}', 'o papel {1} não permite isto: é preciso o papel {2}'],
  ['instance not found', 'instância não encontrada'],
  ['there is no live node of this name', 'não há nó ativo com este nome'],
  ['the node does not answer', 'o nó não responde'],
  [
    'another node has the instance: {1}, which is alive and does not answer',
    'outro nó tem a instância: {1}, que está ativo e não responde',
  ],
  [
    'the node that has the instance did not answer, and the outcome is unknown',
    'o nó que tem a instância não respondeu, e o resultado é desconhecido',
  ],
  [
    'the node that has the instance runs another version, which does not know this request: it works when all nodes run the same one',
    'o nó que tem a instância executa outra versão, que não conhece este pedido: ele funciona quando todos os nós executam a mesma',
  ],
  ['this gateway is not a node of a cluster', 'este gateway não é um nó de um cluster'],
];

/** @type {import('./said.js').Phrases} */
const people = [
  ['the name, the password or the one-time code is wrong', 'o nome, a senha ou o código de uso único está errado'],
  ['the password is wrong', 'a senha está errada'],
  ['the one-time code is wrong', 'o código de uso único está errado'],
  ['there is no such user', 'este usuário não existe'],
  ['there is a user of this name', 'já há um usuário com este nome'],
  ['another request has just changed the user', 'outro pedido acabou de alterar o usuário'],
  ['too many sign-ins are being checked', 'acessos demais estão sendo verificados'],
  ['the gateway has {1} users, which is the limit', 'o gateway tem {1} usuários, que é o limite'],
  ['role, password or resetCode is required', 'o papel, a senha ou resetCode é obrigatório'],
  [
    'name must have 1 to 64 letters a to z, digits, dots, hyphens, underscores or @, and begin with a letter or digit',
    'o nome deve ter de 1 a 64 letras de a a z, dígitos, pontos, hifens, sublinhados ou @, e começar com letra ou dígito',
  ],
  ['the password must have {1} to {2} characters', 'a senha deve ter de {1} a {2} caracteres'],
  ['the password repeats the same characters', 'a senha repete os mesmos caracteres'],
  ['the password must not contain the name', 'a senha não pode conter o nome'],
  ['the admin token has no password of its own: sign in by a name', 'o token de administrador não tem senha própria: entre com um nome'],
  ['id or userId is required', 'id ou userId é obrigatório'],
  ['there is no such session', 'esta sessão não existe'],
  ['the admin token is required to begin a session', 'o token de administrador é necessário para iniciar uma sessão'],
  ['the admin token was replaced meanwhile', 'o token de administrador foi trocado enquanto isso'],
];

/** @type {import('./said.js').Phrases} */
const sessions = [
  [
    'the instance is not connected: connect it first, unless it is connecting already',
    'a instância não está conectada: conecte-a primeiro, a menos que já esteja conectando',
  ],
  ['Maximum number of connected instances reached ({1})', 'O número máximo de instâncias conectadas foi alcançado ({1})'],
  [
    'the server allows no direct connections: set a proxy with POST /instance/proxy first',
    'o servidor não permite conexões diretas: defina um proxy primeiro',
  ],
  [
    'a session is being imported into the instance: try again in a moment',
    'uma sessão está sendo importada para a instância: tente de novo em instantes',
  ],
  [
    'the instance had another account: allowAccountChange allows this one, and removes the chats, messages, contacts and campaigns of the former account',
    'a instância tinha outra conta: allowAccountChange permite esta, e remove as conversas, mensagens, contatos e campanhas da conta anterior',
  ],
  [
    'too many calls began a connection of this instance: try again in {1} s, because the platform may ban its number',
    'chamadas demais iniciaram uma conexão desta instância: tente de novo em {1} s, porque a plataforma pode banir o número',
  ],
  ['another connect request started a different pairing meanwhile', 'outro pedido de conexão iniciou um vínculo diferente enquanto isso'],
  ['there is no running session to reset', 'não há sessão em execução para reiniciar'],
  ['the instance is not hibernated: it is {1}', 'a instância não está hibernada: ela está {1}'],
  ['the instance is not paired: connect it to pair it', 'a instância não está vinculada: conecte-a para vincular'],
  [
    'the last session is not logged out completely: its credentials are still being deleted',
    'a última sessão não foi encerrada por completo: suas credenciais ainda estão sendo apagadas',
  ],
  ['phone must be 10 to 15 digits, with the country code', 'o telefone deve ter de 10 a 15 dígitos, com o código do país'],
  ['msg_delay_min must not be greater than msg_delay_max', 'msg_delay_min não pode ser maior que msg_delay_max'],
  ['another request has just replaced the token', 'outro pedido acabou de trocar o token'],
  ['the instance shows no QR code now', 'a instância não mostra QR code agora'],
  [
    'the platform does not ask for a passkey: connect the instance and scan the QR code first',
    'a plataforma não pede uma chave de acesso: conecte a instância e leia o QR code primeiro',
  ],
  ['the passkey is at the stage "{1}", and not at "{2}"', 'a chave de acesso está na etapa "{1}", e não em "{2}"'],
  ['the platform does not ask for a passkey', 'a plataforma não pede uma chave de acesso'],
  ['the code was used meanwhile', 'o código foi usado enquanto isso'],
  ['no crashed worker waits for its restart', 'nenhuma parte que falhou espera por reinício'],
  [
    'managed proxies are not available: the server has no catalogue of them (PROXY_CATALOG)',
    'proxies gerenciados não estão disponíveis: o servidor não tem catálogo deles (PROXY_CATALOG)',
  ],
  ['the server allows no connections without a proxy', 'o servidor não permite conexões sem proxy'],
  [
    'mode, proxy_url, proxy_fallback, rotate_now or a region is required',
    'mode, proxy_url, proxy_fallback, rotate_now ou uma região é obrigatório',
  ],
  ['no managed proxy of this region works: {1}', 'nenhum proxy gerenciado desta região funciona: {1}'],
  ['there is no other managed proxy in this region', 'não há outro proxy gerenciado nesta região'],
  ['the catalogue of managed proxies has no such country', 'o catálogo de proxies gerenciados não tem este país'],
  ['proxy_url is required for the mode custom', 'proxy_url é obrigatório'],
  ['the proxy does not work: {1}', 'o proxy não funciona: {1}'],
  ['it refuses connections', 'ele recusa conexões'],
  ['it broke the connection off', 'ele interrompeu a conexão'],
  ['its name is not known', 'seu nome não é conhecido'],
  ['it did not answer in time', 'ele não respondeu a tempo'],
  ['it cannot be reached', 'ele não pode ser alcançado'],
  ['it does not take the credentials ({1})', 'ele não aceita as credenciais ({1})'],
  ['it does not speak the protocol of its address', 'ele não fala o protocolo do seu endereço'],
  ['proxy_url must start with {1} and name a host', 'proxy_url deve começar com {1} e ter um servidor'],
  ['proxy_url must not have anything behind host and port', 'proxy_url não pode ter nada depois do servidor e da porta'],
  ['confirm_no_proxy must be true for the mode none', 'confirm_no_proxy deve ser verdadeiro para ficar sem proxy'],
  [
    'another change of this proxy is being tested, try again in a moment',
    'outra alteração deste proxy está sendo testada: tente de novo em instantes',
  ],
];

/** @type {import('./said.js').Phrases} */
const receivers = [
  ['Maximum number of webhooks per instance reached ({1})', 'O número máximo de webhooks por instância foi alcançado ({1})'],
  ['the global webhook is switched off with enabled: false', 'o webhook global está desligado'],
  ['Delivery not found', 'Entrega não encontrada'],
  ['Webhook not found', 'Webhook não encontrado'],
  ['webhook not found', 'webhook não encontrado'],
  ['Global webhook not found', 'Webhook global não encontrado'],
  ['Could not save webhook', 'O webhook não pôde ser salvo'],
  ['Failed to save global webhook to database', 'O webhook global não pôde ser salvo'],
  ['url must start with http:// or https://', 'O endereço deve começar com http:// ou https://'],
  ['url must not hold credentials', 'O endereço não pode conter credenciais'],
  ['url points to an address that is not allowed ({1}): see {2}', 'O endereço aponta para um lugar que não é permitido ({1}): veja {2}'],
  ['headers must have at most {1} entries', 'Há no máximo {1} cabeçalhos'],
  ['headers must have at most {1} characters in total', 'Os cabeçalhos têm no máximo {1} caracteres no total'],
  ['headers must not name a header twice', 'Um cabeçalho não pode aparecer duas vezes'],
  ['headers has an invalid header name', 'Um cabeçalho tem um nome inválido'],
  ['headers must not contain {1}', 'Os cabeçalhos não podem conter {1}'],
  ['headers.{1} must be printable ASCII on one line', 'O cabeçalho {1} deve ser ASCII imprimível em uma linha'],
  ['the alerts are being changed by others: try again', 'os alertas estão sendo alterados por outros: tente de novo'],
  ['alerts are not set up: save them first', 'os alertas não estão configurados: salve-os primeiro'],
  ['timeZone is no time zone, such as America/Sao_Paulo', 'timeZone não é um fuso horário, como America/Sao_Paulo'],
  ['emailPassword is needed again for another mail server', 'A senha do e-mail é necessária de novo para outro servidor de e-mail'],
  ['telegramToken is needed again for another server', 'O token do Telegram é necessário de novo para outro servidor'],
  ['connection refused', 'conexão recusada'],
  ['connection closed before the answer', 'conexão fechada antes da resposta'],
  ['host not found', 'servidor não encontrado'],
  ['host unreachable', 'servidor inalcançável'],
];

/** @type {import('./said.js').Phrases} */
const messages = [
  ['the Idempotency-Key was used with another request', 'a chave de idempotência foi usada com outro pedido'],
  ['the quoted message {1} is unknown', 'a mensagem citada {1} é desconhecida'],
  ['the asynchronous queue is full ({1} messages)', 'a fila assíncrona está cheia ({1} mensagens)'],
  ['the number {1} is not on WhatsApp', 'o número {1} não está no WhatsApp'],
  ['too many new numbers were looked up: try again later', 'números novos demais foram consultados: tente mais tarde'],
  [
    'the platform did not say in time whether the number exists: nothing was sent',
    'a plataforma não disse a tempo se o número existe: nada foi enviado',
  ],
  ['the platform looks up no more numbers now', 'a plataforma não consulta mais números agora'],
  ['the connection was closed before anything was sent', 'a conexão foi fechada antes que algo fosse enviado'],
  [
    'the connection was closed before the platform answered: whether it happened is not known',
    'a conexão foi fechada antes da resposta da plataforma: não se sabe se aconteceu',
  ],
  [
    'the platform did not answer a question about the group: nothing was sent',
    'a plataforma não respondeu a uma pergunta sobre o grupo: nada foi enviado',
  ],
  ['too many files are being downloaded: ask for this one again later', 'há downloads de arquivos demais: peça este novamente mais tarde'],
  [
    'the platform did not answer in time while the message was composed: nothing was sent',
    'a plataforma não respondeu a tempo enquanto a mensagem era composta: nada foi enviado',
  ],
  ['the platform did not answer in time: whether it happened is not known', 'a plataforma não respondeu a tempo: não se sabe se aconteceu'],
  ['this version of the gateway does not know the operation', 'esta versão do gateway não conhece a operação'],
  ['the account is not a member of this group', 'a conta não é membro deste grupo'],
  ['the account is no admin of this channel', 'a conta não é administradora deste canal'],
  ['Channel not found', 'Canal não encontrado'],
  ['chat not found', 'conversa não encontrada'],
  ['Message not found', 'Mensagem não encontrada'],
  ['the message quotes no other message', 'a mensagem não cita outra mensagem'],
  ['Unsupported media type or no media found in message', 'Tipo de mídia não suportado, ou a mensagem não tem mídia'],
  ['the file was removed meanwhile', 'o arquivo foi removido enquanto isso'],
  [
    'the file has {1} bytes and is too large for base64: read it at its fileURL',
    'o arquivo tem {1} bytes e é grande demais para base64: leia-o no seu endereço',
  ],
  ['number is required', 'o número é obrigatório'],
  ['Folder not found', 'Campanha não encontrada'],
  ['an instance has at most {1} campaigns under way', 'uma instância tem no máximo {1} campanhas em andamento'],
  ['a campaign has at most {1} recipients', 'uma campanha tem no máximo {1} destinatários'],
  ['a campaign has at least one recipient', 'uma campanha tem pelo menos um destinatário'],
  ['delayMin must not be greater than delayMax', 'delayMin não pode ser maior que delayMax'],
  ['scheduled_for is more than a year away', 'scheduled_for está a mais de um ano'],
  ['the folder is {1}', 'o estado da campanha é {1}'],
];

/** @type {import('./said.js').Phrases} */
const helpers = [
  ['Agent not found', 'Agente não encontrado'],
  ['Trigger not found', 'Gatilho não encontrado'],
  ['an instance has at most {1} agents', 'uma instância tem no máximo {1} agentes'],
  ['an instance has at most {1} triggers', 'uma instância tem no máximo {1} gatilhos'],
  ['apikey has characters that no key has', 'apikey tem caracteres que nenhuma chave tem'],
  ['ai_apikey has characters that no key has', 'ai_apikey tem caracteres que nenhuma chave tem'],
  ['apikey is required for another provider or baseUrl', 'apikey é obrigatório para outro provedor ou outro baseUrl'],
  ['baseUrl is required for a custom provider', 'baseUrl é obrigatório para um provedor próprio'],
  ['contextMinMessages must not be greater than contextMaxMessages', 'contextMinMessages não pode ser maior que contextMaxMessages'],
  ['media must have names that differ', 'os arquivos devem ter nomes diferentes'],
  [
    'file of the media {1} must be an address that begins with http:// or https://',
    'o arquivo {1} deve ser um endereço que começa com http:// ou https://',
  ],
  ['baseUrl must have no query and no fragment', 'baseUrl não pode ter "?" nem "#"'],
  ['there is no agent {1}', 'não há agente {1}'],
  ['there is no quick reply {1}', 'não há resposta rápida {1}'],
  ['another trial of this instance is under way', 'outro teste desta instância está em andamento'],
  ['the tokens of the day are used up', 'os tokens do dia acabaram'],
  ['the last of messages must be of the user', 'a última mensagem deve ser do usuário'],
  ['the connector of this instance is switched off', 'o conector desta instância está desligado'],
  ['the instance is connected to another inbox', 'a instância está conectada a outra caixa de entrada'],
  ['access_token is not an access token of Chatwoot', 'access_token não é um token de acesso do Chatwoot'],
  ['access_token is required for another url', 'access_token é obrigatório para outro endereço'],
  ['Chatwoot does not take the access token', 'o Chatwoot não aceita o token de acesso'],
  ['Chatwoot does not allow this to the owner of the access token', 'o Chatwoot não permite isto ao dono do token de acesso'],
  ['Chatwoot does not know it', 'o Chatwoot não conhece isto'],
  ['Chatwoot could not be reached', 'o Chatwoot não pôde ser alcançado'],
  ['what answers there is no Chatwoot: the answer is no JSON', 'quem responde ali não é um Chatwoot: a resposta não é JSON'],
  ['the service cannot be reached', 'o serviço não pode ser alcançado'],
];

/** @type {import('./said.js').Phrases} */
const moving = [
  ['the body is empty: it is the store of the other gateway', 'o arquivo está vazio: ele é o armazenamento do outro gateway'],
  ['another instance has the session by now', 'outra instância já tem a sessão'],
  [
    'another node took the instance meanwhile: import the session again',
    'outro nó assumiu a instância enquanto isso: importe a sessão de novo',
  ],
  ['The source has no session', 'A fonte não tem sessão'],
  ['The source has no session that is named {1}', 'A fonte não tem sessão com o nome {1}'],
  ['the upload is larger than {1} bytes (see IMPORT_MAX_BYTES)', 'o arquivo tem mais de {1} bytes (veja IMPORT_MAX_BYTES)'],
  ['The compressed upload is cut off or damaged', 'O arquivo comprimido está cortado ou danificado'],
  ['the upload was not sent to its end', 'o arquivo não foi enviado até o fim'],
  ['the disk of the gateway has no room for the upload', 'o disco do gateway não tem espaço para o arquivo'],
  [
    'the instance {1} has a paired session: disconnect it first, or import under another name',
    'a instância {1} tem uma sessão vinculada: desconecte-a primeiro, ou importe com outro nome',
  ],
  ['the instance {1} is being emptied for another account', 'a instância {1} está sendo esvaziada para outra conta'],
  ['the instance {1} had another account: import under another name', 'a instância {1} tinha outra conta: importe com outro nome'],
];

/** The phrases that begin with the name of a field. These phrases fit many sentences, so they come last. @type {import('./said.js').Phrases} */
const fields = [
  ['{1} is required', '{1} é obrigatório'],
  ['{1} must not be empty', '{1} não pode ficar vazio'],
  ['{1} is not valid', '{1} não é válido'],
  ['{1} must be a text', '{1} deve ser um texto'],
  ['{1} must be a whole number', '{1} deve ser um número inteiro'],
  ['{1} must be a number', '{1} deve ser um número'],
  ['{1} must be true or false', '{1} deve ser verdadeiro ou falso'],
  ['{1} must be a list', '{1} deve ser uma lista'],
  ['{1} must be an object', '{1} deve ser um objeto'],
  ['{1} must be one of {2}', '{1} deve ser um destes: {2}'],
  ['{1} must have at least {2} characters', '{1} deve ter pelo menos {2} caracteres'],
  ['{1} must have at most {2} characters', '{1} deve ter no máximo {2} caracteres'],
  ['{1} must have at least one entry that is valid', '{1} deve ter pelo menos um item válido'],
  ['{1} must have at least {2} entries', '{1} deve ter pelo menos {2} itens'],
  ['{1} must have at most {2} entries', '{1} deve ter no máximo {2} itens'],
  ['{1} must be at least {2}', '{1} deve ser pelo menos {2}'],
  ['{1} must be at most {2}', '{1} deve ser no máximo {2}'],
];

export const refusals = [...calls, ...people, ...sessions, ...receivers, ...messages, ...helpers, ...moving, ...fields];
